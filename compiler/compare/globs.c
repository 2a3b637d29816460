/*
 * Paths that globs match and that no rule names.
 *
 * Where the walk (paths.c) is, each rule that only one policy has and that may
 * cover something below is looked up: is there a path on which it makes a
 * difference?  The plainest paths that globs match are tried.  If none is a
 * witness, a glob that matches all that the rule does may show that there is
 * none.  Else it is not decided, and said so: a search through all names that
 * globs can tell apart would hardly ever change the answer.
 */
#include "compiler/compare/paths.h"
#include "compiler/query/why.h"

#include <limits.h>
#include <string.h>

/* How much is done in all.  A step of a glob counts by the bytes that it may
 * look at. */
enum { MOST_WORK = 1 << 24, MOST_GUESSES = 16 };

/* A look for one rule below one directory. */
struct lookup {
	struct walk *walk;
	struct merged_rule *rule;
	struct live own; /* if the rule does not cover the directory */
	bool covered;    /* it does */
	bool inhabited;  /* places of the index are in the directory */
	struct rule_aim aim;
	uint8_t facts; /* that other rules make at the directory */
	struct {
		VEC(struct live) list;
	} lives;     /* of other rules that add facts */
	bool second; /* a difference was found where another rule decides */
};

static const struct merged_rule *
rule_of(const struct lookup *lookup, const struct live *live)
{
	return lookup->walk->bounds[live->bound].rule;
}

/* Facts that matter. */
static uint8_t
lookup_facts(const struct lookup *lookup)
{
	return lookup->aim.forbidden | lookup->aim.required;
}

static bool
is_difference(const struct lookup *lookup, uint8_t facts)
{
	return (facts & lookup->aim.forbidden) == 0 &&
	    (facts & lookup->aim.required) == lookup->aim.required;
}

void
walk_count_step(struct walk *walk, const struct sbx_glob *glob, size_t len)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < glob->count; i++)
		bytes += glob->lens[i];
	walk->pass->comparison->work += 1 + bytes * len / 64;
}

static bool
is_name(size_t len)
{
	return len > 0 && len <= NAME_MAX;
}

/* Whether a path cannot have the name, or it leads to a place of the index,
 * which the walk comes to by itself. */
