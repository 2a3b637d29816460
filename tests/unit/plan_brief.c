/*
 * The first screen of a plan (runtime/inspect/plan_brief.c): which place stands
 * under which heading, and how a list is broken and cut.
 */
#include "runtime/inspect/plan.h"

#include "runtime/base/unsteady.h"
#include "tests/lib/tap.h"

#define HOME "/home/a"

enum { RULES = 64 };

static struct tap tap;
static struct sbx_meta meta;
static struct sbx_blob blob;
static struct sbx_path paths[RULES];
static struct sbx_rule rules[RULES];
static struct site sites[RULES];
static struct outcome outcomes[RULES];
static struct glob globs[2];
static struct binding binding;
static struct plan plan;
static struct sbx_landlock row;
static struct sbx_program program;
static struct environment environment = { .count = 3, .dropped = 4 };

bool
machine_counts_processes(void)
{
	return true;
}

bool
unsteady_place(struct sbx_place at)
{
	(void)at;
	return false;
}

static struct sbx_place
place(const char *path)
{
	return (struct sbx_place){ path, (uint32_t)strlen(path) };
}

static void
begin(void)
{
	memset(sites, 0, sizeof sites);
	memset(outcomes, 0, sizeof outcomes);
	meta = (struct sbx_meta){ .net = SBX_NET_NONE };
	blob = (struct sbx_blob){ .meta = &meta,
		.strings = "\0one.example\0two.example" };
	program = (struct sbx_program){ .flags = SBX_PROGRAM_LOOPBACK };
	binding = (struct binding){ .blob = &blob,
		.rules = rules,
		.sites = sites,
		.globs = globs };
	binding.anchors[SBX_ANCHOR_HOME] = place(HOME);
	binding.bound[SBX_ANCHOR_HOME] = true;
	plan = (struct plan){ .blob = &blob,
		.level = SBX_LEVEL_FULL,
		.network = NETWORK_EMPTY,
		.row = &row,
		.program = &program,
		.binding = &binding,
		.outcomes = outcomes,
		.environment = &environment };
}

static uint32_t
add(uint8_t effect, uint8_t rights, const char *at)
{
	uint32_t index = binding.rule_count++;

	paths[index] = (struct sbx_path){ .effect = effect, .rights = rights };
	rules[index] = (struct sbx_rule){ .at = place(at),
		.effect = effect,
		.rights = rights };
	sites[index].path = &paths[index];
	outcomes[index].grants = 1;
	return index;
}

/* The lines under one heading, with the next ones that have none. */
static const char *
under(const char *heading)
{
	static char text[8192];
	static struct out out;
	char *begin, *end;

	out_into(&out, text, sizeof text);
	plan_print_brief(&out, &plan);
	begin = strncmp(text, heading, strlen(heading)) == 0 ?
	    text :
	    strstr(text, heading);
	if (begin == NULL)
		return "no heading";
	if (begin != text)
		begin++;
	for (end = begin; (end = strchr(end, '\n')) != NULL; end++) {
		if (strncmp(end + 1, "            ", 12) != 0)
			break;
	}
	if (end != NULL)
		*end = '\0';
	return begin;
}

static void
is(const char *what, const char *wanted, const char *got)
{
	if (!tap_ok(&tap, strcmp(wanted, got) == 0, "%s", what))
		printf("# '%s'\n# instead of\n# '%s'\n", got, wanted);
}

/* --- places --------------------------------------------------------------- */

static void
headings(void)
{
	begin();
	is("nothing is written", "may write   nothing", under("may write"));
	is("nothing is taken", "no heading", under("\n  but not"));
	add(SBX_ALLOW, SBX_READ, "/r");
	add(SBX_ALLOW, SBX_READ | SBX_WRITE, "/w");
	add(SBX_ALLOW, SBX_READ | SBX_EXEC, "/x");
	add(SBX_ALLOW, SBX_RIGHTS, "/all");
	sites[add(SBX_ALLOW, SBX_RIGHTS, "/gone")].state = RULE_ABSENT;
	is("what is written", "may write   /w, /all", under("may write"));
	is("what is run", "may run     /x, /all", under("\nmay run"));
	is("what is only read", "may read    /r", under("\nmay read"));
	add(SBX_DENY, SBX_WRITE, "/w/kept");
	is("what is kept", "  but not   /w/kept", under("\n  but not"));
	add(SBX_DENY, SBX_WRITE, "/elsewhere");
	is("but not where nothing is given", "  but not   /w/kept",
	    under("\n  but not"));
	rules[5].rights = SBX_RIGHTS;
	is("what is hidden", "  but not   /w/kept", under("\n  but not"));
	tap_ok(&tap,
	    strstr(under("\nmay read"), "may read    /r") != NULL &&
		strstr(under("may write"), "but not") == NULL,
	    "stands below what is read");
	sites[5].state = RULE_ABSENT;
	is("unless it is not there", "no heading", under("\n  but not"));
}

