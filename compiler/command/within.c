/*
 * `sbxc check --within BASE NEW...`: NEW allows nothing that BASE does not, or
 * here is what.  It is a diff of which only what got wider counts.
 */
#include "compiler/command/diff.h"

#include <string.h>

enum {
	WITHIN_FORMATS = REPORT_BIT(REPORT_TEXT) | REPORT_BIT(REPORT_JSON) |
	    REPORT_BIT(REPORT_SARIF) | REPORT_BIT(REPORT_GITHUB) |
	    REPORT_BIT(REPORT_JUNIT),
	WIDER = CHANGE_BIT(CHANGE_WIDER),
};

static void
tell(const struct diff *diff, enum report_format format, struct report *report)
{
	size_t count = diff->comparison.counts[CHANGE_WIDER];

	if (format != REPORT_TEXT) {
		diff_report(diff, WIDER, WIDER, report);
		return;
	}
	diff_print(diff, WIDER, stdout);
	if (count == 0)
		printf("%s allows nothing that %s does not\n",
		    diff->files[SIDE_NEW], diff->files[SIDE_OLD]);
	else
		printf("%s allows more than %s: %zu wider\n",
		    diff->files[SIDE_NEW], diff->files[SIDE_OLD], count);
}

enum exit_status
check_within(const struct options *options)
{
	const struct words *files = &options->operands;
	enum report_format format = REPORT_TEXT;
	enum exit_status worst = EXIT_CLEAN;
	struct report report;

	if (options->format != NULL &&
	    !report_format_find(options->format, WITHIN_FORMATS, &format))
		return misused("-f is %s with --within, not '%s'",
		    report_format_names(options->arena, WITHIN_FORMATS),
		    options->format);
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
			tell(&diff, format, &report);
		if (status == EXIT_CLEAN &&
		    diff.comparison.counts[CHANGE_WIDER] > 0)
			status = EXIT_POLICY;
		if (status > worst)
			worst = status;
	}
	if (format != REPORT_TEXT && !options->quiet)
		report_write(&report, format, stdout);
	return worst;
}
