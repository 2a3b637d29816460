/*
 * What runs wanted and a policy does not give: each need once, in the words of
 * the language, with who had it; and how needs become few rules.
 */
#ifndef SBX_COMPILER_LEARN_NEEDS_H
#define SBX_COMPILER_LEARN_NEEDS_H

#include "compiler/learn/records.h"
#include "compiler/query/verdict.h"

/* The policy that a draft begins with. */
struct base {
	const char *name; /* of a shipped profile; NULL: another policy */
	struct sbx_blob blob;
};

struct need_program {
	const char *name;
	uint64_t count;
};

struct need {
	enum wish_kind kind;
	/* What a rule is about: a path from its anchor, without quotes; the
	 * word loopback; "10.0.0.5:443"; "github.com:22"; the name of a system
	 * call. */
	const char *object;
	const char *seen;   /* one that was wanted: of a path, the path */
	const char *reason; /* why it is no rule, or NULL */
	bool probe;         /* it was only looked for */
	bool makes;         /* its name comes or goes */
	bool allowed;       /* and it is allowed, but not in its directory */
	bool make_first;    /* it is not there: somebody has to make it */
	uint64_t count;
	VEC(struct need_program) programs;
	VEC(size_t) runs; /* that had it, in their order */
};

struct needs {
	struct arena *arena;
	const struct base *base;
	const struct records *records;
	struct subject subject; /* of the first run */
	VEC(struct need) list;
	struct map by_key;
	/* What the policy gives, for tests: some of each kind. */
	VEC(struct need) given;
	struct map given_keys;
	/* Something that the last run was denied and the policy allows: "write
	 * ~/x"; or NULL. */
	const char *late;
	/* Why a right to a place would give away more, or NULL. */
	VEC(const char *) risks;
	struct map risk_keys;
};

/* A policy where a run had it. */
struct subject run_subject(const struct base *base, const struct run *run,
    struct arena *arena);

/* Compares all wishes with the policy; there is one run at least. */
void needs_find(struct needs *needs, struct arena *arena,
    const struct base *base, const struct records *records);

/* Makes few rules of many needs, by the rules at the top of fold.c. */
void needs_fold(struct needs *needs);

/* How many of them are rules. */
size_t needs_count(const struct needs *needs);

/* Notes who else has a need. */
void need_join(struct needs *needs, struct need *need,
    const struct need *other);

extern const char loopback[];

/* "read", "write", as the language has it. */
const char *wish_word(enum wish_kind kind);

/* Whether a kind is about paths. */
bool wish_has_path(enum wish_kind kind);

#endif
