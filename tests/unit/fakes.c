/*
 * The addresses that sbx-proxy hands out for names (runtime/proxy/fakes.c).  By
 * which number they are shuffled is the test's word.
 */
#include "format/model.h"
#include "runtime/proxy/protocols.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <sys/random.h>

static struct tap tap;
static bool is_random = true;
static uint8_t random_byte;

ssize_t
getrandom(void *bytes, size_t size, unsigned flags)
{
	(void)flags;
	if (!is_random) {
		errno = ENOSYS;
		return -1;
	}
	memset(bytes, random_byte, size);
	return (ssize_t)size;
}

/* In each family its own part, whichever number it is. */
static bool
is_fake(uint32_t address)
{
	return address >> (32 - SBX_FAKE_PREFIX) ==
	    SBX_FAKE_NET >> (32 - SBX_FAKE_PREFIX);
}

static uint32_t
address_of(struct fakes *fakes, const char *word, unsigned number)
{
	char name[64];

	snprintf(name, sizeof name, "%s%u.example", word, number);
	return fakes_address(fakes, name);
}

/* More names than there is room for, and all of them again. */
static void
check_many(void)
{
	struct fakes *fakes = fakes_new();
	uint32_t first = fakes_address(fakes, "first.example"), last = 0;
	const char *found;
	char name[64];
	bool unique = true, kept = true;

	for (unsigned i = 0; i < 30 * FAKES_MAX; i++) {
		snprintf(name, sizeof name, "n%u.example", i);
		last = fakes_address(fakes, name);
		unique &= last != first && is_fake(last);
		found = fakes_name(fakes, last);
		kept &= found != NULL && strcmp(found, name) == 0 &&
		    fakes_address(fakes, name) == last;
	}
	tap_ok(&tap, kept, "each name has its address, as long as it has one");
	tap_ok(&tap, unique && fakes_name(fakes, first) == NULL,
	    "an address that was forgotten leads to nothing else");
	free(fakes);
}

/* What was not used for the longest time goes first. */
static void
check_order(void)
{
	struct fakes *fakes = fakes_new();
	uint32_t addresses[4], last;

	for (unsigned i = 0; i < 4; i++)
		addresses[i] = address_of(fakes, "old", i);
	for (unsigned i = 4; i < FAKES_MAX; i++)
		last = address_of(fakes, "n", i);
	tap_ok(&tap,
	    fakes_name(fakes, addresses[0]) != NULL &&
		address_of(fakes, "old", 2) == addresses[2],
	    "as many as there is room for");
	last = fakes_address(fakes, "more.example");
	tap_ok(&tap,
	    fakes_name(fakes, addresses[1]) == NULL &&
		fakes_name(fakes, last) != NULL,
	    "one more: the oldest that nobody has used is forgotten");
	fakes_address(fakes, "another.example");
	tap_ok(&tap,
	    fakes_name(fakes, addresses[3]) == NULL &&
		fakes_name(fakes, addresses[0]) != NULL &&
		fakes_name(fakes, addresses[2]) != NULL &&
		fakes_name(fakes, last) != NULL,
	    "and then the next such one, whichever way the others were used");
	tap_ok(&tap, fakes_name(fakes, last ^ 1U << 31) == NULL,
	    "an address of others leads nowhere");
	free(fakes);
}

int
main(void)
{
	static const uint8_t numbers[] = { 0, 0x55, 0xff };

	for (size_t i = 0; i < sizeof numbers; i++) {
		struct fakes *fakes;

		random_byte = numbers[i];
		fakes = fakes_new();
		tap_ok(&tap,
		    fakes != NULL && is_fake(fakes_address(fakes, "a")) &&
			fakes_name(fakes, SBX_FAKE_NET + 2) == NULL,
		    "shuffled by %02x", numbers[i]);
		free(fakes);
	}
	check_many();
	check_order();
	is_random = false;
	tap_ok(&tap, fakes_new() == NULL, "none without a number by chance");
	return tap_done(&tap);
}
