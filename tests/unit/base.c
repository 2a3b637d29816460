/*
 * The ground of the loader at its boundary values: the arena, paths, names of
 * directories, digests, descriptors, spellings, limits.
 */
#include "runtime/base/arena.h"
#include "runtime/base/directory.h"
#include "runtime/base/file.h"
#include "runtime/base/kernel.h"
#include "runtime/base/limits.h"
#include "runtime/base/path.h"
#include "runtime/base/sha256.h"
#include "runtime/base/spelling.h"
#include "tests/lib/tap.h"

#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* The status of a child that does this and says nothing. */
static int
status_of(void (*act)(const void *), const void *with)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		close(STDERR_FILENO);
		act(with);
		_exit(0);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* --- the arena and paths -------------------------------------------------- */

struct join {
	uint32_t free;
	const char *text;
};

static void
join(const void *with)
{
	static struct arena arena;
	const struct join *wanted = with;

	arena.used = ARENA_SIZE - wanted->free;
	arena_copy(&arena, place_of(wanted->text));
	if (arena.used != ARENA_SIZE)
		_exit(1);
}

static void
paths(struct tap *tap)
{
	struct join fits = { 4, "/ab" }, lacks = { 3, "/ab" };
	static struct path path;
	static char name[SBX_MAX_PATH];

	tap_ok(tap, status_of(join, &fits) == 0, "the last bytes of the arena");
	tap_ok(tap, status_of(join, &lacks) == EXIT_REFUSED,
	    "one byte more than there is");
	memset(name, 'a', sizeof name);
	tap_ok(tap,
	    path_push(&path, name, SBX_MAX_PATH - 1) &&
		path.len == SBX_MAX_PATH,
	    "the longest path");
	path_cut(&path, 0);
	tap_ok(tap, !path_push(&path, name, SBX_MAX_PATH) && path.len == 0,
	    "one that is longer");
	tap_ok(tap,
	    place_shared(place_of("/a/b/c"), place_of("/a/b/d")) == 4 &&
		place_shared(place_of("/a/b"), place_of("/a/bc")) == 2,
	    "the directory that is above two");
}

/* --- names ---------------------------------------------------------------- */

static unsigned
count_entries(const char *place)
{
	struct directory entries;
	unsigned count = 0;

	directory_begin(&entries, open(place, O_RDONLY | O_DIRECTORY));
	while (directory_next(&entries) != NULL)
		count++;
	close(entries.fd);
	return count;
}

static void
names(struct tap *tap)
{
	static const char *const made[] = { "..a", ".b", "...", "c" };
	char place[] = "/tmp/sbx-XXXXXX", path[64], letters[] = "azAZ@[`{019";
	bool all = mkdtemp(place) != NULL;

	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof path, "%s/%s", place, made[i]);
		all &= mkdir(path, 0700) == 0;
	}
	tap_ok(tap, all && count_entries(place) == 4,
	    "names that begin with dots");
	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof path, "%s/%s", place, made[i]);
		rmdir(path);
	}
	rmdir(place);
	tap_ok(tap,
	    spelling_swap(letters, strlen(letters)) &&
		strcmp(letters, "AZaz@[`{019") == 0,
	    "the other case of a name");
	tap_ok(tap, !spelling_swap(letters + 4, strlen(letters + 4)),
	    "a name without letters");
}

/* --- digests -------------------------------------------------------------- */

