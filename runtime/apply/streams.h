/*
 * Standard input, output and error, which are the caller's.  What is opened
 * already is beyond rules about paths, and /proc/self/fd/N opens it again by
 * its own mount, not by that of the view.
 */
#ifndef SBX_STREAMS_H
#define SBX_STREAMS_H

#include <stdbool.h>

/* Refuses (125) directories, and descriptors opened with O_PATH: *at() calls
 * reach what is below them. */
void streams_check(void);

/*
 * At level full, before the view is entered, of these descriptors (a bit for
 * each): a file that is read, and the null
 * device where it belongs to the caller, are opened again through a read-only
 * copy of their mount, so that neither contents nor metadata can be changed.
 * Returns a bit for each descriptor of such a file, 1 for standard input: they
 * have a position of their own, which the caller has to be given at the end.
 */
unsigned streams_reopen(unsigned which);

/* A bit for each descriptor of such a file; and of a null device that belongs
 * to the caller. */
unsigned streams_read_files(unsigned *owned_null);

/* In the view of a session, opens these null devices again.  NULL, or what it
 * could not do, with errno. */
const char *streams_renew_null(unsigned owned);

/* What was opened again, the command may open too, as /dev/stdin. */
void streams_allow(unsigned reopened, int ruleset);

#endif
