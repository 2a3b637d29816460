/* See engines.h. */
#include "tests/model/questions/engines.h"

#include "compiler/cases/cases.h"
#include "compiler/query/why.h"
#include "compiler/read/read.h"
#include "compiler/report/report.h"
#include "compiler/write/write.h"
#include "tests/model/drafts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What -D says of a parameter that every random policy has. */
static const struct definition fixed = { "fixed", "/opt/f x" };

/* --- policies ------------------------------------------------------------- */

bool
build_text(struct arena *arena, const char *name, struct bytes text,
    struct build *build, bool loud)
{
	struct compilation *compilation = arena_alloc(arena,
	    sizeof *compilation);
	struct source *source;

	compilation_init(compilation, arena);
	*arena_push(arena, &compilation->definitions.list) = fixed;
	source = sources_add(&compilation->sources, name,
	    arena_strndup(arena, text.text, text.size), text.size,
	    (struct loc){ 0, 0 });
	if (source == NULL)
		return false;
	compilation->file = source;
	compilation->stmts = ast_parse(&compilation->sources,
	    &compilation->diags, source);
	build->stmts = compilation->stmts;
	if (compile(compilation, "p", &build->image) &&
	    sbx_verify(build->image.bytes, build->image.size, &build->blob) ==
		SBX_BLOB_OK) {
		build->policy = compilation->policy;
		return true;
	}
	if (loud) {
		diags_print(&compilation->diags, stdout, REPORT_GCC, false);
		printf("# %s:\n%s\n", name, text.text);
	}
	return false;
}

static bool
build_written(struct arena *arena, const char *name,
    void (*write)(FILE *, const struct ast_stmt *), struct build *from,
    struct build *build)
{
	struct bytes text = { NULL, 0 };
	FILE *stream = open_memstream(&text.text, &text.size);
	bool good;

	if (stream == NULL)
		return false;
	write(stream, from->stmts);
	fclose(stream);
	good = build_text(arena, name, text, build, write == write_yaml);
	free(text.text);
	return good;
}

bool
build_yaml(struct arena *arena, const struct build *from, struct build *build)
{
	struct build copy = *from;

	return build_written(arena, "random.yaml", write_yaml, &copy, build);
}

const struct policy *
build_restore(struct arena *arena, const struct build *from)
{
	return blob_policy(arena, &from->blob);
}

/* Parameters have numbers, and groups are used. */
static bool
may_go(const struct ast_stmt *stmt)
{
	return stmt->kind == AST_RULE || stmt->kind == AST_USE ||
	    stmt->kind == AST_SET || stmt->kind == AST_LIMIT ||
	    stmt->kind == AST_REQUIRE || stmt->kind == AST_ON;
}

/* Takes out the number-th statement that may go; how many there are. */
static size_t
take_out(struct ast_stmt **link, size_t number, size_t count)
{
	while (*link != NULL) {
		if (may_go(*link) && count++ == number) {
			*link = (*link)->next;
			continue;
		}
		count = take_out(&(*link)->body, number, count);
		link = &(*link)->next;
	}
	return count;
}

/* Makes strict denies preferred ones, and the reverse, with a chance each. */
static void
turn_denies(struct ast_stmt *stmt, struct chance *chance, unsigned percent)
{
	for (; stmt != NULL; stmt = stmt->next) {
		if (stmt->kind == AST_RULE && stmt->effect != SBX_ALLOW &&
		    chance_percent(chance, percent))
			stmt->effect = stmt->effect == SBX_DENY ?
			    SBX_PREFER_DENY :
			    SBX_DENY;
		turn_denies(stmt->body, chance, percent);
	}
}

/* Rules about writing in each other, at the beginning of the profile. */
static struct bytes
add_writes(struct arena *arena, struct chance *chance, struct bytes text)
{
	static const char *const places[] = { "${workspace}", "~", "/srv",
		"/srv/a", "${tmp}/x", "/" };
	static const char *const names[] = { "/a", "/x", "/a/b" };
	static const char *const effects[] = { "deny", "prefer deny",
		"prefer deny" };
	const char *whole = arena_strndup(arena, text.text, text.size);
	const char *begin = strstr(whole, "profile p ");
	const char *line = begin != NULL ? strchr(begin, '\n') : NULL;
	const char *rules = "";

	if (line == NULL)
		return text;
	for (size_t i = 1 + chance_below(chance, 3); i > 0; i--) {
		const char *place = PICK(chance, places);
		const char *effect = PICK(chance, effects);

		rules = arena_printf(arena, "%sallow write %s\n", rules, place);
		if (strcmp(place, "/") == 0)
			place = "";
		rules = arena_printf(arena,
		    chance_percent(chance, 30) ?
			"%s%s write glob \"%s/*%s\"\n" :
			"%s%s write \"%s%s\"\n",
		    rules, effect, place, PICK(chance, names));
	}
	rules = arena_printf(arena, "%.*s\n%s%s", (int)(line - whole), whole,
	    rules, line + 1);
	return (struct bytes){ (char *)(uintptr_t)rules, strlen(rules) };
}

