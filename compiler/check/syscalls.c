/* Checks of system call rules. */
#include "compiler/check/check.h"

#include "compiler/lower/lower.h"

#include <string.h>

/* The machines of a rule that lack a system call, as words; NULL if none. */
static const char *
missing_on(const struct checker *checker, const struct rule *rule, uint8_t *has)
{
	const char *text = NULL;

	*has = 0;
	for (size_t i = 0; i < arch_count; i++) {
		const struct arch *arch = &arches[i];

		if ((arch->platforms & rule->origin.platforms) == 0)
			continue;
		if (syscall_number(arch, rule->syscall.name) >= 0)
			*has |= arch->platforms;
		else
			text = text == NULL ?
			    arch->name :
			    arena_printf(checker->arena, "%s and %s", text,
				arch->name);
	}
	return text;
}

void
check_syscall_absent(struct checker *checker, const struct rule *rule)
{
	const char *text;
	struct diag *diag;
	uint8_t has;

	if (rule->syscall.group || !rule->origin.own)
		return;
	text = missing_on(checker, rule, &has);
	if (text == NULL)
		return;
	diag = check_report(checker, rule->origin.loc,
	    "there is no system call '%s' on %s", rule->syscall.name, text);
	if (has == 0)
		diag_help(diag, "delete it: this rule does nothing");
	else
		diag_help(diag,
		    "'on %s { ... }' says that only that machine is meant",
		    platform_text(has));
}

void
check_syscall_macos(struct checker *checker, const struct rule *rule)
{
	if (rule->origin.platforms == SBX_ON_MACOS && rule->origin.own)
		diag_help(check_report(checker, rule->origin.loc,
			      "nothing enforces '%s' on macos",
			      rule_text(checker->policy, rule)),
		    "system calls are filtered on Linux only");
}

/* What the loader calls after its filter is on: to start the command, or to
 * say why that failed and end. */
static const char *const loader_calls[] = {
	"execve",
	"write",
	"writev",
	"exit_group",
	"exit",
};

static const char *
loader_call(const struct rule *rule)
{
	const char *const *member = rule->syscall.group ?
	    syscall_group(rule->syscall.name) :
	    NULL;

	for (size_t i = 0; i < countof(loader_calls); i++) {
		if (!rule->syscall.group &&
		    strcmp(rule->syscall.name, loader_calls[i]) == 0)
			return loader_calls[i];
		for (const char *const *m = member; m != NULL && *m != NULL;
		     m++) {
			if (strcmp(*m, loader_calls[i]) == 0)
				return loader_calls[i];
		}
	}
	return NULL;
}

void
check_syscall_loader(struct checker *checker)
{
	const struct rule_list *calls = &checker->policy->rules[KIND_SYSCALL];
	struct map seen = { 0 };

	for (size_t i = 0; i < calls->count; i++) {
		const struct rule *rule = &calls->items[i];
		const char *call;
		struct diag *diag;

		if (rule->effect == SBX_ALLOW ||
		    map_find(&seen, rule->syscall.name) != NULL)
			continue;
		call = loader_call(rule);
		if (call == NULL) {
			map_put(checker->arena, &seen, rule->syscall.name,
			    checker);
			continue;
		}
		if (rule->syscall.group)
			diag = check_report(checker, rule->origin.loc,
			    "'@%s' has '%s' in it, which sbxrun needs to "
			    "start the command",
			    rule->syscall.name, call);
		else
			diag = check_report(checker, rule->origin.loc,
			    "sbxrun needs '%s' to start the command", call);
		diag_help(diag, "the filter is on before the command starts");
	}
}

void
check_syscall_io_uring(struct checker *checker, const struct rule *rule)
{
	uint8_t platforms = rule->origin.platforms & SBX_ON_LINUX;

	if (rule->origin.own && rule->effect == SBX_ALLOW && platforms != 0 &&
	    strcmp(rule->syscall.name,
		rule->syscall.group ? "io-uring" : "io_uring_setup") == 0 &&
	    policy_net(checker->policy, platforms, NULL) != SBX_NET_FULL)
		rule_report(checker, rule,
		    "opens a way round the filter of sockets",
		    "what io_uring does, no filter of system calls sees");
}
