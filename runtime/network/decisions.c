/*
 * What sbx-proxy decided, each decision once, with a count.
 */
#include "runtime/network/network.h"

#include "runtime/base/json.h"
#include "runtime/base/out.h"
#include "runtime/network/event.h"

#include <string.h>
#include <unistd.h>

static const char *const vias[PROXY_VIA_END] = {
	[PROXY_BY_RESOLVER] = "resolver",
	[PROXY_BY_HTTP] = "http",
	[PROXY_BY_SOCKS] = "socks",
	[PROXY_BY_ADDRESS] = "address",
	[PROXY_BY_ENDPOINT] = "endpoint",
	[PROXY_BY_HOST] = "host",
	[PROXY_BY_PUBLISH] = "publish",
};

static const struct {
	const char *word;
	bool refused; /* by us */
} verdicts[PROXY_VERDICT_END] = {
	[PROXY_ALLOWED] = { "allowed", false },
	[PROXY_DENIED] = { "denied", true },
	[PROXY_NO_RULE] = { "no rule", true },
	[PROXY_PRIVATE] = { "private address", true },
	[PROXY_RESERVED] = { "reserved address", true },
	[PROXY_OTHER_NAME] = { "other name inside", true },
	[PROXY_NO_NAME] = { "no name inside", true },
	[PROXY_NO_SUCH_NAME] = { "no such name", false },
	[PROXY_FAILED] = { "failed", false },
	[PROXY_LIMIT] = { "limit", true },
	[PROXY_REQUEST] = { "request", true },
	[PROXY_SECRET] = { "secret elsewhere", true },
	[PROXY_MALFORMED] = { "ambiguous request", true },
	[PROXY_PROTOCOL] = { "other protocol", true },
	[PROXY_CERTIFICATE] = { "certificate", true },
	[PROXY_DISTRUSTED] = { "own roots", true },
	[PROXY_ANSWERED] = { "allowed by answer", false },
	[PROXY_REFUSED] = { "refused by answer", true },
	[PROXY_UNANSWERED] = { "no answer", true },
};

bool
decision_is_record(const struct proxy_event *event)
{
	return event->version == PROXY_EVENT_VERSION &&
	    event->via < PROXY_VIA_END && event->verdict < PROXY_VERDICT_END &&
	    event->kind < PROXY_KIND_END &&
	    event->name[sizeof event->name - 1] == '\0';
}

static bool
is_record(const struct proxy_event *event, size_t size)
{
	return size == sizeof *event && decision_is_record(event);
}

/* By which way somebody came is that of the first one. */
static bool
is_same(const struct proxy_event *a, const struct proxy_event *b)
{
	return a->verdict == b->verdict && a->port == b->port &&
	    strcmp(a->name, b->name) == 0 &&
	    strcmp(event_request(a), event_request(b)) == 0;
}

bool
decision_is_refusal(const struct proxy_event *event)
{
	return verdicts[event->verdict].refused;
}

bool
decision_is_connection(const struct proxy_event *event)
{
	return event->verdict == PROXY_ALLOWED ||
	    event->verdict == PROXY_ANSWERED;
}

const char *
decision_verdict(const struct proxy_event *event)
{
	return verdicts[event->verdict].word;
}

void
decisions_take(struct decisions *decisions, const struct proxy_event *event,
    size_t size)
{
	if (!is_record(event, size))
		return;
	for (uint32_t i = 0; i < decisions->count; i++) {
		struct decision *decision = &decisions->all[i];

		if (!is_same(&decision->event, event))
			continue;
		decision->times += event->kind == PROXY_DECISION &&
		    decision->times < UINT32_MAX;
		decision->event.sent += event->sent;
		decision->event.received += event->received;
		return;
	}
	/* Of what was decided before anybody listened, or beyond the table. */
	if (event->kind != PROXY_DECISION)
		return;
	if (decisions->count == DECISIONS_MAX) {
		decisions->beyond++;
		return;
	}
	decisions->all[decisions->count++] = (struct decision){ *event, 1 };
}

