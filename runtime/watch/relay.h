/*
 * The output of the command, on its way through the supervisor: a pipe for each
 * standard stream, from which the kernel moves pages to where the stream led
 * before, up to a cap.  Of the rest the last bytes are kept, and written at the
 * end behind a line that says how many are missing.  The command does not notice.
 *
 *	the command --pipe--> splice(2) --> what sbxrun found at 1 and 2
 *
 * A terminal is left alone, as is every other character device, and a regular
 * file, whose reader expects all of it; the limit on the size of files holds
 * for that.  If 1 and 2 are one pipe or socket they get one pipe, so that what
 * was written to them stays in its order, and one cap.
 *
 * A socket at 2 is relayed without a cap, too: shutdown(2) there would keep
 * sbxrun itself from saying anything.  Not where it is standard input as well,
 * which stays the command's.
 */
#ifndef SBX_RELAY_H
#define SBX_RELAY_H

#include "format/blob.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of what is written beyond a cap, a sixteenth of the cap is kept, and no more
 * than this. */
enum { RELAY_TAIL = 64 << 10 };

struct stream {
	int from, into; /* the ends of the pipe; the command has `into` */
	int to;         /* STDOUT_FILENO or STDERR_FILENO */
	bool open;
	bool socket;   /* splice(2) to a socket may block: ask first */
	bool copies;   /* the kernel cannot splice there */
	bool waits;    /* for `to` to take more, rather than for input */
	bool told;     /* that it was cut */
	bool flushes;  /* the tail is what is written next */
	uint64_t left; /* bytes below the cap */
	uint64_t cut;  /* bytes thrown away */
	/* What came last beyond the cap: a ring, and where its oldest byte is. */
	uint32_t room, kept, oldest;
	char tail[RELAY_TAIL];
};

enum { RELAY_STREAMS = 2 };

struct relay {
	struct stream streams[RELAY_STREAMS];
	const struct sbx_blob *blob; /* which has the limit */
	bool joined; /* 1 and 2 are one file: the first stream is both */
	bool ends;   /* the command has: what was kept is written */
};

/* Makes the pipes, for a cap in bytes; 0: none. */
void relay_open(struct relay *relay, const struct sbx_blob *blob, uint64_t cap);

/* In the command: its standard streams become the pipes. */
void relay_enter(const struct relay *relay);

/* Closes the ends of one side. */
void relay_close_command(const struct relay *relay);
void relay_close_supervisor(const struct relay *relay);

bool relay_has(const struct relay *relay, int fd);

/* What to wait for, and what to do when the waiting is over. */
void relay_wait(struct relay *relay, struct pollfd wait[RELAY_STREAMS]);
void relay_move(struct relay *relay, const struct pollfd wait[RELAY_STREAMS]);

/* The command has ended: what was kept is on its way, too. */
void relay_end(struct relay *relay);

/* At last, says of streams that were cut, unless it was said with their end. */
void relay_tell(struct relay *relay);

/* Whether nothing is on its way. */
bool relay_is_empty(const struct relay *relay);

#endif
