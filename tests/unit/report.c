/*
 * What each format makes of text that means something in it, of bytes that are
 * no text, and of what is not there, byte for byte: tests/golden/report/made.* and
 * cases.*, which `tests/unit/report --update` rewrites.
 */
#include "compiler/report/report.h"
#include "tests/lib/tap.h"

#include <stdlib.h>

/* All of ASCII, since each format has characters of its own that mean something,
 * and bytes that are no UTF-8, characters that are none or cannot be seen, and such
 * as may stand in every document. */
static const char *
odd(struct arena *arena, const char *before)
{
	char ascii[128];

	for (int i = 1; i < 128; i++)
		ascii[i - 1] = (char)i;
	ascii[127] = '\0';
	return arena_printf(arena,
	    "%s %s \xff \xef\xbf\xbe \xf0\x9f\xbf\xbf "
	    "\xe2\x80\xae \xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80",
	    before, ascii);
}

static void
fill_rules(struct report *report, struct arena *arena)
{
	*report_rule(report) = (struct report_rule){
		.id = "R0",
		.name = "rule-none",
		.title = "said by nothing",
		.severity = SEVERITY_ERROR,
	};
	*report_rule(report) = (struct report_rule){
		.id = "R1",
		.name = "rule-one",
		.title = odd(arena, "title"),
		.severity = SEVERITY_WARNING,
	};
}

static struct report_finding *
add(struct report *report, const char *rule, enum severity severity,
    const char *file, const char *message)
{
	struct report_finding *finding = report_finding(report);

	finding->rule = rule;
	finding->severity = severity;
	finding->position.file = file;
	finding->message = message;
	return finding;
}

/* Findings on several lines, on one, in a file as a whole, and nowhere; such that
 * are ignored; and equal lines, equal rules and equal files. */
static void
fill(struct report *report, struct arena *arena)
{
	const char *bad = odd(arena, "././/a,b~ %:");
	struct report_finding *finding;

	report_init(report, arena, "diff");
	report->title = odd(arena, "Title of");
	report->summary = odd(arena, "1 wider");
	fill_rules(report, arena);
	report_file(report, "empty.sbx");
	report_file(report, "d.sbx");
	finding = add(report, "R1", SEVERITY_ERROR, bad, odd(arena, "said"));
	finding->position = (struct position){ bad, 3, 5, 14, 7, NULL };
	finding->help = odd(arena, "do");
	report_property(report, finding, "witness", odd(arena, "write"));
	report_property(report, finding, "level", "full");
	report_relate(report, finding,
	    (struct position){ "sbx:b/c d", 11, 2, 12, 33, NULL },
	    odd(arena, "there"));
	report_relate(report, finding, (struct position){ .file = "/e f" },
	    "and there");
	report_relate(report, finding, (struct position){ 0 }, "or nowhere");
	add(report, "R2", SEVERITY_NOTE, NULL, "nowhere");
	add(report, "R1", SEVERITY_WARNING, "d.sbx", "hushed")->suppressed =
	    odd(arena, "because");
	add(report, "R1", SEVERITY_ERROR, "d.sbx", "hushed, too")->suppressed =
	    "why";
	for (int i = 0; i < 5; i++) {
		finding = add(report, i == 2 ? "R0" : "R1", SEVERITY_WARNING,
		    i == 3 ? "e.sbx" : "./d.sbx", "alike");
		finding->position.line = finding->position.end_line = 7;
		finding->position.column = 4;
		finding->position.end_column = 9;
	}
}

/* A case for each outcome, with all that each may have. */
static void
fill_cases(struct report *report, struct arena *arena)
{
	report_init(report, arena, "test");
	for (int i = 0; i < 12; i++) {
		struct report_case *test = report_case(report);

		test->suite = i == 11 ? NULL : i % 3 == 0 ? "u.yaml" : "t.yaml";
		test->name = i == 7 ? odd(arena, "name") :
				      arena_printf(arena, "case %d", i);
		test->passed = i % 2 == 0;
		test->skipped = i == 5 || i == 8 ? odd(arena, "no kernel") :
		    i == 6                       ? "at all" :
						   NULL;
		test->message = i % 4 < 2 ? "one\ntwo\n\nfour" :
		    i == 7                ? "said %:,\r<b>&\"\x1b\xff" :
					    NULL;
		if (i % 5 > 0)
			test->position = (struct position){ "./x,y.yaml", 4, 1,
				21, 3, NULL };
	}
}

static char *
written(const struct report *report, enum report_format format)
{
	char *text = NULL, *version;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	report_write(report, format, stream);
	fclose(stream);
	/* It is no news. */
	while ((version = strstr(text, PACKAGE_VERSION)) != NULL) {
		memmove(version + 1, version + strlen(PACKAGE_VERSION),
		    strlen(version + strlen(PACKAGE_VERSION)) + 1);
		*version = 'V';
	}
	return text;
}

/* The text of a file, or an empty one. */
static char *
kept(const char *path)
{
	FILE *stream = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	if (stream == NULL || getdelim(&text, &size, '\0', stream) < 0) {
		free(text);
		text = strdup("");
	}
	if (stream != NULL)
		fclose(stream);
	return text;
}

static void
keep(const char *path, const char *text)
{
	FILE *stream = fopen(path, "w");

	if (stream != NULL) {
		fputs(text, stream);
		fclose(stream);
	}
}

static void
test_all(struct tap *tap, const char *name, bool update,
    void (*build)(struct report *report, struct arena *arena))
{
	static const char *const formats[] = { "json", "github", "junit",
		"markdown" };
	const char *srcdir = getenv("srcdir");

	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		struct arena *arena = arena_new();
		const char *path = arena_printf(arena,
		    "%s/tests/golden/report/%s.%s",
		    srcdir != NULL ? srcdir : ".", name, formats[i]);
		struct report report;
		char *got, *wanted;

		build(&report, arena);
		got = written(&report, report_format_find(formats[i]));
		if (update)
			keep(path, got);
		wanted = kept(path);
		if (!tap_ok(tap, strcmp(got, wanted) == 0, "%s: %s", name,
			formats[i]))
			printf("# wanted:\n%s\n# got:\n%s\n", wanted, got);
		free(got);
		free(wanted);
		arena_release(arena);
	}
}

static void
test_formats(struct tap *tap)
{
	static const char *const names[] = { [REPORT_TEXT] = "text",
		[REPORT_GCC] = "gcc",
		[REPORT_JSON] = "json",
		[REPORT_GITHUB] = "github",
		[REPORT_JUNIT] = "junit",
		[REPORT_MARKDOWN] = "markdown" };

	for (unsigned i = 0; i < REPORT_FORMAT_END; i++)
		tap_ok(tap, report_format_find(names[i]) == i,
		    "a format is found by its name: %s", names[i]);
	tap_ok(tap,
	    report_format_find("xml") == REPORT_FORMAT_END &&
		report_format_find("") == REPORT_FORMAT_END,
	    "and no other");
}

int
main(int argc, char **argv)
{
	bool update = argc > 1 && strcmp(argv[1], "--update") == 0;
	struct tap tap = { 0 };

	test_all(&tap, "made", update, fill);
	test_all(&tap, "cases", update, fill_cases);
	test_formats(&tap);
	return tap_done(&tap);
}
