/*
 * See base.h.  The tables are coarse on purpose: they keep carets in place
 * under names that people use, and they are short enough to be read.
 */
#include "compiler/base/base.h"

#include <stdbool.h>

struct range {
	uint32_t first, last;
};

/* Unicode's East Asian Wide and Fullwidth, and emoji, in large blocks. */
static const struct range wide[] = {
	{ 0x1100, 0x115f },
	{ 0x231a, 0x231b },
	{ 0x2329, 0x232a },
	{ 0x23e9, 0x23ec },
	{ 0x25fd, 0x25fe },
	{ 0x2614, 0x2615 },
	{ 0x2e80, 0x303e },
	{ 0x3041, 0x33ff },
	{ 0x3400, 0x4dbf },
	{ 0x4e00, 0x9fff },
	{ 0xa000, 0xa4cf },
	{ 0xa960, 0xa97f },
	{ 0xac00, 0xd7a3 },
	{ 0xf900, 0xfaff },
	{ 0xfe30, 0xfe6f },
	{ 0xff00, 0xff60 },
	{ 0xffe0, 0xffe6 },
	{ 0x16fe0, 0x18aff },
	{ 0x1b000, 0x1b2ff },
	{ 0x1f300, 0x1f64f },
	{ 0x1f680, 0x1f6ff },
	{ 0x1f900, 0x1f9ff },
	{ 0x1fa70, 0x1faff },
	{ 0x20000, 0x3fffd },
};

/* Combining marks of the scripts in common use. */
static const struct range combining[] = {
	{ 0x0300, 0x036f },
	{ 0x0483, 0x0489 },
	{ 0x0591, 0x05bd },
	{ 0x0610, 0x061a },
	{ 0x064b, 0x065f },
	{ 0x0900, 0x0902 },
	{ 0x093c, 0x093c },
	{ 0x0941, 0x0948 },
	{ 0x094d, 0x094d },
	{ 0x0e31, 0x0e31 },
	{ 0x0e34, 0x0e3a },
	{ 0x0e47, 0x0e4e },
	{ 0x1ab0, 0x1aff },
	{ 0x1dc0, 0x1dff },
	{ 0x20d0, 0x20ff },
	{ 0x3099, 0x309a },
	{ 0xfe20, 0xfe2f },
};

static bool
is_in(const struct range *ranges, size_t count, uint32_t character)
{
	for (size_t i = 0; i < count && ranges[i].first <= character; i++) {
		if (character <= ranges[i].last)
			return true;
	}
	return false;
}

int
character_width(uint32_t character)
{
	if (character < 0x300)
		return 1;
	if (is_in(combining, countof(combining), character))
		return 0;
	return is_in(wide, countof(wide), character) ? 2 : 1;
}
