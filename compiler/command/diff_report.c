/*
 * How differences are reported: as text for people, and as findings.  A
 * finding is placed at the deciding rule of NEW, which a reviewer looks at; a
 * rule that is gone is named beside it.
 */
#include "compiler/base/base.h"
#include "compiler/command/commands.h"
#include "compiler/query/why.h"
#include "compiler/tables/tables.h"

#include <string.h>
#include <unistd.h>

/* --- text ----------------------------------------------------------------- */

static void
print_side(const struct diff *diff, const struct difference *difference,
    enum side side, FILE *stream)
{
	const struct explanation *says = &difference->says[side];
	const char *text = difference_says(difference, side), *via;

	if (text == NULL)
		return;
	fprintf(stream, "    %s: ", diff->labels[side]);
	via = show_via(&diff->blobs[side], says->source);
	if (says->source != SBX_NO_SOURCE) {
		show_source(stream, &diff->blobs[side], says->source);
		fputs(": ", stream);
	}
	fputs(text, stream);
	if (via != NULL && says->text != NULL) {
		fputs("  (", stream);
		show_text(stream, via);
		putc(')', stream);
	}
	putc('\n', stream);
}

/* Whether only one of the policies has the parameter that a path begins with. */
static bool
is_strange(const struct diff *diff, const struct difference *difference)
{
	const char *name = strstr(difference->what, "${");
	const char *end = name != NULL ? strchr(name, '}') : NULL;
	unsigned count = 0;

	if (end == NULL)
		return false;
	name = arena_strndup(diff->options->arena, name + 2,
	    (size_t)(end - name - 2));
	for (unsigned side = 0; side < SIDE_COUNT; side++)
		count += places_param(&diff->blobs[side], name) != 0;
	return count == 1;
}

/* The options with which `sbxc why` answers as it says; NULL: there is no
 * such question. */
static const char *
asked_with(const struct diff *diff, const struct difference *difference)
{
	/* Why says of a variable that it is there, whoever sets it. */
	if (!difference->witnessed || difference->cut ||
	    is_strange(diff, difference) ||
	    ((difference->kind == DIFFERENCE_ENV ||
		 difference->kind == DIFFERENCE_SET) &&
		difference->says[SIDE_OLD].verdict.allowed ==
		    difference->says[SIDE_NEW].verdict.allowed))
		return NULL;
	return difference_options(&diff->comparison, difference);
}

/* "at level standard; ask why with --model -l standard"; empty: it shows
 * everywhere. */
static const char *
where_text(const struct diff *diff, const struct difference *difference)
{
	const char *where = difference_where(&diff->comparison, difference);
	const char *options = asked_with(diff, difference);

	if (where == NULL)
		where = "";
	if (options == NULL ||
	    difference_is_anywhere(&diff->comparison, difference))
		return where;
	return arena_printf(diff->options->arena, "%s%sask why with %s", where,
	    *where != '\0' ? "; " : "", options);
}

/* Some of the other accesses that the same rule decides. */
static void
print_also(const struct difference *difference, FILE *stream)
{
	enum { MOST = 5 };
	size_t count = difference->also.list.count;

	for (size_t i = 0; i < count && i < MOST; i++)
		fprintf(stream, "%s%s", i == 0 ? "    also: " : ", ",
		    difference->also.list.items[i]);
	if (count > 0)
		fputs(count > MOST ? ", ...\n" : "\n", stream);
}

static void
print_difference(const struct diff *diff, const struct difference *difference,
    FILE *stream)
{
	static const char *const colours[CHANGE_END] = {
		[CHANGE_WIDER] = "\33[1;31m",
		[CHANGE_NARROWER] = "\33[1;32m",
		[CHANGE_NEUTRAL] = "\33[1m",
		[CHANGE_MAYBE_WIDER] = "\33[1;31m",
		[CHANGE_MAYBE_NARROWER] = "\33[1;32m",
	};
	struct arena *arena = diff->options->arena;
	const char *where = where_text(diff, difference);
	bool colour = diff->options->colour_out;

	fprintf(stream, "%s%s%s:%s %s\n",
	    colour ? colours[difference->change] : "",
	    change_word(difference->change),
	    difference_condition(arena, difference), colour ? "\33[m" : "",
	    difference_text(arena, difference));
	print_side(diff, difference, SIDE_OLD, stream);
	print_side(diff, difference, SIDE_NEW, stream);
	print_also(difference, stream);
	if (*where != '\0')
		fprintf(stream, "    %s\n", where);
}

