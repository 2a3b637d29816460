/*
 * sbx-proxy as sbxrun starts it, but between two networks of this test's: what it
 * lets through and what not, and that nothing is lost on the way.
 */
#include "tests/kernel/proxy.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define countof(array) (sizeof(array) / sizeof *(array))

static const struct rule rules[] = {
	{ .name = "good.example" },
	{ .name = "good.example", .port = PORT_ECHO },
	{ .name = "good.example", .port = PORT_SSH },
	{ .name = "good.example", .port = PORT_RESET },
	{ .name = "good.example", .port = PORT_HALF },
	{ .name = "good.example", .port = PORT_SILENT },
	{ .name = "good.example", .port = PORT_SINK },
	{ .name = "first.example", .port = PORT_LAST },
	{ .name = "first.example", .port = PORT_FULL },
	{ .name = "shut.example" },
	{ .name = "wild.example", .flags = SBX_NAME_BELOW },
	{ .name = "denied.wild.example", .effect = SBX_DENY },
	{ .name = "private.example" },
	{ .name = "mixed.example" },
	{ .name = "meta.example" },
	{ .name = "local.example" },
	{ .name = "cgnat.example" },
	{ .name = "mapped.example" },
	{ .name = "nat64.example" },
	{ .name = "sixtofour.example" },
	{ .name = "six.example" },
	{ .name = "rebind.example" },
	{ .name = "found" },
	{ .name = "nowhere.example" },
	{ .name = "slow.example", .flags = SBX_NAME_BELOW },
	{ .name = "half.example" },
	{ .name = "corp.example", .flags = SBX_NAME_PRIVATE },
	{ .name = "corpmeta.example", .flags = SBX_NAME_PRIVATE },
	{ .name = "corplocal.example", .flags = SBX_NAME_PRIVATE },
	{ .name = "corpaws.example", .flags = SBX_NAME_PRIVATE },
	{ .name = "corpnat64.example", .flags = SBX_NAME_PRIVATE },
	{ .name = "corpgoogle.example", .flags = SBX_NAME_PRIVATE },
	{ .name = "corpazure.example", .flags = SBX_NAME_PRIVATE },
	{ .name = "corpalibaba.example", .flags = SBX_NAME_PRIVATE },
	{ .name = "corporacle.example", .flags = SBX_NAME_PRIVATE },
	{ .address = "10.9.9.8", .port = PORT_ECHO },
	{ .address = "11.22.33.45", .port = PORT_ECHO, .effect = SBX_DENY },
	{ .op = SBX_HOST_TCP, .port = PORT_HOST },
	{ .op = SBX_HOST_TCP, .port = PORT_HOST_SIX },
	{ .op = SBX_PUBLISH_TCP, .port = PORT_PUBLISHED },
};

/* --- the resolver ---------------------------------------------------------------- */

static const struct {
	const char *name;
	int code;
	bool has_address;
	uint16_t type;
} queries[] = {
	{ "good.example", 0, true, 1 },
	{ "GOOD.Example", 0, true, 1 },
	{ "good.example", 0, false, 28 },
	{ "good.example", 0, false, 16 },
	{ "good.example", 0, false, 65 },
	{ "a.wild.example", 0, true, 1 },
	{ "a.b.wild.example", 0, true, 1 },
	{ "wild.example", 3, false, 1 },
	{ "denied.wild.example", 3, false, 1 },
	{ "other.example", 3, false, 1 },
	{ "secret.good.example", 3, false, 1 },
	{ "good.example.evil.net", 3, false, 1 },
	{ "xgood.example", 3, false, 1 },
	{ "127.0.0.1", 3, false, 1 },
	{ "g\xd0\xbeod.example", 3, false, 1 },
};

static void
try_queries(struct stage *stage)
{
	uint64_t before = stage->shared->queries;
	char address[64], again[64];

	for (size_t i = 0; i < countof(queries); i++) {
		int code = ask(stage, queries[i].name, queries[i].type,
		    address);

		tap_ok(&stage->tap,
		    code == queries[i].code &&
			(*address != '\0') == queries[i].has_address,
		    "a query for %s, type %u, answers %d", queries[i].name,
		    queries[i].type, queries[i].code);
	}
	ask(stage, "good.example", 1, address);
	ask(stage, "good.example", 1, again);
	tap_ok(&stage->tap,
	    strcmp(address, again) == 0 && strncmp(address, "198.1", 5) == 0,
	    "a name has one address, of the range that is nobody's");
	tap_ok(&stage->tap, stage->shared->queries == before,
	    "no query leaves the machine");
	tap_ok(&stage->tap,
	    saw(stage, PROXY_BY_RESOLVER, PROXY_NO_RULE, "other.example"),
	    "a refused name is told");
	forget_events(stage);
}

