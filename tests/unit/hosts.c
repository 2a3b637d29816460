/*
 * Hosts as rules name them: the vectors of names, addresses that are public and
 * that are not, which rule is about an address, and the ways out of a network
 * that follow from all rules.  Rules are compiled from their text.
 */
#include "compiler/policy/kind.h"
#include "compiler/query/query.h"
#include "compiler/read/read.h"
#include "format/model.h"
#include "tests/lib/tap.h"

enum { WHERE = SBX_ON_LINUX_X86_64 };

/* Compiles a profile of these lines; false if there is an error. */
static bool
compile_rules(struct arena *arena, const char *rules, struct sbx_blob *blob)
{
	struct compilation compilation;
	struct source *source;
	struct image image;
	char *text = arena_printf(arena,
	    "sbx 1\nprofile p {\nrequire level full\n%s\n}\n", rules);

	compilation_init(&compilation, arena);
	source = sources_add(&compilation.sources, "p.sbx", text, strlen(text),
	    (struct loc){ 0, 0 });
	compilation_parse(&compilation, source);
	compilation.file = source;
	return compile(&compilation, NULL, &image) &&
	    sbx_verify(image.bytes, image.size, blob) == SBX_BLOB_OK;
}

/* --- names ---------------------------------------------------------------- */

enum expected { ALLOW, DENY, BAD_RULE, NO_NAME };

static const struct vector {
	const char *name, *pattern;
	uint16_t port;
	enum expected expected;
} vectors[] = {
	{ "github.com", "github.com", 443, ALLOW },
	{ "github.com", "github.com", 80, ALLOW },
	{ "github.com", "github.com", 22, DENY },
	{ "github.com", "github.com:22", 22, ALLOW },
	{ "github.com", "github.com:22", 443, DENY },
	{ "GitHub.COM", "github.com", 443, ALLOW },
	{ "github.com", "GITHUB.com", 443, ALLOW },
	{ "github.com.", "github.com", 443, ALLOW },
	{ "github.com", "github.com.", 443, ALLOW },
	{ "az09-_z.example", "az09-_z.example", 443, ALLOW },
	{ "z.example", "a.example", 443, DENY },
	{ "AZ.example", "az.example", 443, ALLOW },
	{ "github.com..", "github.com", 443, NO_NAME },
	{ ".github.com", "github.com", 443, NO_NAME },
	{ "www.github.com", "github.com", 443, DENY },
	{ "github.com.evil.net", "github.com", 443, DENY },
	{ "evilgithub.com", "github.com", 443, DENY },
	{ "a.pkgs.example", "*.pkgs.example", 443, ALLOW },
	{ "pkgs.example", "*.pkgs.example", 443, DENY },
	{ "a.b.pkgs.example", "*.pkgs.example", 443, ALLOW },
	{ "evilpkgs.example", "*.pkgs.example", 443, DENY },
	{ ".pkgs.example", "*.pkgs.example", 443, NO_NAME },
	{ "-.pkgs.example", "*.pkgs.example", 443, NO_NAME },
	{ "x.pkgs.example.", "*.pkgs.example", 443, ALLOW },
	{ "x.PKGS.example", "*.pkgs.example", 8080, DENY },
	{ "x.pkgs.example", "*.pkgs.example:8080", 8080, ALLOW },
	{ "_x.pkgs.example", "*.pkgs.example", 443, ALLOW },
	{ "xn--bcher-kva.example", "xn--bcher-kva.example", 443, ALLOW },
	{ "b\xc3\xbc"
	  "cher.example",
	    "xn--bcher-kva.example", 443, NO_NAME },
	{ "g\xd1\x96thub.com", "github.com", 443, NO_NAME },
	{ "10.0.0.5", "*.0.0.5", 443, BAD_RULE },
	{ "127.0.0.1", "127.0.0.1", 443, BAD_RULE },
	{ "0x7f000001", "github.com", 443, NO_NAME },
	{ "2130706433", "github.com", 443, NO_NAME },
	{ "127.1", "github.com", 443, NO_NAME },
	{ "1.0x7F", "github.com", 443, NO_NAME },
	{ "[::1]", "github.com", 443, NO_NAME },
	{ "::ffff:10.0.0.1", "github.com", 443, NO_NAME },
	{ "x.com", "*.com", 443, BAD_RULE },
	{ "x.com", "*", 443, BAD_RULE },
	{ "x.foo.com", "x.*.com", 443, BAD_RULE },
	{ "foobar.com", "foo*.com", 443, BAD_RULE },
	{ "x.com", "**.x.com", 443, BAD_RULE },
	{ "x.com", "x.com:0", 443, BAD_RULE },
	{ "x.com", "x.com:70000", 443, BAD_RULE },
	{ "x.com", "x.com:", 443, BAD_RULE },
	{ "x.com", "x.com:53", 53, BAD_RULE },
	{ "x.com", "x.com:3128", 3128, BAD_RULE },
	{ "x.com", "https://x.com/", 443, BAD_RULE },
	{ "x.com",
	    "b\xc3\xbc"
	    "cher.example",
	    443, BAD_RULE },
	{ "github.com%00.evil.net", "github.com", 443, NO_NAME },
	{ "github.com@evil.net", "github.com", 443, NO_NAME },
	{ "git hub.com", "github.com", 443, NO_NAME },
	{ "github.com:443", "github.com", 443, NO_NAME },
	{ "localhost", "*.localhost", 443, BAD_RULE },
	{ "metadata.x.internal", "*.x.internal", 443, ALLOW },
	{ "", "github.com", 443, NO_NAME },
	{ ".", "github.com", 443, NO_NAME },
	{ "a.-b.com", "*.b.com", 443, NO_NAME },
	{ "a.b-.com", "*.b.com", 443, NO_NAME },
};

