/*
 * See text.h.  The compiler refuses hidden characters in policies, and both
 * programs show them as numbers, so there is one table of them.
 */
#include "format/text.h"

struct range {
	uint32_t first, last;
};

/*
 * From Unicode 16.0: the controls (Cc), the format characters (Cf), White_Space
 * but for the blank, and Default_Ignorable_Code_Point.  The last has the
 * directional marks, embeddings, overrides and isolates (CVE-2021-42574),
 * invisible operators and fillers, variation selectors and tags.  The blank of
 * Braille is none of these and shows nothing either.
 *
 * tests/meta/hidden.pl prints these rows from the Unicode of a perl, and
 * tests/meta/hidden.sh compares.
 */
static const struct range hidden[] = {
	{ 0x0000, 0x001f },   /* controls */
	{ 0x007f, 0x00a0 },   /* controls, the blank that does not break */
	{ 0x00ad, 0x00ad },   /* soft hyphen */
	{ 0x034f, 0x034f },   /* grapheme joiner */
	{ 0x0600, 0x0605 },   /* Arabic signs around numbers */
	{ 0x061c, 0x061c },   /* Arabic letter mark */
	{ 0x06dd, 0x06dd },   /* Arabic end of verse */
	{ 0x070f, 0x070f },   /* Syriac abbreviation */
	{ 0x0890, 0x0891 },   /* Arabic marks around amounts */
	{ 0x08e2, 0x08e2 },   /* Arabic disputed end of verse */
	{ 0x115f, 0x1160 },   /* Hangul fillers */
	{ 0x1680, 0x1680 },   /* blank of Ogham */
	{ 0x17b4, 0x17b5 },   /* inherent vowels of Khmer */
	{ 0x180b, 0x180f },   /* Mongolian selectors and separator */
	{ 0x2000, 0x200f },   /* blanks, zero-width characters, directions */
	{ 0x2028, 0x202f },   /* separators, directions, narrow blank */
	{ 0x205f, 0x206f },   /* blank, invisible operators, directions */
	{ 0x2800, 0x2800 },   /* blank of Braille */
	{ 0x3000, 0x3000 },   /* wide blank */
	{ 0x3164, 0x3164 },   /* Hangul filler */
	{ 0xfe00, 0xfe0f },   /* variation selectors */
	{ 0xfeff, 0xfeff },   /* byte order mark */
	{ 0xffa0, 0xffa0 },   /* halfwidth Hangul filler */
	{ 0xfff0, 0xfffb },   /* reserved, anchors of annotations */
	{ 0x110bd, 0x110bd }, /* Kaithi sign around numbers */
	{ 0x110cd, 0x110cd }, /* the same above */
	{ 0x13430, 0x1343f }, /* joiners of hieroglyphs */
	{ 0x1bca0, 0x1bca3 }, /* controls of shorthand */
	{ 0x1d173, 0x1d17a }, /* controls of musical notation */
	{ 0xe0000, 0xe0fff }, /* tags, more variation selectors */
};

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

bool
utf8_is_hidden(uint32_t character)
{
	const size_t count = sizeof hidden / sizeof *hidden;

	if (character >= ' ' && character < 0x7f)
		return false;
	for (size_t i = 0; i < count && hidden[i].first <= character; i++) {
		if (character <= hidden[i].last)
			return true;
	}
	return false;
}
