/* See complain.h. */
#include "compiler/base/complain.h"

#include <stdarg.h>
#include <stdio.h>

__attribute__((format(printf, 1, 0))) static void
complain_list(const char *format, va_list arguments)
{
	fputs("sbxc: ", stderr);
	vfprintf(stderr, format, arguments);
	putc('\n', stderr);
}

void
complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	complain_list(format, arguments);
	va_end(arguments);
}

enum exit_status
misused(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (format != NULL)
		complain_list(format, arguments);
	va_end(arguments);
	fputs("Try 'sbxc --help'.\n", stderr);
	return EXIT_USAGE;
}
