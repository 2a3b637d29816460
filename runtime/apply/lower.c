/*
 * Lowering: from the model's rules to what Landlock can be given.
 *
 * Landlock only adds rights: a rule on a directory gives them to everything
 * below, and nothing takes them back.  So a right that is denied somewhere
 * below an allowed directory is not given to the directory but to its entries,
 * one by one, all the way down to the denied place ("split").  Each right is
 * treated for itself: `deny write` leaves reading as one rule on the tree.
 *
 *	allow write /w      /w        read, exec of all below
 *	deny write /w/a/b   /w/x      write      \  the entries of /w and /w/a
 *	                    /w/a/y    write      /  but those that lead to b
 */
#include "runtime/apply/mounts.h"

#include "runtime/base/files.h"
#include "runtime/base/out.h"
#include "runtime/bind/bind.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
	PROC_FILES = 0x9fa0, /* PROC_SUPER_MAGIC */
	/*
	 * Each kind of access is lowered by itself.  Listing is reading a
	 * directory; it is a kind of its own because a denied file does not
	 * keep the directories above it from being listed.
	 */
	LIST = 8,
	/* Bounds on the work of splitting, far above what a policy meant for
	 * people needs: Landlock rules given, entries looked at, depth. */
	MAX_GRANTS = 65536,
	MAX_ENTRIES = 262144,
	MAX_DEPTH = 128,
};

/* A place where a right may end or begin again: a deny, or an exclusion. */
struct cut {
	struct sbx_place at;
	uint8_t allowed;  /* enum sbx_right: the model's verdicts */
	bool known;       /* allowed is filled in */
	bool missing;     /* nothing was there when it was bound */
	bool preferred;   /* to be masked, or left */
	bool listed;      /* it may be listed if what is around it may */
	int8_t unsteady;  /* 1 a mount on it may go, 0 no, -1 unknown */
	int8_t directory; /* 1 yes or may become one, 0 no, -1 unknown */
};

/* A directory that is being split: `rights` are not given to it but to its
 * entries, whole or, where a cut lies in one of them, in part. */
struct level {
	uint32_t path_len;
	int fd;      /* the directory */
	bool kept;   /* fd stays open */
	bool listed; /* else only the cuts are followed */
	bool folds;  /* upper and lower case are the same in there */
	uint8_t rights;
	uint8_t spread;        /* those that an entry without cuts gets */
	struct sbx_range cuts; /* that are in it, from the next one on */
	struct directory entries;
	char name[256]; /* the last one that a cut led to */
};

/* The walk through the directories that have to be split. */
struct walk {
	const struct lowering *what;
	struct cut *cuts;
	struct sbx_index index; /* of the cuts */
	uint32_t rule;          /* the allow that is lowered */
	uint32_t grants, entries, depth;
	struct level *levels; /* MAX_DEPTH */
	struct path path;
};

__attribute__((noreturn)) static void
refuse_rule(const struct walk *walk, const char *text, int error)
{
	const struct binding *binding = walk->what->binding;

	refuse_at(binding->blob, binding->rules[walk->rule].source, text,
	    error);
}

/* --- cuts ----------------------------------------------------------------- */

static struct cut *
cut_at(const struct walk *walk, uint32_t position)
{
	return &walk->cuts[walk->index.sorted[position]];
}

static uint8_t
verdicts(const struct walk *walk, struct sbx_place at)
{
	uint8_t allowed = 0;

	for (uint8_t right = SBX_READ; right <= SBX_EXEC; right <<= 1) {
		if (rule_index_allows(walk->what->binding->index, right, at))
			allowed |= right;
	}
	return allowed | (allowed & SBX_READ ? LIST : 0);
}

/* A place that is not there could become a directory, so it counts as one;
 * below a file it could not. */
static bool
may_be_directory(struct cut *cut)
{
	struct stat status;

	if (cut->directory >= 0)
		return cut->directory != 0;
	if (fstatat(AT_FDCWD, path_of(cut->at), &status, AT_SYMLINK_NOFOLLOW) ==
	    0)
		cut->directory = S_ISDIR(status.st_mode);
	else
		cut->directory = errno != ENOTDIR;
	return cut->directory != 0;
}

