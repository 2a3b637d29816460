/*
 * Patterns of paths against a matcher that tries everything, over all short
 * patterns and texts of a small alphabet: names first, then whole paths.
 */
#include "format/model.h"
#include "tests/lib/tap.h"

enum { TEXT_MAX = 64 };

/* --- the matcher that is compared with ------------------------------------ */

/* Table 3-7 of Unicode: the bytes of characters that have several. */
static const struct {
	unsigned char first, last;         /* of the first byte */
	unsigned char second, second_last; /* of the second */
	int more;                          /* from 80 to bf behind these */
} well_formed[] = {
	{ 0xc2, 0xdf, 0x80, 0xbf, 0 },
	{ 0xe0, 0xe0, 0xa0, 0xbf, 1 },
	{ 0xe1, 0xec, 0x80, 0xbf, 1 },
	{ 0xed, 0xed, 0x80, 0x9f, 1 },
	{ 0xee, 0xef, 0x80, 0xbf, 1 },
	{ 0xf0, 0xf0, 0x90, 0xbf, 2 },
	{ 0xf1, 0xf3, 0x80, 0xbf, 2 },
	{ 0xf4, 0xf4, 0x80, 0x8f, 2 },
};

/* One character; of what is no UTF-8, one byte. */
static const char *
after_character(const char *text)
{
	const unsigned char *bytes = (const unsigned char *)text;

	for (size_t i = 0; i < sizeof well_formed / sizeof *well_formed; i++) {
		int more = 0;

		if (bytes[0] < well_formed[i].first ||
		    bytes[0] > well_formed[i].last ||
		    bytes[1] < well_formed[i].second ||
		    bytes[1] > well_formed[i].second_last)
			continue;
		while (more < well_formed[i].more && bytes[2 + more] >= 0x80 &&
		    bytes[2 + more] <= 0xbf)
			more++;
		if (more == well_formed[i].more)
			return text + 2 + more;
	}
	return text + 1;
}

static bool
naive_name(const char *part, const char *name)
{
	if (*part == '\0')
		return *name == '\0';
	if (*part == '*')
		return naive_name(part + 1, name) ||
		    (*name != '\0' && naive_name(part, after_character(name)));
	if (*name == '\0')
		return false;
	if (*part == '?')
		return naive_name(part + 1, after_character(name));
	return *part == *name && naive_name(part + 1, name + 1);
}

/* The first of "/a/b" without its slash; what is behind it. */
static const char *
cut(const char *path, char *name)
{
	size_t len = strcspn(path + 1, "/");

	memcpy(name, path + 1, len);
	name[len] = '\0';
	return path + 1 + len;
}

/* Whether the pattern matches the whole path; both "" or "/x/y". */
static bool
naive_path(const char *pattern, const char *path)
{
	char part[TEXT_MAX], name[TEXT_MAX];
	const char *rest, *below;

	if (*pattern == '\0')
		return *path == '\0';
	rest = cut(pattern, part);
	if (strcmp(part, "**") == 0 && naive_path(rest, path))
		return true;
	if (*path == '\0')
		return false;
	below = cut(path, name);
	if (strcmp(part, "**") == 0)
		return naive_path(pattern, below);
	return naive_name(part, name) && naive_path(rest, below);
}

/* --- all texts ------------------------------------------------------------ */

/* The `number`-th text over some letters: false when all up to `most` letters
 * were had. */
static bool
text_get(const char *const *letters, size_t count, size_t most, size_t number,
    char *text)
{
	size_t len = 0, of_len = 1;

	while (number >= of_len) {
		number -= of_len;
		of_len *= count;
		len++;
	}
	*text = '\0';
	for (; len <= most && len > 0; len--) {
		strcat(text, letters[number % count]);
		number /= count;
	}
	return len == 0;
}

struct alphabet {
	const char *what;
	const char *pattern[6], *text[6];
	size_t pattern_count, text_count, pattern_most, text_most;
};

static const struct alphabet names[] = {
	{ "names", { "a", "b", "*", "?" }, { "a", "b" }, 4, 2, 6, 7 },
	{ "names with a dot", { ".", "a", "*" }, { ".", "a" }, 3, 2, 6, 6 },
	{ "names of several bytes", { "é", "a", "*", "?" }, { "é", "a", "€" },
	    4, 3, 5, 5 },
	/* As a file system may hold them, though no text does. */
	{ "names that are no UTF-8", { "a", "é", "*", "?" },
	    { "a", "\x80", "\xc3", "\xe2\x82", "\xed", "\xf0\x9f" }, 4, 6, 5,
	    4 },
};

static void
test_names(struct tap *tap, const struct alphabet *alphabet)
{
	char part[TEXT_MAX], name[TEXT_MAX];
	size_t asked = 0, matched = 0, wrong = 0;

	for (size_t i = 0; text_get(alphabet->pattern, alphabet->pattern_count,
		 alphabet->pattern_most, i, part);
	     i++) {
		for (size_t j = 0; text_get(alphabet->text,
			 alphabet->text_count, alphabet->text_most, j, name);
		     j++) {
			bool match = naive_name(part, name);

			asked++;
			matched += match;
			wrong += match !=
			    sbx_name_match(part, strlen(part), name,
				strlen(name));
		}
	}
	tap_ok(tap, wrong == 0 && matched > 100 && matched < asked / 2,
	    "%s: %zu questions, %zu matches, %zu wrong", alphabet->what, asked,
	    matched, wrong);
}

