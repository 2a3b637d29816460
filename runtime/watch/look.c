/*
 * What is there now at a place that a policy watches, name by name.
 *
 * Two looks are compared by type, inode, size, mode and time of change (ctime).
 * The kernel sets that time at each write, chmod, link and rename, and nobody
 * can set it back but by setting the clock of the machine, which takes
 * CAP_SYS_TIME.  So nothing has to be read, but for settings of git.
 *
 * Of the first names of a large tree each is kept; what the others are goes into
 * one number, so that a change among them is seen though not where it is.
 */
#include "runtime/watch/tripwire.h"

#include "format/model.h"
#include "runtime/base/files.h"
#include "runtime/base/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* From linux/fs.h, which musl does not come with. */
#define FS_IOC_GETFLAGS _IOR('f', 1, long)
#define FS_CASEFOLD_FL 0x40000000

/* --- from where ----------------------------------------------------------- */

/* Each name that is made or removed in a directory of one of these sets its
 * time of change (ctime), from this kernel's clock. */
static bool
keeps_time(int fd)
{
	static const uint32_t types[] = {
		0xef53,     /* ext4 */
		0x58465342, /* XFS */
		0x9123683e, /* btrfs */
		0x01021994, /* tmpfs */
		0xf2f52010, /* F2FS */
	};
	struct statfs status;

	if (fstatfs(fd, &status) != 0)
		return false;
	for (size_t i = 0; i < countof(types); i++) {
		if ((uint32_t)status.f_type == types[i])
			return true;
	}
	return false;
}

void
look_begin(struct look_from *from, struct sbx_place directory)
{
	/* Seconds: a change soon after another one may have the same time. */
	enum { SETTLED = 3 };
	/* To read a larger one takes longer than to look for the names. */
	enum { LIST_SIZE = 8192 };
	struct timespec now;
	struct stat status;
	int fd = openat(AT_FDCWD, path_of(directory),
	    O_PATH | O_DIRECTORY | O_CLOEXEC);

	*from = (struct look_from){ .len = directory.len,
		.fd = fd,
		.opened = true };
	if (fd < 0) {
		/* What else it may be, the look at each place says. */
		from->error = errno == ENOENT ? errno : 0;
		return;
	}
	if (fstat(fd, &status) != 0 || !keeps_time(fd))
		return;
	from->small = status.st_size <= LIST_SIZE;
	time_now(CLOCK_REALTIME, &now);
	from->settled = now.tv_sec - status.st_ctim.tv_sec > SETTLED;
	from->device = status.st_dev;
	from->inode = status.st_ino;
	from->changed = status.st_ctim;
}

void
look_end(struct look_from *from)
{
	if (from->opened && from->fd >= 0)
		close(from->fd);
}

bool
look_is_same(const struct look_from *before, const struct look_from *now)
{
	return before->settled && before->device == now->device &&
	    before->inode == now->inode &&
	    before->changed.tv_sec == now->changed.tv_sec &&
	    before->changed.tv_nsec == now->changed.tv_nsec;
}

/* The bit of a name, whose letters count as small ones: in some directories both
 * are the same. */
static uint32_t
name_bit(const char *name, size_t len)
{
	uint32_t hash = 2166136261;

	for (; len > 0; len--, name++) {
		uint8_t byte = (uint8_t)*name;

		if (byte >= 'A' && byte <= 'Z')
			byte |= 0x20;
		hash = (hash ^ byte) * 16777619;
	}
	return (hash ^ hash >> 16) % LOOK_NAMES;
}

static bool
is_ascii(const char *name)
{
	while (*name != '\0' && (uint8_t)*name < 0x80)
		name++;
	return *name == '\0';
}

/* Whether other letters may be the same in there, too: then it is not known
 * which. */
static bool
folds(int fd)
{
	int flags = 0;

	return ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0 ||
	    (flags & FS_CASEFOLD_FL) != 0;
}

