/*
 * Layouts of the anchors beside the usual ones: how two policies differ may
 * depend on where the workspace, the home directory or a parameter lies.
 *
 * With the others where they usually are, an anchor is put at each place that
 * a rule names, at the directories above it and at one in it.  A place counts
 * only if what changed may meet there: a rule that changed, where one about the
 * anchor allows or has an exception; an allow, where one about the anchor
 * changed; an exception; and all of them if rules about sockets changed.  So if
 * the anchor makes a difference anywhere, it makes one there; but no workspace
 * or home is put where nobody works, such
 * as /dev or /usr.  All of this stops when each rule that changed is known to
 * make a difference.  It has a bound, beyond which a difference is
 * `maybe-wider`.
 */
#include "compiler/compare/paths.h"
#include "compiler/query/why.h"
#include "compiler/tables/tables.h"

#include <string.h>

/* How many layouts are compared, how many rules in all of them, and how often
 * a rule is looked at to find them. */
enum { MOST_LAYOUTS = 256, MOST_COMPARED = 1 << 19, MOST_LOOKS = 1 << 23 };

struct layouts {
	struct pass *pass;
	struct rules *rules;
	struct arena *arena;
	struct places usual[SIDE_COUNT];
	bool open[SIDE_COUNT][SBX_MAX_ANCHORS]; /* parameters without a place,
	                                         * which lie in /srv there */
	bool has_open;
	const char *param; /* that is put somewhere; NULL: `anchor` is */
	uint16_t anchor;
	bool together;    /* and the parameters are put there, too */
	bool moves;       /* a rule about it changed */
	bool gives;       /* a rule about it allows, or has an exception */
	bool sockets;     /* rules about sockets changed */
	struct map tried; /* places for this anchor */
	size_t compared;
	size_t looks;
	bool *known;  /* of each rule: what it changes was noted */
	unsigned cut; /* there were too many for what these sides allow */
	/* Where other rules allow something, and to which sides; and the sides
	 * that allow something below the anchor itself. */
	struct {
		VEC(struct sbx_place) places;
		VEC(unsigned) sides;
	} allows;
	unsigned anywhere;
};

/* --- what is known -------------------------------------------------------- */

/* Whether a change by the rule is known, or there can be none: nobody has more
 * than everything. */
static bool
right_is_known(const struct layouts *layouts, const struct merged_rule *rule,
    uint8_t right)
{
	struct note_key key = rule_key(rule, right);
	enum side least = key.change == CHANGE_WIDER ? SIDE_OLD : SIDE_NEW;

	return (layouts->pass->comparison->blobs[least]->meta->flags &
		   SBX_EVERYTHING) != 0 ||
	    pass_said(layouts->pass, &key);
}

static bool
is_known(struct layouts *layouts, const struct merged_rule *rule)
{
	bool *known = &layouts->known[rule - layouts->rules->items];

	layouts->looks++;
	for (uint8_t right = SBX_READ; !*known && right <= SBX_EXEC;
	     right <<= 1) {
		if (rule_changed(rule, right) &&
		    !right_is_known(layouts, rule, right))
			return false;
	}
	return *known = true;
}

static bool
all_is_known(struct layouts *layouts)
{
	for (size_t i = 0; i < layouts->rules->count; i++) {
		if (!is_known(layouts, &layouts->rules->items[i]))
			return false;
	}
	return true;
}

static bool
sockets_differ(const struct pass *pass)
{
	const struct sbx_blob *old = pass->comparison->blobs[SIDE_OLD];
	const struct sbx_blob *new = pass->comparison->blobs[SIDE_NEW];

	if (old->socket_count != new->socket_count)
		return true;
	for (uint32_t i = 0; i < old->socket_count; i++) {
		const struct sbx_socket *a = &old->sockets[i];
		const struct sbx_socket *b = &new->sockets[i];

		if (a->form != b->form || a->effect != b->effect ||
		    strcmp(sbx_string(old, a->suffix),
			sbx_string(new, b->suffix)) != 0 ||
		    !anchors_equal(old, a->anchor, new, b->anchor))
			return true;
	}
	return false;
}

