#include "runtime/bind/bind.h"

#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "runtime/bind/glob.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h> /* RLIMIT_NOFILE */
#include <unistd.h>

static const struct sbx_place nothing = { "", 0 };

enum {
	/* Room for the symbolic links that lead to a place, on average, and for
	 * a few places with many. */
	BIND_LINKS_EACH = 4,
	BIND_LINKS_SPARE = 256,
};

/* --- rules ---------------------------------------------------------------- */

static struct sbx_place
suffix_of(const struct binding *binding, uint32_t offset)
{
	const char *suffix = sbx_string(binding->blob, offset);

	return (struct sbx_place){ suffix, (uint32_t)strlen(suffix) };
}

static struct sbx_rule *
add_rule(struct binding *binding, const struct sbx_path *path, uint8_t rights,
    struct sbx_place at)
{
	struct sbx_rule *rule = &binding->rules[binding->rule_count];

	if (binding->rule_count == binding->rule_max)
		refuse(NULL,
		    "too many symbolic links lead to what the policy "
		    "denies",
		    ELOOP);
	*rule = (struct sbx_rule){
		.at = at,
		.source = path->source,
		.effect = path->effect,
		.rights = rights,
	};
	binding->sites[binding->rule_count++] = (struct site){ .path = path,
		.fd = -1 };
	return rule;
}

static void
add_exclusion(struct binding *binding, struct sbx_rule *rule,
    struct sbx_place at)
{
	if (binding->exclusion_count == binding->exclusion_max ||
	    rule->exclusion_count == UINT16_MAX)
		refuse(NULL,
		    "the policy has too many exceptions for this "
		    "machine",
		    0);
	if (rule->exclusion_count == 0)
		rule->exclusions =
		    &binding->exclusions[binding->exclusion_count];
	binding->exclusions[binding->exclusion_count++] = at;
	rule->exclusion_count++;
}

/*
 * Where a denial or an exception is.  If it cannot be told whether a link leads
 * there, what it leads to would stay open.
 */
static struct sbx_place
certain_place(struct resolved found)
{
	switch (found.error) {
	case 0:
	case ENOENT:
	case ENOTDIR:
	case EACCES:
	case ELOOP:
	case ENAMETOOLONG:
		return found.at;
	default:
		refuse(found.at.path,
		    "cannot look at this place, which the "
		    "policy denies or excepts",
		    found.error);
	}
}

struct linked_exclusion {
	struct binding *binding;
	struct sbx_rule *rule;
};

/* A link that leads to an exclusion is one too: else it could be made to lead to
 * another place in the next run. */
static void
exclusion_link(void *context, struct sbx_place link)
{
	struct linked_exclusion *linked = context;

	add_exclusion(linked->binding, linked->rule,
	    arena_join(&linked->binding->arena, link, nothing));
}

static void
bind_exclusion(struct binding *binding, struct sbx_rule *rule,
    struct sbx_place anchor, uint32_t suffix)
{
	struct sbx_place at = arena_join(&binding->arena, anchor,
	    suffix_of(binding, suffix));

	add_exclusion(binding, rule,
	    certain_place(resolve_place(&binding->arena, &binding->listings,
		anchor, at, exclusion_link,
		&(struct linked_exclusion){ binding, rule })));
}

static void
bind_exclusions(struct binding *binding, struct sbx_rule *rule,
    const struct sbx_path *path)
{
	const struct sbx_exclusion *exclusions = binding->blob->exclusions +
	    path->first_exclusion;

	for (uint16_t i = 0; i < path->exclusion_count; i++) {
		const struct sbx_exclusion *exclusion = &exclusions[i];

		if (binding->bound[exclusion->anchor])
			bind_exclusion(binding, rule,
			    binding->anchors[exclusion->anchor],
			    exclusion->suffix);
		if (exclusion->anchor == SBX_ANCHOR_HOME &&
		    binding->has_other_home)
			bind_exclusion(binding, rule, binding->other_home,
			    exclusion->suffix);
	}
}

/* The rule that is being bound, for the links that lead to it. */
struct linked_rule {
	struct binding *binding;
	const struct sbx_path *path;
	uint32_t rule;
};

/* A link that leads to a denied place is kept from being replaced. */
static void
deny_link(void *context, struct sbx_place link)
{
	struct linked_rule *linked = context;
	struct binding *binding = linked->binding;

	/* Links may lead in a ring. */
	for (uint32_t i = linked->rule + 1; i < binding->rule_count; i++) {
		if (sbx_place_compare(binding->rules[i].at, link) == 0)
			return;
	}
	add_rule(binding, linked->path, SBX_WRITE,
	    arena_join(&binding->arena, link, nothing));
}