/* A place that a wider rule gives is left out. */
static void
wider(void)
{
	begin();
	add(SBX_ALLOW, SBX_READ | SBX_WRITE, "/w/in");
	add(SBX_ALLOW, SBX_READ | SBX_WRITE, "/w");
	add(SBX_ALLOW, SBX_READ | SBX_WRITE, "/w");
	add(SBX_ALLOW, SBX_READ | SBX_EXEC, "/w/x");
	add(SBX_ALLOW, SBX_READ, "/w/r");
	add(SBX_ALLOW, SBX_READ, "/w2");
	is("of two the first", "may write   /w", under("may write"));
	is("another right", "may run     /w/x", under("\nmay run"));
	is("what begins alike", "may read    /w2", under("\nmay read"));
	outcomes[1].absent = outcomes[2].absent = true;
	is("what is not there gives nothing", "may write   /w/in",
	    under("may write"));
}

static void
names(void)
{
	begin();
	add(SBX_ALLOW, SBX_READ | SBX_WRITE, HOME "/docs");
	add(SBX_ALLOW, SBX_READ | SBX_WRITE, HOME "2");
	add(SBX_ALLOW, SBX_READ, "");
	add(SBX_ALLOW, SBX_READ | SBX_WRITE, "/dev/null");
	add(SBX_ALLOW, SBX_READ | SBX_WRITE, "/dev/tty");
	is("home, and devices", "may write   ~/docs, " HOME "2, 2 devices",
	    under("may write"));
	is("the root directory", "may read    /", under("\nmay read"));
	binding.bound[SBX_ANCHOR_HOME] = false;
	is("without a home", "may write   " HOME "/docs, " HOME "2, 2 devices",
	    under("may write"));
	rules[0].at = place(HOME);
	binding.bound[SBX_ANCHOR_HOME] = true;
	rules[3].at = place("/dev");
	is("home itself, and all devices", "may write   ~, " HOME "2, /dev",
	    under("may write"));
	binding.scratch_missing = true;
	is("no scratch directory", "may write   ~, " HOME "2, /dev",
	    under("may write"));
	binding.anchors[SBX_ANCHOR_TMP] = place("/tmp/sbx-1");
	binding.bound[SBX_ANCHOR_TMP] = true;
	is("one that is made", "may write   /tmp/sbx-1, ~, " HOME "2, /dev",
	    under("may write"));
	binding.scratch_missing = false;
	is("one that is there", "may write   ~, " HOME "2, /dev",
	    under("may write"));
}

/* --- lists ---------------------------------------------------------------- */

/* A line has 79 columns with its comma; of the third one some are kept for the
 * rest. */
static void
lines(void)
{
#define TEXT "/aaaaaaaaaaaaaaaaaaa"
	begin();
	add(SBX_ALLOW, SBX_READ, TEXT "1");
	add(SBX_ALLOW, SBX_READ, TEXT "2");
	add(SBX_ALLOW, SBX_READ, TEXT);
	is("what fills a line", "may read    " TEXT "1, " TEXT "2, " TEXT,
	    under("\nmay read"));
	rules[2].at = place(TEXT "3");
	is("one letter more",
	    "may read    " TEXT "1, " TEXT "2,\n            " TEXT "3",
	    under("\nmay read"));
	for (int i = 3; i < 9; i++)
		add(SBX_ALLOW, SBX_READ,
		    (const char *[]){ TEXT "4", TEXT "5", TEXT "6", TEXT "7",
			TEXT "8", TEXT "9" }[i - 3]);
	is("what does not fit three lines",
	    "may read    " TEXT "1, " TEXT "2,\n"
	    "            " TEXT "3, " TEXT "4,\n"
	    "            " TEXT "5, " TEXT "6, 3 more",
	    under("\nmay read"));
	begin();
	add(SBX_ALLOW, SBX_READ, TEXT TEXT TEXT TEXT);
	add(SBX_ALLOW, SBX_READ, "/b");
	is("what is longer than a line",
	    "may read    " TEXT TEXT TEXT TEXT ",\n            /b",
	    under("\nmay read"));
#undef TEXT
}

