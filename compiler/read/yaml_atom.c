/* See yaml_atom.h. */
#include "compiler/read/yaml_atom.h"

#include "grammar/parser.h"
#include "grammar/token.h"

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
yaml_string(struct policy_reader *reader, const struct yaml_node *node)
{
	return token_quoted(reader->arena, node->loc, node->text,
	    strlen(node->text));
}

struct ast_atom *
yaml_text(struct policy_reader *reader, const struct yaml_node *node)
{
	return yaml_is_text(reader, node, "text") ? yaml_string(reader, node) :
						    NULL;
}

struct ast_atom *
yaml_word(struct policy_reader *reader, const struct yaml_node *node)
{
	return ast_atom(reader->arena, AST_WORD, node->loc, node->text,
	    strlen(node->text));
}

struct ast_atom *
yaml_variable(struct policy_reader *reader, const struct yaml_node *node)
{
	return node->kind == YAML_TEXT && yaml_is_word(reader, node->text) ?
	    yaml_word(reader, node) :
	    yaml_text(reader, node);
}

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
	atom = yaml_word(reader, node);
	if (word_is_keyword(node->text))
		diag_help(reader->diags,
		    diag_add(reader->diags, DIAG_BAD_NAME, node->loc,
			"'%s' cannot be a name", node->text),
		    "a keyword cannot be a name");
	else
		parser_name(&parser, atom);
	return reader->diags->errors > errors ? NULL : atom;
}

bool
yaml_is_word(struct policy_reader *reader, const char *text)
{
	const struct ast_atom *atom = token_object(reader->arena, text, NULL);

	return atom != NULL &&
	    (atom->kind == AST_WORD || atom->kind == AST_STRING);
}

/* --- objects -------------------------------------------------------------- */

/* Whoever writes several objects into one text is shown how to make a list. */
static void
report_text(struct policy_reader *reader, const struct yaml_node *node,
    size_t end)
{
	const char *text = node->text;
	const char *second = text + end + strspn(text + end, " ,\t\n");
	struct diag *diag = diag_add(reader->diags, DIAG_YAML_OBJECT, node->loc,
	    *text == '\0' ? "an object that is empty" :
			    "'%s' is not one object",
	    text);
	bool several = second > text + end &&
	    (second[0] == '/' || second[0] == '~' ||
		strncmp(second, "${", 2) == 0);

	while (end > 0 && text[end - 1] == ',')
		end--;
	if (several)
		diag_help(reader->diags, diag,
		    "several objects are a list: "
		    "[ \"%s\", \"%s\" ]; one with such characters is "
		    "{ quoted: \"...\" }",
		    arena_strndup(reader->arena, text, end), second);
	else
		diag_help(reader->diags, diag,
		    "what has a blank or such characters "
		    "in its name is { quoted: \"...\" }");
}

static struct ast_atom *
atom_of_text(struct policy_reader *reader, const struct yaml_node *node,
    bool any)
{
	size_t end;
	struct ast_atom *atom = token_object(reader->arena, node->text, &end);

	if (atom == NULL && any)
		return yaml_string(reader, node);
	if (atom == NULL)
		report_text(reader, node, end);
	else
		atom->loc = node->loc;
	return atom;
}

/* { quoted: TEXT } and { glob: TEXT }. */
static struct ast_atom *
atom_of_map(struct policy_reader *reader, const struct yaml_node *map)
{
	static const char *const names[] = { "quoted", "glob" };
	const struct yaml_node *entry = map->first;
	struct ast_atom *atom;
	bool glob;

	if (entry == NULL || entry->next != NULL) {
		diag_help(reader->diags,
		    diag_add(reader->diags, DIAG_YAML_SHAPE,
			entry == NULL ? map->loc : entry->next->key->loc,
			"expected one key in an object"),
		    "'{ quoted: TEXT }' or '{ glob: PATTERN }'");
		return NULL;
	}
	glob = strcmp(entry->key->text, "glob") == 0;
	if (!glob && strcmp(entry->key->text, "quoted") != 0) {
		yaml_report_key(reader->diags, entry->key, names,
		    countof(names));
		return NULL;
	}
	if (entry->kind != YAML_TEXT || yaml_is_nothing(entry)) {
		yaml_report_kind(reader->diags, entry, "text");
		return NULL;
	}
	atom = yaml_string(reader, entry);
	if (glob)
		atom->kind = AST_GLOB;
	return atom;
}

struct ast_atom *
yaml_atom(struct policy_reader *reader, const struct yaml_node *node)
{
	if (node->kind == YAML_MAP)
		return atom_of_map(reader, node);
	if (node->kind == YAML_TEXT && !yaml_is_nothing(node))
		return atom_of_text(reader, node, false);
	yaml_report_kind(reader->diags, node, "an object");
	return NULL;
}

struct ast_atom *
yaml_value(struct policy_reader *reader, const struct yaml_node *node, bool any)
{
	struct ast_atom *atom = NULL;

	if (node->kind == YAML_LIST || (any && yaml_is_nothing(node))) {
		struct diag *diag = yaml_report_kind(reader->diags, node,
		    "a value");

		if (any)
			diag_help(reader->diags, diag,
			    "a value that is empty is written as \"\"");
	} else if (any && node->kind == YAML_TEXT) {
		return atom_of_text(reader, node, true);
	} else {
		atom = yaml_atom(reader, node);
	}
	if (atom == NULL || atom->kind != AST_GLOB)
		return atom;
	diag_add(reader->diags, DIAG_WRONG_OBJECT, atom->loc,
	    "a glob is an object of a rule, and nothing else");
	return NULL;
}
