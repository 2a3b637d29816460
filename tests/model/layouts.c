/*
 * Where the anchors lie, exhaustively: what compiler/compare/compare.h says of
 * two policies, against asking about them in all layouts of a small tree.
 *
 *	layouts [SEED [PAIRS]]
 *
 * Policies have a few path rules about anchors and constants whose names are a
 * and b, so that they meet in some layouts and not in others.  NEW is OLD with
 * some lines changed.  Each anchor that occurs is then put at each place of a
 * tree, alone or with the parameters, while the others lie where they usually do,
 * and in each layout the verdict function is asked about each place of a rule or
 * exclusion, and below it.  Whatever differs in any layout must have been
 * reported, with a rule that covers it there, or as not decided where globs
 * meet; each witness must differ in its own layout.
 */
#include "compiler/query/why.h"
#include "tests/lib/tap.h"
#include "tests/model/universe.h"

enum {
	PAIRS = 4000,
	MOST_ANCHORS = 4,
};

/* What an anchor is in a policy, and which field of a binding it is. */
static const struct {
	const char *text;
	enum { WORKSPACE, HOME, FIRST, SECOND } kind;
} anchors[] = {
	{ "${workspace}", WORKSPACE },
	{ "~", HOME },
	{ "${p}", FIRST },
	{ "${q}", SECOND },
};

static const char *const places[] = {
	"/x",
	"/y/x",
	"/a",
	"/b",
	"/a/a",
	"/a/b",
	"/b/a",
	"/b/b/a",
	"/x/a",
	"/x/b",
};

/* --- policies ------------------------------------------------------------- */

static void
add_names(struct chance *chance, char *line, size_t most)
{
	static const char *const names[] = { "/a", "/b" };

	for (size_t i = chance_below(chance, most + 1); i > 0; i--)
		strcat(line, PICK(chance, names));
}

/* Few anchors in one policy, or there are too many layouts. */
static void
add_place(struct chance *chance, unsigned mask, char *line)
{
	size_t which = chance_below(chance, 2 * countof(anchors));
	size_t before = strlen(line);

	if (which < countof(anchors) && (mask >> which & 1) != 0)
		strcat(line, anchors[which].text);
	else if (chance_percent(chance, 50))
		strcat(line, chance_percent(chance, 50) ? "/a" : "/b");
	add_names(chance, line, 2);
	if (strlen(line) == before)
		strcat(line, "/");
}

static void
socket_make(struct chance *chance, unsigned mask, char line[LINE_SIZE])
{
	static const char *const effects[] = { "allow", "deny" };

	snprintf(line, LINE_SIZE, "%s socket ", PICK(chance, effects));
	add_place(chance, mask, line);
}

static void
line_make(struct chance *chance, unsigned mask, char line[LINE_SIZE])
{
	static const char *const globs[] = { "*", "a*", "?", "*/a", "**/b" };
	static const char *const verbs[] = {
		"allow read ",
		"allow read ",
		"deny read ",
		"deny read ",
		"prefer deny read ",
		"prefer deny write ",
		"allow write ",
		"deny write ",
	};
	bool glob = chance_percent(chance, 7);

	if (chance_percent(chance, 20)) {
		socket_make(chance, mask, line);
		return;
	}

	snprintf(line, LINE_SIZE, "%s%s", PICK(chance, verbs),
	    glob ? "glob \"" : "");
	add_place(chance, mask, line);
	if (glob) {
		if (line[strlen(line) - 1] == '/')
			line[strlen(line) - 1] = '\0';
		strcat(line, "/");
		strcat(line, PICK(chance, globs));
		strcat(line, "\"");
	}
	for (unsigned i = 0; i < 2 && chance_percent(chance, 30); i++) {
		strcat(line, i == 0 ? " except { " : " ");
		add_place(chance, mask, line);
		if (i == 1 || chance_percent(chance, 60)) {
			strcat(line, " }");
			return;
		}
	}
	if (strchr(line, '{') != NULL && strstr(line, "except") != NULL &&
	    strstr(line, " }") == NULL)
		strcat(line, " }");
}

static void
old_make(struct chance *chance, unsigned mask, struct draft *draft)
{
	draft->count = 2 + chance_below(chance, 4);
	for (size_t i = 0; i < draft->count; i++)
		line_make(chance, mask, draft->lines[i]);
}

