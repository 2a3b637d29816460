/*
 * The addresses that a sandbox's network takes for itself: what the kernel is
 * asked for, and what comes of its answers, which are the test's here.
 */
#include "format/model.h"
#include "runtime/base/kernel.h"
#include "runtime/network/network.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#define countof(array) (sizeof(array) / sizeof *(array))

enum { ANSWERS_MAX = 3, ROUTES_MAX = 8, MAPPED = 96 };

/* One answer: an error about a route of a family, or an acknowledgement. */
struct said {
	int error, family;
	bool acknowledges;
	uint16_t type, about; /* 0: the usual ones */
	size_t cut;           /* bytes that it lacks */
};

static void
say_said(int kernel, const struct said *said)
{
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
	} answer = {
		.header = { .nlmsg_len = sizeof answer,
		    .nlmsg_type = said->type ? said->type : NLMSG_ERROR },
		.error = { .error = -said->error,
		    .msg = { .nlmsg_type = said->about ? said->about :
							 RTM_NEWROUTE,
			.nlmsg_flags = said->acknowledges ? NLM_F_ACK : 0,
			.nlmsg_seq = (uint32_t)said->family } },
	};

	if (send(kernel, &answer, sizeof answer - said->cut, 0) < 0)
		printf("Bail out! %s\n", strerror(errno));
}

/* Whether it says that they were made; errno is what it leaves. */
static bool
add(const struct sbx_blob *blob, const struct said said[ANSWERS_MAX],
    struct routing *routing, char *asked, size_t *len)
{
	static struct arena arena;
	int ends[2], error;
	ssize_t got;
	bool made;

	arena.used = 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return false;
	for (int i = 0; i < ANSWERS_MAX; i++) {
		if (said[i].acknowledges || said[i].error != 0)
			say_said(ends[1], &said[i]);
	}
	errno = 0;
	made = route_add(ends[0], &arena, blob, routing);
	error = errno;
	got = recv(ends[1], asked, ROUTES_MAX * 64, MSG_DONTWAIT);
	*len = got < 0 ? 0 : (size_t)got;
	close(ends[0]);
	close(ends[1]);
	errno = error;
	return made;
}

static void
test_answers(struct tap *tap)
{
	static const struct {
		const char *what;
		struct said said[ANSWERS_MAX];
		int error; /* -1: they were made */
		bool v6;
	} cases[] = {
		{ "all are made", { { 0, AF_INET, true, 0, 0, 0 } }, -1, true },
		{ "the last one is not", { { EPERM, AF_INET, true, 0, 0, 0 } },
		    EPERM, true },
		{ "the first one is not",
		    { { EPERM, AF_INET, false, 0, 0, 0 },
			{ 0, AF_INET, true, 0, 0, 0 } },
		    EPERM, true },
		{ "one was there",
		    { { EEXIST, AF_INET6, false, 0, 0, 0 },
			{ EEXIST, AF_INET, true, 0, 0, 0 } },
		    -1, true },
		{ "there is no IPv6",
		    { { EOPNOTSUPP, AF_INET6, false, 0, 0, 0 },
			{ 0, AF_INET, true, 0, 0, 0 } },
		    -1, false },
		{ "it is switched off", { { EACCES, AF_INET6, true, 0, 0, 0 } },
		    -1, false },
		{ "it has no family",
		    { { EAFNOSUPPORT, AF_INET6, true, 0, 0, 0 } }, -1, false },
		{ "it has no device", { { ENODEV, AF_INET6, true, 0, 0, 0 } },
		    -1, false },
		{ "another error of IPv6",
		    { { EINVAL, AF_INET6, true, 0, 0, 0 } }, EINVAL, false },
		{ "the same of IPv4", { { ENODEV, AF_INET, true, 0, 0, 0 } },
		    ENODEV, true },
		{ "another message", { { 0, AF_INET, true, NLMSG_DONE, 0, 0 } },
		    EPROTO, true },
		{ "half an answer", { { 0, AF_INET, true, 0, 0, 4 } }, EPROTO,
		    true },
		{ "about something else",
		    { { 0, AF_INET, true, 0, RTM_DELROUTE, 0 } }, 0, true },
		{ "nothing of the last one",
		    { { EEXIST, AF_INET, false, 0, 0, 0 } }, EAGAIN, true },
		{ "nothing", { { 0, 0, false, 0, 0, 0 } }, EAGAIN, true },
	};
	const struct sbx_blob blob = { .endpoint_count = 0 };
	char asked[ROUTES_MAX * 64];
	size_t len;

	for (size_t i = 0; i < countof(cases); i++) {
		struct routing routing = { .names = true };
		bool made = add(&blob, cases[i].said, &routing, asked, &len);
		int error = errno;

		if (!tap_ok(tap,
			made == (cases[i].error == -1) &&
			    (made || error == cases[i].error) &&
			    routing.v6 == cases[i].v6,
			"the kernel says: %s", cases[i].what))
			printf("# %d, %s\n", made, strerror(error));
	}
}