/* A denial of one place below another that has no links in it. */
static struct sbx_rule *
deny_place(struct binding *binding, const struct sbx_path *path,
    struct sbx_place parent, struct sbx_place at)
{
	uint32_t index = binding->rule_count;
	struct sbx_rule *rule = add_rule(binding, path, path->rights, at);
	struct resolved found = resolve_place(&binding->arena,
	    &binding->listings, parent, at, deny_link,
	    &(struct linked_rule){ binding, path, index });

	rule->at = certain_place(found);
	binding->sites[index].missing = found.error == ENOENT;
	return rule;
}

static void
bind_deny(struct binding *binding, const struct sbx_path *path,
    struct sbx_place anchor)
{
	bind_exclusions(binding,
	    deny_place(binding, path, anchor,
		arena_join(&binding->arena, anchor,
		    suffix_of(binding, path->suffix))),
	    path);
}

/* Whether a link is to be trusted shows when every rule is bound. */
static void
note_link(void *context, struct sbx_place at)
{
	struct linked_rule *linked = context;
	struct binding *binding = linked->binding;

	if (binding->link_count == BIND_MAX_LINKS)
		refuse(at.path,
		    "too many symbolic links lead to what the "
		    "policy allows",
		    ELOOP);
	binding->links[binding->link_count++] = (struct link){ linked->rule, 1,
		arena_join(&binding->arena, at, nothing) };
}

/* The rule before was for the same place, and no link led there. */
static bool
same_as_before(const struct binding *binding, const struct sbx_path *path)
{
	const struct site *before;

	if (binding->rule_count == 0)
		return false;
	before = &binding->sites[binding->rule_count - 1];
	return before->fd >= 0 && !before->linked && path->glob == 0 &&
	    before->path->anchor == path->anchor &&
	    before->path->suffix == path->suffix;
}

static struct resolved
resolve_allow(struct binding *binding, const struct sbx_path *path,
    struct sbx_place at)
{
	uint32_t index = binding->rule_count, end;

	if (same_as_before(binding, path))
		return (struct resolved){
			.at = binding->rules[index - 1].at,
			.fd = binding->sites[index - 1].fd,
		};
	if (listings_look(&binding->listings, at, &end) == LISTED_MISSING)
		return (struct resolved){ at, .fd = -1, .error = ENOENT };
	return resolve(&binding->arena, at, note_link,
	    &(struct linked_rule){ binding, path, index });
}

/*
 * An allow keeps its descriptor, up to a number: a policy may have more rules
 * than the process may have open files.
 */
static struct sbx_rule *
allow_place(struct binding *binding, const struct sbx_path *path,
    struct sbx_place at)
{
	uint32_t links = binding->link_count;
	struct resolved found = resolve_allow(binding, path, at);
	struct sbx_rule *rule;
	struct site *site;

	if (found.error != 0 && !binding->described) {
		binding->link_count = links;
		return NULL;
	}
	rule = add_rule(binding, path, found.error != 0 ? 0 : path->rights,
	    found.at);
	site = &binding->sites[binding->rule_count - 1];
	site->error = found.error;
	site->state = found.error != 0 ? RULE_ABSENT : RULE_READY;
	site->linked = found.linked;
	site->fd = found.fd;
	if (found.fd >= binding->fd_max) {
		close(found.fd);
		site->fd = -1;
	}
	return rule;
}

static void
bind_allow(struct binding *binding, const struct sbx_path *path,
    struct sbx_place anchor)
{
	struct sbx_rule *rule = allow_place(binding, path,
	    arena_join(&binding->arena, anchor,
		suffix_of(binding, path->suffix)));

	if (rule != NULL)
		bind_exclusions(binding, rule, path);
}

static void
bind_unbound(struct binding *binding, const struct sbx_path *path)
{
	if (path->glob != 0) {
		binding->globs[binding->glob_count++] =
		    (struct glob){ .path = path, .unbound = true };
		return;
	}
	add_rule(binding, path, 0, nothing);
	binding->sites[binding->rule_count - 1].state = RULE_UNBOUND;
}

/* --- globs ---------------------------------------------------------------- */

/* A glob while its matches become rules. */
struct matching {
	struct binding *binding;
	struct glob *glob;
	struct sbx_rule
	    all; /* the rule as if everything matched: its exclusions */
};

/* The exclusions that have to do with the place of a rule. */
static void
share_exclusions(struct binding *binding, struct sbx_rule *rule,
    const struct sbx_rule *all)
{
	for (uint16_t i = 0; i < all->exclusion_count; i++) {
		struct sbx_place exclusion = all->exclusions[i];

		if (sbx_covers(rule->at, exclusion) ||
		    sbx_covers(exclusion, rule->at))
			add_exclusion(binding, rule, exclusion);
	}
}

