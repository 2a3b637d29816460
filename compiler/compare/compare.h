/*
 * Two policies, and each way in which one lets through what the other does
 * not: with the rules that decide, and with a witness, one access on which
 * verdict_of() answers differently.
 *
 * Paths are symbolic, and how two rules bear on each other depends on where
 * the workspace and the home directory lie.  So both policies are bound in a
 * few ways that differ in exactly that (struct binding), and what differs in
 * any of them is a difference; or in the one way that the user asks for.
 */
#ifndef SBX_COMPARE_H
#define SBX_COMPARE_H

#include "compiler/query/verdict.h"

enum change { CHANGE_WIDER, CHANGE_NARROWER, CHANGE_NEUTRAL, CHANGE_END };

enum difference_kind {
	DIFFERENCE_PATH,
	DIFFERENCE_PORT,
	DIFFERENCE_SYSCALL,
	DIFFERENCE_ENV,
	DIFFERENCE_SET,     /* `set env` */
	DIFFERENCE_BLANKET, /* signal anywhere, abstract anywhere */
	DIFFERENCE_LIMIT,
	DIFFERENCE_LEVEL,
	DIFFERENCE_LANDLOCK,
	DIFFERENCE_STRENGTH, /* deny or prefer deny */
	DIFFERENCE_PARAM,
	DIFFERENCE_ABOUT,
	DIFFERENCE_MACOS,
	DIFFERENCE_END,
};

/* The two policies: OLD and NEW, or BASE and NEW. */
enum side { SIDE_OLD, SIDE_NEW, SIDE_COUNT };

/* Where the anchors are. */
struct binding {
	const char *about; /* what is special about it; NULL: the usual way */
	const char *workspace, *home;
	const char *other_home; /* of the password entry, or NULL: the same */
	const char *params;     /* where they all are, or NULL: apart */
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
	const char *what; /* "write ${workspace}/x", "limit timeout" */
	bool witnessed;   /* verdict_of() differs on the access */
	struct access access;
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
	} also; /* of those in `more`: what, see below */
};

struct comparison {
	struct arena *arena;
	const struct sbx_blob *blobs[SIDE_COUNT];
	/* Bound as the user wants; NULL: in the ways above. */
	const struct subject *bound[SIDE_COUNT];
	const struct arch *arch;            /* only this machine; NULL: each */
	struct definitions definitions;     /* that hold in the ways above */
	VEC(struct difference) differences; /* wider ones first */
	size_t counts[CHANGE_END];
	const char *fault; /* why no answer can be given, or NULL */
};

/* Fills in differences, counts and fault; the caller has set what is above
 * them. */
void compare(struct comparison *comparison);

/*
 * Joins what one written rule is behind, if it stands for many (a set, a list
 * in braces): one difference for each right, with the others in `more` and
 * `also`.
 */
void comparison_join(struct comparison *comparison);

/* One of the policies where a difference shows: what verdict_of() is to be
 * asked about. */
struct subject comparison_subject(const struct comparison *comparison,
    const struct difference *difference, enum side side, struct arena *arena);

/* "wider", "narrower", "neutral". */
const char *change_word(enum change change);

/* "path", "port": the kind, as ids are made of it: "wider-path". */
const char *difference_word(enum difference_kind kind);

#endif
