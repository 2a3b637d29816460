/*
 * What a user is warned of before a run (runtime/inspect/warnings.c): each for
 * what it is about, and nothing else.
 */
#include "runtime/inspect/plan.h"
#include "tests/lib/tap.h"

static struct tap tap;
static char told[1024];

static struct sbx_meta meta;
static const struct sbx_blob blob = { .meta = &meta };
static const struct sbx_program tcp = { .flags = SBX_PROGRAM_TCP }, no_tcp;
static struct binding binding;
static struct plan plan;
static bool everything, connects;

/* The beginning of each warning, and why, with commas. */
static void
tell(const char *text, const char *why, int error)
{
	size_t used = strlen(told);

	snprintf(told + used, sizeof told - used, "%s%.28s: %.24s%s",
	    used > 0 ? ", " : "", text, why, error == 0 ? "" : " errno");
}

void
warn_about(const char *subject, const char *text, int error)
{
	tell(subject, text, error);
}

void
warn_at(const struct sbx_blob *where, uint32_t source, const char *text,
    int error)
{
	char number[16];

	snprintf(number, sizeof number, "%s%u", where == &blob ? "" : "other ",
	    source);
	tell(number, text, error);
}

bool
plan_allows_everything(const struct plan *asked)
{
	return asked == &plan && everything;
}

bool
plan_connects(const struct plan *asked)
{
	return asked == &plan && connects;
}

/* One of no warnings, which a case changes. */
static void
begin(enum sbx_level level, enum sbx_net net)
{
	meta = (struct sbx_meta){ .net = (uint8_t)net };
	binding = (struct binding){ .blob = &blob };
	plan = (struct plan){ .policy = "p.bin",
		.blob = &blob,
		.level = level,
		.network = NETWORK_EMPTY,
		.program = &tcp,
		.binding = &binding };
	everything = connects = false;
	*told = '\0';
}

static void
warns(const char *what, bool described, const char *wanted)
{
	plan_warn(&plan, described);
	if (!tap_ok(&tap, strcmp(told, wanted) == 0, "%s", what))
		printf("# '%s' instead of '%s'\n", told, wanted);
	*told = '\0';
}

static void
check_levels(void)
{
	begin(SBX_LEVEL_FULL, SBX_NET_NONE);
	warns("full", true, "");
	begin(SBX_LEVEL_STANDARD, SBX_NET_NONE);
	warns("standard", true, "");
	begin(SBX_LEVEL_MINIMAL, SBX_NET_NONE);
	warns("minimal", true, "level minimal: files are NOT protected,");
	begin(SBX_LEVEL_NONE, SBX_NET_NONE);
	warns("none", true, "level none: NOTHING is protected but");
	everything = true;
	warns("none, of a policy that allows everything", true, "");
}

static void
check_listener(void)
{
	begin(SBX_LEVEL_STANDARD, SBX_NET_NONE);
	plan.why_no_listener = "why";
	warns("nobody answers", true, "modes, times and attributes : why");
	plan.nested = true;
	warns("but somebody outside", true, "");
	begin(SBX_LEVEL_FULL, SBX_NET_NONE);
	plan.why_no_listener = "why";
	warns("nobody answers at level full", true,
	    "servers of the host in what : why");
	begin(SBX_LEVEL_STANDARD, SBX_NET_NONE);
	binding.own_policy = true;
	warns("its own policy", true, "p.bin: the command may write it");
	begin(SBX_LEVEL_FULL, SBX_NET_NONE);
	binding.own_policy = true;
	warns("which a view does not have", true, "");
}

static void
check_network(void)
{
	const char *shut = "network: all TCP stays shut: why";

	begin(SBX_LEVEL_STANDARD, SBX_NET_PORTS);
	warns("ports", true, "");
	plan.program = &no_tcp;
	warns("without TCP", true, "network: all TCP stays shut: open");
	plan.program = NULL;
	warns("without a filter", true, "");
	begin(SBX_LEVEL_STANDARD, SBX_NET_FULL);
	plan.program = &no_tcp;
	warns("a network that is open", true, "");

	begin(SBX_LEVEL_STANDARD, SBX_NET_SELECTED);
	warns("single ways out, without Landlock", true,
	    "network: all TCP stays shut: connecting by address ne");
	plan.why_no_sockets = "why";
	warns("nobody answers for sockets", true, shut);
	plan.why_no_sockets = "other";
	plan.nested = true;
	plan.why_no_listener = "why";
	warns("or for calls", true, shut);
	connects = true;
	warns("they can be connected to", true, "");
	begin(SBX_LEVEL_STANDARD, SBX_NET_SELECTED);
	plan.program = NULL;
	warns("single ways out without a filter", true, "");
	begin(SBX_LEVEL_FULL, SBX_NET_SELECTED);
	warns("at level full", true, "");

	plan.why_no_network = "why";
	warns("without a network of its own", true,
	    "a network of its own: all so: why");
	plan.network = NETWORK_OUTER;
	warns("and in the host's", true,
	    "a network of its own: all so: why, "
	    "the host's interfaces, addre: why");
	meta.net = SBX_NET_NONE;
	warns("where none was wanted", true,
	    "the host's interfaces, addre: why");
	plan.level = SBX_LEVEL_STANDARD;
	warns("below full", true, "");
}

static void
check_home(void)
{
	const char *home =
	    "the workspace is the home di: all that is yours is the";

	begin(SBX_LEVEL_FULL, SBX_NET_NONE);
	binding.bound[SBX_ANCHOR_HOME] = true;
	binding.anchors[SBX_ANCHOR_HOME] = (struct sbx_place){ "/h/me", 5 };
	binding.anchors[SBX_ANCHOR_WORKSPACE] = (struct sbx_place){ "/h/me",
		5 };
	warns("the home directory", true, home);
	binding.anchors[SBX_ANCHOR_WORKSPACE].len = 2;
	warns("what holds it", true, home);
	warns("whom no person reads", false, "");
	binding.anchors[SBX_ANCHOR_WORKSPACE] = (struct sbx_place){ "/h/me/w",
		7 };
	warns("what lies in it", true, "");
	binding.anchors[SBX_ANCHOR_WORKSPACE].len = 0;
	warns("no workspace", true, "");
	binding.anchors[SBX_ANCHOR_WORKSPACE].len = 2;
	binding.bound[SBX_ANCHOR_HOME] = false;
	warns("no home", true, "");
}

static void
check_absent(void)
{
	static const struct sbx_rule rules[] = {
		{ .effect = SBX_DENY, .rights = SBX_WRITE, .source = 1 },
		{ .effect = SBX_DENY, .rights = SBX_RIGHTS, .source = 2 },
		{ .effect = SBX_ALLOW, .rights = SBX_WRITE, .source = 3 },
		{ .effect = SBX_PREFER_DENY, .rights = SBX_WRITE, .source = 4 },
		{ .effect = SBX_DENY, .rights = SBX_EXEC, .source = 5 },
	};
	struct outcome outcomes[5] = { { .absent = false } };

	begin(SBX_LEVEL_FULL, SBX_NET_NONE);
	binding.rules = rules;
	binding.rule_count = 5;
	plan.outcomes = outcomes;
	warns("what is denied is there", true, "");
	for (int i = 0; i < 5; i++)
		outcomes[i].absent = true;
	warns("or is not, and may be made", true,
	    "1: nothing is there yet, so, 5: nothing is there yet, so");
	plan.level = SBX_LEVEL_STANDARD;
	warns("which Landlock does not need", true, "");
}

int
main(void)
{
	check_levels();
	check_listener();
	check_network();
	check_home();
	check_absent();
	return tap_done(&tap);
}
