/*
 * What goes between a session's keeper and who joins (runtime/session/offer.c):
 * which messages are taken, that nothing of the others stays open, and which
 * files are an offer.
 */
#include "runtime/session/offer.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { MANY = 20 /* descriptors: more than a message has room for */ };

static const char other[] = "the session was made by another version of sbxrun";

static struct tap tap;
static int ends[2]; /* what is sent by the first comes from the second */

static void
connect_ends(void)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		abort();
}

static void
close_ends(void)
{
	close(ends[0]);
	close(ends[1]);
}

/* A message of these bytes, with as many descriptors of /. */
static void
send_raw(const void *bytes, size_t size, size_t count)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(MANY * sizeof(int))];
	} control = { .header = { CMSG_LEN(count * sizeof(int)), SOL_SOCKET,
			  SCM_RIGHTS } };
	struct iovec part = { (void *)(uintptr_t)bytes, size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	int fd = open("/", O_PATH | O_CLOEXEC), going[MANY] = { 0 };

	for (size_t i = 0; i < count; i++)
		going[i] = fd;
	memcpy(CMSG_DATA(&control.header), going, count * sizeof(int));
	if (count > 0) {
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
	}
	if (sendmsg(ends[0], &message, MSG_NOSIGNAL) != (ssize_t)size)
		abort();
	close(fd);
}

/* --- requests ------------------------------------------------------------- */

static void
requested(const char *what, size_t size, size_t count, bool wanted)
{
	struct session_request request;
	int came = -1, before = tap_descriptors();
	pid_t sender = -1;
	bool got;

	session_stamp(&request.stamp, SESSION_LOOK);
	send_raw(&request, size, count);
	memset(&request, 0, sizeof request);
	got = session_requested(ends[1], &request, &came, &sender);
	tap_ok(&tap, got == wanted && (!got || sender == 0), "a request %s",
	    what);
	tap_ok(&tap, !got || request.stamp.kind == SESSION_LOOK,
	    "%s: what it asks", what);
	tap_ok(&tap, !got || (came >= 0) == (count == 1), "%s: its descriptor",
	    what);
	if (got && came >= 0)
		close(came);
	tap_ok(&tap, tap_descriptors() == before, "%s: no other is open", what);
}

static void
check_requests(void)
{
	const size_t size = sizeof(struct session_request);
	struct session_request request;
	const int on = 1;
	pid_t sender;
	int came;

	connect_ends();
	tap_ok(&tap, !session_requested(ends[1], &request, &came, &sender),
	    "nobody waits for a request");
	requested("alone", size, 0, true);
	requested("with a descriptor", size, 1, true);
	requested("with two", size, 2, false);
	requested("with more than there is room for", size, MANY, false);
	requested("a byte too short", size - 1, 0, false);
	requested("a byte too short with a descriptor", size - 1, 1, false);
	setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
	tap_ok(&tap,
	    session_ask(ends[0], SESSION_JOIN, -1) == NULL &&
		session_requested(ends[1], &request, &came, &sender) &&
		sender == getpid() && came < 0 &&
		request.stamp.kind == SESSION_JOIN,
	    "who asks is known");
	close(ends[0]);
	tap_ok(&tap, !session_requested(ends[1], &request, &came, &sender),
	    "a connection that was closed");
	tap_ok(&tap,
	    strcmp(session_ask(ends[1], SESSION_JOIN, -1),
		"cannot ask the keeper of the session") == 0 &&
		errno == EPIPE,
	    "nobody can be asked by it");
	close(ends[1]);
}

static void
check_stamp(void)
{
	struct session_stamp stamp;

	session_stamp(&stamp, SESSION_END);
	tap_ok(&tap, session_stamp_fault(&stamp) == NULL, "a stamp");
	for (size_t i = 0; i < offsetof(struct session_stamp, kind); i++) {
		((char *)&stamp)[i] ^= 1;
		if (session_stamp_fault(&stamp) == NULL)
			tap_ok(&tap, false, "a stamp with another byte %zu", i);
		((char *)&stamp)[i] ^= 1;
	}
}

/* --- replies -------------------------------------------------------------- */