static struct sbx_place
parent_of(struct sbx_place at)
{
	while (at.path[--at.len] != '/')
		;
	return at;
}

/* A match that is a link is what a path is that is one: see deny_link() and
 * note_link(). */
static void
bind_match(void *context, struct sbx_place match)
{
	struct matching *matching = context;
	struct binding *binding = matching->binding;
	const struct sbx_path *path = matching->glob->path;
	struct sbx_rule *rule;

	if (!sbx_rule_covers(&matching->all, match))
		return;
	matching->glob->matches++;
	rule = path->effect == SBX_ALLOW ?
	    allow_place(binding, path, match) :
	    deny_place(binding, path, parent_of(match), match);
	if (rule != NULL)
		share_exclusions(binding, rule, &matching->all);
}

/* What is not found is not denied: only who prefers goes on without. */
static void
report_search(struct binding *binding, struct glob *glob,
    const struct glob_search *search)
{
	uint32_t source = glob->path->source;

	if (glob->path->effect != SBX_PREFER_DENY)
		refuse_at(binding->blob, source, search->fault, search->error);
	warn_at(binding->blob, source, search->fault, search->error);
	glob->fault = search->fault;
}

static void
search_glob(struct matching *matching)
{
	struct binding *binding = matching->binding;
	struct glob *glob = matching->glob;
	struct glob_search search = {
		.arena = &binding->arena,
		.visit = bind_match,
		.context = matching,
		.gives = glob->path->effect == SBX_ALLOW,
		.entries = binding->glob_entries,
		.matches = binding->glob_matches,
	};

	glob_find(&search, glob->at,
	    sbx_string(binding->blob, glob->path->glob));
	binding->glob_entries = search.entries;
	binding->glob_matches = search.matches;
	glob->closed = search.closed;
	if (search.fault != NULL)
		report_search(binding, glob, &search);
}

/*
 * The matches become rules one by one.  Links that lead to the place where the
 * pattern begins lead to all of them.
 */
static void
bind_glob(struct binding *binding, const struct sbx_path *path,
    struct sbx_place anchor)
{
	struct glob *glob = &binding->globs[binding->glob_count++];
	struct matching matching = { .binding = binding, .glob = glob };
	struct linked_rule linked = { binding, path, binding->rule_count };
	uint32_t link = binding->link_count, links_end;
	struct resolved found = resolve(&binding->arena,
	    arena_join(&binding->arena, anchor,
		suffix_of(binding, path->suffix)),
	    path->effect == SBX_ALLOW ? note_link : deny_link, &linked);

	*glob = (struct glob){
		.path = path,
		.at = path->effect == SBX_ALLOW ? found.at :
						  certain_place(found),
	};
	links_end = binding->link_count;
	matching.all.at = found.at;
	if (found.fd >= 0) {
		close(found.fd);
		bind_exclusions(binding, &matching.all, path);
		search_glob(&matching);
	}
	for (; link < links_end; link++)
		binding->links[link].count = binding->rule_count -
		    binding->links[link].rule;
}

/* At the place that is bound, and at its other one. */
static void
bind_path(struct binding *binding, const struct sbx_path *path,
    struct sbx_place anchor)
{
	if (path->glob != 0)
		bind_glob(binding, path, anchor);
	else if (path->effect == SBX_ALLOW)
		bind_allow(binding, path, anchor);
	else
		bind_deny(binding, path, anchor);
}

/*
 * A link that the sandbox may write could have been made by it, in an earlier
 * run, to be given what it names.  Such a rule grants nothing.
 */
static void
distrust_link(struct binding *binding, const struct link *link)
{
	if (!cover_allows(&binding->cover, SBX_WRITE, link->at))
		return;
	for (uint32_t i = 0; i < link->count; i++) {
		struct site *site = &binding->sites[link->rule + i];

		if (site->state == RULE_READY)
			site->state = RULE_PLANTED;
	}
}

static void
distrust_links(struct binding *binding)
{
	for (uint32_t i = 0; i < binding->link_count; i++)
		distrust_link(binding, &binding->links[i]);
	/* Only now: verdicts on links were to see every rule. */
	for (uint32_t i = 0; i < binding->rule_count; i++) {
		if (binding->sites[i].state == RULE_PLANTED)
			binding->rules[i].rights = 0;
	}
}

/*
 * Rules stand in the order of their paths.  A directory that a whole row of
 * them lies in is listed: they are places where programs keep things, of which
 * a machine has few.
 */
