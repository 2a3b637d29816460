/*
 * Mounting what the table says, and making it the root.
 */
#include "runtime/apply/mounts.h"

#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "runtime/bind/bind.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Other processes of the user, a second sandbox among them, may put links into
 * trees that are written: no path there is followed through a link.
 */
enum { UNLINKED = O_PATH | O_NOFOLLOW };

void
refuse_place(struct sbx_place at, const char *text, int error)
{
	refuse(path_of(at), text, error);
}

/* The path of a place below the new root. */
static const char *
inside(struct sbx_place at)
{
	return at.len == 0 ? "." : at.path + 1;
}

/* --- detached mounts ------------------------------------------------------ */

/* A device on a read-only mount can be written to, but its mode and owner
 * cannot be changed. */
static uint64_t
attributes_of(const struct mounting *mounting, mode_t mode)
{
	uint64_t attributes = mounting->attributes;

	if (sbx_covers(place_dev, mounting->at))
		attributes &= ~(uint64_t)MOUNT_ATTR_NODEV;
	if (S_ISCHR(mode))
		attributes |= MOUNT_ATTR_RDONLY;
	return attributes;
}

/* A copy of what is outside; -1 if nothing is there any more. */
static int
copy_outside(struct mounting *mounting)
{
	int outside = mounting->fd, mount;
	struct stat status;

	if (outside < 0)
		outside = open_unlinked(AT_FDCWD, path_of(mounting->from),
		    UNLINKED);
	if (outside < 0 && (errno == ENOENT || errno == ENOTDIR))
		return -1;
	if (outside < 0)
		refuse_place(mounting->from,
		    "cannot open what the view is to show", errno);
	if (fstat(outside, &status) != 0)
		refuse_place(mounting->from, "cannot look at it", errno);
	mounting->directory = S_ISDIR(status.st_mode);
	mount = copy_mount_as(outside, "", MOUNT_TREE,
	    attributes_of(mounting, status.st_mode));
	if (mount < 0)
		refuse_place(mounting->from, "cannot copy its mount", errno);
	/* A descriptor from binding is still wanted, for Landlock. */
	if (mounting->fd < 0)
		close(outside);
	return mount;
}

static int
new_proc(void)
{
	return new_mount("proc", NULL, NULL, MOUNT_ALWAYS | MOUNT_ATTR_NOEXEC);
}

/* --- attaching ------------------------------------------------------------ */

/* Makes the directories above a place.  Places come in path order, so most of
 * these were made for the place before. */
