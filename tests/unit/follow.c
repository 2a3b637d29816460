/*
 * Where a path leads (runtime/bind/follow.c): what is there or is missing, and each
 * link on the way, in its order.
 */
#include "runtime/bind/bind.h"

#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "tests/lib/tap.h"

#include <sys/stat.h>
#include <unistd.h>

#define countof(array) (sizeof(array) / sizeof *(array))

enum { MOST = 40 }; /* links that the kernel follows */

static struct tap tap;
static struct arena arena;
static struct listings listings;
static char top[64] = "/var/tmp/sbx-follow-XXXXXX";

/* A text in which "@" stands for the directory of the test. */
static char *
whole(const char *text)
{
	static char made[8][2 * SBX_MAX_PATH];
	static unsigned turn;
	char *to = made[turn++ % 8], *at = to;

	for (; *text != '\0'; text++)
		at += *text == '@' ? sprintf(at, "%s", top) :
				     sprintf(at, "%c", *text);
	*at = '\0';
	return to;
}

static void
link_to(const char *target, const char *name)
{
	tap_must(symlink(whole(target), whole(name)) == 0, name);
}

/* Where it leads and the links on the way, in terms of the test's directory. */
static const char *
describe(const struct followed *found)
{
	static char text[64 * SBX_MAX_PATH];
	int len = (int)strlen(top);
	char *at = text;

	for (uint32_t i = 0; i <= found->link_count; i++) {
		struct sbx_place place = i == 0 ? found->at :
						  found->links[i - 1];
		const char *path = path_of(place);
		int all = place.len > 0 ? (int)place.len : 1;
		bool inside = strncmp(path, top, (size_t)len) == 0;

		at += sprintf(at, "%s%s%.*s", i == 0 ? "" : " < ",
		    inside ? "@" : "", all - (inside ? len : 0),
		    path + (inside ? len : 0));
	}
	return text;
}

/* The descriptor is there if there is no error, and closed. */
static bool
ends(const struct followed *found, int error)
{
	struct stat opened, named;
	bool there = found->fd >= 0 && fstat(found->fd, &opened) == 0 &&
	    lstat(path_of(found->at), &named) == 0 &&
	    opened.st_ino == named.st_ino &&
	    (fcntl(found->fd, F_GETFD) & FD_CLOEXEC) != 0;

	if (found->fd >= 0)
		close(found->fd);
	return found->error == error && there == (error == 0);
}

static void
is(const char *path, const struct followed *found, const char *wanted,
    int error)
{
	bool ended = ends(found, error);

	if (!tap_ok(&tap, ended && strcmp(describe(found), wanted) == 0,
		"%.60s", path))
		printf("# '%s', %d, instead of '%s', %d\n", describe(found),
		    found->error, wanted, error);
}

/* Normal paths, and those that people type, from the directory `d`. */
static void
paths(void)
{
	static const struct {
		const char *path, *found;
		int error;
	} normal[] = {
		{ "/", "/", 0 },
		{ "@", "@", 0 },
		{ "@/d/f", "@/d/f", 0 },
		{ "@/none", "@/none", ENOENT },
		{ "@/d/f/x", "@/d/f/x", ENOTDIR },
		{ "@/l", "@/d < @/l", 0 },
		{ "@/l/f", "@/d/f < @/l", 0 },
		{ "@/l/e/g", "@/d/e/g < @/l", 0 },
		{ "@/l/none", "@/d/none < @/l", ENOENT },
		{ "@/l/none/more", "@/d/none/more < @/l", ENOENT },
		{ "@/l/f/x", "@/d/f/x < @/l", ENOTDIR },
		{ "@/abs/f", "@/d/f < @/abs", 0 },
		{ "@/two/f", "@/d/f < @/two < @/l", 0 },
		{ "@/l/back/l/f", "@/d/f < @/l < @/d/back < @/l", 0 },
		{ "@/up/d/f", "@/d/f < @/up", 0 },
		{ "@/dots/f", "@/d/f < @/dots", 0 },
		{ "@/slash", "@/d < @/slash", 0 },
		{ "@/slashes/f", "@/d/f < @/slashes", 0 },
		{ "@/root", "/ < @/root", 0 },
		{ "@/root/none-of-sbx", "/none-of-sbx < @/root", ENOENT },
		{ "@/gone", "@/none < @/gone", ENOENT },
		{ "@/gone/more", "@/none/more < @/gone", ENOENT },
		{ "@/tofile", "@/d/f < @/tofile", 0 },
		{ "@/filedot", "@/d/f < @/filedot", ENOTDIR },
		{ "@/fileup", "@/d < @/fileup", ENOTDIR },
		{ "@/fileslash", "@/d/f < @/fileslash", ENOTDIR },
	}, given[] = {
		{ ".", "@/d", 0 },
		{ "f", "@/d/f", 0 },
		{ "./f", "@/d/f", 0 },
		{ "e/..", "@/d", 0 },
		{ "../d//e/./g", "@/d/e/g", 0 },
		{ "../l/../d", "@/d < @/l", 0 },
		{ "e/", "@/d/e", 0 },
		{ "f/", "@/d/f", ENOTDIR },
		{ "f/.", "@/d/f", ENOTDIR },
		{ "f/..", "@/d", ENOTDIR },
		{ "none/..", "@/d", ENOENT },
		{ "../../../../../../../..", "/", 0 },
		{ "/", "/", 0 },
		{ "//", "/", 0 },
		{ "@/d/..", "@", 0 },
		{ "@//l/.x", "@/d/.x < @/l", ENOENT },
		{ "@/l/..", "@ < @/l", 0 },
		{ "back/d", "@/d < @/d/back", 0 },
	};
	struct followed found;

	for (size_t i = 0; i < countof(normal); i++) {
		found = follow(&arena, place_of(whole(normal[i].path)));
		is(normal[i].path, &found, normal[i].found, normal[i].error);
	}
	for (size_t i = 0; i < countof(given); i++) {
		found = follow_given(&arena, whole(given[i].path));
		is(given[i].path, &found, given[i].found, given[i].error);
	}
}

