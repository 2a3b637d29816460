/*
 * Whose a server is that listens at a path.  A socket in what the command may
 * write can be that of a program outside, and then nobody may connect to it.
 *
 * Whoever connects first and asks then who has answered (SO_PEERCRED) is too
 * late: another thread of the command would have sent something meanwhile.  So
 * the kernel is asked before, which tells the inode that a socket is bound to
 * (sock_diag(7)).  In a network of the sandbox's own all that listens is
 * inside.  In the host's, the listen(2) of the command comes here, and the
 * socket's cookie is kept, which the kernel gives to no other socket.
 *
 * Where the kernel's numbers do not tell the inode, the place of a socket is
 * found out when it begins to listen.
 */
#include "runtime/listen/listen.h"

#include "runtime/base/files.h"
#include "runtime/base/out.h"
#include "runtime/listen/answers.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#ifndef SO_COOKIE
#define SO_COOKIE 57
#endif

enum {
	MINOR_BITS = 20, /* of a device's number in the kernel */
	MARK_SIZE = 16,
	/* Of a name in the abstract namespace: the first byte is 0. */
	MARK_LEN = offsetof(struct sockaddr_un, sun_path) + 1 + MARK_SIZE,
};

void
servers_open(struct servers *servers)
{
	int diagnosis = diagnosis_open();

	if (diagnosis < 0)
		refuse(NULL, "cannot ask the kernel about sockets", errno);
	servers->diagnosis = above_standard(diagnosis);
}

/* --- places --------------------------------------------------------------- */

/*
 * The kernel tells of the file system, and of the inode's number only 32 bits.
 * Where stat(2) tells another device, as it does in btrfs, whose subvolumes
 * number inodes each for itself, or a larger number, these say nothing.
 */
static bool
is_place(const struct bound *bound, const void *wanted)
{
	const struct stat *status = wanted;

	return status->st_ino == bound->inode &&
	    (major(status->st_dev) << MINOR_BITS | minor(status->st_dev)) ==
	    bound->device;
}

static bool
is_any(const struct bound *bound, const void *wanted)
{
	(void)bound;
	(void)wanted;
	return true;
}

/* A socket that is closed is found under no number. */
static bool
is_there(const struct servers *servers, const struct server *server)
{
	return diagnosis_find(servers->diagnosis, server, is_any, NULL);
}

static bool
has(const struct servers *servers, const struct server *server,
    const struct stat *status)
{
	if (server->place == 0)
		return diagnosis_find(servers->diagnosis, server, is_place,
		    status);
	/* As long as a socket is there, nothing else has its inode's number. */
	return server->place == status->st_ino &&
	    server->device == status->st_dev && is_there(servers, server);
}

bool
servers_have(const struct caller *caller, int target)
{
	const struct servers *servers = caller->listening->servers;
	struct stat status;

	if (fstat(target, &status) != 0)
		return false;
	if (caller->listening->own_network &&
	    diagnosis_find(servers->diagnosis, NULL, is_place, &status))
		return true;
	for (uint32_t i = 0; i < servers->count; i++) {
		if (has(servers, &servers->list[i], &status))
			return true;
	}
	return false;
}

/* --- servers of the host -------------------------------------------------- */

struct standing {
	struct stat status;
	const char *path;
};

/* The name says enough for the device, which btrfs calls otherwise. */
static bool
is_standing(const struct bound *bound, const void *wanted)
{
	const struct standing *standing = wanted;

	return strcmp(bound->name, standing->path) == 0 &&
	    bound->inode == (uint32_t)standing->status.st_ino;
}

bool
servers_stand(int target, const char *path)
{
	struct standing standing = { .path = path };
	int diagnosis = diagnosis_open();
	bool found = diagnosis >= 0 && fstat(target, &standing.status) == 0 &&
	    diagnosis_find(diagnosis, NULL, is_standing, &standing);

	if (diagnosis >= 0)
		close(diagnosis);
	return found;
}

/* --- proof of a place ------------------------------------------------------ */

/* What the name of a socket of the caller's leads to now, if the command may
 * write it: it is connected to. */
static int
open_name(const struct caller *caller, int socket)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	char path[sizeof name.sun_path + 1] = "";
	socklen_t len = sizeof name;
	int target;

	if (getsockname(socket, (struct sockaddr *)&name, &len) != 0 ||
	    name.sun_family != AF_UNIX || name.sun_path[0] == '\0')
		return -1;
	memcpy(path, name.sun_path, sizeof name.sun_path);
	target = place_open(caller, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW);
	if (target < 0 || place_is_writable(caller, target))
		return target;
	close(target);
	return -1;
}

