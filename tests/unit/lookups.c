/*
 * The row of connections of sbx-proxy's that wait for the address of a name, and
 * what comes of an answer: the other process is this test.
 */
#include "runtime/base/kernel.h"
#include "runtime/proxy/confine.h"
#include "runtime/proxy/lookup.h"
#include "tests/lib/tap.h"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROW = LOOKUPS_MAX + 5, NO_VERDICT = PROXY_VERDICT_END };

static struct proxy proxy;
static struct conn conns[ROW];
static int other = -1; /* the end of the process that looks names up */
static bool starts = true, is_private, all_open;
static struct conn *connected;
static unsigned verdicts[ROW];

bool
process_start(void (*serve)(int socket), int socket)
{
	(void)serve;
	other = dup(socket);
	return starts;
}

void
lookup_serve(int socket)
{
	_exit(socket);
}

void
proxy_fail(const char *text, int error)
{
	printf("Bail out! %s: %s\n", text, strerror(error));
	exit(1);
}

/* Of a name that is public, addresses that begin with 1; of one that is private,
 * with 2. */
bool
address_is_open(const struct proxy *asking, const struct conn *conn,
    const uint8_t address[SBX_ADDRESS_SIZE])
{
	(void)asking;
	return all_open || address[0] == (conn->is_private ? 2 : 1);
}

bool
address_may_be_private(const uint8_t address[SBX_ADDRESS_SIZE])
{
	return address[0] == 2;
}

void
connect_start(struct proxy *asking, struct conn *conn)
{
	(void)asking;
	conn->stage = STAGE_CONNECT;
	connected = conn;
}

void
client_refused(struct proxy *asking, struct conn *conn,
    enum proxy_verdict verdict)
{
	(void)asking;
	conn->stage = STAGE_DRAIN;
	verdicts[conn - conns] = verdict;
}

/* --- the stage ------------------------------------------------------------- */

static void
ask(unsigned number)
{
	struct conn *conn = &conns[number];

	*conn = (struct conn){ .id = number + 1, .next = proxy.conns };
	snprintf(conn->target.name, sizeof conn->target.name, "n%u.example",
	    number);
	conn->is_private = is_private;
	verdicts[number] = NO_VERDICT;
	proxy.conns = conn;
	lookup_ask(&proxy, conn);
}

/* The number of who is asked for next; -1: nobody, ROW: a wrong name. */
static int
next_query(void)
{
	struct lookup_query query;
	char name[SBX_NAME_SIZE];

	if (recv(other, &query, sizeof query, MSG_DONTWAIT) !=
	    (ssize_t)sizeof query)
		return -1;
	snprintf(name, sizeof name, "n%u.example", (unsigned)query.id - 1);
	return strcmp(name, query.name) == 0 ? (int)query.id - 1 : ROW;
}

static void
say(unsigned number, enum lookup_outcome outcome, uint8_t first, uint8_t second)
{
	struct lookup_answer answer = {
		.id = number + 1,
		.outcome = (uint8_t)outcome,
		.count = outcome == LOOKUP_FOUND ? 2 : 0,
	};

	/* What is no part of the answer would be private. */
	for (int i = 0; i < ADDRESSES_MAX; i++)
		answer.addresses[i][0] = 2;
	answer.addresses[0][0] = first;
	answer.addresses[1][0] = second;
	if (send(other, &answer, sizeof answer, 0) != (ssize_t)sizeof answer)
		printf("Bail out! an answer is not sent\n");
	proxy.lookups.ready(&proxy, &proxy.lookups, EPOLLIN);
}

/* --- the cases ------------------------------------------------------------- */

