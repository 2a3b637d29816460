/*
 * Risks that lie in places: rules of the user's own that reach what other
 * programs run, obey or answer to (tables/risks.def).  A rule is judged by what
 * it covers, in whatever spelling (spelling.c): such a place, something inside
 * of it, or a tree that it lies in; what a deny or an 'except' takes out does
 * not count, and neither does what is inherited.
 */
#include "compiler/check/check.h"

#include <string.h>

enum risk_kind {
	BROAD = 1,
	RULING = 2,
	STARTUP = 4,
	SEARCHED = 8,
	SCHEDULED = 16,
	SOCKET = 32,
	GIT = 64,
	SECRET = 128,
	ESCAPE = 256,
};

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
	unsigned kinds;
	enum sbx_right right;
	const char *before, *after, *help;
} lints[] = {
	{ DIAG_RISKY_WRITE, BROAD | RULING, SBX_WRITE, "gives away", "",
	    "allow the directories that are needed" },
	{ DIAG_RISKY_STARTUP, STARTUP, SBX_WRITE, "gives away", "",
	    "allow other places, or deny this one" },
	{ DIAG_RISKY_PATH, SEARCHED, SBX_WRITE, "gives away", "",
	    "let it install into the workspace or ${tmp}" },
	{ DIAG_RISKY_SCHEDULE, SCHEDULED, SBX_WRITE, "gives away", "",
	    "allow other places, or deny this one" },
	{ DIAG_RISKY_SOCKET, SOCKET | ESCAPE, SBX_READ,
	    "leads out of the sandbox:", " does what it is asked", NULL },
	{ DIAG_RISKY_HOOKS, GIT, SBX_WRITE, "gives away", "",
	    "let it read this; GIT_CONFIG_GLOBAL names a file elsewhere" },
	{ DIAG_READABLE_SECRETS, SECRET, SBX_READ,
	    "lets credentials be read:", "", "allow less" },
};

static bool
is_broad(const struct spelling *spelling)
{
	for (size_t i = 0; i < countof(risks) && risks[i].kind == BROAD; i++) {
		if (spelling_reaches(spelling, risks[i].at) == REACH_AT)
			return true;
	}
	return false;
}

static bool
is_any_broad(const struct spelling *spellings, size_t count)
{
	while (count > 0 && !is_broad(&spellings[count - 1]))
		count--;
	return count > 0;
}

bool
risk_is_broad(struct arena *arena, const struct path_rule *rule)
{
	struct spelling spellings[MAX_SPELLINGS];

	return is_any_broad(spellings, rule_spellings(arena, rule, spellings));
}

/* One rule of the policy while its risks are looked for. */
struct suspect {
	const struct checker *checker;
	const struct path_rule *rule;
	const struct lint *lint;
	struct spelling spellings[MAX_SPELLINGS];
	bool broad;       /* the rule is about the whole machine or home */
	struct target at; /* where the risk and the rule meet */
};

/* What lies in a place that is broad was told with it.  Who reads /etc/ssl
 * wants certificates: the secrets in such a tree are guarded by their modes. */
static bool
is_meant(const struct risk *risk, enum reach reach, bool broad)
{
	switch (reach) {
	case REACH_NONE:
		return false;
	case REACH_AT:
		return true;
	case REACH_INSIDE:
		return risk->kind != BROAD;
	case REACH_ABOVE:
		break;
	}
	return risk->kind != BROAD && risk->kind != SECRET && !broad;
}

/* Whether the rule takes the place out, or a deny does, however it is
 * spelled. */
