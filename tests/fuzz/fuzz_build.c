/*
 * Any bytes at all compiled, where fuzz_policy only reads them: each profile
 * gives an error or a blob, and never both.  A blob verifies, and the text in it
 * is compiled to the same bytes.
 */
#include "compiler/query/query.h"
#include "compiler/report/report.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/kept_programs.h"

#include "format/verify.h"

/* As if it were a shipped file: those include nothing from the disk. */
static const char SHOWN[] = "sbx:fuzz.sbx";

/* Of the profiles of a text so many are compiled; the rest are like them. */
enum { PROFILES_MAX = 3 };

static void
check_image(struct arena *arena, const struct image *image)
{
	struct sbx_blob blob;

	must(sbx_verify(image->bytes, image->size, &blob) == SBX_BLOB_OK,
	    "a blob that is none");
	must(vouch(arena, "x", &blob) == VOUCH_SAME, "it has another text");
}

static void
check_profile(struct compilation *compilation, const char *name)
{
	size_t errors = compilation->diags.errors;
	struct image image;
	bool good = compile(compilation, name, &image);

	must(good == (compilation->diags.errors == errors),
	    "a blob and an error, or neither");
	if (good)
		check_image(compilation->arena, &image);
}

static void
print_diags(const struct diags *diags)
{
	char *text = NULL;
	size_t printed = 0;
	FILE *stream = open_memstream(&text, &printed);

	must(stream != NULL, "no stream");
	diags_print(diags, stream, REPORT_TEXT, false);
	fclose(stream);
	must(printed < 256 << 10, "too much is printed");
	free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	struct compilation compilation;
	struct source *source;
	int profiles = 0;

	kept_programs_begin();
	compilation_init(&compilation, arena);
	source = sources_add(&compilation.sources, SHOWN,
	    size > 0 ? (const char *)data : "", size, (struct loc){ 0 });
	if (source != NULL) {
		compilation_parse(&compilation, source);
		for (const struct ast_stmt *stmt = compilation.stmts;
		     stmt != NULL && profiles < PROFILES_MAX &&
		     compilation.diags.errors == 0;
		     stmt = stmt->next) {
			if (stmt->kind != AST_PROFILE)
				continue;
			check_profile(&compilation, stmt->name->text);
			profiles++;
		}
		print_diags(&compilation.diags);
	}
	arena_release(arena);
	return 0;
}
