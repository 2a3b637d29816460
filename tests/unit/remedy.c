/*
 * The rule that would allow what was refused, case by case; and that sbxc takes
 * each of these as a rule.
 */
#include "runtime/network/event.h"
#include "tests/lib/tap.h"

#include <arpa/inet.h>

#define countof(array) (sizeof(array) / sizeof *(array))

static const struct {
	enum proxy_via via;
	enum proxy_verdict verdict;
	char name[40];
	uint16_t port;
	const char *rule; /* "": none */
} cases[] = {
	{ PROXY_BY_RESOLVER, PROXY_NO_RULE, "a.example", 0,
	    "allow network domain \"a.example\"" },
	{ PROXY_BY_ADDRESS, PROXY_NO_RULE, "a.example", 443,
	    "allow network domain \"a.example\"" },
	{ PROXY_BY_HTTP, PROXY_NO_RULE, "a.example", 80,
	    "allow network domain \"a.example\"" },
	{ PROXY_BY_SOCKS, PROXY_NO_RULE, "a.example", 22,
	    "allow network domain \"a.example:22\"" },
	{ PROXY_BY_HTTP, PROXY_PRIVATE, "a.example", 443,
	    "allow network domain { \"a.example\" private }" },
	{ PROXY_BY_HTTP, PROXY_PRIVATE, "a.example", 8080,
	    "allow network domain { \"a.example:8080\" private }" },
	/* Of a request what stands behind the name. */
	{ PROXY_BY_HTTP, PROXY_REQUEST, "a.example\0POST /a/b?c", 443,
	    "allow network domain { \"a.example\" POST /a/b }" },
	{ PROXY_BY_HTTP, PROXY_REQUEST, "a.example\0GET /a/../b", 443, "" },
	{ PROXY_BY_HTTP, PROXY_REQUEST, "a.example\0GET /{}", 443, "" },
	{ PROXY_BY_HTTP, PROXY_REQUEST, "a.example\0git-write /a", 443, "" },
	{ PROXY_BY_HTTP, PROXY_RESERVED, "a.example", 443, "" },
	{ PROXY_BY_HTTP, PROXY_DENIED, "a.example", 443, "" },
	{ PROXY_BY_HTTP, PROXY_OTHER_NAME, "a.example", 443, "" },
	{ PROXY_BY_HTTP, PROXY_NO_SUCH_NAME, "a.example", 443, "" },
	{ PROXY_BY_HTTP, PROXY_FAILED, "a.example", 443, "" },
	{ PROXY_BY_HTTP, PROXY_LIMIT, "", 443, "" },
	{ PROXY_BY_HTTP, PROXY_NO_RULE, "127.1", 443, "" },
	{ PROXY_BY_HTTP, PROXY_NO_RULE, "a\" allow write /", 443, "" },
	/* Where the sandbox's own resolver and proxy listen. */
	{ PROXY_BY_HTTP, PROXY_NO_RULE, "a.example", 53, "" },
	{ PROXY_BY_ENDPOINT, PROXY_NO_RULE, "10.0.0.5", 3128, "" },
	{ PROXY_BY_ENDPOINT, PROXY_NO_RULE, "10.0.0.5", 5432,
	    "allow network connect 10.0.0.5:5432" },
	/* Where clouds give out the credentials of a machine. */
	{ PROXY_BY_ENDPOINT, PROXY_NO_RULE, "169.254.169.254", 80, "" },
	{ PROXY_BY_ENDPOINT, PROXY_NO_RULE, "fe80::1", 80, "" },
	{ PROXY_BY_ENDPOINT, PROXY_NO_RULE, "fd00::1", 443,
	    "allow network connect [fd00::1]:443" },
	{ PROXY_BY_ENDPOINT, PROXY_NO_RULE, "127.0.0.1", 5432,
	    "allow network host tcp 5432" },
	{ PROXY_BY_ENDPOINT, PROXY_NO_RULE, "127.0.0.2", 5432, "" },
	{ PROXY_BY_ENDPOINT, PROXY_NO_RULE, "::1", 5432, "" },
	{ PROXY_BY_ENDPOINT, PROXY_NO_RULE, "0.0.0.0", 80, "" },
	{ PROXY_BY_ENDPOINT, PROXY_NO_RULE, "198.18.0.9", 80, "" },
	{ PROXY_BY_ENDPOINT, PROXY_NO_RULE, "no address", 80, "" },
	{ PROXY_BY_ENDPOINT, PROXY_DENIED, "10.0.0.5", 5432, "" },
	{ PROXY_BY_HOST, PROXY_NO_RULE, "127.0.0.1", 5432,
	    "allow network host tcp 5432" },
	{ PROXY_BY_PUBLISH, PROXY_NO_RULE, "127.0.0.1", 3001,
	    "allow network publish tcp 3001" },
};

