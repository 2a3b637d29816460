/*
 * --stage: what the command changes in the workspace lies apart until a person has
 * looked at it.
 *
 * In the sandbox's own mount namespace an overlay is mounted over the workspace
 * before any rule is bound, so that all that binds, masks and opens there finds the
 * merged tree, and nothing has to know of it.  The layers lie in the user's state,
 * which no policy opens.  Outside, the tree stays as it was.
 *
 * An overlay shows no mounts below its lower tree, and a repository elsewhere would
 * be changed at once: both are refused.
 */
#include "runtime/apply/apply.h"
#include "runtime/apply/mounts.h"

#include "format/protocol.h"
#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "runtime/bind/bind.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const char option[] = "--stage";

void
stage_none(struct staging *stage)
{
	stage->directory = -1;
}

/* --- its name ------------------------------------------------------------- */

/* The workspace's last name, as far as it fits, and a sum of its path. */
void
stage_name(struct staging *stage, struct sbx_place at)
{
	enum { LAST_MAX = 40, SUM = 8 };
	const char *last = strrchr(at.path, '/') + 1;
	char digest[SHA256_HEX + 1];
	size_t len = 0;

	while (last[len] != '\0' && len < LAST_MAX) {
		char c = last[len];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c >= '0' && c <= '9') || c == '_' ||
		    (len > 0 && (c == '-' || c == '.'));

		stage->name[len++] = plain ? c : '_';
	}
	sha256_hex(at.path, at.len, digest);
	stage->name[len++] = '-';
	memcpy(stage->name + len, digest, SUM);
	stage->name[len + SUM] = '\0';
}

/* --- what cannot be staged ------------------------------------------------ */

/* The mount point in a line of mountinfo, its fifth word, with \ooo read. */
static bool
mount_point(const char *line, struct path *point)
{
	enum { BEFORE = 4 };

	for (int i = 0; i < BEFORE && line != NULL; i++) {
		line = strchr(line, ' ');
		line += line != NULL;
	}
	point->len = 0;
	while (line != NULL && *line != ' ' && *line != '\0') {
		char c = *line++;

		if (c == '\\' && line[0] >= '0' && line[0] <= '3' &&
		    line[1] != '\0' && line[2] != '\0') {
			c = (char)((line[0] - '0') << 6 | (line[1] - '0') << 3 |
			    (line[2] - '0'));
			line += 3;
		}
		if (point->len == SBX_MAX_PATH)
			return false;
		point->text[point->len++] = c;
	}
	point->text[point->len] = '\0';
	return line != NULL && *line == ' ';
}

/* Of a line that is longer than the buffer the mount point stands in its first
 * part. */
static void
refuse_mounts_below(struct sbx_place workspace)
{
	char lines[3 * (SBX_MAX_PATH + 1)], *end;
	struct path point;
	int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	bool rest = false;
	ssize_t len;

	if (fd < 0)
		refuse(option, "cannot read /proc/self/mountinfo", errno);
	while ((len = read(fd, lines + used, sizeof lines - 1 - used)) > 0) {
		char *line = lines;

		used += (size_t)len;
		lines[used] = '\0';
		while ((end = strchr(line, '\n')) != NULL ||
		    (line == lines && used == sizeof lines - 1)) {
			bool whole = end != NULL;

			if (whole)
				*end = '\0';
			else
				end = lines + used - 1;
			if (!rest && mount_point(line, &point) &&
			    point.len > workspace.len &&
			    sbx_covers(workspace,
				(struct sbx_place){ point.text, point.len }))
				refuse(point.text,
				    "it is a mount in the workspace, which "
				    "--stage cannot stage",
				    0);
			rest = !whole;
			line = end + 1;
		}
		used -= (size_t)(line - lines);
		memmove(lines, line, used);
	}
	close(fd);
}

/* Where an open directory is. */
static bool
find_place(int directory, struct path *path)
{
	char link[DESCRIPTOR_PATH_SIZE];
	ssize_t len;

	descriptor_path(link, directory);
	len = readlink(link, path->text, sizeof path->text - 1);
	path_cut(path, len > 0 ? (uint32_t)len : 0);
	return len > 0;
}

static void
refuse_unfit(const struct staging *stage, const struct binding *anchored)
{
	struct path own;

	if (anchored->git.len > 0)
		refuse(path_of(anchored->git),
		    "the repository of this working tree lies outside of it, "
		    "and --stage would not stage it: stage the main one",
		    0);
	refuse_mounts_below(stage->workspace);
	if (!find_place(stage->directory, &own))
		refuse(option, "cannot tell where the stage lies", errno);
	if (sbx_covers(stage->workspace, place_of(own.text)))
		refuse(path_of(stage->workspace),
		    "the workspace holds sbx's own state, where the stage "
		    "lies; choose another one with -w",
		    0);
}