static uint8_t
cut_verdicts(const struct walk *walk, struct cut *cut)
{
	if (!cut->known) {
		cut->allowed = verdicts(walk, cut->at);
		/* A file is not listed: denying it is no reason to split. */
		if ((cut->allowed & LIST) == 0 &&
		    (cut->listed || !may_be_directory(cut)))
			cut->allowed |= LIST;
		cut->known = true;
	}
	return cut->allowed;
}

/* Whether rights that end at a cut may end there by a mask alone. */
static bool
stays_masked(struct cut *cut)
{
	if (cut->missing || cut->preferred)
		return true;
	if (cut->unsteady < 0)
		cut->unsteady = unsteady_place(cut->at);
	return cut->unsteady == 0;
}

/*
 * The rights whose verdict somewhere below the path is not that at the path, and
 * for which it has to be split.  In the view, rights that end below are masked
 * there; only those that begin there are split, and those whose mask may go.
 */
static uint8_t
changes_below(const struct walk *walk, struct sbx_range within, uint8_t allowed)
{
	uint8_t changes = 0;

	for (uint32_t i = within.first; i < within.end; i++) {
		struct cut *cut = cut_at(walk, i);
		uint8_t change;

		if (cut->at.len <= walk->path.len)
			continue;
		change = cut_verdicts(walk, cut) ^ allowed;
		if (walk->what->masked && (change & allowed) != 0 &&
		    stays_masked(cut))
			change &= (uint8_t)~allowed;
		changes |= change;
	}
	return changes;
}

static uint32_t
collect_cuts(const struct binding *binding, struct cut *cuts)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < binding->rule_count; i++) {
		const struct sbx_rule *rule = &binding->rules[i];
		const struct site *site = &binding->sites[i];

		if (site->state == RULE_UNBOUND || site->state == RULE_WAIVED)
			continue;
		if (rule->effect != SBX_ALLOW)
			cuts[count++] = (struct cut){ .at = rule->at,
				.missing = site->missing,
				.preferred = rule->effect == SBX_PREFER_DENY,
				.unsteady = -1,
				.directory = site->missing ? 1 : -1 };
		for (uint16_t j = 0; j < rule->exclusion_count; j++)
			cuts[count++] = (struct cut){
				.at = rule->exclusions[j],
				.unsteady = -1,
				.directory = -1,
				.listed = rule->exclusions[j].path ==
				    bind_devices.path,
			};
	}
	return count;
}

/* --- grants --------------------------------------------------------------- */

static uint64_t
access_mask(const struct sbx_landlock *row, uint8_t rights)
{
	return (rights & LIST ? row->list : 0) |
	    (rights & SBX_READ ? row->read : 0) |
	    (rights & SBX_WRITE ? row->write : 0) |
	    (rights & SBX_EXEC ? row->exec : 0);
}

/*
 * Gives rights at a descriptor.  The kernel says EINVAL if some of them are for
 * directories and this is none; asking it is cheaper than asking fstat(2) each
 * time.
 */
static void
grant(struct walk *walk, int fd, uint8_t rights)
{
	const struct lowering *what = walk->what;
	struct landlock_path_beneath_attr attr = {
		.allowed_access = access_mask(what->row, rights),
		.parent_fd = fd,
	};

	if (attr.allowed_access == 0)
		return;
	if (++walk->grants > MAX_GRANTS)
		refuse_rule(walk,
		    "a denial inside this tree needs more Landlock rules than "
		    "the bound of 65536",
		    0);
	what->outcomes[walk->rule].grants++;
	if (landlock_add_rule(what->ruleset, LANDLOCK_RULE_PATH_BENEATH,
		&attr) == 0)
		return;
	if (errno == EINVAL) {
		attr.allowed_access &= what->row->file;
		if (attr.allowed_access == 0 ||
		    landlock_add_rule(what->ruleset, LANDLOCK_RULE_PATH_BENEATH,
			&attr) == 0)
			return;
	}
	refuse_rule(walk, "Landlock refused the rule", errno);
}

/* --- splitting ------------------------------------------------------------ */

/* The component of a cut's path that is an entry of the walk's directory. */
static const char *
cut_name(const struct walk *walk, const struct cut *cut, size_t *len)
{
	const char *name = cut->at.path + walk->path.len + 1;

	if (cut->at.len <= walk->path.len)
		return NULL;
	*len = strcspn(name, "/");
	return name;
}

