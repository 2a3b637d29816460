#include "runtime/listen/diagnosis.h"

#include <string.h>
#include <sys/socket.h>

/* Of linux/netlink.h, linux/sock_diag.h and linux/unix_diag.h, which musl does
 * not have. */
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
