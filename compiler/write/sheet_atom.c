/*
 * See write.h.  An atom without a source is spelled as the scanner would
 * read it: bare if it can be, else in quotes.
 */
#include "compiler/write/write.h"

#include "grammar/grammar.h"

#include <string.h>

/* --- words that have no source to be copied from -------------------------- */

/* Whether the scanner reads the text, without quotes, as one of two kinds. */
static bool
is_bare(const struct sheet *sheet, const char *text, enum ast_atom_kind kind,
    enum ast_atom_kind other)
{
	const struct ast_atom *atom = token_object(sheet->arena, text);

	return atom != NULL && (atom->kind == kind || atom->kind == other);
}

static void
put_quoted(struct sheet *sheet, const char *text)
{
	sheet_puts(sheet, "\"");
	for (;;) {
		size_t len = strcspn(text, "\n\t\"\\");
		char escape[] = { '\\', text[len] };

		sheet_put(sheet, text, len);
		if (text[len] == '\0')
			break;
		if (text[len] == '\n')
			escape[1] = 'n';
		else if (text[len] == '\t')
			escape[1] = 't';
		sheet_put(sheet, escape, sizeof escape);
		text += len + 1;
	}
	sheet_puts(sheet, "\"");
}

/* --- atoms ---------------------------------------------------------------- */

/* As it stands in the source; what is shown of it begins at `begin`. */
static void
put_copy(struct sheet *sheet, const struct ast_atom *atom, size_t begin)
{
	size_t len = atom->loc.end - atom->loc.begin;

	sheet_put(sheet, sheet_text(sheet, atom->loc) + begin, len - begin);
	sheet_skip(sheet, atom->loc);
}

void
sheet_word(struct sheet *sheet, const struct ast_atom *atom)
{
	sheet_puts(sheet, " ");
	if (sheet->source != NULL)
		put_copy(sheet, atom, 0);
	else
		sheet_puts(sheet, atom->text);
}

void
sheet_variable(struct sheet *sheet, const struct ast_atom *name)
{
	/* A keyword is a string here. */
	if (sheet->source != NULL ||
	    is_bare(sheet, name->text, AST_WORD, AST_STRING))
		sheet_word(sheet, name);
	else
		sheet_quoted(sheet, name);
}

void
sheet_words(struct sheet *sheet, const struct ast_list *list)
{
	for (const struct ast_atom *atom = list->first; atom != NULL;
	     atom = atom->next)
		sheet_word(sheet, atom);
}

void
sheet_quoted(struct sheet *sheet, const struct ast_atom *atom)
{
	sheet_puts(sheet, " ");
	if (sheet->source != NULL)
		put_copy(sheet, atom, 0);
	else
		put_quoted(sheet, atom->text);
}

static void
put_new_object(struct sheet *sheet, const struct ast_atom *atom)
{
	bool plain = atom->kind == AST_NUMBER || atom->kind == AST_RANGE ||
	    atom->kind == AST_GROUP;

	if (atom->kind == AST_WORD || atom->kind == AST_PATTERN)
		plain = is_bare(sheet, atom->text, AST_WORD, AST_PATTERN);
	else if (atom->kind == AST_PATH)
		/* In quotes these characters are part of a name. */
		plain = (atom->loc.begin != 0 && !atom->quoted) ||
		    (is_bare(sheet, atom->text, AST_PATH, AST_PATH) &&
			strpbrk(atom->text + 1, "*?[],$") == NULL);
	if (atom->kind == AST_GLOB)
		sheet_puts(sheet, "glob ");
	if (atom->kind == AST_GROUP)
		sheet_puts(sheet, "@");
	if (plain)
		sheet_puts(sheet, atom->text);
	else
		put_quoted(sheet, atom->text);
}

/* In a list, a comment may stand between `glob` and its pattern. */
static void
put_glob(struct sheet *sheet, const struct ast_atom *atom, int depth)
{
	const char *text = sheet_text(sheet, atom->loc);
	size_t word = strlen("glob");
	size_t begin = word + strspn(text + word, " \t\r\n");

	sheet_puts(sheet, "glob");
	if (text[begin] == '"') {
		sheet_puts(sheet, " ");
		put_copy(sheet, atom, begin);
		return;
	}
	sheet->at = text + word;
	sheet_trailing(sheet);
	sheet_newline(sheet);
	sheet_between(sheet, depth);
	sheet_indent(sheet, depth);
	put_copy(sheet, atom, (size_t)(sheet->at - text));
}

void
sheet_object(struct sheet *sheet, const struct ast_atom *atom, int depth)
{
	if (sheet->source == NULL)
		put_new_object(sheet, atom);
	else if (atom->kind == AST_GLOB)
		put_glob(sheet, atom, depth);
	else
		put_copy(sheet, atom, 0);
}
