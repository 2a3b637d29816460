/* What runs wanted of the network: see learn.h. */
#include "compiler/learn/learn.h"

#include "format/model.h"

#include <stdlib.h>
#include <string.h>

enum { DNS = 53 };

const char loopback[] = "loopback";

/* The numbers of an address: 4, or 16 of IPv6. */
static size_t
numbers_of(const char *address, unsigned numbers[16])
{
	size_t count = 0;

	while (count < 16 && *address >= '0' && *address <= '9') {
		char *end;
		unsigned long number = strtoul(address, &end, 10);

		if (number > 255)
			return 0;
		numbers[count++] = (unsigned)number;
		address = end + (*end == '.');
	}
	return *address == '\0' ? count : 0;
}

/* "10.0.0.5:443"; loopback; or NULL: it is of IPv6, or none. */
static const char *
endpoint_of(struct arena *arena, const struct wish *wish)
{
	static const unsigned mapped[12] = { [10] = 255, [11] = 255 };
	static const unsigned here[16] = { [15] = 1 };
	unsigned numbers[16], *last = numbers;
	size_t count = numbers_of(wish->text, numbers);

	if (count == 16 && memcmp(numbers, here, sizeof here) == 0)
		return loopback;
	if (count == 16 && memcmp(numbers, mapped, sizeof mapped) == 0) {
		last = numbers + 12;
		count = 4;
	}
	if (wish->kind == WISH_LISTEN || (count == 4 && last[0] == 127))
		return loopback;
	return count != 4 ? NULL :
			    arena_printf(arena, "%u.%u.%u.%u:%u", last[0],
				last[1], last[2], last[3], wish->port);
}

/* Whether the profile says so, but this level has no network of its own. */
static bool
is_for_full(const struct looking *looking, const char *const *words,
    size_t count)
{
	struct subject full = *looking->subject;
	struct access access;

	full.level = SBX_LEVEL_FULL;
	return access_parse(&full.places, words, count, &access) == NULL &&
	    verdict_of(&full, &access).allowed;
}

static const char *
port_reason(const struct looking *looking, const char *at,
    const char *const *words, size_t count)
{
	if (at == NULL)
		return "an address of IPv6";
	if (at != loopback && looking->wish->port == DNS)
		return "a name was looked up; which, only a policy with names "
		       "tells, as @coding-online";
	if (at == loopback && is_for_full(looking, words, count))
		return "only level full has a network of the sandbox's own";
	return NULL;
}

/* Whether a run listened there itself, or on a port that the kernel chose. */
static bool
listened(const struct looking *looking)
{
	const struct run *run =
	    looking->needs->records->runs.items[looking->run];

	for (size_t i = 0; i < run->wishes.count; i++) {
		const struct wish *wish = &run->wishes.items[i];

		if (wish->kind == WISH_LISTEN &&
		    (wish->port == 0 || wish->port == looking->wish->port))
			return true;
	}
	return false;
}

/* In a network of the sandbox's own nobody has answered, if nobody inside
 * listened: perhaps a service of the host was meant.  A connection that was
 * denied was to one: the run has found its server outside. */
static const char *
service_reason(const struct looking *looking)
{
	const struct wish *wish = looking->wish;
	struct arena *arena = looking->needs->arena;
	const char *const words[] = { "host", "tcp",
		arena_printf(arena, "%u", wish->port) };
	const char *fault;

	if (wish->kind != WISH_CONNECT || wish->port == 0 ||
	    wish->port == SBX_PROXY_PORT || wish->port == DNS ||
	    (!wish->denied &&
		!sbx_net_is_own(looking->needs->base->blob.meta->net)) ||
	    looking->subject->level != SBX_LEVEL_FULL || listened(looking) ||
	    looking_ask(looking, words, countof(words), &fault).allowed)
		return NULL;
	return arena_printf(arena,
	    wish->denied ?
		"a service of the host: 'allow network host tcp %u' opens it" :
		"that is the sandbox itself, where nobody listened; a service "
		"of the host takes 'allow network host tcp %u'",
	    wish->port);
}

void
looking_at_port(const struct looking *looking)
{
	enum { ANY = 49152 };
	const struct wish *wish = looking->wish;
	struct arena *arena = looking->needs->arena;
	const char *at = endpoint_of(arena, wish), *fault, *reason;
	const char *words[] = { wish_word(wish->kind), at, NULL };
	size_t count = 2;
	bool given;

	if (at == loopback) {
		words[1] = "tcp";
		words[2] = arena_printf(arena, "%u",
		    wish->port == 0 ? ANY : wish->port);
		count = 3;
	}
	given = at != NULL &&
	    looking_ask(looking, words, count, &fault).allowed;
	/* It worked, as the way to the sandbox's own proxy does. */
	given |= !wish->denied && at == loopback &&
	    is_for_full(looking, words, count);
	reason = at == loopback && (given || wish->denied) ?
	    service_reason(looking) :
	    NULL;
	if (given && reason == NULL)
		return;
	looking_add(looking,
	    (struct need){
		.object = reason != NULL ?
		    arena_printf(arena, "127.0.0.1:%u", wish->port) :
		    at != NULL ? at :
				 wish->text,
		.reason = reason != NULL ?
		    reason :
		    port_reason(looking, at, words, count),
	    });
}

void
looking_at_domain(const struct looking *looking)
{
	const struct wish *wish = looking->wish;
	struct arena *arena = looking->needs->arena;
	bool usual = wish->port == 0 || wish->port == 443 || wish->port == 80;
	const char *name = usual ?
	    wish->text :
	    arena_printf(arena, "%s:%u", wish->text, wish->port);
	const char *const words[] = { "domain", name };
	struct looking address = *looking;
	struct wish connect = *wish;
	struct verdict verdict;
	const char *fault;

	if (strspn(wish->text, "0123456789.") == strlen(wish->text)) {
		connect.kind = WISH_CONNECT;
		address.wish = &connect;
		looking_at_port(&address);
		return;
	}

	verdict = looking_ask(looking, words, countof(words), &fault);
	if (verdict.allowed || fault != NULL)
		return;
	looking_add(looking,
	    (struct need){
		.object = name,
		.reason = looking_kept_by(looking, &verdict),
	    });
}
