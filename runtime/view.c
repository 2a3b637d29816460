#include "runtime/view.h"

#include "runtime/kernel.h"
#include "runtime/out.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * One mount of the view.  The table is sorted by place, so that a mount comes
 * after those around it and is made inside them.
 */
enum mount_kind {
	MOUNT_BIND,
	MOUNT_PROC, /* new ones of the sandbox's own */
	MOUNT_PTS,
	MOUNT_SHM,
	MOUNT_TMP,  /* the scratch directory */
	MOUNT_WAY,  /* an empty directory, for what is allowed below /tmp */
	MOUNT_PIN,  /* a bind of a directory on itself, so that it keeps its
	             * name and what is masked below stays below it */
	MOUNT_MASK, /* an empty directory or file that nobody may open */
};

struct mounting {
	struct sbx_place at;
	uint64_t attributes; /* MOUNT_ATTR_* to set */
	uint8_t kind;
};

struct view {
	struct binding *binding;
	struct view_report *report;
	int root;            /* of the tmpfs */
	struct mounting *mounts;
	uint32_t count, max;
};

static const struct sbx_place proc = { "/proc", 5 }, dev = { "/dev", 4 },
    dev_pts = { "/dev/pts", 8 }, dev_ptmx = { "/dev/ptmx", 9 },
    dev_shm = { "/dev/shm", 8 }, tmp = { "/tmp", 4 }, nothing = { "", 0 };

enum {
	VIEW_MAX_MOUNTS = 8192,
	/* Never lifted: set-user-ID is without force here anyway, and device
	 * files are bound one by one. */
	ALWAYS = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
};

__attribute__((noreturn))
static void
refuse_place(struct sbx_place at, const char *text, int error)
{
	refuse(at.len == 0 ? "/" : at.path, text, error);
}

static const char *
path_of(struct sbx_place at)
{
	return at.len == 0 ? "/" : at.path;
}

/* The same below the new root, which the path is relative to. */
static const char *
inside(struct sbx_place at)
{
	return at.len == 0 ? "." : at.path + 1;
}

/* --- the table ------------------------------------------------------------ */

static bool
may(const struct view *view, uint8_t right, struct sbx_place at)
{
	return sbx_verdict_allows(sbx_path_verdict(view->binding->rules,
	    view->binding->rule_count, right, at));
}

static uint64_t
attributes_of(const struct view *view, struct sbx_place at)
{
	uint64_t attributes = ALWAYS;

	if (!may(view, SBX_WRITE, at))
		attributes |= MOUNT_ATTR_RDONLY;
	return attributes;
}

