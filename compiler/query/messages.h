/*
 * What a command printed, read for what it says of failures: places, names of
 * hosts, system calls and programs beside an error that a policy can be the
 * reason for.  Nothing is decided here, and nothing of it is believed: whoever
 * asks looks whether the policy denies it.
 */
#ifndef SBX_MESSAGES_H
#define SBX_MESSAGES_H

#include "compiler/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MESSAGES_MAX_LINE = 4096,    /* of a longer one the end counts */
	MESSAGES_MAX_MENTIONS = 4096 /* and nothing after them */
};

enum mention_kind {
	MENTION_PLACE,   /* a path, absolute or not */
	MENTION_PROGRAM, /* a name that PATH did not lead to */
	MENTION_HOST,    /* a name or an address */
	MENTION_CALL,    /* a word that may be a system call */
	MENTION_SERVICE, /* a port of 127.0.0.1 at which nobody answered */
	MENTION_PROXY,   /* a proxy's answer, and no name of a host */
	MENTION_END,
};

/* What the system said. */
enum message_error {
	ERROR_DENIED,    /* EACCES, EPERM */
	ERROR_READ_ONLY, /* EROFS */
	ERROR_ABSENT,    /* ENOENT */
	/* All that follow are of the network. */
	ERROR_NETWORK,
	ERROR_REFUSED_BY_US, /* sbxrun's own line */
	ERROR_PROXY_REFUSES, /* 403 */
	ERROR_PROXY_FAILS,   /* 502 */
	ERROR_NOBODY_LISTENS,
	ERROR_END,
};

struct mention {
	enum mention_kind kind;
	enum message_error error;
	bool writes; /* the words are those of who makes or changes something */
	bool runs;   /* those of who runs something */
	bool directory; /* or makes a directory */
	bool guessed;   /* where the name ends: it counts if it is there */
	uint16_t port;  /* of a host, or of 127.0.0.1 that a socket was for; 0:
			 * it was not said */
	uint32_t line;  /* of the text, from 1 */
	const char *name;
	const char *text; /* the line itself, without what a terminal obeys */
};

struct mentions {
	uint32_t before; /* lines before the text */
	VEC(struct mention) list;
};

/* In the order of the text; of one line the most likely first. */
void messages_read(struct arena *arena, const char *text, size_t size,
    struct mentions *mentions);

#endif