static enum expected
verdict_on(const struct vector *vector)
{
	struct arena *arena = arena_new();
	enum expected found = NO_NAME;
	char name[SBX_NAME_SIZE];
	struct sbx_blob blob;

	if (!compile_rules(arena,
		arena_printf(arena, "allow network domain \"%s\"",
		    vector->pattern),
		&blob))
		found = BAD_RULE;
	else if (sbx_name_normal(vector->name, strlen(vector->name), name))
		found =
		    sbx_name_verdict(&blob, WHERE, name, vector->port).allowed ?
		    ALLOW :
		    DENY;
	arena_release(arena);
	return found;
}

static void
try_vectors(struct tap *tap)
{
	static const char *const words[] = { "allow", "deny", "bad rule",
		"no name" };

	for (size_t i = 0; i < countof(vectors); i++) {
		enum expected found = verdict_on(&vectors[i]);

		tap_ok(tap, found == vectors[i].expected,
		    "%s port %u under %s: %s", vectors[i].name,
		    (unsigned)vectors[i].port, vectors[i].pattern,
		    words[found]);
	}
}

static void
try_lengths(struct tap *tap)
{
	char text[300], name[SBX_NAME_SIZE];

	memset(text, 'a', sizeof text);
	tap_ok(tap,
	    sbx_name_normal(text, 63, name) && !sbx_name_normal(text, 64, name),
	    "a label has at most 63 characters");
	for (size_t i = 63; i < sizeof text; i += 64)
		text[i] = '.';
	tap_ok(tap,
	    sbx_name_normal(text, 253, name) && strlen(name) == 253 &&
		!sbx_name_normal(text, 254, name),
	    "a name at most 253");
	text[253] = '.';
	tap_ok(tap, sbx_name_normal(text, 254, name) && strlen(name) == 253,
	    "the dot at its end does not count");
	tap_ok(tap, !sbx_name_normal("github.com\0.evil", 16, name),
	    "no name has a NUL in it");
}

struct asked {
	const char *name;
	uint16_t port;
	bool allowed, is_private, known;
	const char *rule; /* its name; NULL: none */
};

