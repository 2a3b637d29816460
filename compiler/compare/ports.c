/*
 * Ports.  What a policy says of a port changes only where a range begins or
 * has just ended, so it is enough to ask there; and if nothing else about the
 * network changed, only in the ranges that came or went.
 *
 * A network of the sandbox's own opens every port and leads nowhere: that is
 * more than nothing and less than the same port of the host's network.
 */
#include "compiler/compare/compare.h"

#include <string.h>

enum reach { REACH_NOTHING, REACH_INSIDE, REACH_OUTSIDE };

enum { PORT_COUNT = UINT16_MAX + 1 };

/* Which ports to ask about: those that are both. */
struct ports {
	bool edge[PORT_COUNT + 1]; /* a range begins or has just ended there */
	bool changed[PORT_COUNT];  /* a rule that one side has is about them */
};

static enum reach
reach_of(const struct pass *pass, enum side side, const struct access *access,
    enum sbx_level level)
{
	const struct sbx_meta *meta = pass->comparison->blobs[side]->meta;

	if (!pass_ask(pass, side, access, level, 0).allowed)
		return REACH_NOTHING;
	return sbx_net_is_own(meta->net) && access->detail < SBX_HOST_TCP ?
	    REACH_INSIDE :
	    REACH_OUTSIDE;
}

/* The rule that came or went: a deny of the side that refuses, else the allow
 * of the one that lets through. */
static struct note_key
port_key(const struct pass *pass, const struct access *access,
    enum sbx_level level, enum change change)
{
	enum side allows = change == CHANGE_WIDER ? SIDE_NEW : SIDE_OLD;
	enum side side = !allows;
	const struct sbx_blob *blob = pass->comparison->blobs[side];
	struct verdict verdict = pass_ask(pass, side, access, level, 0);
	struct verdict other = pass_ask(pass, allows, access, level, 0);

	if (other.by == BY_EVERYTHING || verdict.allowed ||
	    verdict.by == BY_OLD_KERNEL || verdict.by == BY_NOTHING ||
	    (verdict.by == BY_NETWORK && sbx_net_is_own(blob->meta->net))) {
		side = allows;
		verdict = other;
	}
	return (struct note_key){
		.kind = DIFFERENCE_PORT,
		.change = change,
		.side = side,
		.by = verdict.by,
		.detail = access->detail,
		.rule = verdict.by == BY_PORT ? verdict.rule : 0,
	};
}

static void
ask_port(struct pass *pass, const struct access *access, enum sbx_level level)
{
	enum reach old = reach_of(pass, SIDE_OLD, access, level);
	enum reach new = reach_of(pass, SIDE_NEW, access, level);
	struct note_key key;

	if (old == new)
		return;
	key = port_key(pass, access, level,
	    new > old ? CHANGE_WIDER : CHANGE_NARROWER);
	if (!pass_again(pass, &key))
		pass_note_access(pass, &key, access, level, 0);
}

/* --- comparing ------------------------------------------------------------ */

/* Whether anything but single rules changed. */
static bool
network_differs(const struct pass *pass)
{
	const struct sbx_meta *old = pass->comparison->blobs[SIDE_OLD]->meta;
	const struct sbx_meta *new = pass->comparison->blobs[SIDE_NEW]->meta;

	return old->net != new->net ||
	    (old->net_source == SBX_NO_SOURCE) !=
	    (new->net_source == SBX_NO_SOURCE);
}

/* What a rule says, without where it was written; false if it is about another
 * operation or machine. */
static bool
port_rule(const struct pass *pass, const struct sbx_port *port, uint8_t op,
    uint16_t rule[3])
{
	rule[0] = port->low;
	rule[1] = port->high;
	rule[2] = port->effect == SBX_ALLOW;
	return port->op == op && (port->platforms & pass->platforms) != 0;
}

/* Marks the rules of one side. */
static void
mark_side(const struct pass *pass, enum side side, uint8_t op,
    struct ports *ports)
{
	const struct sbx_blob *blob = pass->comparison->blobs[side];
	const struct sbx_blob *other = pass->comparison->blobs[!side];
	struct map others = { 0 };
	uint16_t rule[3];
	bool added;

	for (uint32_t i = 0; i < other->port_count; i++) {
		if (port_rule(pass, &other->ports[i], op, rule))
			map_number(pass->scratch, &others, rule, sizeof rule,
			    &added);
	}
	for (uint32_t i = 0; i < blob->port_count; i++) {
		const struct sbx_port *port = &blob->ports[i];

		if (!port_rule(pass, port, op, rule))
			continue;
		ports->edge[port->low] = ports->edge[port->high + 1] = true;
		if (map_number_find(&others, rule, sizeof rule) == SIZE_MAX)
			memset(ports->changed + port->low, true,
			    port->high - port->low + 1u);
	}
}

static void
compare_op(struct pass *pass, uint8_t op)
{
	struct ports *ports = arena_alloc(pass->scratch, sizeof *ports);
	enum sbx_level levels[SBX_LEVEL_END];
	size_t level_count = common_levels(pass->comparison, levels);
	struct access access = { .kind = KIND_PORT, .detail = op };

	mark_side(pass, SIDE_OLD, op, ports);
	mark_side(pass, SIDE_NEW, op, ports);
	if (network_differs(pass))
		memset(ports->changed, true, PORT_COUNT);
	ports->edge[0] = ports->edge[1] = true;
	for (size_t level = 0; level < level_count; level++) {
		/* Port 0, which means any, comes last: it makes a poor witness.
		 */
		for (uint32_t i = 1; i <= PORT_COUNT; i++) {
			access.port = (uint16_t)(i % PORT_COUNT);
			if (ports->edge[access.port] &&
			    ports->changed[access.port])
				ask_port(pass, &access, levels[level]);
		}
	}
}

/* Services differ from ports only where single ones lead out. */
static bool
has_services(const struct pass *pass)
{
	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		if (pass->comparison->blobs[side]->meta->net ==
		    SBX_NET_SELECTED)
			return true;
	}
	return false;
}

void
compare_ports(struct pass *pass)
{
	uint8_t end = has_services(pass) ? SBX_PORT_OP_END : SBX_HOST_TCP;

	for (uint8_t op = 0; op < end; op++)
		compare_op(pass, op);
}
