/*
 * Two blobs side by side.
 */
#ifndef SBX_SECTIONS_H
#define SBX_SECTIONS_H

#include <stddef.h>

/*
 * The first section in which two verified blobs differ, as words: "the path
 * rules".  NULL if they are equal to the byte.
 */
const char *sections_differ(const void *a, size_t a_size, const void *b,
    size_t b_size);

#endif
