/* Anchors and rules to places on this machine. */
#ifndef SBX_RUNTIME_BIND_BIND_H
#define SBX_RUNTIME_BIND_BIND_H

#include "format/model.h"
#include "runtime/base/files.h"
#include "runtime/base/options.h"

#include <stdbool.h>

/* --- agent.c ----------------------------------------------------------- */

/* Asks for its keys what is open here, O_PATH, and waits a few seconds at
 * most. */
bool agent_answers(int target);

/* --- listing.c --------------------------------------------------------- */

enum {
	LISTINGS_MAX = 8,
	/* If the names of a directory do not fit, it is not listed, and the
	 * kernel is asked for each of them. */
	LISTINGS_SIZE = 32 << 10,
	LISTINGS_SLOTS = 2048, /* above LISTINGS_SIZE / 24, the least entry */
	/* To list a directory takes as long as to ask for so many names. */
	LISTINGS_WORTH = 8,
};

struct listing {
	struct sbx_place directory;
	uint32_t begin, end; /* of its entries */
	bool whole;          /* every name is among them */
};

/* Small, because touching a page takes longer than what is done in it.  The
 * fields that are always read come last, beside what follows in struct
 * binder. */
struct listings {
	_Alignas(8) char entries[LISTINGS_SIZE];
	uint16_t slots[LISTINGS_SLOTS]; /* offset / 8 + 1; 0: free */
	struct listing of[LISTINGS_MAX];
	uint32_t count, used;
};

/* Lists a directory, unless that was tried before, LISTINGS_MAX are listed, or
 * it cannot be read. */
void listings_add(struct listings *listings, struct sbx_place directory);

enum listed {
	LISTED_UNKNOWN, /* ask the kernel */
	LISTED_MISSING,
	LISTED_ENTRY, /* it is there and is no symbolic link */
};

/*
 * What is known of the component of `path` that comes next below a listed
 * directory; for an ENTRY, *end is where that component ends in the path.
 * UNKNOWN for a path that is not below a listed directory.
 */
enum listed listings_look(const struct listings *listings,
    struct sbx_place path, uint32_t *end);

/* --- follow.c ---------------------------------------------------------- */

/*
 * Paths as the file system has them: symbolic links followed, so that the
 * overlap of two rules is judged on what they name.
 */

struct followed {
	struct sbx_place at; /* without links; as given where nothing exists */
	int fd;              /* O_PATH, close-on-exec; -1 if there is none */
	int error;           /* why not: ENOENT, ENOTDIR, EACCES ... */
	uint32_t link_count;
	const struct sbx_place *links; /* that were on the way, in this order */
};

/*
 * Follows an absolute, normal, NUL-terminated path.  Never fails: what cannot
 * be opened has an error.  The caller closes the descriptor.
 */
struct followed follow(struct arena *arena, struct sbx_place path);

/*
 * The same without a descriptor, for a place that is only compared: `path`
 * begins with `parent`, which has no links in it.
 */
struct followed follow_below(struct arena *arena,
    const struct listings *listings, struct sbx_place parent,
    struct sbx_place path);

/* follow() for a path as people type it: relative, with "." and "..". */
struct followed follow_given(struct arena *arena, const char *path);

/* Opens a place that follow() returned, which has no links; -1 and errno. */
int open_place(struct sbx_place at, int flags);

/* Opens a path that may have links on the way; ELOOP if it has. */
int open_unlinked(int directory, const char *path, int flags);

/* --- owners.c ---------------------------------------------------------- */

/* The two ends of the line to the supervisor; -1: there is none. */
struct owners {
	int ask, answer;
};

/* No line; a line, or refuses; no line any more. */
void owners_none(struct owners *owners);
void owners_open(struct owners *owners);
void owners_close(struct owners *owners);

/* In the process that asks: closes the other end. */
void owners_use(struct owners *owners);

/* In the supervisor: answers until the other process has closed its end. */
void owners_serve(struct owners *owners);