static void
try_names(struct tap *tap)
{
	static const char rules[] =
	    "allow network domain { *.npmjs.org github.com github.com:22 }\n"
	    "allow network domain { db.corp.example:5432 *.corp.example "
	    "private }\n"
	    "allow network domain { shut.example:81 half.example }\n"
	    "deny network domain { telemetry.npmjs.org *.evil.npmjs.org }\n"
	    "deny network domain { *.npmjs.org:80 half.example:443 }\n"
	    "deny network domain shut.example\n"
	    "allow network domain { x.corp.example:90 private }\n"
	    "deny network domain *.corp.example:90\n";
	static const struct asked table[] = {
		{ "registry.npmjs.org", 443, true, false, true, "npmjs.org" },
		{ "registry.npmjs.org", 80, false, false, true, "npmjs.org" },
		{ "telemetry.npmjs.org", 443, false, false, false,
		    "telemetry.npmjs.org" },
		{ "x.telemetry.npmjs.org", 443, true, false, true,
		    "npmjs.org" },
		{ "x.evil.npmjs.org", 443, false, false, false,
		    "evil.npmjs.org" },
		{ "evil.npmjs.org", 443, true, false, true, "npmjs.org" },
		{ "npmjs.org", 443, false, false, false, NULL },
		{ "github.com", 22, true, false, true, "github.com" },
		{ "github.com", 23, false, false, true, NULL },
		{ "db.corp.example", 5432, true, true, true,
		    "db.corp.example" },
		{ "db.corp.example", 443, true, true, true, "corp.example" },
		{ "x.corp.example", 90, false, false, true, "corp.example" },
		{ "shut.example", 81, false, false, false, "shut.example" },
		{ "half.example", 80, true, false, true, "half.example" },
		{ "half.example", 443, false, false, true, "half.example" },
		{ "unknown.example", 443, false, false, false, NULL },
	};
	struct arena *arena = arena_new();
	struct sbx_blob blob;

	if (!tap_ok(tap, compile_rules(arena, rules, &blob), "rules compile"))
		return;
	for (size_t i = 0; i < countof(table); i++) {
		const struct asked *asked = &table[i];
		struct sbx_name_verdict verdict = sbx_name_verdict(&blob, WHERE,
		    asked->name, asked->port);
		const char *rule = verdict.rule == UINT32_MAX ?
		    NULL :
		    sbx_string(&blob, blob.names[verdict.rule].name);

		tap_ok(tap,
		    verdict.allowed == asked->allowed &&
			verdict.is_private == asked->is_private &&
			(rule == NULL ? asked->rule == NULL :
					asked->rule != NULL &&
				    strcmp(rule, asked->rule) == 0) &&
			sbx_name_is_known(&blob, WHERE, asked->name) ==
			    asked->known,
		    "%s port %u: %s, by %s", asked->name, (unsigned)asked->port,
		    verdict.allowed ? "allowed" : "denied",
		    rule != NULL ? rule : "no rule");
	}
	arena_release(arena);
}

/* --- addresses ------------------------------------------------------------ */

static void
try_public(struct tap *tap)
{
	static const char *const shut[] = { "0.0.0.0", "10.0.0.1", "100.64.0.1",
		"100.127.255.255", "127.0.0.1", "168.63.129.16",
		"169.254.169.254", "172.16.0.1", "172.31.255.255",
		"192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.1.1",
		"198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1",
		"224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1",
		"64:ff9b::1.2.3.4", "64:ff9b:1::1", "100::1", "2001::1",
		"2001:db8::1", "2002::1", "3fff::1", "4000::1", "fc00::1",
		"fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1",
		"::127.0.0.1" };
	static const char *const open[] = { "1.1.1.1", "9.255.255.255",
		"11.22.33.44", "100.63.255.255", "100.128.0.0", "126.0.0.1",
		"128.0.0.1", "169.253.0.1", "172.15.0.1", "172.32.0.1",
		"198.17.0.1", "198.20.0.1", "223.255.255.255", "2001:200::1",
		"2003::1", "2606:4700::1111", "3ffe::1", "2a00:1450::1" };
	struct host_net net;

	for (size_t i = 0; i < countof(shut); i++)
		tap_ok(tap,
		    host_net_parse(shut[i], strlen(shut[i]), &net) &&
			!sbx_address_is_public(net.address),
		    "%s is not public", shut[i]);
	for (size_t i = 0; i < countof(open); i++)
		tap_ok(tap,
		    host_net_parse(open[i], strlen(open[i]), &net) &&
			sbx_address_is_public(net.address),
		    "%s is public", open[i]);
}

