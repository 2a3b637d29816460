/*
 * Diagnostics as they are printed, byte for byte; the table of codes; and the
 * nearest name.
 */
#include "compiler/base/base.h"
#include "compiler/report/report.h"
#include "format/text.h"
#include "tests/lib/tap.h"

struct bench {
	struct arena *arena;
	struct sources sources;
	struct diags diags;
	struct source *source;
};

static void
bench_init(struct bench *bench, const char *text)
{
	bench->arena = arena_new();
	sources_init(&bench->sources, bench->arena);
	diags_init(&bench->diags, bench->arena, &bench->sources);
	bench->source = sources_add(&bench->sources, "p.sbx", text,
	    strlen(text), (struct loc){ 0, 0 });
}

/* The first place of a word in the text. */
static struct loc
place(const struct bench *bench, const char *word)
{
	const char *text = bench->source->text, *found = strstr(text, word);
	uint32_t begin = bench->source->base + (uint32_t)(found - text);

	return (struct loc){ begin, begin + (uint32_t)strlen(word) };
}

static char *
printed(struct bench *bench, enum report_format format, bool colour)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	diags_print(&bench->diags, stream, format, colour);
	fclose(stream);
	return text;
}

/* Compares all that is printed, and releases the bench. */
static void
expect(struct tap *tap, struct bench *bench, const char *name,
    enum report_format format, const char *wanted)
{
	char *got = printed(bench, format, false);

	if (!tap_ok(tap, strcmp(got, wanted) == 0, "%s", name))
		printf("# wanted:\n%s\n# got:\n%s\n", wanted, got);
	free(got);
	arena_release(bench->arena);
}

static void
test_plain(struct tap *tap)
{
	static const char text[] = "sbx 1\nprofile x {\n"
				   "    allow raed ${workspace}\n}\n";
	struct bench b;
	struct diag *diag;

	bench_init(&b, text);
	diag = diag_add(&b.diags, DIAG_UNKNOWN_STATEMENT, place(&b, "raed"),
	    "unknown right '%s'", "raed");
	diag_did_you_mean(diag, "read");
	expect(tap, &b, "the form that is promised", REPORT_TEXT,
	    "p.sbx:3:11: error: unknown right 'raed' [SBX0102]\n"
	    "    3 |     allow raed ${workspace}\n"
	    "      |           ^~~~ did you mean 'read'?\n"
	    "1 error\n");

	bench_init(&b, text);
	diag = diag_add(&b.diags, DIAG_SYNTAX, place(&b, "raed"), "first");
	diag_help(diag, "help");
	diag_note(diag, place(&b, "sbx"), "second");
	expect(tap, &b, "the format of GCC has first lines only", REPORT_GCC,
	    "p.sbx:3:11: error: first [SBX0101]\n"
	    "p.sbx:1:1: note: second\n");

	bench_init(&b, text);
	diag = diag_add(&b.diags, DIAG_SYNTAX, place(&b, "x {"), "first");
	diag_help(diag,
	    "a sentence that is so long that there is "
	    "no room for it beside the caret in a terminal");
	diag_note(diag, place(&b, "raed"), "second");
	expect(tap, &b, "a long help line, and a note", REPORT_TEXT,
	    "p.sbx:2:9: error: first [SBX0101]\n"
	    "    2 | profile x {\n"
	    "      |         ^~~\n"
	    "      = help: a sentence that is so long that there is no room "
	    "for it beside the caret in a terminal\n"
	    "p.sbx:3:11: note: second\n"
	    "    3 |     allow raed ${workspace}\n"
	    "      |           ^~~~\n"
	    "1 error\n");

	bench_init(&b, text);
	diag_add(&b.diags, DIAG_SYNTAX, (struct loc){ 0, 0 }, "nowhere");
	diag_did_you_mean(diag_add(&b.diags, DIAG_SYNTAX, place(&b, "{\n"),
			      "to the end"),
	    NULL);
	expect(tap, &b, "no place, and a place of several lines", REPORT_TEXT,
	    "sbxc: error: nowhere [SBX0101]\n"
	    "p.sbx:2:11: error: to the end [SBX0101]\n"
	    "    2 | profile x {\n"
	    "      |           ^\n"
	    "2 errors\n");

	bench_init(&b, text);
	expect(tap, &b, "nothing is nothing", REPORT_TEXT, "");
}

