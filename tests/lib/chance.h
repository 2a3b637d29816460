/*
 * Random numbers that a seed repeats, for tests.
 */
#ifndef SBX_TEST_CHANCE_H
#define SBX_TEST_CHANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chance {
	uint64_t state;
	/* Of a fuzzer, which decides as long as there are some. */
	const uint8_t *bytes;
	size_t left;
};

/* SplitMix64. */
static inline uint64_t
chance_next(struct chance *chance)
{
	if (chance->left > 0) {
		chance->left--;
		return *chance->bytes++;
	}

	uint64_t z = chance->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static inline size_t
chance_below(struct chance *chance, size_t limit)
{
	return (size_t)(chance_next(chance) % limit);
}

static inline bool
chance_percent(struct chance *chance, unsigned percent)
{
	return chance_below(chance, 100) < percent;
}

#endif
