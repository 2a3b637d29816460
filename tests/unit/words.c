/*
 * Small words: names that are near to others, names that are good, words for a
 * shell, and how many columns a character takes.
 */
#include "compiler/base/base.h"
#include "tests/lib/tap.h"

/* --- names ---------------------------------------------------------------- */

/* Each kind of mistake, as many of them as are near enough for a name as long, and
 * one more. */
static void
test_near(struct tap *tap)
{
	static const struct {
		const char *text, *name;
		bool near;
	} cases[] = {
		{ "ab", "ac", true }, /* one of two letters */
		{ "a", "b", false },
		{ "ab", "cd", false },
		{ "abc", "abd", true },
		{ "abc", "aed", false },
		{ "abcde", "abcdx", true }, /* one of five, two of six */
		{ "abcde", "abcxy", false },
		{ "abcdef", "abcdxy", true },
		{ "abcdef", "abcxyz", false },
		{ "abcdefgh", "abcdefxy", true },
		{ "abcdefgh", "abcdexyz", false },
		{ "abcdefghi", "abcdefxyz", true },
		{ "abcde", "abcdefg", true }, /* left out at the end */
		{ "abcd", "abcdefg", false },
		{ "abc", "abcdefg", false },
		{ "abcdefg", "abcde", true },
		{ "bacdef", "abcdef", true }, /* swapped */
		{ "badcef", "abcdef", true },
		{ "badcfe", "abcdef", false },
		{ "ABCDEF", "abcdef", true },
		{ "a_b_c_d", "a-b-c-d", true },
		{ "a.b.c.d", "a-b-c-d", false },
		{ "abc", "abc-defghij", true }, /* the first words */
		{ "ab", "ab-defghij", false },
		{ "abc", "abcdefghij", false },
		{ "abd", "abc-defghij", false },
		{ "Z-zzzz", "z_ZZZZ", true },
		{ "@[`{", "`{@[", false },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *const names[] = { cases[i].name };
		const char *got = nearest_name(cases[i].text, names, 1);

		tap_ok(tap, (got != NULL) == cases[i].near, "'%s' is%s near %s",
		    cases[i].text, cases[i].near ? "" : " not", cases[i].name);
	}
}

/* Of two as near the first, else the nearer one, wherever it stands. */
static void
test_nearest(struct tap *tap)
{
	static const char *const equal[] = { "abcdex", "abcdey" };
	static const char *const later[] = { "abcdxy", NULL, "", "abcdex" };
	char text[NAME_MAX_LEN + 2], name[NAME_MAX_LEN + 2];
	const char *const longest[] = { name };

	tap_ok(tap, nearest_name("abcdef", equal, 2) == equal[0],
	    "of two that are as near the first");
	tap_ok(tap, nearest_name("abcdef", later, 4) == later[3],
	    "of two the nearer one, past what is no name");
	tap_ok(tap, nearest_name("abcdef", equal, 0) == NULL, "of none none");
	memset(text, 'a', sizeof text);
	memset(name, 'a', sizeof name);
	name[0] = 'b';
	text[NAME_MAX_LEN] = name[NAME_MAX_LEN] = '\0';
	tap_ok(tap, nearest_name(text, longest, 1) == name,
	    "the longest name is compared");
	name[NAME_MAX_LEN] = 'a';
	name[NAME_MAX_LEN + 1] = '\0';
	tap_ok(tap, nearest_name(text, longest, 1) == NULL,
	    "a longer one is not");
	text[NAME_MAX_LEN] = 'a';
	text[NAME_MAX_LEN + 1] = '\0';
	name[NAME_MAX_LEN] = '\0';
	tap_ok(tap, nearest_name(text, longest, 1) == NULL,
	    "and neither is a longer text");
}

static void
test_good(struct tap *tap)
{
	char name[NAME_MAX_LEN + 1];
	bool first = true, later = true;

	for (int c = 0; c < 256; c++) {
		const char one = (char)c, two[] = { 'a', (char)c };
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
		bool other = (c >= '0' && c <= '9') || c == '-' || c == '_';

		first &= name_is_good(&one, 1) == letter;
		later &= name_is_good(two, 2) == (letter || other);
	}
	tap_ok(tap, first, "a name begins with a letter");
	tap_ok(tap, later, "and goes on with letters, digits, '-' and '_'");
	memset(name, 'a', sizeof name);
	tap_ok(tap, !name_is_good(name, 0), "no letter is no name");
	tap_ok(tap, name_is_good(name, NAME_MAX_LEN), "the longest name");
	tap_ok(tap, !name_is_good(name, NAME_MAX_LEN + 1), "a longer one");
}

/* --- words of a shell ----------------------------------------------------- */

