/*
 * What sbxc says about itself and about its command line, and its exit
 * statuses.
 */
#include "compiler/base/base.h"

#include "format/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What cannot be seen is shown as a '?': names of files come from anywhere, and
 * could move the cursor or begin a line of their own. */
static void
clean(char *text)
{
	size_t len = strlen(text), size, to = 0;

	for (size_t from = 0; from < len; from += size) {
		uint32_t character;

		size = utf8_decode(text + from, len - from, &character);
		if (size == 0 || utf8_is_hidden(character)) {
			text[to++] = '?';
			size += size == 0;
			continue;
		}
		memmove(text + to, text + from, size);
		to += size;
	}
	text[to] = '\0';
}

__attribute__((format(printf, 1, 0))) static void
complain_list(const char *format, va_list arguments)
{
	char *text;

	if (vasprintf(&text, format, arguments) < 0)
		arena_exhausted();
	clean(text);
	fprintf(stderr, "sbxc: %s\n", text);
	free(text);
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