static void
line_change(struct chance *chance, unsigned mask, struct draft *draft)
{
	size_t at = chance_below(chance, draft->count);

	if (chance_percent(chance, 50) && draft->count > 1)
		memcpy(draft->lines[at], draft->lines[--draft->count],
		    LINE_SIZE);
	else if (chance_percent(chance, 60) && draft->count < MOST_LINES)
		line_make(chance, mask, draft->lines[draft->count++]);
	else
		line_make(chance, mask, draft->lines[at]);
}

static void
new_make(struct chance *chance, unsigned mask, struct draft *draft)
{
	do
		line_change(chance, mask, draft);
	while (chance_percent(chance, 40));
}

/* --- layouts -------------------------------------------------------------- */

struct trial {
	struct pair pair;
	struct chance *chance;
	size_t used[MOST_ANCHORS]; /* indices of anchors */
	size_t count;
	bool globs;
	size_t layouts, accesses; /* that were tried */
};

static bool
mentions(const struct draft *draft, const char *text)
{
	for (size_t i = 0; i < draft->count; i++) {
		if (strstr(draft->lines[i], text) != NULL)
			return true;
	}
	return false;
}

static void
trial_look(struct trial *trial)
{
	const struct draft *old = &trial->pair.built[SIDE_OLD]->draft;
	const struct draft *new = &trial->pair.built[SIDE_NEW]->draft;

	for (size_t i = 0; i < countof(anchors); i++) {
		if (mentions(old, anchors[i].text) ||
		    mentions(new, anchors[i].text))
			trial->used[trial->count++] = i;
	}
	trial->globs = mentions(old, "glob") || mentions(new, "glob");
}

static void
binding_set(struct binding *binding, struct bound_param own[3], size_t anchor,
    const char *place)
{
	switch (anchors[anchor].kind) {
	case WORKSPACE:
		binding->workspace = place;
		break;
	case HOME:
		binding->home = place;
		break;
	case FIRST:
		own[0] = (struct bound_param){ "p", place };
		break;
	case SECOND:
		own[1] = (struct bound_param){ "q", place };
		break;
	}
}

/* --- asking --------------------------------------------------------------- */

static bool
ask(struct trial *trial, const struct subject subjects[SIDE_COUNT],
    struct sbx_place at, const char *below)
{
	const char *path = arena_printf(trial->pair.arena, "%.*s%s",
	    (int)at.len, at.path, below);

	for (uint8_t right = SBX_READ; right <= SBX_WRITE; right <<= 1) {
		struct access access = {
			.kind = KIND_PATH,
			.detail = right,
			.path = { path, (uint32_t)strlen(path) },
		};

		trial->accesses++;
		if (!check_access(&trial->pair, subjects, &access))
			return false;
	}
	return true;
}

/*
 * Who may write may connect.  So a socket is the better reached either by a
 * rule about sockets or where more may be written, and one of these must have
 * been reported.
 */
static bool
ask_socket(struct trial *trial, const struct subject subjects[SIDE_COUNT],
    struct sbx_place at)
{
	const struct comparison *comparison = &trial->pair.comparison;
	const struct access access = {
		.kind = KIND_SOCKET,
		.detail = SBX_WRITE,
		.path = at,
	};
	bool old = verdict_of(&subjects[SIDE_OLD], &access).allowed;
	bool new = verdict_of(&subjects[SIDE_NEW], &access).allowed;
	enum change change = new ? CHANGE_WIDER : CHANGE_NARROWER;

	trial->accesses++;
	for (size_t i = 0; i < comparison->differences.count; i++) {
		const struct difference *difference =
		    &comparison->differences.items[i];

		if (difference->change == change &&
		    (difference->kind == DIFFERENCE_SOCKET ||
			(difference->kind == DIFFERENCE_PATH &&
			    difference->access.detail == SBX_WRITE)))
			return true;
	}
	return old == new ||
	    wrong(&trial->pair, "socket %.*s: %d, then %d, unsaid", (int)at.len,
		at.path, old, new);
}

