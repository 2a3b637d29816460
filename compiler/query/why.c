/*
 * Questions about one access: whether a policy allows it, which rule says so
 * and where it was written, what enforces that at each level, and what would
 * change it.  Each answer has the same parts, one a line:
 *
 *	denied: write /src/app/.git/hooks/x
 *	    team.sbx:9:5: deny write ${workspace}/.git/hooks  (team-build)
 *	    also: ...			the other rules that speak of it
 *	    but ...			what an allowed access has against it
 *	    enforced by: ... (level full)
 *	    to allow it: ...
 */
#include "compiler/query/why.h"
#include "compiler/tables/tables.h"

#include <string.h>

/* How many rules an answer names beside the deciding one. */
enum { WHY_MAX_ALSO = 16 };

/* "    FILE:LINE:COL: " before a rule; why_say_rule_end() follows it. */
void
why_say_rule(const struct why *why, const char *label, uint32_t source)
{
	fprintf(why->stream, "    %s", label);
	show_source(why->stream, why->blob, source);
	fputs(": ", why->stream);
}

void
why_say_rule_end(const struct why *why, uint8_t platforms, uint32_t source)
{
	const char *via = show_via(why->blob, source);

	show_platforms(why->stream, platforms);
	if (via != NULL) {
		fputs("  (", why->stream);
		show_text(why->stream, via);
		putc(')', why->stream);
	}
	putc('\n', why->stream);
}

void
why_say_decider(const struct why *why, const struct verdict *verdict)
{
	if (verdict->by != BY_NETWORK && verdict->by != BY_SPAWN &&
	    verdict->by < BY_RULE) {
		fputs("    no rule allows it\n", why->stream);
		return;
	}
	why_say_rule(why, "", verdict->source);
	decider_show(why->stream, why->blob, verdict);
	why_say_rule_end(why, decider_platforms(why->blob, verdict),
	    verdict->source);
}

/* --- paths ---------------------------------------------------------------- */

const struct sbx_path *
why_path_rule(const struct why *why)
{
	return why->verdict.by == BY_PATH ?
	    &why->blob->paths[why->verdict.rule] :
	    NULL;
}

void
why_say_path_rule(const struct why *why, const char *label,
    const struct sbx_path *path)
{
	why_say_rule(why, label, path->source);
	show_path_rule(why->stream, why->blob, path);
	why_say_rule_end(why, path->platforms, path->source);
}

/* The rule that would decide if something were there, if it is told of. */
static const struct sbx_path *
absent_find(const struct why *why)
{
	return why->access->followed == NULL || why->verdict.scratch ?
	    NULL :
	    why->verdict.absent;
}

/* The rules that cover the path and were not told of, allows and denies
 * alike. */
static void
say_others(const struct why *why)
{
	const struct sbx_path *decided = why_path_rule(why);
	const struct sbx_path *absent = absent_find(why);
	struct place_rules rules;
	size_t said = 0, left = 0;

	places_rules_for(&why->subject->places, why->subject->arch->platforms,
	    why->access->path, &rules);
	for (size_t i = 0; i < rules.count; i++) {
		if (rules.paths[i] == decided || rules.paths[i] == absent ||
		    (rules.rules[i].rights & why->access->detail) == 0 ||
		    !sbx_rule_covers(&rules.rules[i], why->access->path))
			continue;
		if (said++ < WHY_MAX_ALSO)
			why_say_path_rule(why, "also: ", rules.paths[i]);
		else
			left++;
	}
	if (left > 0)
		fprintf(why->stream, "    also: %zu more rules\n", left);
}

/* A program that may be executed does not start without what runs it. */
static void
say_interpreter(const struct why *why)
{
	const struct places *places = &why->subject->places;
	const char *words[] = { "exec", NULL };
	struct sbx_place at = why->access->path;
	struct access access;

	if (!places->here || why->verdict.scratch || !why->verdict.allowed ||
	    why->access->detail != SBX_EXEC)
		return;
	words[1] = here_interpreter(places->arena,
	    arena_strndup(places->arena, at.path, at.len));
	if (words[1] == NULL ||
	    access_parse(places, words, countof(words), &access) != NULL ||
	    verdict_of(why->subject, &access).allowed)
		return;
	fputs("    but what runs it may not be executed: ", why->stream);
	show_text(why->stream, words[1]);
	fputs(" ('use system' allows the system's own)\n", why->stream);
}

static const char *
absent_text(const struct why *why)
{
	if (why->verdict.allowed)
		return "nothing is there to cover when the sandbox starts: ";
	return places_is_planted(&why->subject->places, why->verdict.absent) ?
	    "a command or another user may have made a link there, so that "
	    "this grants nothing: " :
	    "nothing is there, so that this grants nothing: ";
}

