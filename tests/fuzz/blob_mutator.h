/*
 * Blobs that are changed where they have a meaning: a field of a record, a
 * record, a section, a string, the text behind.  What is made has sections that lie where the
 * table says, records in their order, and a checksum that fits, so that it gets
 * as far into the verifier as the change lets it.
 */
#ifndef SBX_TEST_BLOB_MUTATOR_H
#define SBX_TEST_BLOB_MUTATOR_H

#include "tests/lib/chance.h"

/*
 * Changes a blob in place; gives its new size, at most `room`.  0: the bytes are
 * not a blob whose sections can be found, and were left alone.
 */
size_t blob_mutate(uint8_t *bytes, size_t size, size_t room,
    struct chance *chance);

/* The same with a section of another blob in the place of its own. */
size_t blob_cross(uint8_t *bytes, size_t size, size_t room,
    const uint8_t *other, size_t other_size, struct chance *chance);

#endif
