/*
 * What the keeper of a session hands to whoever joins it: the namespaces, the
 * ruleset of Landlock, and a sealed file with everything else that was decided
 * when the session was made.  It is one message over a socket:
 *
 *	joiner: struct session_request  -->  keeper
 *	joiner  <--  struct session_reply, and descriptors (SCM_RIGHTS)
 *
 * The file is a struct offer_head, texts, and the bytes of the policy.
 *
 * Nothing here ends the program, writes, or allocates: libsbx uses it inside of
 * other people's programs.  A function that can fail gives NULL, or a text that
 * says what it could not do, with errno or 0.
 */
#include "runtime/session/offer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unknown"
#endif

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(OFFER_END * sizeof(int)) +
	    CMSG_SPACE(sizeof(struct ucred))];
};

/* No more can be in there. */
enum { CAME_MAX = sizeof(union control) / sizeof(int) };

static const char other_build[] =
    "the session was made by another version of sbxrun";

void
session_stamp(struct session_stamp *stamp, enum session_kind kind)
{
	*stamp = (struct session_stamp){
		.sizes = sizeof(struct offer_head) << 16 |
		    sizeof(struct session_reply),
		.kind = kind,
	};
	memcpy(stamp->magic, SESSION_MAGIC, sizeof stamp->magic);
	strncpy(stamp->version, PACKAGE_VERSION, sizeof stamp->version - 1);
}

const char *
session_stamp_fault(const struct session_stamp *stamp)
{
	struct session_stamp own;

	session_stamp(&own, (enum session_kind)stamp->kind);
	errno = 0;
	return memcmp(&own, stamp, sizeof own) == 0 ? NULL : other_build;
}

/* Adds what goes with a message. */
static void
add_control(struct msghdr *message, int type, const void *bytes, size_t size)
{
	union control *control = message->msg_control;
	struct cmsghdr header = {
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = type,
		.cmsg_len = CMSG_LEN(size),
	};
	char *at = control->bytes + message->msg_controllen;

	memcpy(at, &header, sizeof header);
	memcpy(at + CMSG_LEN(0), bytes, size);
	message->msg_controllen += CMSG_SPACE(size);
}

enum {
	SIGNED = 1, /* the other end is to know who sends it */
	PATIENT =
	    2, /* until there is room: the kernel queues some 10 messages */
};

/* One message; a descriptor that is -1 does not go with it. */
static bool
send_message(int socket, void *bytes, size_t size,
    const int descriptors[OFFER_END], int how)
{
	const int wait = (how & PATIENT) != 0 ? 0 : MSG_DONTWAIT;
	union control control;
	struct iovec part = { bytes, size };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
	};
	const struct ucred us = { getpid(), geteuid(), getegid() };
	int going[OFFER_END];
	size_t count = 0;
	ssize_t sent;

	memset(&control, 0, sizeof control);
	for (int i = 0; descriptors != NULL && i < OFFER_END; i++) {
		if (descriptors[i] >= 0)
			going[count++] = descriptors[i];
	}
	if (count > 0)
		add_control(&message, SCM_RIGHTS, going, count * sizeof(int));
	if ((how & SIGNED) != 0)
		add_control(&message, SCM_CREDENTIALS, &us, sizeof us);
	do {
		sent = sendmsg(socket, &message, MSG_NOSIGNAL | wait);
	} while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)size;
}

const char *
session_ask(int socket, enum session_kind kind, int fd)
{
	struct session_request request;
	int descriptors[OFFER_END];

	for (int i = 0; i < OFFER_END; i++)
		descriptors[i] = -1;
	descriptors[0] = fd;
	session_stamp(&request.stamp, kind);
	/* A listener comes from the command's process, before it executes. */
	return send_message(socket, &request, sizeof request, descriptors,
		   kind != SESSION_LISTENER ? SIGNED | PATIENT : PATIENT) ?
	    NULL :
	    "cannot ask the keeper of the session";
}

const char *
session_reply(int socket, struct session_reply *reply,
    const int descriptors[OFFER_END])
{
	reply->descriptors = 0;
	for (int i = 0; descriptors != NULL && i < OFFER_END; i++)
		reply->descriptors |= descriptors[i] >= 0 ? 1U << i : 0;
	return send_message(socket, reply, sizeof *reply, descriptors, 0) ?
	    NULL :
	    "cannot answer who joins";
}

/* Descriptors that came and are not wanted must not stay open.  The sender is
 * who the kernel says, where the socket wants to know (SO_PASSCRED). */