/* --- one layout ----------------------------------------------------------- */

static const struct bound_param *
params_make(const struct layouts *layouts, const char *place)
{
	struct arena *arena = layouts->pass->comparison->arena;
	struct {
		VEC(struct bound_param) list;
	} params = { 0 };

	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		const struct sbx_blob *blob = layouts->usual[side].blob;

		for (uint16_t i = SBX_ANCHOR_PARAM; i < blob->anchor_count;
		     i++) {
			const char *name = sbx_string(blob,
			    blob->anchors[i].name);

			if (strcmp(name, layouts->param) != 0)
				*arena_push(arena,
				    &params.list) = (struct bound_param){ name,
					arena_printf(arena, "/srv/%s", name) };
		}
	}
	*arena_push(arena, &params.list) = (struct bound_param){ layouts->param,
		place };
	*arena_push(arena, &params.list) = (struct bound_param){ NULL, NULL };
	return params.list.items;
}

static const struct binding *
binding_make(const struct layouts *layouts, const char *place)
{
	struct arena *arena = layouts->pass->comparison->arena;
	struct binding *binding = arena_alloc(arena, sizeof *binding);
	const char *word = layouts->anchor == SBX_ANCHOR_HOME ?
	    "the home directory" :
	    "the workspace";

	*binding = *binding_usual(0);
	if (layouts->param != NULL) {
		word = arena_printf(arena, "the parameter %s", layouts->param);
		binding->own = params_make(layouts, place);
	} else if (layouts->anchor == SBX_ANCHOR_HOME) {
		binding->home = place;
	} else {
		binding->workspace = place;
	}
	if (layouts->together)
		binding->params = place;
	binding->about = arena_printf(arena, "%s %s %s", word,
	    layouts->together ? "and the parameters are" : "is", place);
	return binding;
}

static void
layout_compare(struct layouts *layouts, const char *place, unsigned sides)
{
	struct pass *pass = layouts->pass;

	if (!layouts->sockets && all_is_known(layouts))
		return;
	if (layouts->compared >= MOST_LAYOUTS ||
	    layouts->compared * layouts->rules->count > MOST_COMPARED) {
		layouts->cut |= sides;
		return;
	}
	layouts->compared++;
	compare_places(pass, layouts->rules, binding_make(layouts, place));
}

/* The sides that allow something in the place, or the place itself: only what
 * they allow can differ there. */
static unsigned
allowing_sides(struct layouts *layouts, const char *text)
{
	struct sbx_place place = sbx_place_of(text);
	unsigned sides = layouts->anywhere;

	layouts->looks += layouts->allows.places.count;
	for (size_t i = 0; i < layouts->allows.places.count; i++) {
		struct sbx_place at = layouts->allows.places.items[i];

		if (sbx_covers(at, place) || sbx_covers(place, at))
			sides |= layouts->allows.sides.items[i];
	}
	return layouts->sockets ? (1u << SIDE_COUNT) - 1 : sides;
}

/* Tries a place, if the anchor may be there and was not yet. */
static void
place_try(struct layouts *layouts, const char *place)
{
	const char *text = arena_strndup(layouts->pass->comparison->arena,
	    place, strlen(place));
	unsigned sides;
	bool added;

	if (strlen(place) > SBX_MAX_PATH ||
	    !(layouts->param != NULL ? binding_is_param_place(text) :
				       binding_is_work_place(text)))
		return;
	map_number(layouts->arena, &layouts->tried, text, strlen(text), &added);
	if (!added)
		return;
	if (layouts->looks > MOST_LOOKS) {
		layouts->cut = (1u << SIDE_COUNT) - 1;
		return;
	}
	sides = allowing_sides(layouts, text);
	if (sides != 0)
		layout_compare(layouts, text, sides);
}

