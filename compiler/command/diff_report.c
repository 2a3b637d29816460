/*
 * Differences as findings.  A finding lies where the deciding rule of NEW does,
 * which is what a reviewer has before the eyes; a rule that is gone is named
 * beside it.
 */
#include "compiler/command/diff.h"
#include "compiler/tables/words.h"

#include <string.h>

/* A title for each kind, and what a change of it means. */
static const struct {
	const char *title, *explain;
} kinds[DIFFERENCE_END] = {
	[DIFFERENCE_PATH] = { "paths",
	    "What may be read, written or executed." },
	[DIFFERENCE_PORT] = { "ports",
	    "TCP ports that may be connected to or listened on." },
	[DIFFERENCE_SYSCALL] = { "system calls",
	    "What the filter lets through, with its arguments." },
	[DIFFERENCE_ENV] = { "environment",
	    "Which of the caller's variables are handed on." },
	[DIFFERENCE_SET] = { "variables that are set",
	    "Values that the policy itself gives." },
	[DIFFERENCE_BLANKET] = { "scopes",
	    "Signals and abstract sockets beyond the sandbox." },
	[DIFFERENCE_LIMIT] = { "limits", "How much may be used." },
	[DIFFERENCE_LEVEL] = { "level",
	    "The least level at which the policy runs." },
	[DIFFERENCE_LANDLOCK] = { "Landlock",
	    "The least Landlock ABI with which the policy runs." },
	[DIFFERENCE_STRENGTH] = { "strength of a deny",
	    "Whether a deny that cannot be enforced is refused or reported." },
	[DIFFERENCE_PARAM] = { "parameters", "What -D has to bind." },
	[DIFFERENCE_ABOUT] = { "about", "What the policy says of itself." },
	[DIFFERENCE_MACOS] = { "macOS",
	    "The profile for macOS, which is not compared." },
};

static enum report_severity
severity_of(enum change change, unsigned errors)
{
	if (errors & CHANGE_BIT(change))
		return REPORT_ERROR;
	return change == CHANGE_WIDER ? REPORT_WARNING : REPORT_NOTE;
}

static const char *
rule_id(struct arena *arena, const struct difference *difference)
{
	return arena_printf(arena, "%s-%s", change_word(difference->change),
	    difference_word(difference->kind));
}

/* One rule of the report for each kind of finding that there is. */
static void
add_rule(struct report *report, const struct difference *difference,
    enum report_severity severity)
{
	const char *id = rule_id(report->arena, difference);
	struct report_rule *rule;

	for (size_t i = 0; i < report->rules.count; i++) {
		if (strcmp(report->rules.items[i].id, id) == 0)
			return;
	}
	rule = report_rule(report);
	*rule = (struct report_rule){
		.id = id,
		.name = id,
		.title = arena_printf(report->arena, "%s: %s",
		    change_word(difference->change),
		    kinds[difference->kind].title),
		.explain = kinds[difference->kind].explain,
		.severity = severity,
	};
}

/* --- places --------------------------------------------------------------- */

static const char *
file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* A blob knows the names of files and not where they lie; the operand itself
 * is one that can be told. */
static struct position
place_of(const struct diff *diff, enum side side, uint32_t source)
{
	const struct sbx_blob *blob = &diff->blobs[side];
	const struct sbx_source *at = source != SBX_NO_SOURCE ?
	    &blob->sources[source] :
	    NULL;
	const char *file = diff->files[side];
	const char *name = at != NULL ? sbx_string(blob, at->file) : "";

	/* What is built in lies in no file that could be shown. */
	if (at == NULL || strncmp(name, "sbx:", 4) == 0)
		return (struct position){ .file = file };
	return (struct position){
		.file = strcmp(file_name(file), name) == 0 ? file : name,
		.line = at->line,
		.column = at->column,
		.end_line = at->line,
		.end_column = at->column + 1,
	};
}

/* NEW's rule, if it has one that says something. */
static struct position
finding_place(const struct diff *diff, const struct difference *difference)
{
	uint32_t source = difference->says[SIDE_NEW].source;

	if (difference->says[SIDE_NEW].text == NULL)
		source = SBX_NO_SOURCE;
	return place_of(diff, SIDE_NEW, source);
}

/* --- findings ------------------------------------------------------------- */

static const char *
message_of(const struct diff *diff, const struct difference *difference)
{
	struct arena *arena = diff->options->arena;
	const char *text = arena_printf(arena, "%s: %s",
	    change_word(difference->change),
	    difference_text(arena, difference));
	const char *platforms = difference_where(diff, difference);

	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		const char *says = difference_says(difference, (enum side)side);

		if (says != NULL)
			text = arena_printf(arena, "%s; %s: %s", text,
			    diff->labels[side], says);
	}
	return platforms == NULL ?
	    text :
	    arena_printf(arena, "%s (%s)", text, platforms);
}

/* The question that `sbxc why` answers, and how the anchors are bound. */
static void
add_witness(const struct diff *diff, const struct difference *difference,
    struct report *report, struct report_finding *finding)
{
	const char *options = difference_options(diff, difference);
	struct arena *arena = report->arena;
	const char *also = "";

	if (!difference->witnessed)
		return;
	if (!diff->brief)
		report_property(report, finding, "witness", difference->what);
	for (size_t i = 0; i < difference->also.list.count; i++)
		also = arena_printf(arena, "%s%s%s", also, i > 0 ? ", " : "",
		    difference->also.list.items[i]);
	if (*also != '\0')
		report_property(report, finding, "also", also);
	if (diff->brief)
		return;
	if (difference->access.kind == ACCESS_PATH && options != NULL)
		report_property(report, finding, "binding", options);
	if (difference->level != SBX_LEVEL_FULL)
		report_property(report, finding, "level",
		    level_word(difference->level));
	for (unsigned side = 0; side < SIDE_COUNT; side++)
		report_property(report, finding, diff->labels[side],
		    difference->says[side].verdict.allowed ? "allowed" :
							     "denied");
}

static void
add_finding(const struct diff *diff, const struct difference *difference,
    unsigned errors, struct report *report)
{
	enum report_severity severity = severity_of(difference->change, errors);
	const struct explanation *old = &difference->says[SIDE_OLD];
	struct report_finding *finding;

	add_rule(report, difference, severity);
	finding = report_finding(report);
	finding->rule = rule_id(report->arena, difference);
	finding->severity = severity;
	finding->position = finding_place(diff, difference);
	finding->message = message_of(diff, difference);
	add_witness(diff, difference, report, finding);
	if (old->text != NULL && old->source != SBX_NO_SOURCE)
		report_relate(report, finding,
		    place_of(diff, SIDE_OLD, old->source),
		    arena_printf(report->arena, "%s: %s",
			diff->labels[SIDE_OLD], old->text));
}

void
diff_report(const struct diff *diff, unsigned changes, unsigned errors,
    struct report *report)
{
	const struct comparison *comparison = &diff->comparison;

	report_file(report, diff->files[SIDE_OLD]);
	report_file(report, diff->files[SIDE_NEW]);
	for (size_t i = 0; i < comparison->differences.count; i++) {
		const struct difference *difference =
		    &comparison->differences.items[i];

		if (changes & CHANGE_BIT(difference->change))
			add_finding(diff, difference, errors, report);
	}
}
