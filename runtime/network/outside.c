/* What the supervisor does for the ways out: see network.h. */
#include "runtime/network/network.h"

#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "runtime/network/event.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum {
	/* Whoever finds a fault in the proxy must not have many tries. */
	STARTS_MAX = 4,
	/* Records that are taken before the supervisor looks elsewhere. */
	RECORDS_AT_ONCE = 64,
	RECORDS_AT_END = 4096,
	/* For the proxy to say what its last connections moved. */
	LAST_WORDS = 1, /* seconds */
};

enum { WAKE_SOCKETS, WAKE_PROCESS, WAKE_EVENTS, WAKE_TLS, WAKE_TLS_EVENTS };

static void
close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* --- before the namespaces ------------------------------------------------ */

/* On 127.0.0.1 of the host; 0: on a port of the kernel's choice. */
static int
listen_here(uint16_t port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	const int reuse = port != 0;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	/* Connections of an earlier run may still be in TIME_WAIT. */
	if (fd >= 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof reuse) ==
		0 &&
	    bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
	    listen(fd, SOMAXCONN) == 0)
		return above_standard(fd);
	return -1;
}

/* Names the rule, and what to do. */
__attribute__((noreturn)) static void
refuse_published(const struct sbx_blob *blob, uint16_t port, int error)
{
	struct sbx_verdict verdict = sbx_port_verdict(blob, KERNEL_WHERE,
	    SBX_PUBLISH_TCP, port);
	struct out text;

	out_init(&text, -1);
	out_print(&text, "cannot publish port %u: ", (unsigned)port);
	out_text(&text,
	    error == EADDRINUSE ?
		"another program, perhaps another run of this policy, listens "
		"on it on 127.0.0.1; end that, or publish another port" :
		"cannot listen on it on 127.0.0.1");
	refuse_at(blob, blob->ports[verdict.rule].source, text.text, error);
}

static int
publish(const struct sbx_blob *blob, uint16_t port)
{
	int fd = listen_here(port);

	if (fd < 0)
		refuse_published(blob, port, errno);
	return fd;
}

/* NULL: there is none with a path. */
static const char *
users_proxy(const struct binding *binding)
{
	if (binding->proxy_fault != NULL)
		refuse(binding->proxy.len > 0 ? binding->proxy.path :
						"network proxy",
		    binding->proxy_fault, 0);
	if (binding->proxy.len == 0)
		return NULL;
	/* It may come later, and is then found. */
	for (uint32_t i = 0; i < binding->blob->proxy_count; i++) {
		const struct sbx_proxy *proxy = &binding->blob->proxies[i];

		if ((proxy->platforms & KERNEL_WHERE) != 0 &&
		    access(binding->proxy.path, F_OK) != 0)
			warn_at(binding->blob, proxy->source,
			    "the user's own proxy is not there; until it is, "
			    "connections are reset",
			    errno);
	}
	return binding->proxy.path;
}

static void
begin(struct network *network, const struct sbx_blob *blob, size_t size)
{
	network->blob = blob;
	network->size = size;
	network->send = network->receive = network->program = -1;
	network->inside = network->wake = network->process = -1;
	network->events = network->control = network->theirs = -1;
	network->asker = -1;
	tls_none(&network->tls);
}

