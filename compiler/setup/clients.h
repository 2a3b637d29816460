/*
 * The programs that start commands of others, and what sbx knows of each.
 */
#ifndef SBX_CLIENTS_H
#define SBX_CLIENTS_H

#include "compiler/base/arena.h"

enum { CLIENT_STATE_MAX = 4 };

/* Where an agent outside and its commands leave each other files, such as the
 * directory that a command ended in. */
#define CLIENT_SCRATCH ".cache/sbx-agent/"

/* A directory (its path ends in a slash), or a file with a text, which an agent
 * wants to find when it starts. */
struct client_place {
	const char *path, *text;
};

/* The setting in which an agent looks for its shell. */
struct client_shell {
	const char *file;   /* of JSON */
	const char *object; /* in it; NULL: the top */
	const char *key;    /* the path of the shell */
	const char
	    *scratch; /* a directory that agent and shell share, or NULL */
};

/* An agent.  Places are below the home directory. */
struct client {
	const char *name, *title;
	const char *program; /* its command */
	const char *profile; /* that confines it as a whole */
	struct client_place state[CLIENT_STATE_MAX];
	const char *arguments; /* that it needs inside, or NULL */
	const char *instruct;  /* words before what it is told, or NULL */
	struct client_shell shell;
	const char *bare; /* why its own name stays unconfined; NULL: a shell */
};

extern const struct client clients[];
extern const size_t client_count;

/* NULL if there is none of that name. */
const struct client *client_find(const char *name);

#endif