/* What is heard of a reply of that size, with the bits and the descriptors. */
static void
hears(const char *what, struct session_reply *reply, size_t size, uint32_t bits,
    size_t count, const char *wanted, int wanted_errno)
{
	struct {
		struct session_reply reply;
		char after[8];
	} heard = { .after = "beyond" };
	int descriptors[OFFER_END], before = tap_descriptors(), error;
	uint32_t came = 0;
	const char *fault;

	memset(descriptors, 0, sizeof descriptors);
	reply->descriptors = bits;
	send_raw(reply, size, count);
	errno = EDOM;
	fault = session_hear(ends[1], &heard.reply, descriptors);
	error = errno;
	if (!tap_ok(&tap,
		wanted == NULL ? fault == NULL :
				 fault != NULL && strcmp(fault, wanted) == 0 &&
			error == wanted_errno,
		"a reply %s", what))
		printf("# %s, errno %d\n", fault, error);
	for (int i = 0; i < OFFER_END; i++) {
		came |= descriptors[i] >= 0 ? 1U << i : 0;
		if (descriptors[i] >= 0)
			close(descriptors[i]);
	}
	tap_ok(&tap, came == (wanted == NULL ? bits : 0),
	    "%s: the descriptors, each in its place", what);
	tap_ok(&tap, tap_descriptors() == before, "%s: no other is open", what);
}

/* Where no reply comes. */
static void
hears_nothing(const char *wanted, uint32_t kind)
{
	struct session_reply reply;
	int descriptors[OFFER_END];
	const char *fault;

	errno = EDOM;
	fault = session_hear(ends[1], &reply, descriptors);
	tap_ok(&tap,
	    fault != NULL && strcmp(fault, wanted) == 0 && errno == 0 &&
		reply.stamp.kind == kind && descriptors[OFFER_END - 1] == -1,
	    "%s", wanted);
}

static void
check_replies(void)
{
	static const struct timeval brief = { .tv_usec = 1000 };
	struct session_reply reply = { .first = 7 };
	const size_t size = sizeof reply;
	char text[sizeof reply.text];

	connect_ends();
	session_stamp(&reply.stamp, SESSION_JOIN);
	hears("alone", &reply, size, 0, 0, NULL, 0);
	hears("with one descriptor", &reply, size, 4, 1, NULL, 0);
	hears("with some", &reply, size, 0x115, 4, NULL, 0);
	hears("with all", &reply, size, (1U << OFFER_END) - 1, OFFER_END, NULL,
	    0);
	hears("with too few", &reply, size, 7, 2, other, 0);
	hears("with none of two", &reply, size, 3, 0, other, 0);
	hears("with one more", &reply, size, 3, 3, other, 0);
	hears("with an unknown one", &reply, size, 1 | 1U << OFFER_END, 1,
	    other, 0);
	hears("with more than there is room for", &reply, size, 7, MANY,
	    "cannot take the descriptors of the session", EMFILE);
	hears("a byte too short", &reply, size - 1, 1, 1, other, 0);
	reply.stamp.version[0] ^= 1;
	hears("of another version", &reply, size, 1, 1, other, 0);
	session_stamp(&reply.stamp, SESSION_OVER);
	hears("at the end", &reply, size, 1, 1, "the session is ending", 0);
	session_stamp(&reply.stamp, SESSION_REFUSED);
	hears("without a reason", &reply, size, 0, 0, other, 0);
	strcpy(reply.text, "why");
	hears("with a reason", &reply, size, 1, 1, "why", 0);
	memset(reply.text, 'x', sizeof reply.text);
	memset(text, 'x', sizeof text);
	text[sizeof text - 1] = '\0';
	hears("with a reason that has no end", &reply, size, 0, 0, text, 0);
	setsockopt(ends[1], SOL_SOCKET, SO_RCVTIMEO, &brief, sizeof brief);
	hears_nothing("the keeper of the session does not answer",
	    SESSION_LISTENER);
	close(ends[0]);
	hears_nothing("the keeper of the session has ended", SESSION_OVER);
	close(ends[1]);
}

