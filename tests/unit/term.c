/* The time of a command, with clocks of our own. */
#include "runtime/watch/receipt.h"
#include "tests/lib/tap.h"

#include <limits.h>

static struct tap tap;

static const struct timespec begin = { 100, 500000000 };

static struct timespec
after(time_t seconds, long nanoseconds)
{
	return (struct timespec){
		begin.tv_sec + seconds,
		begin.tv_nsec + nanoseconds,
	};
}

/* What term_check() says at a time, and what it leaves. */
static void
checks(const char *what, struct term *term, struct timespec now, bool tell,
    bool late, bool over)
{
	bool told = term_check(term, &now);

	tap_ok(&tap, told == tell && term->late == late && term->over == over,
	    "%s", what);
}

static void
leaves(const char *what, const struct term *term, struct timespec now, int left)
{
	int got = term_left(term, &now);

	if (!tap_ok(&tap, got == left, "%s", what))
		printf("# %d\n", got);
}

static void
check_ends(void)
{
	struct term term = term_begin(begin, 7, 2);

	checks("at the beginning", &term, begin, false, false, false);
	checks("a nanosecond too early", &term, after(7, -1), false, false,
	    false);
	checks("at the end", &term, after(7, 0), true, true, false);
	checks("once", &term, after(7, 0), false, true, false);
	checks("in the grace", &term, after(9, -1), false, true, false);
	checks("after the grace", &term, after(9, 0), false, true, true);
	term = term_begin(begin, 7, 2);
	checks("seen late", &term, after(60, 0), true, true, false);
	checks("the grace is whole then", &term, after(62, -1), false, true,
	    false);
	checks("and ends", &term, after(62, 1), false, true, true);
	term = term_begin(begin, 1, 0);
	checks("without a grace", &term, after(1, 0), true, true, false);
	checks("and at once after it", &term, after(1, 0), false, true, true);
	term = term_begin(begin, 0, 2);
	checks("without an end", &term, after(1L << 31, 0), false, false,
	    false);
}

static void
check_left(void)
{
	struct term term = term_begin(begin, 7, 2);

	leaves("the whole of it", &term, begin, 7001);
	leaves("a part of a millisecond", &term, after(7, -1), 1);
	leaves("a second and a part", &term, after(5, 499000000), 1502);
	leaves("nothing", &term, after(8, 0), 0);
	leaves("nothing, long ago", &term, after(1L << 31, 0), 0);
	term = term_begin(begin, INT_MAX, 2);
	leaves("more than poll(2) takes", &term, begin, INT_MAX);
	term = term_begin(begin, 0, 2);
	leaves("without an end", &term, begin, -1);
	term = term_begin(begin, 7, 2);
	checks("late", &term, after(7, 0), true, true, false);
	leaves("the grace", &term, after(8, 0), 1001);
}

int
main(void)
{
	check_ends();
	check_left();
	return tap_done(&tap);
}
