/*
 * From the options of sbx_open() to the command line of sbxrun.
 */
#ifndef SBX_LIBRARY_ARGUMENTS_H
#define SBX_LIBRARY_ARGUMENTS_H

#include "runtime/library/error.h"
#include "runtime/library/words.h"

#define ARGUMENT_LEVEL "--level="

/* Where a command finds the policy that was given as bytes. */
enum { ARGUMENT_POLICY = 4 };

/* Whether the size of a structure that a caller filled in says that the library
 * knows every field that is used. */
bool arguments_known(const void *given, size_t size, size_t known);

/* Whether these are options; else false and *error, as from the other one. */
bool arguments_check(const struct sbx_options *options,
    struct sbx_error *error);

/* The options of sbxrun, and the policy.  Paths are absolute, so that they stay
 * what they are in another directory. */
bool arguments_fill(struct words *words, const struct sbx_options *options,
    struct sbx_error *error);

/* A sealed file with the bytes of the policy, or -1 with errno. */
int arguments_keep(const struct sbx_options *options);

/* The path that a text names from the current directory on; false with
 * errno. */
bool absolute_path(const char *text, char *path, size_t size);

#endif
