/*
 * sbxrun --status: what the machine offers, in words or as JSON.
 */
#ifndef SBX_STATUS_H
#define SBX_STATUS_H

#include <stdbool.h>

/* Prints it all and ends the program with 0. */
void status_print(bool json) __attribute__((noreturn));

#endif
