/*
 * The command line of sbxsh, which is that of a shell, and the one of sbxrun that
 * is made of it.
 */
#include "runtime/shell/shell.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void
refuse(int status, const char *subject, const char *text, int error)
{
	fprintf(stderr, "sbxsh: %s: %s", subject, text);
	if (error != 0)
		fprintf(stderr, ": %s", strerror(error));
	fputc('\n', stderr);
	exit(status);
}

void
words_add(struct words *words, const char *text)
{
	if (words->count + 1 >= words->room) {
		words->room = words->room == 0 ? 64 : 2 * words->room;
		words->of = reallocarray(words->of, words->room,
		    sizeof *words->of);
		if (words->of == NULL)
			refuse(125, text, "no memory", 0);
	}
	words->of[words->count++] = (char *)text;
	words->of[words->count] = NULL;
}

/* --- the shell ------------------------------------------------------------ */

const char *
words_shell(const char *name)
{
	static const char *const shells[] = { "zsh", "bash", "dash", "ksh" };
	const char *slash = strrchr(name, '/');

	if (slash != NULL)
		name = slash + 1;
	for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
		if (strstr(name, shells[i]) != NULL)
			return shells[i];
	}
	if (strcmp(name, "sh") == 0 || strcmp(name, "-sh") == 0)
		return "sh";
	return words_find("bash") != NULL ? "bash" : "sh";
}

/* Whether a file is this program, by another name. */
static bool
is_itself(const struct stat *file)
{
	struct stat own;

	return stat("/proc/self/exe", &own) == 0 &&
	    own.st_dev == file->st_dev && own.st_ino == file->st_ino;
}

const char *
words_find(const char *shell)
{
	static const char *const directories[] = { "/bin", "/usr/bin",
		"/usr/local/bin", "/run/current-system/sw/bin" };
	static char path[PATH_MAX];
	struct stat status;

	for (size_t i = 0; i < sizeof directories / sizeof *directories; i++) {
		snprintf(path, sizeof path, "%s/%s", directories[i], shell);
		if (stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
		    access(path, X_OK) == 0 && !is_itself(&status))
			return path;
	}
	return NULL;
}

/* --- its words ------------------------------------------------------------ */

static bool
is_regular(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}

/*
 * Whether a single word is a command and no script.  What a command has left in
 * the directory must not become the meaning of a line such as "git status", so a
 * file counts only where the word looks like one.
 */
static bool
is_command(const char *word)
{
	if (word[0] == '-' || word[0] == '\0')
		return false;
	if (word[0] == '/' || strncmp(word, "./", 2) == 0 ||
	    strncmp(word, "../", 3) == 0)
		return !is_regular(word);
	return strpbrk(word, " \t\n;&|<>()$`\"'") != NULL || !is_regular(word);
}

void
words_translate(struct words *words, const char *shell, char **argv)
{
	const char *name = argv[0] != NULL ? argv[0] : "";

	words_add(words, shell);
	if (name[0] == '-')
		words_add(words, "-l");
	if (argv[0] == NULL)
		return;
	if (argv[1] != NULL && argv[2] == NULL && is_command(argv[1]))
		words_add(words, "-c");
	for (char **word = argv + 1; *word != NULL; word++)
		words_add(words, *word);
}

/* --- pipes ---------------------------------------------------------------- */

/* A number behind `text`, and where it ends; -1: none. */
static int
read_number(const char *text, const char **end)
{
	char *stop;
	long number;

	*end = text;
	if (!isdigit((unsigned char)*text))
		return -1;
	number = strtol(text, &stop, 10);
	*end = stop;
	return number > STDERR_FILENO && number < 1 << 20 ? (int)number : -1;
}

static void
add_pipe(int pipes[], size_t *count, size_t max, int fd)
{
	struct stat status;

	for (size_t i = 0; i < *count; i++) {
		if (pipes[i] == fd)
			return;
	}
	if (fd >= 0 && *count < max && fstat(fd, &status) == 0 &&
	    S_ISFIFO(status.st_mode))
		pipes[(*count)++] = fd;
}

/* "--jobserver-auth=3,4" among other words; a name of a pipe has no numbers. */
static void
add_jobs(int pipes[], size_t *count, size_t max)
{
	static const char *const keys[] = { "--jobserver-auth=",
		"--jobserver-fds=" };
	const char *flags = getenv("MAKEFLAGS");

	for (size_t i = 0; flags != NULL && i < 2; i++) {
		const char *at = strstr(flags, keys[i]);

		if (at == NULL)
			continue;
		add_pipe(pipes, count, max,
		    read_number(at + strlen(keys[i]), &at));
		if (*at == ',')
			add_pipe(pipes, count, max, read_number(at + 1, &at));
	}
}

size_t
words_pipes(char **argv, int pipes[], size_t max)
{
	size_t count = 0;

	for (char **word = argv; *word != NULL; word++) {
		const char *end;

		if (strncmp(*word, "/dev/fd/", 8) == 0)
			add_pipe(pipes, &count, max,
			    read_number(*word + 8, &end));
	}
	add_jobs(pipes, &count, max);
	return count;
}
