/*
 * A sandbox while it is made: what is known of it so far, and the steps that
 * main.c takes for one run and sessions.c for many.
 */
#ifndef SBX_RUNTIME_START_SANDBOX_H
#define SBX_RUNTIME_START_SANDBOX_H

#include "runtime/bind/scratch.h"
#include "runtime/inspect/plan.h"
#include "runtime/inspect/self_test.h"
#include "runtime/start/load.h"
#include "runtime/watch/receipt.h"
#include "runtime/watch/supervise.h"

/* In the order in which it is used, so that few pages are touched. */
struct sandbox {
	struct receipt receipt;
	struct options options;
	struct sbx_blob blob;
	struct machine machine;
	struct plan plan; /* what was decided: the level and all the rest */
	struct supervision supervision;
	struct explaining explaining;
	struct receipt report; /* of --explain=FILE */
	struct learning learning;
	struct receipt learned; /* of --learn */
	struct sbx_limit limits[SBX_LIMIT_END];
	struct owners owners;
	struct binder *binder; /* has the anchors */
	const char *elsewhere; /* where the command is outside, or NULL */
	char scratch[SCRATCH_KEY_SIZE];
	bool kept;    /* it is a session's, and has no command yet */
	bool renewed; /* it takes over from a session that is outdated */
	int ruleset;  /* of Landlock, from level standard on */
	struct name_files name_files;
	unsigned reopened; /* of the caller's streams, see apply/streams.h */
	int pid_max;       /* where root's processes are limited, or -1 */
	struct environment environment;
	struct arena arena;
	struct self_test self_test;
	struct policy_file loaded;
};

/* The policy, and what the command line makes of it. */
void sandbox_load(struct sandbox *sandbox);

/* The level and what follows from it. */
void sandbox_begin(struct sandbox *sandbox);

/* Whether the policy restricts files, and the level can do it. */
bool sandbox_restricts_files(const struct sandbox *sandbox);

/* The anchors alone, once, by the process that becomes the supervisor: it is
 * outside of all namespaces, where owners can be told apart.  Then all of
 * it. */
void sandbox_anchor(struct sandbox *sandbox);
void sandbox_bind(struct sandbox *sandbox);

/*
 * At level full, and where something has to be supervised: from here on we are
 * the first process of the sandbox, and our parent is the supervisor.
 */
void sandbox_fork(struct sandbox *sandbox);

/* The first process of a session: returns in both processes as fork(2) does, or
 * -1 below level full. */
pid_t sandbox_fork_kept(struct sandbox *sandbox);

/*
 * Everything that looks at the file system; then no privilege is left.  The
 * ruleset of Landlock comes after that, because it needs none.
 */
void sandbox_prepare(struct sandbox *sandbox, char **environment);

/* As late as possible: if somebody kills both processes before its end, the
 * group is left behind. */
void sandbox_make_group(struct sandbox *sandbox);

#endif
