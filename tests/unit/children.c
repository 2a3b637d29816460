/*
 * The kernel's list of children: what is killed is what stands in it, and
 * nothing that kill(2) takes for a group.
 */
#include "runtime/watch/supervise.h"
#include "tests/lib/tap.h"

#include <string.h>

static const struct {
	const char *list, *numbers;
} cases[] = {
	{ "", "" },
	{ " ", "" },
	{ "12 ", "12 " },
	{ "12 345 6 ", "12 345 6 " },
	{ "12  6 ", "12 6 " },
	/* The last one may be a part of a number. */
	{ "12 345", "12 " },
	{ "345", "" },
	/* kill(0) is the own group, kill(-1) everybody, kill(-N) a group. */
	{ "0 7 ", "7 " },
	{ "000 7 ", "7 " },
	{ "-1 7 ", "7 " },
	{ "-12 7 ", "7 " },
	{ "2147483647 7 ", "2147483647 7 " },
	{ "2147483648 7 ", "7 " },
	{ "4294967295 7 ", "7 " },
	{ "4294967303 8 ", "8 " },
	{ "18446744073709551615 7 ", "7 " },
	{ "18446744073709551617 7 ", "7 " },
	{ "99999999999999999999999 7 ", "7 " },
	{ "x 1x x1 7 ", "7 " },
};

int
main(void)
{
	struct tap tap = { 0 };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *at = cases[i].list, *stop = at + strlen(at);
		char numbers[256] = "";
		pid_t pid;

		while ((at = child_next(at, stop, &pid)) != NULL)
			snprintf(numbers + strlen(numbers),
			    sizeof numbers - strlen(numbers), "%d ", (int)pid);
		tap_ok(&tap, strcmp(numbers, cases[i].numbers) == 0, "'%s': %s",
		    cases[i].list, numbers);
	}
	return tap_done(&tap);
}
