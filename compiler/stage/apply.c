/*
 * Applying a stage.
 *
 * The upper layer is its own journal: a change leaves it only when it is in the
 * workspace, and each is one rename(2) or unlink(2), or a directory that is filled
 * one entry after the other.  Who goes on after a kill finds what was done as
 * "the same in both layers".
 *
 * The lower tree must not change while it is one (overlayfs), but people work in
 * it.  What was changed there after the stage began, by its ctime, which no
 * program can set, may be what somebody wants to keep: it stays.  What an earlier
 * apply wrote has a later ctime as well, so that is noted in the stage ("applied").
 */
#include "compiler/stage/stage.h"

#include "format/model.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

/* An entry that an earlier apply has made. */
struct own {
	uint64_t device, inode;
	int64_t changed; /* nanoseconds of its ctime */
};

/* What a directory was before apply wrote in it: its times change by that, and its
 * mode where it could not be written. */
struct met {
	uint64_t inode;    /* in the upper layer */
	uint64_t new, old; /* modes; old: 0, it was not there */
	struct timespec times[2];
};

struct applying {
	const struct stage *stage;
	const char *const *paths;
	size_t count;
	bool force, good;
	int log;        /* the file "applied" */
	struct map own; /* of struct own */
	int links;      /* the file "linked" */
	/* Where the first of several names of a file was applied, by its inode in
	 * the upper layer. */
	struct map linked;
	VEC(const char *) firsts;
	int meetings; /* the file "met" */
	struct map met;
	VEC(struct met) directories;
	/* A name in the directory of what it becomes; only one is there at a time.
	 * It is the same for whoever goes on after a kill, and nobody's else. */
	char scratch[40];
	struct stage_applied *applied;
};

/* --- what may be applied -------------------------------------------------- */

static bool
is_wanted(const struct applying *applying, const char *path)
{
	for (size_t i = 0; i < applying->count; i++) {
		if (path_lies_in(path, applying->paths[i]))
			return true;
	}
	return applying->count == 0;
}

/* A directory is made for what is wanted in it. */
static bool
leads_to_wanted(const struct applying *applying, const char *path)
{
	for (size_t i = 0; i < applying->count; i++) {
		if (path_lies_in(applying->paths[i], path))
			return true;
	}
	return false;
}

/* Whether somebody has typed a name that stands for no more than what is watched:
 * itself, or a watched place around it; a repository holds much besides. */
static bool
is_named(const struct applying *applying, const char *path)
{
	for (size_t i = 0; i < applying->count; i++) {
		const char *given = applying->paths[i];
		const struct stage_watch *watch = path_lies_in(path, given) ?
		    stage_watched(applying->stage, given) :
		    NULL;

		if (strcmp(given, path) == 0 ||
		    (watch != NULL &&
			(watch->form == SBX_STAGE_TREE ||
			    strcmp(path_name(given), ".git") != 0)))
			return true;
	}
	return false;
}

static int64_t
changed_at(const struct stat *status)
{
	return (int64_t)status->st_ctim.tv_sec * 1000000000 +
	    status->st_ctim.tv_nsec;
}

static bool
is_own(const struct applying *applying, const struct stat *status)
{
	const struct own own = { status->st_dev, status->st_ino,
		changed_at(status) };

	return map_number_find(&applying->own, &own, sizeof own) != SIZE_MAX;
}

static bool
is_later(const struct applying *applying, const struct stat *status)
{
	return !S_ISDIR(status->st_mode) &&
	    changed_at(status) > applying->stage->about.begun &&
	    !is_own(applying, status);
}

/* Whether something in a directory was changed later; one that cannot be read may
 * hold anything. */
static bool
holds_later(const struct applying *applying, int directory, const char *name)
{
	DIR *stream = stage_list(directory, name);
	const struct dirent *entry;
	bool later = stream == NULL;

	while (!later && (entry = stage_next(stream)) != NULL) {
		struct stat status;

		later = fstatat(dirfd(stream), entry->d_name, &status,
			    AT_SYMLINK_NOFOLLOW) != 0 ||
		    is_later(applying, &status) ||
		    (S_ISDIR(status.st_mode) &&
			holds_later(applying, dirfd(stream), entry->d_name));
	}
	if (stream != NULL)
		closedir(stream);
	return later;
}

