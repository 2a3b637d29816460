/*
 * Objects of the language as texts of YAML.  A text is what stands between
 * blanks in a .sbx file, and means the same there and here:
 *
 *	/srv/a  ~/x  ${name}/x  LC_*  @mount  443  8000-8080  300s  tcp
 *
 * Whether it has quotes in YAML does not count, for in JSON all texts have.
 * What has quotes in a .sbx file is { quoted: TEXT } where that matters.
 */
#ifndef SBX_YAML_ATOM_H
#define SBX_YAML_ATOM_H

#include "compiler/language/ast.h"
#include "compiler/read/yaml.h"

struct policy_reader {
	struct arena *arena;
	struct diags *diags;
	const struct source *source;
	int depth; /* of blocks */
};

/* Whether it is a text; reports it if not. */
bool yaml_is_text(struct policy_reader *reader, const struct yaml_node *node,
    const char *wanted);

/* A text as the language has it in quotes; yaml_text() takes any node, and
 * gives NULL after reporting what is no text. */
struct ast_atom *yaml_string(struct policy_reader *reader,
    const struct yaml_node *node);
struct ast_atom *yaml_text(struct policy_reader *reader,
    const struct yaml_node *node);

/* Whether a text is a word or a keyword; a text as a word. */
bool yaml_is_word(struct policy_reader *reader, const char *text);
struct ast_atom *yaml_word(struct policy_reader *reader,
    const struct yaml_node *node);

/* The name of a variable, which may be a keyword, and any text in quotes; NULL
 * after reporting what is no text. */
struct ast_atom *yaml_variable(struct policy_reader *reader,
    const struct yaml_node *node);

/* A name that a policy makes, or NULL after reporting. */
struct ast_atom *yaml_name(struct policy_reader *reader,
    const struct yaml_node *node);

/* An object from its text, its { quoted: } or its { glob: }; NULL after
 * reporting. */
struct ast_atom *yaml_atom(struct policy_reader *reader,
    const struct yaml_node *node);

/* The same for a value, which is no glob.  Where `any` text is one, what is no
 * object is a string. */
struct ast_atom *yaml_value(struct policy_reader *reader,
    const struct yaml_node *node, bool any);

#endif
