/*
 * What --explain and --learn say of an act at a path: whether the policy denies
 * it, by which rule, and whether it would work without, by what is there and
 * whom it belongs to.
 */
#include "runtime/explain/explain.h"
#include "tests/lib/tap.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { STRANGER = 23971 };

enum { DENY_NO = 11, DENY_DEEP, DENY_SOCKET, DENY_RUN }; /* sources */

static struct tap tap;
static struct arena arena;
static struct binding binding;
static struct sbx_meta meta;
static struct sbx_blob blob = { .meta = &meta };
static struct explaining explaining;
static struct sbx_rule rules[9];
static struct learning learning;
static char top[64] = "/var/tmp/sbx-judge-XXXXXX";

/* A path; one that begins with a dot lies in the directory of the test. */
static const char *
at(const char *name)
{
	char text[256];

	if (*name == '/')
		return name;
	snprintf(text, sizeof text, "%s%s", top, name + 1);
	return arena_copy(&arena, place_of(text)).path;
}

static void
make_file(const char *name, mode_t mode)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | O_EXCL, 0700);

	tap_must(fd >= 0 && fchmod(fd, mode) == 0 && close(fd) == 0, name);
}

static void
make_directory(const char *name, mode_t mode)
{
	tap_must(mkdir(at(name), 0700) == 0 && chmod(at(name), mode) == 0,
	    name);
}

static void
make_socket(const char *name, mode_t mode)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof address.sun_path, "%s", at(name));
	tap_must(bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
		chmod(at(name), mode) == 0 && close(fd) == 0,
	    name);
}

static void
give(const char *name, uint8_t effect, uint8_t rights, uint32_t source)
{
	rules[binding.rule_count++] = (struct sbx_rule){
		.at = place_of(at(name)),
		.effect = effect,
		.rights = rights,
		.source = source,
	};
	binding.rules = rules;
	binding.index = rule_index_make(&arena, rules, binding.rule_count);
}

/* --- what is said of paths ------------------------------------------------ */

static struct asked asked;

/* What is said of an act at a path: the kind and where, the number of the rule,
 * and what follows from the act; or that it is not denied. */
static const char *
said(enum act act, const char *name)
{
	static const char *kinds[] = { "read", "write", "exec", "socket" };
	static char text[512];
	struct sbx_denial denial = { .kind = SBX_DENIED_END };
	const char *place = denial.path;
	bool below;

	asked.act = act;
	asked.path.len = 0;
	tap_must(trail_push(&asked.path, at(name)), name);
	if (!judge(&explaining, &asked, &denial))
		return asked.wanted ? "wanted" : "no";
	below = strncmp(place, top, strlen(top)) == 0;
	if (below)
		place += strlen(top);
	snprintf(text, sizeof text, "%s %s%.256s", kinds[denial.kind],
	    below ? "." : "", place);
	if (denial.source != SBX_NO_SOURCE)
		snprintf(text + strlen(text), 16, " by %u", denial.source);
	snprintf(text + strlen(text), 32, "%s%s%s", denial.probe ? " look" : "",
	    denial.makes_file ? " made" : "",
	    denial.replaced ? " replaced" : "");
	return text;
}

static void
is(const char *what, const char *wanted, const char *got)
{
	if (!tap_ok(&tap, strcmp(wanted, got) == 0, "%s", what))
		printf("# '%s' instead of '%s'\n", got, wanted);
}