void
network_prepare(struct network *network, const struct binding *binding,
    size_t size)
{
	const struct sbx_blob *blob = binding->blob;
	int ends[2];

	if (blob->meta->net != SBX_NET_SELECTED &&
	    blob->meta->net != SBX_NET_LOOPBACK)
		return;
	begin(network, blob, size);
	network->count = (uint32_t)sbx_ways(blob, KERNEL_WHERE, network->ways);
	if (network->count == 0)
		return;
	network->path = users_proxy(binding);
	network->program = proxy_open("sbx-proxy", proxy_missing);
	for (uint32_t i = 0; i < network->count; i++) {
		const struct sbx_way *way = &network->ways[i];

		network->sockets[i] = way->kind == SBX_WAY_PUBLISH ?
		    publish(blob, way->port) :
		    -1;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		refuse(NULL, "cannot make a socket pair", errno);
	network->send = above_standard(ends[0]);
	network->receive = above_standard(ends[1]);
}

bool
network_publishes(const struct network *network)
{
	for (uint32_t i = 0; i < network->count; i++) {
		if (network->ways[i].kind == SBX_WAY_PUBLISH)
			return true;
	}
	return false;
}

static void
close_ways(struct network *network)
{
	for (uint32_t i = 0; i < network->count; i++)
		close_one(&network->sockets[i]);
	close_one(&network->wake);
	close_one(&network->inside);
	close_one(&network->program);
	close_one(&network->asker);
}

void
network_forget(struct network *network)
{
	if (network->count == 0)
		return;
	tls_forget(&network->tls);
	close_ways(network);
	close_one(&network->send);
	close_one(&network->receive);
	network->count = 0;
}

/* --- the sockets ---------------------------------------------------------- */

static bool
watch_sockets(struct network *network)
{
	network->wake = epoll_create1(EPOLL_CLOEXEC);
	if (network->wake < 0)
		return false;
	network->wake = above_standard(network->wake);
	for (uint32_t i = 0; i < network->count; i++) {
		struct epoll_event event = { .events = EPOLLIN };

		if (epoll_ctl(network->wake, EPOLL_CTL_ADD, network->sockets[i],
			&event) != 0)
			return false;
	}
	return true;
}

void
network_receive(struct network *network)
{
	struct handing handing;
	uint32_t next = 0;

	if (network->count == 0)
		return;
	close_one(&network->send);
	if (!handing_receive(network->receive, &handing))
		refuse("network",
		    "cannot receive the sockets of the sandbox's network",
		    errno);
	close_one(&network->receive);
	/* The first process has said why. */
	if (handing.count == 0) {
		network_forget(network);
		return;
	}
	if (network_publishes(network))
		network->inside = handing.descriptors[next++];
	for (uint32_t i = 0; i < network->count; i++) {
		if (network->ways[i].kind != SBX_WAY_PUBLISH &&
		    next < handing.count)
			network->sockets[i] = handing.descriptors[next++];
	}
	if (!watch_sockets(network))
		refuse("network",
		    "cannot watch the sockets of the sandbox's network", errno);
}

/* --- level standard ------------------------------------------------------- */

void
network_prepare_host(struct network *network, const struct binding *binding,
    size_t size)
{
	const struct sbx_blob *blob = binding->blob;

	if (!sbx_ways_proxy(blob, KERNEL_WHERE))
		return;
	begin(network, blob, size);
	network->host = true;
	network->count = 1;
	network->ways[0] = (struct sbx_way){ .kind = SBX_WAY_PROXY,
		.port = SBX_PROXY_PORT };
	network->path = users_proxy(binding);
	network->program = proxy_open("sbx-proxy", proxy_missing);
	network->sockets[0] = listen_here(0);
	if (network->sockets[0] < 0 || !watch_sockets(network))
		refuse("network", "cannot listen on 127.0.0.1 for sbx-proxy",
		    errno);
}

uint16_t
network_host_port(const struct network *network)
{
	struct sockaddr_in address = { .sin_port = 0 };
	socklen_t len = sizeof address;

	if (network->count == 0 || network->sockets[0] < 0 ||
	    getsockname(network->sockets[0], (struct sockaddr *)&address,
		&len) != 0)
		return 0;
	return ntohs(address.sin_port);
}

/* Messages may wait there before the proxy runs. */
static bool
open_control(struct network *network)
{
	int ends[2];

	if (network->control >= 0)
		return true;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return false;
	network->control = above_standard(ends[0]);
	network->theirs = above_standard(ends[1]);
	return true;
}

/* One that does not take it asks nobody. */
static void
send_asker(const struct network *network)
{
	char port[2] = { 0, 0 };
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .header = {
			  .cmsg_level = SOL_SOCKET,
			  .cmsg_type = SCM_RIGHTS,
			  .cmsg_len = CMSG_LEN(sizeof(int)),
		      } };
	struct iovec part = { port, sizeof port };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof control,
	};

	memcpy(CMSG_DATA(&control.header), &network->asker, sizeof(int));
	if (network->asker >= 0)
		sendmsg(network->control, &message,
		    MSG_DONTWAIT | MSG_NOSIGNAL);
}

void
network_ask(struct network *network, int asker)
{
	if (network->count == 0 || asker < 0)
		return;
	close_one(&network->asker);
	network->asker = fcntl(asker, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (network->proxy > 0)
		send_asker(network);
}

/* --- the proxy ------------------------------------------------------------ */

static pid_t
start_with(const struct network *network, int policy, int events)
{
	struct proxy_start start = {
		.name = "sbx-proxy",
		.program = network->program,
		.level = network->host ? "standard" : "full",
		.path = network->path,
		.count = network->count,
		.descriptors = {
			[PROXY_POLICY] = policy,
			[PROXY_EVENTS] = events,
			[PROXY_CONTROL] = network->theirs,
			[PROXY_INSIDE] = network->inside,
			[PROXY_TLS] = network->tls.theirs,
		},
	};

	memcpy(start.descriptors + PROXY_SOCKETS, network->sockets,
	    network->count * sizeof *network->sockets);
	return proxy_run(&start);
}

static bool
start_proxy(struct network *network)
{
	int policy = proxy_policy(network->blob->base, network->size);
	int events[2] = { -1, -1 };
	pid_t pid = -1;

	if (policy >= 0 && open_control(network) &&
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, events) == 0)
		pid = start_with(network, policy, events[1]);
	if (pid > 0)
		send_asker(network);
	network->events = events[0];
	if (pid > 0) {
		network->proxy = pid;
		network->process = (int)syscall(SYS_pidfd_open, pid, 0);
	}
	close_one(&policy);
	close_one(&events[1]);
	close_one(&network->theirs);
	return pid > 0 && network->process >= 0;
}

