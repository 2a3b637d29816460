/*
 * The words of a plan (runtime/inspect/plan.c): for each state of a rule, a limit
 * or a network what enforces it.
 */
#include "runtime/inspect/plan.h"

#include "runtime/base/unsteady.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <unistd.h>

#define countof(array) (sizeof(array) / sizeof *(array))

enum { RULES = 4 };

static struct tap tap;
static struct sbx_meta meta;
static struct sbx_blob blob = { .meta = &meta };
static struct sbx_path paths[RULES];
static struct sbx_rule rules[RULES];
static struct site sites[RULES];
static struct outcome outcomes[RULES];
static struct binding binding;
static struct plan plan;
static struct sbx_landlock row;
static struct sbx_program program;
static bool counts, unsteady;

bool
machine_counts_processes(void)
{
	return counts;
}

bool
unsteady_place(struct sbx_place at)
{
	return unsteady && at.len > 0;
}

static void
is(const char *what, const char *wanted, const char *got)
{
	if (!tap_ok(&tap, strcmp(wanted, got != NULL ? got : "none") == 0, "%s",
		what))
		printf("# '%s' instead of '%s'\n", got, wanted);
}

static struct sbx_place
place(const char *path)
{
	return (struct sbx_place){ path, (uint32_t)strlen(path) };
}

/* Level full with all that there can be, which a case changes. */
static void
begin(enum sbx_net net)
{
	memset(rules, 0, sizeof rules);
	memset(sites, 0, sizeof sites);
	memset(outcomes, 0, sizeof outcomes);
	memset(paths, 0, sizeof paths);
	for (int i = 0; i < RULES; i++)
		sites[i].path = &paths[i];
	meta = (struct sbx_meta){ .net = (uint8_t)net };
	row = (struct sbx_landlock){ .scoped = 3 };
	program = (struct sbx_program){ .flags = SBX_PROGRAM_LOOPBACK |
		    SBX_PROGRAM_TCP };
	binding =
	    (struct binding){ .blob = &blob, .rules = rules, .sites = sites };
	plan = (struct plan){ .blob = &blob,
		.level = SBX_LEVEL_FULL,
		.network = NETWORK_LOOPBACK,
		.row = &row,
		.program = &program,
		.binding = &binding,
		.outcomes = outcomes };
	counts = true;
	unsteady = false;
}

/* --- path rules ----------------------------------------------------------- */

static uint32_t
add(uint8_t effect, uint8_t rights, const char *at)
{
	uint32_t index = binding.rule_count++;

	paths[index].effect = rules[index].effect = effect;
	paths[index].rights = rules[index].rights = rights;
	rules[index].at = place(at);
	return index;
}

static const char *
enforcer(uint32_t index)
{
	static struct out out;

	out_init(&out, -1);
	plan_enforcer(&out, &plan, index);
	return out.text;
}

static void
words(void)
{
	static const struct {
		const char *said;
		uint8_t effect, rights;
	} cases[] = {
		{ "allow read", SBX_ALLOW, SBX_READ },
		{ "allow write", SBX_ALLOW, SBX_READ | SBX_WRITE },
		{ "allow exec", SBX_ALLOW, SBX_READ | SBX_EXEC },
		{ "allow write exec", SBX_ALLOW, SBX_RIGHTS },
		{ "deny read", SBX_DENY, SBX_RIGHTS },
		{ "deny write", SBX_DENY, SBX_WRITE },
		{ "deny exec", SBX_DENY, SBX_EXEC },
		{ "deny write exec", SBX_DENY, SBX_WRITE | SBX_EXEC },
		{ "prefer deny read", SBX_PREFER_DENY, SBX_RIGHTS },
	};
	struct out out;

	for (size_t i = 0; i < countof(cases); i++) {
		const struct sbx_path path = { .effect = cases[i].effect,
			.rights = cases[i].rights };

		out_init(&out, -1);
		plan_words(&out, &path);
		is("the words of a rule", cases[i].said, out.text);
	}
}

