/* The two networks, the policy and the proxy: see proxy.h. */
#include "tests/kernel/proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void
must(bool held, const char *what)
{
	if (held)
		return;
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(99);
}

static void
write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	must(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text),
	    path);
	close(fd);
}

/* --- networks ---------------------------------------------------------------- */

static void
set_up_loopback(void)
{
	struct ifreq request = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	request.ifr_flags = IFF_UP;
	must(fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &request) == 0, "lo");
	close(fd);
}

/* All addresses of a network are the machine's own. */
static void
add_local_route(const char *address, uint8_t prefix)
{
	struct {
		struct nlmsghdr header;
		struct rtmsg route;
		char room[64];
	} message = { .header = { .nlmsg_type = RTM_NEWROUTE } };
	bool v6 = strchr(address, ':') != NULL;
	uint8_t bytes[16];
	uint32_t lo = if_nametoindex("lo");
	size_t size = v6 ? 16 : 4, used = NLMSG_LENGTH(sizeof(struct rtmsg));
	struct rtattr *attribute;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	inet_pton(v6 ? AF_INET6 : AF_INET, address, bytes);
	message.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE;
	message.route = (struct rtmsg){
		.rtm_family = v6 ? AF_INET6 : AF_INET,
		.rtm_dst_len = prefix,
		.rtm_table = RT_TABLE_LOCAL,
		.rtm_protocol = RTPROT_STATIC,
		.rtm_scope = RT_SCOPE_HOST,
		.rtm_type = RTN_LOCAL,
	};
	attribute = (void *)((char *)&message + used);
	attribute->rta_type = RTA_DST;
	attribute->rta_len = (unsigned short)RTA_LENGTH(size);
	memcpy(RTA_DATA(attribute), bytes, size);
	used += RTA_SPACE(size);
	attribute = (void *)((char *)&message + used);
	attribute->rta_type = RTA_OIF;
	attribute->rta_len = RTA_LENGTH(sizeof lo);
	memcpy(RTA_DATA(attribute), &lo, sizeof lo);
	used += RTA_SPACE(sizeof lo);
	message.header.nlmsg_len = (uint32_t)used;
	must(fd >= 0 && send(fd, &message, used, 0) == (ssize_t)used,
	    "a route");
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
		char room[128];
	} answer;
	must(recv(fd, &answer, sizeof answer, 0) > 0, "a route");
	errno = -answer.error.error;
	must(answer.error.error == 0, "a route");
	close(fd);
}

/* What the outside knows of names, with nothing of the machine's own. */
static void
make_settings(void)
{
	must(mount("none", "/etc", "tmpfs", 0, NULL) == 0, "/etc");
	write_file("/etc/nsswitch.conf", "hosts: files dns\n");
	write_file("/etc/host.conf", "multi on\n");
	write_file("/etc/resolv.conf",
	    "nameserver 127.0.0.53\nsearch evil.example\n"
	    "options timeout:1 attempts:1\n");
	write_file("/etc/hosts",
	    "11.22.33.44 good.example other.example a.wild.example\n"
	    "11.22.33.44 cdn.example mixed.example\n"
	    "10.9.9.9 private.example mixed.example corp.example\n"
	    "169.254.169.254 meta.example corpmeta.example\n"
	    "127.0.0.1 local.example corplocal.example\n"
	    "100.64.1.1 cgnat.example\n"
	    "fd00:ec2::254 corpaws.example\n"
	    "fd20:ce::254 corpgoogle.example\n"
	    "168.63.129.16 corpazure.example\n"
	    "100.100.100.200 corpalibaba.example\n"
	    "192.0.0.192 corporacle.example\n"
	    "::ffff:10.9.9.9 mapped.example\n"
	    "64:ff9b::a09:909 nat64.example\n"
	    "2002:a09:909::1 sixtofour.example\n"
	    "2a00:1450::1 six.example\n"
	    "11.22.33.99 dead.example half.example\n"
	    "11.22.33.44 half.example\n"
	    "11.22.33.44 found.evil.example\n");
}