static bool
ask_sockets(struct trial *trial, const struct subject subjects[SIDE_COUNT],
    const struct subject *subject)
{
	const struct places *bound = &subject->places;

	for (uint32_t i = 0; i < bound->blob->socket_count; i++) {
		const char *path;
		struct sbx_place at =
		    places_socket(bound, &bound->blob->sockets[i], false).at;

		path = arena_printf(trial->pair.arena, "%.*s/x/x",
		    at.len == 1 ? 0 : (int)at.len, at.path);
		if (!ask_socket(trial, subjects, at) ||
		    !ask_socket(trial, subjects,
			(struct sbx_place){ path, (uint32_t)strlen(path) }))
			return false;
	}
	return true;
}

static bool
ask_below(struct trial *trial, const struct subject subjects[SIDE_COUNT],
    struct sbx_place at)
{
	static const char *const below[] = { "", "/x", "/a", "/b", "/ab",
		"/x/a", "/a/a", "/b/a", "/a/b", "/x/b", "/b/b", "/a/x" };
	size_t count = trial->globs ? countof(below) : 2;

	for (size_t i = 0; i < count; i++) {
		if (!ask(trial, subjects, at, below[i]))
			return false;
	}
	return true;
}

static bool
ask_rules(struct trial *trial, const struct subject subjects[SIDE_COUNT],
    const struct subject *subject)
{
	const struct places *bound = &subject->places;

	for (uint32_t i = 0; i < bound->blob->path_count; i++) {
		for (unsigned other = 0; other < 2; other++) {
			struct sbx_rule rule = places_rule(bound,
			    &bound->blob->paths[i], other);

			if (other && !bound->has_other_home)
				break;
			if (!ask_below(trial, subjects, rule.at) ||
			    !ask_socket(trial, subjects, rule.at))
				return false;
			for (uint16_t j = 0; j < rule.exclusion_count; j++) {
				if (!ask_below(trial, subjects,
					rule.exclusions[j]))
					return false;
			}
		}
	}
	return true;
}

/* One anchor at a place; `params`: and both parameters. */
static bool
layout_try(struct trial *trial, size_t anchor, const char *place, bool params)
{
	struct bound_param own[3] = { { "none", "/y" }, { "none", "/y" },
		{ NULL, NULL } };
	struct binding binding = {
		.workspace = "/home/user/project",
		.home = "/home/user",
		.params = params ? place : NULL,
		.own = own,
	};
	const struct difference where = {
		.binding = &binding,
		.level = chance_percent(trial->chance, 50) ?
		    SBX_LEVEL_STANDARD :
		    SBX_LEVEL_FULL,
		.platforms = SBX_ON_LINUX,
	};
	struct arena *arena = trial->pair.arena;
	struct subject subjects[SIDE_COUNT];
	bool good = true;

	binding_set(&binding, own, anchor, place);
	trial->layouts++;
	trial->pair.arena = arena_new();
	for (unsigned side = 0; side < SIDE_COUNT; side++)
		subjects[side] = comparison_subject(&trial->pair.comparison,
		    &where, (enum side)side, trial->pair.arena);
	for (unsigned side = 0; good && side < SIDE_COUNT; side++)
		good = ask_rules(trial, subjects, &subjects[side]) &&
		    ask_sockets(trial, subjects, &subjects[side]);
	arena_release(trial->pair.arena);
	trial->pair.arena = arena;
	if (!good)
		printf("# %s at %s%s\n", anchors[anchor].text, place,
		    params ? " with the parameters" : "");
	return good;
}

static bool
layouts_try(struct trial *trial)
{
	for (size_t i = 0; i < trial->count; i++) {
		size_t anchor = trial->used[i];

		for (size_t place = 0; place < countof(places); place++) {
			if (!layout_try(trial, anchor, places[place], false) ||
			    (anchors[anchor].kind < FIRST &&
				!layout_try(trial, anchor, places[place],
				    true)))
				return false;
		}
	}
	return true;
}

/* --- pairs ---------------------------------------------------------------- */

