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

/* An answer's last lines: "to allow it:", then "and:". */
struct remedy {
	const struct why *why;
	size_t steps;
};

static FILE *
step(struct remedy *remedy)
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
	FILE *stream = step(remedy);

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

static void
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
	fprintf(step(remedy), "allow %s ",
	    rights_word(SBX_ALLOW, why->access->detail));
	say_spelled(why);
	putc('\n', why->stream);
}

/* --- the others ----------------------------------------------------------- */

/* A deny as the language writes it: its words, then its object. */
static void
lift_rule(struct remedy *remedy, const char *words, const char *object)
{
	const struct why *why = remedy->why;
	bool shipped = is_shipped(why->blob, why->verdict.source);
	FILE *stream = step(remedy);

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

static void
port_remedy(struct remedy *remedy)
{
	const struct why *why = remedy->why;
	enum sbx_port_op op = why->access->detail;
	struct arena *arena = why->subject->places.arena;

	/* Level full, or a newer kernel, is what is missing there. */
	if (why->blob->meta->net == SBX_NET_LOOPBACK ||
	    why->verdict.by == BY_OLD_KERNEL)
		return;
	if (why->verdict.by == BY_NETWORK)
		lift_rule(remedy, "network", "full");
	else if (why->verdict.by == BY_PORT)
		lift_rule(remedy,
		    arena_printf(arena, "network %s tcp", port_op_word(op)),
		    arena_printf(arena, "%u", why->access->port));
	if (why->verdict.by != BY_PORT)
		fprintf(step(remedy), "allow network %s tcp %u\n",
		    port_op_word(op), why->access->port);
}

static void
syscall_remedy(struct remedy *remedy)
{
	const struct why *why = remedy->why;
	const struct sbx_syscall *call =
	    &why->blob->syscalls[why->verdict.rule];

	if (why->verdict.by != BY_SYSCALL ||
	    !decider_names_call(why->blob, call))
		return;
	if (call->source != SBX_NO_SOURCE)
		lift_rule(remedy, "syscalls",
		    sbx_string(why->blob, call->reason));
	else
		fprintf(step(remedy), "allow syscalls %s\n",
		    sbx_string(why->blob, call->name));
}

static void
env_remedy(struct remedy *remedy)
{
	const struct why *why = remedy->why;

	if (why->verdict.by == BY_ENV) {
		lift_rule(remedy, "env",
		    sbx_string(why->blob,
			why->blob->env[why->verdict.rule].pattern));
		return;
	}
	fputs("allow env ", step(remedy));
	show_text(why->stream, why->access->name);
	putc('\n', why->stream);
}

void
why_say_remedy(const struct why *why)
{
	static void (*const remedies[])(struct remedy * remedy) = {
		[ACCESS_PATH] = path_remedy,
		[ACCESS_PORT] = port_remedy,
		[ACCESS_SYSCALL] = syscall_remedy,
		[ACCESS_ENV] = env_remedy,
	};
	struct remedy remedy = { .why = why };

	remedies[why->access->kind](&remedy);
}
