/*
 * Which directories are the user's scratch directories, and what is made of those
 * that stand in their place (runtime/bind/scratch.c): as a user of the test's own,
 * with a /tmp of its own.  Inside of a sandbox, where nothing but its scratch
 * directory can be written, no other test can count what is done.
 */
#include "runtime/bind/bind.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { USER = 23975, OTHER = 23976, REFUSED = 125 };

#define TOP "/tmp/sbx-23975"
#define RUN "/run/user/23975"

static struct tap tap;

/* The one directory in which something may be made; NULL: no sandbox is played. */
static const char *writable;

int
mkdirat(int parent, const char *name, mode_t mode)
{
	char link[32], place[256] = "";

	snprintf(link, sizeof link, "/proc/self/fd/%d", parent);
	if (writable != NULL &&
	    (readlink(link, place, sizeof place - 1) < 0 ||
		strcmp(place, writable) != 0)) {
		errno = EACCES;
		return -1;
	}
	return (int)syscall(SYS_mkdirat, parent, name, mode);
}

static const char *workspace = "/work", *key = "key"; /* of who asks */

static struct sbx_place
at(const char *path)
{
	return (struct sbx_place){ path, (uint32_t)strlen(path) };
}

/* A directory of somebody, from the test's /tmp. */
static void
make(const char *path, uid_t owner, mode_t mode)
{
	tap_must(mkdir(path, 0700) == 0 && chown(path, owner, owner) == 0 &&
		chmod(path, mode) == 0,
	    path);
}

static void
empty(void)
{
	tap_must(system("rm -rf /tmp/* /run/user/*") == 0, "/tmp");
}

/* What the user gets, in a process of its own: the path, or what is said. */
static int
path_of_user(bool wanted, const char *outer, char said[256])
{
	int output = memfd_create("said", MFD_CLOEXEC), status = 0;
	char path[SCRATCH_PATH_SIZE];
	pid_t child;
	ssize_t len;

	tap_must(output >= 0, "memfd_create");
	fflush(stdout);
	child = fork();
	if (child == 0) {
		tap_must(dup2(output, STDERR_FILENO) == STDERR_FILENO &&
			setresuid(USER, USER, USER) == 0,
		    "user");
		if (!scratch_path(path, at(workspace), key, wanted, outer))
			_exit(1);
		dprintf(STDERR_FILENO, "%s", path);
		_exit(0);
	}
	tap_must(waitpid(child, &status, 0) == child, "child");
	len = pread(output, said, 255, 0);
	said[len < 0 ? 0 : len] = '\0';
	close(output);
	return WEXITSTATUS(status);
}

static void
gives(const char *what, bool wanted, const char *outer, int status,
    const char *text)
{
	char said[256];
	int is = path_of_user(wanted, outer, said);

	if (!tap_ok(&tap, is == status && strstr(said, text) != NULL, "%s",
		what))
		printf("# status %d: %s\n", is, said);
}

/* --- the top -------------------------------------------------------------- */

static const char denied[] = "cannot open the scratch directory";
static const char not_yours[] =
    "this is not a scratch directory of yours: remove it";

static void
check_top(void)
{
	struct stat status;

	gives("there is none", false, NULL, 1, "");
	gives("one is made", true, NULL, 0, TOP "/");
	tap_must(chmod(TOP, 0777) == 0, TOP);
	gives("it is there", false, NULL, 0, TOP "/");
	tap_ok(&tap, stat(TOP, &status) == 0 && (status.st_mode & 0777) == 0700,
	    "and is shut to others");
	empty();
	make(TOP, OTHER, 0755);
	gives("its name is taken, and there is no other one", false, NULL, 1,
	    "");
	gives("another one is made", true, NULL, 0, TOP "-");
	gives("it is found again", false, NULL, 0, TOP "-");
	make(TOP "-0", USER, 0700);
	gives("the first by name counts", true, NULL, 0, TOP "-0/");
	gives("and no later one", false, NULL, 0, TOP "-0/");
	make(TOP "--", OTHER, 0755);
	make(TOP "-00123456789012345678901234567890123456789012345678901234567",
	    USER, 0700);
	gives("nor one of others, nor one with a long name", false, NULL, 0,
	    TOP "-0/");
	empty();
	tap_must(symlink("/var/tmp", TOP) == 0, TOP);
	gives("a link is none", true, NULL, 0, TOP "-");
	empty();
	tap_must(chmod("/tmp", 0755) == 0, "/tmp");
	gives("nothing may be made", true, NULL, REFUSED, "Permission denied");
	tap_must(chmod("/tmp", 01777) == 0, "/tmp");
}

