/*
 * The checksum, held against CRC-32 as its definition has it, a bit at a time,
 * for every length of a last word.
 */
#include "format/blob.h"
#include "tests/lib/tap.h"

enum { SIZE = 64 };

static uint32_t
bit_by_bit(uint32_t crc, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size * 8; i++) {
		crc ^= (uint32_t)(bytes[i / 8] >> i % 8 & 1);
		crc = crc >> 1 ^ (crc & 1) * 0xedb88320u;
	}
	return crc;
}

int
main(void)
{
	struct tap tap = { 0 };
	uint8_t bytes[SIZE];

	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = (uint8_t)(i * 151 + 7);
	tap_ok(&tap,
	    ~bit_by_bit(UINT32_MAX, (const uint8_t *)"123456789", 9) ==
		0xcbf43926,
	    "the definition gives the value that is published");
	for (size_t size = sizeof(struct sbx_header); size <= SIZE; size++) {
		uint32_t crc = bit_by_bit(UINT32_MAX, bytes, 16);

		crc = ~bit_by_bit(crc, bytes + 20, size - 20);
		tap_ok(&tap, sbx_checksum(bytes, size) == crc,
		    "%zu bytes: %08x", size, crc);
	}
	return tap_done(&tap);
}
