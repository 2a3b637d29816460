/*
 * Diagnostics as findings of a report, and what -W and -E say of them.
 */
#include "compiler/report/report.h"

#include <string.h>

void
diags_report_rules(struct report *report)
{
	for (int i = 0; i < DIAG_END; i++) {
		enum diag_id id = (enum diag_id)i;

		*report_rule(report) = (struct report_rule){
			.id = diag_code(id),
			.name = diag_name(report->arena, id),
			.title = diag_title(id),
			.severity = diag_severity(id),
		};
	}
}

/* --- places --------------------------------------------------------------- */

static struct position
position_of(const struct sources *sources, struct loc loc)
{
	struct position begin = sources_position(sources, loc), end = begin;

	/* Look at the last byte: the one after it may belong to the next
	 * text. */
	if (loc.end > loc.begin)
		end = sources_position(sources,
		    (struct loc){ loc.end - 1, loc.end });
	begin.end_line = end.line;
	begin.end_column = end.column + (loc.end > loc.begin);
	return begin;
}

/* Whether another file gave the same finding. */
static bool
is_known(struct report *report, struct map *known,
    const struct report_finding *finding)
{
	const char *key = arena_printf(report->arena, "%s %u %u %s %s",
	    finding->rule, finding->position.line, finding->position.column,
	    finding->position.file != NULL ? finding->position.file : "",
	    finding->message);

	key = arena_intern(report->arena, key, strlen(key));
	if (map_find(known, key) != NULL)
		return true;
	map_put(report->arena, known, key, known);
	return false;
}

static void
report_diag(const struct diags *diags, struct report *report, struct map *known,
    const struct diag *diag)
{
	struct report_finding finding = {
		.rule = diag_code(diag->id),
		.severity = diag->severity,
		.position = position_of(diags->sources, diag->loc),
		.message = diag->message,
		.help = diag->help,
		.suppressed = diag->suppressed,
	};
	struct report_finding *added;

	if (is_known(report, known, &finding))
		return;
	added = report_finding(report);
	*added = finding;
	if (diag->note != NULL)
		report_relate(report, added,
		    position_of(diags->sources, diag->note_loc), diag->note);
}

void
diags_report(const struct diags *diags, struct report *report,
    struct map *known)
{
	const struct diag **sorted = diags_sorted(diags);

	for (size_t i = 0; i < diags->records.count; i++)
		report_diag(diags, report, known, sorted[i]);
}

/* --- -W and -E ------------------------------------------------------------ */

/* A code or name, perhaps with "no-" before it. */
struct choice {
	bool no, all;
	enum diag_id id;
};

static const char *
choice_read(struct arena *arena, const char *word, struct choice *choice)
{
	const char *code = word, *nearest;

	/* no-object is the name of a diagnostic. */
	choice->no = strncmp(word, "no-", 3) == 0 &&
	    diag_find(word) == DIAG_END;
	if (choice->no)
		code += 3;
	choice->all = strcmp(code, "all") == 0;
	choice->id = diag_find(code);
	if (choice->all || choice->id != DIAG_END)
		return NULL;
	nearest = diag_nearest(arena, code);
	if (nearest == NULL)
		return arena_printf(arena, "'%s' is no code of a diagnostic",
		    code);
	return arena_printf(arena,
	    "'%s' is no code of a diagnostic; did you mean '%s'?", code,
	    nearest);
}

const char *
diag_choice_warning(struct arena *arena, const char *word,
    struct diag_choices *choices)
{
	struct choice choice;
	const char *fault = choice_read(arena, word, &choice);

	if (fault != NULL)
		return fault;
	if (choice.all) {
		for (int i = 0; i < DIAG_END; i++)
			choices->off[i] = choice.no;
		return NULL;
	}
	if (choice.no && diag_severity(choice.id) == SEVERITY_ERROR)
		return arena_printf(arena,
		    "%s is an error, and errors cannot be switched off",
		    diag_code(choice.id));
	choices->off[choice.id] = choice.no;
	return NULL;
}

/* -E with a code also turns a warning on that was off. */
const char *
diag_choice_error(struct arena *arena, const char *word,
    struct diag_choices *choices)
{
	struct choice choice;
	const char *fault = choice_read(arena, word, &choice);

	if (fault != NULL)
		return fault;
	if (!choice.all) {
		if (choice.no && diag_severity(choice.id) == SEVERITY_ERROR)
			return arena_printf(arena,
			    "%s is an error whatever is said",
			    diag_code(choice.id));
		choices->error[choice.id] = !choice.no;
		choices->off[choice.id] &= choice.no;
		return NULL;
	}
	for (int i = 0; i < DIAG_END; i++)
		choices->error[i] = !choice.no &&
		    diag_severity((enum diag_id)i) == SEVERITY_WARNING;
	return NULL;
}