/* What the word `private` must not open either. */
static void
try_wrapped(struct tap *tap)
{
	static const struct {
		const char *address;
		bool wrapped;
	} table[] = {
		{ "64:ff9b::a9fe:a9fe", true },
		{ "64:ff9b::169.254.169.254", true },
		{ "64:ff9b::127.0.0.1", true },
		{ "64:ff9b::10.0.0.1", true },
		{ "64:ff9b::c612:1", true },
		{ "64:ff9b::1.1.1.1", false },
		{ "64:ff9b::1:a9fe:a9fe", false },
		{ "64:ff9b:1::a9fe:a9fe", true },
		{ "64:ff9b:1:a9fe:a9:fe00::", true },
		{ "64:ff9b:1:ffff::1", true },
		{ "64:ff9b:2::a9fe:a9fe", false },
		{ "2001::5601:5601", true },
		{ "2001:0:a9fe:a9fe::1", true },
		{ "2001:1::1", false },
		{ "2002:a9fe:a9fe::1", true },
		{ "2003:a9fe:a9fe::1", false },
		{ "::169.254.169.254", true },
		{ "::a9fe:a9fe", true },
		{ "::ffff:0:169.254.169.254", true },
		{ "::ffff:10.0.0.1", false },
		{ "0:0:0:0:0:ffff:a00:1", false },
		{ "10.0.0.1", false },
		{ "fd00::a9fe:a9fe", false },
	};
	static const char *const mapped[] = { "::ffff:169.254.169.254",
		"::ffff:a9fe:a9fe", "0:0:0:0:0:ffff:a9fe:a9fe",
		"::FFFF:A9FE:A9FE" };
	struct host_net net;

	for (size_t i = 0; i < countof(table); i++)
		tap_ok(tap,
		    host_net_parse(table[i].address, strlen(table[i].address),
			&net) &&
			sbx_address_is_wrapped(net.address) == table[i].wrapped,
		    "%s is%s wrapped", table[i].address,
		    table[i].wrapped ? "" : " not");
	for (size_t i = 0; i < countof(mapped); i++)
		tap_ok(tap,
		    host_net_parse(mapped[i], strlen(mapped[i]), &net) &&
			sbx_address_is_metadata(net.address),
		    "%s is of metadata", mapped[i]);
}

static void
try_address_rules(struct tap *tap)
{
	static const struct {
		const char *rule;
		bool good;
	} table[] = {
		{ "allow network connect 10.0.0.5:5432", true },
		{ "allow network connect 10.2.0.0/16:{ 80 443 }", true },
		{ "allow network connect 10.2.0.0/16: { 80 443 }", true },
		{ "allow network connect [fd00::1]:5432", true },
		{ "allow network connect { [fd00::1]:1 10.0.0.5:1-4 }", true },
		{ "allow network connect \"[fd00::]/8:443\"", true },
		{ "allow network connect [fd00::/8]:443", true },
		{ "deny network connect { 10.0.0.0/8 [fd00::/8] ::1 }", true },
		{ "deny network connect 127.0.0.1", true },
		{ "allow network connect 10.0.0.5", false },
		{ "allow network connect 10.0.0.5:", false },
		{ "allow network connect 10.0.0.5:0", false },
		{ "allow network connect 10.0.0.5:80-70000", false },
		{ "allow network connect 10.0.0.5:81-80", false },
		{ "allow network connect 10.0.0.5/16:80", false },
		{ "allow network connect 10.0.0.0/33:80", false },
		{ "allow network connect fd00::1", false },
		{ "allow network connect 0.0.0.0/0:443", false },
		{ "allow network connect [::/0]:443", false },
		{ "allow network connect 127.0.0.1:5432", false },
		{ "allow network connect [::1]:5432", false },
		{ "allow network connect [::ffff:127.0.0.1]:5432", false },
		{ "allow network connect 198.18.4.4:443", false },
		{ "allow network connect 198.0.0.0/8:443", false },
		{ "allow network connect [100::c612:1]:443", false },
		{ "allow network connect [100::/8]:443", false },
		{ "allow network connect [100:0:0:1::1]:443", true },
		{ "allow network connect 0.0.0.0:443", false },
		{ "allow network connect 224.0.0.1:443", false },
		{ "allow network connect 10.0.0.5:3128", false },
		{ "deny network connect 10.0.0.5:3128", true },
		{ "deny network domain a.example:53", true },
		{ "allow network connect github.com:443", false },
		{ "allow network connect udp 53", false },
		{ "allow network connect 10.0.0.5:1-100", false },
		{ "allow network proxy tcp 3128", true },
		{ "allow network proxy unix ${runtime}/proxy.sock", true },
		{ "allow network proxy unix { /a /b }", false },
		{ "deny network proxy tcp 3128", false },
	};

	for (size_t i = 0; i < countof(table); i++) {
		struct arena *arena = arena_new();
		struct sbx_blob blob;

		tap_ok(tap,
		    compile_rules(arena, table[i].rule, &blob) == table[i].good,
		    "%s: %s", table[i].rule, table[i].good ? "good" : "bad");
		arena_release(arena);
	}
}

