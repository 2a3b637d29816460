/*
 * What a review does not show of a working tree, by two files that git writes all
 * the time: names of the index that git does not compare with the files
 * (assume-unchanged, skip-worktree), and refs/replace among the packed ones.  That
 * the files changed is no news; that they hide more is.
 *
 * The index, up to version 4, see gitformat-index(5):
 *
 *	"DIRC"  version  count			4 bytes each, big-endian
 *	an entry: 40 bytes, the object, flags, the name
 *
 * A command may have written it.  Whatever it holds, nothing beyond a buffer is
 * read, and what git would not read either says nothing.
 */
#include "runtime/watch/tripwire.h"

#include "runtime/base/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	BUFFER = 16 << 10,
	STAT = 40, /* bytes of an entry before the object */
	SHA1 = 20, /* of an object */
	SHA256 = 32,
	VALID = 0x8000, /* the flags: assume-unchanged */
	EXTENDED = 0x4000,
	NAME_LEN = 0x0fff,
	SKIPPED = 0x4000, /* of those that follow: skip-worktree */
};

struct reader {
	int fd;
	uint32_t at, len; /* of the buffer */
	unsigned char bytes[BUFFER];
};

struct index {
	struct reader reader;
	uint32_t version, left, object;
	bool bad;
	bool hidden; /* the present entry: git does not compare it */
	bool skipped;
	uint32_t len; /* of its name */
	char name[SBX_MAX_PATH + 1];
};

/* So many bytes, which stay where they are until the next call; NULL: there are
 * not as many. */
static const unsigned char *
take(struct reader *reader, uint32_t wanted)
{
	const unsigned char *bytes;
	ssize_t got = 1;

	if (reader->len - reader->at < wanted) {
		memmove(reader->bytes, reader->bytes + reader->at,
		    reader->len - reader->at);
		reader->len -= reader->at;
		reader->at = 0;
	}
	while (reader->len - reader->at < wanted && got > 0) {
		got = read(reader->fd, reader->bytes + reader->len,
		    sizeof reader->bytes - reader->len);
		reader->len += got > 0 ? (uint32_t)got : 0;
	}
	if (reader->len - reader->at < wanted)
		return NULL;
	bytes = reader->bytes + reader->at;
	reader->at += wanted;
	return bytes;
}

static uint32_t
number(const unsigned char *bytes, uint32_t size)
{
	uint32_t value = 0;

	while (size-- > 0)
		value = value << 8 | *bytes++;
	return value;
}

static bool
begin(struct index *index, int fd, uint32_t object)
{
	const unsigned char *head;

	index->reader.fd = fd;
	index->reader.at = index->reader.len = 0;
	index->object = object;
	index->len = 0;
	index->bad = false;
	if (lseek(fd, 0, SEEK_SET) != 0)
		return false;
	head = take(&index->reader, 12);
	if (head == NULL || memcmp(head, "DIRC", 4) != 0)
		return false;
	index->version = number(head + 4, 4);
	index->left = number(head + 8, 4);
	return index->version >= 2 && index->version <= 4;
}

/* Version 4: how much of the name before goes, and what follows it. */
static bool
read_packed_name(struct index *index)
{
	const unsigned char *byte = take(&index->reader, 1);
	uint32_t strip;

	if (byte == NULL)
		return false;
	strip = *byte & 127;
	while ((*byte & 128) != 0) {
		byte = take(&index->reader, 1);
		if (byte == NULL || strip > SBX_MAX_PATH)
			return false;
		strip = ((strip + 1) << 7) + (*byte & 127);
	}
	if (strip > index->len)
		return false;
	index->len -= strip;
	while ((byte = take(&index->reader, 1)) != NULL && *byte != '\0') {
		if (index->len == SBX_MAX_PATH)
			return false;
		index->name[index->len++] = (char)*byte;
	}
	return byte != NULL;
}

/* Filled with zeros, one at least, to a multiple of eight. */
static bool
read_name(struct index *index, uint32_t len, uint32_t before)
{
	const unsigned char *bytes;

	if (len < NAME_LEN) {
		bytes = take(&index->reader, len);
		if (bytes == NULL)
			return false;
		memcpy(index->name, bytes, len);
		index->len = len;
		return take(&index->reader, 8 - (before + len) % 8) != NULL;
	}
	index->len = 0;
	while ((bytes = take(&index->reader, 1)) != NULL && *bytes != '\0') {
		if (index->len == SBX_MAX_PATH)
			return false;
		index->name[index->len++] = (char)*bytes;
	}
	return bytes != NULL &&
	    (7 - (before + index->len) % 8 == 0 ||
		take(&index->reader, 7 - (before + index->len) % 8) != NULL);
}

/* The next entry; false at the end, or where it cannot be read (`bad`). */
static bool
next(struct index *index)
{
	uint32_t size = STAT + index->object + 2, flags, more = 0;
	const unsigned char *bytes;
	uint32_t kind;

	if (index->left == 0)
		return false;
	index->left--;
	index->bad = true;
	bytes = take(&index->reader, size);
	if (bytes == NULL)
		return false;
	kind = number(bytes + 24, 4) >> 12;
	flags = number(bytes + size - 2, 2);
	/* Else the objects are of another size. */
	if (kind != 8 && kind != 10 && kind != 14 && kind != 4)
		return false;
	if ((flags & EXTENDED) != 0) {
		bytes = take(&index->reader, 2);
		if (bytes == NULL)
			return false;
		more = number(bytes, 2);
		size += 2;
	}
	if (index->version == 4 ? !read_packed_name(index) :
				  !read_name(index, flags & NAME_LEN, size))
		return false;
	index->name[index->len] = '\0';
	index->hidden = (flags & VALID) != 0;
	index->skipped = (more & SKIPPED) != 0;
	index->bad = false;
	return true;
}