static void
test_shell(struct tap *tap)
{
	static const char plain[] = "/._-+@%:,=", safe[] = "._/+@~-";
	static const struct {
		const char *word, *quoted;
	} cases[] = {
		{ "", "''" },
		{ "a b", "'a b'" },
		{ "it's", "'it'\\''s'" },
		{ "''", "''\\'''\\'''" },
		{ "~", "'~'" },
		{ "a\nb", "'a\nb'" },
	};
	struct arena *arena = arena_new();
	bool words = true, paths = true;

	for (int c = 1; c < 256; c++) {
		const char one[] = { (char)c, '\0' };
		const char path[] = { '/', (char)c, '\0' };
		bool letter = (c >= 'a' && c <= 'z') ||
		    (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

		words &= (shell_word(arena, one) == one) ==
		    (letter || strchr(plain, c) != NULL);
		paths &= shell_is_safe(path) ==
		    (letter || strchr(safe, c) != NULL);
	}
	tap_ok(tap, words, "which characters need no quotes");
	tap_ok(tap, paths, "which characters are safe in a path");
	tap_ok(tap, !shell_is_safe("a") && !shell_is_safe(""),
	    "a path that is safe begins with a slash");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		tap_ok(tap,
		    strcmp(shell_word(arena, cases[i].word), cases[i].quoted) ==
			0,
		    "a word in quotes: %zu", i);
	arena_release(arena);
}

/* --- columns -------------------------------------------------------------- */

/* Where the width changes, written down once more. */
static void
test_width(struct tap *tap)
{
	static const struct {
		uint32_t first;
		int width;
	} rows[] = {
		{ 0, 1 },
		{ 0x0300, 0 },
		{ 0x0370, 1 },
		{ 0x0483, 0 },
		{ 0x048a, 1 },
		{ 0x0591, 0 },
		{ 0x05be, 1 },
		{ 0x0610, 0 },
		{ 0x061b, 1 },
		{ 0x064b, 0 },
		{ 0x0660, 1 },
		{ 0x0900, 0 },
		{ 0x0903, 1 },
		{ 0x093c, 0 },
		{ 0x093d, 1 },
		{ 0x0941, 0 },
		{ 0x0949, 1 },
		{ 0x094d, 0 },
		{ 0x094e, 1 },
		{ 0x0e31, 0 },
		{ 0x0e32, 1 },
		{ 0x0e34, 0 },
		{ 0x0e3b, 1 },
		{ 0x0e47, 0 },
		{ 0x0e4f, 1 },
		{ 0x1100, 2 },
		{ 0x1160, 1 },
		{ 0x1ab0, 0 },
		{ 0x1b00, 1 },
		{ 0x1dc0, 0 },
		{ 0x1e00, 1 },
		{ 0x20d0, 0 },
		{ 0x2100, 1 },
		{ 0x231a, 2 },
		{ 0x231c, 1 },
		{ 0x2329, 2 },
		{ 0x232b, 1 },
		{ 0x23e9, 2 },
		{ 0x23ed, 1 },
		{ 0x25fd, 2 },
		{ 0x25ff, 1 },
		{ 0x2614, 2 },
		{ 0x2616, 1 },
		{ 0x2e80, 2 },
		{ 0x303f, 1 },
		{ 0x3041, 2 },
		{ 0x3099, 0 },
		{ 0x309b, 2 },
		{ 0x4dc0, 1 },
		{ 0x4e00, 2 },
		{ 0xa4d0, 1 },
		{ 0xa960, 2 },
		{ 0xa980, 1 },
		{ 0xac00, 2 },
		{ 0xd7a4, 1 },
		{ 0xf900, 2 },
		{ 0xfb00, 1 },
		{ 0xfe20, 0 },
		{ 0xfe30, 2 },
		{ 0xfe70, 1 },
		{ 0xff00, 2 },
		{ 0xff61, 1 },
		{ 0xffe0, 2 },
		{ 0xffe7, 1 },
		{ 0x16fe0, 2 },
		{ 0x18b00, 1 },
		{ 0x1b000, 2 },
		{ 0x1b300, 1 },
		{ 0x1f300, 2 },
		{ 0x1f650, 1 },
		{ 0x1f680, 2 },
		{ 0x1f700, 1 },
		{ 0x1f900, 2 },
		{ 0x1fa00, 1 },
		{ 0x1fa70, 2 },
		{ 0x1fb00, 1 },
		{ 0x20000, 2 },
		{ 0x3fffe, 1 },
		{ 0x110000, 0 },
	};

	for (size_t i = 0; i + 1 < sizeof rows / sizeof *rows; i++) {
		uint32_t c = rows[i].first;

		while (c < rows[i + 1].first &&
		    character_width(c) == rows[i].width)
			c++;
		tap_ok(tap, c == rows[i + 1].first,
		    "from U+%04X on a character takes %d", rows[i].first,
		    rows[i].width);
	}
}

int
main(void)
{
	struct tap tap = { 0 };

	test_near(&tap);
	test_nearest(&tap);
	test_good(&tap);
	test_shell(&tap);
	test_width(&tap);
	return tap_done(&tap);
}
