/*
 * What fault.c runs to see libsbx: a sandbox is opened, a command runs in it, its
 * tree is killed, a session is looked for, and all of it once more.
 *
 *	fault_library MARKER SBXRUN POLICY COMMAND [ARG...]
 *
 * COMMAND writes MARKER, as fault.c says.  One call fails in all that, so one
 * function may fail, with a kind and a line; those after it must do as if nothing
 * had been.  A command that began found itself confined.  Afterwards no child
 * and no descriptor is left.  What is wrong is printed on standard error.
 */
#include "runtime/library/sbx.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HIGHEST = 64, PATIENCE = 40000 /* milliseconds */ };

struct life {
	const char *marker;
	struct sbx_options options;
	char **command;
	int failed; /* functions */
	struct sbx_error last;
};

static void
wrong(const char *step, const char *what)
{
	fprintf(stderr, "%s: %s ", step, what);
}

/* The call that fails may be one of ours, so each is made twice. */
#define TWICE(call) ((call) || (call))

static int
descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < HIGHEST; fd++)
		count += TWICE(fcntl(fd, F_GETFD) >= 0);
	return count;
}

/* A function that fails says why, in one line. */
static void
check_error(struct life *life, const char *step, const struct sbx_error *error)
{
	life->failed++;
	life->last = *error;
	if (error->kind == SBX_ERROR_NONE || error->text[0] == '\0' ||
	    memchr(error->text, '\0', sizeof error->text) == NULL ||
	    strchr(error->text, '\n') != NULL)
		wrong(step, "a failure without a line");
}

/* Whether the command wrote what one does that is confined, or began to before
 * it was killed. */
static void
check_marker(const struct life *life, const char *step, bool whole)
{
	static const char all[] = "ran\nend\n";
	int file = -1;
	char text[2048] = "";
	ssize_t len = 0;

	if (TWICE((file = open(life->marker, O_RDONLY)) >= 0) &&
	    TWICE((len = read(file, text, sizeof text - 1)) >= 0))
		text[len] = '\0';
	if (file >= 0)
		close(file);
	(void)TWICE(unlink(life->marker) == 0);
	if (strncmp(text, all, strlen(text)) != 0)
		fprintf(stderr, "NOT CONFINED: %s ", text);
	else if (whole && strcmp(text, all) != 0)
		wrong(step, "the command did not write all");
}

static void
run_command(struct life *life, struct sbx_sandbox *sandbox, const char *step)
{
	struct sbx_error error = { 0 };
	int tree = -1;
	struct sbx_command command = {
		.size = sizeof command,
		.argv = life->command,
		.tree = &tree,
	};
	struct pollfd polled = { .events = POLLIN };
	siginfo_t end = { 0 };

	polled.fd = sbx_spawn(sandbox, &command, &error);
	if (polled.fd < 0) {
		check_error(life, step, &error);
		check_marker(life, step, false);
		return;
	}
	if (!TWICE(poll(&polled, 1, PATIENCE) == 1))
		wrong(step, "the command does not end");
	if (sbx_kill_tree(tree, SIGKILL, &error) < 0)
		check_error(life, "kill", &error);
	if (!TWICE(
		waitid((idtype_t)P_PIDFD, (id_t)polled.fd, &end, WEXITED) == 0))
		wrong(step, "the command is no child");
	check_marker(life, step,
	    end.si_code == CLD_EXITED && end.si_status == 0);
	close(polled.fd);
	close(tree);
}

static void
live(struct life *life, const char *step)
{
	struct sbx_error error = { 0 };
	struct sbx_sandbox *sandbox = sbx_open(&life->options, &error);

	if (sandbox == NULL) {
		check_error(life, step, &error);
		return;
	}
	run_command(life, sandbox, step);
	sbx_close(sandbox);
}

static void
look(struct life *life)
{
	struct sbx_error error = { 0 };

	if (sbx_join("no-such-session", life->options.sbxrun, &error) != NULL)
		wrong("a session", "it is there");
	else if (error.kind != SBX_ERROR_ENDED)
		check_error(life, "a session", &error);
}

int
main(int argc, char **argv)
{
	struct life life = { .options = { .size = sizeof life.options } };
	int before, input[2];

	if (argc < 5) {
		fputs("usage: fault_library MARKER SBXRUN POLICY COMMAND "
		      "[ARG...]\n",
		    stderr);
		return 2;
	}
	life.marker = argv[1];
	life.options.sbxrun = argv[2];
	life.options.policy = argv[3];
	life.command = argv + 4;
	/* A file would have to be one of the sandbox's. */
	if (pipe(input) != 0 || dup2(input[0], STDIN_FILENO) < 0 ||
	    dup2(input[1], STDOUT_FILENO) < 0 || close(input[0]) != 0 ||
	    close(input[1]) != 0)
		return 2;
	before = descriptors();
	live(&life, "the first sandbox");
	look(&life);
	live(&life, "the second sandbox");
	if (life.failed > 1)
		wrong("more than one function failed", life.last.text);
	if (!TWICE(waitpid(-1, NULL, WNOHANG | __WALL) < 0 && errno == ECHILD))
		wrong("the end", "a child is left");
	if (descriptors() != before)
		wrong("the end", "a descriptor is left");
	return 0;
}
