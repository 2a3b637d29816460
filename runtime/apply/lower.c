#include "runtime/apply/lower.h"

#include "format/sort.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The kinds of access that are lowered one by one.  Listing is reading a
 * directory; it parts from reading because a denied file does not keep the
 * directories above it from being listed.
 */
enum { LIST = 8 };

/* --- messages ------------------------------------------------------------- */

__attribute__((noreturn)) static void
refuse_rule(const struct lowering *lowering, const char *text, int error)
{
	refuse_at(lowering->binding->blob,
	    lowering->binding->rules[lowering->rule].source, text, error);
}

/* --- sorting -------------------------------------------------------------- */

/* A cut is known by its rule's index, or its exclusion's behind all of these. */
static struct sbx_place
cut_place(const struct binding *binding, uint32_t id)
{
	return id < binding->rule_count ?
	    binding->rules[id].at :
	    binding->exclusions[id - binding->rule_count];
}

static bool
cut_before(const void *context, uint32_t a, uint32_t b)
{
	return sbx_place_compare(cut_place(context, a), cut_place(context, b)) <
	    0;
}

static bool
allow_before(const void *context, uint32_t a, uint32_t b)
{
	const struct sbx_rule *rules = context;
	int order = sbx_place_compare(rules[a].at, rules[b].at);

	/* Of two rules on one place the one with more rights comes first. */
	return order != 0 ? order < 0 : rules[a].rights > rules[b].rights;
}

/* --- cuts ----------------------------------------------------------------- */

/* The nearest cut around a place, among the `before` cuts that come before it
 * in path order: its index + 1, or 0. */
static uint32_t
cut_around(const struct lowering *lowering, struct sbx_place at,
    uint32_t before)
{
	while (before > 0 && !sbx_covers(lowering->cuts[before - 1].at, at))
		before = lowering->cuts[before - 1].outer;
	return before;
}

/* In path order, each with the nearest one around it. */
static void
add_cuts(struct lowering *lowering, const uint32_t *ids, uint32_t count)
{
	const struct binding *binding = lowering->binding;

	lowering->cuts = arena_take(&lowering->binding->arena, count,
	    sizeof *lowering->cuts);
	lowering->cut_count = count;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t id = ids[i];
		bool missing = id < binding->rule_count &&
		    binding->sites[id].missing;

		lowering->cuts[i] = (struct cut){
			.at = cut_place(binding, id),
			.directory = missing ? 1 : -1,
		};
		lowering->cuts[i].outer = cut_around(lowering,
		    lowering->cuts[i].at, i);
	}
}

static void
collect(struct lowering *lowering)
{
	struct binding *binding = lowering->binding;
	struct arena *arena = &binding->arena;
	uint32_t most = binding->rule_count + binding->exclusion_count,
		 count = 0;
	uint32_t *ids = arena_take(arena, most, sizeof *ids);
	uint32_t *spare = arena_take(arena, most, sizeof *spare);

	lowering->allows = arena_take(arena, binding->rule_count,
	    sizeof *lowering->allows);
	lowering->outcomes = arena_take(arena, binding->rule_count,
	    sizeof *lowering->outcomes);
	for (uint32_t i = 0; i < binding->rule_count; i++) {
		const struct sbx_rule *rule = &binding->rules[i];

		if (binding->sites[i].state == RULE_UNBOUND)
			continue;
		if (rule->effect != SBX_ALLOW)
			ids[count++] = i;
		else if (binding->sites[i].state == RULE_READY)
			lowering->allows[lowering->allow_count++] = i;
		for (uint16_t j = 0; j < rule->exclusion_count; j++)
			ids[count++] = binding->rule_count +
			    (uint32_t)(&rule->exclusions[j] -
				binding->exclusions);
	}
	sbx_sort(ids, count, spare, cut_before, binding);
	add_cuts(lowering, ids, count);
	sbx_sort(lowering->allows, lowering->allow_count, spare, allow_before,
	    binding->rules);
}

/* The cuts at or below a place stand together in the sorted table. */
struct range {
	uint32_t from, to;
};

