/*
 * sbx-proxy, the program that serves the ways out: where it is, and how it is
 * started.
 */
#ifndef SBX_NETWORK_PROXY_H
#define SBX_NETWORK_PROXY_H

#include "format/blob.h"

#include <stddef.h>
#include <sys/types.h>

/* The numbers that its descriptors have; the sockets come last. */
enum proxy_descriptor {
	PROXY_POLICY = 3, /* the verified blob, in a sealed file */
	PROXY_EVENTS,     /* struct proxy_event, to the supervisor */
	PROXY_CONTROL,    /* it ends when this is closed */
	PROXY_INSIDE,     /* the sandbox's network namespace, or /dev/null */
	PROXY_SOCKETS,
};

/* What it gets: a table of PROXY_SOCKETS and `count` descriptors, by their
 * numbers there.  Those of 0 to 2 are filled in here. */
struct proxy_start {
	int program;
	const char *level; /* "full" or "standard" */
	const char *path;  /* of the user's own proxy, or NULL */
	uint32_t count;    /* of the sockets */
	int descriptors[PROXY_SOCKETS + SBX_MAX_WAYS];
};

/* Opens the program; -1 if there is none that may be trusted, which
 * proxy_missing says.  proxy_open() refuses (125) then; what it gives is a
 * sealed copy where the command could write the program itself. */
int proxy_find(void);
extern const char proxy_missing[];
int proxy_open(void);

/* A sealed file with the policy's bytes, or -1 and errno. */
int proxy_policy(const void *bytes, size_t size);

/* Starts it; its process, or -1 and errno.  The caller keeps its descriptors. */
pid_t proxy_run(const struct proxy_start *start);

#endif