static void
check_below(void)
{
	char said[256], directory[256];

	tap_must(path_of_user(true, NULL, said) == 0, said);
	snprintf(directory, sizeof directory, "%s", said);
	tap_must(rmdir(directory) == 0, directory);
	make(directory, OTHER, 0755);
	gives("a directory of others in its place", true, NULL, REFUSED,
	    not_yours);
	tap_must(rmdir(directory) == 0, directory);
	tap_must(symlink("/", directory) == 0, directory);
	gives("a link in its place", true, NULL, REFUSED, not_yours);
	empty();
}

/* What was a workspace once, and what lies in it. */
static void
check_remembered(void)
{
	char said[256];

	tap_must(path_of_user(true, NULL, said) == 0 &&
		setresuid(USER, USER, 0) == 0,
	    said);
	tap_ok(&tap, scratch_remembers(at("/work")), "a workspace of before");
	tap_ok(&tap, scratch_remembers(at("/work/in/it")), "what is in it");
	tap_ok(&tap, !scratch_remembers(at("/works")), "but nothing beside it");
	tap_must(setresuid(0, 0, 0) == 0, "root");
	empty();
}

/* What a policy's scratch directories are called by. */
static void
check_keys(void)
{
	char keys[3][SCRATCH_KEY_SIZE];

	scratch_key(keys[0], "profile", "/a/policy.bin");
	scratch_key(keys[1], "profile", "/b/policy.bin");
	scratch_key(keys[2], "another", "/a/policy.bin");
	tap_ok(&tap, strcmp(keys[0], keys[1]) != 0,
	    "one of the same name elsewhere is another policy");
	tap_ok(&tap, strcmp(keys[0], keys[2]) != 0,
	    "and so is one of another name");
}

/* --- in a sandbox --------------------------------------------------------- */

/* Whether a workspace and a policy have a directory that is not the other's. */
static void
differs(const char *what, const char *outer, const char *other)
{
	char said[256];

	gives(what, true, outer, 0, outer);
	tap_ok(&tap,
	    path_of_user(true, outer, said) == 0 && strcmp(said, other) != 0,
	    "%s: by another name", what);
	workspace = "/work";
	key = "key";
}

static void
check_nested(void)
{
	static const char outer[] = TOP "/0123456789abcdef/0123456789ab";
	static const char longest[] = TOP "/0123456789abcdef/0123456789ab0123"
					  "4567890123456789012345678901234567";
	char first[256];

	make(TOP, USER, 0700);
	make(TOP "/0123456789abcdef", USER, 0700);
	make(outer, USER, 0755);
	make(longest, USER, 0700);
	make(TOP "/taken", OTHER, 0755);
	tap_must(symlink(outer, TOP "/link") == 0, TOP);
	writable = outer;
	gives("in the scratch directory of the sandbox", true, outer, 0, outer);
	gives("it is there again", true, outer, 0, outer);
	tap_must(path_of_user(true, outer, first) == 0, first);
	workspace = "/other";
	differs("that of another workspace", outer, first);
	key = "other";
	differs("that of another policy", outer, first);
	gives("but without that", true, NULL, REFUSED, denied);
	gives("with one that is gone", true, TOP "/gone", REFUSED, denied);
	gives("with one that is no scratch directory", true, "/var/tmp",
	    REFUSED, denied);
	gives("with a link to it", true, TOP "/link", REFUSED, denied);
	gives("with one that is too long", true, longest, REFUSED, denied);
	gives("with one of others", true, TOP "/taken", REFUSED, not_yours);
	gives("with another one", true, TOP "/0123456789abcdef", REFUSED,
	    denied);
	writable = NULL;
	empty();
}

