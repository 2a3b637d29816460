/*
 * A place as a policy names it: what follows an anchor, which gets its path
 * when a policy is bound.
 */
#include "compiler/policy/policy.h"

#include <string.h>

int
target_compare(struct target a, struct target b)
{
	const unsigned char *x = (const unsigned char *)a.suffix;
	const unsigned char *y = (const unsigned char *)b.suffix;

	if (a.anchor != b.anchor)
		return a.anchor < b.anchor ? -1 : 1;
	if (x == y)
		return 0;
	while (*x == *y && *x != '\0') {
		x++;
		y++;
	}
	if (*x == *y)
		return 0;
	if (*x == '\0' || *y == '\0')
		return *x == '\0' ? -1 : 1;
	if (*x == '/' || *y == '/')
		return *x == '/' ? -1 : 1;
	return *x < *y ? -1 : 1;
}

uint64_t
target_hash(struct target target)
{
	return hash_name(target.suffix) * 31 + target.anchor;
}

int
targets_compare(const void *a, const void *b)
{
	return target_compare(*(const struct target *)a,
	    *(const struct target *)b);
}

bool
target_covers(struct target place, struct target at)
{
	const char *x = place.suffix, *y = at.suffix;

	if (place.anchor != at.anchor)
		return false;
	while (*x == *y && *x != '\0') {
		x++;
		y++;
	}
	return *x == '\0' && (*y == '\0' || *y == '/');
}
