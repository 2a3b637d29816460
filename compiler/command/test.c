/*
 * `sbxc test`: asks the cases of test files, tries them in the kernel with
 * --live, and reports the results: for people with the answer of `why`, for
 * programs through report.h.
 */
#include "compiler/cases/cases.h"
#include "compiler/command/commands.h"
#include "compiler/tables/tables.h"

#include <string.h>

/* What the command line asks for, and the results so far. */
struct tests {
	const struct options *options;
	struct test_levels levels; /* of -l */
	struct machine machine;    /* for --live */
	struct report report;
	VEC(const struct test_results *) results;
	size_t passed, failed, tried, untried;
	enum exit_status status;
};

static void
status_raise(struct tests *tests, enum exit_status status)
{
	if (status > tests->status)
		tests->status = status;
}

/* --- text ----------------------------------------------------------------- */

static void
put_lines(FILE *stream, const char *text, const char *prefix)
{
	while (*text != '\0') {
		size_t len = strcspn(text, "\n");

		fprintf(stream, "%s%.*s\n", prefix, (int)len, text);
		text += len + (text[len] == '\n');
	}
}

static void
say_failed(const struct tests *tests, const struct position *at,
    const struct test_result *result)
{
	const char *red = tests->options->colour_out ? "\033[1;31m" : "";
	const char *plain = tests->options->colour_out ? "\033[0m" : "";
	size_t len = strcspn(result->message, "\n");

	printf("%s:%u:%u: %sfailed%s: %s: %.*s\n", at->file, at->line,
	    at->column, red, plain, result->name, (int)len, result->message);
	put_lines(stdout,
	    result->message + len + (result->message[len] == '\n'), "    ");
}

/* --- results -------------------------------------------------------------- */

static void
count(struct tests *tests, const struct test_result *result)
{
	if (result->passed)
		tests->passed++;
	else
		tests->failed++;
	tests->tried += result->live == LIVE_AGREES ||
	    result->live == LIVE_DIFFERS;
	tests->untried += result->live == LIVE_UNTRIED;
}

static void
report_result(struct tests *tests, const struct position *at,
    const struct test_result *result)
{
	struct report_case *entry = report_case(&tests->report);

	*entry = (struct report_case){
		.suite = at->file,
		.name = result->live != LIVE_UNTRIED ? result->name :
		    arena_printf(tests->options->arena,
			"%s (not tried in the kernel: %s)", result->name,
			result->why_untried),
		.passed = result->passed,
		.message = result->message,
		.position = {
			.file = at->file,
			.line = at->line,
			.column = at->column,
			.end_line = at->line,
			.end_column = at->column,
		},
	};
}

static void
tell(struct tests *tests, const struct test_file *file,
    const struct test_result *result)
{
	struct position at = sources_position(&file->sources,
	    result->test->loc);

	count(tests, result);
	report_result(tests, &at, result);
	if (tests->options->format != REPORT_TEXT)
		return;
	if (!result->passed)
		say_failed(tests, &at, result);
	if (result->live == LIVE_UNTRIED)
		printf("%s:%u:%u: not tried: %s: %s\n", at.file, at.line,
		    at.column, result->name, result->why_untried);
}

/* The diagnostics of policies that should compile and do not. */
static void
print_policies(const struct tests *tests, const struct test_results *results)
{
	for (size_t i = 0; i < results->list.count; i++) {
		const struct test_case *test = results->list.items[i].test;
		struct test_subjects subjects = results->subjects;
		const struct test_loaded *loaded;

		if (test->kind >= TEST_ERROR)
			continue;
		loaded = test_load(&subjects, test->policy);
		if (loaded->operand.state != OPERAND_FAULTY || loaded->reported)
			continue;
		options_print(tests->options,
		    &loaded->operand.compilation.diags);
		return;
	}
}

/* In a report a file with mistakes is a failed case. */
static void
fail_file(struct tests *tests, const char *path, const char *message)
{
	*report_case(&tests->report) = (struct report_case){
		.suite = path,
		.name = "the test file",
		.message = message,
		.position = { .file = path, 1, 1, 1, 1 },
	};
	tests->failed++;
}

static void
results_tell(struct tests *tests, const struct test_results *results)
{
	const struct test_file *file = results->subjects.file;

	print_policies(tests, results);
	if (file->diags.errors > 0) {
		options_print(tests->options, &file->diags);
		fail_file(tests, file->source->shown,
		    test_found_text(file->arena, &file->diags));
	}
	for (size_t i = 0; i < results->list.count; i++) {
		const struct test_result *result = &results->list.items[i];

		/* Without a message it was not asked, and a diagnostic says
		 * why. */
		if (result->passed || result->message != NULL)
			tell(tests, file, result);
	}
	if (results->trouble)
		status_raise(tests, EXIT_TROUBLE);
}