/* Where the length of the text takes another block, and beside that. */
static void
digests(struct tap *tap)
{
	static const struct {
		size_t size;
		const char *digest;
	} of_a[] = {
		{ 0,
		    "e3b0c44298fc1c149afbf4c8996fb924"
		    "27ae41e4649b934ca495991b7852b855" },
		{ 55,
		    "9f4390f8d30c2dd92ec9f095b65e2b9a"
		    "e9b0a925a5258e241c9f1e910f734318" },
		{ 56,
		    "b35439a4ac6f0948b6d6f9e3c6af0f5f"
		    "590ce20f1bde7090ef7970686ec6738a" },
		{ 63,
		    "7d3e74a05d7db15bce4ad9ec0658ea98"
		    "e3f06eeecf16b4c6fff2da457ddc2f34" },
		{ 64,
		    "ffe054fe7ae0cb6dc65c3af9b61d5209"
		    "f439851db43d0ba5997337df154668eb" },
		{ 119,
		    "31eba51c313a5c08226adf18d4a359cf"
		    "dfd8d2e816b13f4af952f7ea6584dcfb" },
		{ 120,
		    "2f3d335432c70b580af0e8e1b3674a7c"
		    "020d683aa5f73aaaedfdc55af904c21c" },
	};
	char text[120], digest[SHA256_HEX + 1];

	memset(text, 'a', sizeof text);
	for (size_t i = 0; i < sizeof of_a / sizeof *of_a; i++) {
		sha256_hex(text, of_a[i].size, digest);
		tap_ok(tap, strcmp(digest, of_a[i].digest) == 0,
		    "the digest of %zu bytes", of_a[i].size);
	}
}

/* --- descriptors ---------------------------------------------------------- */

enum { LAST_OPENED = 20 };

/* A filter that answers close_range(2) as an old kernel does. */
static void
lack_close_range(void)
{
	const struct sbx_insn insns[] = {
		{ 0x20, 0, 0, 0 },
		{ 0x15, 0, 1, SYS_close_range },
		{ 6, 0, 0, SECCOMP_RET_ERRNO | ENOSYS },
		{ 6, 0, 0, SECCOMP_RET_ALLOW },
	};
	struct sock_fprog filter = { sizeof insns / sizeof *insns, insns };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    seccomp(SECCOMP_SET_MODE_FILTER, 0, &filter) != 0)
		_exit(99);
}

static void
keep_some(const void *with)
{
	static const int kept[] = { 0, -1, 9, 5, 1, 6, -1 };
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd <= LAST_OPENED; fd++)
		dup2(null, fd);
	if (with != NULL)
		lack_close_range();
	descriptors_keep(kept, sizeof kept / sizeof *kept);
	for (int fd = 0; fd <= LAST_OPENED; fd++) {
		bool open = fcntl(fd, F_GETFD) >= 0,
		     wanted = fd == 0 || fd == 1 || fd == 5 || fd == 6 ||
		    fd == 9;

		if (open != wanted)
			_exit(fd + 1);
	}
}

static void
move_up(const void *with)
{
	(void)with;
	dup2(1, 2);
	if (above_standard(2) <= 2)
		_exit(1);
}

static void
descriptors(struct tap *tap)
{
	tap_ok(tap, status_of(keep_some, NULL) == 0, "descriptors are kept");
	tap_ok(tap, status_of(keep_some, "") == 0,
	    "and where there is no close_range(2)");
	tap_ok(tap, status_of(move_up, NULL) == 0,
	    "one that is no standard stream");
}

/* --- limits --------------------------------------------------------------- */

static void
choose(const void *with)
{
	struct limit_choice choices[SBX_LIMIT_END] = { 0 };

	limits_choose(choices, with);
}

/* The least and the greatest value, and what is beyond. */
static void
limits(struct tap *tap)
{
	static const struct {
		const char *text;
		bool taken;
	} cases[] = {
		{ "open-files=16", true },
		{ "open-files=15", false },
		{ "memory=1MiB", true },
		{ "memory=1023KiB", false },
		{ "stack=64KiB", true },
		{ "processes=1", true },
		{ "processes=0", false },
		{ "core=0", true },
		{ "output=8388607TiB", true },
		{ "output=8388608TiB", false },
		{ "output=16777217TiB", false },
		{ "timeout=1", false },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		tap_ok(tap,
		    status_of(choose, cases[i].text) ==
			(cases[i].taken ? 0 : EXIT_REFUSED),
		    "limit %s", cases[i].text);
}

int
main(void)
{
	struct tap tap = { 0 };

	paths(&tap);
	names(&tap);
	digests(&tap);
	descriptors(&tap);
	limits(&tap);
	return tap_done(&tap);
}
