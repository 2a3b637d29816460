/*
 * `sbxc diff OLD NEW`: what the second policy lets through that the first does
 * not, and the reverse.
 *
 *	wider: write ${workspace}/.git/hooks and 1 more path
 *	    old: team.sbx:6:18: deny write ${workspace}/.git/hooks  (team)
 *	    new: sbx:workspace-write.sbx:9:5: allow write ${workspace}
 *	1 wider, 0 narrower, 0 neutral
 */
#include "compiler/command/commands.h"

#include "compiler/base/base.h"
#include "compiler/policy/policy.h"
#include "compiler/query/query.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- profiles ------------------------------------------------------------- */

bool
profiles_read(const struct options *options, const char *path,
    struct profile_names *names, struct compilation *compilation)
{
	struct stat status;

	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) ||
	    input_is_blob(path))
		return false;
	options_start(options, compilation);
	if (!compilation_open(compilation, path) ||
	    compilation->diags.errors > 0)
		return false;
	resolve_profiles(options->arena, compilation->stmts, names);
	return true;
}

static bool
has_name(const struct profile_names *names, const char *name)
{
	for (size_t i = 0; i < names->names.count; i++) {
		if (strcmp(names->names.items[i], name) == 0)
			return true;
	}
	return false;
}

/* The pair of one that came and one that went, if there is one of each. */
static void
pair_renamed(struct profile_pairs *pairs)
{
	struct profile_pair *alone[SIDE_COUNT] = { NULL, NULL };
	size_t counts[SIDE_COUNT] = { 0, 0 };

	for (size_t i = 0; i < pairs->list.count; i++) {
		struct profile_pair *pair = &pairs->list.items[i];

		if (pair->names[SIDE_OLD] != NULL &&
		    pair->names[SIDE_NEW] != NULL)
			continue;
		alone[pair->names[SIDE_NEW] != NULL] = pair;
		counts[pair->names[SIDE_NEW] != NULL]++;
	}
	if (counts[SIDE_OLD] != 1 || counts[SIDE_NEW] != 1)
		return;
	alone[SIDE_NEW]->names[SIDE_OLD] = alone[SIDE_OLD]->names[SIDE_OLD];
	*alone[SIDE_OLD] = pairs->list.items[--pairs->list.count];
}

void
diff_pair(const struct options *options, const char *old, const char *new,
    bool all, struct profile_pairs *pairs)
{
	struct arena *arena = options->arena;
	struct profile_names names[SIDE_COUNT] = { 0 };
	struct compilation compilations[SIDE_COUNT] = { 0 };
	struct profile_pair pair = { { NULL, NULL } };
	bool read[SIDE_COUNT];

	*pairs = (struct profile_pairs){ 0 };
	read[SIDE_OLD] = profiles_read(options, old, &names[SIDE_OLD],
	    &compilations[SIDE_OLD]);
	read[SIDE_NEW] = profiles_read(options, new, &names[SIDE_NEW],
	    &compilations[SIDE_NEW]);
	pairs->several = options->profiles.list.count == 0 &&
	    options->profile == NULL && read[SIDE_NEW] &&
	    (read[SIDE_OLD] || all) &&
	    (names[SIDE_NEW].names.count != 1 ||
		(read[SIDE_OLD] && names[SIDE_OLD].names.count != 1));
	if (!pairs->several) {
		/* What is to be said is that the new one has errors. */
		if (compilations[SIDE_NEW].diags.errors > 0 &&
		    names[SIDE_OLD].names.count > 1)
			pair.names[SIDE_OLD] = names[SIDE_OLD].names.items[0];
		*arena_push(arena, &pairs->list) = pair;
		return;
	}
	all = all && (!read[SIDE_OLD] || names[SIDE_OLD].names.count == 1);
	for (size_t i = 0; i < names[SIDE_NEW].names.count; i++) {
		const char *name = names[SIDE_NEW].names.items[i];

		*arena_push(arena,
		    &pairs->list) = (struct profile_pair){ { all ?
			(read[SIDE_OLD] ? names[SIDE_OLD].names.items[0] : "") :
			has_name(&names[SIDE_OLD], name) ? name :
							   NULL,
		    name } };
	}
	for (size_t i = 0; !all && i < names[SIDE_OLD].names.count; i++) {
		const char *name = names[SIDE_OLD].names.items[i];

		if (!has_name(&names[SIDE_NEW], name))
			*arena_push(arena, &pairs->list) =
			    (struct profile_pair){ { name, NULL } };
	}
	if (!all)
		pair_renamed(pairs);
}