/* The directory of a place, which is most likely one, the place itself, a
 * directory in it, and what is above. */
static void
place_try_around(struct layouts *layouts, struct sbx_place place)
{
	const char *text = arena_strndup(layouts->arena, place.path, place.len);
	char *above = arena_strndup(layouts->arena, place.path, place.len);
	char *slash = strrchr(above, '/');

	if (slash == NULL)
		return;
	*slash = '\0';
	place_try(layouts, above);
	place_try(layouts, text);
	place_try(layouts,
	    arena_printf(layouts->arena, "%s/%s", text,
		layouts->param != NULL                 ? "x" :
		    layouts->anchor == SBX_ANCHOR_HOME ? "user" :
							 "project"));
	while ((slash = strrchr(above, '/')) != NULL) {
		*slash = '\0';
		place_try(layouts, above);
	}
}

/* --- places of rules ------------------------------------------------------ */

/* Whether a place below another anchor is one to put this anchor at. */
static bool
is_from(const struct layouts *layouts, const struct sbx_blob *blob,
    uint16_t anchor)
{
	if (anchor == SBX_ANCHOR_ROOT)
		return true;
	if (anchor == SBX_ANCHOR_TMP)
		return false;
	if (layouts->param != NULL)
		return strcmp(sbx_string(blob, blob->anchors[anchor].name),
			   layouts->param) != 0;
	return layouts->anchor == SBX_ANCHOR_WORKSPACE &&
	    anchor == SBX_ANCHOR_HOME;
}

/* Whether an anchor is one that is moved. */
static bool
is_moved(const struct layouts *layouts, const struct sbx_blob *blob,
    uint16_t anchor)
{
	if (layouts->param != NULL)
		return strcmp(sbx_string(blob, blob->anchors[anchor].name),
			   layouts->param) == 0;
	return anchor == layouts->anchor ||
	    (layouts->together && anchor >= SBX_ANCHOR_PARAM);
}

/* What a glob's plainest match would be. */
static struct sbx_place
sample(const struct layouts *layouts, const struct merged_rule *rule,
    struct sbx_place at)
{
	const char *path = arena_strndup(layouts->arena, at.path, at.len);

	for (uint32_t i = 0; rule->glob != NULL && i < rule->glob->count; i++) {
		if ((rule->glob->any >> i & 1) == 0)
			path = arena_printf(layouts->arena, "%s/%s", path,
			    name_sample(layouts->arena,
				&layouts->rules->parts.items[rule->parts[i]],
				"x"));
	}
	return sbx_place_of(path);
}

static void
rule_try(struct layouts *layouts, const struct merged_rule *rule)
{
	const struct places *places = &layouts->usual[rule->side];
	const struct sbx_blob *blob = places->blob;
	struct sbx_rule bound;

	if (rule->everything)
		return;
	bound = places_rule(places, rule->path, false);
	if (is_from(layouts, blob, rule->path->anchor) &&
	    (layouts->sockets || (layouts->moves && rule->allow) ||
		(layouts->gives && !is_known(layouts, rule)))) {
		place_try_around(layouts, bound.at);
		if (rule->glob != NULL)
			place_try_around(layouts,
			    sample(layouts, rule, bound.at));
	}
	for (uint16_t i = 0; i < bound.exclusion_count; i++) {
		const struct sbx_exclusion *exclusion =
		    &blob->exclusions[rule->path->first_exclusion + i];

		if (is_from(layouts, blob, exclusion->anchor))
			place_try_around(layouts, bound.exclusions[i]);
	}
}

static void
sockets_try(struct layouts *layouts, enum side side)
{
	const struct places *places = &layouts->usual[side];
	const struct sbx_blob *blob = places->blob;

	for (uint32_t i = 0; i < blob->socket_count; i++) {
		const struct sbx_socket *socket = &blob->sockets[i];

		if (socket->form == SBX_SOCKET_PLACE &&
		    is_from(layouts, blob, socket->anchor))
			place_try_around(layouts,
			    places_socket(places, socket, false).at);
	}
}

