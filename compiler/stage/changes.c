/*
 * The walk: both layers of a stage side by side, by open directories.
 *
 * In the upper layer a device 0:0 says that the name is gone, and an attribute of a
 * directory that nothing below it is seen (overlayfs of the kernel's
 * documentation, "whiteouts and opaque directories").  Commands cannot write
 * either of them.  A file is copied up whole before it is opened for writing, so
 * what is the same in both layers was only opened, or changed back.
 */
#include "compiler/stage/stage.h"

#include "format/model.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

enum {
	DEPTH_MAX = 256, /* of directories: two are open for each */
	DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
};

/* --- directories ---------------------------------------------------------- */

void
stage_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

DIR *
stage_list(int directory, const char *name)
{
	int fd = openat(directory, name, DIRECTORY);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);

	if (stream == NULL)
		stage_close(fd);
	return stream;
}

const struct dirent *
stage_next(DIR *stream)
{
	const struct dirent *entry;

	do
		entry = readdir(stream);
	while (entry != NULL &&
	    (strcmp(entry->d_name, ".") == 0 ||
		strcmp(entry->d_name, "..") == 0));
	return entry;
}

/* --- reading a stage ------------------------------------------------------ */

char *
stage_read_file(struct arena *arena, int directory, const char *name,
    size_t *size)
{
	int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;
	char *text = NULL;

	*size = 0;
	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
		ssize_t len;

		text = arena_alloc(arena, (size_t)status.st_size + 1);
		len = input_read(fd, text, (size_t)status.st_size);
		*size = len < 0 ? 0 : (size_t)len;
	}
	stage_close(fd);
	return text;
}

static void
read_watches(struct stage *stage)
{
	size_t size;
	const char *text = stage_read_file(stage->arena, stage->directory,
	    "watched", &size);
	const char *end = text + size;

	while (text != NULL && text < end) {
		struct stage_watch watch = { .form = *text, .path = text + 1 };

		text += strlen(watch.path) + 2;
		if (text > end)
			break;
		watch.pattern = text;
		text += strlen(text) + 1;
		*arena_push(stage->arena, &stage->watches) = watch;
	}
}

bool
stage_load(struct stage *stage, struct arena *arena, const char *name,
    int directory, int workspace)
{
	struct stat status;
	size_t size;
	const char *about = stage_read_file(arena, directory, "about", &size);

	*stage = (struct stage){
		.arena = arena,
		.name = name,
		.directory = directory,
		.workspace = workspace,
		.upper = openat(directory, "upper", DIRECTORY),
	};
	if (about == NULL || size <= sizeof stage->about ||
	    memcmp(about, SBX_STAGE_MAGIC, sizeof stage->about.magic) != 0) {
		complain("stage '%s' is damaged: sbxrun --staged=%s discard "
			 "removes it",
		    name, name);
		return false;
	}
	memcpy(&stage->about, about, sizeof stage->about);
	stage->path = about + sizeof stage->about;
	if (workspace >= 0 &&
	    (fstat(workspace, &status) != 0 ||
		status.st_dev != stage->about.device ||
		status.st_ino != stage->about.inode))
		stage->workspace = -1;
	read_watches(stage);
	return true;
}

/* --- watched places ------------------------------------------------------- */

static struct sbx_place
place(const char *path)
{
	return (struct sbx_place){ path, (uint32_t)strlen(path) };
}

const struct stage_watch *
stage_watched(const struct stage *stage, const char *path)
{
	const char *whole = arena_printf(stage->arena, "%s/%s", stage->path,
	    path);

	for (size_t i = 0; i < stage->watches.count; i++) {
		const struct stage_watch *watch = &stage->watches.items[i];
		const struct sbx_watch rule = {
			.form = watch->form == SBX_STAGE_GIT ? SBX_WATCH_GIT :
							       SBX_WATCH_TREE,
		};

		if (sbx_watch_covers(&rule, watch->pattern, place(watch->path),
			place(whole)))
			return watch;
	}
	return NULL;
}

/* Whether something that is watched lies in a directory, or would where there is
 * a link now: in a repository git itself makes none. */
static bool
holds_watched(const struct stage *stage, const char *path, bool link)
{
	const char *whole = arena_printf(stage->arena, "%s/%s", stage->path,
	    path);

	for (size_t i = 0; i < stage->watches.count; i++) {
		const struct stage_watch *watch = &stage->watches.items[i];

		if (sbx_covers(place(whole), place(watch->path)) &&
		    strcmp(watch->path, stage->path) != 0)
			return true;
		if (link && watch->form == SBX_STAGE_GIT &&
		    path_lies_in(whole,
			arena_printf(stage->arena, "%s/.git", watch->path)))
			return true;
	}
	return false;
}

int
stage_open_parent(int top, const char *path)
{
	char name[NAME_MAX + 1];
	int fd = fcntl(top, F_DUPFD_CLOEXEC, 0);
	const char *slash;

	while (fd >= 0 && (slash = strchr(path, '/')) != NULL) {
		size_t len = (size_t)(slash - path);
		int next = -1;

		if (len <= NAME_MAX) {
			memcpy(name, path, len);
			name[len] = '\0';
			next = openat(fd, name, DIRECTORY);
		}
		close(fd);
		fd = next;
		path = slash + 1;
	}
	return fd;
}

