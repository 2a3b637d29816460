/*
 * The policy meets the machine: anchors get their paths, and path rules and
 * their exclusions become places without symbolic links, in the form that the model
 * (format/model.h) and the lowering work on.
 */
#ifndef SBX_BIND_H
#define SBX_BIND_H

#include "runtime/base/options.h"
#include "runtime/bind/cover.h"
#include "runtime/bind/resolve.h"
#include "runtime/bind/scratch.h"

enum rule_state {
	RULE_READY,   /* it exists; fd or reopening leads to it */
	RULE_ABSENT,  /* nothing is there, or it cannot be reached */
	RULE_PLANTED, /* a link that the sandbox could have made leads there */
	RULE_UNBOUND, /* its anchor has no path on this machine */
};

/* What the lowering and the plan need to know beside the rule itself. */
struct site {
	const struct sbx_path *path; /* in the blob */
	int fd;    /* of an allow that is ready: O_PATH, or -1 to reopen */
	int error; /* why it is absent */
	uint8_t state;
	bool linked;  /* a symbolic link leads there */
	bool missing; /* of a deny: nothing was there when it was bound */
};

/* A symbolic link on the way to what some rules allow: the matches of a glob,
 * or one. */
struct link {
	uint32_t rule, count;
	struct sbx_place at;
};

/* What became of a glob; the rules at its matches name the same record. */
struct glob {
	const struct sbx_path *path; /* in the blob */
	struct sbx_place at;         /* what the pattern is below */
	uint32_t matches;
	uint32_t closed;   /* directories that were passed over */
	const char *fault; /* why it is enforced in part; a preferred one */
	bool unbound;      /* its anchor has no path on this machine */
};

enum {
	/* Symbolic links that lead to allowed places. */
	BIND_MAX_LINKS = 4096,
	/* Descriptors kept open from binding to lowering; what the caller's
	 * limit leaves, but for a few that are needed on the way. */
	BIND_MAX_OPEN = 4096,
	BIND_SPARE_OPEN = 32,
};

struct binding {
	struct listings listings;
	const struct sbx_blob *blob;
	struct sbx_place anchors[SBX_MAX_ANCHORS];
	bool bound[SBX_MAX_ANCHORS];
	/* The password entry's home where it differs from $HOME, for denies. */
	struct sbx_place other_home;
	bool has_other_home;
	bool scratch_missing; /* -n does not make it */
	bool described;       /* rules that grant nothing are wanted too */
	uint32_t rule_count, exclusion_count, link_count;
	uint32_t rule_max, exclusion_max;
	int fd_max; /* descriptors below are kept */
	struct sbx_rule *rules;
	struct cover cover; /* of the rules */
	struct site *sites; /* beside rules */
	struct sbx_place *exclusions;
	struct link *links;
	struct glob *globs;
	uint32_t glob_count, glob_entries, glob_matches;
	/* What comes before shares a page with what the arena begins with. */
	struct arena arena;
};

/*
 * Binds every anchor that the policy uses; refuses (125) where one that must
 * exist does not: the workspace, a parameter, the scratch directory.
 */
void bind_anchors(struct binding *binding, const struct sbx_blob *blob,
    const struct options *options);

/* Binds the path rules; needs the anchors. */
void bind_rules(struct binding *binding);

/* To be called by whoever changes the places of rules. */
void bind_index(struct binding *binding);

/* Whether the sandbox may write the policy that it runs under, and a rule that
 * keeps it from that. */
bool bind_is_writable(struct binding *binding, struct sbx_place policy);
void bind_policy(struct binding *binding, struct sbx_place policy);

/* The first of the turns on the way to the policy (see load.h) that the sandbox
 * may replace, to lead the next run elsewhere; NULL if there is none. */
const char *bind_hop(struct binding *binding, const char *hops);

#endif
