/*
 * The verdicts by themselves, on rules that are written down here: the order of
 * rules, the first and the last of several, and what lies just beside a place, a
 * port or a pattern.
 */
#include "format/model.h"
#include "tests/lib/tap.h"

enum { RULES = 4, EXCLUSIONS = 4, WORD = 32 };

#define countof(array) (sizeof(array) / sizeof *(array))

static const char *const effects[] = {
	[SBX_ALLOW] = "allow",
	[SBX_DENY] = "deny",
	[SBX_PREFER_DENY] = "prefer",
};

struct rules {
	struct sbx_rule rules[RULES];
	struct sbx_place exclusions[RULES][EXCLUSIONS];
	char text[256];
	size_t count;
};

/* "/" is the root, which a place writes as nothing. */
static struct sbx_place
place_of(const char *path)
{
	uint32_t len = (uint32_t)strlen(path);

	return (struct sbx_place){ path, len == 1 ? 0 : len };
}

static uint8_t
effect_of(const char *word)
{
	uint8_t effect = 0;

	while (strcmp(effects[effect], word) != 0)
		effect++;
	return effect;
}

static uint8_t
rights_of(const char *letters)
{
	return (uint8_t)((strchr(letters, 'r') ? SBX_READ : 0) |
	    (strchr(letters, 'w') ? SBX_WRITE : 0) |
	    (strchr(letters, 'x') ? SBX_EXEC : 0));
}

/* "EFFECT RIGHTS PLACE [EXCLUSION...]; ..." */
static void
rules_read(struct rules *rules, const char *text)
{
	char *rest, *end;

	*rules = (struct rules){ .count = 0 };
	snprintf(rules->text, sizeof rules->text, "%s", text);
	for (char *line = strtok_r(rules->text, ";", &end); line != NULL;
	     line = strtok_r(NULL, ";", &end)) {
		struct sbx_rule *rule = &rules->rules[rules->count];
		struct sbx_place *exclusions =
		    rules->exclusions[rules->count++];
		const char *word;

		rule->effect = effect_of(strtok_r(line, " ", &rest));
		rule->rights = rights_of(strtok_r(NULL, " ", &rest));
		rule->at = place_of(strtok_r(NULL, " ", &rest));
		rule->exclusions = exclusions;
		while ((word = strtok_r(NULL, " ", &rest)) != NULL)
			exclusions[rule->exclusion_count++] = place_of(word);
	}
}

/* "allowed 0", "denied 1", "preferred 1" or "nothing". */
static void
verdict_write(struct sbx_verdict verdict, char *word)
{
	if (verdict.rule == SBX_NO_RULE)
		snprintf(word, WORD, "%s",
		    verdict.reason == SBX_BECAUSE_ALLOWED    ? "allowed" :
			verdict.reason == SBX_BECAUSE_DENIED ? "denied" :
							       "nothing");
	else
		snprintf(word, WORD, "%s %u",
		    verdict.preferred                         ? "preferred" :
			verdict.reason == SBX_BECAUSE_ALLOWED ? "allowed" :
								"denied",
		    (unsigned)verdict.rule);
}

