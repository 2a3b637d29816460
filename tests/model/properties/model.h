/*
 * The rules of a blob, bound to a tree as the loader must bind them, but in the
 * plain way: links are followed one component after the other.
 */
#ifndef SBX_TEST_MODEL_H
#define SBX_TEST_MODEL_H

#include "compiler/query/why.h"
#include "tests/model/properties/world.h"

enum { MAX_LINKS = 40 };

/* Where a path leads, and the links on the way, as bound paths. */
struct route {
	char at[PATH_SIZE];
	char links[MAX_LINKS][PATH_SIZE];
	size_t link_count;
};

/*
 * Follows a path component by component.  From the first that is not there on
 * the rest is text.
 */
void route_follow(struct route *route, const char *path);

struct model {
	struct arena *arena;
	struct sbx_rule *rules;
	size_t count;
	struct sbx_place *suspects; /* what commands may write */
	size_t suspect_count;
	bool defined; /* some rule speaks of the parameter */
	bool scratch; /* what is not shown lies in the scratch directory */
};

struct sbx_place spot_of(const char *path);

bool model_gives(const struct model *model, uint8_t right, const char *path);

/* Binds the rules of the blob, as the loader must: anchors first. */
void model_bind(struct model *model, const struct world *world,
    struct arena *arena, const struct sbx_blob *blob);

bool is_below(const char *path, struct sbx_place place);

#endif
