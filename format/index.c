/*
 * An index of places.  What it is about are records, an array of structs of
 * any kind that begin with a struct sbx_place.  The index has them in path
 * order, each with the nearest record before it that covers its place: the
 * records that cover a path are found on the way up from it, and those that
 * lie in a place stand together.
 *
 *	records   /a   /a/b   /a/b/x   /a/c   /d
 *	outer      0     1        2      1     0
 *
 * A record is named by its position in this order, counted from 1, so that 0
 * is none.  Who asks goes through all that cover a path like this:
 *
 *	for (at = sbx_index_find(index, path); at > 0; at = index->outer[at - 1])
 *		... index->sorted[at - 1] ...
 *
 * The memory is the caller's.
 */
#include "format/model.h"

static struct sbx_place
record_place(const struct sbx_index *index, uint32_t number)
{
	const char *record = (const char *)index->records +
	    number * index->size;

	return *(const struct sbx_place *)(const void *)record;
}

static struct sbx_place
place_at(const struct sbx_index *index, uint32_t position)
{
	return record_place(index, index->sorted[position - 1]);
}

static bool
record_before(const void *context, uint32_t a, uint32_t b)
{
	const struct sbx_index *index = context;
	int order = sbx_place_compare(record_place(index, a),
	    record_place(index, b));

	if (order == 0 && index->tie != NULL)
		return index->tie(index->tie_context, a, b);
	return order < 0;
}

/* The nearest record that covers the path, at this position or around it. */
static uint32_t
climb(const struct sbx_index *index, uint32_t position, struct sbx_place path)
{
	while (position > 0 && !sbx_covers(place_at(index, position), path))
		position = index->outer[position - 1];
	return position;
}

void
sbx_index_make(struct sbx_index *index)
{
	index->last = 0;
	/* Until it is filled, `outer` is spare room. */
	sbx_sort(index->sorted, index->count, index->outer, record_before,
	    index);
	for (uint32_t i = 0; i < index->count; i++)
		index->outer[i] = climb(index, i, place_at(index, i + 1));
}

void
sbx_index_make_all(struct sbx_index *index)
{
	for (uint32_t i = 0; i < index->count; i++)
		index->sorted[i] = i;
	sbx_index_make(index);
}

/* Whether the record is not at `position`, but behind the path. */
static bool
comes_after(const struct sbx_index *index, uint32_t position,
    struct sbx_place path)
{
	return position > index->count ||
	    sbx_place_compare(place_at(index, position), path) > 0;
}

/* The last position at or before the path. */
static uint32_t
position_of(struct sbx_index *index, struct sbx_place path)
{
	uint32_t low = 0, high = index->count;

	for (uint32_t i = index->last; i <= index->count && i < index->last + 2;
	     i++) {
		if ((i == 0 || !comes_after(index, i, path)) &&
		    comes_after(index, i + 1, path))
			return index->last = i;
	}
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (comes_after(index, middle + 1, path))
			high = middle;
		else
			low = middle + 1;
	}
	return index->last = low;
}

uint32_t
sbx_index_find(struct sbx_index *index, struct sbx_place path)
{
	return climb(index, position_of(index, path), path);
}

/* How many records come before the place. */
static uint32_t
count_before(const struct sbx_index *index, struct sbx_place place)
{
	uint32_t low = 0, high = index->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (sbx_place_compare(place_at(index, middle + 1), place) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool
is_within(const struct sbx_index *index, uint32_t position,
    struct sbx_place place)
{
	return position <= index->count &&
	    sbx_covers(place, place_at(index, position));
}

bool
sbx_index_reaches(const struct sbx_index *index, struct sbx_place place)
{
	return is_within(index, count_before(index, place) + 1, place);
}

struct sbx_range
sbx_index_within(const struct sbx_index *index, struct sbx_place place)
{
	uint32_t first = count_before(index, place), end = first;

	while (is_within(index, end + 1, place))
		end++;
	return (struct sbx_range){ first, end };
}
