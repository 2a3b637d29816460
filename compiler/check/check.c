/*
 * The table of checks and the small ones: everything that a well-formed policy
 * can get wrong is one function of this table.  No check changes the policy
 * and none depends on another; records are put in source order when they are
 * printed.
 *
 * Rules that come from a shipped profile are not reported: who inherits them
 * cannot change them.
 */
#include "compiler/check/check.h"

#include "compiler/tables/tables.h"

struct diag *
check_report(struct checker *checker, struct loc loc, const char *format, ...)
{
	char text[SBX_MAX_PATH + 256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	return diag_add(checker->diags, checker->id, loc, "%s", text);
}

struct diag *
rule_report(struct checker *checker, const struct rule *rule, const char *says,
    const char *help)
{
	struct diag *diag = check_report(checker, rule->origin.loc, "'%s' %s",
	    rule_text(checker->policy, rule), says);

	if (help != NULL)
		diag_help(diag, "%s", help);
	return diag;
}

static const struct rule_list *
blankets_of(const struct checker *checker)
{
	return &checker->policy->rules[KIND_BLANKET];
}

/* The first rule that denies the network, for each set of platforms. */
struct network_denies {
	const struct rule *of[SBX_ON_ALL + 1];
};

static struct network_denies
network_denies_find(const struct checker *checker)
{
	const struct rule_list *blankets = blankets_of(checker);
	struct network_denies denies = { { NULL } };

	for (size_t i = blankets->count; i-- > 0;) {
		const struct rule *deny = &blankets->items[i];

		if (deny->detail == BLANKET_NETWORK &&
		    deny->effect != SBX_ALLOW)
			denies.of[deny->origin.platforms] = deny;
	}
	return denies;
}

/* A rule that denies the network wherever the given one holds, or NULL. */
static const struct rule *
network_deny(const struct network_denies *denies, const struct rule *rule)
{
	for (size_t on = 0; on < countof(denies->of); on++) {
		if (denies->of[on] != NULL &&
		    (rule->origin.platforms & ~on) == 0)
			return denies->of[on];
	}
	return NULL;
}

/* `deny network full` beats ports too, and a network of its own. */
static void
check_network_denied(struct checker *checker)
{
	const struct network_denies denies = network_denies_find(checker);
	const struct rule_list *blankets = blankets_of(checker);
	const struct rule_list *ports = &checker->policy->rules[KIND_PORT];

	for (size_t i = 0; i < blankets->count; i++) {
		const struct rule *rule = &blankets->items[i];
		const struct rule *deny;

		if (rule->detail != BLANKET_LOOPBACK ||
		    rule->effect != SBX_ALLOW || !rule->origin.own)
			continue;
		deny = network_deny(&denies, rule);
		if (deny == NULL)
			continue;
		note_rule(checker,
		    rule_report(checker, rule,
			"has no effect: the network is denied", NULL),
		    deny);
	}
	for (size_t i = 0; i < ports->count; i++) {
		const struct rule *rule = &ports->items[i];
		const struct rule *deny = network_deny(&denies, rule);
		struct diag *diag;

		if (deny == NULL || rule->effect != SBX_ALLOW ||
		    !rule->origin.own)
			continue;
		diag = check_report(checker, rule->origin.loc,
		    "ports have no effect: the network is denied");
		diag_help(diag,
		    "delete the deny: what is not allowed is denied anyway");
		note_rule(checker, diag, deny);
		return;
	}
}

/* Landlock's part of a blanket rule is the same on every Linux. */
static void
check_blanket_machine(struct checker *checker, const struct rule *rule)
{
	uint8_t linux_part = rule->origin.platforms & SBX_ON_LINUX;

	if (linux_part != 0 && linux_part != SBX_ON_LINUX)
		rule_report(checker, rule,
		    arena_printf(checker->arena, "cannot hold for %s alone",
			platform_text(linux_part)),
		    "write 'on linux { ... }'");
}

/* --- allow everything ----------------------------------------------------- */

/* The rule that allows everything on one of these platforms, or NULL. */
static const struct rule *
everything_find(const struct checker *checker, uint8_t platforms)
{
	const struct rule_list *blankets = blankets_of(checker);

	for (size_t i = 0; i < blankets->count; i++) {
		const struct rule *rule = &blankets->items[i];

		if (rule->detail == BLANKET_EVERYTHING &&
		    (rule->origin.platforms & platforms) != 0)
			return rule;
	}
	return NULL;
}

/* On which platforms everything is allowed. */
static uint8_t
everything_where(const struct checker *checker)
{
	const struct rule_list *blankets = blankets_of(checker);
	uint8_t platforms = 0;

	for (size_t i = 0; i < blankets->count; i++) {
		if (blankets->items[i].detail == BLANKET_EVERYTHING)
			platforms |= blankets->items[i].origin.platforms;
	}
	return platforms;
}

/* What a rule beside `allow everything` comes to. */
struct beside {
	struct checker *checker;
	bool denies;   /* which rules are asked about: denies, or the rest */
	bool reported; /* one inherited deny is enough */
};

static void
beside_report(struct beside *beside, const struct origin *origin,
    const struct rule *everything)
{
	struct checker *checker = beside->checker;
	bool own = origin->own;
	struct diag *diag;

	if (!own && (!beside->denies || beside->reported))
		return;
	beside->reported |= !own;
	if (beside->denies && own)
		diag = check_report(checker, origin->loc,
		    "nothing enforces this deny beside 'allow everything'");
	else if (beside->denies)
		diag = check_report(checker,
		    everything->origin.own ? everything->origin.loc :
					     checker->policy->profile_loc,
		    "'allow everything' leaves the inherited denies without "
		    "effect");
	else
		diag = check_report(checker, origin->loc,
		    "this rule says nothing beside 'allow everything'");
	if (beside->denies)
		diag_help(diag,
		    "'allow everything' runs without Landlock and without a "
		    "filter: allow what is needed instead");
	diag_note(diag, own ? everything->origin.loc : origin->loc,
	    own ? "everything is allowed here" : "one of them is here");
}

static void
beside_rule(struct beside *beside, const struct origin *origin,
    enum sbx_effect effect)
{
	const struct rule *everything = everything_find(beside->checker,
	    origin->platforms);

	/* What says something on one platform is no rule without effect. */
	if (!beside->denies &&
	    (origin->platforms & ~everything_where(beside->checker)) != 0)
		return;
	if (everything != NULL && (effect == SBX_DENY) == beside->denies)
		beside_report(beside, origin, everything);
}

/* Denies, or the rest, as the code of the check that runs says. */
static void
check_beside(struct checker *checker)
{
	struct beside beside = {
		.checker = checker,
		.denies = checker->id == DIAG_DENY_BESIDE_EVERYTHING,
	};
	const struct policy *policy = checker->policy;

	if (everything_find(checker, SBX_ON_ALL) == NULL)
		return;
	for (size_t i = 0; i < policy->paths.count; i++)
		beside_rule(&beside, &policy->paths.items[i].origin,
		    policy->paths.items[i].effect);
	for (int id = 0; id < KIND_END; id++) {
		const struct rule_list *rules = &policy->rules[id];

		for (size_t i = 0; i < rules->count; i++) {
			const struct rule *rule = &rules->items[i];

			if (!rule_kinds[id]->holds_beside_everything &&
			    (rule->kind != KIND_BLANKET ||
				rule->detail != BLANKET_EVERYTHING))
				beside_rule(&beside, &rule->origin,
				    rule->effect);
		}
	}
}

static void
report_floor(struct checker *checker, const struct origin *origin,
    const struct rule *everything, const char *what)
{
	struct diag *diag;

	if (origin->loc.end == 0)
		return;
	diag = check_report(checker, origin->loc,
	    "'require %s' cannot be met beside 'allow everything'", what);
	diag_help(diag,
	    "'allow everything' runs without Landlock and without a filter");
	note_rule(checker, diag, everything);
}

static void
check_everything_level(struct checker *checker)
{
	const struct policy *policy = checker->policy;
	const struct rule *everything = everything_find(checker, SBX_ON_LINUX);

	if (everything == NULL)
		return;
	if (policy->level != SBX_LEVEL_NONE)
		report_floor(checker, &policy->level_origin, everything,
		    "level");
	report_floor(checker, &policy->landlock_origin, everything, "landlock");
}

/* Told where the user's own file says it, if only by the name of a parent. */
static void
check_risk_everything(struct checker *checker)
{
	const struct policy *policy = checker->policy;
	const struct rule_list *blankets = blankets_of(checker);

	for (size_t i = 0; i < blankets->count; i++) {
		const struct rule *rule = &blankets->items[i];

		if (rule->detail != BLANKET_EVERYTHING ||
		    rule->effect != SBX_ALLOW)
			continue;
		diag_help(check_report(checker,
			      rule->origin.own ? rule->origin.loc :
						 policy->profile_loc,
			      "profile '%s' confines nothing but by its limits",
			      policy->profile),
		    "extend 'coding' and allow what is missing");
		return;
	}
}

/* --- the table ------------------------------------------------------------ */

#define OF(kind) (1u << (kind))
#define OF_HOSTS (OF(KIND_DOMAIN) | OF(KIND_ENDPOINT) | OF(KIND_PORT))

/* A check looks at the policy as a whole, or at each rule of some kinds. */
static const struct check {
	enum diag_id id;
	policy_check *whole;
	rule_check *each;
	uint32_t kinds;
} checks[] = {
	{ DIAG_DUPLICATE_RULE, check_path, NULL, 0 },
	{ DIAG_DUPLICATE_RULE, check_rule, NULL, 0 },
	{ DIAG_DUPLICATE_RULE, check_host, NULL, 0 },
	{ DIAG_COVERED_RULE, check_path, NULL, 0 },
	{ DIAG_COVERED_RULE, check_rule, NULL, 0 },
	{ DIAG_COVERED_RULE, check_host, NULL, 0 },
	{ DIAG_COVERED_RULE, NULL, check_port_full, OF(KIND_PORT) },
	{ DIAG_COVERED_RULE, NULL, check_loopback_full, OF(KIND_BLANKET) },
	{ DIAG_USELESS_DENY, check_path, NULL, 0 },
	{ DIAG_BESIDE_EVERYTHING, check_beside, NULL, 0 },
	{ DIAG_LIFTS_NO_SYSCALL, NULL, check_syscall_idle, OF(KIND_SYSCALL) },
	{ DIAG_ALLOW_DENIED, check_path, NULL, 0 },
	{ DIAG_ALLOW_DENIED, check_rule, NULL, 0 },
	{ DIAG_ALLOW_DENIED, check_network_denied, NULL, 0 },
	{ DIAG_ALLOW_DENIED, check_host, NULL, 0 },
	{ DIAG_ALLOW_DENIED, check_hosts_network_denied, NULL, 0 },
	{ DIAG_ALLOW_INSIDE_DENY, check_path, NULL, 0 },
	{ DIAG_SET_DENIED, check_set_denied, NULL, 0 },
	{ DIAG_BESIDE_LOOPBACK, NULL, check_loopback_beside,
	    OF(KIND_PORT) | OF(KIND_BLANKET) },
	{ DIAG_BESIDE_HOSTS, check_hosts_beside, NULL, 0 },
	{ DIAG_SAID_TWICE, NULL, check_proxy_twice, OF(KIND_PROXY) },
	{ DIAG_BESIDE_HOSTS, NULL, check_host_published, OF(KIND_PORT) },
	{ DIAG_PUBLISHED_WAY, NULL, check_published_way, OF(KIND_PORT) },
	{ DIAG_IDLE_DENY, NULL, check_host_deny_idle, OF_HOSTS },
	{ DIAG_IDLE_SOCKET, NULL, check_socket_idle, OF(KIND_SOCKET) },
	{ DIAG_APEX, NULL, check_host_apex, OF(KIND_DOMAIN) },
	{ DIAG_LOADER_SYSCALL, check_syscall_loader, NULL, 0 },
	{ DIAG_UNENFORCEABLE_PATH, check_path_unenforceable, NULL, 0 },
	{ DIAG_PORTS_NEED_LANDLOCK, check_port_landlock, NULL, 0 },
	{ DIAG_ABSENT_SYSCALL, NULL, check_syscall_absent, OF(KIND_SYSCALL) },
	{ DIAG_DENY_BESIDE_EVERYTHING, check_beside, NULL, 0 },
	{ DIAG_LEVEL_BESIDE_EVERYTHING, check_everything_level, NULL, 0 },
	{ DIAG_PORT_DENY, NULL, check_port_deny_full, OF(KIND_PORT) },
	{ DIAG_PORT_DENY, NULL, check_host_deny_open, OF_HOSTS },
	{ DIAG_ONE_MACHINE, NULL, check_blanket_machine, OF(KIND_BLANKET) },
	{ DIAG_SYSCALL_MACOS, NULL, check_syscall_macos, OF(KIND_SYSCALL) },
	{ DIAG_RISKY_EVERYTHING, check_risk_everything, NULL, 0 },
	{ DIAG_RISKY_WRITE, check_risk, NULL, 0 },
	{ DIAG_RISKY_STARTUP, check_risk, NULL, 0 },
	{ DIAG_RISKY_PATH, check_risk, NULL, 0 },
	{ DIAG_RISKY_SCHEDULE, check_risk, NULL, 0 },
	{ DIAG_RISKY_HOOKS, check_risk, NULL, 0 },
	{ DIAG_RISKY_HOOKS, check_risk_hooks, NULL, 0 },
	{ DIAG_WRITE_AND_EXEC, check_risk_write_exec, NULL, 0 },
	{ DIAG_READABLE_SECRETS, check_risk, NULL, 0 },
	{ DIAG_READABLE_SECRETS, check_risk_secrets, NULL, 0 },
	{ DIAG_SECRETS_CAN_LEAVE, check_risk_leak, NULL, 0 },
	{ DIAG_SINGLE_FILE, check_risk_single_file, NULL, 0 },
	{ DIAG_UNWATCHED, check_path_unwatched, NULL, 0 },
	{ DIAG_MIXED_LETTERS, check_path_letters, NULL, 0 },
	{ DIAG_RISKY_IO_URING, NULL, check_syscall_io_uring, OF(KIND_SYSCALL) },
	{ DIAG_RISKY_SYSCALLS, NULL, check_syscall_broad, OF(KIND_SYSCALL) },
	{ DIAG_RULING_SYSCALL, NULL, check_syscall_ruling, OF(KIND_SYSCALL) },
	{ DIAG_RISKY_SOCKET, check_risk, NULL, 0 },
	{ DIAG_SHARED_HOST, check_known_host, NULL, 0 },
	{ DIAG_SHARED_HOST, check_host_metadata, NULL, 0 },
	{ DIAG_FORGE_HOST, check_known_host, NULL, 0 },
	{ DIAG_RISKY_SOCKET, check_socket, NULL, 0 },
	{ DIAG_ESCAPING_SOCKET, check_socket, NULL, 0 },
};

static void
run_check(struct checker *checker, const struct check *check)
{
	checker->id = check->id;
	if (check->whole != NULL) {
		check->whole(checker);
		return;
	}
	for (int id = 0; id < KIND_END; id++) {
		const struct rule_list *rules = &checker->policy->rules[id];

		for (size_t i = 0;
		     (check->kinds & OF(id)) != 0 && i < rules->count; i++)
			check->each(checker, &rules->items[i]);
	}
}

static void
platforms_judge(struct checker *checker)
{
	const struct rule_list *names = &checker->policy->rules[KIND_DOMAIN];

	for (size_t i = 0; i < names->count; i++) {
		if (names->items[i].effect == SBX_ALLOW)
			checker->named |= names->items[i].origin.platforms;
	}
	for (uint8_t bit = 1; bit <= SBX_ON_MACOS; bit <<= 1) {
		struct platform_fact *fact = &checker->on[bit];

		fact->everything = policy_has_blanket(checker->policy,
		    BLANKET_EVERYTHING, bit);
		fact->net = policy_net(checker->policy, bit, &fact->net_origin);
	}
}

void
check_policy(const struct policy *policy, struct diags *diags)
{
	struct checker checker = {
		.policy = policy,
		.diags = diags,
		.arena = policy->arena,
	};

	platforms_judge(&checker);
	paths_judge(&checker);
	risks_judge(&checker);
	baseline_calls(checker.arena, &checker.baseline);
	for (size_t i = 0; i < countof(checks); i++)
		run_check(&checker, &checks[i]);
}
