/*
 * What is seen at a place that a policy watches: which names, in which part, and
 * when a directory need not be looked at again.
 */
#include "runtime/base/files.h"
#include "runtime/watch/tripwire.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { STRANGER = 23972 };

static struct tap tap;
static struct arena arena;
static char top[64] = "/var/tmp/sbx-look-XXXXXX";

/* What the file system says of itself; 0: what it is. */
static uint32_t pretended;

int
fstatfs(int fd, struct statfs *status)
{
	char path[32];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (pretended == 1 || statfs(path, status) != 0)
		return -1;
	if (pretended != 0)
		status->f_type = pretended;
	return 0;
}

static void
make_directory(const char *name)
{
	tap_must(mkdir(name, 0755) == 0, name);
}

static void
make_file(const char *name, const char *text, size_t len)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	tap_must(fd >= 0 && write(fd, text, len) == (ssize_t)len &&
		close(fd) == 0,
	    name);
}

static void
is(const char *what, const char *wanted, const char *got)
{
	if (!tap_ok(&tap, strcmp(wanted, got) == 0, "%s", what))
		printf("# '%s' instead of '%s'\n", got, wanted);
}

static struct sbx_place
below(const char *name)
{
	char text[256];

	snprintf(text, sizeof text, "%s%s%s", top, *name != '\0' ? "/" : "",
	    name);
	return arena_copy(&arena, place_of(text));
}

static int
next_descriptor(void)
{
	int fd = open("/", O_PATH | O_CLOEXEC);

	close(fd);
	return fd;
}

/* --- what is seen --------------------------------------------------------- */

static struct sight sight;

static void
look_once(uint8_t form, struct sbx_place at, struct look_from *from)
{
	const struct look_at what = { .form = form, .at = at, .pattern = "" };

	look(&arena, &what, from, &sight);
}

/* The names that are seen, below the place, without those that are not there:
 * with a letter for their part, and a plus for what belongs to others. */
static const char *
seen(uint8_t form, const char *name)
{
	static const char parts[] = { [SBX_GIT_FILE] = 'f',
		[SBX_GIT_SETTINGS] = 's',
		[SBX_GIT_HOOKS] = 'h',
		[SBX_GIT_TREE] = 't',
		[SBX_GIT_LINES] = 'l',
		[SBX_GIT_HEAD] = 'b',
		[SBX_GIT_INDEX] = 'i',
		[SBX_GIT_REFS] = 'r' };
	static char text[4096];
	struct look_from none = { .fd = -1 };
	struct sbx_place at = below(name);
	size_t used = 0;

	*text = '\0';
	look_once(form, at, &none);
	for (const struct seen *one = sight.first; one != NULL;
	     one = one->next) {
		if (one->error == ENOENT || one->part == SBX_GIT_INDEX)
			continue;
		used += (size_t)snprintf(text + used, sizeof text - used,
		    "%s%c%s.%s", used > 0 ? " " : "", parts[one->part],
		    one->other ? "+" : "", one->at.path + at.len);
	}
	return text;
}

static void
check_plain(void)
{
	is("a file", "f.", seen(SBX_WATCH_TREE, "plain/file"));
	is("a directory and what is in it", "f. f./file",
	    seen(SBX_WATCH_TREE, "plain"));
	is("a link is not followed", "f.", seen(SBX_WATCH_TREE, "link"));
	is("nothing", "", seen(SBX_WATCH_TREE, "gone"));
	tap_ok(&tap, sight.count == 1 && sight.first->error == ENOENT,
	    "that it is not there is seen");
}

static void
check_deep(void)
{
	char name[128] = "deep";

	make_directory(name);
	for (int depth = 0; depth < LOOK_MAX_DEPTH; depth++) {
		strcat(name, "/d");
		make_directory(name);
	}
	seen(SBX_WATCH_TREE, "deep");
	tap_ok(&tap, sight.cut && sight.count == LOOK_MAX_DEPTH + 1,
	    "a directory at the last depth is not looked into");
	rmdir(name);
	seen(SBX_WATCH_TREE, "deep");
	tap_ok(&tap, !sight.cut && sight.count == LOOK_MAX_DEPTH,
	    "there is none");
}

