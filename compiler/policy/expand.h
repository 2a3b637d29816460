/*
 * What resolve.c, rules.c and settings.c share while a profile is expanded:
 * the rules found so far, each with the block that holds it, so that `drop`
 * can tell what was inherited.
 */
#ifndef SBX_EXPAND_H
#define SBX_EXPAND_H

#include "compiler/policy/blocks.h"
#include "compiler/policy/objects.h"

/* Rules that add up. */
struct item {
	struct rule rule;
	bool dropped;
	int layer; /* of the chain: 1 is the eldest parent */
	const struct block *block;
};

struct item_index;

struct item_list {
	VEC(struct item) list;
};

/* Statements that replace each other: of each kind and key one stands. */
enum setting_kind {
	SETTING_LIMIT, /* key: enum sbx_limit_kind */
	SETTING_SET,   /* name */
	SETTING_ABOUT,
	SETTING_LEVEL,
	SETTING_LANDLOCK,
};

struct setting {
	struct origin origin;
	struct position position; /* of it */
	enum setting_kind kind;
	unsigned key;
	const char *name; /* of a variable, else "" */
	const char *text;
	uint64_t value;
	uint16_t anchor;
	bool none; /* limit X none, drop set env X */
	const struct block *block;
	int layer, depth; /* a later layer wins, then the lesser depth */
	uint8_t stands;   /* the platforms that no stronger one takes */
	size_t order;
};

/* A statement that waits for the end of its layer. */
struct pending_drop {
	const struct ast_stmt *stmt;
	const struct block *block;
	uint8_t platforms;
};

/* `drop use GROUP`, see uses.c. */
struct use_drop {
	const struct ast_stmt *stmt;
	const struct block *block;
	uint8_t platforms;
	int layer;
	bool hit;                   /* some use is passed over */
	const struct ast_stmt *own; /* a use of the same block */
	struct use_drop *next;      /* of the same group */
};

struct uses {
	enum {
		EXPAND_ALL,
		COLLECT_OWN,    /* drops of uses in the profile of the layer */
		COLLECT_GROUPS, /* and those in its groups */
	} pass;
	bool some; /* there are drops to be collected */
	VEC(struct use_drop *) drops;
	struct map by_name; /* of the group: the last drop */
	int last_layer;     /* that has one, or 0 */
};

struct expansion {
	struct arena *arena;
	struct sources *sources;
	struct diags *diags;
	struct policy *policy;
	struct scope scope;
	struct blocks *blocks;
	struct item_list items;
	struct item_index *again; /* of them, by place; NULL: not asked yet */
	bool repeats;             /* what is added may be there already */
	size_t resembled; /* items that a drop was compared with in vain */
	VEC(struct setting) settings; /* in the order of the text */
	VEC(struct pending_drop) drops;
	struct uses uses;
	VEC(struct block *) gathered; /* in the order of their use */
	int layer;
	int dropping;      /* the last layer that a drop took from, or 0 */
	size_t exclusions; /* of all rules */
	bool full;         /* too many rules: reported once */
};

/* Where a statement stands. */
struct context {
	struct block *block;
	uint8_t platforms;
	int depth;  /* 0: the profile; 1: a group that it uses ... */
	bool again; /* this group was expanded by an earlier layer too */
	bool there; /* and all that it said then still stands */
};

/* The origin of what a statement gives; a position that is none is reported. */
struct origin context_origin(struct expansion *expansion,
    const struct context *context, const struct ast_stmt *stmt, struct loc loc);

/* rules.c: adds what a rule says to the items. */
void expand_rule(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context);

/* drop.c: takes back what the drops of this layer name. */
void expand_drops(struct expansion *expansion);

/* uses.c: notes a drop; the platforms on which a use counts; reports drops of
 * what is not inherited. */
void use_drop_note(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context);
uint8_t use_platforms(struct expansion *expansion, const struct ast_stmt *use,
    const struct context *context);
void use_drops_report(struct expansion *expansion);

/* rules.c: the items of a rule or of a drop. */
void rule_items(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context, struct item_list *list);

/* Adds an item to a list; reports one too many. */
void item_add(struct expansion *expansion, struct item_list *list,
    const struct item *item);

/* settings.c: notes a limit, set, about or require; decides which stand. */
void expand_limit(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context);
void expand_set(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context);
void expand_about(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context);
void expand_require(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context);
void expand_settings(struct expansion *expansion);

/* unused.c: reports names and groups of the file that nothing speaks of. */
void report_unused(struct expansion *expansion, const struct ast_stmt *stmts);

#endif