static void
check_answers(void)
{
	struct session_reply reply;
	struct session_request request;
	int descriptors[OFFER_END], before;
	char text[2 * sizeof reply.text];

	memset(text, 'x', sizeof text);
	text[sizeof text - 1] = '\0';
	connect_ends();
	tap_ok(&tap,
	    session_answer(ends[0], SESSION_REFUSED, text) &&
		session_hear(ends[1], &reply, descriptors) != NULL &&
		strlen(reply.text) == sizeof reply.text - 1 &&
		reply.keeper == getpid(),
	    "an answer is cut where it does not fit");
	tap_ok(&tap,
	    session_answer(ends[0], SESSION_END, NULL) &&
		session_hear(ends[1], &reply, descriptors) == NULL &&
		reply.stamp.kind == SESSION_END && reply.text[0] == '\0',
	    "an answer without a text");
	close_ends();

	before = tap_descriptors();
	connect_ends();
	session_stamp(&request.stamp, SESSION_JOIN);
	send_raw(&request, sizeof request, 1);
	send_raw(&request, sizeof request, 0);
	session_turn_away(ends[1], "not you");
	tap_ok(&tap, fcntl(ends[1], F_GETFD) < 0 && errno == EBADF,
	    "who is turned away: the connection is closed");
	tap_ok(&tap,
	    strcmp(session_hear(ends[0], &reply, descriptors), "not you") == 0,
	    "who is turned away is told why");
	tap_ok(&tap,
	    session_hear(ends[0], &reply, descriptors) != NULL &&
		reply.stamp.kind == SESSION_OVER,
	    "and nothing else");
	close(ends[0]);
	tap_ok(&tap, tap_descriptors() == before,
	    "what came with requests is not open");

	connect_ends();
	close(ends[1]);
	tap_ok(&tap, !session_answer(ends[0], SESSION_END, NULL),
	    "an answer to nobody");
	tap_ok(&tap, session_reply(ends[0], &reply, NULL) != NULL,
	    "a reply to nobody");
	close(ends[0]);
}

/* --- the file ------------------------------------------------------------- */

enum {
	SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE,
	TEXT_AT = (sizeof(struct offer_head) + 7) / 8 * 8,
	BLOB_AT = TEXT_AT + 16,
	BLOB_SIZE = 64,
	FILTERS_AT = BLOB_AT + BLOB_SIZE,
	RULES_AT = FILTERS_AT + 4 * sizeof(struct sbx_insn),
	PLACES_AT = RULES_AT + 3 * sizeof(struct offer_rule),
	SIZE = PLACES_AT + 2 * sizeof(struct offer_text),
};

static struct offer_head head;
static _Alignas(8) char blob[BLOB_SIZE]; /* where it was verified */

static void
make_head(void)
{
	session_stamp(&head.stamp, SESSION_JOIN);
	head.size = SIZE;
	head.blob_at = BLOB_AT;
	head.blob_size = head.blob.size = BLOB_SIZE;
	head.blob.base = (const uint8_t *)blob;
	head.blob.meta = (const void *)(blob + 8);
	head.blob.proxies = (const void *)(blob + BLOB_SIZE);
	head.blob.limits = head.limits;
	head.filters_at = FILTERS_AT;
	for (uint32_t i = 0; i < GUARD_END; i++)
		head.filters[i] = (struct sbx_program){ .first = 2 * i,
			.count = 2 };
	head.rules_at = RULES_AT;
	head.rule_count = 2;
	head.socket_count = 1;
	head.places_at = PLACES_AT;
	head.place_count = 2;
	head.link_count = 1;
	head.limit_count = 3;
	head.policy = (struct offer_text){ TEXT_AT, 6 };
}

static int
make_file(off_t size, int seals)
{
	int fd = memfd_create("offer", MFD_ALLOW_SEALING | MFD_CLOEXEC);

	if (fd < 0 || pwrite(fd, &head, sizeof head, 0) != sizeof head ||
	    pwrite(fd, "policy", 7, TEXT_AT) != 7 || ftruncate(fd, size) != 0 ||
	    fcntl(fd, F_ADD_SEALS, seals) != 0)
		abort();
	return fd;
}

