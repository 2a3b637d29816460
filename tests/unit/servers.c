/*
 * Whose a server is: what the supervisor remembers of a listen(2), and what it
 * makes of it later.  What the kernel tells of sockets is the test's word here.
 */
#include "runtime/listen/answers.h"
#include "runtime/listen/listen.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <unistd.h>

enum {
	KNOWN_MAX = 4,
	FIRST_PORT = 2000,
	FIRST_COOKIE = 5000,
	MINOR_BITS = 20, /* of a device's number in the kernel */
	ANSWER_ELSEWHERE = 77,
};

/* What the kernel is said to know. */
static struct {
	uint64_t cookie;
	struct bound bound;
} known[KNOWN_MAX];
static unsigned known_count;
static bool all_there; /* each socket by its cookie, but none by its place */
static uint64_t gone;  /* but this one */
static uint16_t ended; /* a port of TCP that nobody serves any more */

static struct servers servers;
static struct listening listening = { .servers = &servers };
static struct caller caller = { .listening = &listening };
static char directory[] = "/var/tmp/sbx-servers-XXXXXX";
static char leads_to[256]; /* the file that a caller's name leads to */
static int handed = -1;    /* the socket of a call, or a negative errno */
static bool waits = true, writable = true, internet, closed = true;

const uint8_t address_v4_prefix[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff,
	0xff };
const uint8_t address_here[] = { 127, 0, 0, 1 };

int
diagnosis_open(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

bool
diagnosis_find(int diagnosis, const struct server *server, bound_is *is,
    const void *wanted)
{
	static const struct bound nowhere;

	(void)diagnosis;
	for (unsigned i = 0; i < known_count; i++) {
		if ((server == NULL || server->cookie == known[i].cookie) &&
		    is(&known[i].bound, wanted))
			return true;
	}
	return all_there && server != NULL && server->cookie != gone &&
	    is(&nowhere, wanted);
}

uint64_t
diagnosis_listener(int diagnosis, const uint8_t address[SBX_ADDRESS_SIZE],
    uint16_t port)
{
	(void)diagnosis;
	(void)address;
	return port == ended || port < FIRST_PORT ?
	    0 :
	    FIRST_COOKIE + (uint64_t)port - FIRST_PORT;
}

int
caller_copy(const struct caller *calling, int fd)
{
	(void)calling;
	(void)fd;
	return handed < 0 ? handed : fcntl(handed, F_DUPFD_CLOEXEC, 3);
}

void
caller_close(int copy)
{
	close(copy);
}

bool
caller_waits(const struct caller *calling)
{
	(void)calling;
	return waits;
}

static void
interrupt(int number)
{
	(void)number;
}

/* Whose connection to `one` comes before the supervisor's; -1: nobody's. */
static int stranger = -1;

static void
come_first(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof address.sun_path, "%s/one",
	    directory);
	if (connect(stranger, (struct sockaddr *)&address, sizeof address) != 0)
		printf("Bail out! nobody comes first\n");
}

/* As the supervisor's, which lets nobody make it wait. */
bool
ticks(bool on)
{
	const struct sigaction action = { .sa_handler = interrupt };
	const struct itimerval often = {
		.it_interval.tv_usec = on ? 5000 : 0,
		.it_value.tv_usec = on ? 5000 : 0,
	};

	if (on && stranger >= 0)
		come_first();
	return sigaction(SIGALRM, &action, NULL) == 0 &&
	    setitimer(ITIMER_REAL, &often, NULL) == 0;
}

