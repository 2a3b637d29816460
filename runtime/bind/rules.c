#include "format/model.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "runtime/bind/binder.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/*
 * A path rule of the blob becomes rules at places: one at what it names, for a
 * glob one at each match, and for a denial one at each link that leads there.
 */

const struct sbx_place bind_devices = { "/dev", 4 };

/* --- rules and exclusions ------------------------------------------------- */

/*
 * A linked working tree and a submodule have their repository elsewhere; see
 * project_find().  It is as if it were ${workspace}/.git: what a rule says of
 * that, or of something in it, it also says there.
 */
static const char git_name[] = ".git";
enum { GIT_LEN = sizeof "/.git" - 1 };

/* Whether a path below the workspace is `.git` or something in it. */
static bool
is_in_git(const char *suffix)
{
	return strncmp(suffix, "/.git", GIT_LEN) == 0 &&
	    (suffix[GIT_LEN] == '\0' || suffix[GIT_LEN] == '/');
}

static struct sbx_place
place_below(struct binder *binder, struct sbx_place anchor, uint32_t offset)
{
	const char *suffix = sbx_string(binder->blob, offset);

	return arena_join(binder->arena, anchor, sbx_place_of(suffix));
}

struct sbx_rule *
add_rule(struct binder *binder, const struct sbx_path *path, uint8_t rights,
    struct sbx_place at)
{
	uint32_t index = binder->made.rule_count;

	if (index == binder->rule_max)
		refuse(NULL,
		    "too many symbolic links lead to what the policy denies",
		    ELOOP);
	binder->made.rule_count++;
	binder->sites[index] = (struct site){ .path = path, .fd = -1 };
	binder->rules[index] = (struct sbx_rule){
		.at = at,
		.source = path->source,
		.effect = path->effect,
		.rights = rights & SBX_RIGHTS,
	};
	return &binder->rules[index];
}

static void
add_exclusion(struct binder *binder, struct sbx_rule *rule, struct sbx_place at)
{
	uint32_t index = binder->made.exclusion_count;

	if (index == binder->exclusion_max ||
	    rule->exclusion_count == UINT16_MAX)
		refuse(NULL,
		    "the policy has too many exceptions for this machine", 0);
	if (rule->exclusion_count == 0)
		rule->exclusions = &binder->exclusions[index];
	binder->exclusions[index] = at;
	binder->made.exclusion_count++;
	rule->exclusion_count++;
}

/*
 * Where a denial or an exception is.  If it cannot be told whether a link leads
 * there, what it leads to would stay open.
 */
static struct sbx_place
certain_place(const struct followed *found)
{
	switch (found->error) {
	case 0:
	case ENOENT:
	case ENOTDIR:
	case EACCES:
	case ELOOP:
	case ENAMETOOLONG:
		return found->at;
	default:
		refuse(found->at.path,
		    "cannot look at this place, which the policy denies or "
		    "excepts",
		    found->error);
	}
}

/*
 * The links to a place that is excluded from an allow are excluded as well:
 * whoever may replace one could lead it to another place for the next run.  From
 * a denial it is the name alone that the policy gives; a link on the way to it
 * leads to more than that.  A planted link takes nothing out of a denial.
 */
static void
bind_exclusion(struct binder *binder, struct sbx_rule *rule,
    struct sbx_place anchor, uint32_t suffix)
{
	struct sbx_place named = place_below(binder, anchor, suffix);
	struct followed found = follow_below(binder->arena, &binder->listings,
	    anchor, named);
	bool gives = rule->effect == SBX_ALLOW;

	if (!gives && is_planted(binder, &found))
		return;
	for (uint32_t i = 0; i < found.link_count; i++) {
		if (gives || sbx_place_compare(found.links[i], named) == 0)
			add_exclusion(binder, rule, found.links[i]);
	}
	add_exclusion(binder, rule, certain_place(&found));
}

static void
bind_exclusions(struct binder *binder, struct sbx_rule *rule,
    const struct sbx_path *path)
{
	const struct binding *made = &binder->made;

	for (uint16_t i = 0; i < path->exclusion_count; i++) {
		const struct sbx_exclusion *exclusion =
		    &binder->blob->exclusions[path->first_exclusion + i];
		uint32_t suffix = exclusion->suffix;

		if (made->bound[exclusion->anchor])
			bind_exclusion(binder, rule,
			    made->anchors[exclusion->anchor], suffix);
		if (exclusion->anchor == SBX_ANCHOR_HOME &&
		    made->has_other_home)
			bind_exclusion(binder, rule, made->other_home, suffix);
		if (exclusion->anchor == SBX_ANCHOR_WORKSPACE &&
		    made->git.len > 0 &&
		    is_in_git(sbx_string(binder->blob, suffix)))
			bind_exclusion(binder, rule, made->git,
			    suffix + GIT_LEN);
	}
}

