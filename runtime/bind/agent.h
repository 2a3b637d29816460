/*
 * Whether an agent of ssh listens at a socket.
 */
#ifndef SBX_AGENT_H
#define SBX_AGENT_H

#include <stdbool.h>

/* Asks for its keys what is open here, O_PATH, and waits a few seconds at
 * most. */
bool agent_answers(int target);

#endif
