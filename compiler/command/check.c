/*
 * `sbxc check`: compiles every profile of every file and reports what it
 * finds.  Text is printed for each file, on standard error; the other formats
 * are one document about all files, on standard output.
 */
#include "compiler/check/check.h"
#include "compiler/command/commands.h"
#include "compiler/policy/policy.h"
#include "compiler/report/report.h"

#include <string.h>

struct checking {
	const struct options *options;
	struct diag_choices choices;
	VEC(struct enforcer) targets;
	struct report report;
	struct map known; /* what the report has already */
};

/* --- the command line ----------------------------------------------------- */

typedef const char *choice_reader(struct arena *arena, const char *word,
    struct diag_choices *choices);

/* The words of -W or of -E, which may be lists with commas. */
static bool
choices_read(struct checking *checking, const struct words *words, char letter,
    choice_reader *read)
{
	struct arena *arena = checking->options->arena;

	for (size_t i = 0; i < words->list.count; i++) {
		const char *at = words->list.items[i];

		do {
			size_t len = strcspn(at, ",");
			const char *fault = read(arena,
			    arena_strndup(arena, at, len), &checking->choices);

			if (fault != NULL) {
				misused("-%c: %s", letter, fault);
				return false;
			}
			at += len;
		} while (*at++ == ',');
	}
	return true;
}

static bool
targets_read(struct checking *checking)
{
	const struct words *words = &checking->options->targets;

	for (size_t i = 0; i < words->list.count; i++) {
		struct enforcer enforcer;

		if (!enforcer_read(words->list.items[i], &enforcer)) {
			misused("--target is landlock=N, level=LEVEL or macos, "
				"not '%s'",
			    words->list.items[i]);
			return false;
		}
		*arena_push(checking->options->arena,
		    &checking->targets) = enforcer;
	}
	return true;
}

static bool
checking_init(struct checking *checking, const struct options *options)
{
	*checking = (struct checking){ .options = options };
	report_init(&checking->report, options->arena, "check");
	diags_report_rules(&checking->report);
	return choices_read(checking, &options->warnings, 'W',
		   diag_choice_warning) &&
	    choices_read(checking, &options->errors, 'E', diag_choice_error) &&
	    targets_read(checking);
}

/* --- files ---------------------------------------------------------------- */

static void
check_profile(const struct checking *checking, struct compilation *compilation,
    const char *name)
{
	struct arena *work = arena_child(compilation->arena);
	struct image image;
	bool good;

	/* Of one profile of many nothing is kept but what was found. */
	compilation->work = work;
	good = compile(compilation, name, &image);
	for (size_t i = 0; good && i < checking->targets.count; i++)
		certify(compilation->policy, &checking->targets.items[i],
		    &compilation->diags);
	suppressions_mark(&compilation->suppressions, &compilation->diags);
	compilation->policy = NULL;
	compilation->work = NULL;
	arena_release(work);
}

/* Comments that suppress nothing are known only after all profiles were
 * checked without an error. */
static void
check_suppressions(const struct checking *checking,
    struct compilation *compilation)
{
	bool except[DIAG_END] = { false };

	if (compilation->diags.errors > 0)
		return;
	if (checking->targets.count == 0)
		certificate_codes(except);
	suppressions_report_unused(&compilation->suppressions,
	    &compilation->diags, compilation->file, except);
}

/* Checks all profiles of the file, or the one that -p names. */
static void
check_profiles(const struct checking *checking, struct compilation *compilation)
{
	const struct options *options = checking->options;
	struct profile_names profiles = { 0 };

	if (options->profile != NULL) {
		check_profile(checking, compilation, options->profile);
		return;
	}
	if (compilation->diags.errors > 0)
		return;
	resolve_profiles(options->arena, compilation->stmts, &profiles);
	if (profiles.names.count == 0 && !options->quiet)
		complain("%s: it defines no profile, so only its syntax was "
			 "checked",
		    compilation->file->shown);
	for (size_t i = 0; i < profiles.names.count; i++) {
		/* The next profile is checked even if this one has errors. */
		size_t errors = compilation->diags.errors;

		compilation->diags.errors = 0;
		check_profile(checking, compilation, profiles.names.items[i]);
		compilation->diags.errors += errors;
	}
	if (profiles.names.count > 0)
		check_suppressions(checking, compilation);
}

static bool
is_for_people(const struct options *options)
{
	return options->format == REPORT_TEXT || options->format == REPORT_GCC;
}

static void
tell(struct checking *checking, struct compilation *compilation)
{
	if (checking->options->quiet)
		return;
	if (is_for_people(checking->options)) {
		options_print(checking->options, &compilation->diags);
		return;
	}
	report_file(&checking->report, compilation->file->shown);
	diags_report(&compilation->diags, &checking->report, &checking->known);
}

static enum exit_status
check_file(struct checking *checking, const char *path)
{
	const struct options *options = checking->options;
	struct compilation *compilation = arena_alloc(options->arena,
	    sizeof *compilation);

	if (!options_open(options, path, compilation))
		return EXIT_TROUBLE;
	compilation->definitions = options->definitions;
	check_profiles(checking, compilation);
	diags_judge(&compilation->diags, &checking->choices);
	tell(checking, compilation);
	return policy_status(&compilation->diags);
}

enum exit_status
command_check(struct options *options)
{
	const struct words *files = &options->operands;
	enum exit_status worst = EXIT_CLEAN;
	struct checking checking;

	if (files->list.count == 0)
		return misused("FILE is missing");
	if (options->within != NULL)
		return check_within(options);
	if (!checking_init(&checking, options))
		return EXIT_USAGE;
	for (size_t i = 0; i < files->list.count; i++) {
		enum exit_status status = check_file(&checking,
		    files->list.items[i]);

		if (status > worst)
			worst = status;
	}
	if (!options->quiet && !is_for_people(options))
		report_write(&checking.report, options->format, stdout);
	return worst;
}