static void
allows(void)
{
	begin(SBX_NET_NONE);
	add(SBX_ALLOW, SBX_READ, "/a");
	is("no grant", "nothing: a denial covers it", enforcer(0));
	tap_ok(&tap, plan_class(&plan, 0) == PLAN_OTHER, "its class");
	outcomes[0].grants = 1;
	is("one grant", "landlock", enforcer(0));
	tap_ok(&tap, plan_class(&plan, 0) == PLAN_PLAIN, "its class");
	outcomes[0].split = true;
	is("split",
	    "landlock: split, 1 rules; entries made later are not granted",
	    enforcer(0));
	tap_ok(&tap, plan_class(&plan, 0) == PLAN_OTHER, "its class");
	outcomes[0].covered = true;
	is("covered", "landlock: covered by a wider rule", enforcer(0));
	tap_ok(&tap, plan_class(&plan, 0) == PLAN_PLAIN, "its class");
	plan.row = NULL;
	is("no Landlock", "NOT RESTRICTED at this level", enforcer(0));
	tap_ok(&tap, plan_class(&plan, 0) == PLAN_OTHER, "its class");
	outcomes[0].absent = true;
	outcomes[0].error = EACCES;
	is("not there later", "skipped: Permission denied", enforcer(0));
	tap_ok(&tap, plan_class(&plan, 0) == PLAN_SKIPPED, "its class");
	outcomes[0].absent = false;
	sites[0].state = RULE_ABSENT;
	sites[0].error = ENOENT;
	is("not there", "skipped: No such file or directory", enforcer(0));
	sites[0].state = RULE_PLANTED;
	is("a link",
	    "skipped: a link leads there that somebody could have planted",
	    enforcer(0));
	sites[0].state = RULE_UNBOUND;
	is("no anchor", "skipped: its anchor has no path here", enforcer(0));
	tap_ok(&tap, plan_class(&plan, 0) == PLAN_SKIPPED, "its class");
}

static void
denials(void)
{
	begin(SBX_NET_NONE);
	add(SBX_DENY, SBX_RIGHTS, "/a/b");
	is("nothing around it", "landlock: not granted", enforcer(0));
	tap_ok(&tap, plan_class(&plan, 0) == PLAN_PLAIN, "its class");
	add(SBX_ALLOW, SBX_READ, "/a/c");
	is("an allow beside it", "landlock: not granted", enforcer(0));
	add(SBX_ALLOW, SBX_READ, "/a");
	sites[2].state = RULE_ABSENT;
	is("one around it that is not there", "landlock: not granted",
	    enforcer(0));
	sites[2].state = RULE_READY;
	is("an allow around it", "view: masked", enforcer(0));
	tap_ok(&tap, plan_class(&plan, 0) == PLAN_OTHER, "its class");
	unsteady = true;
	is("where names are forgotten",
	    "landlock: split, nothing can be made beside it", enforcer(0));
	paths[0].effect = rules[0].effect = SBX_PREFER_DENY;
	is("what is preferred is masked there", "view: masked", enforcer(0));
	unsteady = false;
	plan.level = SBX_LEVEL_STANDARD;
	is("at level standard",
	    "landlock: split, nothing can be made beside it", enforcer(0));
	sites[0].state = RULE_WAIVED;
	is("waived",
	    "NOT ENFORCED: without masks nothing could be made beside it",
	    enforcer(0));
	tap_ok(&tap, plan_class(&plan, 0) == PLAN_OTHER, "its class");
	sites[0].state = RULE_READY;
	plan.row = NULL;
	is("no Landlock", "NOT ENFORCED at this level", enforcer(0));
	plan.row = &row;
	outcomes[0].absent = true;
	is("not there", "NOT COVERED: nothing is there to mask", enforcer(0));
	tap_ok(&tap, plan_class(&plan, 0) == PLAN_UNCOVERED, "its class");

	begin(SBX_NET_NONE);
	add(SBX_DENY, SBX_WRITE | SBX_EXEC, "/a/b");
	add(SBX_ALLOW, SBX_READ, "/a");
	is("other rights around it", "landlock: not granted", enforcer(0));
	rules[1].rights = SBX_RIGHTS;
	is("to write", "view: read-only", enforcer(0));
	rules[0].rights = SBX_EXEC;
	is("to execute", "view: not executable", enforcer(0));
}

static const char *
glob_enforcer(const struct glob *glob)
{
	static struct out out;

	out_init(&out, -1);
	plan_glob_enforcer(&out, &plan, glob);
	return out.text;
}

