/*
 * File systems that take upper and lower case for the same: SMB, shares of a
 * virtual machine's host, Windows drives, many of FUSE.  Where the kernel does
 * not know of it, a name in another spelling is another entry to it, on which
 * no mount lies, and a name of a rule need not be one that the directory lists.
 */
#ifndef SBX_RUNTIME_BASE_SPELLING_H
#define SBX_RUNTIME_BASE_SPELLING_H

#include <stdbool.h>
#include <stddef.h>

/* Changes the case of a name's letters, those of ASCII; false if it has
 * none. */
bool spelling_swap(char *name, size_t len);

/* Whether a name that exists is found in another spelling too, which the
 * directory does not list. */
bool spelling_folds(int directory, const char *name, size_t len);

/* Whether these are two spellings of one name. */
bool spelling_differs(const char *a, const char *b, size_t len);

#endif
