/* See vouch.h. */
#include "compiler/restore/vouch.h"

#include "compiler/base/base.h"
#include "compiler/lower/lower.h"
#include "compiler/query/why.h"
#include "compiler/report/report.h"
#include "compiler/restore/restore.h"

#include <string.h>

/* What keeps the rules from compiling to the blob, or NULL. */
static const char *
doubt(struct arena *arena, const struct sbx_blob *blob)
{
	const char *fault, *difference;
	struct policy *policy = restore_policy(arena, blob, &fault);

	if (policy == NULL)
		return arena_printf(arena, "no policy says this: %s", fault);
	difference = restore_difference(policy, blob);
	return difference == NULL ?
	    NULL :
	    arena_printf(arena,
		"they compile to another blob, which differs first in %s",
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
