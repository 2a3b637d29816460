/*
 * The frame of a blob: header, section table, checksum.
 */
#ifndef SBX_FRAME_H
#define SBX_FRAME_H

#include "format/blob.h"

typedef enum sbx_blob_error record_check(const struct sbx_blob *blob,
    const void *record);

/*
 * One line a kind of section: how long a record is, where the view keeps its
 * pointer and its count, and what a record must satisfy.
 */
struct layout {
	uint32_t record;
	bool required;
	size_t pointer, count;
	record_check *check;
};

extern const struct layout layouts[SBX_SECTION_END];

enum sbx_blob_error frame_check_header(const struct sbx_header *header,
    size_t size);

/* Fills the view, too. */
enum sbx_blob_error frame_check_table(struct sbx_blob *blob,
    const struct sbx_section *table, uint32_t count);

#endif