const char *
diff_pair_text(struct arena *arena, const struct profile_pair *pair,
    enum change *change)
{
	const char *old = pair->names[SIDE_OLD], *new = pair->names[SIDE_NEW];

	*change = old == NULL ? CHANGE_WIDER :
	    new == NULL       ? CHANGE_NARROWER :
				CHANGE_NEUTRAL;
	return old == NULL ?
	    arena_printf(arena, "profile %s is new: all that it allows is new",
		new) :
	    new == NULL ? arena_printf(arena, "profile %s is gone", old) :
			  arena_printf(arena, "profile %s is now %s", old, new);
}

/* --- one pair ------------------------------------------------------------- */

/* Two -p name the profiles of the two files, and one that of each file that
 * defines several. */
static struct options
side_options(const struct options *options, const struct profile_pair *pair,
    enum side side)
{
	struct options own = *options;
	size_t count = options->profiles.list.count;

	if (count > 0)
		own.profile =
		    options->profiles.list.items[count > 1 ? side : 0];
	own.has_choice = own.profile != NULL && count < 2;
	/* The empty name is that of the only one. */
	if (pair->names[side] != NULL && *pair->names[side] != '\0') {
		own.profile = pair->names[side];
		own.has_choice = false;
	}
	return own;
}

static enum exit_status
side_read(struct diff *diff, const struct profile_pair *pair, enum side side,
    const struct blocks **blocks)
{
	const struct options options = side_options(diff->options, pair, side);

	return subject_read(&options, diff->files[side], &diff->blobs[side],
	    blocks);
}