static size_t
take_control(struct msghdr *message, int came[CAME_MAX], pid_t *sender)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(message);
	struct ucred who;
	size_t count = 0;

	for (; header != NULL; header = CMSG_NXTHDR(message, header)) {
		if (header->cmsg_level != SOL_SOCKET)
			continue;
		if (header->cmsg_type == SCM_RIGHTS && count == 0) {
			count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
			memcpy(came, CMSG_DATA(header), count * sizeof(int));
		} else if (header->cmsg_type == SCM_CREDENTIALS &&
		    header->cmsg_len == CMSG_LEN(sizeof who)) {
			memcpy(&who, CMSG_DATA(header), sizeof who);
			*sender = who.pid;
		}
	}
	return count;
}

static bool
sort_descriptors(uint32_t wanted, const int came[CAME_MAX], size_t count,
    int descriptors[OFFER_END])
{
	size_t used = 0;

	for (int i = 0; i < OFFER_END; i++) {
		descriptors[i] = -1;
		if ((wanted >> i & 1) != 0 && used < count)
			descriptors[i] = came[used++];
		else if ((wanted >> i & 1) != 0)
			return false;
	}
	return used == count && wanted >> OFFER_END == 0;
}

static void
close_all(int descriptors[], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (descriptors[i] >= 0)
			close(descriptors[i]);
		descriptors[i] = -1;
	}
}

const char *
session_hear(int socket, struct session_reply *reply,
    int descriptors[OFFER_END])
{
	union control control;
	struct iovec part = { reply, sizeof *reply };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof control,
	};
	int came[CAME_MAX];
	pid_t sender = 0;
	const char *fault;
	size_t count;
	ssize_t got;

	/* No answer is of that kind. */
	*reply = (struct session_reply){ .stamp.kind = SESSION_LISTENER };
	for (int i = 0; i < OFFER_END; i++)
		descriptors[i] = -1;
	do {
		got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got == 0 || (got < 0 && errno == ECONNRESET)) {
		reply->stamp.kind = SESSION_OVER;
		errno = 0;
		return "the keeper of the session has ended";
	}
	if (got < 0 && errno == EAGAIN) {
		errno = 0;
		return "the keeper of the session does not answer";
	}
	if (got < 0)
		return "cannot hear the keeper of the session";
	count = take_control(&message, came, &sender);
	fault = got != sizeof *reply ? other_build :
				       session_stamp_fault(&reply->stamp);
	errno = 0;
	if (fault == NULL && (message.msg_flags & MSG_CTRUNC) != 0) {
		fault = "cannot take the descriptors of the session";
		errno = EMFILE;
	}
	if (fault == NULL && reply->stamp.kind == SESSION_OVER)
		fault = "the session is ending";
	if (fault == NULL && reply->stamp.kind == SESSION_REFUSED) {
		reply->text[sizeof reply->text - 1] = '\0';
		fault = reply->text[0] != '\0' ? reply->text : other_build;
	}
	if (fault == NULL &&
	    !sort_descriptors(reply->descriptors, came, count, descriptors))
		fault = other_build;
	if (fault == NULL)
		return NULL;
	close_all(came, count);
	for (int i = 0; i < OFFER_END; i++)
		descriptors[i] = -1;
	return fault;
}

bool
session_requested(int socket, struct session_request *request, int *came,
    pid_t *sender)
{
	union control control;
	struct iovec part = { request, sizeof *request };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof control,
	};
	int descriptors[CAME_MAX];
	size_t count;
	ssize_t got = recvmsg(socket, &message,
	    MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

	if (got < 0)
		return false;
	*sender = 0;
	count = take_control(&message, descriptors, sender);
	*came = count == 1 ? descriptors[0] : -1;
	if (got == sizeof *request && count <= 1)
		return true;
	close_all(descriptors, count);
	return false;
}

bool
session_answer(int socket, enum session_kind kind, const char *text)
{
	struct session_reply reply = { .keeper = getpid() };

	session_stamp(&reply.stamp, kind);
	if (text != NULL)
		strncpy(reply.text, text, sizeof reply.text - 1);
	return session_reply(socket, &reply, NULL) == NULL;
}

/* What was sent already is read, and no more can come: closing a socket with
 * unread bytes would make the answer an error. */
void
session_turn_away(int socket, const char *text)
{
	struct session_request request;
	pid_t sender;
	int came = -1;

	shutdown(socket, SHUT_RD);
	while (session_requested(socket, &request, &came, &sender)) {
		if (came >= 0)
			close(came);
	}
	session_answer(socket, SESSION_REFUSED, text);
	close(socket);
}

/* --- the offer ------------------------------------------------------------ */

void
offer_none(struct offer *offer)
{
	offer->head = NULL;
	for (int i = 0; i < OFFER_END; i++)
		offer->descriptors[i] = -1;
}

void
offer_close(struct offer *offer)
{
	if (offer->head != NULL)
		munmap((void *)(uintptr_t)offer->head, offer->head->size);
	close_all(offer->descriptors, OFFER_END);
	offer_none(offer);
}