/* What this machine adds: where links lead, and what is not there. */
static void
say_machine(const struct why *why)
{
	const struct followed *followed = why->access->followed;
	struct sbx_place exception;

	if (why->verdict.scratch && sbx_tmp_rest(why->access->path) == NULL)
		fputs("    nothing is there, and inside a directory of the "
		      "scratch "
		      "directory takes its place\n",
		    why->stream);
	else if (why->verdict.scratch)
		fprintf(why->stream,
		    "    inside, %s is the scratch directory%s\n",
		    strncmp(why->access->path.path, "/var/", 5) == 0 ?
			"/var/tmp" :
			"/tmp",
		    followed != NULL && followed->there ?
			": what is there outside is not seen" :
			"");
	if (followed == NULL || why->verdict.scratch)
		return;
	for (size_t i = 0; i < followed->links.count; i++) {
		fputs("    ", why->stream);
		show_text(why->stream,
		    arena_strndup(why->subject->places.arena,
			followed->links.items[i].path,
			followed->links.items[i].len));
		fputs(why->verdict.by == BY_LINK &&
			    sbx_place_compare(followed->links.items[i],
				why->verdict.link) == 0 ?
			" is a link, which the view does not hold\n" :
			" is a link on the way there\n",
		    why->stream);
	}
	if (why_path_rule(why) != NULL && !why->verdict.allowed &&
	    places_exception(&why->subject->places, why_path_rule(why),
		why->access->path, &exception))
		fprintf(why->stream,
		    "    nothing is there when the sandbox starts, so that its "
		    "exception grants nothing\n");
	if (absent_find(why) != NULL) {
		why_say_path_rule(why, absent_text(why), absent_find(why));
	} else if (why->verdict.allowed && why->access->detail != SBX_WRITE &&
	    !followed->there) {
		fputs("    but nothing is there\n", why->stream);
	} else if (why->verdict.allowed && followed->there && !followed->own &&
	    !here_has_mode(why->access->path, why->access->detail,
		why->subject->level == SBX_LEVEL_FULL)) {
		fputs("    the policy allows it; the file's mode does not\n",
		    why->stream);
	}
}

/* What the level cannot do, and which rule asks it of it. */
static void
say_split(const struct why *why)
{
	struct sbx_place at = why->verdict.split;
	bool whole = sbx_place_compare(at, why->access->path) == 0;

	fputs("    at level standard ", why->stream);
	fputs(whole && why->access->detail == SBX_READ ?
		"it is not listed" :
		"nothing is made, renamed or removed directly in ",
	    why->stream);
	if (!whole)
		show_text(why->stream,
		    at.len > 0 ? arena_strndup(why->subject->places.arena,
				     at.path, at.len) :
				 "/");
	else if (why->access->detail != SBX_READ)
		fputs("it", why->stream);
	fputs(": Landlock is given its entries one by one, as they are when "
	      "the sandbox starts\n",
	    why->stream);
	if (why->verdict.rule != SBX_NO_RULE)
		why_say_path_rule(why, "a rule denies one: ",
		    &why->blob->paths[why->verdict.rule]);
}

static void
say_left(const struct why *why)
{
	fputs("    the path leaves ", why->stream);
	show_text(why->stream, why->verdict.link.path);
	fputs(" again by '..', and the view does not hold that\n", why->stream);
}

static void
say_device(const struct why *why)
{
	fputs("    a device opens only by a rule that names it or /dev: one "
	      "about more of the machine opens its files\n",
	    why->stream);
}

/* What is written in the workspace does not count at once. */
static void
say_stage(const struct why *why)
{
	const struct places *places = &why->subject->places;
	const struct sbx_path *rule = sbx_stage_rule(why->blob,
	    why->subject->arch->platforms);
	const struct sbx_path top = { .anchor = SBX_ANCHOR_WORKSPACE };

	if (rule == NULL || why->access->detail != SBX_WRITE ||
	    !why->verdict.allowed ||
	    !sbx_covers(places_rule(places, &top, false).at, why->access->path))
		return;
	fputs("    but it is staged: 'sbxrun --staged apply' changes the "
	      "workspace\n",
	    why->stream);
	if (!sbx_covers(places_rule(places, rule, false).at, why->access->path))
		why_say_path_rule(why, "by ", rule);
}