static int
open_target(void)
{
	int fd = open(leads_to, O_PATH | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int
place_open(const struct caller *calling, int below, const char *path, int flags)
{
	(void)calling;
	(void)path;
	return below == AT_FDCWD && flags == AT_SYMLINK_NOFOLLOW ?
	    open_target() :
	    -EPERM;
}

bool
place_is_writable(const struct caller *calling, int fd)
{
	(void)calling;
	return fd >= 0 && writable;
}

bool
internet_is_judged(const struct listening *judging, int socket)
{
	(void)judging;
	return internet && socket >= 0;
}

int
internet_listen(const struct caller *calling, int socket)
{
	(void)calling;
	(void)socket;
	return ANSWER_ELSEWHERE;
}

bool
internet_name(int socket, struct endpoint *endpoint)
{
	*endpoint = (struct endpoint){ .port = 80 };
	return socket >= 0;
}

bool
internet_is_closed(int socket)
{
	return closed && socket >= 0;
}

/* --- the stage ------------------------------------------------------------- */

static void
begin(void)
{
	servers = (struct servers){ .diagnosis = -1 };
	listening = (struct listening){ .servers = &servers };
	known_count = 0;
	all_there = false;
	waits = writable = closed = true;
	internet = false;
	gone = ended = 0;
}

static void
path_to(const char *name, char path[static sizeof leads_to])
{
	snprintf(path, sizeof leads_to, "%s/%s", directory, name);
}

/* A socket of this name, to which the name leads. */
static int
bind_to(const char *name, int type)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	path_to(name, leads_to);
	unlink(leads_to);
	strcpy(address.sun_path, leads_to);
	if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0)
		printf("Bail out! %s: %s\n", leads_to, strerror(errno));
	return fd;
}

static uint64_t
cookie_of(int fd)
{
	uint64_t cookie = 0;
	socklen_t len = sizeof cookie;

	getsockopt(fd, SOL_SOCKET, 57 /* SO_COOKIE */, &cookie, &len);
	return cookie;
}

static bool
is_listening(int fd)
{
	int value = 0;
	socklen_t len = sizeof value;

	getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &value, &len);
	return value != 0;
}

/* What is answered to listen(2). */
static int64_t
listen_on(int fd)
{
	handed = fd;
	caller.call.args[1] = 5;
	return answer_listen(&caller);
}

/* What the kernel tells of a file that a socket is bound to. */
static void
know(uint64_t cookie, const struct stat *status, const char *name)
{
	struct bound *bound = &known[known_count].bound;

	known[known_count++].cookie = cookie;
	*bound = (struct bound){
		.inode = (uint32_t)status->st_ino,
		.device = major(status->st_dev) << MINOR_BITS |
		    minor(status->st_dev),
	};
	strcpy(bound->name, name);
}

/* --- places ---------------------------------------------------------------- */

static void
test_places(struct tap *tap)
{
	int target, fd = bind_to("place", SOCK_STREAM);
	struct stat status;

	begin();
	target = open_target();
	fstat(target, &status);
	know(1, &status, leads_to);
	tap_ok(tap, !servers_have(&caller, target),
	    "a server that is nobody's inside");
	servers.list[servers.count++] = (struct server){ .cookie = 1 };
	tap_ok(tap, servers_have(&caller, target), "one of the command's");
	known[0].bound.inode++;
	tap_ok(tap, !servers_have(&caller, target), "which is elsewhere");
	known[0].bound.inode--;
	known[0].bound.device++;
	tap_ok(tap, !servers_have(&caller, target), "in another file system");
	servers.count = 0;
	listening.own_network = true;
	tap_ok(tap, !servers_have(&caller, target),
	    "in a network of its own, nobody there");
	known[0].bound.device--;
	tap_ok(tap, servers_have(&caller, target), "in which all are inside");
	tap_ok(tap, !servers_have(&caller, -1), "nothing is no server");
	close(target);
	close(fd);
}