/* Why a change is not applied, or NULL. */
static const char *
obstacle(const struct applying *applying, const struct stage_change *change)
{
	struct stat now;

	if (change->kind == STAGE_UNFIT)
		return "a device, a FIFO or a socket is never applied";
	if (change->watched && !is_named(applying, change->path))
		return "the policy watches it: name it to apply it";
	if (change->lower < 0)
		return "the directory that holds it was not applied";
	if (applying->force ||
	    fstatat(change->lower, change->name, &now, AT_SYMLINK_NOFOLLOW) !=
		0)
		return NULL;
	if (is_later(applying, &now) ||
	    (S_ISDIR(now.st_mode) && change->kind == STAGE_DELETED &&
		holds_later(applying, change->lower, change->name)))
		return "it was changed in the workspace meanwhile: --force "
		       "replaces that";
	return NULL;
}

/* --- doing it ------------------------------------------------------------- */

bool
stage_remove(int directory, const char *name)
{
	DIR *stream;
	const struct dirent *entry;
	bool good = true;

	if (unlinkat(directory, name, 0) == 0 ||
	    (errno != EISDIR && errno != EPERM))
		return errno == ENOENT ||
		    faccessat(directory, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
	if (unlinkat(directory, name, AT_REMOVEDIR) == 0)
		return true;
	/* One that its owner may not read or change is removed, too. */
	stream = stage_list(directory, name);
	if (stream == NULL && errno == EACCES &&
	    fchmodat(directory, name, 0700, AT_SYMLINK_NOFOLLOW) == 0)
		stream = stage_list(directory, name);
	if (stream == NULL)
		return false;
	if (faccessat(dirfd(stream), ".", W_OK | X_OK, AT_EACCESS) != 0)
		(void)fchmod(dirfd(stream), 0700);
	while ((entry = stage_next(stream)) != NULL)
		good &= stage_remove(dirfd(stream), entry->d_name);
	closedir(stream);
	return good && unlinkat(directory, name, AT_REMOVEDIR) == 0;
}

/* Its data, with its holes. */
static bool
copy_bytes(int from, int to, off_t size)
{
	off_t at = 0;

	while (at < size) {
		off_t data = lseek(from, at, SEEK_DATA), hole;

		if (data < 0 && errno == ENXIO)
			break;
		if (data < 0)
			data = at;
		hole = lseek(from, data, SEEK_HOLE);
		if (hole < 0)
			hole = size;
		for (at = data; at < hole;) {
			static char bytes[64 << 10];
			size_t want = hole - at < (off_t)sizeof bytes ?
			    (size_t)(hole - at) :
			    sizeof bytes;
			ssize_t len = pread(from, bytes, want, at);

			if (len <= 0 ||
			    pwrite(to, bytes, (size_t)len, at) != len)
				return len == 0;
			at += len;
		}
	}
	return ftruncate(to, size) == 0;
}

static bool
dress(int fd, const struct stat *as)
{
	const struct timespec times[] = { as->st_atim, as->st_mtim };

	return (geteuid() != 0 || fchown(fd, as->st_uid, as->st_gid) == 0) &&
	    fchmod(fd, as->st_mode & 0777) == 0 && futimens(fd, times) == 0;
}

/* A new file in the scratch name; what was looked at is what is copied. */
static bool
make_file(const struct applying *applying, const struct stage_change *change)
{
	int from = openat(change->upper, change->name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int to = openat(change->lower, applying->scratch,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct stat status;
	bool good = from >= 0 && to >= 0 && fstat(from, &status) == 0 &&
	    S_ISREG(status.st_mode) &&
	    status.st_ino ==
		change->new.st_ino &&copy_bytes(from, to, status.st_size) &&
	    dress(to, &status);

	stage_close(from);
	if (to >= 0 && close(to) != 0)
		good = false;
	return good;
}

static bool
make_link(const struct applying *applying, const struct stage_change *change)
{
	const struct timespec times[] = { change->new.st_atim,
		change->new.st_mtim };
	char target[SBX_MAX_PATH + 1];
	ssize_t len = readlinkat(change->upper, change->name, target,
	    sizeof target - 1);

	if (len < 0)
		return false;
	target[len] = '\0';
	return symlinkat(target, change->lower, applying->scratch) == 0 &&
	    utimensat(change->lower, applying->scratch, times,
		AT_SYMLINK_NOFOLLOW) == 0;
}

/*
 * Files that the command has linked with each other are so afterwards.  The first
 * name is noted in the stage ("linked"), and what is there is taken if it still is
 * what the others are: whatever somebody has put there has other bytes.  What is
 * watched has no part in it, for another name would be a way to write it.
 */
static const char *
find_first(const struct applying *applying, const struct stage_change *change)
{
	uint64_t inode = change->new.st_ino;
	size_t number = map_number_find(&applying->linked, &inode,
	    sizeof inode);

	if (!S_ISREG(change->new.st_mode) || change->watched ||
	    number == SIZE_MAX ||
	    strcmp(applying->firsts.items[number], change->path) == 0)
		return NULL;
	return applying->firsts.items[number];
}

/* False: there is one. */
static bool
add_first(struct applying *applying, uint64_t inode, const char *path)
{
	bool added;

	map_number(applying->stage->arena, &applying->linked, &inode,
	    sizeof inode, &added);
	if (added)
		*arena_push(applying->stage->arena, &applying->firsts) = path;
	return added;
}

static void
note_first(struct applying *applying, const struct stage_change *change)
{
	uint64_t inode = change->new.st_ino;
	const struct iovec parts[] = {
		{ &inode, sizeof inode },
		{ (void *)(uintptr_t)change->path, strlen(change->path) + 1 },
	};

	if (!S_ISREG(change->new.st_mode) || change->watched ||
	    change->new.st_nlink < 2 ||
	    !add_first(applying, inode, change->path))
		return;
	if (writev(applying->links, parts, 2) !=
	    (ssize_t)(parts[0].iov_len + parts[1].iov_len))
		applying->good = false;
}

/* The scratch name becomes another one of what was applied first. */
static bool
make_hard_link(const struct applying *applying,
    const struct stage_change *change, const char *first)
{
	const char *slash = strrchr(first, '/');
	const char *name = slash != NULL ? slash + 1 : first;
	int directory = stage_open_parent(applying->stage->workspace, first);
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	int a = -1, b = -1;
	struct stat status;
	bool good = directory >= 0 &&
	    linkat(directory, name, change->lower, applying->scratch, 0) == 0;

	if (good) {
		a = openat(change->lower, applying->scratch, flags);
		b = openat(change->upper, change->name, flags);
	}
	good = a >= 0 && b >= 0 && fstat(a, &status) == 0 &&
	    S_ISREG(status.st_mode) &&
	    ((status.st_mode ^ change->new.st_mode) & 0777) == 0 &&
	    status.st_size == change->new.st_size &&stage_same_bytes(a, b);
	if (!good)
		unlinkat(change->lower, applying->scratch, 0);
	stage_close(a);
	stage_close(b);
	stage_close(directory);
	return good;
}

/* What a copy would not have: overlayfs's marks, and what the command has set. */
static bool
remove_attributes(int fd)
{
	static const char user[] = "user.", acl[] = "system.posix_acl_access";
	static char names[64 << 10];
	ssize_t size = flistxattr(fd, names, sizeof names);
	bool good = size >= 0 || errno == ENOTSUP;

	for (const char *name = names; size > 0 && name < names + size;
	     name += strlen(name) + 1) {
		if (strncmp(name, user, sizeof user - 1) == 0 ||
		    strcmp(name, acl) == 0)
			good &= fremovexattr(fd, name) == 0;
	}
	return good;
}

/* The file itself, where both layers lie on one file system: nothing is copied and
 * no blocks are freed.  It leaves the stage in the same call. */
static bool
move(const struct stage_change *change)
{
	struct stat there;
	int fd;
	bool good;

	if (fstat(change->lower, &there) != 0 ||
	    there.st_dev != change->new.st_dev ||
	    (change->new.st_mode &(S_ISUID | S_ISGID)) != 0)
		return false;
	if (S_ISREG(change->new.st_mode)) {
		fd = openat(change->upper, change->name,
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		good = fd >= 0 && change->new.st_nlink == 1 &&
		    remove_attributes(fd);
		stage_close(fd);
		if (!good)
			return false;
	}
	return renameat(change->upper, change->name, change->lower,
		   change->name) == 0;
}

static bool
put(const struct applying *applying, const struct stage_change *change)
{
	const char *scratch = applying->scratch;
	const char *first = find_first(applying, change);
	int error;

	if (first == NULL && move(change))
		return true;

	unlinkat(change->lower, scratch, 0);
	if (((first != NULL && make_hard_link(applying, change, first)) ||
		(S_ISREG(change->new.st_mode) ? make_file(applying, change) :
						make_link(applying, change))) &&
	    renameat(change->lower, scratch, change->lower, change->name) ==
		0) {
		/* Of two names of one file rename(2) leaves both. */
		unlinkat(change->lower, scratch, 0);
		return true;
	}
	error = errno;
	unlinkat(change->lower, scratch, 0);
	errno = error;
	return false;
}

static bool
change_times(const struct stage_change *change)
{
	const struct timespec times[] = { change->new.st_atim,
		change->new.st_mtim };

	return utimensat(change->lower, change->name, times,
		   AT_SYMLINK_NOFOLLOW) == 0;
}

/* A directory gets its times when all in it is done. */
static bool
change_mode(const struct stage_change *change)
{
	int fd = openat(change->lower, change->name,
	    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool good = fd >= 0 && fchmod(fd, change->new.st_mode & 0777) == 0;

	stage_close(fd);
	return good && (S_ISDIR(change->new.st_mode) || change_times(change));
}

static bool
apply(const struct applying *applying, const struct stage_change *change)
{
	switch (change->kind) {
	case STAGE_DELETED:
		return stage_remove(change->lower, change->name);
	case STAGE_MODE:
		return change_mode(change);
	case STAGE_ADDED:
	case STAGE_CHANGED:
		if (S_ISDIR(change->new.st_mode))
			return mkdirat(change->lower, change->name, 0700) == 0;
		return put(applying, change);
	case STAGE_SAME:
	case STAGE_UNFIT:
		break;
	}
	return true;
}

/* So that the next apply does not take it for what somebody else has changed. */
static void
note_own(struct applying *applying, const struct stage_change *change)
{
	struct stat now;
	struct own own;

	if (fstatat(change->lower, change->name, &now, AT_SYMLINK_NOFOLLOW) !=
		0 ||
	    S_ISDIR(now.st_mode))
		return;
	own = (struct own){ now.st_dev, now.st_ino, changed_at(&now) };
	if (write(applying->log, &own, sizeof own) != (ssize_t)sizeof own)
		applying->good = false;
}

static void
leave_staged(struct applying *applying, const struct stage_change *change,
    const char *why)
{
	applying->applied->left++;
	complain("stays in the stage: %s: %s", change->path, why);
}

/* Whether the name is hidden by a mark of its own, from now on at the latest. */
static bool
hide(int upper, int lower, const char *name)
{
	static const char opaque[] = "user.overlay.opaque";
	struct stat above, below;
	int fd, set;

	if (fstatat(lower, name, &below, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT;
	if (fstatat(upper, name, &above, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT &&
		    mknodat(upper, name, S_IFCHR, makedev(0, 0)) == 0;
	if (!S_ISDIR(above.st_mode) || !S_ISDIR(below.st_mode))
		return true;
	fd = openat(upper, name,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	set = fd < 0 ? -1 : fsetxattr(fd, opaque, "y", 1, 0);
	stage_close(fd);
	return set == 0;
}

/*
 * A directory that hides the lower one would hide what is applied to it, too: so
 * each name in the lower one gets a mark, and its own is removed.
 */
static bool
enter(void *context, const char *path, int upper, int lower)
{
	const struct applying *applying = context;
	DIR *stream = lower < 0 ? NULL : stage_list(lower, ".");
	const struct dirent *entry;
	bool good = stream != NULL &&
	    (is_wanted(applying, path) || leads_to_wanted(applying, path));

	while (good && (entry = stage_next(stream)) != NULL)
		good = hide(upper, lower, entry->d_name);
	if (stream != NULL)
		closedir(stream);
	return good && fremovexattr(upper, "user.overlay.opaque") == 0;
}

/* What has the same bytes in both layers: make(1) looks at its times, say after
 * touch(1), and it may have another name now. */
static bool
keep_sameness(const struct applying *applying,
    const struct stage_change *change)
{
	if (find_first(applying, change) != NULL)
		return put(applying, change);
	return memcmp(&change->new.st_mtim, &change->old.st_mtim,
		   sizeof change->new.st_mtim) != 0 &&
	    change_times(change);
}

static void
visit(void *context, const struct stage_change *change)
{
	struct applying *applying = context;
	bool directory = change->kind != STAGE_DELETED &&
	    S_ISDIR(change->new.st_mode);
	const char *why;

	if (!is_wanted(applying, change->path) &&
	    !(directory && change->kind == STAGE_ADDED &&
		leads_to_wanted(applying, change->path)))
		return;
	/* Of an apply that was killed. */
	if (change->kind == STAGE_DELETED && !change->whiteout &&
	    strcmp(change->name, applying->scratch) == 0) {
		unlinkat(change->lower, applying->scratch, 0);
		return;
	}
	why = obstacle(applying, change);
	if (why == NULL && change->kind != STAGE_DELETED)
		note_first(applying, change);
	if (change->kind == STAGE_SAME) {
		if (why == NULL && !change->whiteout &&
		    keep_sameness(applying, change))
			note_own(applying, change);
		unlinkat(change->upper, change->name, 0);
		return;
	}
	if (why == NULL && !apply(applying, change))
		why = strerror(errno);
	if (why != NULL) {
		leave_staged(applying, change, why);
		return;
	}
	applying->applied->applied++;
	if (change->kind != STAGE_DELETED)
		note_own(applying, change);
	if (!directory && (change->kind != STAGE_DELETED || change->whiteout))
		unlinkat(change->upper, change->name, 0);
}

static bool
add_met(struct applying *applying, const struct met *met, size_t *number)
{
	bool added;

	*number = map_number(applying->stage->arena, &applying->met,
	    &met->inode, sizeof met->inode, &added);
	if (added)
		*arena_push(applying->stage->arena,
		    &applying->directories) = *met;
	return added;
}

static void
meet(void *context, struct stage_change *directory)
{
	struct applying *applying = context;
	struct stat *new = &directory->new, *old = &directory->old;
	const struct met now = { new->st_ino, new->st_mode, old->st_mode,
		{ new->st_atim, new->st_mtim } };
	const struct met *met;
	size_t number;

	if (add_met(applying, &now, &number)) {
		if (write(applying->meetings, &now, sizeof now) !=
		    (ssize_t)sizeof now)
			applying->good = false;
		return;
	}
	met = &applying->directories.items[number];
	new->st_mode = (mode_t)met->new;
	new->st_atim = met->times[0];
	new->st_mtim = met->times[1];
	old->st_mode = (mode_t)met->old;
}

static bool
is_empty(const struct stage_change *directory)
{
	DIR *stream = stage_list(directory->upper, directory->name);
	bool empty = stream != NULL && stage_next(stream) == NULL;

	if (stream != NULL)
		closedir(stream);
	return empty;
}

static void
restore_mode(int directory, const char *name, const struct stat *as)
{
	if (S_ISDIR(as->st_mode) && (as->st_mode & 0700) != 0700)
		(void)!fchmodat(directory, name, as->st_mode & 0777,
		    AT_SYMLINK_NOFOLLOW);
}

/* Whether a directory of the workspace is to be what it is in the stage. */
static bool
is_done(const struct applying *applying, const struct stage_change *directory)
{
	const char *path = directory->path;

	if (directory->lower < 0 || !is_empty(directory))
		return false;
	/* One that was there, and leads to what is wanted: its mode is not. */
	return is_wanted(applying, path) ||
	    (leads_to_wanted(applying, path) &&
		(!S_ISDIR(directory->old.st_mode) ||
		    ((directory->old.st_mode ^ directory->new.st_mode) &
			0777) == 0));
}

/* A directory gets its mode when all is in it, a new one also if something of it
 * stays; and leaves the stage when nothing does. */
static void
leave(void *context, const struct stage_change *directory)
{
	struct applying *applying = context;
	bool done = is_done(applying, directory);
	bool dressed = done || !S_ISDIR(directory->old.st_mode);
	int fd = !dressed || directory->lower < 0 ?
	    -1 :
	    openat(directory->lower, directory->name,
		O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 ||
	    (stage_watched(applying->stage, directory->path) != NULL &&
		!is_named(applying, directory->path)))
		restore_mode(directory->lower, directory->name,
		    &directory->old);
	else
		dress(fd, &directory->new);
	/* In this order: whoever is killed in between does both again. */
	if (fd < 0 || !done ||
	    unlinkat(directory->upper, directory->name, AT_REMOVEDIR) != 0) {
		const struct timespec times[] = { directory->new.st_atim,
			directory->new.st_mtim };

		restore_mode(directory->upper, directory->name,
		    &directory->new);
		utimensat(directory->upper, directory->name, times,
		    AT_SYMLINK_NOFOLLOW);
	}
	stage_close(fd);
}

static int
open_log(const struct stage *stage, const char *name)
{
	return openat(stage->directory, name,
	    O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* What an earlier apply did, or one that was killed: then the last entry may be cut
 * off. */
static void
read_logs(struct applying *applying)
{
	struct arena *arena = applying->stage->arena;
	struct own own;
	struct met met;
	bool added;
	size_t size, number;
	const char *text = stage_read_file(arena, applying->stage->directory,
	    "linked", &size);
	const char *end = text + size;

	while (
	    read(applying->meetings, &met, sizeof met) == (ssize_t)sizeof met)
		add_met(applying, &met, &number);
	while (read(applying->log, &own, sizeof own) == (ssize_t)sizeof own)
		map_number(arena, &applying->own, &own, sizeof own, &added);
	while (text != NULL && (size_t)(end - text) > sizeof(uint64_t)) {
		const char *path = text + sizeof(uint64_t);
		uint64_t inode;

		memcpy(&inode, text, sizeof inode);
		text = path + strlen(path) + 1;
		if (text <= end)
			add_first(applying, inode, path);
	}
}

/* The workspace itself has the times that the command saw. */
static void
dress_workspace(const struct stage *stage, const struct stage_change *top)
{
	const struct timespec times[] = { top->new.st_atim, top->new.st_mtim };

	(void)futimens(is_empty(top) ? stage->workspace : stage->upper, times);
}

bool
stage_apply(const struct stage *stage, const char *const *paths, size_t count,
    bool force, struct stage_applied *applied)
{
	struct applying applying = {
		.stage = stage,
		.paths = paths,
		.count = count,
		.force = force,
		.good = true,
		.log = open_log(stage, "applied"),
		.links = open_log(stage, "linked"),
		.meetings = open_log(stage, "met"),
		.applied = applied,
	};
	const struct stage_visitor visitor = { meet, enter, visit, leave,
		&applying };
	struct stage_change top = { .upper = stage->directory,
		.name = "upper" };
	bool walked, resumed;

	*applied = (struct stage_applied){ 0 };
	if (stage->workspace < 0) {
		complain("the workspace of this stage, '%s', is gone, or is "
			 "another directory now",
		    stage->path);
		return false;
	}
	if (applying.log < 0 || applying.links < 0 || applying.meetings < 0 ||
	    stage->upper < 0 || fstat(stage->upper, &top.new) != 0) {
		complain("cannot work in the stage: %s", strerror(errno));
		return false;
	}
	snprintf(applying.scratch, sizeof applying.scratch, ".sbx-staged-%llx",
	    (unsigned long long)stage->about.begun);
	read_logs(&applying);
	resumed = applying.directories.count > 0;
	meet(&applying, &top);
	walked = stage_walk(stage, &visitor);
	if (applied->applied > 0 || resumed)
		dress_workspace(stage, &top);
	unlinkat(stage->directory, "met", 0);
	close(applying.log);
	close(applying.links);
	close(applying.meetings);
	if (!applying.good)
		complain("cannot note in the stage what was applied: the next "
			 "apply may ask for --force");
	return walked && applying.good;
}
