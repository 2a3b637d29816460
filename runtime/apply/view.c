#include "runtime/apply/view.h"

#include "format/sort.h"
#include "runtime/apply/mount.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * What is mounted where.  Every place that some rule names is looked at once,
 * in path order; what comes out is a table of the few that differ from what is
 * around them.
 */
struct mount_tree {
	struct binding *binding;
	struct view_report *report;
	struct sbx_place scratch;
	struct mounts mounts;
	uint32_t *outer; /* while settling, beside the mounts: which of them is
	                  * around each, its index + 1, or 0 */
	bool proc_tried, proc_covered; /* the outer /proc, by our own */
};

/* A rule or an exclusion of one that names a place, or a file system of the sandbox's
 * own that goes there. */
struct naming {
	struct sbx_place at; /* in the view */
	uint32_t rule;       /* its index; OWN + which */
	uint32_t exclusion;  /* index of the exclusion, or WHOLE */
};

enum { VIEW_MAX_MOUNTS = 8192 };

static const uint32_t WHOLE = UINT32_MAX, OWN = UINT32_MAX / 2;

static const struct sbx_place proc = { "/proc", 5 }, tmp = { "/tmp", 4 },
			      nothing = { "", 0 };

/* --- verdicts ------------------------------------------------------------- */

static bool
may(struct mount_tree *tree, uint8_t right, struct sbx_place from)
{
	return cover_allows(&tree->binding->cover, right, from);
}

static bool
is_scratch(const struct mount_tree *tree, struct sbx_place from)
{
	return tree->scratch.len > 0 && sbx_covers(tree->scratch, from);
}

/* The scratch directory is seen as /tmp. */
static struct sbx_place
seen_at(const struct mount_tree *tree, struct sbx_place from)
{
	if (!is_scratch(tree, from))
		return from;
	return arena_join(&tree->binding->arena, tmp,
	    (struct sbx_place){ from.path + tree->scratch.len,
		from.len - tree->scratch.len });
}

/*
 * Landlock gives what an allow above a place gives, in the view and denied or
 * not: what the policy does not give there, the mount has to take away.
 */
static bool
is_given_exec(struct mount_tree *tree, struct sbx_place at)
{
	const struct binding *binding = tree->binding;

	if (cover_gives(&tree->binding->cover, SBX_EXEC, at))
		return true;
	if (tree->scratch.len == 0 || !sbx_covers(tmp, at))
		return false;
	for (uint32_t i = 0; i < binding->rule_count; i++) {
		const struct sbx_rule *rule = &binding->rules[i];

		if (rule->effect == SBX_ALLOW && (rule->rights & SBX_EXEC) &&
		    sbx_place_compare(rule->at, tree->scratch) == 0)
			return true;
	}
	return false;
}

static uint64_t
attributes_of(struct mount_tree *tree, const struct mounting *mounting)
{
	uint64_t attributes = MOUNT_ALWAYS;

	if (!may(tree, SBX_WRITE, mounting->from))
		attributes |= MOUNT_ATTR_RDONLY;
	if (!may(tree, SBX_EXEC, mounting->from) &&
	    is_given_exec(tree, mounting->at))
		attributes |= MOUNT_ATTR_NOEXEC;
	return attributes;
}

/* --- what the rules name -------------------------------------------------- */

/* Those of these places that are allowed are new ones. */
struct own {
	struct sbx_place at, from;
	uint8_t kind;
};

enum { OWN_COUNT = 4 };

static struct own
own_mount(const struct mount_tree *tree, uint32_t index)
{
	const struct own own[OWN_COUNT] = {
		{ proc, proc, MOUNT_PROC },
		{ place_dev_pts, place_dev_pts, MOUNT_PTS },
		{ place_dev_shm, place_dev_shm, MOUNT_SHM },
		{ tmp, tree->scratch, MOUNT_TMP },
	};

	return own[index];
}

static struct sbx_place
named_outside(const struct mount_tree *tree, const struct naming *naming)
{
	const struct binding *binding = tree->binding;

	if (naming->rule >= OWN)
		return own_mount(tree, naming->rule - OWN).from;
	return naming->exclusion == WHOLE ?
	    binding->rules[naming->rule].at :
	    binding->exclusions[naming->exclusion];
}

static void
name_place(const struct mount_tree *tree, struct naming *naming, uint32_t rule,
    uint32_t exclusion)
{
	*naming = (struct naming){ .rule = rule, .exclusion = exclusion };
	naming->at = seen_at(tree, named_outside(tree, naming));
}