/* --- what differs --------------------------------------------------------- */

bool
stage_same_bytes(int a, int b)
{
	static char bytes[2][64 << 10];
	ssize_t len[2];
	off_t at = 0;

	do {
		len[0] = pread(a, bytes[0], sizeof bytes[0], at);
		len[1] = pread(b, bytes[1], sizeof bytes[1], at);
		if (len[0] < 0 || len[0] != len[1] ||
		    memcmp(bytes[0], bytes[1], (size_t)len[0]) != 0)
			return false;
		at += len[0];
	} while (len[0] > 0);
	return true;
}

static bool
same_file(const struct stage_change *change)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	int a, b;
	bool same;

	if (change->new.st_size != change->old.st_size)
		return false;
	a = openat(change->upper, change->name, flags);
	b = openat(change->lower, change->name, flags);
	same = a >= 0 && b >= 0 && stage_same_bytes(a, b);
	stage_close(a);
	stage_close(b);
	return same;
}

static bool
same_link(const struct stage_change *change)
{
	char a[SBX_MAX_PATH + 1], b[SBX_MAX_PATH + 1];
	ssize_t len = readlinkat(change->upper, change->name, a, sizeof a);

	return len >= 0 &&
	    readlinkat(change->lower, change->name, b, sizeof b) == len &&
	    memcmp(a, b, (size_t)len) == 0;
}

static bool
is_whiteout(const struct stat *status)
{
	return S_ISCHR(status->st_mode) && status->st_rdev == 0;
}

static bool
is_opaque(int directory)
{
	char value[2];

	return fgetxattr(directory, "user.overlay.opaque", value,
		   sizeof value) == 1 &&
	    value[0] == 'y';
}

/* --- the walk ------------------------------------------------------------- */

struct walk {
	const struct stage *stage;
	const struct stage_visitor *visitor;
	bool good;
};

struct names {
	VEC(const char *) list;
};

static int
compare_names(const void *a, const void *b)
{
	const char *const *left = a, *const *right = b;

	return strcmp(*left, *right);
}

static bool
list_names(struct walk *walk, int directory, const char *path,
    struct names *names)
{
	struct arena *arena = walk->stage->arena;
	DIR *stream = stage_list(directory, ".");
	const struct dirent *entry;

	if (stream == NULL) {
		complain("cannot read '%s': %s", path, strerror(errno));
		walk->good = false;
		return false;
	}
	while ((entry = stage_next(stream)) != NULL)
		*arena_push(arena, &names->list) = arena_strndup(arena,
		    entry->d_name, strlen(entry->d_name));
	closedir(stream);
	if (names->list.count > 1)
		qsort(names->list.items, names->list.count,
		    sizeof *names->list.items, compare_names);
	return true;
}

