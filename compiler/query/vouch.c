/*
 * Whether a blob does what its text says.
 */
#include "compiler/base/base.h"
#include "compiler/lower/lower.h"
#include "compiler/query/query.h"
#include "compiler/report/report.h"

#include <string.h>

/* What keeps the text from compiling to the blob, or NULL. */
static const char *
doubt(struct arena *arena, const struct sbx_blob *blob)
{
	struct compilation *compilation = arena_alloc(arena,
	    sizeof *compilation);
	const char *difference;
	struct image image;

	compilation_init(compilation, arena);
	if (!compilation_open_blob(compilation, blob) ||
	    !compile(compilation, NULL, &image))
		return "the text in it does not compile";
	difference = sections_differ(image.bytes, image.size, blob->base,
	    blob->size + blob->text_size);
	return difference == NULL ? NULL :
				    arena_printf(arena,
					"the text in it compiles to another "
					"blob, which differs first in %s",
					difference);
}

enum vouch
vouch(struct arena *arena, const char *path, const struct sbx_blob *blob)
{
	const char *writer = sbx_string(blob, blob->meta->writer);
	const char *fault = doubt(arena, blob);

	if (fault == NULL)
		return VOUCH_SAME;
	if (strcmp(writer, SBX_WRITER) == 0) {
		complain("'%s' does not do what its rules say: %s [%s]", path,
		    fault, diag_code(DIAG_BLOB_CHANGED));
		return VOUCH_CHANGED;
	}
	complain("'%s' is of %s, and this %s cannot tell whether it does what "
		 "its rules say: %s [%s]",
	    path, shown_text(arena, writer), SBX_WRITER, fault,
	    diag_code(DIAG_BLOB_CHANGED));
	return VOUCH_FOREIGN;
}
