/* See yaml_atom.h. */
#include "compiler/read/yaml_atom.h"

#include "compiler/tables/words.h"
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

enum { HEAD_WORDS = 4 + WHAT_WORDS }; /* drop prefer deny, and one too many */

/* Splits a text into its first words; how many. */
static size_t
split_words(struct arena *arena, const char *text,
    const char *words[HEAD_WORDS])
{
	size_t count = 0;

	for (text += strspn(text, " "); *text != '\0' && count < HEAD_WORDS;
	     text += strspn(text, " ")) {
		size_t len = strcspn(text, " ");

		words[count++] = arena_strndup(arena, text, len);
		text += len;
	}
	return count;
}

static bool
is_effect(const char *word)
{
	static const char *const effects[] = { "drop", "prefer", "allow",
		"deny" };

	for (size_t i = 0; i < countof(effects); i++) {
		if (strcmp(effects[i], word) == 0)
			return true;
	}
	return false;
}

/* The statement as it should be, where words of it stand behind the ':', as in
 * "allow network: connect tcp 443"; or NULL. */
static const char *
with_words(struct arena *arena, const struct yaml_node *node)
{
	const char *words[HEAD_WORDS], *text, *rest;
	size_t own, count, effects = 0, used;

	if (node->key == NULL)
		return NULL;
	own = split_words(arena, node->key->text, words);
	text = arena_printf(arena, "%s %s", node->key->text, node->text);
	count = split_words(arena, text, words);
	while (effects < count && is_effect(words[effects]))
		effects++;
	if (effects == 0 ||
	    what_match(words + effects, count - effects, &used) == NULL ||
	    effects + used <= own)
		return NULL;
	rest = text;
	for (size_t i = 0; i < effects + used; i++) {
		rest += strspn(rest, " ");
		rest += strcspn(rest, " ");
	}
	return arena_printf(arena, "%.*s%s%s", (int)(rest - text), text,
	    *rest != '\0' ? ":" : "", rest);
}

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
	    (strchr("/~0123456789", second[0]) != NULL ||
		strncmp(second, "${", 2) == 0);

	const char *head = with_words(reader->arena, node);

	while (end > 0 && text[end - 1] == ',')
		end--;
	if (head != NULL)
		diag_help(reader->diags, diag,
		    "all words of a rule stand before the ':': write '- %s'",
		    head);
	else if (several)
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
