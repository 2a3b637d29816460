/*
 * Hosts as rules name them: names, addresses, ports.  Each function reads one
 * object, and reports what is wrong with it before it returns false.
 */
#ifndef SBX_HOST_H
#define SBX_HOST_H

#include "compiler/policy/objects.h"

/* "github.com", "*.npmjs.org:8080": into rule->domain; adds to its flags. */
bool host_name_read(struct scope *scope, const struct ast_atom *atom,
    struct rule *rule);

/* "10.0.0.5:5432"; or, with an object for the ports, "10.0.0.5:": into
 * rule->endpoint. */
bool host_address_read(struct scope *scope, const struct ast_atom *atom,
    const struct ast_atom *ports, struct rule *rule);

/* One port. */
bool host_port_read(struct scope *scope, const struct ast_atom *atom,
    uint16_t *port);

/* Whether none of the ports is one of the sandbox's own; reports it. */
bool host_ports_free(struct scope *scope, const struct ast_atom *atom,
    uint16_t low, uint16_t high);

/*
 * An address, with "/BITS" behind it or not, in brackets or not; false if the
 * text is none.  What lies beyond the prefix is kept.
 */
struct host_net {
	uint8_t address[16];
	uint8_t prefix; /* of 128 bits */
};
bool host_net_parse(const char *text, size_t len, struct host_net *net);

/* The host in a URL, or NULL. */
const char *host_of_url(struct arena *arena, const char *text);

#endif
