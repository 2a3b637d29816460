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

/* Reading: what the scanner would take the text for; false for nothing. */
bool yaml_atom_kind(const char *text, enum ast_atom_kind *kind);

/* The same where any text is a value: what is nothing else is a string. */
enum ast_atom_kind yaml_value_kind(const char *text);

/* An object from its text, its { quoted: } or its { glob: }; NULL after
 * reporting. */
struct ast_atom *yaml_atom(struct arena *arena, struct diags *diags,
    const struct yaml_node *node);

/* A value of `set`; NULL after reporting. */
struct ast_atom *yaml_value(struct arena *arena, struct diags *diags,
    const struct yaml_node *node);

/* Whether it is anything but a glob, which no value is; reports it. */
bool yaml_is_no_glob(struct diags *diags, const struct ast_atom *atom);

/* Any text, as the language has it in quotes. */
struct ast_atom *yaml_string(struct arena *arena, const struct yaml_node *node);

#endif
