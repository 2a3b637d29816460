/*
 * The last step: becoming the command.
 */
#include "runtime/apply/apply.h"

#include "runtime/apply/mounts.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct attempt {
	char **argv, **variables;
	uint64_t key; /* see spawn.c */
};

/* With this flag a path that is not empty means what it means to execve(2); the
 * filter of `deny spawn` lets nothing else through. */
static void
execute_path(const char *path, char **argv, const struct attempt *attempt)
{
	enum { EMPTY_PATH = 0x1000 /* AT_EMPTY_PATH */ };

	if (attempt->key == 0)
		execve(path, argv, attempt->variables);
	else
		syscall(SYS_execveat, AT_FDCWD, path, argv, attempt->variables,
		    EMPTY_PATH, attempt->key);
}

/* POSIX: a file that the kernel cannot execute is a script of /bin/sh. */
static void
execute_script(char *path, const struct attempt *attempt)
{
	char shell[] = "/bin/sh", **argv = attempt->argv;
	char *name = argv[0];

	argv[-1] = shell;
	argv[0] = path;
	execute_path(shell, argv - 1, attempt);
	argv[0] = name;
}

static void
try_path(char *path, const struct attempt *attempt)
{
	execute_path(path, attempt->argv, attempt);
	if (errno == ENOEXEC)
		execute_script(path, attempt);
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
search_path(const struct attempt *attempt, const char *dirs)
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

static int
try_all(const struct attempt *attempt, const char *dirs)
{
	char *name = attempt->argv[0];

	if (*name == '\0')
		errno = ENOENT;
	else if (strchr(name, '/') != NULL)
		try_path(name, attempt);
	else
		search_path(attempt, dirs);
	return errno;
}

int
execute_try(char **argv, char **variables, const char *dirs)
{
	const struct attempt attempt = { argv, variables, 0 };

	return try_all(&attempt, dirs);
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
execute(char **argv, struct environment *environment, uint64_t key,
    const char *elsewhere)
{
	const struct attempt attempt = { argv, environment->variables, key };
	int error = try_all(&attempt, environment_get(environment, "PATH"));

	if (error == ENOENT)
		elsewhere_say(argv[0], execute_fault(argv[0], error),
		    elsewhere);
	else
		say(argv[0], execute_fault(argv[0], error), error);
	_exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}
