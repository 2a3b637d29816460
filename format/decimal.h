/*
 * Decimal numbers, as all programs write and read them.
 */
#ifndef SBX_DECIMAL_H
#define SBX_DECIMAL_H

#include <stddef.h>
#include <stdint.h>

enum { SBX_DECIMAL_SIZE = 20 }; /* digits of the largest number */

/* Writes the digits, without a NUL; returns how many. */
size_t sbx_decimal_write(char digits[SBX_DECIMAL_SIZE], uint64_t number);

/* Reads digits up to `stop` at most.  Returns where they end, or NULL if there
 * are none or the number is too large. */
const char *sbx_decimal_read(const char *text, const char *stop,
    uint64_t *number);

#endif