static void
test_strays(struct tap *tap)
{
	tap_ok(tap,
	    !sbx_name_match("?", 1, "a\x80", 2) &&
		sbx_name_match("??", 2, "a\x80", 2) &&
		sbx_name_match("?", 1, "\x80", 1) &&
		sbx_name_match("??", 2, "\xe2\x82", 2) &&
		sbx_name_match("?", 1, "\xe2\x82\xac", 3) &&
		!sbx_name_match("*???", 4, "\xe2\x82\xac", 3),
	    "each byte that is no UTF-8 is one character");
}

static const struct alphabet paths = { "paths",
	{ "/a", "/**", "/*", "/?b", "/a*" }, { "/a", "/b", "/ab", "/bb" }, 5, 4,
	5, 5 };

/* What the longest way round says: the shortest prefix that matches. */
static size_t
naive_find(const char *pattern, const char *path)
{
	char prefix[TEXT_MAX];

	for (size_t len = 1; path[len - 1] != '\0'; len++) {
		if (path[len] != '/' && path[len] != '\0')
			continue;
		memcpy(prefix, path, len);
		prefix[len] = '\0';
		if (naive_path(pattern, prefix))
			return len;
	}
	return 0;
}

/* Where no state is left nothing below may match. */
static bool
is_dead_rightly(const struct sbx_glob *glob, const char *pattern,
    const char *path)
{
	uint64_t states = sbx_glob_start(glob);
	char name[TEXT_MAX];

	for (const char *at = path; *at != '\0' && states != 0;) {
		at = cut(at, name);
		states = sbx_glob_step(glob, states, name, strlen(name));
	}
	return states != 0 || !naive_path(pattern, path);
}

static void
test_paths(struct tap *tap)
{
	static const char place[] = "/at/the/place";
	struct sbx_place at = { place, sizeof place - 1 };
	char pattern[TEXT_MAX], path[TEXT_MAX], whole[2 * TEXT_MAX];
	size_t asked = 0, matched = 0, wrong = 0, patterns = 0;
	struct sbx_glob glob;

	for (size_t i = 0; text_get(paths.pattern, paths.pattern_count,
		 paths.pattern_most, i, pattern);
	     i++) {
		if (!sbx_glob_parse(pattern, &glob))
			continue;
		patterns++;
		for (size_t j = 0; text_get(paths.text, paths.text_count,
			 paths.text_most, j, path);
		     j++) {
			size_t len = naive_find(pattern, path);
			size_t used = (size_t)snprintf(whole, sizeof whole,
			    "%s%s", place, path);
			struct sbx_place found = sbx_glob_find(&glob, at,
			    (struct sbx_place){ whole, (uint32_t)used });

			asked++;
			matched += len > 0;
			wrong += found.len != (len == 0 ? 0 : at.len + len);
			wrong += !is_dead_rightly(&glob, pattern, path);
		}
	}
	tap_ok(tap, wrong == 0 && matched > 1000 && matched < asked,
	    "%zu patterns of paths: %zu questions, %zu matches, %zu wrong",
	    patterns, asked, matched, wrong);
}

static void
test_forms(struct tap *tap)
{
	static const char *const good[] = {
		"/*", "/?", "/**/x", "/a*b/c", "/**/a/**/b", "/.*", "/*/...",
		"/x?/y/**/z", "/[*", "/*\\",
	}, *const bad[] = {
		"", "/", "*", "/a", "/a/*", "/*/", "//*", "/*//a", "/**",
		"/*/**", "/**/**/a", "/a**", "/**a/b", "/*/.", "/*/../a",
		"/***/a", "/./*",
	};
	struct sbx_glob glob;
	char many[4 * SBX_MAX_GLOB] = "";

	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		tap_ok(tap, sbx_glob_parse(good[i], &glob), "a pattern: %s",
		    good[i]);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		tap_ok(tap, !sbx_glob_parse(bad[i], &glob), "no pattern: %s",
		    bad[i]);
	for (int i = 0; i < SBX_MAX_GLOB; i++)
		strcat(many, "/?");
	tap_ok(tap, sbx_glob_parse(many, &glob) && glob.count == SBX_MAX_GLOB,
	    "as many parts as there can be");
	strcat(many, "/?");
	tap_ok(tap, !sbx_glob_parse(many, &glob), "one part more");
}

static void
test_places(struct tap *tap)
{
	struct sbx_place root = { "", 0 }, at = { "/w", 2 };
	struct sbx_place beside = { "/wx/a", 5 }, below = { "/w/a/b", 6 };
	struct sbx_glob glob;

	tap_ok(tap,
	    sbx_glob_parse("/?", &glob) &&
		sbx_glob_find(&glob, at, below).len == 4 &&
		sbx_glob_find(&glob, root, below).len == 2,
	    "what lies in a match belongs to it");
	tap_ok(tap,
	    sbx_glob_find(&glob, at, beside).len == 0 &&
		sbx_glob_find(&glob, at, at).len == 0 &&
		sbx_glob_find(&glob, root, root).len == 0,
	    "not beside the place, and not the place");
}

int
main(void)
{
	struct tap tap = { 0 };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		test_names(&tap, &names[i]);
	test_strays(&tap);
	test_paths(&tap);
	test_forms(&tap);
	test_places(&tap);
	return tap_done(&tap);
}