static bool
own_outside(void)
{
	char map[64];
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int flags = CLONE_NEWNET | CLONE_NEWNS;

	if (unshare(uid == 0 ? flags : flags | CLONE_NEWUSER) != 0)
		return false;
	if (uid != 0) {
		write_file("/proc/self/setgroups", "deny");
		snprintf(map, sizeof map, "0 %u 1", uid);
		write_file("/proc/self/uid_map", map);
		snprintf(map, sizeof map, "0 %u 1", gid);
		write_file("/proc/self/gid_map", map);
	}
	must(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0, "/");
	make_settings();
	set_up_loopback();
	add_local_route("11.22.33.44", 32);
	add_local_route("10.9.9.8", 31);
	add_local_route("169.254.169.254", 32);
	add_local_route("100.64.1.1", 32);
	add_local_route("fd00:ec2::254", 128);
	add_local_route("fd20:ce::254", 128);
	add_local_route("168.63.129.16", 32);
	add_local_route("100.100.100.200", 32);
	add_local_route("192.0.0.192", 32);
	add_local_route("64:ff9b::", 96);
	add_local_route("2002::", 16);
	add_local_route("2a00:1450::1", 128);
	return true;
}

/* A process whose network is the inside, in a user namespace of its own as a
 * sandbox has one. */
static pid_t
start_keeper(int ready)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	must(unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0, "the inside");
	set_up_loopback();
	add_local_route("198.18.0.0", 15);
	add_local_route("10.2.0.0", 16);
	must(write(ready, "r", 1) == 1, "the inside");
	for (;;)
		pause();
}

static pid_t
start_server(struct stage *stage, void (*serve)(struct shared *))
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(stage->shared);
	}
	return pid;
}

bool
stage_open(struct stage *stage)
{
	char path[64], byte;
	int ready[2];

	signal(SIGPIPE, SIG_IGN);
	stage->shared = mmap(NULL, sizeof *stage->shared,
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!own_outside())
		return false;
	stage->outside = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	must(pipe2(ready, O_CLOEXEC) == 0, "a pipe");
	stage->keeper = start_keeper(ready[1]);
	close(ready[1]);
	must(read(ready[0], &byte, 1) == 1, "the inside");
	close(ready[0]);
	snprintf(path, sizeof path, "/proc/%d/ns/net", stage->keeper);
	stage->inside = open(path, O_RDONLY | O_CLOEXEC);
	stage->inner = (int)syscall(434 /* pidfd_open */, stage->keeper, 0);
	must(stage->outside >= 0 && stage->inside >= 0 && stage->inner >= 0,
	    "the networks");
	stage->servers = start_server(stage, serve_all);
	stage->dns = start_server(stage, serve_dns);
	/* Whoever is asked first must be there. */
	for (int i = 0; i < 500; i++) {
		int fd = dial_outside(stage, "11.22.33.44", PORT_SINK);

		if (fd >= 0) {
			close(fd);
			return true;
		}
		usleep(10000);
	}
	must(false, "the servers");
	return false;
}

void
stage_close(struct stage *stage)
{
	const pid_t all[] = { stage->keeper, stage->servers, stage->dns };

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		kill(all[i], SIGKILL);
		waitpid(all[i], NULL, 0);
	}
	free(stage->bytes);
}

/* --- the policy: a blob of sbxc's, with more sections ------------------------- */

static uint8_t *
compile(size_t *size)
{
	const char *sbxc = getenv("SBXC"), *srcdir = getenv("srcdir");
	char command[1024];
	uint8_t *bytes = malloc(SBX_MAX_SIZE);
	FILE *stream;

	snprintf(command, sizeof command,
	    "exec '%s' '%s/tests/golden/ok/loopback.sbx' -o -",
	    sbxc != NULL ? sbxc : "build/sbxc", srcdir != NULL ? srcdir : ".");
	stream = popen(command, "r");
	must(stream != NULL && bytes != NULL, "sbxc");
	*size = fread(bytes, 1, SBX_MAX_SIZE, stream);
	must(pclose(stream) == 0 && *size > 0, "sbxc");
	return bytes;
}

struct layout_of {
	uint8_t *bytes;
	size_t used;
	struct sbx_section *table;
	uint32_t count;
};

static void *
put_section(struct layout_of *new, uint32_t kind, uint32_t flags,
    const void *bytes, size_t size)
{
	void *at = new->bytes + new->used;

	new->table[new->count++] = (struct sbx_section){
		.kind = kind,
		.flags = flags,
		.offset = (uint32_t) new->used,
		.size = (uint32_t)size,
	};
	memcpy(at, bytes, size);
	new->used = (new->used + size + 7) / 8 * 8;
	return at;
}