static bool
is_spared(struct suspect *suspect, const struct spelling *spelling,
    const struct risk *risk, enum reach reach)
{
	const struct checker *checker = suspect->checker;
	const struct path_rule *rule = suspect->rule;
	uint8_t platforms = risk->platforms & rule->origin.platforms;
	struct target at = reach == REACH_INSIDE ? spelling->at : risk->at;
	bool known = spelling_place(checker->arena, rule, spelling, at,
	    &suspect->at);

	if (known && !rule_applies(rule, suspect->at))
		return true;
	return grants_denied(&checker->grants, platforms, suspect->lint->right,
		   at) ||
	    grants_denied(&checker->grants, platforms, suspect->lint->right,
		suspect->at);
}

static bool
suspect_runs_risk(struct suspect *suspect, size_t count,
    const struct risk *risk)
{
	if ((risk->kind & suspect->lint->kinds) == 0 ||
	    (risk->platforms & suspect->rule->origin.platforms) == 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct spelling *spelling = &suspect->spellings[i];
		enum reach reach = spelling_reaches(spelling, risk->at);

		if (is_meant(risk, reach, suspect->broad) &&
		    !is_spared(suspect, spelling, risk, reach))
			return true;
	}
	return false;
}

/* The kinds of places that a rule reaches, whatever is denied: nearly always
 * none, and then no check looks closer. */
static uint16_t
kinds_reached(struct arena *arena, const struct path_rule *rule)
{
	struct spelling spellings[MAX_SPELLINGS];
	size_t count;
	uint16_t kinds = 0;

	if (!rule->origin.own || rule->effect != SBX_ALLOW)
		return 0;
	count = rule_spellings(arena, rule, spellings);
	for (size_t i = 0; i < countof(risks); i++) {
		for (size_t j = 0; j < count; j++) {
			if ((kinds & risks[i].kind) == 0 &&
			    spelling_reaches(&spellings[j], risks[i].at) !=
				REACH_NONE)
				kinds |= (uint16_t)risks[i].kind;
		}
	}
	return kinds;
}

void
risks_judge(struct checker *checker)
{
	const struct policy *policy = checker->policy;

	checker->reached = arena_alloc(checker->arena,
	    (policy->paths.count + 1) * sizeof *checker->reached);
	for (size_t i = 0; i < policy->paths.count; i++)
		checker->reached[i] = kinds_reached(checker->arena,
		    &policy->paths.items[i]);
}

static const struct risk *
risk_find(const struct checker *checker, const struct lint *lint, size_t index,
    struct target *at)
{
	const struct path_rule *rule = &checker->policy->paths.items[index];
	struct suspect suspect = {
		.checker = checker,
		.rule = rule,
		.lint = lint,
	};
	size_t count;

