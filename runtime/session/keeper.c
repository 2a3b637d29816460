/*
 * The keeper of a session: the supervisor of its process 1, detached from who
 * started it.  It hands out the offer (offer.h), answers trapped system calls,
 * and ends the session: when it is asked to, when nothing has run for a while,
 * when the socket or the process is gone that it was made for.
 *
 *	caller --> sbxrun, joins -----> the command
 *	               :  (asks)          : (is in the namespaces of)
 *	           keeper ------------> process 1
 *
 * When the keeper is killed, the kernel kills process 1, and with it everything
 * inside.
 */
#include "runtime/session/session.h"

#include "runtime/apply/apply.h"
#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "runtime/inspect/inspect.h"
#include "runtime/session/offer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	CONNECTIONS_MAX = 512, /* commands at once, and who looks */
	LISTENERS_MAX = 512,   /* of commands and of what they left behind */
	GRACE = 2000,          /* milliseconds between TERM and KILL */
	DEATH = 3000,          /* and for the kernel to end everything */
	LOOK_AGAIN = 10000,    /* to see whether something is left inside */
};

/* What wakes the keeper, before the connections and the listeners. */
enum {
	WAKE_SOCKET,
	WAKE_FIRST,
	WAKE_PARENT,
	WAKE_NETWORK,
	WAKE_FIXED = WAKE_NETWORK + NETWORK_WAKES,
};

struct connection {
	int fd;
	bool joined; /* for a command; others only ask */
	bool quiet;  /* nothing will come; its end is found by looking */
	pid_t owner; /* who alone may ask here; 0: whoever has the other end */
	struct beginning beginning;
};

struct keeper {
	const struct keeping *keeping;
	int listening; /* its socket, or -1 */
	uint64_t inode;
	int first;    /* pidfd of process 1 */
	int children; /* the list of its children */
	struct standing own;
	bool listens; /* the policy has calls to be answered */
	int offer[OFFER_END];
	uint32_t count, listener_count;
	struct connection connections[CONNECTIONS_MAX];
	struct listening listeners[LISTENERS_MAX];
	struct decision_log log;
	int enders[CONNECTIONS_MAX]; /* connections that wait for the end */
	uint32_t ender_count;
	struct timespec used; /* when something was last seen to run */
	bool leaving;         /* it ends when nothing runs in it */
	bool ending;
	struct timespec end; /* then: until when */
	struct pollfd wait[WAKE_FIXED + CONNECTIONS_MAX + LISTENERS_MAX];
};

/* --- time ----------------------------------------------------------------- */

static int64_t
milliseconds_since(struct timespec then)
{
	struct timespec now;

	clock_now(&now);
	return (int64_t)(now.tv_sec - then.tv_sec) * 1000 +
	    (now.tv_nsec - then.tv_nsec) / 1000000;
}

/* --- the end -------------------------------------------------------------- */

/* Nobody can join any more, nor is told that there is a session.  While the
 * socket is open, none that is made meanwhile has its inode. */
static void
leave_place(struct keeper *keeper)
{
	if (keeper->listening < 0)
		return;
	shutdown(keeper->listening, SHUT_RDWR);
	sockets_remove(keeper->keeping->name, keeper->inode);
	close(keeper->listening);
	keeper->listening = -1;
}

/* Whoever makes a session has the lock: where there is none of this name,
 * nobody has begun to use the directory again. */