static void
check_many(void)
{
	uint64_t sum;
	char name[64];

	make_directory("many");
	for (int i = 1; i < LOOK_MAX_NAMES; i++) {
		snprintf(name, sizeof name, "many/%d", i);
		make_file(name, "", 0);
	}
	seen(SBX_WATCH_TREE, "many");
	tap_ok(&tap, !sight.more && sight.count == LOOK_MAX_NAMES,
	    "as many names as are kept");
	sum = sight.sum;
	make_file("many/more", "", 0);
	seen(SBX_WATCH_TREE, "many");
	tap_ok(&tap,
	    sight.more && !sight.cut && sight.count == LOOK_MAX_NAMES &&
		sight.all == LOOK_MAX_NAMES + 1 && sight.sum != sum,
	    "and one more");
	sum = sight.sum;
	seen(SBX_WATCH_TREE, "many");
	tap_ok(&tap, sight.sum == sum, "and none");
	make_file("many/more", "x", 1);
	seen(SBX_WATCH_TREE, "many");
	tap_ok(&tap, sight.sum != sum, "and one that has changed");
	for (int i = LOOK_MAX_NAMES; i < LOOK_MAX_ALL - 1; i++) {
		snprintf(name, sizeof name, "many/%d", i);
		make_file(name, "", 0);
	}
	seen(SBX_WATCH_TREE, "many");
	tap_ok(&tap, !sight.cut && sight.all == LOOK_MAX_ALL,
	    "as many names as are looked at");
	make_file("many/last", "", 0);
	seen(SBX_WATCH_TREE, "many");
	tap_ok(&tap, sight.cut && sight.count == LOOK_MAX_NAMES,
	    "and one more");
}

static void
check_git(void)
{
	const char *text;

	make_directory("r");
	is("no repository", "", seen(SBX_WATCH_GIT, "r"));
	make_file("r/.git", "gitdir: x\n", 10);
	is("a work tree elsewhere", "f./.git", seen(SBX_WATCH_GIT, "r"));
	unlink("r/.git");
	make_directory("r/.git");
	make_file("r/.git/index", "", 0);
	make_file("r/.git/config", "", 0);
	is("its settings", "f./.git s./.git/config", seen(SBX_WATCH_GIT, "r"));
	make_directory("r/.git/hooks");
	make_file("r/.git/hooks/update.sample", "", 0);
	is("a sample is no hook", "f./.git h./.git/hooks s./.git/config",
	    seen(SBX_WATCH_GIT, "r"));
	make_file("r/.git/hooks/update", "", 0);
	is("a hook is one",
	    "f./.git h./.git/hooks f./.git/hooks/update s./.git/config",
	    seen(SBX_WATCH_GIT, "r"));
	unlink("r/.git/hooks/update");
	unlink("r/.git/hooks/update.sample");
	rmdir("r/.git/hooks");
	make_directory("r/.git/modules");
	make_directory("r/.git/modules/a");
	make_file("r/.git/modules/a/config", "", 0);
	is("a submodule", "f./.git s./.git/config s+./.git/modules/a/config",
	    seen(SBX_WATCH_GIT, "r"));
	make_directory("r/.git/worktrees");
	make_directory("r/.git/worktrees/b");
	make_file("r/.git/worktrees/b/config", "", 0);
	is("and a work tree",
	    "f./.git s./.git/config s+./.git/modules/a/config "
	    "s+./.git/worktrees/b/config",
	    seen(SBX_WATCH_GIT, "r"));
	is("the repository itself",
	    "f. s./config s+./modules/a/config s+./worktrees/b/config",
	    seen(LOOK_GIT_DIRECTORY, "r/.git"));
	is("that of a submodule", "f. s+./config",
	    seen(LOOK_GIT_DIRECTORY, "r/.git/modules/a"));
	is("that of a work tree", "f. s./config",
	    seen(LOOK_GIT_DIRECTORY, "r/.git/worktrees/b"));
	make_directory("r/.git/modules/c");
	make_file("r/.git/modules/c/config", "", 0);
	make_directory("r/.git/modules/a/objects");
	make_file("r/.git/modules/a/HEAD", "", 0);
	make_file("r/.git/modules/a/objects/config", "", 0);
	make_directory("r/.git/modules/d");
	make_directory("r/.git/modules/d/e");
	make_file("r/.git/modules/d/e/config", "", 0);
	text = seen(SBX_WATCH_GIT, "r");
	tap_ok(&tap,
	    strstr(text, "s+./.git/modules/d/e/config") != NULL &&
		strstr(text, "objects") == NULL,
	    "one deeper, and none where another one keeps its objects");
	tap_ok(&tap,
	    strstr(text, "s+./.git/modules/a/config") != NULL &&
		strstr(text, "s+./.git/modules/c/config") != NULL,
	    "two submodules, in any order");
}