static const struct {
	const char *rules, *right, *path, *verdict;
	bool split;
} paths[] = {
	{ "allow r /a", "r", "/a", "allowed 0", false },
	{ "allow r /a", "r", "/a/b", "allowed 0", false },
	{ "allow r /a", "r", "/ab", "nothing", false },
	{ "allow r /a", "r", "/b", "nothing", false },
	{ "allow r /ab/c", "r", "/ab/d", "nothing", false },
	{ "allow r /ab/c", "r", "/ab", "nothing", false },
	{ "allow r /a", "r", "/", "nothing", false },
	{ "allow r /", "r", "/", "allowed 0", false },
	{ "allow r /", "r", "/a/b", "allowed 0", false },
	{ "allow r /a", "w", "/a", "nothing", false },
	{ "allow rw /a", "w", "/a", "allowed 0", false },
	{ "allow rw /a", "x", "/a", "nothing", false },
	{ "allow rx /a", "x", "/a", "allowed 0", false },

	{ "allow r /a; allow r /a/b", "r", "/a/b/c", "allowed 1", false },
	{ "allow r /a/b; allow r /a", "r", "/a/b/c", "allowed 0", false },
	{ "allow r /a; allow r /a", "r", "/a", "allowed 0", false },

	{ "allow r /a; deny r /a", "r", "/a", "denied 1", false },
	{ "deny r /a; allow r /a", "r", "/a", "denied 0", false },
	{ "deny r /a; allow r /a/b", "r", "/a/b", "denied 0", false },
	{ "allow r /; deny r /a; deny r /a/b", "r", "/a/b", "denied 1", false },
	{ "allow r /a; prefer r /a", "r", "/a", "preferred 1", false },
	{ "prefer r /a; allow r /a/b", "r", "/a/b", "preferred 0", false },
	{ "prefer r /a; deny r /a/b", "r", "/a/b", "preferred 0", false },
	{ "allow rw /a; deny w /a", "r", "/a/b", "allowed 0", false },

	/* The first and the last exclusion, and what is beside one. */
	{ "allow r /a /a/x /a/y /a/z", "r", "/a/x", "nothing", false },
	{ "allow r /a /a/x /a/y /a/z", "r", "/a/y/b", "nothing", false },
	{ "allow r /a /a/x /a/y /a/z", "r", "/a/z", "nothing", false },
	{ "allow r /a /a/x /a/y /a/z", "r", "/a/zz", "allowed 0", false },
	{ "allow r /a /a", "r", "/a", "nothing", false },
	{ "allow r /a; deny r /a/b /a/b/c", "r", "/a/b", "denied 1", false },
	{ "allow r /a; deny r /a/b /a/b/c", "r", "/a/b/c/d", "allowed 0",
	    false },

	/* Where something below is not given. */
	{ "allow w /a; deny w /a/b", "w", "/a", "allowed 0", true },
	{ "allow w /a; prefer w /a/b", "w", "/a", "allowed 0", true },
	{ "allow w /a; deny w /a/b", "w", "/a/c", "allowed 0", false },
	{ "allow w /a; deny w /ab", "w", "/a", "allowed 0", false },
	{ "allow rw /a; deny w /a/b", "r", "/a", "allowed 0", false },
	{ "allow w /; deny w /a", "w", "/", "allowed 0", true },
	{ "allow w /a; deny w /a", "w", "/a", "denied 1", false },
	{ "allow w /a /a/x", "w", "/a", "allowed 0", true },
	{ "allow w /a /b /c /a/x", "w", "/a", "allowed 0", true },
	{ "allow w /a /a/x; allow w /a/x", "w", "/a", "allowed 0", false },
	{ "allow w /a /a/x", "w", "/a/c", "allowed 0", false },
	{ "allow w /a/b; deny w /a /a/b", "w", "/a/b", "allowed 0", false },
	{ "allow w /b; allow w /a /a/b/c", "w", "/a/b", "allowed 1", true },
};

static void
try_paths(struct tap *tap)
{
	for (size_t i = 0; i < countof(paths); i++) {
		struct sbx_place path = place_of(paths[i].path);
		uint8_t right = rights_of(paths[i].right);
		struct rules rules;
		char word[WORD];

		rules_read(&rules, paths[i].rules);
		verdict_write(sbx_path_verdict(rules.rules, rules.count, right,
				  path),
		    word);
		tap_ok(tap, strcmp(word, paths[i].verdict) == 0,
		    "%s: %s %s: %s", paths[i].rules, paths[i].right,
		    paths[i].path, word);
		tap_ok(tap,
		    sbx_path_is_split(rules.rules, rules.count, right, path) ==
			paths[i].split,
		    "%s: %s %s: %s", paths[i].rules, paths[i].right,
		    paths[i].path, paths[i].split ? "split" : "whole");
	}
}

enum { LINUX = SBX_ON_LINUX_X86_64 | SBX_ON_LINUX_AARCH64 };

#define PORT(first, last, what, use, where) \
	{ \
		.low = (first), .high = (last), .effect = (what), .op = (use), \
		.platforms = (where) \
	}

static const struct sbx_port port_rules[] = {
	PORT(443, 443, SBX_ALLOW, SBX_CONNECT_TCP, LINUX),
	PORT(8000, 8080, SBX_ALLOW, SBX_CONNECT_TCP, LINUX),
	PORT(8010, 8020, SBX_PREFER_DENY, SBX_CONNECT_TCP, LINUX),
	PORT(8015, 8016, SBX_ALLOW, SBX_CONNECT_TCP, LINUX),
	PORT(65535, 65535, SBX_ALLOW, SBX_LISTEN_TCP, LINUX),
	PORT(22, 22, SBX_ALLOW, SBX_CONNECT_TCP, SBX_ON_MACOS),
	PORT(5432, 5432, SBX_ALLOW, SBX_HOST_TCP, LINUX),
	PORT(3000, 3000, SBX_ALLOW, SBX_PUBLISH_TCP, SBX_ON_LINUX_X86_64),
};