/* Without room for descriptors there is no socket to ask by. */
static void
test_start(struct tap *tap)
{
	struct rlimit before, none;

	proxy.epoll = epoll_create1(EPOLL_CLOEXEC);
	getrlimit(RLIMIT_NOFILE, &before);
	none = (struct rlimit){ 0, before.rlim_max };
	setrlimit(RLIMIT_NOFILE, &none);
	tap_ok(tap, !lookup_start(&proxy) && other < 0,
	    "no process without a socket");
	setrlimit(RLIMIT_NOFILE, &before);
	starts = false;
	tap_ok(tap, !lookup_start(&proxy) && other >= 0,
	    "one that does not start");
	close(other);
	starts = true;
	tap_ok(tap, lookup_start(&proxy), "one that starts");
}

static void
test_row(struct tap *tap)
{
	int in_order = 0;

	for (unsigned i = 0; i < LOOKUPS_MAX + 3; i++)
		ask(i);
	while (next_query() == in_order)
		in_order++;
	tap_ok(tap, in_order == LOOKUPS_MAX, "so many are asked for at a time");
	lookup_forget(&proxy, &conns[0]);
	lookup_forget(&proxy, &conns[LOOKUPS_MAX + 2]);
	ask(LOOKUPS_MAX + 3);
	lookup_forget(&proxy, &conns[LOOKUPS_MAX]);
	say(1, LOOKUP_FAILED, 0, 0);
	tap_ok(tap, next_query() == LOOKUPS_MAX + 1 && next_query() == -1,
	    "the first one was forgotten: the second one is next");
	say(2, LOOKUP_FAILED, 0, 0);
	tap_ok(tap, next_query() == LOOKUPS_MAX + 3 && next_query() == -1,
	    "the last one was forgotten: who came behind it is next");
	tap_ok(tap, proxy.waiting == NULL, "nobody waits any more");
	say(3, LOOKUP_FAILED, 0, 0);
	ask(LOOKUPS_MAX + 4);
	tap_ok(tap, next_query() == LOOKUPS_MAX + 4, "and the row goes on");
	ask(1);
	ask(2);
	say(4, LOOKUP_FAILED, 0, 0);
	ask(3);
	say(5, LOOKUP_FAILED, 0, 0);
	say(6, LOOKUP_FAILED, 0, 0);
	tap_ok(tap,
	    next_query() == 1 && next_query() == 2 && next_query() == 3 &&
		next_query() == -1,
	    "in order, also for who comes while others wait");
}

/* Those of whom the row was full are answered; what is left is judged. */
static void
test_answers(struct tap *tap)
{
	static const struct {
		const char *what;
		bool is_private;
		enum lookup_outcome outcome;
		uint8_t first, second;
		unsigned count; /* of addresses that are connected to */
		enum proxy_verdict verdict;
	} cases[] = {
		{ "both are open", false, LOOKUP_FOUND, 1, 1, 2, 0 },
		{ "the second is", false, LOOKUP_FOUND, 2, 1, 1, 0 },
		{ "private ones are", true, LOOKUP_FOUND, 2, 1, 1, 0 },
		{ "private ones are not", false, LOOKUP_FOUND, 3, 2, 0,
		    PROXY_PRIVATE },
		{ "none ever is", false, LOOKUP_FOUND, 3, 3, 0,
		    PROXY_RESERVED },
		{ "none is private", true, LOOKUP_FOUND, 1, 1, 0,
		    PROXY_RESERVED },
		{ "there is no such name", false, LOOKUP_NO_SUCH_NAME, 1, 1, 0,
		    PROXY_NO_SUCH_NAME },
		{ "nobody knows", false, LOOKUP_FAILED, 1, 1, 0, PROXY_FAILED },
	};

	for (unsigned i = 4; i < LOOKUPS_MAX; i++)
		say(i, LOOKUP_FAILED, 0, 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct conn *conn = &conns[0];

		is_private = cases[i].is_private;
		connected = NULL;
		proxy.conns = NULL;
		ask(0);
		next_query();
		say(0, cases[i].outcome, cases[i].first, cases[i].second);
		tap_ok(tap,
		    cases[i].count > 0 ?
			connected == conn && verdicts[0] == NO_VERDICT &&
			    conn->address_count == cases[i].count &&
			    conn->addresses[0][0] == cases[i].is_private + 1 :
			connected == NULL && verdicts[0] == cases[i].verdict,
		    "an answer: %s", cases[i].what);
	}
}