static void
check_shut(void)
{
	struct seen *inside;

	make_directory("shut");
	tap_must(chmod("shut", 0) == 0, "chmod");
	seen(SBX_WATCH_TREE, "shut");
	inside = sight.first;
	tap_ok(&tap, sight.shut && !sight.cut && inside->error == EACCES,
	    "a directory that is shut");
	chmod("shut", 0755);
}

/* --- from where ----------------------------------------------------------- */

static void
check_from(void)
{
	int fd = next_descriptor();
	struct look_from from, again;

	look_begin(&from, below("plain"));
	tap_ok(&tap, from.opened && from.fd >= 0 && from.error == 0,
	    "a directory");
	look_once(SBX_WATCH_TREE, below("plain/file"), &from);
	tap_ok(&tap, sight.count == 1 && sight.first->error == 0,
	    "what lies in it is seen from there");
	look_end(&from);
	tap_ok(&tap, next_descriptor() == fd, "it is closed then");
	look_begin(&again, below("gone"));
	tap_ok(&tap, again.fd < 0 && again.error == ENOENT,
	    "one that is not there");
	look_once(SBX_WATCH_TREE, below("gone/file"), &again);
	tap_ok(&tap, sight.first->error == ENOENT,
	    "nor is what would lie in it");
	look_end(&again);
	look_begin(&again, below("plain/file"));
	tap_ok(&tap, again.fd < 0 && again.error == 0 && again.opened,
	    "a file is none");
	look_once(SBX_WATCH_TREE, below("plain/file/x"), &again);
	tap_ok(&tap, sight.first->error == ENOTDIR, "which its names say");
	look_end(&again);
	tap_ok(&tap, next_descriptor() == fd, "nothing else stays open");
}

/* /usr was made long ago. */
static void
check_settled(void)
{
	static const struct {
		uint32_t type;
		bool settled;
	} types[] = {
		{ 0xef53, true }, { 0x58465342, true }, { 0x9123683e, true },
		{ 0x01021994, true }, { 0xf2f52010, true },
		{ 0x6969, false },     /* NFS */
		{ 0x65735546, false }, /* FUSE */
		{ 0x794c7630, false }, /* overlay */
		{ 1, false },          /* it does not say */
	};
	struct look_from from;

	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		pretended = types[i].type;
		look_begin(&from, place_of("/usr"));
		tap_ok(&tap, from.settled == types[i].settled,
		    "the times of file systems of type %x", types[i].type);
		look_end(&from);
	}
	pretended = 0x01021994;
	make_directory("fresh");
	look_begin(&from, below("fresh"));
	tap_ok(&tap, !from.settled, "a change just before has the same time");
	look_end(&from);
	pretended = 0;
}

/* Which of two directories is read after a few names, and what that leaves out. */
static void
check_listed(void)
{
	struct look_from from;

	pretended = 0x01021994;
	make_directory("listed");
	make_directory("listed/.cache");
	make_file("listed/.cache/x", "", 0);
	make_file("listed/.ENVRC", "", 0);
	look_begin(&from, below("listed"));
	for (int i = 0; i < 16; i++)
		look_once(SBX_WATCH_TREE, below("listed/gone"), &from);
	tap_ok(&tap,
	    from.listed && look_lacks(&from, below("listed/gone/below")) &&
		sight.first->error == ENOENT,
	    "a name that a directory does not have");
	tap_ok(&tap, !look_lacks(&from, below("listed")), "itself");
	look_once(SBX_WATCH_TREE, below("listed/.cache/x"), &from);
	tap_ok(&tap, sight.first->error == 0, "a name that it has");
	tap_ok(&tap, !look_lacks(&from, below("listed/.envrc")),
	    "capital letters may be the same in there");
	look_end(&from);
	pretended = 0;
}

