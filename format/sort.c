/*
 * Sorting for tables that are nearly in order, as rules are: a policy's paths
 * are sorted when it is compiled, and only links move a few of them.
 */
#include "format/model.h"

/*
 * Merge sort from short rows up.  Two rows are merged only as far as they
 * overlap, so that a few elements out of place cost little.
 */
enum { ROW = 32 };

struct order {
	sbx_sort_before *before;
	const void *context;
	uint32_t *spare;
};

/* How many elements of a sorted row stay before one that stands behind it. */
static uint32_t
before_it(const struct order *order, const uint32_t *row, uint32_t count,
    uint32_t element)
{
	uint32_t low = 0;

	while (low < count) {
		uint32_t middle = low + (count - low) / 2;

		if (order->before(order->context, element, row[middle]))
			count = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void
sort_row(const struct order *order, uint32_t *row, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		uint32_t element = row[i], to;

		if (!order->before(order->context, element, row[i - 1]))
			continue;
		to = before_it(order, row, i - 1, element);
		/* Few elements: memmove(3) is slower. */
		for (uint32_t j = i; j > to; j--) {
			row[j] = row[j - 1];
			row[j - 1] = element;
		}
	}
}

/* The row [0, middle) and the row [middle, count) become one. */
static void
merge(const struct order *order, uint32_t *row, uint32_t middle, uint32_t count)
{
	uint32_t left = 0, begin, used, to, right = middle;

	if (!order->before(order->context, row[middle], row[middle - 1]))
		return;
	to = begin = before_it(order, row, middle, row[middle]);
	used = middle - begin;
	__builtin_memcpy(order->spare, row + begin, used * sizeof *row);
	while (left < used && right < count) {
		bool later = order->before(order->context, row[right],
		    order->spare[left]);

		row[to++] = later ? row[right++] : order->spare[left++];
	}
	__builtin_memcpy(row + to, order->spare + left,
	    (used - left) * sizeof *row);
}

void
sbx_sort(uint32_t *numbers, uint32_t count, uint32_t *spare,
    sbx_sort_before *before, const void *context)
{
	const struct order order = { before, context, spare };

	for (uint32_t i = 0; i < count; i += ROW)
		sort_row(&order, numbers + i,
		    count - i < ROW ? count - i : ROW);
	for (uint32_t row = ROW; row < count; row *= 2) {
		for (uint32_t i = 0; count - i > row; i += 2 * row) {
			merge(&order, numbers + i, row,
			    count - i < 2 * row ? count - i : 2 * row);
			if (count - i <= 2 * row)
				break;
		}
	}
}