/* Where a rule denies one of the addresses, and no other one could be opened, it
 * is that rule. */
static void
test_denied(struct tap *tap)
{
	static const struct sbx_endpoint rules[] = {
		{ .address = { 9 },
		    .high = UINT16_MAX,
		    .prefix = 8,
		    .effect = SBX_DENY,
		    .platforms = SBX_ON_ALL },
		{ .address = { 3 },
		    .high = UINT16_MAX,
		    .prefix = 8,
		    .effect = SBX_DENY,
		    .platforms = SBX_ON_ALL },
	};

	proxy.blob.endpoints = rules;
	proxy.blob.endpoint_count = 2;
	is_private = false;
	connected = NULL;
	proxy.conns = NULL;
	ask(0);
	next_query();
	say(0, LOOKUP_FOUND, 3, 4);
	tap_ok(tap,
	    connected == NULL && verdicts[0] == PROXY_DENIED &&
		conns[0].via == PROXY_BY_ENDPOINT && conns[0].rule == 1,
	    "an answer: a rule denies one: %u", verdicts[0]);
	proxy.conns = NULL;
	ask(0);
	next_query();
	say(0, LOOKUP_FOUND, 3, 2);
	tap_ok(tap, connected == NULL && verdicts[0] == PROXY_PRIVATE,
	    "an answer: but another one is private");
	proxy.blob.endpoint_count = 0;
}

/* Whatever number is said. */
static void
test_many(struct tap *tap)
{
	const struct lookup_answer answer = {
		.id = 1,
		.outcome = LOOKUP_FOUND,
		.count = ADDRESSES_MAX + 1,
	};

	all_open = true;
	connected = NULL;
	proxy.conns = NULL;
	ask(0);
	next_query();
	if (send(other, &answer, sizeof answer, 0) != (ssize_t)sizeof answer)
		printf("Bail out! an answer is not sent\n");
	proxy.lookups.ready(&proxy, &proxy.lookups, EPOLLIN);
	all_open = false;
	tap_ok(tap,
	    connected == &conns[0] && conns[0].address_count == ADDRESSES_MAX,
	    "no more addresses than there is room for");
}

/* Who has gone, or is on its way, gets no answer. */
static void
test_late(struct tap *tap)
{
	connected = NULL;
	proxy.conns = NULL;
	ask(0);
	ask(1);
	conns[0].dead = true;
	conns[1].stage = STAGE_CONNECT;
	say(0, LOOKUP_FOUND, 2, 2);
	say(1, LOOKUP_FOUND, 2, 2);
	say(7, LOOKUP_FOUND, 2, 2);
	tap_ok(tap, connected == NULL && verdicts[0] == NO_VERDICT,
	    "an answer that nobody waits for");
}

static void
test_end(struct tap *tap, bool says)
{
	pid_t child;
	int status;

	if (says)
		send(other, "", 1, 0);
	else
		close(other);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		proxy.lookups.ready(&proxy, &proxy.lookups, EPOLLIN);
		_exit(0);
	}
	waitpid(child, &status, 0);
	tap_ok(tap, WIFEXITED(status) && WEXITSTATUS(status) == 125,
	    "%s, and so does the proxy",
	    says ? "an answer makes no sense" : "the process ends");
}

int
main(void)
{
	struct tap tap = { 0 };

	test_start(&tap);
	test_row(&tap);
	test_answers(&tap);
	test_denied(&tap);
	test_many(&tap);
	test_late(&tap);
	test_end(&tap, true);
	test_end(&tap, false);
	return tap_done(&tap);
}
