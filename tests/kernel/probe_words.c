/*
 * What the operations of the probe share: their words, how they end, children.
 */
#include "tests/kernel/probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* clang-format off */
#define N(value) {#value, (unsigned long)(value)}

static const struct name errnos[] = {
	N(EPERM), N(ENOENT), N(ESRCH), N(EINTR), N(EIO), N(ENXIO), N(E2BIG),
	N(ENOEXEC), N(EBADF), N(ECHILD), N(EAGAIN), N(ENOMEM), N(EACCES),
	N(EFAULT), N(ENOTBLK), N(EBUSY), N(EEXIST), N(EXDEV), N(ENODEV),
	N(ENOTDIR), N(EISDIR), N(EINVAL), N(ENFILE), N(EMFILE), N(ENOTTY),
	N(ETXTBSY), N(EFBIG), N(ENOSPC), N(ESPIPE), N(EROFS), N(EMLINK),
	N(EPIPE), N(EDOM), N(ERANGE), N(EDEADLK), N(ENAMETOOLONG), N(ENOLCK),
	N(ENOSYS), N(ENOTEMPTY), N(ELOOP), N(EOVERFLOW), N(EUSERS),
	N(ENOTSOCK), N(EDESTADDRREQ), N(EMSGSIZE), N(EPROTOTYPE),
	N(ENOPROTOOPT), N(EPROTONOSUPPORT), N(ESOCKTNOSUPPORT), N(EOPNOTSUPP),
	N(EPFNOSUPPORT), N(EAFNOSUPPORT), N(EADDRINUSE), N(EADDRNOTAVAIL),
	N(ENETDOWN), N(ENETUNREACH), N(ECONNABORTED), N(ECONNRESET), N(ENOBUFS),
	N(EISCONN), N(ENOTCONN), N(ETIMEDOUT), N(ECONNREFUSED), N(EHOSTUNREACH),
	N(EALREADY), N(EINPROGRESS), N(ENOKEY), N(EKEYREVOKED), N(EDQUOT),
};
/* clang-format on */

void
misuse(const char *what, const char *word)
{
	fprintf(stderr, "probe: %s '%s'\n", what, word);
	exit(2);
}

unsigned long
number(const char *word)
{
	char *end;
	unsigned long value = strtoul(word, &end, 0);

	if (end == word || *end)
		misuse("not a number or a known name:", word);
	return value;
}

unsigned long
look_up(const struct name *names, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(names[i].name, word) == 0)
			return names[i].value;
	}
	return number(word);
}

const char *
errno_name(int error)
{
	for (size_t i = 0; i < countof(errnos); i++) {
		if (errnos[i].value == (unsigned long)error)
			return errnos[i].name;
	}
	return NULL;
}

void
say(const char *line)
{
	char text[4200];
	int len = snprintf(text, sizeof text, "%s\n", line);

	if (len > (int)sizeof text - 1)
		len = sizeof text - 1;
	if (write(1, text, (size_t)len) < 0)
		_exit(3);
}

int
result(long value)
{
	return value < 0 ? errno : 0;
}

int
opened(long fd)
{
	if (fd < 0)
		return errno;
	close((int)fd);
	return 0;
}

pid_t
process(const char *word)
{
	if (strcmp(word, "parent") == 0)
		return getppid();
	if (strcmp(word, "self") == 0)
		return getpid();
	return strcmp(word, "init") == 0 ? 1 : (pid_t)number(word);
}

int
wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return errno;
	}
	if (WIFSIGNALED(status))
		return SIGNALLED - WTERMSIG(status);
	return WEXITSTATUS(status);
}

int
in_child(try_function *tried, char **words, int count)
{
	pid_t pid = fork();

	if (pid < 0)
		return errno;
	if (pid == 0)
		_exit(tried(words, count));
	return wait_for(pid);
}

pid_t
sleeper(void)
{
	pid_t pid = fork();

	while (pid == 0)
		pause();
	return pid;
}

void
put_to_rest(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