/* Where the kernel's numbers tell nothing, the place was proved. */
static void
test_proved(struct tap *tap)
{
	int target, fd = bind_to("place", SOCK_STREAM);
	struct stat status;

	begin();
	target = open_target();
	fstat(target, &status);
	all_there = true;
	servers.list[servers.count++] = (struct server){
		.cookie = 1,
		.place = status.st_ino,
		.device = status.st_dev,
	};
	tap_ok(tap, servers_have(&caller, target), "a place that was proved");
	gone = 1;
	tap_ok(tap, !servers_have(&caller, target),
	    "it is somebody else's when its socket is gone");
	gone = 0;
	servers.list[0].device++;
	tap_ok(tap, !servers_have(&caller, target),
	    "one of that number elsewhere");
	servers.list[0].device--;
	servers.list[0].place++;
	tap_ok(tap, !servers_have(&caller, target), "one of another number");
	close(target);
	close(fd);
}

static void
test_standing(struct tap *tap)
{
	int target, fd = bind_to("stands", SOCK_STREAM);
	char other[sizeof leads_to];
	struct stat status;

	begin();
	target = open_target();
	fstat(target, &status);
	path_to("other", other);
	know(1, &status, leads_to);
	known[0].bound.device++;
	tap_ok(tap, servers_stand(target, leads_to),
	    "a server of the host, whatever its file system is called");
	tap_ok(tap, !servers_stand(target, other), "by another name");
	known[0].bound.inode++;
	tap_ok(tap, !servers_stand(target, leads_to), "by another number");
	tap_ok(tap, !servers_stand(-1, leads_to), "where nothing is");
	close(target);
	close(fd);
}

/* --- listen(2) ------------------------------------------------------------- */

static void
test_remembered(struct tap *tap)
{
	int fd = bind_to("one", SOCK_STREAM);

	begin();
	writable = false;
	tap_ok(tap,
	    listen_on(fd) == ANSWER_GO_ON && servers.count == 1 &&
		servers.list[0].cookie == cookie_of(fd) &&
		servers.list[0].place == 0 && !is_listening(fd),
	    "a server is remembered, and the call goes on");
	tap_ok(tap, listen_on(fd) == ANSWER_GO_ON && servers.count == 1,
	    "once only");
	begin();
	waits = false;
	tap_ok(tap, listen_on(fd) == -EPERM && servers.count == 0,
	    "not if the caller is gone");
	begin();
	internet = true;
	tap_ok(tap, listen_on(fd) == ANSWER_ELSEWHERE && servers.count == 0,
	    "TCP is judged elsewhere");
	begin();
	tap_ok(tap, listen_on(-EBADF) == -EBADF, "no socket");
	listening.own_network = true;
	tap_ok(tap, listen_on(-EBADF) == ANSWER_GO_ON,
	    "which is the kernel's to say in a network of its own");
	close(fd);
}

static void
test_inside_unix(struct tap *tap)
{
	int fd = bind_to("one", SOCK_STREAM);
	int datagrams = bind_to("two", SOCK_DGRAM);

	begin();
	listening.inside = true;
	writable = false;
	tap_ok(tap, listen_on(fd) == 0 && is_listening(fd),
	    "where TCP is judged, the supervisor listens");
	tap_ok(tap, listen_on(datagrams) == -EOPNOTSUPP,
	    "and says what came of it");
	close(fd);
	close(datagrams);
}

static void
test_room(struct tap *tap)
{
	int fd = bind_to("one", SOCK_STREAM);

	begin();
	writable = false;
	all_there = true;
	for (uint32_t i = 0; i < SERVERS_MAX; i++)
		servers.list[servers.count++].cookie = UINT64_MAX - i;
	tap_ok(tap, listen_on(fd) == -ENOBUFS, "no more than there is room");
	gone = UINT64_MAX - 8;
	tap_ok(tap,
	    listen_on(fd) == ANSWER_GO_ON && servers.count == SERVERS_MAX &&
		servers.list[8].cookie == cookie_of(fd) &&
		servers.list[0].cookie == UINT64_MAX,
	    "a new one takes the room of one that is gone");
	close(fd);
}