/* One name that is there tells of the whole directory. */
static bool
directory_folds(const struct walk *walk, int fd, struct sbx_range within)
{
	for (uint32_t i = within.first; i < within.end; i++) {
		const struct cut *cut = cut_at(walk, i);
		size_t len;
		const char *name = cut_name(walk, cut, &len);

		if (name != NULL && !cut->missing)
			return spelling_folds(fd, name, len);
	}
	return false;
}

/* Whether an entry is what some cut names in another spelling. */
static bool
is_other_spelling(const struct walk *walk, const char *entry)
{
	struct sbx_place at = { walk->path.text, walk->path.len };
	struct sbx_range within = sbx_index_within(&walk->index, at);

	for (uint32_t i = within.first; i < within.end; i++) {
		size_t len;
		const char *name = cut_name(walk, cut_at(walk, i), &len);

		if (name != NULL && len == strlen(entry) &&
		    spelling_differs(name, entry, len))
			return true;
	}
	return false;
}

/*
 * Begins to split the directory of the walk's path; false if it is a file,
 * where the cuts below lead nowhere.  If no entry is given anything whole, the
 * walk goes only where the cuts lead: for rights that begin again below a
 * denied place, and where a directory may be passed through but not listed.
 */
static bool
begin_level(struct walk *walk, int fd, struct sbx_range within, bool kept)
{
	struct level *level = &walk->levels[walk->depth];
	int listing = -1;

	if (level->spread != 0) {
		listing = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (listing < 0 && errno == ENOTDIR)
			return false;
	}
	level->path_len = walk->path.len;
	level->listed = listing >= 0;
	level->folds = listing >= 0 && directory_folds(walk, fd, within);
	level->fd = listing >= 0 ? listing : fd;
	level->kept = listing < 0 && kept;
	level->cuts = within;
	level->name[0] = '\0';
	directory_begin(&level->entries, listing);
	if (listing >= 0 && !kept)
		close(fd);
	walk->depth++;
	return true;
}

/* Hands out rights at the walk's path and below it, as the model says; what
 * has to be split becomes another level.  The descriptor is closed, unless it
 * is to be kept. */
static void
lower_place(struct walk *walk, int fd, uint8_t rights, bool kept)
{
	struct sbx_place at = { walk->path.text, walk->path.len };
	struct sbx_range within = sbx_index_within(&walk->index, at);
	uint8_t allowed = rights, changing = 0;

	/* A split gives an entry only what the model says. */
	if (within.first < within.end ||
	    (walk->depth == 0 && sbx_index_find(&walk->index, at) > 0)) {
		allowed = verdicts(walk, at);
		changing = rights & changes_below(walk, within, allowed);
	}
	grant(walk, fd, rights & allowed & (uint8_t)~changing);
	if (changing != 0) {
		struct level *level = &walk->levels[walk->depth];

		walk->what->outcomes[walk->rule].split = true;
		if (walk->depth == MAX_DEPTH)
			refuse_rule(walk,
			    "a denial inside this tree lies deeper than the "
			    "bound of 128 directories",
			    0);
		level->rights = changing;
		level->spread = changing & allowed;
		if (begin_level(walk, fd, within, kept))
			return;
		grant(walk, fd, level->spread);
	}
	if (!kept)
		close(fd);
}

/*
 * One entry of a split directory: on the way to a cut it is lowered in turn,
 * else it gets the rights whole.  O_NOFOLLOW: an entry that has just been
 * replaced by a link leads nowhere.
 */
static void
lower_entry(struct walk *walk, const struct level *level, const char *name)
{
	struct sbx_place at = { walk->path.text, 0 };
	int fd;

	if (++walk->entries > MAX_ENTRIES)
		refuse_rule(walk,
		    "a denial inside this tree meets more directory entries "
		    "than the bound of 262144",
		    0);
	if (level->folds && is_other_spelling(walk, name))
		refuse_rule(walk,
		    "a denied name in this tree is spelled otherwise in its "
		    "directory, where upper and lower case are the same",
		    0);
	fd = openat(level->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && is_shortage(errno))
		refuse_rule(walk, "cannot open an entry of this tree", errno);
	if (fd < 0)
		return;
	if (!path_push(&walk->path, name, strlen(name)))
		refuse(walk->path.text, "a path of the policy is too long here",
		    ENAMETOOLONG);
	at.len = walk->path.len;
	if (sbx_index_reaches(&walk->index, at)) {
		lower_place(walk, fd, level->rights, false);
		return;
	}
	grant(walk, fd, level->spread);
	close(fd);
}

