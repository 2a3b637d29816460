/*
 * What a review does not show of a working tree, by two files that git writes all
 * the time: the index, and refs/replace among the packed ones.  That the files
 * changed is no news; that they hide more is.
 *
 * An index hides a file that git does not compare (assume-unchanged,
 * skip-worktree), one that it takes for unchanged because size and times are those
 * of the entry while the object is another, and, by lists of its own, files that
 * it has not at all.  So what an entry says that was not said before is compared
 * with the file, where git would not do so.
 *
 * git replaces an index, so the one before can still be read, at the end, from a
 * descriptor.  That nobody wrote into it since says the checksum at its end, or
 * where git makes none, a digest.
 *
 * The index, up to version 4, see gitformat-index(5):
 *
 *	"DIRC"  version  count			4 bytes each, big-endian
 *	an entry: 40 bytes, the object, flags, the name
 *	extensions: a name of 4 bytes, a size, so many bytes
 *	the checksum
 *
 * A command may have written it.  Whatever it holds, nothing beyond a buffer is
 * read, and what git would not read either says nothing.
 */
#include "runtime/watch/tripwire.h"

#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	STAT = 40,      /* bytes of an entry before the object */
	VALID = 0x8000, /* the flags: assume-unchanged */
	EXTENDED = 0x4000,
	STAGE = 0x3000, /* of a merge that is not done */
	NAME_LEN = 0x0fff,
	SKIPPED = 0x4000,  /* of those that follow: skip-worktree */
	INTENDED = 0x2000, /* without an object */
	OPEN_MAX_INDEXES = 64,
};

/* Of a file that is read: what is longer counts as hidden. */
static const uint64_t file_max = UINT64_C(128) << 20;

/* --- files in memory ------------------------------------------------------ */

struct bytes {
	uint8_t *at; /* NULL: it could not be read */
	size_t size, room;
};

/* All of a file that is open, behind some bytes that are left free. */
static struct bytes
bytes_read(int fd, size_t before)
{
	struct bytes bytes = { NULL, 0, 0 };
	struct stat status;
	ssize_t len = 1;

	if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
	    (uint64_t)status.st_size > file_max)
		return bytes;
	bytes.room = before + (size_t)status.st_size + 1;
	bytes.at = mmap(NULL, bytes.room, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (bytes.at == MAP_FAILED)
		return (struct bytes){ NULL, 0, 0 };
	while (len > 0 && before + bytes.size < bytes.room) {
		len = pread(fd, bytes.at + before + bytes.size,
		    bytes.room - before - bytes.size, (off_t)bytes.size);
		bytes.size += len > 0 ? (size_t)len : 0;
	}
	/* It grows while it is read. */
	if (len != 0) {
		munmap(bytes.at, bytes.room);
		return (struct bytes){ NULL, 0, 0 };
	}
	return bytes;
}

static void
bytes_free(struct bytes *bytes)
{
	if (bytes->at != NULL)
		munmap(bytes->at, bytes->room);
	bytes->at = NULL;
}

static uint32_t
number(const uint8_t *bytes, uint32_t size)
{
	uint32_t value = 0;

	while (size-- > 0)
		value = value << 8 | *bytes++;
	return value;
}

static bool
is_zero(const uint8_t *bytes, size_t size)
{
	while (size > 0 && bytes[size - 1] == 0)
		size--;
	return size == 0;
}

static bool
hex_is(const char *hex, const uint8_t *bytes, uint32_t size)
{
	static const char digits[] = "0123456789abcdef";

	for (; size > 0; size--, bytes++, hex += 2) {
		if (hex[0] != digits[*bytes >> 4] ||
		    hex[1] != digits[*bytes & 15])
			return false;
	}
	return true;
}

/* --- an index ------------------------------------------------------------- */

struct index {
	const uint8_t *at, *end; /* what is not read yet */
	uint32_t version, left;
	uint32_t object; /* bytes of one */
	bool bad;
	/* The present entry: */
	const uint8_t *stat; /* followed by the object */
	uint32_t flags, more;
	uint32_t len; /* of its name */
	char name[SBX_MAX_PATH + 1];
};

