/*
 * What sbx-proxy decided, as the supervisor takes it from a socket that the
 * command's relative writes to: a record of another form is passed over.
 */
#include "runtime/network/network.h"
#include "tests/lib/tap.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct decisions decisions;
static struct decision_log log_of_all;

static struct proxy_event
record(void)
{
	struct proxy_event event = {
		.version = PROXY_EVENT_VERSION,
		.via = PROXY_BY_HTTP,
		.verdict = PROXY_NO_RULE,
		.port = 443,
	};

	strcpy(event.name, "one.example");
	return event;
}

/* Whether it is taken, by both that take records. */
static uint32_t
taken(const struct proxy_event *event, size_t size)
{
	memset(&decisions, 0, sizeof decisions);
	memset(&log_of_all, 0, sizeof log_of_all);
	decisions_take(&decisions, event, size);
	decisions_log(&log_of_all, event, size);
	return decisions.count == log_of_all.count ? decisions.count : 99;
}

static void
test_form(struct tap *tap)
{
	struct proxy_event event = record();
	const size_t size = sizeof event;

	tap_ok(tap, taken(&event, size) == 1, "a record is taken");
	tap_ok(tap, taken(&event, size - 1) == 0, "not one that is shorter");
	tap_ok(tap, taken(&event, size + 1) == 0, "nor one that is longer");
	tap_ok(tap, taken(&event, 0) == 0, "nor an empty one");
	event.version++;
	tap_ok(tap, taken(&event, size) == 0, "nor one of another version");
	event = record();
	event.via = PROXY_VIA_END - 1;
	tap_ok(tap, taken(&event, size) == 1, "the last way is one");
	event.via++;
	tap_ok(tap, taken(&event, size) == 0, "no way follows it");
	event = record();
	event.verdict = PROXY_VERDICT_END - 1;
	tap_ok(tap, taken(&event, size) == 1, "the last verdict is one");
	event.verdict++;
	tap_ok(tap, taken(&event, size) == 0, "no verdict follows it");
	event = record();
	memset(event.name, 'a', sizeof event.name);
	tap_ok(tap, taken(&event, size) == 0, "a name needs an end");
	event.name[sizeof event.name - 1] = '\0';
	tap_ok(tap, taken(&event, size) == 1, "which may be its last byte");
}

static void
test_count(struct tap *tap)
{
	struct proxy_event event = record();
	uint32_t expected = DECISIONS_MAX;

	taken(&event, sizeof event);
	event.via = PROXY_BY_SOCKS;
	decisions_take(&decisions, &event, sizeof event);
	tap_ok(tap, decisions.count == 1 && decisions.all[0].times == 2,
	    "by another way it is the same decision");
	event.verdict = PROXY_DENIED;
	decisions_take(&decisions, &event, sizeof event);
	event.verdict = PROXY_NO_RULE;
	strcpy(event.name, "two.example");
	decisions_take(&decisions, &event, sizeof event);
	tap_ok(tap,
	    decisions.count == 3 && decisions.all[0].times == 2 &&
		decisions.all[1].times == 1 && decisions.all[2].times == 1 &&
		decisions.all[0].event.via == PROXY_BY_HTTP,
	    "another verdict or name makes it another one");
	decisions.all[2].times = UINT32_MAX;
	decisions_take(&decisions, &event, sizeof event);
	tap_ok(tap, decisions.all[2].times == UINT32_MAX,
	    "the number of times has a bound");
	event = record();
	taken(&event, sizeof event);
	for (uint32_t i = 1; i <= expected; i++) {
		event.port = (uint16_t)i;
		decisions_take(&decisions, &event, sizeof event);
	}
	tap_ok(tap, decisions.count == expected && decisions.beyond == 1,
	    "the last one that has no place is counted");
	for (uint32_t i = 0; i <= DECISIONS_LOGGED; i++) {
		event.port = (uint16_t)i;
		decisions_log(&log_of_all, &event, sizeof event);
	}
	decisions_since(&log_of_all, log_of_all.count - 3, &decisions);
	tap_ok(tap, decisions.count == 3 && decisions.beyond == 0,
	    "the log tells what came since");
	decisions_since(&log_of_all, 0, &decisions);
	tap_ok(tap,
	    decisions.count == expected &&
		decisions.beyond == DECISIONS_LOGGED - expected + 2,
	    "and how much it does not hold any more");
	decisions_since(&log_of_all, log_of_all.count - DECISIONS_LOGGED,
	    &decisions);
	tap_ok(tap,
	    decisions.all[0].event.port == 1 &&
		decisions.beyond == DECISIONS_LOGGED - expected,
	    "the oldest that it holds is told");
	decisions_since(&log_of_all, log_of_all.count - DECISIONS_LOGGED - 1,
	    &decisions);
	tap_ok(tap,
	    decisions.all[0].event.port == 1 &&
		decisions.beyond == DECISIONS_LOGGED - expected + 1,
	    "the one before it is counted");
}

