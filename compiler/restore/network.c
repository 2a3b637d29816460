/*
 * The network and what else is allowed as a whole: of Linux the blob's meta
 * record tells, and of macOS the text.
 */
#include "compiler/restore/restorer.h"

#include <string.h>

/* --- rules without objects ------------------------------------------------ */

/* What goes with the default on one platform. */
struct blankets {
	uint8_t platforms;
	bool everything, signal, abstract, denied;
	enum sbx_net net;
	uint32_t source; /* of what is said about the network */
};

/* The same for another platform is one rule for both. */
static void
blanket_add(struct restorer *restorer, const struct blankets *blankets,
    enum sbx_effect effect, enum blanket_kind kind, uint32_t source)
{
	struct policy *policy = restorer->policy;

	for (size_t i = 0; i < policy->blankets.count; i++) {
		struct blanket_rule *rule = &policy->blankets.items[i];

		if (rule->kind != kind || rule->effect != effect)
			continue;
		rule->origin.platforms |= blankets->platforms;
		return;
	}
	*arena_push(restorer->arena, &policy->blankets) = (struct blanket_rule){
		.origin = restorer_origin(restorer, blankets->platforms,
		    source),
		.effect = effect,
		.kind = kind,
	};
}

/* Beside it only what is preferred may be denied. */
static void
say_everything(struct restorer *restorer, const struct blankets *blankets)
{
	bool network = blankets->net == SBX_NET_FULL;

	blanket_add(restorer, blankets, SBX_ALLOW, BLANKET_EVERYTHING,
	    network ? blankets->source : SBX_NO_SOURCE);
	if (!network)
		blanket_add(restorer, blankets, SBX_PREFER_DENY,
		    BLANKET_NETWORK, blankets->source);
	if (!blankets->signal)
		blanket_add(restorer, blankets, SBX_PREFER_DENY, BLANKET_SIGNAL,
		    SBX_NO_SOURCE);
	if (!blankets->abstract)
		blanket_add(restorer, blankets, SBX_PREFER_DENY,
		    BLANKET_ABSTRACT, SBX_NO_SOURCE);
}

static void
say_blankets(struct restorer *restorer, const struct blankets *blankets)
{
	uint32_t source = blankets->source;

	if (blankets->everything) {
		say_everything(restorer, blankets);
		return;
	}
	if (blankets->signal)
		blanket_add(restorer, blankets, SBX_ALLOW, BLANKET_SIGNAL,
		    SBX_NO_SOURCE);
	if (blankets->abstract)
		blanket_add(restorer, blankets, SBX_ALLOW, BLANKET_ABSTRACT,
		    SBX_NO_SOURCE);
	if (blankets->net == SBX_NET_FULL)
		blanket_add(restorer, blankets, SBX_ALLOW, BLANKET_NETWORK,
		    source);
	else if (blankets->net == SBX_NET_LOOPBACK)
		blanket_add(restorer, blankets, SBX_ALLOW, BLANKET_LOOPBACK,
		    source);
	else if (blankets->denied)
		blanket_add(restorer, blankets, SBX_DENY, BLANKET_NETWORK,
		    source);
}

/* Abstract sockets are Linux's: what is said of them is for macOS too, unless
 * that would be a rule of its own, which something else might exclude. */
static void
macos_blankets(const struct restorer *restorer, struct blankets *part)
{
	const struct sbpl_blankets *text = &restorer->macos.blankets;

	if (text->everything != part->everything || text->net != part->net)
		part->abstract = text->everything;
	part->everything = text->everything;
	part->signal = text->signal;
	part->net = text->net;
	part->denied = part->denied && text->net == SBX_NET_NONE;
	part->source = SBX_NO_SOURCE;
}

void
restore_blankets(struct restorer *restorer)
{
	const struct sbx_meta *meta = restorer->blob->meta;
	struct blankets linux_part = {
		.platforms = SBX_ON_LINUX,
		.everything = meta->flags & SBX_EVERYTHING,
		.signal = meta->flags & SBX_SIGNAL_ANYWHERE,
		.abstract = meta->flags & SBX_ABSTRACT_ANYWHERE,
		.denied = meta->net == SBX_NET_NONE &&
		    meta->net_source != SBX_NO_SOURCE,
		.net = (enum sbx_net)meta->net,
		.source = meta->net_source,
	};
	struct blankets macos_part = linux_part;

	say_blankets(restorer, &linux_part);
	if (restorer->has_macos)
		macos_blankets(restorer, &macos_part);
	macos_part.platforms = SBX_ON_MACOS;
	say_blankets(restorer, &macos_part);
}

