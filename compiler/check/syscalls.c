/*
 * Checks of system call rules.  What some rules name is gathered once into a
 * table from names to rules, groups with all of their members, each group once
 * for each platform; then every rule asks the table.
 */
#include "compiler/check/check.h"

#include "compiler/lower/filter.h"
#include "compiler/tables/words.h"

#include <string.h>

enum { PLATFORMS = 3 };

/* The rules that name one call or group: per platform 1 + an index, or 0. */
struct named {
	uint32_t rule[PLATFORMS];
};

struct named_calls {
	struct map calls;  /* each name, from groups too */
	struct map groups; /* the groups themselves */
};

static const struct syscall_rule *
syscall_rule(const struct checker *checker, size_t index)
{
	return &checker->policy->syscalls.items[index];
}

/* Notes that a rule names this; false if nothing was new. */
static bool
name_add(struct checker *checker, struct map *map, const char *name,
    uint8_t platforms, uint32_t index)
{
	struct named *named = map_find(map, name);
	bool new = false;

	if (named == NULL) {
		named = arena_alloc(checker->arena, sizeof *named);
		map_put(checker->arena, map, name, named);
	}
	for (unsigned i = 0; i < PLATFORMS; i++) {
		if ((platforms >> i & 1) == 0 || named->rule[i] != 0)
			continue;
		named->rule[i] = index + 1;
		new = true;
	}
	return new;
}

/* A rule other than `self` that names this on all of the platforms, or 0. */
static uint32_t
name_find(const struct map *map, const char *name, uint8_t platforms,
    uint32_t self)
{
	const struct named *named = map_find(map, name);
	uint32_t found = 0;

	for (unsigned i = 0; named != NULL && i < PLATFORMS; i++) {
		if ((platforms >> i & 1) == 0)
			continue;
		found = named->rule[i];
		if (found == 0 || found == self + 1)
			return 0;
	}
	return found;
}

static const char *
member_name(const struct checker *checker, const char *member)
{
	return arena_intern(checker->arena, member, strlen(member));
}

static void
calls_add(struct checker *checker, struct named_calls *named, uint32_t index)
{
	const struct syscall_rule *rule = syscall_rule(checker, index);
	uint8_t platforms = rule->origin.platforms;

	if (!rule->group) {
		name_add(checker, &named->calls, rule->name, platforms, index);
		return;
	}
	if (!name_add(checker, &named->groups, rule->name, platforms, index))
		return;
	for (const char *const *member = syscall_group(rule->name);
	     *member != NULL; member++)
		name_add(checker, &named->calls, member_name(checker, *member),
		    platforms, index);
}

/* Groups first: a name beside its group is what says nothing new. */
static void
calls_gather(struct checker *checker, struct named_calls *named, bool allow)
{
	memset(named, 0, sizeof *named);
	for (int pass = 0; pass < 4; pass++) {
		bool group = pass < 2, own = pass % 2 == 1;

		for (size_t i = 0; i < checker->policy->syscalls.count; i++) {
			const struct syscall_rule *rule = syscall_rule(checker,
			    i);

			if ((rule->effect == SBX_ALLOW) == allow &&
			    rule->group == group && rule->origin.own == own)
				calls_add(checker, named, (uint32_t)i);
		}
	}
}

static void
note_call(struct checker *checker, struct diag *diag, uint32_t other)
{
	const struct syscall_rule *rule = syscall_rule(checker, other - 1);

	diag_note(checker->diags, diag, rule->origin.loc,
	    "'%s' of '%s' is "
	    "here",
	    syscall_rule_text(checker->policy, rule), rule->origin.via);
}

/*
 * A rule that names all that this one does.  A plain deny says more than a
 * preferred one, so the latter is no answer to the former; a filter enforces
 * both, but the text of the policy is kept as strong as it was.
 */
static uint32_t
find_other(const struct checker *checker, const struct named_calls *named,
    uint32_t index)
{
	const struct syscall_rule *rule = syscall_rule(checker, index);
	uint8_t platforms = rule->origin.platforms;
	uint32_t found = 0;

	if (!rule->group)
		return name_find(&named->calls, rule->name, platforms, index);
	found = name_find(&named->groups, rule->name, platforms, index);
	if (found != 0)
		return found;
	for (const char *const *member = syscall_group(rule->name);
	     *member != NULL; member++) {
		found = name_find(&named->calls, member_name(checker, *member),
		    platforms, index);
		if (found == 0)
			return 0;
	}
	return found;
}

static bool
same_name(const struct checker *checker, size_t a, size_t b)
{
	return syscall_rule(checker, a)->group ==
	    syscall_rule(checker, b)->group &&
	    syscall_rule(checker, a)->name == syscall_rule(checker, b)->name;
}

static void
report_named(struct checker *checker, bool allow, bool same)
{
	struct named_calls named;

	calls_gather(checker, &named, allow);
	for (size_t i = 0; i < checker->policy->syscalls.count; i++) {
		const struct syscall_rule *rule = syscall_rule(checker, i);
		uint32_t other;

		if (!rule->origin.own || (rule->effect == SBX_ALLOW) != allow)
			continue;
		other = find_other(checker, &named, (uint32_t)i);
		if (other == 0 || same_name(checker, i, other - 1) != same)
			continue;
		note_call(checker,
		    check_report(checker, rule->origin.loc,
			same ? "duplicate rule '%s'" : "'%s' says nothing new",
			syscall_rule_text(checker->policy, rule)),
		    other);
	}
}

