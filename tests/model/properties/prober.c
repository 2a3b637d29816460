#include "tests/model/properties/prober.h"

#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void
prober_become(const struct world *world, char *const *arguments)
{
	char home[PATH_SIZE + 8], error[PATH_SIZE];
	char *environment[] = { home, NULL };
	int fd;

	snprintf(home, sizeof home, "HOME=%s", world->home);
	print_path(error, "%s/stderr", world->base);
	fd = open(error, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (fd < 0 || dup2(fd, 2) < 0)
		_exit(99);
	if (world->uid != getuid() &&
	    (setgroups(0, NULL) != 0 || setgid(world->uid) != 0 ||
		setuid(world->uid) != 0))
		_exit(99);
	umask(0);
	/* A place that every view shows. */
	if (chdir("/") != 0)
		_exit(99);
	execve(arguments[0], arguments, environment);
	_exit(99);
}

void
prober_start(struct prober *prober, const struct world *world, bool defined)
{
	char loader[PATH_SIZE], image[PATH_SIZE], probe[PATH_SIZE];
	char workspace[PATH_SIZE], parameter[PATH_SIZE + 4], level[32];
	char *arguments[] = { loader, level, (char[]){ "-w" }, workspace,
		parameter, image, (char[]){ "--" }, probe, (char[]){ "-" },
		NULL };
	int to[2], from[2];

	print_path(loader, "%s/sbxrun", world->base);
	print_path(image, "%s/policy.bin", world->base);
	print_path(probe, "%s/probe", world->base);
	print_path(workspace, "%s", world->workspace);
	snprintf(level, sizeof level, "-l%s", world->level);
	/* To define what no rule speaks of is refused. */
	if (defined)
		snprintf(parameter, sizeof parameter, "-Dp=%s",
		    world->parameter);
	else
		print_path(parameter, "-v");
	if (pipe(to) != 0 || pipe(from) != 0)
		give_up("a pipe");
	prober->pid = fork();
	if (prober->pid < 0)
		give_up("a process");
	if (prober->pid == 0) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		prober_become(world, arguments);
	}
	close(to[0]);
	close(from[1]);
	prober->to = to[1];
	prober->from = from[0];
}

void
prober_stop(struct prober *prober)
{
	close(prober->to);
	close(prober->from);
	waitpid(prober->pid, NULL, 0);
}

void
prober_ask(const struct prober *prober, const struct attempt *attempt,
    char answer[64])
{
	char line[3 * PATH_SIZE];
	size_t used = 0;
	int len = snprintf(line, sizeof line, "%s\t%s\t%s\n",
	    operations[attempt->operation].word, attempt->a, attempt->b);

	answer[0] = '\0';
	if (write(prober->to, line, (size_t)len) != len)
		return;
	while (used < 63 && read(prober->from, answer + used, 1) == 1) {
		if (answer[used] == '\n')
			break;
		used++;
	}
	answer[used] = '\0';
}
