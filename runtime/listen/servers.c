/* See servers.h. */
#include "runtime/listen/servers.h"

#include "runtime/base/file.h"
#include "runtime/base/out.h"
#include "runtime/listen/answers.h"
#include "runtime/listen/caller.h"
#include "runtime/listen/internet.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#ifndef SO_COOKIE
#define SO_COOKIE 57
#endif

/* Of linux/netlink.h, linux/sock_diag.h and linux/unix_diag.h, which musl does
 * not have. */
enum {
	NETLINK = 16,
	NETLINK_SOCKETS = 4,
	ABOUT_SOCKETS = 20, /* SOCK_DIAG_BY_FAMILY */
	REQUEST = 1,
	DUMP = 0x300,
	DONE = 3,
	SHOW_PLACE = 2, /* UDIAG_SHOW_VFS */
	PLACE = 1,      /* UNIX_DIAG_VFS */
	LISTENS = 10,   /* TCP_LISTEN */
	ANSWER_SIZE = 16384,
	ANYWHERE = -1,
	MINOR_BITS = 20, /* of a device's number in the kernel */
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

/* What a socket is bound to. */
struct bound {
	uint32_t inode, device;
};

void
servers_open(struct servers *servers)
{
	int diagnosis = socket(NETLINK, SOCK_RAW | SOCK_CLOEXEC,
	    NETLINK_SOCKETS);

	if (diagnosis < 0)
		refuse(NULL, "cannot ask the kernel about sockets", errno);
	servers->diagnosis = above_standard(diagnosis);
}

/* --- the kernel's answers ------------------------------------------------- */

static size_t
padded(size_t len)
{
	return (len + 3) & ~(size_t)3;
}

/* Where the listening socket of one message is bound; false: it is another
 * message, or it has no place. */
static bool
read_place(const char *message, size_t len, struct bound *bound)
{
	struct told told;
	struct attribute attribute;

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
		if (attribute.type != PLACE ||
		    attribute.len < sizeof attribute + sizeof *bound)
			continue;
		memcpy(bound, message + at + sizeof attribute, sizeof *bound);
		return true;
	}
	return false;
}

static bool
ask(int diagnosis, struct question *question)
{
	question->head.len = sizeof *question;
	question->head.type = ABOUT_SOCKETS;
	question->family = AF_UNIX;
	question->show = SHOW_PLACE;
	question->states = 1U << LISTENS;
	return send(diagnosis, question, sizeof *question, MSG_NOSIGNAL) ==
	    (ssize_t)sizeof *question;
}

/* Whoever looks for a place says which messages are about it. */
struct search {
	int target; /* or ANYWHERE */
	bool found, over;
};

static bool is_place(const struct search *search, const struct bound *bound);

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
		else if (!search->found && read_place(bytes, head.len, &bound))
			search->found = is_place(search, &bound);
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

/* --- places --------------------------------------------------------------- */

/*
 * The kernel tells of the file system, and of the inode's number only 32 bits.
 * Where stat(2) tells another device, as it does in btrfs, whose subvolumes
 * number inodes each for itself, or a larger number, nobody knows whose the
 * socket is.
 */
static bool
is_place(const struct search *search, const struct bound *bound)
{
	struct stat status;

	if (search->target == ANYWHERE)
		return true;
	return fstat(search->target, &status) == 0 &&
	    status.st_ino == bound->inode &&
	    (major(status.st_dev) << MINOR_BITS | minor(status.st_dev)) ==
	    bound->device;
}

/* --- servers -------------------------------------------------------------- */

static bool
looks_bound(const struct servers *servers, const struct server *server,
    struct search *search)
{
	struct question question = {
		.head.flags = REQUEST,
		.inode = server->inode,
		.cookie = { (uint32_t)server->cookie,
		    (uint32_t)(server->cookie >> 32) },
	};

	return ask(servers->diagnosis, &question) &&
	    hear(servers->diagnosis, search, false);
}

bool
servers_have(const struct caller *caller, int target)
{
	const struct servers *servers = caller->listening->servers;
	struct search search = { .target = target };
	struct question all = { .head.flags = REQUEST | DUMP };

	if (caller->listening->own_network)
		return ask(servers->diagnosis, &all) &&
		    hear(servers->diagnosis, &search, true);
	for (uint32_t i = 0; i < servers->count && !search.found; i++)
		looks_bound(servers, &servers->list[i], &search);
	return search.found;
}

/* A socket that is closed is found under no number. */
static bool
is_there(const struct servers *servers, const struct server *server)
{
	struct search any = { .target = ANYWHERE };

	return looks_bound(servers, server, &any);
}

static struct server *
free_entry(struct servers *servers)
{
	if (servers->count < SERVERS_MAX)
		return &servers->list[servers->count++];
	for (uint32_t i = 0; i < SERVERS_MAX; i++) {
		if (!is_there(servers, &servers->list[i]))
			return &servers->list[i];
	}
	return NULL;
}

static int
remember(struct servers *servers, int socket)
{
	struct server server, *entry;
	socklen_t len = sizeof server.cookie;
	struct stat status;

	if (fstat(socket, &status) != 0 ||
	    getsockopt(socket, SOL_SOCKET, SO_COOKIE, &server.cookie, &len) !=
		0)
		return -EPERM;
	server.inode = (uint32_t)status.st_ino;
	for (uint32_t i = 0; i < servers->count; i++) {
		if (servers->list[i].cookie == server.cookie)
			return 0;
	}
	entry = free_entry(servers);
	if (entry == NULL)
		return -ENOBUFS;
	*entry = server;
	return 0;
}

/*
 * The call goes on: whatever another thread puts at the number of the socket
 * meanwhile is the caller's, too, and the kernel decides about it as always.
 * Where TCP is judged it does not, since that could be a socket of TCP.
 */
static int64_t
judge_listen(const struct caller *caller, int socket)
{
	const struct listening *listening = caller->listening;
	bool internet = internet_is_judged(listening, socket);
	int domain, error = 0;
	socklen_t len = sizeof domain;

	if (getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &len) != 0)
		return -errno;
	if (!caller_waits(caller))
		return -EPERM;
	if (internet)
		return internet_listen(caller, socket);
	if (domain == AF_UNIX)
		error = remember(listening->servers, socket);
	if (error != 0 || !listening->selected)
		return error != 0 ? error : ANSWER_GO_ON;
	return listen(socket, (int)caller->call.args[1]) == 0 ? 0 : -errno;
}

int64_t
answer_listen(const struct caller *caller)
{
	int64_t result;
	int socket;

	if (caller->listening->own_network)
		return ANSWER_GO_ON;
	socket = caller_copy(caller, (int)caller->call.args[0]);
	if (socket < 0)
		return socket;
	result = judge_listen(caller, socket);
	caller_close(socket);
	return result;
}
