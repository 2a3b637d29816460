/*
 * What is no access: limits, levels, scopes and words.  More time, more memory
 * or a lower floor is wider, as far as that can be said of one number.
 */
#include "compiler/compare/compare.h"
#include "compiler/query/why.h"
#include "compiler/tables/tables.h"

#include <inttypes.h>
#include <string.h>

static struct explanation
say(const char *text, uint32_t source)
{
	return (struct explanation){ .text = text, .source = source };
}

/* --- floors --------------------------------------------------------------- */

/* The levels from one floor up to below another, the highest first. */
static const char *
levels_text(struct arena *arena, bool runs, const struct sbx_meta *low,
    const struct sbx_meta *high)
{
	const char *text = runs ? "runs at level" : "does not run at level";

	for (unsigned level = high->level; level-- > low->level;)
		text = arena_printf(arena, "%s%s%s", text,
		    level + 1 == high->level ? " " : " or ",
		    level_word((enum sbx_level)level));
	return text;
}

static void
compare_floors(struct pass *pass)
{
	struct arena *arena = pass->comparison->arena;
	const struct sbx_meta *meta[SIDE_COUNT];
	struct explanation levels[SIDE_COUNT], abis[SIDE_COUNT];

	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		meta[side] = pass->comparison->blobs[side]->meta;
		levels[side] = say(arena_printf(arena, "require level %s",
				       level_word(meta[side]->level)),
		    meta[side]->level_source);
		if (levels[side].source == SBX_NO_SOURCE)
			levels[side].text = NULL;
		abis[side] = say(meta[side]->landlock == 0 ?
			NULL :
			arena_printf(arena, "require landlock %u",
			    meta[side]->landlock),
		    meta[side]->landlock_source);
	}
	if (meta[SIDE_OLD]->level != meta[SIDE_NEW]->level) {
		bool wider = meta[SIDE_NEW]->level < meta[SIDE_OLD]->level;

		pass_note_setting(pass, DIFFERENCE_LEVEL,
		    wider ? CHANGE_WIDER : CHANGE_NARROWER,
		    levels_text(arena, wider, meta[wider ? SIDE_NEW : SIDE_OLD],
			meta[wider ? SIDE_OLD : SIDE_NEW]),
		    levels);
	}
	if (meta[SIDE_OLD]->landlock != meta[SIDE_NEW]->landlock) {
		bool wider = meta[SIDE_NEW]->landlock <
		    meta[SIDE_OLD]->landlock;

		pass_note_setting(pass, DIFFERENCE_LANDLOCK,
		    wider ? CHANGE_WIDER : CHANGE_NARROWER,
		    arena_printf(arena, "%s with Landlock ABI %d",
			wider ? "runs" : "does not run",
			meta[wider ? SIDE_OLD : SIDE_NEW]->landlock - 1),
		    abis);
	}
}

/* --- words ---------------------------------------------------------------- */

static void
compare_params(struct pass *pass, enum side side)
{
	const struct sbx_blob *blob = pass->comparison->blobs[side];
	const struct sbx_blob *other = pass->comparison->blobs[!side];

	for (uint32_t i = SBX_ANCHOR_PARAM; i < blob->anchor_count; i++) {
		const char *name = sbx_string(blob, blob->anchors[i].name);
		struct explanation says[SIDE_COUNT] = {
			{ .source = SBX_NO_SOURCE },
			{ .source = SBX_NO_SOURCE },
		};

		if (places_param(other, name) != 0)
			continue;
		says[side] = say(arena_printf(pass->comparison->arena,
				     "param %s", name),
		    blob->anchors[i].source);
		pass_note_setting(pass, DIFFERENCE_PARAM, CHANGE_NEUTRAL,
		    arena_printf(pass->comparison->arena, "the parameter %s",
			name),
		    says);
	}
}

static void
compare_words(struct pass *pass)
{
	const char *abouts[SIDE_COUNT];
	struct explanation says[SIDE_COUNT];

	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		const struct sbx_blob *blob = pass->comparison->blobs[side];

		abouts[side] = sbx_string(blob, blob->meta->about);
		says[side] = say(*abouts[side] == '\0' ?
			NULL :
			arena_printf(pass->comparison->arena, "about %s",
			    shown_text(pass->comparison->arena, abouts[side])),
		    SBX_NO_SOURCE);
	}
	if (strcmp(abouts[SIDE_OLD], abouts[SIDE_NEW]) != 0)
		pass_note_setting(pass, DIFFERENCE_ABOUT, CHANGE_NEUTRAL,
		    "about", says);
}

void
compare_settings(struct pass *pass)
{
	compare_floors(pass);
	compare_params(pass, SIDE_OLD);
	compare_params(pass, SIDE_NEW);
	compare_words(pass);
}
