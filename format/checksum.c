/*
 * The checksum of a blob.  It tells a blob that was damaged from one that was
 * made so; who means harm can make it fit, and nothing relies on it.
 *
 * It is paid at every launch, over every byte that the loader reads, so it
 * takes words of eight bytes, in two rows that do not wait for each other, and
 * needs no table.  Each step maps a row and a word one to one: no change within
 * one word is lost before the rows become 32 bits.
 */
#include "format/blob.h"

enum { WORD = sizeof(uint64_t), STEP = 2 * WORD };

static inline uint64_t
mixed(uint64_t row, uint64_t word)
{
	row = (row ^ word) * 0x9e3779b97f4a7c15;
	return row << 29 | row >> 35;
}

struct rows {
	uint64_t a, b;
};

static void
add(struct rows *rows, const uint8_t *data, size_t steps)
{
	uint64_t a = rows->a, b = rows->b;

	for (; steps > 0; steps--, data += STEP) {
		uint64_t x, y;

		__builtin_memcpy(&x, data, WORD);
		__builtin_memcpy(&y, data + WORD, WORD);
		a = mixed(a, x);
		b = mixed(b, y);
	}
	rows->a = a;
	rows->b = b;
}

uint32_t
sbx_checksum(const void *blob, size_t size)
{
	const uint8_t *data = blob;
	struct rows rows = { size, ~(uint64_t)size };
	struct sbx_header header;
	uint8_t rest[STEP] = { 0 };
	uint64_t sum;

	__builtin_memcpy(&header, data, sizeof header);
	header.sum = 0;
	add(&rows, (const uint8_t *)&header, sizeof header / STEP);
	data += sizeof header;
	size -= sizeof header;
	add(&rows, data, size / STEP);
	__builtin_memcpy(rest, data + size / STEP * STEP, size % STEP);
	add(&rows, rest, 1);
	sum = mixed(rows.a, rows.b);
	return (uint32_t)(mixed(sum, sum >> 32) >> 32);
}