/* Whether a rule is about what is moved, or has an exception that is. */
static bool
rule_moves(const struct layouts *layouts, const struct merged_rule *rule)
{
	const struct sbx_blob *blob = layouts->usual[rule->side].blob;
	bool moves;

	if (rule->everything)
		return false;
	moves = is_moved(layouts, blob, rule->path->anchor);
	for (uint16_t i = 0; i < rule->path->exclusion_count; i++)
		moves |= is_moved(layouts, blob,
		    blob->exclusions[rule->path->first_exclusion + i].anchor);
	return moves;
}

/* Collects where rules allow something. */
static void
allows_collect(struct layouts *layouts)
{
	layouts->anywhere = 0;
	layouts->allows.places.count = layouts->allows.sides.count = 0;
	for (size_t i = 0; i < layouts->rules->count; i++) {
		const struct merged_rule *rule = &layouts->rules->items[i];
		const struct places *places = &layouts->usual[rule->side];
		unsigned sides = 0;

		for (unsigned side = 0; side < SIDE_COUNT; side++)
			sides |= (unsigned)(rule->rights[side] != 0) << side;
		if (layouts->pass->comparison->wider_only)
			sides &= 1u << SIDE_NEW;
		if (!rule->allow)
			continue;
		if (rule->everything ||
		    is_moved(layouts, places->blob, rule->path->anchor)) {
			layouts->anywhere |= sides;
			continue;
		}
		*arena_push(layouts->arena, &layouts->allows.places) =
		    places_rule(places, rule->path, false).at;
		*arena_push(layouts->arena, &layouts->allows.sides) = sides;
	}
}

/* Puts one anchor at all places. */
static void
anchor_try(struct layouts *layouts, uint16_t anchor, const char *param)
{
	const struct rules *rules = layouts->rules;
	layouts->anchor = anchor;
	layouts->param = param;
	layouts->tried = (struct map){ 0 };
	allows_collect(layouts);
	layouts->moves = layouts->gives = false;
	for (size_t i = 0; i < rules->count; i++) {
		const struct merged_rule *rule = &rules->items[i];

		if (!rule_moves(layouts, rule))
			continue;
		layouts->moves |= !is_known(layouts, rule);
		layouts->gives |= rule->everything || rule->allow ||
		    rule->path->exclusion_count > 0;
	}
	/* A rule may cover where it usually lies. */
	if (anchor == SBX_ANCHOR_HOME)
		place_try(layouts, "/root");
	place_try(layouts, "/data/apart");
	for (size_t i = 0; i < rules->count; i++)
		rule_try(layouts, &rules->items[i]);
	for (unsigned side = 0; layouts->sockets && side < SIDE_COUNT; side++)
		sockets_try(layouts, (enum side)side);
	for (unsigned side = 0; param != NULL && side < SIDE_COUNT; side++) {
		const struct places *places = &layouts->usual[side];

		place_try_around(layouts,
		    places->anchors[SBX_ANCHOR_WORKSPACE]);
		place_try_around(layouts, places->anchors[SBX_ANCHOR_HOME]);
	}
}

/* --- what is not decided -------------------------------------------------- */

