/* The system calls that a process of sbx-proxy may make: see filter.c. */
#ifndef SBX_PROXY_FILTER_H
#define SBX_PROXY_FILTER_H

#include "runtime/proxy/confine.h"

/* False with errno.  no_new_privs must be set. */
bool filter_install(enum confined kind);

#endif
