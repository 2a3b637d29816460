/* See why.h. */
#include "compiler/query/why.h"
#include "compiler/query/decider.h"
#include "compiler/query/show.h"
#include "compiler/tables/words.h"

#include <string.h>

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

/* The rule that decided. */
static void
say_decider(const struct why *why, const struct verdict *verdict)
{
	switch (verdict->by) {
	case BY_PATH:
	case BY_PORT:
	case BY_NETWORK:
	case BY_ENV:
	case BY_SET:
	case BY_SYSCALL:
		why_say_rule(why, "", verdict->source);
		decider_show(why->stream, why->blob, verdict);
		why_say_rule_end(why, decider_platforms(why->blob, verdict),
		    verdict->source);
		return;
	case BY_NOTHING:
	case BY_EVERYTHING:
	case BY_OLD_KERNEL:
	case BY_SCRATCH:
	case BY_MACHINE:
		break;
	}
	fputs("    no rule allows it\n", why->stream);
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

static void
why_path(const struct why *why)
{
	const struct sbx_path *decided = why_path_rule(why);

	say_decider(why, &why->verdict);
	if (decided != NULL)
		say_others(why);
}

/* --- ports ---------------------------------------------------------------- */

static void
say_loopback(const struct why *why)
{
	if (!why->verdict.allowed) {
		fprintf(why->stream,
		    "    but it needs level full: at level "
		    "%s no socket opens\n",
		    level_word(why->subject->level));
		return;
	}
	fputs("    but only inside: the sandbox has a network of its own, "
	      "from which nothing leads out (level full)\n",
	    why->stream);
	if (why->blob->meta->level < SBX_LEVEL_FULL)
		fprintf(why->stream,
		    "    but the policy also runs at level "
		    "%s, where no socket opens: 'require level full'\n",
		    level_word(why->blob->meta->level));
}

static void
why_port(const struct why *why)
{
	struct verdict rule = why->verdict;

	/* An old kernel keeps a port shut that this rule opens. */
	if (rule.by == BY_OLD_KERNEL)
		rule.by = BY_PORT;
	say_decider(why, &rule);
	if (why->blob->meta->net == SBX_NET_LOOPBACK)
		say_loopback(why);
	else if (why->verdict.by == BY_OLD_KERNEL ||
	    (why->verdict.allowed && why->blob->meta->net == SBX_NET_PORTS))
		fputs("    but on a kernel without Landlock ABI 4 (Linux 6.7), "
		      "or below level standard, no TCP socket opens\n",
		    why->stream);
}

/* --- variables ------------------------------------------------------------ */

static void
why_env(const struct why *why)
{
	if (why->verdict.by == BY_SCRATCH)
		fputs("    sbxrun sets it, to the scratch directory\n",
		    why->stream);
	else
		say_decider(why, &why->verdict);
}

/* --- system calls --------------------------------------------------------- */

static void
why_syscall(const struct why *why)
{
	const struct sbx_syscall *call = why->verdict.by == BY_SYSCALL ?
	    &why->blob->syscalls[why->verdict.rule] :
	    NULL;
	/* Of the baseline, which lifts it where Landlock keeps it inside. */
	bool traces = call != NULL && call->source == SBX_NO_SOURCE &&
	    strcmp(sbx_string(why->blob, call->reason), "@process-access") == 0;

	/* Nothing to call: not so much denied as absent. */
	if (why->verdict.by == BY_MACHINE) {
		fprintf(why->stream, "    %s has no such system call\n",
		    why->subject->arch->name);
		return;
	}
	if (call == NULL)
		fputs("    no rule speaks of it\n", why->stream);
	else if (call->source == SBX_NO_SOURCE)
		fprintf(why->stream, "    the language's own baseline: %s\n",
		    decider_text(why->subject->places.arena, why->blob,
			&why->verdict));
	else
		say_decider(why, &why->verdict);
	if (traces && why->verdict.allowed)
		fputs("    but not at level minimal, where Landlock does not "
		      "keep it inside\n",
		    why->stream);
	else if (why->verdict.depends)
		fputs("    but it depends on the arguments\n", why->stream);
}

bool
why(FILE *stream, const struct subject *subject, const struct access *access,
    bool all_levels)
{
	static void (*const answers[])(const struct why *) = {
		[ACCESS_PATH] = why_path,
		[ACCESS_PORT] = why_port,
		[ACCESS_SYSCALL] = why_syscall,
		[ACCESS_ENV] = why_env,
	};
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
	answers[access->kind](&why);
	why_say_effects(&why);
	if (!why.verdict.allowed) {
		why_say_enforcers(&why);
		why_say_remedy(&why);
	}
	return why.verdict.allowed;
}