/* The tables say what they should, character by character: which these are is to
 * be looked up, and counted again, by who changes a table. */
static void
test_widths(struct tap *tap)
{
	unsigned long counts[3] = { 0 }, sums[3] = { 0 };

	for (uint32_t i = 0; i <= 0x110000; i++) {
		int width = character_width(i);

		counts[width]++;
		sums[width] += i;
	}
	tap_ok(tap, counts[0] == 435 && sums[0] == 2815022, "none: %lu, %lu",
	    counts[0], sums[0]);
	tap_ok(tap, counts[2] == 182370 && sums[2] == 28127343130,
	    "two: %lu, %lu", counts[2], sums[2]);
}

static void
test_width(struct tap *tap)
{
	struct bench b;

	bench_init(&b, "a\tbc\tdef\n");
	diag_add(&b.diags, DIAG_SYNTAX, place(&b, "c\tde"), "tabs");
	expect(tap, &b, "tabs are spread out in both lines", REPORT_TEXT,
	    "p.sbx:1:4: error: tabs [SBX0101]\n"
	    "    1 | a       bc      def\n"
	    "      |          ^~~~~~~~~\n"
	    "1 error\n");

	/* Two columns each; e and a combining accent: one. */
	bench_init(&b, "\xe6\x97\xa5\xe6\x9c\xac e\xcc\x81 bad\n");
	diag_add(&b.diags, DIAG_SYNTAX, place(&b, "\xe6\x9c\xac"), "wide");
	diag_add(&b.diags, DIAG_SYNTAX, place(&b, "bad"), "narrow");
	expect(tap, &b,
	    "width is that of a terminal, column counts "
	    "characters",
	    REPORT_TEXT,
	    "p.sbx:1:2: error: wide [SBX0101]\n"
	    "    1 | \xe6\x97\xa5\xe6\x9c\xac e\xcc\x81 bad\n"
	    "      |   ^~\n"
	    "p.sbx:1:7: error: narrow [SBX0101]\n"
	    "    1 | \xe6\x97\xa5\xe6\x9c\xac e\xcc\x81 bad\n"
	    "      |        ^~~\n"
	    "2 errors\n");

	bench_init(&b, "x \x1b[31m \xe2\x80\xae \xff y\r\n");
	diag_add(&b.diags, DIAG_SYNTAX, place(&b, "y"), "say '\x1b[0m\n'");
	expect(tap, &b, "nothing reaches the terminal that moves it",
	    REPORT_TEXT,
	    "p.sbx:1:13: error: say '<U+001B>[0m\\n' [SBX0101]\n"
	    "    1 | x <U+001B>[31m <U+202E> <FF> y\n"
	    "      |                              ^\n"
	    "1 error\n");
}