static bool
is_mapped(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	bool found = false;

	while (maps != NULL && !found && fgets(line, sizeof line, maps) != NULL)
		found = strstr(line, "/memfd:offer") != NULL;
	if (maps == NULL)
		abort();
	fclose(maps);
	return found;
}

static void
maps_file(const char *what, off_t size, int seals, bool whole)
{
	int before = tap_descriptors();
	struct offer offer;
	const char *fault;

	offer_none(&offer);
	offer.descriptors[OFFER_FILE] = make_file(size, seals);
	errno = EDOM;
	fault = offer_map(&offer);
	tap_ok(&tap, is_mapped() == whole, "a file is mapped or not: %s", what);
	if (whole)
		tap_ok(&tap,
		    fault == NULL && offer.head != NULL &&
			offer.descriptors[OFFER_FILE] == -1,
		    "a file: %s", what);
	else
		tap_ok(&tap,
		    fault != NULL && strcmp(fault, other) == 0 && errno == 0 &&
			offer.head == NULL,
		    "a file is no offer: %s", what);
	offer_close(&offer);
	tap_ok(&tap,
	    tap_descriptors() == before && offer.head == NULL && !is_mapped(),
	    "%s: nothing stays open", what);
}

static void
maps(const char *what, bool whole)
{
	maps_file(what, SIZE, SEALS, whole);
}

/* The file with another number. */
static void
edited(const char *what, uint32_t *number, uint32_t value, bool whole)
{
	uint32_t kept = *number;

	*number = value;
	maps(what, whole);
	*number = kept;
}

/* At the last number that fits, and one beyond it. */
static void
bounded(const char *what, uint32_t *number, uint32_t last, uint32_t step)
{
	edited(what, number, last, true);
	edited(what, number, last + step, false);
}

static void
check_numbers(void)
{
	struct sbx_program *last = &head.filters[GUARD_END - 1];

	maps("as it should be", true);
	edited("of another size", &head.size, SIZE - 8, false);
	edited("of another build", &head.stamp.sizes, 1, false);
	bounded("where the policy is", &head.blob_at, SIZE - BLOB_SIZE, 8);
	edited("a policy that is not aligned", &head.blob_at, BLOB_AT + 4,
	    false);
	edited("a policy beyond the end", &head.blob_at, SIZE + 8, false);
	edited("a policy of another size", &head.blob.size, BLOB_SIZE + 8,
	    false);
	bounded("the limits", &head.limit_count, SBX_LIMIT_END, 1);
	edited("filters that are not aligned", &head.filters_at, FILTERS_AT + 4,
	    false);
	edited("filters beyond the end", &head.filters_at, SIZE + 8, false);
	bounded("a filter's end", &last->first,
	    (SIZE - FILTERS_AT) / sizeof(struct sbx_insn) - 2, 1);
	edited("a filter that ends before it begins", &last->first, UINT32_MAX,
	    false);
	edited("a filter of nothing", &last->count, 0, false);
	edited("the first filter is of nothing", &head.filters[0].count, 0,
	    false);
	edited("rules that are not aligned", &head.rules_at, RULES_AT + 4,
	    false);
	edited("rules beyond the end", &head.rules_at, SIZE + 8, false);
	bounded("the rules", &head.rule_count,
	    (SIZE - RULES_AT) / sizeof(struct offer_rule) - 1, 1);
	edited("more rules than can be counted", &head.rule_count, UINT32_MAX,
	    false);
	edited("places beyond the end", &head.places_at, SIZE + 8, false);
	bounded("the places", &head.place_count, 2, 1);
	bounded("the links", &head.link_count, 2, 1);
}

