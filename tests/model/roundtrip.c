/*
 * The text that a blob has compiles to that blob: that of random policies in the
 * language, written in all three forms, and compiled again.
 * The statements are also written in another order, since no order of the text
 * may matter; and so are those of policies in which all have marks.
 *
 *	tests/model/roundtrip [COUNT [SEED]]
 *
 * A policy that the compiler refuses is no case; how many were good is told.
 */
#include "compiler/lower/lower.h"
#include "compiler/query/query.h"
#include "compiler/read/read.h"
#include "compiler/report/report.h"
#include "compiler/write/write.h"
#include "tests/lib/tap.h"
#include "tests/model/random_policy.h"

#include <inttypes.h>

enum { BATCHES = 6, COUNT = 600 };

/* --- from text to blob and back ------------------------------------------- */

struct bytes {
	char *text;
	size_t size;
};

/* Compiles a text as if it were a file of that name.  -D fixed is given for one
 * with several profiles, whose statements go to *stmts. */
static bool
build(struct arena *arena, const char *name, struct bytes text,
    struct ast_stmt **stmts, struct image *image)
{
	const char *profile = stmts != NULL ? "p" : NULL;
	struct compilation *compilation = arena_alloc(arena,
	    sizeof *compilation);
	struct source *source;

	compilation_init(compilation, arena);
	if (profile != NULL)
		*arena_push(arena, &compilation->definitions.list) =
		    (struct definition){ "fixed", "/opt/f x" };
	source = sources_add(&compilation->sources, name, text.text, text.size,
	    (struct loc){ 0, 0 });
	if (source == NULL)
		return false;
	compilation->file = source;
	compilation->stmts = ast_parse(&compilation->sources,
	    &compilation->diags, source);
	if (stmts != NULL)
		*stmts = compilation->stmts;
	if (compile(compilation, profile, image))
		return true;
	if (stmts == NULL)
		diags_print(&compilation->diags, stdout, REPORT_GCC, false);
	return false;
}

typedef void writer(FILE *stream, const struct ast_stmt *stmts);

static const struct form {
	const char *name;
	writer *write;
	bool turned; /* the statements stand in the opposite order */
} forms[] = {
	{ "again.sbx", write_sbx, false },
	{ "again.yaml", write_yaml, false },
	{ "again.json", write_json, false },
	{ "turned.sbx", write_sbx, true },
};

/* Parameters are numbered in their order, so they keep it. */
static struct ast_stmt *
turn(struct ast_stmt *stmts)
{
	struct ast_stmt *turned = NULL, *params = NULL, **end = &params;

	while (stmts != NULL) {
		struct ast_stmt *next = stmts->next;

		stmts->body = turn(stmts->body);
		if (stmts->kind == AST_PARAM) {
			*end = stmts;
			end = &stmts->next;
		} else {
			stmts->next = turned;
			turned = stmts;
		}
		stmts = next;
	}
	*end = turned;
	return params;
}

/* Writes statements and compiles them; NULL if that gives the same blob. */
static const char *
compare(struct arena *arena, const struct form *form, struct ast_stmt *stmts,
    const struct image *image, bool loud)
{
	const char *difference = "the text, which does not compile";
	struct bytes text = { NULL, 0 };
	FILE *stream = open_memstream(&text.text, &text.size);
	struct image again;

	if (stream == NULL)
		return "nothing: no memory";
	form->write(stream, stmts);
	fclose(stream);
	if (build(arena, form->name, text, NULL, &again))
		difference = sections_differ(image->bytes, image->size,
		    again.bytes, again.size);
	if (difference != NULL && loud)
		printf("# %s:\n%s\n", form->name, text.text);
	free(text.text);
	return difference;
}

/* The statements of the text that is in a blob; NULL if it does not parse. */
static struct ast_stmt *
statements(struct arena *arena, const struct image *image)
{
	struct compilation *compilation = arena_alloc(arena,
	    sizeof *compilation);
	struct sbx_blob blob;

	sbx_verify(image->bytes, image->size, &blob);
	compilation_init(compilation, arena);
	return compilation_open_blob(compilation, &blob) ? compilation->stmts :
							   NULL;
}

