/*
 * The receipt: what was applied, and how it ended, as lines of JSON for
 * programs, on a descriptor (--status-fd) or at the end of a file (--log).
 * sbxrun(1) describes the fields.
 *
 * The first record is made before the command's process restricts itself and
 * written when that has succeeded, so that it says nothing that is not so; a
 * refusal leaves no record.
 */
#ifndef SBX_RECEIPT_H
#define SBX_RECEIPT_H

#include "runtime/base/json.h"
#include "runtime/base/options.h"
#include "runtime/watch/cgroup.h"
#include "runtime/watch/relay.h"

#include <sys/types.h>
#include <time.h>

struct plan;

enum { RECEIPT_SINKS = 2 };

struct receipt {
	struct json json; /* first: a large buffer, which is rarely used */
	bool on;
	int sinks[RECEIPT_SINKS]; /* descriptors, or -1 */
	pid_t pid;                /* of sbxrun, as its caller sees it */
	struct timespec time;     /* of its start: with pid, the run's name */
};

/* How the command ended. */
struct receipt_end {
	int status; /* as wait(2) gives it; without meaning if late */
	bool late;
	struct timespec begin, end; /* CLOCK_MONOTONIC */
	const struct relay *relay;
	const struct cgroup_usage *usage;
};

/* Opens what the options name; refuses if that cannot be written. */
void receipt_open(struct receipt *receipt, const struct options *options);

/* Prepares the first record, and writes it; false if that failed. */
void receipt_prepare(struct receipt *receipt, const struct plan *plan,
    const char *policy);
bool receipt_send(struct receipt *receipt);

/* The last record; a failure is a warning. */
void receipt_finish(struct receipt *receipt, const struct receipt_end *end);

void receipt_close(const struct receipt *receipt);

#endif
