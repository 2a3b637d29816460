/*
 * Names of hosts.  The compiler, the proxy and the tests ask the same
 * functions, so that what `sbxc why` says is what happens.
 *
 * A rule names one host, or with SBX_NAME_BELOW all names below one: "*.x" is
 * for a.x and a.b.x, and not for x.  A deny wins over every allow, and without
 * a port it is for all ports.
 */
#ifndef SBX_FORMAT_NAMES_H
#define SBX_FORMAT_NAMES_H

#include "format/blob.h"

enum {
	SBX_NAME_SIZE = 254, /* with the NUL at its end */
	SBX_LABEL_MAX = 63,
};

/*
 * The one spelling of a name: lower case, without the one dot that may end it.
 * False for what is no name of a host: other characters than letters, digits,
 * '-' and '_', labels that are empty, too long or have a '-' at an end, and an
 * address in any spelling, which its last label shows: 127.1, 0x7f000001.
 */
bool sbx_name_normal(const char *text, size_t len, char name[SBX_NAME_SIZE]);

struct sbx_name_verdict {
	bool allowed;
	bool is_private; /* addresses that are not public are allowed, too */
	bool by_port;    /* some rule that allows it names the port */
	uint32_t rule;   /* of blob->names; UINT32_MAX: no rule is about it */
};

/* The verdict on a TCP port of a name in its normal spelling. */
struct sbx_name_verdict sbx_name_verdict(const struct sbx_blob *blob,
    uint8_t platforms, const char *name, uint16_t port);

/* Whether some port of it is allowed, so that it has an address inside. */
bool sbx_name_is_known(const struct sbx_blob *blob, uint8_t platforms,
    const char *name);

/* Byte order, in which the names of a blob are sorted. */
int sbx_name_compare(const char *a, const char *b);

#endif
