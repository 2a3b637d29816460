/*
 * Where profiles and groups are found: in the file, in what it includes, and
 * then among the shipped ones, which are parsed when somebody asks for them.
 */
#ifndef SBX_BLOCKS_H
#define SBX_BLOCKS_H

#include "compiler/base/map.h"
#include "compiler/policy/policy.h"

/* A profile or a group. */
struct block {
	const struct ast_stmt *stmt;
	const struct source *source;
	const char *name; /* interned */
	bool group;
	bool entered;
	bool busy; /* its groups are being gathered */
	bool gathered;
	int layer;         /* the last one that expanded it; 0: none */
	uint8_t platforms; /* the platforms that it did so for */
	uint8_t latest;    /* those of its last use there */
};

struct blocks {
	struct arena *arena;
	struct sources *sources;
	struct diags *diags;
	struct map profiles, groups;
	struct map
	    copies; /* profiles with a mark and the name of a shipped one */
	VEC(struct block *) all;
	VEC(struct block *) entered; /* those to reset: mostly few of all */
	VEC(const struct ast_stmt *) names; /* let and param of the files */
	bool shipped_groups;
	bool faulty;            /* some name was reported */
	bool full;              /* one profile too many was reported */
	bool unused;            /* what nothing speaks of was reported */
	size_t expanded, spent; /* profiles; their rules and names */
	size_t filtered;        /* what their filters took, as so many rules */
};

/* Registers what a file defines, and what it includes; reports names that are
 * defined twice or that belong to a shipped profile or group. */
struct blocks *blocks_new(struct sources *sources, struct diags *diags,
    const struct ast_stmt *stmts);

/* Makes a block busy, and whatever is noted in it from now on something that
 * blocks_reset() takes back. */
void blocks_enter(struct blocks *blocks, struct block *block);

/* Makes them as if none of them had been expanded. */
void blocks_reset(struct blocks *blocks);

/* The profile that is compiled when this name is asked for, or NULL. */
struct block *blocks_wanted(struct blocks *blocks, const char *name);

/* Finds a profile or a group by name, or NULL; does not report. */
struct block *blocks_find(struct blocks *blocks, const char *name, bool group,
    struct loc wanted_at);

/* The same for a name in the policy: reports an unknown one. */
struct block *blocks_get(struct blocks *blocks, const struct ast_atom *name,
    bool group);

/* Whether any profile or group that was read has such a parameter, used here or
 * not. */
bool blocks_have_param(const struct blocks *blocks, const char *name);

/* A name near to one that is unknown, or NULL. */
const char *blocks_nearest(struct blocks *blocks, const char *name, bool group);

#endif
