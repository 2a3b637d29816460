/*
 * Denies about hosts that take nothing away: nothing that is allowed is what
 * they deny, or it is reached in a way that they are not asked about.  And
 * published ports at which no server inside can listen.
 */
#include "compiler/check/check.h"

#include "format/model.h"

/* --- what meets what ------------------------------------------------------ */

static bool
names_meet(const struct rule *a, const struct rule *b)
{
	bool a_below = a->domain.flags & SBX_NAME_BELOW;
	bool b_below = b->domain.flags & SBX_NAME_BELOW;

	/* A deny of what a pattern leaves out says that it was thought of. */
	if (a->domain.name == b->domain.name)
		return true;
	return (a_below && host_is_below(b->domain.name, a->domain.name)) ||
	    (b_below && host_is_below(a->domain.name, b->domain.name));
}

/* Without a port a deny is for all of them, and an allow for 80 and 443. */
static bool
allows_port(const struct rule *allow, uint16_t port)
{
	if (allow->domain.port == 0)
		return port == 80 || port == 443;
	return allow->domain.port == port;
}

static bool
addresses_meet(const struct rule *a, const struct rule *b)
{
	const struct rule *wide = a->endpoint.prefix <= b->endpoint.prefix ? a :
									     b;

	return sbx_address_covers(wide->endpoint.address, wide->endpoint.prefix,
		   wide == a ? b->endpoint.address : a->endpoint.address) &&
	    a->endpoint.low <= b->endpoint.high &&
	    b->endpoint.low <= a->endpoint.high;
}

static bool
meets(const struct rule *deny, const struct rule *allow)
{
	if ((deny->origin.platforms & allow->origin.platforms) == 0 ||
	    allow->effect != SBX_ALLOW)
		return false;
	if (deny->kind == KIND_DOMAIN)
		return names_meet(deny, allow) &&
		    (deny->domain.port == 0 ||
			allows_port(allow, deny->domain.port));
	if (deny->kind == KIND_ENDPOINT)
		return addresses_meet(deny, allow);
	return deny->detail == allow->detail &&
	    deny->port.low <= allow->port.high &&
	    allow->port.low <= deny->port.high;
}

static bool
meets_some(const struct policy *policy, const struct rule *deny)
{
	const struct rule_list *rules = &policy->rules[deny->kind];
	const struct rule_list *names = &policy->rules[KIND_DOMAIN];

	for (size_t i = 0; i < rules->count; i++) {
		if (meets(deny, &rules->items[i]))
			return true;
	}
	if (deny->kind != KIND_ENDPOINT)
		return false;
	/* A name may lead to any address. */
	for (size_t i = 0; i < names->count; i++) {
		if (names->items[i].effect == SBX_ALLOW &&
		    (names->items[i].origin.platforms &
			deny->origin.platforms) != 0)
			return true;
	}
	return false;
}

/* --- denies --------------------------------------------------------------- */

/* A deny about hosts, and not about the ports of the host's network. */
static bool
is_host_deny(const struct rule *rule)
{
	return rule->effect != SBX_ALLOW &&
	    (rule->kind != KIND_PORT || rule->detail >= SBX_HOST_TCP);
}

/* What opens the network as a whole on a platform of the rule, past a deny of
 * a host; or NULL. */
static const char *
find_open(const struct checker *checker, const struct rule *deny,
    struct origin *origin)
{
	for (uint8_t bit = 1; bit <= SBX_ON_MACOS; bit <<= 1) {
		const struct platform_fact *fact = &checker->on[bit];

		if ((deny->origin.platforms & bit) == 0 || fact->everything)
			continue;
		*origin = fact->net_origin;
		if (fact->net == SBX_NET_FULL)
			return "the whole network is allowed";
		if (fact->net == SBX_NET_PORTS)
			return "a port is allowed, whatever the host";
	}
	return NULL;
}