static const char *
round_trip(struct arena *arena, const struct image *image)
{
	const char *fault = NULL;

	for (size_t i = 0; i < countof(forms) && fault == NULL; i++) {
		struct ast_stmt *stmts = statements(arena, image);

		if (stmts == NULL)
			return "a text that is no policy";
		if (forms[i].turned)
			stmts->next = turn(stmts->next);
		fault = compare(arena, &forms[i], stmts, image, true);
	}
	return fault;
}

/*
 * The statements of a policy in which all have marks, the other way round.  It
 * is no case if they do not compile: a group that is used for macOS alone, and
 * has a block for Linux in it, is an error unless it was used for both before.
 */
static const char *
turn_marked(struct arena *arena, struct ast_stmt *stmts,
    const struct image *image)
{
	struct bytes text = { NULL, 0 };
	FILE *stream = open_memstream(&text.text, &text.size);
	const char *difference = NULL;
	struct image again;

	if (stream == NULL)
		return "nothing: no memory";
	stmts->next = turn(stmts->next);
	write_sbx(stream, stmts);
	fclose(stream);
	if (build(arena, "turned.sbx", text, &stmts, &again))
		difference = sections_differ(image->bytes, image->size,
		    again.bytes, again.size);
	if (difference != NULL)
		printf("# turned, all marked:\n%s\n", text.text);
	free(text.text);
	return difference;
}

/* --- the cases ------------------------------------------------------------ */

struct tally {
	unsigned tried, good, bad;
};

static void
try_policy(struct tally *tally, uint64_t seed)
{
	struct arena *arena = arena_new();
	struct bytes text = { NULL, 0 };
	struct maker maker = { .chance = { .state = seed } };
	struct ast_stmt *stmts;
	const char *fault;
	struct image image;

	maker.stream = open_memstream(&text.text, &text.size);
	if (maker.stream == NULL)
		abort();
	make_policy(&maker);
	fclose(maker.stream);
	tally->tried++;
	if (build(arena, "random.sbx", text, &stmts, &image)) {
		tally->good++;
		fault = round_trip(arena, &image);
		if (fault == NULL && maker.marked)
			fault = turn_marked(arena, stmts, &image);
		if (fault != NULL) {
			tally->bad++;
			printf("# seed %" PRIu64 ": it differs in %s\n%s\n",
			    seed, fault, text.text);
		}
	}
	free(text.text);
	arena_release(arena);
}

static void
test_random(struct tap *tap, unsigned count, uint64_t seed)
{
	for (unsigned batch = 0; batch < BATCHES; batch++) {
		struct tally tally = { 0, 0, 0 };
		unsigned wanted = (count + BATCHES - 1) / BATCHES;

		while (tally.good < wanted && tally.tried < 40 * wanted)
			try_policy(&tally, seed++);
		tap_ok(tap, tally.good >= wanted && tally.bad == 0,
		    "%u of %u random policies are good, and written as sbx, "
		    "yaml and json compile to the same blob",
		    tally.good, tally.tried);
	}
}

/* One of most things that a dump has a word for. */
enum { SAMPLE_STATEMENTS = 11 };
static const char sample[] =
    "sbx 1\nprofile sample {\n"
    "require level standard\nparam data\nlimit core 0B\nset env A = ${data}\n"
    "allow network connect tcp 443\nallow signal anywhere\n"
    "allow syscalls ptrace\nallow env LC_*\nallow read /srv except /srv/x\n"
    "deny read glob \"/srv/*.key\"\non macos { deny exec /srv }\n}\n";

/* The first of these statements that is of a kind, or NULL. */
static struct ast_stmt *
find(struct ast_stmt *stmts, enum ast_kind kind)
{
	while (stmts != NULL && stmts->kind != kind)
		stmts = stmts->next;
	return stmts;
}

