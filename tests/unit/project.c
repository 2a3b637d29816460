/*
 * What project a directory lies in, and which repository outside of it is
 * believed: one of the user's that leads back (runtime/bind/project.c).
 */
#include "runtime/base/files.h"
#include "runtime/bind/bind.h"
#include "runtime/bind/binder.h"
#include "tests/lib/tap.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STRANGER = 23974, LONG = 17 << 10 };

static struct tap tap;
static char top[] = "/var/tmp/sbx-project-XXXXXX";
static const char *passwd;

const char *
passwd_home(char *buffer, size_t size)
{
	(void)buffer;
	(void)size;
	return passwd;
}

static void
write_bytes(const char *name, const char *text, size_t len)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	tap_must(fd >= 0 && write(fd, text, len) == (ssize_t)len &&
		close(fd) == 0,
	    name);
}

static void
write_text(const char *name, const char *text)
{
	write_bytes(name, text, strlen(text));
}

static void
make_directory(const char *name)
{
	tap_must(mkdir(name, 0700) == 0, name);
}

static void
make_repository(const char *name)
{
	char path[128];

	make_directory(name);
	snprintf(path, sizeof path, "%s/HEAD", name);
	write_text(path, "ref: refs/heads/main\n");
	snprintf(path, sizeof path, "%s/objects", name);
	make_directory(path);
	snprintf(path, sizeof path, "%s/refs", name);
	make_directory(path);
}

/* Where a file says that another one is, from the top. */
static void
lead(const char *name, const char *word, const char *path)
{
	char text[256];

	snprintf(text, sizeof text, "%s%s/%s\n", word, top, path);
	write_text(name, text);
}

/* --- what is found -------------------------------------------------------- */

struct answer {
	char workspace[128], git[128]; /* from the top; "": none */
	char said[512];
};

static const char *
shown(const char *path)
{
	size_t len = strlen(top);

	if (path == NULL)
		return "";
	return strncmp(path, top, len) == 0 ? path + len : path;
}

