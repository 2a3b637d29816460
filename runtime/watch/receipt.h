/*
 * The receipt: what was applied, and how it ended, as lines of JSON for
 * programs, on a descriptor (--status-fd) or at the end of a file (--log).
 * sbxrun(1) describes the fields.
 *
 * The first record is made before the command's process restricts itself, and
 * written when that has succeeded.  So everything in it is true, and a refusal
 * leaves no record.
 */
#ifndef SBX_RECEIPT_H
#define SBX_RECEIPT_H

#include "runtime/base/out.h"
#include "runtime/bind/follow.h"
#include "runtime/explain/explain.h"
#include "runtime/network/decisions.h"
#include "runtime/watch/cgroup.h"
#include "runtime/watch/relay.h"

#include <sys/types.h>
#include <time.h>

enum { RECEIPT_SIZE = 64 << 10, RECEIPT_SINKS = 2 };

struct receipt {
	struct out json;         /* the record that is written now, in `text` */
	char text[RECEIPT_SIZE]; /* which is large, and rarely used */
	bool on;
	struct followed way;      /* to the log's directory */
	const char *unopened;     /* what to say then; NULL: the usual */
	int sinks[RECEIPT_SINKS]; /* descriptors, or -1 */
	pid_t pid;                /* of sbxrun, as its caller sees it */
	struct timespec time;     /* of its start: with pid, the run's name */
};

/* How the command ended. */
struct ending {
	int status; /* as wait(2) gives it; without meaning if late */
	bool late;
	struct timespec begin, end; /* CLOCK_MONOTONIC */
	const struct relay *relay;
	const struct cgroup_usage *usage;
	/* --explain: what it found, or NULL, and why it could not. */
	const struct explaining *explaining;
	const char *why_untraced;
};

/* The receipt goes to a descriptor, or -1, and to the end of a file, or
 * NULL. */
void receipt_open(struct receipt *receipt, struct arena *arena, int fd,
    const char *log);

/* Once the links on the way to the file have been judged (receipt->way);
 * refuses if it cannot be written. */
void receipt_open_log(struct receipt *receipt, const char *log);

/* A record begins in receipt->json; false at its end if it had no room. */
void receipt_begin(struct receipt *receipt, const char *event);
bool receipt_end(struct receipt *receipt);

/* Writes the record; false with errno. */
bool receipt_send(struct receipt *receipt);

/* Makes and writes a record for each decision about the network; a failure is a
 * warning. */
void receipt_network(struct receipt *receipt, const struct sbx_blob *blob,
    const struct decisions *decisions);

/* Makes and writes the last record; a failure is a warning. */
void receipt_finish(struct receipt *receipt, const struct ending *ending);

void receipt_close(const struct receipt *receipt);

#endif