/* --- ports ---------------------------------------------------------------- */

static void
port_add(struct restorer *restorer, enum sbx_effect effect, enum sbx_port_op op,
    size_t low, size_t high)
{
	*arena_push(restorer->arena,
	    &restorer->policy->ports) = (struct port_rule){
		.origin = restorer_origin(restorer, SBX_ON_MACOS,
		    SBX_NO_SOURCE),
		.effect = effect,
		.op = op,
		.low = (uint16_t)low,
		.high = (uint16_t)high,
	};
}

static void
share_ports(struct restorer *restorer, enum sbx_port_op op, bool share)
{
	struct policy *policy = restorer->policy;

	for (size_t i = 0; i < policy->ports.count; i++) {
		struct port_rule *rule = &policy->ports.items[i];

		if (rule->op == op &&
		    (rule->origin.platforms & SBX_ON_LINUX) == SBX_ON_LINUX)
			rule->origin.platforms = share ? SBX_ON_ALL :
							 SBX_ON_LINUX;
	}
}

/* The ports that are open, or, out of a whole network, those that are shut. */
static void
add_port_ranges(struct restorer *restorer, enum sbx_port_op op, bool full)
{
	const bool *open = restorer->macos.open[op];
	size_t low = 1;

	while (low < SBPL_PORTS) {
		size_t high = low;

		while (high + 1 < SBPL_PORTS && open[high + 1] == open[low])
			high++;
		if (open[low] != full)
			port_add(restorer, full ? SBX_PREFER_DENY : SBX_ALLOW,
			    op, low, high);
		low = high + 1;
	}
}

/* Rules of the tables hold on macOS too, if that is what its text says. */
static void
restore_port_op(struct restorer *restorer, enum sbx_port_op op)
{
	enum sbx_net net = restorer->macos.blankets.net;
	bool full = net == SBX_NET_FULL, same = restorer_shares(restorer);
	bool *open = arena_alloc(restorer->arena, SBPL_PORTS);

	if (!restorer->has_macos) {
		share_ports(restorer, op, true);
		return;
	}
	share_ports(restorer, op, same);
	if (!same ||
	    (net == SBX_NET_NONE && restorer->blob->meta->net == SBX_NET_NONE))
		return;
	if (net == SBX_NET_PORTS || full) {
		sbpl_ports(restorer->policy, op, full, open);
		same = memcmp(open, restorer->macos.open[op], SBPL_PORTS) == 0;
	} else {
		same = false;
	}
	share_ports(restorer, op, same);
	if (!same && (net == SBX_NET_PORTS || full))
		add_port_ranges(restorer, op, full);
}

static bool
has_macos_ports(const struct policy *policy)
{
	for (size_t i = 0; i < policy->ports.count; i++) {
		const struct port_rule *rule = &policy->ports.items[i];

		if (rule->effect == SBX_ALLOW &&
		    (rule->origin.platforms & SBX_ON_MACOS))
			return true;
	}
	return false;
}

void
restore_ports(struct restorer *restorer)
{
	const struct sbx_blob *blob = restorer->blob;

	for (uint32_t i = 0; i < blob->port_count; i++) {
		const struct sbx_port *port = &blob->ports[i];

		*arena_push(restorer->arena,
		    &restorer->policy->ports) = (struct port_rule){
			.origin = restorer_origin(restorer, port->platforms,
			    port->source),
			.effect = (enum sbx_effect)port->effect,
			.op = (enum sbx_port_op)port->op,
			.low = port->low,
			.high = port->high,
		};
		if (port->low == 0)
			restorer_fault(restorer, "it speaks of port 0");
	}
	for (int op = 0; op < SBX_PORT_OP_END; op++)
		restore_port_op(restorer, (enum sbx_port_op)op);
	/* All that were allowed are denied: they still open the stack. */
	if (restorer->has_macos &&
	    restorer->macos.blankets.net == SBX_NET_PORTS &&
	    !has_macos_ports(restorer->policy)) {
		port_add(restorer, SBX_ALLOW, SBX_CONNECT_TCP, 1, 1);
		port_add(restorer, SBX_DENY, SBX_CONNECT_TCP, 1, 1);
	}
}
