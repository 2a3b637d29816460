/*
 * The frame of a blob: header, section table, checksum.
 */
#include "format/verify.h"

enum sbx_blob_error
frame_check_header(const struct sbx_header *header, size_t size)
{
	if (size < sizeof *header)
		return SBX_BLOB_SHORT;
	if (__builtin_memcmp(header->magic, SBX_MAGIC, 8) != 0)
		return SBX_BLOB_MAGIC;
	if (header->min_reader > SBX_FORMAT ||
	    header->version < SBX_FORMAT_OLDEST)
		return SBX_BLOB_VERSION;
	if (size > SBX_MAX_SIZE || header->size > size ||
	    (header->size < size && size - header->size != header->text_size))
		return SBX_BLOB_SIZE;
	if (header->size < sizeof *header)
		return SBX_BLOB_TABLE;
	if (header->sum != sbx_checksum(header, header->size))
		return SBX_BLOB_SUM;
	if (header->reserved != 0)
		return SBX_BLOB_RESERVED;
	return SBX_BLOB_OK;
}

static bool
is_padding(const uint8_t *base, uint32_t from, uint32_t to)
{
	while (from < to) {
		if (base[from++] != 0)
			return false;
	}
	return true;
}

static void
view_set(struct sbx_blob *blob, const struct layout *layout,
    const struct sbx_section *section)
{
	const void *records = blob->base + section->offset;
	uint32_t count = section->size / layout->record;

	__builtin_memcpy((char *)blob + layout->pointer, &records,
	    sizeof records);
	if (layout->count != offsetof(struct sbx_blob, size))
		__builtin_memcpy((char *)blob + layout->count, &count,
		    sizeof count);
}

/*
 * Sections lie one behind the other, each 8-aligned, in ascending order of
 * kind; the last ends where the file ends.
 */
enum sbx_blob_error
frame_check_table(struct sbx_blob *blob, const struct sbx_section *table,
    uint32_t count)
{
	uint32_t end = sizeof(struct sbx_header) + count * sizeof *table;
	uint32_t kind = 0;

	if (count > SBX_MAX_SECTIONS || end > blob->size)
		return SBX_BLOB_TABLE;
	for (const struct sbx_section *section = table; section < table + count;
	     section++) {
		if (section->kind <= kind || section->offset % 8 != 0 ||
		    section->offset < end || section->offset - end >= 8 ||
		    section->offset > blob->size ||
		    section->size > blob->size - section->offset ||
		    (section->flags & ~(uint32_t)SBX_CRITICAL) != 0)
			return SBX_BLOB_TABLE;
		if (!is_padding(blob->base, end, section->offset))
			return SBX_BLOB_RESERVED;
		kind = section->kind;
		end = section->offset + section->size;
		if (kind >= SBX_SECTION_END) {
			if (section->flags & SBX_CRITICAL)
				return SBX_BLOB_CRITICAL;
			continue;
		}
		if (section->size % layouts[kind].record != 0)
			return SBX_BLOB_TABLE;
		if (kind == SBX_SECTION_META &&
		    section->size != sizeof(struct sbx_meta))
			return SBX_BLOB_META;
		view_set(blob, &layouts[kind], section);
	}
	if (end > blob->size || blob->size - end >= 8)
		return SBX_BLOB_TABLE;
	return is_padding(blob->base, end, blob->size) ? SBX_BLOB_OK :
							 SBX_BLOB_RESERVED;
}

const void *
sbx_records(const struct sbx_blob *blob, enum sbx_section_kind kind,
    uint32_t *count)
{
	const struct layout *layout = &layouts[kind];
	const void *records;

	__builtin_memcpy(&records, (const char *)blob + layout->pointer,
	    sizeof records);
	*count = 1;
	if (layout->count != offsetof(struct sbx_blob, size))
		__builtin_memcpy(count, (const char *)blob + layout->count,
		    sizeof *count);
	return records;
}

const char *
sbx_blob_strerror(enum sbx_blob_error error)
{
	static const char *const sentences[] = {
#define SBX_X(name, sentence) [SBX_BLOB_##name] = sentence,
		/* A text of two lines is no missing comma.
		 * NOLINTNEXTLINE(bugprone-suspicious-missing-comma) */
		SBX_BLOB_ERRORS(SBX_X)
#undef SBX_X
	};

	return sentences[error];
}
