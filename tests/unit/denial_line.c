/*
 * The words of a denial and what would allow it (runtime/watch/denial_line.c), as
 * people and agents read them.
 */
#include "runtime/watch/denial_line.h"
#include "runtime/base/kernel.h"
#include "tests/lib/tap.h"
#include "tests/unit/denials.h"

#define countof(array) (sizeof(array) / sizeof *(array))

static struct tap tap;

/* --- words ---------------------------------------------------------------- */

static void
check_lines(void)
{
	static const struct {
		struct sbx_denial denial;
		struct sbx_advice advice;
		const char *line;
	} cases[] = {
		{ { .kind = SBX_DENIED_READ,
		      .count = 2,
		      .path = "/x",
		      .program = "cat" },
		    { 0 }, "/x|2x cat|no rule" },
		{ { .kind = SBX_DENIED_WRITE, .count = 1, .path = "/a\nb" },
		    { 0 }, "/a\\x0ab|1x|no rule" },
		{ { .kind = SBX_DENIED_READ, .source = 0, .path = "/x" },
		    { .source = "q.sbx:1:1", .rule = "deny read /x" },
		    "/x|0x|p.sbx:2:3 deny read /x" },
		{ { .kind = SBX_DENIED_READ, .path = "/x" },
		    { .source = "q.sbx:1:1", .rule = "deny read /x" },
		    "/x|0x|q.sbx:1:1 deny read /x" },
		{ { .kind = SBX_DENIED_READ, .path = "/x" },
		    { .rule = "deny read /x" }, "/x|0x|deny read /x" },
		{ { .kind = SBX_DENIED_CONNECT, .port = 80 }, { 0 },
		    "tcp 80|0x|no rule" },
		{ { .kind = SBX_DENIED_LISTEN, .port = 81 }, { 0 },
		    "tcp 81|0x|no rule" },
		{ { .kind = SBX_DENIED_SOCKET, .path = "/s" }, { 0 },
		    "/s|0x|no rule" },
		{ { .kind = SBX_DENIED_CALL, .number = 9999 }, { 0 },
		    "number 9999|0x|the filter" },
		{ { .kind = SBX_DENIED_CALL, .number = 9999 },
		    { .object = "unshare" }, "unshare|0x|the filter" },
		{ { .kind = SBX_DENIED_NAME,
		      .path = "a.example",
		      .port = 22,
		      .verdict = PROXY_NO_RULE },
		    { 0 }, "a.example:22|0x|no rule" },
		{ { .kind = SBX_DENIED_NAME,
		      .source = 0,
		      .path = "a.example",
		      .verdict = PROXY_DENIED },
		    { .rule = "deny" }, "a.example|0x|p.sbx:2:3 deny" },
		{ { .kind = SBX_DENIED_NAME,
		      .source = 0,
		      .path = "a.example",
		      .verdict = PROXY_PRIVATE },
		    { .rule = "allow" }, "a.example|0x|private address" },
		{ { .kind = SBX_DENIED_NAME,
		      .path = "a.example",
		      .verdict = PROXY_DENIED },
		    { 0 }, "a.example|0x|denied" },
		{ { .kind = SBX_DENIED_HOST,
		      .port = 80,
		      .verdict = PROXY_NO_RULE },
		    { 0 },
		    "tcp 80|0x|no rule: inside, 127.0.0.1 is the sandbox's "
		    "own" },
		{ { .kind = SBX_DENIED_PUBLISH,
		      .port = 80,
		      .verdict = PROXY_NO_RULE },
		    { 0 }, "tcp 80|0x|no rule" },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		struct sbx_denial denial = cases[i].denial;
		bool advised = *cases[i].advice.source != '\0' ||
		    *cases[i].advice.rule != '\0' ||
		    *cases[i].advice.object != '\0';
		struct line line;
		char text[1024];

		denials_begin();
		/* A source is named where a rule of the blob is. */
		if (strstr(cases[i].line, "p.sbx") == NULL)
			denial.source = SBX_NO_SOURCE;
		denial_line(&line, &explaining, &denial,
		    advised ? &cases[i].advice : NULL);
		snprintf(text, sizeof text, "%.300s|%s|%.300s", line.place,
		    line.program, line.source);
		if (!tap_ok(&tap, strcmp(text, cases[i].line) == 0, "%s",
			cases[i].line))
			printf("# %s\n", text);
	}
}