static void
check_acts(void)
{
	is("read", "read ./shut/file", said(ACT_READ, "./shut/file"));
	is("write", "write ./shut/file", said(ACT_WRITE, "./shut/file"));
	is("run", "exec ./shut/file", said(ACT_RUN, "./shut/file"));
	is("look", "read ./shut/file look", said(ACT_LOOK, "./shut/file"));
	is("change", "write ./shut/file", said(ACT_CHANGE, "./shut/file"));
	is("make", "write ./shut/new", said(ACT_MAKE, "./shut/new"));
	is("create what is not there", "write ./shut/new made",
	    said(ACT_CREATE, "./shut/new"));
	is("create what is there", "write ./shut/file",
	    said(ACT_CREATE, "./shut/file"));
	is("replace", "write ./shut/file replaced",
	    said(ACT_REPLACE, "./shut/file"));
	is("replace nothing", "write ./shut/new",
	    said(ACT_REPLACE, "./shut/new"));
	is("remove", "write ./shut/d replaced", said(ACT_REMOVE, "./shut/d"));
	is("unlink", "write ./shut/file replaced",
	    said(ACT_UNLINK, "./shut/file"));
	is("fill", "write ./shut/d", said(ACT_FILL, "./shut/d"));
	is("connect", "socket ./shut/socket",
	    said(ACT_CONNECT, "./shut/socket"));
	is("the root directory", "read /", said(ACT_READ, "/"));
}

/* What would fail without the policy. */
static void
check_fails(void)
{
	is("read what is not there", "no", said(ACT_READ, "./shut/new"));
	is("read what is another's", "no", said(ACT_READ, "./shut/closed"));
	is("write to what is read-only", "no",
	    said(ACT_WRITE, "./shut/constant"));
	is("write to a directory", "no", said(ACT_WRITE, "./shut/d"));
	is("run what is no program", "no", said(ACT_RUN, "./shut/constant"));
	is("run a directory", "no", said(ACT_RUN, "./shut/d"));
	is("make what is there", "no", said(ACT_MAKE, "./shut/file"));
	is("make a directory that is there", "no",
	    said(ACT_MAKE_DIRECTORY, "./shut/d"));
	is("make something in a directory that is read-only", "no",
	    said(ACT_MAKE, "./constant/new"));
	is("create it there", "no", said(ACT_CREATE, "./constant/new"));
	is("remove what is there", "no", said(ACT_REMOVE, "./constant/file"));
	is("but write to it", "write ./constant/file",
	    said(ACT_WRITE, "./constant/file"));
	is("fill a directory that is read-only", "no",
	    said(ACT_FILL, "./constant"));
	is("unlink a directory", "no", said(ACT_UNLINK, "./shut/d"));
	is("remove what is not there", "no", said(ACT_REMOVE, "./shut/new"));
	is("change what is another's", "no", said(ACT_CHANGE, "/etc/passwd"));
	is("connect to a socket that is read-only", "no",
	    said(ACT_CONNECT, "./shut/quiet"));
	asked.fresh = true;
	is("open what is there with O_EXCL", "no",
	    said(ACT_CREATE, "./shut/file"));
	is("and what is not", "write ./shut/new made",
	    said(ACT_CREATE, "./shut/new"));
	asked.fresh = false;
	asked.dots = true;
	is("make '..'", "no", said(ACT_REPLACE, "./shut/d"));
	is("read '..'", "read ./shut/d", said(ACT_READ, "./shut/d"));
	asked.dots = false;
}

static void
check_rules(void)
{
	is("what is allowed", "no", said(ACT_READ, "./open/file"));
	is("to be written", "no", said(ACT_WRITE, "./open/file"));
	is("to be made", "no", said(ACT_MAKE, "./open/new"));
	is("a rule that denies it", "write ./open/no by 11",
	    said(ACT_WRITE, "./open/no"));
	is("it may be read", "no", said(ACT_READ, "./open/no"));
	is("one that allows no other right", "write ./read/file",
	    said(ACT_WRITE, "./read/file"));
	is("a file that is allowed, in a directory that is not",
	    "write ./shut replaced", said(ACT_REMOVE, "./shut/lone"));
	is("it may be written", "no", said(ACT_WRITE, "./shut/lone"));
	is("and made anew", "no", said(ACT_CREATE, "./shut/lone"));
}