/* --- denials -------------------------------------------------------------- */

/* The links that lead to a denied place may not be replaced.  They may lead in
 * a ring. */
static void
deny_links(struct binder *binder, const struct sbx_path *path,
    const struct followed *found)
{
	uint32_t first = binder->made.rule_count, known;

	for (uint32_t i = 0; i < found->link_count; i++) {
		for (known = first; known < binder->made.rule_count; known++) {
			if (sbx_place_compare(binder->rules[known].at,
				found->links[i]) == 0)
				break;
		}
		if (known < binder->made.rule_count)
			continue;
		add_rule(binder, path, SBX_WRITE, found->links[i]);
		binder->sites[known].is_link = true;
	}
}

/* A denial of one place below another that has no links in it. */
static struct sbx_rule *
deny_place(struct binder *binder, const struct sbx_path *path,
    struct sbx_place parent, struct sbx_place at)
{
	struct sbx_rule *rule = add_rule(binder, path, path->rights, at);
	struct site *site = &binder->sites[rule - binder->rules];
	struct followed found = follow_below(binder->arena, &binder->listings,
	    parent, at);

	deny_links(binder, path, &found);
	rule->at = certain_place(&found);
	site->missing = found.error == ENOENT;
	return rule;
}

struct site *
deny_below(struct binder *binder, struct sbx_place parent, const char *suffix,
    bool reading)
{
	/* Of which the rule keeps the address. */
	static const struct sbx_path all = {
		.source = SBX_NO_SOURCE,
		.anchor = SBX_ANCHOR_ROOT,
		.effect = SBX_DENY,
		.rights = SBX_RIGHTS,
		.platforms = SBX_ON_ALL,
	};
	static const struct sbx_path writing = {
		.source = SBX_NO_SOURCE,
		.anchor = SBX_ANCHOR_ROOT,
		.effect = SBX_DENY,
		.rights = SBX_WRITE,
		.platforms = SBX_ON_ALL,
	};
	struct sbx_place at = arena_join(binder->arena, parent,
	    sbx_place_of(suffix));
	struct sbx_rule *rule = deny_place(binder, reading ? &all : &writing,
	    parent, at);

	return &binder->sites[rule - binder->rules];
}

/* --- allows --------------------------------------------------------------- */

void
note_links(struct binder *binder, const struct followed *found)
{
	for (uint32_t i = 0; i < found->link_count; i++) {
		if (binder->made.link_count == BIND_MAX_LINKS)
			refuse(found->links[i].path,
			    "too many symbolic links lead to what the policy "
			    "allows",
			    ELOOP);
		binder->links[binder->made.link_count++] = found->links[i];
	}
}

/* The rule before was for the same place, and no link led there. */
static bool
same_as_before(const struct binder *binder, const struct sbx_path *path,
    struct sbx_place at)
{
	const struct site *before;

	if (binder->made.rule_count == 0)
		return false;
	before = &binder->sites[binder->made.rule_count - 1];
	return before->fd >= 0 && !before->linked && path->glob == 0 &&
	    before->path->anchor == path->anchor &&
	    before->path->suffix == path->suffix &&
	    sbx_place_compare(binder->rules[binder->made.rule_count - 1].at,
		at) == 0;
}

static struct followed
follow_allow(struct binder *binder, const struct sbx_path *path,
    struct sbx_place at)
{
	uint32_t index = binder->made.rule_count, end;

	if (same_as_before(binder, path, at))
		return (struct followed){
			.at = binder->rules[index - 1].at,
			.fd = binder->sites[index - 1].fd,
		};
	if (listings_look(&binder->listings, at, &end) == LISTED_MISSING)
		return (struct followed){ at, .fd = -1, .error = ENOENT };
	return follow(binder->arena, at);
}

/*
 * An allow keeps its descriptor, up to a number: a policy may have more rules
 * than the process may have open files.
 */
