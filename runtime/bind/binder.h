/* The inside of the binder. */
#ifndef SBX_RUNTIME_BIND_BINDER_H
#define SBX_RUNTIME_BIND_BINDER_H

#include "runtime/base/files.h"
#include "runtime/bind/bind.h"

/* --- glob.c ------------------------------------------------------------ */

enum {
	/* Bounds for all globs of a policy together. */
	GLOB_MAX_ENTRIES = 262144, /* that are looked at */
	GLOB_MAX_MATCHES = 4096,
	GLOB_MAX_DEPTH = 128,
};

struct glob_search {
	struct arena *arena;
	struct sbx_place *matches; /* room for GLOB_MAX_MATCHES */
	uint32_t entries, count;   /* of entries and matches, of all globs */
	bool gives; /* it allows: what is shut to us does not matter */
	/* Of the last glob. */
	uint32_t closed;   /* directories that were passed over */
	const char *fault; /* what ended the search early, or NULL */
	int error;         /* and its errno, or 0 */
};

/*
 * Adds the places that match a verified pattern below a place without links.
 * With a name: those that would, if the place had that name below where the
 * pattern begins; the place itself may be one then.
 */
void glob_find(struct glob_search *search, struct sbx_place place,
    const char *name, const char *pattern);

/*
 * A binding while it is made; for this room alone.
 */

/* Symbolic links that lead to allowed places. */
enum { BIND_MAX_LINKS = 4096 };

/* Files that the user's settings of git lead to. */
enum { GIT_INCLUDES_MAX = 64 };

/* $HOME, and the home of the password entry where it is another one. */
enum { HOMES_MAX = 2 };

/* A place that commands may write; or those of its matches, for a glob. */
struct suspect {
	struct sbx_place at;
	const char *glob; /* or NULL */
};

/* Found when the first link is judged; `of` is NULL until then. */
struct suspects {
	struct suspect *of;
	uint32_t count;
	struct sbx_place home; /* of the user, who is trusted up to there */
};

/* What the caller named: the workspace, the homes, parameters, the log. */
enum { GIVEN_MAX = SBX_MAX_ANCHORS + 8 };

struct binder {
	/* First: what is looked at often shares a page with what comes after
	 * in the arena. */
	struct listings listings;
	struct arena *arena;
	const struct bind_request *request;
	const struct sbx_blob *blob;
	bool described; /* rules that grant nothing are wanted too */
	bool planned;   /* nothing is run, or made */
	uint32_t rule_max, exclusion_max;
	int fd_max; /* descriptors below are kept */
	struct glob_search search;
	struct suspects suspects;
	/* What the binding has, while it can be written. */
	struct sbx_rule *rules;
	struct sbx_rule *sockets;
	struct socket_site *socket_sites;
	struct site *sites;
	struct sbx_place *exclusions;
	struct sbx_place *links;
	struct glob *globs;
	struct binding made;
	/* Those that links lead to; they are judged when all are bound.  Last,
	 * because most machines have none. */
	uint32_t given_count;
	struct followed given[GIVEN_MAX];
};

/* Fills in the anchors; the request's options name some.  Refuses (125) what a
 * planted link leads to. */
void bind_anchors(struct binder *binder);

/* The user's homes, the first for ~; 0: there is none. */
uint32_t find_homes(struct binder *binder, struct sbx_place homes[HOMES_MAX]);

/* Refuses (125) if there is no room for another rule. */
struct sbx_rule *add_rule(struct binder *binder, const struct sbx_path *path,
    uint8_t rights, struct sbx_place at);

/* A rule that allows what was found, and keeps its descriptor. */
struct sbx_rule *allow_found(struct binder *binder, const struct sbx_path *path,
    const struct followed *found);

/* The verdict by the rules that there are by now; its rule is one of them. */
struct sbx_verdict verdict_so_far(const struct binder *binder, uint8_t right,
    struct sbx_place at);

/* Binds a path rule of the blob, below the place of its anchor. */
void bind_path(struct binder *binder, const struct sbx_path *path,
    struct sbx_place anchor);

/* Binds a path rule about the workspace for its repository elsewhere. */
void bind_in_repository(struct binder *binder, const struct sbx_path *path);

/* Denies writing, or all, of what is called so below a place, which has no links in it. */
struct site *deny_below(struct binder *binder, struct sbx_place parent,
    const char *suffix, bool reading);

/* Binds the rules about sockets, when the anchors are bound. */
void bind_sockets(struct binder *binder);

/* Binds the socket of the user's own proxy, when the anchors are bound. */
void bind_proxy(struct binder *binder);

/* The host's resolv.conf, where it is a link: see there. */
void bind_resolver(struct binder *binder);

/* Tells of files that say where packages come from, and that are denied. */
void bind_registries(struct binder *binder);

/* What the user's settings of git lead to: see there. */
void bind_git_includes(struct binder *binder);

/* Keeps the links that lead to a place, for the view has them too. */
void note_links(struct binder *binder, const struct followed *found);

/* Notes a path rule whose anchor has no place, or that does not hold. */
void bind_nowhere(struct binder *binder, const struct sbx_path *path,
    enum rule_state why);

/* --- ceiling.c --------------------------------------------------------- */

/* Where the blob was cut by a ceiling: leaves of the rules, the first `own` of which
 * are the policy's, what both allow. */
void bind_ceiling(struct binder *binder, uint32_t own);

/* The same of rules about sockets, the first `own` of which are the policy's: how many
 * there are, and with `made` which. */
uint32_t bind_cut_sockets(const struct sbx_rule *rules, uint32_t count,
    uint32_t own, struct sbx_rule *made);

/* --- planted.c --------------------------------------------------------- */

/* Why a link is not to be followed, or NULL.  The anchors must be bound. */
const char *link_fault(struct binder *binder, struct sbx_place link);

/*
 * The same for what the caller has named.  The directory must not have been a
 * workspace either: -w sub, in one, could lead anywhere.  This is not asked for
 * rules; else the links in a home would fail for good once it was a workspace.
 */
const char *given_fault(struct binder *binder, struct sbx_place link);

/* Whether one of the links that were followed is not to be. */
bool is_planted(struct binder *binder, const struct followed *found);

/* Whether a command may have put an entry into its directory, or chooses where
 * it leads. */
bool commands_choose(struct binder *binder, struct sbx_place entry);

#endif
