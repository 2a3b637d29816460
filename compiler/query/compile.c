/*
 * From a file to a blob: the stages of the compiler in their order.
 */
#include "compiler/check/check.h"
#include "compiler/lower/lower.h"
#include "compiler/policy/policy.h"
#include "compiler/query/query.h"
#include "compiler/read/read.h"

#include <string.h>

void
compilation_init(struct compilation *compilation, struct arena *arena)
{
	memset(compilation, 0, sizeof *compilation);
	compilation->arena = arena;
	compilation->programs.arena = arena;
	sources_init(&compilation->sources, arena);
	diags_init(&compilation->diags, arena, &compilation->sources);
}

/* The name of the file in the blob, which does not depend on its directory. */
static const char *
blob_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (strcmp(path, "-") == 0)
		return "<stdin>";
	return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

void
compilation_parse(struct compilation *compilation, struct source *file)
{
	compilation->file = file;
	compilation->stmts = ast_parse(&compilation->sources,
	    &compilation->diags, file);
	for (size_t i = 0; i < compilation->sources.files.count; i++) {
		file = compilation->sources.files.items[i];
		if (!file->builtin)
			suppressions_read(&compilation->suppressions,
			    &compilation->diags, file);
	}
	suppressions_mark(&compilation->suppressions, &compilation->diags);
}

bool
compilation_open(struct compilation *compilation, const char *path)
{
	struct source *file = sources_read(&compilation->sources, path,
	    blob_name(path), (struct loc){ 0 });

	if (file != NULL)
		compilation_parse(compilation, file);
	return file != NULL;
}

bool
compilation_open_shipped(struct compilation *compilation, const char *name)
{
	size_t size;
	const char *text = builtin_text(name, &size);

	if (text == NULL)
		return false;
	/* The "sbx:" marks a shipped file in diagnostics and blobs. */
	name = arena_printf(compilation->arena, "sbx:%s", name);
	compilation_parse(compilation,
	    sources_add(&compilation->sources, name, text, size,
		(struct loc){ 0 }));
	return true;
}

bool
compilation_open_blob(struct compilation *compilation,
    const struct sbx_blob *blob)
{
	const char *text = blob->text != NULL ? blob->text : "";
	struct source *file = sources_add(&compilation->sources, "", text,
	    blob->text_size, (struct loc){ 0 });

	if (file == NULL)
		return false;
	compilation->file = file;
	compilation->writer = arena_printf(compilation->arena, "%s",
	    sbx_string(blob, blob->meta->writer));
	compilation->stmts = ast_parse_alone(&compilation->sources,
	    &compilation->diags, file);
	for (const struct ast_stmt *stmt = compilation->stmts; stmt != NULL;
	     stmt = stmt->next) {
		if (stmt->kind == AST_INCLUDE)
			return false;
	}
	return compilation->diags.errors == 0;
}

static struct policy *
compile_policy(struct compilation *compilation, const char *profile)
{
	struct diags *diags = &compilation->diags;
	struct policy *policy;

	if (diags->errors > 0)
		return NULL;
	if (compilation->blocks == NULL)
		compilation->blocks = blocks_new(&compilation->sources, diags,
		    compilation->stmts);
	policy = resolve_policy(
	    &(struct resolution){
		.arena = compilation->work != NULL ? compilation->work :
						     compilation->arena,
		.sources = &compilation->sources,
		.diags = diags,
		.file = compilation->file,
		.stmts = compilation->stmts,
		.blocks = compilation->blocks,
		.definitions = compilation->definitions,
	    },
	    profile);
	compilation->policy = policy;
	if (policy == NULL)
		return NULL;
	policy->writer = compilation->writer;
	/* What the checks say was said when the blob was made: of some rules
	 * only where they were the user's own. */
	if (compilation->writer == NULL)
		check_policy(policy, diags);
	return diags->errors == 0 ? policy : NULL;
}

const struct policy *
blob_policy(struct arena *arena, const struct sbx_blob *blob)
{
	struct compilation *compilation = arena_alloc(arena,
	    sizeof *compilation);

	compilation_init(compilation, arena);
	return compilation_open_blob(compilation, blob) ?
	    compile_policy(compilation, NULL) :
	    NULL;
}

static bool
compile_profile(struct compilation *compilation, const char *profile,
    struct image *image)
{
	struct policy *policy = compile_policy(compilation, profile);
	struct filter_set filters = { 0 };

	if (policy == NULL)
		return false;
	filters_build_shared(policy, &compilation->programs, &filters);
	compilation->blocks->filtered = compilation->programs.spent;
	/* A text that nobody has checked may come to what is no blob. */
	return (compilation->writer == NULL ? emit_blob : emit_image)(policy,
	    &filters, policy_canonical(policy), &compilation->diags, image);
}

bool
compile(struct compilation *compilation, const char *profile,
    struct image *image)
{
	bool good = compile_profile(compilation, profile, image);

	suppressions_mark(&compilation->suppressions, &compilation->diags);
	return good;
}
