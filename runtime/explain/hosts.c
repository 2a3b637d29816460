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

	/* And the request behind it. */
	strcpy(denial.path, event->name);
	strcpy(denial.path + strlen(event->name) + 1, event_request(event));
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
		/* Which one is no matter here. */
		.rule = denial->source == SBX_NO_SOURCE ? PROXY_NO_RULE_INDEX :
							  0,
	};

	while (kinds[event.via] != denial->kind)
		event.via++;
	/* With the request behind it. */
	memcpy(event.name, denial->path, sizeof event.name - 1);
	return event;
}

void
explain_host_fill(struct sbx_denial *denial)
{
	struct proxy_event event;
	struct out out;

	if (!explain_has_host(denial))
		return;
	event = event_of(denial);
	out_into(&out, denial->reason, sizeof denial->reason);
	out_text(&out, decision_verdict(&event));
	out_into(&out, denial->remedy, sizeof denial->remedy);
	/* Half a rule is another rule. */
	if (!remedy_put(&out, &event) || out.full)
		*denial->remedy = '\0';
}