/* "ADDRESS/BITS" of each route, and whether it is asked for as it should be. */
static bool
read_routes(const char *asked, size_t len, char *text, size_t size)
{
	size_t at = 0, used = 0;
	bool right = true;

	*text = '\0';
	while (at < len) {
		struct nlmsghdr header;
		struct rtmsg route;
		const uint8_t *end;

		memcpy(&header, asked + at, sizeof header);
		memcpy(&route, asked + at + sizeof header, sizeof route);
		at += header.nlmsg_len;
		end = (const uint8_t *)asked + at;
		right &= header.nlmsg_type == RTM_NEWROUTE &&
		    ((header.nlmsg_flags & NLM_F_ACK) != 0) == (at >= len) &&
		    (header.nlmsg_flags & (NLM_F_REQUEST | NLM_F_CREATE)) ==
			(NLM_F_REQUEST | NLM_F_CREATE) &&
		    route.rtm_table == RT_TABLE_LOCAL &&
		    route.rtm_type == RTN_LOCAL;
		used += (size_t)snprintf(text + used, size - used,
		    "%s%u:%u.%u/%u", used > 0 ? " " : "",
		    route.rtm_family == AF_INET ? 4 : 6, end[-2], end[-1],
		    route.rtm_dst_len);
		if (header.nlmsg_len == 0)
			break;
	}
	return right;
}

#define V4(third, last, bits) \
	.address = { [10] = 0xff, 0xff, 10, 0, third, last }, \
	.prefix = MAPPED + (bits)

static void
test_routes(struct tap *tap)
{
	static const struct sbx_endpoint endpoints[] = {
		{ V4(1, 2, 32), .platforms = SBX_ON_ALL, .effect = SBX_ALLOW },
		{ V4(1, 2, 32), .platforms = SBX_ON_ALL, .effect = SBX_ALLOW },
		{ V4(1, 0, 24), .platforms = SBX_ON_ALL, .effect = SBX_ALLOW },
		{ V4(1, 0, 25), .platforms = SBX_ON_ALL, .effect = SBX_ALLOW },
		{ V4(1, 3, 32), .platforms = SBX_ON_ALL, .effect = SBX_DENY },
		{ V4(1, 4, 32), .platforms = SBX_ON_ALL & ~KERNEL_WHERE,
		    .effect = SBX_ALLOW },
		{ .address = { 0xfd, [15] = 7 },
		    .prefix = 128,
		    .platforms = SBX_ON_ALL,
		    .effect = SBX_ALLOW },
	};
	static const struct said made[ANSWERS_MAX] = { { 0, AF_INET, true, 0, 0,
	    0 } };
	struct sbx_blob blob = { .endpoints = endpoints,
		.endpoint_count = countof(endpoints) };
	struct routing routing = { .names = false };
	char asked[ROUTES_MAX * 64], text[256];
	size_t len;
	bool right;

	right = add(&blob, made, &routing, asked, &len) &&
	    read_routes(asked, len, text, sizeof text);
	tap_ok(tap,
	    right && strcmp(text, "4:1.2/32 4:1.0/24 4:1.0/25 6:0.7/128") == 0,
	    "each address that is allowed here, once: %s", text);
	blob.endpoint_count = 0;
	tap_ok(tap, add(&blob, made, &routing, asked, &len) && len == 0,
	    "none is asked for if there are none");
	routing.names = true;
	right = add(&blob, made, &routing, asked, &len) &&
	    read_routes(asked, len, text, sizeof text);
	tap_ok(tap,
	    right && strncmp(text, "6:", 2) == 0 && strstr(text, " 4:") != NULL,
	    "and those for names: %s", text);
}

/* One route of each family, to the byte. */
static void
test_bytes(struct tap *tap)
{
	static const struct sbx_endpoint endpoints[] = {
		{ V4(1, 0, 24), .platforms = SBX_ON_ALL, .effect = SBX_ALLOW },
		{ .address = { 0xfd, [15] = 7 },
		    .prefix = 128,
		    .platforms = SBX_ON_ALL,
		    .effect = SBX_ALLOW },
	};
	static const struct said made[ANSWERS_MAX] = { { 0, AF_INET, true, 0, 0,
	    0 } };

	for (int i = 0; i < 2; i++) {
		struct sbx_blob blob = { .endpoints = endpoints + i,
			.endpoint_count = 1 };
		uint16_t size = i == 0 ? 4 : 16;
		struct {
			struct nlmsghdr header;
			struct rtmsg route;
			struct rtattr device;
			int lo;
			struct rtattr to;
			uint8_t address[16];
		} expected = {
			.header = {
				.nlmsg_len = (uint32_t)sizeof expected - 16 +
				    size,
				.nlmsg_type = RTM_NEWROUTE,
				.nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE |
				    NLM_F_ACK,
				.nlmsg_seq = i == 0 ? AF_INET : AF_INET6,
			},
			.route = {
				.rtm_family = i == 0 ? AF_INET : AF_INET6,
				.rtm_dst_len = i == 0 ? 24 : 128,
				.rtm_table = RT_TABLE_LOCAL,
				.rtm_protocol = RTPROT_BOOT,
				.rtm_scope = i == 0 ? RT_SCOPE_HOST :
						      RT_SCOPE_UNIVERSE,
				.rtm_type = RTN_LOCAL,
			},
			.device = { 8, RTA_OIF },
			.lo = 1,
			.to = { (uint16_t)(4 + size), RTA_DST },
		};
		struct routing routing = { .names = false };
		char asked[ROUTES_MAX * 64];
		size_t len;

		memcpy(expected.address,
		    endpoints[i].address + (i == 0 ? 12 : 0), size);
		tap_ok(tap,
		    add(&blob, made, &routing, asked, &len) &&
			len == expected.header.nlmsg_len &&
			memcmp(asked, &expected, len) == 0,
		    "a route of family %d", expected.route.rtm_family);
	}
}

int
main(void)
{
	struct tap tap = { 0 };

	test_answers(&tap);
	test_routes(&tap);
	test_bytes(&tap);
	return tap_done(&tap);
}
