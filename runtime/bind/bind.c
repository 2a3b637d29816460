/*
 * The policy meets the machine: anchors get their paths, and path rules and
 * their exclusions become places without symbolic links, in the form that the
 * model (format/model.h) works on.  Once it is made a binding does not change.
 */
#include "runtime/bind/bind.h"

#include "format/cut.h"
#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "runtime/bind/binder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h> /* RLIMIT_NOFILE */
#include <sys/stat.h>
#include <unistd.h>

enum {
	/* Room for the symbolic links that lead to a place, on average, and for
	 * a few places with many. */
	LINKS_EACH = 4,
	LINKS_SPARE = 256,
	/* Descriptors kept open from binding to lowering: what the caller's
	 * limit leaves, but for a few that are needed on the way. */
	MAX_OPEN = 4096,
	SPARE_OPEN = 32,
};

static void
list_below(struct binder *binder, struct sbx_place home, const char *suffix,
    size_t len)
{
	listings_add(&binder->listings,
	    arena_join(binder->arena, home,
		(struct sbx_place){ suffix, (uint32_t)len }));
}

/*
 * Rules stand in the order of their paths.  A directory that many of them in
 * a row lie in is listed: they are places where programs keep things, and a
 * machine has few of them.
 */
static void
list_directory(struct binder *binder, const struct sbx_path *path)
{
	const struct sbx_blob *blob = binder->blob;
	const struct sbx_path *later = path + LISTINGS_WORTH;
	const char *suffix = sbx_string(blob, path->suffix), *slash;
	size_t len;

	if (path->anchor != SBX_ANCHOR_HOME ||
	    later >= blob->paths + blob->path_count ||
	    later->anchor != path->anchor)
		return;
	slash = strrchr(suffix, '/');
	if (slash == NULL)
		return;
	len = (size_t)(slash - suffix);
	if (strncmp(sbx_string(blob, later->suffix), suffix, len + 1) != 0)
		return;
	list_below(binder, binder->made.anchors[SBX_ANCHOR_HOME], suffix, len);
	if (binder->made.has_other_home)
		list_below(binder, binder->made.other_home, suffix, len);
}

static void
bind_paths(struct binder *binder, uint8_t ceiling)
{
	const struct sbx_blob *blob = binder->blob;

	for (uint32_t i = 0; i < blob->path_count; i++) {
		const struct sbx_path *path = &blob->paths[i];

		if ((path->platforms & KERNEL_WHERE) == 0 ||
		    path->ceiling != ceiling)
			continue;
		if (!sbx_path_holds(path, binder->request->level)) {
			bind_nowhere(binder, path, RULE_WAIVED);
			continue;
		}
		if (!binder->made.bound[path->anchor]) {
			bind_nowhere(binder, path, RULE_UNBOUND);
			continue;
		}
		list_directory(binder, path);
		bind_path(binder, path, binder->made.anchors[path->anchor]);
		if (path->anchor == SBX_ANCHOR_WORKSPACE &&
		    binder->made.git.len > 0)
			bind_in_repository(binder, path);
		if (path->effect != SBX_ALLOW && binder->made.has_other_home &&
		    path->anchor == SBX_ANCHOR_HOME)
			bind_path(binder, path, binder->made.other_home);
	}
}

/* --- what may be trusted -------------------------------------------------- */

static bool
may_write(const struct binder *binder, struct sbx_place at)
{
	return rule_index_allows(binder->made.index, SBX_WRITE, at);
}

/*
 * A sandbox that can change its policy decides over the next run.  At level
 * full a mount keeps the file as it is, but no mount can keep a link on the way
 * to it, or a directory that ".." has left.
 */
static void
judge_hops(struct binder *binder, const char *hops)
{
	for (; *hops != '\0'; hops += strlen(hops) + 1) {
		if (commands_choose(binder, place_of(hops)))
			refuse(hops,
			    "a command may replace this link or directory, by "
			    "which the policy was named: give the path of the "
			    "file itself",
			    0);
	}
}

static void
judge_ways(struct binder *binder)
{
	const struct policy_place *place = binder->request->policy;

	if (!binder->request->judges_way)
		return;
	for (; place != NULL; place = place->next) {
		judge_hops(binder, place->hops);
		if (place->absent &&
		    commands_choose(binder, place_of(place->path)))
			refuse(place->path,
			    "a command could make this file, which the policy "
			    "includes if it is there: make it, or compile the "
			    "policy with sbxc and name the .bin",
			    0);
	}
}