bool
text_soften(struct arena *arena, struct chance *chance, struct bytes text,
    struct bytes *softer)
{
	struct build whole;
	FILE *stream = open_memstream(&softer->text, &softer->size);

	if (stream == NULL)
		abort();
	if (build_text(arena, "random.sbx", add_writes(arena, chance, text),
		&whole, false)) {
		turn_denies(whole.stmts, chance, 50);
		write_sbx(stream, whole.stmts);
	}
	fclose(stream);
	return softer->size > 0;
}

bool
build_less(struct arena *arena, struct chance *chance, struct bytes text,
    struct build *build)
{
	struct build whole;
	size_t count;

	if (!build_text(arena, "random.sbx", text, &whole, false))
		return false;
	if (chance_percent(chance, 50)) {
		turn_denies(whole.stmts, chance, 50);
		return build_written(arena, "less.sbx", write_sbx, &whole,
		    build);
	}
	count = take_out(&whole.stmts, SIZE_MAX, 0);
	if (count == 0)
		return false;
	take_out(&whole.stmts, chance_below(chance, count), 0);
	return build_written(arena, "less.sbx", write_sbx, &whole, build);
}

/* --- one by one ----------------------------------------------------------- */

static const struct arch *
arch_of(const struct layout *layout)
{
	static const struct arch macos = {
		.name = "macos",
		.platforms = SBX_ON_MACOS,
	};

	for (size_t i = 0; i < arch_count; i++) {
		if (arches[i].platforms == layout->platforms)
			return &arches[i];
	}
	return &macos;
}

struct subject
subject_of(struct arena *arena, const struct sbx_blob *blob,
    const struct layout *layout)
{
	struct subject subject = {
		.arch = arch_of(layout),
		.level = layout->level,
		.abi = layout->abi,
	};

	places_init(&subject.places, arena, blob,
	    layout->anchors[SBX_ANCHOR_WORKSPACE],
	    layout->anchors[SBX_ANCHOR_HOME]);
	for (uint16_t i = SBX_ANCHOR_TMP; i < blob->anchor_count; i++)
		places_bind(&subject.places, i, layout->anchors[i]);
	if (layout->other_home != NULL)
		places_bind_other_home(&subject.places, layout->other_home);
	return subject;
}

const char *
question_parse(const struct subject *subject, const struct question *question,
    struct access *access)
{
	return access_parse(&subject->places, question->words, question->count,
	    access);
}

bool
why_agrees(const struct subject *subject, const struct access *access,
    const struct question *question)
{
	bool idle = question->happens && !question->allowed;
	struct bytes text = { NULL, 0 };
	FILE *stream = open_memstream(&text.text, &text.size);
	bool ended, said, nothing;

	if (stream == NULL)
		abort();
	ended = why(stream, subject, access, false);
	fclose(stream);
	said = strncmp(text.text, "denied: ", 8) != 0;
	nothing = strstr(text.text, "\n    enforced by: nothing (") != NULL;
	free(text.text);
	return ended == question->allowed && said == question->allowed &&
	    (!question_is_path(question) || nothing == idle);
}

/* --- a test file ---------------------------------------------------------- */

static void
put_quoted(FILE *stream, const char *text)
{
	putc('"', stream);
	for (; *text != '\0'; text++) {
		if (*text == '\n')
			fputs("\\n", stream);
		else if (*text == '\t')
			fputs("\\t", stream);
		else
			fprintf(stream,
			    *text == '"' || *text == '\\' ? "\\%c" : "%c",
			    *text);
	}
	putc('"', stream);
}

