/*
 * Names that no rule is about, where somebody is there to be asked (sbxrun --ask).
 * The connection waits, and the question goes over a socket to a process outside,
 * which asks a person or a program of his.
 *
 *	connection -> ask() -> the last asker ... its answer -> decide_answered()
 *
 * A name is asked about once, however many connections want it, and what was
 * answered counts as long as this process lives; only an answer for once is over
 * soon.  No name loses its place to another one, so nobody inside can have
 * something asked again by asking for much else; what has no place is refused as
 * without an asker.  Of two askers, of commands in one session, the later is asked.
 */
#include "runtime/proxy/proxy.h"

#include "format/protocol.h"
#include "runtime/base/kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* Beside the answers: nobody was asked, or has answered yet. */
enum { UNASKED = 0, WAITING = SBX_ANSWER_END };

struct asked {
	char name[SBX_NAME_SIZE];
	uint16_t port;  /* 0: those of the web */
	uint8_t answer; /* enum sbx_answer, UNASKED, WAITING */
	int asker;      /* of WAITING: its descriptor */
	int64_t until;  /* of SBX_ANSWER_ONCE */
};

/* --- which names ---------------------------------------------------------- */

static bool
ends_with(const char *name, const char *tail)
{
	size_t len = strlen(name), end = strlen(tail);

	return len >= end && strcmp(name + len - end, tail) == 0;
}

/* A single label is a host of here, or a search for one; and this machine has no
 * name. */
static bool
is_askable(const char *name)
{
	return strchr(name, '.') != NULL && !ends_with(name, ".localhost") &&
	    !ends_with(name, ".arpa");
}

bool
ask_may_lead(const struct proxy *proxy, const char *name)
{
	struct sbx_name_verdict verdict = sbx_name_verdict(&proxy->blob,
	    KERNEL_WHERE, name, 443);

	if (verdict.rule != UINT32_MAX || !is_askable(name))
		return false;
	if (proxy->asker_count > 0)
		return true;
	for (uint32_t i = 0; i < proxy->asked_count; i++) {
		const struct asked *asked = &proxy->asked[i];

		if (asked->answer == SBX_ANSWER_SESSION &&
		    strcmp(asked->name, name) == 0)
			return true;
	}
	return false;
}

/* NULL: there is no place for it. */
static struct asked *
find(struct proxy *proxy, const struct target *target)
{
	uint16_t port = sbx_port_is_web(target->port) ? 0 : target->port;
	struct asked *asked;

	if (proxy->asked == NULL)
		proxy->asked = calloc(ASKED_MAX, sizeof *asked);
	for (uint32_t i = 0; i < proxy->asked_count; i++) {
		asked = &proxy->asked[i];
		if (asked->port == port &&
		    strcmp(asked->name, target->name) == 0)
			return asked;
	}
	if (proxy->asked == NULL || proxy->asked_count == ASKED_MAX ||
	    proxy->asker_count == 0 || proxy->asked_waiting >= ASKED_AT_ONCE)
		return NULL;
	asked = &proxy->asked[proxy->asked_count++];
	strcpy(asked->name, target->name);
	asked->port = port;
	return asked;
}

/* --- questions ------------------------------------------------------------ */

static void
set_answer(struct proxy *proxy, struct asked *asked, uint8_t answer)
{
	proxy->asked_waiting += answer == WAITING;
	proxy->asked_waiting -= asked->answer == WAITING;
	asked->answer = answer;
	asked->until = proxy->now + ONCE_TIME;
}

