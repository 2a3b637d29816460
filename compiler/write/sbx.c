/*
 * Statements in the one layout that `sbxc fmt` knows:
 *
 *	allow read  { /srv/data  ~/notes }  except ~/notes/old
 *	limit timeout     120s
 *	allow exec  {
 *	    ~/.local/share/mise  ~/.local/share/fnm
 *	    ~/.local/share/uv
 *	}
 *
 * The objects of short rules begin in one column, and so do the values of
 * limits, whatever stands around them: a change of one line never moves
 * another.  What is on one line stays on it if it fits; a list over several
 * lines keeps its lines, because they are groups that somebody made.
 *
 * Whether it fits is tried on a sheet without a stream.
 */
#include "compiler/tables/tables.h"
#include "compiler/write/write.h"

#include <string.h>

enum { WIDTH = 80, OBJECTS_AT = 12, VALUES_AT = 18 };

/* --- lists ---------------------------------------------------------------- */

/* A lone word needs braces, else it would be one of the words before it. */
static bool
has_braces(const struct sheet *sheet, const struct ast_list *list)
{
	if (list->first == NULL)
		return false;
	if (sheet->source != NULL)
		return *sheet_text(sheet, list->loc) == '{';
	return list->first != list->last || list->first->kind == AST_WORD;
}

/* A method and its path, which stay together. */
static bool
is_pair(const struct ast_atom *atom)
{
	return atom != NULL && atom->next != NULL &&
	    atom->next->kind == AST_PATH &&
	    (atom->kind == AST_WORD || strcmp(atom->text, "*") == 0);
}

static void
put_flat_list(struct sheet *sheet, const struct ast_list *list)
{
	bool braces = has_braces(sheet, list);

	if (braces)
		sheet_puts(sheet, "{ ");
	for (const struct ast_atom *atom = list->first; atom != NULL;
	     atom = atom->next) {
		sheet_object(sheet, atom, 0);
		if (atom->next != NULL)
			sheet_puts(sheet, is_pair(atom) ? " " : "  ");
	}
	if (braces)
		sheet_puts(sheet, " }");
	sheet_skip(sheet, list->loc);
}

static bool
same_line(const struct sheet *sheet, const struct ast_atom *atom)
{
	return sheet->source != NULL && atom->next != NULL &&
	    !sheet_is_broken(sheet,
		(struct loc){ atom->loc.end, atom->next->loc.begin });
}

/* The last object of a line of the source; *fits: on one line here, too. */
static const struct ast_atom *
line_end(const struct sheet *sheet, const struct ast_atom *atom, int depth,
    bool *fits)
{
	struct sheet trial = *sheet;

	trial.stream = NULL;
	trial.column = SHEET_INDENT * depth;
	for (;; atom = atom->next) {
		sheet_object(&trial, atom, depth);
		if (!same_line(sheet, atom))
			break;
		sheet_puts(&trial, "  ");
	}
	*fits = trial.column <= WIDTH ||
	    sheet_is_pinned(sheet, sheet_end(sheet, atom->loc));
	return atom;
}

/* Lines are those of the source, or one for each object. */
static void
put_lines(struct sheet *sheet, const struct ast_list *list, int depth)
{
	bool broken = sheet_is_broken(sheet, list->loc), fits = false;
	const struct ast_atom *end = NULL, *before = NULL;

	for (const struct ast_atom *atom = list->first; atom != NULL;
	     atom = atom->next) {
		if (sheet->column == 0)
			sheet_between(sheet, depth);
		else
			sheet_puts(sheet, is_pair(before) ? " " : "  ");
		before = atom;
		if (end == NULL && broken)
			end = line_end(sheet, atom, depth, &fits);
		sheet_indent(sheet, depth);
		sheet_object(sheet, atom, depth);
		sheet->first = false;
		if ((fits && atom != end) ||
		    (is_pair(atom) &&
			(sheet->source == NULL || same_line(sheet, atom))))
			continue;
		sheet_trailing(sheet);
		sheet_newline(sheet);
		if (atom == end)
			end = NULL;
	}
}