static uint64_t
count_files(int directory, const char *name, unsigned depth)
{
	DIR *stream = stage_list(directory, name);
	const struct dirent *entry;
	uint64_t count = 0;

	if (stream == NULL)
		return 0;
	while ((entry = stage_next(stream)) != NULL) {
		struct stat status;

		if (fstatat(dirfd(stream), entry->d_name, &status,
			AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (!S_ISDIR(status.st_mode))
			count++;
		else if (depth < DEPTH_MAX)
			count += count_files(dirfd(stream), entry->d_name,
			    depth + 1);
	}
	closedir(stream);
	return count;
}

static const char *
link_target(const struct walk *walk, const struct stage_change *change)
{
	char target[SBX_MAX_PATH + 1];
	ssize_t len = readlinkat(change->upper, change->name, target,
	    sizeof target);

	return arena_strndup(walk->stage->arena, target,
	    len > 0 ? (size_t)len : 0);
}

static void
visit(struct walk *walk, struct stage_change change,
    enum stage_change_kind kind)
{
	bool link = kind != STAGE_DELETED && S_ISLNK(change.new.st_mode);

	change.kind = kind;
	change.watched = stage_watched(walk->stage, change.path) != NULL ||
	    ((link || (kind == STAGE_DELETED && S_ISDIR(change.old.st_mode))) &&
		holds_watched(walk->stage, change.path, link));
	if (link)
		change.target = link_target(walk, &change);
	if (kind == STAGE_DELETED && S_ISDIR(change.old.st_mode))
		change.files = count_files(change.lower, change.name, 0);
	walk->visitor->visit(walk->visitor->context, &change);
}

static void walk_directory(struct walk *walk, int upper, int lower,
    const char *path, bool opaque, unsigned depth);

/* Who changes what is in a directory may have to be let in, and gives it its mode
 * when he leaves. */
static int
open_directory(const struct walk *walk, int parent, const char *name)
{
	int fd = openat(parent, name, DIRECTORY);
	struct stat status;

	if (walk->visitor->leave == NULL)
		return fd;
	if (fd < 0 && errno == EACCES &&
	    fchmodat(parent, name, 0700, AT_SYMLINK_NOFOLLOW) == 0)
		fd = openat(parent, name, DIRECTORY);
	if (fd >= 0 && fstat(fd, &status) == 0 &&
	    (status.st_mode & 0700) != 0700)
		(void)fchmod(fd, (status.st_mode & 0777) | 0700);
	return fd;
}

/* A directory of the upper layer. */
static void
walk_into(struct walk *walk, struct stage_change change, bool there,
    bool opaque, unsigned depth)
{
	bool merged = there && S_ISDIR(change.old.st_mode);
	int upper, lower;

	if (walk->visitor->meet != NULL)
		walk->visitor->meet(walk->visitor->context, &change);
	if (!merged && there)
		visit(walk, change, STAGE_DELETED);
	if (!merged)
		visit(walk, change, STAGE_ADDED);
	else if ((change.new.st_mode ^ change.old.st_mode) & 0777)
		visit(walk, change, STAGE_MODE);
	upper = open_directory(walk, change.upper, change.name);
	lower = change.lower < 0 ?
	    -1 :
	    open_directory(walk, change.lower, change.name);
	if (upper < 0 || depth == DEPTH_MAX) {
		complain("cannot look into '%s': %s", change.path,
		    upper < 0 ? strerror(errno) : "it lies too deep");
		walk->good = false;
	} else {
		opaque |= is_opaque(upper);
		if (opaque && walk->visitor->enter != NULL)
			opaque = !walk->visitor->enter(walk->visitor->context,
			    change.path, upper, lower);
		walk_directory(walk, upper, lower, change.path, opaque,
		    depth + 1);
		if (walk->visitor->leave != NULL)
			walk->visitor->leave(walk->visitor->context, &change);
	}
	stage_close(upper);
	stage_close(lower);
}

static void
walk_entry(struct walk *walk, struct stage_change change, bool opaque,
    unsigned depth)
{
	bool there = change.lower >= 0 &&
	    fstatat(change.lower, change.name, &change.old,
		AT_SYMLINK_NOFOLLOW) == 0;
	mode_t type;

	if (fstatat(change.upper, change.name, &change.new,
		AT_SYMLINK_NOFOLLOW) != 0) {
		complain("cannot look at '%s': %s", change.path,
		    strerror(errno));
		walk->good = false;
		return;
	}
	type = change.new.st_mode &S_IFMT;
	if (is_whiteout(&change.new)) {
		change.whiteout = true;
		visit(walk, change, there ? STAGE_DELETED : STAGE_SAME);
	} else if (type == S_IFDIR) {
		walk_into(walk, change, there, opaque, depth);
	} else if (type != S_IFREG && type != S_IFLNK) {
		visit(walk, change, STAGE_UNFIT);
	} else if (!there) {
		visit(walk, change, STAGE_ADDED);
	} else if ((change.old.st_mode & S_IFMT) != type) {
		visit(walk, change, STAGE_DELETED);
		visit(walk, change, STAGE_ADDED);
	} else {
		bool same = type == S_IFREG ? same_file(&change) :
					      same_link(&change);
		bool mode = type == S_IFREG &&
		    ((change.new.st_mode ^ change.old.st_mode) & 0777) != 0;

		visit(walk, change,
		    !same    ? STAGE_CHANGED :
			mode ? STAGE_MODE :
			       STAGE_SAME);
	}
}

static void
walk_directory(struct walk *walk, int upper, int lower, const char *path,
    bool opaque, unsigned depth)
{
	struct arena *arena = walk->stage->arena;
	struct names above = { 0 }, below = { 0 };
	size_t i = 0, j = 0;

	if (!list_names(walk, upper, *path != '\0' ? path : ".", &above))
		return;
	if (opaque && lower >= 0 &&
	    !list_names(walk, lower, *path != '\0' ? path : ".", &below))
		return;
	while (i < above.list.count || j < below.list.count) {
		int order = i == above.list.count ?
		    1 :
		    j == below.list.count ?
		    -1 :
		    strcmp(above.list.items[i], below.list.items[j]);
		const char *name = order <= 0 ? above.list.items[i] :
						below.list.items[j];
		struct stage_change change = {
			.name = name,
			.path = *path != '\0' ?
			    arena_printf(arena, "%s/%s", path, name) :
			    name,
			.upper = upper,
			.lower = lower,
		};

		i += order <= 0;
		j += order >= 0;
		if (order <= 0)
			walk_entry(walk, change, opaque, depth);
		else if (fstatat(lower, name, &change.old,
			     AT_SYMLINK_NOFOLLOW) == 0)
			visit(walk, change, STAGE_DELETED);
	}
}

bool
stage_walk(const struct stage *stage, const struct stage_visitor *visitor)
{
	struct walk walk = { stage, visitor, true };

	if (stage->upper >= 0)
		walk_directory(&walk, stage->upper, stage->workspace, "", false,
		    0);
	return walk.good;
}
