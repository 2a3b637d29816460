/* See why.h. */
#include "compiler/query/why.h"
#include "compiler/query/decider.h"
#include "compiler/query/show.h"

/* How many rules an answer names beside the deciding one. */
enum { WHY_MAX_ALSO = 16 };

/* "    FILE:LINE:COL: " before a rule; say_rule_end() follows it. */
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
	if (verdict->by != BY_NETWORK && verdict->by < BY_RULE) {
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

/* The other rules that cover the path, allows and denies alike. */
static void
say_others(const struct why *why)
{
	const struct sbx_path *decided = why_path_rule(why);
	struct place_rules rules;
	size_t said = 0, left = 0;

	places_rules_for(&why->subject->places, why->subject->arch->platforms,
	    why->access->path, &rules);
	for (size_t i = 0; i < rules.count; i++) {
		if (rules.paths[i] == decided ||
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

void
why_path(const struct why *why)
{
	const struct sbx_path *decided = why_path_rule(why);

	why_say_decider(why, &why->verdict);
	if (decided != NULL)
		say_others(why);
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

	fputs(why.verdict.allowed ? "allowed: " : "denied: ", stream);
	access_show(stream, access);
	putc('\n', stream);
	if (why.verdict.by == BY_EVERYTHING) {
		fputs("    the policy allows everything\n", stream);
		return true;
	}
	rule_kinds[access->kind]->answer(&why);
	why_say_effects(&why);
	if (!why.verdict.allowed) {
		why_say_enforcers(&why);
		why_say_remedy(&why);
	}
	return why.verdict.allowed;
}
