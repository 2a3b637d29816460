/*
 * Ways out, as a plan shows them (runtime/inspect/plan_network.c, plan_sockets.c):
 * addresses and names as people write them, and what enforces a rule about a
 * socket.
 */
#include "runtime/inspect/plan.h"

#include "format/landlock.h"
#include "runtime/base/unsteady.h"
#include "tests/lib/tap.h"

#define countof(array) (sizeof(array) / sizeof *(array))

static struct tap tap;
static struct sbx_meta meta;
static const struct sbx_source sources[] = { { 1, 2, 3, 0 } };
static struct sbx_blob blob;
static struct binding binding;
static struct plan plan;
static struct sbx_landlock row;
static struct sbx_program program;
static bool split;

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

bool
bind_socket_is_split(const struct binding *asked, struct sbx_place at)
{
	return split && asked == &binding && at.len > 0;
}

static void
is(const char *what, const char *wanted, const char *got)
{
	if (!tap_ok(&tap, strcmp(wanted, got) == 0, "%s", what))
		printf("# '%s' instead of '%s'\n", got, wanted);
}

static struct sbx_place
place(const char *path)
{
	return (struct sbx_place){ path, (uint32_t)strlen(path) };
}

/* At level full, in a network of its own. */
static void
begin(void)
{
	meta = (struct sbx_meta){ .net = SBX_NET_SELECTED };
	blob = (struct sbx_blob){ .meta = &meta,
		.strings = "\0p.sbx",
		.sources = sources,
		.source_count = 1 };
	row = (struct sbx_landlock){ .scoped = 3 };
	program = (struct sbx_program){ .flags = SBX_PROGRAM_LOOPBACK };
	binding = (struct binding){ .blob = &blob };
	plan = (struct plan){ .blob = &blob,
		.level = SBX_LEVEL_FULL,
		.network = NETWORK_LOOPBACK,
		.row = &row,
		.program = &program,
		.binding = &binding };
	split = false;
}

/* --- hosts ---------------------------------------------------------------- */

static void
addresses(void)
{
#define V4 [10] = 0xff, [11] = 0xff
	static const struct {
		struct sbx_endpoint endpoint;
		const char *said;
	} cases[] = {
		{ { { V4, 10, 2, 30, 255 }, 0, 1, 1, 128, SBX_ALLOW, 0xff,
		      { 0 } },
		    "allow network connect 10.2.30.255:1" },
		{ { { V4, 10, 2 }, 0, 1, 65535, 112, SBX_DENY, 0xff, { 0 } },
		    "deny network connect 10.2.0.0/16:1-65535" },
		{ { { V4, 10, 2 }, 0, 1, 2, 127, SBX_ALLOW, 0xff, { 0 } },
		    "allow network connect 10.2.0.0/31:1-2" },
		{ { { [15] = 1 }, 0, 443, 443, 128, SBX_ALLOW, 0xff, { 0 } },
		    "allow network connect [::1]:443" },
		{ { { 0 }, 0, 443, 443, 0, SBX_ALLOW, 0xff, { 0 } },
		    "allow network connect [::/0]:443" },
		{ { { 0x20, 0x01, 0x0d, 0xb8 }, 0, 1, 1, 32, SBX_ALLOW, 0xff,
		      { 0 } },
		    "allow network connect [2001:db8::/32]:1" },
		{ { { 0x20, 0x01, [4] = 1, [8] = 0x0a, [15] = 0x10 }, 0, 1, 1,
		      128, SBX_ALLOW, 0xff, { 0 } },
		    "allow network connect [2001:0:100:0:a00::10]:1" },
		{ { { 0, 1, 0, 2, 0, 3, 0, 0, 0, 5, 0, 6, 0, 7, 0, 8 }, 0, 1, 1,
		      128, SBX_ALLOW, 0xff, { 0 } },
		    "allow network connect [1:2:3:0:5:6:7:8]:1" },
		{ { { 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6 }, 0, 1, 1, 128,
		      SBX_ALLOW, 0xff, { 0 } },
		    "allow network connect [1:2:3:4:5:6::]:1" },
		{ { { 0, 0, 0, 0, 0, 3, 0, 4, 0, 5, 0, 6, 0xff, 0xff, 0, 1 }, 0,
		      1, 1, 128, SBX_ALLOW, 0xff, { 0 } },
		    "allow network connect [::3:4:5:6:ffff:1]:1" },
	};
#undef V4
	char wanted[128];
	struct out out;

	begin();
	for (size_t i = 0; i < countof(cases); i++) {
		blob.endpoints = &cases[i].endpoint;
		blob.endpoint_count = 1;
		out_init(&out, -1);
		plan_print_hosts(&out, &plan);
		snprintf(wanted, sizeof wanted, "%s  [p.sbx:2:3]\n",
		    cases[i].said);
		is("an address", wanted, out.text);
	}
	blob.endpoint_count = 0;
}

