/*
 * Any bytes at all given to the parser: no crash, and either a tree whose
 * places lie inside the text or at least one error; then the diagnostics are
 * printed.  A text without faults is laid out, which changes nothing the second
 * time, and written anew from its statements, which gives the same statements.
 */
#include "compiler/read/read.h"
#include "compiler/report/report.h"
#include "compiler/write/write.h"
#include "tests/fuzz/fuzz.h"

/* As if it were a shipped file: those include nothing from the disk. */
static const char SHOWN[] = "sbx:fuzz.sbx";

static bool
same_atoms(const struct ast_atom *a, const struct ast_atom *b)
{
	for (; a != NULL && b != NULL; a = a->next, b = b->next) {
		if (a->kind != b->kind || strcmp(a->text, b->text) != 0)
			return false;
	}
	return a == NULL && b == NULL;
}

static bool
same_stmts(const struct ast_stmt *a, const struct ast_stmt *b)
{
	for (; a != NULL && b != NULL; a = a->next, b = b->next) {
		if (a->kind != b->kind || a->effect != b->effect ||
		    a->drop != b->drop || !same_atoms(a->name, b->name) ||
		    !same_atoms(a->parent, b->parent) ||
		    !same_atoms(a->from, b->from) ||
		    !same_atoms(a->words.first, b->words.first) ||
		    !same_atoms(a->objects.first, b->objects.first) ||
		    !same_atoms(a->exclusions.first, b->exclusions.first) ||
		    !same_stmts(a->body, b->body))
			return false;
	}
	return a == NULL && b == NULL;
}

/* Adds what was written as one more text, and gives its statements. */
static struct source *
read_again(struct sources *sources, struct diags *diags, struct fmt_text text,
    struct ast_stmt **stmts)
{
	struct source *source = sources_add(sources, SHOWN, text.bytes,
	    text.size, (struct loc){ 0, 0 });

	if (source == NULL)
		return NULL;
	*stmts = ast_parse_alone(sources, diags, source);
	must(diags->errors == 0, "what was written is not read");
	return source;
}

static void
check_layout(struct sources *sources, const struct source *source)
{
	struct arena *arena = sources->arena;
	struct diags diags;
	struct ast_stmt *stmts, *again;
	struct fmt_text text, twice;
	char *bytes;
	FILE *stream;

	diags_init(&diags, arena, sources);
	stmts = ast_parse_alone(sources, &diags, source);
	if (diags.errors > 0)
		return;
	text = fmt_text(arena, stmts, source);
	if (fmt_long_line(text) != 0)
		return;
	source = read_again(sources, &diags, text, &again);
	if (source == NULL)
		return;
	must(same_stmts(stmts, again), "another layout, another meaning");
	twice = fmt_text(arena, again, source);
	must(twice.size == text.size &&
		memcmp(twice.bytes, text.bytes, text.size) == 0,
	    "the layout moves");
	stream = open_memstream(&bytes, &text.size);
	must(stream != NULL, "no stream");
	write_sbx(stream, stmts);
	fclose(stream);
	text.bytes = bytes;
	if (read_again(sources, &diags, text, &again) != NULL)
		must(same_stmts(stmts, again),
		    "written anew, other statements");
	free(bytes);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	struct sources sources;
	struct diags diags;
	char *text = NULL;
	size_t printed = 0;

	sources_init(&sources, arena);
	diags_init(&diags, arena, &sources);
	struct source *source = sources_add(&sources, SHOWN,
	    size > 0 ? (const char *)data : "", size, (struct loc){ 0, 0 });
	if (source != NULL) {
		struct ast_stmt *stmts = ast_parse(&sources, &diags, source);

		must(stmts != NULL || diags.errors > 0,
		    "no statement and no error");
		check_stmts(&sources, stmts);
		FILE *stream = open_memstream(&text, &printed);
		must(stream != NULL, "no stream");
		diags_print(&diags, stream, REPORT_TEXT, size % 2 != 0);
		fclose(stream);
		must(printed < 256 << 10, "too much is printed");
		free(text);
		check_layout(&sources, source);
	}
	arena_release(arena);
	return 0;
}
