/*
 * What libsbx says of an error (runtime/library/error.c): the caller's structure
 * holds it, and nothing behind it is touched.  And the words of which a command
 * line is made, and the paths in it (words.c, arguments.c).
 */
#include "runtime/library/library.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <unistd.h>

#define NOTHING "\x55"

static struct tap tap;

/* What stands behind the structure is somebody else's. */
static struct {
	struct sbx_error error;
	char behind[8];
} room;

static void
begin(void)
{
	memset(&room, *NOTHING, sizeof room);
}

static bool
is_kept(void)
{
	for (size_t i = 0; i < sizeof room.behind; i++) {
		if (room.behind[i] != *NOTHING)
			return false;
	}
	return true;
}

static bool
says(int kind, int code, const char *text)
{
	bool held = is_kept() && room.error.kind == kind &&
	    room.error.code == code && strcmp(room.error.text, text) == 0;

	if (!held)
		printf("# %d, %d: %s\n", room.error.kind, room.error.code,
		    room.error.text);
	return held;
}

static void
check_texts(void)
{
	static const struct {
		const char *subject, *text;
		int code;
		const char *says;
	} cases[] = {
		{ NULL, "it is over", 0, "it is over" },
		{ "/a b", "it is over", 0, "/a b: it is over" },
		{ "", "it is over", 0, ": it is over" },
		{ NULL, "it is over", ENOENT,
		    "it is over: No such file or directory" },
		{ "x", "no", EACCES, "x: no: Permission denied" },
		{ "a\nb\tc\x1f\x20", "\x7f\x7e\x80", 0,
		    "a?b?c?\x20: ?\x7e\x80" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin();
		error_set(&room.error, SBX_ERROR_SYSTEM, cases[i].subject,
		    cases[i].text, cases[i].code);
		tap_ok(&tap,
		    says(SBX_ERROR_SYSTEM, cases[i].code, cases[i].says),
		    "text %zu", i + 1);
	}
	begin();
	error_set(&room.error, SBX_ERROR_SYSTEM, NULL, "no", 9999);
	tap_ok(&tap,
	    is_kept() && strncmp(room.error.text, "no: ", 4) == 0 &&
		room.error.text[4] != '\0',
	    "an errno that there is not");
	error_set(NULL, SBX_ERROR_SYSTEM, "x", "no", EACCES);
	error_said(NULL, "sbxrun: no\n", "none");
	tap_ok(&tap, true, "who wants to know nothing gets nothing");
}

/* Up to the byte before the last one, which ends it. */
static void
check_lengths(void)
{
	static char subject[SBX_ERROR_TEXT + 16], expected[2 * SBX_ERROR_TEXT];

	for (size_t len = SBX_ERROR_TEXT - 32; len < sizeof subject; len++) {
		bool held;

		memset(subject, 'x', len);
		subject[len] = '\0';
		snprintf(expected, sizeof expected, "%s: no: Permission denied",
		    subject);
		expected[SBX_ERROR_TEXT - 1] = '\0';
		begin();
		error_set(&room.error, SBX_ERROR_ARGUMENT, subject, "no",
		    EACCES);
		held = says(SBX_ERROR_ARGUMENT, EACCES, expected);
		strcpy(expected, subject);
		expected[SBX_ERROR_TEXT - 1] = '\0';
		begin();
		error_said(&room.error, subject, "none");
		tap_ok(&tap, held && says(SBX_ERROR_REFUSED, 0, expected),
		    "a text of %zu bytes", len);
	}
}

/* The last line that is no warning. */
static void
check_said(void)
{
	static const struct {
		const char *said, *says;
	} cases[] = {
		{ "", "none" },
		{ "\n\n", "none" },
		{ "no end", "no end" },
		{ "sbxrun: one\n", "one" },
		{ "sbxrun: one\nsbxrun: two\n", "two" },
		{ "sbxrun: one\nsbxrun: warning: two\n", "one" },
		{ "sbxrun: one\nwarning: two\n\n", "one" },
		{ "sbxrun: warning: two\n", "none" },
		{ "sbxrun: warning:two\n", "warning:two" },
		{ "sbxrun: sbxrun: one", "sbxrun: one" },
		{ "other: one", "other: one" },
		{ "sbxrun: x", "x" },
		{ "sbxrun: ", "sbxrun: " },
		{ "sbxrun:\n", "sbxrun:" },
		{ "a\tb\n", "a?b" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin();
		error_said(&room.error, cases[i].said, "none");
		tap_ok(&tap, says(SBX_ERROR_REFUSED, 0, cases[i].says),
		    "what sbxrun said, case %zu", i + 1);
	}
}

/* --- words ---------------------------------------------------------------- */

static void
check_words(void)
{
	enum { MANY = 200 };
	struct words words = { .list = NULL };
	bool held = true;
	char text[16];

	for (int i = 0; i < MANY; i++) {
		snprintf(text, sizeof text, "%d", i);
		words_add(&words, i % 2 == 0 ? "--x=" : "", text);
		held &= words.count == (size_t)i + 1 &&
		    words.list[words.count] == NULL;
	}
	for (int i = 0; i < MANY; i++) {
		snprintf(text, sizeof text, "%s%d", i % 2 == 0 ? "--x=" : "",
		    i);
		held &= strcmp(words.list[i], text) == 0;
	}
	tap_ok(&tap, held && !words.failed, "%d words, and an end", MANY);
	words_free(&words);
	tap_ok(&tap, words.list == NULL && words.count == 0 && words.room == 0,
	    "and none");
}

/* A path and its end fit, and no byte more. */
static void
check_paths(void)
{
	static const struct {
		const char *text, *path;
	} cases[] = {
		{ "/a", "/a" },
		{ "a/b", "/usr/a/b" },
		{ "", "/usr" },
		{ "..", "/usr/.." },
	};
	char path[64];

	if (chdir("/usr") != 0)
		exit(99);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		memset(path, *NOTHING, sizeof path);
		tap_ok(&tap,
		    absolute_path(cases[i].text, path, sizeof path) &&
			strcmp(path, cases[i].path) == 0,
		    "'%s' in /usr", cases[i].text);
	}
	for (size_t size = 1; size < 16; size++) {
		bool whole;

		memset(path, *NOTHING, sizeof path);
		errno = 0;
		whole = absolute_path("a/b", path, size);
		tap_ok(&tap,
		    path[size] == *NOTHING &&
			(size < sizeof "/usr/a/b" ?
				!whole &&
				    errno ==
					(size < sizeof "/usr" ? ERANGE :
								ENAMETOOLONG) :
				whole && strcmp(path, "/usr/a/b") == 0),
		    "into %zu bytes", size);
	}
}

static void
check_sizes(void)
{
	const char bytes[] = { 1, 1, 1, 1, 0, 0, 1 };

	tap_ok(&tap,
	    !arguments_known(bytes, 3, 4) && arguments_known(bytes, 4, 4) &&
		arguments_known(bytes, 6, 4) && !arguments_known(bytes, 7, 4),
	    "fields that are not known have to be zero, up to the last one");
}

int
main(void)
{
	check_texts();
	check_lengths();
	check_said();
	check_words();
	check_paths();
	check_sizes();
	return tap_done(&tap);
}
