#include "runtime/area.h"

#include "runtime/out.h"

#include <errno.h>
#include <string.h>

/* What was released by setting `used` back may have been written to, but only
 * with paths (lower.c), and nothing is taken for arrays after that. */
void *
area_take(struct area *area, size_t count, size_t size)
{
	size_t begin = (area->used + 7U) & ~(size_t)7;
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes) ||
	    begin > AREA_SIZE || bytes > AREA_SIZE - begin)
		refuse(NULL, "the policy takes more room than there is",
		    ENOMEM);
	area->used = (uint32_t)(begin + bytes);
	return area->bytes + begin;
}

struct sbx_place
area_join(struct area *area, struct sbx_place a, struct sbx_place b)
{
	char *path = area->bytes + area->used;
	uint32_t len = a.len + b.len;

	if (len > SBX_MAX_PATH)
		refuse(a.path, "a path of the policy is too long here",
		    ENAMETOOLONG);
	if (len + 1 > AREA_SIZE - area->used)
		refuse(NULL, "the policy's paths take more room than there is",
		    ENOMEM);
	memcpy(path, a.path, a.len);
	memcpy(path + a.len, b.path, b.len);
	path[len] = '\0';
	area->used += len + 1;
	return (struct sbx_place){ path, len };
}