struct sbx_rule *
allow_found(struct binder *binder, const struct sbx_path *path,
    const struct followed *found)
{
	struct sbx_rule *rule = add_rule(binder, path, 0, found->at);
	struct site *site = &binder->sites[binder->made.rule_count - 1];

	note_links(binder, found);
	site->error = found->error;
	site->state = found->error != 0 ? RULE_ABSENT :
	    is_planted(binder, found)   ? RULE_PLANTED :
					  RULE_READY;
	if (site->state == RULE_READY)
		rule->rights = path->rights & SBX_RIGHTS;
	site->linked = found->link_count > 0;
	site->fd = found->fd;
	if (found->fd >= binder->fd_max) {
		close(found->fd);
		site->fd = -1;
	}
	return rule;
}

static struct sbx_rule *
allow_place(struct binder *binder, const struct sbx_path *path,
    struct sbx_place at)
{
	struct followed found = follow_allow(binder, path, at);

	if (found.error != 0 && !binder->described)
		return NULL;
	return allow_found(binder, path, &found);
}

struct sbx_verdict
verdict_so_far(const struct binder *binder, uint8_t right, struct sbx_place at)
{
	return sbx_path_verdict(binder->rules, binder->made.rule_count, right,
	    at);
}

static bool
may_read(const struct binder *binder, struct sbx_place at)
{
	return sbx_verdict_allows(verdict_so_far(binder, SBX_READ, at));
}

/*
 * Who may use the host's network looks up names by /etc/resolv.conf, which on
 * many machines is a link into /run.  So whoever may read the one may read the
 * other; a denial of it holds.
 */
void
bind_resolver(struct binder *binder)
{
	static const struct sbx_place at = { "/etc/resolv.conf", 16 };
	const struct sbx_meta *meta = binder->blob->meta;
	struct sbx_path *path;
	struct followed found;
	char target[2];

	if ((meta->net != SBX_NET_FULL && meta->net != SBX_NET_PORTS) ||
	    readlink(at.path, target, sizeof target) < 0)
		return;
	found = follow(binder->arena, at);
	if (found.fd < 0)
		return;
	close(found.fd);
	if (!may_read(binder, at) || may_read(binder, found.at))
		return;
	path = arena_take(binder->arena, 1, sizeof *path);
	*path = (struct sbx_path){
		.source = meta->net_source,
		.anchor = SBX_ANCHOR_ROOT,
		.effect = SBX_ALLOW,
		.rights = SBX_READ,
		.platforms = SBX_ON_ALL,
	};
	allow_place(binder, path, at);
}

/* --- globs ---------------------------------------------------------------- */

/* What was not found is not denied: a search that ends early is fatal, except
 * for `prefer deny`. */
static void
report_search(struct binder *binder, struct glob *glob)
{
	const struct glob_search *search = &binder->search;

	if (glob->path->effect != SBX_PREFER_DENY || is_shortage(search->error))
		refuse_at(binder->blob, glob->path->source, search->fault,
		    search->error);
	warn_at(binder->blob, glob->path->source, search->fault, search->error);
	glob->fault = search->fault;
}

/* Of the exclusions of a glob, those that have to do with one of its rules. */
static void
share_exclusions(struct binder *binder, struct sbx_rule *rule,
    const struct sbx_rule *all)
{
	for (uint16_t i = 0; i < all->exclusion_count; i++) {
		struct sbx_place exclusion = all->exclusions[i];

		if (sbx_covers(rule->at, exclusion) ||
		    sbx_covers(exclusion, rule->at))
			add_exclusion(binder, rule, exclusion);
	}
}

/* The matches become rules one by one; `all` is the rule as if everything
 * matched.  A match that is a link is treated like a path that is one. */
static void
bind_matches(struct binder *binder, struct glob *glob,
    const struct sbx_rule *all)
{
	const struct sbx_path *path = glob->path;
	struct glob_search *search = &binder->search;
	uint32_t match = search->count;

	search->gives = path->effect == SBX_ALLOW;
	glob_find(search, glob->at, glob->name,
	    sbx_string(binder->blob, path->glob));
	glob->closed = search->closed;
	for (; match < search->count; match++) {
		struct sbx_place at = search->matches[match];
		struct sbx_rule *rule;

		if (!sbx_rule_covers(all, at))
			continue;
		glob->matches++;
		rule = path->effect == SBX_ALLOW ?
		    allow_place(binder, path, at) :
		    deny_place(binder, path, place_parent(at), at);
		if (rule != NULL)
			share_exclusions(binder, rule, all);
	}
	if (search->fault != NULL)
		report_search(binder, glob);
}

