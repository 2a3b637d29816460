/* Main, the command line, the policy file, the level. */
#ifndef SBX_RUNTIME_START_START_H
#define SBX_RUNTIME_START_START_H

#include "format/blob.h"
#include "runtime/apply/apply.h"
#include "runtime/base/kernel.h"
#include "runtime/base/options.h"
#include "runtime/bind/bind.h"
#include "runtime/inspect/inspect.h"
#include "runtime/session/offer.h"
#include "runtime/watch/receipt.h"
#include "runtime/watch/supervise.h"

#include <stddef.h>

/* --- load.c ------------------------------------------------------------ */

/*
 * The blob's own bytes.  They are read, not mapped from the file: what was
 * verified, and compared with --expect, must be what is applied, even if the
 * file changes meanwhile.
 */
struct sandbox;

struct policy_file {
	size_t size; /* of what is applied: without the text in the blob */
	size_t all;  /* of what was read */
	bool whole;  /* the text is read, too, to add rules or for a digest */
	const uint8_t
	    *applied; /* the bytes, or what a ceiling leaves of them */
	_Alignas(8) uint8_t bytes[SBX_MAX_SIZE + 1];
	struct policy_place place;
};

/*
 * Loads the policy of the options: the path of a blob or of a text, or @NAME for
 * an installed profile or one of the user's own.  The SHA-256 of the whole blob
 * goes to `digest`, which is NULL if nobody wants it.  Refuses (125) what is no
 * well-formed blob, or does not become one.
 */
void load_policy(const struct options *options, struct arena *arena,
    char *digest, struct policy_file *loaded, struct sbx_blob *blob);

/* Whether the user has a policy of that name, in ~/.config/sbx. */
bool policy_is_own(struct arena *arena, const char *name);

/* Whether the policy of the options consists of these bytes; `loaded` has room
 * for it.  Refuses what cannot be read.  Of a blob it looks at nothing else: where
 * the bytes are known, it does not matter who wrote them. */
bool policy_is(const struct options *options, struct arena *arena,
    const void *bytes, size_t size, struct policy_file *loaded);

/* --- ceiling.c --------------------------------------------------------- */

/* Whether the machine has a ceiling.  Refuses (125) if that cannot be told. */
bool ceiling_is_there(void);

/* Puts what the ceiling of the machine leaves in the place of the policy.  Refuses
 * (125) if there is one that cannot be read, or that others may write. */
void ceiling_apply(struct arena *arena, struct policy_file *loaded,
    struct sbx_blob *blob);

/* The machine's owner's word on options, in /etc/sbx/options.  Refuses (125) those that
 * are forbidden, or without one that is required. */
void ceiling_obey(struct sandbox *sandbox);

/* Refuses (125) a policy whose SHA-256 is none of those that are required there. */
void ceiling_check_digest(struct sandbox *sandbox, const char *digest);

/* Refuses (125) a session that was made under another ceiling. */
void ceiling_check_session(struct arena *arena, const char *name,
    const struct sbx_blob *blob);

/* --- compiled.c ---------------------------------------------------------- */

/*
 * Policies that are texts.  sbxc compiles one when it is first used, and what
 * came of it is kept in ~/.local/state/sbx/compiled until a file changes that it
 * was made from.  The same is done with the rules of --allow and --deny.
 */

/* Puts the blob of the text at loaded->place in the place of its bytes, and adds
 * the other files that it was made from to the place.  Refuses (125), after the
 * diagnostics of sbxc, what does not compile. */
void compiled_load(const struct options *options, struct arena *arena,
    struct policy_file *loaded);

/* Puts a blob with the rules of the command line in the place of that one. */
void compiled_add_rules(const struct options *options, struct arena *arena,
    struct policy_file *loaded);