/* --- the stage ------------------------------------------------------------ */

bool
stage_lock(int directory)
{
	if (flock(directory, LOCK_EX | LOCK_NB) == 0)
		return true;
	if (errno != EWOULDBLOCK)
		refuse(option, "cannot lock the stage", errno);
	return false;
}

/* Open to be read, which flock(2) wants. */
static int
enter_locked(const char *name, bool waits)
{
	enum { TRIES = 100, MOMENT = 30 /* milliseconds */ };
	int tries = waits ? TRIES : 0;
	int stages = own_state(SBX_STAGES);
	int found = stages < 0 ? -1 : own_enter(stages, name);
	int fd = found < 0 ?
	    -1 :
	    openat(found, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		refuse(option,
		    "cannot make the stage in ~" SBX_OWN_STATE
		    ", which has to be yours alone",
		    errno);
	close(found);
	fd = above_standard(fd);
	while (!stage_lock(fd)) {
		if (tries-- == 0)
			refuse(name,
			    "another run or session has this stage; wait for "
			    "its end, or name another one with --stage=NAME",
			    0);
		poll(NULL, 0, MOMENT);
	}
	return fd;
}

static void
begin(const struct staging *stage, const struct stat *workspace)
{
	struct sbx_stage about = {
		.magic = SBX_STAGE_MAGIC,
		.device = workspace->st_dev,
		.inode = workspace->st_ino,
	};
	struct timespec now;
	size_t size = stage->workspace.len;
	int upper, fd;

	/* The clock by which the kernel dates changes. */
	time_now(CLOCK_REALTIME_COARSE, &now);
	about.begun = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	if ((mkdirat(stage->directory, "upper", 0700) != 0 &&
		errno != EEXIST) ||
	    (mkdirat(stage->directory, "work", 0700) != 0 && errno != EEXIST))
		refuse(option, "cannot make the directories of the stage",
		    errno);
	/* What the command sees of the workspace itself is the layer's. */
	upper = openat(stage->directory, "upper",
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (upper < 0 || fchmod(upper, workspace->st_mode & 0777) != 0 ||
	    (workspace->st_uid != geteuid() && geteuid() == 0 &&
		fchown(upper, workspace->st_uid, workspace->st_gid) != 0))
		refuse(option, "cannot make the stage like the workspace",
		    errno);
	close(upper);
	fd = openat(stage->directory, "about",
	    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 ||
	    write(fd, &about, sizeof about) != (ssize_t)sizeof about ||
	    write(fd, stage->workspace.path, size) != (ssize_t)size) {
		int error = errno;

		unlinkat(stage->directory, "about", 0);
		refuse(option, "cannot write what the stage is about", error);
	}
	close(fd);
}

void
stage_read(int directory, const char *name, struct sbx_stage *about,
    struct path *workspace)
{
	int fd = openat(directory, "about", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t len = -1;

	if (fd >= 0 && read(fd, about, sizeof *about) == sizeof *about &&
	    memcmp(about->magic, SBX_STAGE_MAGIC, sizeof about->magic) == 0)
		len = read(fd, workspace->text, sizeof workspace->text - 1);
	if (len <= 0)
		refuse(name,
		    "the stage is damaged; sbxrun --staged=NAME discard "
		    "removes it",
		    0);
	workspace->text[len] = '\0';
	workspace->len = (uint32_t)len;
	close(fd);
}

/* Whether it is of this workspace, by path and inode. */
static void
look_at_old(const struct staging *stage, const struct stat *workspace)
{
	struct sbx_stage about;
	struct path path;

	stage_read(stage->directory, stage->name, &about, &path);
	if (sbx_place_compare(place_of(path.text), stage->workspace) != 0 ||
	    about.device != workspace->st_dev ||
	    about.inode != workspace->st_ino)
		refuse(path.text,
		    "the stage is of this workspace, as it was then; name "
		    "another one with --stage=NAME",
		    0);
	/* Its inodes may stand for other files from now on. */
	unlinkat(stage->directory, "linked", 0);
	unlinkat(stage->directory, "met", 0);
}

void
stage_open(struct staging *stage, const char *name,
    const struct binding *anchored, bool waits)
{
	struct sbx_place at = anchored->anchors[SBX_ANCHOR_WORKSPACE];
	struct stat workspace;

	if (!anchored->bound[SBX_ANCHOR_WORKSPACE])
		refuse(option, "there is no workspace to stage", 0);
	stage->workspace = at;
	if (name != NULL)
		memcpy(stage->name, name, strlen(name) + 1);
	else
		stage_name(stage, at);
	stage->named = name != NULL;
	stage->directory = enter_locked(stage->name, waits);
	refuse_unfit(stage, anchored);
	if (stat(path_of(at), &workspace) != 0)
		refuse(path_of(at), "cannot look at the workspace", errno);
	stage->device = workspace.st_dev;
	stage->inode = workspace.st_ino;
	if (faccessat(stage->directory, "about", F_OK, 0) == 0)
		look_at_old(stage, &workspace);
	else
		begin(stage, &workspace);
}

int
stage_find(const char *name)
{
	int stages = own_state(SBX_STAGES), fd;

	if (stages < 0)
		return -1;
	fd = openat(stages, name,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	close(stages);
	return fd;
}

/* --- the mount ------------------------------------------------------------ */

static bool
set_layer(int context, const char *key, int directory)
{
	char path[DESCRIPTOR_PATH_SIZE];

	descriptor_path(path, directory);
	return directory >= 0 &&
	    syscall(SYS_fsconfig, context, FS_SET_STRING, key, path, 0) == 0;
}

static int
new_overlay(int workspace, int upper, int work)
{
	int context = (int)syscall(SYS_fsopen, "overlay", FSOPEN_CLOEXEC);
	int mount = -1;

	/* Its marks are attributes of the user, who may write no others. */
	if (context >= 0 && set_layer(context, "lowerdir", workspace) &&
	    set_layer(context, "upperdir", upper) &&
	    set_layer(context, "workdir", work) &&
	    syscall(SYS_fsconfig, context, FS_SET_FLAG, "userxattr", NULL, 0) ==
		0 &&
	    syscall(SYS_fsconfig, context, FS_CREATE, NULL, NULL, 0) == 0)
		mount = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC,
		    MOUNT_ALWAYS);
	if (context >= 0)
		close(context);
	return mount;
}

/* Overlayfs takes what was opened in this mount namespace alone: so the stage is
 * opened once more, by its path, and compared. */
static int
open_again(const struct staging *stage)
{
	struct stat now, then;
	struct path path;
	int fd = -1;

	if (find_place(stage->directory, &path))
		fd = open_unlinked(AT_FDCWD, path.text, O_PATH | O_DIRECTORY);
	if (fd < 0 || fstat(fd, &now) != 0 ||
	    fstat(stage->directory, &then) != 0 || now.st_dev != then.st_dev ||
	    now.st_ino != then.st_ino)
		refuse(option, "the stage is not at its place any more", 0);
	return fd;
}

void
stage_mount(const struct staging *stage)
{
	enum { LAYER = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };
	const char *path = path_of(stage->workspace);
	int workspace, directory, upper, work, mount;

	if (stage->directory < 0)
		return;
	workspace = open_unlinked(AT_FDCWD, path, O_PATH | O_DIRECTORY);
	if (workspace < 0)
		refuse(path, "cannot open the workspace", errno);
	directory = open_again(stage);
	upper = openat(directory, "upper", LAYER);
	work = openat(directory, "work", LAYER);
	mount = new_overlay(workspace, upper, work);
	if (mount < 0)
		refuse(option,
		    "this kernel makes no overlay of the workspace, or not "
		    "with its changes in ~" SBX_OWN_STATE
		    " (as where that lies on an overlay itself)",
		    errno);
	if (attach_mount(mount, workspace, "") != 0)
		refuse(path, "cannot mount the stage over it", errno);
	close(mount);
	close(workspace);
	close(directory);
	close(upper);
	close(work);
}

/* --- its end -------------------------------------------------------------- */

/* Then the command got ENOSPC, or the next one will.  The kernel gives an ordinary
 * user no smaller bound on a directory of a disk: quotas are the administrator's,
 * and a tmpfs would be gone with the run. */
static bool
is_full(int directory)
{
	enum { LEAST = 1 << 20 /* bytes */ };
	struct statvfs space;

	return fstatvfs(directory, &space) == 0 &&
	    ((uint64_t)space.f_bavail * space.f_frsize < LEAST ||
		(space.f_files > 0 && space.f_favail == 0));
}

void
stage_tell(const struct staging *stage, bool refused)
{
	int fd = openat(stage->directory, "upper",
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct directory entries;
	struct out out;
	bool empty, full;

	if (fd < 0 || !stderr_takes_more())
		return;
	directory_begin(&entries, fd);
	empty = directory_next(&entries) == NULL && entries.len == 0;
	full = is_full(fd);
	close(fd);
	if (empty && refused)
		return;
	out_init(&out, STDERR_FILENO);
	if (full)
		out_text(&out,
		    "sbxrun: stage: the file system of the stage is full, so "
		    "files may be cut short or missing\n");
	out_text(&out, "sbxrun: stage: ");
	if (empty)
		out_text(&out, "nothing was changed in the workspace\n");
	else
		out_print(&out,
		    "the workspace is as it was; see what was changed: sbxrun "
		    "--staged%s%s diff\n",
		    stage->named ? "=" : "", stage->named ? stage->name : "");
	out_flush(&out);
}
