/*
 * Any bytes at all read as a policy in YAML: no crash, and either statements
 * whose places lie inside the text or at least one error.  What is read
 * without an error is written in both forms, and what is read of these is the
 * same.  With -DFUZZ_REPLAY, a main() that reads the files of a corpus.
 */
#include "compiler/ast.h"
#include "compiler/diag.h"
#include "compiler/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must(bool held, const char *what)
{
	if (held)
		return;
	fprintf(stderr, "fuzz_yaml: %s\n", what);
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
	}
}

/* One text in an arena of its own. */
struct reading {
	struct arena *arena;
	struct sources sources;
	struct diags diags;
	struct ast_stmt *stmts;
};

static void
reading_init(struct reading *reading, const char *shown, const char *text,
    size_t size)
{
	const struct source *source;

	reading->arena = arena_new();
	reading->stmts = NULL;
	sources_init(&reading->sources, reading->arena);
	diags_init(&reading->diags, reading->arena, &reading->sources);
	source = sources_add(&reading->sources, shown, shown, text, size,
	    (struct loc){ 0, 0 });
	if (source == NULL)
		return;
	reading->stmts = ast_parse_alone(&reading->sources, &reading->diags,
	    source);
	must(reading->stmts != NULL || reading->diags.errors > 0,
	    "no statement and no error");
	check_stmts(&reading->sources, reading->stmts);
}

static void
print_diags(struct reading *reading)
{
	char *text = NULL;
	size_t printed = 0;
	FILE *stream = open_memstream(&text, &printed);

	must(stream != NULL, "no stream");
	diags_print(&reading->diags, stream, DIAG_TEXT, false);
	fclose(stream);
	must(printed < 256 << 10, "too much is printed");
	free(text);
}

static char *
written(const struct ast_stmt *stmts, bool yaml, size_t *size)
{
	char *text = NULL;
	FILE *stream = open_memstream(&text, size);

	must(stream != NULL, "no stream");
	if (yaml)
		write_yaml(stream, stmts);
	else
		write_sbx(stream, stmts);
	fclose(stream);
	return text;
}

/* Written in one form and read, it is the same in YAML. */
static void
check_form(const struct reading *reading, bool yaml, const char *expected)
{
	size_t size, again_size;
	char *text = written(reading->stmts, yaml, &size), *again;
	struct reading second;

	reading_init(&second, yaml ? "sbx:w.yaml" : "sbx:w.sbx", text, size);
	must(second.diags.errors == 0, "what is written is not read");
	again = written(second.stmts, true, &again_size);
	must(strcmp(again, expected) == 0, "what is written is not the same");
	arena_release(second.arena);
	free(text);
	free(again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reading reading;
	char *text;
	size_t len;

	reading_init(&reading, "sbx:fuzz.yaml",
	    size > 0 ? (const char *)data : "", size);
	print_diags(&reading);
	if (reading.stmts != NULL && reading.diags.errors == 0) {
		text = written(reading.stmts, true, &len);
		check_form(&reading, true, text);
		check_form(&reading, false, text);
		free(text);
	}
	arena_release(reading.arena);
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
