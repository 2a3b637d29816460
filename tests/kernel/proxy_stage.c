/* The two networks and the proxy: see proxy.h. */
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

void
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
	    "options timeout:4 attempts:1\n");
	write_file("/etc/hosts",
	    "11.22.33.44 good.example other.example a.wild.example\n"
	    "11.22.33.44 cdn.example mixed.example\n"
	    "10.9.9.9 private.example mixed.example corp.example\n"
	    "169.254.169.254 meta.example corpmeta.example\n"
	    "127.0.0.1 local.example corplocal.example\n"
	    "100.64.1.1 cgnat.example\n"
	    "fd00:ec2::254 corpaws.example\n"
	    "fd20:ce::254 corpgoogle.example\n"
	    "64:ff9b::a9fe:a9fe corpnat64.example\n"
	    "168.63.129.16 corpazure.example\n"
	    "100.100.100.200 corpalibaba.example\n"
	    "192.0.0.192 corporacle.example\n"
	    "::ffff:10.9.9.9 mapped.example\n"
	    "64:ff9b::a09:909 nat64.example\n"
	    "2002:a09:909::1 sixtofour.example\n"
	    "2a00:1450::1 six.example\n"
	    "11.22.33.44 first.example\n"
	    "11.22.33.45 first.example shut.example\n"
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
	add_local_route("11.22.33.44", 31);
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
	must(becomes(&stage->shared->ready, 2), "the servers");
	return true;
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
	int fds[SBX_MAX_WAYS + 5], events[2], control[2], total = 0;

	must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, events) ==
		    0 &&
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
		    control) == 0,
	    "sockets");
	fds[total++] = memory_file(stage->bytes, stage->size);
	fds[total++] = events[1];
	fds[total++] = control[1];
	fds[total++] = stage->inner;
	/* There is no sbx-tls. */
	fds[total++] = open("/dev/null", O_RDWR | O_CLOEXEC);
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
		if (stage->apart && fork() != 0)
			for (;;)
				pause();
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
