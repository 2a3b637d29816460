/*
 * Cases and their results.  The answers come from the verdict function that
 * why and diff use too.
 */
#include "compiler/cases/cases.h"
#include "compiler/query/why.h"
#include "compiler/tables/tables.h"

#include <string.h>

/* This many failures of a file are reported with the answer of `why`. */
enum { EXPLAIN_MAX = 50 };

/* --- texts ---------------------------------------------------------------- */

/* An answer takes memory for each rule, so it has an arena of its own. */
static void
write_why(FILE *stream, const void *what)
{
	const struct test_result *result = what;
	struct subject subject = result->bound->subject;
	struct arena *arena = arena_new();

	subject.places.arena = arena;
	/* Binding makes a new index, in the arena that is released. */
	places_bind(&subject.places, SBX_ANCHOR_TMP,
	    subject.places.anchors[SBX_ANCHOR_TMP].path);
	why(stream, &subject, &result->access, false);
	arena_release(arena);
}

/* --- by ------------------------------------------------------------------- */

/* "team.sbx:6", also for "rules/team.sbx:6:18". */
static bool
is_place(const char *place, const char *by)
{
	size_t len = strlen(by);
	const char *slash = strrchr(place, '/');

	if (strncmp(place, by, len) == 0 &&
	    (place[len] == '\0' || place[len] == ':') &&
	    strchr(by, ':') != NULL)
		return true;
	return slash != NULL && is_place(slash + 1, by);
}

/* The word for `by` if no rule of the policy decided. */
static const char *
no_rule_text(const struct verdict *verdict)
{
	static const char *const words[] = {
		[BY_SYSCALL] = "baseline",
		[BY_SCRATCH] = "scratch",
		[BY_AGENT] = "agent",
		[BY_SBXRUN] = "sbxrun",
		[BY_KEPT] = "sbxrun",
	};

	return verdict->by < countof(words) && words[verdict->by] != NULL ?
	    words[verdict->by] :
	    "nothing";
}

static bool
by_matches(struct arena *arena, const struct sbx_blob *blob,
    const struct verdict *verdict, const char *by)
{
	const char *via = show_via(blob, verdict->source);
	const char *rule = decider_text(arena, blob, verdict);

	if (rule != NULL && strcmp(rule, by) == 0)
		return true;
	if (verdict->source == SBX_NO_SOURCE)
		return strcmp(by, no_rule_text(verdict)) == 0;
	return (via != NULL && strcmp(via, by) == 0) ||
	    is_place(show_source_text(arena, blob, verdict->source), by);
}

static const char *
deciding_place(struct arena *arena, const struct sbx_blob *blob,
    const struct verdict *verdict)
{
	const char *via = show_via(blob, verdict->source);

	if (verdict->source == SBX_NO_SOURCE)
		return no_rule_text(verdict);
	return arena_printf(arena, "%s%s%s%s",
	    show_source_text(arena, blob, verdict->source),
	    via != NULL ? " (" : "", via != NULL ? via : "",
	    via != NULL ? ")" : "");
}

/* --- asking --------------------------------------------------------------- */

/* A test does not depend on the current directory. */
static const char *
path_fault(struct arena *arena, const char *path)
{
	return strchr("/~$", path[0]) != NULL ?
	    NULL :
	    arena_printf(arena,
		"'%s' is relative; a path begins with '/', '~/' or '${name}'",
		path);
}

static bool
ask(struct test_results *results, struct test_result *result)
{
	struct test_file *file = results->subjects.file;
	const struct test_case *test = result->test;
	const struct subject *subject = &result->bound->subject;
	struct test_words words = { 0 };
	const char *fault = test_words_split(file->arena, test->text, &words);

	if (fault == NULL)
		fault = access_parse(&subject->places, words.list.items,
		    words.list.count, &result->access);
	if (fault == NULL && result->access.kind == KIND_PATH)
		fault = path_fault(file->arena, words.list.items[1]);
	if (fault == NULL && test->given->macos &&
	    result->access.kind == KIND_SYSCALL)
		fault = "policies say nothing of the system calls of macOS";
	if (fault != NULL) {
		diag_add(&file->diags, DIAG_TEST_CASE, test->loc, "%s", fault);
		return false;
	}
	result->verdict = verdict_of(subject, &result->access);
	return true;
}

