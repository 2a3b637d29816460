/*
 * Checks of rules about hosts: what they say of each other and of the rest of
 * the network, and which of them lead to a machine's own credentials.
 *
 * Names lie in each other and addresses, too, so spans (rules.c) do not show
 * which rule covers another one.  A name is held against the rules about it and
 * about the names above it; of addresses there are few, so that each is held
 * against each.  Of more than a blob may have, which is an error, nothing else
 * is said.
 */
#include "compiler/check/check.h"

#include "format/blob.h"
#include "format/model.h"

#include <string.h>

enum { DOMAIN_RULES, ENDPOINT_RULES };

static const struct {
	enum rule_kind_id id;
	size_t most;
} host_kinds[] = {
	[DOMAIN_RULES] = { KIND_DOMAIN, SBX_MAX_NAMES },
	[ENDPOINT_RULES] = { KIND_ENDPOINT, SBX_MAX_ENDPOINTS },
};

static const struct rule_list *
host_rules(const struct checker *checker, size_t kind)
{
	static const struct rule_list none;
	const struct rule_list *rules =
	    &checker->policy->rules[host_kinds[kind].id];

	return rules->count <= host_kinds[kind].most ? rules : &none;
}

/* --- which rule covers another -------------------------------------------- */

bool
host_is_below(const char *name, const char *above)
{
	size_t len = strlen(name), tail = strlen(above);

	return len > tail && name[len - tail - 1] == '.' &&
	    memcmp(name + len - tail, above, tail) == 0;
}

static bool
covers_name(const struct rule *wide, const struct rule *rule)
{
	bool below = wide->domain.flags & SBX_NAME_BELOW;

	if (wide->domain.name == rule->domain.name)
		return below == ((rule->domain.flags & SBX_NAME_BELOW) != 0);
	return below && host_is_below(rule->domain.name, wide->domain.name);
}

/* Without a port a deny is for all of them, and an allow for 80 and 443. */
static bool
covers_port(const struct rule *wide, const struct rule *rule)
{
	uint16_t port = rule->domain.port;

	if (wide->domain.port == port)
		return true;
	return wide->domain.port == 0 &&
	    (wide->effect != SBX_ALLOW || port == 80 || port == 443);
}

/* Without a request a rule is about all of them, and with a secret about more. */
static bool
covers_request(const struct rule *wide, const struct rule *rule)
{
	if (wide->effect == rule->effect && rule->domain.secret != NULL &&
	    (wide->domain.secret != rule->domain.secret ||
		wide->domain.variable != rule->domain.variable))
		return false;
	if (wide->domain.path == NULL)
		return true;
	if (rule->domain.path == NULL)
		return false;
	return (wide->domain.method == rule->domain.method ||
		   strcmp(wide->domain.method, "*") == 0) &&
	    (wide->domain.path == rule->domain.path ||
		strcmp(wide->domain.path, "/**") == 0);
}

static bool
covers_domain(const struct rule *wide, const struct rule *rule)
{
	return covers_name(wide, rule) && covers_port(wide, rule) &&
	    covers_request(wide, rule) &&
	    (rule->effect != wide->effect ||
		(rule->domain.flags & ~wide->domain.flags & SBX_NAME_PRIVATE) ==
		    0);
}

static bool
covers_endpoint(const struct rule *wide, const struct rule *rule)
{
	return wide->endpoint.prefix <= rule->endpoint.prefix &&
	    sbx_address_covers(wide->endpoint.address, wide->endpoint.prefix,
		rule->endpoint.address) &&
	    wide->endpoint.low <= rule->endpoint.low &&
	    wide->endpoint.high >= rule->endpoint.high;
}

static bool
covers(const struct rule *wide, const struct rule *rule)
{
	if ((rule->origin.platforms & ~wide->origin.platforms) != 0)
		return false;
	return rule->kind == KIND_DOMAIN ? covers_domain(wide, rule) :
					   covers_endpoint(wide, rule);
}

