/*
 * The policy meets the machine: anchors get their paths, and path rules and
 * their exclusions become places without symbolic links, in the form that the
 * model (format/model.h) works on.  Once it is made a binding does not change.
 */
#ifndef SBX_BIND_H
#define SBX_BIND_H

#include "runtime/base/options.h"
#include "runtime/bind/follow.h"
#include "runtime/bind/owners.h"
#include "runtime/bind/rule_index.h"

enum rule_state {
	RULE_READY,   /* it exists; fd or reopening leads to it */
	RULE_ABSENT,  /* nothing is there, or it cannot be reached */
	RULE_PLANTED, /* a link that somebody could have planted leads there */
	RULE_UNBOUND, /* its anchor has no path on this machine */
	RULE_WAIVED,  /* it does not hold at this level */
};

/* What is known of a rule beside what the model needs. */
struct site {
	const struct sbx_path *path; /* in the blob */
	int fd;    /* of an allow that is ready: O_PATH, or -1 to reopen */
	int error; /* why it is absent */
	uint8_t state;
	bool linked; /* a symbolic link leads there */
	bool
	    is_link; /* of a deny: a link that leads there, not to be replaced */
	bool missing; /* of a deny: nothing was there when it was bound */
};

/* What became of a glob; the rules at its matches have the same `path`. */
struct glob {
	const struct sbx_path *path; /* in the blob */
	struct sbx_place at;         /* what the pattern is below */
	const char *name; /* or NULL: the pattern has `at` by that name */
	uint32_t matches;
	uint32_t closed;       /* directories that were passed over */
	const char *fault;     /* why a preferred one is enforced in part */
	bool planted;          /* a link leads there that grants nothing */
	enum rule_state state; /* ready, unbound or waived */
};

/* What became of a rule about sockets. */
struct socket_site {
	const struct sbx_socket *rule; /* in the blob */
	struct sbx_place at;
	const char *fault; /* why it is skipped, or NULL */
};

struct binding {
	const struct sbx_blob *blob;
	struct sbx_place anchors[SBX_MAX_ANCHORS];
	bool bound[SBX_MAX_ANCHORS];
	/* The home of the password entry where it differs from $HOME. */
	struct sbx_place other_home;
	bool has_other_home;
	/* The repository of the workspace, if it lies elsewhere; or no path. */
	struct sbx_place git;
	struct sbx_place scratch; /* where ${tmp} is outside; or no path */
	bool scratch_missing;     /* -n does not make it */
	bool own_policy;          /* the sandbox may write the policy's file */
	uint32_t rule_count, exclusion_count, link_count, glob_count;
	const struct sbx_rule *rules;
	const struct site *sites; /* beside rules */
	const struct sbx_place *exclusions;
	const struct sbx_place *links; /* to what is allowed or was given */
	const struct glob *globs;
	struct sbx_index *index; /* of the rules */
	/* Rules about sockets by path: bound with the anchors. */
	const struct sbx_rule *sockets;
	const struct socket_site *socket_sites; /* for people; one a rule */
	uint32_t socket_count, socket_site_count;
	struct sbx_place agent; /* of ssh, if a rule opens it; or no path */
	/* The socket of the user's own proxy, without links; or why it is not
	 * used, with the place that is at fault, if there is one. */
	struct sbx_place proxy;
	const char *proxy_fault;
};

struct bind_request {
	const struct sbx_blob *blob;
	const struct options *options;
	bool rules; /* there are some to be bound */
	enum sbx_level level;
	/* The policy's file, to be judged; of no length: not to be. */
	struct sbx_place policy;
	bool guarded; /* if the sandbox may write that file, a rule denies it */
	/* To be judged: the hops on the way to the policy (see start/load.h), and
	 * the links on the way to the log. */
	const char *hops;
	/* The others are those of --explain=FILE and --learn. */
	struct followed log, report, learned;
	struct owners owners; /* tells who owns a link */
	const char *scratch;  /* see scratch_key() */
};

/* A binding in the making. */
struct binder;

/*
 * Binds every anchor that the policy uses.  Refuses (125) where an anchor that
 * must exist does not: the workspace, a parameter, the scratch directory; and
 * where a planted link leads to one.  Of the request, what is about rules does
 * not matter yet.
 */
struct binder *bind_begin(struct arena *arena,
    const struct bind_request *request);

/* The anchors. */
const struct binding *bind_anchored(const struct binder *binder);

/* Binds the path rules, in the same process or in one that was forked from it.
 * Refuses (125) a policy to which a planted link leads. */
const struct binding *bind_finish(struct binder *binder,
    const struct bind_request *request);

/* The same binding where what lay at an anchor's place lies somewhere else. */
const struct binding *bind_moved(struct arena *arena,
    const struct binding *binding, uint32_t anchor, struct sbx_place to);

/* Whether its scratch directory does: not where the policy allows the outer
 * /tmp. */
bool bind_is_moved(const struct binding *binding);

/* Whether something below a place, at which a rule opens sockets, is shut again. */
bool bind_socket_is_split(const struct binding *binding, struct sbx_place at);

/* What it does with one place; others stay where they are. */
struct sbx_place bind_move(struct arena *arena, struct sbx_place at,
    struct sbx_place from, struct sbx_place to);

#endif
