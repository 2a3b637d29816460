/*
 * The mount tree of level full: a root that holds what the policy allows and
 * nothing else.  What is not allowed is not there, what may not be written is
 * mounted read-only, and what is denied inside an allowed tree lies under a
 * mask; it, the links that lead to it and the directories above it keep their
 * names, in the scratch directory too, which the next run finds again.
 * Landlock and the filter go on top.
 *
 *	/            tmpfs, read-only when all is in place
 *	/usr ...     a bind for each allowed place, links as they are outside
 *	/proc        of the sandbox's own process namespace
 *	/dev/pts     own, and /dev/shm, where the policy allows these
 *	/tmp         the scratch directory
 *
 * No part of the outer /proc, /dev/pts or /dev/shm is shown in these.
 */
#include "runtime/apply/mounts.h"

#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Decides what is mounted where.  Every place that some rule names is looked at
 * once, in path order.  The few that differ from what is around them become a
 * table of mounts.
 */

/* What names a place: a rule, an exclusion of one, or a file system of the
 * sandbox's own. */
struct naming {
	struct sbx_place at; /* in the tree */
	uint32_t rule;       /* its index, or OWN */
	uint32_t exclusion;  /* its index, or WHOLE; of OWN: which one */
};

static const uint32_t WHOLE = UINT32_MAX, OWN = UINT32_MAX;

/* If these places are allowed, they get file systems of the sandbox's own. */
static const struct {
	const struct sbx_place *at;
	enum mount_kind kind;
} own[] = {
	{ &place_proc, MOUNT_PROC },
	{ &place_dev_pts, MOUNT_PTS },
	{ &place_dev_shm, MOUNT_SHM },
	{ &place_tmp, MOUNT_TMP },
};

enum { OWN_COUNT = countof(own) };

/* --- verdicts ------------------------------------------------------------- */

static bool
may(const struct mount_tree *tree, uint8_t right, struct sbx_place from)
{
	return rule_index_allows(tree->binding->index, right, from);
}

static bool
is_scratch(const struct mount_tree *tree, struct sbx_place from)
{
	return tree->scratch.len > 0 && sbx_covers(tree->scratch, from);
}

/*
 * Landlock gives what an allow above a place gives, as it is seen in the tree
 * and denied or not: what the policy does not give there, the mount has to take
 * away.
 */
static uint64_t
attributes_of(const struct mount_tree *tree, const struct mounting *mounting)
{
	uint64_t attributes = MOUNT_ALWAYS;

	if (!may(tree, SBX_WRITE, mounting->from))
		attributes |= MOUNT_ATTR_RDONLY;
	if (!may(tree, SBX_EXEC, mounting->from) &&
	    rule_index_gives(tree->seen->index, SBX_EXEC, mounting->at))
		attributes |= MOUNT_ATTR_NOEXEC;
	return attributes;
}

/* --- what the rules name -------------------------------------------------- */

/* Where something is outside. */
static struct sbx_place
named_outside(const struct mount_tree *tree, const struct naming *naming)
{
	const struct binding *binding = tree->binding;

	if (naming->rule == OWN)
		return own[naming->exclusion].kind == MOUNT_TMP ?
		    tree->scratch :
		    naming->at;
	return naming->exclusion == WHOLE ?
	    binding->rules[naming->rule].at :
	    binding->exclusions[naming->exclusion];
}

/* All names; there is room for them. */
static uint32_t
collect_names(const struct mount_tree *tree, struct naming *names)
{
	const struct binding *seen = tree->seen;
	uint32_t count = 0;

	for (uint32_t i = 0; i < seen->rule_count; i++) {
		const struct sbx_rule *rule = &seen->rules[i];

		if (seen->sites[i].state != RULE_READY)
			continue;
		for (uint16_t j = 0; j < rule->exclusion_count; j++)
			names[count++] = (struct naming){
				.at = rule->exclusions[j],
				.rule = i,
				.exclusion = (uint32_t)(&rule->exclusions[j] -
				    seen->exclusions),
			};
		names[count++] = (struct naming){ rule->at, i, WHOLE };
	}
	for (uint32_t i = 0; i < OWN_COUNT; i++) {
		struct naming name = { *own[i].at, OWN, i };
		struct sbx_place from = named_outside(tree, &name);

		if (from.len > 0 && may(tree, SBX_READ, from))
			names[count++] = name;
	}
	return count;
}

/* --- what is mounted at a place ------------------------------------------- */

/* All that names one place: names[sorted[0..count)]. */
struct place {
	struct mounting mounting;
	const struct naming *names;
	const uint32_t *sorted;
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
	/* What is at /tmp/x outside hides what the scratch directory has
	 * there. */
	if (mounting->fd < 0 || is_scratch(tree, mounting->from)) {
		mounting->fd = site->fd;
		mounting->from = rule->at;
	}
}

