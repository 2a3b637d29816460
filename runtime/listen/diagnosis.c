/*
 * What the kernel tells of sockets that listen (sock_diag(7)), in the
 * network of whoever opened the descriptor to ask by.
 */
#include "runtime/listen/listen.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

/* Of linux/netlink.h, linux/sock_diag.h, linux/unix_diag.h and
 * linux/inet_diag.h, which musl does not have. */
enum {
	NETLINK = 16,
	NETLINK_SOCKETS = 4,
	ABOUT_SOCKETS = 20, /* SOCK_DIAG_BY_FAMILY */
	REQUEST = 1,
	DUMP = 0x300,
	SHOW_NAME = 1,  /* UDIAG_SHOW_NAME */
	SHOW_PLACE = 2, /* UDIAG_SHOW_VFS */
	NAME = 0,       /* UNIX_DIAG_NAME */
	PLACE = 1,      /* UNIX_DIAG_VFS */
	LISTENS = 10,   /* TCP_LISTEN */
	LOOPBACK = 1,   /* the number of the device in each network */
	ANSWER_SIZE = 16384,
};

struct head {
	uint32_t len;
	uint16_t type, flags;
	uint32_t sequence, port;
};

struct question {
	struct head head;
	uint8_t family, protocol;
	uint16_t pad;
	uint32_t states, inode, show, cookie[2];
};

struct told {
	struct head head;
	uint8_t family, type, state, pad;
	uint32_t inode, cookie[2];
};

/* The two ends as the server has them. */
struct ends {
	uint16_t port, peer_port;
	uint8_t address[SBX_ADDRESS_SIZE], peer[SBX_ADDRESS_SIZE];
	uint32_t device, cookie[2];
};

struct tcp_question {
	struct head head;
	uint8_t family, protocol, extensions, pad;
	uint32_t states;
	struct ends ends;
};

struct tcp_told {
	struct head head;
	uint8_t family, state, timer, retransmits;
	struct ends ends;
};

struct attribute {
	uint16_t len, type;
};

struct search {
	bound_is *is;
	const void *wanted;
	bool found, over;
};

int
diagnosis_open(void)
{
	return socket(NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCKETS);
}

static size_t
padded(size_t len)
{
	return (len + 3) & ~(size_t)3;
}

static void
read_attribute(struct bound *bound, const struct attribute *attribute,
    const char *bytes)
{
	size_t len = attribute->len - sizeof *attribute;
	enum { PLACE_SIZE = sizeof bound->inode + sizeof bound->device };

	if (attribute->type == PLACE && len >= PLACE_SIZE) {
		memcpy(&bound->inode, bytes, sizeof bound->inode);
		memcpy(&bound->device, bytes + sizeof bound->inode,
		    sizeof bound->device);
	} else if (attribute->type == NAME && len < sizeof bound->name) {
		memcpy(bound->name, bytes, len);
		bound->name[len] = '\0';
	}
}

/* What one message tells; false: it is about no socket that listens. */
static bool
read_message(const char *message, size_t len, struct bound *bound)
{
	struct attribute attribute;
	struct told told;

	*bound = (struct bound){ .name = "" };
	if (len < sizeof told)
		return false;
	memcpy(&told, message, sizeof told);
	if (told.head.type != ABOUT_SOCKETS || told.state != LISTENS)
		return false;
	for (size_t at = sizeof told; at + sizeof attribute <= len;
	     at += padded(attribute.len)) {
		memcpy(&attribute, message + at, sizeof attribute);
		if (attribute.len < sizeof attribute ||
		    attribute.len > len - at)
			return false;
		read_attribute(bound, &attribute,
		    message + at + sizeof attribute);
	}
	return true;
}

static void
look_through(struct search *search, const char *bytes, size_t len)
{
	struct bound bound;
	struct head head;

	while (len >= sizeof head) {
		memcpy(&head, bytes, sizeof head);
		if (head.len < sizeof head || head.len > len)
			break;
		/* An error ends it as well. */
		if (head.type != ABOUT_SOCKETS)
			search->over = true;
		else if (!search->found &&
		    read_message(bytes, head.len, &bound))
			search->found = search->is(&bound, search->wanted);
		len -= padded(head.len) < len ? padded(head.len) : len;
		bytes += padded(head.len);
	}
}

/* All answers are read, since the next question would be refused otherwise. */
static bool
hear(int diagnosis, struct search *search, bool all)
{
	char bytes[ANSWER_SIZE];

	do {
		ssize_t got = recv(diagnosis, bytes, sizeof bytes,
		    MSG_DONTWAIT | MSG_TRUNC);

		if (got <= 0 || got > (ssize_t)sizeof bytes)
			return false;
		look_through(search, bytes, (size_t)got);
	} while (all && !search->over);
	return search->found;
}

bool
diagnosis_find(int diagnosis, const struct server *server, bound_is *is,
    const void *wanted)
{
	struct search search = { .is = is, .wanted = wanted };
	struct question question = {
		.head = {
			.len = sizeof question,
			.type = ABOUT_SOCKETS,
			.flags = server == NULL ? REQUEST | DUMP : REQUEST,
		},
		.family = AF_UNIX,
		.show = SHOW_NAME | SHOW_PLACE,
		.states = 1U << LISTENS,
	};

	if (server != NULL) {
		question.inode = server->inode;
		question.cookie[0] = (uint32_t)server->cookie;
		question.cookie[1] = (uint32_t)(server->cookie >> 32);
	}
	return send(diagnosis, &question, sizeof question, MSG_NOSIGNAL) ==
	    (ssize_t)sizeof question &&
	    hear(diagnosis, &search, server == NULL);
}

/* One of IPv4 has its four bytes in front. */
static void
put_address(uint8_t place[SBX_ADDRESS_SIZE],
    const uint8_t address[SBX_ADDRESS_SIZE], bool v4)
{
	enum { V4_SIZE = 4, V4_AT = SBX_ADDRESS_SIZE - V4_SIZE };

	if (v4)
		memcpy(place, address + V4_AT, V4_SIZE);
	else
		memcpy(place, address, SBX_ADDRESS_SIZE);
}

/*
 * The kernel looks as it does for a packet: first for a connection between the
 * two ends, and no peer has port 0; then for a socket that listens.
 */
uint64_t
diagnosis_listener(int diagnosis, const uint8_t address[SBX_ADDRESS_SIZE],
    uint16_t port)
{
	bool v4 = sbx_address_is_v4(address);
	struct tcp_question question = {
		.head = {
			.len = sizeof question,
			.type = ABOUT_SOCKETS,
			.flags = REQUEST,
		},
		.family = v4 ? AF_INET : AF_INET6,
		.protocol = IPPROTO_TCP,
		.states = 1U << LISTENS,
		.ends = {
			.port = htons(port),
			.device = LOOPBACK,
			.cookie = { UINT32_MAX, UINT32_MAX }, /* any */
		},
	};
	struct tcp_told told;
	char bytes[ANSWER_SIZE];

	put_address(question.ends.address, address, v4);
	put_address(question.ends.peer, address, v4);
	if (send(diagnosis, &question, sizeof question, MSG_NOSIGNAL) !=
		(ssize_t)sizeof question ||
	    recv(diagnosis, bytes, sizeof bytes, MSG_DONTWAIT) <
		(ssize_t)sizeof told)
		return 0;
	memcpy(&told, bytes, sizeof told);
	if (told.head.type != ABOUT_SOCKETS || told.state != LISTENS)
		return 0;
	return (uint64_t)told.ends.cookie[1] << 32 | told.ends.cookie[0];
}