/* Each way has rules of its own kind, and the number may be any. */
static void
test_sources(struct tap *tap)
{
	static const struct sbx_name names[1] = { { .source = 10 } };
	static const struct sbx_endpoint endpoints[2] = { { .source = 20 },
		{ .source = 21 } };
	static const struct sbx_port ports[3] = { { .source = 30 },
		{ .source = 31 }, { .source = 32 } };
	static const struct sbx_blob blob = { .names = names,
		.name_count = 1,
		.endpoints = endpoints,
		.endpoint_count = 2,
		.ports = ports,
		.port_count = 3 };
	static const struct {
		enum proxy_via via;
		uint32_t count, first;
	} ways[] = {
		{ PROXY_BY_RESOLVER, 1, 10 },
		{ PROXY_BY_HTTP, 1, 10 },
		{ PROXY_BY_SOCKS, 1, 10 },
		{ PROXY_BY_ADDRESS, 1, 10 },
		{ PROXY_BY_ENDPOINT, 2, 20 },
		{ PROXY_BY_HOST, 3, 30 },
		{ PROXY_BY_PUBLISH, 3, 30 },
	};
	struct proxy_event event = record();

	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		uint32_t last = ways[i].first + ways[i].count - 1, found;

		event.via = (uint8_t)ways[i].via;
		event.rule = ways[i].count - 1;
		found = decision_source(&blob, &event);
		event.rule++;
		tap_ok(tap,
		    found == last &&
			decision_source(&blob, &event) == SBX_NO_SOURCE,
		    "the last rule of way %d has a source, and the next none",
		    (int)ways[i].via);
	}
}

/* What goes to standard error about what was taken. */
static const char *
told_now(void)
{
	static char text[1024];
	int saved = dup(STDERR_FILENO), ends[2];
	ssize_t len;

	if (saved < 0 || pipe(ends) != 0 || dup2(ends[1], STDERR_FILENO) < 0)
		return "no pipe";
	close(ends[1]);
	decisions_tell(&decisions);
	dup2(saved, STDERR_FILENO);
	close(saved);
	len = read(ends[0], text, sizeof text - 1);
	close(ends[0]);
	text[len > 0 ? len : 0] = '\0';
	return text;
}

/* The same about so many refusals. */
static const char *
told(uint32_t count)
{
	struct proxy_event event = record();

	memset(&decisions, 0, sizeof decisions);
	for (uint32_t i = 0; i < count; i++) {
		event.port = (uint16_t)(i + 1);
		decisions_take(&decisions, &event, sizeof event);
	}
	return told_now();
}

static void
add(enum proxy_verdict verdict, const char *name, uint16_t port)
{
	struct proxy_event event = record();

	event.verdict = (uint8_t)verdict;
	event.port = port;
	snprintf(event.name, sizeof event.name, "%s", name);
	decisions_take(&decisions, &event, sizeof event);
}

/* Refusals among others, and how their names are written. */
static void
test_told_names(struct tap *tap)
{
	memset(&decisions, 0, sizeof decisions);
	add(PROXY_ALLOWED, "a.example", 443);
	add(PROXY_FAILED, "b.example", 443);
	tap_ok(tap, strcmp(told_now(), "") == 0,
	    "what is no refusal is not told");
	add(PROXY_DENIED, "2001:db8::1", 80);
	add(PROXY_NO_SUCH_NAME, "c.example", 443);
	add(PROXY_NO_RULE, "d.example", 0);
	add(PROXY_PRIVATE, "e\nf", 1);
	tap_ok(tap,
	    strcmp(told_now(),
		"sbxrun: network: refused [2001:db8::1]:80 (denied), "
		"d.example (no rule), e\\x0af:1 (private address)\n") == 0,
	    "an address of IPv6, no port, and what cannot be printed");
	decisions.shared = true;
	add(PROXY_LIMIT, "::", 0);
	tap_ok(tap,
	    strcmp(told_now(),
		"sbxrun: network: refused [2001:db8::1]:80 (denied), "
		"d.example (no rule), e\\x0af:1 (private address), and 1 "
		"more, by this command or another one of the session\n") == 0,
	    "by whom, where it is not known");
}

