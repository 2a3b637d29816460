/*
 * sbxrun --self-test: tries to get out of a sandbox of a policy.
 *
 * A small stage is set up outside: a workspace, a home with a key in it, a
 * file, listening sockets and a process.  A real sandbox is started on it, and
 * probes run where the command would run; each tries to reach one of these.
 * Before that, in another sandbox whose time is over soon, a command does all
 * it can to live on.
 */
#include "runtime/inspect/inspect.h"

#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "runtime/bind/bind.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Milliseconds for the limit of one second, and for the end of what runs. */
enum { DYING = 15000 };

static const char text[] = "for the eyes of the self-test only\n";

static const struct stage_entry {
	const char *name; /* below the root of the stage */
	enum { TO_BE_MADE, DIRECTORY, REGULAR_FILE } kind;
} entries[STAGE_END] = {
	[STAGE_WORKSPACE] = { "/work", DIRECTORY },
	[STAGE_HOME] = { "/home", DIRECTORY },
	[STAGE_HIDDEN] = { "/home/.ssh", DIRECTORY },
	[STAGE_KEY] = { "/home/.ssh/id_ed25519", REGULAR_FILE },
	[STAGE_OUTSIDE] = { "/file", REGULAR_FILE },
	[STAGE_INSIDE] = { "/work/made", TO_BE_MADE },
	[STAGE_MADE] = { "/made", TO_BE_MADE },
	[STAGE_SOCKET] = { "/socket", TO_BE_MADE },
};

static void
make_entry(const char *path, const struct stage_entry *entry)
{
	int fd = -1;
	bool made = true;

	if (entry->kind == DIRECTORY)
		made = mkdir(path, 0700) == 0;
	if (entry->kind == REGULAR_FILE) {
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		made = fd >= 0 && write(fd, text, sizeof text - 1) >= 0;
	}
	if (!made)
		refuse(path, "cannot make the stage", errno);
	if (fd >= 0)
		close(fd);
}

static void
make_stage(struct self_test *test)
{
	char *root = test->places[STAGE_ROOT];

	/* Preferably not below /tmp: at level full policies give a /tmp of
	 * their own, and what a policy gives cannot be tested. */
	strcpy(root, "/var/tmp/sbx-self-test-XXXXXX");
	if (mkdtemp(root) == NULL) {
		strcpy(root, "/tmp/sbx-self-test-XXXXXX");
		if (mkdtemp(root) == NULL)
			refuse(root, "cannot make the stage", errno);
	}
	for (int i = STAGE_ROOT + 1; i < STAGE_END; i++) {
		strcpy(test->places[i], root);
		strcat(test->places[i], entries[i].name);
		make_entry(test->places[i], &entries[i]);
	}
}

/* The view makes in it, as empty directories and files, what it shows below
 * /tmp. */
static void
clear_scratch(const struct self_test *test)
{
	const char *workspace = test->places[STAGE_WORKSPACE];
	struct sbx_place place = sbx_place_of(workspace);
	char path[SCRATCH_PATH_SIZE];
	int scratch = scratch_open(path, place);
	struct out failed;

	out_init(&failed, -1);
	if (scratch >= 0)
		clean_directory(path, scratch, &failed);
}

static uint16_t
listen_on(int type, int *kept)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	socklen_t len = sizeof address;
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	/* Without a network outside nothing can be reached there: then the
	 * discard port will do. */
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) != 0 ||
	    (type == SOCK_STREAM && listen(fd, 8) != 0) ||
	    getsockname(fd, (struct sockaddr *)&address, &len) != 0)
		return 9;
	*kept = fd;
	return ntohs(address.sin_port);
}

static void
listen_at(const char *path, int *kept)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, path);
	if (fd < 0 ||
	    bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
	    listen(fd, 8) != 0)
		refuse(path, "cannot listen", errno);
	*kept = fd;
}

static pid_t
fork_or_refuse(void)
{
	pid_t pid = fork();

	if (pid < 0)
		refuse(NULL, "cannot fork", errno);
	return pid;
}

static pid_t
make_victim(void)
{
	pid_t pid = fork_or_refuse();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	for (;;)
		pause();
}

static int
status_of(pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_REFUSED;
}

__attribute__((noreturn)) static void
wait_for(const struct self_test *test, pid_t child)
{
	int status = status_of(child);

	kill(test->victim, SIGKILL);
	/* What has gone, or was never made, needs no removing. */
	clear_scratch(test);
	for (int i = STAGE_END - 1; i > STAGE_ROOT; i--) {
		if (entries[i].kind == DIRECTORY)
			rmdir(test->places[i]);
		else
			unlink(test->places[i]);
	}
	rmdir(test->places[STAGE_ROOT]);
	_exit(status);
}

/* The home of the sandbox is on the stage. */
static void
set_home(struct self_test *test, char **environment)
{
	static char variable[STAGE_PATH_SIZE + 16];

	strcpy(variable, "HOME=");
	strcat(variable, test->places[STAGE_HOME]);
	while (*environment != NULL && strncmp(*environment, "HOME=", 5) != 0)
		environment++;
	if (*environment == NULL)
		refuse("HOME", "is not set", 0);
	*environment = variable;
}

/* Each process of that sandbox has the pipe open.  If one is still there long
 * after its time, it has outlived it; it is not waited for. */
static enum outcome_of_time
see_end(pid_t child, int alive)
{
	struct pollfd wait = { .fd = alive, .events = POLLIN };
	bool outlived = poll(&wait, 1, DYING) <= 0;
	int status;

	if (outlived)
		kill(child, SIGKILL);
	status = status_of(child);
	if (outlived)
		return TIME_OUTLIVED;
	return status == EXIT_TIMEOUT ? TIME_KILLED : TIME_UNTRIED;
}

/* Sets test->outlives in the child, and test->time in the parent. */
static void
try_time(struct self_test *test)
{
	int alive[2];
	pid_t child;

	if (pipe2(alive, O_CLOEXEC) != 0)
		refuse(NULL, "cannot make a pipe", errno);
	child = fork_or_refuse();
	test->outlives = child == 0;
	close(alive[test->outlives ? 0 : 1]);
	if (test->outlives) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		/* The other sandbox writes nothing: it has to say that its time
		 * is over, and the sandbox after it gives the same warnings. */
		if (null < 0 || dup2(null, STDOUT_FILENO) < 0 ||
		    dup2(null, STDERR_FILENO) < 0)
			refuse("/dev/null", "cannot open", errno);
		close(null);
		return;
	}
	test->time = see_end(child, alive[0]);
	close(alive[0]);
}

void
self_test_begin(struct self_test *test, struct options *options,
    char **environment)
{
	pid_t child = 0;

	for (size_t i = 0; i < countof(test->outer); i++)
		test->outer[i] = -1;
	make_stage(test);
	test->tcp = listen_on(SOCK_STREAM, &test->outer[0]);
	test->udp = listen_on(SOCK_DGRAM, &test->outer[1]);
	listen_at(test->places[STAGE_SOCKET], &test->outer[2]);
	test->victim = make_victim();
	test->terminal = open_terminal() == 0;
	try_time(test);
	if (!test->outlives)
		child = fork_or_refuse();
	if (child > 0)
		wait_for(test, child);
	prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	for (size_t i = 0; i < countof(test->outer); i++)
		close(test->outer[i]);
	set_home(test, environment);
	options->workspace = test->places[STAGE_WORKSPACE];
}
