/* What differs between two policies. */
#ifndef SBX_COMPILER_COMPARE_COMPARE_H
#define SBX_COMPILER_COMPARE_COMPARE_H

#include "compiler/base/base.h"
#include "compiler/query/why.h"

/* --- difference.c ------------------------------------------------------ */

struct comparison;

/* Maybe: there was too much to look at. */
enum change {
	CHANGE_WIDER,
	CHANGE_NARROWER,
	CHANGE_NEUTRAL,
	CHANGE_MAYBE_WIDER,
	CHANGE_MAYBE_NARROWER,
	CHANGE_END
};

/* Of a rule: its kind.  Blanket rules are scopes; ports tell of the network. */
enum difference_kind {
	DIFFERENCE_PATH = KIND_PATH,
	DIFFERENCE_PORT = KIND_PORT,
	DIFFERENCE_SYSCALL = KIND_SYSCALL,
	DIFFERENCE_ENV = KIND_ENV,
	DIFFERENCE_SET = KIND_SET,
	DIFFERENCE_BLANKET = KIND_BLANKET,
	DIFFERENCE_LIMIT = KIND_LIMIT,
	DIFFERENCE_WATCH = KIND_WATCH,
	DIFFERENCE_SOCKET = KIND_SOCKET,
	DIFFERENCE_DOMAIN = KIND_DOMAIN,
	DIFFERENCE_ENDPOINT = KIND_ENDPOINT,
	DIFFERENCE_PROXY = KIND_PROXY,
	DIFFERENCE_LEVEL = KIND_END,
	DIFFERENCE_LANDLOCK,
	DIFFERENCE_STRENGTH, /* deny or prefer deny */
	DIFFERENCE_PARAM,
	DIFFERENCE_ABOUT,
	DIFFERENCE_MACOS,
	DIFFERENCE_END,
};

/* The two policies: OLD and NEW, or BASE and NEW. */
enum side { SIDE_OLD, SIDE_NEW, SIDE_COUNT };

struct bound_param {
	const char *name, *path;
};

/* Where the anchors are. */
struct binding {
	const char *about; /* what is special about it; NULL: the usual way */
	const char *workspace, *home;
	const char *other_home; /* of the password entry, or NULL: the same */
	const char *params;     /* where they all are, or NULL: apart */
	/* NULL: where they usually are; for `own`: none of them. */
	const char *runtime, *scratch, *agent;
	const struct bound_param *own; /* some; ends with the name NULL */
};

/* What one policy says of it. */
struct explanation {
	const char *text;       /* the rule; NULL: none speaks of it */
	uint32_t source;        /* where it is written, or SBX_NO_SOURCE */
	struct verdict verdict; /* on the witness, if there is one */
};

struct difference {
	enum difference_kind kind;
	enum change change;
	const char *what;   /* "write ${workspace}/x", "limit timeout" */
	const char *reason; /* why, if no rule says; or NULL */
	bool witnessed;     /* verdict_of() differs on the access */
	struct access access;
	bool implied; /* a call that rules about the network open or shut */
	bool cut;     /* where a search is cut short, see struct subject */
	enum sbx_level level; /* where that holds; full unless said */
	int abi;              /* of Landlock; 0: the newest */
	uint8_t platforms;    /* on these machines; SBX_ON_LINUX: all */
	const struct binding *binding; /* NULL: it does not matter, or the
	                                * user's own */
	struct explanation says[SIDE_COUNT];
	enum side cause;    /* whose rule came, went or changed */
	enum verdict_by by; /* that rule, for an access: in which table */
	uint32_t rule;      /* index into it; of a call: its source */
	size_t more;        /* accesses like it, by the same rule */
	struct {
		VEC(const char *) list;
	} also; /* of those in `more`: what */
	/* Of a finding, see comparison_join(). */
	uint8_t rights;     /* others to the same path */
	int weight;         /* less comes first */
	const char *block;  /* "use registries", if it stands for a group */
	const char *others; /* ", 3 variables": what else that brings */
	VEC(const struct difference *) members; /* all that it stands for */
};

/* "wider", "narrower", "neutral", "maybe-wider", "maybe-narrower". */
const char *change_word(enum change change);

/* Of a kind: a word, as ids are made of it ("path": "wider-path"), and a title. */
const char *difference_word(enum difference_kind kind);
const char *difference_title(enum difference_kind kind);

/* "path", "name", "variable": one of what a kind is about. */
const char *difference_noun(enum difference_kind kind);

/* "write ${workspace}/x and 2 more paths", with the reason. */
const char *difference_text(struct arena *arena,
    const struct difference *difference);

/* Where it shows, for the first words: ", where the workspace is /srv"; empty:
 * in a usual layout. */
const char *difference_condition(struct arena *arena,
    const struct difference *difference);

/* What a policy says of it: its rule, else what holds without a rule; NULL if
 * there is nothing to say. */
const char *difference_says(const struct difference *difference,
    enum side side);

/* The options with which `sbxc why` shows it, or NULL: it cannot be asked. */
const char *difference_options(const struct comparison *comparison,
    const struct difference *difference);

/* Whether it shows wherever things are, so that no options are told. */
bool difference_is_anywhere(const struct comparison *comparison,
    const struct difference *difference);

/* Where it shows, in words: the level, the ABI and the machines; NULL:
 * everywhere. */
const char *difference_where(const struct comparison *comparison,
    const struct difference *difference);

/* --- compare.c --------------------------------------------------------- */

