/*
 * Sockets: the places of all rules about them are asked about, with something
 * below each that no rule names.
 */
#include "compiler/query/why.h"

#include "compiler/compare/compare.h"
#include <string.h>

static void
compare_at(struct pass *pass, struct sbx_place path)
{
	struct access access = {
		.kind = KIND_SOCKET,
		.detail = SBX_WRITE,
		.path = path,
	};
	struct verdict verdicts[SIDE_COUNT];
	struct note_key key = { .kind = DIFFERENCE_SOCKET };

	for (unsigned side = 0; side < SIDE_COUNT; side++)
		verdicts[side] = pass_ask(pass, (enum side)side, &access,
		    SBX_LEVEL_FULL, 0);
	if (verdicts[SIDE_OLD].allowed == verdicts[SIDE_NEW].allowed)
		return;
	key.change = verdicts[SIDE_NEW].allowed ? CHANGE_WIDER :
						  CHANGE_NARROWER;
	key.side = verdicts[SIDE_NEW].allowed ? SIDE_OLD : SIDE_NEW;
	/* A deny that only one has; else what only the other allows. */
	if (verdicts[key.side].by != BY_RULE + KIND_SOCKET)
		key.side = !key.side;
	key.by = verdicts[key.side].by;
	key.rule = verdicts[key.side].rule;
	/* The pass ends before the difference is told. */
	access.path.path = arena_strndup(pass->comparison->arena, path.path,
	    path.len);
	if (!pass_again(pass, &key))
		pass_note_access(pass, &key, &access, SBX_LEVEL_FULL, 0);
}

/* At a place, and at something in it that no rule names. */
static void
compare_tree(struct pass *pass, struct sbx_place place)
{
	const char *below = arena_printf(pass->comparison->arena, "%.*s/.sbx-x",
	    (int)place.len, place.path);

	compare_at(pass, place);
	compare_at(pass, sbx_place_of(below));
}

/*
 * The places of rules about paths that lie in one of a socket rule: there one
 * side may deny writing, and the other has a rule.  Verdicts change nowhere
 * else, but for what a pattern matches.
 */
static void
compare_inside(struct pass *pass, enum side side, struct sbx_place place)
{
	const struct places *places = &pass->subjects[side].places;
	const struct sbx_blob *blob = places->blob;

	for (uint32_t i = 0; i < blob->path_count; i++) {
		struct sbx_rule rule = places_rule(places, &blob->paths[i],
		    false);

		if (blob->paths[i].glob == 0 && sbx_covers(place, rule.at))
			compare_tree(pass, rule.at);
		for (uint16_t j = 0; j < rule.exclusion_count; j++) {
			if (sbx_covers(place, rule.exclusions[j]))
				compare_tree(pass, rule.exclusions[j]);
		}
	}
}

void
compare_sockets(struct pass *pass)
{
	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		const struct places *places = &pass->subjects[side].places;
		const struct sbx_blob *blob = places->blob;

		for (uint32_t i = 0; i < blob->socket_count; i++) {
			struct sbx_place at =
			    places_socket(places, &blob->sockets[i], false).at;

			if ((blob->sockets[i].platforms & pass->platforms) == 0)
				continue;
			compare_tree(pass, at);
			compare_inside(pass, SIDE_OLD, at);
			compare_inside(pass, SIDE_NEW, at);
		}
	}
}
