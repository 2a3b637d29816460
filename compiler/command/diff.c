/*
 * `sbxc diff OLD NEW`: what the second policy lets through that the first does
 * not, and the reverse.
 *
 *	wider: write ${workspace}/.git/hooks and 1 more path
 *	    old: team.sbx:6:18: deny write ${workspace}/.git/hooks  (team)
 *	    new: sbx:workspace-write.sbx:9:5: allow write ${workspace}
 *	1 wider, 0 narrower, 0 neutral
 */
#include "compiler/command/diff.h"

#include "compiler/query/show.h"
#include "compiler/query/subject.h"
#include "compiler/tables/words.h"

#include <string.h>

enum exit_status
diff_make(struct diff *diff, const struct options *options, const char *old,
    const char *new)
{
	struct comparison *comparison = &diff->comparison;
	enum exit_status status = EXIT_CLEAN;

	*diff = (struct diff){
		.options = options,
		.files = { old, new },
		.labels = { "old", "new" },
	};
	for (unsigned side = 0; side < SIDE_COUNT && status == EXIT_CLEAN;
	     side++)
		status = subject_read(options, diff->files[side],
		    &diff->blobs[side]);
	if (status != EXIT_CLEAN)
		return status;
	*comparison = (struct comparison){
		.arena = options->arena,
		.blobs = { &diff->blobs[SIDE_OLD], &diff->blobs[SIDE_NEW] },
		.definitions = options->definitions,
	};
	if (options->arch != NULL)
		comparison->arch = options_arch(options);
	status = subjects_bind(options, diff->blobs, SIDE_COUNT,
	    diff->subjects);
	if (status != EXIT_CLEAN)
		return status;
	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		if (options->workspace != NULL || options->home != NULL)
			comparison->bound[side] = &diff->subjects[side];
	}
	compare(comparison);
	comparison_join(comparison);
	if (comparison->fault == NULL)
		return EXIT_CLEAN;
	complain("cannot compare '%s' with '%s': %s", old, new,
	    comparison->fault);
	return EXIT_TROUBLE;
}

/* --- telling -------------------------------------------------------------- */

/* Where no rule speaks, what holds instead. */
const char *
difference_says(const struct difference *difference, enum side side)
{
	static const char *const silences[DIFFERENCE_END] = {
		[DIFFERENCE_SET] = "does not set it",
		[DIFFERENCE_BLANKET] = "no rule allows it",
		[DIFFERENCE_LIMIT] = "no limit",
		[DIFFERENCE_LEVEL] = "no level is required",
		[DIFFERENCE_LANDLOCK] = "no Landlock ABI is required",
		[DIFFERENCE_PARAM] = "has no such parameter",
		[DIFFERENCE_ABOUT] = "says nothing",
	};
	const struct explanation *says = &difference->says[side];

	if (says->text != NULL)
		return says->text;
	if (difference->kind == DIFFERENCE_SYSCALL && difference->witnessed)
		return says->verdict.allowed ?
		    "no rule denies it" :
		    "it does not go with the rules about the network";
	if (difference->witnessed)
		return "no rule allows it";
	return silences[difference->kind];
}

const char *
difference_text(struct arena *arena, const struct difference *difference)
{
	const char *kind = difference->kind == DIFFERENCE_PATH ? "path" :
								 "call";

	if (difference->more == 0)
		return difference->what;
	return arena_printf(arena, "%s and %zu more %s%s", difference->what,
	    difference->more, kind, difference->more == 1 ? "" : "s");
}

const char *
difference_options(const struct diff *diff, const struct difference *difference)
{
	const struct binding *binding = difference->binding;
	const struct sbx_blob *blob = &diff->blobs[SIDE_NEW];
	struct arena *arena = diff->options->arena;
	const char *text;

	/* No option says what the password entry says. */
	if (binding == NULL || binding->other_home != NULL)
		return NULL;
	text = arena_printf(arena, "-w %s --home %s", binding->workspace,
	    binding->home);
	for (uint32_t i = SBX_ANCHOR_PARAM;
	     binding->params != NULL && i < blob->anchor_count; i++) {
		const char *name = sbx_string(blob, blob->anchors[i].name);

		if (places_param(&diff->blobs[SIDE_OLD], name) != 0)
			text = arena_printf(arena, "%s -D %s=%s", text, name,
			    binding->params);
	}
	return text;
}

