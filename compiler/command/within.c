/*
 * `sbxc check --within BASE NEW...`: tells what each NEW allows and BASE does
 * not.  It is a diff in which only wider differences count.
 */
#include "compiler/command/diff.h"

#include <string.h>

static void
tell(const struct diff *diff, struct report *report)
{
	const size_t *counts = diff->comparison.counts;

	if (diff->options->format != REPORT_TEXT) {
		diff_report(diff, CHANGE_NOT_WITHIN, CHANGE_NOT_WITHIN, report);
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
		struct diff diff;
		enum exit_status status = diff_make(&diff, options,
		    options->within, files->list.items[i]);

		if (status == EXIT_USAGE)
			return status;
		diff.labels[SIDE_OLD] = "base";
		if (status == EXIT_CLEAN && !options->quiet)
			tell(&diff, &report);
		if (status == EXIT_CLEAN &&
		    diff.comparison.counts[CHANGE_WIDER] +
			    diff.comparison.counts[CHANGE_MAYBE_WIDER] >
			0)
			status = EXIT_POLICY;
		if (status > worst)
			worst = status;
	}
	if (options->format != REPORT_TEXT && !options->quiet)
		report_write(&report, options->format, stdout);
	return worst;
}
