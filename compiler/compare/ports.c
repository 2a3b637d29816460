/*
 * Ports.  What a policy says of a port changes only where a range begins or
 * has just ended, so it is enough to ask there; and if nothing else about the
 * network changed, only in the ranges that came or went.
 *
 * A network of the sandbox's own opens every port and leads nowhere: that is
 * more than nothing and less than the same port of the host's network.
 */
#include "compiler/compare/parts.h"

#include <stdlib.h>
#include <string.h>

enum reach { REACH_NOTHING, REACH_INSIDE, REACH_OUTSIDE };

/* Ports to ask about; 65536 is past the last. */
struct edges {
	VEC(uint32_t) list;
};

static enum reach
reach_of(const struct pass *pass, enum side side, const struct access *access,
    enum sbx_level level)
{
	const struct sbx_meta *meta = pass->comparison->blobs[side]->meta;

	if (!pass_ask(pass, side, access, level, 0).allowed)
		return REACH_NOTHING;
	return meta->net == SBX_NET_LOOPBACK &&
		(meta->flags & SBX_EVERYTHING) == 0 ?
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
	    (verdict.by == BY_NETWORK && blob->meta->net == SBX_NET_LOOPBACK)) {
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

/* --- edges ---------------------------------------------------------------- */

static bool
ports_equal(const struct sbx_port *a, const struct sbx_port *b)
{
	return a->low == b->low && a->high == b->high && a->op == b->op &&
	    (a->effect == SBX_ALLOW) == (b->effect == SBX_ALLOW);
}

/* In the order of blobs, apart from where they were written. */
static int
port_order(const struct sbx_port *a, const struct sbx_port *b)
{
	int order = (a->op > b->op) - (a->op < b->op);

	if (order == 0)
		order = (a->low > b->low) - (a->low < b->low);
	if (order == 0)
		order = (a->high > b->high) - (a->high < b->high);
	return order;
}

struct ports {
	VEC(struct sbx_port) list;
};

static int
ports_compare(const void *a, const void *b)
{
	return port_order(a, b);
}

static void
ports_collect(const struct pass *pass, enum side side, uint8_t op,
    struct ports *ports)
{
	const struct sbx_blob *blob = pass->comparison->blobs[side];

	for (uint32_t i = 0; i < blob->port_count; i++) {
		if (blob->ports[i].op == op &&
		    (blob->ports[i].platforms & pass->platforms) != 0)
			*arena_push(pass->scratch,
			    &ports->list) = blob->ports[i];
	}
	if (ports->list.count > 1)
		qsort(ports->list.items, ports->list.count,
		    sizeof *ports->list.items, ports_compare);
}

/* Whether the run of equal ranges that begins at `at` has this rule. */
static bool
run_has(const struct ports *ports, size_t at, const struct sbx_port *rule)
{
	for (; at < ports->list.count &&
	     port_order(&ports->list.items[at], rule) == 0;
	     at++) {
		if (ports_equal(&ports->list.items[at], rule))
			return true;
	}
	return false;
}

/* The rules of `from` that `other` does not have: both are in order. */
static void
ports_missing(struct pass *pass, const struct ports *from,
    const struct ports *other, struct ports *missing)
{
	size_t at = 0;

	for (size_t i = 0; i < from->list.count; i++) {
		const struct sbx_port *rule = &from->list.items[i];

		while (at < other->list.count &&
		    port_order(&other->list.items[at], rule) < 0)
			at++;
		if (!run_has(other, at, rule))
			*arena_push(pass->scratch, &missing->list) = *rule;
	}
}

static void
edges_add(struct pass *pass, const struct ports *ports, struct edges *edges)
{
	for (size_t i = 0; i < ports->list.count; i++) {
		const struct sbx_port *port = &ports->list.items[i];

		*arena_push(pass->scratch, &edges->list) = port->low;
		*arena_push(pass->scratch, &edges->list) = port->high + 1u;
	}
}

static int
edge_compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
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
	    (new->net_source == SBX_NO_SOURCE) ||
	    ((old->flags ^ new->flags) & SBX_EVERYTHING) != 0;
}

/* Marks the ports that a changed rule speaks of, or all. */
static void
mark_changed(const struct ports *changed, bool all, bool *marks)
{
	memset(marks, all, UINT16_MAX + 1);
	for (size_t i = 0; i < changed->list.count; i++)
		memset(marks + changed->list.items[i].low, true,
		    changed->list.items[i].high - changed->list.items[i].low +
			1u);
}

/* Port 0, which means any, comes last: it makes a poor witness. */
static void
ask_edges(struct pass *pass, uint8_t op, enum sbx_level level,
    const struct edges *edges, const bool *marks)
{
	struct access access = { .kind = ACCESS_PORT, .detail = op };

	for (size_t i = 0; i < edges->list.count; i++) {
		uint32_t port = edges->list.items[i];

		access.port = (uint16_t)port;
		if (port > 0 && port <= UINT16_MAX && marks[port] &&
		    (i == 0 || edges->list.items[i - 1] != port))
			ask_port(pass, &access, level);
	}
	access.port = 0;
	if (marks[0])
		ask_port(pass, &access, level);
}

static void
compare_op(struct pass *pass, uint8_t op)
{
	struct ports ports[SIDE_COUNT] = { 0 }, changed = { 0 };
	struct edges edges = { 0 };
	bool all = network_differs(pass), *marks;
	enum sbx_level levels[SBX_LEVEL_END];
	size_t level_count = common_levels(pass->comparison, levels);

	ports_collect(pass, SIDE_OLD, op, &ports[SIDE_OLD]);
	ports_collect(pass, SIDE_NEW, op, &ports[SIDE_NEW]);
	ports_missing(pass, &ports[SIDE_OLD], &ports[SIDE_NEW], &changed);
	ports_missing(pass, &ports[SIDE_NEW], &ports[SIDE_OLD], &changed);
	if (!all && changed.list.count == 0)
		return;
	marks = arena_alloc(pass->scratch, UINT16_MAX + 1);
	mark_changed(&changed, all, marks);
	*arena_push(pass->scratch, &edges.list) = 1;
	*arena_push(pass->scratch, &edges.list) = 0;
	edges_add(pass, &ports[SIDE_OLD], &edges);
	edges_add(pass, &ports[SIDE_NEW], &edges);
	qsort(edges.list.items, edges.list.count, sizeof *edges.list.items,
	    edge_compare);
	for (size_t level = 0; level < level_count; level++)
		ask_edges(pass, op, levels[level], &edges, marks);
}

void
compare_ports(struct pass *pass)
{
	for (uint8_t op = 0; op < SBX_PORT_OP_END; op++)
		compare_op(pass, op);
}