void
decisions_log(struct decision_log *log, const struct proxy_event *event,
    size_t size)
{
	if (is_record(event, size))
		log->events[log->count++ % DECISIONS_LOGGED] = *event;
}

void
decisions_since(const struct decision_log *log, uint64_t since,
    struct decisions *decisions)
{
	uint64_t first = log->count > DECISIONS_LOGGED ?
	    log->count - DECISIONS_LOGGED :
	    0;

	decisions->count = 0;
	decisions->beyond = since < first ? first - since : 0;
	for (uint64_t i = since < first ? first : since; i < log->count; i++)
		decisions_take(decisions, &log->events[i % DECISIONS_LOGGED],
		    sizeof *log->events);
}

/* --- the receipt ---------------------------------------------------------- */

uint32_t
decision_source(const struct sbx_blob *blob, const struct proxy_event *event)
{
	uint32_t rule = event->rule;

	switch ((enum proxy_via)event->via) {
	case PROXY_BY_RESOLVER:
	case PROXY_BY_HTTP:
	case PROXY_BY_SOCKS:
	case PROXY_BY_ADDRESS:
		return rule < blob->name_count ? blob->names[rule].source :
						 SBX_NO_SOURCE;
	case PROXY_BY_ENDPOINT:
		return rule < blob->endpoint_count ?
		    blob->endpoints[rule].source :
		    SBX_NO_SOURCE;
	case PROXY_BY_HOST:
	case PROXY_BY_PUBLISH:
		return rule < blob->port_count ? blob->ports[rule].source :
						 SBX_NO_SOURCE;
	case PROXY_VIA_END:
		break;
	}
	return SBX_NO_SOURCE;
}

void
decision_record(struct out *json, const struct sbx_blob *blob,
    const struct decision *decision)
{
	const struct proxy_event *event = &decision->event;
	uint32_t source = decision_source(blob, event);
	struct out fix;

	json_string(json, "name", event->name);
	json_number(json, "port", event->port);
	if (*event_request(event) != '\0')
		json_string(json, "request", event_request(event));
	json_string(json, "verdict", verdicts[event->verdict].word);
	json_string(json, "via", vias[event->via]);
	json_number(json, "count", decision->times);
	if (decision_is_connection(event)) {
		json_number(json, "sent", event->sent);
		json_number(json, "received", event->received);
	}
	if (source != SBX_NO_SOURCE)
		json_source(json, blob, source);
	out_init(&fix, -1);
	json_string(json, "fix", remedy_put(&fix, event) ? fix.text : NULL);
}

/* --- for people ----------------------------------------------------------- */

static void
name_one(struct out *out, const struct proxy_event *event)
{
	bool v6 = strchr(event->name, ':') != NULL;

	out_text(out, v6 ? "[" : "");
	out_shown(out, event->name, strlen(event->name));
	out_text(out, v6 ? "]" : "");
	if (event->port != 0)
		out_print(out, ":%u", event->port);
	out_text(out, *event_request(event) != '\0' ? " " : "");
	out_shown(out, event_request(event), strlen(event_request(event)));
}

void
decisions_tell(const struct decisions *decisions)
{
	enum { NAMED = 3 };
	struct out out;
	uint32_t refused = 0;

	out_init(&out, STDERR_FILENO);
	for (uint32_t i = 0; i < decisions->count; i++) {
		const struct proxy_event *event = &decisions->all[i].event;

		if (!verdicts[event->verdict].refused)
			continue;
		if (refused < NAMED) {
			out_text(&out,
			    refused == 0 ? "sbxrun: network: refused " : ", ");
			name_one(&out, event);
			out_print(&out, " (%s)", verdicts[event->verdict].word);
		}
		refused++;
	}
	if (refused == 0)
		return;
	if (refused > NAMED)
		out_print(&out, ", and %u more", refused - NAMED);
	out_text(&out,
	    decisions->shared ?
		", by this command or another one of the session\n" :
		"\n");
	out_flush(&out);
}
