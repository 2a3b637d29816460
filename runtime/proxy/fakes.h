/*
 * The addresses that the resolver hands out: one for each name, out of
 * SBX_FAKE_NET.  A connection to such an address is one to the name.
 *
 * There is room for some thousand names.  Then the one that was not used for
 * longest loses its place, and the next name gets an address there that nobody
 * had before: whoever still knows the old one is refused, and not led to
 * another name.  Only after 32 names in one place an address comes again.
 */
#ifndef SBX_PROXY_FAKES_H
#define SBX_PROXY_FAKES_H

#include "format/names.h"

enum { FAKES_MAX = 4096 };

struct fakes;

/* NULL with errno: there is no memory, or nothing random. */
struct fakes *fakes_new(void);
/* The address of a name, in host byte order. */
uint32_t fakes_address(struct fakes *fakes, const char *name);
/* The name of an address, or NULL.  It is valid until the next call. */
const char *fakes_name(struct fakes *fakes, uint32_t address);

#endif
