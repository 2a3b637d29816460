/* See test_tree.h. */
#include "compiler/cases/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_MAX = 1 << 16 };

/* --- signals -------------------------------------------------------------- */

/* What is ignored stays so: nohup(1) means it. */
static void
signals_hold(struct test_tree *tree)
{
	static const int ends[] = { SIGHUP, SIGINT, SIGTERM, SIGQUIT };

	sigemptyset(&tree->taken);
	for (size_t i = 0; i < countof(ends); i++) {
		struct sigaction action;

		if (sigaction(ends[i], NULL, &action) == 0 &&
		    action.sa_handler != SIG_IGN)
			sigaddset(&tree->taken, ends[i]);
	}
	sigaddset(&tree->taken, SIGCHLD);
	/* Whoever ignores it gets no children to wait for. */
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &tree->taken, &tree->before);
}

static void
signals_release(const struct test_tree *tree)
{
	sigprocmask(SIG_SETMASK, &tree->before, NULL);
	if (tree->signal == 0)
		return;
	signal(tree->signal, SIG_DFL);
	raise(tree->signal);
}

/* --- making and removing -------------------------------------------------- */

bool
test_tree_make(struct test_tree *tree, struct arena *arena)
{
	const char *tmp = getenv("TMPDIR");
	char *top, *real;

	*tree = (struct test_tree){ .arena = arena };
	if (tmp == NULL || tmp[0] != '/')
		tmp = "/tmp";
	top = arena_printf(arena, "%s/sbx-test.XXXXXX", tmp);
	signals_hold(tree);
	if (mkdtemp(top) != NULL) {
		/* Rules go by what a path leads to. */
		real = realpath(top, NULL);
		tree->top = real != NULL ?
		    arena_strndup(arena, real, strlen(real)) :
		    top;
		free(real);
		tree->root = arena_printf(arena, "%s/root", tree->top);
		if (mkdir(tree->root, 0700) == 0)
			return true;
	}
	sigprocmask(SIG_SETMASK, &tree->before, NULL);
	return false;
}

static int
remove_one(const char *path, const struct stat *status, int kind,
    struct FTW *platforms)
{
	(void)status;
	(void)kind;
	(void)platforms;
	remove(path);
	return 0;
}

void
test_tree_clear(const char *directory)
{
	nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

void
test_tree_remove(struct test_tree *tree)
{
	test_tree_clear(tree->top);
	signals_release(tree);
}

/* --- files ---------------------------------------------------------------- */

bool
test_tree_directory(const struct test_tree *tree, const char *path)
{
	char *part = arena_strndup(tree->arena, path, strlen(path));

	for (char *at = strchr(part + 1, '/'); at != NULL;
	     at = strchr(at + 1, '/')) {
		*at = '\0';
		if (mkdir(part, 0700) != 0 && errno != EEXIST)
			return false;
		*at = '/';
	}
	return mkdir(part, 0700) == 0 || errno == EEXIST;
}

static bool
parent_make(const struct test_tree *tree, const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == path ||
	    test_tree_directory(tree,
		arena_strndup(tree->arena, path, (size_t)(slash - path)));
}

/* Closes it, keeping the errno of what went before. */
static bool
closed(int fd, bool good)
{
	int error = errno;

	if (close(fd) != 0)
		return false;
	errno = error;
	return good;
}

bool
test_tree_file(const struct test_tree *tree, const char *path)
{
	int fd;

	if (!parent_make(tree, path))
		return false;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	if (fd < 0)
		return errno == EEXIST;
	return closed(fd, write(fd, "sbx\n", 4) == 4);
}

bool
test_tree_copy(const struct test_tree *tree, const char *from, const char *path)
{
	char buffer[65536];
	ssize_t got = -1;
	int in, out;

	if (!parent_make(tree, path))
		return false;
	out = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	if (out < 0)
		return errno == EEXIST;
	in = open(from, O_RDONLY | O_CLOEXEC);
	while (in >= 0 && (got = read(in, buffer, sizeof buffer)) > 0) {
		if (write(out, buffer, (size_t)got) != got)
			got = -1;
		if (got < 0)
			break;
	}
	if (in >= 0)
		closed(in, true);
	return closed(out, got == 0);
}

bool
test_tree_write(const char *path, const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	return fd >= 0 && closed(fd, write(fd, bytes, size) == (ssize_t)size);
}

/* --- running -------------------------------------------------------------- */

__attribute__((noreturn)) static void
child_run(const struct test_tree *tree, const char *const *arguments,
    const char *const *environment, const char *input)
{
	const char *output = arena_printf(tree->arena, "%s/output", tree->top);
	int in = open(input, O_RDWR | O_CLOEXEC);
	int out = open(output,
	    O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);

	sigprocmask(SIG_SETMASK, &tree->before, NULL);
	if (in >= 0 && out >= 0 && dup2(in, 0) == 0 && dup2(out, 1) == 1 &&
	    dup2(out, 2) == 2)
		execve(arguments[0], (char *const *)arguments,
		    (char *const *)environment);
	_exit(126);
}

int
test_tree_run(struct test_tree *tree, const char *const *arguments,
    const char *const *environment, const char *input)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return -1;
	if (pid == 0)
		child_run(tree, arguments, environment, input);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		int got = sigwaitinfo(&tree->taken, NULL);

		if (got < 0 || got == SIGCHLD)
			continue;
		/* sbxrun passes it on, and ends what it has started. */
		kill(pid, got);
		waitpid(pid, &status, 0);
		tree->signal = got;
		errno = EINTR;
		return -1;
	}
	return status;
}

const char *
test_tree_output(const struct test_tree *tree)
{
	char *text = arena_alloc(tree->arena, OUTPUT_MAX);
	int fd = open(arena_printf(tree->arena, "%s/output", tree->top),
	    O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		if (read(fd, text, OUTPUT_MAX - 1) < 0)
			text[0] = '\0';
		close(fd);
	}
	return text;
}