enum exit_status
diff_make(struct diff *diff, const struct options *options,
    const struct profile_pair *pair, const char *old, const char *new)
{
	struct comparison *comparison = &diff->comparison;
	const struct blocks *blocks[SIDE_COUNT];
	enum exit_status status = EXIT_CLEAN;

	*diff = (struct diff){
		.options = options,
		.files = { old, new },
		.labels = { "old", "new" },
		.profile = pair->names[SIDE_NEW],
	};
	for (unsigned side = 0; side < SIDE_COUNT && status == EXIT_CLEAN;
	     side++)
		status = side_read(diff, pair, (enum side)side, &blocks[side]);
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
	return EXIT_CLEAN;
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
is_failure(const size_t *counts, unsigned errors)
{
	for (unsigned change = 0; change < CHANGE_END; change++) {
		if ((errors & CHANGE_BIT(change)) && counts[change] > 0)
			return true;
	}
	return false;
}

static const char *
total_text(struct arena *arena, const size_t *counts)
{
	const char *text = arena_printf(arena,
	    "%zu wider, %zu narrower, %zu neutral", counts[CHANGE_WIDER],
	    counts[CHANGE_NARROWER], counts[CHANGE_NEUTRAL]);
	size_t maybe = counts[CHANGE_MAYBE_WIDER] +
	    counts[CHANGE_MAYBE_NARROWER];

	if (maybe == 0)
		return text;
	return arena_printf(arena, "%s, %zu not decided", text, maybe);
}

/* What one pair of profiles adds to what is said. */
struct telling {
	const struct options *options;
	const char *old, *new;
	unsigned errors;
	size_t counts[CHANGE_END];
	struct report report;
	const struct sources *sources; /* of NEW */
	FILE *page;                    /* NULL: no page is wanted */
};

/* A profile that came, went or got another name. */
static void
tell_profile(struct telling *telling, const struct profile_pair *pair)
{
	const struct diff diff = {
		.options = telling->options,
		.files = { telling->old, telling->new },
	};
	enum change change;
	const char *text = diff_pair_text(telling->options->arena, pair,
	    &change);

	telling->counts[change]++;
	if (telling->page != NULL)
		diff_page_profile(telling->page, change, text);
	else if (telling->options->format == REPORT_TEXT)
		printf("%s: %s\n", change_word(change), text);
	else
		diff_report_pair(&diff, pair, telling->errors,
		    &telling->report);
}

static enum exit_status
tell_pair(struct telling *telling, const struct profile_pair *pair,
    bool several)
{
	struct diff diff;
	enum exit_status status;

	if (several &&
	    (pair->names[SIDE_OLD] == NULL || pair->names[SIDE_NEW] == NULL)) {
		tell_profile(telling, pair);
		return EXIT_CLEAN;
	}
	if (several &&
	    strcmp(pair->names[SIDE_OLD], pair->names[SIDE_NEW]) != 0)
		tell_profile(telling, pair);
	status = diff_make(&diff, telling->options, pair, telling->old,
	    telling->new);
	if (status != EXIT_CLEAN)
		return status;
	if (telling->options->format != REPORT_TEXT) {
		diff_report(&diff, CHANGE_ALL, telling->errors,
		    &telling->report, telling->counts);
		return EXIT_CLEAN;
	}
	for (int change = 0; change < CHANGE_END; change++)
		telling->counts[change] += diff.comparison.counts[change];
	if (telling->page != NULL) {
		diff.sources = telling->sources;
		diff_page(telling->page, &diff);
		return EXIT_CLEAN;
	}
	if (several && diff.comparison.differences.count > 0)
		printf("profile %s\n", pair->names[SIDE_NEW]);
	diff_print(&diff, CHANGE_ALL, stdout);
	return EXIT_CLEAN;
}

/* The page around the parts of the pairs. */
static void
put_page(const struct telling *telling, const char *parts, const char *total)
{
	const char *title = arena_printf(telling->options->arena,
	    "%s \xe2\x86\x92 %s", telling->old, telling->new);

	page_begin(stdout, title);
	fputs("<h1>", stdout);
	page_text(stdout, title);
	printf("</h1>\n<p class=\"dim\">%s</p>\n%s", total, parts);
	if (telling->sources != NULL)
		page_sources(stdout, telling->sources, false);
	page_end(stdout);
}

enum exit_status
command_diff(struct options *options)
{
	const struct words *operands = &options->operands;
	enum exit_status status = operands_require(options, 2,
	    operands->list.count == 0 ? "OLD" : "NEW");
	struct telling telling = { .options = options };
	struct compilation compilation;
	struct profile_names names = { 0 };
	struct profile_pairs pairs;
	const char *total;
	char *text = NULL;
	size_t size;

	if (status != EXIT_CLEAN)
		return status;
	if (!fail_on_read(options, &telling.errors))
		return EXIT_USAGE;
	if (options->profiles.list.count > 2)
		return misused("-p is given once, or for OLD and for NEW");
	telling.old = operands->list.items[0];
	telling.new = operands->list.items[1];
	if (options->html && options->format != REPORT_TEXT)
		return misused("--html and -f exclude each other");
	diff_pair(options, telling.old, telling.new, false, &pairs);
	if (options->html) {
		telling.page = open_memstream(&text, &size);
		if (telling.page == NULL)
			arena_exhausted();
		if (profiles_read(options, telling.new, &names, &compilation))
			telling.sources = &compilation.sources;
	}
	report_init(&telling.report, options->arena, "diff");
	for (size_t i = 0; i < pairs.list.count; i++) {
		enum exit_status one = tell_pair(&telling, &pairs.list.items[i],
		    pairs.several);

		status = one > status ? one : status;
	}
	if (telling.page != NULL && fclose(telling.page) != 0)
		arena_exhausted();
	/* What others of the file let through is told for all that. */
	if (status != EXIT_CLEAN &&
	    (options->html || !pairs.several || status == EXIT_USAGE)) {
		free(text);
		return status;
	}
	total = total_text(options->arena, telling.counts);
	telling.report.title = arena_printf(options->arena, "Policy %s: %s",
	    telling.new, total);
	if (options->html)
		put_page(&telling, text, total);
	else if (options->format == REPORT_TEXT)
		puts(total);
	else
		report_write(&telling.report, options->format, stdout);
	free(text);
	return status != EXIT_CLEAN                    ? status :
	    is_failure(telling.counts, telling.errors) ? EXIT_POLICY :
							 EXIT_CLEAN;
}
