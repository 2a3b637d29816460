/* See subject.h. */
#include "compiler/query/subject.h"
#include "compiler/base/input.h"
#include "compiler/read/read.h"
#include "compiler/tables/words.h"

#include <string.h>

/* "@NAME" -> the shipped profile's text, as if it were a file. */
static bool
shipped_open(const struct options *options, const char *name,
    struct compilation *compilation)
{
	struct arena *arena = options->arena;
	struct source *source;
	size_t size;
	const char *file = arena_printf(arena, "%s.sbx", name);
	const char *text = builtin_text(file, &size);

	if (text == NULL) {
		complain("no shipped profile is called '%s'; 'sbxc profiles' "
			 "lists them",
		    name);
		return false;
	}
	file = arena_printf(arena, "sbx:%s", file);
	compilation_init(compilation, arena);
	source = sources_add(&compilation->sources, file, file, text, size,
	    (struct loc){ 0 });
	compilation->file = source;
	compilation->stmts = ast_parse(&compilation->sources,
	    &compilation->diags, source);
	return true;
}

bool
subject_open(const struct options *options, const char *path,
    struct compilation *compilation)
{
	return path[0] == '@' ? shipped_open(options, path + 1, compilation) :
				options_open(options, path, compilation);
}

static enum exit_status
text_read(const struct options *options, const char *path,
    enum diag_format format, struct sbx_blob *blob)
{
	struct compilation compilation;
	struct image image;
	bool good;

	if (!subject_open(options, path, &compilation))
		return EXIT_TROUBLE;
	good = compile(&compilation, options->profile, &image);
	if (!good)
		diags_print(&compilation.diags, stderr, format,
		    options->colour);
	return good &&
		sbx_verify(image.bytes, image.size, blob) == SBX_BLOB_OK ?
	    EXIT_CLEAN :
	    EXIT_TROUBLE;
}

enum exit_status
subject_read(const struct options *options, const char *path,
    struct sbx_blob *blob)
{
	const char *profile;

	if (path[0] == '@' || !input_is_blob(path))
		return text_read(options, path,
		    options->format != NULL &&
			    strcmp(options->format, "gcc") == 0 ?
			DIAG_GCC :
			DIAG_TEXT,
		    blob);
	if (!input_blob(options->arena, path, blob))
		return EXIT_TROUBLE;
	profile = sbx_string(blob, blob->meta->profile);
	if (options->profile == NULL || strcmp(options->profile, profile) == 0)
		return EXIT_CLEAN;
	complain("%s: it holds the profile '%s'", path, profile);
	return EXIT_TROUBLE;
}

static bool
level_choose(const struct options *options, enum sbx_level *level)
{
	int found;

	*level = SBX_LEVEL_FULL;
	if (options->level == NULL)
		return true;
	found = level_find(options->level);
	if (found < 0) {
		misused("-l is full, standard, minimal or none, not '%s'",
		    options->level);
		return false;
	}
	*level = (enum sbx_level)found;
	return true;
}

static bool
define_all(const struct options *options, struct places *places)
{
	for (size_t i = 0; i < options->definitions.list.count; i++) {
		const char *text = options->definitions.list.items[i];
		const char *equals = definition_split(text);

		if (equals == NULL)
			return false;
		if (places_define(places, text, (size_t)(equals - text),
			equals + 1))
			continue;
		misused("-D %s: the policy has no parameter of that name",
		    text);
		return false;
	}
	return true;
}

enum exit_status
subject_bind(const struct options *options, const struct sbx_blob *blob,
    struct subject *subject)
{
	*subject = (struct subject){ .arch = options_arch(options) };
	if (subject->arch == NULL && options->arch == NULL)
		subject->arch = &arches[0];
	if (subject->arch == NULL || !level_choose(options, &subject->level))
		return EXIT_USAGE;
	places_init(&subject->places, options->arena, blob, options->workspace,
	    options->home);
	return define_all(options, &subject->places) ? EXIT_CLEAN : EXIT_USAGE;
}