static void
put_list(struct sheet *sheet, const struct ast_list *list, int depth,
    bool broken)
{
	if (!broken) {
		put_flat_list(sheet, list);
		return;
	}
	sheet_puts(sheet, "{");
	if (sheet->stream == NULL) {
		sheet->column = SHEET_INDENT * depth;
	} else {
		sheet_seek(sheet, list->loc);
		sheet_take(sheet, '{');
		sheet_trailing(sheet);
		sheet_newline(sheet);
		sheet->first = true;
		put_lines(sheet, list, depth + 1);
		sheet_between(sheet, depth + 1);
		sheet_indent(sheet, depth);
	}
	sheet_puts(sheet, "}");
	sheet_skip(sheet, list->loc);
}

/* --- statements ----------------------------------------------------------- */

static void
put_rule_head(struct sheet *sheet, const struct ast_stmt *stmt)
{
	if (ast_has_effect(stmt)) {
		sheet_puts(sheet, effect_word(stmt->effect));
		sheet_words(sheet, &stmt->words);
	} else {
		sheet_puts(sheet, stmt->words.first->text);
		sheet_words(sheet,
		    &(struct ast_list){ .first = stmt->words.first->next });
	}
	if (stmt->objects.first != NULL)
		sheet_pad(sheet, OBJECTS_AT);
}

static void
put_pair(struct sheet *sheet, int column, const struct ast_list *words)
{
	sheet_word(sheet, words->first);
	sheet_pad(sheet, column);
	sheet_object(sheet, words->last, 0);
}

static void
put_set(struct sheet *sheet, const struct ast_stmt *stmt)
{
	sheet_words(sheet, &stmt->words);
	sheet_variable(sheet, stmt->name);
	if (stmt->drop)
		return;
	sheet_puts(sheet, " = ");
	sheet_object(sheet, stmt->objects.first, 0);
}

/* All of a statement but lists and blocks. */
static void
put_head(struct sheet *sheet, const struct ast_stmt *stmt)
{
	static const char *const words[] = {
		[AST_VERSION] = "sbx",
		[AST_INCLUDE] = "include",
		[AST_LET] = "let",
		[AST_PARAM] = "param",
		[AST_GROUP_DEF] = "group",
		[AST_PROFILE] = "profile",
		[AST_USE] = "use",
		[AST_ABOUT] = "about",
		[AST_RULE] = "",
		[AST_REQUIRE] = "require",
		[AST_LIMIT] = "limit",
		[AST_SET] = "set",
		[AST_ON] = "on",
	};

	if (stmt->drop)
		sheet_puts(sheet, "drop ");
	sheet_puts(sheet, words[stmt->kind]);
	switch (stmt->kind) {
	case AST_VERSION:
		sheet_words(sheet, &stmt->words);
		break;
	case AST_INCLUDE:
	case AST_ABOUT:
		sheet_quoted(sheet, stmt->name);
		break;
	case AST_LET:
		sheet_word(sheet, stmt->name);
		sheet_puts(sheet, " = ");
		break;
	case AST_PARAM:
	case AST_GROUP_DEF:
	case AST_USE:
		sheet_word(sheet, stmt->name);
		break;
	case AST_PROFILE:
		sheet_word(sheet, stmt->name);
		if (stmt->parent == NULL)
			break;
		sheet_puts(sheet, " extends");
		sheet_word(sheet, stmt->parent);
		break;
	case AST_RULE:
		put_rule_head(sheet, stmt);
		break;
	case AST_REQUIRE:
		put_pair(sheet, 0, &stmt->words);
		break;
	case AST_LIMIT:
		put_pair(sheet, VALUES_AT, &stmt->words);
		break;
	case AST_SET:
		put_set(sheet, stmt);
		break;
	case AST_ON:
		sheet_words(sheet, &stmt->objects);
		break;
	}
}

