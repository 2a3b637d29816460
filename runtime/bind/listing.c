/*
 * The names in a directory, read at once.  A profile names a hundred places in
 * the home directory, and one person has few of them.  To ask the kernel for
 * each would take longer than all the rest of a launch.
 */
#include "runtime/bind/bind.h"

#include "runtime/base/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* FNV-1a over a name and the directory that it is in. */
static uint32_t
hash_name(uint32_t directory, const char *name, size_t len)
{
	uint32_t hash = (2166136261 ^ directory) * 16777619;

	while (len-- > 0)
		hash = (hash ^ (uint8_t)*name++) * 16777619;
	return hash;
}

static uint32_t
entry_offset(const struct listings *listings, uint32_t slot)
{
	return 8 * (listings->slots[slot] - 1U);
}

static const struct entry *
entry_at(const struct listings *listings, uint32_t slot)
{
	return (const void *)(listings->entries + entry_offset(listings, slot));
}

static bool
slot_holds(const struct listings *listings, uint32_t slot,
    const struct listing *listing, const char *name, size_t len)
{
	uint32_t offset = entry_offset(listings, slot);
	const struct entry *entry = entry_at(listings, slot);

	return offset >= listing->begin && offset < listing->end &&
	    strncmp(entry->name, name, len) == 0 && entry->name[len] == '\0';
}

/* The slot that holds a name, or the free slot where it belongs. */
static uint32_t
find_slot(const struct listings *listings, const struct listing *listing,
    const char *name, size_t len)
{
	uint32_t slot = hash_name((uint32_t)(listing - listings->of), name,
			    len) %
	    LISTINGS_SLOTS;

	while (listings->slots[slot] != 0 &&
	    !slot_holds(listings, slot, listing, name, len))
		slot = (slot + 1) % LISTINGS_SLOTS;
	return slot;
}

/* If not all names fit, a missing name proves nothing, so none is kept. */
static void
read_names(struct listings *listings, struct listing *listing)
{
	int fd = open_unlinked(AT_FDCWD, path_of(listing->directory),
	    O_RDONLY | O_DIRECTORY);
	long len;

	/* Nothing is in a directory that is not there. */
	listing->whole = fd < 0 && errno == ENOENT;
	if (fd < 0)
		return;
	/* Ends with 0 at the end of the directory, EINVAL for want of room. */
	while ((len = read_entries(fd, listings->entries + listing->end,
		    sizeof listings->entries - listing->end)) > 0)
		listing->end += (uint32_t)len;
	close(fd);
	if (len < 0)
		return;
	listings->used = listing->end;
	listing->whole = true;
	for (uint32_t at = listing->begin; at < listing->end;) {
		const struct entry *entry = (const void *)(listings->entries +
		    at);
		uint32_t slot = find_slot(listings, listing, entry->name,
		    strlen(entry->name));

		listings->slots[slot] = (uint16_t)(at / 8 + 1);
		at += entry->size;
	}
}

void
listings_add(struct listings *listings, struct sbx_place directory)
{
	struct listing *listing = &listings->of[listings->count];

	for (uint32_t i = 0; i < listings->count; i++) {
		if (sbx_place_compare(listings->of[i].directory, directory) ==
		    0)
			return;
	}
	if (listings->count == LISTINGS_MAX)
		return;
	listings->count++;
	listing->directory = directory;
	listing->begin = listing->end = listings->used;
	read_names(listings, listing);
}

static enum listed
listing_look(const struct listings *listings, const struct listing *listing,
    struct sbx_place path, uint32_t *end)
{
	uint32_t begin = listing->directory.len + 1, len, slot;

	len = (uint32_t)strcspn(path.path + begin, "/");
	slot = find_slot(listings, listing, path.path + begin, len);
	if (listings->slots[slot] == 0)
		return LISTED_MISSING;
	switch (entry_at(listings, slot)->type) {
	case ENTRY_UNKNOWN:
	case ENTRY_LINK:
		return LISTED_UNKNOWN;
	default:
		*end = begin + len;
		return LISTED_ENTRY;
	}
}

enum listed
listings_look(const struct listings *listings, struct sbx_place path,
    uint32_t *end)
{
	/* The last one first, because it lies deepest. */
	for (uint32_t i = listings->count; i-- > 0;) {
		const struct listing *listing = &listings->of[i];

		if (listing->whole && path.len > listing->directory.len &&
		    sbx_covers(listing->directory, path))
			return listing_look(listings, listing, path, end);
	}
	return LISTED_UNKNOWN;
}
