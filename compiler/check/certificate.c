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

enum { ANY_DETAIL = -1 };

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
#undef NONE
#undef MINIMAL
#undef STANDARD
#undef MACOS
#undef ANY
#undef FACT
#undef DEFAULT
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

	if (certificate->enforcer->level < SBX_LEVEL_STANDARD) {
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

/* The rules of a kind that allow, or deny; with any detail or with one. */
static void
certify_rules(struct certificate *certificate, enum rule_kind_id kind,
    int detail, bool allow, enum fact_id fact)
{
	const struct rule_list *rules = &certificate->policy->rules[kind];

	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->items[i];

		if ((detail == ANY_DETAIL || rule->detail == detail) &&
		    (rule->effect == SBX_ALLOW) == allow &&
		    (rule->origin.platforms & certificate->platforms) != 0)
			certify_rule(certificate, fact,
			    (struct certified){
				&rule->origin,
				rule->effect,
				rule_text(certificate->policy, rule),
			    },
			    NULL);
	}
}

static void
certify_ports(struct certificate *certificate)
{
	bool none = certificate->enforcer->level == SBX_LEVEL_NONE;

	if (policy_net(certificate->policy, certificate->platforms, NULL) ==
	    SBX_NET_PORTS)
		certify_rules(certificate, KIND_PORT, ANY_DETAIL, !none,
		    none ? FACT_NETWORK : FACT_PORT);
}

/*
 * Rules about hosts.  Where no socket opens for them, a deny holds all the
 * same; where nothing confines the network, an allow does.
 */
static void
certify_hosts(struct certificate *certificate, bool allow, enum fact_id fact)
{
	certify_rules(certificate, KIND_DOMAIN, ANY_DETAIL, allow, fact);
	certify_rules(certificate, KIND_ENDPOINT, ANY_DETAIL, allow, fact);
	certify_rules(certificate, KIND_PROXY, ANY_DETAIL, allow, fact);
	certify_rules(certificate, KIND_PORT, SBX_HOST_TCP, allow, fact);
	certify_rules(certificate, KIND_PORT, SBX_PUBLISH_TCP, allow, fact);
}

static void
certify_linux_hosts(struct certificate *certificate)
{
	const struct enforcer *enforcer = certificate->enforcer;

	if (policy_net(certificate->policy, certificate->platforms, NULL) !=
		SBX_NET_SELECTED ||
	    enforcer->level == SBX_LEVEL_FULL)
		return;
	if (enforcer->level == SBX_LEVEL_NONE) {
		certify_hosts(certificate, false, FACT_NETWORK);
	} else if (enforcer->landlock < 4) {
		certify_hosts(certificate, true, FACT_HOST);
	} else {
		certify_rules(certificate, KIND_DOMAIN, ANY_DETAIL, true,
		    FACT_DOMAIN);
		certify_rules(certificate, KIND_PORT, SBX_PUBLISH_TCP, true,
		    FACT_PUBLISH);
	}
}

/* The text for macOS opens 127.0.0.1, where a service of the host and a proxy
 * may listen. */
static void
certify_macos_hosts(struct certificate *certificate)
{
	if (policy_net(certificate->policy, certificate->platforms, NULL) !=
	    SBX_NET_SELECTED)
		return;
	certify_rules(certificate, KIND_DOMAIN, ANY_DETAIL, true,
	    FACT_MACOS_HOST);
	certify_rules(certificate, KIND_ENDPOINT, ANY_DETAIL, true,
	    FACT_MACOS_HOST);
	certify_rules(certificate, KIND_PROXY, ANY_DETAIL, true,
	    FACT_MACOS_LOOPBACK);
	certify_rules(certificate, KIND_PORT, SBX_HOST_TCP, true,
	    FACT_MACOS_LOOPBACK);
	certify_rules(certificate, KIND_PORT, SBX_PUBLISH_TCP, true,
	    FACT_MACOS_LOOPBACK);
}

static void
certify_loopback(struct certificate *certificate, enum fact_id fact)
{
	if (policy_net(certificate->policy, certificate->platforms, NULL) ==
	    SBX_NET_LOOPBACK)
		certify_rules(certificate, KIND_BLANKET, BLANKET_LOOPBACK, true,
		    fact);
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
		    (rule->origin.platforms & certificate->platforms) != 0)
			return true;
	}
	return false;
}

static void
certify_linux(struct certificate *certificate)
{
	const struct enforcer *enforcer = certificate->enforcer;

	certify_paths(certificate);
	if (enforcer->landlock < 4)
		certify_ports(certificate);
	certify_linux_hosts(certificate);
	if (enforcer->level < SBX_LEVEL_FULL)
		certify_loopback(certificate,
		    enforcer->level < SBX_LEVEL_STANDARD ||
			    enforcer->landlock < 4 ?
			FACT_LOOPBACK :
			FACT_INSIDE);
	if (enforcer->level == SBX_LEVEL_MINIMAL)
		certify_rules(certificate, KIND_SOCKET, ANY_DETAIL, true,
		    FACT_SOCKET);
	if (enforcer->level == SBX_LEVEL_NONE) {
		certify_rules(certificate, KIND_SOCKET, ANY_DETAIL, false,
		    FACT_FILES);
		certify_rules(certificate, KIND_BLANKET, BLANKET_SPAWN, false,
		    FACT_CALLS);
		certify_rules(certificate, KIND_SYSCALL, ANY_DETAIL, false,
		    FACT_CALLS);
		certify_rules(certificate, KIND_BLANKET, BLANKET_NETWORK, false,
		    FACT_NETWORK);
	}
}

/* Globs become regular expressions there, which also cover what is made later,
 * and denies are rules like others. */
static void
certify_macos(struct certificate *certificate)
{
	certify_loopback(certificate, FACT_MACOS_LOOPBACK);
	certify_macos_hosts(certificate);
	certify_rules(certificate, KIND_BLANKET, BLANKET_SPAWN, false,
	    FACT_MACOS_SPAWN);
	certify_rules(certificate, KIND_SYSCALL, ANY_DETAIL, false,
	    FACT_MACOS_CALLS);
	certify_rules(certificate, KIND_LIMIT, ANY_DETAIL, true,
	    FACT_MACOS_LIMIT);
	certify_rules(certificate, KIND_WATCH, ANY_DETAIL, true,
	    FACT_MACOS_WATCH);
	if (!allows_all_env(certificate))
		report_default(certificate, DIAG_TARGET_OPEN,
		    "every variable of the caller is handed on",
		    "'on macos { allow env * }' says that it may be so");
	certify_rules(certificate, KIND_ENV, ANY_DETAIL, false, FACT_MACOS_ENV);
	certify_rules(certificate, KIND_SET, ANY_DETAIL, true, FACT_MACOS_SET);
}

static void
certify_defaults(const struct certificate *certificate)
{
	const struct enforcer *enforcer = certificate->enforcer;
	int at = 1 << (enforcer->macos ? SBX_LEVEL_END : enforcer->level);

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

	if (is_refused(&certificate) ||
	    policy_has_blanket(policy, BLANKET_EVERYTHING,
		certificate.platforms))
		return;
	certify_defaults(&certificate);
	if (enforcer->macos)
		certify_macos(&certificate);
	else
		certify_linux(&certificate);
	report_inherited(&certificate);
}
