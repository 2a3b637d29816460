/*
 * What format/landlock.def says, as the masks of one ABI.
 */
#ifndef SBX_LANDLOCK_H
#define SBX_LANDLOCK_H

#include "format/blob.h"

/* The newest ABI that the table knows. */
enum { LANDLOCK_LAST_ABI = 10 };

/* What a policy does not restrict, so that Landlock does not handle it. */
struct landlock_blankets {
	bool network, signal, abstract;
};

struct sbx_landlock landlock_row(uint32_t abi,
    struct landlock_blankets blankets);

/* The lines of the table in order, for documents and tests; name NULL ends. */
struct landlock_right {
	const char *class; /* "fs", "net", "scope", "flag" */
	const char *name;
	const char *kind; /* "READ", "CONNECT_TCP" ... or "" */
	uint64_t bit;
	uint32_t abi;
	bool file;
	const char *help;
};
extern const struct landlock_right landlock_rights[];

#endif
