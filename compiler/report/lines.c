/*
 * The formats that are made of lines: the workflow commands of GitHub, and
 * Markdown.  Each has characters of its own that text must not hold as they are,
 * and a way to write them.
 */
#include "compiler/report/report.h"

#include <string.h>

/* --- GitHub --------------------------------------------------------------- */

static const struct escape github_data[] = {
	{ '%', "%25" },
	{ '\r', "%0D" },
	{ '\n', "%0A" },
	{ '\0', NULL },
};

static const struct escape github_property[] = {
	{ '%', "%25" },
	{ '\r', "%0D" },
	{ '\n', "%0A" },
	{ ':', "%3A" },
	{ ',', "%2C" },
	{ '\0', NULL },
};

/* A path as the host finds it in the repository. */
static const char *
github_path(const char *file)
{
	while (file[0] == '.' && file[1] == '/')
		file += 2;
	return file;
}

static void
put_github_place(FILE *stream, const struct position *position)
{
	if (position->file == NULL)
		return;
	fputs("file=", stream);
	put_escaped(stream, github_path(position->file), github_property);
	if (position->line > 0)
		fprintf(stream, ",line=%u,endLine=%u,col=%u,endColumn=%u",
		    position->line, position->end_line, position->column,
		    position->end_column);
	putc(',', stream);
}

static void
put_github(const struct report *report, FILE *stream,
    const struct report_finding *finding)
{
	static const char *const words[] = {
		[SEVERITY_NOTE] = "notice",
		[SEVERITY_WARNING] = "warning",
		[SEVERITY_ERROR] = "error",
	};
	const struct report_rule *rule = report_rule_find(report,
	    finding->rule);

	fprintf(stream, "::%s ", words[finding->severity]);
	put_github_place(stream, &finding->position);
	fprintf(stream, "title=%s", finding->rule);
	if (rule != NULL) {
		putc(' ', stream);
		put_escaped(stream, rule->title, github_property);
	}
	fputs("::", stream);
	put_escaped(stream, finding->message, github_data);
	if (finding->help != NULL) {
		fputs("%0A", stream);
		put_escaped(stream, finding->help, github_data);
	}
	putc('\n', stream);
}

static void
put_github_case(FILE *stream, const struct report_case *test)
{
	fputs("::error ", stream);
	put_github_place(stream, &test->position);
	fputs("title=", stream);
	put_escaped(stream, test->name, github_property);
	fputs("::", stream);
	put_escaped(stream, test->message != NULL ? test->message : "failed",
	    github_data);
	putc('\n', stream);
}

void
report_write_github(const struct report *report, FILE *stream)
{
	for (size_t i = 0; i < report->findings.count; i++) {
		if (report->findings.items[i].suppressed == NULL)
			put_github(report, stream, &report->findings.items[i]);
	}
	for (size_t i = 0; i < report->cases.count; i++) {
		const struct report_case *test = &report->cases.items[i];

		if (!test->passed && test->skipped == NULL)
			put_github_case(stream, test);
	}
}

/* --- Markdown ------------------------------------------------------------- */

/* In a cell of a table, where nothing may begin markup or end the cell. */
static const struct escape markdown[] = {
	{ '|', "\\|" },
	{ '\n', "<br>" },
	{ '\r', " " },
	{ '\t', " " },
	{ '<', "&lt;" },
	{ '>', "&gt;" },
	{ '&', "&amp;" },
	{ '*', "\\*" },
	{ '_', "\\_" },
	{ '`', "\\`" },
	{ '[', "\\[" },
	{ ']', "\\]" },
	{ '\\', "\\\\" },
	{ '~', "\\~" },
	{ '#', "\\#" },
	{ '@', "&#64;" },
	{ '\0', NULL },
};

static void
put_markdown(FILE *stream, const struct report_finding *finding)
{
	const struct position *position = &finding->position;

	fprintf(stream, "| %s | ", severity_word(finding->severity));
	put_escaped(stream, finding->message, markdown);
	if (finding->help != NULL) {
		fputs("<br>", stream);
		put_escaped(stream, finding->help, markdown);
	}
	for (size_t i = 0; i < finding->properties.count; i++) {
		fputs("<br>", stream);
		put_escaped(stream, finding->properties.items[i].name,
		    markdown);
		fputs(": ", stream);
		put_escaped(stream, finding->properties.items[i].text,
		    markdown);
	}
	fputs(" | ", stream);
	if (position->file != NULL)
		put_escaped(stream, position->file, markdown);
	if (position->file != NULL && position->line > 0)
		fprintf(stream, ":%u", position->line);
	fputs(" |\n", stream);
}

void
report_write_markdown(const struct report *report, FILE *stream)
{
	bool head = false;

	if (report->title != NULL) {
		fputs("### ", stream);
		put_escaped(stream, report->title, markdown);
		fputs("\n\n", stream);
	}
	for (size_t i = 0; i < report->findings.count; i++) {
		if (report->findings.items[i].suppressed != NULL)
			continue;
		if (!head)
			fputs("| | what | where |\n"
			      "|---|---|---|\n",
			    stream);
		head = true;
		put_markdown(stream, &report->findings.items[i]);
	}
	if (report->summary == NULL)
		return;
	fputs(head ? "\n" : "", stream);
	put_escaped(stream, report->summary, markdown);
	putc('\n', stream);
}
