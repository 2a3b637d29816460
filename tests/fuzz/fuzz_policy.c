/*
 * Any bytes at all given to the parser: no crash, and either a tree whose
 * places lie inside the text or at least one error; then the diagnostics are
 * printed.  With -DFUZZ_REPLAY, a main() that reads the files of a corpus.
 */
#include "compiler/ast.h"
#include "compiler/diag.h"

#include <stdio.h>
#include <stdlib.h>

/* As if it were a shipped file: those include nothing from the disk. */
static const char SHOWN[] = "sbx:fuzz.sbx";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must(bool held, const char *what)
{
	if (held)
		return;
	fprintf(stderr, "fuzz_policy: %s\n", what);
	abort();
}

static void
check_loc(const struct sources *sources, struct loc loc)
{
	const struct source *source = sources_find(sources, loc);

	must(source != NULL, "a place is in no source");
	must(loc.begin <= loc.end && loc.end <= source->base + source->size,
	    "a place ends outside of its source");
}

static void
check_list(const struct sources *sources, const struct ast_list *list)
{
	for (const struct ast_atom *atom = list->first; atom != NULL;
	    atom = atom->next) {
		must(atom->text != NULL, "an atom without a text");
		must(atom->next != NULL || atom == list->last,
		    "a list that ends elsewhere");
		check_loc(sources, atom->loc);
	}
}

static void
check_stmts(const struct sources *sources, const struct ast_stmt *stmts)
{
	for (const struct ast_stmt *stmt = stmts; stmt != NULL;
	    stmt = stmt->next) {
		check_loc(sources, stmt->loc);
		if (stmt->name != NULL)
			check_loc(sources, stmt->name->loc);
		check_list(sources, &stmt->words);
		check_list(sources, &stmt->objects);
		check_list(sources, &stmt->holes);
		check_stmts(sources, stmt->body);
		check_stmts(sources, stmt->included);
	}
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
	struct source *source = sources_add(&sources, SHOWN, SHOWN,
	    size > 0 ? (const char *)data : "", size, (struct loc){0, 0});
	if (source != NULL) {
		struct ast_stmt *stmts = ast_parse(&sources, &diags, source);

		must(stmts != NULL || diags.errors > 0,
		    "no statement and no error");
		check_stmts(&sources, stmts);
		FILE *stream = open_memstream(&text, &printed);
		must(stream != NULL, "no stream");
		diags_print(&diags, stream, DIAG_TEXT, size % 2 != 0);
		fclose(stream);
		must(printed < 256 << 10, "too much is printed");
		free(text);
	}
	arena_release(arena);
	return 0;
}

#ifdef FUZZ_REPLAY
int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		static uint8_t data[SOURCE_MAX_SIZE];
		FILE *file = fopen(argv[i], "rb");

		if (file == NULL) {
			perror(argv[i]);
			return 1;
		}
		size_t size = fread(data, 1, sizeof data, file);
		fclose(file);
		LLVMFuzzerTestOneInput(data, size);
		printf("ok %d - %s\n", i, argv[i]);
	}
	printf("1..%d\n", argc - 1);
	return 0;
}
#endif