static void
globs(void)
{
	static const struct sbx_path allow = { .effect = SBX_ALLOW },
				     deny = { .effect = SBX_DENY };

	begin(SBX_NET_NONE);
	is("one match", "snapshot: 1 match now, later ones are not covered",
	    glob_enforcer(&(struct glob){ .path = &deny, .matches = 1 }));
	is("no match", "snapshot: 0 matches now, later ones are not covered",
	    glob_enforcer(&(struct glob){ .path = &deny }));
	is("what was passed over",
	    "snapshot: 2 matches now, later ones are not covered; directories "
	    "that cannot be read: 3; NOT ENFORCED beyond: why",
	    glob_enforcer(&(struct glob){ .path = &deny,
		.matches = 2,
		.closed = 3,
		.fault = "why" }));
	is("a planted link",
	    "skipped: a link leads there that somebody could have planted",
	    glob_enforcer(&(struct glob){ .path = &allow, .planted = true }));
	is("no anchor", "skipped: its anchor has no path here",
	    glob_enforcer(
		&(struct glob){ .path = &deny, .state = RULE_UNBOUND }));
	is("a denial that is waived",
	    "NOT ENFORCED: without masks nothing could be made beside it",
	    glob_enforcer(
		&(struct glob){ .path = &deny, .state = RULE_WAIVED }));
	plan.row = NULL;
	is("a denial without Landlock", "NOT ENFORCED at this level",
	    glob_enforcer(&(struct glob){ .path = &deny }));
	is("an allow", "NOT RESTRICTED at this level",
	    glob_enforcer(&(struct glob){ .path = &allow }));
}

/* --- the network, scopes, limits ------------------------------------------ */

static void
networks(void)
{
	static const struct {
		enum sbx_net net;
		uint32_t flags;
		enum own_network own;
		bool lacks; /* sockets cannot be copied */
		const char *said, *by;
	} cases[] = {
		{ SBX_NET_NONE, 0, NETWORK_EMPTY, false, "none",
		    "seccomp and a network namespace" },
		{ SBX_NET_NONE, 0, NETWORK_OUTER, false, "none", "seccomp" },
		{ SBX_NET_FULL, 0, NETWORK_OUTER, false, "full", "seccomp" },
		{ SBX_NET_PORTS, SBX_PROGRAM_TCP, NETWORK_OUTER, false,
		    "some TCP ports", "seccomp and landlock" },
		{ SBX_NET_PORTS, 0, NETWORK_OUTER, false, "some TCP ports",
		    "all TCP stays shut: ports need Landlock ABI 4" },
		{ SBX_NET_LOOPBACK, SBX_PROGRAM_LOOPBACK, NETWORK_LOOPBACK,
		    false, "loopback", "seccomp and a network namespace" },
		{ SBX_NET_SELECTED, SBX_PROGRAM_LOOPBACK, NETWORK_LOOPBACK,
		    false, "selected hosts",
		    "seccomp and a network namespace" },
		{ SBX_NET_LOOPBACK, SBX_PROGRAM_TCP, NETWORK_OUTER, false,
		    "loopback",
		    "seccomp, landlock and the supervisor, which connects" },
		{ SBX_NET_SELECTED, SBX_PROGRAM_TCP, NETWORK_OUTER, false,
		    "selected hosts",
		    "seccomp, landlock and the supervisor, which connects" },
		{ SBX_NET_LOOPBACK, SBX_PROGRAM_TCP, NETWORK_OUTER, true,
		    "none: its own needs level full, or standard and Landlock "
		    "ABI 4",
		    "all sockets stay shut: it takes a network namespace, at "
		    "level full, or a supervisor that connects" },
		{ SBX_NET_SELECTED, 0, NETWORK_OUTER, false,
		    "none: hosts need level standard and Landlock ABI 4",
		    "all sockets stay shut: it takes a network namespace, at "
		    "level full, or a supervisor that connects" },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		begin(cases[i].net);
		program.flags = cases[i].flags;
		plan.network = cases[i].own;
		plan.why_no_sockets = cases[i].lacks ? "why" : NULL;
		is("the network", cases[i].said, plan_network(&plan));
		is("what enforces it", cases[i].by,
		    plan_network_enforcer(&plan));
	}
	plan.program = NULL;
	is("without a filter", "NOT RESTRICTED at this level",
	    plan_network_enforcer(&plan));
	is("which is wanted", "selected hosts", plan_wanted_network(&plan));
}

