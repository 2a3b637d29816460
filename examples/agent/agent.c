/* Runs commands of an agent in one sandbox.
 *	cc agent.c $(pkg-config --cflags --libs sbx) -o agent
 *	./agent POLICY COMMAND... */
#include <sbx.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	struct sbx_options options = { .size = sizeof options };
	struct sbx_error error;
	struct sbx_sandbox *sandbox;

	if (argc < 3)
		return 2;
	options.policy = argv[1];
	sandbox = sbx_open(&options, &error);
	if (sandbox == NULL) {
		fprintf(stderr, "agent: %s\n", error.text);
		return 1;
	}
	fputs(sbx_warnings(sandbox), stderr);
	for (int i = 2; i < argc; i++) {
		char *words[] = { "sh", "-c", argv[i], NULL };
		struct sbx_command command = { .size = sizeof command,
			.argv = words };
		int pidfd = sbx_spawn(sandbox, &command, &error);
		siginfo_t end;

		if (pidfd < 0) {
			fprintf(stderr, "agent: %s\n", error.text);
			continue;
		}
		waitid(P_PIDFD, pidfd, &end, WEXITED);
		close(pidfd);
		printf("%s: %d\n", argv[i], end.si_status);
	}
	sbx_close(sandbox);
	return 0;
}