/* The rules of a kind by their names, those of a name in their order; rules
 * about addresses have none. */
struct host_index {
	const struct rule_list *rules;
	struct map names;
	VEC(uint32_t) first; /* by the number of the name: 1 + the rule */
	uint32_t *next;      /* by the rule: 1 + the next one, or 0 */
};

static const char *
rule_name(const struct rule *rule)
{
	return rule->kind == KIND_DOMAIN ? rule->domain.name : "";
}

static struct host_index
host_index_make(const struct checker *checker, size_t kind)
{
	struct host_index index = { .rules = host_rules(checker, kind) };

	index.next = arena_alloc(checker->arena,
	    index.rules->count * sizeof *index.next);
	for (size_t i = index.rules->count; i-- > 0;) {
		const char *name = rule_name(&index.rules->items[i]);
		bool added;
		size_t number = map_number(checker->arena, &index.names, name,
		    strlen(name), &added);

		if (added)
			*arena_push(checker->arena, &index.first) = 0;
		index.next[i] = index.first.items[number];
		index.first.items[number] = (uint32_t)i + 1;
	}
	return index;
}

/* A rule of this effect, about this name, that covers another; of two that say
 * the same the first is left, or the inherited one, so none covers itself. */
static const struct rule *
find_at(const struct host_index *index, const char *name,
    const struct rule *rule, enum sbx_effect effect)
{
	size_t number = map_number_find(&index->names, name, strlen(name));
	uint32_t at = number == SIZE_MAX ? 0 : index->first.items[number];

	for (; at != 0; at = index->next[at - 1]) {
		const struct rule *wide = &index->rules->items[at - 1];

		if (wide->effect != effect || !covers(wide, rule))
			continue;
		if (effect != rule->effect || !covers(rule, wide) ||
		    !wide->origin.own || wide < rule)
			return wide;
	}
	return NULL;
}

/* The first one about the name or one above it. */
static const struct rule *
find_wide(const struct host_index *index, const struct rule *rule,
    enum sbx_effect effect)
{
	const struct rule *first = NULL;

	for (const char *name = rule_name(rule); name != NULL;
	     name = strchr(name, '.')) {
		const struct rule *wide;

		name += *name == '.';
		wide = find_at(index, name, rule, effect);
		if (first == NULL || (wide != NULL && wide < first))
			first = wide;
	}
	return first;
}

/* The deny that takes all of a rule, or NULL. */
static const struct rule *
find_deny(const struct host_index *index, const struct rule *rule)
{
	const struct rule *deny = find_wide(index, rule, SBX_DENY);

	return deny != NULL ? deny : find_wide(index, rule, SBX_PREFER_DENY);
}

/* What the check that runs has to say of a rule. */
static void
judge_host(struct checker *checker, const struct host_index *index,
    const struct rule *rule)
{
	const struct rule *other;

	if (checker->id != DIAG_ALLOW_DENIED) {
		other = find_wide(index, rule, rule->effect);
		if (other != NULL)
			report_within(checker, rule, other);
		return;
	}
	other = rule->effect == SBX_ALLOW ? find_deny(index, rule) : NULL;
	if (other != NULL)
		report_denied(checker, rule, other);
}

void
check_host(struct checker *checker)
{
	for (size_t k = 0; k < countof(host_kinds); k++) {
		const struct host_index index = host_index_make(checker, k);

		for (size_t i = 0; i < index.rules->count; i++) {
			if (index.rules->items[i].origin.own)
				judge_host(checker, &index,
				    &index.rules->items[i]);
		}
	}
}

/* --- beside the rest of the network --------------------------------------- */

static bool
is_host_rule(const struct rule *rule)
{
	return rule->effect == SBX_ALLOW &&
	    (rule->kind == KIND_DOMAIN || rule->kind == KIND_ENDPOINT ||
		rule->kind == KIND_PROXY ||
		(rule->kind == KIND_PORT && rule->detail >= SBX_HOST_TCP));
}

