/* What holds a denial at each level, and what is left of what is allowed. */
#include "compiler/policy/kind.h"
#include "compiler/query/why.h"
#include "compiler/tables/tables.h"

#include <string.h>

/* How many directories an answer lists. */
enum { WHY_MAX_SPLIT = 4 };

/* Whether the answer is about a level. */
static bool
covers_level(const struct why *why, enum sbx_level level)
{
	if (!why->all_levels)
		return level == why->subject->level;
	return level >= why->blob->meta->level;
}

/* The directory that holds a path; the root for the root. */
static struct sbx_place
parent_of(struct sbx_place path)
{
	while (path.len > 0 && path.path[--path.len] != '/')
		;
	return path;
}

struct split_list {
	struct sbx_place directories[WHY_MAX_SPLIT];
	size_t count; /* all, also those that are not kept */
};

/* The directories above the path, from the innermost out, whose entries
 * Landlock has to be given one by one. */
static void
find_splits(const struct place_rules *rules, uint8_t right,
    struct sbx_place path, struct split_list *list)
{
	list->count = 0;
	while (path.len > 0) {
		path = parent_of(path);
		if (!sbx_path_is_split(rules->rules, rules->count, right, path))
			continue;
		if (list->count < WHY_MAX_SPLIT)
			list->directories[list->count] = path;
		list->count++;
	}
}

/* "/src/app and /src/app/.git", outermost first. */
static const char *
split_text(const struct why *why, const struct split_list *list)
{
	struct arena *arena = why->subject->places.arena;
	size_t i = list->count < WHY_MAX_SPLIT ? list->count : WHY_MAX_SPLIT;
	const char *text = "";
	bool more = list->count > i;

	while (i-- > 0) {
		struct sbx_place at = list->directories[i];
		const char *path = at.len > 0 ?
		    arena_strndup(arena, at.path, at.len) :
		    "/";

		if (*text == '\0')
			text = path;
		else
			text = arena_printf(arena, "%s%s%s", text,
			    i == 0 && !more ? " and " : ", ", path);
	}
	return more ? arena_printf(arena, "%s and more", text) : text;
}

/* Whether Landlock denies at level full what masks could let through. */
static bool
is_masked_in_fuse(const struct why *why)
{
	return why->subject->places.here && here_is_fuse(why->access->path);
}

/* --- enforcers ------------------------------------------------------------ */

/* The rules about the path that hold at a level. */
static void
rules_at(const struct why *why, enum sbx_level level, struct place_rules *rules)
{
	places_rules_split(&why->subject->places, why->subject->arch->platforms,
	    why->access->path, rules);
	places_rules_there(&why->subject->places, rules, false);
	places_rules_at(rules, level);
}

const char *
path_enforcer(const struct why *why, enum sbx_level level)
{
	struct place_rules rules;
	struct split_list splits;

	if (level < SBX_LEVEL_STANDARD)
		return NULL;
	if (why->verdict.by == BY_LINK)
		return level == SBX_LEVEL_FULL ?
		    "the view, which does not hold the link" :
		    NULL;
	if (why->verdict.by == BY_LEFT)
		return level == SBX_LEVEL_FULL ?
		    "the view, which does not hold that directory" :
		    NULL;
	if (why->verdict.by == BY_DEVICE)
		return level == SBX_LEVEL_FULL ?
		    "the view, which has no devices there" :
		    "Landlock, which is given what lies beside /dev";
	if (why->verdict.by == BY_KEPT)
		return level == SBX_LEVEL_FULL ?
		    "a mount over it, which is made where nothing is" :
		    "Landlock, which is given what lies beside it";
	rules_at(why, level, &rules);
	if (sbx_verdict_allows(sbx_path_verdict(rules.rules, rules.count,
		why->access->detail, why->access->path)))
		return NULL;
	find_splits(&rules, why->access->detail, why->access->path, &splits);
	if (level == SBX_LEVEL_FULL && splits.count > 0 &&
	    is_masked_in_fuse(why))
		return arena_printf(why->subject->places.arena,
		    "a mount over it, if it is there when the sandbox starts, "
		    "and in FUSE also Landlock, which is given the entries of "
		    "%s one by one",
		    split_text(why, &splits));
	if (level == SBX_LEVEL_FULL && splits.count > 0)
		return "a mount over it, if it is there when the sandbox "
		       "starts";
	/* The path is there, though not for what was asked. */
	if (level == SBX_LEVEL_FULL &&
	    sbx_verdict_allows(sbx_path_verdict(rules.rules, rules.count,
		SBX_READ, why->access->path)))
		return why->access->detail == SBX_WRITE ?
		    "the view, where it is read-only, and Landlock" :
		    "Landlock, which lets nothing be executed there";
	if (level == SBX_LEVEL_FULL)
		return "the view, which does not hold it, and Landlock";
	if (splits.count == 0)
		return "Landlock, no rule grants it";
	return arena_printf(why->subject->places.arena,
	    "Landlock, which is given the entries of %s one by one",
	    split_text(why, &splits));
}

/* Whether sbxrun takes a higher level than these on this machine, where it has
 * Landlock: it never chooses minimal then. */
static bool
is_never_chosen(const struct why *why, int highest)
{
	return why->all_levels && why->subject->places.here &&
	    why->subject->abi > 0 && highest < SBX_LEVEL_STANDARD;
}

