/* What a ceiling leaves of a policy. */
#ifndef SBX_FORMAT_CUT_H
#define SBX_FORMAT_CUT_H

#include "format/blob.h"

/* Where the owner of a machine says what no policy may go beyond. */
#define SBX_CEILING_DIRECTORY "/etc/sbx"
#define SBX_CEILING_NAME "ceiling.bin"
#define SBX_CEILING SBX_CEILING_DIRECTORY "/" SBX_CEILING_NAME

struct sbx_cut_request {
	const struct sbx_blob *policy, *ceiling; /* verified */
	const char *directory; /* of the ceiling, with a slash at its end */
	uint32_t arch, landlock_abi;
	uint8_t platform; /* one bit of enum sbx_platform */
};

/* Who wrote a blob that was cut: which ceiling it was, in 16 hexadecimal digits. */
enum { SBX_CUT_NAME = 32 };
void sbx_cut_name(const struct sbx_blob *ceiling, char name[SBX_CUT_NAME]);

struct sbx_cut_fault {
	const char *text; /* NULL: there is none */
	uint32_t source;  /* beyond the policy's it is one of the ceiling */
};

/*
 * Writes the blob of what both allow, on this machine; 0 and the fault if that
 * cannot be.  `room` is 8-aligned.  The same bytes come of the same request.
 */
size_t sbx_cut(const struct sbx_cut_request *request, void *room, size_t size,
    struct sbx_cut_fault *fault);

#endif