const char *
offer_text(const struct offer *offer, struct offer_text text)
{
	return (const char *)offer->head + text.at;
}

/* The keeper is trusted, as every process of the user outside of sandboxes; so
 * this finds only what is broken. */
static bool
is_whole(const struct offer_head *head, size_t size)
{
	bool whole = size >= sizeof *head && head->size == size &&
	    session_stamp_fault(&head->stamp) == NULL &&
	    head->blob_at % 8 == 0 && head->blob_at <= size &&
	    head->blob_size <= size - head->blob_at &&
	    head->filters_at % 8 == 0 && head->filters_at <= size &&
	    head->limit_count <= SBX_LIMIT_END &&
	    head->blob.size == head->blob_size;

	whole = whole && head->rules_at % 8 == 0 && head->rules_at <= size &&
	    head->places_at <= size && head->link_count <= head->place_count &&
	    (uint64_t)head->rule_count + head->socket_count <=
		(size - head->rules_at) / sizeof(struct offer_rule) &&
	    head->place_count <=
		(size - head->places_at) / sizeof(struct offer_text);
	for (int i = 0; whole && i < GUARD_END; i++) {
		const struct sbx_program *filter = &head->filters[i];
		uint64_t end = (uint64_t)filter->first + filter->count;

		whole = filter->count > 0 && filter->count <= SBX_MAX_INSNS &&
		    end <= (size - head->filters_at) / sizeof(struct sbx_insn);
	}
	return whole;
}

/* The pointers of a verified blob, where its bytes are now; false if one of
 * them was to elsewhere.  They lie side by side, from the first section to the
 * first count; limits are no part of the bytes (--limit). */
static bool
move_blob(struct sbx_blob *blob, const struct sbx_blob *from,
    const uint8_t *base)
{
	enum {
		FIRST = offsetof(struct sbx_blob, meta),
		END = offsetof(struct sbx_blob, strings_size),
		LIMITS = offsetof(struct sbx_blob, limits),
	};
	uintptr_t at[(END - FIRST) / sizeof(void *)];

	*blob = *from;
	blob->base = base;
	memcpy(at, (const char *)from + FIRST, sizeof at);
	for (size_t i = 0; i < countof(at); i++) {
		if (at[i] == 0 || i == (LIMITS - FIRST) / sizeof *at)
			continue;
		at[i] -= (uintptr_t)from->base;
		if (at[i] > from->size)
			return false;
		at[i] += (uintptr_t)base;
	}
	memcpy((char *)blob + FIRST, at, sizeof at);
	return true;
}

const char *
offer_map(struct offer *offer)
{
	int fd = offer->descriptors[OFFER_FILE];
	const int sealed = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW |
	    F_SEAL_WRITE;
	off_t size = lseek(fd, 0, SEEK_END);
	void *file;

	if (size < (off_t)sizeof(struct offer_head) ||
	    size > 2 * (off_t)SBX_MAX_SIZE ||
	    (fcntl(fd, F_GET_SEALS) & sealed) != sealed) {
		errno = 0;
		return other_build;
	}
	/* One fault maps what is near; MAP_POPULATE would map all. */
	file = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);
	if (file == MAP_FAILED)
		return "cannot map the session's policy";
	offer->head = file;
	if (!is_whole(offer->head, (size_t)size) ||
	    !move_blob(&offer->blob, &offer->head->blob,
		(const uint8_t *)file + offer->head->blob_at)) {
		/* offer_close() would believe the size in there. */
		munmap(file, (size_t)size);
		offer->head = NULL;
		errno = 0;
		return other_build;
	}
	errno = 0;
	offer->blob.limits = offer->head->limits;
	offer->blob.limit_count = offer->head->limit_count;
	offer->filters =
	    (const struct sbx_insn *)(const void *)((const char *)file +
		offer->head->filters_at);
	close(fd);
	offer->descriptors[OFFER_FILE] = -1;
	return NULL;
}

const char *
offer_take(int socket, struct offer *offer)
{
	static const int needed[] = { OFFER_FILE, OFFER_RULESET, OFFER_MOUNT,
		OFFER_PID, OFFER_IPC };
	const char *fault;

	offer_none(offer);
	fault = session_hear(socket, &offer->reply, offer->descriptors);
	if (fault != NULL)
		return fault;
	errno = 0;
	for (size_t i = 0; i < countof(needed); i++) {
		if (offer->descriptors[needed[i]] < 0)
			fault = other_build;
	}
	return fault != NULL ? fault : offer_map(offer);
}

const char *
offer_receive(int socket, struct offer *offer)
{
	const char *fault = session_ask(socket, SESSION_JOIN, -1);

	offer_none(offer);
	return fault != NULL ? fault : offer_take(socket, offer);
}