static uint32_t
collect_rules(struct mount_tree *tree, struct naming *names)
{
	const struct binding *binding = tree->binding;
	uint32_t count = 0;

	for (uint32_t i = 0; i < binding->rule_count; i++) {
		const struct sbx_rule *rule = &binding->rules[i];

		if (binding->sites[i].state == RULE_UNBOUND ||
		    (rule->effect == SBX_ALLOW &&
			binding->sites[i].state != RULE_READY))
			continue;
		for (uint16_t j = 0; j < rule->exclusion_count; j++)
			name_place(tree, &names[count++], i,
			    (uint32_t)(&rule->exclusions[j] -
				binding->exclusions));
		name_place(tree, &names[count++], i, WHOLE);
	}
	return count;
}

static uint32_t
collect_own(struct mount_tree *tree, struct naming *names, uint32_t count)
{
	for (uint32_t i = 0; i < OWN_COUNT; i++) {
		struct own own = own_mount(tree, i);

		if (own.from.len == 0 || !may(tree, SBX_READ, own.from))
			continue;
		names[count++] = (struct naming){ .at = own.at,
			.rule = OWN + i,
			.exclusion = WHOLE };
	}
	return count;
}

static bool
name_before(const void *context, uint32_t a, uint32_t b)
{
	const struct naming *names = context;

	return sbx_place_compare(names[a].at, names[b].at) < 0;
}

/* --- what is mounted at a place ------------------------------------------- */

/* All that names one place: names[order[0..count)]. */
struct place {
	struct mounting mounting;
	const struct naming *names;
	const uint32_t *order;
	uint32_t count;
	bool allowed; /* some rule may allow this very place */
	bool missing; /* nothing was there when the rules were bound */
};

static void
take_rule(struct mount_tree *tree, struct place *place,
    const struct naming *naming)
{
	const struct sbx_rule *rule = &tree->binding->rules[naming->rule];
	const struct site *site = &tree->binding->sites[naming->rule];
	struct mounting *mounting = &place->mounting;

	if (naming->exclusion != WHOLE) {
		place->allowed |= rule->effect != SBX_ALLOW;
		return;
	}
	place->missing |= site->missing;
	if (rule->effect != SBX_ALLOW)
		return;
	place->allowed = true;
	/* What is at /tmp/x outside goes before what the scratch directory has
	 * there. */
	if (mounting->fd < 0 || mounting->from.len != rule->at.len) {
		mounting->fd = site->fd;
		mounting->from = rule->at;
	}
}

static void
take_names(struct mount_tree *tree, struct place *place)
{
	struct mounting *mounting = &place->mounting;

	*mounting = (struct mounting){
		.at = place->names[place->order[0]].at,
		.from = named_outside(tree, &place->names[place->order[0]]),
		.fd = -1,
	};
	for (uint32_t i = 0; i < place->count; i++) {
		const struct naming *naming = &place->names[place->order[i]];

		if (naming->rule < OWN) {
			take_rule(tree, place, naming);
			continue;
		}
		mounting->from = named_outside(tree, naming);
		mounting->kind = own_mount(tree, naming->rule - OWN).kind;
		mounting->fd = -1;
		mounting->attributes = attributes_of(tree, mounting);
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
		     AT_SYMLINK_NOFOLLOW) != 0 &&
	    path[0] != '\0');
	if (status->st_uid == geteuid())
		refuse_place(at,
		    "a directory of yours above it is shut, so "
		    "that it cannot be covered",
		    error);
	return true;
}

/* For the plan: denied places that are not there to mask. */
static void
note_absent(struct mount_tree *tree, const struct place *place)
{
	struct binding *binding = tree->binding;
	bool denied = false;

	for (uint32_t i = 0; i < place->count; i++) {
		const struct naming *naming = &place->names[place->order[i]];

		if (naming->rule >= OWN ||
		    (naming->exclusion == WHOLE) ==
			(binding->rules[naming->rule].effect == SBX_ALLOW))
			continue;
		denied = true;
		if (naming->exclusion == WHOLE)
			binding->sites[naming->rule].state = RULE_ABSENT;
	}
	tree->report->absent += denied;
}

/* In /tmp, but not of the scratch directory, which that shows. */
static bool
is_beside_scratch(const struct mount_tree *tree, const struct mounting *around,
    struct sbx_place from)
{
	return around->kind == MOUNT_TMP && !is_scratch(tree, from);
}

/*
 * What lies in a /proc of the sandbox's own is looked at and taken from there,
 * never from outside: where something does, another one goes over the outer
 * /proc, which we alone see.
 */
