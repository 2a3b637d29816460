#include "runtime/view.h"

#include "runtime/kernel.h"
#include "runtime/out.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A place that some rule names, or a place above one, and what is mounted
 * there.  The table is sorted by place, so that a mount comes after those
 * around it and is made inside them.
 */
enum mount_kind {
	MOUNT_NONE, /* what is around it shows it as it is to be */
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
	struct sbx_place at;   /* in the view */
	struct sbx_place from; /* outside; differs in the scratch directory */
	uint64_t attributes;   /* MOUNT_ATTR_* to set */
	int fd;                /* of what is outside, or of a mask, or -1 */
	uint8_t kind;
	bool allowed;          /* some rule may allow this very place */
	bool absent;           /* denied, but nothing is there to mask */
};

struct view {
	struct binding *binding;
	struct view_report *report;
	struct sbx_place scratch;
	int root;            /* of the tmpfs */
	struct mounting *mounts;
	uint32_t count, max;
	struct sbx_place made; /* the last one whose parents were made */
};

static const struct sbx_place proc = { "/proc", 5 }, dev = { "/dev", 4 },
    dev_pts = { "/dev/pts", 8 }, dev_ptmx = { "/dev/ptmx", 9 },
    dev_shm = { "/dev/shm", 8 }, tmp = { "/tmp", 4 }, nothing = { "", 0 };

enum {
	VIEW_MAX_MOUNTS = 8192,
	/* Never lifted: set-user-ID is without force here anyway, and device
	 * files are bound one by one. */
	ALWAYS = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
	TARGET_EMPTY_PATH = 0x40, /* MOVE_MOUNT_T_EMPTY_PATH */
	COPY = OPEN_TREE_CLONE | O_CLOEXEC | MOUNT_TREE | AT_EMPTY_PATH,
};

/*
 * Other processes of the user, a second sandbox among them, may put links into
 * trees that are written: every look-up there is without links.
 */
