#include "runtime/inspect/self_test.h"

#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "runtime/bind/scratch.h"

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

/* Milliseconds that the limit of a second and what follows it may take. */
enum { DYING = 15000 };

static const char text[] = "for the eyes of the self-test only\n";

static void
join(char *path, const char *directory, const char *name)
{
	strcpy(path, directory);
	strcat(path, name);
}

static void
make_directory(const char *path)
{
	if (mkdir(path, 0700) != 0)
		refuse(path, "cannot make the stage", errno);
}

static void
make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, sizeof text - 1) < 0)
		refuse(path, "cannot make the stage", errno);
	close(fd);
}

static void
make_stage(struct self_test *test)
{
	char hidden[STAGE_PATH_SIZE + 16];

	/* Not below /tmp if that can be had: at level full policies give a
	 * /tmp, and what they give is no test. */
	strcpy(test->stage, "/var/tmp/sbx-self-test-XXXXXX");
	if (mkdtemp(test->stage) == NULL) {
		strcpy(test->stage, "/tmp/sbx-self-test-XXXXXX");
		if (mkdtemp(test->stage) == NULL)
			refuse(test->stage, "cannot make the stage", errno);
	}
	join(test->workspace, test->stage, "/work");
	join(test->inside, test->stage, "/work/made");
	join(test->home, test->stage, "/home");
	join(test->key, test->stage, "/home/.ssh/id_ed25519");
	join(test->outside, test->stage, "/file");
	join(test->made, test->stage, "/made");
	join(test->socket, test->stage, "/socket");
	make_directory(test->workspace);
	make_directory(test->home);
	join(hidden, test->home, "/.ssh");
	make_directory(hidden);
	make_file(test->key);
	make_file(test->outside);
}

/* What is not there any more, or never was, is no matter. */
static void
clear_stage(const struct self_test *test)
{
	char path[SCRATCH_PATH_SIZE];
	char hidden[STAGE_PATH_SIZE + 16];
	struct sbx_place place = { test->workspace,
		(uint32_t)strlen(test->workspace) };

	if (scratch_path(path, place, false))
		rmdir(path);
	unlink(test->inside);
	unlink(test->key);
	unlink(test->outside);
	unlink(test->made);
	unlink(test->socket);
	join(hidden, test->home, "/.ssh");
	rmdir(hidden);
	rmdir(test->home);
	rmdir(test->workspace);
	rmdir(test->stage);
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

	/* Where there is no network, there is none to get through to. */
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
	clear_stage(test);
	_exit(status);
}

/* The sandbox's home is the stage's. */
static void
set_home(struct self_test *test, char **environment)
{
	static char variable[STAGE_PATH_SIZE + 16];

	join(variable, "HOME=", test->home);
	while (*environment != NULL && strncmp(*environment, "HOME=", 5) != 0)
		environment++;
	if (*environment == NULL)
		refuse("HOME", "is not set", 0);
	*environment = variable;
}

/* What it would say of its time is as it has to be, and what else it says the
 * next one says too. */
static void
be_silent(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0)
		refuse("/dev/null", "cannot open", errno);
	close(null);
}

/* Whoever of it is alive has the pipe open.  What is still there long after its
 * time is not waited for: that is the answer. */
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
		be_silent();
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

	test->json = options->json;
	for (size_t i = 0; i < sizeof test->outer / sizeof *test->outer; i++)
		test->outer[i] = -1;
	make_stage(test);
	test->tcp = listen_on(SOCK_STREAM, &test->outer[0]);
	test->udp = listen_on(SOCK_DGRAM, &test->outer[1]);
	listen_at(test->socket, &test->outer[2]);
	test->victim = make_victim();
	try_time(test);
	if (!test->outlives)
		child = fork_or_refuse();
	if (child > 0)
		wait_for(test, child);
	prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	for (size_t i = 0; i < sizeof test->outer / sizeof *test->outer; i++)
		close(test->outer[i]);
	set_home(test, environment);
	options->workspace = test->workspace;
}
