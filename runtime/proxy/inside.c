/*
 * A process of ours in the sandbox's network, for published ports: it makes a
 * socket there whenever it is asked, and hands it out.  A socket stays in the
 * network in which it was made.  The process sees no byte from anybody but the
 * proxy, and nothing inside can see it, because it stays in the outer PID
 * namespace.
 */
#include "runtime/proxy/proxy.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_TIME = 2000 };
#define NS_GET_USERNS _IO(0xb7, 1)

union control {
	struct cmsghdr header;
	char room[CMSG_SPACE(sizeof(int))];
};

/* The descriptor is a process's or that of the network itself. */
static void
enter_network(void)
{
	int user;

	/* Root may have made it without a user namespace. */
	if (setns(FD_INSIDE, CLONE_NEWNET) == 0 ||
	    setns(FD_INSIDE, CLONE_NEWUSER | CLONE_NEWNET) == 0)
		return;
	user = ioctl(FD_INSIDE, NS_GET_USERNS);
	if (user < 0 || setns(user, CLONE_NEWUSER) != 0 ||
	    setns(FD_INSIDE, CLONE_NEWNET) != 0)
		proxy_fail("cannot enter the sandbox's network", errno);
	close(user);
}

/* An answer without a descriptor is an errno. */
static bool
hand_out(int socket, int made, int error)
{
	union control control = { .room = { 0 } };
	struct iovec data = { &error, sizeof error };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };
	struct cmsghdr *header;

	if (made >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof control;
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof made);
		memcpy(CMSG_DATA(header), &made, sizeof made);
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL) == sizeof error;
}

static void
inside_serve(int channel)
{
	int family, made;

	enter_network();
	close(FD_INSIDE);
	confine_process(CONFINED_INSIDE);
	while (recv(channel, &family, sizeof family, 0) == sizeof family) {
		made = socket(family,
		    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (!hand_out(channel, made, made < 0 ? errno : 0))
			break;
		if (made >= 0)
			close(made);
	}
	_exit(0);
}

bool
inside_start(struct proxy *proxy)
{
	int ends[2];

	proxy->inside = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0 ||
	    !process_start(inside_serve, ends[1]))
		return false;
	close(ends[1]);
	proxy->inside = ends[0];
	return true;
}

int
inside_socket(const struct proxy *proxy, int family)
{
	union control control;
	int error = 0, made = -1;
	struct iovec data = { &error, sizeof error };
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof control,
	};
	struct pollfd wait = { .fd = proxy->inside, .events = POLLIN };
	struct cmsghdr *header;

	if (send(proxy->inside, &family, sizeof family, MSG_NOSIGNAL) < 0 ||
	    poll(&wait, 1, ANSWER_TIME) <= 0 ||
	    recvmsg(proxy->inside, &message, MSG_CMSG_CLOEXEC) !=
		sizeof error) {
		errno = EIO;
		return -1;
	}
	header = CMSG_FIRSTHDR(&message);
	if (header != NULL && header->cmsg_type == SCM_RIGHTS)
		memcpy(&made, CMSG_DATA(header), sizeof made);
	errno = error;
	return made;
}
