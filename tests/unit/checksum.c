/*
 * The checksum: that each bit of a blob counts, but for its own field, and the
 * length, for every length of a last word; and one value, which no writer may
 * change without a new format.
 */
#include "format/blob.h"
#include "tests/lib/tap.h"

#include <string.h>

enum { SIZE = 80 };

static bool
is_own(size_t at)
{
	const size_t field = offsetof(struct sbx_header, sum);

	return at >= field && at < field + sizeof(uint32_t);
}

/* Whether a bit that is turned over changes the sum, where it should. */
static bool
counts(uint8_t *bytes, size_t size, size_t bit)
{
	uint32_t before = sbx_checksum(bytes, size), after;

	bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	after = sbx_checksum(bytes, size);
	bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	return (before == after) == is_own(bit / 8);
}

int
main(void)
{
	struct tap tap = { 0 };
	uint8_t bytes[SIZE + 1];
	uint32_t last = 0;

	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(i * 151 + 7);
	for (size_t size = sizeof(struct sbx_header); size <= SIZE; size++) {
		uint32_t sum = sbx_checksum(bytes, size);
		size_t bit = 0;

		while (bit < size * 8 && counts(bytes, size, bit))
			bit++;
		tap_ok(&tap, bit == size * 8, "%zu bytes: bit %zu", size, bit);
		bytes[size] ^= 0xff;
		tap_ok(&tap, sum == sbx_checksum(bytes, size) && sum != last,
		    "%zu bytes: no more, and no less", size);
		bytes[size] ^= 0xff;
		last = sum;
	}
	memset(bytes, 0, sizeof bytes);
	tap_ok(&tap, sbx_checksum(bytes, SIZE) == 0x947feb8a,
	    "%08x is that of zeros", sbx_checksum(bytes, SIZE));
	return tap_done(&tap);
}
