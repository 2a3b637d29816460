/*
 * The loader's own binder (runtime/bind), asked about this machine: what the
 * path rules of a policy become here, where links lead, and which rules grant
 * nothing.  A process of its own binds, so that what makes sbxrun refuse ends
 * that process and is a text here.
 */
#ifndef SBX_COMPILER_QUERY_BINDER_H
#define SBX_COMPILER_QUERY_BINDER_H

#include "format/model.h"

struct bind_question {
	const struct sbx_blob *blob;
	const char *workspace;    /* NULL: as sbxrun finds it without -w */
	const char *home;         /* NULL: there is none */
	struct sbx_place scratch; /* what ${tmp} is called in the answer */
	const char *const *definitions; /* "NAME=PATH" */
	uint32_t definition_count;
};

/* A rule at one place. */
struct bound_path {
	struct sbx_rule rule;        /* with its rights, though it is skipped */
	const struct sbx_path *path; /* in the blob */
	bool absent;                 /* of an allow: nothing is there */
	bool
	    planted; /* of an allow: somebody could have planted a link to it */
	bool is_link; /* of a deny: a link on the way, not to be replaced */
};

/* A glob that grants nothing, for somebody could have planted a link to where
 * it begins. */
struct bound_glob {
	const struct sbx_path *path;
	bool planted;
};

/* A rule about sockets that the loader skips. */
struct bound_socket {
	const struct sbx_socket *socket; /* in the blob */
	const char *fault;
};

struct bound {
	const char *fault; /* why sbxrun refuses; NULL: what follows counts */
	uint8_t platforms; /* whose rules these are */
	struct sbx_place workspace; /* of no length: there is none */
	uint32_t rule_count, link_count, glob_count, socket_count;
	const struct bound_path *rules; /* in the order of the blob */
	const struct sbx_place *links;  /* to what is allowed or was given */
	const struct bound_glob *globs;
	const struct bound_socket *sockets;
};

/* The workspace that sbxrun finds without -w; NULL: the current directory. */
const char *binder_workspace(void);

/* The answer is kept until the program ends. */
const struct bound *binder_ask(const struct bind_question *question);

#endif