/* In the receipt, by each way. */
static void
test_records(struct tap *tap)
{
	static const struct sbx_source sources[] = {
		{ .file = 1, .line = 2, .column = 3 }
	};
	static const struct sbx_name names[] = { { .source = 0 } };
	static const struct sbx_blob blob = { .strings = "\0p.sbx",
		.sources = sources,
		.source_count = 1,
		.names = names,
		.name_count = 1 };
	static const char *const vias[] = { "resolver", "http", "socks",
		"address", "endpoint", "host", "publish" };

	for (int via = 0; via < PROXY_VIA_END; via++) {
		struct decision decision = { .event = record(), .times = 7 };
		struct out json;
		char via_word[256];

		decision.event.via = (uint8_t)via;
		decision.event.rule = 0;
		out_init(&json, -1);
		decision_record(&json, &blob, &decision);
		snprintf(via_word, sizeof via_word,
		    "\"name\":\"one.example\",\"port\":443,"
		    "\"verdict\":\"no rule\",\"via\":\"%s\",\"count\":7",
		    vias[via]);
		if (!tap_ok(tap,
			strstr(json.text, via_word) != NULL &&
			    (strstr(json.text, "p.sbx") != NULL) ==
				(via <= PROXY_BY_ADDRESS) &&
			    strstr(json.text, "\"fix\":") != NULL &&
			    (strstr(json.text, "allow network ") != NULL) ==
				(via != PROXY_BY_ENDPOINT),
			"the record of one by %s", vias[via]))
			printf("# %s\n", json.text);
	}
}

static void
test_told(struct tap *tap)
{
	static const char three[] =
	    "sbxrun: network: refused one.example:1 (no rule), "
	    "one.example:2 (no rule), one.example:3 (no rule)";
	char wanted[256];

	tap_ok(tap, strcmp(told(0), "") == 0, "nothing is told of none");
	snprintf(wanted, sizeof wanted, "%s\n", three);
	tap_ok(tap, strcmp(told(3), wanted) == 0, "three are named");
	snprintf(wanted, sizeof wanted, "%s, and 1 more\n", three);
	tap_ok(tap, strcmp(told(4), wanted) == 0, "the fourth is counted");
	snprintf(wanted, sizeof wanted, "%s, and 7 more\n", three);
	tap_ok(tap, strcmp(told(10), wanted) == 0, "so are more");
}

/* What is named at the end of a run, and what is the network's own matter. */
static void
test_refusals(struct tap *tap)
{
	static const struct {
		enum proxy_verdict verdict;
		bool refusal;
		const char *word;
	} all[] = {
		{ PROXY_ALLOWED, false, "allowed" },
		{ PROXY_DENIED, true, "denied" },
		{ PROXY_NO_RULE, true, "no rule" },
		{ PROXY_PRIVATE, true, "private address" },
		{ PROXY_RESERVED, true, "reserved address" },
		{ PROXY_OTHER_NAME, true, "other name inside" },
		{ PROXY_NO_NAME, true, "no name inside" },
		{ PROXY_NO_SUCH_NAME, false, "no such name" },
		{ PROXY_FAILED, false, "failed" },
		{ PROXY_LIMIT, true, "limit" },
		{ PROXY_REQUEST, true, "request" },
		{ PROXY_SECRET, true, "secret elsewhere" },
		{ PROXY_MALFORMED, true, "ambiguous request" },
		{ PROXY_PROTOCOL, true, "other protocol" },
		{ PROXY_CERTIFICATE, true, "certificate" },
		{ PROXY_DISTRUSTED, true, "own roots" },
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct proxy_event event = record();

		event.verdict = (uint8_t)all[i].verdict;
		tap_ok(tap,
		    decision_is_refusal(&event) == all[i].refusal &&
			strcmp(decision_verdict(&event), all[i].word) == 0,
		    "%s is %s", all[i].word,
		    all[i].refusal ? "a refusal" : "none");
	}
}

int
main(void)
{
	struct tap tap = { 0 };

	test_form(&tap);
	test_count(&tap);
	test_refusals(&tap);
	test_sources(&tap);
	test_told(&tap);
	test_told_names(&tap);
	test_records(&tap);
	return tap_done(&tap);
}
