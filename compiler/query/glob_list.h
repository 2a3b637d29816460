/*
 * The globs of a policy, found by a name: one without wildcards that a path must
 * have to match.  So a question tries few of many globs.
 */
#ifndef SBX_GLOB_LIST_H
#define SBX_GLOB_LIST_H

#include "compiler/base/arena.h"
#include "compiler/base/map.h"
#include "format/glob.h"

struct glob_entry {
	uint32_t rule;
	uint32_t next; /* of the same name */
	struct sbx_glob glob;
};

struct glob_list {
	VEC(struct glob_entry) entries;
	struct map
	    names; /* numbers are those of firsts; "": any name will do */
	VEC(uint32_t) firsts;
};

/* Whether it has a name by which it is found. */
bool glob_is_named(const struct sbx_glob *glob);

/* A rule's glob; one that is none is left out. */
void glob_list_add(struct arena *arena, struct glob_list *list, uint32_t rule,
    const char *text);

/* Whoever is told of each entry that may match a path, once or more. */
struct glob_visitor {
	void (*visit)(void *context, const struct glob_entry *entry);
	void *context;
};

void glob_list_visit(const struct glob_list *list, struct sbx_place path,
    const struct glob_visitor *visitor);

#endif
