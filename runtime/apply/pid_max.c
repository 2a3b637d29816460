#include "runtime/apply/pid_max.h"

#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* When all numbers have been used, the kernel begins again at 300.  So the
 * limit is added to that, and up to 299 more can run before. */
enum {
	RESERVED_PIDS = 300,     /* the kernel's name for the lowest number */
	PID_MAX_LIMIT = 1 << 22, /* and for the highest */
};

static int
open_it(int flags)
{
	int fd = open("/proc/sys/kernel/pid_max", flags | O_CLOEXEC);

	if (fd < 0 && is_shortage(errno))
		refuse("kernel.pid_max", "cannot open it now", errno);
	return fd;
}

int
pid_max_open(void)
{
	return open_it(O_RDONLY);
}

/*
 * An older kernel has one number for the whole machine, which must stay as it
 * is.  There the file is the same one, and the outer descriptor keeps its inode
 * from being made anew.
 */
int
pid_max_open_own(int outer)
{
	int inner = outer < 0 ? -1 : open_it(O_WRONLY);
	struct stat before, now;
	bool is_own = inner >= 0 && fstat(outer, &before) == 0 &&
	    fstat(inner, &now) == 0 && before.st_dev == now.st_dev &&
	    before.st_ino != now.st_ino;

	if (outer >= 0)
		close(outer);
	if (inner >= 0 && !is_own)
		close(inner);
	return is_own ? inner : -1;
}

void
pid_max_set(int fd, uint64_t processes)
{
	uint64_t most = processes < PID_MAX_LIMIT - RESERVED_PIDS ?
	    processes + RESERVED_PIDS :
	    PID_MAX_LIMIT;
	struct out text;

	out_init(&text, -1);
	out_number(&text, most);
	if (write(fd, text.text, text.used) != (ssize_t)text.used)
		refuse("kernel.pid_max", "cannot limit processes by it", errno);
	close(fd);
}
