/* See explain.h: a hash table whose texts lie one behind the other. */
#include "runtime/explain/explain.h"

#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <string.h>
#include <sys/mman.h>

enum { LISTS = 1 << 14 };

static void *
room(size_t size)
{
	void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (bytes == MAP_FAILED)
		refuse("--learn", "cannot make room for what is wanted", errno);
	return bytes;
}

void
learn_begin(struct learning *learning)
{
	*learning = (struct learning){
		.wishes = room(LEARN_MAX * sizeof *learning->wishes),
		.texts = room(LEARN_TEXT),
		.lists = room(LISTS * sizeof *learning->lists),
	};
}

/* FNV-1a. */
static uint32_t
hash(uint32_t seed, const void *bytes, size_t len)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < len; i++)
		seed = (seed ^ at[i]) * 16777619u;
	return seed;
}

static uint32_t *
list_of(struct learning *learning, const struct wanted *wanted)
{
	uint32_t numbers[] = { wanted->kind, wanted->port,
		(uint32_t)wanted->number };
	uint32_t seed = hash(2166136261u, numbers, sizeof numbers);

	return &learning->lists[hash(seed, wanted->text, wanted->len) % LISTS];
}

/* The errno follows from the rest. */
static bool
is_same(const struct wanted *a, const struct wanted *b)
{
	return a->kind == b->kind && a->denied == b->denied &&
	    a->makes == b->makes && a->probe == b->probe &&
	    a->below == b->below && a->port == b->port &&
	    a->number == b->number &&
	    memcmp(a->args, b->args, sizeof a->args) == 0 && a->len == b->len &&
	    memcmp(a->text, b->text, a->len) == 0;
}

static struct wanted *
find(struct learning *learning, const struct wanted *wanted)
{
	uint32_t at = *list_of(learning, wanted);

	while (at != 0 && !is_same(&learning->wishes[at - 1], wanted))
		at = learning->wishes[at - 1].next;
	return at != 0 ? &learning->wishes[at - 1] : NULL;
}

static void
count(struct wanted *wanted)
{
	wanted->count += wanted->count < UINT32_MAX;
}

/* NULL: there is no more room. */
static struct wanted *
keep(struct learning *learning, const struct wanted *wanted)
{
	uint32_t *list = list_of(learning, wanted);
	struct wanted *kept = &learning->wishes[learning->count];
	char *text = learning->texts + learning->used;

	if (learning->count == LEARN_MAX ||
	    wanted->len >= LEARN_TEXT - learning->used)
		return NULL;
	memcpy(text, wanted->text, wanted->len);
	text[wanted->len] = '\0';
	*kept = *wanted;
	kept->text = text;
	kept->count = 0;
	kept->next = *list;
	learning->used += wanted->len + 1;
	*list = ++learning->count;
	return kept;
}

static bool
has_path(const struct wanted *wanted)
{
	return wanted->kind <= SBX_DENIED_SOCKET;
}

/* The entry for further names of the same directory; false if that is the root
 * directory, which has few. */
static bool
directory_of(const struct wanted *wanted, struct wanted *directory)
{
	*directory = *wanted;
	directory->below = true;
	while (directory->len > 0 && wanted->text[directory->len - 1] != '/')
		directory->len--;
	if (directory->len <= 1)
		return false;
	directory->len--;
	return true;
}

/* One that is new, unless its directory has too many: then that one. */
static struct wanted *
add(struct learning *learning, const struct wanted *wanted, bool *is_new)
{
	struct wanted directory, *known;
	bool counts = has_path(wanted) && directory_of(wanted, &directory);

	*is_new = true;
	if (!counts)
		return keep(learning, wanted);
	known = find(learning, &directory);
	if (known == NULL) {
		known = keep(learning, &directory);
		if (known == NULL)
			return NULL;
	}
	if (known->names < LEARN_SIBLINGS) {
		known->names++;
		return keep(learning, wanted);
	}
	*is_new = known->count == 0;
	return known;
}

/* Without room, it is counted for the nearest directory that is known. */
static struct wanted *
above(struct learning *learning, const struct wanted *wanted)
{
	struct wanted at = *wanted, directory, *known = NULL;

	while (known == NULL && has_path(wanted) &&
	    directory_of(&at, &directory)) {
		known = find(learning, &directory);
		at = directory;
	}
	return known;
}

struct wanted *
learn_add(struct learning *learning, const struct wanted *wanted)
{
	struct wanted *known = find(learning, wanted);
	bool is_new = false;

	if (known == NULL)
		known = add(learning, wanted, &is_new);
	if (known == NULL) {
		known = above(learning, wanted);
		is_new = known != NULL && known->count == 0;
	}
	if (known == NULL) {
		learning->lost++;
		return NULL;
	}
	count(known);
	return is_new ? known : NULL;
}