static void
check_links(void)
{
	is("a link is followed to read", "read ./shut/file",
	    said(ACT_READ, "./open/link"));
	is("to change", "write ./shut/file", said(ACT_CHANGE, "./open/link"));
	is("to run", "exec ./shut/file", said(ACT_RUN, "./open/link"));
	is("to create", "write ./shut/file", said(ACT_CREATE, "./open/link"));
	is("not to unlink", "no", said(ACT_UNLINK, "./open/link"));
	is("nor to replace", "no", said(ACT_REPLACE, "./open/link"));
	is("nor to look", "no", said(ACT_LOOK, "./open/link"));
	is("a link in what is shut is itself unlinked",
	    "write ./shut/back replaced", said(ACT_UNLINK, "./shut/back"));
	is("and leads back to read", "no", said(ACT_READ, "./shut/back"));
	asked.no_follow = true;
	is("not without following", "no", said(ACT_READ, "./open/link"));
	is("and it is there", "read ./shut/back",
	    said(ACT_READ, "./shut/back"));
	asked.no_follow = false;
	is("a link in a circle", "no", said(ACT_READ, "./open/circle"));
	is("a link to nothing is made there", "write ./shut/gone made",
	    said(ACT_CREATE, "./open/dangling"));
	is("one on the way", "read ./shut/d/file",
	    said(ACT_READ, "./open/way/file"));
	is("'..' behind one leads from there", "read ./shut/file",
	    said(ACT_READ, "./open/up/file"));
}

/* Where Landlock hands rights to what is in a directory. */
static void
check_splits(void)
{
	explaining.splits = true;
	is("nothing is made beside what is denied", "write ./open/new by 11",
	    said(ACT_MAKE, "./open/new"));
	is("nor created", "write ./open/new by 11 made",
	    said(ACT_CREATE, "./open/new"));
	is("nor removed", "write ./open/file by 11 replaced",
	    said(ACT_REMOVE, "./open/file"));
	is("nor a directory made", "write ./open/new by 11",
	    said(ACT_MAKE_DIRECTORY, "./open/new"));
	is("nor above it", "write ./tree/new by 12",
	    said(ACT_MAKE, "./tree/new"));
	is("what is there may be written", "no",
	    said(ACT_CREATE, "./open/file"));
	is("beside it something may be made", "no",
	    said(ACT_MAKE, "./tree/beside/new"));
	explaining.splits = false;
}

/* A view shows what leads to what is allowed. */
static void
check_view(void)
{
	static struct sbx_place link;

	is("outside a view the directories above cannot be read", "read .",
	    said(ACT_READ, "."));
	explaining.view = true;
	is("in a view they can", "no", said(ACT_READ, "."));
	is("not written", "write ./shut", said(ACT_FILL, "./shut"));
	is("another cannot be read", "read ./shut/d",
	    said(ACT_READ, "./shut/d"));
	is("a directory that is there is filled", "write ./shut/d",
	    said(ACT_MAKE_DIRECTORY, "./shut/d"));
	tap_ok(&tap, asked.act == ACT_FILL && !asked.makes,
	    "and that is what was asked");
	is("not one that leads to what is allowed", "no",
	    said(ACT_MAKE_DIRECTORY, "./shut"));
	is("nor one that can be read", "no",
	    said(ACT_MAKE_DIRECTORY, "./read/d"));
	is("nor a file", "no", said(ACT_MAKE_DIRECTORY, "./shut/file"));
	link = place_of(at("./shut/d/link"));
	binding.links = &link;
	binding.link_count = 1;
	is("a directory with a link to it can be read", "no",
	    said(ACT_READ, "./shut/d"));
	binding.link_count = 0;
	is("the own terminals", "no", said(ACT_WRITE, "/dev/pts/0"));
	is("the own shared memory", "no", said(ACT_LOOK, "/dev/shm"));
	is("no other device", "write /dev/full", said(ACT_WRITE, "/dev/full"));
	explaining.view = false;
	is("which else is the machine's", "read /dev/shm look",
	    said(ACT_LOOK, "/dev/shm"));
	is("a setting of a process in /proc", "write /proc/self/comm",
	    said(ACT_WRITE, "/proc/self/comm"));
	is("what else a process has there", "no",
	    said(ACT_WRITE, "/proc/self/fd/1"));
	is("is read, as all of it", "read /proc",
	    said(ACT_READ, "/proc/self/comm"));
}

