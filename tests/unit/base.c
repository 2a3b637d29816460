/*
 * The ground of the loader at its boundary values: the arena, paths, names of
 * directories, digests, descriptors, small files, spellings, limits; and which
 * file systems forget names.
 */
#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/options.h"
#include "tests/lib/tap.h"

#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
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

/* Bytes of an arena in which so many are left. */
static void
take(const void *with)
{
	static struct arena arena;
	const struct join *wanted = with;
	char *taken;

	arena.used = ARENA_SIZE - wanted->free;
	taken = arena_take(&arena, 3, strlen(wanted->text));
	if (taken + 3 * strlen(wanted->text) > arena.bytes + ARENA_SIZE)
		_exit(1);
}

static void
take_all(const void *with)
{
	static struct arena arena;

	(void)with;
	arena_take(&arena, SIZE_MAX / 8 + 2, 8);
}

static void
arenas(struct tap *tap)
{
	static const struct {
		struct join wanted;
		bool taken;
	} cases[] = {
		{ { 24, "12345678" }, true },
		{ { 23, "12345678" }, false },
		{ { 16, "12345678" }, false },
		{ { 3, "1" }, false },
		{ { 3, "" }, true },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		tap_ok(tap,
		    status_of(take, &cases[i].wanted) ==
			(cases[i].taken ? 0 : EXIT_REFUSED),
		    "three times %zu bytes of %u", strlen(cases[i].wanted.text),
		    (unsigned)cases[i].wanted.free);
	tap_ok(tap, status_of(take_all, NULL) == EXIT_REFUSED,
	    "more bytes than a number tells");
}

/* A path of so many bytes, of which the arena has enough. */
static void
join_long(const void *with)
{
	static struct arena arena;
	static char name[SBX_MAX_PATH + 1];
	const uint32_t *len = with;

	memset(name, 'a', sizeof name);
	arena_join(&arena, (struct sbx_place){ "/", 1 },
	    (struct sbx_place){ name, *len - 1 });
	if (arena.used != *len + 1)
		_exit(1);
}

static void
paths(struct tap *tap)
{
	static const uint32_t longest = SBX_MAX_PATH, longer = SBX_MAX_PATH + 1;
	struct join fits = { 4, "/ab" }, lacks = { 3, "/ab" };
	static struct path path;
	static char name[SBX_MAX_PATH];

	tap_ok(tap, status_of(join, &fits) == 0, "the last bytes of the arena");
	tap_ok(tap, status_of(join, &lacks) == EXIT_REFUSED,
	    "one byte more than there is");
	tap_ok(tap, status_of(join_long, &longest) == 0,
	    "the longest path in the arena");
	tap_ok(tap, status_of(join_long, &longer) == EXIT_REFUSED,
	    "a longer one");
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

/* Whether standard streams are there, or this one is the null device. */
static bool
is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static bool
is_null(int fd)
{
	struct stat status, null;

	return fstat(fd, &status) == 0 && stat("/dev/null", &null) == 0 &&
	    status.st_rdev == null.st_rdev && S_ISCHR(status.st_mode);
}

/* With it which are closed. */
static void
fill(const void *with)
{
	for (const char *fd = with; *fd != '\0'; fd++)
		close(*fd - '0');
	fill_standard();
	for (int fd = 0; fd <= STDERR_FILENO; fd++) {
		if (!is_open(fd))
			_exit(fd + 1);
	}
	for (const char *fd = with; *fd != '\0'; fd++) {
		if (!is_null(*fd - '0'))
			_exit(9);
	}
	if (strchr(with, '0') == NULL && is_null(0))
		_exit(10);
}

/* Standard input is what no caller has there. */
static void
fill_all(const void *with)
{
	int ends[2];

	if (pipe(ends) != 0 || dup2(ends[0], 0) != 0 || dup2(ends[1], 1) != 1 ||
	    dup2(ends[1], 2) != 2)
		_exit(99);
	fill(with);
}

static void
leave(const void *with)
{
	char here[64];
	int ends[2], next;

	(void)with;
	if (pipe(ends) != 0 || dup2(ends[0], 0) != 0 || dup2(ends[1], 1) != 1 ||
	    dup2(ends[1], 2) != 2 || chdir("/proc") != 0)
		_exit(99);
	next = dup(0);
	close(next);
	leave_caller();
	for (int fd = 0; fd <= STDERR_FILENO; fd++) {
		if (!is_null(fd))
			_exit(fd + 1);
	}
	if (getcwd(here, sizeof here) == NULL || strcmp(here, "/") != 0)
		_exit(4);
	if (is_open(next))
		_exit(5);
}

static void
raise_files(const void *with)
{
	struct rlimit limit;

	(void)with;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		_exit(99);
	limit.rlim_cur = 16;
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		_exit(99);
	raise_open_files();
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
	    limit.rlim_cur != limit.rlim_max)
		_exit(1);
}

static void
streams(struct tap *tap)
{
	static const char *const closed[] = { "", "0", "1", "2", "01", "02",
		"12", "012" };

	for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
		tap_ok(tap, status_of(fill_all, closed[i]) == 0,
		    "streams that are closed: '%s'", closed[i]);
	tap_ok(tap, status_of(leave, NULL) == 0,
	    "the caller's streams and directory are given up");
	tap_ok(tap, status_of(raise_files, NULL) == 0,
	    "as many open files as there may be");
}

/* --- small files ---------------------------------------------------------- */

static void
small_files(struct tap *tap)
{
	char place[] = "/tmp/sbx-XXXXXX", text[8], link[DESCRIPTOR_PATH_SIZE];
	int directory = -1, before;

	if (mkdtemp(place) != NULL)
		directory = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	tap_must(directory >= 0, place);
	before = tap_descriptors();
	errno = 0;
	tap_ok(tap, !file_write(directory, "file", "a") && errno == ENOENT,
	    "a file that is not there is not written");
	tap_ok(tap,
	    !file_read(directory, "file", text, sizeof text) && *text == '\0',
	    "nor read");
	close(openat(directory, "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	tap_ok(tap,
	    file_read(directory, "file", text, sizeof text) && *text == '\0',
	    "an empty file is read");
	tap_ok(tap,
	    file_write(directory, "file", "1234567") &&
		file_read(directory, "file", text, sizeof text) &&
		strcmp(text, "1234567") == 0,
	    "a file that fills the buffer");
	tap_ok(tap,
	    file_write(directory, "file", "abcdefghi") &&
		file_read(directory, "file", text, sizeof text) &&
		strcmp(text, "abcdefg") == 0,
	    "one that is longer");
	tap_ok(tap,
	    !file_read(directory, ".", text, sizeof text) && *text == '\0',
	    "a directory is not read");
	tap_ok(tap, tap_descriptors() == before, "none of them stays open");
	descriptor_path(link, 10);
	tap_ok(tap, strcmp(link, "/proc/self/fd/10") == 0,
	    "the name of a descriptor");
	unlinkat(directory, "file", 0);
	close(directory);
	rmdir(place);
}

/* --- names that are forgotten --------------------------------------------- */

/* The file system that the test pretends, or the error; and what was asked. */
static struct {
	unsigned long kind;
	int error;
	char path[64];
} pretended;

/* In place of that of libc. */
int
statfs(const char *path, struct statfs *status)
{
	snprintf(pretended.path, sizeof pretended.path, "%s", path);
	status->f_type = (__typeof__(status->f_type))pretended.kind;
	errno = pretended.error;
	return pretended.error == 0 ? 0 : -1;
}

static void
unsteady(struct tap *tap)
{
	static const struct {
		const char *name;
		unsigned long kind;
		int error;
		bool forgets;
	} cases[] = {
		{ "FUSE", 0x65735546, 0, true },
		{ "vboxsf", 0x786f4256, 0, true },
		{ "ceph", 0x00c36400, 0, true },
		{ "ext4", 0xef53, 0, false },
		{ "NFS", 0x6969, 0, false },
		{ "SMB", 0xfe534d42, 0, false },
		{ "9p", 0x01021997, 0, false },
		{ "nothing is there", 0, ENOENT, false },
		{ "it is a file", 0, ENOTDIR, false },
		{ "it is shut", 0, EACCES, false },
		{ "a server that is gone", 0, ESTALE, true },
		{ "a server that is away", 0, ENOTCONN, true },
		{ "an error", 0, EIO, true },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		pretended.kind = cases[i].kind;
		pretended.error = cases[i].error;
		tap_ok(tap,
		    unsteady_place(place_of("/a/b")) == cases[i].forgets &&
			strcmp(pretended.path, "/a/") == 0,
		    "who forgets a name: %s", cases[i].name);
	}
	pretended.path[0] = '\0';
	tap_ok(tap, !unsteady_place(place_of("/")) && pretended.path[0] == '\0',
	    "the root directory is not asked for");
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
		{ "output=0", false },
		{ "output=9223372036854775807B", true },
		{ "output=9223372036854775808B", false },
		{ "timeout=0", false },
		{ "timeout=1", false },
		{ "timeout=1s", true },
		{ "timeout=2m", true },
		{ "timeout=3h", true },
		{ "timeout=3d", false },
		{ "timeout=1KiB", false },
		{ "timeout=none", true },
		{ "timeout=", false },
		{ "timeout", false },
		{ "time=1s", false },
		{ "timeouts=1s", false },
		{ "processes=9s", false },
		{ "core=0s", false },
		{ "core=1", false },
		{ "core=1KiB", true },
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

	arenas(&tap);
	paths(&tap);
	names(&tap);
	digests(&tap);
	descriptors(&tap);
	streams(&tap);
	small_files(&tap);
	unsteady(&tap);
	limits(&tap);
	return tap_done(&tap);
}
