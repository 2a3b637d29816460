/*
 * connect(2) of AF_UNIX sockets, where Landlock does not hold them yet (before
 * ABI 9).  What the policy lets the command write it may also connect to, and
 * nothing else: to read a socket's directory is not to connect.  Whether an
 * abstract name is inside the sandbox cannot be told from here, so they are
 * open only to a policy that allows all of them.
 *
 * Datagram sockets are not connected, and filters do not open them: they need
 * no connection to send, and what they send goes by too often to be answered
 * here.
 *
 * The other side may not take the connection now, and a blocking socket would
 * then make the supervisor wait.  Whether a socket blocks is up to those who
 * share it, so a timer interrupts every attempt, and one that was interrupted
 * is tried again later.
 */
#include "runtime/base/files.h"
#include "runtime/listen/answers.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum {
	PATH_AT = offsetof(struct sockaddr_un, sun_path),
};

static int
socket_option(int socket, int option)
{
	int value;
	socklen_t len = sizeof value;

	if (getsockopt(socket, SOL_SOCKET, option, &value, &len) != 0)
		return -errno;
	return value;
}

static int
try(int socket, const struct sockaddr *address, socklen_t len)
{
	int error;

	if (!ticks(true))
		return -EPERM;
	error = connect(socket, address, len) != 0 ? errno : 0;
	ticks(false);
	return error == EINTR ? ANSWER_LATER : -error;
}

int
connect_again(const struct waiting *waiting)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };

	/* Since the first attempt the kernel goes on by itself. */
	if (waiting->used && waiting->internet &&
	    !internet_is_ready(waiting->socket))
		return ANSWER_LATER;
	/* Since it was judged the socket may have listened where a port is
	 * published, and lost the key. */
	if (waiting->servers != NULL &&
	    !inside_sign(waiting->servers, waiting->socket))
		return -EACCES;
	if (waiting->target < 0)
		return try(waiting->socket, &waiting->address.any,
		    waiting->len);
	_Static_assert(sizeof name.sun_path >= DESCRIPTOR_PATH_SIZE, "room");
	descriptor_path(name.sun_path, waiting->target);
	return try(waiting->socket, (struct sockaddr *)&name, sizeof name);
}

void
connect_forget(const struct waiting *attempt)
{
	/* Only sockets of the internet linger. */
	if (attempt->target >= 0) {
		close(attempt->socket);
		close(attempt->target);
	} else if (attempt->socket >= 0) {
		caller_close(attempt->socket);
	}
}

static int
keep(struct listening *listening, const struct waiting *attempt)
{
	for (int i = 0; i < LISTEN_MAX_WAITING; i++) {
		if (listening->waiting[i].used)
			continue;
		listening->waiting[i] = *attempt;
		listening->waiting[i].used = true;
		listening->waiting_count++;
		return ANSWER_LATER;
	}
	connect_forget(attempt);
	return -EAGAIN;
}

/* --- what is asked for ---------------------------------------------------- */

/* As the kernel does, which takes up to 128 bytes of any address first; those
 * of the internet end before. */
static int
read_address(const struct caller *caller, struct waiting *attempt, int domain)
{
	int len = (int)caller->call.args[2], error;
	char bytes[sizeof(struct sockaddr_storage)];

	if (len < 0 || len > (int)sizeof bytes)
		return -EINVAL;
	error = caller_read(caller, caller->call.args[1], bytes, (size_t)len);
	if (error != 0)
		return error;
	if (domain != AF_UNIX && len > (int)sizeof attempt->address.un)
		len = sizeof attempt->address.un;
	if (len <= PATH_AT || len > (int)sizeof attempt->address.un)
		return -EINVAL;
	memcpy(&attempt->address, bytes, (size_t)len);
	attempt->len = (uint32_t)len;
	return domain != AF_UNIX || attempt->address.un.sun_family == AF_UNIX ?
	    0 :
	    -EINVAL;
}

/* In a network of the sandbox's own the internet is open, too. */
static bool
is_own(const struct caller *caller, int domain)
{
	return caller->listening->own_network &&
	    (domain == AF_INET || domain == AF_INET6);
}

/* The socket's family, or a negative errno. */
static int
read_socket(const struct caller *caller, struct waiting *attempt)
{
	int type, domain;

	attempt->socket = caller_copy(caller, (int)caller->call.args[0]);
	if (attempt->socket < 0)
		return attempt->socket;
	type = socket_option(attempt->socket, SO_TYPE);
	if (type < 0)
		return type;
	domain = socket_option(attempt->socket, SO_DOMAIN);
	attempt->internet = internet_is_judged(caller->listening,
	    attempt->socket);
	if (attempt->internet || is_own(caller, domain))
		return domain;
	if (domain != AF_UNIX ||
	    (type != SOCK_STREAM && type != SOCK_SEQPACKET))
		return -EACCES;
	return domain;
}