/* The next entry that is no link, for that leads to another place, or NULL. */
static const char *
next_entry(struct walk *walk, struct level *level)
{
	const struct entry *entry;

	do {
		entry = directory_next(&level->entries);
	} while (entry != NULL && entry->type == ENTRY_LINK);
	if (level->entries.len < 0)
		refuse_rule(walk, "cannot list a directory of this tree",
		    errno);
	return entry == NULL ? NULL : entry->name;
}

/* The component that comes next on the way to the next cut, or NULL. */
static const char *
next_cut(struct walk *walk, struct level *level)
{
	while (level->cuts.first < level->cuts.end) {
		struct sbx_place cut = cut_at(walk, level->cuts.first++)->at;
		const char *name;
		size_t len;

		if (cut.len <= level->path_len)
			continue;
		name = cut.path + level->path_len + 1;
		len = strcspn(name, "/");
		if (len >= sizeof level->name ||
		    (strncmp(level->name, name, len) == 0 &&
			level->name[len] == '\0'))
			continue;
		memcpy(level->name, name, len);
		level->name[len] = '\0';
		return level->name;
	}
	return NULL;
}

static void
walk_on(struct walk *walk)
{
	struct level *level = &walk->levels[walk->depth - 1];
	const char *name;

	path_cut(&walk->path, level->path_len);
	name = level->listed ? next_entry(walk, level) : next_cut(walk, level);
	if (name != NULL) {
		lower_entry(walk, level, name);
		return;
	}
	if (!level->kept)
		close(level->fd);
	walk->depth--;
}

/* --- rules ---------------------------------------------------------------- */

static void
lower_rule(struct walk *walk, uint32_t index)
{
	const struct sbx_rule *rule = &walk->what->binding->rules[index];
	uint8_t rights = rule->rights | (rule->rights & SBX_READ ? LIST : 0);
	int fd = walk->what->binding->sites[index].fd;
	bool kept;

	if (walk->what->masked && mount_tree_replaces(rule->at))
		fd = -1;
	/* Descriptors kept from binding close by themselves at exec. */
	kept = fd >= 0;
	if (!kept)
		fd = open_place(rule->at, O_PATH);
	walk->rule = index;
	if (fd < 0) {
		walk->what->outcomes[index].absent = true;
		walk->what->outcomes[index].error = errno;
		return;
	}
	memcpy(walk->path.text, rule->at.path, rule->at.len);
	path_cut(&walk->path, rule->at.len);
	lower_place(walk, fd, rights, kept);
	while (walk->depth > 0)
		walk_on(walk);
}

/* Of two allows at one place the one with more rights comes first. */
static bool
gives_more(const void *context, uint32_t a, uint32_t b)
{
	const struct sbx_rule *rules = context;

	return rules[a].rights > rules[b].rights;
}

/* Whether an allow around this one, which has been lowered, gives all that it
 * gives. */
static bool
is_covered(const struct walk *walk, const struct sbx_index *allows,
    uint32_t position)
{
	const struct sbx_rule *rules = walk->what->binding->rules;
	const struct sbx_rule *rule = &rules[allows->sorted[position - 1]];

	while ((position = allows->outer[position - 1]) > 0) {
		uint32_t index = allows->sorted[position - 1];

		if ((rule->rights & ~rules[index].rights) == 0 &&
		    !walk->what->outcomes[index].absent &&
		    !walk->what->outcomes[index].covered &&
		    sbx_rule_covers(&rules[index], rule->at))
			return true;
	}
	return false;
}

/*
 * The mount tree adds something to what it shows: the directories above, links,
 * an empty /dev.  These may be listed; everything else is listed by its rules
 * or masked.
 */
static void
lower_root(const struct lowering *what)
{
	struct landlock_path_beneath_attr attr = {
		.allowed_access = what->row->list,
		.parent_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC),
	};

	if (attr.parent_fd < 0 ||
	    landlock_add_rule(what->ruleset, LANDLOCK_RULE_PATH_BENEATH,
		&attr) != 0)
		refuse(NULL, "Landlock refused the root of the view", errno);
	close(attr.parent_fd);
}