static const struct {
	uint8_t net;
	bool said; /* by a rule about the network as a whole */
	uint8_t op;
	uint16_t port;
	const char *verdict;
} ports[] = {
	{ SBX_NET_PORTS, false, SBX_CONNECT_TCP, 442, "nothing" },
	{ SBX_NET_PORTS, false, SBX_CONNECT_TCP, 443, "allowed 0" },
	{ SBX_NET_PORTS, false, SBX_CONNECT_TCP, 444, "nothing" },
	{ SBX_NET_PORTS, false, SBX_CONNECT_TCP, 7999, "nothing" },
	{ SBX_NET_PORTS, false, SBX_CONNECT_TCP, 8000, "allowed 1" },
	{ SBX_NET_PORTS, false, SBX_CONNECT_TCP, 8009, "allowed 1" },
	{ SBX_NET_PORTS, false, SBX_CONNECT_TCP, 8010, "preferred 2" },
	{ SBX_NET_PORTS, false, SBX_CONNECT_TCP, 8015, "preferred 2" },
	{ SBX_NET_PORTS, false, SBX_CONNECT_TCP, 8020, "preferred 2" },
	{ SBX_NET_PORTS, false, SBX_CONNECT_TCP, 8021, "allowed 1" },
	{ SBX_NET_PORTS, false, SBX_CONNECT_TCP, 8080, "allowed 1" },
	{ SBX_NET_PORTS, false, SBX_CONNECT_TCP, 8081, "nothing" },
	{ SBX_NET_PORTS, false, SBX_CONNECT_TCP, 65535, "nothing" },
	{ SBX_NET_PORTS, false, SBX_LISTEN_TCP, 65535, "allowed 4" },
	{ SBX_NET_PORTS, false, SBX_LISTEN_TCP, 443, "nothing" },
	{ SBX_NET_PORTS, false, SBX_CONNECT_TCP, 22, "nothing" },
	/* In the host's network its services are any ports. */
	{ SBX_NET_PORTS, false, SBX_HOST_TCP, 443, "allowed 0" },
	{ SBX_NET_PORTS, false, SBX_PUBLISH_TCP, 65535, "allowed 4" },
	{ SBX_NET_FULL, true, SBX_HOST_TCP, 5432, "allowed" },
	{ SBX_NET_FULL, true, SBX_CONNECT_TCP, 8012, "preferred 2" },
	/* A network that is shut beats what is allowed beside it. */
	{ SBX_NET_NONE, false, SBX_CONNECT_TCP, 443, "nothing" },
	{ SBX_NET_NONE, true, SBX_CONNECT_TCP, 443, "denied" },
	{ SBX_NET_NONE, true, SBX_CONNECT_TCP, 8010, "preferred 2" },
	{ SBX_NET_LOOPBACK, true, SBX_CONNECT_TCP, 443, "denied" },
	{ SBX_NET_LOOPBACK, true, SBX_HOST_TCP, 5432, "denied" },
	{ SBX_NET_SELECTED, true, SBX_CONNECT_TCP, 443, "denied" },
	{ SBX_NET_SELECTED, true, SBX_HOST_TCP, 5432, "allowed 6" },
	{ SBX_NET_SELECTED, true, SBX_HOST_TCP, 5433, "nothing" },
	{ SBX_NET_SELECTED, true, SBX_PUBLISH_TCP, 3000, "allowed 7" },
};

static void
try_ports(struct tap *tap)
{
	for (size_t i = 0; i < countof(ports); i++) {
		struct sbx_meta meta = {
			.net = ports[i].net,
			.net_source = ports[i].said ? 0 : SBX_NO_SOURCE,
		};
		struct sbx_blob blob = {
			.meta = &meta,
			.ports = port_rules,
			.port_count = countof(port_rules),
		};
		char word[WORD];

		verdict_write(sbx_port_verdict(&blob, SBX_ON_LINUX_X86_64,
				  ports[i].op, ports[i].port),
		    word);
		tap_ok(tap, strcmp(word, ports[i].verdict) == 0,
		    "network %u%s, use %u, port %u: %s", ports[i].net,
		    ports[i].said ? " (said)" : "", ports[i].op, ports[i].port,
		    word);
	}
}

