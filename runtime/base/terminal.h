/*
 * The controlling terminal, and which process group it belongs to.
 */
#ifndef SBX_TERMINAL_H
#define SBX_TERMINAL_H

#include <stdbool.h>

/* A descriptor of it above the standard ones, or -1: there is none. */
int terminal_open(void);

/* Whether it belongs to the process group of this process. */
bool terminal_is_ours(int terminal);

/* Whether both standard input and output are the terminal, and it is ours: then
 * whoever gets these is to have the terminal too. */
bool terminal_is_handed_on(int terminal);

/* Takes it for the group of this process, whoever has it. */
void terminal_take(int terminal);

/* Takes it back if the group that has it is gone. */
void terminal_take_back(int terminal);

#endif