/* So many bytes; NULL: there are not as many. */
static const uint8_t *
take(struct index *index, size_t wanted)
{
	const uint8_t *bytes = index->at;

	if ((size_t)(index->end - bytes) < wanted)
		return NULL;
	index->at += wanted;
	return bytes;
}

/* How many bytes follow up to a zero; or as many as git believes. */
static size_t
name_length(const struct index *index, size_t before)
{
	const uint8_t *at = index->at;
	size_t len = index->flags & NAME_LEN;

	if (len == NAME_LEN)
		return strnlen((const char *)at, (size_t)(index->end - at));
	return len >= before ? len - before : SIZE_MAX;
}

/* Version 4: how much of the name before goes, and what follows it. */
static bool
read_packed_name(struct index *index)
{
	const uint8_t *byte = take(index, 1), *name;
	uint32_t strip;
	size_t len;

	if (byte == NULL)
		return false;
	strip = *byte & 127;
	while ((*byte & 128) != 0) {
		byte = take(index, 1);
		if (byte == NULL || strip > SBX_MAX_PATH)
			return false;
		strip = ((strip + 1) << 7) + (*byte & 127);
	}
	if (strip > index->len)
		return false;
	index->len -= strip;
	len = name_length(index, index->len);
	if (len > SBX_MAX_PATH - index->len)
		return false;
	name = take(index, len + 1);
	if (name == NULL)
		return false;
	memcpy(index->name + index->len, name, len);
	index->len += (uint32_t)len;
	return true;
}

/* Filled with zeros, one at least, to a multiple of eight. */
static bool
read_name(struct index *index, uint32_t before)
{
	size_t len = name_length(index, 0);
	const uint8_t *name;

	if (len > SBX_MAX_PATH)
		return false;
	name = take(index, len + 8 - (before + len) % 8);
	if (name == NULL)
		return false;
	memcpy(index->name, name, len);
	index->len = (uint32_t)len;
	return true;
}

/* The next entry; false at the end, or where it cannot be read (`bad`). */
static bool
next(struct index *index)
{
	uint32_t size = STAT + index->object + 2, kind;
	const uint8_t *bytes;

	if (index->bad || index->left == 0)
		return false;
	index->left--;
	index->bad = true;
	index->stat = bytes = take(index, size);
	if (bytes == NULL)
		return false;
	kind = number(bytes + 24, 4) >> 12;
	index->flags = number(bytes + size - 2, 2);
	index->more = 0;
	/* Else the objects are of another size. */
	if (kind != 8 && kind != 10 && kind != 14 && kind != 4)
		return false;
	if ((index->flags & EXTENDED) != 0) {
		bytes = take(index, 2);
		if (bytes == NULL)
			return false;
		index->more = number(bytes, 2);
		size += 2;
	}
	if (index->version == 4 ? !read_packed_name(index) :
				  !read_name(index, size))
		return false;
	index->name[index->len] = '\0';
	index->bad = false;
	return true;
}

static void
begin_as(struct index *index, const struct bytes *bytes, uint32_t object)
{
	const uint8_t *head;

	*index = (struct index){ .at = bytes->at, .object = object };
	index->end = index->at + bytes->size;
	if (bytes->at == NULL)
		return;
	head = take(index, 12);
	if (head == NULL || memcmp(head, "DIRC", 4) != 0)
		return;
	index->version = number(head + 4, 4);
	if (index->version >= 2 && index->version <= 4)
		index->left = number(head + 8, 4);
}

/* Before the first entry; of one that cannot be read there is none. */
static void
begin(struct index *index, const struct bytes *bytes)
{
	static const uint32_t sizes[] = { SHA1_SIZE, SHA256_SIZE };

	for (size_t i = 0; i < countof(sizes); i++) {
		begin_as(index, bytes, sizes[i]);
		while (next(index))
			continue;
		if (!index->bad) {
			begin_as(index, bytes, sizes[i]);
			return;
		}
	}
	index->left = 0;
}