/* What a finding stands for, each by itself. */
static void
print_members(const struct diff *diff, const struct difference *difference,
    FILE *stream)
{
	struct arena *arena = diff->options->arena;

	for (size_t i = 0; i < difference->members.count; i++) {
		const struct difference *member = difference->members.items[i];
		const char *where = where_text(diff, member);

		fprintf(stream, "    - %s%s%s%s\n",
		    difference_text(arena, member),
		    difference_condition(arena, member),
		    *where != '\0' ? ", " : "", where);
	}
}

void
diff_print(const struct diff *diff, unsigned changes, FILE *stream)
{
	const struct comparison *comparison = &diff->comparison;

	for (size_t i = 0; i < comparison->differences.count; i++) {
		const struct difference *difference =
		    &comparison->differences.items[i];

		if ((changes & CHANGE_BIT(difference->change)) == 0)
			continue;
		print_difference(diff, difference, stream);
		if (diff->options->all && difference->members.count > 1)
			print_members(diff, difference, stream);
	}
}

/* --- rules of a report ---------------------------------------------------- */

static enum severity
severity_of(enum change change, unsigned errors)
{
	if (errors & CHANGE_BIT(change))
		return SEVERITY_ERROR;
	return change == CHANGE_WIDER ? SEVERITY_WARNING : SEVERITY_NOTE;
}

static const char *
rule_id(struct arena *arena, const struct difference *difference)
{
	return arena_printf(arena, "%s-%s", change_word(difference->change),
	    difference_word(difference->kind));
}

/* Adds the rule of a finding to the report, unless it is there. */
static void
add_rule(struct report *report, const struct difference *difference,
    enum severity severity)
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
		    difference_title(difference->kind)),
		.severity = severity,
	};
}

/* --- places --------------------------------------------------------------- */

/* A blob holds the names of files and not their directories: only the path of the
 * operand itself is known.  What it includes mostly lies beside it. */
static const char *
file_named(const struct diff *diff, enum side side, const char *name)
{
	const char *file = diff->files[side];
	const char *last = path_name(file);
	const char *beside = arena_printf(diff->options->arena, "%.*s%s",
	    (int)(last - file), file, name);

	return strcmp(last, name) == 0 ? file :
	    access(beside, F_OK) == 0  ? beside :
					 name;
}

static struct position
place_of(const struct diff *diff, enum side side, uint32_t source)
{
	const struct sbx_blob *blob = &diff->blobs[side];
	const struct sbx_source *at = source != SBX_NO_SOURCE ?
	    &blob->sources[source] :
	    NULL;
	const char *file = diff->files[side];
	const char *name = at != NULL ? sbx_string(blob, at->file) : "";

	/* A shipped profile has no file to show. */
	if (at == NULL || strncmp(name, "sbx:", 4) == 0)
		return (struct position){ .file = file };
	return (struct position){
		.file = file_named(diff, side, name),
		.line = at->line,
		.column = at->column,
		.end_line = at->line,
		.end_column = at->column + 1,
	};
}

/* The rule of NEW, if there is one. */
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
	static const char *const sides[SIDE_COUNT] = { "before", "now" };
	struct arena *arena = diff->options->arena;
	/* People read it in a cell of a table, where lines are free. */
	bool cell = diff->options->format == REPORT_MARKDOWN;
	const char *text = arena_printf(arena, "%s%s: %s",
	    change_word(difference->change),
	    difference_condition(arena, difference),
	    difference_text(arena, difference));
	const char *platforms = difference_where(&diff->comparison, difference);

	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		const char *says = difference_says(difference, (enum side)side);

		if (says != NULL)
			text = arena_printf(arena, "%s%s%s: %s", text,
			    cell ? "\n" : "; ",
			    cell ? sides[side] : diff->labels[side], says);
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
	const char *options = asked_with(diff, difference);
	struct arena *arena = report->arena;
	const char *also = "";
	/* People read a comment beside the rules: it needs no witness. */
	bool brief = diff->options->format == REPORT_MARKDOWN;

	if (options == NULL)
		return;
	if (!brief)
		report_property(report, finding, "witness", difference->what);
	for (size_t i = 0; i < difference->also.list.count; i++)
		also = arena_printf(arena, "%s%s%s", also, i > 0 ? ", " : "",
		    difference->also.list.items[i]);
	if (*also != '\0')
		report_property(report, finding, "also", also);
	if (brief)
		return;
	report_property(report, finding, "options", options);
	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		struct subject subject = comparison_subject(&diff->comparison,
		    difference, (enum side)side, arena);

		report_property(report, finding, diff->labels[side],
		    why_word(&subject, &difference->access,
			&difference->says[side].verdict));
	}
}

