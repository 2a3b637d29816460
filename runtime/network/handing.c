/*
 * Many descriptors in one message, over a socket that keeps messages apart.
 */
#include "runtime/network/event.h"

#include "runtime/base/files.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(HANDING_MAX * sizeof(int))];
};

bool
handing_send(int socket, const struct handing *handing)
{
	size_t size = handing->count * sizeof(int);
	union control control = { .header = {
				      .cmsg_len = CMSG_LEN(size),
				      .cmsg_level = SOL_SOCKET,
				      .cmsg_type = SCM_RIGHTS,
				  } };
	char byte = 0;
	struct iovec bytes = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_SPACE(size),
	};

	memcpy(CMSG_DATA(&control.header), handing->descriptors, size);
	return sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

bool
handing_receive(int socket, struct handing *handing)
{
	union control control = { .header = { .cmsg_len = 0 } };
	char byte;
	struct iovec bytes = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof control,
	};
	ssize_t got;

	handing->count = 0;
	do {
		got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got <= 0)
		return got == 0;
	/* The kernel cuts what this process has no numbers for. */
	if ((message.msg_flags & MSG_CTRUNC) != 0 ||
	    message.msg_controllen < sizeof control.header) {
		errno = EMFILE;
		return false;
	}
	handing->count = (uint32_t)((control.header.cmsg_len - CMSG_LEN(0)) /
	    sizeof(int));
	memcpy(handing->descriptors, CMSG_DATA(&control.header),
	    handing->count * sizeof(int));
	for (uint32_t i = 0; i < handing->count; i++)
		handing->descriptors[i] = above_standard(
		    handing->descriptors[i]);
	return true;
}
