/*
 * kernel.pid_max: from Linux 6.14 on each PID namespace has its own, and no
 * process or thread is made in it once all numbers below are in use.  It holds
 * the limit on processes at level full where nothing else does: rlimits do not
 * count for root.
 */
#include "runtime/apply/apply.h"

#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* When all numbers have been used, the kernel begins again at 300.  So the
 * limit is added to that, and the numbers below are passed over. */
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

static const char last_number[] = "/proc/sys/kernel/ns_last_pid";

bool
pid_max_is_exact(void)
{
	return access(last_number, W_OK) == 0;
}

/* The next process gets number 301.  A kernel without checkpoints has no such
 * file; there up to 299 more can run. */
static void
pass_reserved(void)
{
	static const char last[] = "300";
	int fd = open(last_number, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, last, sizeof last - 1) < 0 && is_shortage(errno))
		refuse("kernel.ns_last_pid", "cannot set it now", errno);
	close(fd);
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
	if (is_own)
		pass_reserved();
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
