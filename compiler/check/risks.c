/*
 * Risks that lie in places: rules of the user's own that reach what other
 * programs run, obey or answer to (tables/risks.def).  A rule does so at such
 * a place, inside of it, or where it lies in the rule's tree; what a deny or
 * an 'except' takes out does not count, and neither does what is inherited.
 */
#include "compiler/check/check.h"

#include <string.h>

enum risk_kind { BROAD, STARTUP, SEARCHED, SCHEDULED, SOCKET };

struct risk {
	enum risk_kind kind;
	uint8_t platforms;
	struct target at;
	const char *what;
};

static const struct risk risks[] = {
#define LINUX SBX_ON_LINUX
#define MACOS SBX_ON_MACOS
#define ALL SBX_ON_ALL
#define ROOT SBX_ANCHOR_ROOT
#define HOME SBX_ANCHOR_HOME
#define RUNTIME SBX_ANCHOR_RUNTIME
#define RISK(kind, platforms, anchor, suffix, what) \
	{ kind, platforms, { suffix, anchor }, what },
#include "compiler/tables/risks.def"
#undef LINUX
#undef MACOS
#undef ALL
#undef ROOT
#undef HOME
#undef RUNTIME
#undef RISK
};

/* One check: which places, the right that matters there, and what is said
 * around what is there. */
static const struct lint {
	enum diag_id id;
	enum risk_kind kind;
	enum sbx_right right;
	const char *before, *after, *help;
} lints[] = {
	{ DIAG_RISKY_WRITE, BROAD, SBX_WRITE, "gives away", "",
	    "allow the directories that are needed" },
	{ DIAG_RISKY_STARTUP, STARTUP, SBX_WRITE, "gives away", "",
	    "allow other places, or deny this one" },
	{ DIAG_RISKY_PATH, SEARCHED, SBX_WRITE, "gives away", "",
	    "let it install into the workspace or ${tmp}" },
	{ DIAG_RISKY_SCHEDULE, SCHEDULED, SBX_WRITE, "gives away", "",
	    "allow other places, or deny this one" },
	{ DIAG_RISKY_SOCKET, SOCKET, SBX_READ,
	    "leads out of the sandbox:", " does what it is asked", NULL },
};

static bool
is_place(struct target at, uint16_t anchor, const char *suffix)
{
	return at.anchor == anchor && strcmp(at.suffix, suffix) == 0;
}

bool
risk_is_broad(const struct path_rule *rule)
{
	for (size_t i = 0; i < countof(risks) && risks[i].kind == BROAD; i++) {
		if (target_compare(risks[i].at, rule->at) == 0)
			return true;
	}
	return false;
}

/* Whether the rule reaches the place; *at becomes where the two meet. */
static bool
rule_reaches(const struct path_rule *rule, const struct risk *risk,
    struct target *at)
{
	*at = rule->at;
	if (risk->kind == BROAD)
		return target_compare(risk->at, rule->at) == 0;
	if (target_covers(risk->at, rule->at))
		return true;
	/* At level full /tmp is the sandbox's own. */
	if (is_place(rule->at, SBX_ANCHOR_ROOT, "/tmp") || risk_is_broad(rule))
		return false;
	*at = risk->at;
	return rule_applies(rule, risk->at);
}

static const struct risk *
risk_find(const struct checker *checker, const struct lint *lint,
    const struct path_rule *rule, struct target *at)
{
	if (!rule->origin.own || rule->effect != SBX_ALLOW ||
	    (rule->rights & lint->right) == 0 || rule->glob != NULL)
		return NULL;
	for (size_t i = 0; i < countof(risks); i++) {
		uint8_t platforms = risks[i].platforms & rule->origin.platforms;

		if (risks[i].kind == lint->kind && platforms != 0 &&
		    rule_reaches(rule, &risks[i], at) &&
		    !grants_denied(&checker->grants, platforms, lint->right,
			*at))
			return &risks[i];
	}
	return NULL;
}

static void
report_risk(struct checker *checker, const struct lint *lint, size_t index,
    size_t end)
{
	const struct policy *policy = checker->policy;
	const struct path_rule *rule = NULL;
	const struct risk *risk = NULL;
	const char *place = "";
	struct diag *diag;
	struct target at;

	for (size_t i = index; i < end && risk == NULL; i++) {
		rule = &policy->paths.items[i];
		risk = risk_find(checker, lint, rule, &at);
	}
	if (risk == NULL)
		return;
	if (end - index > 1 || target_compare(at, rule->at) != 0)
		place = arena_printf(checker->arena, ": %s",
		    policy_target_text(policy, at));
	diag = check_report(checker, rule->origin.loc, "'%s' %s %s%s%s",
	    path_object_text(policy, index, end), lint->before, risk->what,
	    lint->after, place);
	if (lint->help != NULL)
		diag_help(checker->diags, diag, "%s", lint->help);
}

/* The code of the check that runs says which row of `lints` is meant. */
void
check_risk(struct checker *checker)
{
	const struct lint *lint = lints;
	size_t end;

	while (lint->id != checker->id)
		lint++;
	for (size_t i = 0; i < checker->policy->paths.count; i = end) {
		end = path_object_end(checker->policy, i);
		report_risk(checker, lint, i, end);
	}
}

/* --- hooks ---------------------------------------------------------------- */

/* Where a path leads into what git runs: ".git/hooks", ".git/config" or all of
 * ".git". */
static bool
is_git_hook(const char *suffix)
{
	static const char *const inside[] = { "", "/hooks", "/config" };
	const char *git = strstr(suffix, "/.git");

	if (git == NULL)
		return false;
	git += strlen("/.git");
	for (size_t i = 0; i < countof(inside); i++) {
		size_t len = strlen(inside[i]);

		if (strncmp(git, inside[i], len) == 0 &&
		    (git[len] == '\0' || (i > 0 && git[len] == '/')))
			return true;
	}
	return false;
}

void
check_risk_hooks(struct checker *checker)
{
	const struct policy *policy = checker->policy;

	for (size_t i = 0; i < policy->paths.count; i++) {
		const struct path_rule *rule = &policy->paths.items[i];
		struct diag *diag;

		if (!rule->origin.own || rule->effect != SBX_ALLOW ||
		    (rule->rights & SBX_WRITE) == 0 ||
		    rule->at.anchor == SBX_ANCHOR_WORKSPACE ||
		    !is_git_hook(rule->at.suffix) ||
		    grants_denied(&checker->grants, rule->origin.platforms,
			SBX_WRITE, rule->at))
			continue;
		diag = check_report(checker, rule->origin.loc,
		    "'%s' gives away what git runs in another repository",
		    path_object_text(policy, i, i + 1));
		diag_help(checker->diags, diag,
		    "allow what is beside .git, or let it be the workspace");
	}
}