/* What --learn is told of what is allowed. */
static void
check_wanted(void)
{
	explaining.learning = &learning;
	is("what is allowed is wanted", "wanted",
	    said(ACT_READ, "./open/file"));
	tap_ok(&tap, !asked.makes, "and makes nothing");
	is("to be made", "wanted", said(ACT_CREATE, "./open/new"));
	tap_ok(&tap, asked.makes, "and makes it");
	is("what is not there is not", "no", said(ACT_READ, "./open/gone"));
	is("what is denied", "write ./open/no by 11",
	    said(ACT_WRITE, "./open/no"));
	explaining.learning = NULL;
}

/* --- the scratch directory, sockets --------------------------------------- */

static void
check_scratch(void)
{
	static char inner[] = "/tmp/sbx-judge-XXXXXX";

	explaining.scratch = place_of(at("./scratch"));
	is("/tmp is the scratch directory", "read ./scratch/file",
	    said(ACT_READ, "/tmp/file"));
	is("itself", "read ./scratch", said(ACT_READ, "/tmp"));
	is("not what begins so", "no", said(ACT_READ, "/tmp-x/file"));
	blob.anchor_count = SBX_ANCHOR_TMP + 2;
	binding.bound[SBX_ANCHOR_WORKSPACE] = true;
	binding.anchors[SBX_ANCHOR_WORKSPACE] = place_of("/tmp/sbx-judge-w");
	is("what a person named there keeps its name", "no",
	    said(ACT_READ, "/tmp/sbx-judge-w/file"));
	binding.bound[SBX_ANCHOR_WORKSPACE] = false;
	is("unless it is not bound", "read ./scratch/sbx-judge-w/file",
	    said(ACT_READ, "/tmp/sbx-judge-w/file"));
	binding.bound[SBX_ANCHOR_TMP] = true;
	binding.anchors[SBX_ANCHOR_TMP] = place_of("/tmp/sbx-judge-w");
	is("${tmp} is what is meant", "read ./scratch/sbx-judge-w/file",
	    said(ACT_READ, "/tmp/sbx-judge-w/file"));
	binding.bound[SBX_ANCHOR_TMP] = false;
	tap_must(mkdtemp(inner) != NULL, inner);
	explaining.scratch = place_of(inner);
	tap_ok(&tap,
	    strncmp(said(ACT_READ, inner), "read /tmp/sbx-judge-", 20) == 0,
	    "which may lie in /tmp itself");
	rmdir(inner);
	explaining.scratch = (struct sbx_place){ "", 0 };
}

static void
check_sockets(void)
{
	static struct sbx_rule sockets[2];
	struct sbx_denial denial;

	sockets[0] = (struct sbx_rule){ .at = place_of(at("./shut/socket")),
		.effect = SBX_ALLOW,
		.rights = SBX_CONNECT,
		.source = SBX_NO_SOURCE };
	sockets[1] = (struct sbx_rule){ .at = place_of(at("./open/socket")),
		.effect = SBX_DENY,
		.rights = SBX_CONNECT,
		.source = DENY_SOCKET };
	binding.sockets = sockets;
	binding.socket_count = 2;
	is("a socket that a rule opens", "wanted",
	    said(ACT_CONNECT, "./shut/socket"));
	is("one that a rule shuts", "socket ./open/socket by 13",
	    said(ACT_CONNECT, "./open/socket"));
	is("one by the rules about paths", "no",
	    said(ACT_CONNECT, "./open/other"));
	binding.socket_count = 0;

	asked.path.len = 0;
	trail_push(&asked.path, at("./open/socket"));
	denial.source = 0;
	tap_ok(&tap,
	    judge_server(&asked, &denial) && denial.kind == SBX_DENIED_SOCKET &&
		denial.source == SBX_NO_SOURCE &&
		strcmp(denial.path, at("./open/socket")) == 0,
	    "a server that was refused");
	path_cut(&asked.path, 0);
	trail_push(&asked.path, at("./shut/quiet"));
	tap_ok(&tap, !judge_server(&asked, &denial), "one that nobody reaches");
	path_cut(&asked.path, 0);
	trail_push(&asked.path, at("./open/file"));
	tap_ok(&tap, !judge_server(&asked, &denial), "no socket");
	path_cut(&asked.path, 0);
	tap_ok(&tap, !judge_server(&asked, &denial), "the root directory");
}

