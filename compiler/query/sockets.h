/*
 * Rules about sockets where they are bound, and what they say.
 */
#ifndef SBX_QUERY_SOCKETS_H
#define SBX_QUERY_SOCKETS_H

#include "compiler/query/remedy.h"
#include "compiler/query/why.h"

/* A rule at its place; ~ has two meanings where it denies. */
struct sbx_rule places_socket(const struct places *places,
    const struct sbx_socket *socket, bool other_home);
bool places_socket_has_other(const struct places *places,
    const struct sbx_socket *socket);

/* Whether the command may connect to a socket. */
struct verdict socket_verdict(const struct subject *subject,
    const struct access *access);

/* Whether a rule opens the agent of ssh: SSH_AUTH_SOCK then names it inside.  Of
 * this machine, whether it is there, too. */
bool subject_has_agent(const struct subject *subject);

/* For an answer: the rules that would open it and are skipped, and why. */
void why_say_no_agent(const struct why *why);

/* Says that no rule is missing if that is so of the agent; returns whether. */
bool remedy_agent(struct remedy *remedy);

#endif
