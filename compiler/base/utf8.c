/*
 * The tables are coarse on purpose: they keep carets in place under names that
 * people use, and they are short enough to be read.
 */
#include "compiler/base/utf8.h"

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
	{ 0xfe00, 0xfe0f },
	{ 0xfe20, 0xfe2f },
	{ 0xe0100, 0xe01ef },
};

/*
 * C0 and C1 controls, soft hyphen, blanks other than the blank, zero-width
 * characters, line and paragraph separators, the directional marks,
 * embeddings, overrides and isolates (CVE-2021-42574), invisible operators and
 * fillers, and tags.
 */
static const struct range hidden[] = {
	{ 0x0000, 0x001f },
	{ 0x007f, 0x00a0 },
	{ 0x00ad, 0x00ad },
	{ 0x034f, 0x034f },
	{ 0x061c, 0x061c },
	{ 0x115f, 0x1160 },
	{ 0x1680, 0x1680 },
	{ 0x17b4, 0x17b5 },
	{ 0x180b, 0x180f },
	{ 0x2000, 0x200f },
	{ 0x2028, 0x202f },
	{ 0x205f, 0x206f },
	{ 0x3000, 0x3000 },
	{ 0x3164, 0x3164 },
	{ 0xfeff, 0xfeff },
	{ 0xffa0, 0xffa0 },
	{ 0xfff0, 0xfffb },
	{ 0xe0000, 0xe007f },
};

#define COUNTOF(array) (sizeof(array) / sizeof(array)[0])

static bool
is_in(const struct range *ranges, size_t count, uint32_t character)
{
	for (size_t i = 0; i < count && ranges[i].first <= character; i++) {
		if (character <= ranges[i].last)
			return true;
	}
	return false;
}

size_t
utf8_decode(const char *text, size_t len, uint32_t *character)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *bytes = (const unsigned char *)text;

	if (len == 0)
		return 0;
	if (bytes[0] < 0x80) {
		*character = bytes[0];
		return 1;
	}
	size_t size = bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : 2;
	if (bytes[0] < 0xc2 || bytes[0] > 0xf4 || size > len)
		return 0;
	uint32_t value = bytes[0] & (0x7fu >> size);
	for (size_t i = 1; i < size; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (bytes[i] & 0x3fu);
	}
	if (value < least[size] || value > 0x10ffff ||
	    (value >= 0xd800 && value <= 0xdfff))
		return 0;
	*character = value;
	return size;
}

int
utf8_width(uint32_t character)
{
	if (character < 0x300)
		return 1;
	if (is_in(combining, COUNTOF(combining), character))
		return 0;
	return is_in(wide, COUNTOF(wide), character) ? 2 : 1;
}

bool
utf8_is_hidden(uint32_t character)
{
	if (character >= ' ' && character < 0x7f)
		return false;
	return is_in(hidden, COUNTOF(hidden), character);
}
