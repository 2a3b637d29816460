/*
 * The directory tree in which cases are tried, and the programs that run there:
 *
 *	TOP/		made by mkdtemp(3)
 *	  root/		stands for "/": root/home/user, root/home/user/work ...
 *	  policy.bin
 *
 * The tree is removed at the end, also when a signal ends sbxc: between
 * tree_make() and tree_remove() such a signal is blocked, and is only accepted
 * while sbxc waits for a program.
 */
#include "compiler/cases/cases.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_MAX = 1 << 24 };

/* --- signals -------------------------------------------------------------- */

/* A signal that is ignored stays so, as nohup(1) wants it. */
static void
signals_block(struct tree *tree)
{
	static const int ends[] = { SIGHUP, SIGINT, SIGTERM, SIGQUIT };

	sigemptyset(&tree->blocked);
	for (size_t i = 0; i < countof(ends); i++) {
		struct sigaction action;

		if (sigaction(ends[i], NULL, &action) == 0 &&
		    action.sa_handler != SIG_IGN)
			sigaddset(&tree->blocked, ends[i]);
	}
	sigaddset(&tree->blocked, SIGCHLD);
	/* A process that ignores SIGCHLD cannot wait for its children. */
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &tree->blocked, &tree->before);
}

/* --- making and removing -------------------------------------------------- */

static int
remove_one(const char *path, const struct stat *status, int kind,
    struct FTW *depth)
{
	(void)status;
	(void)kind;
	(void)depth;
	remove(path);
	return 0;
}

void
directory_clear(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

bool
tree_make(struct tree *tree, struct arena *arena)
{
	const char *tmp = getenv("TMPDIR");
	char *top, *real;

	*tree = (struct tree){ .arena = arena };
	if (tmp == NULL || tmp[0] != '/')
		tmp = "/tmp";
	top = arena_printf(arena, "%s/sbx-test.XXXXXX", tmp);
	tree->output = memfd_create("output", MFD_CLOEXEC);
	if (tree->output < 0)
		return false;
	signals_block(tree);
	if (mkdtemp(top) != NULL) {
		/* sbxrun resolves the symbolic links in rules. */
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
	close(tree->output);
	return false;
}

void
tree_remove(struct tree *tree)
{
	directory_clear(tree->top);
	close(tree->output);
	sigprocmask(SIG_SETMASK, &tree->before, NULL);
	if (tree->signal == 0)
		return;
	signal(tree->signal, SIG_DFL);
	raise(tree->signal);
}

/* --- files ---------------------------------------------------------------- */

/* Makes the directories above a path. */
static bool
parents_make(const struct tree *tree, const char *path)
{
	char *part = arena_strndup(tree->arena, path, strlen(path));

	for (char *at = strchr(part + 1, '/'); at != NULL;
	     at = strchr(at + 1, '/')) {
		*at = '\0';
		if (mkdir(part, 0700) != 0 && errno != EEXIST)
			return false;
		*at = '/';
	}
	return true;
}

bool
tree_directory(const struct tree *tree, const char *path)
{
	return parents_make(tree, path) &&
	    (mkdir(path, 0700) == 0 || errno == EEXIST);
}

bool
tree_file(const struct tree *tree, const char *path, const void *bytes,
    size_t size)
{
	ssize_t written;
	int fd, error;

	if (!parents_make(tree, path))
		return false;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	if (fd < 0)
		return errno == EEXIST;
	written = write(fd, bytes, size);
	error = errno;
	if (close(fd) != 0)
		return false;
	errno = error;
	return written == (ssize_t)size;
}

/* --- running -------------------------------------------------------------- */

__attribute__((noreturn)) static void
child_run(const struct tree *tree, const char *const *arguments,
    const char *const *environment, int input)
{
	if (input < 0)
		input = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigprocmask(SIG_SETMASK, &tree->before, NULL);
	if (input >= 0 && dup2(input, 0) == 0 && dup2(tree->output, 1) == 1 &&
	    dup2(tree->output, 2) == 2)
		execve(arguments[0], (char *const *)arguments,
		    (char *const *)environment);
	_exit(126);
}

int
tree_run(struct tree *tree, const char *const *arguments,
    const char *const *environment, int input)
{
	pid_t pid;
	int status;

	if (ftruncate(tree->output, 0) != 0 ||
	    lseek(tree->output, 0, SEEK_SET) != 0)
		return -1;
	pid = fork();
	if (pid < 0)
		return -1;
	if (pid == 0)
		child_run(tree, arguments, environment, input);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		int got = sigwaitinfo(&tree->blocked, NULL);

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
tree_output(const struct tree *tree)
{
	struct stat status = { .st_size = 0 };
	size_t size;
	char *text;
	ssize_t len;

	fstat(tree->output, &status);
	size = status.st_size < OUTPUT_MAX ? (size_t)status.st_size :
					     OUTPUT_MAX;
	text = arena_alloc(tree->arena, size + 1);
	len = pread(tree->output, text, size, 0);
	text[len > 0 ? len : 0] = '\0';
	return text;
}
