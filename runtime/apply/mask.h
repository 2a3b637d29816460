/*
 * Masks: what is mounted over a denied file or directory, so that nobody can
 * open it.
 *
 * A device file on a mount that has no devices cannot be opened, whoever asks
 * and whatever its mode; a directory that may only be passed through cannot be
 * listed by anybody without capabilities.
 */
#ifndef SBX_MASK_H
#define SBX_MASK_H

#include <stdbool.h>

/* The mask of a directory or a file, detached; -1 and errno.  Inside of a
 * directory that is not closed other things are still mounted. */
int mask_new(bool directory, bool closed);

#endif
