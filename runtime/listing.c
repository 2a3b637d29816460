#include "runtime/listing.h"

#include "runtime/kernel.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* FNV-1a */
static uint32_t
hash_name(const char *name, size_t len)
{
	uint32_t hash = 2166136261;

	while (len-- > 0)
		hash = (hash ^ (uint8_t)*name++) * 16777619;
	return hash;
}

static const struct entry *
entry_at(const struct listing *listing, uint32_t slot)
{
	return (const void *)(listing->entries +
	    8 * (listing->slots[slot] - 1));
}

/* The slot that holds a name, or the free one where it would be. */
static uint32_t
find_slot(const struct listing *listing, const char *name, size_t len)
{
	uint32_t slot = hash_name(name, len) % LISTING_SLOTS;

	while (listing->slots[slot] != 0 &&
	    (strncmp(entry_at(listing, slot)->name, name, len) != 0 ||
		entry_at(listing, slot)->name[len] != '\0'))
		slot = (slot + 1) % LISTING_SLOTS;
	return slot;
}

static void
add_entries(struct listing *listing, long used)
{
	for (long at = 0; at < used;) {
		const struct entry *entry =
		    (const void *)(listing->entries + at);
		uint32_t slot = find_slot(listing, entry->name,
		    strlen(entry->name));

		listing->slots[slot] = (uint16_t)(at / 8 + 1);
		at += entry->size;
	}
}

void
listing_read(struct listing *listing, struct sbx_place directory)
{
	int fd = open(directory.len == 0 ? "/" : directory.path,
	    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long used = 0, len = -1;

	if (fd < 0)
		return;
	/* Ends at 0, the end of the directory; EINVAL: it does not fit. */
	while ((len = read_entries(fd, listing->entries + used,
		    sizeof listing->entries - (size_t)used)) > 0)
		used += len;
	close(fd);
	if (len < 0)
		return;
	add_entries(listing, used);
	listing->directory = directory;
	listing->whole = true;
}

enum listed
listing_look(const struct listing *listing, struct sbx_place path,
    uint32_t *end)
{
	uint32_t begin = listing->directory.len + 1, len, slot;
	const char *name;

	if (!listing->whole || path.len < begin ||
	    !sbx_covers(listing->directory, path))
		return LISTED_UNKNOWN;
	name = path.path + begin;
	len = (uint32_t)strcspn(name, "/");
	slot = find_slot(listing, name, len);
	if (listing->slots[slot] == 0)
		return LISTED_MISSING;
	switch (entry_at(listing, slot)->type) {
	case ENTRY_UNKNOWN:
	case ENTRY_LINK:
		return LISTED_UNKNOWN;
	default:
		*end = begin + len;
		return LISTED_ENTRY;
	}
}
