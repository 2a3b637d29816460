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

#include "compiler/query/subject.h"

#include <string.h>

/* Two -p name the profiles of the two files, and one that of each file that
 * defines several. */
static struct options
side_options(const struct options *options, enum side side)
{
	struct options own = *options;
	size_t count = options->profiles.list.count;

	if (count > 0)
		own.profile =
		    options->profiles.list.items[count > 1 ? side : 0];
	own.has_choice = own.profile != NULL && count < 2;
	return own;
}

static enum exit_status
side_read(struct diff *diff, enum side side, const struct blocks **blocks)
{
	const struct options options = side_options(diff->options, side);

	return subject_read(&options, diff->files[side], &diff->blobs[side],
	    blocks);
}

enum exit_status
diff_make(struct diff *diff, const struct options *options, const char *old,
    const char *new)
{
	struct comparison *comparison = &diff->comparison;
	const struct blocks *blocks[SIDE_COUNT];
	enum exit_status status = EXIT_CLEAN;

	*diff = (struct diff){
		.options = options,
		.files = { old, new },
		.labels = { "old", "new" },
	};
	for (unsigned side = 0; side < SIDE_COUNT && status == EXIT_CLEAN;
	     side++)
		status = side_read(diff, (enum side)side, &blocks[side]);
	if (status != EXIT_CLEAN)
		return status;
	*comparison = (struct comparison){
		.arena = options->arena,
		.blobs = { &diff->blobs[SIDE_OLD], &diff->blobs[SIDE_NEW] },
		.definitions = options->definitions,
		.wider_only = options->within != NULL,
	};
	if (options->arch != NULL)
		comparison->arch = options_arch(options);
	status = subjects_bind(options, diff->blobs, blocks, SIDE_COUNT,
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

/* --- the command ---------------------------------------------------------- */

/* The changes that --fail-on names; false after complaining. */
static bool
fail_on_read(const struct options *options, unsigned *changes)
{
	static const struct {
		const char *word;
		unsigned changes;
	} words[] = {
		{ "widen", CHANGE_NOT_WITHIN },
		{ "wider", CHANGE_NOT_WITHIN },
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

static const char *
total_text(const struct comparison *comparison)
{
	const size_t *counts = comparison->counts;
	const char *text = arena_printf(comparison->arena,
	    "%zu wider, %zu narrower, %zu neutral", counts[CHANGE_WIDER],
	    counts[CHANGE_NARROWER], counts[CHANGE_NEUTRAL]);
	size_t maybe = counts[CHANGE_MAYBE_WIDER] +
	    counts[CHANGE_MAYBE_NARROWER];

	if (maybe == 0)
		return text;
	return arena_printf(comparison->arena, "%s, %zu not decided", text,
	    maybe);
}

static void
tell(const struct diff *diff, unsigned errors)
{
	const char *total = total_text(&diff->comparison);
	struct report report;

	if (diff->options->format == REPORT_TEXT) {
		diff_print(diff, CHANGE_ALL, stdout);
		puts(total);
		return;
	}
	report_init(&report, diff->options->arena, "diff");
	report.title = arena_printf(report.arena, "Policy: %s", total);
	diff_report(diff, CHANGE_ALL, errors, &report);
	report_write(&report, diff->options->format, stdout);
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
	if (options->profiles.list.count > 2)
		return misused("-p is given once, or for OLD and for NEW");
	status = diff_make(&diff, options, operands->list.items[0],
	    operands->list.items[1]);
	if (status != EXIT_CLEAN)
		return status;
	tell(&diff, errors);
	return is_failure(&diff, errors) ? EXIT_POLICY : EXIT_CLEAN;
}