static void
list_directory(struct binding *binding, uint32_t index)
{
	const struct sbx_blob *blob = binding->blob;
	const struct sbx_path *path = &blob->paths[index], *later;
	struct sbx_place home = binding->anchors[SBX_ANCHOR_HOME], suffix;
	const char *slash;

	if (path->anchor != SBX_ANCHOR_HOME ||
	    blob->path_count - index <= LISTINGS_WORTH)
		return;
	later = path + LISTINGS_WORTH;
	suffix = suffix_of(binding, path->suffix);
	slash = strrchr(suffix.path, '/');
	if (slash == NULL || later->anchor != path->anchor)
		return;
	suffix.len = (uint32_t)(slash - suffix.path);
	if (strncmp(sbx_string(blob, later->suffix), suffix.path,
		suffix.len + 1) == 0)
		listings_add(&binding->listings,
		    arena_join(&binding->arena, home, suffix));
}

/* The matches of globs, links that lead to them, and the exclusions in them. */
static void
make_glob_room(struct binding *binding, uint32_t homes)
{
	uint32_t globs = 0;

	for (uint32_t i = 0; i < binding->blob->path_count; i++)
		globs += binding->blob->paths[i].glob != 0;
	if (globs == 0)
		return;
	binding->globs = arena_take(&binding->arena, homes * globs,
	    sizeof *binding->globs);
	binding->rule_max += 2 * GLOB_MAX_MATCHES;
	binding->exclusion_max += 2 * GLOB_MAX_MATCHES;
}

/*
 * Denies count twice where the home directory has two names, and once more for
 * each link that leads to them; so do their exclusions, which may lie there too.
 */
static void
make_room(struct binding *binding)
{
	struct arena *arena = &binding->arena;
	uint32_t homes = binding->has_other_home ? 2 : 1;
	struct rlimit_pair files = { 0, 0 };

	limit_process(RLIMIT_NOFILE, NULL, &files);
	binding->fd_max = files.soft > BIND_MAX_OPEN ?
	    BIND_MAX_OPEN :
	    (int)files.soft - BIND_SPARE_OPEN;
	binding->rule_max = (1 + BIND_LINKS_EACH) * homes *
		binding->blob->path_count +
	    BIND_LINKS_SPARE;
	binding->exclusion_max = (1 + BIND_LINKS_EACH) * homes * homes *
		binding->blob->exclusion_count +
	    BIND_LINKS_SPARE;
	make_glob_room(binding, homes);
	binding->rules = arena_take(arena, binding->rule_max,
	    sizeof *binding->rules);
	binding->sites = arena_take(arena, binding->rule_max,
	    sizeof *binding->sites);
	binding->exclusions = arena_take(arena, binding->exclusion_max,
	    sizeof *binding->exclusions);
	binding->links = arena_take(arena, BIND_MAX_LINKS,
	    sizeof *binding->links);
	cover_room(&binding->cover, arena, binding->rule_max);
}

void
bind_rules(struct binding *binding)
{
	const struct sbx_blob *blob = binding->blob;

	make_room(binding);
	for (uint32_t i = 0; i < blob->path_count; i++) {
		const struct sbx_path *path = &blob->paths[i];
		struct sbx_place anchor = binding->anchors[path->anchor];

		if ((path->platforms & KERNEL_WHERE) == 0)
			continue;
		if (!binding->bound[path->anchor]) {
			bind_unbound(binding, path);
			continue;
		}
		list_directory(binding, i);
		bind_path(binding, path, anchor);
		if (path->effect != SBX_ALLOW && binding->has_other_home &&
		    path->anchor == SBX_ANCHOR_HOME)
			bind_path(binding, path, binding->other_home);
	}
	bind_index(binding);
	distrust_links(binding);
}

void
bind_index(struct binding *binding)
{
	cover_rules(&binding->cover, binding->rules, binding->rule_count);
}

bool
bind_is_writable(struct binding *binding, struct sbx_place policy)
{
	return policy.len > 0 &&
	    cover_allows(&binding->cover, SBX_WRITE, policy);
}

void
bind_policy(struct binding *binding, struct sbx_place policy)
{
	static const struct sbx_path itself = {
		.source = SBX_NO_SOURCE,
		.anchor = SBX_ANCHOR_ROOT,
		.effect = SBX_DENY,
		.rights = SBX_WRITE,
		.platforms = SBX_ON_ALL,
	};

	add_rule(binding, &itself, SBX_WRITE, policy);
	bind_index(binding);
}

const char *
bind_hop(struct binding *binding, const char *hops)
{
	/* An entry is replaced by who may write the directory that it is in. */
	for (; *hops != '\0'; hops += strlen(hops) + 1) {
		if (cover_allows(&binding->cover, SBX_WRITE,
			parent_of(place_of(hops))))
			return hops;
	}
	return NULL;
}