/* --- the network ---------------------------------------------------------- */

/* What is said of a port: its kind and its rule. */
static const char *
said_port(uint8_t op, uint16_t port)
{
	static char text[64];
	struct sbx_denial denial = { .kind = SBX_DENIED_END };

	if (!judge_port(&explaining, op, port, &denial))
		return "no";
	snprintf(text, sizeof text, "%s %u",
	    denial.kind == SBX_DENIED_CONNECT    ? "connect" :
		denial.kind == SBX_DENIED_LISTEN ? "listen" :
						   "publish",
	    denial.port);
	if (denial.source != SBX_NO_SOURCE)
		snprintf(text + strlen(text), 16, " by %u", denial.source);
	return text;
}

static void
check_ports(void)
{
	static const struct sbx_port ports[] = {
		{ 80, 90, SBX_ALLOW, SBX_CONNECT_TCP, 0xff, 0, 1, 0 },
		{ 85, 85, SBX_DENY, SBX_CONNECT_TCP, 0xff, 0, 2, 0 },
		{ 80, 80, SBX_ALLOW, SBX_LISTEN_TCP, 0xff, 0, 3, 0 },
		{ 70, 70, SBX_ALLOW, SBX_PUBLISH_TCP, 0xff, 0, 4, 0 },
		{ 71, 71, SBX_DENY, SBX_PUBLISH_TCP, 0xff, 0, 5, 0 },
	};

	blob.ports = ports;
	blob.port_count = sizeof ports / sizeof *ports;
	meta.net = SBX_NET_PORTS;
	meta.net_source = SBX_NO_SOURCE;
	is("a port that a rule opens", "no", said_port(SBX_CONNECT_TCP, 80));
	is("one that no rule does", "connect 79",
	    said_port(SBX_CONNECT_TCP, 79));
	is("one that a rule shuts", "connect 85 by 2",
	    said_port(SBX_CONNECT_TCP, 85));
	is("to listen", "listen 81", said_port(SBX_LISTEN_TCP, 81));
	is("where a rule lets", "no", said_port(SBX_LISTEN_TCP, 80));
	is("port 0", "no", said_port(SBX_CONNECT_TCP, 0));
	meta.net = SBX_NET_SELECTED;
	is("beside single ways out, to publish", "publish 80",
	    said_port(SBX_LISTEN_TCP, 80));
	is("a port that is published", "no", said_port(SBX_LISTEN_TCP, 70));
	is("one that may not be", "publish 71 by 5",
	    said_port(SBX_LISTEN_TCP, 71));
	is("any port", "no", said_port(SBX_LISTEN_TCP, 0));
	is("to connect goes another way", "no", said_port(SBX_CONNECT_TCP, 1));
	explaining.view = true;
	is("as in a network of its own", "no", said_port(SBX_LISTEN_TCP, 80));
	explaining.view = false;
	meta.net = SBX_NET_FULL;
	is("a network that is open", "no", said_port(SBX_CONNECT_TCP, 79));
}

static const char *
said_endpoint(const uint8_t address[SBX_ADDRESS_SIZE], uint16_t port)
{
	static char text[128];
	struct sbx_denial denial = { .kind = SBX_DENIED_END };

	if (!judge_endpoint(&explaining, address, port, &denial))
		return "no";
	snprintf(text, sizeof text, "%.64s %u %s", denial.path, denial.port,
	    denial.verdict == PROXY_DENIED ? "denied" : "no rule");
	if (denial.source != SBX_NO_SOURCE)
		snprintf(text + strlen(text), 16, " by %u", denial.source);
	return text;
}