/* Without any one of its statements, or with a mark changed, it differs. */
static void
test_mutations(struct tap *tap)
{
	struct arena *arena = arena_new();
	struct bytes text = { strdup(sample), sizeof sample - 1 };
	unsigned count = 0, seen = 0, marks = 0;
	struct image image;
	bool good = build(arena, "sample.sbx", text, NULL, &image) &&
	    round_trip(arena, &image) == NULL;

	tap_ok(tap, good, "the sample compiles to the same blob");
	for (unsigned i = 0; good; i++) {
		struct ast_stmt *stmts = statements(arena, &image);
		struct ast_stmt **link = &find(stmts, AST_PROFILE)->body;

		for (unsigned j = 0; j < i && *link != NULL; j++)
			link = &(*link)->next;
		if (*link == NULL)
			break;
		count++;
		if ((*link)->from != NULL) {
			(*link)->from->text = "elsewhere.sbx:1:1 (sample)";
			marks += compare(arena, &forms[0], stmts, &image,
				     false) != NULL;
		} else {
			marks++;
		}
		*link = (*link)->next;
		seen += compare(arena, &forms[0], stmts, &image, false) != NULL;
	}
	tap_ok(tap, count == SAMPLE_STATEMENTS && seen == count,
	    "the test can fail: a statement less, %u of %u", seen, count);
	tap_ok(tap, count == SAMPLE_STATEMENTS && marks == count,
	    "the test can fail: another mark, %u of %u", marks, count);
	free(text.text);
	arena_release(arena);
}

/* Policies that once did not compile to the same blob. */
static void
test_kept(struct tap *tap)
{
	static const struct {
		const char *name, *text;
	} kept[] = {
		{ "ports that are open on macOS, beside everything on Linux",
		    "sbx 1\nprofile p {\nallow network listen tcp 443\n"
		    "on linux { allow everything }\n}\n" },
		{ "one position for two groups of system calls",
		    "sbx 1\nprofile p {\n"
		    "allow syscalls @known from \"x:2:1 (a)\"\n"
		    "allow syscalls @process-access from \"x:2:1\"\n}\n" },
	};

	for (size_t i = 0; i < countof(kept); i++) {
		struct arena *arena = arena_new();
		struct bytes text = { strdup(kept[i].text),
			strlen(kept[i].text) };
		struct image image;

		tap_ok(tap,
		    build(arena, "kept.sbx", text, NULL, &image) &&
			round_trip(arena, &image) == NULL,
		    "compiles to the same blob: %s", kept[i].name);
		free(text.text);
		arena_release(arena);
	}
}

/* Pairs of lines that stand in either order; names of places turn with them. */
static void
test_orders(struct tap *tap)
{
	static const char *const pairs[][2] = {
		{ "use a", "use b" },
		{ "use a", "on linux { use a }" },
		{ "allow read /srv from \"x:1:1\"",
		    "allow read /srv from \"x:1:2\"" },
		{ "deny syscalls @ipc from \"x:2:1\"",
		    "deny syscalls { @aio pipe } from \"x:1:9\"" },
		{ "deny syscalls @ipc from \"x:2:1\"",
		    "deny syscalls @ipc from \"x:10:1\"" },
		{ "allow network full from \"x:2:1\"",
		    "allow network full from \"w:3:1\"" },
		{ "allow network connect tcp 80 from \"x:2:1\"",
		    "allow network listen tcp 80 from \"x:2:1 (a)\"" },
		{ "deny spawn from \"x:2:2\"", "deny spawn from \"x:2:1\"" },
		{ "on linux { deny spawn from \"x:2:1\" }",
		    "on macos { deny spawn from \"x:1:1\" }" },
	};

	for (size_t i = 0; i < countof(pairs); i++) {
		struct arena *arena = arena_new();
		struct image blobs[2] = { { NULL, 0 } };
		bool good = true;

		for (size_t j = 0; j < 2; j++) {
			struct bytes text = { NULL, 0 };

			text.text = arena_printf(arena,
			    "sbx 1\n"
			    "group a { limit core 0B from \"b.sbx:1:1\" }\n"
			    "group b { limit core 0B from \"a.sbx:1:1\" }\n"
			    "profile o {\n%s\n%s\n}\n",
			    pairs[i][j], pairs[i][1 - j]);
			text.size = strlen(text.text);
			good &= build(arena, "o.sbx", text, NULL, &blobs[j]);
		}
		tap_ok(tap,
		    good &&
			sections_differ(blobs[0].bytes, blobs[0].size,
			    blobs[1].bytes, blobs[1].size) == NULL,
		    "'%s' and the other way round", pairs[i][0]);
		arena_release(arena);
	}
}

int
main(int argc, char **argv)
{
	unsigned count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) :
				    tap_rounds(COUNT);
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	struct tap tap = { 0, 0 };

	test_random(&tap, count, seed);
	test_mutations(&tap);
	test_kept(&tap);
	test_orders(&tap);
	return tap_done(&tap);
}