static void
remove_scratch(const struct keeping *keeping)
{
	struct out failed;
	int lock, place;

	if (keeping->scratch == NULL)
		return;
	lock = sockets_lock();
	if (lock < 0)
		return;
	out_init(&failed, -1);
	if (keeping->name == NULL || sockets_inode(lock, keeping->name) == 0) {
		place = open(keeping->scratch,
		    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (place >= 0)
			clean_directory(keeping->scratch, place, &failed);
	}
	sockets_unlock(lock);
}

__attribute__((noreturn)) static void
leave(struct keeper *keeper)
{
	int status;

	leave_place(keeper);
	waitpid(keeper->keeping->first, &status, WNOHANG);
	network_end(&keeper->keeping->supervision->network);
	cgroup_remove(&keeper->keeping->supervision->group);
	remove_scratch(keeper->keeping);
	supervise_finish_kept(keeper->keeping->supervision);
	for (uint32_t i = 0; i < keeper->ender_count; i++)
		session_answer(keeper->enders[i], SESSION_END, NULL);
	_exit(0);
}

static void
begin_end(struct keeper *keeper)
{
	if (keeper->ending)
		return;
	keeper->ending = true;
	clock_now(&keeper->end);
	leave_place(keeper);
	if (send(keeper->keeping->handover, "", 1, MSG_NOSIGNAL) != 1)
		kill(keeper->keeping->first, SIGKILL);
}

/* A command that nobody reaps keeps process 1 from ending: its parent may be
 * stopped.  Nothing runs then, and the keeper need not stay for that. */
static void
check_end(struct keeper *keeper)
{
	int64_t passed;

	if (!keeper->ending)
		return;
	passed = milliseconds_since(keeper->end);
	if (passed >= GRACE)
		kill(keeper->keeping->first, SIGKILL);
	if (passed >= GRACE + DEATH)
		leave(keeper);
}

static bool
is_over(struct keeper *keeper)
{
	if (!keeper->ending && !process_runs(keeper->keeping->first))
		begin_end(keeper);
	return keeper->ending;
}

/* --- what is left inside -------------------------------------------------- */

/* Whether process 1 has children, which it has only from commands that
 * ended. */
static bool
has_orphans(const struct keeper *keeper)
{
	char byte;

	/* What cannot be seen may be there. */
	return pread(keeper->children, &byte, 1, 0) != 0;
}

/*
 * What waits for the end of a connection is woken by it, and whoever ends it
 * pays for that.  So of most commands the keeper does not wait for the end, and
 * looks whenever it is awake.
 */
static bool
has_ended(const struct connection *connection)
{
	char byte;

	return connection->quiet &&
	    recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

static uint32_t
count_commands(const struct keeper *keeper)
{
	uint32_t commands = 0;

	for (uint32_t i = 0; i < keeper->count; i++)
		commands += keeper->connections[i].joined &&
		    !has_ended(&keeper->connections[i]);
	return commands;
}

static uint64_t
idle_seconds(struct keeper *keeper)
{
	if (count_commands(keeper) > 0 || has_orphans(keeper))
		clock_now(&keeper->used);
	return (uint64_t)milliseconds_since(keeper->used) / 1000;
}

static void
check_idle(struct keeper *keeper)
{
	uint64_t limit = keeper->keeping->idle;

	if (limit > 0 && !keeper->ending && idle_seconds(keeper) >= limit)
		begin_end(keeper);
	if (keeper->leaving && !keeper->ending && count_commands(keeper) == 0 &&
	    !has_orphans(keeper))
		begin_end(keeper);
}

/* --- connections ---------------------------------------------------------- */

static void
drop_connection(struct keeper *keeper, uint32_t index)
{
	struct connection *connection = &keeper->connections[index];

	if (keeper->keeping->lives &&
	    connection->fd == keeper->keeping->connection)
		begin_end(keeper);
	if (connection->joined)
		clock_now(&keeper->used);
	close(connection->fd);
	*connection = keeper->connections[--keeper->count];
}

static void
find_ended(struct keeper *keeper)
{
	for (uint32_t i = keeper->count; i-- > 0;) {
		if (has_ended(&keeper->connections[i]))
			drop_connection(keeper, i);
	}
}

static bool
add_connection(struct keeper *keeper, int fd, pid_t owner)
{
	if (keeper->count == CONNECTIONS_MAX)
		find_ended(keeper);
	if (keeper->count == CONNECTIONS_MAX) {
		session_turn_away(fd,
		    "the session has as many commands as it can have at once");
		return false;
	}
	keeper->connections[keeper->count++] = (struct connection){
		.fd = fd,
		.owner = owner,
	};
	return true;
}

static void
accept_one(struct keeper *keeper)
{
	int fd = accept4(keeper->listening, NULL, NULL, SOCK_CLOEXEC);
	const char *fault;

	if (fd < 0)
		return;
	fault = peer_fault(fd, &keeper->own, -1);
	if (fault == NULL) {
		add_connection(keeper, fd, peer_process(fd));
		return;
	}
	session_turn_away(fd, fault);
}

static bool
give_offer(struct keeper *keeper, int socket)
{
	struct session_reply reply = {
		.first = keeper->keeping->first,
		.keeper = getpid(),
	};

	decided_state(&keeper->keeping->supervision->network, &reply);
	session_stamp(&reply.stamp, SESSION_JOIN);
	return session_reply(socket, &reply, keeper->offer) == NULL;
}

/* With the policy's file, which has the names. */
static bool
tell(struct keeper *keeper, int socket)
{
	int descriptors[OFFER_END];
	struct session_reply reply = {
		.first = keeper->keeping->first,
		.keeper = getpid(),
		.commands = count_commands(keeper),
		.idle = idle_seconds(keeper),
	};

	for (int i = 0; i < OFFER_END; i++)
		descriptors[i] = i == OFFER_FILE ? keeper->offer[i] : -1;
	session_stamp(&reply.stamp, SESSION_LOOK);
	return session_reply(socket, &reply, descriptors) == NULL;
}

static bool
connect_another(struct keeper *keeper, int socket)
{
	int ends[2], descriptors[OFFER_END];
	struct session_reply reply = { .keeper = getpid() };
	bool sent;

	for (int i = 0; i < OFFER_END; i++)
		descriptors[i] = -1;
	if (keeper->count == CONNECTIONS_MAX ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return session_answer(socket, SESSION_REFUSED,
		    "the session has as many commands as it can have at once");
	add_connection(keeper, ends[0], 0);
	descriptors[0] = ends[1];
	session_stamp(&reply.stamp, SESSION_CONNECT);
	sent = session_reply(socket, &reply, descriptors) == NULL;
	close(ends[1]);
	return sent;
}

static void
take_listener(struct keeper *keeper, int listener)
{
	const struct supervision *supervision = keeper->keeping->supervision;

	if (listener < 0)
		return;
	/* Then the calls that the filter traps are refused. */
	if (keeper->listener_count == LISTENERS_MAX) {
		close(listener);
		return;
	}
	keeper->listeners[keeper->listener_count++] = listen_taken(listener,
	    &supervision->listening);
}

static bool
serve(struct keeper *keeper, int socket, enum session_kind kind)
{
	switch (kind) {
	case SESSION_JOIN:
		return give_offer(keeper, socket);
	case SESSION_CONNECT:
		return connect_another(keeper, socket);
	case SESSION_LOOK:
		return tell(keeper, socket);
	case SESSION_END:
		if (keeper->ender_count < CONNECTIONS_MAX)
			keeper->enders[keeper->ender_count++] = dup(socket);
		begin_end(keeper);
		return true;
	case SESSION_LEAVE:
		leave_place(keeper);
		keeper->leaving = true;
		return session_answer(socket, SESSION_LEAVE, NULL);
	case SESSION_LISTENER:
	case SESSION_ASKER:
	case SESSION_NETWORK:
	case SESSION_NONE:
	case SESSION_OVER:
	case SESSION_REFUSED:
		break;
	}
	return session_answer(socket, SESSION_REFUSED,
	    "this cannot be asked for");
}

/* Of commands that use the network at the same time, nobody can tell which one
 * a decision is about. */
static void
begin_command(struct keeper *keeper, struct connection *connection)
{
	const struct network *network = &keeper->keeping->supervision->network;
	bool shared = network->count > 0 && count_commands(keeper) > 0;

	for (uint32_t i = 0; i < keeper->count && shared; i++)
		keeper->connections[i].beginning.shared = true;
	connection->beginning = (struct beginning){ keeper->log.count, shared };
	connection->joined = true;
	connection->quiet = connection->owner != 0 && !keeper->listens &&
	    network->count == 0;
}

static bool
tell_decided(struct keeper *keeper, struct connection *connection)
{
	/* Looking costs more than all the rest. */
	if (keeper->log.count > connection->beginning.decided)
		connection->beginning.shared |= has_orphans(keeper);
	return decided_answer(&keeper->keeping->supervision->network,
	    connection->fd, &connection->beginning);
}

/* The connection stays in its place; false if it is to be closed. */
static bool
serve_request(struct keeper *keeper, struct connection *connection)
{
	int socket = connection->fd;
	struct session_request request;
	const char *fault;
	int came = -1;
	pid_t sender;

	if (!session_requested(socket, &request, &came, &sender))
		return false;
	if (request.stamp.kind == SESSION_LISTENER &&
	    (connection->joined || connection->owner == 0)) {
		take_listener(keeper, came);
		return true;
	}
	if (request.stamp.kind == SESSION_ASKER && connection->joined &&
	    (connection->owner == 0 || connection->owner == sender)) {
		network_ask(&keeper->keeping->supervision->network, came);
		if (came >= 0)
			close(came);
		return true;
	}
	if (came >= 0)
		close(came);
	fault = session_stamp_fault(&request.stamp);
	/* Another keeper connects for its commands (runtime/listen), which may
	 * not ask here. */
	if (connection->owner != 0 && connection->owner != sender)
		fault = "another process asks than the one that connected";
	if (fault == NULL && connection->joined &&
	    request.stamp.kind == SESSION_NETWORK)
		return tell_decided(keeper, connection);
	if (fault == NULL && request.stamp.kind != SESSION_END &&
	    is_over(keeper))
		return session_answer(socket, SESSION_OVER, NULL);
	if (fault == NULL && request.stamp.kind == SESSION_JOIN)
		begin_command(keeper, connection);
	return fault != NULL ?
	    session_answer(socket, SESSION_REFUSED, fault) :
	    serve(keeper, socket, (enum session_kind)request.stamp.kind);
}

/* --- the loop ------------------------------------------------------------- */

static nfds_t
fill_wait(struct keeper *keeper)
{
	struct pollfd *wait = keeper->wait;

	wait[WAKE_SOCKET] = (struct pollfd){ keeper->listening, POLLIN, 0 };
	wait[WAKE_FIRST] = (struct pollfd){ keeper->first, POLLIN, 0 };
	wait[WAKE_PARENT] = (struct pollfd){ keeper->keeping->parent, POLLIN,
		0 };
	network_wait(&keeper->keeping->supervision->network,
	    wait + WAKE_NETWORK);
	wait += WAKE_FIXED;
	for (uint32_t i = 0; i < keeper->count; i++)
		*wait++ = (struct pollfd){ keeper->connections[i].quiet ?
			    -1 :
			    keeper->connections[i].fd,
			POLLIN, 0 };
	for (uint32_t i = 0; i < keeper->listener_count; i++)
		*wait++ = listen_wait(&keeper->listeners[i]);
	return (nfds_t)(wait - keeper->wait);
}

static int
patience(const struct keeper *keeper)
{
	int least = -1;

	if (keeper->ending)
		least = 20;
	else if (keeper->leaving)
		least = LOOK_AGAIN;
	else if (keeper->keeping->idle > 0)
		least = keeper->keeping->idle * 100 < LOOK_AGAIN ?
		    (int)keeper->keeping->idle * 100 :
		    LOOK_AGAIN;
	for (uint32_t i = 0; i < keeper->listener_count; i++) {
		int own = listen_patience(&keeper->listeners[i]);

		if (own >= 0 && (least < 0 || own < least))
			least = own;
	}
	return least;
}

/* From the last to the first, since one that goes is replaced by the last. */
static void
serve_all(struct keeper *keeper)
{
	const struct pollfd *wait = keeper->wait + WAKE_FIXED;
	uint32_t count = keeper->count, listeners = keeper->listener_count;

	for (uint32_t i = listeners; i-- > 0;) {
		listen_serve(&keeper->listeners[i], &wait[count + i]);
		if (keeper->listeners[i].listener < 0)
			keeper->listeners[i] =
			    keeper->listeners[--keeper->listener_count];
	}
	for (uint32_t i = count; i-- > 0;) {
		if (wait[i].revents != 0 &&
		    !serve_request(keeper, &keeper->connections[i]))
			drop_connection(keeper, i);
	}
	network_serve(&keeper->keeping->supervision->network,
	    keeper->wait + WAKE_NETWORK);
	if (keeper->wait[WAKE_SOCKET].revents != 0)
		accept_one(keeper);
}

__attribute__((noreturn)) static void
stay(struct keeper *keeper)
{
	for (;;) {
		nfds_t count = fill_wait(keeper);

		if (poll(keeper->wait, count, patience(keeper)) < 0) {
			if (errno != EINTR)
				leave(keeper);
			continue;
		}
		if (keeper->wait[WAKE_FIRST].revents != 0)
			leave(keeper);
		if (keeper->wait[WAKE_PARENT].revents != 0)
			begin_end(keeper);
		serve_all(keeper);
		/* Who has just come waits for an answer. */
		if (keeper->wait[WAKE_SOCKET].revents != 0)
			continue;
		find_ended(keeper);
		check_idle(keeper);
		check_end(keeper);
	}
}

/* --- the beginning -------------------------------------------------------- */

static void
take_place(struct keeper *keeper)
{
	const char *name = keeper->keeping->name;
	int directory;

	keeper->listening = -1;
	if (name == NULL)
		return;
	/* Who made this process has the lock. */
	directory = sockets_open();
	if (directory >= 0)
		keeper->listening = sockets_listen(directory, name);
	if (keeper->listening < 0)
		refuse(name, "cannot make the session's socket", errno);
	keeper->inode = sockets_inode(directory, name);
	close(directory);
}

void
keeper_stay(const struct keeping *keeping)
{
	static struct keeper keeper;
	struct session_reply reply;
	const char *fault;

	keeper.keeping = keeping;
	keeping->supervision->network.log = &keeper.log;
	fault = session_hear(keeping->handover, &reply, keeper.offer);
	if (fault != NULL && errno != 0)
		refuse(NULL, fault, errno);
	/* Process 1 has said why. */
	if (fault != NULL)
		_exit(EXIT_REFUSED);
	keeper.children = keeper.offer[OFFER_CHILDREN];
	keeper.listens = reply.listens != 0;
	keeping->supervision->listening.moved = reply.moved != 0;
	keeper.first = (int)syscall(SYS_pidfd_open, keeping->first, 0);
	if (keeper.first < 0)
		refuse(NULL, "cannot watch process 1 of the session", errno);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	raise_open_files();
	listen_keep(&keeping->supervision->listening,
	    &keeper.offer[OFFER_SERVERS]);
	standing_read(&keeper.own, "self");
	if (keeper.own.text[0] == '\0')
		refuse(NULL, peer_unknown, 0);
	add_connection(&keeper, keeping->connection, 0);
	clock_now(&keeper.used);
	take_place(&keeper);
	if (keeping->ready >= 0 && write(keeping->ready, "", 1) != 1)
		refuse(NULL, "cannot say that the session is there", errno);
	close(keeping->ready);
	leave_caller();
	stay(&keeper);
}