/* Whether it is about the host's network. */
static bool
is_outer_rule(const struct rule *rule)
{
	if (rule->effect != SBX_ALLOW)
		return false;
	return (rule->kind == KIND_PORT && rule->detail < SBX_HOST_TCP) ||
	    (rule->kind == KIND_BLANKET &&
		(rule->detail == BLANKET_NETWORK ||
		    rule->detail == BLANKET_ABSTRACT));
}

/* The first rule about hosts on some platform, of the user's own if there is
 * one. */
static const struct rule *
find_host(const struct policy *policy, uint8_t platforms)
{
	static const enum rule_kind_id kinds[] = { KIND_DOMAIN, KIND_ENDPOINT,
		KIND_PROXY, KIND_PORT };
	const struct rule *found = NULL;

	for (size_t k = 0; k < countof(kinds); k++) {
		const struct rule_list *rules = &policy->rules[kinds[k]];

		for (size_t i = 0; i < rules->count; i++) {
			const struct rule *rule = &rules->items[i];

			if (is_host_rule(rule) &&
			    (rule->origin.platforms & platforms) != 0 &&
			    (found == NULL ||
				(rule->origin.own && !found->origin.own)))
				found = rule;
		}
	}
	return found;
}

static void
report_beside(struct checker *checker, const struct rule *rule,
    const struct rule *host)
{
	const char *text = rule_text(checker->policy, rule);
	struct diag *diag = check_report(checker, rule->origin.loc,
	    "'%s' and '%s' exclude each other", text,
	    rule_text(checker->policy, host));

	if (rule->kind == KIND_PORT)
		diag_help(diag,
		    "a rule about a port has no address: name the hosts "
		    "instead, as in 'network domain github.com:%u', or keep "
		    "ports alone",
		    (unsigned)rule->port.low);
	else
		diag_help(diag,
		    "the host's network has no way to let single hosts "
		    "through: keep one of the two%s",
		    rule->origin.own ? "" : ", or 'drop' the inherited rule");
	diag_note(diag, host->origin.loc, "the host is allowed here");
}

/* On which platforms a rule about the host's network holds. */
static uint8_t
platforms_held(const struct policy *policy, const struct rule *rule)
{
	enum blanket_kind blanket = (enum blanket_kind)rule->detail;
	uint8_t held = rule->origin.platforms;

	for (uint8_t bit = 1; bit <= SBX_ON_MACOS; bit <<= 1) {
		if (rule->kind == KIND_BLANKET &&
		    !policy_has_blanket(policy, blanket, bit))
			held &= (uint8_t)~bit;
	}
	return held;
}

/* A rule about a host needs a network of the sandbox's own. */
void
check_hosts_beside(struct checker *checker)
{
	static const enum rule_kind_id kinds[] = { KIND_PORT, KIND_BLANKET };
	const struct policy *policy = checker->policy;
	const struct rule *hosts[SBX_ON_ALL + 1];

	for (uint8_t platforms = 0; platforms < countof(hosts); platforms++)
		hosts[platforms] = find_host(policy, platforms);
	for (size_t k = 0; k < countof(kinds); k++) {
		const struct rule_list *rules = &policy->rules[kinds[k]];

		for (size_t i = 0; i < rules->count; i++) {
			const struct rule *rule = &rules->items[i], *host;

			if (!is_outer_rule(rule))
				continue;
			host = hosts[platforms_held(policy, rule)];
			if (host != NULL)
				report_beside(checker, rule, host);
		}
	}
}

