/*
 * What each format makes of text that means something in it, of bytes that are
 * no text, and of what is not there.
 */
#include "compiler/report/report.h"
#include "tests/lib/tap.h"

#include <stdlib.h>

/* A markup character of every format, a line end, an escape, and a byte that
 * is no UTF-8. */
#define ODD "%<a>&\"b\",:: |*_`#@\n\x1b[0m\xff"

static void
fill(struct report *report, struct arena *arena)
{
	struct report_finding *finding;

	report_init(report, arena, "diff");
	report->title = "Title of " ODD;
	report->summary = "1 wider";
	*report_rule(report) = (struct report_rule){
		.id = "R1",
		.name = "rule-one",
		.title = "the " ODD,
		.explain = "why",
		.severity = SEVERITY_WARNING,
	};
	report_file(report, "empty.sbx");
	finding = report_finding(report);
	finding->rule = "R1";
	finding->severity = SEVERITY_ERROR;
	finding->position = (struct position){ "./a,b.sbx", 3, 5, 4, 7, NULL };
	finding->message = "said " ODD;
	finding->help = "do";
	report_property(report, finding, "witness", "write /x");
	report_relate(report, finding,
	    (struct position){ "c.sbx", 1, 2, 1, 3, NULL }, "there");
	finding = report_finding(report);
	finding->rule = "R2";
	finding->severity = SEVERITY_NOTE;
	finding->message = "nowhere";
	finding = report_finding(report);
	finding->rule = "R1";
	finding->severity = SEVERITY_WARNING;
	finding->position.file = "d.sbx";
	finding->message = "hushed";
	finding->suppressed = "because " ODD;
}

static void
fill_cases(struct report *report, struct arena *arena)
{
	struct report_case *test;

	report_init(report, arena, "test");
	test = report_case(report);
	test->suite = "t.yaml";
	test->name = "allow: read #1 \\ x";
	test->passed = true;
	test = report_case(report);
	test->suite = "t.yaml";
	test->name = "deny";
	test->message = "one\ntwo";
	test->position = (struct position){ "t.yaml", 4, 1, 4, 2, NULL };
	test = report_case(report);
	test->suite = "u.yaml";
	test->name = "live";
	test->skipped = "no kernel";
}

static char *
written(const struct report *report, enum report_format format)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	report_write(report, format, stream);
	fclose(stream);
	return text;
}

static void
expect(struct tap *tap, const struct report *report, enum report_format format,
    const char *name, const char *wanted)
{
	char *got = written(report, format);

	if (!tap_ok(tap, strcmp(got, wanted) == 0, "%s", name))
		printf("# wanted:\n%s\n# got:\n%s\n", wanted, got);
	free(got);
}

/* Whether all of these are there, in this order. */
static void
expect_parts(struct tap *tap, const struct report *report,
    enum report_format format, const char *name, const char *const *parts)
{
	char *got = written(report, format);
	const char *at = got;

	while (*parts != NULL && (at = strstr(at, *parts)) != NULL)
		parts++;
	if (!tap_ok(tap, *parts == NULL, "%s", name))
		printf("# missing:\n%s\n# got:\n%s\n", *parts, got);
	free(got);
}

#define NO "\xef\xbf\xbd" /* U+FFFD */