static void
names(void)
{
	static const char strings[] = "\0p.sbx\0a.example\0/proxy";
	static const struct sbx_name hosts[] = {
		{ 7, 0, 0, SBX_ALLOW, 0, 0xff, { 0 } },
		{ 7, 0, 22, SBX_DENY, SBX_NAME_BELOW, 0xff, { 0 } },
		{ 7, 0, 65535, SBX_ALLOW, SBX_NAME_PRIVATE, 0xff, { 0 } },
		{ 7, 0, 1, SBX_ALLOW, 0, 0, { 0 } },
	};
	static const struct sbx_proxy proxies[] = {
		{ 0, 0, SBX_NO_ANCHOR, 3128, 0xff, { 0 } },
		{ 17, 0, SBX_ANCHOR_HOME, 0, 0xff, { 0 } },
		{ 17, 0, SBX_ANCHOR_HOME, 0, 0, { 0 } },
	};
	struct out out;

	begin();
	blob.strings = strings;
	blob.names = hosts;
	blob.name_count = countof(hosts);
	blob.proxies = proxies;
	blob.proxy_count = countof(proxies);
	binding.anchors[SBX_ANCHOR_HOME] = place("/home/a");
	out_init(&out, -1);
	plan_print_hosts(&out, &plan);
	is("hosts and proxies",
	    "allow network domain a.example  [p.sbx:2:3]\n"
	    "deny network domain *.a.example:22  [p.sbx:2:3]\n"
	    "allow network domain a.example:65535 private  [p.sbx:2:3]\n"
	    "allow network proxy tcp 3128  [p.sbx:2:3]\n"
	    "allow network proxy unix /home/a/proxy  [p.sbx:2:3]\n",
	    out.text);
	out_init(&out, -1);
	blob.proxy_count = 0;
	blob.name_count = 1;
	plan_put_hosts(&out, &plan);
	is("as JSON",
	    "\"hosts\":[{\"rule\":\"allow network domain\",\"object\":"
	    "\"a.example\",\"source\":\"p.sbx:2:3\"}]",
	    out.text);
	blob.name_count = 0;
}

/* --- sockets -------------------------------------------------------------- */

/* What enforces a rule about a socket. */
static const char *
socket_by(uint8_t effect, const char *at, const char *fault)
{
	static struct out out;
	static struct sbx_socket rule;
	static struct socket_site site;
	char *end;

	rule = (struct sbx_socket){ .effect = effect,
		.form = SBX_SOCKET_SSH_AGENT,
		.anchor = SBX_NO_ANCHOR };
	site = (struct socket_site){ &rule, place(at), fault };
	binding.socket_sites = &site;
	binding.socket_site_count = 1;
	out_init(&out, -1);
	plan_print_sockets(&out, &plan);
	end = strstr(out.text, "  [p.sbx:2:3]\n");
	if (end != NULL)
		*end = '\0';
	return out.text;
}

static void
sockets(void)
{
	begin();
	row.handled_fs = SBX_LANDLOCK_RESOLVE_UNIX;
	is("Landlock", "allow socket ${ssh-agent} /  -- landlock",
	    socket_by(SBX_ALLOW, "/", NULL));
	split = true;
	is("a denial below it",
	    "allow socket ${ssh-agent} /  -- stays shut: a denial lies below "
	    "it",
	    socket_by(SBX_ALLOW, "/", NULL));
	row.handled_fs = 0;
	program.flags = SBX_PROGRAM_LISTENER;
	is("the supervisor", "allow socket ${ssh-agent} /  -- sbxrun connects",
	    socket_by(SBX_ALLOW, "/", NULL));
	is("and a denial",
	    "deny socket ${ssh-agent} /  -- sbxrun does not connect",
	    socket_by(SBX_DENY, "/", NULL));
	is("what is not there",
	    "allow socket ${ssh-agent} /none  -- sbxrun connects, but nothing "
	    "is there now",
	    socket_by(SBX_ALLOW, "/none", NULL));
	is("what is no socket",
	    "allow socket ${ssh-agent} /dev/null  -- sbxrun connects, but what "
	    "is there is no socket",
	    socket_by(SBX_ALLOW, "/dev/null", NULL));
	is("which is nothing to a denial",
	    "prefer deny socket ${ssh-agent} /none  -- sbxrun does not connect",
	    socket_by(SBX_PREFER_DENY, "/none", NULL));
	is("what is skipped", "allow socket ${ssh-agent}  -- skipped: why",
	    socket_by(SBX_ALLOW, "/none", "why"));
	program.flags = 0;
	is("the view", "allow socket ${ssh-agent} /  -- view",
	    socket_by(SBX_ALLOW, "/", NULL));
	is("and a denial there",
	    "deny socket ${ssh-agent} /  -- view: masked, if it is there now",
	    socket_by(SBX_DENY, "/", NULL));
	plan.level = SBX_LEVEL_STANDARD;
	is("nobody",
	    "allow socket ${ssh-agent} /  -- stays shut: sbxrun answers no "
	    "system calls",
	    socket_by(SBX_ALLOW, "/", NULL));
	is("a denial by nobody",
	    "deny socket ${ssh-agent} /  -- NOT ENFORCED for servers of the "
	    "sandbox",
	    socket_by(SBX_DENY, "/", NULL));
	plan.row = NULL;
	is("below standard",
	    "allow socket ${ssh-agent} /  -- stays shut: it takes level "
	    "standard",
	    socket_by(SBX_ALLOW, "/", NULL));
	is("a denial there", "deny socket ${ssh-agent} /  -- seccomp",
	    socket_by(SBX_DENY, "/", NULL));
	plan.program = NULL;
	is("without a filter",
	    "allow socket ${ssh-agent} /  -- NOT RESTRICTED at this level",
	    socket_by(SBX_ALLOW, "/", NULL));
	is("a denial without it",
	    "deny socket ${ssh-agent} /  -- NOT ENFORCED at this level",
	    socket_by(SBX_DENY, "/", NULL));
}

int
main(void)
{
	addresses();
	names();
	sockets();
	return tap_done(&tap);
}
