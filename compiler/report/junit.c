/*
 * JUnit XML, in the form that CI hosts read: a suite for each file, in it the
 * cases of a test, or one for each finding.  An error is a failure, a warning
 * or note passes and says its text, so that the report is red exactly where
 * the exit status is; a file without findings has one case, which passes.
 */
#include "compiler/report/report.h"

#include "compiler/base/base.h"

#include <string.h>

/* What a suite holds: indices of findings and cases, in their order. */
struct suite {
	const char *name;
	VEC(size_t) findings, cases;
};

struct suites {
	struct arena *arena;
	struct map by_name;
	VEC(struct suite *) list;
};

/* --- XML ------------------------------------------------------------------ */

/* An attribute would turn the last three into blanks. */
static const struct escape xml[] = {
	{ '&', "&amp;" },
	{ '<', "&lt;" },
	{ '>', "&gt;" },
	{ '"', "&quot;" },
	{ '\n', "&#10;" },
	{ '\r', "&#13;" },
	{ '\t', "&#9;" },
	{ '\0', NULL },
};

static void
put_attribute(FILE *stream, const char *name, const char *text)
{
	if (text == NULL)
		return;
	fprintf(stream, " %s=\"", name);
	put_escaped(stream, text, xml);
	putc('"', stream);
}

/* --- suites --------------------------------------------------------------- */

static struct suite *
suite_get(struct suites *suites, const char *name)
{
	struct suite *suite;

	if (name == NULL)
		name = "sbxc";
	name = arena_intern(suites->arena, name, strlen(name));
	suite = map_find(&suites->by_name, name);
	if (suite != NULL)
		return suite;
	suite = arena_alloc(suites->arena, sizeof *suite);
	suite->name = name;
	map_put(suites->arena, &suites->by_name, name, suite);
	*arena_push(suites->arena, &suites->list) = suite;
	return suite;
}

static void
suites_fill(struct suites *suites, const struct report *report)
{
	for (size_t i = 0; i < report->files.count; i++)
		suite_get(suites, report->files.items[i]);
	for (size_t i = 0; i < report->findings.count; i++) {
		struct suite *suite = suite_get(suites,
		    report->findings.items[i].position.file);

		*arena_push(suites->arena, &suite->findings) = i;
	}
	for (size_t i = 0; i < report->cases.count; i++) {
		struct suite *suite = suite_get(suites,
		    report->cases.items[i].suite);

		*arena_push(suites->arena, &suite->cases) = i;
	}
}

/* --- cases ---------------------------------------------------------------- */

static void
put_case_start(FILE *stream, const char *suite, const char *name,
    const struct position *position)
{
	fputs("    <testcase", stream);
	put_attribute(stream, "classname", suite);
	put_attribute(stream, "name", name);
	put_attribute(stream, "file", position->file);
	if (position->file != NULL && position->line > 0)
		fprintf(stream, " line=\"%u\"", position->line);
	fputs(">\n", stream);
}

/* An element with a message, and more text in it. */
static void
put_outcome(FILE *stream, const char *element, const char *type,
    const char *message, const char *text)
{
	fprintf(stream, "      <%s", element);
	put_attribute(stream, "message", message);
	put_attribute(stream, "type", type);
	putc('>', stream);
	put_escaped(stream, text, xml);
	fprintf(stream, "</%s>\n", element);
}

static void
put_finding(const struct report *report, FILE *stream, const char *suite,
    const struct report_finding *finding)
{
	const struct position *position = &finding->position;
	const char *text = arena_printf(report->arena,
	    "%s:%u:%u: %s: %s [%s]"
	    "%s%s",
	    position->file != NULL ? position->file : "sbxc", position->line,
	    position->column, severity_word(finding->severity),
	    finding->message, finding->rule, finding->help != NULL ? "\n" : "",
	    finding->help != NULL ? finding->help : "");

	put_case_start(stream, suite,
	    arena_printf(report->arena, "%s at %u:%u", finding->rule,
		position->line, position->column),
	    position);
	if (finding->suppressed != NULL)
		put_outcome(stream, "skipped", NULL, finding->suppressed, "");
	else if (finding->severity == SEVERITY_ERROR)
		put_outcome(stream, "failure", finding->rule, finding->message,
		    text);
	else
		put_outcome(stream, "system-out", NULL, NULL, text);
	fputs("    </testcase>\n", stream);
}

static void
put_case(FILE *stream, const char *suite, const struct report_case *test)
{
	const char *message = test->message != NULL ? test->message : "";

	put_case_start(stream, suite, test->name, &test->position);
	if (test->skipped != NULL)
		put_outcome(stream, "skipped", NULL, test->skipped, "");
	else if (!test->passed)
		put_outcome(stream, "failure", "failed", message, message);
	fputs("    </testcase>\n", stream);
}

struct totals {
	size_t tests, failures, skipped;
};

static void
totals_add(struct totals *totals, bool failed, bool skipped)
{
	totals->tests++;
	totals->failures += failed && !skipped;
	totals->skipped += skipped;
}

static struct totals
suite_totals(const struct report *report, const struct suite *suite)
{
	struct totals totals = { 0 };

	for (size_t i = 0; i < suite->findings.count; i++) {
		const struct report_finding *finding =
		    &report->findings.items[suite->findings.items[i]];

		totals_add(&totals, finding->severity == SEVERITY_ERROR,
		    finding->suppressed != NULL);
	}
	for (size_t i = 0; i < suite->cases.count; i++) {
		const struct report_case *test =
		    &report->cases.items[suite->cases.items[i]];

		totals_add(&totals, !test->passed, test->skipped != NULL);
	}
	if (totals.tests == 0)
		totals.tests = 1;
	return totals;
}

static void
put_totals(FILE *stream, struct totals totals)
{
	fprintf(stream,
	    " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n",
	    totals.tests, totals.failures, totals.skipped);
}

static void
put_suite(const struct report *report, FILE *stream, const struct suite *suite)
{
	fputs("  <testsuite", stream);
	put_attribute(stream, "name", suite->name);
	put_totals(stream, suite_totals(report, suite));
	if (suite->findings.count + suite->cases.count == 0) {
		put_case_start(stream, suite->name, report->command,
		    &(struct position){ .file = suite->name });
		fputs("    </testcase>\n", stream);
	}
	for (size_t i = 0; i < suite->findings.count; i++)
		put_finding(report, stream, suite->name,
		    &report->findings.items[suite->findings.items[i]]);
	for (size_t i = 0; i < suite->cases.count; i++)
		put_case(stream, suite->name,
		    &report->cases.items[suite->cases.items[i]]);
	fputs("  </testsuite>\n", stream);
}

void
report_write_junit(const struct report *report, FILE *stream)
{
	struct suites suites = { .arena = report->arena };
	struct totals all = { 0 };

	suites_fill(&suites, report);
	for (size_t i = 0; i < suites.list.count; i++) {
		struct totals totals = suite_totals(report,
		    suites.list.items[i]);

		all.tests += totals.tests;
		all.failures += totals.failures;
		all.skipped += totals.skipped;
	}
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites",
	    stream);
	put_attribute(stream, "name",
	    arena_printf(report->arena, "sbxc %s", report->command));
	put_totals(stream, all);
	for (size_t i = 0; i < suites.list.count; i++)
		put_suite(report, stream, suites.list.items[i]);
	fputs("</testsuites>\n", stream);
}
