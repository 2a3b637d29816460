/*
 * Rules about sockets where they are bound, and what they say.
 */
#ifndef SBX_QUERY_SOCKETS_H
#define SBX_QUERY_SOCKETS_H

#include "compiler/query/verdict.h"

/* A rule at its place; ~ has two meanings where it denies. */
struct sbx_rule places_socket(const struct places *places,
    const struct sbx_socket *socket, bool other_home);
bool places_socket_has_other(const struct places *places,
    const struct sbx_socket *socket);

/* Whether the command may connect to a socket. */
struct verdict socket_verdict(const struct subject *subject,
    const struct access *access);

/* Whether a rule opens the agent of ssh: SSH_AUTH_SOCK then names it inside. */
bool subject_has_agent(const struct subject *subject);

#endif
