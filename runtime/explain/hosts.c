/*
 * Denials in the network, which sbx-proxy and the supervisor have decided: see
 * runtime/network/decisions.c.
 */
#include "runtime/explain/explain.h"
#include "runtime/network/event.h"

#include <string.h>

/* Of each way, the kind of rule that would open it. */
static const uint8_t kinds[PROXY_VIA_END] = {
	[PROXY_BY_RESOLVER] = SBX_DENIED_NAME,
	[PROXY_BY_HTTP] = SBX_DENIED_NAME,
	[PROXY_BY_SOCKS] = SBX_DENIED_NAME,
	[PROXY_BY_ADDRESS] = SBX_DENIED_NAME,
	[PROXY_BY_ENDPOINT] = SBX_DENIED_ADDRESS,
	[PROXY_BY_HOST] = SBX_DENIED_HOST,
	[PROXY_BY_PUBLISH] = SBX_DENIED_PUBLISH,
};

static void
add(struct explaining *explaining, const struct decision *decision)
{
	const struct proxy_event *event = &decision->event;
	struct sbx_denial denial = {
		.kind = kinds[event->via],
		.source = decision_source(explaining->blob, event),
		.count = decision->times,
		.port = event->port,
		.verdict = event->verdict,
	};

	memcpy(denial.path, event->name, sizeof event->name);
	explain_add(explaining, &denial);
}

void
explain_network(struct explaining *explaining,
    const struct decisions *decisions)
{
	for (uint32_t i = 0; i < decisions->count; i++) {
		if (decision_is_refusal(&decisions->all[i].event))
			add(explaining, &decisions->all[i]);
	}
}

static struct proxy_event
event_of(const struct sbx_denial *denial)
{
	struct proxy_event event = {
		.version = PROXY_EVENT_VERSION,
		.verdict = denial->verdict,
		.port = denial->port,
		.rule = PROXY_NO_RULE_INDEX,
	};

	while (kinds[event.via] != denial->kind)
		event.via++;
	memcpy(event.name, denial->path,
	    strnlen(denial->path, sizeof event.name - 1));
	return event;
}

bool
explain_host_remedy(struct out *out, const struct sbx_denial *denial)
{
	struct proxy_event event;

	if (!explain_has_host(denial))
		return false;
	event = event_of(denial);
	return remedy_put(out, &event);
}

void
explain_host(struct out *out, const struct sbx_denial *denial)
{
	bool v6 = strchr(denial->path, ':') != NULL;

	if (denial->kind >= SBX_DENIED_HOST) {
		out_print(out, "tcp %u", (unsigned)denial->port);
		return;
	}
	out_text(out, v6 ? "[" : "");
	out_shown(out, denial->path, strlen(denial->path));
	out_text(out, v6 ? "]" : "");
	if (denial->port != 0)
		out_print(out, ":%u", (unsigned)denial->port);
}

const char *
explain_host_verdict(const struct sbx_denial *denial)
{
	struct proxy_event event = event_of(denial);

	return decision_verdict(&event);
}