static void
check_sockets(void)
{
	static const struct {
		uint32_t family, type;
		const char *path;
		uint16_t port;
		const char *object;
	} cases[] = {
		{ 1, 1, "", 0, "socket unix stream" },
		{ 2, 1, "a.example", 443,
		    "socket inet stream for a.example:443" },
		{ 2, 2, "a.example", 0, "socket inet dgram for a.example" },
		{ 10, 3, "", 443, "socket inet6 raw" },
		{ 16, 3, "", 0, "socket netlink raw" },
		{ 17, 2, "", 0, "socket packet dgram" },
		{ 40, 5, "", 0, "socket vsock seqpacket" },
		{ 40, 4, "", 0, "socket(40, 4)" },
		{ 38, 5, "", 0, "socket(38, 5)" },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		struct sbx_denial *denial;
		struct out out;

		denials_begin();
		denial = deny(SBX_DENIED_CALL, cases[i].path);
		denial->number = SYS_socket;
		denial->port = cases[i].port;
		denial->args[0] = cases[i].family;
		denial->args[1] = cases[i].type;
		out_init(&out, -1);
		denial_object(&out, &explaining, denial, NULL);
		tap_ok(&tap, strcmp(out.text, cases[i].object) == 0, "%s",
		    cases[i].object);
	}
}

/* --- remedies ------------------------------------------------------------- */

/* "WHERE step" of each, and whether they do. */
static const char *
fixed(const struct sbx_denial *denial)
{
	static char text[4096];
	struct fix fix;
	size_t used;

	denial_fix(&fix, &explaining, denial, has_advice ? advices : NULL);
	used = (size_t)snprintf(text, sizeof text, "%d", fix.works);
	for (uint32_t i = 0; i < fix.count; i++)
		used += (size_t)snprintf(text + used, sizeof text - used,
		    "|%u %.20s", fix.where[i], fix.steps[i]);
	return text;
}

static void
fixes(const char *what, const struct sbx_denial *denial, const char *wanted)
{
	const char *text = fixed(denial);

	if (!tap_ok(&tap, strcmp(text, wanted) == 0, "%s", what))
		printf("# %s\n", text);
}

static void
check_fixes(void)
{
	struct sbx_denial *denial;

	denials_begin();
	denial = deny(SBX_DENIED_READ, "/x");
	fixes("nobody to ask", denial, "0");
	advise(SBX_ADVICE_SHELL, "touch /x");
	advise(SBX_ADVICE_POLICY, "allow read /x");
	fixes("steps", denial, "1|1 touch /x|0 allow read /x");
	advices[0].works = 0;
	fixes("that are not enough", denial, "0|1 touch /x|0 allow read /x");
	advices[0].where[0] = SBX_ADVICE_END;
	fixes("one that is no step of ours", denial,
	    "0|4 touch /x|0 allow read /x");
	explaining.session = true;
	advices[0].where[0] = SBX_ADVICE_OPENS;
	fixes("in a session", denial, "0|5 touch /x|0 allow read /x");
	advices[0].allowed = 1;
	fixes("that is too old", denial,
	    "0|4 the session was made|5 touch /x|0 allow read /x");
	denial->source = 0;
	fixes("where a rule denies it", denial, "0|5 touch /x|0 allow read /x");
	denial->source = SBX_NO_SOURCE;
	explaining.session = false;
	fixes("out of one", denial, "0|5 touch /x|0 allow read /x");
	explaining.session = true;
	denial->kind = SBX_DENIED_CONNECT;
	fixes("what is no place", denial, "0|5 touch /x|0 allow read /x");
	advices[0].count = UINT32_MAX;
	denial->kind = SBX_DENIED_READ;
	fixes("no more than there is room for", denial,
	    "0|4 the session was made|5 touch /x|0 allow read /x|0 |0 |0 |0 ");
}

static void
check_host_fixes(void)
{
	struct sbx_denial *denial;

	denials_begin();
	denial = deny(SBX_DENIED_NAME, "a.example");
	denial->verdict = PROXY_NO_RULE;
	fixes("a name", denial, "1|0 allow network domain");
	denial->verdict = PROXY_FAILED;
	fixes("one that no rule would open", denial, "0");
	denials_begin();
	denial = deny(SBX_DENIED_ADDRESS, "192.0.2.1");
	denial->verdict = PROXY_NO_RULE;
	denial->port = 80;
	fixes("an address", denial, "1|0 allow network connec");
	denial->port = NAME_SERVERS;
	fixes("a server of names", denial, "0|4 'allow network domai");
	advise(SBX_ADVICE_POLICY, "use registries");
	fixes("which a package manager asks", denial, "1|0 use registries");
	advices[0].works = 0;
	fixes("or somebody else", denial, "0|4 'allow network domai");
	advices[0].works = 1;
	denial->port = 80;
	fixes("another port is the host's", denial, "1|0 allow network connec");
}

int
main(void)
{
	check_lines();
	check_sockets();
	check_fixes();
	check_host_fixes();
	return tap_done(&tap);
}