/* --- names by address -------------------------------------------------------------- */

static const struct {
	const char *name;
	uint16_t port;
	const char *expected;
	enum proxy_verdict verdict;
} names[] = {
	{ "good.example", PORT_ECHO, "echo", PROXY_ALLOWED },
	{ "good.example", PORT_SSH, "SSH-2.0-test\r\nword", PROXY_ALLOWED },
	{ "a.wild.example", PORT_ECHO, "echo", PROXY_ALLOWED },
	{ "a.wild.example", PORT_SSH, "reset", PROXY_NO_RULE },
	{ "mixed.example", PORT_ECHO, "echo", PROXY_ALLOWED },
	{ "private.example", PORT_ECHO, "reset", PROXY_PRIVATE },
	{ "meta.example", PORT_ECHO, "reset", PROXY_RESERVED },
	{ "local.example", PORT_ECHO, "reset", PROXY_RESERVED },
	{ "cgnat.example", PORT_ECHO, "reset", PROXY_PRIVATE },
	{ "mapped.example", PORT_ECHO, "reset", PROXY_PRIVATE },
	{ "nat64.example", PORT_ECHO, "reset", PROXY_RESERVED },
	{ "sixtofour.example", PORT_ECHO, "reset", PROXY_RESERVED },
	{ "six.example", PORT_ECHO, "echo", PROXY_ALLOWED },
	{ "half.example", PORT_ECHO, "echo", PROXY_ALLOWED },
	/* The first of its addresses refuses. */
	{ "first.example", PORT_LAST, "SSH-2.0-test\r\nword", PROXY_ALLOWED },
	{ "corpmeta.example", PORT_ECHO, "reset", PROXY_RESERVED },
	{ "corplocal.example", PORT_ECHO, "reset", PROXY_RESERVED },
	{ "corpaws.example", PORT_ECHO, "reset", PROXY_RESERVED },
	{ "corpnat64.example", PORT_ECHO, "reset", PROXY_RESERVED },
	{ "corpgoogle.example", PORT_ECHO, "reset", PROXY_RESERVED },
	{ "corpazure.example", PORT_ECHO, "reset", PROXY_RESERVED },
	{ "corpalibaba.example", PORT_ECHO, "reset", PROXY_RESERVED },
	{ "corporacle.example", PORT_ECHO, "reset", PROXY_RESERVED },
	{ "corp.example", PORT_ECHO, "echo", PROXY_ALLOWED },
	{ "nowhere.example", PORT_ECHO, "reset", PROXY_NO_SUCH_NAME },
	{ "found", PORT_ECHO, "reset", PROXY_NO_SUCH_NAME },
	{ "rebind.example", PORT_ECHO, "echo", PROXY_ALLOWED },
	{ "rebind.example", PORT_ECHO, "reset", PROXY_PRIVATE },
};

static const struct {
	const char *address;
	uint16_t port;
	const char *expected, *what;
} addresses[] = {
	{ "198.19.255.1", PORT_ECHO, "reset",
	    "an address that nobody was given is reset" },
	{ "10.2.3.4", PORT_ECHO, "reset",
	    "an address that no rule allows is reset" },
	{ "127.0.0.1", PORT_HOST, "SSH-2.0-test\r\nword",
	    "a service of the host is reached" },
	{ "127.0.0.1", PORT_HOST_SIX, "reset",
	    "one that listens on ::1 alone is not" },
	{ "127.0.0.1", PORT_ECHO, "reset",
	    "a port of names is no service of the host" },
	{ "127.0.0.2", PORT_ECHO, "reset",
	    "nor is one at another address of the machine itself" },
};

