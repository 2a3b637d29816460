/*
 * Reports an error of sbxc itself and aborts.
 */
#include "compiler/base/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void
bug(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("sbxc: internal error: ", stderr);
	vfprintf(stderr, format, args);
	fputs("; please report it\n", stderr);
	va_end(args);
	abort();
}