/*
 * Whether only root and the user could have made the link: it belongs to one of
 * them, nobody else may write the directory that holds it, and nobody else may
 * replace a directory above.  These are looked at up to `trusted`, a directory
 * of the user's.  `owners` may have no line; then we see for ourselves.
 */
bool owners_trust(const struct owners *owners, struct sbx_place link,
    struct sbx_place trusted);

/* --- rule_index.c ------------------------------------------------------ */

/* An index of no records yet, with room for some. */
struct sbx_index index_room(struct arena *arena, const void *records,
    size_t size, uint32_t most);

/* The index lies in the arena, the rules stay the caller's. */
struct sbx_index *rule_index_make(struct arena *arena,
    const struct sbx_rule *rules, uint32_t count);

/* What sbx_path_verdict() says to these rules: whether the right is given. */
bool rule_index_allows(struct sbx_index *index, uint8_t right,
    struct sbx_place path);

/* Whether some allow that gives the right has its place at the path or above
 * it, denied or not. */
bool rule_index_gives(struct sbx_index *index, uint8_t right,
    struct sbx_place path);

/* --- bind.c ------------------------------------------------------------ */

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
	struct sbx_place agent;    /* of ssh, if a rule opens it; or no path */
	struct sbx_place git_copy; /* of the user's settings of git, below full;
	                            * or no path */
	/* The socket of the user's own proxy, without links; or why it is not
	 * used, with the place that is at fault, if there is one. */
	struct sbx_place proxy;
	const char *proxy_fault;
};

/*
 * A file that a policy was made from: the policy itself, or a text that it
 * includes.
 */
struct policy_place {
	char path[SBX_MAX_PATH + 1]; /* the kernel's name for it; "" if none */
	/* The hops on the way to it: paths of the links that were followed and
	 * of the directories that ".." has left, one after the other, each with
	 * its NUL; an empty one ends the list. */
	char hops[4 * (SBX_MAX_PATH + 1)];
	bool text; /* it is compiled when it is used */
	bool
	    absent; /* nothing is there, and what came there would be included */
	const struct policy_place *next;
};

