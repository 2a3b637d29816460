#include "runtime/apply/execute.h"

#include "runtime/base/out.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* POSIX: a file that the kernel cannot execute is a script of /bin/sh. */
static void
execute_script(char *path, char **argv, char **variables)
{
	static char shell[] = "/bin/sh";
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
search_path(char **argv, struct environment *environment)
{
	const char *dirs = environment_get(environment, "PATH");
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
			execute_path(path, argv, environment->variables);
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

void
execute(char **argv, struct environment *environment)
{
	int error;

	if (argv[0][0] == '\0')
		errno = ENOENT;
	else if (strchr(argv[0], '/') != NULL)
		execute_path(argv[0], argv, environment->variables);
	else
		search_path(argv, environment);
	error = errno;
	/* A script whose interpreter is missing fails in the same way. */
	if (error == ENOENT && strchr(argv[0], '/') != NULL)
		say(argv[0],
		    access(argv[0], F_OK) == 0 ?
			"the program that runs this file is missing" :
			"no such file in the sandbox",
		    0);
	else if (error == ENOENT)
		say(argv[0], "command not found", 0);
	else
		say(argv[0], "cannot execute the command", error);
	_exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}