static void
take_names(struct mount_tree *tree, struct place *place)
{
	struct mounting *mounting = &place->mounting;

	*mounting = (struct mounting){
		.at = place->names[place->sorted[0]].at,
		.from = named_outside(tree, &place->names[place->sorted[0]]),
		.fd = -1,
	};
	for (uint32_t i = 0; i < place->count; i++) {
		const struct naming *naming = &place->names[place->sorted[i]];

		if (naming->rule != OWN) {
			take_rule(tree, place, naming);
			continue;
		}
		mounting->from = named_outside(tree, naming);
		mounting->kind = (uint8_t)own[naming->exclusion].kind;
		mounting->fd = -1;
		mounting->attributes = attributes_of(tree, mounting);
	}
}

/*
 * Whether a place is not there.  It may be there below a directory that is
 * shut; if that is our own, the command could open it.
 */
static bool
is_absent(struct sbx_place at, struct stat *status)
{
	char path[SBX_MAX_PATH + 1];
	struct sbx_place above = { path, at.len };
	int error;

	if (fstatat(AT_FDCWD, path_of(at), status, AT_SYMLINK_NOFOLLOW) == 0)
		return false;
	error = errno;
	if (error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG)
		return true;
	if (error != EACCES)
		refuse_place(at, "cannot look at it", error);
	memcpy(path, at.path, at.len);
	do {
		above = place_parent(above);
		path[above.len] = '\0';
	} while (fstatat(AT_FDCWD, path_of(above), status,
		     AT_SYMLINK_NOFOLLOW) != 0 &&
	    above.len > 0);
	if (status->st_uid == geteuid())
		refuse_place(at,
		    "a directory of yours above it is shut, so that it cannot "
		    "be covered",
		    error);
	return true;
}

/* Denied places that are not there cannot be masked; the plan says so. */
static void
note_absent(struct mount_tree *tree, const struct place *place)
{
	for (uint32_t i = 0; i < place->count; i++) {
		const struct naming *naming = &place->names[place->sorted[i]];

		if (naming->rule != OWN && naming->exclusion == WHOLE &&
		    tree->binding->rules[naming->rule].effect != SBX_ALLOW)
			tree->outcomes[naming->rule].absent = true;
	}
}

/* Whether a place in /tmp is not of the scratch directory, which is there. */
static bool
is_beside_scratch(const struct mount_tree *tree, const struct mounting *around,
    struct sbx_place from)
{
	return around->kind == MOUNT_TMP && !is_scratch(tree, from);
}

/* What is mounted over something that has to be shown with other rights. */
static void
settle_other(struct mount_tree *tree, struct place *place)
{
	struct mounting *mounting = &place->mounting;
	/*
	 * What lies in a /proc of the sandbox's own is looked at and taken
	 * from there, never from outside.  So a new /proc goes over the outer
	 * one, for this process alone.
	 */
	bool in_proc = sbx_covers(place_proc, mounting->at) &&
	    may(tree, SBX_READ, place_proc) && mount_over_proc(tree);
	struct stat status;

	if (in_proc)
		mounting->fd = -1;
	if ((place->missing && !in_proc) ||
	    is_absent(mounting->from, &status)) {
		note_absent(tree, place);
		return;
	}
	if (S_ISREG(status.st_mode) && status.st_nlink > 1)
		++*tree->hard_linked;
	mounting->directory = S_ISDIR(status.st_mode);
	/* A link keeps its place; in /proc nobody can take it away.  What it
	 * leads to has an entry of its own. */
	if (S_ISLNK(status.st_mode))
		mounting->kind = in_proc ? MOUNT_NONE : MOUNT_BIND;
	else
		mounting->kind = may(tree, SBX_READ, mounting->from) ?
		    MOUNT_BIND :
		    MOUNT_MASK;
}

/*
 * What is mounted at a place inside another mount.  A place that is not there
 * cannot be covered; one under a mask, or beside the scratch directory in /tmp,
 * is covered already.
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
	/* Nothing from outside is in there, and nothing is brought in. */
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
settle_all(struct mount_tree *tree, const struct sbx_index *names)
{
	/* Beside the names: the mount that was made for one, its number + 1. */
	uint32_t *made = arena_take(tree->arena, names->count, sizeof *made);

	for (uint32_t i = 0; i < names->count;) {
		struct place place = {
			.names = names->records,
			.sorted = names->sorted + i,
		};
		struct sbx_place at = place.names[place.sorted[0]].at;
		uint32_t around = names->outer[i];

		for (; i < names->count &&
		     sbx_place_compare(place.names[names->sorted[i]].at, at) ==
			 0;
		     i++)
			place.count++;
		while (around > 0 && made[around - 1] == 0)
			around = names->outer[around - 1];
		settle(tree, &place,
		    around > 0 ? &tree->mounts[made[around - 1] - 1] : NULL);
		if (place.mounting.kind == MOUNT_NONE)
			continue;
		*mounts_append(tree, at) = place.mounting;
		made[i - 1] = tree->count;
	}
}

