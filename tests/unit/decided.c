/*
 * What the keeper of a session tells of the network (runtime/session/decided.c), and
 * what is taken of an answer that is none of it: who joins has room for so many
 * decisions, and believes no record.
 */
#include "runtime/session/session.h"
#include "tests/lib/tap.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

const char network_lost[] = "lost", network_shut[] = "shut";

static unsigned looks;

void
network_look(struct network *network)
{
	(void)network;
	looks++;
}

static struct tap tap;
static struct joining joining;
static int keeper; /* its end of the connection */

static void
join_network(uint32_t state)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		abort();
	memset(&joining, 0, sizeof joining);
	joining.offer.reply.network = state;
	joining.socket = ends[0];
	keeper = ends[1];
}

static void
leave(void)
{
	close(joining.socket);
	close(keeper);
}

static struct proxy_event
event(uint16_t port)
{
	return (struct proxy_event){
		.version = PROXY_EVENT_VERSION,
		.verdict = PROXY_NO_RULE,
		.port = port,
		.name = "a.example",
	};
}

/* The numbers of decisions that were told, that were not, and "shared". */
static void
is(const char *name, uint32_t count, uint64_t beyond, bool shared)
{
	const struct decisions *got = &joining.supervision.network.decisions;

	tap_ok(&tap,
	    got->count == count && got->beyond == beyond &&
		got->shared == shared,
	    "%s: %u, %llu, %d", name, got->count,
	    (unsigned long long)got->beyond, got->shared);
}

/* --- what the keeper says ------------------------------------------------- */

/* So many decisions came before a command began, and while it ran. */
static void
test_told(const char *name, uint32_t before, uint32_t during, uint32_t told)
{
	static struct decision_log log;
	static struct network network;
	struct beginning beginning = { before, true };

	network = (struct network){ .count = 1, .log = &log };
	log.count = 0;
	for (uint32_t i = 0; i < before + during; i++) {
		struct proxy_event came = event((uint16_t)(i + 1));

		decisions_log(&log, &came, sizeof came);
	}
	join_network(SESSION_OPEN);
	looks = 0;
	tap_ok(&tap, decided_answer(&network, keeper, &beginning) && looks == 1,
	    "%s: it looks, and answers", name);
	decided_ask(&joining);
	is(name, told, during - told, true);
	if (told > 0)
		tap_ok(&tap,
		    joining.supervision.network.decisions.all[0].event.port ==
			before + 1,
		    "%s: from the first on", name);
	leave();
}

/* --- what is no answer of it ---------------------------------------------- */

/* An answer with so many records, in a file with room for so many. */
static void
answer(uint32_t said, uint32_t there, const struct proxy_event *of)
{
	struct decision decision = { *of, 1 };
	struct session_reply reply = { .network = SESSION_OPEN,
		.decided = said };
	int descriptors[OFFER_END];

	for (int i = 0; i < OFFER_END; i++)
		descriptors[i] = -1;
	descriptors[OFFER_FILE] = memfd_create("records", MFD_CLOEXEC);
	for (uint32_t i = 0; i < there; i++) {
		if (write(descriptors[OFFER_FILE], &decision,
			sizeof decision) != sizeof decision)
			abort();
	}
	session_stamp(&reply.stamp, SESSION_NETWORK);
	if (session_reply(keeper, &reply, descriptors) != NULL)
		abort();
	close(descriptors[OFFER_FILE]);
}

static void
test_answer(const char *name, uint32_t said, uint32_t there,
    const struct proxy_event *of, uint32_t taken)
{
	int next;

	join_network(SESSION_OPEN);
	answer(said, there, of);
	next = dup(keeper);
	close(next);
	decided_ask(&joining);
	is(name, taken, 0, false);
	tap_ok(&tap, joining.supervision.network.log == NULL,
	    "%s: nothing behind it is written", name);
	tap_ok(&tap, fcntl(next, F_GETFD) < 0, "%s: nothing stays open", name);
	leave();
}

static void
test_answers(void)
{
	struct proxy_event good = event(1), other = good, endless = good;

	other.version++;
	memset(endless.name, 'n', sizeof endless.name);
	test_answer("a decision", 1, 1, &good, 1);
	test_answer("as many as there is room for", DECISIONS_MAX,
	    DECISIONS_MAX, &good, DECISIONS_MAX);
	test_answer("one more", DECISIONS_MAX + 1, DECISIONS_MAX + 1, &good, 0);
	test_answer("fewer than it says", 3, 2, &good, 0);
	test_answer("records of another version", 2, 2, &other, 0);
	test_answer("a name without an end", 2, 2, &endless, 0);
}

/* Nobody is asked where there is no network, or none any more. */
static void
test_others(void)
{
	char byte;

	join_network(SESSION_WITHOUT);
	decided_ask(&joining);
	tap_ok(&tap, recv(keeper, &byte, 1, MSG_DONTWAIT) < 0,
	    "without a network nobody is asked");
	leave();
	join_network(SESSION_SHUT);
	decided_ask(&joining);
	tap_ok(&tap, recv(keeper, &byte, 1, MSG_DONTWAIT) < 0,
	    "nor where it is shut");
	leave();
}

int
main(void)
{
	test_told("nothing", 5, 0, 0);
	test_told("one", 5, 1, 1);
	test_told("as many as there is room for", 3, DECISIONS_MAX,
	    DECISIONS_MAX);
	test_told("and one more", 3, DECISIONS_MAX + 1, DECISIONS_MAX);
	test_answers();
	test_others();
	return tap_done(&tap);
}