/* What is no socket, the kernel refuses. */
static bool
is_socket(int target)
{
	struct stat status;

	return fstat(target, &status) != 0 || S_ISSOCK(status.st_mode);
}

/* The kernel names it by its path as the command has it. */
static bool
name_target(int target, char path[SBX_MAX_PATH + 1])
{
	char link[DESCRIPTOR_PATH_SIZE];
	ssize_t len;

	descriptor_path(link, target);
	len = readlink(link, path, SBX_MAX_PATH + 1);
	if (len <= 0 || len > SBX_MAX_PATH || *path != '/')
		return false;
	path[len] = '\0';
	return true;
}

static struct sbx_verdict
ask_rules(const struct listening *listening, const char *path)
{
	return sbx_socket_verdict(listening->moved ? listening->moved_sockets :
						     listening->sockets,
	    listening->socket_count, place_of(path));
}

/* A rule about sockets comes first.  Without one, the command connects to its
 * own servers in what it may write; with one, there to those of the host that
 * it has not brought there itself. */
static bool
may_connect(const struct caller *caller, int target)
{
	struct sbx_verdict verdict = { .rule = SBX_NO_RULE };
	char path[SBX_MAX_PATH + 1];
	bool writable, named = name_target(target, path);

	if (named)
		verdict = ask_rules(caller->listening, path);
	if (verdict.rule != SBX_NO_RULE &&
	    verdict.reason != SBX_BECAUSE_ALLOWED)
		return false;
	writable = place_is_writable(caller, target);
	if (verdict.rule != SBX_NO_RULE && !writable)
		return true;
	return writable &&
	    (!is_socket(target) || servers_have(caller, target) ||
		(verdict.rule != SBX_NO_RULE && servers_stand(target, path)));
}

/*
 * Whether no socket is bound there any more: a server that has ended leaves its
 * name, and the next one removes it if a connection is refused.  The kernel says
 * so to a socket of another kind, and a server that is there notices nothing.
 */
static bool
is_left(int target)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool left;

	if (probe < 0)
		return false;
	descriptor_path(name.sun_path, target);
	left = connect(probe, (struct sockaddr *)&name, sizeof name) != 0 &&
	    errno == ECONNREFUSED;
	close(probe);
	return left;
}

static int
refusal(const struct caller *caller, int target)
{
	return place_is_writable(caller, target) && is_socket(target) &&
		is_left(target) ?
	    -ECONNREFUSED :
	    -EACCES;
}

static int
judge_path(const struct caller *caller, struct waiting *attempt)
{
	char path[sizeof attempt->address.un.sun_path + 1] = "";

	memcpy(path, attempt->address.un.sun_path,
	    (size_t)attempt->len - PATH_AT);
	attempt->target = place_open(caller, AT_FDCWD, path, 0);
	if (attempt->target < 0)
		return attempt->target;
	return may_connect(caller, attempt->target) ?
	    0 :
	    refusal(caller, attempt->target);
}

/* In the network of the host it cannot be told whose an abstract name is. */
static bool
has_abstract(const struct listening *listening)
{
	return listening->own_network || listening->abstract;
}

static int
judge_waiting(const struct caller *caller, struct waiting *attempt)
{
	int domain = read_socket(caller, attempt), error;

	if (domain < 0)
		return domain;
	error = read_address(caller, attempt, domain);
	if (error == 0 && attempt->internet)
		return internet_judge(caller, attempt);
	if (error != 0 || domain != AF_UNIX)
		return error;
	if (attempt->address.un.sun_path[0] != '\0')
		return judge_path(caller, attempt);
	return has_abstract(caller->listening) ? 0 : -EPERM;
}

int
answer_connect(const struct caller *caller)
{
	struct waiting attempt = {
		.id = caller->call.id,
		.socket = -1,
		.target = -1,
	};
	int result = judge_waiting(caller, &attempt);

	if (result == 0 && !caller_waits(caller))
		result = -EPERM;
	if (result == 0)
		result = connect_again(&attempt);
	if (result == ANSWER_LATER)
		return keep(caller->listening, &attempt);
	connect_forget(&attempt);
	return result;
}