struct records {
	char strings[1 << 18];
	size_t strings_used;
	struct sbx_name names[512];
	struct sbx_endpoint endpoints[64];
	struct sbx_port ports[64];
	size_t name_count, endpoint_count, port_count;
	uint32_t upstream; /* the string of a proxy's path */
};

static int
compare_names(const void *a, const void *b, void *strings)
{
	return strcmp((char *)strings + ((const struct sbx_name *)a)->name,
	    (char *)strings + ((const struct sbx_name *)b)->name);
}

static int
compare_ports(const void *a, const void *b)
{
	const struct sbx_port *left = a, *right = b;

	return left->op != right->op ? left->op - right->op :
				       left->low - right->low;
}

static void
add_rule(struct records *records, const struct rule *rule)
{
	if (rule->name != NULL) {
		size_t len = strlen(rule->name) + 1;

		records->names[records->name_count++] = (struct sbx_name){
			.name = (uint32_t)records->strings_used,
			.source = SBX_NO_SOURCE,
			.port = rule->port,
			.effect = rule->effect,
			.flags = rule->flags,
			.platforms = SBX_ON_LINUX,
		};
		memcpy(records->strings + records->strings_used, rule->name,
		    len);
		records->strings_used += len;
	} else if (rule->address != NULL) {
		struct sbx_endpoint endpoint = {
			.address = { [10] = 0xff, [11] = 0xff },
			.source = SBX_NO_SOURCE,
			.low = rule->port,
			.high = rule->port,
			.prefix = 128,
			.effect = rule->effect,
			.platforms = SBX_ON_LINUX,
		};

		inet_pton(AF_INET, rule->address, endpoint.address + 12);
		records->endpoints[records->endpoint_count++] = endpoint;
	} else {
		records->ports[records->port_count++] = (struct sbx_port){
			.low = rule->port,
			.high = rule->port,
			.effect = rule->effect,
			.op = rule->op,
			.platforms = SBX_ON_LINUX,
			.source = SBX_NO_SOURCE,
		};
	}
}

static void
put_records(struct layout_of *new, struct records *records,
    const struct sbx_proxy *upstream)
{
	if (records->name_count > 0)
		put_section(new, SBX_SECTION_NAMES, SBX_CRITICAL,
		    records->names,
		    records->name_count * sizeof *records->names);
	if (records->endpoint_count > 0)
		put_section(new, SBX_SECTION_ENDPOINTS, SBX_CRITICAL,
		    records->endpoints,
		    records->endpoint_count * sizeof *records->endpoints);
	if (upstream != NULL) {
		struct sbx_proxy *put = put_section(new, SBX_SECTION_PROXY,
		    SBX_CRITICAL, upstream, sizeof *upstream);

		if (put->anchor == SBX_ANCHOR_ROOT)
			put->suffix = records->upstream;
	}
}

