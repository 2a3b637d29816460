/*
 * What fault.c runs to see a keeper: the life of a session, from its making to
 * its end, and of the one that is made after it.
 *
 *	fault_session MARKER SBXRUN NAME POLICY COMMAND [ARG...]
 *
 * COMMAND writes MARKER, as fault.c says.  One call fails in all that, so one
 * step may be refused, in one line; those after it must do as if nothing had
 * been.  What is wrong is printed on standard error.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_WORDS = 32, NOT_EXECUTED = 99 };

struct life {
	char *marker, *loader, *name, *policy;
	char **command;
	int refused;
	char said[4096]; /* by the last step */
};

static void
wrong(const struct life *life, const char *step, const char *what, int status)
{
	fprintf(stderr, "%s: %s (wait status %#x, said: %.300s) ", step, what,
	    (unsigned)status, life->said);
}

/* What users are promised of a command that does not run: a status and a line.
 * With a keeper that cannot go on, all that runs is killed. */
static bool
is_refusal(const struct life *life, int status)
{
	const char *end = strchr(life->said, '\n');

	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGKILL;
	/* The execve(2) that failed was ours. */
	if (WEXITSTATUS(status) == NOT_EXECUTED && *life->said == '\0')
		return true;
	return WIFEXITED(status) && WEXITSTATUS(status) >= 125 &&
	    WEXITSTATUS(status) <= 127 && end != NULL && end[1] == '\0';
}

/* The keeper goes on with the file, so its end is not waited for. */
static int
run(struct life *life, const char **words)
{
	int said = memfd_create("said", MFD_CLOEXEC), status = -1;
	pid_t pid = said >= 0 ? fork() : -1;
	ssize_t len;

	if (pid < 0) {
		perror("fault_session");
		exit(2);
	}
	if (pid == 0) {
		dup2(said, STDERR_FILENO);
		execv(words[0], (char **)(uintptr_t)words);
		_exit(NOT_EXECUTED);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	len = pread(said, life->said, sizeof life->said - 1, 0);
	life->said[len < 0 ? 0 : len] = '\0';
	close(said);
	return status;
}

/* Whether the command wrote anything, and whether that was as it should be.  A
 * keeper that cannot go on ends what has just begun. */
static void
read_marker(const struct life *life, int status, bool *ran, bool *good)
{
	static const char all[] = "ran\nend\n";
	char text[sizeof life->said] = "";
	FILE *file = fopen(life->marker, "r");

	/* On standard error if the view lacks the place of the file. */
	snprintf(text, sizeof text, "%s", life->said);
	if (file != NULL) {
		text[fread(text, 1, sizeof text - 1, file)] = '\0';
		fclose(file);
	}
	*ran = file != NULL || strncmp(text, all, 4) == 0;
	*good = strcmp(text, all) == 0 ||
	    (status != 0 && strncmp(text, all, strlen(text)) == 0);
	if (!*ran)
		return;
	if (!*good)
		fprintf(stderr, "NOT CONFINED: %s ", text);
}

static void
run_command(struct life *life, const char *step)
{
	const char *words[MOST_WORDS] = { life->loader, "--session", life->name,
		life->policy, "--" };
	bool ran, good;
	int status;

	for (int i = 0; life->command[i] != NULL && i + 6 < MOST_WORDS; i++)
		words[i + 5] = life->command[i];
	unlink(life->marker);
	status = run(life, words);
	read_marker(life, status, &ran, &good);
	if (ran && !good)
		wrong(life, step, "it ran with more", status);
	else if (ran && status != 0)
		life->refused++;
	else if (!ran && is_refusal(life, status))
		life->refused++;
	else if (!ran)
		wrong(life, step, "no command, and no clear line", status);
	unlink(life->marker);
}

/* A fault may have ended it before. */
static void
end(struct life *life, const char *step)
{
	const char *words[] = { life->loader, "--session", life->name, "--end",
		NULL };
	int status = run(life, words);

	if (status == 0 || strstr(life->said, "there is no such session"))
		return;
	if (!is_refusal(life, status))
		wrong(life, step, "no end, and no clear line", status);
	life->refused++;
	status = run(life, words);
	if (status != 0 &&
	    strstr(life->said, "there is no such session") == NULL)
		wrong(life, step, "no end the second time", status);
}

static void
check_place(const struct life *life, const char *directory, const char *below)
{
	char path[256];
	struct stat status;

	snprintf(path, sizeof path, "%s%u/%s/%s", directory,
	    (unsigned)geteuid(), below, life->name);
	if (lstat(path, &status) == 0)
		fprintf(stderr, "%s is left ", path);
}

int
main(int argc, char **argv)
{
	static struct life life;

	if (argc < 6) {
		fputs("usage: fault_session MARKER SBXRUN NAME POLICY COMMAND "
		      "[ARG...]\n",
		    stderr);
		return 2;
	}
	life.marker = argv[1];
	life.loader = argv[2];
	life.name = argv[3];
	life.policy = argv[4];
	life.command = argv + 5;
	run_command(&life, "the first command");
	run_command(&life, "the second command");
	/* They share a view, which may lack what the command needs. */
	if (life.refused == 2)
		life.refused = 1;
	end(&life, "the end");
	run_command(&life, "a command afterwards");
	end(&life, "the second end");
	check_place(&life, "/run/user/", "sbx");
	check_place(&life, "/tmp/sbx-", "sessions");
	if (life.refused > 1)
		fprintf(stderr, "%d steps were refused, and one call failed ",
		    life.refused);
	return 0;
}
