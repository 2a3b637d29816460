/*
 * sbxsh: the shell that agents are given.
 *
 * It is called as a shell is, and becomes sbxrun, which runs the real shell with
 * the same words, confined.  All commands of one agent in one project share a
 * session, so that a server which one command leaves behind answers the next.
 *
 *	agent -> sbxsh -c "npm test" -> sbxrun --session=auto --with-parent
 *	                                 -w auto POLICY -- /bin/bash -c "npm test"
 *
 * In a sandbox of sbx it becomes the real shell at once.  That it is in one it
 * learns from the kernel and not from a variable.  When something is wrong it
 * ends with 125, and never goes on without a sandbox.
 */
#include "format/protocol.h"
#include "runtime/shell/shell.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SBX_BINDIR
#define SBX_BINDIR "/usr/local/bin"
#endif

enum { PIPES_MAX = 8 };

static bool
is_inside(void)
{
	return syscall(SYS_ioprio_set, SBX_INSIDE_WHICH, 0, 0) != 0 &&
	    errno == SBX_INSIDE_ERRNO;
}

/* Beside this program, for that is what was installed with it. */
static const char *
find_sbxrun(void)
{
	static char path[PATH_MAX + 8];
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *slash;

	path[len > 0 ? len : 0] = '\0';
	slash = strrchr(path, '/');
	if (slash != NULL) {
		strcpy(slash, "/sbxrun");
		if (access(path, X_OK) == 0)
			return path;
	}
	return SBX_BINDIR "/sbxrun";
}

/* Where there is no project, in the root directory and in one that is gone,
 * there is no workspace either. */
static const char *
find_workspace(void)
{
	char cwd[PATH_MAX];

	if (getcwd(cwd, sizeof cwd) == NULL && chdir("/") != 0)
		refuse(125, "/", "cannot go there", errno);
	if (getcwd(cwd, sizeof cwd) == NULL)
		refuse(125, "the current directory", "cannot be told", errno);
	return strcmp(cwd, "/") == 0 ? "none" : "auto";
}

static void
add_pipes(struct words *words, char **argv)
{
	static char numbers[PIPES_MAX][16];
	int pipes[PIPES_MAX];
	size_t count = words_pipes(argv, pipes, PIPES_MAX);

	for (size_t i = 0; i < count; i++) {
		snprintf(numbers[i], sizeof numbers[i], "%d", pipes[i]);
		words_add(words, "--pass-fd");
		words_add(words, numbers[i]);
	}
}

static void
confine(const char *shell, char **argv, const struct settings *settings)
{
	static struct words words;
	const char *sbxrun = find_sbxrun();

	words_add(&words, "sbxrun");
	if (strcmp(settings->session, "none") != 0) {
		words_add(&words, "--session");
		words_add(&words, settings->session);
		words_add(&words, "--with-parent");
	}
	words_add(&words, "--workspace");
	words_add(&words, find_workspace());
	for (size_t i = 0; i < settings->options.count; i++)
		words_add(&words, settings->options.of[i]);
	add_pipes(&words, argv);
	words_add(&words, settings->policy);
	words_add(&words, "--");
	words_translate(&words, shell, argv);
	execv(sbxrun, words.of);
	refuse(125, sbxrun, "cannot start it", errno);
}

static const char usage[] =
    "usage: sbxsh [-c COMMAND] [ARG...]\n"
    "A shell whose commands run confined, by sbxrun, under the policy that\n"
    "~/.config/sbx/shell names; its options are those of bash. See sbxsh(1).";

int
main(int argc, char **argv)
{
	static struct settings settings;
	static struct words words;
	const char *name = argc > 0 ? words_shell(argv[0]) : "bash";
	const char *shell;

	if (argc == 2 && strstr(argv[0], "sbxsh") != NULL) {
		if (strcmp(argv[1], "--version") == 0)
			return puts("sbxsh " PACKAGE_VERSION) < 0;
		if (strcmp(argv[1], "--help") == 0)
			return puts(usage) < 0;
	}
	if (!is_inside())
		settings_read(&settings);
	shell = settings.shell != NULL ? settings.shell : words_find(name);
	if (shell == NULL)
		refuse(127, name, "this shell is not installed", 0);
	if (settings.policy != NULL)
		confine(shell, argv, &settings);
	words_translate(&words, shell, argv);
	execv(shell, words.of);
	refuse(126, shell, "cannot start it", errno);
}
