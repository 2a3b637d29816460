/*
 * The output of the command, on its way through the supervisor: a pipe for each
 * standard stream, from which the kernel moves pages to where the stream led
 * before, up to a cap.  The rest goes to /dev/null, and the command does not
 * notice.
 *
 *	the command --pipe--> splice(2) --> what sbxrun found at 1 and 2
 *
 * A terminal is left alone, as is every other character device, and a regular
 * file, whose reader expects all of it; the limit on the size of files holds
 * for that.  If 1 and 2 are one pipe or socket they get one pipe, so that what
 * was written to them stays in its order, and one cap.
 */
#ifndef SBX_RELAY_H
#define SBX_RELAY_H

#include "format/blob.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stream {
	int from, into; /* the ends of the pipe; the command has `into` */
	int to;         /* STDOUT_FILENO or STDERR_FILENO */
	bool open;
	bool socket;   /* splice(2) to a socket may block: ask first */
	bool copies;   /* the kernel cannot splice there */
	bool waits;    /* for `to` to take more, rather than for input */
	bool told;     /* that it was cut */
	uint64_t left; /* bytes below the cap */
	uint64_t cut;  /* bytes thrown away */
};

enum { RELAY_STREAMS = 2 };

struct relay {
	struct stream streams[RELAY_STREAMS];
	int null;    /* /dev/null, or -1 if nothing is relayed */
	bool joined; /* 1 and 2 are one file: the first stream is both */
};

/* Makes the pipes, for a cap in bytes; with a cap of 0 there are none. */
void relay_open(struct relay *relay, uint64_t cap);

/* In the command: its standard streams become the pipes. */
void relay_enter(const struct relay *relay);

/* Closes the ends of one side. */
void relay_close_command(const struct relay *relay);
void relay_close_supervisor(const struct relay *relay);

bool relay_has(const struct relay *relay, int fd);

/* What to wait for, and what to do when the waiting is over. */
void relay_wait(const struct relay *relay, struct pollfd wait[RELAY_STREAMS]);
void relay_move(struct relay *relay, const struct pollfd wait[RELAY_STREAMS]);

/* Whether nothing is on its way. */
bool relay_is_empty(const struct relay *relay);

/* Says, once for each stream, that it was cut, and which limit did it; not
 * where stderr is full, unless it `must`. */
void relay_tell(struct relay *relay, const struct sbx_blob *blob, bool must);

#endif