/* A client with a name that nobody can guess. */
static int
marked_client(int type, struct sockaddr_un *mark)
{
	int client = socket(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	*mark = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (client < 0 ||
	    (getrandom(mark->sun_path + 1, MARK_SIZE, 0) == MARK_SIZE &&
		bind(client, (struct sockaddr *)mark, MARK_LEN) == 0))
		return client;
	close(client);
	return -1;
}

static bool
is_marked(int accepted, const struct sockaddr_un *mark)
{
	struct sockaddr_un peer;
	socklen_t len = sizeof peer;

	return getpeername(accepted, (struct sockaddr *)&peer, &len) == 0 &&
	    len == MARK_LEN && memcmp(&peer, mark, MARK_LEN) == 0;
}

/* Whether who connects there comes to this socket, which listens and belongs
 * to the caller.  What is accepted need not be our client: another thread may
 * have connected before, and this process makes such connections as well. */
static bool
comes_to(int server, int target)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX }, mark;
	int type = SOCK_STREAM, client, other = -1;
	socklen_t len = sizeof type;
	bool came;

	getsockopt(server, SOL_SOCKET, SO_TYPE, &type, &len);
	client = marked_client(type, &mark);
	descriptor_path(name.sun_path, target);
	/* Somebody else may take the connection first; then nobody waits. */
	if (client >= 0 && ticks(true)) {
		if (connect(client, (struct sockaddr *)&name, sizeof name) == 0)
			other = accept4(server, NULL, NULL,
			    SOCK_NONBLOCK | SOCK_CLOEXEC);
		ticks(false);
	}
	came = other >= 0 && is_marked(other, &mark);
	if (other >= 0)
		close(other);
	if (client >= 0)
		close(client);
	return came;
}

static bool
listens(int socket)
{
	int value = 1;
	socklen_t len = sizeof value;

	return getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &value, &len) !=
	    0 ||
	    value != 0;
}

/*
 * Finds the place of a socket that is about to listen, where the kernel's
 * numbers do not tell it: its name may lead elsewhere by now, so a connection
 * shows whether it does not.  From one that listens already that would take a
 * client of the command's.  False: the numbers tell, or nothing does.
 */
static bool
prove(const struct caller *caller, int socket, struct server *server)
{
	int target = listens(socket) ? -1 : open_name(caller, socket);
	struct stat status;
	bool proved = false;

	if (target < 0)
		return false;
	if (fstat(target, &status) == 0 && S_ISSOCK(status.st_mode) &&
	    listen(socket, (int)caller->call.args[1]) == 0 &&
	    !diagnosis_find(caller->listening->servers->diagnosis, server,
		is_place, &status))
		proved = comes_to(socket, target);
	close(target);
	if (!proved)
		return false;
	server->place = status.st_ino;
	server->device = status.st_dev;
	return true;
}

/* --- listen(2) ------------------------------------------------------------- */

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
remember(const struct caller *caller, int socket)
{
	struct servers *servers = caller->listening->servers;
	struct server server = { .place = 0 }, *entry;
	socklen_t len = sizeof server.cookie;
	struct stat status;
	bool proved;

	if (fstat(socket, &status) != 0 ||
	    getsockopt(socket, SOL_SOCKET, SO_COOKIE, &server.cookie, &len) !=
		0)
		return -EPERM;
	server.inode = (uint32_t)status.st_ino;
	for (uint32_t i = 0; i < servers->count; i++) {
		if (servers->list[i].cookie == server.cookie)
			return 0;
	}
	proved = prove(caller, socket, &server);
	if (caller->listening->own_network && !proved)
		return 0;
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
		error = remember(caller, socket);
	if (error != 0 || !listening->inside)
		return error != 0 ? error : ANSWER_GO_ON;
	return listen(socket, (int)caller->call.args[1]) == 0 ? 0 : -errno;
}

int64_t
answer_listen(const struct caller *caller)
{
	int64_t result;
	int socket;

	socket = caller_copy(caller, (int)caller->call.args[0]);
	/* In a network of its own nothing depends on it but the above. */
	if (socket < 0)
		return caller->listening->own_network ? ANSWER_GO_ON : socket;
	result = judge_listen(caller, socket);
	caller_close(socket);
	return result;
}
