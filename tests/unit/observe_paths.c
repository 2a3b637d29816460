/* See observe.h: the paths that calls name, and what is done there. */
#include "tests/unit/observe.h"

#include <sys/stat.h>
#include <unistd.h>

/* Words of a call, which are known when it is made. */
enum { P = -0x1001, OTHER = -0x1002, HOW = -0x1003, HERE = AT_FDCWD };

static const struct {
	const char *name;
	int number;
	long words[5];
	const char *sees; /* "@" is the directory */
	uint64_t how;     /* flags of openat2(2) */
} paths[] = {
	{ "open", SYS_open, { P, O_RDONLY }, "read /usr/bin/a/b", 0 },
	{ "open, write", SYS_open, { P, O_WRONLY }, "write /usr/bin/a/b", 0 },
	{ "creat", SYS_creat, { P }, "create /usr/bin/a/b", 0 },
	{ "openat", SYS_openat, { HERE, P, O_RDONLY }, "read @/a/b", 0 },
	{ "O_WRONLY", SYS_openat, { HERE, P, O_WRONLY }, "write @/a/b", 0 },
	{ "O_RDWR", SYS_openat, { HERE, P, O_RDWR }, "write @/a/b", 0 },
	{ "O_TRUNC", SYS_openat, { HERE, P, O_TRUNC }, "write @/a/b", 0 },
	{ "O_APPEND", SYS_openat, { HERE, P, O_APPEND }, "read @/a/b", 0 },
	{ "O_DIRECTORY", SYS_openat, { HERE, P, O_DIRECTORY }, "read @/a/b",
	    0 },
	{ "O_CREAT", SYS_openat, { HERE, P, O_CREAT }, "create @/a/b", 0 },
	{ "O_CREAT, to write", SYS_openat, { HERE, P, O_CREAT | O_WRONLY },
	    "create @/a/b", 0 },
	{ "O_EXCL", SYS_openat, { HERE, P, O_CREAT | O_EXCL }, "make @/a/b",
	    0 },
	{ "O_EXCL alone", SYS_openat, { HERE, P, O_EXCL }, "read @/a/b", 0 },
	{ "O_NOFOLLOW", SYS_openat, { HERE, P, O_NOFOLLOW },
	    "read @/a/b itself", 0 },
	{ "O_NOFOLLOW, to write", SYS_openat, { HERE, P, O_NOFOLLOW | O_RDWR },
	    "write @/a/b itself", 0 },
	{ "O_TMPFILE", SYS_openat, { HERE, P, O_TMPFILE | O_RDWR }, "", 0 },
	{ "openat2", SYS_openat2, { HERE, P, HOW }, "read @/a/b", 0 },
	{ "openat2, O_WRONLY", SYS_openat2, { HERE, P, HOW }, "write @/a/b",
	    O_WRONLY },
	{ "openat2, O_NOFOLLOW", SYS_openat2, { HERE, P, HOW },
	    "create @/a/b itself", O_CREAT | O_NOFOLLOW },
	{ "openat2, nothing", SYS_openat2, { HERE, P, UNREADABLE }, "", 0 },
	{ "execve", SYS_execve, { P }, "run /usr/bin/a/b", 0 },
	{ "execveat", SYS_execveat, { HERE, P }, "run @/a/b", 0 },
	{ "truncate", SYS_truncate, { P }, "write /usr/bin/a/b", 0 },
	{ "rename", SYS_rename, { P, OTHER },
	    "remove /usr/bin/a/b, replace /other", 0 },
	{ "renameat", SYS_renameat, { HERE, P, HERE, OTHER },
	    "remove @/a/b, replace /other", 0 },
	{ "renameat, to", SYS_renameat, { 99, OTHER, HERE, P },
	    "remove /other, replace @/a/b", 0 },
	{ "renameat2", SYS_renameat2, { HERE, P, HERE, OTHER, 0 },
	    "remove @/a/b, replace /other", 0 },
	{ "renameat2, to", SYS_renameat2, { 99, OTHER, HERE, P, 1 },
	    "remove /other, replace @/a/b anew", 0 },
	{ "renameat2, exchange", SYS_renameat2, { 99, OTHER, HERE, P, 2 },
	    "remove /other, replace @/a/b", 0 },
	{ "mkdir", SYS_mkdir, { P }, "mkdir /usr/bin/a/b", 0 },
	{ "mkdirat", SYS_mkdirat, { HERE, P }, "mkdir @/a/b", 0 },
	{ "mknod", SYS_mknod, { P, S_IFIFO }, "make /usr/bin/a/b", 0 },
	{ "mknodat", SYS_mknodat, { HERE, P, S_IFIFO }, "make @/a/b", 0 },
	{ "symlink", SYS_symlink, { OTHER, P }, "make /usr/bin/a/b", 0 },
	{ "symlinkat", SYS_symlinkat, { OTHER, HERE, P }, "make @/a/b", 0 },
	{ "link", SYS_link, { OTHER, P }, "make /usr/bin/a/b", 0 },
	{ "linkat", SYS_linkat, { 99, OTHER, HERE, P }, "make @/a/b", 0 },
	{ "rmdir", SYS_rmdir, { P }, "remove /usr/bin/a/b", 0 },
	{ "unlink", SYS_unlink, { P }, "unlink /usr/bin/a/b", 0 },
	{ "unlinkat", SYS_unlinkat, { HERE, P, 0 }, "unlink @/a/b", 0 },
	{ "unlinkat, a directory", SYS_unlinkat, { HERE, P, AT_REMOVEDIR },
	    "remove @/a/b", 0 },
	{ "chmod", SYS_chmod, { P }, "change /usr/bin/a/b", 0 },
	{ "fchmodat", SYS_fchmodat, { HERE, P, 0, AT_SYMLINK_NOFOLLOW },
	    "change @/a/b", 0 },
	{ "fchmodat2", SYS_fchmodat2, { HERE, P, 0, 0 }, "change @/a/b", 0 },
	{ "fchmodat2, a link", SYS_fchmodat2,
	    { HERE, P, 0, AT_SYMLINK_NOFOLLOW }, "change @/a/b itself", 0 },
	{ "chown", SYS_chown, { P }, "change /usr/bin/a/b", 0 },
	{ "lchown", SYS_lchown, { P }, "change /usr/bin/a/b", 0 },
	{ "fchownat", SYS_fchownat, { HERE, P, 0, 0, 0 }, "change @/a/b", 0 },
	{ "fchownat, a link", SYS_fchownat,
	    { HERE, P, 0, 0, AT_SYMLINK_NOFOLLOW }, "change @/a/b itself", 0 },
	{ "utime", SYS_utime, { P }, "change /usr/bin/a/b", 0 },
	{ "utimes", SYS_utimes, { P }, "change /usr/bin/a/b", 0 },
	{ "futimesat", SYS_futimesat, { HERE, P }, "change @/a/b", 0 },
	{ "utimensat", SYS_utimensat, { HERE, P, 0, 0 }, "change @/a/b", 0 },
	{ "utimensat, a link", SYS_utimensat,
	    { HERE, P, 0, AT_SYMLINK_NOFOLLOW }, "change @/a/b itself", 0 },
	{ "utimensat, a descriptor", SYS_utimensat, { HERE, 0 }, "", 0 },
	{ "setxattr", SYS_setxattr, { P }, "change /usr/bin/a/b", 0 },
	{ "lsetxattr", SYS_lsetxattr, { P }, "change /usr/bin/a/b", 0 },
	{ "setxattrat", SYS_setxattrat, { HERE, P, AT_SYMLINK_NOFOLLOW },
	    "change @/a/b itself", 0 },
	{ "removexattr", SYS_removexattr, { P }, "change /usr/bin/a/b", 0 },
	{ "lremovexattr", SYS_lremovexattr, { P }, "change /usr/bin/a/b", 0 },
	{ "removexattrat", SYS_removexattrat, { HERE, P, AT_SYMLINK_NOFOLLOW },
	    "change @/a/b itself", 0 },
	{ "inotify_add_watch", SYS_inotify_add_watch, { 0, P, 1 },
	    "read /usr/bin/a/b", 0 },
	{ "chdir", SYS_chdir, { P }, "look /usr/bin/a/b", 0 },
	{ "chroot", SYS_chroot, { P }, "look /usr/bin/a/b", 0 },
	{ "stat", SYS_stat, { P }, "look /usr/bin/a/b", 0 },
	{ "lstat", SYS_lstat, { P }, "look /usr/bin/a/b itself", 0 },
	{ "newfstatat", SYS_newfstatat, { HERE, P, 0, 0 }, "look @/a/b", 0 },
	{ "newfstatat, a link", SYS_newfstatat,
	    { HERE, P, 0, AT_SYMLINK_NOFOLLOW }, "look @/a/b itself", 0 },
	{ "statx", SYS_statx, { HERE, P, 0 }, "look @/a/b", 0 },
	{ "statx, a link", SYS_statx, { HERE, P, AT_SYMLINK_NOFOLLOW },
	    "look @/a/b itself", 0 },
	{ "access", SYS_access, { P }, "look /usr/bin/a/b", 0 },
	{ "faccessat", SYS_faccessat, { HERE, P }, "look @/a/b", 0 },
	{ "faccessat2", SYS_faccessat2, { HERE, P, 0, AT_SYMLINK_NOFOLLOW },
	    "look @/a/b itself", 0 },
	{ "readlink", SYS_readlink, { P }, "look /usr/bin/a/b itself", 0 },
	{ "readlinkat", SYS_readlinkat, { HERE, P }, "look @/a/b itself", 0 },
	{ "statfs", SYS_statfs, { P }, "look /usr/bin/a/b", 0 },
	{ "getxattr", SYS_getxattr, { P }, "look /usr/bin/a/b", 0 },
	{ "lgetxattr", SYS_lgetxattr, { P }, "look /usr/bin/a/b itself", 0 },
	{ "listxattr", SYS_listxattr, { P }, "look /usr/bin/a/b", 0 },
	{ "llistxattr", SYS_llistxattr, { P }, "look /usr/bin/a/b itself", 0 },
	{ "another call", SYS_getpid, { P }, "", 0 },
};

