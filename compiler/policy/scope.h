/*
 * Names and the paths that they stand for: the anchors that the loader binds,
 * the built-in sets, `let` and `param`.  Names are per compilation.
 */
#ifndef SBX_SCOPE_H
#define SBX_SCOPE_H

#include "compiler/base/map.h"
#include "compiler/policy/policy.h"

/* A path and the platforms where the name that gave it has it. */
struct place {
	struct target at;
	uint8_t platforms;
};

struct place_list {
	VEC(struct place) places;
};

enum symbol_kind {
	SYMBOL_ANCHOR,
	SYMBOL_SET,
	SYMBOL_LET,
	SYMBOL_PARAM,
	SYMBOL_AGENT, /* of ssh: a socket that the environment names */
};

struct symbol {
	enum symbol_kind kind;
	const char *name;
	const struct ast_stmt *stmt; /* of a let or a param */
	const char *via;             /* the profile or group that holds it */
	struct place_list places;    /* once `done` */
	uint16_t anchor;
	bool busy, done, bound;
	const struct ast_atom *next; /* that may need another let */
	struct symbol *waiting;      /* that needs this one */
};

struct scope {
	struct arena *arena;
	struct sources *sources;
	struct diags *diags;
	struct policy *policy;
	struct map symbols;
	VEC(const char *) names; /* for "did you mean" */
	struct definitions predefined;
	size_t places; /* that names and rules stood for so far */
};

void scope_init(struct scope *scope, struct policy *policy,
    struct diags *diags);

/* Declares a `let` or a `param`; reports a name that is taken. */
void scope_declare(struct scope *scope, const struct ast_stmt *stmt,
    const char *via);

/* Makes a parameter an anchor of the policy, if it is not one yet. */
void scope_bind(struct scope *scope, struct symbol *param);
void scope_bind_name(struct scope *scope, const char *name);

/* Works out every `let`, used or not, so that its mistakes are reported. */
void scope_settle(struct scope *scope);

/*
 * Adds the paths that an object stands for on some platforms.  Returns false
 * after reporting; a set that is empty there adds nothing and is reported.
 */
bool scope_paths(struct scope *scope, const struct ast_atom *atom,
    uint8_t platforms, struct place_list *list);

/*
 * Splits "${name}rest" or "~/rest" at the front of a text.  Returns the rest
 * and the symbol, which is NULL where the text begins with neither; or NULL
 * after reporting an unknown or unclosed name.
 */
const char *scope_split(struct scope *scope, const struct ast_atom *atom,
    struct symbol **symbol);

/* What a statement says of where it was written; NULL if it says nothing, or
 * after reporting what is no place. */
const struct position *scope_position(struct scope *scope,
    const struct ast_stmt *stmt);

#endif
