/*
 * What a policy says of a host, by its name or its address, before the rules
 * about hosts are asked: they count in a network of the sandbox's own.
 */
#include "compiler/query/why.h"

#include "compiler/policy/kind.h"
#include "compiler/tables/tables.h"

bool
network_decides(const struct subject *subject, uint16_t port,
    struct verdict *verdict)
{
	const struct sbx_meta *meta = subject->places.blob->meta;
	const struct access access = {
		.kind = KIND_PORT,
		.detail = SBX_CONNECT_TCP,
		.port = port,
	};

	if (meta->net == SBX_NET_SELECTED)
		return false;
	if (meta->net != SBX_NET_LOOPBACK) {
		*verdict = rule_kinds[KIND_PORT]->verdict(subject, &access);
		return true;
	}
	*verdict = (struct verdict){
		.by = BY_NOTHING,
		.source = SBX_NO_SOURCE,
		.unenforced = subject->level == SBX_LEVEL_NONE,
	};
	return true;
}

/* At level standard the supervisor connects, and Landlock keeps the command from
 * it, from ABI 4 on. */
static bool
network_is_shut(const struct subject *subject)
{
	return subject->level < SBX_LEVEL_STANDARD ||
	    (subject->level == SBX_LEVEL_STANDARD && verdict_abi(subject) < 4);
}

struct verdict
network_inside(const struct subject *subject)
{
	return (struct verdict){
		.allowed = !network_is_shut(subject),
		.unenforced = subject->level == SBX_LEVEL_NONE,
		.by = BY_NETWORK,
		.source = subject->places.blob->meta->net_source,
	};
}

struct verdict
network_at_level(const struct subject *subject, struct verdict verdict)
{
	if (network_is_shut(subject))
		verdict.allowed = false;
	verdict.unenforced = !verdict.allowed &&
	    subject->level == SBX_LEVEL_NONE;
	return verdict;
}

/* What differs from level full, of what is allowed. */
static void
say_standard(const struct why *why)
{
	if (why->access->kind == KIND_DOMAIN)
		fputs("    but at level standard through the proxy alone, "
		      "which tools find that heed HTTPS_PROXY\n",
		    why->stream);
	else if (why->access->kind == KIND_PORT &&
	    why->access->detail == SBX_PUBLISH_TCP)
		fputs("    but at level standard the server itself has to "
		      "listen on 127.0.0.1 or ::1, which are the host's\n",
		    why->stream);
}

void
network_say(const struct why *why)
{
	enum sbx_level level = why->subject->level;

	if (why->blob->meta->net == SBX_NET_PORTS && why->verdict.allowed)
		fputs("    but by its address: a rule about a port has none, "
		      "and nothing looks names up\n",
		    why->stream);
	if (why->blob->meta->net != SBX_NET_SELECTED ||
	    why->verdict.by < BY_RULE)
		return;
	if (!why->verdict.allowed) {
		if (network_is_shut(why->subject))
			fprintf(why->stream,
			    "    at level %s%s no socket opens that leads "
			    "out\n",
			    level_word(level),
			    level < SBX_LEVEL_STANDARD ?
				"" :
				" without Landlock ABI 4");
	} else if (level == SBX_LEVEL_STANDARD) {
		say_standard(why);
	}
}

const char *
network_enforcer(const struct why *why, enum sbx_level level)
{
	enum sbx_net net = why->blob->meta->net;

	if (level < SBX_LEVEL_MINIMAL)
		return NULL;
	if (level >= SBX_LEVEL_STANDARD && net == SBX_NET_PORTS)
		return "Landlock from ABI 4 on, else the filter, which opens "
		       "no TCP socket";
	if (level == SBX_LEVEL_STANDARD && net == SBX_NET_SELECTED)
		return "Landlock, and the supervisor, which connects";
	if (level == SBX_LEVEL_FULL && net == SBX_NET_SELECTED)
		return "a network of its own, whose ways out lead to sbx-proxy";
	if (level == SBX_LEVEL_STANDARD && net == SBX_NET_LOOPBACK)
		return "Landlock, and the supervisor, which connects the "
		       "sandbox's own servers";
	if (level == SBX_LEVEL_FULL && net == SBX_NET_LOOPBACK)
		return "a network of its own, out of which nothing leads";
	return "the filter, which opens no TCP socket";
}

bool
network_remedy(struct remedy *remedy)
{
	const struct sbx_meta *meta = remedy->blob->meta;
	struct remedy other = *remedy;
	const struct access access = {
		.kind = KIND_PORT,
		.detail = SBX_CONNECT_TCP,
		.port = remedy->access->port,
	};

	/* Another level is what is missing there. */
	if (remedy->verdict->by >= BY_RULE && network_is_shut(remedy->subject))
		return false;
	if (sbx_net_is_own(meta->net) ||
	    (meta->net == SBX_NET_NONE && meta->net_source == SBX_NO_SOURCE))
		return true;
	other.access = &access;
	rule_kinds[KIND_PORT]->remedy(&other);
	remedy->steps.items = other.steps.items;
	remedy->steps.count = other.steps.count;
	return false;
}