/* From the current directory, or from one that is open. */
static void
check_path(size_t i, int directory)
{
	const struct open_how how = { .flags = paths[i].how };
	const char *from = directory < 0 ? "/usr/bin" : "/dev";
	char expected[128] = "", *to = expected;
	int64_t result;

	begin(paths[i].number);
	for (int word_at = 0; word_at < 5; word_at++) {
		long given = paths[i].words[word_at];

		caller.call.args[word_at] = given == P ? POINTER("a/b") :
		    given == OTHER                     ? POINTER("/other") :
		    given == HOW                       ? POINTER(&how) :
		    given != HERE                      ? (uint64_t)given :
		    directory < 0                      ? (uint64_t)AT_FDCWD :
							 (uint64_t)directory;
	}
	for (const char *at = paths[i].sees; *at != '\0'; at++)
		to += sprintf(to, *at == '@' ? "%s" : "%.1s",
		    *at == '@' ? from : at);
	result = observe(&caller);
	if (!tap_ok(&tap,
		result == ANSWER_GO_ON && strcmp(seen, expected) == 0 &&
		    additions == 0 && answers == 0 && explaining.unread == 0,
		"%s, from %s", paths[i].name, from))
		printf("# it sees %s\n", seen);
}

void
check_paths(void)
{
	int directory = open("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC);

	tap_must(directory >= 0 && chdir("/usr/bin") == 0, "directories");
	for (size_t i = 0; i < countof(paths); i++) {
		bool relative = strchr(paths[i].sees, '@') != NULL;

		/* Another machine may not have it. */
		if (paths[i].number < 0)
			continue;
		check_path(i, -1);
		if (relative)
			check_path(i, directory);
	}
	close(directory);
}

static void
sees(const char *what, const char *path, uint64_t directory,
    const char *expected)
{
	begin(SYS_openat);
	call3(directory, POINTER(path), 0);
	if (!tap_ok(&tap, strcmp(seen, expected) == 0 && explaining.unread == 0,
		"%s", what))
		printf("# it sees %s\n", seen);
}

void
check_names(void)
{
	int ends[2];

	tap_must(pipe(ends) == 0, "a pipe");
	sees("no name", "", (uint64_t)AT_FDCWD, "");
	sees("an absolute one", "/x/../y", 99, "read /y");
	sees("dots at its end", "a/..", (uint64_t)AT_FDCWD,
	    "read /usr/bin dots");
	sees("a directory that is none", "a", (uint64_t)ends[0], "");
	sees("one that is not open", "a", 99, "");
	close(ends[0]);
	close(ends[1]);
	begin(SYS_openat);
	word.reads = false;
	call3((uint64_t)AT_FDCWD, POINTER("a"), 0);
	tap_ok(&tap, *seen == '\0' && explaining.unread == 1,
	    "what cannot be read is counted");
	begin(SYS_openat);
	call3((uint64_t)AT_FDCWD, UNREADABLE, 0);
	tap_ok(&tap, *seen == '\0' && explaining.unread == 0,
	    "and not what is nowhere");
	begin(SYS_openat);
	call3((uint64_t)AT_FDCWD, POINTER("a"), O_PATH | O_NOFOLLOW);
	tap_ok(&tap, *seen == '\0', "O_PATH is denied by nobody");
	begin(SYS_openat);
	explaining.view = true;
	call3((uint64_t)AT_FDCWD, POINTER("a"), O_PATH | O_NOFOLLOW);
	tap_ok(&tap, strcmp(seen, "look /usr/bin/a itself") == 0,
	    "but in a view, where it looks");
}
