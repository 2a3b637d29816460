/*
 * The policy file: found, read, verified.
 */
#ifndef SBX_LOAD_H
#define SBX_LOAD_H

#include "format/blob.h"

/*
 * The blob's own bytes.  They are read, not mapped from the file: what was
 * verified, and compared with --expect, must be what is applied, even if the
 * file changes meanwhile.
 */
struct policy_file {
	size_t size;
	char path[SBX_MAX_PATH + 1]; /* the kernel's name for it; "" if none */
	_Alignas(8) uint8_t bytes[SBX_MAX_SIZE + 1];
	/* The hops on the way to it: paths of the links that were followed and
	 * of the directories that ".." has left, one after the other, each with
	 * its NUL; an empty one ends the list. */
	char hops[4 * (SBX_MAX_PATH + 1)];
};

/*
 * Loads a policy: the path of a blob, or @NAME for an installed profile.
 * `expect` is NULL or the 64 hexadecimal digits of its digest.  Refuses (125)
 * everything that is not a well-formed blob.
 */
void load_policy(const char *name, const char *expect,
    struct policy_file *loaded, struct sbx_blob *blob);

/* Whether a policy consists of these bytes; `loaded` has room for it.  Refuses
 * what cannot be read, and looks at nothing else: where the bytes are known, it
 * does not matter who wrote them. */
bool policy_is(const char *name, const void *bytes, size_t size,
    struct policy_file *loaded);

#endif