static void
try_endpoints(struct tap *tap)
{
	static const char rules[] =
	    "allow network connect { 10.2.0.0/16:80-90 10.0.0.5:5432 }\n"
	    "deny network connect { 10.2.3.0/24 10.2.0.0/16:85 }\n"
	    "allow network connect [fd00::/9]:443\n";
	static const struct {
		const char *address;
		uint16_t port;
		enum sbx_reason reason;
	} table[] = {
		{ "10.2.4.1", 80, SBX_BECAUSE_ALLOWED },
		{ "10.2.4.1", 90, SBX_BECAUSE_ALLOWED },
		{ "10.2.4.1", 91, SBX_BECAUSE_NOTHING },
		{ "10.2.4.1", 85, SBX_BECAUSE_DENIED },
		{ "10.2.3.1", 80, SBX_BECAUSE_DENIED },
		{ "10.3.0.0", 80, SBX_BECAUSE_NOTHING },
		{ "10.0.0.5", 5432, SBX_BECAUSE_ALLOWED },
		{ "10.0.0.4", 5432, SBX_BECAUSE_NOTHING },
		{ "fd7f::1", 443, SBX_BECAUSE_ALLOWED },
		{ "fd80::1", 443, SBX_BECAUSE_NOTHING },
		{ "::ffff:10.0.0.5", 5432, SBX_BECAUSE_ALLOWED },
	};
	struct arena *arena = arena_new();
	struct sbx_blob blob;

	if (!tap_ok(tap, compile_rules(arena, rules, &blob), "rules compile"))
		return;
	for (size_t i = 0; i < countof(table); i++) {
		struct host_net net;

		tap_ok(tap,
		    host_net_parse(table[i].address, strlen(table[i].address),
			&net) &&
			sbx_endpoint_verdict(&blob, WHERE, net.address,
			    table[i].port)
				.reason == table[i].reason,
		    "%s port %u", table[i].address, (unsigned)table[i].port);
	}
	arena_release(arena);
}

/* --- ways ----------------------------------------------------------------- */

static const struct ways_case {
	const char *rules, *ways;
} ways_cases[] = {
	{ "allow network loopback", "" },
	{ "allow network connect tcp 443", "" },
	{ "allow network domain github.com", "r53 R53 p3128 a80 a443" },
	{ "allow network domain { b.example:22 a.example:22 }",
	    "r53 R53 p3128 a22" },
	{ "deny network domain github.com\nallow network host tcp 443",
	    "h443" },
	{ "allow network connect { 10.0.0.5:5432 10.0.0.6:5430-5433 }",
	    "a5430 a5431 a5432 a5433" },
	{ "allow network proxy tcp 3128", "p3128" },
	{ "allow network publish tcp { 3000 8080 }", "P3000 P8080" },
	{ "allow network host tcp { 443 5432 }\n"
	  "allow network domain github.com",
	    "r53 R53 p3128 a80 a443 h5432" },
	{ "allow network publish tcp 3000-3003\n"
	  "deny network publish tcp 3001-3002",
	    "P3000 P3003" },
	{ "allow network connect 10.0.0.5:1000-1063", "64" },
	{ "allow network loopback\nallow network publish tcp 443\n"
	  "allow network domain github.com",
	    "r53 R53 p3128 a80 a443 P443" },
	{ "deny network full\nallow network domain github.com", "" },
	/* The last port there is. */
	{ "allow network connect 10.0.0.5:65534-65535", "a65534 a65535" },
	{ "allow network publish tcp 65535", "P65535" },
};