static bool
is_in_own_proc(struct mount_tree *tree, struct sbx_place at)
{
	if (!sbx_covers(proc, at) || !may(tree, SBX_READ, proc))
		return false;
	if (!tree->proc_tried)
		tree->proc_covered = mounts_cover_proc(&tree->mounts);
	tree->proc_tried = true;
	return tree->proc_covered;
}

/* What is mounted where something is that has to be shown with other rights. */
static void
settle_other(struct mount_tree *tree, struct place *place)
{
	struct mounting *mounting = &place->mounting;
	bool own = is_in_own_proc(tree, mounting->at);
	struct stat status;

	if (own)
		mounting->fd = -1;
	if ((place->missing && !own) || is_absent(mounting->from, &status)) {
		note_absent(tree, place);
		return;
	}
	if (S_ISREG(status.st_mode) && status.st_nlink > 1)
		tree->report->hard_linked++;
	mounting->directory = S_ISDIR(status.st_mode);
	/* A link keeps its place, which nobody can take from one in /proc; what
	 * it leads to has an entry of its own. */
	if (S_ISLNK(status.st_mode))
		mounting->kind = own ? MOUNT_NONE : MOUNT_BIND;
	else
		mounting->kind = may(tree, SBX_READ, mounting->from) ?
		    MOUNT_BIND :
		    MOUNT_MASK;
}

/*
 * What is mounted at a place inside another mount.  What is not there cannot be
 * covered; what lies under a mask, or beside the scratch directory, is.
 */
static void
settle_inside(struct mount_tree *tree, struct place *place,
    const struct mounting *around)
{
	struct mounting *mounting = &place->mounting;
	bool readable = may(tree, SBX_READ, mounting->from);
	bool hidden = around->kind == MOUNT_MASK ||
	    is_beside_scratch(tree, around, mounting->from);

	if (!readable && hidden)
		return;
	/* Nothing from outside is in there, nor brought in. */
	if (around->kind == MOUNT_PTS || around->kind == MOUNT_SHM) {
		note_absent(tree, place);
		return;
	}
	mounting->attributes = attributes_of(tree, mounting);
	if (readable && !hidden && mounting->attributes == around->attributes &&
	    !sbx_covers(place_dev, mounting->at))
		return;
	settle_other(tree, place);
}

static void
settle(struct mount_tree *tree, struct place *place,
    const struct mounting *around)
{
	struct mounting *mounting = &place->mounting;

	take_names(tree, place);
	if (mounting->kind != MOUNT_NONE)
		return;
	if (around != NULL) {
		settle_inside(tree, place, around);
	} else if (place->allowed && may(tree, SBX_READ, mounting->from)) {
		mounting->kind = MOUNT_BIND;
		mounting->attributes = attributes_of(tree, mounting);
	}
}

static void
settle_all(struct mount_tree *tree, const struct naming *names,
    const uint32_t *order, uint32_t count)
{
	struct mounts *mounts = &tree->mounts;
	uint32_t around = 0;

	for (uint32_t i = 0; i < count;) {
		struct place place = { .names = names, .order = order + i };
		struct sbx_place at = names[order[i]].at;

		for (; i < count &&
		     sbx_place_compare(names[order[i]].at, at) == 0;
		     i++)
			place.count++;
		while (
		    around > 0 && !sbx_covers(mounts->table[around - 1].at, at))
			around = tree->outer[around - 1];
		settle(tree, &place,
		    around > 0 ? &mounts->table[around - 1] : NULL);
		if (place.mounting.kind == MOUNT_NONE)
			continue;
		mounts_refuse_full(mounts, at);
		tree->outer[mounts->count] = around;
		mounts->table[mounts->count++] = place.mounting;
		around = mounts->count;
	}
}

/* --- what else has to be mounted ------------------------------------------ */

/*
 * What is allowed below /tmp is mounted there, not in the scratch directory:
 * nothing but one empty directory is left in that, and beside the allowed
 * place there is nothing that could be written.
 */
static void
collect_ways(struct mount_tree *tree)
{
	for (uint32_t i = 0; i < tree->mounts.count; i++) {
		const struct mounting *mounting = &tree->mounts.table[i];
		const struct mounting *around = mounts_around(&tree->mounts,
		    mounting->at);
		struct sbx_place way = mounting->at;

		if (around == NULL || around->kind != MOUNT_TMP ||
		    is_scratch(tree, mounting->from))
			continue;
		way.len = tmp.len + 1 +
		    (uint32_t)strcspn(way.path + tmp.len + 1, "/");
		if (way.len == mounting->at.len)
			continue;
		way = arena_join(&tree->binding->arena, way, nothing);
		mounts_add(&tree->mounts, way, way)->kind = MOUNT_WAY;
	}
}

