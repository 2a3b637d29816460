/*
 * Where a program would have connected to, guessed from its command line: this
 * program with such arguments is asked, and does nothing.
 */
#include "runtime/listen/answers.h"
#include "tests/lib/tap.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LABEL "a123456789b123456789c123456789d123456789e123456789"
/* 253 bytes, the longest name. */
#define LONGEST \
	LABEL "." LABEL "." LABEL "." LABEL "." \
	      "a123456789b123456789c123456789d123456789e1234567z"

enum { ARGUMENTS_MAX = 6 };

static const struct {
	const char *program, *arguments[ARGUMENTS_MAX];
	const char *host; /* "": none is found */
	uint16_t port;
} cases[] = {
	/* Any program, by what is a URL. */
	{ "any", { "https://a.example/x" }, "a.example", 443 },
	{ "any", { "http://a.example" }, "a.example", 80 },
	{ "any", { "wss://a.example" }, "a.example", 443 },
	{ "any", { "ws://a.example" }, "a.example", 80 },
	{ "any", { "git+https://a.example" }, "a.example", 443 },
	{ "any", { "xhttps://a.example" }, "a.example", 0 },
	{ "any", { "ftp://a.example" }, "a.example", 0 },
	{ "any", { "--to=https://a.example" }, "a.example", 443 },
	{ "any", { "https://u:p@a.example/b@c" }, "a.example", 443 },
	{ "any", { "https://a.example/b@c.example" }, "a.example", 443 },
	{ "any", { "https://a.example?q=b@c.example" }, "a.example", 443 },
	{ "any", { "https://a.example#b@c.example" }, "a.example", 443 },
	{ "any", { "https://a.example:8443/x" }, "a.example", 8443 },
	{ "any", { "https://a.example:65535" }, "a.example", 65535 },
	{ "any", { "https://a.example:65536" }, "a.example", 0 },
	{ "any", { "https://a.example:1?x" }, "a.example", 1 },
	{ "any", { "https://a.example:1#x" }, "a.example", 1 },
	{ "any", { "https://a.example:x" }, "a.example", 0 },
	{ "any", { "https://a.example:" }, "a.example", 0 },
	{ "any", { "x", "http://a.example" }, "a.example", 80 },
	{ "any", { "https://", "http://b.example" }, "b.example", 80 },
	{ "any", { "https://plain/" }, "", 0 },
	{ "any", { "a.example" }, "", 0 },
	{ "any", { NULL }, "", 0 },
	/* What is a host, and what is a file or a number. */
	{ "ssh", { "a.example" }, "a.example", 0 },
	{ "ssh", { "localhost" }, "localhost", 0 },
	{ "ssh", { "localhosts" }, "", 0 },
	{ "ssh", { "host" }, "", 0 },
	{ "ssh", { ".a.example" }, "", 0 },
	{ "ssh", { "-a.example" }, "", 0 },
	{ "ssh", { "a.example." }, "", 0 },
	{ "ssh", { "1.2.3.4" }, "1.2.3.4", 0 },
	{ "ssh", { "1.2.3" }, "", 0 },
	{ "ssh", { "1.2.3.4.5" }, "", 0 },
	{ "ssh", { "a.9" }, "", 0 },
	{ "ssh", { "a.z" }, "a.z", 0 },
	{ "ssh", { "A.Z9z" }, "A.Z9z", 0 },
	{ "ssh", { "a.b_c" }, "", 0 },
	{ "ssh", { LONGEST }, LONGEST, 0 },
	{ "ssh", { LONGEST "z" }, "", 0 },
	/* Where each has its host and its port. */
	{ "ssh", { "u@a.example", "-p", "2222" }, "a.example", 2222 },
	{ "ssh", { "-p2222", "a.example" }, "a.example", 2222 },
	{ "ssh", { "-p", "2222", "--", "a.example" }, "a.example", 2222 },
	{ "ssh", { "a.example", "-p" }, "a.example", 0 },
	{ "ssh", { "a.example", "p", "22" }, "a.example", 0 },
	{ "sftp", { "-P", "2222", "a.example" }, "a.example", 2222 },
	{ "scp", { "file", "u@a.example:x" }, "a.example", 0 },
	{ "scp", { "-P", "2", "u@a.example:x" }, "a.example", 2 },
	{ "getent", { "hosts", "a.example" }, "a.example", 0 },
	{ "nc", { "a.example", "22" }, "a.example", 22 },
	{ "nc", { "a.example" }, "a.example", 0 },
	{ "telnet", { "a.example", "23" }, "a.example", 23 },
	{ "curl", { "a.example:8080/x" }, "a.example", 8080 },
	{ "curl", { "a.example" }, "", 0 },
	{ "curl", { "-o", "f.txt", "a.example:1" }, "a.example", 1 },
	{ "wget", { "a.example:81" }, "a.example", 81 },
	{ "psql", { "-h", "a.example", "-p", "5433" }, "a.example", 5433 },
	{ "psql", { "--host=a.example", "--port=5433" }, "a.example", 5433 },
	{ "psql", { "--host", "a.example", "--port", "1" }, "a.example", 1 },
	{ "psql", { "--hosts=a.example" }, "", 0 },
	{ "psql", { "-ha.example" }, "a.example", 0 },
	{ "psql", { "-h", "/run" }, "", 0 },
	{ "psql", { "a.example" }, "", 0 },
	{ "redis-cli", { "-p", "6380" }, "127.0.0.1", 6380 },
	{ "redis-cli", { "-h", "a.example" }, "a.example", 0 },
	{ "mysql", { "-h", "a.example", "-P", "3307" }, "a.example", 3307 },
	{ "mysql", { "-h", "a.example", "-p", "3307" }, "a.example", 0 },
};