/* To the last one; he may be gone. */
static void
send_question(struct proxy *proxy, struct asked *asked, uint16_t port)
{
	struct sbx_question question = {
		.number = (uint32_t)(asked - proxy->asked),
		.port = port,
	};
	const struct asker *last = NULL;

	strcpy(question.name, asked->name);
	for (int i = 0; i < ASKERS_MAX; i++) {
		const struct asker *asker = &proxy->askers[i];

		if (asker->fd > 0 && (last == NULL || asker->age > last->age))
			last = asker;
	}
	if (last == NULL ||
	    send(last->fd, &question, sizeof question,
		MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof question)
		return;
	asked->asker = last->fd;
	set_answer(proxy, asked, WAITING);
}

static enum proxy_verdict
verdict_of(const struct asked *asked)
{
	switch (asked->answer) {
	case SBX_ANSWER_ONCE:
	case SBX_ANSWER_SESSION:
		return PROXY_ANSWERED;
	case SBX_ANSWER_NO:
		return PROXY_REFUSED;
	default:
		return PROXY_UNANSWERED;
	}
}

void
ask(struct proxy *proxy, struct conn *conn)
{
	struct asked *asked = is_askable(conn->target.name) &&
		!sbx_way_is_reserved(conn->target.port) ?
	    find(proxy, &conn->target) :
	    NULL;

	if (asked != NULL && asked->answer == SBX_ANSWER_ONCE &&
	    asked->until < proxy->now)
		set_answer(proxy, asked, UNASKED);
	if (asked != NULL && asked->answer == UNASKED &&
	    proxy->asked_waiting < ASKED_AT_ONCE)
		send_question(proxy, asked, conn->target.port);
	if (asked == NULL || asked->answer == UNASKED ||
	    (asked->answer == WAITING && proxy->held_count == HELD_MAX)) {
		decide_answered(proxy, conn, PROXY_NO_RULE);
	} else if (asked->answer == WAITING) {
		conn->stage = STAGE_ASKED;
		conn->deadline = proxy->now + HELD_TIME;
		conn->number = (uint32_t)(asked - proxy->asked);
		proxy->held_count++;
	} else {
		decide_answered(proxy, conn, verdict_of(asked));
	}
}

void
ask_forget(struct proxy *proxy, struct conn *conn)
{
	if (conn->stage != STAGE_ASKED)
		return;
	/* Not twice. */
	conn->stage = STAGE_DRAIN;
	proxy->held_count--;
}

/* --- answers -------------------------------------------------------------- */

static void
settle(struct proxy *proxy, struct asked *asked, uint8_t answer)
{
	const uint32_t number = (uint32_t)(asked - proxy->asked);

	set_answer(proxy, asked, answer);
	for (struct conn *conn = proxy->conns; conn != NULL;
	     conn = conn->next) {
		if (conn->dead || conn->stage != STAGE_ASKED ||
		    conn->number != number)
			continue;
		ask_forget(proxy, conn);
		decide_answered(proxy, conn, verdict_of(asked));
	}
}

/* What it was asked is open again, for whoever wants it next. */
static void
end_asker(struct proxy *proxy, struct asker *asker)
{
	int fd = asker->fd;

	asker->fd = 0;
	proxy->asker_count--;
	for (uint32_t i = 0; i < proxy->asked_count; i++) {
		struct asked *asked = &proxy->asked[i];

		if (asked->answer == WAITING && asked->asker == fd)
			settle(proxy, asked, UNASKED);
	}
	close(fd);
}

static void
asker_ready(struct proxy *proxy, struct source *source, uint32_t events)
{
	struct asker *asker = (struct asker *)(void *)source;
	struct sbx_reply reply;
	ssize_t len = 0;

	(void)events;
	while (asker->fd > 0 &&
	    (len = recv(asker->fd, &reply, sizeof reply, MSG_DONTWAIT)) ==
		sizeof reply) {
		struct asked *asked = reply.number < proxy->asked_count ?
		    &proxy->asked[reply.number] :
		    NULL;

		if (asked != NULL && asked->answer == WAITING &&
		    asked->asker == asker->fd && reply.answer > UNASKED &&
		    reply.answer < SBX_ANSWER_END)
			settle(proxy, asked, (uint8_t)reply.answer);
	}
	if (asker->fd > 0 && (len >= 0 || errno != EAGAIN))
		end_asker(proxy, asker);
}

void
ask_begin(struct proxy *proxy, int fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLRDHUP };
	/* Whether a ceiling allows a name that no rule is about, its rules do not
	 * say any more once they are cut with the policy's: nobody may. */
	bool asks = (proxy->blob.meta->flags & SBX_CUT) == 0;

	for (int i = 0; asks && i < ASKERS_MAX; i++) {
		struct asker *asker = &proxy->askers[i];

		event.data.ptr = &asker->source;
		if (asker->fd > 0 ||
		    epoll_ctl(proxy->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
			continue;
		*asker = (struct asker){ { asker_ready }, fd,
			++proxy->last_asker };
		proxy->asker_count++;
		return;
	}
	close(fd);
}
