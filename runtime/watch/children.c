/*
 * The kernel's list of the children of a process, as
 * /proc/PID/task/TID/children has it: numbers with blanks between them.
 */
#include "runtime/watch/supervise.h"

#include "format/text.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

const char *
child_next(const char *text, const char *stop, pid_t *pid)
{
	while (text < stop) {
		const char *end = text;
		uint64_t number;

		while (end < stop && *end != ' ')
			end++;
		if (end == stop)
			break;
		if (sbx_decimal_read(text, end, &number) == end && number > 0 &&
		    number <= INT_MAX) {
			*pid = (pid_t)number;
			return end;
		}
		text = end + 1;
	}
	return NULL;
}