static uint64_t
sum_of(const struct index *index, uint64_t key)
{
	uint64_t sum = key ^ 0xcbf29ce484222325;

	for (uint32_t i = 0; i < index->len; i++)
		sum = (sum ^ (unsigned char)index->name[i]) * 0x100000001b3;
	return sum;
}

static bool
has(const struct git_blind *blind, uint64_t sum)
{
	for (uint32_t i = 0; i < blind->count && i < GIT_BLIND_MAX; i++) {
		if (blind->sums[i] == sum)
			return true;
	}
	return false;
}

/* All entries, in one size of objects. */
static bool
scan_as(struct index *index, int fd, uint32_t object, bool sparse, uint64_t key,
    const struct git_blind *before, struct git_blind *blind)
{
	blind->count = blind->news = 0;
	if (!begin(index, fd, object))
		return true;
	while (next(index)) {
		uint64_t sum;

		if (!index->hidden && (sparse || !index->skipped))
			continue;
		sum = sum_of(index, key);
		if (blind->count < GIT_BLIND_MAX)
			blind->sums[blind->count] = sum;
		blind->count++;
		if (before != NULL &&
		    (has(before, sum) || before->count > GIT_BLIND_MAX))
			continue;
		if (blind->news++ == 0)
			memcpy(blind->first, index->name, index->len + 1);
	}
	return !index->bad;
}

static void
scan_index(struct arena *arena, int fd, bool sparse, uint64_t key,
    const struct git_blind *before, struct git_blind *blind)
{
	uint32_t used = arena->used;
	struct index *index = arena_take(arena, 1, sizeof *index);

	if (!scan_as(index, fd, SHA1, sparse, key, before, blind) &&
	    !scan_as(index, fd, SHA256, sparse, key, before, blind))
		blind->count = blind->news = 0;
	arena_cut(arena, used);
}

/* How often the text is in the file. */
static void
scan_refs(struct arena *arena, int fd, const struct git_blind *before,
    struct git_blind *blind)
{
	static const char text[] = " refs/replace/";
	uint32_t used = arena->used, matched = 0;
	struct reader *reader = arena_take(arena, 1, sizeof *reader);
	const unsigned char *byte;

	*reader = (struct reader){ .fd = fd };
	blind->count = 0;
	while ((byte = take(reader, 1)) != NULL) {
		matched = *byte == (unsigned char)text[matched] ? matched + 1 :
		    *byte == (unsigned char)text[0]             ? 1 :
								  0;
		if (matched == sizeof text - 1) {
			blind->count++;
			matched = 0;
		}
	}
	blind->news = before == NULL || blind->count > before->count ?
	    blind->count - (before == NULL ? 0 : before->count) :
	    0;
	strcpy(blind->first, "refs/replace");
	arena_cut(arena, used);
}

/* Whether that is what was seen. */
static bool
scan(struct arena *arena, const struct seen *seen, bool sparse, uint64_t key,
    const struct git_blind *before, struct git_blind *blind)
{
	struct stat status;
	bool same;
	int fd = look_open(seen, &status);

	if (fd < 0)
		return false;
	if (seen->part == SBX_GIT_INDEX)
		scan_index(arena, fd, sparse, key, before, blind);
	else
		scan_refs(arena, fd, before, blind);
	/* Nothing was written since the look: that would change its time. */
	same = fstat(fd, &status) == 0 && status.st_ino == seen->inode &&
	    status.st_dev == seen->device &&
	    (uint64_t)status.st_ctim.tv_sec * 1000000000 +
		    (uint64_t)status.st_ctim.tv_nsec ==
		seen->changed;
	close(fd);
	return same;
}

/* Where git leaves files out by itself, that counts as nothing. */
static bool
is_sparse(const struct wire *wire)
{
	static const char name[] = "/info/sparse-checkout";
	const struct seen *seen = wire->before.first;

	while (seen != NULL &&
	    (seen->error != 0 || seen->at.len < sizeof name - 1 ||
		memcmp(seen->at.path + seen->at.len - (sizeof name - 1), name,
		    sizeof name - 1) != 0))
		seen = seen->next;
	return seen != NULL;
}

void
git_blind_again(const struct tripwire *tripwire, const struct wire *wire,
    const struct seen *now, struct git_blind *blind)
{
	scan(tripwire->arena, now, is_sparse(wire), tripwire->key,
	    now->part == SBX_GIT_INDEX ? wire->index : wire->refs, blind);
}

static void
begin_at(struct tripwire *tripwire, struct wire *wire, const struct seen *seen)
{
	struct git_blind *blind = arena_take(tripwire->arena, 1, sizeof *blind);

	if (!scan(tripwire->arena, seen, is_sparse(wire), tripwire->key, NULL,
		blind))
		return;
	if (seen->part == SBX_GIT_INDEX)
		wire->index = blind;
	else
		wire->refs = blind;
}

void
git_blind_begin(struct tripwire *tripwire)
{
	for (uint32_t i = 0; i < tripwire->count; i++) {
		struct wire *wire = &tripwire->wires[i];

		for (const struct seen *seen = wire->before.first; seen != NULL;
		     seen = seen->next) {
			if ((seen->part == SBX_GIT_INDEX ||
				seen->part == SBX_GIT_REFS) &&
			    !seen->other && seen->error == 0 &&
			    S_ISREG(seen->mode))
				begin_at(tripwire, wire, seen);
		}
	}
}
