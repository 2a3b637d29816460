#include "runtime/apply/execute.h"

#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* POSIX: a file that the kernel cannot execute is a script of /bin/sh. */
static void
execute_script(char *path, char **argv, char **variables)
{
	char shell[] = "/bin/sh";
	char *name = argv[0];

	argv[-1] = shell;
	argv[0] = path;
	execve(shell, argv - 1, variables);
	argv[0] = name;
}

/* How to try a path: to execute it, or, where there are no variables, to open
 * it. */
struct attempt {
	char **argv, **variables;
	int program; /* -1: it is not open */
};

static void
open_path(const char *path, struct attempt *attempt)
{
	attempt->program = open(path, O_PATH | O_CLOEXEC);
	if (attempt->program < 0 || access(path, X_OK) == 0)
		return;
	close(attempt->program);
	attempt->program = -1;
	errno = EACCES;
}

static void
try_path(char *path, struct attempt *attempt)
{
	if (attempt->variables == NULL) {
		open_path(path, attempt);
		return;
	}
	execve(path, attempt->argv, attempt->variables);
	if (errno == ENOEXEC)
		execute_script(path, attempt->argv, attempt->variables);
}

/* Whether the search goes on after this failure, as in execvp(3). */
static bool
is_elsewhere(int error)
{
	return error == ENOENT || error == ENOTDIR || error == EACCES ||
	    error == ENAMETOOLONG;
}

/* Tries each directory of PATH; returns with errno, which is EACCES if any of
 * them had the file. */
static void
search_path(struct attempt *attempt, const char *dirs)
{
	const char *name = attempt->argv[0];
	size_t name_len = strlen(name);
	char path[SBX_MAX_PATH + 1];
	int error = ENOENT;

	if (dirs == NULL)
		dirs = "/usr/local/bin:/usr/bin:/bin";
	for (const char *dir = dirs; dir != NULL;) {
		size_t len = strcspn(dir, ":");
		const char *next = dir[len] == ':' ? dir + len + 1 : NULL;

		if (len + name_len + 2 <= sizeof path) {
			memcpy(path, dir, len);
			/* An empty element is the current directory. */
			if (len > 0)
				path[len++] = '/';
			memcpy(path + len, name, name_len + 1);
			try_path(path, attempt);
			if (attempt->program >= 0)
				return;
			if (!is_elsewhere(errno)) {
				error = errno;
				break;
			}
			/* EACCES may be about the directory. */
			if (errno == EACCES && access(path, F_OK) == 0)
				error = EACCES;
		}
		dir = next;
	}
	errno = error;
}

static void
try_all(struct attempt *attempt, const char *dirs)
{
	char *name = attempt->argv[0];

	if (*name == '\0')
		errno = ENOENT;
	else if (strchr(name, '/') != NULL)
		try_path(name, attempt);
	else
		search_path(attempt, dirs);
}

int
execute_try(char **argv, char **variables, const char *dirs)
{
	struct attempt attempt = { argv, variables, -1 };

	try_all(&attempt, dirs);
	return errno;
}

int
execute_open(char **argv, const char *dirs)
{
	struct attempt attempt = { argv, NULL, -1 };

	try_all(&attempt, dirs);
	return attempt.program;
}

const char *
execute_fault(const char *name, int error)
{
	bool is_path = strchr(name, '/') != NULL;

	if (error != ENOENT)
		return "cannot execute the command";
	/* A script whose interpreter is missing fails in the same way. */
	if (is_path && access(name, F_OK) == 0)
		return "the program that runs this file is missing";
	return is_path ? "no such file in the sandbox" : "command not found";
}

void
execute_refuse(const char *name, int error)
{
	say(name, execute_fault(name, error), error == ENOENT ? 0 : error);
	_exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

void
execute(char **argv, struct environment *environment)
{
	execute_refuse(argv[0],
	    execute_try(argv, environment->variables,
		environment_get(environment, "PATH")));
}
