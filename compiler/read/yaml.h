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
#ifndef SBX_YAML_H
#define SBX_YAML_H

#include "compiler/report/diag.h"

#include <stdbool.h>

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

#endif