/* c0 leads to d, and each other one to the one before. */
static void
chains(void)
{
	char name[32], target[32];
	struct followed found;

	link_to("d", "@/c0");
	for (int i = 1; i <= MOST; i++) {
		snprintf(name, sizeof name, "@/c%d", i);
		snprintf(target, sizeof target, "c%d", i - 1);
		link_to(target, name);
	}
	snprintf(name, sizeof name, "@/c%d", MOST - 1);
	found = follow(&arena, place_of(whole(name)));
	tap_ok(&tap, ends(&found, 0) && found.link_count == MOST,
	    "as many links as the kernel follows");
	snprintf(name, sizeof name, "@/c%d", MOST);
	found = follow(&arena, place_of(whole(name)));
	tap_ok(&tap, ends(&found, ELOOP) && found.link_count == MOST + 1,
	    "one more");
	found = follow(&arena, place_of(whole("@/circle")));
	tap_ok(&tap, ends(&found, ELOOP), "a circle");
	for (int i = 0; i <= MOST; i++) {
		snprintf(name, sizeof name, "@/c%d", i);
		unlink(whole(name));
	}
}

/* What is only compared: no descriptor, and as far as it can be told. */
static void
compared(void)
{
	static const struct {
		const char *path, *found;
		int error;
	} cases[] = {
		{ "@/d", "@/d", 0 },
		{ "@/d/f", "@/d/f", 0 },
		{ "@/d/none", "@/d/none", ENOENT },
		{ "@/d/e/g", "@/d/e/g", 0 },
		{ "@/d/e/none", "@/d/e/none", ENOENT },
		{ "@/d/none/more", "@/d/none/more", ENOENT },
		{ "@/d/back", "@ < @/d/back", 0 },
		{ "@/d/back/d/f", "@/d/f < @/d/back", 0 },
		{ "@/d/f/x", "@/d/f/x", ENOTDIR },
	};
	struct sbx_place parent = place_of(
	    arena_copy(&arena, place_of(whole("@/d"))).path);

	for (int listed = 0; listed < 2; listed++) {
		if (listed)
			listings_add(&listings, parent);
		for (size_t i = 0; i < countof(cases); i++) {
			struct followed found = follow_below(&arena, &listings,
			    parent, place_of(whole(cases[i].path)));

			if (!tap_ok(&tap,
				found.fd < 0 && found.error == cases[i].error &&
				    strcmp(describe(&found), cases[i].found) ==
					0,
				"compared: %s%s", cases[i].path,
				listed ? ", listed" : ""))
				printf("# '%s', %d\n", describe(&found),
				    found.error);
		}
	}
}

/* Without a link, and with one. */
static void
opened(void)
{
	int fd = open_unlinked(AT_FDCWD, whole("@/l/f"), O_RDONLY);

	tap_ok(&tap, fd < 0 && errno == ELOOP, "no link is opened through");
	fd = open_place(place_of(whole("@/l")), O_PATH);
	tap_ok(&tap, fd < 0, "nor one at the end");
	fd = open_place(place_of(whole("@/d/f")), O_RDONLY);
	tap_ok(&tap, fd >= 0 && (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0,
	    "what has none is");
	close(fd);
}

int
main(void)
{
	static const char *const made[] = { "@/l", "@/abs", "@/two", "@/up",
		"@/dots", "@/slash", "@/slashes", "@/root", "@/gone",
		"@/tofile", "@/filedot", "@/fileup", "@/fileslash", "@/circle",
		"@/d/back", "@/d/f", "@/d/e/g", "@/d/e", "@/d", "@" };

	/* The directory itself is named without links. */
	tap_must(mkdtemp(top) != NULL && chdir(top) == 0 &&
		getcwd(top, sizeof top) != NULL,
	    top);
	tap_must(mkdir(whole("@/d"), 0700) == 0 &&
		mkdir(whole("@/d/e"), 0700) == 0 &&
		mknod(whole("@/d/f"), S_IFREG | 0600, 0) == 0 &&
		mknod(whole("@/d/e/g"), S_IFREG | 0600, 0) == 0,
	    "what is there");
	link_to("d", "@/l");
	link_to("@/d", "@/abs");
	link_to("l", "@/two");
	link_to("d/..", "@/up");
	link_to("./d/.", "@/dots");
	link_to("d/", "@/slash");
	link_to(".//d//", "@/slashes");
	link_to("/", "@/root");
	link_to("none", "@/gone");
	link_to("d/f", "@/tofile");
	link_to("d/f/.", "@/filedot");
	link_to("d/f/..", "@/fileup");
	link_to("d/f/", "@/fileslash");
	link_to("circle", "@/circle");
	link_to("..", "@/d/back");
	tap_must(chdir(whole("@/d")) == 0, "chdir");
	paths();
	chains();
	compared();
	opened();
	for (size_t i = 0; i < countof(made); i++)
		remove(whole(made[i]));
	return tap_done(&tap);
}