const char *
difference_where(const struct diff *diff, const struct difference *difference)
{
	const struct binding *binding = difference->binding;
	const char *options = difference_options(diff, difference);
	struct arena *arena = diff->options->arena;
	const char *text = "";

	if (binding != NULL && binding->about != NULL)
		text = arena_printf(arena,
		    options != NULL ? ", where %s (%s)" : ", where %s",
		    binding->about, options);
	if (difference->level != SBX_LEVEL_FULL)
		text = arena_printf(arena, "%s, at level %s", text,
		    level_word(difference->level));
	if (difference->abi > 0)
		text = arena_printf(arena, "%s, with Landlock ABI %d", text,
		    difference->abi);
	if ((difference->platforms & SBX_ON_LINUX) != SBX_ON_LINUX)
		text = arena_printf(arena, "%s, on %s", text,
		    platform_text(difference->platforms));
	return *text != '\0' ? text + 2 : NULL;
}

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

/* Some of the others that the rule names. */
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
	};
	struct arena *arena = diff->options->arena;
	const char *platforms = difference_where(diff, difference);
	bool colour = diff->options->colour_out;

	fprintf(stream, "%s%s:%s %s\n",
	    colour ? colours[difference->change] : "",
	    change_word(difference->change), colour ? "\33[m" : "",
	    difference_text(arena, difference));
	print_side(diff, difference, SIDE_OLD, stream);
	print_side(diff, difference, SIDE_NEW, stream);
	print_also(difference, stream);
	if (platforms != NULL)
		fprintf(stream, "    %s\n", platforms);
}

void
diff_print(const struct diff *diff, unsigned changes, FILE *stream)
{
	const struct comparison *comparison = &diff->comparison;

	for (size_t i = 0; i < comparison->differences.count; i++) {
		const struct difference *difference =
		    &comparison->differences.items[i];

		if (changes & CHANGE_BIT(difference->change))
			print_difference(diff, difference, stream);
	}
}

const char *
diff_total(const struct diff *diff)
{
	const size_t *counts = diff->comparison.counts;

	return arena_printf(diff->options->arena,
	    "%zu wider, %zu narrower, %zu neutral", counts[CHANGE_WIDER],
	    counts[CHANGE_NARROWER], counts[CHANGE_NEUTRAL]);
}

/* --- the command ---------------------------------------------------------- */

/* The changes that --fail-on names; false after complaining. */
static bool
fail_on_read(const struct options *options, unsigned *changes)
{
	static const struct {
		const char *word;
		unsigned changes;
	} words[] = {
		{ "widen", CHANGE_BIT(CHANGE_WIDER) },
		{ "wider", CHANGE_BIT(CHANGE_WIDER) },
		{ "any", CHANGE_ALL },
	};

	*changes = 0;
	for (size_t i = 0; options->fail_on != NULL && i < countof(words);
	     i++) {
		if (strcmp(options->fail_on, words[i].word) == 0)
			*changes = words[i].changes;
	}
	if (options->fail_on == NULL || *changes != 0)
		return true;
	misused("--fail-on is widen or any, not '%s'", options->fail_on);
	return false;
}

static bool
is_failure(const struct diff *diff, unsigned errors)
{
	for (unsigned change = 0; change < CHANGE_END; change++) {
		if ((errors & CHANGE_BIT(change)) &&
		    diff->comparison.counts[change] > 0)
			return true;
	}
	return false;
}

static void
tell(struct diff *diff, unsigned errors)
{
	enum report_format format = diff->options->format;
	struct report report;

	diff->brief = format == REPORT_MARKDOWN;
	if (format == REPORT_TEXT) {
		diff_print(diff, CHANGE_ALL, stdout);
		printf("%s\n", diff_total(diff));
		return;
	}
	report_init(&report, diff->options->arena, "diff");
	report.title = arena_printf(diff->options->arena, "Policy: %s",
	    diff_total(diff));
	diff_report(diff, CHANGE_ALL, errors, &report);
	report_write(&report, format, stdout);
}

enum exit_status
command_diff(struct options *options)
{
	const struct words *operands = &options->operands;
	enum exit_status status = operands_require(options, 2,
	    operands->list.count == 0 ? "OLD" : "NEW");
	struct diff diff;
	unsigned errors;

	if (status != EXIT_CLEAN)
		return status;
	if (!fail_on_read(options, &errors))
		return EXIT_USAGE;
	status = diff_make(&diff, options, operands->list.items[0],
	    operands->list.items[1]);
	if (status != EXIT_CLEAN)
		return status;
	tell(&diff, errors);
	return is_failure(&diff, errors) ? EXIT_POLICY : EXIT_CLEAN;
}
