/*
 * What the processes of sbx-proxy take from themselves before they read the first
 * byte that anybody else has written.
 */
#ifndef SBX_PROXY_CONFINE_H
#define SBX_PROXY_CONFINE_H

#include "format/blob.h"

#include <stdbool.h>

enum confined {
	CONFINED_RELAY,      /* sockets alone; no file can be opened */
	CONFINED_RELAY_PATH, /* the same, and sockets by path */
	CONFINED_LOOKUP,     /* what a resolver reads, and its sockets */
	CONFINED_INSIDE,     /* makes sockets and hands them out */
	CONFINED_END,
};

/*
 * What Landlock takes away, but where a rule gives some back: all rights on files
 * of that ABI.  From ABI 9 on, connecting to a socket by path is one.  It is
 * left to the one whose proxy has a path: that socket may be made anew anywhere.
 */
struct sbx_landlock confined_rights(int abi, enum confined kind);

/* Ends the process if it cannot be done. */
void confine_process(enum confined kind);

/* A process of ours that has this socket alone, besides stderr and the
 * descriptor FD_INSIDE, and ends with us; false with errno. */
bool process_start(void (*serve)(int socket), int socket);

/* Ends the process when its parent does. */
void end_with_parent(int parent);

/* "sbx-proxy: TEXT: STRERROR" on stderr; ends the process with status 125. */
void proxy_fail(const char *text, int error) __attribute__((noreturn));

#endif
