/*
 * Names of hosts with letters beyond ASCII: what they are called in the DNS.
 */
#ifndef SBX_IDNA_H
#define SBX_IDNA_H

#include "compiler/base/arena.h"

/*
 * "b\u00fccher.example" as "xn--bcher-kva.example"; NULL for a text that is no
 * UTF-8 or too long.  Letters are taken as they are: capitals beyond ASCII are
 * not lowered, nor is anything composed.
 */
const char *idna_to_ascii(struct arena *arena, const char *name);

#endif