/* The words of a question, each in quotes of its own. */
static const char *
quoted_words(struct arena *arena, const struct question *question)
{
	const char *text = "";

	for (size_t i = 0; i < question->count; i++) {
		const char *word = question->words[i];

		text = arena_printf(arena, "%s%s\"", text, i > 0 ? " " : "");
		for (; *word != '\0'; word++)
			text = arena_printf(arena,
			    *word == '"' || *word == '\\' ? "%s\\%c" : "%s%c",
			    text, *word);
		text = arena_printf(arena, "%s\"", text);
	}
	return text;
}

static void
write_given(FILE *stream, const struct plain *plain)
{
	static const char *const levels[] = { "none", "minimal", "standard",
		"full" };
	const struct layout *layout = plain->layout;
	const struct policy *policy = plain->policy;

	fprintf(stream, "given:\n  level: %s\n  landlock: %d\n",
	    levels[layout->level], layout->abi);
	if (layout->platforms == SBX_ON_MACOS)
		fputs("  platform: macos\n", stream);
	else
		fprintf(stream, "  arch: %s\n", arch_of(layout)->name);
	fputs("  workspace: ", stream);
	put_quoted(stream, layout->anchors[SBX_ANCHOR_WORKSPACE]);
	fputs("\n  home: ", stream);
	put_quoted(stream, layout->anchors[SBX_ANCHOR_HOME]);
	fputs("\n  runtime: ", stream);
	put_quoted(stream, layout->anchors[SBX_ANCHOR_RUNTIME]);
	for (size_t i = 0; i < policy->params.count; i++) {
		fprintf(stream, "\n  %s: ", policy->params.items[i].name);
		put_quoted(stream, layout->anchors[SBX_ANCHOR_PARAM + i]);
	}
	fputs("\n", stream);
}

/* Some expect what is not so: then the case must fail. */
static bool
is_turned(size_t number)
{
	return number % 4 == 3;
}

static void
write_file(FILE *stream, struct bytes policy, const struct plain *plain,
    const struct question *questions, size_t count)
{
	fputs("sbx-test: 1\nprofile: p\ntext: ", stream);
	put_quoted(stream, policy.text);
	fputs("\n", stream);
	write_given(stream, plain);
	fputs("cases:\n", stream);
	for (size_t i = 0; i < count; i++) {
		bool allow = questions[i].allowed != is_turned(i);

		fprintf(stream, "  - %s: ", allow ? "allow" : "deny");
		put_quoted(stream, quoted_words(plain->arena, &questions[i]));
		fputs("\n", stream);
	}
}

/* What is denied and held by nothing at the level is no failure of the answer,
 * and there is none of it at level full. */
static bool
result_agrees(const struct test_result *result, const struct plain *plain,
    const struct question *question, bool turned)
{
	bool allowed = question->allowed;

	if (result->bound == NULL || result->verdict.allowed != allowed)
		return false;
	if (turned)
		return !result->passed;
	if (question_is_path(question) &&
	    plain->layout->platforms != SBX_ON_MACOS)
		return result->passed == (allowed || !question->happens);
	return result->passed ||
	    (!allowed && result->verdict.unenforced &&
		plain->layout->level < SBX_LEVEL_FULL);
}

static bool
ask_file(struct arena *arena, const char *path, struct test_results *results)
{
	struct options *options = arena_alloc(arena, sizeof *options);
	struct test_file *file = arena_alloc(arena, sizeof *file);
	struct test_levels levels = { .count = 0 };

	options->arena = arena;
	*arena_push(arena, &options->definitions.list) = fixed;
	if (!test_file_read(file, arena, path))
		return false;
	results->subjects.options = options;
	results->subjects.file = file;
	if (file->diags.errors == 0)
		test_ask(results, &levels);
	if (file->diags.errors > 0)
		diags_print(&file->diags, stdout, REPORT_GCC, false);
	return file->diags.errors == 0;
}

bool
test_agrees(struct arena *arena, struct bytes policy, const struct plain *plain,
    const struct question *questions, size_t count, bool *agrees)
{
	struct test_results *results = arena_alloc(arena, sizeof *results);
	int fd = memfd_create("test.yaml", 0);
	FILE *stream = fd >= 0 ? fdopen(dup(fd), "w") : NULL;
	bool good;

	if (stream == NULL)
		abort();
	write_file(stream, policy, plain, questions, count);
	fclose(stream);
	good = ask_file(arena, arena_printf(arena, "/proc/self/fd/%d", fd),
		   results) &&
	    results->list.count == count;
	close(fd);
	for (size_t i = 0; good && i < count; i++)
		agrees[i] = result_agrees(&results->list.items[i], plain,
		    &questions[i], is_turned(i));
	return good;
}
