/*
 * Any bytes at all read as a policy in YAML: no crash, and either statements
 * whose places lie inside the text or at least one error.  What is read
 * without an error is written in both forms, and what is read of these is the
 * same.
 */
#include "compiler/read/read.h"
#include "compiler/report/report.h"
#include "compiler/write/write.h"
#include "tests/fuzz/fuzz.h"

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
	source = sources_add(&reading->sources, shown, text, size,
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
	diags_print(&reading->diags, stream, REPORT_TEXT, false);
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
