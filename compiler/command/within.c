/*
 * `sbxc check --within BASE NEW...`: tells what each NEW allows and BASE does
 * not.  It is a diff in which only wider differences count.
 */
#include "compiler/command/commands.h"

#include <string.h>

static void
tell(const struct diff *diff, struct report *report)
{
	const size_t *counts = diff->comparison.counts;

	if (diff->options->format != REPORT_TEXT) {
		diff_report(diff, CHANGE_NOT_WITHIN, CHANGE_NOT_WITHIN, report,
		    (size_t[CHANGE_END]){ 0 });
		return;
	}
	diff_print(diff, CHANGE_NOT_WITHIN, stdout);
	if (counts[CHANGE_WIDER] > 0)
		printf("%s allows more than %s: %zu wider\n",
		    diff->files[SIDE_NEW], diff->files[SIDE_OLD],
		    counts[CHANGE_WIDER]);
	else if (counts[CHANGE_MAYBE_WIDER] > 0)
		printf("%s may allow more than %s: %zu not decided\n",
		    diff->files[SIDE_NEW], diff->files[SIDE_OLD],
		    counts[CHANGE_MAYBE_WIDER]);
	else
		printf("%s allows nothing that %s does not\n",
		    diff->files[SIDE_NEW], diff->files[SIDE_OLD]);
}

/* One profile of NEW, and the one of BASE that it belongs to. */
static enum exit_status
pair_check(const struct options *options, const struct profile_pair *pair,
    const char *file, struct report *report)
{
	struct diff diff = {
		.options = options,
		.files = { options->within, file },
	};
	enum exit_status status;
	enum change change;

	if (pair->names[SIDE_NEW] != NULL && pair->names[SIDE_OLD] == NULL) {
		if (options->quiet)
			return EXIT_POLICY;
		if (options->format == REPORT_TEXT)
			printf("wider: %s\n",
			    diff_pair_text(options->arena, pair, &change));
		else
			diff_report_pair(&diff, pair, CHANGE_NOT_WITHIN,
			    report);
		return EXIT_POLICY;
	}
	/* To have fewer profiles is no more. */
	if (pair->names[SIDE_NEW] == NULL && pair->names[SIDE_OLD] != NULL)
		return EXIT_CLEAN;
	status = diff_make(&diff, options, pair, options->within, file);
	if (status != EXIT_CLEAN)
		return status;
	diff.labels[SIDE_OLD] = "base";
	if (pair->names[SIDE_NEW] != NULL)
		diff.files[SIDE_NEW] = arena_printf(options->arena, "%s (%s)",
		    file, pair->names[SIDE_NEW]);
	if (!options->quiet)
		tell(&diff, report);
	return diff.comparison.counts[CHANGE_WIDER] +
		    diff.comparison.counts[CHANGE_MAYBE_WIDER] >
		0 ?
	    EXIT_POLICY :
	    EXIT_CLEAN;
}

enum exit_status
check_within(const struct options *options)
{
	const struct words *files = &options->operands;
	enum exit_status worst = EXIT_CLEAN;
	struct report report;

	if (options->format == REPORT_GCC)
		return misused("-f is text, json, github or junit with "
			       "--within, not 'gcc'");
	if (options->warnings.list.count + options->errors.list.count +
		options->targets.list.count >
	    0)
		return misused("-W, -E and --target do not go with --within");
	report_init(&report, options->arena, "check");
	for (size_t i = 0; i < files->list.count; i++) {
		const char *file = files->list.items[i];
		struct profile_pairs pairs;

		diff_pair(options, options->within, file, true, &pairs);
		for (size_t j = 0; j < pairs.list.count; j++) {
			enum exit_status status = pair_check(options,
			    &pairs.list.items[j], file, &report);

			if (status == EXIT_USAGE)
				return status;
			if (status > worst)
				worst = status;
		}
	}
	if (options->format != REPORT_TEXT && !options->quiet)
		report_write(&report, options->format, stdout);
	return worst;
}