/* Links that lead to the place where the pattern begins lead to all of its
 * matches. */
static void
bind_glob(struct binder *binder, const struct sbx_path *path,
    struct sbx_place at, const char *name)
{
	struct glob *glob = &binder->globs[binder->made.glob_count++];
	struct followed found = follow(binder->arena, at);
	struct sbx_rule all = { .at = found.at, .effect = path->effect };

	*glob = (struct glob){ .path = path, .at = found.at, .name = name };
	if (path->effect == SBX_ALLOW) {
		note_links(binder, &found);
		glob->planted = is_planted(binder, &found);
	} else {
		deny_links(binder, path, &found);
		glob->at = certain_place(&found);
	}
	if (found.fd >= 0)
		close(found.fd);
	if (found.fd >= 0 && !glob->planted) {
		bind_exclusions(binder, &all, path);
		bind_matches(binder, glob, &all);
	}
}

/* --- each path ------------------------------------------------------------ */

void
bind_path(struct binder *binder, const struct sbx_path *path,
    struct sbx_place anchor)
{
	struct sbx_place at = place_below(binder, anchor, path->suffix);
	struct sbx_rule *rule;

	if (path->glob != 0) {
		bind_glob(binder, path, at, NULL);
		return;
	}
	rule = path->effect == SBX_ALLOW ? allow_place(binder, path, at) :
					   deny_place(binder, path, anchor, at);
	if (rule == NULL)
		return;
	bind_exclusions(binder, rule, path);
	/*
	 * Devices open by rules that name them, or /dev: whoever opens the
	 * whole machine means its files.  At level full the mounts leave them
	 * out, and show what every program wants of /dev.
	 */
	if (binder->request->level == SBX_LEVEL_STANDARD &&
	    rule->effect == SBX_ALLOW && rule->at.len == 0)
		add_exclusion(binder, rule, bind_devices);
}

void
bind_nowhere(struct binder *binder, const struct sbx_path *path,
    enum rule_state why)
{
	if (path->glob != 0) {
		binder->globs[binder->made.glob_count++] =
		    (struct glob){ .path = path, .state = why };
		return;
	}
	add_rule(binder, path, 0, (struct sbx_place){ "", 0 });
	binder->sites[binder->made.rule_count - 1].state = why;
}

/* --- the repository of the workspace -------------------------------------- */

/* What is left of the rule there after its exceptions; false: nothing is. */
static bool
leaves_git(const struct binder *binder, const struct sbx_path *path)
{
	for (uint16_t i = 0; i < path->exclusion_count; i++) {
		const struct sbx_exclusion *exclusion =
		    &binder->blob->exclusions[path->first_exclusion + i];
		const char *suffix = sbx_string(binder->blob,
		    exclusion->suffix);

		if (exclusion->anchor == SBX_ANCHOR_WORKSPACE &&
		    (*suffix == '\0' || strcmp(suffix, "/.git") == 0))
			return false;
	}
	return true;
}

/* Whether a pattern below the workspace means `.git` or something in it. */
static bool
leads_to_git(const struct binder *binder, const struct sbx_path *path)
{
	struct sbx_glob glob;

	return sbx_glob_parse(sbx_string(binder->blob, path->glob), &glob) &&
	    sbx_glob_step(&glob, sbx_glob_start(&glob), git_name,
		sizeof git_name - 1) != 0;
}

void
bind_in_repository(struct binder *binder, const struct sbx_path *path)
{
	const char *suffix = sbx_string(binder->blob, path->suffix);
	bool inside = is_in_git(suffix);
	struct sbx_place git = binder->made.git;
	struct sbx_place at = inside ?
	    place_below(binder, git, path->suffix + GIT_LEN) :
	    git;
	struct sbx_rule *rule;

	if ((*suffix != '\0' && !inside) || !leaves_git(binder, path))
		return;
	if (path->glob != 0) {
		if (inside)
			bind_glob(binder, path, at, NULL);
		else if (leads_to_git(binder, path))
			bind_glob(binder, path, git, git_name);
		return;
	}
	rule = path->effect == SBX_ALLOW ? allow_place(binder, path, at) :
					   deny_place(binder, path, git, at);
	if (rule != NULL)
		bind_exclusions(binder, rule, path);
}