/*
 * Two policies, and each way in which one lets through what the other does
 * not: with the rules that decide, and with a witness, one access on which
 * verdict_of() answers differently.
 *
 * Paths are symbolic, and how two rules bear on each other depends on where
 * the workspace, the home directory and the other anchors lie.  So both
 * policies are bound in some ways that differ in exactly that (struct binding):
 * a few that are usual, and those that layouts.c makes for rules that make no
 * difference in these.  What differs in any of them is a difference.  Or both
 * are bound as the user asks for, and only parameters without a place lie
 * in several ways.
 */

struct comparison {
	struct arena *arena;
	const struct sbx_blob *blobs[SIDE_COUNT];
	/* Bound as the user wants, but for parameters; NULL: in the ways above. */
	const struct subject *bound[SIDE_COUNT];
	const struct arch *arch;            /* only this machine; NULL: each */
	struct definitions definitions;     /* that hold in the ways above */
	bool wider_only;                    /* others may be left out */
	VEC(struct difference) differences; /* wider ones first */
	size_t counts[CHANGE_END];
	bool names_home; /* paths of theirs lie where the usual home does */
	size_t work;     /* what globs have cost so far */
};

/* Fills in what is below differences; the caller has set what is above
 * them. */
void compare(struct comparison *comparison);

/*
 * Makes one difference of all that one written rule is behind, and of all that
 * a group or a parent brings that only one of the policies uses; the others are
 * its members.  What opens to the outside and to secrets comes first.
 */
void comparison_join(struct comparison *comparison);

/* Counts the changes anew. */
void comparison_count(struct comparison *comparison);

/* One of the policies where a difference shows: what verdict_of() is to be
 * asked about. */
struct subject comparison_subject(const struct comparison *comparison,
    const struct difference *difference, enum side side, struct arena *arena);

/*
 * Between compare.c and the files that each compare one kind of thing.  A pass
 * is one machine and one binding; what a pass finds again is noted once.
 */

/* What makes two findings the same: the rule behind them and what it gives or
 * takes.  Unset fields are zero. */
struct note_key {
	uint32_t kind, change, side;
	uint32_t by;     /* enum verdict_by */
	uint32_t rule;   /* in that table */
	uint32_t detail; /* a right, an operation */
	uint32_t text;   /* number of a text, see pass_text() */
};

struct notes {
	struct map keys; /* of struct note_key */
	struct map texts;
	VEC(uint32_t) differences; /* by number of the key */
};

struct pass {
	struct comparison *comparison;
	struct notes *notes;
	struct arena *scratch; /* of this pass */
	const struct binding *binding;
	uint8_t platforms;    /* the machines that it speaks for */
	enum sbx_level level; /* for paths: what holds there */
	bool cut;             /* see struct subject: what differs may differ */
	struct subject subjects[SIDE_COUNT]; /* that level, newest ABI */
};

/* The difference that was noted under this key, or NULL. */
struct difference *pass_known(const struct pass *pass,
    const struct note_key *key);

/* Whether it was, for the machines of this pass too. */
bool pass_said(const struct pass *pass, const struct note_key *key);

/* Counts the difference that was noted under this key once more; false if
 * there is none. */
bool pass_again(const struct pass *pass, const struct note_key *key);

/* A number for a text, for a key. */
uint32_t pass_text(struct pass *pass, const char *text);

/*
 * Asks both sides about an access at a level and an ABI and notes that they
 * differ, with what they say.  The cause is the side that the key names.
 */
struct difference *pass_note_access(struct pass *pass,
    const struct note_key *key, const struct access *access,
    enum sbx_level level, int abi);

/* Asks one side. */
struct verdict pass_ask(const struct pass *pass, enum side side,
    const struct access *access, enum sbx_level level, int abi);

/* Notes what is no access: a setting, as `what`, and what each side says of
 * it (NULL: nothing). */
void pass_note_setting(struct pass *pass, enum difference_kind kind,
    enum change change, const char *what,
    const struct explanation says[SIDE_COUNT]);

/* The text of the rule behind a verdict; NULL if no rule is. */
const char *explanation_text(struct arena *arena, const struct sbx_blob *blob,
    const struct verdict *verdict);

/* The text of a rule of a blob: "deny write ${workspace}/.git". */
const char *path_explanation(struct arena *arena, const struct sbx_blob *blob,
    const struct sbx_path *path);

/* Binds both policies, in pass->scratch; in the one way that the user asks for,
 * if there is one. */
void pass_begin(struct pass *pass, const struct binding *binding);

/* Whether two anchors have one name: numbers of parameters differ.  Either may
 * be SBX_NO_ANCHOR, which the other has to be, too. */
bool anchors_equal(const struct sbx_blob *old, uint16_t a,
    const struct sbx_blob *new, uint16_t b);

/* The parts.  Path rules are merged once for a machine, then bound. */
struct rules;
struct rules *rules_merge(struct pass *pass, struct arena *arena);
void compare_strengths(struct pass *pass, const struct rules *rules);
void compare_paths(struct pass *pass, const struct rules *rules);
void compare_places(struct pass *pass, const struct rules *rules,
    const struct binding *binding); /* paths and sockets in one binding */
void compare_layouts(struct pass *pass, struct rules *rules);
void compare_ports(struct pass *pass);
void compare_domains(struct pass *pass);
void compare_endpoints(struct pass *pass);
void compare_proxies(struct pass *pass);
void compare_env(struct pass *pass);
void compare_sockets(struct pass *pass);
void compare_settings(struct pass *pass);
void compare_syscalls(struct pass *pass);
/* Takes out the calls that rules about ports and hosts open or shut. */
void compare_implied(struct comparison *comparison);

/* The levels at which both policies run, from full down; how many. */
size_t common_levels(const struct comparison *comparison,
    enum sbx_level levels[SBX_LEVEL_END]);

#endif