static void
try_names(struct stage *stage)
{
	char room[256], word[128];

	for (size_t i = 0; i < countof(names); i++) {
		int fd = dial_name(stage, names[i].name, names[i].port);
		const char *got;

		snprintf(word, sizeof word,
		    "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", names[i].name);
		got = exchange(fd, names[i].port == PORT_ECHO ? word : "word",
		    room, sizeof room);

		if (!tap_ok(&stage->tap, strcmp(got, names[i].expected) == 0,
			"%s:%u is %.*s", names[i].name, names[i].port,
			(int)strcspn(names[i].expected, "\r"),
			names[i].expected))
			printf("# got: %s\n", got);
		tap_ok(&stage->tap,
		    saw(stage, PROXY_BY_ADDRESS, names[i].verdict,
			names[i].name),
		    "and is told");
	}
	for (size_t i = 0; i < countof(addresses); i++)
		tap_ok(&stage->tap,
		    strcmp(exchange(dial(stage, addresses[i].address,
					addresses[i].port),
			       "word", room, sizeof room),
			addresses[i].expected) == 0,
		    "%s", addresses[i].what);
	tap_ok(&stage->tap,
	    saw(stage, PROXY_BY_HOST, PROXY_NO_RULE, "127.0.0.2"),
	    "which is told as a service");
	tap_ok(&stage->tap,
	    strcmp(exchange(dial_name(stage, "shut.example", PORT_ECHO), "word",
		       room, sizeof room),
		"reset") == 0 &&
		saw(stage, PROXY_BY_ENDPOINT, PROXY_DENIED, "shut.example"),
	    "a name whose address is denied is reset, and is told");
	tap_ok(&stage->tap, dial_name(stage, "good.example", 9999) < 0,
	    "a port that no rule names is refused at once");
	forget_events(stage);
}

/* --- its processes -------------------------------------------------------------- */

static bool
is_confined(int pid)
{
	static const char *const wanted[] = { "\nSeccomp:\t2\n",
		"\nNoNewPrivs:\t1\n", "\nCapEff:\t0000000000000000\n",
		"\nCapPrm:\t0000000000000000\n" };
	char path[64], text[8192];
	FILE *file;
	size_t len;

	snprintf(path, sizeof path, "/proc/%d/status", pid);
	file = fopen(path, "r");
	len = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
	if (file != NULL)
		fclose(file);
	text[len] = '\0';
	for (size_t i = 0; i < countof(wanted); i++) {
		if (strstr(text, wanted[i]) == NULL)
			return false;
	}
	return true;
}

/* Whether one of its descriptors is of a process, or of a network: the way into the
 * sandbox. */
static bool
has_way_in(int pid)
{
	static const char *const ways[] = { "net:", "anon_inode:[pidfd]",
		"pidfd:" };
	char path[64 + NAME_MAX], link[64];
	const struct dirent *entry;
	bool found = false;
	DIR *directory;

	snprintf(path, sizeof path, "/proc/%d/fd", pid);
	directory = opendir(path);
	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		ssize_t len;

		snprintf(path, sizeof path, "/proc/%d/fd/%s", pid,
		    entry->d_name);
		len = readlink(path, link, sizeof link - 1);
		link[len > 0 ? len : 0] = '\0';
		for (size_t i = 0; i < countof(ways); i++)
			found |= strncmp(link, ways[i], strlen(ways[i])) == 0;
	}
	if (directory != NULL)
		closedir(directory);
	return found || directory == NULL;
}

/* How many of the proxy and its children are confined; *all: how many are. */
static int
count_confined(const struct stage *stage, int *all)
{
	char path[64];
	int pid, count = is_confined(stage->proxy) && !has_way_in(stage->proxy);
	FILE *file;

	*all = 1;
	snprintf(path, sizeof path, "/proc/%d/task/%d/children", stage->proxy,
	    stage->proxy);
	file = fopen(path, "r");
	while (file != NULL && fscanf(file, "%d", &pid) == 1) {
		++*all;
		count += is_confined(pid) && !has_way_in(pid);
	}
	if (file != NULL)
		fclose(file);
	return count;
}

/* Each confines itself when it begins. */
static void
try_confined(struct stage *stage, int wanted)
{
	int all = 0, count = 0;

	for (int i = 0; i < 6000 && (count < wanted || count < all); i++) {
		if (i > 0)
			usleep(10000);
		count = count_confined(stage, &all);
	}
	tap_ok(&stage->tap, all >= wanted && count == all,
	    "each process of the proxy is confined: %d of %d", count, all);
}