/* Extensions by which git does not look itself, a bit each. */
static unsigned
extensions(const struct bytes *bytes)
{
	static const char names[][4] = {
		{ 'U', 'N', 'T', 'R' }, /* files that it has not */
		{ 'F', 'S', 'M', 'N' }, /* what has not changed */
		{ 'l', 'i', 'n', 'k' }, /* entries in another file */
		{ 'E', 'O', 'I', 'E' }, /* where all these stand */
		{ 'I', 'E', 'O', 'T' }, /* where entries stand */
	};
	struct index index;
	const uint8_t *head;
	unsigned found = 0;

	begin(&index, bytes);
	if (index.version == 0)
		return 0;
	while (next(&index))
		continue;
	while (!index.bad && (head = take(&index, 8)) != NULL) {
		for (unsigned i = 0; i < countof(names); i++)
			found |= memcmp(head, names[i], 4) == 0 ? 1U << i : 0;
		if (take(&index, number(head + 4, 4)) == NULL)
			break;
	}
	return found;
}

/* The order of an index. */
static int
compare_names(const struct index *a, const struct index *b)
{
	size_t len = a->len < b->len ? a->len : b->len;
	int order = memcmp(a->name, b->name, len);

	if (order != 0 || a->len != b->len)
		return order != 0 ? order : a->len < b->len ? -1 : 1;
	return (int)(a->flags & STAGE) - (int)(b->flags & STAGE);
}

/* --- the files ------------------------------------------------------------ */

/* While an index is compared with the one before and with the files. */
struct comparing {
	struct tripwire *tripwire;
	struct index old, new;
	bool
	    has_old; /* an entry of the old one, whose name is not passed yet */
	bool sparse; /* git leaves files out by itself */
	int tree;    /* the working tree; -1: not known */
	struct timespec written; /* the index */
	struct git_blind *blind;
};

/* The object that git would make of the bytes, which stand behind room for its
 * head. */
static bool
is_object(uint8_t *bytes, size_t before, size_t size, const uint8_t *object,
    uint32_t object_size)
{
	struct out head;
	uint8_t *begin;
	char hex[SHA256_HEX + 1];

	out_init(&head, -1);
	out_print(&head, "blob %u", (unsigned)size);
	begin = bytes + before - head.used - 1;
	memcpy(begin, head.text, head.used + 1);
	size += head.used + 1;
	if (object_size == SHA1_SIZE)
		sha1_hex(begin, size, hex);
	else
		sha256_hex(begin, size, hex);
	return hex_is(hex, object, object_size);
}

/* As git stores a text that has the ends of lines of Windows here. */
static size_t
without_returns(uint8_t *bytes, size_t size)
{
	size_t kept = 0;

	for (size_t i = 0; i < size; i++) {
		if (bytes[i] != '\r' || i + 1 == size || bytes[i + 1] != '\n')
			bytes[kept++] = bytes[i];
	}
	return kept;
}

enum { HEAD = 32 }; /* "blob SIZE" */

/* Whether the file holds what the entry says. */
static bool
holds(struct comparing *comparing, bool link)
{
	const struct open_how how = {
		.flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
		    O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};
	const struct index *new = &comparing->new;
	uint8_t target[HEAD + SBX_MAX_PATH];
	struct bytes bytes;
	ssize_t len;
	bool same;
	int fd;

	if (link) {
		len = readlinkat(comparing->tree, new->name,
		    (char *)target + HEAD, SBX_MAX_PATH);
		return len >= 0 &&
		    is_object(target, HEAD, (size_t)len, new->stat + STAT,
			new->object);
	}
	fd = openat2(comparing->tree, new->name, &how);
	if (fd < 0 && errno == ENOSYS)
		fd = openat(comparing->tree, new->name, (int)how.flags);
	/* Nor can git. */
	if (fd < 0)
		return true;
	bytes = bytes_read(fd, HEAD);
	close(fd);
	if (bytes.at == NULL)
		return false;
	same = is_object(bytes.at, HEAD, bytes.size, new->stat + STAT,
	    new->object);
	if (!same)
		same = is_object(bytes.at, HEAD,
		    without_returns(bytes.at + HEAD, bytes.size),
		    new->stat + STAT, new->object);
	bytes_free(&bytes);
	return same;
}

