/*
 * What is asked of sessions without running anything in them.
 */
#include "runtime/session/session.h"

#include "runtime/base/files.h"
#include "runtime/base/json.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "runtime/session/offer.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* The keeper works on the request while this process looks at who that is; what
 * it answers is not read before that.  If it turned the connection away, its
 * answer says why. */
static const char *
request(int socket, enum session_kind kind)
{
	const char *fault = session_ask(socket, kind, -1);

	return fault != NULL && errno == EPIPE ? NULL : fault;
}

/* A keeper that ends cannot be looked at: that request is sent after the
 * look. */
static const char *
look_and_ask(int socket, enum session_kind kind, int self)
{
	bool ends = kind == SESSION_END || kind == SESSION_LEAVE;
	const char *asked = ends ? NULL : request(socket, kind);
	int error = errno;
	const char *fault = peer_fault(socket, NULL, self);

	if (fault != NULL)
		return fault;
	if (ends)
		return request(socket, kind);
	errno = error;
	return asked;
}

/* The fault with errno, or NULL; `socket` is -1 if there is no session. */
static const char *
reach(const char *name, enum session_kind kind, int self, int *socket)
{
	int directory = sockets_open(), fd, error;
	const char *fault;

	*socket = -1;
	if (directory < 0)
		return errno != ENOENT ?
		    "cannot open the directory of sessions" :
		    NULL;
	fd = sockets_connect(directory, name);
	error = errno;
	close(directory);
	errno = error;
	if (fd < 0)
		return errno != ENOENT && errno != ECONNREFUSED ?
		    "cannot reach the session" :
		    NULL;
	fault = look_and_ask(fd, kind, self);
	error = errno;
	if (fault == NULL) {
		*socket = fd;
		return NULL;
	}
	/* A keeper that has just been killed leaves a connection behind. */
	if (peer_is_gone(fd))
		fault = NULL;
	close(fd);
	errno = error;
	return fault;
}

int
ask_self(void)
{
	int self = (int)syscall(SYS_pidfd_open, getpid(), 0);

	if (self < 0)
		refuse(NULL, "cannot watch this process", errno);
	return above_standard(self);
}

int
ask_connect(const char *name, enum session_kind kind, int self)
{
	int socket;
	const char *fault = reach(name, kind, self, &socket);

	if (fault != NULL)
		refuse(name, fault, errno);
	return socket;
}

static const char *
hear(int socket, enum session_kind kind, struct session_reply *reply,
    struct offer *offer)
{
	const char *fault;

	offer_none(offer);
	fault = session_hear(socket, reply, offer->descriptors);
	if (fault == NULL && kind == SESSION_LOOK)
		fault = offer_map(offer);
	return fault;
}

/* --- one ------------------------------------------------------------------ */

__attribute__((noreturn)) static void
check(const char *name)
{
	int socket = ask_connect(name, SESSION_LOOK, ask_self());
	struct session_reply reply;
	struct offer offer;
	struct out out;
	const char *fault;

	if (socket < 0)
		_exit(1);
	fault = hear(socket, SESSION_LOOK, &reply, &offer);
	if (reply.stamp.kind == SESSION_OVER)
		_exit(1);
	if (fault != NULL)
		refuse(name, fault, errno);
	out_init(&out, STDOUT_FILENO);
	out_print(&out, "%s: ", name);
	out_print(&out, "process 1 is %u, commands: %u", (unsigned)reply.first,
	    reply.commands);
	if (reply.commands == 0 && reply.idle > 0)
		out_print(&out, ", idle for %lu s", reply.idle);
	out_text(&out, "\n");
	out_flush(&out);
	_exit(0);
}

/* The keeper answers when everything has ended; one that is killed does not,
 * and everything has ended, too. */
__attribute__((noreturn)) static void
end(const char *name, enum session_kind kind)
{
	int socket = ask_connect(name, kind, ask_self());
	struct session_reply reply;
	struct offer offer;
	const char *fault;

	if (socket < 0)
		refuse(name, "there is no such session", 0);
	fault = hear(socket, kind, &reply, &offer);
	if (fault != NULL && reply.stamp.kind != SESSION_OVER)
		refuse(name, fault, errno);
	_exit(0);
}

/* --- all ------------------------------------------------------------------ */

static void
put_json(struct out *out, const char *name, const struct session_reply *reply,
    const struct offer *offer)
{
	const struct offer_head *head = offer->head;

	json_object(out, NULL);
	json_string(out, "name", name);
	json_string(out, "policy", offer_text(offer, head->policy));
	json_string(out, "digest", head->digest);
	json_string(out, "workspace",
	    offer_text(offer, head->anchors[SBX_ANCHOR_WORKSPACE]));
	json_string(out, "level", level_name((enum sbx_level)head->level));
	json_number(out, "process", (uint64_t)reply->first);
	json_number(out, "keeper", (uint64_t)reply->keeper);
	json_number(out, "commands", reply->commands);
	json_number(out, "idle", reply->idle);
	json_object_end(out);
}

/* A session may end while it is asked; then it is none.  False where what is
 * there is no session, and does not keep the others from being listed. */
static bool
put_one(struct out *out, const char *name, int self)
{
	int socket;
	const char *fault = reach(name, SESSION_LOOK, self, &socket);
	struct session_reply reply;
	struct offer offer;

	if (fault != NULL) {
		warn_about(name, fault, errno);
		return false;
	}
	if (socket < 0) {
		sockets_clean(name);
		return true;
	}
	if (hear(socket, SESSION_LOOK, &reply, &offer) == NULL)
		put_json(out, name, &reply, &offer);
	offer_close(&offer);
	close(socket);
	return true;
}

__attribute__((noreturn)) static void
list(void)
{
	int path = sockets_open(), fd = -1;
	struct directory directory;
	const struct entry *entry;
	struct out out;
	bool all = true;
	int self = ask_self();

	if (path >= 0)
		fd = openat(path, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno != ENOENT)
		refuse(NULL, "cannot open the directory of sessions", errno);
	out_init(&out, STDOUT_FILENO);
	json_document(&out, "sessions");
	json_list(&out, "sessions");
	directory_begin(&directory, fd);
	while (fd >= 0 && (entry = directory_next(&directory)) != NULL)
		all = put_one(&out, entry->name, self) && all;
	json_list_end(&out);
	json_object_end(&out);
	out_text(&out, "\n");
	out_flush(&out);
	_exit(all ? 0 : EXIT_REFUSED);
}

void
ask_run(const struct options *options)
{
	if (options->sessions)
		list();
	if (options->end)
		end(options->session,
		    options->end_idle ? SESSION_LEAVE : SESSION_END);
	check(options->session);
}
