/* See plain.h: ports and hosts. */
#include "tests/model/questions/plain.h"

#include <string.h>

/* Whether some rule of a kind allows something, on any Linux or on macOS. */
static bool
has_allow(const struct plain *plain, enum rule_kind_id kind, bool services)
{
	const struct rule_list *rules = &plain->policy->rules[kind];
	bool own = kind != KIND_PORT || services;
	uint8_t platforms = plain->layout->platforms;

	if (own && (platforms & SBX_ON_LINUX))
		platforms = SBX_ON_LINUX;
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->items[i];

		if (rule->effect == SBX_ALLOW &&
		    (rule->origin.platforms & platforms) != 0 &&
		    (kind != KIND_PORT ||
			(rule->detail >= SBX_HOST_TCP) == services))
			return true;
	}
	return false;
}

enum sbx_net
plain_net(const struct plain *plain)
{
	if (plain_is_open(plain, BLANKET_NETWORK))
		return SBX_NET_FULL;
	if (plain_has(plain, BLANKET_NETWORK, false))
		return SBX_NET_NONE;
	if (has_allow(plain, KIND_DOMAIN, false) ||
	    has_allow(plain, KIND_ENDPOINT, false) ||
	    has_allow(plain, KIND_PROXY, false) ||
	    has_allow(plain, KIND_PORT, true))
		return SBX_NET_SELECTED;
	if (plain_is_open(plain, BLANKET_LOOPBACK))
		return SBX_NET_LOOPBACK;
	return has_allow(plain, KIND_PORT, false) ? SBX_NET_PORTS :
						    SBX_NET_NONE;
}

/* Whether a network of the sandbox's own is there, so that something can be
 * reached out of it or in it. */
static bool
own_works(const struct plain *plain)
{
	const struct layout *layout = plain->layout;

	return layout->level == SBX_LEVEL_FULL ||
	    (layout->level == SBX_LEVEL_STANDARD && layout->abi >= 4);
}

/* What the rules about one operation on ports say: 1, 0, or -1 for nothing. */
static int
port_rules(const struct plain *plain, unsigned op, uint16_t port)
{
	const struct rule_list *rules = &plain->policy->rules[KIND_PORT];
	int said = -1;

	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->items[i];

		if (!plain_holds(plain, &rule->origin) || rule->detail != op ||
		    port < rule->port.low || port > rule->port.high)
			continue;
		if (rule->effect != SBX_ALLOW)
			return 0;
		said = 1;
	}
	return said;
}

/* In a network of its own all ports are open, but what stands there for a
 * service of the host has its rule. */
static bool
own_port(const struct plain *plain, enum sbx_port_op op, uint16_t port)
{
	if (op >= SBX_HOST_TCP)
		return plain->net == SBX_NET_SELECTED && own_works(plain) &&
		    port_rules(plain, op, port) == 1;
	return own_works(plain) && (op != SBX_CONNECT_TCP || port != 0);
}

bool
plain_port(const struct plain *plain, enum sbx_port_op op, uint16_t port)
{
	unsigned plainly = op >= SBX_HOST_TCP ? op - SBX_HOST_TCP : op;

	if (plain->everything)
		return true;
	switch (plain->net) {
	case SBX_NET_SELECTED:
	case SBX_NET_LOOPBACK:
		return own_port(plain, op, port);
	case SBX_NET_FULL:
		return port_rules(plain, plainly, port) != 0;
	case SBX_NET_PORTS:
		return port_rules(plain, plainly, port) == 1 &&
		    plain->layout->level >= SBX_LEVEL_STANDARD &&
		    plain->layout->abi >= 4;
	case SBX_NET_NONE:
	case SBX_NET_END:
		break;
	}
	return false;
}

/* In the host's network an address is reached by its port; in one of its own
 * that only lo is in, none is. */
static bool
other_network(const struct plain *plain, uint16_t port)
{
	return plain->net != SBX_NET_LOOPBACK &&
	    plain_port(plain, SBX_CONNECT_TCP, port);
}

static bool
name_covers(const struct rule *rule, const char *name)
{
	size_t len = strlen(name), tail = strlen(rule->domain.name);

	if ((rule->domain.flags & SBX_NAME_BELOW) == 0)
		return strcmp(name, rule->domain.name) == 0;
	return len > tail + 1 && name[len - tail - 1] == '.' &&
	    strcmp(name + len - tail, rule->domain.name) == 0;
}

static bool
name_has_port(const struct rule *rule, uint16_t port)
{
	if (rule->domain.port != 0)
		return rule->domain.port == port;
	return rule->effect != SBX_ALLOW || port == 80 || port == 443;
}

/* Whether a rule of a kind allows something on this machine. */
static bool
allows_here(const struct plain *plain, enum rule_kind_id kind)
{
	const struct rule_list *rules = &plain->policy->rules[kind];

	for (size_t i = 0; i < rules->count; i++) {
		if (rules->items[i].effect == SBX_ALLOW &&
		    plain_holds(plain, &rules->items[i].origin))
			return true;
	}
	return false;
}

/* The user's own proxy decides where no name is allowed. */
static bool
proxy_decides(const struct plain *plain)
{
	return !allows_here(plain, KIND_DOMAIN) &&
	    allows_here(plain, KIND_PROXY);
}

bool
plain_has_proxy(const struct plain *plain)
{
	return plain->net == SBX_NET_SELECTED &&
	    (allows_here(plain, KIND_DOMAIN) || allows_here(plain, KIND_PROXY));
}

static bool
names_allow(const struct plain *plain, const char *name, uint16_t port,
    bool is_private)
{
	const struct rule_list *rules = &plain->policy->rules[KIND_DOMAIN];
	bool allowed = false;

	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->items[i];

		if (!plain_holds(plain, &rule->origin) ||
		    !name_covers(rule, name) || !name_has_port(rule, port))
			continue;
		if (rule->effect != SBX_ALLOW)
			return false;
		allowed |= !is_private ||
		    (rule->domain.flags & SBX_NAME_PRIVATE) != 0;
	}
	return allowed;
}

bool
plain_domain(const struct plain *plain, const char *name, uint16_t port,
    bool is_private)
{
	if (plain->everything)
		return true;
	if (plain->net != SBX_NET_SELECTED)
		return other_network(plain, port);
	return own_works(plain) &&
	    (proxy_decides(plain) ||
		names_allow(plain, name, port, is_private));
}

static bool
is_in_net(const uint8_t *net, unsigned prefix, const uint8_t *address)
{
	for (unsigned bit = 0; bit < prefix; bit++) {
		if (((net[bit / 8] ^ address[bit / 8]) >> (7 - bit % 8) & 1) !=
		    0)
			return false;
	}
	return true;
}

bool
plain_endpoint(const struct plain *plain, const uint8_t address[16],
    uint16_t port)
{
	const struct rule_list *rules = &plain->policy->rules[KIND_ENDPOINT];
	bool allowed = false;

	if (plain->everything)
		return true;
	if (plain->net != SBX_NET_SELECTED)
		return other_network(plain, port);
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->items[i];

		if (!plain_holds(plain, &rule->origin) ||
		    port < rule->endpoint.low || port > rule->endpoint.high ||
		    !is_in_net(rule->endpoint.address, rule->endpoint.prefix,
			address))
			continue;
		if (rule->effect != SBX_ALLOW)
			return false;
		allowed = true;
	}
	return allowed && own_works(plain);
}
