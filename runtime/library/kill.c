/*
 * Ends what a command has started.  All of it is in one UTS namespace, which
 * the policy's filter lets no process leave, so the kernel tells who belongs to
 * it.
 */
#include "runtime/base/kernel.h"
#include "runtime/library/library.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

enum { ROUNDS_MAX = 10000 };

struct tree {
	struct stat mark;
	int signal;
	int count; /* of the processes of one round */
	int error; /* of the last signal that could not be sent */
};

/* Its directory in /proc is a name of the process that cannot become another
 * one's: pidfd_send_signal(2) takes it. */
static void
signal_one(struct tree *tree, int proc, const char *number)
{
	int process = openat(proc, number, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat mark;

	if (process < 0)
		return;
	if (fstatat(process, "ns/uts", &mark, 0) == 0 &&
	    mark.st_ino == tree->mark.st_ino &&
	    mark.st_dev == tree->mark.st_dev) {
		if (syscall(SYS_pidfd_send_signal, process, tree->signal, NULL,
			0) == 0)
			tree->count++;
		else if (errno != ESRCH)
			tree->error = errno;
	}
	close(process);
}

static bool
signal_all(struct tree *tree)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	if (proc == NULL)
		return false;
	tree->count = 0;
	while ((entry = readdir(proc)) != NULL) {
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			signal_one(tree, dirfd(proc), entry->d_name);
	}
	closedir(proc);
	return true;
}

/* What was made while others were stopped is found in the next round. */
static int
end_all(struct tree *tree)
{
	static const struct timespec moment = { 0, 1000 * 1000 };
	int count;

	tree->signal = SIGSTOP;
	if (!signal_all(tree))
		return -1;
	count = tree->count;
	tree->signal = SIGKILL;
	for (int round = 0; round < ROUNDS_MAX; round++) {
		if (!signal_all(tree))
			return -1;
		if (tree->count == 0 || tree->error != 0)
			return count;
		nanosleep(&moment, NULL);
	}
	errno = ETIMEDOUT;
	return -1;
}

static int
kill_tree(int fd, int signal, struct sbx_error *error)
{
	struct tree tree = { .signal = signal };
	int count;

	if (fstat(fd, &tree.mark) != 0 || !S_ISREG(tree.mark.st_mode) ||
	    ioctl(fd, 0xb703 /* NS_GET_NSTYPE */) != 0x04000000) {
		error_set(error, SBX_ERROR_ARGUMENT, NULL,
		    "this is no descriptor of what a command has started", 0);
		return -1;
	}
	if (signal == SIGKILL)
		count = end_all(&tree);
	else
		count = signal_all(&tree) ? tree.count : -1;
	if (count < 0 || tree.error != 0) {
		error_set(error, SBX_ERROR_SYSTEM, NULL,
		    "cannot send the signal to all that the command has "
		    "started",
		    tree.error != 0 ? tree.error : errno);
		return -1;
	}
	return count;
}

int
sbx_kill_tree(int tree, int signal, struct sbx_error *error)
{
	int state, count, code = errno;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	count = kill_tree(tree, signal, error);
	pthread_setcancelstate(state, NULL);
	errno = code;
	return count;
}
