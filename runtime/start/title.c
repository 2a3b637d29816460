/*
 * What other processes see of the command line of this one
 * (/proc/PID/cmdline).
 */
#include "runtime/start/start.h"

#include "runtime/base/out.h"

#include <stdint.h>
#include <string.h>

struct title
title_find(char **argv)
{
	struct title title = { argv[0], 0 };

	for (; *argv != NULL && *argv == title.at + title.size; argv++)
		title.size += strlen(*argv) + 1;
	return title;
}

void
title_forget(const struct title *title, char *const *command)
{
	for (; *command != NULL; command++) {
		uintptr_t offset = (uintptr_t)*command - (uintptr_t)title->at;

		if (offset < title->size)
			memset(*command, 0, strlen(*command));
	}
}

void
title_set(const struct title *title, const char *name)
{
	struct out text;

	if (title->size < 2)
		return;
	out_init(&text, -1);
	out_print(&text, "sbxrun: session%s%s", *name != '\0' ? " " : "", name);
	memset(title->at, 0, title->size);
	for (size_t i = 0; i < text.used && i < title->size - 2; i++)
		title->at[i] = text.text[i];
	/* Where the last byte is not NUL, the kernel shows the first text alone
	 * (get_mm_cmdline() in fs/proc/base.c). */
	title->at[title->size - 1] = ' ';
}
