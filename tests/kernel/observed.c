/*
 * What makes it hard to look at a program:
 *
 *	observed threads PATH	32 threads open a file and start programs
 *	observed ticks PATH	opens it under a timer without SA_RESTART
 *	observed vfork PATH	starts it again and again by vfork(2)
 *	observed hidden PATH	nobody may look into the process that opens it
 *	observed flood DIR	20000 names in a directory, as mkstemp(3) has them
 *	observed spread DIR	3000 names, each in a directory of its own
 *	observed long DIR	a path of 4095 bytes that are escape sequences
 *
 * It prints "ok", or what happened.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	THREADS = 32,
	OPENS = 100,
	STARTS = 5,
	TICKING = 3000,
	NAMES = 20000,
	DIRECTORIES = 3000,
	PATH_SIZE = 4096,
};

static bool
open_once(const char *path)
{
	int fd;

	do
		fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool
start_once(const char *path)
{
	char *argv[] = { (char *)path, NULL };
	int status = -1;
	pid_t child = vfork();

	if (child == 0) {
		execv(path, argv);
		_exit(127);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0;
}

static void *
work(void *path)
{
	for (int i = 0; i < OPENS; i++) {
		if (!open_once(path))
			return path;
	}
	for (int i = 0; i < STARTS; i++) {
		if (!start_once("/bin/true"))
			return path;
	}
	return NULL;
}

static bool
threads(const char *path)
{
	pthread_t all[THREADS];
	bool good = true;

	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&all[i], NULL, work, (void *)path) != 0)
			return false;
	}
	for (int i = 0; i < THREADS; i++) {
		void *failed;

		pthread_join(all[i], &failed);
		good &= failed == NULL;
	}
	return good;
}

static void
tick(int number)
{
	(void)number;
}

static bool
ticks(const char *path)
{
	static const struct itimerval timer = { { 0, 1000 }, { 0, 1000 } };
	const struct sigaction action = { .sa_handler = tick };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (int i = 0; i < TICKING; i++) {
		if (!open_once(path))
			return false;
	}
	return true;
}

static bool
starts(const char *path)
{
	for (int i = 0; i < OPENS; i++) {
		if (!start_once(path))
			return false;
	}
	return true;
}

static bool
hidden(const char *path)
{
	return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 && open_once(path);
}

/* Whether one that is to be denied is. */
static bool
is_denied(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_EXCL, 0600) < 0;
}

static unsigned
shuffled(unsigned number)
{
	return number * 2654435761U & 0xffffff;
}

static bool
flood(const char *directory)
{
	char path[PATH_SIZE];

	for (unsigned i = 0; i < NAMES; i++) {
		snprintf(path, sizeof path, "%s/Gm%06x", directory,
		    shuffled(i));
		if (!is_denied(path))
			return false;
	}
	return true;
}

static bool
spread(const char *directory)
{
	char path[PATH_SIZE];

	for (unsigned i = 0; i < DIRECTORIES; i++) {
		snprintf(path, sizeof path, "%s/%06x/x", directory,
		    shuffled(i));
		if (!is_denied(path))
			return false;
	}
	return true;
}

/* The command cannot make it, and outside nothing has such a name either. */
static bool
overlong(const char *directory)
{
	static const char pattern[] = "\033[31m\033]0;x\a\xff\n";
	char path[PATH_SIZE];
	size_t len = (size_t)snprintf(path, sizeof path, "%s/", directory);

	for (size_t i = 0; len < sizeof path - 1; i++, len++)
		path[len] = i % 200 == 199 ? '/' :
					     pattern[i % (sizeof pattern - 1)];
	path[len] = '\0';
	if (open(path, O_WRONLY | O_CREAT, 0600) >= 0)
		return false;
	path[strlen(directory) + 200] = '\0';
	return open(path, O_WRONLY | O_CREAT, 0600) < 0;
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		bool (*run)(const char *path);
	} ways[] = {
		{ "threads", threads },
		{ "ticks", ticks },
		{ "vfork", starts },
		{ "hidden", hidden },
		{ "flood", flood },
		{ "spread", spread },
		{ "long", overlong },
	};

	for (size_t i = 0; argc == 3 && i < sizeof ways / sizeof *ways; i++) {
		if (strcmp(argv[1], ways[i].name) == 0) {
			puts(ways[i].run(argv[2]) ? "ok" : strerror(errno));
			return 0;
		}
	}
	puts("called wrongly");
	return 2;
}