/* Whether another profile of the file has the same finding, which then is one of
 * both: what a group brings is said once. */
static bool
is_repeated(const struct diff *diff, const struct position *position,
    const char *message, struct report *report)
{
	enum { LOOK_BACK = 256 };
	size_t count = report->findings.count;

	for (size_t i = count; i-- > 0 && count - i <= LOOK_BACK;) {
		struct report_finding *known = &report->findings.items[i];
		const char *said = strstr(known->message, ": ");

		if (said == NULL || strcmp(said + 2, message) != 0 ||
		    strcmp(known->position.file, position->file) != 0 ||
		    known->position.line != position->line)
			continue;
		known->message = arena_printf(report->arena, "%.*s, %s: %s",
		    (int)(said - known->message), known->message, diff->profile,
		    message);
		return true;
	}
	return false;
}

static bool
add_finding(const struct diff *diff, const struct difference *difference,
    unsigned errors, struct report *report)
{
	enum severity severity = severity_of(difference->change, errors);
	const struct explanation *old = &difference->says[SIDE_OLD];
	const char *message = message_of(diff, difference);
	struct position position = finding_place(diff, difference);
	const char *file = diff->files[SIDE_NEW], *who = "";
	struct report_finding *finding;

	if (diff->profile != NULL &&
	    is_repeated(diff, &position, message, report))
		return false;
	add_rule(report, difference, severity);
	finding = report_finding(report);
	finding->rule = rule_id(report->arena, difference);
	finding->severity = severity;
	finding->position = position;
	/* Policies that include one file have the same finding there. */
	if (strcmp(position.file, file) != 0)
		who = path_name(file);
	if (diff->profile != NULL)
		who = arena_printf(report->arena, "%s%s%s", who,
		    *who != '\0' ? " " : "", diff->profile);
	finding->message = *who == '\0' ?
	    message :
	    arena_printf(report->arena, "%s: %s", who, message);
	add_witness(diff, difference, report, finding);
	if (old->text != NULL && old->source != SBX_NO_SOURCE)
		report_relate(report, finding,
		    place_of(diff, SIDE_OLD, old->source),
		    arena_printf(report->arena, "%s: %s",
			diff->labels[SIDE_OLD], old->text));
	return true;
}

void
diff_report(const struct diff *diff, unsigned changes, unsigned errors,
    struct report *report, size_t *counts)
{
	const struct comparison *comparison = &diff->comparison;

	report_file(report, diff->files[SIDE_OLD]);
	report_file(report, diff->files[SIDE_NEW]);
	for (size_t i = 0; i < comparison->differences.count; i++) {
		const struct difference *difference =
		    &comparison->differences.items[i];

		if ((changes & CHANGE_BIT(difference->change)) &&
		    add_finding(diff, difference, errors, report))
			counts[difference->change]++;
	}
}

void
diff_report_pair(const struct diff *diff, const struct profile_pair *pair,
    unsigned errors, struct report *report)
{
	enum change change;
	const char *text = diff_pair_text(report->arena, pair, &change);
	const char *id = arena_printf(report->arena, "%s-profile",
	    change_word(change));
	enum severity severity = severity_of(change, errors);
	struct report_finding *finding;
	struct report_rule *rule = report_rule(report);

	*rule = (struct report_rule){
		.id = id,
		.name = id,
		.title = arena_printf(report->arena, "%s: profiles",
		    change_word(change)),
		.severity = severity,
	};
	finding = report_finding(report);
	finding->rule = id;
	finding->severity = severity;
	finding->position = (struct position){ .file = diff->files[SIDE_NEW] };
	finding->message = arena_printf(report->arena, "%s: %s",
	    change_word(change), text);
}