static struct range
cuts_within(const struct lowering *lowering, struct sbx_place at)
{
	uint32_t low = 0, high = lowering->cut_count, end;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (sbx_place_compare(lowering->cuts[middle].at, at) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < lowering->cut_count &&
	     sbx_covers(at, lowering->cuts[end].at);)
		end++;
	return (struct range){ low, end };
}

static uint8_t
verdicts(struct lowering *lowering, struct sbx_place at)
{
	uint8_t allowed = 0;

	for (uint8_t right = SBX_READ; right <= SBX_EXEC; right <<= 1) {
		if (cover_allows(&lowering->binding->cover, right, at))
			allowed |= right;
	}
	if (allowed & SBX_READ)
		allowed |= LIST;
	return allowed;
}

/* What is not there could become a directory, so it counts as one; not so
 * below a file. */
static bool
may_be_directory(struct cut *cut)
{
	struct stat status;

	if (cut->directory >= 0)
		return cut->directory != 0;
	if (fstatat(AT_FDCWD, cut->at.len == 0 ? "/" : cut->at.path, &status,
		AT_SYMLINK_NOFOLLOW) == 0)
		cut->directory = S_ISDIR(status.st_mode);
	else
		cut->directory = errno != ENOTDIR;
	return cut->directory != 0;
}

static uint8_t
cut_verdicts(struct lowering *lowering, struct cut *cut)
{
	if (!cut->known) {
		cut->allowed = verdicts(lowering, cut->at);
		/* A file is not listed: denying it is no reason to split. */
		if ((cut->allowed & LIST) == 0 && !may_be_directory(cut))
			cut->allowed |= LIST;
		cut->known = true;
	}
	return cut->allowed;
}

/* The rights that are otherwise somewhere strictly below than at the place. */
static uint8_t
changes_below(struct lowering *lowering, struct range within,
    struct sbx_place at, uint8_t allowed)
{
	uint8_t changes = 0;

	for (uint32_t i = within.from; i < within.to; i++) {
		if (lowering->cuts[i].at.len > at.len)
			changes |= cut_verdicts(lowering, &lowering->cuts[i]) ^
			    allowed;
	}
	return changes;
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
 * Gives rights at a descriptor.  EINVAL from the kernel means that some of
 * them are for directories and this is none; asking it is cheaper than asking
 * fstat(2) each time.
 */
static void
grant(struct lowering *lowering, int fd, uint8_t rights)
{
	struct landlock_path_beneath_attr attr = {
		.allowed_access = access_mask(lowering->row, rights),
		.parent_fd = fd,
	};

	if (attr.allowed_access == 0)
		return;
	if (++lowering->grants > LOWER_MAX_GRANTS)
		refuse_rule(lowering,
		    "a denial inside this tree needs more "
		    "Landlock rules than the bound of 65536",
		    0);
	lowering->outcomes[lowering->rule].grants++;
	if (landlock_add_rule(lowering->ruleset, LANDLOCK_RULE_PATH_BENEATH,
		&attr) == 0)
		return;
	if (errno == EINVAL) {
		attr.allowed_access &= lowering->row->file;
		if (attr.allowed_access == 0 ||
		    landlock_add_rule(lowering->ruleset,
			LANDLOCK_RULE_PATH_BENEATH, &attr) == 0)
			return;
	}
	refuse_rule(lowering, "Landlock refused the rule", errno);
}

static void lower_place(struct lowering *lowering, int fd, struct sbx_place at,
    uint8_t rights, unsigned depth);

static struct sbx_place
child_of(struct lowering *lowering, struct sbx_place at, const char *name,
    size_t len)
{
	static const struct sbx_place slash = { "/", 1 };
	struct arena *arena = &lowering->binding->arena;
	struct sbx_place parent = arena_join(arena, at, slash);

	arena->used -= parent.len + 1;
	return arena_join(arena, parent,
	    (struct sbx_place){ name, (uint32_t)len });
}

/*
 * One entry of a split directory: on the way to a cut it is lowered in turn,
 * else it gets the rights whole.  O_NOFOLLOW: an entry that has just been
 * replaced by a link leads nowhere.
 */
static void
lower_entry(struct lowering *lowering, int directory, struct sbx_place at,
    const char *name, uint8_t rights, uint8_t spread, unsigned depth)
{
	uint32_t mark = lowering->binding->arena.used;
	struct sbx_place child;
	struct range within;
	int fd;

	if (++lowering->entries > LOWER_MAX_ENTRIES)
		refuse_rule(lowering,
		    "a denial inside this tree meets more "
		    "directory entries than the bound of 262144",
		    0);
	fd = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
		refuse_rule(lowering, "cannot open an entry of this tree",
		    errno);
	if (fd < 0)
		return;
	child = child_of(lowering, at, name, strlen(name));
	within = cuts_within(lowering, child);
	if (within.from < within.to)
		lower_place(lowering, fd, child, rights, depth + 1);
	else
		grant(lowering, fd, spread);
	close(fd);
	lowering->binding->arena.used = mark;
}

/* The component of a cut that comes next below a place. */
static size_t
next_component(struct sbx_place at, struct sbx_place cut, const char **name)
{
	*name = cut.path + at.len + 1;
	return strcspn(*name, "/");
}

/*
 * Goes only where the cuts lead: for rights that begin again below a denied
 * place, and where a directory may be passed through but not listed.
 */
static void
follow_cuts(struct lowering *lowering, int directory, struct sbx_place at,
    struct range within, uint8_t rights, uint8_t spread, unsigned depth)
{
	const char *last = NULL, *next;
	size_t last_len = 0, len;
	char name[256];

