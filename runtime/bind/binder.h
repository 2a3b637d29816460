/*
 * A binding while it is made; for this room alone.
 */
#ifndef SBX_BINDER_H
#define SBX_BINDER_H

#include "runtime/bind/bind.h"
#include "runtime/bind/glob.h"
#include "runtime/bind/listing.h"

/* Symbolic links that lead to allowed places. */
enum { BIND_MAX_LINKS = 4096 };

struct binder {
	/* First: what is looked at often shares a page with what comes after
	 * in the arena. */
	struct listings listings;
	struct arena *arena;
	const struct bind_request *request;
	const struct sbx_blob *blob;
	bool described; /* rules that grant nothing are wanted too */
	uint32_t rule_max, exclusion_max;
	int fd_max; /* descriptors below are kept */
	struct glob_search search;
	/* What the binding has, while it can be written. */
	struct sbx_rule *rules;
	struct site *sites;
	struct sbx_place *exclusions;
	struct link *links;
	struct glob *globs;
	struct binding made;
};

/* Fills in the anchors; the request's options name some. */
void bind_anchors(struct binder *binder);

/* Refuses (125) if there is no room for another rule. */
struct sbx_rule *add_rule(struct binder *binder, const struct sbx_path *path,
    uint8_t rights, struct sbx_place at);

/* Binds a path rule of the blob, below the place of its anchor. */
void bind_path(struct binder *binder, const struct sbx_path *path,
    struct sbx_place anchor);

/* Notes a path rule whose anchor has no place. */
void bind_unbound(struct binder *binder, const struct sbx_path *path);

#endif
