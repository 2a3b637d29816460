/*
 * What the supervisor does about sbx-proxy (runtime/network/outside.c): when it is
 * started and how often, who is announced to it, and what becomes of its records.
 * The proxy is a process of this test.
 */
#include "runtime/base/kernel.h"
#include "runtime/network/event.h"
#include "runtime/network/network.h"
#include "tests/lib/tap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RECORDS = 3, STARTS = 4, LONGER = 8 };

static bool ends_at_once;
static unsigned taken, longer; /* records, and those that are no record */

int
proxy_open(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int
proxy_policy(const void *bytes, size_t size)
{
	(void)bytes;
	(void)size;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static int handed; /* how many the first process hands over */
static struct handing handing_of;

bool
handing_receive(int socket, struct handing *handing)
{
	(void)socket;
	handing_of.count = (uint32_t)handed;
	for (int i = 0; i < handed; i++)
		handing_of.descriptors[i] = eventfd(0, EFD_CLOEXEC);
	*handing = handing_of;
	return true;
}

static int logged;
static struct proxy_start started; /* the last one */

void
decisions_take(struct decisions *decisions, const struct proxy_event *event,
    size_t size)
{
	(void)decisions;
	taken += size == sizeof *event;
	longer += size == sizeof *event + LONGER;
}

void
decisions_log(struct decision_log *log, const struct proxy_event *event,
    size_t size)
{
	(void)log;
	(void)event;
	(void)size;
	logged++;
}

/* Says what it has to say, and stays or ends. */
static void
be_proxy(const struct proxy_start *start, int ready)
{
	static const char record[sizeof(struct proxy_event) + LONGER];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!ends_at_once) {
		for (int i = 0; i < RECORDS; i++)
			send(start->descriptors[PROXY_EVENTS], record,
			    sizeof(struct proxy_event), 0);
		send(start->descriptors[PROXY_EVENTS], record, sizeof record,
		    0);
	}
	if (write(ready, "r", 1) != 1 || ends_at_once)
		_exit(0);
	for (;;)
		pause();
}

pid_t
proxy_run(const struct proxy_start *start)
{
	int ready[2];
	char byte;
	pid_t pid;

	started = *start;
	fflush(stdout);
	if (pipe2(ready, O_CLOEXEC) != 0)
		return -1;
	pid = fork();
	if (pid == 0)
		be_proxy(start, ready[1]);
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		printf("Bail out! no proxy\n");
	close(ready[0]);
	return pid;
}

/* --- the stage ------------------------------------------------------------- */

static const struct sbx_meta meta = { .net = SBX_NET_SELECTED };
static const struct sbx_name name = {
	.effect = SBX_ALLOW,
	.platforms = KERNEL_WHERE,
};
static const struct sbx_blob blob = {
	.meta = &meta,
	.names = &name,
	.name_count = 1,
};
static struct network network;

static void
begin(void)
{
	const struct binding binding = { .blob = &blob };

	memset(&network, 0, sizeof network);
	network_prepare_host(&network, &binding, 0);
	ends_at_once = false;
	taken = longer = 0;
}

static int
dial(void)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(network_host_port(&network)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Waits for what it would wait for, and does it. */
static void
turn(void)
{
	struct pollfd wait[NETWORK_WAKES];

	network_wait(&network, wait);
	poll(wait, NETWORK_WAKES, -1);
	network_serve(&network, wait);
}

/* --- the cases ------------------------------------------------------------- */

static void
test_place(struct tap *tap)
{
	struct sockaddr_in at = { .sin_port = 0 };
	socklen_t len = sizeof at;

	begin();
	getsockname(network.sockets[0], (struct sockaddr *)&at, &len);
	tap_ok(tap,
	    at.sin_addr.s_addr == htonl(INADDR_LOOPBACK) &&
		network_host_port(&network) == ntohs(at.sin_port) &&
		at.sin_port != 0,
	    "it is reached from this machine alone");
	network_end(&network);
	tap_ok(tap, network_host_port(&network) == 0, "and not in the end");
}

/* Whoever comes when there is no room is to come again. */
static void
test_announce(struct tap *tap)
{
	int error = 0, control;

	begin();
	tap_ok(tap, network_announce(&network, 1) == 0,
	    "who comes before it runs is announced");
	control = network.control;
	for (int i = 0; i < 100000 && error == 0; i++)
		error = network_announce(&network, 2);
	tap_ok(tap,
	    error == -EAGAIN && network.losses == 0 &&
		network.control == control,
	    "until there is no room");
	network_end(&network);
	tap_ok(tap, network_announce(&network, 1) == -ECONNREFUSED,
	    "and nobody in the end");
}

static void
test_records(struct tap *tap)
{
	int client;

	begin();
	client = dial();
	turn();
	tap_ok(tap,
	    network.proxy > 0 && network.starts == 1 && network.theirs == -1 &&
		network.control >= 0,
	    "who connects starts it, and it alone has its end");
	network_end(&network);
	tap_ok(tap, taken == RECORDS && longer == 1 && network.proxy == 0,
	    "what it has said is taken when it is ended");
	close(client);
}

/* Of each way its socket, but of what is published ours. */
static void
test_received(struct tap *tap)
{
	static const uint8_t kinds[] = { SBX_WAY_RESOLVER, SBX_WAY_PORT,
		SBX_WAY_PUBLISH, SBX_WAY_PUBLISH };
	enum { WAYS = sizeof kinds };

	for (int handed_over = 0; handed_over < 2; handed_over++) {
		int before = tap_descriptors(), own;
		bool right;

		begin();
		network_end(&network);
		network.count = WAYS;
		for (int i = 0; i < WAYS; i++) {
			network.ways[i].kind = kinds[i];
			network.sockets[i] = -1;
		}
		own = network.sockets[2] = eventfd(0, EFD_CLOEXEC);
		network.sockets[3] = eventfd(0, EFD_CLOEXEC);
		network.send = eventfd(0, EFD_CLOEXEC);
		network.receive = eventfd(0, EFD_CLOEXEC);
		handed = handed_over ? 3 : 0;
		network_receive(&network);
		right = network.inside == handing_of.descriptors[0] &&
		    network.sockets[0] == handing_of.descriptors[1] &&
		    network.sockets[1] == handing_of.descriptors[2] &&
		    network.sockets[2] == own && network.wake >= 0;
		tap_ok(tap,
		    network.send == -1 && network.receive == -1 &&
			(handed_over ?
				right && network.count == WAYS :
				network.count == 0 && network.wake == -1),
		    "%d sockets come", handed);
		network_forget(&network);
		tap_ok(tap, tap_descriptors() == before,
		    "and nothing of them is left");
	}
}

/* What it is told, and what is kept of what it says. */
static void
test_started(struct tap *tap)
{
	static struct decision_log log;
	int client;

	for (int logs = 0; logs < 2; logs++) {
		begin();
		logged = 0;
		network.log = logs ? &log : NULL;
		client = dial();
		turn();
		tap_ok(tap,
		    started.program == network.program &&
			strcmp(started.level, "standard") == 0 &&
			started.path == NULL && started.count == 1 &&
			started.descriptors[PROXY_INSIDE] == -1 &&
			started.descriptors[PROXY_SOCKETS] ==
			    network.sockets[0] &&
			started.descriptors[PROXY_POLICY] > 2 &&
			started.descriptors[PROXY_EVENTS] > 2 &&
			started.descriptors[PROXY_CONTROL] > 2,
		    "it gets what it needs");
		network_look(&network);
		tap_ok(tap,
		    taken == RECORDS && longer == 1 &&
			logged == (logs ? RECORDS + 1 : 0) && network.proxy > 0,
		    "what it has said is taken while it runs: %d", logs);
		network.count = 2;
		network.host = false;
		network.path = "/p";
		kill(network.proxy, SIGKILL);
		waitid(P_PID, (id_t)network.proxy, &(siginfo_t){ 0 },
		    WEXITED | WNOWAIT);
		turn();
		network.sockets[1] = -1;
		turn();
		tap_ok(tap,
		    strcmp(started.level, "full") == 0 && started.count == 2 &&
			strcmp(started.path, "/p") == 0 && network.losses == 1,
		    "and so does the next one");
		network_end(&network);
		close(client);
	}
}

/* It is not known yet that it has ended. */
static void
test_lost(struct tap *tap)
{
	int client;

	begin();
	ends_at_once = true;
	client = dial();
	turn();
	waitid(P_PID, (id_t)network.proxy, &(siginfo_t){ 0 },
	    WEXITED | WNOWAIT);
	tap_ok(tap,
	    network_announce(&network, 1) == 0 && network.losses == 1 &&
		network.proxy == 0,
	    "who comes when it has ended is announced to the next one");
	network_end(&network);
	close(client);
}

/* One connection that nobody takes is enough. */
static void
test_starts(struct tap *tap)
{
	int client;

	begin();
	ends_at_once = true;
	client = dial();
	for (unsigned i = 1; i <= STARTS; i++) {
		tap_ok(tap, !network.shut && network.sockets[0] >= 0,
		    "start %u is one", i);
		while (network.starts < i && !network.shut)
			turn();
		while (network.losses < i && !network.shut)
			turn();
	}
	tap_ok(tap,
	    network.shut && network.sockets[0] == -1 && network.wake == -1 &&
		network_announce(&network, 1) == -ECONNREFUSED,
	    "then the network is shut");
	network_end(&network);
	close(client);
}

int
main(void)
{
	struct tap tap = { 0 };

	test_place(&tap);
	test_announce(&tap);
	test_records(&tap);
	test_received(&tap);
	test_started(&tap);
	test_lost(&tap);
	test_starts(&tap);
	return tap_done(&tap);
}