static void
test_findings(struct tap *tap)
{
	static const char *const json[] = { "\"version\": 1",
		"\"command\": \"diff\"", "\"empty.sbx\"",
		"\"name\": \"rule-one\"", "\"endColumn\": 7",
		"said %<a>&\\\"b\\\",:: |*_`#@\\n\\u001B[0m" NO,
		"\"witness\": \"write /x\"", "\"suppressed\": false",
		"\"file\": \"c.sbx\"", "\"rule\": \"R2\"",
		"\"suppressed\": true", "\"reason\": \"because ",
		"\"errors\": 1", "\"warnings\": 0", "\"notes\": 1",
		"\"suppressed\": 1", NULL };
	static const char *const sarif[] = { "\"id\": \"R1\"",
		"\"ruleIndex\": 0", "\"uri\": \"a%2Cb.sbx\"",
		"\"relatedLocations\"", "\"witness\"", "\"ruleId\": \"R2\"",
		"\"locations\": []", "\"kind\": \"inSource\"", NULL };
	static const char *const junit[] = {
		"tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"1\"",
		"<testsuite name=\"empty.sbx\" tests=\"1\"", "name=\"diff\"",
		"<failure message=\"said %&lt;a&gt;&amp;"
		"&quot;b&quot;,:: |*_`#@&#10;" NO "[0m" NO "\"",
		"<testsuite name=\"sbxc\"", "<system-out>",
		"<skipped message=\"because ", NULL
	};
	struct arena *arena = arena_new();
	struct report report;

	fill(&report, arena);
	expect(tap, &report, REPORT_GITHUB, "workflow commands",
	    "::error file=a%2Cb.sbx,line=3,endLine=4,col=5,endColumn=7,"
	    "title=R1 the %25<a>&\"b\"%2C%3A%3A |*_`#@%0A" NO "[0m" NO
	    "::said %25<a>&\"b\",:: |*_`#@%0A" NO "[0m" NO "%0Ado\n"
	    "::notice title=R2::nowhere\n");
	expect(tap, &report, REPORT_MARKDOWN, "Markdown",
	    "### Title of %&lt;a&gt;&amp;\"b\",:: \\|\\*\\_\\`\\#&#64;<br>" NO
	    "\\[0m" NO "\n\n"
	    "| | where | what | rule |\n|---|---|---|---|\n"
	    "| error | ./a,b.sbx:3:5 | said %&lt;a&gt;&amp;\"b\",:: "
	    "\\|\\*\\_\\`\\#&#64;<br>" NO "\\[0m" NO
	    "<br>do<br>witness: write /x | R1 |\n"
	    "| note |  | nowhere | R2 |\n\n1 wider\n");
	expect_parts(tap, &report, REPORT_JSON, "JSON", json);
	expect_parts(tap, &report, REPORT_SARIF, "SARIF", sarif);
	expect_parts(tap, &report, REPORT_JUNIT, "JUnit", junit);
	arena_release(arena);
}

static void
test_cases(struct tap *tap)
{
	static const char *const junit[] = {
		"tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\"",
		"<testsuite name=\"t.yaml\" tests=\"2\" failures=\"1\"",
		"<failure message=\"one&#10;two\"",
		"<testsuite name=\"u.yaml\"", "<skipped message=\"no kernel\"",
		NULL
	};
	struct arena *arena = arena_new();
	struct report report;

	fill_cases(&report, arena);
	expect(tap, &report, REPORT_TAP, "TAP",
	    "TAP version 13\n1..3\n"
	    "ok 1 - t.yaml: allow: read \\#1 \\\\ x\n"
	    "not ok 2 - t.yaml: deny\n# one\n# two\n"
	    "ok 3 - u.yaml: live # SKIP no kernel\n");
	expect(tap, &report, REPORT_GITHUB, "workflow commands of a test",
	    "::error file=t.yaml,line=4,endLine=4,col=1,endColumn=2,"
	    "title=deny::one%0Atwo\n");
	expect_parts(tap, &report, REPORT_JUNIT, "JUnit of a test", junit);
	arena_release(arena);
}

static void
test_formats(struct tap *tap)
{
	tap_ok(tap, report_format_find("tap") == REPORT_TAP,
	    "a format is found by its name");
	tap_ok(tap,
	    report_format_find("xml") == REPORT_FORMAT_END &&
		report_format_find("") == REPORT_FORMAT_END,
	    "and no other");
}

int
main(void)
{
	struct tap tap = { 0 };

	test_findings(&tap);
	test_cases(&tap);
	test_formats(&tap);
	return tap_done(&tap);
}