/* In a network of its own, what is proved is remembered alone. */
static void
try_proof(struct tap *tap, const char *what, int fd, bool proved)
{
	struct stat status;

	listening.own_network = true;
	tap_ok(tap,
	    listen_on(fd) == ANSWER_GO_ON && servers.count == (proved ? 1 : 0),
	    "%s", what);
	if (proved && stat(leads_to, &status) == 0)
		tap_ok(tap,
		    servers.list[0].place == status.st_ino &&
			servers.list[0].device == status.st_dev,
		    "%s: where it is", what);
	close(fd);
}

static void
test_proofs(struct tap *tap)
{
	struct stat status;
	int fd, other;

	begin();
	try_proof(tap, "a name that leads to the socket",
	    bind_to("one", SOCK_STREAM), true);
	begin();
	listening.view = true;
	try_proof(tap, "and in a view", bind_to("one", SOCK_STREAM), true);
	begin();
	try_proof(tap, "records", bind_to("one", SOCK_SEQPACKET), true);
	begin();
	writable = false;
	try_proof(tap, "what may not be written proves nothing",
	    bind_to("one", SOCK_STREAM), false);
	begin();
	listening.view = true;
	writable = false;
	try_proof(tap, "in a view neither", bind_to("one", SOCK_STREAM), false);
	begin();
	fd = bind_to("one", SOCK_STREAM);
	stat(leads_to, &status);
	know(cookie_of(fd), &status, leads_to);
	try_proof(tap, "what the numbers tell is not proved", fd, false);
	begin();
	fd = bind_to("one", SOCK_STREAM);
	listen(fd, 1);
	try_proof(tap, "one that listens already", fd, false);
	begin();
	fd = bind_to("one", SOCK_STREAM);
	other = bind_to("other", SOCK_STREAM);
	listen(other, 1);
	try_proof(tap, "a name that leads to another socket", fd, false);
	begin();
	fd = bind_to("one", SOCK_STREAM);
	path_to("other", leads_to);
	stranger = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	try_proof(tap, "to which another client comes", fd, false);
	close(stranger);
	stranger = -1;
	close(other);
	begin();
	fd = bind_to("one", SOCK_STREAM);
	unlink(leads_to);
	try_proof(tap, "a name that leads nowhere", fd, false);
	begin();
	try_proof(tap, "a socket without a name",
	    socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), false);
}

/* --- TCP inside ------------------------------------------------------------ */

static void
test_meant(struct tap *tap)
{
	static const struct {
		const char *what;
		uint8_t address[SBX_ADDRESS_SIZE];
		uint8_t last; /* of it afterwards */
		bool is;
	} cases[] = {
		{ "::", { 0 }, 1, true },
		{ "::1", { [15] = 1 }, 1, true },
		{ "::2", { [15] = 2 }, 2, false },
		{ "0.0.0.0", { [10] = 0xff, [11] = 0xff }, 1, true },
		{ "127.0.0.9", { [10] = 0xff, 0xff, 127, 0, 0, 9 }, 9, true },
		{ "128.0.0.1", { [10] = 0xff, 0xff, 128, 0, 0, 1 }, 1, false },
		{ "126.0.0.1", { [10] = 0xff, 0xff, 126, 0, 0, 1 }, 1, false },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct endpoint endpoint;

		memcpy(endpoint.address, cases[i].address, SBX_ADDRESS_SIZE);
		tap_ok(tap,
		    inside_is_meant(&endpoint) == cases[i].is &&
			endpoint.address[15] == cases[i].last,
		    "%s is %s the sandbox's", cases[i].what,
		    cases[i].is ? "" : "not");
	}
}

static int
tcp(int family)
{
	return socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static void
fill_tcp(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		servers.tcp.list[i] = (struct tcp_server){
			.cookie = FIRST_COOKIE + (uint64_t)i,
			.port = (uint16_t)(FIRST_PORT + i),
		};
	}
	servers.tcp.count = count;
}