static const struct {
	const char *pattern, *text;
	bool matches;
} patterns[] = {
	{ "", "", true },
	{ "", "A", false },
	{ "A", "", false },
	{ "A", "A", true },
	{ "A", "AB", false },
	{ "AB", "A", false },
	{ "ABA", "AA", false },
	{ "ABA", "ACA", false },
	{ "*", "", true },
	{ "*", "A", true },
	{ "A*", "A", true },
	{ "A*", "AB", true },
	{ "A*", "B", false },
	{ "*A", "A", true },
	{ "*A", "BA", true },
	{ "*A", "AB", false },
	{ "*A", "", false },
	{ "A*B", "AB", true },
	{ "A*B", "AXXB", true },
	{ "A*B", "AXBX", false },
	{ "A*B*C", "ABXBC", true },
	{ "A*B*C", "ACB", false },
	{ "A*BB", "ABBB", true },
	{ "A*AA", "AA", false },
	{ "**", "A", true },
	{ "A**", "A", true },
};

static void
try_patterns(struct tap *tap)
{
	for (size_t i = 0; i < countof(patterns); i++)
		tap_ok(tap,
		    sbx_pattern_match(patterns[i].pattern, patterns[i].text,
			strlen(patterns[i].text)) == patterns[i].matches,
		    "'%s' and '%s': %s", patterns[i].pattern, patterns[i].text,
		    patterns[i].matches ? "match" : "do not match");
	tap_ok(tap, sbx_pattern_match("A*C", "ABCD", 3),
	    "what lies behind the text is not looked at");
	tap_ok(tap, !sbx_pattern_match("ABCD", "ABCD", 3),
	    "and is no part of it");
}

static const char strings[] = "\0A*\0AB\0*";

static const struct sbx_env env_rules[] = {
	{ .pattern = 1, .effect = SBX_ALLOW, .platforms = LINUX },
	{ .pattern = 4, .effect = SBX_DENY, .platforms = LINUX },
	{ .pattern = 7, .effect = SBX_ALLOW, .platforms = SBX_ON_MACOS },
};

static const struct {
	const char *name, *verdict, *everything;
} names[] = {
	{ "A", "allowed 0", "allowed 0" },
	{ "AB", "denied 1", "denied 1" },
	{ "ABC", "allowed 0", "allowed 0" },
	{ "B", "nothing", "allowed" },
};

static void
try_variables(struct tap *tap)
{
	for (size_t i = 0; i < 2 * countof(names); i++) {
		const char *name = names[i / 2].name;
		struct sbx_meta meta = { .flags = i % 2 ? SBX_EVERYTHING : 0 };
		struct sbx_blob blob = {
			.meta = &meta,
			.strings = strings,
			.strings_size = sizeof strings,
			.env = env_rules,
			.env_count = countof(env_rules),
		};
		char word[WORD];

		verdict_write(sbx_env_verdict(&blob, SBX_ON_LINUX_AARCH64, name,
				  strlen(name)),
		    word);
		tap_ok(tap,
		    strcmp(word,
			i % 2 ? names[i / 2].everything :
				names[i / 2].verdict) == 0,
		    "the variable %s%s: %s", name,
		    i % 2 ? ", of a policy that allows everything" : "", word);
	}
}

/* The row of a kernel's own ABI, or the last one before it. */
static void
try_rows(struct tap *tap)
{
	static const struct sbx_landlock rows[] = { { .abi = 1 }, { .abi = 2 },
		{ .abi = 3 } };
	struct sbx_blob blob = { .landlock = rows, .landlock_count = 3 };

	for (uint32_t abi = 0; abi <= 4; abi++) {
		const struct sbx_landlock *row = sbx_landlock_select(&blob,
		    abi);
		uint32_t got = row == NULL ? 0 : row->abi;

		tap_ok(tap, got == (abi < 3 ? abi : 3),
		    "of a kernel of ABI %u: row %u", abi, got);
	}
}

int
main(void)
{
	struct tap tap = { 0 };

	try_paths(&tap);
	try_ports(&tap);
	try_patterns(&tap);
	try_variables(&tap);
	try_rows(&tap);
	return tap_done(&tap);
}