/* In a child, which has a current directory and an environment of its own. */
static void
find_in(const char *directory, const char *home, bool clean,
    struct answer *answer)
{
	int said = memfd_create("said", MFD_CLOEXEC), status = 0;
	struct answer *shared = mmap(NULL, sizeof *shared,
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	static struct arena arena;
	pid_t child;

	tap_must(said >= 0 && shared != MAP_FAILED, "room");
	fflush(stdout);
	child = fork();
	if (child == 0) {
		struct options options = { .plan = true,
			.clean = clean,
			.workspace = "auto" };

		tap_must(chdir(directory) == 0, directory);
		if (strcmp(directory, "gone") == 0)
			tap_must(rmdir("../gone") == 0, directory);
		if (home != NULL)
			setenv("HOME", home, 1);
		else
			unsetenv("HOME");
		dup2(said, STDERR_FILENO);
		project_find(&arena, &options);
		snprintf(shared->workspace, sizeof shared->workspace, "%s",
		    shown(options.workspace));
		snprintf(shared->git, sizeof shared->git, "%s",
		    shown(options.git));
		_exit(0);
	}
	tap_must(child > 0 && waitpid(child, &status, 0) == child &&
		status == 0,
	    directory);
	*answer = *shared;
	answer->said[0] = '\0';
	status = (int)pread(said, answer->said, sizeof answer->said - 1, 0);
	answer->said[status < 0 ? 0 : status] = '\0';
	munmap(shared, sizeof *shared);
	close(said);
}

static void
finds(const char *what, const char *directory, const char *home,
    const char *workspace, const char *git, const char *said)
{
	struct answer answer;
	bool right;

	find_in(directory, home, false, &answer);
	right = strcmp(answer.workspace, workspace) == 0 &&
	    strcmp(answer.git, git) == 0 &&
	    (*said == '\0' ? *answer.said == '\0' :
			     strstr(answer.said, said) != NULL);
	if (!tap_ok(&tap, right, "%s", what))
		printf("# workspace \"%s\", git \"%s\", said: %s\n",
		    answer.workspace, answer.git, answer.said);
}

static const char astray[] = "it leads to no repository of yours that leads "
			     "back here, so git finds none\n";
static const char around[] = "the repository of the workspace is around more "
			     "than itself, and stays shut\n";

/* --- a linked working tree ------------------------------------------------ */

static void
link_tree(void)
{
	lead("linked/.git", "gitdir: ", "repo/.git/worktrees/one");
	lead("repo/.git/worktrees/one/gitdir", "", "linked/.git");
	write_text("repo/.git/worktrees/one/commondir", "../..\n");
}

static void
is_linked(const char *what)
{
	finds(what, "linked", NULL, "/linked", "/repo/.git", "");
}

static void
is_astray(const char *what)
{
	finds(what, "linked", NULL, "/linked", "", astray);
	link_tree();
}

static void
check_file(void)
{
	static char text[LONG];
	static const char zero[] = "gitdir: ../repo/.git/worktrees/one\n\0";

	write_text("linked/.git", "gitdir ../repo/.git/worktrees/one\n");
	is_astray("another word in the file");
	write_text("linked/.git", "gitdir: \n");
	is_astray("no path in the file");
	write_text("linked/.git", "");
	is_astray("an empty file");
	write_bytes("linked/.git", zero, sizeof zero - 1);
	is_astray("a file that is no text");
	memset(text, 'x', sizeof text);
	memcpy(text, "gitdir: ", 8);
	write_bytes("linked/.git", text, sizeof text);
	is_astray("a file that is too long");
	write_bytes("linked/.git", text, SBX_MAX_PATH + 8);
	is_astray("a path that is too long");
	lead("linked/.git", "gitdir: ", "repo/.git/worktrees/none");
	is_astray("a path to nothing");
	lead("linked/.git", "gitdir: ", "repo/.git/HEAD");
	is_astray("a path to a file");
	write_text("linked/.git", "gitdir: ../repo/.git/worktrees/one\r\n");
	is_linked("a relative path, and a line as elsewhere");
	link_tree();
}

static void
check_way_back(void)
{
	lead("repo/.git/worktrees/one/gitdir", "", "repo/.git");
	is_astray("a repository that leads elsewhere");
	tap_must(unlink("repo/.git/worktrees/one/gitdir") == 0, "gitdir");
	is_astray("a repository that leads nowhere");
	lead("repo/.git/worktrees/one/commondir", "", "repo");
	is_astray("a repository that is not around it");
	lead("repo/.git/worktrees/one/commondir", "", "pose/.git");
	is_astray("one beside it, with a name of the same length");
	lead("linked/.git", "gitdir: ", "repo/.git/otherones/one");
	lead("repo/.git/otherones/one/gitdir", "", "linked/.git");
	write_text("repo/.git/otherones/one/commondir", "../..\n");
	is_astray("one that is not among the working trees");
}

static void
check_parts(void)
{
	static const char *const parts[] = { "HEAD", "objects", "refs" };

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		char path[64], what[64];

		snprintf(path, sizeof path, "repo/.git/%s", parts[i]);
		snprintf(what, sizeof what, "a repository without %s",
		    parts[i]);
		tap_must(rename(path, "kept") == 0, path);
		is_astray(what);
		tap_must(rename("kept", path) == 0, path);
	}
	if (geteuid() != 0) {
		tap_skip(&tap, "needs root", "what belongs to others");
		return;
	}
	tap_must(chown("repo/.git", STRANGER, 0) == 0, "chown");
	is_astray("a repository of somebody else");
	tap_must(chown("repo/.git", 0, 0) == 0, "chown");
	tap_must(chown("linked", STRANGER, 0) == 0, "chown");
	finds("a directory of somebody else is no project", "linked", NULL, "",
	    "", "");
	tap_must(chown("linked", 0, 0) == 0, "chown");
}

static void
check_around(void)
{
	char home[128];
	static char far[SBX_MAX_PATH + 2];

	snprintf(home, sizeof home, "%s/repo", top);
	finds("a repository below the home", "linked", home, "/linked",
	    "/repo/.git", "");
	snprintf(home, sizeof home, "%s/repo/.git/refs", top);
	finds("a repository around the home", "linked", home, "/linked", "",
	    around);
	passwd = home;
	finds("around the other home", "linked", "/nonexistent", "/linked", "",
	    around);
	passwd = NULL;
	finds("a home without a path", "linked", "repo/.git/refs", "/linked",
	    "/repo/.git", "");
	memset(far, '/', sizeof far - 1);
	finds("a home that is too far", "linked", far, "/linked", "/repo/.git",
	    "");
	snprintf(home, sizeof home, "%s/linked", top);
	finds("a home that is a project", "linked", home, "", "", "");
	make_directory("repo/.git/in");
	lead("repo/.git/in/.git", "gitdir: ", "repo/.git/worktrees/one");
	lead("repo/.git/worktrees/one/gitdir", "", "repo/.git/in/.git");
	finds("a repository around the working tree", "repo/.git/in", NULL,
	    "/repo/.git/in", "", around);
	link_tree();
}

/* --- a submodule ---------------------------------------------------------- */