/* --- what else has to be mounted ------------------------------------------ */

/*
 * What is allowed below /tmp is mounted there, not in the scratch directory:
 * only one empty directory is left in that, and nothing beside the allowed
 * place can be written.
 */
static void
add_ways(struct mount_tree *tree)
{
	for (uint32_t i = 0; i < tree->count; i++) {
		const struct mounting *mounting = &tree->mounts[i];
		const struct mounting *around = mounts_around(tree,
		    mounting->at);
		struct sbx_place way = mounting->at;

		if (around == NULL || around->kind != MOUNT_TMP ||
		    is_scratch(tree, mounting->from))
			continue;
		way.len = place_tmp.len + 1 +
		    (uint32_t)strcspn(way.path + place_tmp.len + 1, "/");
		if (way.len == mounting->at.len)
			continue;
		way = arena_copy(tree->arena, way);
		mounts_add(tree, way, way)->kind = MOUNT_WAY;
	}
}

/* The command starts in this directory, though nothing may be in it. */
static void
add_cwd(struct mount_tree *tree, struct sbx_place cwd)
{
	const struct mounting *around;
	struct mounting *mounting;

	if (cwd.len == 0 || is_scratch(tree, cwd) ||
	    sbx_place_compare(cwd, place_tmp) == 0)
		return;
	around = mounts_around(tree, cwd);
	if (around != NULL && around->kind != MOUNT_TMP)
		return;
	mounting = mounts_add(tree, cwd, cwd);
	if (mounting->kind == MOUNT_NONE)
		mounting->kind = MOUNT_WAY;
}

/* The new /dev/pts brings its own /dev/ptmx. */
static void
drop_outer_ptmx(struct mount_tree *tree)
{
	struct mounting *ptmx = mounts_find(tree, place_dev_ptmx);
	struct mounting *end = tree->mounts + tree->count;

	if (ptmx == NULL || ptmx->kind != MOUNT_BIND || ptmx + 1 == end ||
	    ptmx[1].kind != MOUNT_PTS)
		return;
	memmove(ptmx, ptmx + 1, (size_t)(end - ptmx - 1) * sizeof *ptmx);
	tree->count--;
}

/* --- all of it ------------------------------------------------------------ */

static void
decide(struct mount_tree *tree, struct sbx_place cwd)
{
	const struct binding *binding = tree->binding;
	uint32_t most = binding->rule_count + binding->exclusion_count +
	    OWN_COUNT;
	struct naming *names = arena_take(tree->arena, most, sizeof *names);
	struct sbx_index index = index_room(tree->arena, names, sizeof *names,
	    most);

	index.count = collect_names(tree, names);
	sbx_index_make_all(&index);
	settle_all(tree, &index);
	drop_outer_ptmx(tree);
	mount_sockets(tree);
	add_cwd(tree, cwd);
	name_files_add(tree);
	add_ways(tree);
	mounts_pin(tree);
}

bool
mount_tree_replaces(struct sbx_place at)
{
	return sbx_covers(place_proc, at) || sbx_covers(place_dev_pts, at) ||
	    sbx_covers(place_dev_ptmx, at) || sbx_covers(place_dev_shm, at);
}

const struct binding *
mount_tree_enter(struct arena *arena, const struct binding *binding,
    struct outcome *outcomes, uint32_t *hard_linked, struct name_files *names)
{
	char path[SBX_MAX_PATH + 1];
	struct sbx_place cwd;
	struct mount_tree tree = {
		.arena = arena,
		.binding = binding,
		.seen = binding,
		.outcomes = outcomes,
		.hard_linked = hard_linked,
		.mounts = arena_take(arena, MOUNTS_MAX, sizeof *tree.mounts),
	};

	tree.name_files = *names;
	if (current_path(path, sizeof path) < 0)
		refuse("the current directory",
		    "the command cannot start in it", errno);
	cwd = place_of(path);
	/* Where the policy allows the outer /tmp, that is shown. */
	if (!may(&tree, SBX_READ, place_tmp))
		tree.scratch = binding->anchors[SBX_ANCHOR_TMP];
	if (tree.scratch.len > 0)
		tree.seen = bind_moved(arena, binding, SBX_ANCHOR_TMP,
		    place_tmp);
	decide(&tree, cwd);
	mount_all(&tree);
	covered_check(&tree);
	/* The scratch directory is seen as /tmp. */
	cwd = tree.scratch.len == 0 ?
	    cwd :
	    bind_move(tree.arena, cwd, tree.scratch, place_tmp);
	if (chdir(path_of(cwd)) != 0)
		refuse_place(cwd, "the command cannot start in this directory",
		    errno);
	*names = tree.name_files;
	return tree.seen;
}