/* What is wrong with the answer, or NULL. */
static const char *
answer_fault(struct arena *arena, const struct test_result *result)
{
	const struct test_case *test = result->test;
	const struct verdict *verdict = &result->verdict;
	const struct sbx_blob *blob = result->bound->subject.places.blob;

	if (test->kind == TEST_ALLOW && !verdict->allowed)
		return "it is denied";
	if (test->kind == TEST_DENY && verdict->allowed &&
	    result->access.kind == KIND_PORT &&
	    result->access.detail == SBX_CONNECT_TCP &&
	    (blob->meta->net == SBX_NET_LOOPBACK ||
		blob->meta->net == SBX_NET_SELECTED))
		return arena_printf(arena,
		    "it is allowed, to servers inside alone: of those outside "
		    "ask 'domain example.org:%u' or 'connect 192.0.2.1:%u'",
		    (unsigned)result->access.port,
		    (unsigned)result->access.port);
	if (test->kind == TEST_DENY && verdict->allowed)
		return verdict->depends ? "it is allowed with some arguments" :
					  "it is allowed";
	if (test->kind == TEST_DENY && verdict->unenforced)
		return arena_printf(arena,
		    "it is denied, but nothing enforces that at level %s",
		    level_word(result->bound->level));
	if (test->by != NULL && !by_matches(arena, blob, verdict, test->by))
		return arena_printf(arena, "it is %s by %s, not by '%s'",
		    verdict->allowed ? "allowed" : "denied",
		    deciding_place(arena, blob, verdict), test->by);
	return NULL;
}

static void
result_judge(struct test_results *results, struct test_result *result)
{
	struct arena *arena = results->subjects.file->arena;
	const char *fault = answer_fault(arena, result);

	result->passed = fault == NULL;
	if (fault != NULL)
		result->message = arena_printf(arena, "%s\n%s", fault,
		    results->explained++ < EXPLAIN_MAX ?
			show_to_text(arena, write_why, result) :
			"");
}

/* --- policies that must not compile --------------------------------------- */

/* The first few diagnostics, in place of the expected one. */
const char *
test_found_text(struct arena *arena, const struct diags *diags)
{
	const struct diag **sorted = diags_sorted(diags);
	const char *text = "";

	for (size_t i = 0; i < diags->records.count && i < 3; i++) {
		struct position at = sources_position(diags->sources,
		    sorted[i]->loc);

		text = arena_printf(arena, "%s%s:%u:%u: %s [%s]\n", text,
		    at.file != NULL ? at.file : "sbxc", at.line, at.column,
		    sorted[i]->message, diag_code(sorted[i]->id));
	}
	return text;
}

static bool
has_diag(const struct diags *diags, enum diag_id id, enum severity severity)
{
	for (size_t i = 0; i < diags->records.count; i++) {
		if (diags->records.items[i].id == id &&
		    diags->records.items[i].severity == severity)
			return true;
	}
	return false;
}

static void
expect(struct test_results *results, struct test_result *result)
{
	struct test_file *file = results->subjects.file;
	const struct test_case *test = result->test;
	enum diag_id id = diag_find(test->text);
	struct test_loaded *loaded;
	const struct diags *diags;

	if (id == DIAG_END) {
		diag_help(diag_add(&file->diags, DIAG_TEST_CASE, test->loc,
			      "'%s' is no code of a diagnostic", test->text),
		    "'sbxc explain all' lists them");
		return;
	}
	loaded = test_load(&results->subjects, test->policy);
	diags = &loaded->operand.compilation.diags;
	if (loaded->operand.state == OPERAND_UNREAD) {
		results->trouble = true;
		result->message = "the policy could not be read\n";
		return;
	}
	result->passed = has_diag(diags, id,
	    test->kind == TEST_ERROR ? SEVERITY_ERROR : SEVERITY_WARNING);
	if (!result->passed)
		result->message = arena_printf(file->arena, "the policy %s\n%s",
		    diags->records.count == 0 ? "compiles without a word" :
			loaded->operand.state == OPERAND_GOOD ?
						"compiles" :
						"has other errors",
		    test_found_text(file->arena, diags));
}

