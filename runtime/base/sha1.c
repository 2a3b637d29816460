/*
 * SHA-1 (FIPS 180-4), by which git names what it keeps.  Nothing is trusted
 * because of it that git does not trust as much.
 */
#include "runtime/base/files.h"

#include <string.h>

enum { BLOCK = 64 };

static uint32_t
rotate(uint32_t word, unsigned by)
{
	return word << by | word >> (32 - by);
}

static void
sha1_block(uint32_t state[5], const uint8_t *block)
{
	uint32_t w[80], a = state[0], b = state[1], c = state[2], d = state[3],
			e = state[4];

	for (unsigned i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 |
		    (uint32_t)block[4 * i + 1] << 16 |
		    (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (unsigned i = 16; i < 80; i++)
		w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	for (unsigned i = 0; i < 80; i++) {
		uint32_t f = i < 20 ? (b & c) | (~b & d) :
		    i < 40          ? b ^ c ^ d :
		    i < 60          ? (b & c) | (b & d) | (c & d) :
				      b ^ c ^ d;
		static const uint32_t constants[] = { 0x5a827999, 0x6ed9eba1,
			0x8f1bbcdc, 0xca62c1d6 };
		uint32_t next = rotate(a, 5) + f + e + constants[i / 20] + w[i];

		e = d;
		d = c;
		c = rotate(b, 30);
		b = a;
		a = next;
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
	state[4] += e;
}

void
sha1_hex(const void *data, size_t size, char hex[SHA1_HEX + 1])
{
	uint32_t state[5] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476,
		0xc3d2e1f0 };
	uint8_t tail[2 * BLOCK] = { 0 };
	const uint8_t *bytes = data;
	size_t left = size, blocks;

	for (; left >= BLOCK; left -= BLOCK, bytes += BLOCK)
		sha1_block(state, bytes);
	/* The bit 1, zeros, and the length in bits. */
	memcpy(tail, bytes, left);
	tail[left] = 0x80;
	blocks = left < BLOCK - 8 ? 1 : 2;
	for (unsigned i = 0; i < 8; i++)
		tail[blocks * BLOCK - 1 - i] = (uint8_t)((uint64_t)size * 8 >>
		    8 * i);
	for (size_t i = 0; i < blocks; i++)
		sha1_block(state, tail + i * BLOCK);
	for (unsigned i = 0; i < SHA1_HEX; i++)
		hex[i] =
		    "0123456789abcdef"[state[i / 8] >> 4 * (7 - i % 8) & 15];
	hex[SHA1_HEX] = '\0';
}
