/*
 * sbx-trial: tries accesses inside a sandbox, for `sbxc test --live`.  Standard
 * input is a file of trials (format/trial.h), which is mapped and where the
 * answers go.  Nothing is left of what it makes, and no program but a copy of
 * itself begins to run.
 *
 * With an argument it does nothing: then it is such a copy.
 */
#include "format/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Too little for any program: the kernel looks whether it may be executed, and
 * kills the process when it makes room for it. */
enum { NO_ROOM = 1 << 16 };

struct attempt {
	const char *base;
	struct sbx_trial *trial; /* which is tried now */
};

static const char *
text_of(const struct attempt *attempt)
{
	return attempt->base + attempt->trial->text;
}

static int
opened(int fd)
{
	int error = errno;

	if (fd < 0)
		return error;
	close(fd);
	return 0;
}

/* --- files ---------------------------------------------------------------- */

static int
try_read(const struct attempt *attempt)
{
	return opened(open(text_of(attempt),
	    O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

static int
try_write(const struct attempt *attempt)
{
	return opened(open(text_of(attempt),
	    O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

static int
try_create(const struct attempt *attempt)
{
	const char *path = text_of(attempt);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0)
		unlink(path);
	return opened(fd);
}

/* --- in a child ----------------------------------------------------------- */

/* The child answers itself, through the mapping; one that does not live to do
 * so is told by its end. */
static int
wait_for(const struct attempt *attempt, pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return SBX_TRIAL_UNABLE;
	}
	if (attempt->trial->answer != SBX_TRIAL_NONE)
		return attempt->trial->answer;
	return WIFSIGNALED(status) ? SBX_TRIAL_SIGNAL - WTERMSIG(status) : 0;
}

static void
execute(const struct attempt *attempt)
{
	static char name[] = "sbx-trial", nothing[] = "nothing";
	static char *const arguments[] = { name, nothing, NULL },
			   *const environment[] = { NULL };

	execve(text_of(attempt), arguments, environment);
	attempt->trial->answer = errno;
	_exit(0);
}

/* A policy may deny one way to make a child and allow another. */
static pid_t
child_make(void)
{
	pid_t pid = fork();

	return pid >= 0 ? pid :
			  (pid_t)syscall(SYS_clone, SIGCHLD, 0L, 0L, 0L, 0L);
}

static int
try_run(const struct attempt *attempt)
{
	pid_t pid = child_make();

	if (pid < 0)
		return SBX_TRIAL_UNABLE;
	if (pid == 0)
		execute(attempt);
	return wait_for(attempt, pid);
}

static int
try_exec(const struct attempt *attempt)
{
	static const struct rlimit room = { NO_ROOM, NO_ROOM }, none;
	pid_t pid = child_make();
	int answer;

	if (pid < 0)
		return SBX_TRIAL_UNABLE;
	if (pid == 0) {
		if (setrlimit(RLIMIT_CORE, &none) != 0 ||
		    setrlimit(RLIMIT_AS, &room) != 0) {
			attempt->trial->answer = SBX_TRIAL_UNABLE;
			_exit(0);
		}
		execute(attempt);
	}
	answer = wait_for(attempt, pid);
	/* Killed: it was allowed.  Without room even to ask: nobody knows. */
	if (answer <= SBX_TRIAL_SIGNAL)
		return 0;
	return answer == ENOMEM || answer == E2BIG ? SBX_TRIAL_UNABLE : answer;
}

static int
try_call(const struct attempt *attempt)
{
	struct sbx_trial *trial = attempt->trial;
	pid_t pid = child_make();

	if (pid < 0)
		return SBX_TRIAL_UNABLE;
	if (pid == 0) {
		long value = syscall((long)trial->number, trial->args[0],
		    trial->args[1], trial->args[2], trial->args[3],
		    trial->args[4], trial->args[5]);

		trial->answer = value < 0 ? errno : 0;
		_exit(0);
	}
	return wait_for(attempt, pid);
}

/* --- the network and the environment -------------------------------------- */

static int
socket_open(const struct attempt *attempt, struct sockaddr_in *address)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	*address = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)attempt->trial->number),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	attempt->trial->socket = fd < 0;
	return fd;
}

static int
try_connect(const struct attempt *attempt)
{
	struct sockaddr_in address;
	int fd = socket_open(attempt, &address), error = 0;

	if (fd >= 0 &&
	    connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
		error = errno;
	opened(fd);
	return fd < 0 ? errno : error;
}

static int
try_listen(const struct attempt *attempt)
{
	struct sockaddr_in address;
	int fd = socket_open(attempt, &address), error = 0;

	if (fd >= 0 &&
	    (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
		listen(fd, 1) != 0))
		error = errno;
	opened(fd);
	return fd < 0 ? errno : error;
}

static int
try_env(const struct attempt *attempt)
{
	return getenv(text_of(attempt)) != NULL ? 0 : SBX_TRIAL_ABSENT;
}

/* --- all of them ---------------------------------------------------------- */

static int (*const tries[])(const struct attempt *attempt) = {
	[SBX_TRY_READ] = try_read,
	[SBX_TRY_WRITE] = try_write,
	[SBX_TRY_CREATE] = try_create,
	[SBX_TRY_RUN] = try_run,
	[SBX_TRY_EXEC] = try_exec,
	[SBX_TRY_CONNECT] = try_connect,
	[SBX_TRY_LISTEN] = try_listen,
	[SBX_TRY_ENV] = try_env,
	[SBX_TRY_CALL] = try_call,
};

static struct sbx_trials *
trials_map(void)
{
	struct stat status;
	struct sbx_trials *trials;

	if (fstat(0, &status) != 0 || (size_t)status.st_size < sizeof *trials)
		return NULL;
	trials = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE,
	    MAP_SHARED, 0, 0);
	if (trials == MAP_FAILED || trials->magic != SBX_TRIAL_MAGIC ||
	    trials->size != (size_t)status.st_size ||
	    trials->count > trials->size / sizeof(struct sbx_trial))
		return NULL;
	return trials;
}

int
main(int argc, char **argv)
{
	struct sbx_trials *trials;
	struct sbx_trial *trial;

	(void)argv;
	if (argc != 1)
		return 0;
	trials = trials_map();
	if (trials == NULL)
		return 2;
	trial = (struct sbx_trial *)(void *)(trials + 1);
	for (uint32_t i = 0; i < trials->count; i++, trial++) {
		struct attempt attempt = { (const char *)trials, trial };

		if (trial->answer == SBX_TRIAL_NONE &&
		    trial->kind < sizeof tries / sizeof tries[0] &&
		    trial->text < trials->size)
			trial->answer = tries[trial->kind](&attempt);
	}
	return 0;
}
