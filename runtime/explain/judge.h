/*
 * Whether the policy denies what a call does at a path, and whether that is why
 * it fails.
 */
#ifndef SBX_JUDGE_H
#define SBX_JUDGE_H

#include "format/addresses.h"
#include "runtime/base/path.h"
#include "runtime/explain/explain.h"

/* What is done at a path. */
enum act {
	ACT_READ,
	ACT_WRITE,  /* what is there */
	ACT_CREATE, /* the same, or it is made */
	ACT_MAKE,   /* what is not there */
	ACT_MAKE_DIRECTORY,
	ACT_FILL,    /* a directory that is there already, as for mkdir -p */
	ACT_REPLACE, /* a name, by another file */
	ACT_REMOVE,
	ACT_UNLINK, /* the same, unless it is a directory */
	ACT_CHANGE, /* modes, owners, times */
	ACT_RUN,
	ACT_LOOK, /* whether it is there */
	ACT_CONNECT,
	ACT_END,
};

struct asked {
	enum act act;
	bool no_follow;   /* of the last name, if that is a link */
	bool fresh;       /* it fails where something is there */
	bool dots;        /* the last name is "." or ".." */
	struct path path; /* absolute and normal, as the command sees it */
	bool wanted; /* judge(): it works, or would without the policy; then */
	bool makes;  /* the path, outside, is a name that comes or goes */
};

/* False: it is not denied, or would fail without the policy, too.  Fills in the
 * kind, the path, the source and what follows from the act. */
bool judge(const struct explaining *explaining, struct asked *asked,
    struct sbx_denial *denial);

/* The same for a socket that the supervisor has refused to connect to, though
 * the policy lets the command write there. */
bool judge_server(const struct asked *asked, struct sbx_denial *denial);

/* The same for a TCP port, in a network that the policy opens by port. */
bool judge_port(const struct explaining *explaining, uint8_t op, uint16_t port,
    struct sbx_denial *denial);

/* The same for the address of a host, from a network of the sandbox's own. */
bool judge_endpoint(const struct explaining *explaining,
    const uint8_t address[SBX_ADDRESS_SIZE], uint16_t port,
    struct sbx_denial *denial);

#endif