static void
put_from(struct sheet *sheet, const struct ast_stmt *stmt)
{
	if (stmt->from == NULL)
		return;
	sheet_puts(sheet, "  from");
	sheet_quoted(sheet, stmt->from);
}

/* Which lists of a statement go over several lines. */
struct shape {
	bool objects, exclusions;
};

static void
put_simple(struct sheet *sheet, const struct ast_stmt *stmt, int depth,
    struct shape shape)
{
	put_head(sheet, stmt);
	if ((stmt->kind == AST_RULE || stmt->kind == AST_LET) &&
	    stmt->objects.first != NULL)
		put_list(sheet, &stmt->objects, depth, shape.objects);
	if (stmt->exclusions.first != NULL) {
		sheet_puts(sheet, "  except ");
		put_list(sheet, &stmt->exclusions, depth, shape.exclusions);
	}
	if (stmt->use.first != NULL) {
		sheet_puts(sheet, "  with");
		sheet_words(sheet, &stmt->use);
	}
	put_from(sheet, stmt);
	sheet_skip(sheet, stmt->loc);
}

static bool
is_too_wide(const struct sheet *sheet, const struct ast_stmt *stmt, int depth,
    struct shape shape)
{
	struct sheet trial = *sheet;

	trial.stream = NULL;
	trial.widest = 0;
	put_simple(&trial, stmt, depth, shape);
	return trial.widest > WIDTH;
}

static struct shape
shape_of(const struct sheet *sheet, const struct ast_stmt *stmt, int depth)
{
	struct shape shape = {
		sheet_is_broken(sheet, stmt->objects.loc),
		sheet_is_broken(sheet, stmt->exclusions.loc),
	};

	if (sheet->alone || sheet_is_pinned(sheet, sheet_end(sheet, stmt->loc)))
		return shape;
	if (!shape.objects && has_braces(sheet, &stmt->objects))
		shape.objects = is_too_wide(sheet, stmt, depth, shape);
	if (!shape.exclusions && has_braces(sheet, &stmt->exclusions))
		shape.exclusions = is_too_wide(sheet, stmt, depth, shape);
	return shape;
}

/* --- blocks --------------------------------------------------------------- */

static bool
has_block(const struct ast_stmt *stmt)
{
	return stmt->kind == AST_GROUP_DEF || stmt->kind == AST_PROFILE ||
	    stmt->kind == AST_ON;
}

static const char *
skip_blanks(const char *text)
{
	return text + strspn(text, " \t\r");
}

/*
 * Behind the '}' of a block, if all of it is on one line of the source; else
 * NULL.  Only one statement can be in it then.
 */
static const char *
flat_end(const struct sheet *sheet, const struct ast_stmt *stmt)
{
	const char *text = sheet_text(sheet, stmt->loc);
	const struct ast_stmt *body = stmt->body;

	text = skip_blanks(text + (stmt->loc.end - stmt->loc.begin));
	text = skip_blanks(text + 1);
	if (body != NULL && text != sheet_text(sheet, body->loc))
		return NULL;
	if (body != NULL && sheet_is_broken(sheet, body->loc))
		return NULL;
	if (body != NULL && has_block(body))
		text = flat_end(sheet, body);
	else if (body != NULL)
		text += body->loc.end - body->loc.begin;
	if (text != NULL)
		text = skip_blanks(text);
	return text != NULL && *text == '}' ? text + 1 : NULL;
}

static void
put_flat_block(struct sheet *sheet, const struct ast_stmt *stmt)
{
	const struct ast_stmt *body = stmt->body;

	put_head(sheet, stmt);
	put_from(sheet, stmt);
	sheet_puts(sheet, " { ");
	if (body != NULL && has_block(body))
		put_flat_block(sheet, body);
	else if (body != NULL)
		put_simple(sheet, body, 0, (struct shape){ false, false });
	sheet_puts(sheet, body != NULL ? " }" : "}");
}