/* The command starts where it would have started, though nothing be there. */
static void
collect_cwd(struct mount_tree *tree, struct sbx_place cwd)
{
	const struct mounting *around;
	struct mounting *mounting;

	if (cwd.len == 0 || is_scratch(tree, cwd) ||
	    sbx_place_compare(cwd, tmp) == 0)
		return;
	around = mounts_around(&tree->mounts, cwd);
	if (around != NULL && around->kind != MOUNT_TMP)
		return;
	mounting = mounts_add(&tree->mounts, cwd, cwd);
	if (mounting->kind == MOUNT_NONE)
		mounting->kind = MOUNT_WAY;
}

/* The new /dev/pts brings its own /dev/ptmx. */
static void
drop_outer_ptmx(struct mount_tree *tree)
{
	struct mounts *mounts = &tree->mounts;
	uint32_t index = mounts_find(mounts, place_dev_ptmx);
	struct mounting *ptmx = &mounts->table[index];

	if (index == mounts->count ||
	    sbx_place_compare(ptmx->at, place_dev_ptmx) != 0 ||
	    ptmx->kind != MOUNT_BIND || index + 1 == mounts->count ||
	    ptmx[1].kind != MOUNT_PTS)
		return;
	mounts->count--;
	memmove(ptmx, ptmx + 1, (mounts->count - index) * sizeof *ptmx);
}

/* --- building ------------------------------------------------------------- */

static void
collect(struct mount_tree *tree, struct sbx_place cwd)
{
	struct binding *binding = tree->binding;
	struct arena *arena = &binding->arena;
	uint32_t count = binding->rule_count + binding->exclusion_count +
	    OWN_COUNT;
	struct naming *names = arena_take(arena, count, sizeof *names);
	uint32_t *order = arena_take(arena, count, sizeof *order);
	uint32_t *spare = arena_take(arena, count, sizeof *spare);

	count = collect_own(tree, names, collect_rules(tree, names));
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	sbx_sort(order, count, spare, name_before, names);
	settle_all(tree, names, order, count);
	drop_outer_ptmx(tree);
	collect_cwd(tree, cwd);
	collect_ways(tree);
	mounts_pin(&tree->mounts);
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
forget_replaced(const struct mount_tree *tree)
{
	static const struct sbx_place *const replaced[] = {
		&proc,
		&place_dev_pts,
		&place_dev_ptmx,
		&place_dev_shm,
	};
	struct binding *binding = tree->binding;

	for (uint32_t i = 0; i < binding->rule_count; i++) {
		for (size_t j = 0; j < sizeof replaced / sizeof *replaced;
		     j++) {
			if (sbx_covers(*replaced[j], binding->rules[i].at))
				binding->sites[i].fd = -1;
		}
	}
}

/* From here on the scratch directory is known by its new name only. */
static void
rename_scratch(struct mount_tree *tree)
{
	struct binding *binding = tree->binding;

	if (tree->scratch.len == 0)
		return;
	for (uint32_t i = 0; i < binding->rule_count; i++)
		binding->rules[i].at = seen_at(tree, binding->rules[i].at);
	for (uint32_t i = 0; i < binding->exclusion_count; i++)
		binding->exclusions[i] = seen_at(tree, binding->exclusions[i]);
	binding->anchors[SBX_ANCHOR_TMP] = tmp;
	bind_index(binding);
}

void
view_build(struct binding *binding, struct view_report *report)
{
	struct arena *arena = &binding->arena;
	char cwd[SBX_MAX_PATH + 1];
	struct mount_tree tree = {
		.binding = binding,
		.report = report,
		.mounts = {
			.binding = binding,
			.report = report,
			.max = VIEW_MAX_MOUNTS,
		},
	};

	if (current_path(cwd, sizeof cwd) < 0)
		refuse("the current directory",
		    "the command cannot start in "
		    "it",
		    errno);
	/* Where the policy allows the outer /tmp, that is shown. */
	if (!may(&tree, SBX_READ, tmp))
		tree.scratch = binding->anchors[SBX_ANCHOR_TMP];
	tree.mounts.table = arena_take(arena, VIEW_MAX_MOUNTS,
	    sizeof *tree.mounts.table);
	tree.outer = arena_take(arena, VIEW_MAX_MOUNTS, sizeof *tree.outer);
	collect(&tree, place_of(cwd));
	mounts_enter(&tree.mounts);
	forget_replaced(&tree);
	rename_scratch(&tree);
	return_to(seen_at(&tree, place_of(cwd)));
}