static const char *
said_v4(uint8_t a, uint8_t b, uint8_t c, uint8_t d, uint16_t port)
{
	const uint8_t address[SBX_ADDRESS_SIZE] = { [10] = 0xff,
		[11] = 0xff,
		[12] = a,
		[13] = b,
		[14] = c,
		[15] = d };

	return said_endpoint(address, port);
}

static void
check_endpoints(void)
{
	static const struct sbx_endpoint endpoints[] = {
		{ .address = { [10] = 0xff, [11] = 0xff, 10, 2 },
		    .low = 1,
		    .high = 100,
		    .prefix = 112,
		    .effect = SBX_ALLOW,
		    .platforms = 0xff,
		    .source = 21 },
		{ .address = { [10] = 0xff, [11] = 0xff, 10, 2, 3 },
		    .low = 80,
		    .high = 80,
		    .prefix = 120,
		    .effect = SBX_DENY,
		    .platforms = 0xff,
		    .source = 22 },
	};
	static const uint8_t none[SBX_ADDRESS_SIZE],
	    one[SBX_ADDRESS_SIZE] = { [15] = 1 },
	    far[SBX_ADDRESS_SIZE] = { 0x20, 1, [15] = 1 };
	uint8_t fake[SBX_ADDRESS_SIZE];

	blob.endpoints = endpoints;
	blob.endpoint_count = 2;
	is("an address that a rule opens", "no", said_v4(10, 2, 1, 1, 80));
	is("at another port", "10.2.1.1 101 no rule",
	    said_v4(10, 2, 1, 1, 101));
	is("one that a rule shuts", "10.2.3.1 80 denied by 22",
	    said_v4(10, 2, 3, 1, 80));
	is("another address", "10.3.1.1 80 no rule", said_v4(10, 3, 1, 1, 80));
	is("port 0", "no", said_v4(10, 3, 1, 1, 0));
	is("the own machine", "no", said_v4(127, 9, 9, 9, 80));
	is("what has no address", "no", said_v4(0, 0, 0, 0, 80));
	is("its neighbour", "128.0.0.1 80 no rule", said_v4(128, 0, 0, 1, 80));
	is("what the resolver hands out", "no", said_v4(198, 18, 0, 1, 80));
	is("of IPv6, the own machine", "no", said_endpoint(one, 80));
	is("no address", "no", said_endpoint(none, 80));
	is("another", "2001::1 80 no rule", said_endpoint(far, 80));
	memcpy(fake, sbx_fake_v6, sizeof fake);
	memcpy(fake + 12, (const uint8_t[]){ 198, 18, 0, 1 }, 4);
	is("and what the resolver hands out", "no", said_endpoint(fake, 80));
}

/* --- paths as text -------------------------------------------------------- */