static void
list_names(struct look_from *from)
{
	int fd = openat(from->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct directory directory;
	const struct entry *entry;

	from->small = false;
	if (fd < 0)
		return;
	directory_begin(&directory, fd);
	while ((entry = directory_next(&directory)) != NULL &&
	    (is_ascii(entry->name) || !folds(fd))) {
		uint32_t bit = name_bit(entry->name, strlen(entry->name));

		from->names[bit / 64] |= (uint64_t)1 << bit % 64;
	}
	from->listed = entry == NULL && directory.len == 0;
	close(fd);
}

void
look_keep_names(const struct look_from *before, struct look_from *now)
{
	if (!before->listed || now->listed || !look_is_same(before, now))
		return;
	memcpy(now->names, before->names, sizeof now->names);
	now->listed = true;
	now->small = false;
}

bool
look_lacks(const struct look_from *from, struct sbx_place place)
{
	const char *name;
	uint32_t bit;

	if (!from->listed || place.len <= from->len)
		return false;
	name = place.path + from->len + 1;
	bit = name_bit(name, strcspn(name, "/"));
	return (from->names[bit / 64] >> bit % 64 & 1) == 0;
}

/* --- what is there -------------------------------------------------------- */

/* A look in the making. */
struct looking {
	struct arena *arena;
	struct sight *sight;
	struct look_from *from;
	uint64_t key;
	struct timespec until;
	struct sbx_place at; /* what all paths begin with */
	struct path path;
	struct seen more; /* a name that is not kept */
	bool samples;     /* hooks that git does not run are passed over */
	bool other;
};

/* The directory that a name is looked up in: -1 is that of the look. */
enum { FROM_ABOVE = -1 };

static bool
is_lacking(const struct looking *looking)
{
	enum { ASKED_FEW = 2 };
	struct look_from *from = looking->from;

	if (from->small && ++from->asked > ASKED_FEW)
		list_names(from);
	return look_lacks(from,
	    (struct sbx_place){ looking->path.text, looking->path.len });
}

static bool
look_at(const struct looking *looking, int directory, const char *name,
    struct stat *status)
{
	const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
	const struct look_from *from = looking->from;
	const struct path *path = &looking->path;

	if (directory != FROM_ABOVE)
		return fstatat(directory, name, status, flags) == 0;
	if (from->error != 0) {
		errno = from->error;
		return false;
	}
	if (is_lacking(looking)) {
		errno = ENOENT;
		return false;
	}
	if (from->fd >= 0 && path->len > from->len)
		return fstatat(from->fd, path->text + from->len + 1, status,
			   flags) == 0;
	return fstatat(AT_FDCWD, path->len > 0 ? path->text : "/", status,
		   flags) == 0;
}

static uint64_t
mixed(uint64_t sum, uint64_t more)
{
	sum = (sum ^ more) * 0x9e3779b97f4a7c15;
	return sum ^ sum >> 29;
}

/* The order of names in a directory does not matter to a sum.  Of a directory
 * matters that it is one. */
static void
add_to_sum(struct looking *looking, const struct seen *seen)
{
	const struct path *path = &looking->path;
	uint64_t sum = mixed(looking->key, seen->mode & S_IFMT);

	sum = mixed(sum, (uint64_t)seen->error);
	for (uint32_t i = looking->at.len; i < path->len; i++)
		sum = mixed(sum, (unsigned char)path->text[i]);
	if (!S_ISDIR(seen->mode)) {
		sum = mixed(sum, seen->mode);
		sum = mixed(sum, seen->device);
		sum = mixed(sum, seen->inode);
		sum = mixed(sum, seen->size);
		sum = mixed(sum, seen->changed);
	}
	looking->sight->sum += sum;
}

static struct seen *
seen_new(struct looking *looking)
{
	struct sight *sight = looking->sight;
	struct seen *seen;

	/* A command may have made long names, to take all the memory there is. */
	sight->bytes += (uint32_t)sizeof *seen + looking->path.len;
	if (sight->count == LOOK_MAX_NAMES || sight->bytes > LOOK_MAX_BYTES) {
		sight->more = true;
		looking->more = (struct seen){ .next = NULL };
		return &looking->more;
	}
	seen = arena_take(looking->arena, 1, sizeof *seen);
	seen->at = looking->path.len == looking->at.len ?
	    looking->at :
	    arena_copy(looking->arena,
		(struct sbx_place){ looking->path.text, looking->path.len });
	*sight->end = seen;
	sight->end = &seen->next;
	sight->count++;
	return seen;
}

bool
look_is_late(const struct timespec *until)
{
	struct timespec now;

	if (until->tv_sec == 0)
		return false;
	clock_now(&now);
	return now.tv_sec > until->tv_sec ||
	    (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec);
}

/* Whether there is no room for a name more, or no time: a file system may be slow. */
static bool
is_full(const struct looking *looking)
{
	enum { NOW_AND_THEN = 64 };
	uint32_t all = looking->sight->all;

	return all >= LOOK_MAX_ALL ||
	    (all % NOW_AND_THEN == NOW_AND_THEN - 1 &&
		look_is_late(&looking->until));
}

/* Notes what is at the path; NULL if there are too many already. */
static struct seen *
note(struct looking *looking, int directory, const char *name, uint8_t part)
{
	struct sight *sight = looking->sight;
	struct stat status;
	struct seen *seen;

	if (is_full(looking)) {
		sight->cut = true;
		return NULL;
	}
	seen = seen_new(looking);
	seen->part = part;
	seen->other = looking->other;
	if (look_at(looking, directory, name, &status)) {
		seen->device = status.st_dev;
		seen->inode = status.st_ino;
		seen->size = (uint64_t)status.st_size;
		seen->mode = status.st_mode;
		seen->changed = (uint64_t)status.st_ctim.tv_sec * 1000000000 +
		    (uint64_t)status.st_ctim.tv_nsec;
	} else {
		seen->error = errno;
	}
	sight->all++;
	add_to_sum(looking, seen);
	return seen;
}

static bool
is_directory(const struct seen *seen)
{
	return seen != NULL && seen->error == 0 && S_ISDIR(seen->mode);
}

static void look_name(struct looking *looking, int directory, const char *name,
    uint8_t part, unsigned depth);

static int
open_directory(int directory, const char *name)
{
	return openat(directory == FROM_ABOVE ? AT_FDCWD : directory, name,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* The entries of a directory, which was just noted. */
static void
look_into(struct looking *looking, struct seen *seen, int above,
    const char *name, unsigned depth)
{
	struct directory directory;
	const struct entry *entry;
	int fd = open_directory(above,
	    above != FROM_ABOVE       ? name :
		looking->path.len > 0 ? looking->path.text :
					"/");

	if (fd < 0) {
		seen->error = errno;
		looking->sight->sum++;
		looking->sight->shut = true;
		return;
	}
	directory_begin(&directory, fd);
	while (!looking->sight->cut &&
	    (entry = directory_next(&directory)) != NULL) {
		if (!looking->samples ||
		    !sbx_git_is_sample(entry->name, strlen(entry->name)))
			look_name(looking, fd, entry->name, SBX_GIT_FILE,
			    depth + 1);
	}
	if (directory.len < 0)
		seen->error = errno;
	close(fd);
}

/* A name in the directory of the path, or "" for that itself, and its tree. */
static void
look_name(struct looking *looking, int directory, const char *name,
    uint8_t part, unsigned depth)
{
	uint32_t len = looking->path.len;
	struct seen *seen;

	if (*name != '\0' && !path_push(&looking->path, name, strlen(name))) {
		looking->sight->cut = true;
		return;
	}
	seen = note(looking, directory, name, part);
	if (is_directory(seen)) {
		if (depth == LOOK_MAX_DEPTH)
			looking->sight->cut = true;
		else
			look_into(looking, seen, directory, name, depth);
	}
	path_cut(&looking->path, len);
}

/* --- patterns ------------------------------------------------------------- */

static void look_matches(struct looking *looking, const struct sbx_glob *glob,
    int fd, uint64_t states, unsigned depth);

static void
look_entry(struct looking *looking, const struct sbx_glob *glob, int above,
    const char *name, uint64_t states, unsigned depth)
{
	uint32_t len = looking->path.len;
	int fd;

	states = sbx_glob_step(glob, states, name, strlen(name));
	if (sbx_glob_matches(glob, states)) {
		look_name(looking, above, name, SBX_GIT_FILE, depth);
		return;
	}
	if (states == 0 || !path_push(&looking->path, name, strlen(name)))
		return;
	if (depth == LOOK_MAX_DEPTH) {
		looking->sight->cut = true;
	} else {
		fd = open_directory(above, name);
		look_matches(looking, glob, fd, states, depth + 1);
	}
	path_cut(&looking->path, len);
}

/* What matches in a directory, which is closed. */
static void
look_matches(struct looking *looking, const struct sbx_glob *glob, int fd,
    uint64_t states, unsigned depth)
{
	struct directory directory;
	const struct entry *entry;

	if (fd < 0) {
		looking->sight->shut |= errno != ENOENT && errno != ENOTDIR &&
		    errno != ELOOP;
		return;
	}
	directory_begin(&directory, fd);
	while (!looking->sight->cut &&
	    (entry = directory_next(&directory)) != NULL) {
		/* What is passed over takes time, too. */
		looking->sight->cut |= is_full(looking);
		looking->sight->all++;
		look_entry(looking, glob, fd, entry->name, states, depth);
	}
	close(fd);
}

static void
look_pattern(struct looking *looking, const char *pattern)
{
	struct sbx_glob glob;
	const char *path = looking->path.text;
	int fd;

	if (!sbx_glob_parse(pattern, &glob) || is_lacking(looking))
		return;
	fd = openat(AT_FDCWD, looking->path.len > 0 ? path : "/",
	    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	look_matches(looking, &glob, fd, sbx_glob_start(&glob), 0);
}

/* --- git ------------------------------------------------------------------ */

/* Whether each line is empty or a comment. */
static bool
says_nothing(struct looking *looking, const struct seen *seen)
{
	const char *text = look_settings(looking->arena, seen);

	while (text != NULL && *text != '\0') {
		text += strspn(text, " \t\r\n");
		if (*text != '#' && *text != '\0')
			return false;
		text += strcspn(text, "\n");
	}
	return text != NULL;
}

static void
look_git_directory(struct looking *looking)
{
	for (int i = 0; i < SBX_GIT_NAMES; i++) {
		const struct sbx_git_name *name = &sbx_git_names[i];
		struct seen **end = looking->sight->end;

		looking->samples = name->part == SBX_GIT_HOOKS;
		look_name(looking, FROM_ABOVE, name->name + 1, name->part, 0);
		/* As `git init` makes it. */
		if (name->part == SBX_GIT_LINES && *end != NULL &&
		    says_nothing(looking, *end))
			(*end)->error = ENOENT;
	}
	looking->samples = false;
}

/* Whether something is there, in the directory of the path. */
static bool
has(struct looking *looking, const char *name)
{
	uint32_t len = looking->path.len;
	struct stat status;
	bool found = path_push(&looking->path, name, strlen(name)) &&
	    look_at(looking, FROM_ABOVE, NULL, &status);

	path_cut(&looking->path, len);
	return found;
}

/* Where a repository keeps what is of no other one. */
static bool
is_inner(const char *name)
{
	static const char *const names[] = { "objects", "refs", "logs", "info",
		"hooks" };

	for (size_t i = 0; i < countof(names); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

static void look_others(struct looking *looking, const char *name,
    unsigned depth);

/* What lies in the directory of the path: a repository, or more of them. */
static void
look_other(struct looking *looking, int fd, unsigned depth)
{
	struct directory directory;
	const struct entry *entry;
	bool repository = has(looking, "HEAD");

	directory_begin(&directory, fd);
	while (!looking->sight->cut &&
	    (entry = directory_next(&directory)) != NULL) {
		if ((entry->type == ENTRY_DIRECTORY ||
			entry->type == ENTRY_UNKNOWN) &&
		    (!repository || !is_inner(entry->name)))
			look_others(looking, entry->name, depth + 1);
	}
}

/* The git directories that lie in a directory of this one, at any depth. */
static void
look_others(struct looking *looking, const char *name, unsigned depth)
{
	uint32_t len = looking->path.len;
	int fd = -1;

	if (path_push(&looking->path, name, strlen(name)))
		fd = open_directory(FROM_ABOVE, looking->path.text);
	if (fd >= 0) {
		if (depth > 0)
			look_git_directory(looking);
		if (depth < LOOK_MAX_DEPTH)
			look_other(looking, fd, depth);
		else
			looking->sight->cut = true;
		close(fd);
	}
	path_cut(&looking->path, len);
}

static void
look_repository(struct looking *looking, bool itself)
{
	if (!is_directory(note(looking, FROM_ABOVE, NULL, SBX_GIT_FILE)))
		return;
	/* In that of a submodule core.worktree leads back to the workspace. */
	looking->other = itself &&
	    strstr(looking->path.text, "/modules/") != NULL;
	look_git_directory(looking);
	looking->other = true;
	for (int i = 0; i < SBX_GIT_OTHERS; i++)
		look_others(looking, sbx_git_others[i] + 1, 0);
	looking->other = false;
}

/* Where there is no `.git`, git takes the directory itself for a repository if
 * it has what one has. */
static void
look_bare(struct looking *looking)
{
	if (!has(looking, "HEAD") ||
	    (!has(looking, "commondir") &&
		(!has(looking, "objects") || !has(looking, "refs"))))
		return;
	look_name(looking, FROM_ABOVE, "HEAD", SBX_GIT_HEAD, 0);
	look_git_directory(looking);
}

static void
look_git(struct looking *looking, bool itself)
{
	uint32_t len = looking->path.len;

	if (itself || path_push(&looking->path, ".git", 4))
		look_repository(looking, itself);
	path_cut(&looking->path, len);
	if (!itself)
		look_bare(looking);
}

/* -------------------------------------------------------------------------- */

void
look(struct arena *arena, const struct look_at *what, struct look_from *from,
    struct sight *sight)
{
	struct looking looking;

	/* Not all of it: most is room for a path. */
	looking.arena = arena;
	looking.sight = sight;
	looking.from = from;
	looking.key = what->key;
	looking.until = what->until;
	looking.at = what->at;
	looking.samples = looking.other = false;
	*sight = (struct sight){ .first = NULL };
	sight->end = &sight->first;
	memcpy(looking.path.text, what->at.path, what->at.len);
	path_cut(&looking.path, what->at.len);
	if (*what->pattern != '\0')
		look_pattern(&looking, what->pattern);
	else if (what->form == SBX_WATCH_GIT ||
	    what->form == LOOK_GIT_DIRECTORY)
		look_git(&looking, what->form == LOOK_GIT_DIRECTORY);
	else
		look_name(&looking, FROM_ABOVE, "",
		    what->form == LOOK_SETTINGS ? SBX_GIT_SETTINGS :
						  SBX_GIT_FILE,
		    0);
}

/* What was a file may be something else by now. */
static int
open_regular(struct sbx_place at, struct stat *status)
{
	int fd = openat(AT_FDCWD, path_of(at),
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0 || (fstat(fd, status) == 0 && S_ISREG(status->st_mode)))
		return fd;
	close(fd);
	return -1;
}

int
look_open(const struct seen *seen, struct stat *status)
{
	return seen->error != 0 ? -1 : open_regular(seen->at, status);
}

const char *
look_settings(struct arena *arena, const struct seen *seen)
{
	struct stat status;
	size_t used = 0;
	ssize_t len = 1;
	char *text;
	int fd;

	if (seen->error != 0 || !S_ISREG(seen->mode) ||
	    seen->size > LOOK_MAX_SETTINGS)
		return NULL;
	fd = open_regular(seen->at, &status);
	if (fd < 0)
		return NULL;
	text = arena_take(arena, seen->size + 1, 1);
	while (len > 0 && used < seen->size) {
		len = read(fd, text + used, seen->size - used);
		if (len > 0)
			used += (size_t)len;
	}
	close(fd);
	if (len < 0 || used < seen->size || memchr(text, '\0', used) != NULL)
		return NULL;
	return text;
}