/* Whether git takes the file for what the entry says without a look at it: some
 * builds compare whole seconds.  What is as new as the index it reads. */
static bool
is_believed(const struct comparing *comparing, const struct stat *status)
{
	const uint8_t *stat = comparing->new.stat;
	const struct timespec *written = &comparing->written;
	uint32_t seconds = number(stat + 8, 4), rest = number(stat + 12, 4);
	uint32_t type = number(stat + 24, 4) >> 12;

	if (type != (status->st_mode & S_IFMT) >> 12 ||
	    number(stat + 36, 4) != (uint32_t)status->st_size ||
	    seconds != (uint32_t)status->st_mtim.tv_sec)
		return false;
	return seconds < (uint32_t)written->tv_sec ||
	    (seconds == (uint32_t)written->tv_sec &&
		rest == (uint32_t)status->st_mtim.tv_nsec &&
		rest < (uint32_t)written->tv_nsec);
}

static bool
is_forged(struct comparing *comparing)
{
	const struct index *new = &comparing->new;
	struct stat status;
	bool link = number(new->stat + 24, 4) >> 12 == 10;

	if (comparing->tree < 0 || (new->flags &STAGE) != 0 ||
	    (new->more &INTENDED) != 0 ||
	    (!link && number(new->stat + 24, 4) >> 12 != 8) ||
	    fstatat(comparing->tree, new->name, &status,
		AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0 ||
	    !is_believed(comparing, &status))
		return false;
	return !tripwire_is_late(comparing->tripwire) &&
	    !holds(comparing, link);
}

static bool
is_left_out(const struct comparing *comparing, const struct index *index)
{
	return (index->flags & VALID) != 0 ||
	    (!comparing->sparse && (index->more & SKIPPED) != 0);
}

static void
add_news(struct git_blind *blind, const char *what, const char *name)
{
	if (blind->news++ > 0)
		return;
	blind->what = what;
	memcpy(blind->first, name, strlen(name) + 1);
}

static void
compare_entry(struct comparing *comparing)
{
	const struct index *old = &comparing->old, *new = &comparing->new;
	const uint32_t size = STAT + new->object;
	bool known = comparing->has_old && compare_names(old, new) == 0;

	if (is_left_out(comparing, new)) {
		if (!known || !is_left_out(comparing, old))
			add_news(comparing->blind, "git does not look at ",
			    new->name);
		return;
	}
	/* What was changed, in the second in which git had looked at it, may look
	 * as it did. */
	if (known && !is_left_out(comparing, old) &&
	    old->object == new->object &&
	    memcmp(old->stat, new->stat, size) == 0 &&
	    number(new->stat, 4) < (uint32_t)comparing->tripwire->since)
		return;
	if (is_forged(comparing))
		add_news(comparing->blind, "git takes for unchanged ",
		    new->name);
}

static void
compare_entries(struct comparing *comparing)
{
	struct index *old = &comparing->old, *new = &comparing->new;

	comparing->has_old = next(old);
	while (next(new)) {
		while (comparing->has_old && compare_names(old, new) < 0)
			comparing->has_old = next(old);
		compare_entry(comparing);
	}
}

/* --- the working tree ----------------------------------------------------- */

static struct seen
seen_at(struct sbx_place at)
{
	struct seen seen = { .at = at };
	struct stat status;

	if (lstat(path_of(at), &status) != 0) {
		seen.error = errno;
		return seen;
	}
	seen.mode = status.st_mode;
	seen.size = (uint64_t)status.st_size;
	return seen;
}

/* The text of a file in the git directory, or NULL. */
static const char *
text_in(struct arena *arena, struct sbx_place directory, const char *name)
{
	const struct seen seen = seen_at(
	    arena_join(arena, directory, sbx_place_of(name)));

	return look_settings(arena, &seen);
}

static int
open_tree(const char *path)
{
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Where `core.worktree` leads, from the git directory; or -1. */
static int
open_set_tree(struct arena *arena, struct sbx_place directory)
{
	const char *text = text_in(arena, directory, "/config");
	struct git_settings settings = { .begin = text, .at = text };
	struct git_setting setting;
	char path[1024];
	int fd = -1, above;

	if (text == NULL)
		return -1;
	settings.end = text + strlen(text);
	above = open_tree(path_of(arena_copy(arena, directory)));
	while (git_setting_any(&settings, &setting)) {
		if (git_setting_leads(&setting, path) != GIT_LEAD_TREE)
			continue;
		if (fd >= 0)
			close(fd);
		fd = openat(above, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	if (above >= 0)
		close(above);
	return fd;
}

/* Of a linked working tree: a file has the path of its `.git`. */
static int
open_linked_tree(struct arena *arena, struct sbx_place directory)
{
	const char *text = text_in(arena, directory, "/gitdir");
	size_t len = text == NULL ? 0 : strcspn(text, "\n");
	struct path path;

	if (len < 5 || len > SBX_MAX_PATH || text[0] != '/' ||
	    memcmp(text + len - 5, "/.git", 5) != 0)
		return -1;
	memcpy(path.text, text, len);
	path_cut(&path, (uint32_t)len - 5);
	return open_tree(path.text);
}

static int
find_tree(const struct tripwire *tripwire, const struct wire *wire,
    const struct seen *index)
{
	struct arena *arena = tripwire->arena;
	struct sbx_place directory = place_parent(index->at);
	struct sbx_place above = place_parent(directory);
	int fd = open_linked_tree(arena, directory);

	if (fd < 0)
		fd = open_set_tree(arena, directory);
	if (fd >= 0 || index->other)
		return fd;
	if (directory.len - above.len == 5 &&
	    memcmp(directory.path + above.len, "/.git", 5) == 0)
		return open_tree(path_of(arena_copy(arena, above)));
	return wire->what.form == LOOK_GIT_DIRECTORY &&
		tripwire->binding != NULL ?
	    open_tree(
		path_of(tripwire->binding->anchors[SBX_ANCHOR_WORKSPACE])) :
	    -1;
}

/* --- before --------------------------------------------------------------- */

static uint32_t
count_replaced(const struct bytes *bytes)
{
	static const char text[] = " refs/replace/";
	const uint8_t *at = bytes->at, *end = at + bytes->size;
	uint32_t count = 0;

	while (at != NULL &&
	    (at = memmem(at, (size_t)(end - at), text, sizeof text - 1)) !=
		NULL) {
		at += sizeof text - 1;
		count++;
	}
	return count;
}

/* Whether a file that is open is what was seen, and nobody wrote since. */
static bool
is_seen(int fd, const struct seen *seen)
{
	struct stat status;

	return fstat(fd, &status) == 0 && status.st_ino == seen->inode &&
	    status.st_dev == seen->device &&
	    (uint64_t)status.st_ctim.tv_sec * 1000000000 +
		(uint64_t)status.st_ctim.tv_nsec ==
	    seen->changed;
}

static void
open_one(struct tripwire *tripwire, const struct seen *seen)
{
	struct stat status;
	struct git_former *former;
	int fd = look_open(seen, &status);

	if (fd < 0)
		return;
	former = arena_take(tripwire->arena, 1, sizeof *former);
	*former = (struct git_former){ .next = tripwire->former,
		.seen = seen,
		.fd = above_standard(fd) };
	tripwire->former = former;
	tripwire->former_count++;
	if (seen->part == SBX_GIT_INDEX && is_seen(former->fd, seen))
		former->known =
		    pread(former->fd, former->tail, sizeof former->tail,
			status.st_size - (off_t)sizeof former->tail) ==
		    (ssize_t)sizeof former->tail;
}

void
git_blind_open(struct tripwire *tripwire)
{
	for (uint32_t i = 0; i < tripwire->count; i++) {
		const struct seen *seen = tripwire->wires[i].before.first;

		for (; seen != NULL; seen = seen->next) {
			if ((seen->part == SBX_GIT_INDEX ||
				seen->part == SBX_GIT_REFS) &&
			    seen->error == 0 && S_ISREG(seen->mode) &&
			    tripwire->former_count < OPEN_MAX_INDEXES)
				open_one(tripwire, seen);
		}
	}
}

void
git_blind_begin(struct tripwire *tripwire)
{
	for (struct git_former *former = tripwire->former; former != NULL;
	     former = former->next) {
		bool index = former->seen->part == SBX_GIT_INDEX;
		struct bytes bytes;

		if (index && !is_zero(former->tail + 12, SHA1_SIZE))
			continue;
		bytes = bytes_read(former->fd, 0);
		if (index)
			sha256_hex(bytes.at, bytes.size, former->digest);
		else
			former->refs = count_replaced(&bytes);
		former->known = bytes.at != NULL &&
		    is_seen(former->fd, former->seen);
		bytes_free(&bytes);
	}
}

static const struct git_former *
find_former(const struct tripwire *tripwire, const struct seen *before)
{
	const struct git_former *former = tripwire->former;

	while (former != NULL && former->seen != before)
		former = former->next;
	return former != NULL && former->known ? former : NULL;
}

/* The index that was there, if nobody has written into it. */
static struct bytes
read_former(const struct git_former *former)
{
	struct bytes bytes = bytes_read(former == NULL ? -1 : former->fd, 0);
	char hex[SHA256_HEX + 1];
	size_t size = sizeof former->tail;
	bool same = false;

	if (bytes.at == NULL || bytes.size < size) {
		bytes_free(&bytes);
		return bytes;
	}
	if (former->digest[0] != '\0') {
		sha256_hex(bytes.at, bytes.size, hex);
		same = strcmp(hex, former->digest) == 0;
	} else if (memcmp(bytes.at + bytes.size - size, former->tail, size) ==
	    0) {
		sha1_hex(bytes.at, bytes.size - SHA1_SIZE, hex);
		same = hex_is(hex, former->tail + 12, SHA1_SIZE);
		if (!same) {
			sha256_hex(bytes.at, bytes.size - SHA256_SIZE, hex);
			same = hex_is(hex, former->tail, SHA256_SIZE);
		}
	}
	if (!same)
		bytes_free(&bytes);
	return bytes;
}

/* --- after ---------------------------------------------------------------- */

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

static void
compare_index(struct tripwire *tripwire, const struct wire *wire,
    const struct git_former *former, const struct seen *now, int fd,
    struct git_blind *blind)
{
	struct bytes old = read_former(former), new = bytes_read(fd, 0);
	uint32_t used = tripwire->arena->used;
	struct comparing *comparing = arena_take(tripwire->arena, 1,
	    sizeof *comparing);
	struct stat status;

	*comparing = (struct comparing){ .tripwire = tripwire,
		.sparse = is_sparse(wire),
		.blind = blind,
		.tree = find_tree(tripwire, wire, now) };
	if (fstat(fd, &status) == 0)
		comparing->written = status.st_mtim;
	if (new.at == NULL)
		add_news(blind,
		    "what git believes is too long to compare: ", "all files");
	begin(&comparing->old, &old);
	begin(&comparing->new, &new);
	compare_entries(comparing);
	if ((extensions(&new) & ~extensions(&old)) != 0)
		add_news(blind, "git believes its list of ", "files");
	if (comparing->tree >= 0)
		close(comparing->tree);
	arena_cut(tripwire->arena, used);
	bytes_free(&old);
	bytes_free(&new);
}

void
git_blind_again(struct tripwire *tripwire, const struct wire *wire,
    const struct seen *before, const struct seen *now, struct git_blind *blind)
{
	const struct git_former *former = find_former(tripwire, before);
	struct stat status;
	struct bytes bytes;
	uint32_t count;
	int fd = look_open(now, &status);

	*blind = (struct git_blind){ .what = "", .first = "refs/replace" };
	if (fd < 0)
		return;
	if (now->part == SBX_GIT_INDEX) {
		compare_index(tripwire, wire, former, now, fd, blind);
	} else {
		bytes = bytes_read(fd, 0);
		count = count_replaced(&bytes);
		bytes_free(&bytes);
		if (former == NULL || count > former->refs)
			blind->news = count -
			    (former == NULL ? 0 : former->refs);
	}
	close(fd);
}
