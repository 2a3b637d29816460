/*
 * Checks of `allow syscalls` against the baseline, which is all that it can
 * lift: a rule that lifts nothing, and a group that lifts more than its name
 * says.
 */
#include "compiler/check/check.h"

#include "compiler/lower/lower.h"

#include <string.h>

/* The entry of the baseline that has a call in it, or NULL. */
static const char *
baseline_entry(const struct checker *checker, const char *call)
{
	return map_find(&checker->baseline,
	    arena_intern(checker->arena, call, strlen(call)));
}

/* What a rule lifts, as words: "@mount, bpf"; NULL: nothing. */
static const char *
lifted_text(const struct checker *checker, const struct rule *rule)
{
	const char *const single[] = { rule->syscall.name, NULL };
	const char *const *call = rule->syscall.group ?
	    syscall_group(rule->syscall.name) :
	    single;
	struct map seen = { 0 };
	const char *text = NULL;

	for (; *call != NULL; call++) {
		const char *entry = baseline_entry(checker, *call);

		if (entry == NULL || map_find(&seen, entry) != NULL)
			continue;
		map_put(checker->arena, &seen, entry, &seen);
		text = text == NULL ?
		    entry :
		    arena_printf(checker->arena, "%s, %s", text, entry);
	}
	return text;
}

/* Why a rule that lifts nothing has nothing to lift. */
static const char *
idle_help(const struct rule *rule)
{
	static const struct {
		const char *reason, *help;
	} table[] = {
		{ "namespaces",
		    "namespaces come with 'allow syscalls unshare'" },
		{ "network", "'allow network ...' says which sockets open" },
		{ "terminals and file systems",
		    "ioctl is open, but for typing into the terminal and for "
		    "what file systems change by it" },
	};
	const char *reason = rule->syscall.group ?
	    NULL :
	    baseline_arguments(rule->syscall.name);

	for (size_t i = 0; reason != NULL && i < countof(table); i++) {
		if (strcmp(table[i].reason, reason) == 0)
			return table[i].help;
	}
	return "delete it: what the baseline does not deny is open";
}

static bool
is_own_allow(const struct rule *rule)
{
	return rule->origin.own && rule->effect == SBX_ALLOW &&
	    (rule->origin.platforms & SBX_ON_LINUX) != 0;
}

void
check_syscall_idle(struct checker *checker, const struct rule *rule)
{
	if (is_own_allow(rule) && lifted_text(checker, rule) == NULL)
		rule_report(checker, rule, "changes nothing", idle_help(rule));
}

/* Whoever writes `allow syscalls @mount` says what is lifted: all of it. */
static bool
says_what(const struct checker *checker, const struct rule *rule)
{
	const char *const *call;

	if (!rule->syscall.group)
		return true;
	for (call = syscall_group(rule->syscall.name); *call != NULL; call++) {
		if (baseline_entry(checker, *call) == NULL)
			return false;
	}
	return true;
}

void
check_syscall_broad(struct checker *checker, const struct rule *rule)
{
	const char *lifted = is_own_allow(rule) ? lifted_text(checker, rule) :
						  NULL;

	if (lifted != NULL && !says_what(checker, rule))
		rule_report(checker, rule,
		    arena_printf(checker->arena, "lifts %s from the baseline",
			lifted),
		    "all else is open without it: name what is needed");
}

/* What no rule of a policy confines once it is open.  The others of the
 * baseline are lifted for debuggers, profilers and sandboxes. */
static const char *
ruling_reason(const char *entry)
{
	static const struct {
		const char *entry, *reason;
	} table[] = {
		{ "@mount", "changes what the paths of the rules mean" },
		{ "@module", "puts code into the kernel" },
		{ "bpf", "puts code into the kernel" },
		{ "@reboot", "stops or replaces the kernel" },
		{ "@raw-io", "drives hardware" },
		{ "@swap", "changes the whole machine" },
		{ "@clock", "changes the whole machine" },
		{ "open_by_handle_at", "leads past the rules about paths" },
	};

	for (size_t i = 0; i < countof(table); i++) {
		if (strcmp(table[i].entry, entry) == 0)
			return table[i].reason;
	}
	return NULL;
}

void
check_syscall_ruling(struct checker *checker, const struct rule *rule)
{
	const struct rule_fact *facts = checker->rule_facts[KIND_SYSCALL];
	const char *entry, *reason = NULL;

	if (!is_own_allow(rule) || !says_what(checker, rule))
		return;
	/* A deny takes it back, or it says nothing beside 'allow everything'. */
	if ((facts != NULL &&
		facts[rule - checker->policy->rules[KIND_SYSCALL].items]
			.denied != 0) ||
	    policy_has_blanket(checker->policy, BLANKET_EVERYTHING,
		SBX_ON_LINUX))
		return;
	entry = baseline_entry(checker,
	    rule->syscall.group ? *syscall_group(rule->syscall.name) :
				  rule->syscall.name);
	if (entry != NULL)
		reason = ruling_reason(entry);
	if (reason != NULL)
		rule_report(checker, rule, reason,
		    "no rule of a policy confines what such a call does");
}

/* --- one call ------------------------------------------------------------- */

const char *
risk_of_call(struct arena *arena, const char *call)
{
	const char *entry = baseline_entry_of(arena, call);
	const char *reason = entry != NULL ? ruling_reason(entry) : NULL;

	if (strcmp(call, "io_uring_setup") == 0)
		return "a way round the filter of sockets";
	return reason == NULL ?
	    NULL :
	    arena_printf(arena,
		"a call that no rule of a policy confines: it %s", reason);
}
