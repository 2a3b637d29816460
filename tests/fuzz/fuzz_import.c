/*
 * Any bytes at all read as settings of another sandbox, the first byte says
 * whose: no crash; and what becomes of them without an error is a policy that
 * reads, whose statements are those of the profile and nothing else: no text of
 * a setting ends the line, the comment or the profile that it stands in.
 */
#include "compiler/import/import.h"
#include "compiler/read/read.h"
#include "tests/fuzz/fuzz.h"

static const char *const clients[] = { "claude", "sandbox-runtime", "localgpt",
	"codex", "llxprt" };

static struct ast_stmt *
parsed(struct arena *arena, const char *text, size_t size)
{
	struct sources sources;
	struct diags diags;

	sources_init(&sources, arena);
	diags_init(&diags, arena, &sources);
	return ast_parse_alone(&sources, &diags,
	    sources_add(&sources, "sbx:w.sbx", text, size,
		(struct loc){ 0, 0 }));
}

/* A name that is no host is told by the compiler, and stands in quotes or is
 * one word here: the text reads in any case. */
static void
check_policy(const struct importer *importer, const char *text, size_t size)
{
	const struct ast_stmt *stmts = parsed(importer->arena, text, size);
	size_t profiles = 0;

	must(stmts != NULL, "what is written is not read");
	for (; stmts != NULL; stmts = stmts->next)
		profiles++;
	must(profiles == 2, "there is more than a version and a profile");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sources sources;
	struct diags diags;
	struct importer importer = { .base = "${workspace}" };
	const struct source *source;
	char *text = NULL;
	size_t written;

	if (size == 0)
		return 0;
	importer.arena = arena_new();
	sources_init(&sources, importer.arena);
	diags_init(&diags, importer.arena, &sources);
	importer.sources = &sources;
	importer.diags = &diags;
	importer.client = import_client_find(clients[*data % countof(clients)]);
	importer.stream = open_memstream(&text, &written);
	must(importer.stream != NULL, "no stream");
	fputs("sbx 1\nprofile p {\n", importer.stream);
	source = sources_add(&sources, "sbx:fuzz", (const char *)data + 1,
	    size - 1, (struct loc){ 0, 0 });
	if (source != NULL)
		import_read(&importer, source);
	fputs("}\n", importer.stream);
	fclose(importer.stream);
	if (source != NULL && diags.errors == 0)
		check_policy(&importer, text, written);
	free(text);
	arena_release(importer.arena);
	return 0;
}
