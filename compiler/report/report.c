/* See report.h: building a report, and the table of formats. */
#include "compiler/report/report.h"

#include "format/text.h"

#include <string.h>

void
report_init(struct report *report, struct arena *arena, const char *command)
{
	*report = (struct report){ .arena = arena, .command = command };
}

struct report_rule *
report_rule(struct report *report)
{
	return arena_push(report->arena, &report->rules);
}

struct report_finding *
report_finding(struct report *report)
{
	return arena_push(report->arena, &report->findings);
}

struct report_case *
report_case(struct report *report)
{
	return arena_push(report->arena, &report->cases);
}

void
report_file(struct report *report, const char *file)
{
	*arena_push(report->arena, &report->files) = file;
}

void
report_relate(struct report *report, struct report_finding *finding,
    struct position position, const char *message)
{
	*arena_push(report->arena, &finding->related) =
	    (struct report_related){ .position = position, .message = message };
}

void
report_property(struct report *report, struct report_finding *finding,
    const char *name, const char *text)
{
	*arena_push(report->arena, &finding->properties) =
	    (struct report_property){ .name = name, .text = text };
}

/* --- what several writers ask --------------------------------------------- */

const struct report_rule *
report_rule_find(const struct report *report, const char *id)
{
	for (size_t i = 0; i < report->rules.count; i++) {
		if (strcmp(report->rules.items[i].id, id) == 0)
			return &report->rules.items[i];
	}
	return NULL;
}

struct report_counts
report_count(const struct report *report)
{
	struct report_counts counts = { 0 };

	for (size_t i = 0; i < report->findings.count; i++) {
		const struct report_finding *finding =
		    &report->findings.items[i];

		if (finding->suppressed != NULL)
			counts.suppressed++;
		else
			counts.severity[finding->severity]++;
	}
	for (size_t i = 0; i < report->cases.count; i++) {
		const struct report_case *test = &report->cases.items[i];

		if (test->skipped != NULL)
			counts.skipped++;
		else if (test->passed)
			counts.passed++;
		else
			counts.failed++;
	}
	return counts;
}

const char *
severity_word(enum severity severity)
{
	static const char *const words[] = {
		[SEVERITY_NOTE] = "note",
		[SEVERITY_WARNING] = "warning",
		[SEVERITY_ERROR] = "error",
	};

	return words[severity];
}

/* Whether it may stand in a report; XML cannot hold the two last characters of
 * a plane, which are none. */
static bool
is_printed(uint32_t character)
{
	return !utf8_is_hidden(character) && (character & 0xfffe) != 0xfffe;
}

void
put_escaped(FILE *stream, const char *text, const struct escape *escapes)
{
	size_t len = strlen(text);

	while (len > 0) {
		const struct escape *escape = escapes;
		uint32_t character = 0;
		size_t size = utf8_decode(text, len, &character);

		while (escape->byte != '\0' && escape->byte != *text)
			escape++;
		if (escape->byte != '\0')
			fputs(escape->text, stream);
		else if (size == 0 || !is_printed(character))
			fputs("\xef\xbf\xbd", stream);
		else
			fwrite(text, 1, size, stream);
		text += size > 0 ? size : 1;
		len -= size > 0 ? size : 1;
	}
}

/* --- formats -------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*write)(const struct report *report, FILE *stream);
} formats[] = {
	[REPORT_TEXT] = { "text", NULL },
	[REPORT_GCC] = { "gcc", NULL },
	[REPORT_JSON] = { "json", report_write_json },
	[REPORT_GITHUB] = { "github", report_write_github },
	[REPORT_JUNIT] = { "junit", report_write_junit },
	[REPORT_MARKDOWN] = { "markdown", report_write_markdown },
};

enum report_format
report_format_find(const char *name)
{
	unsigned i = 0;

	while (i < countof(formats) && strcmp(formats[i].name, name) != 0)
		i++;
	return (enum report_format)i;
}

void
report_write(const struct report *report, enum report_format format,
    FILE *stream)
{
	formats[format].write(report, stream);
}
