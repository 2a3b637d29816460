/*
 * What a glob matches (runtime/bind/glob.c), at the bounds of the search.  What is
 * beyond one is not denied: the search has to say so there, and not before.
 */
#include "runtime/bind/binder.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILES = 3, ORDINARY = 23983 };

static const char pattern[] = "/**/.env*";

struct stage {
	char directory[64];
	struct arena arena;
	struct sbx_place matches[GLOB_MAX_MATCHES];
};

static struct sbx_place
place(const char *path)
{
	return (struct sbx_place){ path, (uint32_t)strlen(path) };
}

/* The search in the present directory of so many names, of which so many have been
 * looked at, and so many matched, before. */
static struct glob_search
search_after(struct stage *stage, uint32_t entries, uint32_t count)
{
	struct glob_search search = {
		.arena = &stage->arena,
		.matches = stage->matches,
		.entries = entries,
		.count = count,
	};

	glob_find(&search, place(stage->directory), NULL, pattern);
	return search;
}

static void
test_counts(struct tap *tap, struct stage *stage)
{
	static const char *const names[FILES] = { ".env", ".env.a", ".env.b" };
	struct glob_search search;

	for (int i = 0; i < FILES; i++) {
		int fd = open(names[i], O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

		if (fd < 0 || close(fd) != 0)
			abort();
	}
	search = search_after(stage, 0, 0);
	tap_ok(tap, search.fault == NULL && search.count == FILES,
	    "all that matches is found");
	search = search_after(stage, 0, GLOB_MAX_MATCHES - FILES);
	tap_ok(tap, search.fault == NULL && search.count == GLOB_MAX_MATCHES,
	    "as many matches as there may be");
	search = search_after(stage, 0, GLOB_MAX_MATCHES - FILES + 1);
	tap_ok(tap, search.fault != NULL && search.count == GLOB_MAX_MATCHES,
	    "and one more");
	search = search_after(stage, GLOB_MAX_ENTRIES - FILES, 0);
	tap_ok(tap, search.fault == NULL && search.count == FILES,
	    "as many entries as there may be");
	search = search_after(stage, GLOB_MAX_ENTRIES - FILES + 1, 0);
	tap_ok(tap, search.fault != NULL && search.count == FILES - 1,
	    "and one more");
	for (int i = 0; i < FILES; i++)
		unlink(names[i]);
}

/* Makes a directory in each other, or removes them, with a match in the last. */
static void
nest(int depth, bool make)
{
	for (int i = 0; i < depth; i++) {
		if ((make && mkdir("d", 0700) != 0) || chdir("d") != 0)
			abort();
	}
	if ((make ? mkdir(".env", 0700) : rmdir(".env")) != 0)
		abort();
	for (int i = 0; i < depth; i++) {
		if (chdir("..") != 0 || (!make && rmdir("d") != 0))
			abort();
	}
}

static void
test_depth(struct tap *tap, struct stage *stage)
{
	struct glob_search search;

	nest(GLOB_MAX_DEPTH, true);
	search = search_after(stage, 0, 0);
	tap_ok(tap, search.fault == NULL && search.count == 1,
	    "as deep as a search may go");
	nest(GLOB_MAX_DEPTH, false);
	nest(GLOB_MAX_DEPTH + 1, true);
	search = search_after(stage, 0, 0);
	tap_ok(tap, search.fault != NULL && search.count == 0,
	    "and one directory deeper");
	nest(GLOB_MAX_DEPTH + 1, false);
}

/* In a child, as another user than the one whose the directory is; its status says
 * what came of it. */
static int
search_as_other(struct stage *stage)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		struct glob_search search;

		if (setresuid(ORDINARY, ORDINARY, ORDINARY) != 0)
			abort();
		search = search_after(stage, 0, 0);
		_exit(search.fault != NULL ? 100 : (int)search.closed);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		abort();
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Of a directory that may be listed and not be entered, nobody sees whose the
 * entries are. */
static void
test_shut(struct tap *tap, struct stage *stage)
{
	static const char name[] =
	    "another user's directory that may be listed";

	if (geteuid() != 0) {
		tap_skip(tap, "needs root", "%s", name);
		return;
	}
	if (chmod(".", 0755) != 0 || mkdir("l", 0700) != 0 ||
	    mkdir("l/d", 0755) != 0 || chmod("l", 0744) != 0)
		abort();
	tap_ok(tap, search_as_other(stage) == 1, "%s", name);
	if (chown("l", ORDINARY, (gid_t)-1) != 0 || chmod("l", 0400) != 0)
		abort();
	tap_ok(tap, search_as_other(stage) == 100, "and one of one's own");
	if (rmdir("l/d") != 0 || rmdir("l") != 0)
		abort();
}

int
main(void)
{
	static struct stage stage = { .directory = "/tmp/sbx-matches-XXXXXX" };
	struct tap tap = { 0, 0 };

	if (mkdtemp(stage.directory) == NULL || chdir(stage.directory) != 0)
		abort();
	test_counts(&tap, &stage);
	test_depth(&tap, &stage);
	test_shut(&tap, &stage);
	rmdir(stage.directory);
	return tap_done(&tap);
}
