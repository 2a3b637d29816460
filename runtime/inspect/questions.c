/*
 * --ask: a person is asked about what was denied.  sbxc does that, which has rules
 * and JSON.  Names of hosts are asked about under way, over a socket that sbx-proxy
 * gets.  A view and a Landlock domain cannot be widened under way: that is asked
 * about when all has ended, and at a terminal alone.  There sbxc runs this program
 * as its child, with --explain in place of --ask; a program of the user's that is to
 * be asked has sbxc beside this one.
 */
#include "runtime/inspect/inspect.h"

#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIXED_WORDS = 8 };

/* --- a program ------------------------------------------------------------ */

/* Where a path that was opened lies. */
static bool
find_real(int fd, struct path *path)
{
	char link[DESCRIPTOR_PATH_SIZE];
	ssize_t len;

	descriptor_path(link, fd);
	len = fd < 0 ? -1 : readlink(link, path->text, sizeof path->text - 1);
	path_cut(path, len > 0 ? (uint32_t)len : 0);
	return len > 0;
}

/* In the directory that no policy lets a command write. */
static bool
is_own(const struct path *program, const struct stat *status)
{
	static const char config[] = SBX_OWN_CONFIG "/";
	char buffer[PASSWD_LINE];
	const char *home = passwd_home(buffer, sizeof buffer);
	struct path real;
	int fd = home == NULL ? -1 : open(home, O_PATH | O_CLOEXEC);
	bool found = find_real(fd, &real) &&
	    strncmp(program->text, real.text, real.len) == 0 &&
	    strncmp(program->text + real.len, config, sizeof config - 1) == 0;

	if (fd >= 0)
		close(fd);
	return found && own_is_private(status);
}

/* Nor can an ordinary user's command write what is root's, as is the way to it. */
static bool
is_roots(const struct path *program)
{
	struct path at = *program;
	struct stat status;

	while (lstat(at.len > 0 ? at.text : "/", &status) == 0 &&
	    status.st_uid == 0 && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0) {
		if (at.len == 0)
			return geteuid() != 0;
		path_cut(&at,
		    place_parent((struct sbx_place){ at.text, at.len }).len);
	}
	return false;
}

/* It runs outside, so what a command can have written is none. */
static void
check_program(const char *name, struct path *program)
{
	int fd = open(name, O_PATH | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) != 0 || !find_real(fd, program))
		refuse(name, "--ask: cannot find this program", errno);
	close(fd);
	if (!S_ISREG(status.st_mode) || access(program->text, X_OK) != 0)
		refuse(name, "--ask: this is no program that can be executed",
		    0);
	if (!is_own(program, &status) && !is_roots(program))
		refuse(name,
		    "--ask: a command might write this program, which runs "
		    "outside: keep it in ~/.config/sbx, writable by you alone",
		    0);
}

__attribute__((noreturn)) static void
be_asker(const struct options *options, const struct path *program, int socket,
    pid_t parent)
{
	const char *words[FIXED_WORDS + 2] = { "sbxc", "ask", "--asks", "3",
		"--program", program->text };
	size_t count = 6;
	struct path path;

	if (options->ask_always)
		words[count++] = "--always";
	if (options->policy != NULL) {
		words[count++] = "--for";
		words[count++] = options->policy;
	}
	/* Out of the command's job; and it ends with this process. */
	setsid();
	if (helper_path(&path) != NULL &&
	    (socket == 3 ? fcntl(3, F_SETFD, 0) == 0 : dup2(socket, 3) == 3) &&
	    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 &&
	    getppid() == parent)
		execv(path.text, (char *const *)words);
	say("--ask", "it needs sbxc beside sbxrun", errno);
	_exit(EXIT_REFUSED);
}

/* If it cannot be started, or ends, nobody answers, and nothing opens. */
static void
begin_program(struct options *options)
{
	struct path program;
	pid_t self = getpid(), pid;
	int ends[2];

	check_program(options->ask_program, &program);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		refuse("--ask", "cannot make a socket pair", errno);
	pid = fork();
	if (pid < 0)
		refuse("--ask", "cannot fork", errno);
	if (pid == 0)
		be_asker(options, &program, above_standard(ends[1]), self);
	close(ends[1]);
	options->questions = above_standard(ends[0]);
}

/* --- the terminal --------------------------------------------------------- */

/* Whether somebody is there: the terminal is standard input, and ours. */
static bool
is_attended(void)
{
	int terminal = isatty(STDIN_FILENO) && isatty(STDERR_FILENO) ?
	    terminal_open() :
	    -1;
	bool ours = terminal_is_ours(terminal);

	if (terminal >= 0)
		close(terminal);
	return ours;
}

void
questions_begin(struct options *options, struct arena *arena)
{
	static const char explain[] = "--explain";
	const char **words;
	struct path program, self;
	size_t count = 0, given = 0;
	ssize_t len;

	if (!options->ask)
		return;
	if (options->ask_program != NULL) {
		begin_program(options);
		return;
	}
	if (!is_attended())
		return;
	while (options->words[given] != NULL)
		given++;
	len = readlink("/proc/self/exe", self.text, sizeof self.text - 1);
	if (helper_path(&program) == NULL || len <= 0)
		refuse("--ask", "cannot tell where sbxrun lies", errno);
	path_cut(&self, (uint32_t)len);
	words = arena_take(arena, given + FIXED_WORDS, sizeof *words);
	words[count++] = "sbxc";
	words[count++] = "ask";
	if (options->policy != NULL) {
		words[count++] = "--for";
		words[count++] = options->policy;
	}
	words[count++] = "--";
	words[count++] = self.text;
	for (size_t i = 1; i < given; i++) {
		const char *word = options->words[i];
		bool found = strcmp(word, "--ask") == 0 ||
		    strcmp(word, "--ask=tty") == 0;

		words[count++] = found ? explain : word;
		if (!found)
			continue;
		/* What comes behind it may be the command's. */
		while (++i < given)
			words[count++] = options->words[i];
	}
	execv(program.text, (char *const *)words);
	refuse(program.text, "--ask needs sbxc beside sbxrun", errno);
}
