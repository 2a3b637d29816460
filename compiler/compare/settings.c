/*
 * What is no access: limits, levels, scopes and words.  More time, more memory
 * or a lower floor is wider, as far as that can be said of one number.
 */
#include "compiler/compare/parts.h"
#include "compiler/tables/words.h"

#include <inttypes.h>
#include <string.h>

static struct explanation
say(const char *text, uint32_t source)
{
	return (struct explanation){ .text = text, .source = source };
}

/* --- limits --------------------------------------------------------------- */

static const struct sbx_limit *
limit_get(const struct pass *pass, enum side side, enum sbx_limit_kind kind)
{
	const struct sbx_blob *blob = pass->comparison->blobs[side];

	for (uint32_t i = 0; i < blob->limit_count; i++) {
		if (blob->limits[i].kind == kind &&
		    (blob->limits[i].platforms & pass->platforms) != 0)
			return &blob->limits[i];
	}
	return NULL;
}

/* "limit timeout 300s", as it may be written. */
static const char *
limit_text(struct arena *arena, const struct sbx_limit *limit)
{
	static const struct {
		uint64_t factor;
		const char *unit;
	} sizes[] = {
		{ UINT64_C(1) << 40, "TiB" },
		{ UINT64_C(1) << 30, "GiB" },
		{ UINT64_C(1) << 20, "MiB" },
		{ UINT64_C(1) << 10, "KiB" },
	};
	const struct limit_word *word = limit_of_kind(
	    (enum sbx_limit_kind)limit->kind);

	for (size_t i = 0; word->unit == UNIT_BYTES && i < countof(sizes);
	     i++) {
		if (limit->value != 0 && limit->value % sizes[i].factor == 0)
			return arena_printf(arena, "limit %s %" PRIu64 "%s",
			    word->word, limit->value / sizes[i].factor,
			    sizes[i].unit);
	}
	return arena_printf(arena, "limit %s %" PRIu64 "%s", word->word,
	    limit->value, word->unit == UNIT_TIME ? "s" : "");
}

static void
compare_limit(struct pass *pass, enum sbx_limit_kind kind)
{
	struct arena *arena = pass->comparison->arena;
	struct explanation says[SIDE_COUNT];
	uint64_t values[SIDE_COUNT];

	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		const struct sbx_limit *limit = limit_get(pass, (enum side)side,
		    kind);

		says[side] = limit == NULL ?
		    say(NULL, SBX_NO_SOURCE) :
		    say(limit_text(arena, limit), limit->source);
		values[side] = limit == NULL ? UINT64_MAX : limit->value;
		if (limit != NULL && limit->value == UINT64_MAX)
			values[side]--;
	}
	if (values[SIDE_OLD] != values[SIDE_NEW])
		pass_note_setting(pass, DIFFERENCE_LIMIT,
		    values[SIDE_NEW] > values[SIDE_OLD] ? CHANGE_WIDER :
							  CHANGE_NARROWER,
		    arena_printf(arena, "limit %s", limit_of_kind(kind)->word),
		    says);
}

/* --- floors and scopes ---------------------------------------------------- */

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
		    arena_printf(arena, "%s at level %s",
			wider ? "runs" : "does not run",
			level_word(meta[wider ? SIDE_NEW : SIDE_OLD]->level)),
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

static void
compare_scopes(struct pass *pass)
{
	static const struct {
		uint32_t flag;
		const char *rule, *what;
	} scopes[] = {
		{ SBX_SIGNAL_ANYWHERE, "allow signal anywhere",
		    "signals to processes outside" },
		{ SBX_ABSTRACT_ANYWHERE, "allow abstract anywhere",
		    "abstract sockets of processes outside" },
	};

	for (size_t i = 0; i < countof(scopes); i++) {
		struct explanation says[SIDE_COUNT];
		bool open[SIDE_COUNT];

		for (unsigned side = 0; side < SIDE_COUNT; side++) {
			uint32_t flags =
			    pass->comparison->blobs[side]->meta->flags;
			bool everything = flags & SBX_EVERYTHING;

			open[side] = everything || (flags & scopes[i].flag);
			says[side] = say(everything ? "allow everything" :
				open[side]          ? scopes[i].rule :
						      NULL,
			    SBX_NO_SOURCE);
		}
		if (open[SIDE_OLD] != open[SIDE_NEW])
			pass_note_setting(pass, DIFFERENCE_BLANKET,
			    open[SIDE_NEW] ? CHANGE_WIDER : CHANGE_NARROWER,
			    scopes[i].what, says);
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
			arena_printf(pass->comparison->arena, "about \"%s\"",
			    abouts[side]),
		    SBX_NO_SOURCE);
	}
	if (strcmp(abouts[SIDE_OLD], abouts[SIDE_NEW]) != 0)
		pass_note_setting(pass, DIFFERENCE_ABOUT, CHANGE_NEUTRAL,
		    "about", says);
}

void
compare_settings(struct pass *pass)
{
	for (int kind = 0; kind < SBX_LIMIT_END; kind++)
		compare_limit(pass, (enum sbx_limit_kind)kind);
	compare_floors(pass);
	compare_scopes(pass);
	compare_params(pass, SIDE_OLD);
	compare_params(pass, SIDE_NEW);
	compare_words(pass);
}