static bool
is_taken(const struct lookup *lookup, const char *name, size_t len)
{
	struct walk *walk = lookup->walk;
	struct sbx_place place = { walk->path, walk->len + 1 + (uint32_t)len };

	if (!is_name(len) ||
	    (name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.'))))
		return true;
	if (!lookup->inhabited || place.len >= WALK_PATH_ROOM)
		return false;
	walk->path[walk->len] = '/';
	memcpy(walk->path + walk->len + 1, name, len);
	return sbx_index_reaches(walk->index, place);
}

/* --- one glob in another -------------------------------------------------- */

bool
name_lies_in(const char *part, size_t len, const char *outer, size_t outer_len)
{
	size_t next = 0, at = 0, star = SIZE_MAX, mark = 0;

	while (at < len) {
		if (next < outer_len && outer[next] == '*') {
			star = ++next;
			mark = at;
		} else if (next < outer_len && part[at] != '*' &&
		    (part[at] == outer[next] ||
			(outer[next] == '?' && (signed char)part[at] > 0))) {
			next++;
			at++;
		} else if (star != SIZE_MAX) {
			next = star;
			at = ++mark;
		} else {
			return false;
		}
	}
	while (next < outer_len && outer[next] == '*')
		next++;
	return next == outer_len;
}

/* The states of a glob after each name that a part of another one matches. */
static uint64_t
step_over_part(struct walk *walk, const struct sbx_glob *glob, uint64_t states,
    const char *part, size_t len)
{
	uint64_t next = states & glob->any;

	walk_count_step(walk, glob, len);
	for (uint32_t i = 0; i < glob->count; i++) {
		if ((states & ~glob->any) >> i & 1 &&
		    name_lies_in(part, len, glob->parts[i], glob->lens[i]))
			next |= UINT64_C(2) << i;
	}
	return next | (next & glob->any) << 1;
}

/* Whether a glob matches whatever another one does from a part on. */
static bool
glob_lies_in(struct walk *walk, const struct sbx_glob *inner, uint32_t part,
    const struct sbx_glob *glob, uint64_t states)
{
	for (; part < inner->count; part++) {
		if (sbx_glob_matches(glob, states))
			return true;
		if (inner->any >> part & 1)
			states = (states & glob->any) |
			    (states & glob->any) << 1;
		else
			states = step_over_part(walk, glob, states,
			    inner->parts[part], inner->lens[part]);
	}
	return sbx_glob_matches(glob, states);
}

/* Whether some glob shows that the rule makes no difference below. */
static bool
is_vain(const struct lookup *lookup)
{
	static const struct sbx_glob all = { { "*" }, { 1 }, 1, 0 };

	for (size_t i = 0; i < lookup->lives.list.count; i++) {
		const struct live *live = &lookup->lives.list.items[i];
		const struct merged_rule *rule = rule_of(lookup, live);
		const struct sbx_glob *inner = lookup->covered ?
		    &all :
		    lookup->rule->glob;
		uint64_t parts = lookup->covered ? 1 : lookup->own.states;
		bool in = true;

		if ((rule_facts(rule, lookup->walk->right) &
			lookup->aim.forbidden) == 0)
			continue;
		for (uint32_t part = 0; in && part < inner->count; part++) {
			if (parts >> part & 1)
				in = glob_lies_in(lookup->walk, inner, part,
				    rule->glob, live->states);
		}
		if (in)
			return true;
	}
	return false;
}

/* --- guesses -------------------------------------------------------------- */

const char *
name_sample(struct arena *arena, const struct name_pattern *pattern,
    const char *star)
{
	size_t star_len = strlen(star), len = 0;
	char *name = arena_alloc(arena, pattern->len * (1 + star_len) + 1);

	for (size_t i = 0; i < pattern->len; i++) {
		char byte = pattern->text[i];

		if (byte == '*') {
			memcpy(name + len, star, star_len);
			len += star_len;
		} else {
			if (byte == '?' && pattern->marks)
				byte = star_len == 1 ? *star : 'x';
			name[len++] = byte;
		}
	}
	name[len] = '\0';
	return name;
}

struct guess {
	const char *names[2 * SBX_MAX_GLOB];
	size_t count;
};

/* Adds the plainest names that a glob matches. */
static void
guess_add(const struct lookup *lookup, struct guess *guess,
    const struct merged_rule *rule, const char *star)
{
	for (uint32_t i = 0; i < rule->glob->count; i++) {
		if ((rule->glob->any >> i & 1) == 0)
			guess->names[guess->count++] = name_sample(
			    lookup->walk->pass->scratch,
			    &lookup->walk->rules->parts.items[rule->parts[i]],
			    star);
	}
}

/* Whether the glob matches the path, or a directory above it. */
static bool
guess_matches(const struct lookup *lookup, const struct guess *guess,
    const struct live *live)
{
	const struct sbx_glob *glob = rule_of(lookup, live)->glob;
	uint64_t states = live->states;

	for (size_t i = 0; i < guess->count; i++) {
		size_t len = strlen(guess->names[i]);

		walk_count_step(lookup->walk, glob, len);
		states = sbx_glob_step(glob, states, guess->names[i], len);
		if (sbx_glob_matches(glob, states))
			return true;
	}
	return false;
}

/* Notes the difference; false if another rule decides there. */
static bool
lookup_note(struct lookup *lookup, const struct guess *guess)
{
	struct walk *walk = lookup->walk;
	struct arena *arena = walk->pass->scratch;
	const char *path = arena_strndup(arena, walk->path, walk->len);
	struct sbx_place at;

	for (size_t i = 0; i < guess->count; i++)
		path = arena_printf(arena, "%s/%s", path, guess->names[i]);
	at = sbx_place_of(path);
	/* The verdict function tries each of the globs. */
	for (size_t i = walk_first_live(walk); i < walk->lives.count; i++)
		walk_count_step(walk,
		    rule_of(lookup, &walk->lives.items[i])->glob, at.len / 8);
	if (walk_note(walk, lookup->rule, at.path, at.len, false))
		return true;
	if (!lookup->second)
		*arena_push(arena,
		    &walk->second) = (struct second){ lookup->rule, at };
	lookup->second = true;
	return false;
}

static bool
guess_try(struct lookup *lookup, const struct guess *guess)
{
	uint8_t facts = lookup->facts;

	if (guess->count == 0 ||
	    is_taken(lookup, guess->names[0], strlen(guess->names[0])))
		return false;
	for (size_t i = 1; i < guess->count; i++) {
		if (!is_name(strlen(guess->names[i])))
			return false;
	}
	if (!lookup->covered && !guess_matches(lookup, guess, &lookup->own))
		return false;
	for (size_t i = 0; i < lookup->lives.list.count &&
	     (facts & lookup->aim.forbidden) == 0;
	     i++) {
		const struct live *live = &lookup->lives.list.items[i];

		if (guess_matches(lookup, guess, live))
			facts |= rule_facts(rule_of(lookup, live),
				     lookup->walk->right) &
			    lookup_facts(lookup);
	}
	return is_difference(lookup, facts) && lookup_note(lookup, guess);
}

/* The last name of a glob, without its stars. */
static const char *
last_name(const struct lookup *lookup, const struct merged_rule *rule)
{
	return name_sample(lookup->walk->pass->scratch,
	    &lookup->walk->rules->parts
		 .items[rule->parts[rule->glob->count - 1]],
	    "");
}

/* Names that both globs may match: of one with what the other asks for. */
static bool
lookup_guess_mixed(struct lookup *lookup)
{
	for (size_t i = 0; i < lookup->lives.list.count && i < MOST_GUESSES;
	     i++) {
		const struct merged_rule *rule = rule_of(lookup,
		    &lookup->lives.list.items[i]);
		struct guess own = { .count = 0 }, other = { .count = 0 };

		if (lookup->covered)
			break;
		guess_add(lookup, &own, lookup->rule, last_name(lookup, rule));
		guess_add(lookup, &other, rule,
		    last_name(lookup, lookup->rule));
		if (guess_try(lookup, &own) || guess_try(lookup, &other))
			return true;
	}
	return false;
}

/* What the rule's own glob matches, what another one does, and what lies in the
 * other's match. */
static bool
lookup_guess_star(struct lookup *lookup, const char *star)
{
	struct guess own = { .count = 0 };

	if (!lookup->covered)
		guess_add(lookup, &own, lookup->rule, star);
	if (guess_try(lookup, &own))
		return true;
	if (!lookup->covered && (lookup->rule->glob->any & 1)) {
		struct guess below = { .names = { "x" }, .count = 1 };

		guess_add(lookup, &below, lookup->rule, star);
		if (guess_try(lookup, &below))
			return true;
	}
	for (size_t i = 0; i < lookup->lives.list.count && i < MOST_GUESSES;
	     i++) {
		const struct merged_rule *rule = rule_of(lookup,
		    &lookup->lives.list.items[i]);
		struct guess one = { .count = 0 }, both = own;

		guess_add(lookup, &one, rule, star);
		guess_add(lookup, &both, rule, star);
		if (guess_try(lookup, &one) || guess_try(lookup, &both))
			return true;
		if (lookup->covered)
			continue;
		guess_add(lookup, &one, lookup->rule, star);
		if (guess_try(lookup, &one))
			return true;
	}
	return false;
}

static bool
lookup_guess(struct lookup *lookup)
{
	static const char *const stars[] = { "x", "", "0", "zq" };

	for (size_t i = 0; i < countof(stars); i++) {
		if (lookup_guess_star(lookup, stars[i]))
			return true;
	}
	return lookup_guess_mixed(lookup) || lookup->second;
}

/* --- one rule ------------------------------------------------------------- */

/* The facts at the directory that other rules make. */
static uint8_t
facts_here(const struct lookup *lookup)
{
	const struct walk *walk = lookup->walk;
	uint8_t own = lookup->covered ? rule_facts(lookup->rule, walk->right) :
					0;
	uint8_t facts = 0;

	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		uint32_t allows = walk->allows[side],
			 denies = walk->denies[side];

		if (allows > (own & ALLOWS(side) ? 1u : 0u))
			facts |= ALLOWS(side);
		if (denies > (own & DENIES(side) ? 1u : 0u))
			facts |= DENIES(side);
	}
	return facts & lookup_facts(lookup);
}

/* Whether a glob can match below by a name that leads to no place. */
static bool
live_reaches(const struct lookup *lookup, const struct live *live)
{
	const struct sbx_glob *glob = rule_of(lookup, live)->glob;
	int only = sbx_glob_only(glob, live->states);

	return only < 0 ||
	    !is_taken(lookup, glob->parts[only], glob->lens[only]);
}

/* The globs of other rules that can add facts; false if the rule can make no
 * difference. */
static bool
lookup_collect(struct lookup *lookup)
{
	const struct walk *walk = lookup->walk;
	uint8_t facts = lookup->facts;

	for (size_t i = walk_first_live(walk); i < walk->lives.count; i++) {
		const struct live *live = &walk->lives.items[i];
		uint8_t more = rule_facts(rule_of(lookup, live), walk->right) &
		    lookup_facts(lookup) & (uint8_t)~lookup->facts;

		/* What is excluded here is excluded below, too. */
		if (more == 0 || walk->excluded[live->bound] > 0 ||
		    rule_of(lookup, live) == lookup->rule ||
		    !live_reaches(lookup, live))
			continue;
		facts |= more;
		*arena_push(walk->pass->scratch, &lookup->lives.list) = *live;
	}
	return (facts & lookup->aim.required) == lookup->aim.required;
}

/* Of a rule that covers the directory, or of a live glob. */
static void
lookup_run(struct walk *walk, bool inhabited, uint32_t bound,
    const struct live *own)
{
	struct lookup lookup = {
		.walk = walk,
		.rule = walk->bounds[bound].rule,
		.covered = own == NULL,
		.own = own != NULL ? *own : (struct live){ 0 },
		.inhabited = inhabited,
	};
	struct note_key key = rule_key(lookup.rule, walk->right);

	if (pass_said(walk->pass, &key) ||
	    (walk->pass->comparison->wider_only && key.change != CHANGE_WIDER))
		return;
	walk->pass->comparison->work += walk->lives.count;
	if (walk->pass->comparison->work > MOST_WORK) {
		lookup.rule->undecided |= walk->right;
		return;
	}
	lookup.aim = rule_aim(lookup.rule, walk->right);
	lookup.facts = facts_here(&lookup);
	/* What differs here was noted here. */
	if ((lookup.facts & lookup.aim.forbidden) != 0 ||
	    (lookup.covered && is_difference(&lookup, lookup.facts)) ||
	    (own != NULL && !live_reaches(&lookup, own)) ||
	    !lookup_collect(&lookup) || is_vain(&lookup) ||
	    lookup_guess(&lookup))
		return;
	lookup.rule->undecided |= walk->right;
}

void
walk_globs(struct walk *walk, bool inhabited)
{
	for (size_t i = 0; i < walk->changing.count; i++)
		lookup_run(walk, inhabited, walk->changing.items[i].bound,
		    NULL);
	for (size_t i = walk_first_live(walk); i < walk->lives.count; i++) {
		const struct live *live = &walk->lives.items[i];

		if (walk->excluded[live->bound] == 0 &&
		    rule_changed(walk->bounds[live->bound].rule, walk->right))
			lookup_run(walk, inhabited, live->bound, live);
	}
}

void
walk_globs_end(struct walk *walk)
{
	for (size_t i = 0; i < walk->second.count; i++) {
		const struct second *second = &walk->second.items[i];
		struct note_key key = rule_key(second->rule, walk->right);

		if (!pass_said(walk->pass, &key))
			walk_note(walk, second->rule, second->path.path,
			    second->path.len, true);
	}
}