void
check_syscall_duplicate(struct checker *checker)
{
	report_named(checker, true, true);
	report_named(checker, false, true);
}

void
check_syscall_covered(struct checker *checker)
{
	report_named(checker, true, false);
	report_named(checker, false, false);
}

void
check_syscall_denied(struct checker *checker)
{
	struct named_calls denied;

	calls_gather(checker, &denied, false);
	for (size_t i = 0; i < checker->policy->syscalls.count; i++) {
		const struct syscall_rule *rule = syscall_rule(checker, i);
		uint32_t other;
		struct diag *diag;

		if (!rule->origin.own || rule->effect != SBX_ALLOW)
			continue;
		other = find_other(checker, &denied, (uint32_t)i);
		if (other == 0)
			continue;
		diag = check_report(checker, rule->origin.loc,
		    "'%s' has no effect: it is denied",
		    syscall_rule_text(checker->policy, rule));
		diag_help(checker->diags, diag,
		    "deny beats allow: delete or drop one of the two");
		note_call(checker, diag, other);
	}
}

/* The machines of a rule that lack a system call, as words; NULL if none. */
static const char *
missing_on(const struct checker *checker, const struct syscall_rule *rule,
    uint8_t *has)
{
	const char *text = NULL;

	*has = 0;
	for (size_t i = 0; i < arch_count; i++) {
		const struct arch *arch = &arches[i];

		if ((arch->platforms & rule->origin.platforms) == 0)
			continue;
		if (syscall_number(arch, rule->name) >= 0)
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
check_syscall_absent(struct checker *checker)
{
	for (size_t i = 0; i < checker->policy->syscalls.count; i++) {
		const struct syscall_rule *rule = syscall_rule(checker, i);
		const char *text;
		struct diag *diag;
		uint8_t has;

		if (rule->group || !rule->origin.own)
			continue;
		text = missing_on(checker, rule, &has);
		if (text == NULL)
			continue;
		diag = check_report(checker, rule->origin.loc,
		    "there is no system call '%s' on %s", rule->name, text);
		if (has == 0)
			diag_help(checker->diags, diag,
			    "delete it: this rule does nothing");
		else
			diag_help(checker->diags, diag,
			    "'on %s { ... }' says "
			    "that only that machine is meant",
			    platform_text(has));
	}
}

void
check_syscall_macos(struct checker *checker)
{
	for (size_t i = 0; i < checker->policy->syscalls.count; i++) {
		const struct syscall_rule *rule = syscall_rule(checker, i);
		struct diag *diag;

		if (rule->origin.platforms != SBX_ON_MACOS || !rule->origin.own)
			continue;
		diag = check_report(checker, rule->origin.loc,
		    "nothing enforces '%s' on macos",
		    syscall_rule_text(checker->policy, rule));
		diag_help(checker->diags, diag,
		    "system calls are filtered on Linux only");
	}
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
loader_call(const struct syscall_rule *rule)
{
	const char *const *member = rule->group ? syscall_group(rule->name) :
						  NULL;

	for (size_t i = 0; i < sizeof loader_calls / sizeof *loader_calls;
	     i++) {
		if (!rule->group && strcmp(rule->name, loader_calls[i]) == 0)
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
	struct map seen = { 0 };

	for (size_t i = 0; i < checker->policy->syscalls.count; i++) {
		const struct syscall_rule *rule = syscall_rule(checker, i);
		const char *call;
		struct diag *diag;

		if (rule->effect == SBX_ALLOW ||
		    map_find(&seen, rule->name) != NULL)
			continue;
		call = loader_call(rule);
		if (call == NULL) {
			map_put(checker->arena, &seen, rule->name, checker);
			continue;
		}
		if (rule->group)
			diag = check_report(checker, rule->origin.loc,
			    "'@%s' has '%s' in it, which sbxrun needs to "
			    "start the command",
			    rule->name, call);
		else
			diag = check_report(checker, rule->origin.loc,
			    "sbxrun needs '%s' to start the command", call);
		diag_help(checker->diags, diag,
		    "the filter is on before the command starts");
	}
}

void
check_syscall_io_uring(struct checker *checker)
{
	for (size_t i = 0; i < checker->policy->syscalls.count; i++) {
		const struct syscall_rule *rule = syscall_rule(checker, i);
		struct diag *diag;

		if (!rule->origin.own || rule->effect != SBX_ALLOW ||
		    (rule->origin.platforms & SBX_ON_LINUX) == 0 ||
		    strcmp(rule->name,
			rule->group ? "io-uring" : "io_uring_setup") != 0 ||
		    policy_net(checker->policy,
			rule->origin.platforms & SBX_ON_LINUX,
			NULL) == SBX_NET_FULL)
			continue;
		diag = check_report(checker, rule->origin.loc,
		    "'%s' opens a way round the filter of sockets",
		    syscall_rule_text(checker->policy, rule));
		diag_help(checker->diags, diag,
		    "what io_uring does, no "
		    "filter of system calls sees");
	}
}