static bool
is_flat_block(const struct sheet *sheet, const struct ast_stmt *stmt)
{
	struct sheet trial = *sheet;
	const char *end;

	if (sheet->source == NULL)
		return stmt->body == NULL ||
		    (sheet->alone && stmt->body->next == NULL &&
			(!has_block(stmt->body) ||
			    is_flat_block(sheet, stmt->body)));
	end = flat_end(sheet, stmt);
	if (end == NULL)
		return false;
	trial.stream = NULL;
	put_flat_block(&trial, stmt);
	return trial.column <= WIDTH || sheet_is_pinned(sheet, end);
}

static void put_body(struct sheet *sheet, const struct ast_stmt *stmts,
    int depth);

static void
put_block(struct sheet *sheet, const struct ast_stmt *stmt, int depth)
{
	if (is_flat_block(sheet, stmt)) {
		put_flat_block(sheet, stmt);
		if (sheet->source != NULL)
			sheet->at = flat_end(sheet, stmt);
		return;
	}
	put_head(sheet, stmt);
	put_from(sheet, stmt);
	sheet_skip(sheet, stmt->loc);
	sheet_puts(sheet, " {");
	sheet_take(sheet, '{');
	sheet_trailing(sheet);
	sheet_newline(sheet);
	sheet->first = true;
	put_body(sheet, stmt->body, depth + 1);
	sheet_indent(sheet, depth);
	sheet_puts(sheet, "}");
	sheet_take(sheet, '}');
}

static void
put_body(struct sheet *sheet, const struct ast_stmt *stmts, int depth)
{
	const struct ast_stmt *previous = NULL;

	for (const struct ast_stmt *stmt = stmts; stmt != NULL;
	     stmt = stmt->next) {
		sheet_between(sheet, depth);
		/* Without a source, groups and profiles get a blank line around
		 * them. */
		if (sheet->source == NULL && depth == 0 && previous != NULL &&
		    (has_block(previous) || has_block(stmt)))
			sheet_newline(sheet);
		sheet_indent(sheet, depth);
		if (has_block(stmt))
			put_block(sheet, stmt, depth);
		else
			put_simple(sheet, stmt, depth,
			    shape_of(sheet, stmt, depth));
		sheet_trailing(sheet);
		sheet_newline(sheet);
		sheet->first = false;
		previous = stmt;
	}
	sheet_between(sheet, depth);
}

/* --- all of it ------------------------------------------------------------ */

/* The version is a statement, too, if the statements were read from a text. */
void
write_sbx(FILE *stream, const struct ast_stmt *stmts)
{
	struct sheet sheet = { .stream = stream, .arena = arena_new() };

	if (stmts == NULL || stmts->kind != AST_VERSION) {
		sheet_puts(&sheet, "sbx 1");
		sheet_newline(&sheet);
		if (stmts != NULL && has_block(stmts))
			sheet_newline(&sheet);
	}
	put_body(&sheet, stmts, 0);
	arena_release(sheet.arena);
}

void
write_sbx_lines(FILE *stream, const struct ast_stmt *stmts)
{
	struct sheet sheet = {
		.stream = stream,
		.arena = arena_new(),
		.alone = true,
	};

	put_body(&sheet, stmts, 0);
	arena_release(sheet.arena);
}

void
write_sbx_statement(FILE *stream, const struct ast_stmt *stmt)
{
	struct ast_stmt alone = *stmt;

	alone.next = NULL;
	write_sbx_lines(stream, &alone);
}

void
write_sbx_source(FILE *stream, const struct ast_stmt *stmts,
    const struct source *source)
{
	struct sheet sheet = {
		.stream = stream,
		.first = true,
		.source = source,
		.at = source->text + source_bom(source),
	};

	put_body(&sheet, stmts, 0);
}