static const struct open_how unlinked = {
	.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
	.resolve = RESOLVE_NO_SYMLINKS,
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
may(const struct view *view, uint8_t right, struct sbx_place from)
{
	return sbx_verdict_allows(sbx_path_verdict(view->binding->rules,
	    view->binding->rule_count, right, from));
}

/* The scratch directory is seen as /tmp. */
static struct sbx_place
seen_at(const struct view *view, struct sbx_place from)
{
	if (view->scratch.len == 0 || !sbx_covers(view->scratch, from))
		return from;
	return area_join(&view->binding->area, tmp, (struct sbx_place){
	    from.path + view->scratch.len, from.len - view->scratch.len });
}

/*
 * Landlock gives what an allow above a place gives, in the view and denied or
 * not: what the policy does not give there, the mount has to take away.
 */
static bool
is_given_exec(const struct view *view, struct sbx_place at)
{
	const struct binding *binding = view->binding;

	for (uint32_t i = 0; i < binding->rule_count; i++) {
		const struct sbx_rule *rule = &binding->rules[i];

		if (rule->effect == SBX_ALLOW && (rule->rights & SBX_EXEC) &&
		    (sbx_covers(rule->at, at) || (sbx_covers(tmp, at) &&
			view->scratch.len > 0 &&
			sbx_place_compare(rule->at, view->scratch) == 0)))
			return true;
	}
	return false;
}

static uint64_t
attributes_of(const struct view *view, const struct mounting *mounting)
{
	uint64_t attributes = ALWAYS;

	if (!may(view, SBX_WRITE, mounting->from))
		attributes |= MOUNT_ATTR_RDONLY;
	if (!may(view, SBX_EXEC, mounting->from) &&
	    is_given_exec(view, mounting->at))
		attributes |= MOUNT_ATTR_NOEXEC;
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

/* The entry for a place, new ones of kind MOUNT_NONE. */
static struct mounting *
add_mount(struct view *view, struct sbx_place at, struct sbx_place from)
{
	uint32_t index = find_mount(view, at);
	struct mounting *mounting = &view->mounts[index];

	if (index < view->count && sbx_place_compare(mounting->at, at) == 0)
		return mounting;
	if (view->count == view->max)
		refuse_place(at, "the view needs more mounts than the bound",
		    0);
	memmove(mounting + 1, mounting,
	    (view->count - index) * sizeof *mounting);
	*mounting = (struct mounting){ .at = at, .from = from, .fd = -1 };
	view->count++;
	return mounting;
}

/* The innermost mount around a place, or NULL. */
static const struct mounting *
mount_around(const struct view *view, struct sbx_place at)
{
	for (uint32_t i = find_mount(view, at); i-- > 0;) {
		const struct mounting *mounting = &view->mounts[i];

		if (mounting->kind != MOUNT_NONE &&
		    sbx_covers(mounting->at, at))
			return mounting;
	}
	return NULL;
}

/* Whether a mount shows other files than there are outside. */
static bool
is_new(const struct mounting *mounting)
{
	return mounting->kind == MOUNT_PTS || mounting->kind == MOUNT_SHM ||
	    mounting->kind == MOUNT_TMP || mounting->kind == MOUNT_WAY;
}

static void
collect_places(struct view *view)
{
	struct binding *binding = view->binding;

	for (uint32_t i = 0; i < binding->rule_count; i++) {
		const struct sbx_rule *rule = &binding->rules[i];
		const struct site *site = &binding->sites[i];
		struct mounting *mounting;

		if (site->state == RULE_UNBOUND ||
		    (rule->effect == SBX_ALLOW && site->state != RULE_READY))
			continue;
		for (uint16_t j = 0; j < rule->hole_count; j++) {
			mounting = add_mount(view,
			    seen_at(view, rule->holes[j]), rule->holes[j]);
			mounting->allowed |= rule->effect != SBX_ALLOW;
		}
		mounting = add_mount(view, seen_at(view, rule->at), rule->at);
		if (rule->effect != SBX_ALLOW)
			continue;
		mounting->allowed = true;
		/* What is at /tmp/x outside goes before what the scratch
		 * directory has there. */
		if (mounting->fd < 0 || mounting->from.len != rule->at.len) {
			mounting->fd = site->fd;
			mounting->from = rule->at;
		}
	}
}

/* Those of these places that are allowed are new ones. */
static void
collect_own(struct view *view)
{
	const struct {
		struct sbx_place at, from;
		uint8_t kind;
	} own[] = {
		{ proc, proc, MOUNT_PROC },
		{ dev_pts, dev_pts, MOUNT_PTS },
		{ dev_shm, dev_shm, MOUNT_SHM },
		{ tmp, view->scratch, MOUNT_TMP },
	};

	for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
		struct mounting *mounting;

		if (own[i].from.len == 0 || !may(view, SBX_READ, own[i].from))
			continue;
		mounting = add_mount(view, own[i].at, own[i].from);
		mounting->from = own[i].from;
		mounting->kind = own[i].kind;
		mounting->fd = -1;
		mounting->attributes = attributes_of(view, mounting);
	}
}

/*
 * Whether a place is not there.  What a directory of our own hides that is shut
 * may be there, and the command could open that directory.
 */
static bool
is_absent(struct sbx_place at, struct stat *status)
{
	char path[SBX_MAX_PATH + 1];
	int error;

	if (fstatat(AT_FDCWD, path_of(at), status, AT_SYMLINK_NOFOLLOW) == 0)
		return false;
	error = errno;
	if (error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG)
		return true;
	if (error != EACCES)
		refuse_place(at, "cannot look at it", error);
	memcpy(path, at.path, at.len + 1);
	do {
		*strrchr(path, '/') = '\0';
	} while (fstatat(AT_FDCWD, path[0] == '\0' ? "/" : path, status,
		AT_SYMLINK_NOFOLLOW) != 0 && path[0] != '\0');
	if (status->st_uid == geteuid())
		refuse_place(at, "a directory of yours above it is shut, so "
		    "that it cannot be covered", error);
	return true;
}

/*
 * What is mounted at a place inside another mount: what shows it with other
 * rights.  What is not there cannot be covered; what lies under a mask, or
 * under something new, is covered.
 */
static void
settle_inside(struct view *view, struct mounting *mounting,
    const struct mounting *around)
{
	bool readable = may(view, SBX_READ, mounting->from);
	struct stat status;

	if (!readable && (around->kind == MOUNT_MASK || (is_new(around) &&
		mounting->from.path == mounting->at.path)))
		return;
	mounting->attributes = attributes_of(view, mounting);
	if (readable && around->kind != MOUNT_MASK && !is_new(around) &&
	    mounting->attributes == around->attributes &&
	    !sbx_covers(dev, mounting->at))
		return;
	if (is_absent(mounting->from, &status)) {
		mounting->absent = true;
		view->report->absent++;
		return;
	}
	if (S_ISREG(status.st_mode) && status.st_nlink > 1)
		view->report->hard_linked++;
	/* A link keeps its place; what it leads to has an entry of its own. */
	mounting->kind = readable || S_ISLNK(status.st_mode) ? MOUNT_BIND :
							       MOUNT_MASK;
}

static void
settle(struct view *view)
{
	for (uint32_t i = 0; i < view->count; i++) {
		struct mounting *mounting = &view->mounts[i];
		const struct mounting *around =
		    mount_around(view, mounting->at);

		if (mounting->kind != MOUNT_NONE)
			continue;
		if (around != NULL) {
			settle_inside(view, mounting, around);
		} else if (mounting->allowed &&
		    may(view, SBX_READ, mounting->from)) {
			mounting->kind = MOUNT_BIND;
			mounting->attributes = attributes_of(view, mounting);
		}
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
		const struct mounting *mounting = &view->mounts[i];
		const struct mounting *around =
		    mount_around(view, mounting->at);
		struct sbx_place way = mounting->at;

		if (mounting->kind == MOUNT_NONE || around == NULL ||
		    around->kind != MOUNT_TMP ||
		    mounting->from.path != mounting->at.path)
			continue;
		way.len = tmp.len + 1 +
		    (uint32_t)strcspn(way.path + tmp.len + 1, "/");
		if (way.len == mounting->at.len)
			continue;
		way = area_join(&view->binding->area, way, nothing);
		add_mount(view, way, way)->kind = MOUNT_WAY;
	}
}

/* The command starts where it would have started, though nothing be there. */
static void
collect_cwd(struct view *view, struct sbx_place cwd)
{
	struct sbx_place at = seen_at(view, cwd);
	const struct mounting *around = mount_around(view, at);
	struct mounting *mounting;

	if (at.len == 0 || (around != NULL && around->kind != MOUNT_TMP) ||
	    sbx_place_compare(at, tmp) == 0 || at.path != cwd.path)
		return;
	mounting = add_mount(view, at, at);
	if (mounting->kind == MOUNT_NONE)
		mounting->kind = MOUNT_WAY;
}

static bool
is_writable(const struct mounting *mounting)
{
	return (mounting->attributes & MOUNT_ATTR_RDONLY) == 0;
}

/*
 * Every directory between a place that is to stay where it is and the outermost
 * mount around it, where it can be renamed.
 */
static void
pin_ancestors(struct view *view, struct sbx_place at, struct sbx_place from)
{
	while (at.len > 0) {
		const struct mounting *around;
		struct mounting *pin;

		do {
			at.len--;
			from.len--;
		} while (at.len > 0 && at.path[at.len] != '/');
		around = mount_around(view, at);
		if (at.len == 0 || around == NULL || is_new(around) ||
		    around->kind == MOUNT_MASK)
			return;
		if (!is_writable(around))
			continue;
		pin = add_mount(view, area_join(&view->binding->area, at,
		    nothing), area_join(&view->binding->area, from, nothing));
		if (pin->kind != MOUNT_NONE)
			continue;
		pin->kind = MOUNT_PIN;
		pin->attributes = mount_around(view, at)->attributes;
	}
}

/* A pin needs none itself: it was made together with those above it. */
static void
pin_all(struct view *view)
{
	for (uint32_t i = 0; i < view->count; i++) {
		struct mounting mounting = view->mounts[i];
		uint32_t before = view->count;

		if (mounting.kind == MOUNT_MASK || (mounting.kind ==
			MOUNT_BIND && !is_writable(&mounting)))
			pin_ancestors(view, mounting.at, mounting.from);
		i += view->count - before;
	}
}

/* For the plan: denied places that are not there to mask. */
static void
note_absent(struct view *view)
{
	struct binding *binding = view->binding;

	for (uint32_t i = 0; i < binding->rule_count; i++) {
		struct sbx_place at = seen_at(view, binding->rules[i].at);
		uint32_t index;

		if (binding->rules[i].effect == SBX_ALLOW ||
		    binding->sites[i].state == RULE_UNBOUND)
			continue;
		index = find_mount(view, at);
		if (index < view->count && view->mounts[index].absent)
			binding->sites[i].state = RULE_ABSENT;
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

/* Where the last directory ends that two places have above them. */
static uint32_t
shared_parents(struct sbx_place a, struct sbx_place b)
{
	uint32_t shared = 0;

	for (uint32_t i = 0; i < a.len && i < b.len && a.path[i] == b.path[i];
	    i++) {
		if (a.path[i] == '/')
			shared = i;
	}
	return shared;
}

/* The directories above a place.  Places come in path order: most of what is
 * above one was made for the one before. */
static void
make_parents(struct view *view, struct sbx_place at)
{
	char path[SBX_MAX_PATH + 1];
	uint32_t done = shared_parents(view->made, at);

	memcpy(path, at.path, at.len + 1);
	for (char *slash = path + done + 1;
	    (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		mkdirat(view->root, path + 1, 0755);
		*slash = '/';
	}
	view->made = at;
}

/* What a mount is put on: of its own kind, directory or file. */
static void
make_node(int parent, const char *name, bool directory)
{
	int fd;

	if (directory) {
		mkdirat(parent, name, 0755);
		return;
	}
	fd = openat(parent, name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd >= 0)
		close(fd);
}

/* With all above it, step by step: the scratch directory may hold anything. */
static void
make_path(const struct view *view, struct sbx_place at, bool directory)
{
	char path[SBX_MAX_PATH + 1], *name = path, *slash;
	int parent = view->root, next;

	memcpy(path, inside(at), at.len);
	while ((slash = strchr(name, '/')) != NULL) {
		*slash = '\0';
		make_node(parent, name, true);
		next = openat(parent, name,
		    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			refuse_place(at, "something is in its way in the "
			    "scratch directory", errno);
		if (parent != view->root)
			close(parent);
		parent = next;
		name = slash + 1;
	}
	make_node(parent, name, directory);
	if (parent != view->root)
		close(parent);
}

/* Inside a bind there is what outside is; elsewhere there is nothing yet. */
static void
attach(struct view *view, struct sbx_place at, int mount, bool directory)
{
	const struct mounting *around = mount_around(view, at);
	int target;

	if (around == NULL) {
		/* On the tmpfs of the root all is our own. */
		make_parents(view, at);
		make_node(view->root, inside(at), directory);
		if (attach_mount(mount, view->root, inside(at)) != 0)
			refuse_place(at, "cannot mount it into the view",
			    errno);
		return;
	}
	if (is_new(around) || around->kind == MOUNT_MASK)
		make_path(view, at, directory);
	target = openat2(view->root, inside(at), &unlinked);
	if (target < 0 || syscall(SYS_move_mount, mount, "", target, "",
		MOVE_MOUNT_F_EMPTY_PATH | TARGET_EMPTY_PATH) != 0)
		refuse_place(at, "cannot mount it into the view", errno);
	close(target);
}

static bool
is_directory(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISDIR(status.st_mode);
}

/* What is outside: -1 if nothing is there any more. */
static int
open_outside(const struct mounting *mounting)
{
	int fd = mounting->fd >= 0 ?
	    fcntl(mounting->fd, F_DUPFD_CLOEXEC, 3) :
	    openat2(AT_FDCWD, path_of(mounting->from), &unlinked);

	if (fd < 0 && errno != ENOENT && errno != ENOTDIR)
		refuse_place(mounting->from, "cannot open what the view is to "
		    "show", errno);
	return fd;
}

static int
clone_place(const struct mounting *mounting)
{
	struct mount_attributes attributes = { .set = mounting->attributes };
	int outside = open_outside(mounting), mount;

	if (outside < 0)
		return -1;
	if (sbx_covers(dev, mounting->at))
		attributes.set &= ~(uint64_t)MOUNT_ATTR_NODEV;
	mount = (int)syscall(SYS_open_tree, outside, "", COPY);
	if (mount < 0)
		refuse_place(mounting->from, "cannot copy its mount", errno);
	if (set_mount(mount, "", AT_EMPTY_PATH | MOUNT_TREE, &attributes) != 0)
		refuse_place(mounting->from, "cannot restrict its mount",
		    errno);
	close(outside);
	return mount;
}

static void
mount_bind(struct view *view, const struct mounting *mounting)
{
	int mount = clone_place(mounting);

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
mount_mask(struct view *view, struct mounting *mounting)
{
	static const struct mount_attributes closed = {
		.set = MOUNT_ATTR_RDONLY | ALWAYS | MOUNT_ATTR_NOEXEC
	};
	int outside = open_outside(mounting), mount;
	bool directory = outside >= 0 && is_directory(outside);

	if (outside < 0)
		return;
	close(outside);
	mount = directory ? new_mount("tmpfs", "mode", "0111", ALWAYS) :
			    clone_tree("/dev/null");
	if (mount < 0 || (!directory &&
		set_mount(mount, "", AT_EMPTY_PATH, &closed) != 0))
		refuse_place(mounting->at, "cannot make a mask for it", errno);
	attach(view, mounting->at, mount, directory);
	mounting->fd = mount;
	view->report->masks++;
}

static void
mount_proc(struct view *view, const struct mounting *mounting)
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
mount_pts(struct view *view, const struct mounting *mounting)
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
mount_shm(struct view *view, const struct mounting *mounting)
{
	int mount = new_mount("tmpfs", "mode", "1777", mounting->attributes);

	if (mount < 0)
		refuse_place(mounting->at, "cannot mount a new one", errno);
	attach(view, mounting->at, mount, true);
	close(mount);
}

static void
mount_way(struct view *view, struct mounting *mounting)
{
	mounting->fd = new_mount("tmpfs", "mode", "0755", ALWAYS);
	if (mounting->fd < 0)
		refuse_place(mounting->at, "cannot mount a new one", errno);
	attach(view, mounting->at, mounting->fd, true);
}

static void
mount_one(struct view *view, struct mounting *mounting)
{
	switch ((enum mount_kind)mounting->kind) {
	case MOUNT_NONE:
		break;
	case MOUNT_BIND:
	case MOUNT_TMP:
		mount_bind(view, mounting);
		break;
	case MOUNT_PIN:
		mount_bind(view, mounting);
		view->report->pins++;
		break;
	case MOUNT_WAY:
		mount_way(view, mounting);
		break;
	case MOUNT_MASK:
		mount_mask(view, mounting);
		break;
	case MOUNT_PROC:
		mount_proc(view, mounting);
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

		if ((mounting->kind != MOUNT_MASK &&
			mounting->kind != MOUNT_WAY) || mounting->fd < 0)
			continue;
		if (set_mount(mounting->fd, "", AT_EMPTY_PATH,
			&read_only) != 0)
			refuse_place(mounting->at, "cannot close its mount",
			    errno);
		close(mounting->fd);
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
	if (view->count > 0 && view->mounts[0].at.len == 0 &&
	    view->mounts[0].kind == MOUNT_BIND) {
		view->root = clone_place(&view->mounts[0]);
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
make_links(struct view *view)
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

static void
return_to(struct sbx_place cwd)
{
	if (chdir(path_of(cwd)) != 0)
		refuse_place(cwd, "the command cannot start in this directory",
		    errno);
}

/* Landlock rules hold inodes: these places have others now. */
static void
forget_replaced(const struct view *view)
{
	static const struct sbx_place *const replaced[] = {
		&proc, &dev_pts, &dev_ptmx, &dev_shm,
	};
	struct binding *binding = view->binding;

	for (uint32_t i = 0; i < binding->rule_count; i++) {
		for (size_t j = 0; j < sizeof replaced / sizeof *replaced; j++) {
			if (sbx_covers(*replaced[j], binding->rules[i].at))
				binding->sites[i].fd = -1;
		}
	}
}

/* From here on the scratch directory is known by its new name only. */
static void
rename_scratch(struct view *view)
{
	struct binding *binding = view->binding;

	for (uint32_t i = 0; i < binding->rule_count; i++)
		binding->rules[i].at = seen_at(view, binding->rules[i].at);
	for (uint32_t i = 0; i < binding->hole_count; i++)
		binding->holes[i] = seen_at(view, binding->holes[i]);
	if (view->scratch.len > 0)
		binding->anchors[SBX_ANCHOR_TMP] = tmp;
}

void
view_build(struct binding *binding, struct view_report *report)
{
	char cwd[SBX_MAX_PATH + 1] = "/";
	struct view view = { .binding = binding, .report = report };

	current_path(cwd, sizeof cwd);
	/* Where the policy allows the outer /tmp, that is shown. */
	if (!may(&view, SBX_READ, tmp))
		view.scratch = binding->anchors[SBX_ANCHOR_TMP];
	view.max = VIEW_MAX_MOUNTS;
	view.mounts = area_take(&binding->area, view.max, sizeof *view.mounts);
	collect_places(&view);
	collect_own(&view);
	settle(&view);
	collect_cwd(&view, place_of(cwd));
	collect_ways(&view);
	pin_all(&view);
	note_absent(&view);
	make_root(&view);
	for (uint32_t i = 0; i < view.count; i++) {
		if (view.mounts[i].at.len > 0)
			mount_one(&view, &view.mounts[i]);
	}
	make_links(&view);
	close_empty(&view);
	enter_root(&view);
	forget_replaced(&view);
	rename_scratch(&view);
	return_to(seen_at(&view, place_of(cwd)));
}