/* --- sandbox.c --------------------------------------------------------- */

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
	struct staging stage;  /* of --stage */
	struct binder *binder; /* has the anchors */
	const char *elsewhere; /* where the command is outside, or NULL */
	char scratch[SCRATCH_KEY_SIZE];
	bool kept;    /* it is a session's, and has no command yet */
	bool renewed; /* it takes over from a session that is outdated */
	bool
	    digests; /* the policy has to be one of those in /etc/sbx/options */
	bool no_secret_programs; /* that file forbids them */
	int ruleset;             /* of Landlock, from level standard on */
	struct name_files name_files;
	unsigned reopened; /* of the caller's streams, see apply/streams.c */
	int pid_max;       /* where root's processes are limited, or -1 */
	struct environment environment;
	struct arena arena;
	struct self_test self_test;
	struct policy_file loaded;
	char digest[SHA256_HEX + 1]; /* "" where nobody reads it */
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

/* --- differences.c ----------------------------------------------------- */

/* Refuses (125) a policy, workspace, parameter, level or limit other than that
 * of the session, and names both; limits on time and output may be others.
 * What the command line does not say is as in the session. */
void differences_refuse(struct sandbox *sandbox, const struct offer *offer);

/* What has become another one since an `auto` session was made, so that it is of no
 * use any more: the policy, or the directory of the workspace or of a parameter.
 * NULL: nothing. */
const char *differences_outdated(struct sandbox *sandbox,
    const struct offer *offer);

/* --- level.c ----------------------------------------------------------- */

/*
 * The best level of the machine, or the one that was asked for.  Refuses (125)
 * one that the machine does not give, one that is below the policy's floor, and
 * a policy that allows everything and was not allowed to.
 */
enum sbx_level level_choose(const struct options *options,
    const struct sbx_blob *blob, const struct machine *machine);

/* --- sessions.c -------------------------------------------------------- */

/* --session=auto: the session of the process that has started this one, in this
 * workspace. */
void sessions_name(struct sandbox *sandbox);

/*
 * Runs the command in the session that the options name, after it has made that
 * if it is missing, or keeps one.  Returns only where a session is no gain,
 * below level full: then the command runs as without one.
 */
void sessions_run(struct sandbox *sandbox, char **environment);

/* --- title.c ----------------------------------------------------------- */

/* Where the words of the command line lie, one after the other. */
struct title {
	char *at;
	size_t size;
};

struct title title_find(char **argv);

/* Clears the words of the command that lie in there. */
void title_forget(const struct title *title, char *const *command);

/* "sbxrun: session NAME" in place of all words: no option may be used after
 * this, for it points to one.  `name` may be one, too. */
void title_set(const struct title *title, const char *name);

/* --- trust.c ----------------------------------------------------------- */

/*
 * Who else may choose the policy.
 */

/*
 * Refuses (125) a policy that others may write or replace: the file, every
 * directory and every link on the way to it.  `file` was opened as `fd`, and
 * `name` is what people call it.  place->path is known already if `file` has
 * neither links nor dots; else it is found, and place->hops too.
 */
void trust_policy(const char *name, const char *file, int fd,
    struct policy_place *place);

/* --- view_listener.c --------------------------------------------------- */

/* Before the fork: makes the way for a listener, who answers the calls that a
 * program of the policy traps. */
void listener_open(struct supervision *supervision,
    const struct sbx_program *program, const struct binding *binding);

/* The same at level full, where it may turn out not to be wanted, for that shows
 * when the rules are bound, inside. */
void view_listener_prepare(struct supervision *supervision, struct arena *arena,
    const struct binding *anchored, const struct machine *machine);

/* After it, in both processes: the level may have turned out not to be full. */
void view_listener_settle(struct listening *listening, const struct plan *plan);

/* Inside, when the rules are bound.  Where a listener is wanted and cannot be
 * had, this refuses (125) if services may listen in what is only to be read;
 * otherwise the plan says why. */
void view_listener_choose(struct listening *listening, struct plan *plan);

#endif
