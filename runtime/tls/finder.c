/* See tls.h. */
#include "runtime/tls/tls.h"

#include <string.h>

enum { PAIR = 2, SHIFT_MAX = UINT8_MAX };

static size_t
pair_of(const char *end)
{
	return (size_t)(uint8_t)end[-2] << 8 | (uint8_t)end[-1];
}

void
finder_add(struct finder *finder, const char *at, const char *with, size_t len)
{
	finder->needles[finder->count++] = (struct needle){ at, with, len };
	if (finder->count == 1 || len < finder->min)
		finder->min = len;
	if (len > finder->max)
		finder->max = len;
}

/* The window is as long as the shortest text.  Two bytes at its end that are in no
 * text let it pass over them; those that are in one, to where they are in it. */
void
finder_prepare(struct finder *finder)
{
	size_t most = finder->min - PAIR + 1;

	memset(finder->shift, most < SHIFT_MAX ? (int)most : SHIFT_MAX,
	    sizeof finder->shift);
	for (size_t i = 0; i < finder->count; i++) {
		for (size_t end = PAIR; end <= finder->min; end++) {
			size_t left = finder->min - end;
			uint8_t *shift = &finder->shift[pair_of(
			    finder->needles[i].at + end)];

			if (left < *shift)
				*shift = (uint8_t)left;
		}
	}
}

static const struct needle *
find_at(const struct finder *finder, const char *bytes, size_t len)
{
	for (size_t i = 0; i < finder->count; i++) {
		const struct needle *needle = &finder->needles[i];

		if (needle->len <= len &&
		    memcmp(needle->at, bytes, needle->len) == 0)
			return needle;
	}
	return NULL;
}

static bool
begins(const struct finder *finder, const char *bytes, size_t len)
{
	for (size_t i = 0; i < finder->count; i++) {
		const struct needle *needle = &finder->needles[i];

		if (needle->len > len && needle->at[0] == bytes[0] &&
		    memcmp(needle->at, bytes, len) == 0)
			return true;
	}
	return false;
}

size_t
finder_replace(const struct finder *finder, char *bytes, size_t len)
{
	size_t end = finder->min, done = 0, at;

	while (finder->count > 0 && end <= len) {
		size_t shift = finder->shift[pair_of(bytes + end)];
		const struct needle *found = NULL;

		at = end - finder->min;
		if (shift == 0)
			found = find_at(finder, bytes + at, len - at);
		if (found != NULL) {
			memcpy(bytes + at, found->with, found->len);
			done = at + found->len;
			end = done + finder->min;
		} else {
			end += shift > 0 ? shift : 1;
		}
	}
	if (finder->count == 0)
		return 0;
	at = len >= finder->max ? len - finder->max + 1 : 0;
	for (at = at > done ? at : done; at < len; at++) {
		if (begins(finder, bytes + at, len - at))
			return len - at;
	}
	return 0;
}
