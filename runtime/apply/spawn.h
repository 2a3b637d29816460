/*
 * `deny spawn`: one process, its threads, and no program but the command.
 *
 * Of all calls that start a process or a program, the policy's filter lets
 * execveat(2) alone through, and a second filter that only with a random number
 * as its sixth argument, of which the kernel knows nothing.  The number is in
 * the memory and the registers of the loader, and in the filter, which nobody
 * can read back.  To become the command replaces memory and registers, so the
 * command cannot know it.
 */
#ifndef SBX_SPAWN_H
#define SBX_SPAWN_H

#include <stdint.h>

/* Installs that filter, before the policy's; the number, for execute(). */
uint64_t spawn_prepare(void);

#endif
