/*
 * Sorting for tables that are nearly in order, as rules are: a policy's paths
 * are sorted when it is compiled, and only links move a few of them.
 */
#ifndef SBX_SORT_H
#define SBX_SORT_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the element that `a` stands for belongs before that of `b`. */
typedef bool sbx_sort_before(const void *context, uint32_t a, uint32_t b);

/*
 * Sorts numbers that stand for elements; equal ones keep their order.  `spare`
 * has room for as many.  At most n log n comparisons, n where all is in
 * order already.
 */
void sbx_sort(uint32_t *numbers, uint32_t count, uint32_t *spare,
    sbx_sort_before *before, const void *context);

#endif
