/*
 * See yaml_atom.h.  The characters are those of grammar/scan.l; a test holds
 * the two against each other.
 */
#include "compiler/read/yaml_atom.h"

#include "compiler/base/names.h"
#include "compiler/tables/words.h"

#include <string.h>

static const char DIGITS[] = "0123456789";

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool
is_one_of(char c, const char *others)
{
	return is_letter(c) || (c >= '0' && c <= '9') ||
	    (unsigned char)c >= 0x80 || (c != '\0' && strchr(others, c));
}

static size_t
span(const char *text, const char *others)
{
	size_t len = 0;

	while (is_one_of(text[len], others))
		len++;
	return len;
}

/* The length of "${name}", or 0. */
static size_t
name_len(const char *text)
{
	size_t len;

	if (strncmp(text, "${", 2) != 0)
		return 0;
	len = 2 + strcspn(text + 2, "}\n\r\t {\"#");
	return text[len] == '}' ? len + 1 : 0;
}

static bool
is_path_start(const char *text)
{
	return text[0] == '/' || text[0] == '~' || name_len(text) > 0;
}

/* The part of a path that could stand without quotes. */
static size_t
path_span(const char *text)
{
	size_t len = 0;

	for (;;) {
		size_t more = span(text + len, "_.+%:/@,=~*?[]-");

		if (more == 0)
			more = name_len(text + len);
		if (more == 0)
			return len;
		len += more;
	}
}

static bool
is_number(const char *text)
{
	const char *rest = text + strspn(text, DIGITS);

	while (is_letter(*rest))
		rest++;
	return text[0] >= '0' && text[0] <= '9' && *rest == '\0';
}

static bool
is_range(const char *text)
{
	size_t low = strspn(text, DIGITS), high;

	if (low == 0 || text[low] != '-')
		return false;
	high = strspn(text + low + 1, DIGITS);
	return high > 0 && text[low + 1 + high] == '\0';
}

/* From `from` on all of it is characters of words. */
static bool
is_word(const char *text, size_t from)
{
	return text[from] != '\0' &&
	    text[from + span(text + from, "_.+%:*-@/")] == '\0';
}

bool
yaml_atom_kind(const char *text, enum ast_atom_kind *kind)
{
	size_t len = strlen(text);

	if (is_number(text))
		*kind = AST_NUMBER;
	else if (is_range(text))
		*kind = AST_RANGE;
	else if (text[0] == '@' && is_word(text, 1))
		*kind = AST_GROUP;
	else if (text[0] != '@' && text[0] != '/' && is_word(text, 0))
		*kind = strchr(text, '*') != NULL ? AST_PATTERN :
		    word_is_keyword(text)         ? AST_STRING :
						    AST_WORD;
	else if (is_path_start(text) && path_span(text) == len &&
	    text[len - 1] != ',')
		*kind = AST_PATH;
	else
		return false;
	return true;
}

static bool
looks_like_path(const char *text)
{
	return text[0] == '/' || strcmp(text, "~") == 0 ||
	    strncmp(text, "~/", 2) == 0 || strncmp(text, "${", 2) == 0;
}

enum ast_atom_kind
yaml_value_kind(const char *text)
{
	enum ast_atom_kind kind;

	if (yaml_atom_kind(text, &kind))
		return kind;
	return looks_like_path(text) ? AST_PATH : AST_STRING;
}

static struct ast_atom *
atom_new(struct arena *arena, const struct yaml_node *node,
    enum ast_atom_kind kind)
{
	size_t skip = kind == AST_GROUP;

	return ast_atom(arena, kind, node->loc, node->text + skip,
	    strlen(node->text) - skip);
}

struct ast_atom *
yaml_string(struct arena *arena, const struct yaml_node *node)
{
	struct ast_atom *atom = atom_new(arena, node,
	    looks_like_path(node->text) ? AST_PATH : AST_STRING);

	atom->quoted = true;
	return atom;
}

/* The first character that cannot stand there, or NULL. */
static const char *
find_stray(const char *text)
{
	size_t len = is_path_start(text) ? path_span(text) :
					   span(text, "_.+%:*-@/");

	if (text[len] == '\0')
		return len > 0 && text[len - 1] == ',' ? text + len - 1 : NULL;
	return text + len;
}

