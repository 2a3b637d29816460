#include "runtime/apply/execute.h"

#include "runtime/base/out.h"

#include <errno.h>
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

static void
execute_path(char *path, char **argv, char **variables)
{
	execve(path, argv, variables);
	if (errno == ENOEXEC)
		execute_script(path, argv, variables);
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
search_path(char **argv, char **variables, const char *dirs)
{
	size_t name_len = strlen(argv[0]);
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
			memcpy(path + len, argv[0], name_len + 1);
			execute_path(path, argv, variables);
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

int
execute_try(char **argv, char **variables, const char *dirs)
{
	if (argv[0][0] == '\0')
		errno = ENOENT;
	else if (strchr(argv[0], '/') != NULL)
		execute_path(argv[0], argv, variables);
	else
		search_path(argv, variables, dirs);
	return errno;
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
execute(char **argv, struct environment *environment)
{
	int error = execute_try(argv, environment->variables,
	    environment_get(environment, "PATH"));

	say(argv[0], execute_fault(argv[0], error),
	    error == ENOENT ? 0 : error);
	_exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}