struct bind_request {
	const struct sbx_blob *blob;
	const struct options *options;
	bool rules; /* there are some to be bound */
	enum sbx_level level;
	/* The policy's files, to be judged, or NULL; and whether the way to them
	 * is. */
	const struct policy_place *policy;
	bool judges_way;
	bool
	    guarded; /* if the sandbox may write such a file, a rule denies it */
	/* To be judged: the links on the way to the log.  The others are those
	 * of --explain=FILE and --learn. */
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

/* /dev, which a rule about the whole machine leaves out at level standard. */
extern const struct sbx_place bind_devices;

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

/* --- missing.c --------------------------------------------------------- */

/* `name` is as on the command line; the profiles are in `directory`. */
void refuse_policy(const char *name, const char *directory, int error)
    __attribute__((noreturn));

void refuse_definition(const struct definition *definition,
    const struct sbx_blob *blob) __attribute__((noreturn));

/* --- project.c --------------------------------------------------------- */

/*
 * `-w auto`, and without -w: where the project begins that the current directory is in.
 */

/*
 * Puts the top of the git working tree into options->workspace, and, if its
 * repository lies elsewhere, as for a linked working tree and a submodule, that
 * into options->git.  Where there is no repository of the user's, the workspace
 * is the current directory, which it then leaves to be found; with `auto` in
 * /tmp, where sbx keeps its own directory, none.  The home directory and what is
 * above it are never taken for a project that one is in.  Warns of a `.git` that
 * leads to a repository which does not lead back.
 */
void project_find(struct arena *arena, struct options *options);

/* --- scratch.c --------------------------------------------------------- */

enum { SCRATCH_PATH_SIZE = 96, SCRATCH_KEY_SIZE = 13 };

/* The name PROFILE.  The origin is the path of the policy's file; for a policy
 * that has none, its digest. */
void scratch_key(char key[SCRATCH_KEY_SIZE], const char *profile,
    const char *origin);

/*
 * Puts the path of the scratch directory into `path`.  If it is missing, it is
 * made if `make` is set, and else false is returned.  What is ours and has
 * another mode than 0700 gets that; a command may have changed it.  Refuses
 * what is not ours.  `outer` is TMPDIR, or NULL: the scratch directory of the
 * sandbox that this runs in, if it runs in one.
 */
bool scratch_path(char path[SCRATCH_PATH_SIZE], struct sbx_place workspace,
    const char *key, bool make, const char *outer);

/* Whether a directory is one of the user's scratch directories, or lies in
 * one. */
bool scratch_holds(struct sbx_place directory);

/* Whether a command that may write a directory could write more of TOP than a
 * scratch directory: it is /tmp or above, TOP, or TOP/WORKSPACE. */
bool scratch_within(struct sbx_place directory);

/* TOP, for scratch_has(); -1: there is none. */
int scratch_top(void);
/* Whether the workspace has a directory of that name.  In TOP only the user makes
 * any, and no command. */
bool scratch_has(int top, struct sbx_place workspace, const char *key);

/* Whether a directory or one above it has been a workspace, as far as scratch
 * directories tell. */
bool scratch_remembers(struct sbx_place directory);

/* TOP/WORKSPACE, as an O_PATH descriptor; -1 where there is none. */
int scratch_open(char path[SCRATCH_PATH_SIZE], struct sbx_place workspace);

/* The directory of what is known of runs that go on: ~/.local/state/sbx/runs,
 * or where there can be none, sbx-runs in the one below, or TOP/runs. */
int scratch_runs(void);

/* A directory in ~/.local/state/sbx, made if need be; -1: it is not to be had, as
 * where somebody else may write ~/.local, but for these bits of its mode. */
int scratch_state(const char *name, mode_t others);

/* The directory of the sockets of sessions, as an O_PATH descriptor, or -1 and
 * errno: /run/user/UID/sbx or, where there is no such place, TOP/sessions. */
int scratch_sessions(bool make);

/* --- services.c -------------------------------------------------------- */

/* Whether there is a place, one that may be written or one that is only to be
 * read, in which a socket may lie, now or later: a socket itself, or a
 * directory other than those that programs are kept in, and the scratch
 * directory. */
bool bind_shows_services(const struct binding *binding, bool written);

/* --- git_settings.c ---------------------------------------------------- */

struct git_words {
	const char *text;
	size_t len;
};

/* A configuration that is read from the front. */
struct git_settings {
	const char *begin, *at, *end;
	struct git_words section; /* what stands in the last brackets */
	bool submodule; /* `core.worktree` leads out of .git/modules */
};

struct git_setting {
	struct git_words section; /* of length 0: unknown */
	struct git_words line;    /* with those that continue it */
};

/* The next setting that counts; false at the end. */
bool git_setting_next(struct git_settings *settings,
    struct git_setting *setting);

/* Whether the text has the same setting in the same section. */
bool git_settings_have(struct git_settings settings,
    const struct git_setting *setting);

/* The next setting, whether it counts or not; false at the end. */
bool git_setting_any(struct git_settings *settings,
    struct git_setting *setting);

/* What stands at a path that a setting leads git to. */
enum git_lead {
	GIT_LEAD_NONE,
	GIT_LEAD_SETTINGS,
	GIT_LEAD_HOOKS,   /* a directory of programs */
	GIT_LEAD_REVIEW,  /* a file that says what a review does not show */
	GIT_LEAD_TREE,    /* the working tree */
	GIT_LEAD_CONTENT, /* a file that changes nothing but what git prints */
};

/* The path that a setting leads git to, as it is written there; none also if it
 * is too long. */
enum git_lead git_setting_leads(const struct git_setting *setting,
    char path[1024]);

/* The name of a section and of a key, for a message; either may be empty. */
struct git_words git_section_name(const struct git_setting *setting);
struct git_words git_key(const struct git_setting *setting);

#endif
