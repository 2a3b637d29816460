/*
 * The smallest change of a policy that allows what it denies: a rule to add,
 * or what to do about each rule in the way.  A rule of one's own file is
 * changed; one that is inherited from a shipped profile is dropped.
 */
#include "compiler/query/decider.h"
#include "compiler/query/show.h"
#include "compiler/query/why.h"
#include "compiler/tables/words.h"

#include <string.h>

FILE *
remedy_step(struct remedy *remedy)
{
	FILE *stream = remedy->why->stream;

	fputs(remedy->steps++ == 0 ? "    to allow it: " : "    and: ", stream);
	return stream;
}

/* The texts of shipped profiles have names like "sbx:coding.sbx". */
static bool
is_shipped(const struct sbx_blob *blob, uint32_t source)
{
	return source != SBX_NO_SOURCE &&
	    strncmp(sbx_string(blob, blob->sources[source].file), "sbx:", 4) ==
	    0;
}

/* --- paths ---------------------------------------------------------------- */

static void
say_spelled(const struct why *why)
{
	show_text(why->stream,
	    places_spell(&why->subject->places, why->access->path));
}

/* A deny that covers the path, and begins at `place`. */
static void
lift_deny(struct remedy *remedy, const struct sbx_path *rule,
    struct sbx_place place)
{
	const struct why *why = remedy->why;
	FILE *stream = remedy_step(remedy);

	if (is_shipped(why->blob, rule->source)) {
		fputs("drop ", stream);
		show_path_rule(stream, why->blob, rule);
	} else if (rule->glob == 0 &&
	    sbx_place_compare(place, why->access->path) == 0) {
		/* Nothing would be left of it. */
		fputs("take away: ", stream);
		show_path_rule(stream, why->blob, rule);
		fputs(" at ", stream);
		show_source(stream, why->blob, rule->source);
	} else {
		fputs("end the rule at ", stream);
		show_source(stream, why->blob, rule->source);
		fputs(" with: except ", stream);
		say_spelled(why);
	}
	putc('\n', stream);
}

void
path_remedy(struct remedy *remedy)
{
	const struct why *why = remedy->why;
	struct place_rules rules;
	bool given = false;

	places_rules_for(&why->subject->places, why->subject->arch->platforms,
	    why->access->path, &rules);
	for (size_t i = 0; i < rules.count; i++) {
		if ((rules.rules[i].rights & why->access->detail) == 0 ||
		    !sbx_rule_covers(&rules.rules[i], why->access->path))
			continue;
		if (rules.rules[i].effect == SBX_ALLOW)
			given = true;
		/* A rule about ~ may stand there twice, for two homes. */
		else if (i == 0 || rules.paths[i] != rules.paths[i - 1])
			lift_deny(remedy, rules.paths[i], rules.rules[i].at);
	}
	if (given)
		return;
	fprintf(remedy_step(remedy), "allow %s ",
	    rights_word(SBX_ALLOW, why->access->detail));
	say_spelled(why);
	putc('\n', why->stream);
}

/* --- the others ----------------------------------------------------------- */

void
remedy_lift(struct remedy *remedy, const char *words, const char *object)
{
	const struct why *why = remedy->why;
	bool shipped = is_shipped(why->blob, why->verdict.source);
	FILE *stream = remedy_step(remedy);

	fprintf(stream, "%s%s %s ", shipped ? "drop " : "take away: ",
	    effect_word(why->verdict.preferred ? SBX_PREFER_DENY : SBX_DENY),
	    words);
	show_text(stream, object);
	if (!shipped) {
		fputs(" at ", stream);
		show_source(stream, why->blob, why->verdict.source);
	}
	putc('\n', stream);
}

void
why_say_remedy(const struct why *why)
{
	struct remedy remedy = { .why = why };

	rule_kinds[why->access->kind]->remedy(&remedy);
}
