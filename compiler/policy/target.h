/*
 * A place as a policy names it: what follows an anchor, which gets its path
 * when a policy is bound.
 */
#ifndef SBX_TARGET_H
#define SBX_TARGET_H

#include "compiler/base/map.h"

#include <stdbool.h>
#include <stdint.h>

struct target {
	const char *suffix; /* interned: "" or "/x/y" */
	uint16_t anchor;    /* enum sbx_anchor_id, or a parameter */
};

/* Byte order with '/' first, as sbx_place_compare(), after the anchor. */
int target_compare(struct target a, struct target b);

/* The same, for qsort(3). */
int targets_compare(const void *a, const void *b);

/* The same number for equal places. */
uint64_t target_hash(struct target target);

/* Whether `at` is the place or below it; false for different anchors. */
bool target_covers(struct target place, struct target at);

#endif