static void
check_file(void)
{
	static const struct {
		int seal;
		const char *name;
	} seals[] = { { F_SEAL_SEAL, "not for good" },
		{ F_SEAL_SHRINK, "that may shrink" },
		{ F_SEAL_GROW, "that may grow" },
		{ F_SEAL_WRITE, "that may be written" } };
	const uint32_t longest = 2 * SBX_MAX_SIZE;

	for (size_t i = 0; i < sizeof seals / sizeof *seals; i++)
		maps_file(seals[i].name, SIZE, SEALS & ~seals[i].seal, false);
	maps_file("of half a head", sizeof head / 2, SEALS, false);
	head.size = longest;
	maps_file("of 8 MiB", longest, SEALS, true);
	head.filters[0].count = SBX_MAX_INSNS;
	maps_file("with a filter as long as can be", longest, SEALS, true);
	head.filters[0].count++;
	maps_file("with a longer one", longest, SEALS, false);
	make_head();
	head.size = longest + 1;
	maps_file("of a byte more", longest + 1, SEALS, false);
	make_head();
}

/* A place so far from the policy's beginning, in it or not. */
static const void *
place_at(long offset)
{
	return (const void *)((uintptr_t)blob + (uintptr_t)offset);
}

static void
check_pointers(void)
{
	head.blob.meta = place_at(-8);
	maps("a section before the policy", false);
	head.blob.meta = place_at(BLOB_SIZE + 1);
	maps("the first section is behind it", false);
	make_head();
	head.blob.proxies = place_at(BLOB_SIZE + 1);
	maps("the last section is behind it", false);
	make_head();
}

static void
check_mapped(void)
{
	struct offer offer;
	const uint8_t *at;

	offer_none(&offer);
	offer.descriptors[OFFER_FILE] = make_file(SIZE, SEALS);
	if (offer_map(&offer) != NULL)
		abort();
	at = (const uint8_t *)offer.head;
	tap_ok(&tap,
	    offer.blob.base == at + BLOB_AT &&
		(const uint8_t *)offer.blob.meta == offer.blob.base + 8 &&
		(const uint8_t *)offer.blob.proxies ==
		    offer.blob.base + BLOB_SIZE &&
		offer.blob.strings == NULL,
	    "the sections are where the bytes are now");
	tap_ok(&tap,
	    offer.blob.limits == offer.head->limits &&
		offer.blob.limit_count == 3 &&
		(const uint8_t *)offer.filters == at + FILTERS_AT,
	    "the limits and filters are those of the file");
	tap_ok(&tap,
	    strcmp(offer_text(&offer, offer.head->policy), "policy") == 0,
	    "a text");
	offer_close(&offer);
}

/* --- the offer ------------------------------------------------------------ */

static void
takes(uint32_t without, bool wanted)
{
	struct session_reply reply = { 0 };
	int descriptors[OFFER_END], before;
	struct offer offer;
	const char *fault;

	connect_ends();
	before = tap_descriptors();
	session_stamp(&reply.stamp, SESSION_JOIN);
	for (uint32_t i = 0; i < OFFER_END; i++)
		descriptors[i] = (without >> i & 1) != 0 ? -1 :
		    i == OFFER_FILE ? make_file(SIZE, SEALS) :
				      open("/", O_PATH);
	if (session_reply(ends[0], &reply, descriptors) != NULL)
		abort();
	for (uint32_t i = 0; i < OFFER_END; i++) {
		if (descriptors[i] >= 0)
			close(descriptors[i]);
	}
	fault = offer_take(ends[1], &offer);
	tap_ok(&tap,
	    wanted ? fault == NULL && offer.head != NULL :
		     fault != NULL && strcmp(fault, other) == 0,
	    "an offer without the descriptors %#x", without);
	offer_close(&offer);
	tap_ok(&tap, tap_descriptors() == before,
	    "%#x: nothing of it stays open", without);
	close_ends();
}

static void
check_offers(void)
{
	const uint32_t may_lack = 1 << OFFER_NETWORK | 1 << OFFER_USER |
	    1 << OFFER_GROUP | 1 << OFFER_SERVERS | 1 << OFFER_CHILDREN;

	takes(0, true);
	takes(may_lack, true);
	for (uint32_t i = 0; i < OFFER_END; i++) {
		if ((may_lack >> i & 1) == 0)
			takes(1U << i, false);
	}
}

int
main(void)
{
	make_head();
	check_stamp();
	check_requests();
	check_replies();
	check_answers();
	check_numbers();
	check_file();
	check_pointers();
	check_mapped();
	check_offers();
	return tap_done(&tap);
}