static void
take_records(struct network *network, int from, int most)
{
	struct proxy_event event;
	ssize_t got;

	for (int i = 0; i < most; i++) {
		/* A longer record than ours has another size. */
		got = recv(from, &event, sizeof event,
		    MSG_DONTWAIT | MSG_TRUNC);
		if (got <= 0)
			return;
		decisions_take(&network->decisions, &event, (size_t)got);
		if (network->log != NULL)
			decisions_log(network->log, &event, (size_t)got);
	}
}

/* Its end is asked for; it says what it has not said. */
static void
take_last(struct network *network, int events, int process)
{
	struct pollfd wait[] = {
		{ .fd = events, .events = POLLIN },
		{ .fd = process, .events = POLLIN },
	};

	struct timespec begin, now;

	clock_now(&begin);
	do {
		if (poll(wait, 2, LAST_WORDS * 1000) <= 0 ||
		    wait[0].revents != POLLIN)
			break;
		take_records(network, events, RECORDS_AT_ONCE);
		clock_now(&now);
	} while (now.tv_sec - begin.tv_sec <= LAST_WORDS);
}

/* With all that it has forked.  Until it is waited for, no other process has its
 * number. */
static void
end_proxy(struct network *network)
{
	if (network->proxy > 0) {
		close_one(&network->control);
		take_last(network, network->events, network->process);
		kill(-network->proxy, SIGKILL);
		kill(network->proxy, SIGKILL);
		while (waitpid(network->proxy, NULL, 0) < 0 && errno == EINTR)
			;
		take_records(network, network->events, RECORDS_AT_END);
	}
	network->proxy = 0;
	close_one(&network->process);
	close_one(&network->events);
	close_one(&network->control);
	close_one(&network->theirs);
}

const char network_lost[] =
    "sbx-proxy has ended; the next connection starts it again";
const char network_shut[] =
    "sbx-proxy keeps ending; the network is shut from here on";

static void
shut(struct network *network)
{
	network->shut = true;
	close_ways(network);
}

/*
 * It ended by itself, and its connections with it.  Its sockets are still there,
 * so whoever connects now waits for the next proxy, or, where there is none any
 * more, is refused.
 */
static void
lose_proxy(struct network *network)
{
	end_proxy(network);
	network->losses++;
	if (network->starts < STARTS_MAX) {
		warn_about("network", network_lost, 0);
		return;
	}
	warn_about("network", network_shut, 0);
	shut(network);
}

/* Whoever finds that it has ended before poll(2) says so. */
int
network_announce(struct network *network, uint16_t source)
{
	for (int tries = 0; tries < 2 && network->sockets[0] >= 0; tries++) {
		if (!open_control(network))
			break;
		if (send(network->control, &source, sizeof source,
			MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof source)
			return 0;
		if (errno == EAGAIN)
			return -EAGAIN;
		lose_proxy(network);
	}
	return -ECONNREFUSED;
}

void
network_wait(const struct network *network, struct pollfd wait[NETWORK_WAKES])
{
	bool any = network->count > 0, runs = network->proxy > 0;

	wait[WAKE_SOCKETS] = (struct pollfd){ any && !runs ? network->wake : -1,
		POLLIN, 0 };
	wait[WAKE_PROCESS] = (struct pollfd){ runs ? network->process : -1,
		POLLIN, 0 };
	wait[WAKE_EVENTS] = (struct pollfd){ runs ? network->events : -1,
		POLLIN, 0 };
	wait[WAKE_TLS] = (struct pollfd){ any ? network->tls.process : -1,
		POLLIN, 0 };
	wait[WAKE_TLS_EVENTS] = (struct pollfd){ any ? network->tls.events : -1,
		POLLIN, 0 };
}

void
network_serve(struct network *network, const struct pollfd wait[NETWORK_WAKES])
{
	if (wait[WAKE_EVENTS].revents != 0)
		take_records(network, network->events, RECORDS_AT_ONCE);
	if (wait[WAKE_TLS_EVENTS].revents != 0)
		take_records(network, network->tls.events, RECORDS_AT_ONCE);
	if (wait[WAKE_TLS].revents != 0)
		tls_lost(&network->tls);
	if (wait[WAKE_PROCESS].revents != 0 && network->proxy > 0)
		lose_proxy(network);
	if (wait[WAKE_SOCKETS].revents == 0)
		return;
	network->starts++;
	if (start_proxy(network))
		return;
	warn_about("network",
	    "cannot start sbx-proxy; the network is shut from here on", errno);
	end_proxy(network);
	shut(network);
}

void
network_look(struct network *network)
{
	struct pollfd wait[NETWORK_WAKES];

	network_wait(network, wait);
	if (poll(wait, NETWORK_WAKES, 0) <= 0)
		return;
	if (wait[WAKE_EVENTS].revents != 0)
		take_records(network, network->events, RECORDS_AT_END);
	network_serve(network, wait);
}

void
network_end(struct network *network)
{
	if (network->count == 0)
		return;
	end_proxy(network);
	if (network->tls.process >= 0) {
		close_one(&network->tls.theirs);
		take_last(network, network->tls.events, network->tls.process);
		take_records(network, network->tls.events, RECORDS_AT_END);
	}
	tls_end(&network->tls);
	close_ways(network);
}
