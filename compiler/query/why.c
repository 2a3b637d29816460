/* See why.h. */
#include "compiler/query/why.h"
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

	if (decided != NULL)
		why_say_path_rule(why, "", decided);
	else
		fputs("    no rule allows it\n", why->stream);
	if (decided != NULL)
		say_others(why);
}

/* --- ports ---------------------------------------------------------------- */

static void
say_port_rule(const struct why *why)
{
	const struct sbx_port *rule = &why->blob->ports[why->verdict.rule];
	const struct verdict *verdict = &why->verdict;

	if (verdict->source == SBX_NO_SOURCE) {
		fputs("    no rule allows it\n", why->stream);
		return;
	}
	why_say_rule(why, "", verdict->source);
	if (verdict->by == BY_NETWORK) {
		fprintf(why->stream, "%s network full",
		    effect_word(verdict->allowed ? SBX_ALLOW : SBX_DENY));
		why_say_rule_end(why, SBX_ON_ALL, verdict->source);
		return;
	}
	fprintf(why->stream, "%s network ", effect_word(rule->effect));
	show_ports(why->stream, rule);
	why_say_rule_end(why, rule->platforms, rule->source);
}

static void
say_loopback(const struct why *why)
{
	why_say_rule(why, "", why->verdict.source);
	fputs("allow network loopback", why->stream);
	why_say_rule_end(why, SBX_ON_ALL, why->verdict.source);
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
	if (why->blob->meta->net == SBX_NET_LOOPBACK) {
		say_loopback(why);
		return;
	}
	say_port_rule(why);
	if (why->verdict.by == BY_OLD_KERNEL ||
	    (why->verdict.allowed && why->blob->meta->net == SBX_NET_PORTS))
		fputs("    but on a kernel without Landlock ABI 4 (Linux 6.7), "
		      "or below level standard, no TCP socket opens\n",
		    why->stream);
}

/* --- variables ------------------------------------------------------------ */

static void
say_set(const struct why *why)
{
	const struct sbx_set *set = &why->blob->set[why->verdict.rule];

	why_say_rule(why, "", set->source);
	fputs("set env ", why->stream);
	show_text(why->stream, sbx_string(why->blob, set->name));
	fputs(" = ", why->stream);
	if (set->anchor == SBX_NO_ANCHOR)
		show_text(why->stream, sbx_string(why->blob, set->text));
	else
		show_place(why->stream, why->blob, set->anchor, set->text);
	why_say_rule_end(why, set->platforms, set->source);
}

static void
say_env_rule(const struct why *why)
{
	const struct sbx_env *rule = &why->blob->env[why->verdict.rule];

	why_say_rule(why, "", rule->source);
	fprintf(why->stream, "%s env ", effect_word(rule->effect));
	show_text(why->stream, sbx_string(why->blob, rule->pattern));
	why_say_rule_end(why, rule->platforms, rule->source);
}

static void
why_env(const struct why *why)
{
	if (why->verdict.by == BY_SET)
		say_set(why);
	else if (why->verdict.by == BY_ENV)
		say_env_rule(why);
	else if (why->verdict.by == BY_SCRATCH)
		fputs("    sbxrun sets it, to the scratch directory\n",
		    why->stream);
	else
		fputs("    no rule allows it\n", why->stream);
}

/* --- system calls --------------------------------------------------------- */

bool
why_is_named(const struct why *why, const struct sbx_syscall *call)
{
	const char *reason = sbx_string(why->blob, call->reason);

	return reason[0] == '@' ||
	    strcmp(reason, sbx_string(why->blob, call->name)) == 0;
}

static void
say_syscall_record(const struct why *why, const struct sbx_syscall *call)
{
	const struct sbx_blob *blob = why->blob;

	if (call->source == SBX_NO_SOURCE) {
		fputs("    the language's own baseline: ", why->stream);
	} else {
		why_say_rule(why, "", call->source);
		if (why_is_named(why, call))
			fputs(call->verdict == SBX_SYSCALL_ALLOW ?
				"allow syscalls " :
				"deny syscalls ",
			    why->stream);
	}
	show_text(why->stream, sbx_string(blob, call->reason));
	why_say_rule_end(why, SBX_ON_ALL, call->source);
}

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
	if (call != NULL)
		say_syscall_record(why, call);
	else
		fputs("    no rule speaks of it\n", why->stream);
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