static void
ports_and_scopes(void)
{
	static const char *const ops[SBX_PORT_OP_END] = {
		[SBX_CONNECT_TCP] = "allow network connect tcp",
		[SBX_LISTEN_TCP] = "allow network listen tcp",
		[SBX_HOST_TCP] = "allow network host tcp",
		[SBX_PUBLISH_TCP] = "allow network publish tcp",
	};
	const struct plan_scope *signal = &plan_scopes[0],
				*abstract = &plan_scopes[1];
	struct out out;

	for (uint8_t op = 0; op < SBX_PORT_OP_END; op++) {
		out_init(&out, -1);
		plan_port_words(&out,
		    &(struct sbx_port){ .effect = SBX_ALLOW, .op = op });
		is("the words of a port", ops[op], out.text);
	}
	begin(SBX_NET_NONE);
	is("signals", "landlock", plan_scope_enforcer(&plan, signal));
	is("abstract names", "landlock", plan_scope_enforcer(&plan, abstract));
	row.scoped = 1;
	is("not signals", "NOT ENFORCED: needs Landlock ABI 6",
	    plan_scope_enforcer(&plan, signal));
	row.scoped = 2;
	is("by the network", "a network namespace",
	    plan_scope_enforcer(&plan, abstract));
	plan.network = NETWORK_OUTER;
	is("not by that of the host", "NOT ENFORCED: needs Landlock ABI 6",
	    plan_scope_enforcer(&plan, abstract));
	meta.flags = SBX_ABSTRACT_ANYWHERE;
	is("opened by a rule", "none", plan_scope_enforcer(&plan, abstract));
	is("and no other", "landlock", plan_scope_enforcer(&plan, signal));
}

static void
limits(void)
{
	static const char *const by[SBX_LIMIT_END] = {
		[SBX_LIMIT_FILE_SIZE] = "rlimit",
		[SBX_LIMIT_PROCESSES] = "rlimit, beside what the user runs now",
		[SBX_LIMIT_OPEN_FILES] = "rlimit",
		[SBX_LIMIT_CPU_TIME] = "rlimit, of each process",
		[SBX_LIMIT_MEMORY] = "rlimit, of each process",
		[SBX_LIMIT_CORE] = "rlimit",
		[SBX_LIMIT_STACK] = "rlimit",
		[SBX_LIMIT_TIMEOUT] = "sbxrun, of all processes",
		[SBX_LIMIT_OUTPUT] = "sbxrun, of each stream",
	};

	begin(SBX_NET_NONE);
	plan.level = SBX_LEVEL_STANDARD;
	for (uint16_t kind = 0; kind < SBX_LIMIT_END; kind++) {
		plan.held = 0;
		is("a limit", by[kind], plan_limit_enforcer(&plan, kind));
		plan.held = 1U << kind;
		is("held by a group", "cgroup, of all processes",
		    plan_limit_enforcer(&plan, kind));
		plan.held = ~plan.held;
		is("which holds others", by[kind],
		    plan_limit_enforcer(&plan, kind));
	}
	plan.held = 0;
	plan.level = SBX_LEVEL_FULL;
	is("processes, at level full",
	    geteuid() == 0 ? by[SBX_LIMIT_PROCESSES] : "rlimit, of the sandbox",
	    plan_limit_enforcer(&plan, SBX_LIMIT_PROCESSES));
	counts = false;
	is("of root", "NOT ENFORCED for root",
	    plan_limit_enforcer(&plan, SBX_LIMIT_PROCESSES));
	is("memory of root", by[SBX_LIMIT_MEMORY],
	    plan_limit_enforcer(&plan, SBX_LIMIT_MEMORY));
	plan.pid_max = true;
	is("by numbers", "pid_max, of the sandbox, and up to 299 more",
	    plan_limit_enforcer(&plan, SBX_LIMIT_PROCESSES));
	is("no other limit", by[SBX_LIMIT_MEMORY],
	    plan_limit_enforcer(&plan, SBX_LIMIT_MEMORY));
}

static void
calls(void)
{
	static const struct sbx_syscall denied[] = {
		{ .verdict = SBX_SYSCALL_DENY, .platforms = 0xff },
		{ .verdict = SBX_SYSCALL_DENY, .platforms = 0 },
		{ .verdict = SBX_SYSCALL_ARGS, .platforms = 0xff },
		{ .verdict = SBX_SYSCALL_DENY, .platforms = 0xff },
	};

	begin(SBX_NET_NONE);
	blob.syscalls = denied;
	blob.syscall_count = countof(denied);
	tap_ok(&tap,
	    plan_count_calls(&plan, SBX_SYSCALL_DENY) == 2 &&
		plan_count_calls(&plan, SBX_SYSCALL_ARGS) == 1,
	    "calls are counted");
	is("calls", "seccomp", plan_calls_enforcer(&plan));
	tap_ok(&tap, !plan_answers(&plan), "nobody answers");
	program.flags = SBX_PROGRAM_LISTENER;
	tap_ok(&tap, plan_answers(&plan), "somebody does");
	plan.program = NULL;
	is("no filter", "NOT ENFORCED at this level",
	    plan_calls_enforcer(&plan));
	tap_ok(&tap, !plan_answers(&plan), "nobody answers without it");
}

int
main(void)
{
	words();
	allows();
	denials();
	globs();
	networks();
	ports_and_scopes();
	limits();
	calls();
	return tap_done(&tap);
}