static bool
is_same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* "(level full)", "(levels full to minimal)"; what `what` enforces. */
static void
say_enforcer(const struct why *why, const char *what, int highest, int lowest)
{
	fprintf(why->stream, "    enforced by: %s (level%s ",
	    what != NULL ? what : "nothing", highest > lowest ? "s" : "");
	if (highest > lowest)
		fprintf(why->stream, "%s%s", level_word(highest),
		    highest == lowest + 1 ? " and " : " to ");
	fprintf(why->stream, "%s)", level_word(lowest));
	if (what == NULL)
		fprintf(why->stream,
		    why->all_levels ?
			": add 'require level %s' to refuse to run there" :
			"; it takes level %s",
		    level_word(highest + 1));
	putc('\n', why->stream);
}

void
why_say_enforcers(const struct why *why)
{
	const struct rule_kind *kind = rule_kinds[why->access->kind];
	int level = SBX_LEVEL_FULL;

	/* The answer about a split directory, or a descriptor, has said it. */
	if (why->verdict.by == BY_MACHINE || why->verdict.by == BY_SPLIT ||
	    why->verdict.by == BY_OWN)
		return;
	while (level >= SBX_LEVEL_NONE) {
		const char *what = kind->enforcer(why, level);
		int highest = level--;

		if (!covers_level(why, highest))
			continue;
		while (level >= SBX_LEVEL_NONE && covers_level(why, level) &&
		    is_same(kind->enforcer(why, level), what))
			level--;
		if (what != NULL || !is_never_chosen(why, highest))
			say_enforcer(why, what, highest, level + 1);
	}
}

/* --- effects -------------------------------------------------------------- */

/* Which directories are split shows when the sandbox starts. */
static void
say_split_globs(const struct why *why, uint8_t right, struct sbx_place path)
{
	const struct sbx_blob *blob = why->blob;

	for (uint32_t i = 0; i < blob->path_count; i++) {
		const struct sbx_path *rule = &blob->paths[i];

		if (rule->glob == 0 || rule->effect == SBX_ALLOW ||
		    !sbx_path_holds(rule, SBX_LEVEL_STANDARD) ||
		    (rule->rights & right) == 0 ||
		    (rule->platforms & why->subject->arch->platforms) == 0 ||
		    !places_glob_reaches(&why->subject->places, rule,
			parent_of(path)))
			continue;
		why_say_path_rule(why,
		    "but restricted where a glob has matches beside or below "
		    "it: ",
		    rule);
		return;
	}
}

/* Whether the path itself is split, for what is done with a directory. */
static bool
splits_directory(const struct why *why, const struct place_rules *rules)
{
	const struct access *access = why->access;
	struct place_rules some = *rules;

	if (access->detail == SBX_READ && why->subject->places.here) {
		rules_at(why, SBX_LEVEL_STANDARD, &some);
		places_rules_listed(&why->subject->places, &some);
	}
	return sbx_path_is_split(some.rules, some.count, access->detail,
	    access->path);
}

/* What is allowed and still does not work quite as in an ordinary tree. */
static void
say_split_effects(const struct why *why, const struct place_rules *rules)
{
	struct sbx_place path = why->access->path, parent = parent_of(path);
	uint8_t right = why->access->detail;

	/* Nothing is split below, nor above, where masks alone do it. */
	const char *levels = covers_level(why, SBX_LEVEL_FULL) &&
		is_masked_in_fuse(why) ?
	    covers_level(why, SBX_LEVEL_STANDARD) ? "levels full and standard" :
						    "level full" :
	    covers_level(why, SBX_LEVEL_STANDARD) ? "level standard" :
						    NULL;

	if (levels == NULL)
		return;
	if (!why->subject->places.here)
		say_split_globs(why, right, path);
	if (right != SBX_EXEC && splits_directory(why, rules))
		fprintf(why->stream,
		    "    but %s: a rule below it denies (%s)\n",
		    right == SBX_READ ?
			"it is not listed" :
			"nothing is made, renamed or removed directly in it",
		    levels);
	if (path.len == 0 ||
	    !sbx_path_is_split(rules->rules, rules->count, right, parent))
		return;
	fprintf(why->stream,
	    "    but only if it is there when the sandbox starts: the entries "
	    "of %.*s are granted one by one (%s)\n",
	    parent.len > 0 ? (int)parent.len : 1,
	    parent.len > 0 ? parent.path : "/", levels);
}

/* Level standard has no view. */
static void
say_above(const struct why *why)
{
	fprintf(why->stream,
	    "    %s, but the view of level full has it, with nothing in it but "
	    "what leads to what is allowed\n",
	    why->verdict.source == SBX_NO_SOURCE ? "no rule allows it" :
						   "that denies it");
	if (covers_level(why, SBX_LEVEL_STANDARD))
		fputs("    but it is not listed: Landlock is given nothing "
		      "there (level standard)\n",
		    why->stream);
}

void
why_say_effects(const struct why *why)
{
	const struct sbx_path *rule = why_path_rule(why);
	struct place_rules rules;

	if (why->verdict.by == BY_ABOVE)
		say_above(why);
	if (rule == NULL)
		return;
	/* The answer takes the path for one that matches; the loader looks. */
	if (rule->glob != 0 &&
	    (why->all_levels || why->subject->level >= SBX_LEVEL_STANDARD))
		fputs("    but only for what is there when the sandbox starts: "
		      "later matches of a glob are not covered\n",
		    why->stream);
	if (!why->verdict.allowed)
		return;
	rules_at(why, SBX_LEVEL_STANDARD, &rules);
	say_split_effects(why, &rules);
}