void
policy_make(struct stage *stage, const struct rule *rules, size_t count,
    const struct sbx_proxy *upstream)
{
	size_t size;
	uint8_t *old = compile(&size);
	struct sbx_header *header = (void *)old;
	struct sbx_section *table = (void *)(old + sizeof *header);
	struct records *records = calloc(1, sizeof *records);
	struct layout_of new = {
		.bytes = calloc(1, SBX_MAX_SIZE),
		.used = sizeof *header + 24 * sizeof *table,
	};
	bool ports_put = false;

	must(records != NULL && new.bytes != NULL, "memory");
	new.table = (void *)(new.bytes + sizeof *header);
	memcpy(records->strings, old + table[1].offset, table[1].size);
	records->strings_used = table[1].size;
	records->upstream = (uint32_t)records->strings_used;
	strcpy(records->strings + records->strings_used, UPSTREAM_PATH);
	records->strings_used += sizeof UPSTREAM_PATH;
	for (size_t i = 0; i < count; i++)
		add_rule(records, &rules[i]);
	qsort_r(records->names, records->name_count, sizeof *records->names,
	    compare_names, records->strings);
	qsort(records->ports, records->port_count, sizeof *records->ports,
	    compare_ports);
	for (uint32_t i = 0; i < header->section_count; i++) {
		const void *bytes = old + table[i].offset;
		size_t len = table[i].size;
		struct sbx_meta *meta;

		if (!ports_put && table[i].kind >= SBX_SECTION_PORTS) {
			ports_put = true;
			if (records->port_count > 0)
				put_section(&new, SBX_SECTION_PORTS,
				    SBX_CRITICAL, records->ports,
				    records->port_count *
					sizeof *records->ports);
		}
		if (table[i].kind == SBX_SECTION_STRINGS) {
			bytes = records->strings;
			len = records->strings_used;
		}
		meta = put_section(&new, table[i].kind, table[i].flags, bytes,
		    len);
		if (table[i].kind == SBX_SECTION_META)
			meta->net = SBX_NET_SELECTED;
		if (table[i].kind == SBX_SECTION_ANCHORS && upstream != NULL &&
		    upstream->anchor == SBX_ANCHOR_ROOT)
			((struct sbx_anchor *)(void *)meta)->flags |=
			    SBX_ANCHOR_USED;
	}
	put_records(&new, records, upstream);
	/* The table must end where the first section begins. */
	size_t first = (sizeof *header + new.count * sizeof *table + 7) / 8 * 8,
	       shift = sizeof *header + 24 * sizeof *table - first;
	memmove(new.bytes + first, new.bytes + first + shift, new.used - first);
	for (uint32_t i = 0; i < new.count; i++)
		new.table[i].offset -= (uint32_t)shift;
	new.used -= shift;
	/* The last section ends without padding. */
	*(struct sbx_header *)(void *)new.bytes = *header;
	header = (void *)new.bytes;
	header->section_count = new.count;
	header->size = (uint32_t) new.used;
	header->crc = sbx_checksum(new.bytes, new.used);
	free(stage->bytes);
	free(old);
	free(records);
	stage->bytes = new.bytes;
	stage->size = new.used;
	enum sbx_blob_error error = sbx_verify(new.bytes, new.used,
	    &stage->blob);
	if (error != SBX_BLOB_OK) {
		printf("Bail out! the policy: %s\n", sbx_blob_strerror(error));
		exit(99);
	}
}

/* --- the proxy ---------------------------------------------------------------- */

int
socket_in(const struct stage *stage, int network, int family, int type)
{
	int fd;

	must(setns(network, CLONE_NEWNET) == 0, "setns");
	fd = socket(family, type | SOCK_CLOEXEC, 0);
	must(setns(stage->outside, CLONE_NEWNET) == 0, "setns");
	return fd;
}

/* The socket of a way, as the loader makes it. */
static int
open_way(const struct stage *stage, const struct sbx_way *way)
{
	bool datagram = way->kind == SBX_WAY_RESOLVER;
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(way->port),
		.sin_addr.s_addr = htonl(
		    way->kind == SBX_WAY_PORT ? INADDR_ANY : INADDR_LOOPBACK),
	};
	int on = 1;
	int fd = socket_in(stage,
	    way->kind == SBX_WAY_PUBLISH ? stage->outside : stage->inside,
	    AF_INET, datagram ? SOCK_DGRAM : SOCK_STREAM);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	must(bind(fd, (void *)&address, sizeof address) == 0 &&
		(datagram || listen(fd, SOMAXCONN) == 0),
	    "a way");
	return fd;
}

static int
memory_file(const void *bytes, size_t size)
{
	int fd = memfd_create("policy", MFD_CLOEXEC);

	must(fd >= 0 && write(fd, bytes, size) == (ssize_t)size, "the policy");
	return fd;
}

void
proxy_begin(struct stage *stage, const char *level, const char *path)
{
	struct sbx_way ways[SBX_MAX_WAYS];
	size_t count = sbx_ways(&stage->blob, SBX_ON_LINUX, ways);
	int fds[SBX_MAX_WAYS + 4], events[2], control[2], total = 0;

	must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, events) ==
		    0 &&
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
		    control) == 0,
	    "sockets");
	fds[total++] = memory_file(stage->bytes, stage->size);
	fds[total++] = events[1];
	fds[total++] = control[1];
	fds[total++] = stage->inner;
	if (strcmp(level, "standard") == 0) {
		/* In the host's network, on any port. */
		count = 0;
		stage->listener = open_way(stage,
		    &(struct sbx_way){ .kind = SBX_WAY_PUBLISH });
		fds[total++] = dup(stage->listener);
	}
	for (size_t i = 0; i < count; i++)
		fds[total++] = open_way(stage, &ways[i]);
	fflush(stdout);
	stage->proxy = fork();
	if (stage->proxy == 0) {
		for (int i = 0; i < total; i++)
			fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 200);
		for (int i = 0; i < total; i++)
			dup2(fds[i], 3 + i);
		execl(stage->proxy_path, "sbx-proxy", level, path, NULL);
		_exit(127);
	}
	for (int i = 0; i < total; i++) {
		if (fds[i] != stage->inner && fds[i] != stage->inside)
			close(fds[i]);
	}
	stage->events = events[0];
	stage->control = control[0];
}

