/*
 * Where sbx keeps what is the user's: policies and settings, which a person
 * writes, and state, which sbx writes.  Both lie in the home of the password
 * entry; no variable chooses another one.
 */
#ifndef SBX_BASE_OWN_H
#define SBX_BASE_OWN_H

#include "format/own.h"

#include <stddef.h>

/* The home directory of the user's line in /etc/passwd, in `buffer`, or NULL.  A
 * user who has no line there (but in a directory service) has only $HOME. */
enum { PASSWD_LINE = 4096 }; /* the longest that is read */
const char *passwd_home(char *buffer, size_t size);

#endif
