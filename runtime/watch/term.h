/*
 * The time that a command has: at its end it is sent TERM, and KILL after a grace.
 * Each of the processes that look at the clock has its own.
 */
#ifndef SBX_TERM_H
#define SBX_TERM_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct term {
	uint64_t timeout, grace;  /* seconds; a timeout of 0: no end */
	struct timespec deadline; /* if there is one; then of the grace */
	bool late;                /* the time is over */
	bool over;                /* and so is the grace */
};

/* The seconds must not overflow a time_t when they are added to a time. */
struct term term_begin(struct timespec begin, uint64_t timeout, uint64_t grace);

/* Compares with the clock; whether the command is to be sent TERM now: once. */
bool term_check(struct term *term, const struct timespec *now);

/* Milliseconds to the deadline for poll(2), rounded up; -1: there is none. */
int term_left(const struct term *term, const struct timespec *now);

static inline bool
time_is_before(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec :
				      a.tv_nsec < b.tv_nsec;
}

#endif