static void
test_one(struct tests *tests, const char *path)
{
	struct arena *arena = tests->options->arena;
	struct test_file *file = arena_alloc(arena, sizeof *file);
	struct test_results *results = arena_alloc(arena, sizeof *results);

	results->subjects.options = tests->options;
	results->subjects.file = file;
	if (!test_file_read(file, arena, path)) {
		complain_unread(path);
		fail_file(tests, path, "it cannot be read");
		status_raise(tests, EXIT_TROUBLE);
		return;
	}
	report_file(&tests->report, file->source->shown);
	if (file->diags.errors == 0) {
		test_ask(results, &tests->levels);
		if (tests->options->live && file->diags.errors == 0)
			status_raise(tests, test_try(results, &tests->machine));
	}
	results_tell(tests, results);
	*arena_push(arena, &tests->results) = results;
}

static void
say_coverage(const struct tests *tests)
{
	for (size_t i = 0; i < tests->results.count; i++)
		test_coverage(stdout, tests->results.items[i]);
}

static void
say_total(const struct tests *tests)
{
	const char *green = "", *red = "", *plain = "";

	if (tests->options->colour_out) {
		green = "\033[32m";
		red = tests->failed > 0 ? "\033[1;31m" : "";
		plain = "\033[0m";
	}
	if (tests->options->live)
		printf("in the kernel: %zu tried, %zu not tried\n",
		    tests->tried, tests->untried);
	printf("%s%zu passed%s, %s%zu failed%s\n", green, tests->passed, plain,
	    red, tests->failed, plain);
}

/*
 * Whether some policy has each parameter of -D.  What was not loaded might have
 * had it, and is an error of its own.
 */
static bool
definitions_are_known(const struct tests *tests)
{
	struct arena *arena = tests->options->arena;
	struct {
		VEC(struct sbx_blob) list;
	} blobs = { 0 };
	struct {
		VEC(const struct blocks *) list;
	} blocks = { 0 };

	for (size_t i = 0; i < tests->results.count; i++) {
		const struct test_subjects *subjects =
		    &tests->results.items[i]->subjects;

		for (size_t j = 0; j < subjects->loaded.count; j++) {
			const struct operand *operand =
			    &subjects->loaded.items[j]->operand;

			if (operand->state != OPERAND_GOOD)
				return true;
			*arena_push(arena, &blobs.list) = operand->blob;
			*arena_push(arena,
			    &blocks.list) = operand->compilation.blocks;
		}
	}
	return blobs.list.count == 0 ||
	    definitions_fit(tests->options, blobs.list.items, blocks.list.items,
		blobs.list.count);
}

/* --- the command line ----------------------------------------------------- */

/* "standard" or "standard,full". */
static bool
levels_choose(struct tests *tests)
{
	const char *text = tests->options->level;
	struct test_levels *levels = &tests->levels;

	levels->chosen = text != NULL;
	while (text != NULL && *text != '\0') {
		size_t len = strcspn(text, ",");
		char *word = arena_strndup(tests->options->arena, text, len);
		int level = level_find(word);
		bool twice = false;

		for (size_t i = 0; level >= 0 && i < levels->count; i++)
			twice |= levels->items[i] == (enum sbx_level)level;
		if (level < 0 || twice) {
			misused("-l is full, standard, minimal or none, or "
				"some of them with commas, not '%s'",
			    tests->options->level);
			return false;
		}
		levels->items[levels->count++] = (enum sbx_level)level;
		text += len + (text[len] == ',');
	}
	return true;
}

enum exit_status
command_test(struct options *options)
{
	struct tests tests = { .options = options };
	const struct words *files = &options->operands;
	enum exit_status status;

	if (files->list.count == 0)
		return misused("FILE is missing");
	if (options->coverage && options->format != REPORT_TEXT)
		return misused("--coverage goes with -f text");
	if (!levels_choose(&tests))
		return EXIT_USAGE;
	status = !options->live ?
	    EXIT_CLEAN :
	    machine_find(options->arena, &tests.levels, &tests.machine);
	if (status != EXIT_CLEAN)
		return status;
	report_init(&tests.report, options->arena, "test");
	for (size_t i = 0; i < files->list.count; i++)
		test_one(&tests, files->list.items[i]);
	if (!definitions_are_known(&tests))
		return EXIT_USAGE;
	if (options->format != REPORT_TEXT)
		report_write(&tests.report, options->format, stdout);
	if (options->coverage)
		say_coverage(&tests);
	if (options->format == REPORT_TEXT)
		say_total(&tests);
	if (tests.failed > 0)
		status_raise(&tests, EXIT_POLICY);
	/* With --live it is an error if nothing was tried. */
	if (options->live && tests.tried == 0 && tests.untried > 0) {
		complain("nothing could be tried in the kernel");
		status_raise(&tests, EXIT_TROUBLE);
	}
	return tests.status;
}