static void
check_dots(void)
{
	static const struct {
		const char *text;
		bool dots;
	} cases[] = {
		{ ".", true },
		{ "..", true },
		{ "a/.", true },
		{ "a/..", true },
		{ "a/../", true },
		{ "a/.//", true },
		{ "/..", true },
		{ "...", false },
		{ "a.", false },
		{ "a..", false },
		{ "a/...", false },
		{ ".a", false },
		{ "../a", false },
		{ "/", false },
		{ "", false },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		tap_ok(&tap, trail_ends_in_dots(cases[i].text) == cases[i].dots,
		    "'%s' ends in%s dots", cases[i].text,
		    cases[i].dots ? "" : " no");
}

/* A path as text, with names behind it. */
static const char *
pushed(const char *path, const char *names)
{
	static struct path made;

	made.len = (uint32_t)strlen(path);
	memcpy(made.text, path, made.len + 1);
	return trail_push(&made, names) ? made.text : "no";
}

static void
check_push(void)
{
	static char longest[SBX_MAX_PATH + 1];

	is("names", "/a/b/c", pushed("/a", "b//c/"));
	is("dots", "/a/.b/..c/...", pushed("/a", "./.b/./..c/..."));
	is("two dots", "/a/c", pushed("/a", "b/../c"));
	is("beyond the root", "/b", pushed("/a", "../../../b"));
	is("to the root", "", pushed("/a", ".."));
	memset(longest, 'a', SBX_MAX_PATH);
	*longest = '/';
	is("what is too long", "no", pushed(longest, "b"));
	longest[SBX_MAX_PATH - 2] = '\0';
	tap_ok(&tap, strlen(pushed(longest, "b")) == SBX_MAX_PATH,
	    "a byte less is not");
}

/* -------------------------------------------------------------------------- */

static int
remove_one(const char *path, const struct stat *status, int type,
    struct FTW *walk)
{
	(void)status, (void)type, (void)walk;
	return remove(path);
}

static void
make_places(void)
{
	make_directory("./open", 0755);
	make_file("./open/file", 0644);
	make_file("./open/no", 0644);
	make_socket("./open/socket", 0666);
	make_socket("./open/other", 0666);
	make_directory("./read", 0755);
	make_directory("./read/d", 0755);
	make_file("./read/file", 0644);
	make_directory("./tree", 0755);
	make_directory("./tree/beside", 0755);
	make_directory("./shut", 0755);
	make_directory("./shut/d", 0755);
	make_file("./shut/d/file", 0644);
	make_file("./shut/file", 0755);
	make_file("./shut/lone", 0644);
	make_file("./shut/closed", 0000);
	make_file("./shut/constant", 0444);
	make_socket("./shut/socket", 0666);
	make_socket("./shut/quiet", 0444);
	make_directory("./scratch", 0755);
	make_directory("./scratch/sbx-judge-w", 0755);
	make_file("./scratch/sbx-judge-w/file", 0644);
	make_file("./scratch/file", 0644);
	make_directory("./constant", 0755);
	make_file("./constant/file", 0644);
	tap_must(chmod(at("./constant"), 0555) == 0, "chmod");
	tap_must(symlink("../shut/file", at("./open/link")) == 0 &&
		symlink("../open/file", at("./shut/back")) == 0 &&
		symlink("circle", at("./open/circle")) == 0 &&
		symlink(at("./shut/gone"), at("./open/dangling")) == 0 &&
		symlink("../shut/d", at("./open/way")) == 0 &&
		symlink("way/..", at("./open/up")) == 0,
	    "symlink");
}

static void
make_rules(void)
{
	explaining = (struct explaining){ .blob = &blob,
		.binding = &binding,
		.helper = -1 };
	binding.blob = &blob;
	give("./open", SBX_ALLOW, SBX_RIGHTS, SBX_NO_SOURCE);
	/* Before the others: a right that is not to write splits nothing. */
	give("./open/tool", SBX_DENY, SBX_EXEC, DENY_RUN);
	give("./tree/beside/tool", SBX_DENY, SBX_EXEC, DENY_RUN);
	give("./open/no", SBX_DENY, SBX_WRITE, DENY_NO);
	give("./read", SBX_ALLOW, SBX_READ, SBX_NO_SOURCE);
	give("./tree", SBX_ALLOW, SBX_RIGHTS, SBX_NO_SOURCE);
	give("./tree/a/b", SBX_DENY, SBX_WRITE, DENY_DEEP);
	give("./shut/lone", SBX_ALLOW, SBX_RIGHTS, SBX_NO_SOURCE);
}

/* Root may write to all that is there. */
static void
be_somebody(void)
{
	if (geteuid() == 0)
		/* Whoever changed the user has no files in /proc, till it says so. */
		tap_must(setgid(STRANGER) == 0 && setuid(STRANGER) == 0 &&
			prctl(PR_SET_DUMPABLE, 1) == 0,
		    "setuid");
}

int
main(void)
{
	be_somebody();
	tap_must(mkdtemp(top) != NULL, top);
	make_places();
	make_rules();
	check_acts();
	check_fails();
	check_rules();
	check_links();
	check_splits();
	check_view();
	check_wanted();
	check_scratch();
	check_sockets();
	check_ports();
	check_endpoints();
	check_dots();
	check_push();
	chmod(at("./constant"), 0755);
	nftw(top, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return tap_done(&tap);
}
