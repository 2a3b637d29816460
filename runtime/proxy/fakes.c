/*
 * See protocols.h.  An address has 17 bits of its own: the place in the table
 * below, and how many names have had that place above.  They are shuffled by a
 * random number, so that what a client still knows from before a proxy that has
 * ended seldom means something to the next one.
 */
#include "runtime/proxy/protocols.h"

#include "format/model.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
	PLACE_BITS = 12,
	OWN_BITS = 32 - SBX_FAKE_PREFIX,
	TURNS = 1 << (OWN_BITS - PLACE_BITS),
	BUCKETS = 4096,
	NONE = UINT16_MAX,
};
_Static_assert(1 << PLACE_BITS == FAKES_MAX, "a place is a part of an address");

struct fake {
	uint64_t used; /* when, in calls; 0: never */
	uint16_t next; /* in its bucket */
	uint8_t turn;
	char name[SBX_NAME_SIZE];
};

struct fakes {
	uint64_t calls;
	uint32_t count, shuffle;
	uint16_t buckets[BUCKETS];
	struct fake fakes[FAKES_MAX];
};

struct fakes *
fakes_new(void)
{
	struct fakes *fakes = calloc(1, sizeof *fakes);

	if (fakes == NULL)
		return NULL;
	memset(fakes->buckets, 0xff, sizeof fakes->buckets);
	if (getrandom(&fakes->shuffle, sizeof fakes->shuffle, 0) !=
	    sizeof fakes->shuffle) {
		free(fakes);
		return NULL;
	}
	fakes->shuffle %= 1u << OWN_BITS;
	return fakes;
}

static uint16_t *
bucket_of(struct fakes *fakes, const char *name)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (; *name != '\0'; name++)
		hash = (hash ^ (uint8_t)*name) * 16777619u;
	return &fakes->buckets[(hash ^ hash >> 16) % BUCKETS];
}

static uint32_t
oldest(const struct fakes *fakes)
{
	uint32_t found = 0;

	for (uint32_t i = 1; i < FAKES_MAX; i++) {
		if (fakes->fakes[i].used < fakes->fakes[found].used)
			found = i;
	}
	return found;
}

static void
forget(struct fakes *fakes, uint32_t place)
{
	struct fake *fake = &fakes->fakes[place];
	uint16_t *at = bucket_of(fakes, fake->name);

	while (*at != place)
		at = &fakes->fakes[*at].next;
	*at = fake->next;
	fake->turn = (uint8_t)((fake->turn + 1) % TURNS);
}

static uint32_t
address_of(const struct fakes *fakes, uint32_t place)
{
	return SBX_FAKE_NET |
	    (((uint32_t)fakes->fakes[place].turn << PLACE_BITS | place) ^
		fakes->shuffle);
}

uint32_t
fakes_address(struct fakes *fakes, const char *name)
{
	uint16_t *bucket = bucket_of(fakes, name);
	uint32_t place;
	struct fake *fake;

	for (place = *bucket; place != NONE; place = fakes->fakes[place].next) {
		if (strcmp(fakes->fakes[place].name, name) == 0) {
			fakes->fakes[place].used = ++fakes->calls;
			return address_of(fakes, place);
		}
	}
	if (fakes->count < FAKES_MAX) {
		place = fakes->count++;
	} else {
		place = oldest(fakes);
		forget(fakes, place);
	}
	fake = &fakes->fakes[place];
	strcpy(fake->name, name);
	fake->used = ++fakes->calls;
	fake->next = *bucket;
	*bucket = (uint16_t)place;
	return address_of(fakes, place);
}

const char *
fakes_name(struct fakes *fakes, uint32_t address)
{
	uint32_t place = (address ^ fakes->shuffle) % FAKES_MAX;

	if (place >= fakes->count || address_of(fakes, place) != address)
		return NULL;
	fakes->fakes[place].used = ++fakes->calls;
	return fakes->fakes[place].name;
}
