/* The frame of a blob, and what the verifier checks. */
#ifndef SBX_FORMAT_VERIFY_H
#define SBX_FORMAT_VERIFY_H

#include "format/blob.h"

/* --- frame.c ----------------------------------------------------------- */

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

/* --- verify.c ---------------------------------------------------------- */

/*
 * What the files of verify*.c share: the checks of a record's fields.
 */

static inline bool
is_string(const struct sbx_blob *blob, uint32_t offset)
{
	return offset < blob->strings_size;
}

static inline bool
is_where(uint8_t platforms)
{
	return platforms != 0 && (platforms & ~SBX_ON_ALL) == 0;
}

static inline bool
is_source(const struct sbx_blob *blob, uint32_t source)
{
	return source == SBX_NO_SOURCE || source < blob->source_count;
}

/* As a profile has one. */
bool is_name(const char *name);

/* A place: an anchor that is marked as used, and a suffix in normal form. */
enum sbx_blob_error check_place(const struct sbx_blob *blob, uint16_t anchor,
    uint32_t suffix);

/* verify_network.c: rules about names, addresses and a proxy, and what all
 * of them come to. */
record_check check_name, check_endpoint, check_proxy;
enum sbx_blob_error check_ways(const struct sbx_blob *blob);

#endif