/* Of the rules that were not settled, one stands for all. */
static void
undecided_note(const struct layouts *layouts, uint8_t right, enum change change)
{
	struct pass *pass = layouts->pass;
	struct arena *arena = pass->comparison->arena;
	const struct merged_rule *first = NULL;
	struct explanation says[SIDE_COUNT] = {
		{ .source = SBX_NO_SOURCE },
		{ .source = SBX_NO_SOURCE },
	};
	enum side gaining = change == CHANGE_WIDER ? SIDE_NEW : SIDE_OLD;
	bool globs = false;
	size_t count = 0;

	for (size_t i = layouts->rules->count; i-- > 0;) {
		const struct merged_rule *rule = &layouts->rules->items[i];

		if (!rule_changed(rule, right) ||
		    rule_change(rule, right) != change ||
		    ((layouts->cut >> gaining & 1) == 0 &&
			(rule->undecided & right) == 0) ||
		    right_is_known(layouts, rule, right))
			continue;
		globs |= (rule->undecided & right) != 0;
		first = rule;
		count++;
	}
	if (first == NULL)
		return;
	if (!first->everything) {
		enum side side = rule_side(first, right);
		const struct sbx_blob *blob = pass->comparison->blobs[side];
		const struct sbx_path *path = &blob->paths[first->index[side]];

		says[side].text = path_explanation(arena, blob, path);
		says[side].source = path->source;
	}
	pass_note_setting(pass, DIFFERENCE_PATH,
	    change == CHANGE_WIDER ? CHANGE_MAYBE_WIDER : CHANGE_MAYBE_NARROWER,
	    arena_printf(arena, "%s, by %zu rule%s, %s",
		rights_word(SBX_ALLOW, right), count, count == 1 ? "" : "s",
		globs ? "where globs meet: no path was found that shows it" :
			"where the anchors lie in a way that was not looked "
			"at"),
	    says);
}

/* --- all of them ---------------------------------------------------------- */

/* The parameters of a side that the user has not bound. */
static void
params_try(struct layouts *layouts, enum side side)
{
	const struct comparison *comparison = layouts->pass->comparison;
	const struct sbx_blob *blob = comparison->blobs[side];

	for (uint16_t i = SBX_ANCHOR_PARAM; i < blob->anchor_count; i++) {
		const char *name = sbx_string(blob, blob->anchors[i].name);

		if (side == SIDE_OLD ||
		    places_param(comparison->blobs[SIDE_OLD], name) == 0) {
			if (layouts->open[side][i])
				anchor_try(layouts, i, name);
		}
	}
}

/* Binds them apart. */
static void
params_open(struct layouts *layouts, enum side side)
{
	struct places *places = &layouts->usual[side];

	for (uint16_t i = SBX_ANCHOR_PARAM; i < places->blob->anchor_count;
	     i++) {
		layouts->open[side][i] = places->named[i];
		layouts->has_open |= places->named[i];
		if (places->named[i])
			places_bind(places, i,
			    arena_printf(layouts->arena, "/srv/%s",
				sbx_string(places->blob,
				    places->blob->anchors[i].name)));
	}
}

void
compare_layouts(struct pass *pass, struct rules *rules)
{
	struct arena *arena = arena_new();
	struct layouts layouts = {
		.pass = pass,
		.rules = rules,
		.arena = arena,
		.known = arena_alloc(arena, rules->count + 1),
	};

	pass->scratch = arena;
	pass_begin(pass, binding_usual(0));
	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		layouts.usual[side] = pass->subjects[side].places;
		params_open(&layouts, (enum side)side);
	}
	pass->scratch = NULL;
	layouts.sockets = sockets_differ(pass);
	if (pass->comparison->bound[SIDE_OLD] == NULL) {
		anchor_try(&layouts, SBX_ANCHOR_WORKSPACE, NULL);
		anchor_try(&layouts, SBX_ANCHOR_HOME, NULL);
	}
	params_try(&layouts, SIDE_OLD);
	params_try(&layouts, SIDE_NEW);
	layouts.together = true;
	if (pass->comparison->bound[SIDE_OLD] == NULL && layouts.has_open) {
		anchor_try(&layouts, SBX_ANCHOR_WORKSPACE, NULL);
		anchor_try(&layouts, SBX_ANCHOR_HOME, NULL);
	}
	if (pass->comparison->bound[SIDE_OLD] == NULL)
		compare_places(pass, rules, binding_two_homes());
	for (uint8_t right = SBX_READ; right <= SBX_EXEC; right <<= 1) {
		undecided_note(&layouts, right, CHANGE_WIDER);
		if (!pass->comparison->wider_only)
			undecided_note(&layouts, right, CHANGE_NARROWER);
	}
	arena_release(arena);
}
