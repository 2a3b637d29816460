/*
 * sbx-proxy: the ways out of a sandbox's network.  sbxrun starts it when
 * somebody inside comes to one of them, and ends it with the sandbox:
 *
 *	sbx-proxy full|standard [PATH]
 *
 * PATH is the socket of the user's own proxy, if the policy has one and does not
 * give it from the root.
 */
#include "runtime/proxy/proxy.h"

#include "runtime/base/kernel.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>

/* --- what is handed over -------------------------------------------------- */

static void
read_policy(struct proxy *proxy)
{
	struct stat status;
	uint8_t *bytes;
	size_t size, used = 0;
	enum sbx_blob_error error;

	if (fstat(FD_BLOB, &status) != 0 || status.st_size <= 0 ||
	    status.st_size > SBX_MAX_SIZE)
		proxy_fail("descriptor 3 is not a policy", errno);
	size = (size_t)status.st_size;
	bytes = malloc(size);
	while (bytes != NULL && used < size) {
		ssize_t count = pread(FD_BLOB, bytes + used, size - used,
		    (off_t)used);

		if (count <= 0)
			proxy_fail("cannot read the policy", errno);
		used += (size_t)count;
	}
	if (bytes == NULL)
		proxy_fail("cannot read the policy", errno);
	error = sbx_verify(bytes, size, &proxy->blob);
	if (error != SBX_BLOB_OK)
		proxy_fail(sbx_blob_strerror(error), 0);
}

static bool
has_names(const struct sbx_way *ways, size_t count)
{
	return count > 0 && ways[0].kind == SBX_WAY_RESOLVER;
}

/* At level standard there is one way, which stands for all. */
static void
find_ways(struct proxy *proxy)
{
	struct sbx_way ways[SBX_MAX_WAYS] = { { 0 } };
	size_t count = sbx_ways(&proxy->blob, KERNEL_WHERE, ways);
	bool names = has_names(ways, count);

	if (!proxy->full) {
		ways[0] = (struct sbx_way){ SBX_PROXY_PORT, SBX_WAY_PROXY };
		count = 1;
	}
	if (count > SBX_MAX_WAYS)
		proxy_fail("the policy has too many ways out", 0);
	proxy->relays = proxy->upstream != NULL && !names;
	proxy->listener_count = count;
	for (size_t i = 0; i < count; i++) {
		struct stat status;
		int fd = FD_WAYS + (int)i;

		if (fstat(fd, &status) != 0 || !S_ISSOCK(status.st_mode))
			proxy_fail("a socket was not handed over", 0);
		proxy->listeners[i].way = ways[i];
		proxy->listeners[i].fd = fd;
	}
}

static void
find_upstream(struct proxy *proxy, const char *path)
{
	const struct sbx_blob *blob = &proxy->blob;

	for (uint32_t i = 0; i < blob->proxy_count; i++) {
		if ((blob->proxies[i].platforms & KERNEL_WHERE) != 0)
			proxy->upstream = &blob->proxies[i];
	}
	if (proxy->upstream == NULL || proxy->upstream->anchor == SBX_NO_ANCHOR)
		return;
	if (path == NULL ||
	    strlen(path) >= sizeof((struct sockaddr_un *)NULL)->sun_path)
		proxy_fail("the path of the proxy's socket is missing, or "
			   "longer than a socket's can be",
		    0);
	proxy->upstream_path = path;
}

/* As many connections as there can be descriptors for. */
static void
raise_descriptors(struct proxy *proxy)
{
	const uint64_t wanted = CONNS_MAX * CONN_DESCRIPTORS + OWN_DESCRIPTORS;
	struct rlimit_pair limit;

	if (limit_process(RLIMIT_NOFILE, NULL, &limit) != 0)
		proxy_fail("cannot ask for the limit of open files", errno);
	limit.soft = limit.hard < wanted ? limit.hard : wanted;
	if (limit.soft < OWN_DESCRIPTORS + CONN_DESCRIPTORS ||
	    limit_process(RLIMIT_NOFILE, &limit, NULL) != 0)
		proxy_fail("cannot have as many files open as are needed",
		    errno);
	proxy->conn_max = (limit.soft - OWN_DESCRIPTORS) / CONN_DESCRIPTORS;
}

static bool
has_published(const struct proxy *proxy)
{
	const size_t last = proxy->listener_count - 1;

	return proxy->listener_count > 0 &&
	    proxy->listeners[last].way.kind == SBX_WAY_PUBLISH;
}

/* --- waiting -------------------------------------------------------------- */

static void
set_time(struct proxy *proxy)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	proxy->now = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void
serve(struct proxy *proxy)
{
	enum { EVENTS = 256 };
	struct epoll_event events[EVENTS];
	int64_t tick = 0;

	for (;;) {
		int wait = proxy->unready ? 0 : proxy->ticks ? TICK : -1;
		int count = epoll_wait(proxy->epoll, events, EVENTS, wait);

		if (count < 0 && errno != EINTR)
			proxy_fail("cannot wait for connections", errno);
		set_time(proxy);
		/* Whatever happened may have to end by a time. */
		proxy->ticks |= count > 0;
		for (int i = 0; i < count; i++) {
			struct source *source = events[i].data.ptr;

			source->ready(proxy, source, events[i].events);
		}
		if (proxy->now >= tick) {
			tick = proxy->now + TICK;
			conns_tick(proxy);
		}
		conns_sweep(proxy);
	}
}

static void
start(struct proxy *proxy)
{
	proxy->fakes = fakes_new();
	proxy->told = proxy->full ? NULL : calloc(UINT16_MAX + 1, 4);
	proxy->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (proxy->fakes == NULL || (!proxy->full && proxy->told == NULL) ||
	    proxy->epoll < 0)
		proxy_fail("cannot start", errno);
	if (has_published(proxy) && !inside_start(proxy))
		proxy_fail("cannot reach into the sandbox's network", errno);
	if (!lookup_start(proxy))
		proxy_fail("cannot start to look names up", errno);
	/* Nobody but who makes sockets there needs the way into it. */
	close(FD_INSIDE);
	confine_process(proxy->upstream_path != NULL ? CONFINED_RELAY_PATH :
						       CONFINED_RELAY);
	set_time(proxy);
	if (!events_start(proxy) || !accept_start(proxy))
		proxy_fail("cannot wait for connections", errno);
}

int
main(int argc, char **argv)
{
	struct proxy *proxy = calloc(1, sizeof *proxy);
	pid_t parent = getppid();

	if (argc < 2 || argc > 3 || proxy == NULL ||
	    (strcmp(argv[1], "full") != 0 && strcmp(argv[1], "standard") != 0))
		proxy_fail("sbxrun starts this program", 0);
	proxy->full = strcmp(argv[1], "full") == 0;
	end_with_parent(parent);
	signal(SIGPIPE, SIG_IGN);
	read_policy(proxy);
	find_upstream(proxy, argc > 2 ? argv[2] : NULL);
	find_ways(proxy);
	raise_descriptors(proxy);
	start(proxy);
	serve(proxy);
}