/* A process with these arguments, which is there when this returns. */
static pid_t
start(const char *own, const char *const *arguments)
{
	char *argv[ARGUMENTS_MAX + 2] = { (char *)(uintptr_t)own };
	char wait[] = "DESTINATION_WAIT=1", *environment[] = { wait, NULL };
	int ends[2];
	char byte;
	pid_t pid;

	for (int i = 0; i < ARGUMENTS_MAX; i++)
		argv[i + 1] = (char *)(uintptr_t)arguments[i];
	if (pipe2(ends, O_CLOEXEC) != 0)
		exit(99);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execve("/proc/self/exe", argv, environment);
		_exit(99);
	}
	close(ends[1]);
	while (read(ends[0], &byte, 1) > 0)
		;
	close(ends[0]);
	return pid;
}

static void
try_case(struct tap *tap, const char *own, size_t i)
{
	struct sbx_denial denial;
	struct caller caller = { .call.thread = 0 };
	pid_t pid = start(own, cases[i].arguments);

	/* What stood there before is no part of the host. */
	memset(&denial, 0, sizeof denial);
	memset(denial.path, 'x', sizeof denial.path - 1);
	denial.path[0] = '\0';
	strcpy(denial.program, cases[i].program);
	caller.call.thread = (uint32_t)pid;
	destination_guess(&caller, &denial);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (!tap_ok(tap,
		strcmp(denial.path, cases[i].host) == 0 &&
		    denial.port == cases[i].port,
		"%s %s %s: %s", cases[i].program,
		cases[i].arguments[0] != NULL ? cases[i].arguments[0] : "",
		cases[i].arguments[1] != NULL ? cases[i].arguments[1] : "",
		*cases[i].host != '\0' ? cases[i].host : "no host"))
		printf("# %s:%u\n", denial.path, (unsigned)denial.port);
}

int
main(int argc, char **argv)
{
	struct tap tap = { 0 };

	(void)argc;
	if (getenv("DESTINATION_WAIT") != NULL)
		for (;;)
			pause();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		try_case(&tap, argv[0], i);
	return tap_done(&tap);
}
