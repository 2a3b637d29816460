/*
 * What fault.c runs to see sbx-proxy: its life between two networks, from its
 * start to its end, in which one of its calls fails.
 *
 *	fault_proxy POLICY FAULT [ARG...]     makes two networks, and runs FAULT
 *	fault_proxy POLICY                    which runs this in them
 *
 * What it may do then is to end at its start, with 125 and one line, or with a
 * line of the dynamic linker; to refuse or lose what it was about; or to end
 * later, which its supervisor sees.  It may not keep anybody waiting, serve
 * another one wrongly, or leave a process behind.  What is wrong is printed on
 * standard error.
 */
#include "tests/kernel/proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE = 40000 /* milliseconds, of a call of ours */ };

static int told; /* where what is wrong is printed */

static void
wrong(const char *what)
{
	dprintf(told, "%s\n", what);
}

static bool
comes(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	if (poll(&wait, 1, PATIENCE) == 1)
		return true;
	wrong("it keeps somebody waiting");
	return false;
}

/* A tunnel and a word through it: 1 if it came back, 0 if that was refused or
 * lost. */
static int
talk(struct stage *stage, const char *name)
{
	static const char granted[] =
	    "HTTP/1.1 200 Connection established\r\n\r\nword";
	int fd = dial(stage, "127.0.0.1", SBX_PROXY_PORT);
	char text[512];
	size_t used = 0;
	ssize_t len = 1;

	if (fd < 0)
		return 0;
	snprintf(text, sizeof text, "CONNECT %s:443 HTTP/1.1\r\n\r\nword",
	    name);
	send_all(fd, text, strlen(text));
	while (len > 0 && used < sizeof granted - 1 && comes(fd)) {
		len = recv(fd, text + used, sizeof granted - 1 - used, 0);
		used += len > 0 ? (size_t)len : 0;
	}
	close(fd);
	return used == sizeof granted - 1 && memcmp(text, granted, used) == 0;
}

/* Whether it has ended by itself. */
static bool
has_ended(const struct stage *stage)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)stage->proxy, &info,
		   WEXITED | WNOHANG | WNOWAIT) == 0 &&
	    info.si_pid == stage->proxy;
}

/* A query is a datagram, which may be lost once; clients ask again. */
static void
look_up(const struct stage *stage)
{
	static const uint8_t query[] = "\1\2\1\0\0\1\0\0\0\0\0\0"
				       "\4good\7example\0\0\1\0\1";
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(53),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket_in(stage, stage->inside, AF_INET, SOCK_DGRAM);
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	connect(fd, (void *)&to, sizeof to);
	for (int tries = 0; tries < 30 && !has_ended(stage); tries++) {
		send(fd, query, sizeof query - 1, MSG_NOSIGNAL);
		if (poll(&wait, 1, 1000) == 1)
			break;
		if (tries == 29)
			wrong("nobody looks a name up");
	}
	close(fd);
}

/* One call failed, so one of them may have been refused; where the one that
 * looks names up is gone, the proxy is, too. */
static bool
use(struct stage *stage)
{
	int served = talk(stage, "good.example");

	look_up(stage);
	if (talk(stage, "evil.net"))
		wrong("it serves what no rule allows");
	served += talk(stage, "good.example");
	served += talk(stage, "good.example");
	/* It may be about to end. */
	for (int i = 0; i < 3000 && served < 2 && !has_ended(stage); i++)
		usleep(10000);
	if (served < 2 && !has_ended(stage))
		wrong("it is there, and does not serve");
	return served > 0;
}

/* All that it has started ends with it. */
static int
end(struct stage *stage)
{
	int status = -1, other;

	close(stage->control);
	close(stage->events);
	for (int i = 0; i < PATIENCE / 10; i++) {
		pid_t pid = waitpid(stage->proxy, &status, WNOHANG);

		if (pid == stage->proxy)
			break;
		if (i + 1 == PATIENCE / 10) {
			wrong("it does not end");
			kill(stage->proxy, SIGKILL);
		}
		usleep(10000);
	}
	for (int i = 0; i < PATIENCE / 10; i++) {
		while (waitpid(-1, &other, WNOHANG) > 0)
			;
		if (waitpid(-1, &other, WNOHANG) < 0 && errno == ECHILD)
			return status;
		usleep(10000);
	}
	wrong("it leaves a process behind");
	return status;
}

static void
judge_end(int status, int said, bool served)
{
	char text[4096];
	ssize_t len = pread(said, text, sizeof text - 1, 0);
	unsigned lines = 0;

	text[len > 0 ? len : 0] = '\0';
	for (char *at = text; *at != '\0'; at++)
		lines += *at == '\n';
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && lines == 0)
		return;
	/* Without some calls the dynamic linker ends it, in its own way. */
	if (WIFEXITED(status) && lines <= 1 &&
	    (WEXITSTATUS(status) == 125 || WEXITSTATUS(status) == 127))
		return;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV && !served)
		return;
	dprintf(told, "it ended with %#x and said: %s\n", (unsigned)status,
	    text);
}

/* --- the two networks, which all runs share ----------------------------------
 */

enum { OUTSIDE = 310, INSIDE, INNER };

__attribute__((noreturn)) static void
be_stage(char **argv)
{
	static const struct rule rules[] = { { .name = "good.example" } };
	static struct stage stage;
	int fd, status;

	if (!stage_open(&stage)) {
		printf("no networks here\n");
		exit(0);
	}
	policy_make(&stage, rules, 1, NULL);
	fd = open(argv[0], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	must(write(fd, stage.bytes, stage.size) == (ssize_t)stage.size,
	    "the policy");
	close(fd);
	dup2(stage.outside, OUTSIDE);
	dup2(stage.inside, INSIDE);
	dup2(stage.inner, INNER);
	if (fork() == 0) {
		execv(argv[1], argv + 1);
		must(false, argv[1]);
	}
	wait(&status);
	stage_close(&stage);
	exit(status != 0);
}

static void
take_policy(struct stage *stage, const char *path)
{
	/* From here on calls are counted. */
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	stage->bytes = malloc(SBX_MAX_SIZE);
	len = read(fd, stage->bytes, SBX_MAX_SIZE);
	must(len > 0 &&
		sbx_verify(stage->bytes, (size_t)len, &stage->blob) ==
		    SBX_BLOB_OK,
	    "the policy");
	stage->size = (size_t)len;
	close(fd);
}

int
main(int argc, char **argv)
{
	static struct stage stage = { .outside = OUTSIDE,
		.inside = INSIDE,
		.inner = INNER };
	const char *proxy = getenv("SBX_PROXY");
	int said = memfd_create("said", MFD_CLOEXEC), status;
	bool served;

	if (argc > 2)
		be_stage(argv + 1);
	if (argc != 2 || proxy == NULL || said < 0)
		return 2;
	told = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 300);
	stage.proxy_path = proxy;
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	take_policy(&stage, argv[1]);
	dup2(said, STDERR_FILENO);
	proxy_begin(&stage, "full", NULL);
	served = use(&stage);
	status = end(&stage);
	judge_end(status, said, served);
	return 0;
}