static bool
is_compiled(const char *rule)
{
	const char *sbxc = getenv("SBXC");
	char command[1024];
	FILE *stream;

	snprintf(command, sizeof command, "'%s' build -o /dev/null /dev/stdin",
	    sbxc != NULL ? sbxc : "build/sbxc");
	stream = popen(command, "w");
	if (stream == NULL)
		return false;
	fprintf(stream, "sbx 1\nprofile p {\n    allow read /\n    %s\n}\n",
	    rule);
	return pclose(stream) == 0;
}

static void
try_rules(struct tap *tap)
{
	for (size_t i = 0; i < countof(cases); i++) {
		struct proxy_event event = {
			.version = PROXY_EVENT_VERSION,
			.via = (uint8_t)cases[i].via,
			.verdict = (uint8_t)cases[i].verdict,
			.port = cases[i].port,
			.rule = UINT32_MAX,
		};
		struct out out;
		bool found;

		memcpy(event.name, cases[i].name, sizeof cases[i].name);
		out_init(&out, -1);
		found = remedy_put(&out, &event);
		if (!tap_ok(tap,
			found == (*cases[i].rule != '\0') &&
			    strcmp(out.text, cases[i].rule) == 0,
			"%s:%u: %s", cases[i].name, (unsigned)cases[i].port,
			found ? cases[i].rule : "no rule"))
			printf("# got: %s\n", out.text);
		if (found)
			tap_ok(tap, is_compiled(out.text), "which is a rule");
	}
}

/* No allow lifts a deny. */
static void
try_denied(struct tap *tap)
{
	struct proxy_event event = {
		.version = PROXY_EVENT_VERSION,
		.via = PROXY_BY_HTTP,
		.verdict = PROXY_REQUEST,
		.port = 443,
		.name = "a.example\0GET /a",
	};
	struct out out;

	out_init(&out, -1);
	tap_ok(tap, !remedy_put(&out, &event), "of a request that is denied");
}

static void
try_addresses(struct tap *tap)
{
	static const char *const texts[] = { "10.0.0.5", "255.255.255.255",
		"::", "::1", "1::", "fd00::1", "2001:db8::1:0:0:1",
		"2001:db8:0:1:1:1:1:1", "1:2:3:4:5:6:7:8",
		"1:0:0:4:5:6:7::", "fe80::abcd:0:12", "::ff:0:0" };
	static const char *const spelled[countof(
	    texts)] = { [9] = "1::4:5:6:7:0", [10] = "fe80::abcd:0:12" };

	for (size_t i = 0; i < countof(texts); i++) {
		uint8_t
		    address[SBX_ADDRESS_SIZE] = { [10] = 0xff, [11] = 0xff };
		const char *wanted = spelled[i] != NULL ? spelled[i] : texts[i];
		struct out out;

		if (inet_pton(AF_INET, texts[i], address + 12) != 1)
			inet_pton(AF_INET6, texts[i], address);
		out_init(&out, -1);
		out_address(&out, address);
		if (!tap_ok(tap, strcmp(out.text, wanted) == 0,
			"an address: %s", texts[i]))
			printf("# got: %s\n", out.text);
	}
}

int
main(void)
{
	struct tap tap = { 0 };

	try_rules(&tap);
	try_denied(&tap);
	try_addresses(&tap);
	return tap_done(&tap);
}