/* --- the rest ------------------------------------------------------------- */

static void
reach(void)
{
	static const struct sbx_port ports[] = {
		{ 80, 80, SBX_ALLOW, SBX_CONNECT_TCP, 0xff, 0, 0, 0 },
		{ 81, 82, SBX_DENY, SBX_LISTEN_TCP, 0xff, 0, 0, 0 },
		{ 90, 90, SBX_ALLOW, SBX_CONNECT_TCP, 0, 0, 0, 0 },
	};
	static const struct sbx_name hosts[] = {
		{ 1, 0, 0, SBX_ALLOW, 0, 0xff, { 0 } },
		{ 13, 0, 0, SBX_DENY, 0, 0xff, { 0 } },
		{ 13, 0, 22, SBX_ALLOW, 0, 0, { 0 } },
	};

	begin();
	is("none", "reach       network: none", under("\nreach"));
	meta.net = SBX_NET_SELECTED;
	blob.ports = ports;
	blob.port_count = 3;
	is("ports",
	    "reach       network: selected hosts, allow network connect tcp "
	    "80,\n            deny network listen tcp 81-82",
	    under("\nreach"));
	blob.port_count = 0;
	blob.names = hosts;
	blob.name_count = 3;
	is("names", "reach       network: selected hosts, one.example",
	    under("\nreach"));
	blob.name_count = 0;
	blob.endpoint_count = 2;
	binding.socket_count = 1;
	is("addresses and sockets",
	    "reach       network: selected hosts, 2 rules on addresses, 1 "
	    "rules "
	    "on sockets",
	    under("\nreach"));
}

static void
gaps(void)
{
	begin();
	is("no gaps", "gaps        none", under("\ngaps"));
	add(SBX_ALLOW, SBX_READ, "/a");
	sites[add(SBX_DENY, SBX_WRITE, "/a/b")].state = RULE_WAIVED;
	outcomes[add(SBX_DENY, SBX_WRITE, "/a/c")].absent = true;
	binding.glob_count = 2;
	globs[0].state = RULE_READY;
	globs[1].state = RULE_UNBOUND;
	is("some",
	    "gaps        1 denials need level full, 1 denials of what is not "
	    "there yet,\n            1 patterns hold for what matches now",
	    under("\ngaps"));
	binding.rule_count = 1;
	binding.glob_count = 0;
	plan.why_no_listener = "why";
	is("no listener", "gaps        no listener", under("\ngaps"));
	plan.why_no_listener = NULL;
	plan.why_no_sockets = "why";
	is("no sockets", "gaps        no sockets", under("\ngaps"));
	plan.why_no_sockets = NULL;
	plan.row = NULL;
	is("no Landlock",
	    "gaps        1 rules on files NOT ENFORCED at this level",
	    under("\ngaps"));
}

static void
ends(void)
{
	static const struct sbx_limit held[] = {
		{ .value = 90, .kind = SBX_LIMIT_TIMEOUT, .platforms = 0xff },
		{ .value = 2 << 20,
		    .kind = SBX_LIMIT_OUTPUT,
		    .platforms = 0xff },
	};

	begin();
	is("no limits", "limits      none", under("\nlimits"));
	is("variables", "env         3 variables, 4 of the caller's kept back",
	    under("\nenv"));
	is("nothing is watched", "no heading", under("\nwatched"));
	blob.limits = held;
	blob.limit_count = 2;
	is("limits", "limits      timeout 90s, output 2MiB", under("\nlimits"));
	blob.watch_count = 5;
	is("what is watched",
	    "watched     5 rules: sbxrun says when a file appears that runs "
	    "later",
	    under("\nwatched"));
	meta.flags = SBX_EVERYTHING;
	is("everything is allowed", "NOTHING is confined but by limits",
	    under("NOTHING"));
	is("and no more is said", "no heading", under("\nreach"));
	is("but of limits", "limits      timeout 90s, output 2MiB",
	    under("\nlimits"));
}

int
main(void)
{
	headings();
	wider();
	names();
	lines();
	reach();
	gaps();
	ends();
	return tap_done(&tap);
}