static void
test_taken(struct tap *tap)
{
	struct endpoint endpoint = { .port = FIRST_PORT };
	int fd = tcp(AF_INET);

	begin();
	tap_ok(tap, inside_is_taken(&caller, &endpoint),
	    "a port that somebody outside serves");
	tap_ok(tap, inside_listen(&caller, fd, &endpoint) == -EADDRINUSE,
	    "nobody inside may listen on it");
	tap_ok(tap, inside_connect(&caller, fd, &endpoint) == -ECONNREFUSED,
	    "nor connect to it");
	fill_tcp(1);
	tap_ok(tap, !inside_is_taken(&caller, &endpoint),
	    "one that the command serves");
	ended = FIRST_PORT;
	tap_ok(tap, !inside_is_taken(&caller, &endpoint),
	    "one that nobody serves");
	tap_ok(tap, inside_connect(&caller, fd, &endpoint) == -ECONNREFUSED,
	    "which is refused");
	close(fd);
}

/* A kernel without keys for TCP has no servers inside. */
static void
test_keys(struct tap *tap, int family)
{
	struct endpoint endpoint = { .port = FIRST_PORT };
	static const uint8_t none[TCP_KEY_SIZE];
	const char *name = family == AF_INET ? "IPv4" : "IPv6";
	uint8_t key[TCP_KEY_SIZE];
	int fd = tcp(family), again = tcp(family);

	begin();
	fill_tcp(1);
	if (inside_connect(&caller, fd, &endpoint) != 0) {
		tap_skip(tap, "no keys of this family", "%s: keys", name);
		close(fd);
		close(again);
		return;
	}
	memcpy(key, servers.tcp.key, sizeof key);
	ended = FIRST_PORT;
	closed = false;
	tap_ok(tap,
	    inside_connect(&caller, again, &endpoint) == 0 &&
		memcmp(key, servers.tcp.key, sizeof key) == 0 &&
		memcmp(key, none, sizeof key) != 0,
	    "%s: one key for all, also for what is connected", name);
	endpoint.port = 0;
	fill_tcp(TCP_SERVERS_MAX);
	ended = 0;
	caller.call.args[1] = 5;
	tap_ok(tap,
	    inside_listen(&caller, again, &endpoint) == -ENOBUFS &&
		!is_listening(again),
	    "%s: what has no room does not listen", name);
	ended = FIRST_PORT + 3;
	tap_ok(tap,
	    inside_listen(&caller, fd, &endpoint) == 0 && is_listening(fd) &&
		servers.tcp.list[3].cookie == cookie_of(fd) &&
		servers.tcp.list[3].port == 80 &&
		servers.tcp.list[0].cookie == FIRST_COOKIE,
	    "%s: it gets that of one that has ended", name);
	tap_ok(tap,
	    inside_listen(&caller, fd, &endpoint) == 0 &&
		servers.tcp.count == TCP_SERVERS_MAX,
	    "%s: and may listen again", name);
	close(fd);
	close(again);
}

static unsigned
open_descriptors(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void
clean(void)
{
	static const char *const names[] = { "place", "stands", "one", "two",
		"other" };
	char path[sizeof leads_to];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		path_to(names[i], path);
		unlink(path);
	}
	rmdir(directory);
}

int
main(void)
{
	struct tap tap = { 0 };
	unsigned before = open_descriptors();

	if (mkdtemp(directory) == NULL) {
		printf("Bail out! %s: %s\n", directory, strerror(errno));
		return 1;
	}
	test_places(&tap);
	test_proved(&tap);
	test_standing(&tap);
	test_remembered(&tap);
	test_inside_unix(&tap);
	test_room(&tap);
	test_proofs(&tap);
	test_meant(&tap);
	test_taken(&tap);
	test_keys(&tap, AF_INET);
	test_keys(&tap, AF_INET6);
	tap_ok(&tap, open_descriptors() == before, "nothing stays open");
	clean();
	return tap_done(&tap);
}
