/* One entry a kind of rule: all that the rooms above ask. */
#ifndef SBX_COMPILER_KINDS_KINDS_H
#define SBX_COMPILER_KINDS_KINDS_H

#include "compiler/policy/kind.h"

#include <stdio.h>

/* --- kinds.c ----------------------------------------------------------- */

extern const struct rule_kind kind_path, kind_port, kind_syscall, kind_env,
    kind_set, kind_blanket, kind_limit, kind_watch, kind_socket, kind_domain,
    kind_endpoint, kind_proxy;

/* --- place.c ----------------------------------------------------------- */

struct access;
struct builder;
struct places;

/* False for a pattern, after reporting that rules that begin with `words` take
 * none; `help` says what to name instead. */
bool place_no_glob(struct expansion *expansion, const struct ast_atom *atom,
    const char *words, const char *help);

/* Adds `base` at each place that the atom stands for, on their platforms. */
void place_items(struct expansion *expansion, const struct ast_atom *atom,
    const struct place_list *places, const struct item *base,
    struct item_list *list);

/* For rule_kind. */
bool place_equals(const struct rule *a, const struct rule *b);
uint64_t place_hash(const struct rule *rule);
const char *place_ask(const struct places *places, const char *object,
    struct access *access);
void place_show_access(FILE *stream, const struct access *access);

/* The object of a statement, from a place's text; and that of a rule, which may
 * be a glob. */
struct ast_atom *place_atom(struct builder *builder, const char *text);
struct ast_atom *place_object(struct builder *builder,
    const struct path_rule *rule);

#endif