static void
try_main(struct stage *stage)
{
	policy_make(stage, rules, countof(rules), NULL);
	proxy_begin(stage, "full", NULL);
	try_queries(stage);
	try_confined(stage, 3);
	try_names(stage);
	try_requests(stage);
	try_socks(stage);
	try_tls(stage);
	try_flows(stage);
	tap_ok(&stage->tap, proxy_end(stage) == 0,
	    "the proxy ends with its control socket");
}

/* --- other policies ------------------------------------------------------------- */

/* Whether no process of the proxy is left, by who holds its end of a socket. */
static bool
all_ended(const struct stage *stage)
{
	struct pollfd wait = { .fd = stage->events, .events = POLLIN };
	char room[512];

	while (poll(&wait, 1, 60000) > 0) {
		if (recv(stage->events, room, sizeof room, 0) <= 0)
			return true;
	}
	return false;
}

static void
try_killed(struct stage *stage)
{
	char byte;
	int fd, served, inner = stage->inner;

	/* The sandbox may be handed over as a process or as its network. */
	stage->inner = stage->inside;
	proxy_begin(stage, "full", NULL);
	stage->inner = inner;
	try_published(stage);
	try_confined(stage, 3);
	fd = dial_name(stage, "good.example", PORT_ECHO);
	served = dial_name(stage, "good.example", PORT_SSH);
	tap_ok(&stage->tap, recv(served, &byte, 1, 0) == 1,
	    "the proxy serves until it is killed");
	kill(stage->proxy, SIGKILL);
	while (recv(served, &byte, 1, 0) > 0)
		;
	tap_ok(&stage->tap, recv(fd, &byte, 1, 0) <= 0 && all_ended(stage),
	    "then no connection and no process of it is left");
	close(fd);
	close(served);
	tap_ok(&stage->tap, proxy_end(stage) == 128 + SIGKILL, "killed");
}

/* Its control socket is still open when who has started it is killed. */
static void
try_orphaned(struct stage *stage)
{
	char byte;
	int served;

	stage->apart = true;
	proxy_begin(stage, "full", NULL);
	stage->apart = false;
	served = dial_name(stage, "good.example", PORT_SSH);
	tap_ok(&stage->tap, recv(served, &byte, 1, 0) == 1,
	    "a proxy of another process serves");
	kill(stage->proxy, SIGKILL);
	tap_ok(&stage->tap, all_ended(stage),
	    "it ends when that one is killed");
	close(served);
	proxy_end(stage);
}

static void
try_others(struct stage *stage)
{
	static const struct rule good = { .name = "good.example" };
	struct sbx_proxy upstream = {
		.anchor = SBX_NO_ANCHOR,
		.port = PORT_UPSTREAM,
		.source = SBX_NO_SOURCE,
		.platforms = SBX_ON_LINUX,
	};

	policy_make(stage, &good, 1, NULL);
	proxy_begin(stage, "standard", NULL);
	try_standard(stage, stage->listener);
	close(stage->listener);
	tap_ok(&stage->tap, proxy_end(stage) == 0, "standard: it ends");
	for (int by_path = 0; by_path < 2; by_path++) {
		upstream.anchor = by_path ? SBX_ANCHOR_ROOT : SBX_NO_ANCHOR;
		upstream.port = by_path ? 0 : PORT_UPSTREAM;
		policy_make(stage, NULL, 0, &upstream);
		proxy_begin(stage, "full", by_path ? UPSTREAM_PATH : NULL);
		try_upstream(stage, false);
		tap_ok(&stage->tap, proxy_end(stage) == 0, "it ends");
		policy_make(stage, &good, 1, &upstream);
		proxy_begin(stage, "full", by_path ? UPSTREAM_PATH : NULL);
		try_upstream(stage, true);
		tap_ok(&stage->tap, proxy_end(stage) == 0, "it ends");
	}
}

int
main(void)
{
	struct stage stage = { .proxy_path = getenv("SBX_PROXY") };
	const char *builddir = getenv("builddir");
	char path[512];

	snprintf(path, sizeof path, "%s/sbx-proxy",
	    builddir != NULL ? builddir : "build");
	if (stage.proxy_path == NULL)
		stage.proxy_path = path;
	if (!stage_open(&stage)) {
		tap_skip(&stage.tap, "no namespaces are to be had",
		    "sbx-proxy");
		return tap_done(&stage.tap);
	}
	try_main(&stage);
	try_killed(&stage);
	try_orphaned(&stage);
	try_others(&stage);
	stage_close(&stage);
	return tap_done(&stage.tap);
}
