/*
 * The programs that start commands of others, and what sbx knows of each.
 */
#ifndef SBX_CLIENTS_H
#define SBX_CLIENTS_H

#include "compiler/base/arena.h"

enum { CLIENT_STATE_MAX = 4 };

/* An agent.  Places are below the home directory; a directory ends in a slash. */
struct client {
	const char *name, *title;
	const char *program; /* its command */
	const char *profile; /* that confines it as a whole */
	const char *state[CLIENT_STATE_MAX];
	const char *arguments; /* that it needs inside, or NULL */
};

extern const struct client clients[];
extern const size_t client_count;

/* NULL if there is none of that name. */
const struct client *client_find(const char *name);

#endif
