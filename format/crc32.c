/*
 * The checksum of a blob: CRC-32 as in zlib and PNG (polynomial 0xEDB88320,
 * reflected), eight bytes a step.
 *
 * It is paid at every launch, over every byte of the blob.  The tables are
 * worked out on the stack each time: that takes less than reading 8 KiB of
 * constants from a file that has just been mapped would, and CRC being linear
 * it needs one exclusive-or an entry.
 */
#include "format/blob.h"

struct crc_tables {
	uint32_t of[8][256];
};

static void
crc_tables_init(struct crc_tables *tables)
{
	uint32_t crc = 1;

	tables->of[0][0] = 0;
	for (unsigned half = 128; half > 0; half >>= 1) {
		crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320 : 0);
		for (unsigned i = 0; i < 256; i += 2 * half)
			tables->of[0][half + i] = crc ^ tables->of[0][i];
	}
	for (unsigned i = 0; i < 256; i++) {
		crc = tables->of[0][i];
		for (unsigned slice = 1; slice < 8; slice++) {
			crc = (crc >> 8) ^ tables->of[0][crc & 0xff];
			tables->of[slice][i] = crc;
		}
	}
}

static uint32_t
crc_bytes(const struct crc_tables *tables, uint32_t crc, const uint8_t *data,
    size_t size)
{
	while (size-- > 0)
		crc = (crc >> 8) ^ tables->of[0][(crc ^ *data++) & 0xff];
	return crc;
}

static uint32_t
crc_words(const struct crc_tables *tables, uint32_t crc, const uint8_t *data,
    size_t words)
{
	uint64_t word;

	for (; words > 0; words--, data += 8) {
		__builtin_memcpy(&word, data, 8);
		word ^= crc;
		crc = tables->of[7][word & 0xff] ^
		    tables->of[6][word >> 8 & 0xff] ^
		    tables->of[5][word >> 16 & 0xff] ^
		    tables->of[4][word >> 24 & 0xff] ^
		    tables->of[3][word >> 32 & 0xff] ^
		    tables->of[2][word >> 40 & 0xff] ^
		    tables->of[1][word >> 48 & 0xff] ^
		    tables->of[0][word >> 56];
	}
	return crc;
}

uint32_t
sbx_checksum(const void *blob, size_t size)
{
	const size_t field = offsetof(struct sbx_header, crc);
	const uint8_t *data = blob;
	struct crc_tables tables;
	uint32_t crc = UINT32_MAX;

	crc_tables_init(&tables);
	crc = crc_bytes(&tables, crc, data, field);
	data += field + sizeof(uint32_t);
	size -= field + sizeof(uint32_t);
	crc = crc_words(&tables, crc, data, size / 8);
	crc = crc_bytes(&tables, crc, data + size / 8 * 8, size % 8);
	return ~crc;
}