/* --- of sessions ---------------------------------------------------------- */

static int
sessions_of_user(bool wanted, char said[256])
{
	int ends[2], status = 0;
	char link[32];
	pid_t child;
	ssize_t len;

	tap_must(pipe(ends) == 0, "pipe");
	fflush(stdout);
	child = fork();
	if (child == 0) {
		char place[256] = "";
		int fd;

		tap_must(setresuid(USER, USER, USER) == 0, "user");
		fd = scratch_sessions(wanted);
		if (fd < 0)
			_exit(errno);
		snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
		len = readlink(link, place, sizeof place - 1);
		_exit(write(ends[1], place, (size_t)len) == len ? 0 : 99);
	}
	close(ends[1]);
	len = read(ends[0], said, 255);
	said[len < 0 ? 0 : len] = '\0';
	close(ends[0]);
	tap_must(waitpid(child, &status, 0) == child, "child");
	return WEXITSTATUS(status);
}

static void
are_at(const char *what, bool wanted, int error, const char *place)
{
	char said[256];
	int is = sessions_of_user(wanted, said);

	if (!tap_ok(&tap, is == error && strcmp(said, place) == 0, "%s", what))
		printf("# error %d: %s\n", is, said);
}

static void
check_sessions(void)
{
	are_at("no sessions", false, ENOENT, "");
	are_at("they are made below /tmp", true, 0, TOP "/sessions");
	make(RUN, OTHER, 0700);
	are_at("a directory of others below /run is none", true, 0,
	    TOP "/sessions");
	tap_must(chown(RUN, USER, USER) == 0 && chmod(RUN, 0750) == 0, RUN);
	are_at("nor one that others may read", true, 0, TOP "/sessions");
	tap_must(chmod(RUN, 0700) == 0, RUN);
	are_at("one of the user's may have none", false, 0, TOP "/sessions");
	are_at("and gets them", true, 0, RUN "/sbx");
	tap_must(rmdir(RUN "/sbx") == 0 && mkdir(RUN "/sbx", 0700) == 0, RUN);
	are_at("but where the name is taken", true, 0, TOP "/sessions");
	empty();
}

/* --- by name -------------------------------------------------------------- */

static void
check_names(void)
{
	static const struct {
		const char *place;
		bool holds, within;
	} cases[] = {
		{ TOP, true, true },
		{ TOP "/a", true, true },
		{ TOP "/a/b", true, false },
		{ TOP "/a/b/c", true, false },
		{ TOP "-0", true, true },
		{ TOP "-0/a", true, true },
		{ TOP "0", false, false },
		{ TOP ".", false, false },
		{ "/tmp/sbx-2397", false, false },
		{ "/tmp/sbx-13975", false, false },
		{ "/var/sbx-23975", false, false },
		{ "/tmp", false, true },
		{ "/tmp/a", false, false },
		{ "/var", false, false },
		{ "", false, true },
	};

	tap_must(setresuid(USER, USER, 0) == 0, "user");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct sbx_place place = at(cases[i].place);

		tap_ok(&tap,
		    scratch_holds(place) == cases[i].holds &&
			scratch_within(place) == cases[i].within,
		    "\"%s\"", cases[i].place);
	}
	tap_must(setresuid(0, 0, 0) == 0, "root");
}

int
main(void)
{
	if (geteuid() != 0 || unshare(CLONE_NEWNS) != 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", "/tmp", "tmpfs", 0, NULL) != 0 ||
	    mount("none", "/run", "tmpfs", 0, NULL) != 0) {
		tap_skip(&tap, "needs root and mounts", "scratch directories");
		return tap_done(&tap);
	}
	make("/run/user", 0, 0755);
	umask(022);
	check_top();
	check_below();
	check_remembered();
	check_keys();
	check_nested();
	check_sessions();
	check_names();
	return tap_done(&tap);
}
