/*
 * Decimal numbers, as all programs write and read them.
 */
#include "format/text.h"

size_t
sbx_decimal_write(char digits[SBX_DECIMAL_SIZE], uint64_t number)
{
	char reversed[SBX_DECIMAL_SIZE];
	size_t len = 0;

	do {
		reversed[len++] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	for (size_t i = 0; i < len; i++)
		digits[i] = reversed[len - 1 - i];
	return len;
}

const char *
sbx_decimal_read(const char *text, const char *stop, uint64_t *number)
{
	const char *at = text;

	*number = 0;
	for (; at < stop && *at >= '0' && *at <= '9'; at++) {
		if (__builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, (uint64_t)(*at - '0'),
			number))
			return NULL;
	}
	return at > text ? at : NULL;
}