static void
test_window(struct tap *tap)
{
	struct bench b;
	char text[1000], *got;

	memset(text, 'a', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	memcpy(text + 500, " bad ", 5);
	bench_init(&b, text);
	diag_add(&b.diags, DIAG_SYNTAX, place(&b, "bad"), "far");
	got = printed(&b, REPORT_TEXT, false);
	const char *line = strchr(got, '\n') + 1;
	const char *marks = strchr(line, '\n') + 1;
	size_t bad = (size_t)(strstr(line, "bad") - line);
	tap_ok(tap,
	    strncmp(line, "    1 | ...aaa", 14) == 0 &&
		(size_t)(marks - line) <= 8 + 100 + 6 + 1,
	    "a long line is cut to a window");
	tap_ok(tap, (size_t)(strchr(marks, '^') - marks) == bad,
	    "the caret in the window is under its word");
	free(got);
	arena_release(b.arena);

	bench_init(&b, text);
	diag_add(&b.diags, DIAG_SYNTAX,
	    (struct loc){ b.source->base, b.source->base + b.source->size },
	    "all");
	got = printed(&b, REPORT_TEXT, false);
	tap_ok(tap, strlen(got) < 300, "the underline ends with the window");
	free(got);
	arena_release(b.arena);

	bench_init(&b, text);
	diag_add(&b.diags, DIAG_SYNTAX, place(&b, "a"), "%s", text);
	tap_ok(tap, strlen(b.diags.records.items[0].message) == 400,
	    "a message is of bounded length");
	diag_add(&b.diags, DIAG_SYNTAX, place(&b, "a"), "%0400d", 0);
	tap_ok(tap,
	    strspn(b.diags.records.items[1].message, "0") == 400 &&
		b.diags.records.items[1].message[400] == '\0',
	    "one of just that length is whole");
	diag_add(&b.diags, DIAG_SYNTAX, place(&b, "a"), "%0396d\xc3\xa4%04d", 0,
	    0);
	tap_ok(tap,
	    strspn(b.diags.records.items[2].message, "0") == 396 &&
		strcmp(b.diags.records.items[2].message + 396, "...") == 0,
	    "a longer one is cut between characters");
	arena_release(b.arena);
}

static void
test_order(struct tap *tap)
{
	struct bench b;
	struct loc included;
	struct source *inner;

	bench_init(&b, "one\ntwo\n");
	included = place(&b, "one");
	inner = sources_add(&b.sources, "i.sbx", "inner\n", 6, included);
	inner = sources_add(&b.sources, "j.sbx", "deep\n", 5,
	    (struct loc){ inner->base, inner->base + 5 });
	diag_add(&b.diags, DIAG_SYNTAX,
	    (struct loc){ inner->base, inner->base + 4 }, "third");
	diag_add(&b.diags, DIAG_SYNTAX, place(&b, "two"), "second");
	diag_add(&b.diags, DIAG_SYNTAX, place(&b, "one"), "first");
	diag_add(&b.diags, DIAG_SYNTAX, place(&b, "two"), "second");
	diag_add(&b.diags, DIAG_SYNTAX,
	    (struct loc){ inner->base + 1, inner->base + 4 }, "fourth");
	expect(tap, &b, "sorted by place, duplicates dropped, includers named",
	    REPORT_TEXT,
	    "p.sbx:1:1: error: first [SBX0101]\n"
	    "    1 | one\n"
	    "      | ^~~\n"
	    "p.sbx:2:1: error: second [SBX0101]\n"
	    "    2 | two\n"
	    "      | ^~~\n"
	    "In file included from i.sbx:1,\n"
	    "                 from p.sbx:1:\n"
	    "j.sbx:1:1: error: third [SBX0101]\n"
	    "    1 | deep\n"
	    "      | ^~~~\n"
	    "j.sbx:1:2: error: fourth [SBX0101]\n"
	    "    1 | deep\n"
	    "      |  ^~~\n"
	    "4 errors\n");
}

static enum diag_id
some_warning(void)
{
	enum diag_id id = 0;

	while (id < DIAG_END && diag_severity(id) != SEVERITY_WARNING)
		id++;
	return id;
}

static void
test_many(struct tap *tap)
{
	enum diag_id warning = some_warning();
	struct bench b;
	char *got;

	bench_init(&b, "x\n");
	for (int i = 0; i < DIAG_MAX + 7; i++)
		diag_help(diag_add(&b.diags, DIAG_SYNTAX, place(&b, "x"),
			      "number %d", i),
		    "help %d", i);
	got = printed(&b, REPORT_TEXT, false);
	tap_ok(tap,
	    b.diags.errors == DIAG_MAX + 7 &&
		strstr(got, "(7 more not shown)\n57 errors\n") != NULL &&
		strstr(got, "number 49 ") != NULL &&
		strstr(got, "number 50 ") == NULL,
	    "what is too much is counted");
	tap_ok(tap,
	    strstr(got, "help 50") == NULL && strstr(got, "help 49") != NULL,
	    "a record keeps its own help");
	free(got);
	arena_release(b.arena);

	if (warning == DIAG_END) {
		tap_skip(tap, "no diagnostic is a warning", "warnings");
		return;
	}
	bench_init(&b, "x\n");
	for (int i = 0; i < DIAG_MAX; i++)
		diag_add(&b.diags, warning, place(&b, "x"), "w%d", i);
	diag_add(&b.diags, DIAG_SYNTAX, place(&b, "x"), "the error");
	got = printed(&b, REPORT_TEXT, false);
	tap_ok(tap,
	    strstr(got, ": error: the error [") != NULL &&
		strstr(got, "(1 more not shown)\n1 error, 50 warnings\n") !=
		    NULL,
	    "an error takes the place of a warning");
	free(got);
	arena_release(b.arena);
}

static void
test_judge(struct tap *tap)
{
	enum diag_id warning = some_warning();
	struct diag_choices choices = { { false }, { false } };
	struct bench b;

	bench_init(&b, "one two\n");
	diag_add(&b.diags, DIAG_SYNTAX, place(&b, "one"), "error");
	diag_add(&b.diags, warning, place(&b, "one"), "first");
	diag_add(&b.diags, warning, place(&b, "two"), "second");
	diag_suppress(&b.diags, &b.diags.records.items[1], "a reason");
	diag_suppress(&b.diags, &b.diags.records.items[0], "a reason");
	tap_ok(tap,
	    b.diags.errors == 1 && b.diags.warnings == 1 &&
		b.diags.records.items[0].suppressed == NULL,
	    "what is ignored does not count, and errors are not");
	choices.error[warning] = true;
	choices.off[DIAG_SYNTAX] = true;
	diags_judge(&b.diags, &choices);
	expect(tap, &b, "a warning becomes an error, an error stays",
	    REPORT_TEXT,
	    "p.sbx:1:1: error: error [SBX0101]\n"
	    "    1 | one two\n"
	    "      | ^~~\n"
	    "p.sbx:1:5: error: second [SBX0301]\n"
	    "    1 | one two\n"
	    "      |     ^~~\n"
	    "2 errors\n");

	bench_init(&b, "one two\n");
	diag_add(&b.diags, warning, place(&b, "one"), "first");
	choices = (struct diag_choices){ { false }, { false } };
	choices.off[warning] = true;
	diags_judge(&b.diags, &choices);
	expect(tap, &b, "a warning that is off is gone", REPORT_TEXT, "");
}

/* Of too many all errors are kept, and all are counted. */
static void
test_flood(struct tap *tap)
{
	enum diag_id warning = some_warning();
	struct bench b;
	size_t errors = 0;

	bench_init(&b, "x\n");
	for (int i = 0; i < DIAG_KEPT; i++)
		diag_add(&b.diags, warning, place(&b, "x"), "w%d", i);
	for (int i = 0; i < 30; i++)
		diag_add(&b.diags, i % 3 == 0 ? DIAG_SYNTAX : warning,
		    place(&b, "x"), "e%d", i);
	for (size_t i = 0; i < b.diags.records.count; i++)
		errors += b.diags.records.items[i].severity == SEVERITY_ERROR;
	tap_ok(tap,
	    errors == 10 && b.diags.errors == 10 &&
		b.diags.warnings == DIAG_KEPT + 20 &&
		b.diags.records.count == DIAG_KEPT,
	    "errors are always kept");
	diag_add(&b.diags, warning, place(&b, "x"), "w%d", DIAG_KEPT - 1);
	diag_add(&b.diags, warning, place(&b, "x"), "w0");
	tap_ok(tap, b.diags.warnings == DIAG_KEPT + 21,
	    "what was replaced is "
	    "new when it comes again, what was not is known");
	arena_release(b.arena);
}

static void
test_colour(struct tap *tap)
{
	struct bench b;
	char *plain, *coloured;
	size_t length = 0;
	bool same = true;

	bench_init(&b, "one\n");
	diag_add(&b.diags, DIAG_SYNTAX, place(&b, "one"), "m");
	plain = printed(&b, REPORT_TEXT, false);
	coloured = printed(&b, REPORT_TEXT, true);
	tap_ok(tap,
	    strchr(plain, '\33') == NULL &&
		strstr(coloured, "\33[1;31merror: \33[0m") != NULL,
	    "colour only when asked for");
	for (const char *p = coloured; *p != '\0'; p++) {
		if (*p == '\33')
			p = strchr(p, 'm');
		else
			same &= *p == plain[length++];
	}
	tap_ok(tap, same && plain[length] == '\0',
	    "colour changes nothing but colours");
	free(plain);
	free(coloured);
	arena_release(b.arena);
}

static void
test_table(struct tap *tap)
{
	bool unique = true, form = true, found = true;

	for (enum diag_id i = 0; i < DIAG_END; i++) {
		const char *code = diag_code(i);

		for (enum diag_id j = 0; j < i; j++)
			unique &= strcmp(code, diag_code(j)) != 0;
		form &= strlen(code) == 7 && strncmp(code, "SBX", 3) == 0 &&
		    strspn(code + 3, "0123456789") == 4 &&
		    *diag_title(i) != '\0' && strlen(diag_explain(i)) > 40;
		found &= diag_find(code) == i;
		if (!unique || !form)
			printf("# %s\n", code);
	}
	tap_ok(tap, unique, "a code stands for one thing");
	tap_ok(tap, form, "every code has its form, a title and a text");
	tap_ok(tap,
	    diag_find("risky-write") == DIAG_RISKY_WRITE &&
		diag_find("Risky-Write") == DIAG_RISKY_WRITE &&
		diag_find("risky_write") == DIAG_END &&
		diag_find("risky") == DIAG_END &&
		diag_find("risky-writes") == DIAG_END,
	    "names are codes too");
	tap_ok(tap,
	    found && diag_find("sbx0101") == DIAG_SYNTAX &&
		diag_find("SBX9999") == DIAG_END && diag_find("") == DIAG_END,
	    "codes are found, in any case");
}

static void
test_nearest(struct tap *tap)
{
	static const char *const words[] = { "read", "write", NULL, "exec",
		"network", "shell-history", "workspace-write", "env" };
	static const struct {
		const char *text, *nearest;
	} cases[] = {
		{ "raed", "read" },
		{ "READ", "read" },
		{ "wirte", "write" },
		{ "exce", "exec" },
		{ "netwrok", "network" },
		{ "evn", "env" },
		{ "shell_history", "shell-history" },
		{ "env", "env" },
		{ "workspace", "workspace-write" },
		{ "work", NULL },
		{ "xyzzy", NULL },
		{ "", NULL },
		{ "q", NULL },
		{ "rwxrwxrwx", NULL },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		const char *got = nearest_name(cases[i].text, words,
		    countof(words));
		bool same = got == NULL || cases[i].nearest == NULL ?
		    got == cases[i].nearest :
		    strcmp(got, cases[i].nearest) == 0;

		tap_ok(tap, same, "'%s' is nearest to %s, got %s",
		    cases[i].text,
		    cases[i].nearest ? cases[i].nearest : "nothing",
		    got ? got : "nothing");
	}
	char *large = malloc(1 << 20);
	memset(large, 'r', (1 << 20) - 1);
	large[(1 << 20) - 1] = '\0';
	tap_ok(tap, nearest_name(large, words, countof(words)) == NULL,
	    "a very long name is near to nothing");
	free(large);
}

static void
test_utf8(struct tap *tap)
{
	static const struct {
		const char *bytes;
		size_t size;
	} cases[] = {
		{ "a", 1 },
		{ "\xc3\xa9", 2 },
		{ "\xe6\x97\xa5", 3 },
		{ "\xf0\x9f\x98\x80", 4 },
		{ "\xf4\x8f\xbf\xbf", 4 },
		{ "\x80", 0 },
		{ "\xc0\x80", 0 },
		{ "\xc1\xbf", 0 },
		{ "\xc3", 0 },
		{ "\xe0\x9f\xbf", 0 },
		{ "\xed\x9f\xbf", 3 },
		{ "\xed\xa0\x80", 0 },
		{ "\xed\xbf\xbf", 0 },
		{ "\xee\x80\x80", 3 },
		{ "\xe6\x97", 0 },
		{ "\xf0\x8f\xbf\xbf", 0 },
		{ "\xf4\x90\x80\x80", 0 },
		{ "\xf5\x80\x80\x80", 0 },
		{ "\xff", 0 },
		{ "\xc3(", 0 },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		uint32_t character = 0;

		tap_ok(tap,
		    utf8_decode(cases[i].bytes, strlen(cases[i].bytes),
			&character) == cases[i].size,
		    "UTF-8 case %zu", i);
	}
	tap_ok(tap,
	    utf8_is_hidden(0x202e) && utf8_is_hidden(0x200b) &&
		utf8_is_hidden(0xa0) && utf8_is_hidden(0xfeff) &&
		utf8_is_hidden(0x7f) && !utf8_is_hidden('a') &&
		!utf8_is_hidden(0xe9) && !utf8_is_hidden(0x65e5) &&
		!utf8_is_hidden(0xfffd) && !utf8_is_hidden(0x1f600),
	    "hidden characters");
}

int
main(void)
{
	struct tap tap = { 0, 0 };

	test_plain(&tap);
	test_width(&tap);
	test_widths(&tap);
	test_window(&tap);
	test_order(&tap);
	test_many(&tap);
	test_judge(&tap);
	test_flood(&tap);
	test_colour(&tap);
	test_table(&tap);
	test_nearest(&tap);
	test_utf8(&tap);
	return tap_done(&tap);
}
