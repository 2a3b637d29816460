/*
 * Links that a command may have made: a rule that allows gives nothing by one.
 * The loader judges them in runtime/bind/planted.c, and says so with -n; it
 * knows besides which links other users could have made.
 */
#include "compiler/query/places.h"

#include "format/glob.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the shipped profiles let commands write. */
static const char *const writable[] = {
#define CACHE(where, path) (path) + 1,
#include "format/caches.def"
#undef CACHE
#define STATE(path) (path) + 1,
#include "format/states.def"
#undef STATE
};

/* A place where commands write, or what a glob matches below it. */
struct suspect {
	struct sbx_place at;
	const char *glob; /* or NULL */
};

struct suspects {
	VEC(struct suspect) list;
};

static void
add(const struct places *places, struct suspects *suspects, struct sbx_place at,
    const char *glob)
{
	*arena_push(places->arena, &suspects->list) = (struct suspect){ at,
		glob };
}

static void
add_home(const struct places *places, struct suspects *suspects,
    struct sbx_place home)
{
	for (size_t i = 0; i < countof(writable); i++) {
		const char *path = arena_printf(places->arena, "%.*s%s",
		    (int)home.len, home.path, writable[i]);

		add(places, suspects, here_follow(places->arena, path).place,
		    NULL);
	}
}

static void
find_suspects(const struct places *places, struct suspects *suspects)
{
	const struct sbx_blob *blob = places->blob;

	if (!places->named[SBX_ANCHOR_WORKSPACE])
		add(places, suspects, places->anchors[SBX_ANCHOR_WORKSPACE],
		    NULL);
	if (!places->named[SBX_ANCHOR_HOME])
		add_home(places, suspects, places->anchors[SBX_ANCHOR_HOME]);
	if (places->has_other_home)
		add_home(places, suspects, places->other_home);
	for (uint32_t i = 0; i < blob->path_count; i++) {
		const struct sbx_path *path = &blob->paths[i];

		if (path->effect == SBX_ALLOW && (path->rights & SBX_WRITE) &&
		    (path->platforms & SBX_ON_LINUX) != 0 &&
		    !places->named[path->anchor])
			add(places, suspects,
			    places_rule(places, path, false).at,
			    path->glob == 0 ? NULL :
					      sbx_string(blob, path->glob));
	}
}

static bool
is_suspect(const struct suspect *suspect, struct sbx_place directory)
{
	struct sbx_glob glob;

	if (!sbx_covers(suspect->at, directory))
		return false;
	return suspect->glob == NULL ||
	    (sbx_glob_parse(suspect->glob, &glob) &&
		sbx_glob_find(&glob, suspect->at, directory).len > 0);
}

/* Those of this user's in /tmp, by whatever name they go on. */
static bool
is_scratch(const struct places *places, struct sbx_place directory)
{
	const char *top = arena_printf(places->arena, "/tmp/sbx-%u",
	    (unsigned)geteuid());
	size_t len = strlen(top);

	return directory.len >= len && memcmp(directory.path, top, len) == 0 &&
	    (directory.len == len || directory.path[len] == '/' ||
		directory.path[len] == '-');
}

static bool
commands_choose(const struct places *places, struct sbx_place link)
{
	const struct suspects *suspects = places->suspects;

	while (link.len > 0 && link.path[--link.len] != '/')
		;
	if (link.len == 0)
		return false;
	if (is_scratch(places, link))
		return true;
	for (size_t i = 0; i < suspects->list.count; i++) {
		if (is_suspect(&suspects->list.items[i], link))
			return true;
	}
	return false;
}

bool
places_way_planted(const struct places *places, const struct followed *way)
{
	for (size_t i = 0; i < way->links.count; i++) {
		if (commands_choose(places, way->links.items[i]))
			return true;
	}
	return false;
}

void
places_find_planted(struct places *places)
{
	const struct sbx_blob *blob = places->blob;
	bool *planted = arena_alloc(places->arena,
	    (blob->path_count + 1u) * sizeof *planted);

	places->suspects = arena_alloc(places->arena, sizeof *places->suspects);
	find_suspects(places, places->suspects);
	for (uint32_t i = 0; i < blob->path_count; i++) {
		const struct sbx_path *path = &blob->paths[i];
		struct sbx_place anchor = places->anchors[path->anchor];
		struct followed way;

		if (path->effect != SBX_ALLOW || places->named[path->anchor])
			continue;
		way = here_follow(places->arena,
		    arena_printf(places->arena, "%.*s%s", (int)anchor.len,
			anchor.path, sbx_string(blob, path->suffix)));
		planted[i] = places_way_planted(places, &way);
	}
	places->planted = planted;
}

bool
places_is_planted(const struct places *places, const struct sbx_path *path)
{
	return places->planted != NULL &&
	    places->planted[path - places->blob->paths];
}

/* --- the agent of ssh ----------------------------------------------------- */

static bool
opens_agent(const struct sbx_blob *blob)
{
	for (uint32_t i = 0; i < blob->socket_count; i++) {
		const struct sbx_socket *socket = &blob->sockets[i];

		if (socket->form == SBX_SOCKET_SSH_AGENT &&
		    socket->effect == SBX_ALLOW &&
		    (socket->platforms & SBX_ON_LINUX) != 0)
			return true;
	}
	return false;
}

/* As runtime/bind/sockets.c has it. */
static const char *
agent_fault(const struct places *places, const struct followed *way)
{
	if (places_way_planted(places, way))
		return "a link leads there that somebody could have planted";
	if (!here_is_own_socket(way->place))
		return "no socket of this user is there";
	if (commands_choose(places, way->place))
		return "a command may have made it";
	return here_agent_answers(way->place) ? NULL :
						"no agent of ssh answers there";
}

void
places_find_agent(struct places *places)
{
	const char *path = getenv("SSH_AUTH_SOCK");
	bool named = path != NULL && path[0] == '/';
	struct followed way = { .there = false };

	if (named) {
		way = here_follow(places->arena, path);
		places->agent = way.place;
	}
	if (opens_agent(places->blob))
		places->agent_fault = named ? agent_fault(places, &way) :
					      "SSH_AUTH_SOCK names no socket";
}

bool
places_is_no_agent(const struct places *places, struct sbx_place path)
{
	return places->here && sbx_place_compare(path, places->agent) == 0 &&
	    strcmp(path.path, "/${ssh-agent}") == 0;
}
