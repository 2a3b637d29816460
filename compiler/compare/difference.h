/*
 * One way in which two policies differ, and the words for it.
 */
#ifndef SBX_DIFFERENCE_H
#define SBX_DIFFERENCE_H

#include "compiler/query/verdict.h"

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

/* Where it shows: the options with which `sbxc why` shows it; and those, the
 * level, the ABI and the machines in words.  NULL: everywhere. */
const char *difference_options(const struct comparison *comparison,
    const struct difference *difference);
const char *difference_where(const struct comparison *comparison,
    const struct difference *difference);

#endif