static void
report_text(struct arena *arena, struct diags *diags,
    const struct yaml_node *node)
{
	const char *stray = find_stray(node->text);
	const char *second = stray == NULL ? NULL :
					     stray + strspn(stray, " ,\t\n");
	struct diag *diag = diag_add(diags, DIAG_YAML_OBJECT, node->loc,
	    *node->text == '\0' ? "an object that is empty" :
				  "'%s' is not one object",
	    node->text);

	while (stray > node->text && stray[-1] == ',')
		stray--;
	if (second > stray && is_path_start(second))
		diag_help(diags, diag,
		    "several objects are a list: "
		    "[ \"%s\", \"%s\" ]; one with such characters is "
		    "{ quoted: \"...\" }",
		    arena_strndup(arena, node->text,
			(size_t)(stray - node->text)),
		    second);
	else
		diag_help(diags, diag,
		    "what has a blank or such characters "
		    "in its name is { quoted: \"...\" }");
}

static struct ast_atom *
atom_of_text(struct arena *arena, struct diags *diags,
    const struct yaml_node *node)
{
	enum ast_atom_kind kind;

	if (yaml_atom_kind(node->text, &kind))
		return atom_new(arena, node, kind);
	report_text(arena, diags, node);
	return NULL;
}

/* { quoted: TEXT } and { glob: TEXT }. */
static struct ast_atom *
atom_of_map(struct arena *arena, struct diags *diags,
    const struct yaml_node *map)
{
	static const char *const names[] = { "quoted", "glob" };
	const struct yaml_node *entry = map->first;
	struct ast_atom *atom;
	bool glob;

	if (entry == NULL || entry->next != NULL) {
		diag_help(diags,
		    diag_add(diags, DIAG_YAML_SHAPE,
			entry == NULL ? map->loc : entry->next->key->loc,
			"expected one key in an object"),
		    "'{ quoted: TEXT }' or '{ glob: PATTERN }'");
		return NULL;
	}
	glob = strcmp(entry->key->text, "glob") == 0;
	if (!glob && strcmp(entry->key->text, "quoted") != 0) {
		yaml_report_key(diags, entry->key, names, countof(names));
		return NULL;
	}
	if (entry->kind != YAML_TEXT || yaml_is_nothing(entry)) {
		yaml_report_kind(diags, entry, "text");
		return NULL;
	}
	atom = yaml_string(arena, entry);
	if (glob)
		atom->kind = AST_GLOB;
	return atom;
}

struct ast_atom *
yaml_atom(struct arena *arena, struct diags *diags,
    const struct yaml_node *node)
{
	switch (node->kind) {
	case YAML_TEXT:
		if (!yaml_is_nothing(node))
			return atom_of_text(arena, diags, node);
		break;
	case YAML_MAP:
		return atom_of_map(arena, diags, node);
	case YAML_LIST:
		break;
	}
	yaml_report_kind(diags, node, "an object");
	return NULL;
}

bool
yaml_is_no_glob(struct diags *diags, const struct ast_atom *atom)
{
	if (atom->kind != AST_GLOB)
		return true;
	diag_add(diags, DIAG_WRONG_OBJECT, atom->loc,
	    "a glob is an object of a rule, and nothing else");
	return false;
}

struct ast_atom *
yaml_value(struct arena *arena, struct diags *diags,
    const struct yaml_node *node)
{
	if (node->kind == YAML_MAP) {
		struct ast_atom *atom = atom_of_map(arena, diags, node);

		return atom != NULL && yaml_is_no_glob(diags, atom) ? atom :
								      NULL;
	}
	if (node->kind == YAML_TEXT && !yaml_is_nothing(node)) {
		enum ast_atom_kind kind;

		return yaml_atom_kind(node->text, &kind) ?
		    atom_new(arena, node, kind) :
		    yaml_string(arena, node);
	}
	diag_help(diags, yaml_report_kind(diags, node, "a value"),
	    "a value that is empty is written as \"\"");
	return NULL;
}
