/* See network.h. */
#include "compiler/query/network.h"

#include "compiler/policy/kind.h"
#include "compiler/tables/words.h"

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

struct verdict
network_at_level(const struct subject *subject, struct verdict verdict)
{
	if (subject->level < SBX_LEVEL_STANDARD)
		verdict.allowed = false;
	verdict.unenforced = !verdict.allowed &&
	    subject->level == SBX_LEVEL_NONE;
	return verdict;
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
	if (!why->verdict.allowed && level < SBX_LEVEL_STANDARD)
		fprintf(why->stream,
		    "    at level %s no socket opens that leads out\n",
		    level_word(level));
	else if (why->verdict.allowed && level == SBX_LEVEL_STANDARD &&
	    why->access->kind == KIND_DOMAIN)
		fputs("    but at level standard through the proxy alone, "
		      "which tools find that heed HTTPS_PROXY\n",
		    why->stream);
}

const char *
network_enforcer(const struct why *why, enum sbx_level level)
{
	if (level < SBX_LEVEL_MINIMAL)
		return NULL;
	if (why->blob->meta->net != SBX_NET_SELECTED ||
	    level < SBX_LEVEL_STANDARD)
		return "the filter, which opens no TCP socket";
	return level == SBX_LEVEL_FULL ?
	    "a network of its own, whose ways out lead to sbx-proxy" :
	    "Landlock, and the supervisor, which connects";
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
	if (remedy->verdict->by >= BY_RULE &&
	    remedy->subject->level < SBX_LEVEL_STANDARD)
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
