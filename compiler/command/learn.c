/*
 * `sbxc learn FILE...`: drafts a policy of what `sbxrun --learn` has written, or
 * says what a policy that is there lacks for it, as a patch with what that lets
 * through.  Nothing is written but what is asked for.
 */
#include "compiler/learn/learn.h"
#include "compiler/base/base.h"
#include "compiler/command/commands.h"
#include "compiler/read/read.h"
#include "grammar/grammar.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* Of sbxrun. */
enum {
	EXIT_TIMEOUT = 124,
	EXIT_NOT_RUN = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_SIGNAL = 128,
};

/* --- the files ------------------------------------------------------------ */

static enum exit_status
read_files(const struct options *options, struct records *records)
{
	const struct words *operands = &options->operands;

	if (operands->list.count == 0)
		return misused("FILE is missing");
	records_init(records, options->arena);
	for (size_t i = 0; i < operands->list.count; i++) {
		if (records_read(records, operands->list.items[i]))
			continue;
		complain_unread(operands->list.items[i]);
		return EXIT_TROUBLE;
	}
	options_print(options, &records->diags);
	return records->diags.errors > 0 ? EXIT_POLICY : EXIT_CLEAN;
}

/* --- a draft -------------------------------------------------------------- */

/* False after complaining. */
static bool
choose_name(const struct options *options, struct draft *draft)
{
	draft->name = options->profile;
	if (draft->name == NULL && options->output != NULL)
		draft->name = path_name(
		    path_stem(options->arena, options->output));
	if (draft->name == NULL || strcmp(draft->name, "-") == 0)
		draft->name = "learned";
	if (!word_is_name(draft->name) || draft_may_extend(draft->name)) {
		misused("-p: '%s' is no name for a profile of one's own",
		    draft->name);
		return false;
	}
	draft->extends = options->extends;
	if (draft->extends == NULL || draft_may_extend(draft->extends))
		return true;
	misused("--extends: '%s' is no shipped profile that can be extended; "
		"none: do without",
	    draft->extends);
	return false;
}

static enum exit_status
write_draft(const struct options *options, const struct draft *draft)
{
	const char *tests = arena_printf(options->arena, "%s.test.yaml",
	    path_stem(options->arena, options->output));
	struct output outputs[] = {
		{ .path = options->output,
		    .bytes = draft->text.bytes,
		    .size = draft->text.size },
		{ .path = tests },
	};
	const char *failed;
	struct stat status;

	outputs[1].bytes = draft_tests(draft, path_name(options->output));
	outputs[1].size = strlen(outputs[1].bytes);
	for (size_t i = 0; i < countof(outputs); i++) {
		if (lstat(outputs[i].path, &status) == 0 &&
		    S_ISREG(status.st_mode) && status.st_size > 0)
			return misused(
			    "'%s' is there already: --update adds to a policy",
			    outputs[i].path);
	}
	if (outputs_write(outputs, countof(outputs), &failed))
		return EXIT_CLEAN;
	complain("cannot write '%s': %s", failed, strerror(errno));
	return EXIT_TROUBLE;
}

static enum exit_status
draft_policy(const struct options *options, const struct records *records)
{
	struct draft draft = { .arena = options->arena, .records = records };

	if (options->write)
		return misused("--write goes with --update; -o writes a draft");
	if (!choose_name(options, &draft))
		return EXIT_USAGE;
	draft_make(&draft);
	if (options->output != NULL && strcmp(options->output, "-") != 0)
		return write_draft(options, &draft);
	fwrite(draft.text.bytes, 1, draft.text.size, stdout);
	return EXIT_CLEAN;
}

/* --- an update ------------------------------------------------------------ */

static size_t
count_lines(const char *text, size_t size)
{
	size_t count = 0;

	for (size_t i = 0; i < size; i++)
		count += text[i] == '\n';
	return count;
}

/* Whole lines of a text, each behind a sign. */
static void
print_lines(const char *sign, const char *begin, const char *end)
{
	while (begin < end) {
		size_t len = strcspn(begin, "\n");

		printf("%s%.*s\n", sign, (int)len, begin);
		begin += len + 1;
	}
}

/* The last lines before `end`, at most three. */
static const char *
context(const char *text, const char *end)
{
	for (int lines = 0; end > text && lines < 3; lines++) {
		end--;
		while (end > text && end[-1] != '\n')
			end--;
	}
	return end;
}

/* What was added, as a patch of one place. */
static void
print_patch(const struct source *source, struct fmt_text text)
{
	size_t before = 0, behind = 0, added;
	const char *from, *at, *end;

	while (
	    before < source->size && source->text[before] == text.bytes[before])
		before++;
	while (behind < source->size - before &&
	    source->text[source->size - 1 - behind] ==
		text.bytes[text.size - 1 - behind])
		behind++;
	while (before > 0 && text.bytes[before - 1] != '\n') {
		before--;
		behind++;
	}
	added = text.size - source->size;
	from = context(text.bytes, text.bytes + before);
	at = text.bytes + before;
	end = at + added;
	for (int lines = 0; *end != '\0' && lines < 3; lines++)
		end += strcspn(end, "\n") + 1;
	printf("--- %s\n+++ %s\n@@ -%zu,%zu +%zu,%zu @@\n", source->shown,
	    source->shown,
	    count_lines(text.bytes, (size_t)(from - text.bytes)) + 1,
	    count_lines(from, (size_t)(end - from)) - count_lines(at, added),
	    count_lines(text.bytes, (size_t)(from - text.bytes)) + 1,
	    count_lines(from, (size_t)(end - from)));
	print_lines(" ", from, at);
	print_lines("+", at, at + added);
	print_lines(" ", at + added, end);
}

