/*
 * Characters in UTF-8, without the locale: policies are UTF-8 everywhere.
 */
#ifndef SBX_UTF8_H
#define SBX_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The character at text, which has len bytes; returns how many of them it
 * takes, or 0 if there is none: malformed, overlong, or a surrogate.
 */
size_t utf8_decode(const char *text, size_t len, uint32_t *character);

/* Control characters, and those that are invisible or reorder text: what a
 * reader of the text cannot see. */
bool utf8_is_hidden(uint32_t character);

#endif
