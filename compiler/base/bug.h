/*
 * Reports an error of sbxc itself and aborts.
 */
#ifndef SBX_BUG_H
#define SBX_BUG_H

void bug(const char *format, ...)
    __attribute__((noreturn, format(printf, 1, 2)));

#endif