	if ((checker->reached[index] & lint->kinds) == 0 ||
	    (rule->rights & lint->right) == 0)
		return NULL;
	count = rule_spellings(checker->arena, rule, suspect.spellings);
	suspect.broad = is_any_broad(suspect.spellings, count);
	for (size_t i = 0; i < countof(risks); i++) {
		if (suspect_runs_risk(&suspect, count, &risks[i])) {
			*at = suspect.at;
			return &risks[i];
		}
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
		risk = risk_find(checker, lint, i, &at);
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
		diag_help(diag, "%s", lint->help);
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

/* --- one place ------------------------------------------------------------ */

/* A right comes with reading, and what is written is not only read. */
static enum sbx_right
right_of(enum risk_kind kind)
{
	const struct lint *lint = lints;

	while ((lint->kinds & kind) == 0)
		lint++;
	return lint->right;
}

static const char *
secret_of_place(const struct spelling *spelling, risk_spared *spared,
    const void *context)
{
	for (size_t i = 0; i < set_entry_count; i++) {
		const struct set_entry *entry = &set_entries[i];
		struct target place = { entry->path + 1, SBX_ANCHOR_HOME };
		enum reach reach;

		if (strcmp(entry->set, "credentials") != 0 &&
		    strcmp(entry->set, "shell-history") != 0)
			continue;
		reach = spelling_reaches(spelling, place);
		if (reach == REACH_NONE ||
		    (reach == REACH_ABOVE && spared(context, place, SBX_READ)))
			continue;
		return strcmp(entry->set, "credentials") == 0 ?
		    "credentials are there" :
		    "what people typed is there";
	}
	return NULL;
}

const char *
risk_of_place(struct arena *arena, struct target at, uint8_t right,
    risk_spared *spared, const void *context)
{
	struct path_rule rule = {
		.origin = { .platforms = SBX_ON_ALL },
		.effect = SBX_ALLOW,
		.rights = right | SBX_READ,
		.at = at,
	};
	struct spelling spellings[MAX_SPELLINGS];
	size_t count = rule_spellings(arena, &rule, spellings);
	const char *secret = NULL;

	for (size_t i = 0; i < count && secret == NULL; i++)
		secret = secret_of_place(&spellings[i], spared, context);
	if (secret != NULL)
		return secret;
	for (size_t i = 0; i < countof(risks); i++) {
		enum sbx_right matters = right_of(risks[i].kind);

		for (size_t j = 0; j < count; j++) {
			enum reach reach = spelling_reaches(&spellings[j],
			    risks[i].at);

			if ((rule.rights & matters) != 0 &&
			    is_meant(&risks[i], reach, false) &&
			    (reach != REACH_ABOVE ||
				!spared(context, risks[i].at, matters)))
				return arena_printf(arena, "it gives away %s",
				    risks[i].what);
		}
	}
	return NULL;
}

const struct target *
risk_escape(size_t number, const char **who, uint8_t *platforms)
{
	for (size_t i = 0; i < countof(risks); i++) {
		if (risks[i].kind != ESCAPE || number-- > 0)
			continue;
		*who = risks[i].what;
		*platforms = risks[i].platforms;
		return &risks[i].at;
	}
	return NULL;
}

/* --- hooks ---------------------------------------------------------------- */

/* Where a path, or a pattern, leads into what git runs, or what leads it
 * elsewhere: all of ".git", or of a bare "tool.git", or one of these in it. */
static bool
is_git_hook(const char *suffix)
{
	static const char *const inside[] = {
		"",
		"/hooks",
		"/config",
		"/config.worktree",
		"/commondir",
		"/modules",
		"/worktrees",
	};

	while ((suffix = strstr(suffix, ".git")) != NULL) {
		suffix += strlen(".git");
		for (size_t i = 0; i < countof(inside); i++) {
			size_t len = strlen(inside[i]);

			if (strncmp(suffix, inside[i], len) == 0 &&
			    (suffix[len] == '\0' ||
				(i > 0 && suffix[len] == '/')))
				return true;
		}
	}
	return false;
}

const char *
risk_of_git(const char *path, uint8_t rights)
{
	return (rights & SBX_WRITE) != 0 && is_git_hook(path) ?
	    "what git runs in another repository" :
	    NULL;
}

static const char *
hook_of_rule(const struct path_rule *rule)
{
	const char *what = risk_of_git(rule->at.suffix, rule->rights);

	return what == NULL && rule->glob != NULL ?
	    risk_of_git(rule->glob, rule->rights) :
	    what;
}

void
check_risk_hooks(struct checker *checker)
{
	const struct policy *policy = checker->policy;

	for (size_t i = 0; i < policy->paths.count; i++) {
		const struct path_rule *rule = &policy->paths.items[i];
		const char *what = hook_of_rule(rule);
		struct diag *diag;

		if (!rule->origin.own || rule->effect != SBX_ALLOW ||
		    rule->at.anchor == SBX_ANCHOR_WORKSPACE || what == NULL ||
		    grants_denied(&checker->grants, rule->origin.platforms,
			SBX_WRITE, rule->at))
			continue;
		diag = check_report(checker, rule->origin.loc,
		    "'%s' gives away %s", path_object_text(policy, i, i + 1),
		    what);
		diag_help(diag,
		    "allow what is beside .git, or let it be the workspace");
	}
}
