/* Files to statements: what they include; YAML, JSON. */
#ifndef SBX_COMPILER_READ_READ_H
#define SBX_COMPILER_READ_READ_H

#include "compiler/language/ast.h"
#include "compiler/report/report.h"

#include <stdbool.h>

/* --- read.c ------------------------------------------------------------ */

/*
 * From a policy's file to statements, whatever form it has, with everything
 * that it includes.
 */

struct diags;

/*
 * Reads a policy and everything that it includes.  Returns its statements in
 * order (NULL if there are none); what is wrong is in diags.  Nodes live in
 * the arena of `sources`.  The grammar and the scanner are in
 * grammar/.
 */
struct ast_stmt *ast_parse(struct sources *sources, struct diags *diags,
    struct source *source);

/* The same without reading what it includes. */
struct ast_stmt *ast_parse_alone(struct sources *sources, struct diags *diags,
    const struct source *source);

/* --- yaml.c ------------------------------------------------------------ */

/*
 * YAML as a tree of texts, lists and maps with exact places; JSON is YAML.
 * yaml.c is the only file that knows libyaml.
 *
 *	deny read: [ /srv/a, /srv/b ]
 *
 *	map -> first: list (key: text "deny read")
 *	              list -> first: text "/srv/a" -> next: text "/srv/b"
 *
 * Every scalar is its text: whether `yes`, `1.0`, `0777`, `null` or `~` mean
 * anything is for the reader of the tree to say.  What gives a document a
 * second meaning behind its text is refused: aliases, anchors, tags, merge
 * keys, keys that stand twice, several documents.
 */

enum {
	YAML_MAX_DEPTH = 64,      /* lists and maps inside each other */
	YAML_MAX_NODES = 1 << 18, /* of one file, keys too */
};

struct yaml_node {
	enum yaml_kind { YAML_TEXT, YAML_LIST, YAML_MAP } kind;
	struct loc loc;                 /* of a text in quotes: without them */
	const char *text;               /* interned; NULL of lists and maps */
	bool plain;                     /* a text without quotes */
	struct yaml_node *key;          /* of an entry of a map: a text */
	struct yaml_node *first, *last; /* entries of a list or a map */
	struct yaml_node *next;
	size_t count; /* of its entries */
	int made;     /* for the reader of TOML alone */
};

/*
 * Reads one document.  NULL after reporting whatever is wrong with it.  Nodes
 * live in the arena of `sources`.
 */
struct yaml_node *yaml_read(struct sources *sources, struct diags *diags,
    const struct source *source);

/* Adds an entry to a list or a map, where it has its key. */
void yaml_add(struct yaml_node *parent, struct yaml_node *entry);

/* The entry of a map with this key, or NULL; NULL too for what is no map. */
const struct yaml_node *yaml_find(const struct yaml_node *map, const char *key);

/* Whether nothing was written: `key:` and no value. */
bool yaml_is_nothing(const struct yaml_node *node);

/* "expected WANTED, found a list". */
struct diag *yaml_report_kind(struct diags *diags, const struct yaml_node *node,
    const char *wanted);

/*
 * "unknown key 'x'" with the nearest of the known ones, or all of them, as
 * help.  NULL names are skipped.
 */
struct diag *yaml_report_key(struct diags *diags, const struct yaml_node *key,
    const char *const *names, size_t count);

/* --- toml.c ------------------------------------------------------------ */

/*
 * TOML 1.0 as the tree of read.h: a table is a map, an array a list, and every
 * other value is its text, which is plain unless it stood in quotes.  A key that
 * stands twice is refused, and so is a character that is written by its number;
 * a table may get keys in more ways than TOML allows.
 */

/* Reads one document.  NULL after reporting whatever is wrong with it. */
struct yaml_node *toml_read(struct sources *sources, struct diags *diags,
    const struct source *source);

/* --- yaml_policy.c ----------------------------------------------------- */

/*
 * YAML, and JSON, around statements: each is a text, which the scanner of the
 * language reads.
 *
 *	sbx: 1
 *	rules: [ param dataset ]         # of the file
 *	groups:
 *	  tools: [ allow exec /opt ]     # group tools { allow exec /opt }
 *	profiles:
 *	  team:                          # profile team extends coding {
 *	    extends: coding
 *	    rules:
 *	      - deny write /srv/keys     #     deny write /srv/keys
 */

/*
 * Whether a file is YAML: by its name (.yaml, .yml, .json), else, unless it is
 * called .sbx, by how its text begins.
 */
bool yaml_policy_is(const struct source *source);

/*
 * Its statements in order; NULL too if it is not read, after reporting why.
 * Whether they may stand where they stand is for the caller to say.
 */
struct ast_stmt *yaml_policy_read(struct sources *sources, struct diags *diags,
    const struct source *source);

/* --- yaml_problem.c ---------------------------------------------------- */

/*
 * What is wrong with a text that is no YAML, or more YAML than is read, in
 * words that say how to write what was probably meant.
 */

/* As libyaml tells it. */
struct yaml_problem {
	const char *problem, *context; /* "" if there is none */
	struct loc loc, context_loc;   /* without width */
	bool in_list;                  /* inside of brackets or braces */
};

void yaml_report_problem(struct diags *diags, const struct source *source,
    const struct yaml_problem *problem);

/* `what` is "an alias", "an anchor" or "a tag". */
void yaml_report_mark(struct diags *diags, const struct source *source,
    struct loc loc, const char *what);

#endif