/* Where a place goes into the table, or stands in it already. */
static uint32_t
find_mount(const struct view *view, struct sbx_place at)
{
	uint32_t low = 0, high = view->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (sbx_place_compare(view->mounts[middle].at, at) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool
is_mounted(const struct view *view, struct sbx_place at)
{
	uint32_t index = find_mount(view, at);

	return index < view->count &&
	    sbx_place_compare(view->mounts[index].at, at) == 0;
}

static void
add_mount(struct view *view, struct sbx_place at, uint8_t kind,
    uint64_t attributes)
{
	uint32_t index = find_mount(view, at);

	if (is_mounted(view, at))
		return;
	if (view->count == view->max)
		refuse_place(at, "the view needs more mounts than the bound",
		    0);
	memmove(view->mounts + index + 1, view->mounts + index,
	    (view->count - index) * sizeof *view->mounts);
	view->mounts[index] = (struct mounting){ at, attributes, kind };
	view->count++;
}

/* The innermost mount of the table around a place, or NULL. */
static const struct mounting *
mount_around(const struct view *view, struct sbx_place at)
{
	for (uint32_t i = find_mount(view, at); i-- > 0;) {
		if (sbx_covers(view->mounts[i].at, at))
			return &view->mounts[i];
	}
	return NULL;
}

/* Whether a mount shows other files than there are outside. */
static bool
is_new(uint8_t kind)
{
	return kind == MOUNT_PTS || kind == MOUNT_SHM || kind == MOUNT_TMP ||
	    kind == MOUNT_WAY;
}

static bool
is_link(struct sbx_place at)
{
	char target;

	return readlink(path_of(at), &target, 1) >= 0;
}

/* Every directory between the mount around a place and the place. */
static void
pin_ancestors(struct view *view, const struct mounting *around,
    struct sbx_place at)
{
	struct sbx_place above = at;
	uint64_t attributes = around->attributes;
	uint32_t least = around->at.len;

	for (;;) {
		while (above.len > least && above.path[above.len - 1] != '/')
			above.len--;
		if (above.len <= least + 1)
			return;
		above.len--;
		add_mount(view, area_join(&view->binding->area, above,
		    nothing), MOUNT_PIN, attributes);
	}
}

/*
 * A place where a right may end inside an allowed tree.  What is not there
 * cannot be covered: false; and a link cannot be mounted on: what it leads to is
 * covered where that is.
 */
static bool
add_cut(struct view *view, struct sbx_place at)
{
	const struct mounting *around = mount_around(view, at);
	uint64_t attributes;
	struct stat status;

	if (around == NULL || is_link(at))
		return true;
	/* What the policy names is not what lies in there. */
	if (is_new(around->kind))
		return false;
	if (fstatat(AT_FDCWD, path_of(at), &status, AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	attributes = attributes_of(view, at);
	if (may(view, SBX_EXEC, around->at) && !may(view, SBX_EXEC, at))
		attributes |= MOUNT_ATTR_NOEXEC;
	if (may(view, SBX_READ, at) && attributes == around->attributes)
		return true;
	if (S_ISREG(status.st_mode) && status.st_nlink > 1)
		view->report->hard_linked++;
	if ((around->attributes & MOUNT_ATTR_RDONLY) == 0)
		pin_ancestors(view, around, at);
	add_mount(view, at, may(view, SBX_READ, at) ? MOUNT_BIND : MOUNT_MASK,
	    attributes);
	return true;
}

static void
collect_binds(struct view *view)
{
	struct binding *binding = view->binding;

	for (uint32_t i = 0; i < binding->rule_count; i++) {
		const struct sbx_rule *rule = &binding->rules[i];

		if (rule->effect == SBX_ALLOW &&
		    binding->sites[i].state == RULE_READY &&
		    may(view, SBX_READ, rule->at))
			add_mount(view, rule->at, MOUNT_BIND,
			    attributes_of(view, rule->at));
	}
}

/* Those of these places that are allowed are new ones. */
static void
collect_own(struct view *view)
{
	static const struct {
		const struct sbx_place *at;
		uint8_t kind;
	} own[] = {
		{ &proc, MOUNT_PROC },
		{ &dev_pts, MOUNT_PTS },
		{ &dev_shm, MOUNT_SHM },
		{ &tmp, MOUNT_TMP },
	};

	for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
		struct sbx_place at = *own[i].at;

		if (!may(view, SBX_READ, at) || (own[i].kind == MOUNT_TMP &&
			view->binding->scratch[0] == '\0'))
			continue;
		add_mount(view, at, own[i].kind, attributes_of(view, at));
		view->mounts[find_mount(view, at)].kind = own[i].kind;
	}
}

/*
 * What is allowed below /tmp is mounted there, not in the scratch directory:
 * nothing but one empty directory is left in that, and beside the allowed
 * place there is nothing that could be written.
 */
static void
collect_ways(struct view *view)
{
	for (uint32_t i = 0; i < view->count; i++) {
		struct sbx_place way = view->mounts[i].at;
		const struct mounting *around = mount_around(view, way);
		size_t name;

		if (around == NULL || around->kind != MOUNT_TMP)
			continue;
		name = strcspn(way.path + tmp.len + 1, "/");
		if (tmp.len + 1 + name == way.len)
			continue;
		way.len = (uint32_t)(tmp.len + 1 + name);
		add_mount(view, area_join(&view->binding->area, way, nothing),
		    MOUNT_WAY, ALWAYS);
	}
}

static void
collect_cuts(struct view *view)
{
	struct binding *binding = view->binding;

	for (uint32_t i = 0; i < binding->rule_count; i++) {
		const struct sbx_rule *rule = &binding->rules[i];

		if (rule->effect != SBX_ALLOW &&
		    binding->sites[i].state != RULE_UNBOUND &&
		    !add_cut(view, rule->at)) {
			binding->sites[i].state = RULE_ABSENT;
			view->report->absent++;
		}
		for (uint16_t j = 0; j < rule->hole_count; j++)
			view->report->absent += !add_cut(view, rule->holes[j]);
	}
}

/* --- mounting ------------------------------------------------------------- */

/* A new file system, detached; with one option. */
static int
new_mount(const char *type, const char *option, const char *value,
    uint64_t attributes)
{
	int context = (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);
	int mount = -1;

	if (context < 0)
		return -1;
	if ((option == NULL || syscall(SYS_fsconfig, context,
		 FSCONFIG_SET_STRING, option, value, 0) == 0) &&
	    syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL,
		0) == 0)
		mount = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC,
		    attributes);
	close(context);
	return mount;
}

/* The directories above a place, as far as they are missing. */
static void
make_parents(const struct view *view, struct sbx_place at)
{
	char path[SBX_MAX_PATH + 1];

	memcpy(path, inside(at), at.len);
	for (char *slash = path; (slash = strchr(slash, '/')) != NULL;
	    slash++) {
		*slash = '\0';
		mkdirat(view->root, path, 0755);
		*slash = '/';
	}
}

/* What a mount is put on: of its own kind, directory or file. */
static void
make_node(const struct view *view, struct sbx_place at, bool directory)
{
	int fd;

	make_parents(view, at);
	if (directory) {
		mkdirat(view->root, inside(at), 0755);
		return;
	}
	fd = openat(view->root, inside(at),
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd >= 0)
		close(fd);
}

static void
attach(const struct view *view, struct sbx_place at, int mount, bool directory)
{
	if (attach_mount(mount, view->root, inside(at)) == 0)
		return;
	if (errno == ENOENT) {
		make_node(view, at, directory);
		if (attach_mount(mount, view->root, inside(at)) == 0)
			return;
	}
	refuse_place(at, "cannot mount it into the view", errno);
}

static bool
is_directory(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISDIR(status.st_mode);
}

/* -1: nothing is there any more. */
static int
clone_place(const struct view *view, const struct mounting *mounting)
{
	const char *source = mounting->kind == MOUNT_TMP ?
	    view->binding->scratch : path_of(mounting->at);
	struct mount_attributes attributes = { .set = mounting->attributes };
	int mount;

	if (sbx_covers(dev, mounting->at))
		attributes.set &= ~(uint64_t)MOUNT_ATTR_NODEV;
	mount = clone_tree(source);
	if (mount < 0 && (errno == ENOENT || errno == ENOTDIR))
		return -1;
	if (mount < 0)
		refuse_place(mounting->at, "cannot copy its mount", errno);
	if (set_mount(mount, "", AT_EMPTY_PATH | MOUNT_TREE, &attributes) != 0)
		refuse_place(mounting->at, "cannot restrict its mount", errno);
	return mount;
}

static void
mount_bind(const struct view *view, const struct mounting *mounting)
{
	int mount = clone_place(view, mounting);

	if (mount < 0)
		return;
	attach(view, mounting->at, mount, is_directory(mount));
	close(mount);
	view->report->binds++;
}

/*
 * A device file on a mount that has no devices cannot be opened, whoever asks
 * and whatever its mode; a directory that may only be passed through cannot be
 * listed by anybody without capabilities.
 */
static void
mount_mask(const struct view *view, const struct mounting *mounting)
{
	static const struct mount_attributes closed = {
		.set = MOUNT_ATTR_RDONLY | ALWAYS | MOUNT_ATTR_NOEXEC
	};
	struct stat status;
	bool directory;
	int mount;

	if (fstatat(AT_FDCWD, path_of(mounting->at), &status,
		AT_SYMLINK_NOFOLLOW) != 0)
		return;
	directory = S_ISDIR(status.st_mode);
	mount = directory ? new_mount("tmpfs", "mode", "0111", ALWAYS) :
			    clone_tree("/dev/null");
	if (mount < 0 || (!directory &&
		set_mount(mount, "", AT_EMPTY_PATH, &closed) != 0))
		refuse_place(mounting->at, "cannot make a mask for it", errno);
	attach(view, mounting->at, mount, directory);
	close(mount);
	view->report->masks++;
}

static void
mount_proc(const struct view *view, const struct mounting *mounting)
{
	int mount = new_mount("proc", NULL, NULL, ALWAYS | MOUNT_ATTR_NOEXEC);

	/* EPERM: a container masks parts of the outer one, and a new one
	 * would show them. */
	view->report->own_proc = mount >= 0;
	if (mount < 0) {
		mount_bind(view, mounting);
		return;
	}
	attach(view, mounting->at, mount, true);
	close(mount);
}

/* /dev/ptmx belongs to the instance of devpts that it lies in. */
static void
mount_pts(const struct view *view, const struct mounting *mounting)
{
	int mount = new_mount("devpts", "ptmxmode", "0666",
	    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	int master;

	if (mount < 0)
		refuse_place(mounting->at, "cannot mount a new one", errno);
	attach(view, mounting->at, mount, true);
	close(mount);
	master = (int)syscall(SYS_open_tree, view->root, "dev/pts/ptmx",
	    OPEN_TREE_CLONE | O_CLOEXEC);
	if (master < 0)
		refuse_place(dev_ptmx, "cannot copy its mount", errno);
	attach(view, dev_ptmx, master, false);
	close(master);
}

static void
mount_shm(const struct view *view, const struct mounting *mounting)
{
	int mount = new_mount("tmpfs", "mode", "1777", mounting->attributes);

	if (mount < 0)
		refuse_place(mounting->at, "cannot mount a new one", errno);
	attach(view, mounting->at, mount, true);
	close(mount);
}

static void
mount_way(const struct view *view, const struct mounting *mounting)
{
	int mount = new_mount("tmpfs", "mode", "0755", ALWAYS);

	if (mount < 0)
		refuse_place(mounting->at, "cannot mount a new one", errno);
	attach(view, mounting->at, mount, true);
	close(mount);
}

/* A bind shows what the mount around it shows, if their attributes are one. */
static bool
is_shown(const struct view *view, const struct mounting *mounting)
{
	const struct mounting *around = mount_around(view, mounting->at);

	return around != NULL && around->kind == MOUNT_BIND &&
	    around->attributes == mounting->attributes &&
	    !sbx_covers(dev, mounting->at);
}

static void
mount_one(const struct view *view, const struct mounting *mounting)
{
	switch ((enum mount_kind)mounting->kind) {
	case MOUNT_BIND:
		if (!is_shown(view, mounting))
			mount_bind(view, mounting);
		break;
	case MOUNT_TMP:
		mount_bind(view, mounting);
		break;
	case MOUNT_PIN:
		mount_bind(view, mounting);
		view->report->pins++;
		break;
	case MOUNT_MASK:
		mount_mask(view, mounting);
		break;
	case MOUNT_PROC:
		mount_proc(view, mounting);
		break;
	case MOUNT_WAY:
		mount_way(view, mounting);
		break;
	case MOUNT_PTS:
		mount_pts(view, mounting);
		break;
	case MOUNT_SHM:
		mount_shm(view, mounting);
		break;
	}
}

/* Only now, for there may be mounts inside: an allow inside a hole. */
static void
close_empty(const struct view *view)
{
	static const struct mount_attributes read_only = {
		.set = MOUNT_ATTR_RDONLY
	};

	for (uint32_t i = 0; i < view->count; i++) {
		const struct mounting *mounting = &view->mounts[i];

		if ((mounting->kind == MOUNT_MASK ||
			mounting->kind == MOUNT_WAY) &&
		    set_mount(view->root, inside(mounting->at),
			AT_SYMLINK_NOFOLLOW, &read_only) != 0 &&
		    errno != ENOENT)
			refuse_place(mounting->at, "cannot close its mount",
			    errno);
	}
}

/* --- the root ------------------------------------------------------------- */

/* A copy of the whole tree where the policy allows it, else an empty one. */
static void
make_root(struct view *view)
{
	static const struct mount_attributes private = {
		.propagation = 1 << 18 /* MS_PRIVATE */
	};

	if (set_mount(AT_FDCWD, "/", MOUNT_TREE, &private) != 0)
		refuse(NULL, "cannot part from the outer mounts", errno);
	if (view->count > 0 && view->mounts[0].at.len == 0) {
		view->root = clone_place(view, &view->mounts[0]);
		view->report->binds++;
	} else {
		view->root = new_mount("tmpfs", "mode", "0755", ALWAYS);
	}
	/* On top of the root that our own look-ups go on to start from. */
	if (view->root < 0 || attach_mount(view->root, AT_FDCWD, "/") != 0)
		refuse(NULL, "cannot make the root of the view", errno);
}

/* Links lead where they did, as far as they are not inside a bind. */
static void
make_links(const struct view *view)
{
	const struct binding *binding = view->binding;
	static const struct {
		const char *name, *target;
	} in_dev[] = {
		{ "dev/fd", "/proc/self/fd" },
		{ "dev/stdin", "/proc/self/fd/0" },
		{ "dev/stdout", "/proc/self/fd/1" },
		{ "dev/stderr", "/proc/self/fd/2" },
	};

	for (uint32_t i = 0; i < binding->link_count; i++) {
		struct sbx_place at = binding->links[i].at;
		char target[SBX_MAX_PATH + 1];
		ssize_t len;

		if (mount_around(view, at) != NULL)
			continue;
		len = readlink(at.path, target, sizeof target - 1);
		if (len < 0)
			continue;
		target[len] = '\0';
		make_parents(view, at);
		if (symlinkat(target, view->root, inside(at)) != 0 &&
		    errno != EEXIST)
			refuse_place(at, "cannot make the link in the view",
			    errno);
	}
	if (mount_around(view, dev_pts) != NULL)
		return;
	for (size_t i = 0; i < sizeof in_dev / sizeof *in_dev; i++)
		symlinkat(in_dev[i].target, view->root, in_dev[i].name);
}

static void
enter_root(const struct view *view)
{
	static const struct mount_attributes read_only = {
		.set = MOUNT_ATTR_RDONLY
	};

	if (set_mount(view->root, "", AT_EMPTY_PATH, &read_only) != 0 ||
	    fchdir(view->root) != 0 ||
	    syscall(SYS_pivot_root, ".", ".") != 0 ||
	    syscall(SYS_umount2, ".", 2 /* MNT_DETACH */) != 0)
		refuse(NULL, "cannot enter the view", errno);
	close(view->root);
}

/* Where we were, if it is still there. */
static void
return_to(struct sbx_place cwd, struct sbx_place workspace)
{
	if (chdir(path_of(cwd)) != 0 && chdir(path_of(workspace)) != 0)
		refuse_place(workspace, "the policy does not show the "
		    "workspace", errno);
}

/* Landlock rules hold inodes: these places have others now. */
static void
forget_replaced(const struct view *view)
{
	static const struct sbx_place *const replaced[] = {
		&proc, &dev_pts, &dev_ptmx, &dev_shm, &tmp,
	};
	struct binding *binding = view->binding;

	for (uint32_t i = 0; i < binding->rule_count; i++) {
		for (size_t j = 0; j < sizeof replaced / sizeof *replaced; j++) {
			if (sbx_covers(*replaced[j], binding->rules[i].at))
				binding->sites[i].fd = -1;
		}
	}
}

void
view_build(struct binding *binding, struct view_report *report)
{
	char cwd[SBX_MAX_PATH + 1] = "/";
	struct view view = { .binding = binding, .report = report };

	current_path(cwd, sizeof cwd);
	view.max = VIEW_MAX_MOUNTS;
	view.mounts = area_take(&binding->area, view.max, sizeof *view.mounts);
	collect_binds(&view);
	collect_own(&view);
	collect_ways(&view);
	collect_cuts(&view);
	make_root(&view);
	for (uint32_t i = 0; i < view.count; i++) {
		if (view.mounts[i].at.len > 0)
			mount_one(&view, &view.mounts[i]);
	}
	make_links(&view);
	close_empty(&view);
	enter_root(&view);
	forget_replaced(&view);
	return_to(place_of(cwd), binding->anchors[SBX_ANCHOR_WORKSPACE]);
}