/* --- all of them ---------------------------------------------------------- */

static const char *
result_name(struct arena *arena, const struct test_case *test,
    enum sbx_level level, bool say_level)
{
	const char *at = say_level ?
	    arena_printf(arena, ", level %s", level_word(level)) :
	    "";

	return arena_printf(arena, "%s%s%s %s%s",
	    test->name != NULL ? test->name : "",
	    test->name != NULL ? ": " : "", test_kind_word(test->kind),
	    test->text, at);
}

static struct test_result *
result_push(struct test_results *results, const struct test_case *test,
    enum sbx_level level, bool say_level)
{
	struct test_result *result = arena_push(results->subjects.file->arena,
	    &results->list);

	result->test = test;
	result->name = result_name(results->subjects.file->arena, test, level,
	    say_level);
	return result;
}

static void
ask_at(struct test_results *results, const struct test_case *test,
    enum sbx_level level, bool say_level)
{
	struct test_result *result = result_push(results, test, level,
	    say_level);
	struct test_loaded *loaded = test_load(&results->subjects,
	    test->policy);

	if (loaded->operand.state == OPERAND_UNREAD) {
		results->trouble = true;
		result->message = "the policy could not be read\n";
		return;
	}
	if (!test_has_profile(&results->subjects, loaded)) {
		result->message = "the policy has no such profile\n";
		return;
	}
	if (loaded->operand.state == OPERAND_FAULTY) {
		result->message = arena_printf(results->subjects.file->arena,
		    "the policy does not compile\n%s",
		    test_found_text(results->subjects.file->arena,
			&loaded->operand.compilation.diags));
		return;
	}
	/* A wrong level of the file itself is reported where it is written. */
	if (level != test->given->level &&
	    level < loaded->operand.blob.meta->level) {
		result->message = arena_printf(results->subjects.file->arena,
		    "the policy requires level %s: it does not run at %s\n",
		    level_word(loaded->operand.blob.meta->level),
		    level_word(level));
		return;
	}
	result->bound = test_bind(&results->subjects, test, level);
	if (!result->bound->good || !ask(results, result))
		result->bound = NULL;
	else
		result_judge(results, result);
}

/* Whether the file says at which level the case is asked: for this case alone,
 * or for all cases and -l does not overrule it. */
static bool
has_level(const struct test_file *file, const struct test_levels *levels,
    const struct test_case *test)
{
	struct loc given = test->given->level_loc;

	return levels->count == 0 ||
	    given.begin != file->given.level_loc.begin ||
	    (!levels->chosen && given.end != 0);
}

static bool
runs_at(struct test_results *results, const struct test_case *test,
    enum sbx_level level)
{
	const struct test_loaded *loaded = test_load(&results->subjects,
	    test->policy);

	return loaded->operand.state != OPERAND_GOOD ||
	    level >= loaded->operand.blob.meta->level;
}

void
test_ask(struct test_results *results, const struct test_levels *levels)
{
	struct test_file *file = results->subjects.file;

	for (size_t i = 0; i < file->cases.count; i++) {
		const struct test_case *test = &file->cases.items[i];

		if (test->kind >= TEST_ERROR) {
			expect(results,
			    result_push(results, test, SBX_LEVEL_FULL, false));
			continue;
		}
		if (has_level(file, levels, test)) {
			ask_at(results, test, test->given->level,
			    levels->count > 1);
			continue;
		}
		for (size_t j = 0; j < levels->count; j++) {
			if (levels->chosen ||
			    runs_at(results, test, levels->items[j]))
				ask_at(results, test, levels->items[j],
				    levels->count > 1);
		}
	}
}
