/*
 * Words in commands for a shell, which people and agents paste.
 */
#ifndef SBX_SHELL_H
#define SBX_SHELL_H

#include "compiler/base/arena.h"

#include <stdbool.h>

/* A word as a shell takes it: in single quotes, if it needs them. */
const char *shell_word(struct arena *arena, const char *word);

/* Whether an absolute path means the same to every shell, with quotes and
 * without.  A command is offered for no other one: whoever chose the name may
 * want it to be run. */
bool shell_is_safe(const char *path);

#endif
