/*
 * Differences between two policies that can be tried in the kernel.
 */
#ifndef SBX_TEST_COMPARE_KERNEL_H
#define SBX_TEST_COMPARE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

/* Writes pairs of blobs, and on what they differ, for witnesses.sh. */
int print_witnesses(uint64_t seed, size_t count, const char *base,
    const char *probe);

#endif