/*
 * The policy's own files, at the end of the rules: what a run does to them, the
 * next one would obey.  The rules are there before they are known to be needed,
 * so that the index is made once; without rights they say nothing.
 */
static uint32_t
add_guards(struct binder *binder)
{
	static const struct sbx_path itself = {
		.source = SBX_NO_SOURCE,
		.anchor = SBX_ANCHOR_ROOT,
		.effect = SBX_DENY,
		.rights = SBX_WRITE,
		.platforms = SBX_ON_ALL,
	};
	const struct policy_place *place = binder->request->policy;
	uint32_t count = 0;

	for (; place != NULL; place = place->next) {
		if (place->path[0] == '\0' || place->absent)
			continue;
		add_rule(binder, &itself, 0, place_of(place->path));
		count++;
	}
	return count;
}

__attribute__((noreturn)) static void
refuse_text(const char *path)
{
	refuse(path,
	    "at this level nothing keeps the command from writing this text, "
	    "which is compiled anew when it has changed: keep it where the "
	    "command cannot write, or compile it with sbxc and name the .bin",
	    0);
}

static void
judge_policy(struct binder *binder, uint32_t guards)
{
	const struct policy_place *place = binder->request->policy;
	struct binding *made = &binder->made;

	for (; place != NULL; place = place->next) {
		if (place->path[0] == '\0' || place->absent ||
		    !may_write(binder, place_of(place->path)))
			continue;
		made->own_policy = true;
		if (place->text && !binder->request->guarded)
			refuse_text(place->path);
	}
	/* The index keeps them; a rule without rights gives nothing. */
	if (!made->own_policy || !binder->request->guarded)
		made->rule_count -= guards;
	else
		for (uint32_t i = 1; i <= guards; i++)
			binder->rules[made->rule_count - i].rights = SBX_WRITE;
}

/* --- what is sbx's own ------------------------------------------------------ */

/* Policies and state, in each home. */
static const char *const own[] = { SBX_OWN_CONFIG, SBX_OWN_STATE };

enum { OWN_COUNT = countof(own), OWN_MAX = HOMES_MAX * OWN_COUNT };

struct own_place {
	uint32_t rule; /* of the binding */
	struct sbx_place home;
};

struct own_places {
	uint32_t count;
	struct own_place of[OWN_MAX];
};

static uint32_t
known_homes(struct binder *binder, struct sbx_place homes[HOMES_MAX])
{
	const struct binding *made = &binder->made;
	uint32_t count, given = binder->given_count;

	if (made->bound[SBX_ANCHOR_HOME]) {
		homes[0] = made->anchors[SBX_ANCHOR_HOME];
		homes[1] = made->other_home;
		return made->has_other_home ? 2 : 1;
	}
	count = find_homes(binder, homes);
	binder->given_count = given; /* what has been judged */
	return count;
}

/*
 * What a run wrote there would be the next run's policy, and what it read there is
 * other runs'.  So these rules are in every binding.  Below level full only writing
 * is denied: to deny reading, Landlock must be given each entry beside, and then a
 * home that the policy opens could not be listed, nor what is above it.
 */
static void
deny_own(struct binder *binder, struct own_places *places)
{
	struct sbx_place homes[HOMES_MAX];
	struct sbx_place workspace = binder->made.anchors[SBX_ANCHOR_WORKSPACE];
	uint32_t count = known_homes(binder, homes);
	bool reading = binder->request->level == SBX_LEVEL_FULL;

	places->count = count * OWN_COUNT;
	for (uint32_t i = 0; i < places->count; i++) {
		struct own_place *place = &places->of[i];

		place->home = homes[i / OWN_COUNT];
		place->rule = (uint32_t)(deny_below(binder, place->home,
					     own[i % OWN_COUNT], reading) -
		    binder->sites);
		if (sbx_covers(binder->rules[place->rule].at, workspace))
			refuse(path_of(workspace),
			    "it is no workspace, for sbx keeps its own files "
			    "there; choose one with -w",
			    0);
	}
}

/* Root's commands could write what the next run is held by. */
static void
deny_ceiling(struct binder *binder)
{
	static const struct sbx_place root = { "", 0 };

	if ((binder->blob->meta->flags & SBX_CUT) != 0 &&
	    faccessat(AT_FDCWD, SBX_CEILING_DIRECTORY, W_OK, AT_EACCESS) == 0)
		deny_below(binder, root, SBX_CEILING_DIRECTORY, false);
}

