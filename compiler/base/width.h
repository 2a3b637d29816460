/*
 * How wide characters are on a terminal.
 */
#ifndef SBX_WIDTH_H
#define SBX_WIDTH_H

#include <stdint.h>

/* Columns of a character that is not hidden: 0, 1 or 2. */
int character_width(uint32_t character);

#endif