	for (uint32_t i = within.from; i < within.to; i++) {
		if (lowering->cuts[i].at.len <= at.len)
			continue;
		len = next_component(at, lowering->cuts[i].at, &next);
		if (len >= sizeof name ||
		    (last != NULL && len == last_len &&
			memcmp(last, next, len) == 0))
			continue;
		memcpy(name, next, len);
		name[len] = '\0';
		lower_entry(lowering, directory, at, name, rights, spread,
		    depth);
		last = next;
		last_len = len;
	}
}

static bool
is_dot(const char *name)
{
	return name[0] == '.' &&
	    (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

static void
list_entries(struct lowering *lowering, int directory, struct sbx_place at,
    uint8_t rights, uint8_t spread, unsigned depth)
{
	_Alignas(struct entry) char buffer[4096];
	long len;

	while ((len = read_entries(directory, buffer, sizeof buffer)) > 0) {
		for (long offset = 0; offset < len;) {
			const struct entry *entry = (const void *)(buffer +
			    offset);

			offset += entry->size;
			if (entry->type != ENTRY_LINK && !is_dot(entry->name))
				lower_entry(lowering, directory, at,
				    entry->name, rights, spread, depth);
		}
	}
	if (len < 0)
		refuse_rule(lowering, "cannot list a directory of this tree",
		    errno);
}

static void
split(struct lowering *lowering, int fd, struct sbx_place at,
    struct range within, uint8_t rights, uint8_t spread, unsigned depth)
{
	int directory;

	if (depth == LOWER_MAX_DEPTH)
		refuse_rule(lowering,
		    "a denial inside this tree lies deeper "
		    "than the bound of 128 directories",
		    0);
	directory = spread == 0 ?
	    -1 :
	    openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0 && errno == ENOTDIR && spread != 0) {
		/* A file: the cuts below it lead nowhere. */
		grant(lowering, fd, spread);
		return;
	}
	if (directory < 0) {
		follow_cuts(lowering, fd, at, within, rights, spread, depth);
		return;
	}
	list_entries(lowering, directory, at, rights, spread, depth);
	close(directory);
}

/* Hands out rights at a place and below it, as the model says. */
static void
lower_place(struct lowering *lowering, int fd, struct sbx_place at,
    uint8_t rights, unsigned depth)
{
	struct range within = cuts_within(lowering, at);
	uint8_t allowed = rights, changing = 0;

	/* What a split hands to an entry is already as the model says. */
	if (within.from < within.to ||
	    (depth == 0 && cut_around(lowering, at, within.from) > 0)) {
		allowed = verdicts(lowering, at);
		changing = rights &
		    changes_below(lowering, within, at, allowed);
		/* What ends below is masked; what begins there is given. */
		if (lowering->masked)
			changing &= (uint8_t)~allowed;
	}
	grant(lowering, fd, rights & allowed & (uint8_t)~changing);
	if (changing == 0)
		return;
	lowering->outcomes[lowering->rule].split = true;
	split(lowering, fd, at, within, changing, changing & allowed, depth);
}

static void
lower_rule(struct lowering *lowering, uint32_t index)
{
	const struct sbx_rule *rule = &lowering->binding->rules[index];
	struct site *site = &lowering->binding->sites[index];
	uint8_t rights = rule->rights | (rule->rights & SBX_READ ? LIST : 0);
	int fd = site->fd >= 0 ? site->fd : resolve_reopen(rule->at);

	lowering->rule = index;
	if (fd < 0) {
		site->state = RULE_ABSENT;
		site->error = errno;
		return;
	}
	lower_place(lowering, fd, rule->at, rights, 0);
	/* Descriptors kept from binding close by themselves at exec. */
	if (site->fd < 0)
		close(fd);
}

/*
 * Whether an earlier allow of the sorted table gives everything that this one
 * does.  `open` is the chain of places that enclose the current one.
 */
static bool
is_covered(const struct lowering *lowering, const uint32_t *open,
    uint32_t depth, const struct sbx_rule *rule)
{
	while (depth-- > 0) {
		const struct sbx_rule *outer =
		    &lowering->binding->rules[open[depth]];

		if ((rule->rights & ~outer->rights) == 0 &&
		    sbx_rule_covers(outer, rule->at))
			return true;
	}
	return false;
}

/*
 * What the mount view adds to what it shows (the directories above, links, an
 * empty /dev) may be listed; all else in it may be anyway, or is masked.
 */
static void
lower_view(struct lowering *lowering)
{
	struct landlock_path_beneath_attr attr = {
		.allowed_access = lowering->row->list,
		.parent_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC),
	};

	if (attr.parent_fd < 0 ||
	    landlock_add_rule(lowering->ruleset, LANDLOCK_RULE_PATH_BENEATH,
		&attr) != 0)
		refuse(NULL, "Landlock refused the root of the view", errno);
	close(attr.parent_fd);
}

void
lower_paths(struct lowering *lowering, struct binding *binding,
    const struct sbx_landlock *row, int ruleset)
{
	uint32_t open[LOWER_MAX_DEPTH], depth = 0;

	lowering->binding = binding;
	lowering->row = row;
	lowering->ruleset = ruleset;
	collect(lowering);
	for (uint32_t i = 0; i < lowering->allow_count; i++) {
		uint32_t index = lowering->allows[i];
		const struct sbx_rule *rule = &binding->rules[index];

		while (depth > 0 &&
		    !sbx_covers(binding->rules[open[depth - 1]].at, rule->at))
			depth--;
		if (is_covered(lowering, open, depth, rule)) {
			lowering->outcomes[index].covered = true;
			continue;
		}
		lower_rule(lowering, index);
		if (depth < LOWER_MAX_DEPTH &&
		    binding->sites[index].state == RULE_READY)
			open[depth++] = index;
	}
	if (lowering->masked)
		lower_view(lowering);
}

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
    int ruleset)
{
	for (uint32_t i = 0; i < blob->port_count; i++) {
		const struct sbx_port *rule = &blob->ports[i];
		uint64_t mask = rule->op == SBX_CONNECT_TCP ? row->connect_tcp :
							      row->bind_tcp;

		if (rule->effect != SBX_ALLOW || mask == 0 ||
		    (rule->platforms & KERNEL_WHERE) == 0)
			continue;
		for (uint32_t port = rule->low; port <= rule->high; port++)
			allow_port(blob, ruleset, rule->op, mask,
			    (uint16_t)port);
	}
}