/* Makes the directories that are missing below one; 0 or the error.  No link is
 * followed: a command of another run may make one meanwhile. */
static int
make_directories(struct arena *arena, struct sbx_place at, uint32_t from)
{
	struct path name = { .len = 0 };
	struct sbx_place first = { at.path, from };
	int fd = open_place(arena_copy(arena, first), O_PATH | O_DIRECTORY);
	int error = fd < 0 ? errno : 0;

	while (error == 0 && from < at.len) {
		const char *text = at.path + from + 1;
		uint32_t len = 0;
		int next;

		while (from + 1 + len < at.len && text[len] != '/')
			len++;
		path_cut(&name, 0);
		path_push(&name, text, len);
		if (mkdirat(fd, name.text + 1, 0700) != 0 && errno != EEXIST) {
			error = errno;
			break;
		}
		next = openat(fd, name.text + 1,
		    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			error = errno;
		close(fd);
		fd = next;
		from += 1 + len;
	}
	if (fd >= 0)
		close(fd);
	return error;
}

/* Whether whatever kept us from making it keeps the command from it, too: where the
 * way to it is missing, what there is of that cannot be written. */
static bool
keeps_command(struct arena *arena, int error, struct sbx_place at)
{
	if (error != ENOENT)
		return error == EACCES || error == EPERM || error == EROFS;
	do {
		at = place_parent(at);
		if (faccessat(AT_FDCWD,
			at.len > 0 ? path_of(arena_copy(arena, at)) : "/", W_OK,
			AT_EACCESS) == 0)
			return false;
	} while (errno == ENOENT && at.len > 0);
	return true;
}

/*
 * The view covers what is there.  Where a command could make what is not, it is
 * made before it.
 */
static void
make_own(struct binder *binder, const struct own_places *places)
{
	for (uint32_t i = 0; i < places->count; i++) {
		struct sbx_place home = places->of[i].home;
		struct sbx_place at = binder->rules[places->of[i].rule].at;
		struct site *site = &binder->sites[places->of[i].rule];
		int error;

		if (!site->missing ||
		    !rule_index_gives(binder->made.index, SBX_WRITE, at))
			continue;
		error = make_directories(binder->arena, at,
		    sbx_covers(home, at) ? home.len : place_parent(at).len);
		if (error == 0)
			site->missing = false;
		else if (!keeps_command(binder->arena, error, at))
			refuse(path_of(at),
			    "sbx's own directory cannot be made, and the "
			    "policy would let the command make it",
			    error);
	}
}

/* --- all of it ------------------------------------------------------------ */

/* For the matches of globs, links that lead to them, and their exclusions. */
static void
make_glob_room(struct binder *binder, uint32_t homes)
{
	uint32_t globs = 0;

	for (uint32_t i = 0; i < binder->blob->path_count; i++)
		globs += binder->blob->paths[i].glob != 0;
	if (globs == 0)
		return;
	binder->globs = arena_take(binder->arena, homes * globs,
	    sizeof *binder->globs);
	binder->search.arena = binder->arena;
	binder->search.matches = arena_take(binder->arena, GLOB_MAX_MATCHES,
	    sizeof *binder->search.matches);
	binder->rule_max += 2 * GLOB_MAX_MATCHES;
	binder->exclusion_max += 2 * GLOB_MAX_MATCHES;
}

/*
 * Denials count twice where the home directory has two names, rules about the
 * workspace where its repository lies elsewhere, and once more for
 * each link that leads to them; so do their exclusions, which may lie there too.
 */
static void
make_room(struct binder *binder)
{
	struct arena *arena = binder->arena;
	uint32_t homes = (binder->made.has_other_home ? 2 : 1) +
	    (binder->made.git.len > 0);
	struct rlimit_pair files = { 0, 0 };

	limit_process(RLIMIT_NOFILE, NULL, &files);
	binder->fd_max = files.soft > MAX_OPEN ? MAX_OPEN :
						 (int)files.soft - SPARE_OPEN;
	binder->rule_max = (1 + LINKS_EACH) * homes * binder->blob->path_count +
	    LINKS_SPARE + 2 /* resolv.conf, the ceiling */ + OWN_MAX +
	    GIT_INCLUDES_MAX + 1 /* their copy */;
	for (const struct policy_place *place = binder->request->policy;
	     place != NULL; place = place->next)
		binder->rule_max++;
	binder->exclusion_max = (1 + LINKS_EACH) * homes * homes *
		binder->blob->exclusion_count +
	    homes * binder->blob->path_count /* devices */ + LINKS_SPARE;
	make_glob_room(binder, homes);
	binder->rules = arena_take(arena, binder->rule_max,
	    sizeof *binder->rules);
	binder->sites = arena_take(arena, binder->rule_max,
	    sizeof *binder->sites);
	binder->exclusions = arena_take(arena, binder->exclusion_max,
	    sizeof *binder->exclusions);
	binder->links = arena_take(arena, BIND_MAX_LINKS,
	    sizeof *binder->links);
}

static void
bind_rules(struct binder *binder)
{
	struct binding *made = &binder->made;
	struct own_places own_places;
	uint32_t guards, first;

	make_room(binder);
	for (uint32_t i = 0; i < binder->given_count; i++)
		note_links(binder, &binder->given[i]);
	bind_paths(binder, 0);
	bind_git_includes(binder);
	if ((binder->blob->meta->flags & SBX_CUT) != 0) {
		first = made->rule_count;
		bind_paths(binder, 1);
		bind_ceiling(binder, first);
	}
	bind_resolver(binder);
	if (!binder->planned)
		bind_registries(binder);
	deny_own(binder, &own_places);
	deny_ceiling(binder);
	guards = add_guards(binder);
	made->rules = binder->rules;
	made->sites = binder->sites;
	made->exclusions = binder->exclusions;
	made->links = binder->links;
	made->globs = binder->globs;
	made->index = rule_index_make(binder->arena, made->rules,
	    made->rule_count);
	judge_policy(binder, guards);
	if (binder->request->guarded && !binder->planned)
		make_own(binder, &own_places);
}

struct binder *
bind_begin(struct arena *arena, const struct bind_request *request)
{
	struct binder *binder = arena_take(arena, 1, sizeof *binder);
	const struct options *options = request->options;

	binder->arena = arena;
	binder->request = request;
	binder->made.blob = binder->blob = request->blob;
	binder->planned = options->plan;
	binder->described = options->plan || options->verbose ||
	    options->status_fd >= 0;
	bind_anchors(binder);
	bind_sockets(binder);
	bind_proxy(binder);
	return binder;
}

const struct binding *
bind_anchored(const struct binder *binder)
{
	return &binder->made;
}

const struct binding *
bind_finish(struct binder *binder, const struct bind_request *request)
{
	binder->request = request;
	judge_ways(binder);
	if (request->rules)
		bind_rules(binder);
	return &binder->made;
}

/* --- another place -------------------------------------------------------- */

struct sbx_place
bind_move(struct arena *arena, struct sbx_place at, struct sbx_place from,
    struct sbx_place to)
{
	if (!sbx_covers(from, at))
		return at;
	return arena_join(arena, to,
	    (struct sbx_place){ at.path + from.len, at.len - from.len });
}

bool
bind_is_moved(const struct binding *binding)
{
	return binding->scratch.len > 0 &&
	    sbx_place_compare(binding->anchors[SBX_ANCHOR_TMP],
		binding->scratch) != 0;
}

const struct binding *
bind_moved(struct arena *arena, const struct binding *binding, uint32_t anchor,
    struct sbx_place to)
{
	struct sbx_place from = binding->anchors[anchor];
	struct binding *moved = arena_take(arena, 1, sizeof *moved);
	struct sbx_rule *rules = arena_take(arena, binding->rule_count,
	    sizeof *rules);
	struct sbx_place *exclusions = arena_take(arena,
	    binding->exclusion_count, sizeof *exclusions);

	for (uint32_t i = 0; i < binding->exclusion_count; i++)
		exclusions[i] = bind_move(arena, binding->exclusions[i], from,
		    to);
	for (uint32_t i = 0; i < binding->rule_count; i++) {
		rules[i] = binding->rules[i];
		rules[i].at = bind_move(arena, rules[i].at, from, to);
		if (rules[i].exclusion_count > 0)
			rules[i].exclusions = exclusions +
			    (rules[i].exclusions - binding->exclusions);
	}
	*moved = *binding;
	moved->anchors[anchor] = to;
	if (binding->agent.len > 0)
		moved->agent = bind_move(arena, binding->agent, from, to);
	moved->rules = rules;
	moved->exclusions = exclusions;
	moved->index = rule_index_make(arena, rules, moved->rule_count);
	return moved;
}