void
why_path(const struct why *why)
{
	const struct sbx_path *decided = why_path_rule(why);

	if (why->verdict.by == BY_SPLIT)
		say_split(why);
	else if (why->verdict.by == BY_OWN)
		own_say(why);
	else if (why->verdict.by == BY_DEVICE)
		say_device(why);
	else if (why->verdict.by == BY_KEPT)
		fputs("    sbx keeps its own files there, and no policy opens "
		      "them to a command\n",
		    why->stream);
	else if (why->verdict.by == BY_PROC)
		fputs("    inside, /proc is the sandbox's own, and settings of "
		      "one's own processes can be written\n",
		    why->stream);
	else if (why->verdict.by == BY_LEFT)
		say_left(why);
	else if (why->verdict.by == BY_ABOVE &&
	    why->verdict.source != SBX_NO_SOURCE)
		why_say_path_rule(why, "",
		    &why->blob->paths[why->verdict.rule]);
	else if (why->verdict.by != BY_LINK && why->verdict.by != BY_ABOVE &&
	    why->verdict.by != BY_HIDDEN)
		why_say_decider(why, &why->verdict);
	say_machine(why);
	say_interpreter(why);
	say_stage(why);
	if (decided != NULL)
		say_others(why);
}

/* --- system calls --------------------------------------------------------- */

static const char *
landlock_text(const struct subject *subject)
{
	if (subject->level < SBX_LEVEL_STANDARD)
		return "";
	return subject->abi == 0 ? " and the newest Landlock" :
				   arena_printf(subject->places.arena,
				       " and Landlock ABI %d", subject->abi);
}

/* Another machine may have another filter, and the one that sbxrun takes here
 * may be another than what is judged by if it cannot be asked. */
void
why_say_filter(const struct why *why)
{
	const struct subject *subject = why->subject;
	const char *level = level_word(subject->level);

	if (subject->program != NULL)
		fprintf(why->stream,
		    "    by the filter that sbxrun takes here, at level %s\n",
		    level);
	else if (subject->unknown != NULL)
		fprintf(why->stream,
		    "    by the filter for level %s%s; sbxrun may take another "
		    "one here, but %s\n",
		    level, landlock_text(subject), subject->unknown);
}

/* --- all of them ---------------------------------------------------------- */

/* Whether nothing holds the rule that denies it at the level that it runs at,
 * and what happens is asked. */
static bool
happens(const struct why *why)
{
	return why->verdict.allowed ||
	    (why->subject->happens && why->verdict.unenforced);
}

/* What would happen, in a word. */
static const char *
outcome(const struct why *why)
{
	const struct rule_kind *kind = rule_kinds[why->access->kind];

	if (why->subject->above != NULL)
		return "denied";
	if (!why->verdict.allowed)
		return happens(why) ? "allowed" : "denied";
	return kind->outcome != NULL ? kind->outcome(why) : "allowed";
}

static void
say_remedy(const struct why *why)
{
	struct remedy remedy = remedy_find(why->subject, why->access,
	    &why->verdict);

	remedy_print(why->stream, &remedy);
}

/* The answer is that of the rules as they are written, then. */
static void
say_refusal(const struct why *why)
{
	const struct bound *bound = why->subject->places.bound;

	if (bound == NULL || bound->fault == NULL)
		return;
	fputs("    but sbxrun refuses to run it here: ", why->stream);
	show_text(why->stream, bound->fault);
	putc('\n', why->stream);
}

const char *
why_word(const struct subject *subject, const struct access *access,
    const struct verdict *verdict)
{
	const struct why why = {
		.subject = subject,
		.blob = subject->places.blob,
		.access = access,
		.verdict = *verdict,
	};

	return outcome(&why);
}

bool
why(FILE *stream, const struct subject *subject, const struct access *access,
    bool all_levels)
{
	struct why why = {
		.stream = stream,
		.subject = subject,
		.blob = subject->places.blob,
		.access = access,
		.all_levels = all_levels,
		.verdict = verdict_of(subject, access),
	};

	fprintf(stream, "%s: ", outcome(&why));
	access_show(stream, access);
	putc('\n', stream);
	if (subject->above != NULL)
		fprintf(stream,
		    "    by the ceiling of this machine: %s\n"
		    "    %s by the policy:\n",
		    subject->above, why.verdict.allowed ? "allowed" : "denied");
	if (why.verdict.by == BY_EVERYTHING) {
		fputs("    the policy allows everything\n", stream);
		return subject->above == NULL;
	}
	rule_kinds[access->kind]->answer(&why);
	why_say_effects(&why);
	if (!why.verdict.allowed) {
		why_say_enforcers(&why);
		if (!happens(&why) && subject->above == NULL)
			say_remedy(&why);
	}
	say_refusal(&why);
	return happens(&why) && subject->above == NULL;
}
