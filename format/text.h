/* Decimal numbers and UTF-8. */
#ifndef SBX_FORMAT_TEXT_H
#define SBX_FORMAT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- decimal.c --------------------------------------------------------- */

enum { SBX_DECIMAL_SIZE = 20 }; /* digits of the largest number */

/* Writes the digits, without a NUL; returns how many. */
size_t sbx_decimal_write(char digits[SBX_DECIMAL_SIZE], uint64_t number);

/* Reads digits up to `stop` at most.  Returns where they end, or NULL if there
 * are none or the number is too large. */
const char *sbx_decimal_read(const char *text, const char *stop,
    uint64_t *number);

/* --- utf8.c ------------------------------------------------------------ */

/*
 * Characters in UTF-8, without the locale: policies are UTF-8 everywhere.
 */

/*
 * The character at text, which has len bytes; returns how many of them it
 * takes, or 0 if there is none: malformed, overlong, or a surrogate.
 */
size_t utf8_decode(const char *text, size_t len, uint32_t *character);

/* Control characters, and those that are invisible or reorder text: what a
 * reader of the text cannot see. */
bool utf8_is_hidden(uint32_t character);

/* --- setting.c --------------------------------------------------------- */

/* Whether a text of settings gives the word a value, "WORD = VALUE" or "WORD: VALUE",
 * that does not begin as the usual one; NULL: the word alone says it. */
bool text_has_setting(const char *text, const char *word, const char *usual);

#endif