void
check_hosts_network_denied(struct checker *checker)
{
	for (uint8_t bit = 1; bit <= SBX_ON_MACOS; bit <<= 1) {
		const struct platform_fact *fact = &checker->on[bit];
		const struct rule *host = find_host(checker->policy, bit);
		struct diag *diag;

		if (fact->net != SBX_NET_NONE || host == NULL ||
		    !host->origin.own || fact->net_origin.loc.end == 0)
			continue;
		diag = check_report(checker, host->origin.loc,
		    "rules about hosts have no effect: the network is denied");
		diag_help(diag,
		    "delete the deny: what is not allowed is denied anyway");
		diag_note(diag, fact->net_origin.loc, "it is denied here");
		return;
	}
}

/* One for each machine, so that all that rules name is one. */
void
check_proxy_twice(struct checker *checker, const struct rule *rule)
{
	const struct rule *first = checker->policy->rules[KIND_PROXY].items;

	for (; first < rule; first++) {
		if ((first->origin.platforms & rule->origin.platforms) != 0 &&
		    !rule_equals(first, rule)) {
			note_rule(checker,
			    rule_report(checker, rule, "is a second proxy",
				NULL),
			    first);
			return;
		}
	}
}

/* A service of the host cannot be brought to a port inside that a server inside
 * has: whoever connected would be led round and round. */
static const struct rule *
find_published(const struct rule_list *ports, const struct rule *host)
{
	for (size_t i = 0; i < ports->count; i++) {
		const struct rule *rule = &ports->items[i];

		if (rule->effect == SBX_ALLOW &&
		    rule->detail == SBX_PUBLISH_TCP &&
		    (rule->origin.platforms & host->origin.platforms) != 0 &&
		    rule->port.low <= host->port.high &&
		    host->port.low <= rule->port.high)
			return rule;
	}
	return NULL;
}

void
check_host_published(struct checker *checker, const struct rule *rule)
{
	const struct rule *other;
	struct diag *diag;

	if (rule->effect != SBX_ALLOW || rule->detail != SBX_HOST_TCP)
		return;
	other = find_published(&checker->policy->rules[KIND_PORT], rule);
	if (other == NULL)
		return;
	diag = check_report(checker, rule->origin.loc,
	    "'%s' and '%s' exclude each other",
	    rule_text(checker->policy, rule),
	    rule_text(checker->policy, other));
	diag_help(diag,
	    "a port inside is the host's service or a server of the sandbox: "
	    "let one of them have another port");
	diag_note(diag, other->origin.loc, "it is published here");
}

/* --- credentials of the machine ------------------------------------------- */

/* What of a rule about addresses lies in a network where clouds give a machine
 * its keys; false if nothing does. */
static bool
narrow_to(struct rule *rule, const uint8_t *net, uint8_t prefix)
{
	uint8_t own = rule->endpoint.prefix;

	if (!sbx_address_covers(net, own < prefix ? own : prefix,
		rule->endpoint.address))
		return false;
	if (own < prefix) {
		memcpy(rule->endpoint.address, net, SBX_ADDRESS_SIZE);
		rule->endpoint.prefix = prefix;
	}
	return true;
}

static bool
gives_keys(const struct host_index *index, const struct rule *rule)
{
	const uint8_t *net;
	uint8_t prefix;

	for (size_t i = 0; (net = sbx_address_metadata(i, &prefix)) != NULL;
	     i++) {
		struct rule some = *rule;

		if (narrow_to(&some, net, prefix) &&
		    find_deny(index, &some) == NULL)
			return true;
	}
	return false;
}

void
check_host_metadata(struct checker *checker)
{
	const struct host_index index = host_index_make(checker,
	    ENDPOINT_RULES);

	for (size_t i = 0; i < index.rules->count; i++) {
		const struct rule *rule = &index.rules->items[i];

		if (rule->effect == SBX_ALLOW && rule->origin.own &&
		    gives_keys(&index, rule))
			rule_report(checker, rule,
			    "leads to where a cloud gives out the machine's "
			    "credentials",
			    "delete it, or name the hosts that are meant");
	}
}
