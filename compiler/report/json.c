/*
 * JSON of our own, for scripts.  `version` counts up when something that was
 * there changes its meaning or goes; what is new may come with the same
 * number.
 *
 *	{ "sbx": 1, "tool": "sbxc 0.1.0", "command": "check",
 *	  "files": [...], "findings": [...], "cases": [...],
 *	  "summary": { "errors": 0, ... } }
 */
#include "compiler/report/report.h"

#include "compiler/base/base.h"

enum { JSON_VERSION = 1 };

static void
put_place(struct json_t *object, const struct position *position)
{
	json_put_text(object, "file", position->file);
	if (position->file == NULL || position->line == 0)
		return;
	json_put_number(object, "line", position->line);
	json_put_number(object, "column", position->column);
	json_put_number(object, "endLine", position->end_line);
	json_put_number(object, "endColumn", position->end_column);
}

static void
put_finding(struct json_t *object, const struct report *report,
    const struct report_finding *finding)
{
	const struct report_rule *rule = report_rule_find(report,
	    finding->rule);
	struct json_t *related;

	json_put_text(object, "rule", finding->rule);
	json_put_text(object, "name", rule != NULL ? rule->name : NULL);
	json_put_text(object, "severity", severity_word(finding->severity));
	put_place(object, &finding->position);
	json_put_text(object, "message", finding->message);
	json_put_text(object, "help", finding->help);
	for (size_t i = 0; i < finding->properties.count; i++)
		json_put_text(object, finding->properties.items[i].name,
		    finding->properties.items[i].text);
	json_put_bool(object, "suppressed", finding->suppressed != NULL);
	json_put_text(object, "reason", finding->suppressed);
	related = json_put_array(object, "related");
	for (size_t i = 0; i < finding->related.count; i++) {
		struct json_t *other = json_put_object(related, NULL);

		put_place(other, &finding->related.items[i].position);
		json_put_text(other, "message",
		    finding->related.items[i].message);
	}
}

static void
put_case(struct json_t *object, const struct report_case *test)
{
	json_put_text(object, "suite", test->suite);
	json_put_text(object, "name", test->name);
	json_put_text(object, "result",
	    test->skipped != NULL ? "skipped" :
		test->passed      ? "passed" :
				    "failed");
	json_put_text(object, "message",
	    test->skipped != NULL ? test->skipped : test->message);
	put_place(object, &test->position);
}

static void
put_summary(struct json_t *object, const struct report *report)
{
	struct report_counts counts = report_count(report);

	json_put_number(object, "errors", counts.severity[SEVERITY_ERROR]);
	json_put_number(object, "warnings", counts.severity[SEVERITY_WARNING]);
	json_put_number(object, "notes", counts.severity[SEVERITY_NOTE]);
	json_put_number(object, "suppressed", counts.suppressed);
	json_put_number(object, "passed", counts.passed);
	json_put_number(object, "failed", counts.failed);
	json_put_number(object, "skipped", counts.skipped);
}

void
report_write_json(const struct report *report, FILE *stream)
{
	struct json_t *root = json_root(), *list;

	json_put_number(root, "sbx", JSON_VERSION);
	json_put_text(root, "tool", "sbxc " PACKAGE_VERSION);
	json_put_text(root, "command", report->command);
	list = json_put_array(root, "files");
	for (size_t i = 0; i < report->files.count; i++)
		json_put_text(list, NULL, report->files.items[i]);
	list = json_put_array(root, "findings");
	for (size_t i = 0; i < report->findings.count; i++)
		put_finding(json_put_object(list, NULL), report,
		    &report->findings.items[i]);
	list = json_put_array(root, "cases");
	for (size_t i = 0; i < report->cases.count; i++)
		put_case(json_put_object(list, NULL), &report->cases.items[i]);
	put_summary(json_put_object(root, "summary"), report);
	json_write(root, stream);
}
