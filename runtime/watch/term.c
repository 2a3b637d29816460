/*
 * The time that a command has: at its end it is sent TERM, and KILL after a grace.
 * Each of the processes that look at the clock has its own.
 */
#include "runtime/watch/receipt.h"

#include <limits.h>

struct term
term_begin(struct timespec begin, uint64_t timeout, uint64_t grace)
{
	begin.tv_sec += (time_t)timeout;
	return (struct term){
		.timeout = timeout,
		.grace = grace,
		.deadline = begin,
	};
}

bool
term_check(struct term *term, const struct timespec *now)
{
	if (term->timeout == 0 || time_is_before(*now, term->deadline))
		return false;
	if (term->late) {
		term->over = true;
		return false;
	}
	term->late = true;
	term->deadline = *now;
	term->deadline.tv_sec += (time_t)term->grace;
	return true;
}

int
term_left(const struct term *term, const struct timespec *now)
{
	int64_t left;

	if (term->timeout == 0)
		return -1;
	left = (int64_t)(term->deadline.tv_sec - now->tv_sec) * 1000 +
	    (term->deadline.tv_nsec - now->tv_nsec) / 1000000 + 1;
	return left < 0 ? 0 : left < INT_MAX ? (int)left : INT_MAX;
}