/* What the new policy lets through, with an access that shows it. */
static enum exit_status
print_difference(const struct options *options, const struct operand *operand,
    const struct draft *draft)
{
	struct diff diff = {
		.options = options,
		.files = { options->update, options->update },
		.labels = { "old", "new" },
		.blobs = { operand->blob, draft->blob },
	};

	diff.comparison = (struct comparison){
		.arena = options->arena,
		.blobs = { &diff.blobs[SIDE_OLD], &diff.blobs[SIDE_NEW] },
	};
	compare(&diff.comparison);
	comparison_join(&diff.comparison);
	diff_print(&diff, CHANGE_ALL, stdout);
	return EXIT_CLEAN;
}

static enum exit_status
write_back(const struct options *options, struct fmt_text text)
{
	struct stat like;
	const struct output output = {
		.path = options->update,
		.bytes = text.bytes,
		.size = text.size,
		.like = &like,
	};
	const char *failed;

	if (stat(options->update, &like) == 0 &&
	    outputs_write(&output, 1, &failed))
		return EXIT_CLEAN;
	complain("cannot write '%s': %s", options->update, strerror(errno));
	return EXIT_TROUBLE;
}

static bool
is_text(const struct operand *operand)
{
	const struct source *file = operand->compilation.file;

	return !operand->compiled && file != NULL && file->path != NULL &&
	    strcmp(file->path, "-") != 0 && !yaml_policy_is(file);
}

/* Why the last run may have failed, if no rule would have helped. */
static const char *
ending_reason(uint64_t status)
{
	if (status == EXIT_TIMEOUT)
		return "its 'limit timeout' was over; limits are not learned";
	if (status == EXIT_NOT_RUN || status == EXIT_NOT_FOUND)
		return "that is what is said of a program that is not there, "
		       "or cannot be run";
	if (status > EXIT_SIGNAL)
		return "a signal ended it, as limits of memory and of CPU time "
		       "do; limits are not learned";
	return "'sbxrun --explain' tells what it was denied";
}

/* A run that failed is not to be told that nothing is lacking. */
static void
print_nothing(const struct draft *draft, const char *policy)
{
	const struct run *last =
	    draft->records->runs.items[draft->records->runs.count - 1];
	const char *first, *late = draft->needs.late;
	bool failed = last->ended && last->status != 0;
	size_t kept = lines_kept(&draft->lines, &first);

	printf("no rule is %s", failed && kept > 0 ? "offered" : "lacking");
	if (failed)
		printf("; the last run ended with %llu%s%s",
		    (unsigned long long)last->status,
		    kept > 0 && late == NULL ? "" : ": ",
		    late != NULL  ? "what it was denied is allowed" :
			kept == 0 ? ending_reason(last->status) :
				    "");
	putchar('\n');
	if (failed && late != NULL)
		printf(
		    "  '%s' is one: run it once more; if that is still denied, "
		    "it was not there when the run began: make it before\n",
		    late);
	fputs(lines_notes(&draft->lines), stdout);
	if (failed && first != NULL)
		printf("sbxc why %s %s: says what would lift that\n", policy,
		    first);
}

static enum exit_status
update_policy(const struct options *options, const struct records *records)
{
	struct draft draft = {
		.arena = options->arena,
		.records = records,
		.name = options->profile,
	};
	enum exit_status status;
	struct operand operand;

	if (options->output != NULL || options->extends != NULL)
		return misused("--update does not go with -o and --extends");
	operand_read(options, options->update, &operand);
	if (operand.state == OPERAND_UNREAD)
		return EXIT_TROUBLE;
	if (operand.state == OPERAND_FAULTY) {
		options_print(options, &operand.compilation.diags);
		return EXIT_POLICY;
	}
	if (!is_text(&operand) || !draft_update(&draft, &operand))
		return misused("--update is for a policy of your own as text, "
			       "whose last brace is on a line of its own");
	if (lines_count(&draft.lines) == 0) {
		print_nothing(&draft, options->update);
		return EXIT_CLEAN;
	}
	print_patch(operand.compilation.file, draft.text);
	status = print_difference(options, &operand, &draft);
	fputs(lines_notes(&draft.lines), stdout);
	return options->write && status == EXIT_CLEAN ?
	    write_back(options, draft.text) :
	    status;
}

enum exit_status
command_learn(struct options *options)
{
	struct records records;
	enum exit_status status = read_files(options, &records);

	if (status != EXIT_CLEAN)
		return status;
	return options->update != NULL ? update_policy(options, &records) :
					 draft_policy(options, &records);
}
