/*
 * The policy meets the machine: anchors get their paths, and path rules and
 * their holes become places without symbolic links, in the form that the model
 * (format/model.h) and the lowering work on.
 */
#ifndef SBX_BIND_H
#define SBX_BIND_H

#include "runtime/options.h"
#include "runtime/resolve.h"

enum rule_state {
	RULE_READY,   /* it exists; fd or reopening leads to it */
	RULE_ABSENT,  /* nothing is there, or it cannot be reached */
	RULE_PLANTED, /* a link that the sandbox could have made leads there */
	RULE_UNBOUND, /* its anchor has no path on this machine */
};

/* What the lowering and the plan need to know beside the rule itself. */
struct site {
	const struct sbx_path *path; /* in the blob */
	int fd;      /* of an allow that is ready: O_PATH, or -1 to reopen */
	int error;   /* why it is absent */
	uint8_t state;
	bool linked; /* a symbolic link leads there */
};

/* Denies count twice where the home directory has two names, and once more
 * for each link that leads to them. */
enum {
	BIND_MAX_RULES = 2 * SBX_MAX_RULES,
	BIND_MAX_HOLES = 2 * SBX_MAX_RULES,
	/* Descriptors kept open from binding to lowering. */
	BIND_MAX_OPEN = 128,
};

struct binding {
	const struct sbx_view *view;
	struct sbx_place anchors[SBX_MAX_ANCHORS];
	bool bound[SBX_MAX_ANCHORS];
	/* The password entry's home where it differs from $HOME, for denies. */
	struct sbx_place other_home;
	bool has_other_home;
	bool scratch_missing; /* -n does not make it */
	uint32_t rule_count, hole_count;
	struct sbx_rule rules[BIND_MAX_RULES];
	struct site sites[BIND_MAX_RULES]; /* beside rules */
	struct sbx_place holes[BIND_MAX_HOLES];
	struct listing home;
	char passwd[1 << 20]; /* /etc/passwd, as far as it fits */
	struct text text;
};

/*
 * Binds every anchor that the policy uses; refuses (125) where one that must
 * exist does not: the workspace, a parameter, the scratch directory.
 */
void bind_anchors(struct binding *binding, const struct sbx_view *view,
    const struct options *options);

/* Binds the path rules; needs the anchors. */
void bind_rules(struct binding *binding);

#endif