static void
check_settings(void)
{
	static const struct {
		const char *what, *text;
		bool found;
	} cases[] = {
		{ "a path", "[core]\n\tworktree = ../../../m\n", true },
		{ "quotes", "[core]\nworktree=\"../../../m\"\n", true },
		{ "one quote", "[core]\nworktree = \"../../../m\n", false },
		{ "a quote at the end", "[core]\nworktree = ../../../m\"\n",
		    false },
		{ "one letter", "[core]\nworktree = m\n", false },
		{ "nothing", "[core]\nworktree =\n", false },
		{ "no value", "[core]\nworktree\n", false },
		{ "another key", "[core]\nworktrees = ../../../m\n", false },
		{ "another section", "[cord]\nworktree = ../../../m\n", false },
		{ "large letters", "[CORE]\nWorkTree = ../../../m\n", true },
		{ "the last one counts",
		    "[core]\nworktree = x\n[a]\n[core]\nworktree = ../../../m",
		    true },
		{ "and not the first",
		    "[core]\nworktree = ../../../m\nworktree = x\n", false },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char what[64];

		snprintf(what, sizeof what, "core.worktree: %s", cases[i].what);
		write_text("super/.git/modules/m/config", cases[i].text);
		finds(what, "super/m", NULL, "/super/m",
		    cases[i].found ? "/super/.git/modules/m" : "",
		    cases[i].found ? "" : astray);
	}
	tap_must(unlink("super/.git/modules/m/config") == 0, "config");
	finds("core.worktree: no file", "super/m", NULL, "/super/m", "",
	    astray);
}

/* --- elsewhere ------------------------------------------------------------ */

static void
check_elsewhere(void)
{
	struct answer answer;

	finds("a repository in the working tree is part of it", "own", NULL,
	    "/own", "", "");
	finds("the top of a repository", "repo", NULL, "/repo", "", "");
	finds("below it", "repo/sub", NULL, "/repo", "", "");
	finds("a directory that is gone", "gone", NULL, "", "", "");
	finds("where sbx keeps its own", "/tmp", NULL, "none", "", "");
	finds("the root directory", "/", NULL, "", "", "");
	find_in("/tmp", NULL, true, &answer);
	tap_ok(&tap, *answer.workspace == '\0',
	    "to be cleaned is nothing there");
}

/* A repository whose working tree is `tree`, each leading to the other. */
static void
make_repository_of_tree(const char *path)
{
	char config[256], text[256];

	make_repository(path);
	snprintf(text, sizeof text, "gitdir: %s\n", path);
	write_text("tree/.git", text);
	snprintf(config, sizeof config, "%s/config", path);
	snprintf(text, sizeof text, "[core]\nworktree = %s/tree\n", top);
	write_text(config, text);
}

static void
remove_all(const char *path)
{
	char command[256];

	snprintf(command, sizeof command, "rm -rf '%s'", path);
	tap_must(system(command) == 0, path);
}

/* What a command could have made under a policy that opens little else. */
static void
check_scratch(void)
{
	char scratch[64], path[256];

	make_directory("made");
	make_directory("tree");
	snprintf(path, sizeof path, "%s/made/git", top);
	make_repository_of_tree(path);
	finds("a repository that is anywhere", "tree", NULL, "/tree",
	    "/made/git", "");
	snprintf(scratch, sizeof scratch, "/tmp/sbx-%u-XXXXXX", geteuid());
	tap_must(mkdtemp(scratch) != NULL, scratch);
	snprintf(path, sizeof path, "%s/git", scratch);
	make_repository_of_tree(path);
	finds("a repository in a scratch directory", "tree", NULL, "/tree", "",
	    astray);
	remove_all(scratch);
}

static void
make_stage(void)
{
	make_directory("repo");
	make_directory("repo/sub");
	make_repository("repo/.git");
	make_directory("repo/.git/worktrees");
	make_directory("repo/.git/worktrees/one");
	make_directory("repo/.git/otherones");
	make_directory("repo/.git/otherones/one");
	make_directory("pose");
	make_repository("pose/.git");
	make_directory("linked");
	link_tree();
	make_directory("super");
	make_repository("super/.git");
	make_directory("super/.git/modules");
	make_repository("super/.git/modules/m");
	make_directory("super/m");
	write_text("super/m/.git", "gitdir: ../.git/modules/m\n");
	make_directory("own");
	make_repository("own/inside");
	write_text("own/inside/config", "[core]\nworktree = ..\n");
	write_text("own/.git", "gitdir: inside\n");
	make_directory("gone");
}

int
main(void)
{
	tap_must(mkdtemp(top) != NULL && chdir(top) == 0, top);
	make_stage();
	is_linked("a linked working tree");
	check_file();
	check_way_back();
	check_parts();
	check_around();
	check_settings();
	check_scratch();
	check_elsewhere();
	tap_must(chdir("/") == 0, "/");
	remove_all(top);
	return tap_done(&tap);
}
