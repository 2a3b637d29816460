/*
 * What a blob holds in several versions, and which of them counts in given
 * circumstances.  The loader asks for the kernel that it runs on, the compiler
 * for a kernel that it is asked about.
 */
#ifndef SBX_SELECT_H
#define SBX_SELECT_H

#include "format/blob.h"

/* Where a filter is to run. */
struct sbx_circumstances {
	uint32_t arch; /* AUDIT_ARCH_* */
	enum sbx_level level;
	uint32_t landlock_abi; /* of the kernel; 0: none */
	bool loopback;         /* in a network of its own, with lo up */
	bool listener;         /* the supervisor can answer system calls */
};

/* The filter for these circumstances; NULL if the blob has none.  With a
 * listener, one that has calls to answer comes before one that has none. */
const struct sbx_program *sbx_program_select(const struct sbx_blob *blob,
    const struct sbx_circumstances *where);

/* The row of masks for a kernel's Landlock ABI; NULL if the blob has none. */
const struct sbx_landlock *sbx_landlock_select(const struct sbx_blob *blob,
    uint32_t abi);

#endif