static void
make_parents(struct mount_tree *tree, struct sbx_place at)
{
	char path[SBX_MAX_PATH + 1];
	uint32_t done = place_shared(tree->made, at);

	memcpy(path, at.path, at.len + 1);
	for (char *slash = path + done + 1;
	     (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		mkdirat(tree->root, path + 1, 0755);
		*slash = '/';
	}
	tree->made = at;
}

/* A mount is put on a directory or a file, whichever it is itself. */
static void
make_node(int parent, const char *name, bool directory)
{
	if (directory)
		mkdirat(parent, name, 0755);
	else
		mknodat(parent, name, S_IFREG | 0644, 0);
}

/* Makes the parents one by one and never follows a link: the scratch directory
 * may hold anything. */
static void
make_path(const struct mount_tree *tree, struct sbx_place at, bool directory)
{
	char path[SBX_MAX_PATH + 1], *name = path, *slash;
	int parent = tree->root, next;

	memcpy(path, inside(at), at.len);
	while ((slash = strchr(name, '/')) != NULL) {
		*slash = '\0';
		make_node(parent, name, true);
		next = openat(parent, name,
		    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			refuse_place(at,
			    "something is in its way in the scratch directory",
			    errno);
		if (parent != tree->root)
			close(parent);
		parent = next;
		name = slash + 1;
	}
	make_node(parent, name, directory);
	if (parent != tree->root)
		close(parent);
}

/*
 * Inside a bind the place exists, as it does outside; elsewhere it has to be
 * made.  If it went away in the meantime, nothing is mounted: false.
 */
static bool
attach(struct mount_tree *tree, struct sbx_place at, bool directory, int mount)
{
	const struct mounting *around = mounts_around(tree, at);
	int target;

	if (around == NULL) {
		/* Nobody else can write on the tmpfs of the root. */
		make_parents(tree, at);
		make_node(tree->root, inside(at), directory);
		if (attach_mount(mount, tree->root, inside(at)) != 0)
			refuse_place(at, "cannot mount it into the view",
			    errno);
		return true;
	}
	/* A place inside may have to be made to put a mount on it. */
	if (around->kind == MOUNT_TMP || around->kind == MOUNT_WAY ||
	    around->kind == MOUNT_MASK)
		make_path(tree, at, directory);
	target = open_unlinked(tree->root, inside(at), UNLINKED);
	if (target < 0 && (errno == ENOENT || errno == ENOTDIR))
		return false;
	if (target < 0 || attach_mount(mount, target, "") != 0)
		refuse_place(at, "cannot mount it into the view", errno);
	close(target);
	return true;
}

/* --- each kind ------------------------------------------------------------ */

bool
mount_over_proc(struct mount_tree *tree)
{
	int mount;

	if (tree->proc_tried)
		return tree->proc_covered;
	tree->proc_tried = true;
	mount = new_proc();
	if (mount < 0)
		return false;
	if (attach_mount(mount, AT_FDCWD, "/proc") != 0)
		refuse("/proc", "cannot mount a new one over it", errno);
	close(mount);
	return tree->proc_covered = true;
}

/*
 * EPERM for a new /proc: a container masks parts of the outer one, and a new
 * one would show them.
 */
static int
own_proc(const struct mount_tree *tree, struct mounting *mounting)
{
	bool possible = !tree->proc_tried || tree->proc_covered;
	int mount = possible ? new_proc() : -1;

	return mount >= 0 ? mount : copy_outside(mounting);
}

/*
 * A directory of the root's own tmpfs serves as well as a new file system, and
 * costs nothing to take down.
 */
static int
own_shm(struct mount_tree *tree, const struct mounting *mounting)
{
	const char *path = inside(mounting->at);

	if (mounts_around(tree, mounting->at) != NULL)
		return new_mount("tmpfs", "mode", "1777", mounting->attributes);
	make_parents(tree, mounting->at);
	mkdirat(tree->root, path, 0700);
	if (fchmodat(tree->root, path, 01777, 0) != 0)
		return -1;
	return copy_mount_as(tree->root, path, 0,
	    attributes_of(mounting, S_IFDIR));
}

/* Whether something is mounted inside of this one. */
static bool
holds_others(const struct mount_tree *tree, const struct mounting *mounting)
{
	const struct mounting *next = mounting + 1;

	return next < tree->mounts + tree->count &&
	    sbx_covers(mounting->at, next->at);
}

/* Places that are masked whole share one mask. */
static int
own_mask(const struct mount_tree *tree, const struct mounting *mounting)
{
	int shared = tree->masks[mounting->directory];

	if (holds_others(tree, mounting))
		return mask_new(mounting->directory, false);
	return shared >= 0 ? copy_mount(shared, "", 0) :
			     mask_new(mounting->directory, true);
}

/* What goes to a place, detached; -1 if nothing is there to be shown. */
static int
make_mount(struct mount_tree *tree, struct mounting *mounting)
{
	const char *fault = "cannot mount a new one";
	int mount = -1;

	if (mounting->kind != MOUNT_MASK)
		mounting->directory = true;
	switch ((enum mount_kind)mounting->kind) {
	case MOUNT_NONE:
		return -1;
	case MOUNT_BIND:
	case MOUNT_TMP:
	case MOUNT_PIN:
		return copy_outside(mounting);
	case MOUNT_PROC:
		return own_proc(tree, mounting);
	case MOUNT_PTS:
		mount = new_mount("devpts", "ptmxmode", "0666",
		    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
		break;
	case MOUNT_SHM:
		mount = own_shm(tree, mounting);
		break;
	case MOUNT_WAY:
		mount = new_mount("tmpfs", "mode", "0755", MOUNT_ALWAYS);
		break;
	case MOUNT_NAMES:
		mount = name_file_mount(tree, mounting);
		break;
	case MOUNT_MASK:
		mount = own_mask(tree, mounting);
		fault = "cannot make a mask for it";
		break;
	}
	if (mount < 0)
		refuse_place(mounting->at, fault, errno);
	return mount;
}

/*
 * /dev/ptmx belongs to the instance of devpts that it lies in.  In most
 * containers it is a link to that, which leads to the new instance as well; the
 * rule about it is then one about the place that it leads to.
 */
static void
mount_ptmx(struct mount_tree *tree)
{
	char target;
	int master;

	if (readlink(place_dev_ptmx.path, &target, 1) >= 0)
		return;
	master = copy_mount(tree->root, "dev/pts/ptmx", 0);
	if (master < 0)
		refuse_place(place_dev_ptmx, "cannot copy its mount", errno);
	attach(tree, place_dev_ptmx, false, master);
	close(master);
}

/* Whether it is made read-only when all is mounted. */
static bool
stays_open(const struct mount_tree *tree, const struct mounting *mounting)
{
	return mounting->kind == MOUNT_WAY ||
	    (mounting->kind == MOUNT_MASK && holds_others(tree, mounting));
}

static void
mount_one(struct mount_tree *tree, struct mounting *mounting)
{
	int mount = make_mount(tree, mounting);
	int *shared;
	bool attached;

	mounting->fd = -1;
	if (mount < 0)
		return;
	shared = &tree->masks[mounting->directory];
	attached = attach(tree, mounting->at, mounting->directory, mount);
	if (mounting->kind == MOUNT_PTS)
		mount_ptmx(tree);
	if (attached && stays_open(tree, mounting))
		mounting->fd = mount;
	else if (attached && mounting->kind == MOUNT_MASK && *shared < 0)
		*shared = mount;
	else if (attached && mounting->kind == MOUNT_NAMES)
		name_file_mounted(tree, mounting, mount);
	else
		close(mount);
}

static const struct mount_attributes read_only = { .set = MOUNT_ATTR_RDONLY };

/* --- the root ------------------------------------------------------------- */

/* A copy of the whole tree where the policy allows it, else an empty one. */
static void
make_root(struct mount_tree *tree)
{
	tree->root = tree->count > 0 && tree->mounts[0].at.len == 0 ?
	    copy_outside(&tree->mounts[0]) :
	    new_mount("tmpfs", "mode", "0755", MOUNT_ALWAYS);
	/* Over the root that our own look-ups go on to start from. */
	if (tree->root < 0 || attach_mount(tree->root, AT_FDCWD, "/") != 0)
		refuse(NULL, "cannot make the root of the view", errno);
}

/* A link is made as it is outside, unless it is inside a bind. */
static void
make_link(struct mount_tree *tree, struct sbx_place at)
{
	char target[SBX_MAX_PATH + 1];
	ssize_t len;

	if (mounts_around(tree, at) != NULL)
		return;
	len = readlink(at.path, target, sizeof target - 1);
	if (len < 0)
		return;
	target[len] = '\0';
	make_parents(tree, at);
	if (symlinkat(target, tree->root, inside(at)) != 0 && errno != EEXIST)
		refuse_place(at, "cannot make the link in the view", errno);
}

static bool
is_linked(const struct binding *binding, struct sbx_place at)
{
	for (uint32_t i = 0; i < binding->link_count; i++) {
		if (sbx_place_compare(binding->links[i], at) == 0)
			return true;
	}
	return false;
}

/*
 * Where /usr holds everything, these are links into it, and a policy that
 * allows /usr need not name them: a program's interpreter is in /lib64, and at
 * the other levels the link is followed as it is.
 */
static void
make_usr_links(struct mount_tree *tree)
{
	static const struct sbx_place places[] = {
		{ "/bin", 4 },
		{ "/sbin", 5 },
		{ "/lib", 4 },
		{ "/lib32", 6 },
		{ "/lib64", 6 },
		{ "/libx32", 7 },
	};

	for (size_t i = 0; i < countof(places); i++) {
		if (!is_linked(tree->binding, places[i]))
			make_link(tree, places[i]);
	}
}

/* Where /tmp is the scratch directory, /var/tmp leads there: it lies between runs
 * as well. */
static void
make_var_tmp(struct mount_tree *tree)
{
	if (tree->scratch.len == 0 ||
	    mounts_find(tree, place_var_tmp) != NULL ||
	    mounts_around(tree, place_var_tmp) != NULL)
		return;
	make_parents(tree, place_var_tmp);
	symlinkat(place_tmp.path, tree->root, inside(place_var_tmp));
}

static void
make_links(struct mount_tree *tree)
{
	const struct binding *binding = tree->binding;
	static const struct {
		const char *name, *target;
	} in_dev[] = {
		{ "dev/fd", "/proc/self/fd" },
		{ "dev/stdin", "/proc/self/fd/0" },
		{ "dev/stdout", "/proc/self/fd/1" },
		{ "dev/stderr", "/proc/self/fd/2" },
	};

	for (uint32_t i = 0; i < binding->link_count; i++)
		make_link(tree, binding->links[i]);
	for (int i = 0; i < NAME_FILES; i++) {
		const struct followed *file = &tree->name_files.of[i];

		for (uint32_t j = 0; j < file->link_count; j++)
			make_link(tree, file->links[j]);
	}
	make_usr_links(tree);
	make_var_tmp(tree);
	if (mounts_around(tree, place_dev_pts) != NULL)
		return;
	for (size_t i = 0; i < countof(in_dev); i++)
		symlinkat(in_dev[i].target, tree->root, in_dev[i].name);
}

/* Programs expect that there is a home, whatever may be in it. */
static void
make_home(struct mount_tree *tree)
{
	const struct binding *binding = tree->binding;
	struct sbx_place home = binding->anchors[SBX_ANCHOR_HOME];

	if (!binding->bound[SBX_ANCHOR_HOME] || home.len == 0 ||
	    mounts_find(tree, home) != NULL ||
	    mounts_around(tree, home) != NULL)
		return;
	make_parents(tree, home);
	make_node(tree->root, inside(home), true);
}

/* --- caches that are not there --------------------------------------------- */

static bool
is_denied(const struct binding *binding, struct sbx_place at)
{
	for (uint32_t i = 0; i < binding->rule_count; i++) {
		const struct sbx_rule *rule = &binding->rules[i];

		if (rule->effect != SBX_ALLOW && sbx_covers(rule->at, at))
			return true;
	}
	return false;
}

/* A directory in the scratch directory, and those above it.  Commands have
 * written there, so no link is followed; whatever else is in the way stays.  An
 * earlier run has made most of them. */
static bool
make_in_scratch(int scratch, const char *suffix)
{
	const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = open_unlinked(scratch, suffix + 1, flags), next;
	char path[SBX_MAX_PATH + 1], *name = path, *slash;

	if (fd >= 0)
		close(fd);
	if (fd >= 0 || errno != ENOENT)
		return fd >= 0;
	fd = openat(scratch, ".", flags);
	memcpy(path, suffix + 1, strlen(suffix));
	while (fd >= 0 && name != NULL) {
		slash = strchr(name, '/');
		if (slash != NULL)
			*slash = '\0';
		next = openat(fd, name, flags);
		if (next < 0 && errno == ENOENT && mkdirat(fd, name, 0700) == 0)
			next = openat(fd, name, flags);
		close(fd);
		fd = next;
		name = slash != NULL ? slash + 1 : NULL;
	}
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/*
 * A cache that the policy opens and that is not there could not be made, since
 * the home in the view is our own and read-only.  So its name leads to a
 * directory of that name in the scratch directory, which is kept between runs,
 * and nothing is left in the home.  Variables that name it lead there as well.
 */
static void
make_caches(struct mount_tree *tree)
{
	const struct binding *binding = tree->binding;
	const struct sbx_blob *blob = binding->blob;
	struct sbx_place home = binding->anchors[SBX_ANCHOR_HOME];
	char target[SBX_MAX_PATH + 1];
	struct stat status;
	int scratch;

	if (!binding->bound[SBX_ANCHOR_HOME] || home.len == 0 ||
	    tree->scratch.len == 0 ||
	    !rule_index_allows(binding->index, SBX_WRITE, tree->scratch))
		return;
	scratch = openat(tree->root, inside(place_tmp),
	    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	for (uint32_t i = 0; scratch >= 0 && i < blob->path_count; i++) {
		const struct sbx_path *path = &blob->paths[i];
		const char *suffix = sbx_string(blob, path->suffix);
		struct sbx_place at;

		if (path->effect != SBX_ALLOW || path->glob != 0 ||
		    path->anchor != SBX_ANCHOR_HOME || path->ceiling != 0 ||
		    (path->rights & SBX_WRITE) == 0 ||
		    (path->platforms & KERNEL_WHERE) == 0 ||
		    !sbx_is_cache(suffix))
			continue;
		at = arena_join(tree->arena, home, sbx_place_of(suffix));
		if (stat(at.path, &status) == 0 || errno != ENOENT ||
		    is_denied(binding, at) || mounts_around(tree, at) != NULL ||
		    !make_in_scratch(scratch, suffix))
			continue;
		make_parents(tree, at);
		memcpy(target, place_tmp.path, place_tmp.len);
		memcpy(target + place_tmp.len, suffix, strlen(suffix) + 1);
		symlinkat(target, tree->root, inside(at));
	}
	if (scratch >= 0)
		close(scratch);
}

static void
enter_root(const struct mount_tree *tree)
{
	if (set_mount(tree->root, "", AT_EMPTY_PATH, &read_only) != 0 ||
	    fchdir(tree->root) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 ||
	    syscall(SYS_umount2, ".", 2 /* MNT_DETACH */) != 0)
		refuse(NULL, "cannot enter the view", errno);
	close(tree->root);
}

void
mount_all(struct mount_tree *tree)
{
	tree->masks[false] = tree->masks[true] = -1;
	make_root(tree);
	for (uint32_t i = 0; i < tree->count; i++) {
		if (tree->mounts[i].at.len > 0)
			mount_one(tree, &tree->mounts[i]);
	}
	make_home(tree);
	make_caches(tree);
	make_links(tree);
	/* Only when all is mounted: there may be mounts inside, such as those
	 * of an allow inside an exclusion. */
	for (uint32_t i = 0; i < tree->count; i++) {
		const struct mounting *mounting = &tree->mounts[i];

		if (!stays_open(tree, mounting) || mounting->fd < 0)
			continue;
		if (set_mount(mounting->fd, "", AT_EMPTY_PATH, &read_only) != 0)
			refuse_place(mounting->at, "cannot close its mount",
			    errno);
		close(mounting->fd);
	}
	enter_root(tree);
	for (size_t i = 0; i < 2; i++) {
		if (tree->masks[i] >= 0)
			close(tree->masks[i]);
	}
}
