/*
 * How far a mistyped name is from a known one: the least number of letters
 * that are put in, left out, changed, or swapped with their neighbour
 * (Damerau-Levenshtein, each pair swapped at most once).  Upper and lower
 * case, and '-' and '_', count as the same.  How near is near enough is taken
 * from GCC's spelling hints: about a third of the letters.
 */
#include "compiler/base/base.h"

#include <stdbool.h>
#include <string.h>

static unsigned char
letter(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (unsigned char)(c - 'A' + 'a');
	return c == '_' ? '-' : (unsigned char)c;
}

static unsigned
least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Both texts are at most NAME_MAX_LEN long. */
static unsigned
distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	unsigned rows[3][NAME_MAX_LEN + 1];
	unsigned *above2 = rows[0], *above = rows[1], *row = rows[2];

	for (size_t j = 0; j <= b_len; j++)
		above[j] = above2[j] = (unsigned)j;
	for (size_t i = 1; i <= a_len; i++) {
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_len; j++) {
			bool same = letter(a[i - 1]) == letter(b[j - 1]);

			row[j] = least(above[j - 1] + !same,
			    least(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 &&
			    letter(a[i - 1]) == letter(b[j - 2]) &&
			    letter(a[i - 2]) == letter(b[j - 1]))
				row[j] = least(row[j], above2[j - 2] + 1);
		}
		unsigned *oldest = above2;
		above2 = above;
		above = row;
		row = oldest;
	}
	return above[b_len];
}

static unsigned
near_enough(size_t a_len, size_t b_len)
{
	size_t longer = a_len > b_len ? a_len : b_len;
	size_t shorter = a_len > b_len ? b_len : a_len;

	if (longer <= 1)
		return 0;
	if (longer - shorter <= 1)
		return longer < 3 ? 1 : (unsigned)(longer / 3);
	return (unsigned)((longer + 2) / 3);
}

/* Whether text is the first words of the name, up to a '-'. */
static bool
is_cut_off(const char *text, size_t len, const char *name)
{
	return len >= 3 && strncmp(text, name, len) == 0 && name[len] == '-';
}

const char *
nearest_name(const char *text, const char *const *candidates, size_t count)
{
	size_t len = strlen(text);
	unsigned best = NAME_MAX_LEN + 1;
	const char *nearest = NULL;

	if (len > NAME_MAX_LEN)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		const char *name = candidates[i];
		size_t name_len = name != NULL ? strlen(name) : 0;

		if (name_len == 0 || name_len > NAME_MAX_LEN)
			continue;
		unsigned d = is_cut_off(text, len, name) ?
		    1 :
		    distance(text, len, name, name_len);
		/* At least half of what was typed must be right. */
		if (d < best && d <= near_enough(len, name_len) &&
		    2 * d <= len) {
			best = d;
			nearest = name;
		}
	}
	return nearest;
}

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool
name_is_good(const char *name, size_t len)
{
	bool good = len > 0 && len <= NAME_MAX_LEN && is_letter(name[0]);

	for (size_t i = 0; good && i < len; i++)
		good = is_letter(name[i]) || name[i] == '-' || name[i] == '_' ||
		    (name[i] >= '0' && name[i] <= '9');
	return good;
}
