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
#ifndef SBX_INDEX_H
#define SBX_INDEX_H

#include "format/model.h"
#include "format/sort.h"

struct sbx_index {
	const void *records;
	size_t size;          /* of one record */
	uint32_t count;       /* of those that are in the index */
	uint32_t *sorted;     /* their numbers, in path order */
	uint32_t *outer;      /* beside: the position around it, or 0 */
	sbx_sort_before *tie; /* orders records at one place; NULL: none */
	const void *tie_context;
	uint32_t last; /* where the path that was asked for before was found */
};

/*
 * Sorts, and links each record to the one around it.  Before that everything
 * but `outer` and `last` is set; `sorted` has the numbers of the records that
 * are meant, `outer` has room for as many.  Records at one place keep the order
 * in which they are given, unless there is a `tie`; then the one before is
 * around the one after it.
 */
void sbx_index_make(struct sbx_index *index);

/* The same, of all records from 0 to `count`: `sorted` is room, too. */
void sbx_index_make_all(struct sbx_index *index);

/* The position of the last record that covers the path, the nearest to it; 0 if
 * none does.  Cheapest for paths that are asked for in path order. */
uint32_t sbx_index_find(struct sbx_index *index, struct sbx_place path);

/* Whether a record is at the place or below it. */
bool sbx_index_reaches(const struct sbx_index *index, struct sbx_place place);

/* The records at the place and below it: sorted[first] up to sorted[end - 1].
 * Takes time for each of them. */
struct sbx_range {
	uint32_t first, end;
};
struct sbx_range sbx_index_within(const struct sbx_index *index,
    struct sbx_place place);

#endif