static const char *
ways_text(struct arena *arena, const struct sbx_blob *blob)
{
	static const char letters[] = {
		[SBX_WAY_RESOLVER] = 'r',
		[SBX_WAY_RESOLVER_TCP] = 'R',
		[SBX_WAY_PROXY] = 'p',
		[SBX_WAY_PORT] = 'a',
		[SBX_WAY_HOST] = 'h',
		[SBX_WAY_PUBLISH] = 'P',
	};
	struct sbx_way ways[SBX_MAX_WAYS];
	size_t count = sbx_ways(blob, WHERE, ways);
	const char *text = "";

	if (count > 16)
		return arena_printf(arena, "%zu", count);
	for (size_t i = 0; i < count; i++)
		text = arena_printf(arena, "%s%s%c%u", text, i > 0 ? " " : "",
		    letters[ways[i].kind], (unsigned)ways[i].port);
	return text;
}

static void
try_ways(struct tap *tap)
{
	for (size_t i = 0; i < countof(ways_cases); i++) {
		struct arena *arena = arena_new();
		struct sbx_meta nothing = { .net = SBX_NET_NONE };
		struct sbx_blob blob = { .meta = &nothing };
		const char *text = "no blob";

		if (compile_rules(arena, ways_cases[i].rules, &blob))
			text = ways_text(arena, &blob);
		tap_ok(tap, strcmp(text, ways_cases[i].ways) == 0,
		    "the ways of '%.*s': %s",
		    (int)strcspn(ways_cases[i].rules, "\n"),
		    ways_cases[i].rules, text);
		tap_ok(tap,
		    sbx_ways_names(&blob, WHERE) ==
			    (strchr(ways_cases[i].ways, 'r') != NULL) &&
			sbx_ways_proxy(&blob, WHERE) ==
			    (strchr(ways_cases[i].ways, 'p') != NULL),
		    "whether names are among them, and the proxy");
		arena_release(arena);
	}
}

/* --- names beyond ASCII --------------------------------------------------- */

static void
try_idna(struct tap *tap)
{
	static const struct {
		const char *name, *ascii;
	} table[] = {
		{ "b\xc3\xbc"
		  "cher.example",
		    "xn--bcher-kva.example" },
		{ "M\xc3\xbcnchen.de", "xn--mnchen-3ya.de" },
		{ "g\xd1\x96thub.com", "xn--gthub-n2e.com" },
		{ "\xe4\xbe\x8b\xe3\x81\x88.\xe3\x83\x86\xe3\x82\xb9\xe3\x83"
		  "\x88",
		    "xn--r8jz45g.xn--zckzah" },
		{ "\xce\xb4\xce\xbf\xce\xba\xce\xb9\xce\xbc\xce\xae",
		    "xn--jxalpdlp" },
		{ "plain.example", "plain.example" },
		{ "broken\xc3", NULL },
		{ "broken\xff.example", NULL },
	};
	struct arena *arena = arena_new();

	for (size_t i = 0; i < countof(table); i++) {
		const char *ascii = idna_to_ascii(arena, table[i].name);

		tap_ok(tap,
		    (ascii == NULL) == (table[i].ascii == NULL) &&
			(ascii == NULL || strcmp(ascii, table[i].ascii) == 0),
		    "%s is %s", table[i].name, ascii != NULL ? ascii : "none");
	}
	arena_release(arena);
}

int
main(void)
{
	struct tap tap = { 0 };

	try_vectors(&tap);
	try_lengths(&tap);
	try_names(&tap);
	try_public(&tap);
	try_wrapped(&tap);
	try_address_rules(&tap);
	try_endpoints(&tap);
	try_ways(&tap);
	try_idna(&tap);
	return tap_done(&tap);
}
