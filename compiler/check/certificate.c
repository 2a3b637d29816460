/*
 * See check.h.  What is known of a place where policies are enforced is
 * in tables/enforcement.def: `defaults` is what is so whatever the rules say,
 * `facts` what becomes of one rule of a kind.  A rule of the user's own is
 * named at its line; of those that are inherited, which can be long lists, one
 * stands for all, at the profile.
 */
#include "compiler/check/check.h"

#include "compiler/policy/kind.h"
#include "compiler/policy/policy.h"
#include "compiler/tables/tables.h"
#include "format/blob.h"

#include <stdlib.h>
#include <string.h>

enum { ANY_DETAIL = -1, ANY_NET = -1 };

/* What becomes of one rule. */
enum fact_id {
#define DEFAULT(levels, below, unless, grade, what, help)
#define FACT(id, grade, what, help) FACT_##id,
#include "compiler/tables/enforcement.def"
#undef FACT
	FACT_END,
};

static const struct fact {
	enum diag_id id;
	const char *what; /* after the rule */
	const char *help;
} facts[FACT_END] = {
#define FACT(id, grade, what, help) \
	[FACT_##id] = { DIAG_TARGET_##grade, what, help },
#include "compiler/tables/enforcement.def"
#undef FACT
#undef DEFAULT
};

/* What is so there whatever the rules say, unless a blanket rule allows it. */
static const struct {
	int levels; /* bits of enum sbx_level; macOS is the one behind them */
	int below;  /* only on kernels below this Landlock ABI */
	enum blanket_kind unless;
	enum diag_id id;
	const char *what, *help;
} defaults[] = {
#define NONE (1 << SBX_LEVEL_NONE)
#define MINIMAL (1 << SBX_LEVEL_MINIMAL)
#define STANDARD (1 << SBX_LEVEL_STANDARD)
#define MACOS (1 << SBX_LEVEL_END)
#define ANY INT32_MAX
#define FACT(id, grade, what, help)
#define DEFAULT(levels, below, unless, grade, what, help) \
	{ levels, below, BLANKET_##unless, DIAG_TARGET_##grade, what, help },
#include "compiler/tables/enforcement.def"
#undef FACT
#undef DEFAULT
};

/* Kernels below the ABI that has rules for TCP ports, and the others. */
#define OLD 0, 3
#define NEW 4, INT32_MAX
#define ALL 0, INT32_MAX

/*
 * What becomes of rules: where, in which network of the policy, which of a kind,
 * with any detail or with one, and whether those that allow or that deny.
 *
 * Of rules about hosts: where no socket opens for them, a deny holds all the
 * same; where nothing confines the network, an allow does.  The text for macOS
 * opens 127.0.0.1, where a service of the host and a proxy may listen; there
 * globs become regular expressions, which also cover what is made later, and
 * denies are rules like others.
 */
static const struct {
	int levels;
	int first_abi, last_abi;
	int net;
	enum rule_kind_id kind;
	int detail;
	bool allow;
	enum fact_id fact;
} outcomes[] = {
#define ROW(levels, abis, net, kind, detail, allow, fact) \
	{ \
		levels, abis, net, KIND_##kind, detail, allow, FACT_##fact \
	}
#define HOSTS(levels, allow, fact) \
	ROW(levels, OLD, SBX_NET_SELECTED, DOMAIN, ANY_DETAIL, allow, fact), \
	    ROW(levels, OLD, SBX_NET_SELECTED, ENDPOINT, ANY_DETAIL, allow, \
		fact), \
	    ROW(levels, OLD, SBX_NET_SELECTED, PROXY, ANY_DETAIL, allow, \
		fact), \
	    ROW(levels, OLD, SBX_NET_SELECTED, PORT, SBX_HOST_TCP, allow, \
		fact), \
	    ROW(levels, OLD, SBX_NET_SELECTED, PORT, SBX_PUBLISH_TCP, allow, \
		fact)

	ROW(NONE, ALL, SBX_NET_PORTS, PORT, ANY_DETAIL, false, NETWORK),
	ROW(MINIMAL | STANDARD, OLD, SBX_NET_PORTS, PORT, ANY_DETAIL, true,
	    PORT),
	HOSTS(NONE, false, NETWORK),
	HOSTS(MINIMAL | STANDARD, true, HOST),
	ROW(STANDARD, NEW, SBX_NET_SELECTED, DOMAIN, ANY_DETAIL, true, DOMAIN),
	ROW(STANDARD, NEW, SBX_NET_SELECTED, PORT, SBX_PUBLISH_TCP, true,
	    PUBLISH),
	ROW(NONE | MINIMAL | STANDARD, OLD, SBX_NET_LOOPBACK, BLANKET,
	    BLANKET_LOOPBACK, true, LOOPBACK),
	ROW(STANDARD, NEW, SBX_NET_LOOPBACK, BLANKET, BLANKET_LOOPBACK, true,
	    INSIDE),
	ROW(MINIMAL, ALL, ANY_NET, SOCKET, ANY_DETAIL, true, SOCKET),
	ROW(NONE, ALL, ANY_NET, SOCKET, ANY_DETAIL, false, FILES),
	ROW(NONE, ALL, ANY_NET, BLANKET, BLANKET_SPAWN, false, CALLS),
	ROW(NONE, ALL, ANY_NET, SYSCALL, ANY_DETAIL, false, CALLS),
	ROW(NONE, ALL, ANY_NET, BLANKET, BLANKET_NETWORK, false, NETWORK),

	ROW(MACOS, ALL, SBX_NET_LOOPBACK, BLANKET, BLANKET_LOOPBACK, true,
	    MACOS_LOOPBACK),
	ROW(MACOS, ALL, SBX_NET_SELECTED, DOMAIN, ANY_DETAIL, true, MACOS_HOST),
	ROW(MACOS, ALL, SBX_NET_SELECTED, ENDPOINT, ANY_DETAIL, true,
	    MACOS_HOST),
	ROW(MACOS, ALL, SBX_NET_SELECTED, PROXY, ANY_DETAIL, true,
	    MACOS_LOOPBACK),
	ROW(MACOS, ALL, SBX_NET_SELECTED, PORT, SBX_HOST_TCP, true,
	    MACOS_LOOPBACK),
	ROW(MACOS, ALL, SBX_NET_SELECTED, PORT, SBX_PUBLISH_TCP, true,
	    MACOS_LOOPBACK),
	ROW(MACOS, ALL, ANY_NET, BLANKET, BLANKET_SPAWN, false, MACOS_SPAWN),
	ROW(MACOS, ALL, ANY_NET, SYSCALL, ANY_DETAIL, false, MACOS_CALLS),
	ROW(MACOS, ALL, ANY_NET, LIMIT, ANY_DETAIL, true, MACOS_LIMIT),
	ROW(MACOS, ALL, ANY_NET, WATCH, ANY_DETAIL, true, MACOS_WATCH),
	ROW(MACOS, ALL, ANY_NET, ENV, ANY_DETAIL, false, MACOS_ENV),
	ROW(MACOS, ALL, ANY_NET, SET, ANY_DETAIL, true, MACOS_SET),
};

/* --- the word of --target ------------------------------------------------- */

static bool
read_landlock(const char *text, struct enforcer *enforcer)
{
	char *end;
	long abi = strtol(text, &end, 10);

	if (*end != '\0' || end == text || abi < 0 ||
	    abi > SBX_LANDLOCK_LAST_ABI)
		return false;
	enforcer->landlock = (int)abi;
	enforcer->level = abi > 0 ? SBX_LEVEL_STANDARD : SBX_LEVEL_MINIMAL;
	return true;
}

static bool
read_level(const char *text, struct enforcer *enforcer)
{
	int level = level_find(text);

	if (level < 0)
		return false;
	enforcer->level = (enum sbx_level)level;
	enforcer->landlock = level < SBX_LEVEL_STANDARD ? 0 :
							  SBX_LANDLOCK_LAST_ABI;
	return true;
}

bool
enforcer_read(const char *text, struct enforcer *enforcer)
{
	*enforcer = (struct enforcer){ .text = text };
	if (strncmp(text, "landlock=", 9) == 0)
		return read_landlock(text + 9, enforcer);
	if (strncmp(text, "level=", 6) == 0)
		return read_level(text + 6, enforcer);
	enforcer->macos = strcmp(text, "macos") == 0;
	return enforcer->macos;
}

void
certificate_codes(bool codes[DIAG_END])
{
	codes[DIAG_TARGET_REFUSED] = true;
	codes[DIAG_TARGET_OPEN] = true;
	codes[DIAG_TARGET_SHUT] = true;
	codes[DIAG_TARGET_WEAKER] = true;
}

/* --- findings ------------------------------------------------------------- */

/* Inherited rules with one fact: how many, and the first. */
struct inherited {
	size_t count;
	const char *text;
	struct loc loc;
};

struct certificate {
	const struct policy *policy;
	const struct enforcer *enforcer;
	struct diags *diags;
	uint8_t platforms; /* the platforms that are asked about */
	struct grants grants;
	struct inherited inherited[FACT_END];
};

static void
report_default(const struct certificate *certificate, enum diag_id id,
    const char *what, const char *help)
{
	struct diag *diag = diag_add(certificate->diags, id,
	    certificate->policy->profile_loc, "%s: %s",
	    certificate->enforcer->text, what);

	if (help != NULL)
		diag_help(diag, "%s", help);
}

/* A rule of any kind. */
struct certified {
	const struct origin *origin;
	enum sbx_effect effect;
	const char *text;
};

/*
 * Reports what becomes of a rule.  `more` is a help of this rule alone, or
 * NULL.  A rule that is only preferred is never an error.
 */
static void
certify_rule(struct certificate *certificate, enum fact_id id,
    struct certified rule, const char *more)
{
	const struct origin *origin = rule.origin;
	bool preferred = rule.effect == SBX_PREFER_DENY;
	const struct fact *fact = &facts[id];
	struct inherited *inherited = &certificate->inherited[id];
	struct diag *diag;

	if (!origin->own && preferred)
		return;
	if (!origin->own) {
		if (inherited->count++ == 0) {
			inherited->text = rule.text;
			inherited->loc = origin->loc;
		}
		return;
	}
	diag = diag_add(certificate->diags,
	    preferred ? DIAG_TARGET_WEAKER : fact->id, origin->loc,
	    "%s: '%s' %s", certificate->enforcer->text, rule.text, fact->what);
	if (more == NULL)
		more = fact->help;
	if (more != NULL && !preferred)
		diag_help(diag, "%s", more);
}

static void
report_inherited(const struct certificate *certificate)
{
	for (size_t i = 0; i < FACT_END; i++) {
		const struct inherited *one = &certificate->inherited[i];
		struct diag *diag;

		if (one->count == 0)
			continue;
		diag = diag_add(certificate->diags, facts[i].id,
		    certificate->policy->profile_loc, "%s: '%s' %s",
		    certificate->enforcer->text, one->text, facts[i].what);
		if (facts[i].help != NULL)
			diag_help(diag, "%s",
			    certificate->enforcer->macos ?
				"'drop' takes back what is inherited" :
				facts[i].help);
		if (one->count == 1)
			diag_note(diag, one->loc, "it is inherited from here");
		else
			diag_note(diag, one->loc,
			    "it is inherited from here, the first of %zu",
			    one->count);
	}
}

/* --- whether it runs there at all ----------------------------------------- */

static bool
is_refused(const struct certificate *certificate)
{
	const struct policy *policy = certificate->policy;
	const struct enforcer *enforcer = certificate->enforcer;
	const struct origin *origin = NULL;
	struct diag *diag;

	if (enforcer->macos)
		return false;
	if (policy->level_origin.loc.end != 0 &&
	    policy->level > enforcer->level)
		origin = &policy->level_origin;
	else if (policy->landlock > enforcer->landlock)
		origin = &policy->landlock_origin;
	if (origin == NULL)
		return false;
	diag = diag_add(certificate->diags, DIAG_TARGET_REFUSED,
	    origin->own ? origin->loc : policy->profile_loc,
	    "%s: sbxrun refuses to run the policy there", enforcer->text);
	diag_help(diag, "lower what is required, or leave the target out");
	if (!origin->own)
		diag_note(diag, origin->loc, "this is required");
	return true;
}

/* --- paths ---------------------------------------------------------------- */

/* The outermost place above a deny where something of it is allowed, as the
 * length of its suffix; false if there is none, so that nothing is split. */
static bool
allowed_above(const struct certificate *certificate,
    const struct path_rule *deny, size_t *len)
{
	const struct path_rule *allow = grants_allow(&certificate->grants,
	    certificate->platforms, deny->rights, deny->at);

	if (allow == NULL || target_compare(allow->at, deny->at) == 0)
		return false;
	*len = strlen(allow->at.suffix);
	return true;
}

/* "nothing is made, renamed or removed directly in ~/a and ~/a/b". */
static const char *
split_text(const struct certificate *certificate, const struct path_rule *deny,
    size_t len)
{
	const struct policy *policy = certificate->policy;
	struct target first = deny->at, last = deny->at;
	size_t end = (size_t)(strrchr(deny->at.suffix, '/') - deny->at.suffix);
	const char *effect = deny->rights & SBX_READ ?
	    "nothing is listed, made, renamed or removed directly in" :
	    "nothing is made, renamed or removed directly in";

	first.suffix = arena_strndup(policy->arena, deny->at.suffix, len);
	last.suffix = arena_strndup(policy->arena, deny->at.suffix, end);
	if (len == end)
		return arena_printf(policy->arena, "%s %s", effect,
		    policy_target_text(policy, first));
	return arena_printf(policy->arena, "%s %s and below it down to %s",
	    effect, policy_target_text(policy, first),
	    policy_target_text(policy, last));
}

static void
certify_deny(struct certificate *certificate, const struct path_rule *rule,
    struct certified deny)
{
	bool full = certificate->enforcer->level == SBX_LEVEL_FULL;
	size_t len;

	if (!full && rule->effect == SBX_PREFER_DENY &&
	    rule->rights == SBX_WRITE) {
		certify_rule(certificate, FACT_WAIVED, deny, NULL);
		return;
	}
	if (rule->rights == SBX_EXEC)
		certify_rule(certificate, FACT_EXEC, deny, NULL);
	if (rule->glob == NULL && !allowed_above(certificate, rule, &len))
		return;
	if (rule->glob != NULL)
		certify_rule(certificate, FACT_GLOB, deny, NULL);
	else if (full)
		certify_rule(certificate, FACT_MASK, deny, NULL);
	else
		certify_rule(certificate, FACT_SPLIT, deny,
		    split_text(certificate, rule, len));
}

static void
certify_path(struct certificate *certificate, size_t index, size_t end)
{
	const struct path_rule *rule = &certificate->policy->paths.items[index];
	struct certified certified = {
		.origin = &rule->origin,
		.effect = rule->effect,
		.text = path_object_text(certificate->policy, index, end),
	};

	if (certificate->enforcer->macos) {
		if ((rule->rights & SBX_STAGED) != 0)
			certify_rule(certificate, FACT_MACOS_STAGE, certified,
			    NULL);
	} else if (certificate->enforcer->level < SBX_LEVEL_STANDARD) {
		if (rule->effect != SBX_ALLOW)
			certify_rule(certificate, FACT_FILES, certified, NULL);
	} else if (rule->effect != SBX_ALLOW) {
		certify_deny(certificate, rule, certified);
	} else if (rule->glob != NULL) {
		certify_rule(certificate, FACT_GLOB, certified, NULL);
	}
}

/* An object that stands for several paths is reported once. */
static void
certify_paths(struct certificate *certificate)
{
	const struct policy *policy = certificate->policy;
	size_t count = policy->paths.count, end;

	grants_init(&certificate->grants, policy);
	for (size_t i = 0; i < count; i = end) {
		const struct origin *origin = &policy->paths.items[i].origin;

		end = path_object_end(policy, i);
		if ((origin->platforms & certificate->platforms) != 0)
			certify_path(certificate, i, end);
	}
}

/* --- the rest ------------------------------------------------------------- */

static void
certify_rules(struct certificate *certificate, int at)
{
	const struct enforcer *enforcer = certificate->enforcer;
	enum sbx_net net = policy_net(certificate->policy,
	    certificate->platforms, NULL);

	for (size_t i = 0; i < countof(outcomes); i++) {
		const struct rule_list *rules =
		    &certificate->policy->rules[outcomes[i].kind];

		if ((outcomes[i].levels & at) == 0 ||
		    enforcer->landlock < outcomes[i].first_abi ||
		    enforcer->landlock > outcomes[i].last_abi ||
		    (outcomes[i].net != ANY_NET && outcomes[i].net != (int)net))
			continue;
		for (size_t j = 0; j < rules->count; j++) {
			const struct rule *rule = &rules->items[j];
			const struct certified certified = {
				&rule->origin,
				rule->effect,
				rule_text(certificate->policy, rule),
			};

			if ((outcomes[i].detail == ANY_DETAIL ||
				rule->detail == outcomes[i].detail) &&
			    (rule->effect == SBX_ALLOW) == outcomes[i].allow &&
			    (rule->origin.platforms & certificate->platforms) !=
				0)
				certify_rule(certificate, outcomes[i].fact,
				    certified, NULL);
		}
	}
}

/* Whether the policy hands on what it does not deny. */
static bool
allows_all_env(const struct certificate *certificate)
{
	const struct rule_list *env = &certificate->policy->rules[KIND_ENV];

	for (size_t i = 0; i < env->count; i++) {
		const struct rule *rule = &env->items[i];

		if (rule->effect == SBX_ALLOW &&
		    strcmp(rule->env.pattern, "*") == 0 &&
		    *rule->env.except == '\0' &&
		    (rule->origin.platforms & certificate->platforms) != 0)
			return true;
	}
	return false;
}

static void
certify_defaults(const struct certificate *certificate, int at)
{
	const struct enforcer *enforcer = certificate->enforcer;

	for (size_t i = 0; i < countof(defaults); i++) {
		enum blanket_kind unless = defaults[i].unless;

		if ((defaults[i].levels & at) == 0 ||
		    enforcer->landlock >= defaults[i].below ||
		    (unless != BLANKET_END &&
			policy_has_blanket(certificate->policy, unless,
			    certificate->platforms)))
			continue;
		report_default(certificate, defaults[i].id, defaults[i].what,
		    defaults[i].help);
	}
	if (enforcer->macos && !allows_all_env(certificate))
		report_default(certificate, DIAG_TARGET_OPEN,
		    "every variable of the caller is handed on",
		    "'on macos { allow env * }' says that it may be so");
}

void
certify(const struct policy *policy, const struct enforcer *enforcer,
    struct diags *diags)
{
	struct certificate certificate = {
		.policy = policy,
		.enforcer = enforcer,
		.diags = diags,
		.platforms = enforcer->macos ? SBX_ON_MACOS : SBX_ON_LINUX,
	};
	int at = 1 << (enforcer->macos ? SBX_LEVEL_END : enforcer->level);

	if (is_refused(&certificate) ||
	    policy_has_blanket(policy, BLANKET_EVERYTHING,
		certificate.platforms))
		return;
	certify_defaults(&certificate, at);
	certify_paths(&certificate);
	certify_rules(&certificate, at);
	report_inherited(&certificate);
}