static void
check_same(void)
{
	const struct look_from first = { .settled = true,
		.device = 1,
		.inode = 2,
		.changed = { 3, 4 } };
	struct look_from other = first;

	tap_ok(&tap, look_is_same(&first, &other), "the same directory");
	other.settled = false;
	tap_ok(&tap,
	    look_is_same(&first, &other) && !look_is_same(&other, &first),
	    "it must have settled before");
	other = first;
	other.device++;
	tap_ok(&tap, !look_is_same(&first, &other), "another device");
	other = first;
	other.inode++;
	tap_ok(&tap, !look_is_same(&first, &other), "another inode");
	other = first;
	other.changed.tv_sec++;
	tap_ok(&tap, !look_is_same(&first, &other), "seconds later");
	other = first;
	other.changed.tv_nsec++;
	tap_ok(&tap, !look_is_same(&first, &other), "a nanosecond later");
}

/* --- settings ------------------------------------------------------------- */

/* The text of a file as it was seen before something came to it. */
static const char *
settings(const char *name, const char *after, size_t len)
{
	const char *text;

	seen(SBX_WATCH_TREE, name);
	if (after != NULL)
		make_file(name, after, len);
	text = look_settings(&arena, sight.first);
	return text == NULL ? "none" : text;
}

static void
check_settings(void)
{
	static char large[LOOK_MAX_SETTINGS + 1];

	make_file("config", "[core]\n", 7);
	is("settings", "[core]\n", settings("config", NULL, 0));
	is("that grew meanwhile", "[core]\n",
	    settings("config", "[core]\nx", 8));
	is("that shrank", "none", settings("config", "[core]", 6));
	is("no text", "none", settings("config", "a\0bcde", 6));
	is("a directory", "none", settings("plain", NULL, 0));
	is("a link", "none", settings("link", NULL, 0));
	is("nothing", "none", settings("gone", NULL, 0));
	memset(large, 'x', sizeof large);
	make_file("config", large, LOOK_MAX_SETTINGS);
	tap_ok(&tap, strlen(settings("config", NULL, 0)) == LOOK_MAX_SETTINGS,
	    "as much as is read");
	make_file("config", large, sizeof large);
	is("a byte more", "none", settings("config", NULL, 0));
	seen(SBX_WATCH_TREE, "config");
	sight.first->size = 4;
	unlink("config");
	tap_must(mkfifo("config", 0644) == 0, "mkfifo");
	tap_ok(&tap, look_settings(&arena, sight.first) == NULL,
	    "what is a pipe by then");
	unlink("config");
	tap_must(symlink("plain/file", "config") == 0, "symlink");
	tap_ok(&tap, look_settings(&arena, sight.first) == NULL, "or a link");
}

/* -------------------------------------------------------------------------- */

static int
remove_one(const char *path, const struct stat *status, int type,
    struct FTW *walk)
{
	(void)status, (void)type, (void)walk;
	return remove(path);
}

int
main(void)
{
	/* Root may look into all that is there. */
	if (geteuid() == 0)
		tap_must(setgid(STRANGER) == 0 && setuid(STRANGER) == 0,
		    "setuid");
	tap_must(mkdtemp(top) != NULL && chdir(top) == 0, top);
	make_directory("plain");
	make_file("plain/file", "text", 4);
	tap_must(symlink("plain", "link") == 0, "symlink");
	check_plain();
	check_deep();
	check_many();
	check_git();
	check_shut();
	check_from();
	check_settled();
	check_listed();
	check_same();
	check_settings();
	nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return tap_done(&tap);
}
