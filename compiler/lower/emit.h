/*
 * From a resolved policy and its filters to the blob's bytes.  The same policy
 * gives the same bytes on every machine: tables are sorted, nothing of the
 * build or of the place where it ran goes in, and the result is read back
 * through sbx_verify() before anybody sees it.
 */
#ifndef SBX_EMIT_H
#define SBX_EMIT_H

#include "compiler/lower/filter.h"

/* What a blob says of who wrote it. */
#define SBX_WRITER "sbxc " PACKAGE_VERSION

struct image {
	const uint8_t *bytes; /* 8-aligned, in the policy's arena */
	size_t size;
};

/*
 * Returns false, with a record in diags, only for a policy beyond the bounds
 * of format/blob.h.
 */
bool emit_blob(const struct policy *policy, const struct filter_set *filters,
    const char *sbpl, struct diags *diags, struct image *image);

/* The same without reading it back, for what nothing loads: a policy that was
 * restored from a blob that anybody may have made, or the rules for macOS,
 * which need no way out of a network namespace each. */
bool emit_image(const struct policy *policy, const struct filter_set *filters,
    const char *sbpl, struct diags *diags, struct image *image);

#endif