/* Whether a rule takes writing away from something in /proc. */
static bool
shuts_proc(const struct binding *binding)
{
	for (uint32_t i = 0; i < binding->rule_count; i++) {
		const struct sbx_rule *rule = &binding->rules[i];

		if (rule->effect != SBX_ALLOW &&
		    (rule->rights & SBX_WRITE) != 0 &&
		    (sbx_covers(rule->at, place_proc) ||
			sbx_covers(place_proc, rule->at)))
			return true;
	}
	return false;
}

/*
 * A process names its threads, and says how soon it is to be killed for want of
 * memory, by writing in /proc.  Landlock has no rule for directories that are yet
 * to come, so all of a /proc is opened that is of the sandbox's own; what an
 * ordinary user may write there is settings of processes of the sandbox.  What the
 * machine is set by belongs to root, so root's stays shut, and so does the outer
 * /proc, which is mounted read-only where no new one can be had.
 */
static void
lower_proc(const struct lowering *what)
{
	struct landlock_path_beneath_attr attr = {
		.allowed_access = what->row->write & what->row->file,
	};
	struct statfs status;

	if (geteuid() == 0 || shuts_proc(what->binding))
		return;
	attr.parent_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (attr.parent_fd < 0)
		return;
	if (fstatfs(attr.parent_fd, &status) == 0 &&
	    (uint32_t)status.f_type == PROC_FILES &&
	    ((unsigned long)status.f_flags & ST_RDONLY) == 0 &&
	    landlock_add_rule(what->ruleset, LANDLOCK_RULE_PATH_BENEATH,
		&attr) != 0)
		refuse("/proc", "Landlock refused the sandbox's own", errno);
	close(attr.parent_fd);
}

void
lower_paths(struct arena *arena, const struct lowering *what)
{
	const struct binding *binding = what->binding;
	uint32_t most = binding->rule_count + binding->exclusion_count;
	struct walk *walk = arena_take(arena, 1, sizeof *walk);
	struct sbx_index allows = index_room(arena, binding->rules,
	    sizeof *binding->rules, binding->rule_count);

	walk->what = what;
	walk->levels = arena_take(arena, MAX_DEPTH, sizeof *walk->levels);
	walk->cuts = arena_take(arena, most, sizeof *walk->cuts);
	walk->index = index_room(arena, walk->cuts, sizeof *walk->cuts, most);
	walk->index.count = collect_cuts(binding, walk->cuts);
	sbx_index_make_all(&walk->index);
	allows.tie = gives_more;
	allows.tie_context = binding->rules;
	for (uint32_t i = 0; i < binding->rule_count; i++) {
		if (binding->rules[i].effect == SBX_ALLOW &&
		    binding->sites[i].state == RULE_READY)
			allows.sorted[allows.count++] = i;
	}
	sbx_index_make(&allows);
	for (uint32_t i = 0; i < allows.count; i++) {
		uint32_t index = allows.sorted[i];

		if (is_covered(walk, &allows, i + 1))
			walk->what->outcomes[index].covered = true;
		else
			lower_rule(walk, index);
	}
	if (!what->masked)
		return;
	lower_root(what);
	lower_proc(what);
}

/* --- ports ---------------------------------------------------------------- */

static void
allow_port(const struct sbx_blob *blob, int ruleset, uint8_t op, uint64_t mask,
    uint16_t port)
{
	struct landlock_net_port_attr attr = { .allowed_access = mask,
		.port = port };

	if (!sbx_verdict_allows(sbx_port_verdict(blob, KERNEL_WHERE, op, port)))
		return;
	if (landlock_add_rule(ruleset, LANDLOCK_RULE_NET_PORT, &attr) != 0)
		refuse(NULL, "Landlock refused a port", errno);
}

void
lower_ports(const struct sbx_blob *blob, const struct sbx_landlock *row,
    uint64_t net, int ruleset)
{
	for (uint32_t i = 0; i < blob->port_count; i++) {
		const struct sbx_port *rule = &blob->ports[i];
		uint64_t mask = rule->op == SBX_CONNECT_TCP ? row->connect_tcp :
		    rule->op == SBX_LISTEN_TCP || rule->op == SBX_PUBLISH_TCP ?
							      row->bind_tcp :
							      0;

		mask &= net;
		if (rule->effect != SBX_ALLOW || mask == 0 ||
		    (rule->platforms & KERNEL_WHERE) == 0)
			continue;
		for (uint32_t port = rule->low; port <= rule->high; port++)
			allow_port(blob, ruleset, rule->op, mask,
			    (uint16_t)port);
	}
}
