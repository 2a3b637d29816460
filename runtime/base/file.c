/*
 * Small files of /proc and /sys: read and written in one call.
 */
#include "runtime/base/files.h"

#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

bool
file_read(int directory, const char *name, char *text, size_t size)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	text[len > 0 ? len : 0] = '\0';
	return len >= 0;
}

bool
file_write(int directory, const char *name, const char *text)
{
	ssize_t len = (ssize_t)strlen(text);
	int fd = openat(directory, name, O_WRONLY | O_CLOEXEC);
	bool written = fd >= 0 && write(fd, text, (size_t)len) == len;
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	return written;
}

void
descriptor_path(char path[DESCRIPTOR_PATH_SIZE], int fd)
{
	struct out out;

	out_into(&out, path, DESCRIPTOR_PATH_SIZE);
	out_print(&out, "/proc/self/fd/%u", (unsigned)fd);
}

int
above_standard(int fd)
{
	int higher = fd;

	if (fd <= STDERR_FILENO) {
		higher = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		close(fd);
	}
	if (higher < 0)
		refuse(NULL, "cannot duplicate a descriptor", errno);
	return higher;
}

bool
file_lock(int fd, unsigned milliseconds)
{
	static const struct timespec moment = { .tv_nsec = 2000000 };

	for (unsigned waited = 0; flock(fd, LOCK_EX | LOCK_NB) != 0;
	     waited += 2) {
		if (waited >= milliseconds)
			return false;
		nanosleep(&moment, NULL);
	}
	return true;
}

/* Before Linux 5.9, or behind a container's filter, there is no
 * close_range(2). */
static void
close_between(unsigned first, unsigned last)
{
	enum { MANY = 65536 };

	if (syscall(SYS_close_range, first, last, 0) == 0)
		return;
	for (unsigned fd = first; fd <= last && fd < MANY; fd++)
		close((int)fd);
}

void
descriptors_keep(const int kept[], size_t count)
{
	unsigned low = 0;

	for (;;) {
		unsigned next = ~0U;

		for (size_t i = 0; i < count; i++) {
			if (kept[i] >= (int)low && (unsigned)kept[i] < next)
				next = (unsigned)kept[i];
		}
		if (next > low)
			close_between(low, next - 1);
		if (next == ~0U)
			return;
		low = next + 1;
	}
}

void
raise_open_files(void)
{
	struct rlimit_pair limit;

	if (limit_process(RLIMIT_NOFILE, NULL, &limit) != 0)
		return;
	limit.soft = limit.hard;
	limit_process(RLIMIT_NOFILE, &limit, NULL);
}

void
fill_standard(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			refuse("/dev/null", "cannot open it", errno);
	}
}

void
leave_caller(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd <= STDERR_FILENO; fd++) {
		if (null < 0 || dup2(null, fd) < 0)
			close(fd);
	}
	if (null > STDERR_FILENO)
		close(null);
	if (chdir("/") != 0)
		return;
}
