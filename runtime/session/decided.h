/*
 * What sbx-proxy decided while a command of a session ran.  The keeper is told
 * of it; whoever attends a command asks for it at the end.
 *
 * sbx-proxy sees connections and not who makes them.  So what is told are all
 * decisions between the beginning and the end of a command, and whether there
 * was another one meanwhile that they may have been for.
 */
#ifndef SBX_SESSION_DECIDED_H
#define SBX_SESSION_DECIDED_H

#include "runtime/network/network.h"
#include "runtime/session/join.h"
#include "runtime/session/offer.h"

/* In the keeper: where a command begins. */
struct beginning {
	uint64_t decided;
	bool shared;
};

/* Fills in what an answer says of the network. */
void decided_state(const struct network *network, struct session_reply *reply);

/* Answers SESSION_NETWORK; false if that could not be sent. */
bool decided_answer(struct network *network, int socket,
    const struct beginning *beginning);

/* In sbxrun, before the command starts and when it has ended: says what there
 * is to say, and fills in the decisions of the session's network. */
void decided_begin(const struct joining *joining);
void decided_ask(struct joining *joining);

#endif