int
proxy_end(struct stage *stage)
{
	int status = 0;

	close(stage->control);
	close(stage->events);
	waitpid(stage->proxy, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* --- clients ------------------------------------------------------------------ */

static int
dial_in(const struct stage *stage, int network, const char *text, uint16_t port)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct timeval limit = { .tv_sec = 30 };
	int fd = socket_in(stage, network, AF_INET, SOCK_STREAM);

	inet_pton(AF_INET, text, &v4.sin_addr);
	v4.sin_port = htons(port);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
	if (connect(fd, (void *)&v4, sizeof v4) == 0)
		return fd;
	close(fd);
	return -1;
}

int
dial(const struct stage *stage, const char *address, uint16_t port)
{
	return dial_in(stage, stage->inside, address, port);
}

int
dial_outside(const struct stage *stage, const char *address, uint16_t port)
{
	return dial_in(stage, stage->outside, address, port);
}

bool
send_all(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len > 0) {
		ssize_t count = send(fd, at, len, MSG_NOSIGNAL);

		if (count <= 0)
			return false;
		at += count;
		len -= (size_t)count;
	}
	return true;
}

size_t
read_all(int fd, char *bytes, size_t wanted, bool *reset)
{
	size_t used = 0;

	if (reset != NULL)
		*reset = false;
	while (used < wanted) {
		ssize_t count = recv(fd, bytes + used, wanted - used, 0);

		if (count < 0 && reset != NULL)
			*reset = errno == ECONNRESET;
		if (count <= 0)
			break;
		used += (size_t)count;
	}
	return used;
}

static size_t
make_query(const char *name, uint16_t type, uint8_t query[600])
{
	static const uint8_t header[] = { 0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0,
		0 };
	size_t used = sizeof header;

	memcpy(query, header, sizeof header);
	while (*name != '\0') {
		size_t len = strcspn(name, ".");

		query[used++] = (uint8_t)len;
		memcpy(query + used, name, len);
		used += len;
		name += len + (name[len] == '.');
	}
	query[used++] = 0;
	query[used++] = (uint8_t)(type >> 8);
	query[used++] = (uint8_t)type;
	query[used++] = 0;
	query[used++] = 1;
	return used;
}

int
ask(const struct stage *stage, const char *name, uint16_t type,
    char address[64])
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(53),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct timeval limit = { .tv_sec = 20 };
	uint8_t query[600], answer[600];
	size_t used = make_query(name, type, query);
	int fd = socket_in(stage, stage->inside, AF_INET, SOCK_DGRAM);
	ssize_t len;

	*address = '\0';
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	sendto(fd, query, used, 0, (void *)&to, sizeof to);
	len = recv(fd, answer, sizeof answer, 0);
	close(fd);
	if (len < 12 || memcmp(answer, query, 2) != 0)
		return -1;
	if (answer[7] == 1)
		inet_ntop(AF_INET, answer + len - 4, address, 64);
	return answer[3] & 15;
}

int
dial_name(const struct stage *stage, const char *name, uint16_t port)
{
	char address[64];

	if (ask(stage, name, 1, address) != 0 || *address == '\0')
		return -1;
	return dial(stage, address, port);
}

bool
saw(const struct stage *stage, enum proxy_via via, enum proxy_verdict verdict,
    const char *name)
{
	struct proxy_event event;
	struct pollfd wait = { .fd = stage->events, .events = POLLIN };

	while (poll(&wait, 1, 20000) > 0 &&
	    recv(stage->events, &event, sizeof event, 0) == sizeof event) {
		if (event.version == PROXY_EVENT_VERSION && event.via == via &&
		    event.verdict == verdict && strcmp(event.name, name) == 0)
			return true;
		printf("# event: via %u verdict %u port %u name %s\n",
		    event.via, event.verdict, event.port, event.name);
	}
	return false;
}

void
forget_events(const struct stage *stage)
{
	struct proxy_event event;

	while (recv(stage->events, &event, sizeof event, MSG_DONTWAIT) > 0)
		;
}
