/*
 * The parts of a statement in YAML: its texts, the words of its key, its
 * objects.
 */
#ifndef SBX_YAML_ENTRY_H
#define SBX_YAML_ENTRY_H

#include "compiler/language/ast.h"
#include "compiler/read/yaml.h"

struct policy_reader {
	struct arena *arena;
	struct diags *diags;
	const struct source *source;
	int depth; /* of blocks */
};

/* An entry of a list of statements, and its parts. */
struct yaml_entry {
	const struct yaml_node *value; /* of the key of the statement */
	const struct yaml_node *except, *from;
	const struct yaml_node *key;
	struct ast_list words; /* behind the first word of the key */
	struct loc loc;
};

/* The words of a text, each with its place if the text stands there as is. */
struct key_words {
	struct ast_list list;
	bool good; /* every one of them is a word or a keyword */
};

/* Whether it is a text; reports it if not. */
bool yaml_is_text(struct policy_reader *reader, const struct yaml_node *node,
    const char *wanted);

/* A name that a policy makes, or NULL after reporting. */
struct ast_atom *yaml_name(struct policy_reader *reader,
    const struct yaml_node *node);

struct ast_atom *entry_word(struct policy_reader *reader, struct loc loc,
    const char *text);
struct key_words entry_words(struct policy_reader *reader,
    const struct yaml_node *node);

/* Takes the first word away, if there is one and it is this one. */
bool entry_take_word(struct ast_list *words, const char *text);

/* An entry of a map, without its words. */
struct yaml_entry entry_of(const struct yaml_node *value);

/* The same for a name below it, where the value is a map of names. */
struct yaml_entry entry_below(const struct yaml_entry *entry,
    const struct yaml_node *value);

/* The first entry of a map of names that the policy makes; NULL after
 * reporting that it is none. */
const struct yaml_node *entry_names(struct policy_reader *reader,
    const struct yaml_node *map, const char *wanted);

struct ast_stmt *entry_stmt(struct policy_reader *reader,
    const struct yaml_entry *entry, enum ast_kind kind);

/* One object or a list of them; false after reporting. */
bool entry_objects(struct policy_reader *reader, const struct yaml_node *node,
    struct ast_list *list);

/* What is wrong with the words of a key; `form` shows how they are written.
 * The others report it: that what is left of the words are no keywords, is one
 * word, is nothing. */
void entry_report_head(struct policy_reader *reader,
    const struct yaml_entry *entry, const char *form);
bool entry_has_plain_words(struct policy_reader *reader,
    const struct yaml_entry *entry, const char *form);
bool entry_has_one_word(struct policy_reader *reader,
    const struct yaml_entry *entry, const char *form);
bool entry_is_bare(struct policy_reader *reader, const struct yaml_entry *entry,
    const char *form);

#endif
