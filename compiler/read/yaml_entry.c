/* See yaml_entry.h. */
#include "compiler/read/yaml_entry.h"

#include "compiler/read/yaml_atom.h"
#include "compiler/tables/words.h"
#include "grammar/parser.h"

#include <string.h>

/* --- texts ---------------------------------------------------------------- */

bool
yaml_is_text(struct policy_reader *reader, const struct yaml_node *node,
    const char *wanted)
{
	if (node->kind == YAML_TEXT && !yaml_is_nothing(node))
		return true;
	yaml_report_kind(reader->diags, node, wanted);
	return false;
}

struct ast_atom *
entry_word(struct policy_reader *reader, struct loc loc, const char *text)
{
	return ast_atom(reader->arena, AST_WORD, loc, text, strlen(text));
}

/* A name that a policy makes, or NULL after reporting. */
struct ast_atom *
yaml_name(struct policy_reader *reader, const struct yaml_node *node)
{
	struct parser parser = {
		.diags = reader->diags,
		.arena = reader->arena,
		.source = reader->source,
	};
	size_t errors = reader->diags->errors;
	struct ast_atom *atom;

	if (!yaml_is_text(reader, node, "a name"))
		return NULL;
	atom = entry_word(reader, node->loc, node->text);
	if (word_is_keyword(node->text))
		diag_help(reader->diags,
		    diag_add(reader->diags, DIAG_BAD_NAME, node->loc,
			"'%s' cannot be a name", node->text),
		    "a keyword cannot be a name");
	else
		parser_name(&parser, atom);
	return reader->diags->errors > errors ? NULL : atom;
}

/* --- words of a key ------------------------------------------------------- */

struct key_words
entry_words(struct policy_reader *reader, const struct yaml_node *node)
{
	const char *at = node->text;
	uint32_t base = reader->source->base;
	size_t len = strlen(at);
	bool as_is = node->loc.end - node->loc.begin == len &&
	    memcmp(at, reader->source->text + (node->loc.begin - base), len) ==
		0;
	struct key_words words = { .good = true };

	for (at += strspn(at, " "); *at != '\0'; at += strspn(at, " ")) {
		uint32_t offset = (uint32_t)(at - node->text);
		struct loc loc = node->loc;
		enum ast_atom_kind kind;
		struct ast_atom *atom;

		len = strcspn(at, " ");
		if (as_is) {
			loc.begin += offset;
			loc.end = loc.begin + (uint32_t)len;
		}
		atom = ast_atom(reader->arena, AST_WORD, loc, at, len);
		if (!yaml_atom_kind(atom->text, &kind) ||
		    (kind != AST_WORD && kind != AST_STRING))
			words.good = false;
		ast_list_add(&words.list, atom);
		at += len;
	}
	return words;
}

/* Takes the first word away, if there is one and it is this one. */
bool
entry_take_word(struct ast_list *words, const char *text)
{
	struct ast_atom *first = words->first;

	if (first == NULL || strcmp(first->text, text) != 0)
		return false;
	words->first = first->next;
	if (words->first == NULL)
		words->last = NULL;
	else
		words->loc.begin = words->first->loc.begin;
	return true;
}

/* --- entries -------------------------------------------------------------- */

struct yaml_entry
entry_of(const struct yaml_node *value)
{
	struct yaml_entry entry = {
		.value = value,
		.key = value->key,
		.loc = { value->key->loc.begin, value->loc.end },
	};

	if (entry.key->loc.end > entry.loc.end)
		entry.loc.end = entry.key->loc.end;
	return entry;
}

/* Goes through a map of names that the policy makes. */
const struct yaml_node *
entry_names(struct policy_reader *reader, const struct yaml_node *map,
    const char *wanted)
{
	if (map->kind == YAML_MAP && map->first != NULL)
		return map->first;
	yaml_report_kind(reader->diags, map, wanted);
	return NULL;
}

struct yaml_entry
entry_below(const struct yaml_entry *entry, const struct yaml_node *value)
{
	struct yaml_entry below = *entry;

	below.value = value;
	below.loc = (struct loc){ value->key->loc.begin, value->loc.end };
	if (value->key->loc.end > below.loc.end)
		below.loc.end = value->key->loc.end;
	return below;
}

struct ast_stmt *
entry_stmt(struct policy_reader *reader, const struct yaml_entry *entry,
    enum ast_kind kind)
{
	struct ast_stmt *stmt = ast_stmt(reader->arena, kind, entry->loc);

	if (entry->from != NULL)
		stmt->from = yaml_string(reader->arena, entry->from);
	return stmt;
}

void
entry_report_head(struct policy_reader *reader, const struct yaml_entry *entry,
    const char *form)
{
	struct diag *diag = diag_add(reader->diags, DIAG_SYNTAX,
	    entry->key->loc, "'%s' is not the key of a statement",
	    entry->key->text);

	diag_help(reader->diags, diag, "write '%s'", form);
}

/* What is left of the words are no keywords, as in a .sbx file. */
bool
entry_has_plain_words(struct policy_reader *reader,
    const struct yaml_entry *entry, const char *form)
{
	for (const struct ast_atom *atom = entry->words.first; atom != NULL;
	     atom = atom->next) {
		if (!word_is_keyword(atom->text))
			continue;
		entry_report_head(reader, entry, form);
		return false;
	}
	return true;
}

/* One of them. */
bool
entry_has_one_word(struct policy_reader *reader, const struct yaml_entry *entry,
    const char *form)
{
	if (entry->words.first != NULL && entry->words.first->next == NULL)
		return entry_has_plain_words(reader, entry, form);
	entry_report_head(reader, entry, form);
	return false;
}

/* Keys that end with their first word. */
bool
entry_is_bare(struct policy_reader *reader, const struct yaml_entry *entry,
    const char *form)
{
	if (entry->words.first == NULL)
		return true;
	entry_report_head(reader, entry, form);
	return false;
}

/* One object or a list of them. */
bool
entry_objects(struct policy_reader *reader, const struct yaml_node *node,
    struct ast_list *list)
{
	const struct yaml_node *item = node;
	bool good = true;

	if (node->kind == YAML_LIST) {
		item = node->first;
		if (item == NULL) {
			diag_add(reader->diags, DIAG_SYNTAX, node->loc,
			    "expected an object, found an empty list");
			return false;
		}
	}
	while (item != NULL) {
		struct ast_atom *atom = yaml_atom(reader->arena, reader->diags,
		    item);

		if (atom != NULL)
			ast_list_add(list, atom);
		good &= atom != NULL;
		item = node->kind == YAML_LIST ? item->next : NULL;
	}
	if (good)
		list->loc = node->loc;
	return good;
}