static bool
witnesses_check(struct trial *trial)
{
	const struct comparison *comparison = &trial->pair.comparison;

	if (is_undecided(comparison) && !trial->globs)
		return wrong(&trial->pair, "something is not decided");
	for (size_t i = 0; i < comparison->differences.count; i++) {
		const struct binding *binding =
		    comparison->differences.items[i].binding;

		if (!check_witness(&trial->pair,
			&comparison->differences.items[i]))
			return false;
		if (binding != NULL && strcmp(binding->workspace, "/") == 0)
			return wrong(&trial->pair, "no loader binds that");
	}
	return true;
}

static void
trial_print(const struct trial *trial, const struct style *style)
{
	const struct comparison *comparison = &trial->pair.comparison;

	printf("# %s\n", trial->pair.fault);
	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		char text[TEXT_SIZE];
		size_t size = draft_print(&trial->pair.built[side]->draft,
		    style, text);

		printf("# --- %s\n", side == SIDE_OLD ? "old" : "new");
		for (size_t i = 0; i < size; i++) {
			if (i == 0 || text[i - 1] == '\n')
				fputs("# ", stdout);
			putchar(text[i]);
		}
	}
	for (size_t i = 0; i < comparison->differences.count; i++) {
		const struct difference *difference =
		    &comparison->differences.items[i];
		const char *where = difference_where(comparison, difference);

		printf("# %s: %s, %s\n", change_word(difference->change),
		    difference->what, where != NULL ? where : "as usual");
	}
}

struct totals {
	size_t layouts, accesses, found, elsewhere, undecided;
};

static void
trial_count(const struct trial *trial, struct totals *totals)
{
	const struct comparison *comparison = &trial->pair.comparison;

	totals->layouts += trial->layouts;
	totals->accesses += trial->accesses;
	totals->found += comparison->counts[CHANGE_WIDER] +
		comparison->counts[CHANGE_NARROWER] >
	    0;
	totals->undecided += is_undecided(comparison);
	for (size_t i = 0; i < comparison->differences.count; i++) {
		const struct binding *binding =
		    comparison->differences.items[i].binding;

		/* In no usual layout. */
		totals->elsewhere += binding != NULL &&
		    binding->about != NULL &&
		    strstr(binding->about, " /") != NULL;
	}
}

static bool
pair_try(struct chance *chance, struct totals *totals)
{
	static const struct style style = { .base = "", .two = true };
	struct arena *arena = arena_new();
	struct built built[SIDE_COUNT];
	unsigned mask = (unsigned)chance_below(chance, 1u << countof(anchors));
	struct trial trial = {
		.pair = {
			.arena = arena,
			.comparison = {
				.arena = arena,
				.blobs = { &built[0].blob, &built[1].blob },
			},
			.built = { &built[0], &built[1] },
		},
		.chance = chance,
	};
	bool good;

	do
		old_make(chance, mask, &built[SIDE_OLD].draft);
	while (!draft_build(arena, &style, &built[SIDE_OLD]));
	do {
		built[SIDE_NEW].draft = built[SIDE_OLD].draft;
		new_make(chance, mask, &built[SIDE_NEW].draft);
	} while (!draft_build(arena, &style, &built[SIDE_NEW]));
	compare(&trial.pair.comparison);
	trial_look(&trial);
	good = witnesses_check(&trial) && layouts_try(&trial);
	if (!good)
		trial_print(&trial, &style);
	trial_count(&trial, totals);
	arena_release(arena);
	return good;
}

int
main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	size_t pairs = argc > 2 ? strtoul(argv[2], NULL, 10) :
				  tap_rounds(PAIRS);
	struct totals totals = { 0 };
	struct tap tap = { 0 };
	bool good = true;
	size_t i;

	for (i = 0; good && i < pairs; i++) {
		struct chance chance = { .state = seed + i };

		good = pair_try(&chance, &totals);
		if (!good)
			printf("# seed %ju\n", (uintmax_t)(seed + i));
	}
	tap_ok(&tap, good, "%zu pairs of policies, %zu layouts, %zu questions",
	    i, totals.layouts, totals.accesses);
	tap_ok(&tap, !good || totals.found > i / 4, "%zu pairs differ",
	    totals.found);
	tap_ok(&tap, !good || totals.elsewhere > i / 20,
	    "%zu differences in layouts that are not usual", totals.elsewhere);
	tap_ok(&tap, !good || totals.undecided <= i / 25,
	    "%zu pairs are not decided", totals.undecided);
	return tap_done(&tap);
}
