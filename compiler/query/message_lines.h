/*
 * The lines of what a command printed, without what logs and terminals add.
 */
#ifndef SBX_MESSAGE_LINES_H
#define SBX_MESSAGE_LINES_H

#include "compiler/base/arena.h"

#include <stddef.h>
#include <stdint.h>

struct message_line {
	uint32_t number; /* of the text, from 1 */
	const char *text;
};

struct message_lines {
	VEC(struct message_line) list;
};

/* `before`: how many lines come before the text.  What a carriage return begins
 * anew is an entry of its own, with the number of its line. */
void message_lines_read(struct message_lines *lines, struct arena *arena,
    const char *text, size_t size, uint32_t before);

#endif