/* The proxy of the user that decides by itself, on a platform of the rule. */
static const struct rule *
find_proxy(const struct checker *checker, const struct rule *deny)
{
	const struct rule_list *proxies = &checker->policy->rules[KIND_PROXY];
	uint8_t platforms = deny->origin.platforms & (uint8_t)~checker->named;

	for (size_t i = 0; i < proxies->count && deny->kind == KIND_DOMAIN;
	     i++) {
		if ((proxies->items[i].origin.platforms & platforms) != 0)
			return &proxies->items[i];
	}
	return NULL;
}

void
report_unheld(struct checker *checker, const struct rule *deny,
    const struct origin *origin, const char *because, const char *help)
{
	bool own = deny->origin.own;
	struct diag *diag;

	if (!own && !origin->own)
		return;
	diag = check_report(checker, own ? deny->origin.loc : origin->loc,
	    "nothing enforces '%s' while %s", rule_text(checker->policy, deny),
	    because);
	diag_help(diag, "%s", help);
	diag_note(diag, own ? origin->loc : deny->origin.loc,
	    own ? "that is allowed here" : "the deny is here");
}

void
check_host_deny_open(struct checker *checker, const struct rule *deny)
{
	const struct rule *proxy;
	struct origin origin;
	const char *open;

	if (!is_host_deny(deny))
		return;
	open = find_open(checker, deny, &origin);
	proxy = find_proxy(checker, deny);
	if (open != NULL)
		report_unheld(checker, deny, &origin, open,
		    "name what is to be reached instead: "
		    "'allow network domain NAME'");
	else if (proxy != NULL)
		report_unheld(checker, deny, &proxy->origin,
		    "the user's own proxy decides by itself",
		    "deny it there, or allow the names that are to be "
		    "reached: they are decided first");
}

void
check_host_deny_idle(struct checker *checker, const struct rule *deny)
{
	struct origin origin;

	if (is_host_deny(deny) && deny->origin.own &&
	    !meets_some(checker->policy, deny) &&
	    find_open(checker, deny, &origin) == NULL &&
	    find_proxy(checker, deny) == NULL)
		rule_report(checker, deny,
		    "takes nothing away: no rule allows it",
		    "what is not allowed is denied anyway; a deny is for a "
		    "part of what an allow opens");
}

/* --- published ports ------------------------------------------------------ */

/* Whether sockets of sbxrun's own listen inside on a port of the range. */
static bool
leads_out(const struct rule *rule, const struct rule *published)
{
	uint16_t low = published->port.low, high = published->port.high;

	if (rule->effect != SBX_ALLOW ||
	    (rule->origin.platforms & published->origin.platforms) == 0)
		return false;
	if (rule->kind == KIND_ENDPOINT)
		return rule->endpoint.low <= high && low <= rule->endpoint.high;
	for (uint32_t port = low; port <= high; port++) {
		if (allows_port(rule, (uint16_t)port))
			return true;
	}
	return false;
}

static const struct rule *
find_way(const struct policy *policy, const struct rule *published)
{
	static const enum rule_kind_id kinds[] = { KIND_DOMAIN, KIND_ENDPOINT };

	for (size_t k = 0; k < countof(kinds); k++) {
		const struct rule_list *rules = &policy->rules[kinds[k]];

		for (size_t i = 0; i < rules->count; i++) {
			if (leads_out(&rules->items[i], published))
				return &rules->items[i];
		}
	}
	return NULL;
}

void
check_published_way(struct checker *checker, const struct rule *rule)
{
	const struct rule *way;
	bool own = rule->origin.own;
	struct diag *diag;

	if (rule->effect != SBX_ALLOW || rule->detail != SBX_PUBLISH_TCP)
		return;
	way = find_way(checker->policy, rule);
	if (way == NULL || (!own && !way->origin.own))
		return;
	diag = check_report(checker, own ? rule->origin.loc : way->origin.loc,
	    "at level full no server inside can listen on a port of '%s'",
	    rule_text(checker->policy, rule));
	diag_help(diag,
	    "'%s' takes the port, since it leads out: publish another one",
	    rule_text(checker->policy, way));
	diag_note(diag, own ? way->origin.loc : rule->origin.loc,
	    own ? "it leads out here" : "it is published here");
}
