/*
 * See grammar.h: what stands between the scanner and the grammar, and what the
 * grammar's actions call.  sbx_yylex() is the stream of tokens.
 */
#include "grammar/grammar.h"

#include "compiler/base/base.h"
#include "grammar/policy.h"

#include <string.h>

enum { EXCERPT_MAX = 40 }; /* bytes of the text that is quoted in a message */

const char *
parser_text(const struct parser *parser, struct loc loc)
{
	return parser->source->text + (loc.begin - parser->source->base);
}

const char *
parser_quote(struct parser *parser, struct loc loc)
{
	const char *text = parser_text(parser, loc);
	size_t len = loc.end - loc.begin, shown = len;

	if (len > EXCERPT_MAX) {
		shown = EXCERPT_MAX - 3;
		while (((unsigned char)text[shown] & 0xc0) == 0x80)
			shown--;
	}
	return arena_printf(parser->arena, "'%.*s%s'", (int)shown, text,
	    shown < len ? "..." : "");
}

/* --- faulty statements ---------------------------------------------------- */

void
parser_skip(struct parser *parser, int found)
{
	bool unclosed = parser->line_start && token_starts_statement(found);

	parser->skipping = true;
	parser->skip_depth = parser->list.begin != 0 && !unclosed;
	parser->skip_depth += found == T_OPEN;
	parser->list = (struct loc){ 0, 0 };
	if (parser->diags->errors >= DIAG_MAX)
		parser->stopped = true;
}

void
parser_resume(struct parser *parser)
{
	parser->skipping = false;
	parser->skip_depth = 0;
}

static void
report_no_version(struct parser *parser, struct loc loc)
{
	struct diag *diag = diag_add(parser->diags, DIAG_VERSION_MISSING, loc,
	    "the first statement is not 'sbx %d'", PARSER_LANGUAGE);

	diag_help(diag, "this sbxc reads policies that begin with 'sbx %d'",
	    PARSER_LANGUAGE);
}

bool
parser_may_report(struct parser *parser, struct loc loc)
{
	if (parser->skipping || parser->stopped)
		return false;
	if (parser->started)
		return true;
	report_no_version(parser, loc);
	parser->started = parser->stopped = true;
	return false;
}

/* --- the stream of tokens ------------------------------------------------- */

/* The next token of the text; the end also ends the last line. */
static int
scan(struct parser *parser, SBX_YYSTYPE *value, struct loc *loc)
{
	int token = parser_scan(value, loc, parser->scanner);

	if (token != T_END)
		return token;
	*loc = (struct loc){ parser->place, parser->place };
	return parser->last == T_NEWLINE || parser->last == 0 ||
		parser->list.begin != 0 || parser->skip_depth > 0 ?
	    T_END :
	    T_NEWLINE;
}

bool
parser_is_glued(const struct parser *parser, struct loc loc)
{
	return token_has_text(parser->last) && parser->last_end == loc.begin;
}

/* Whether a token of a faulty statement is kept from the grammar. */
static bool
is_skipped(struct parser *parser, int token)
{
	size_t depth = parser->skip_depth;

	if (!parser->skipping || token == T_END)
		return false;
	if (token == T_OPEN)
		parser->skip_depth++;
	else if (token == T_CLOSE && depth > 0)
		parser->skip_depth--;
	return depth > 0 || token == T_FAULT;
}

/* The file begins with `sbx`, or there is no point in going on. */
static int
check_start(struct parser *parser, int token, struct loc loc)
{
	if (parser->started || parser->stopped || token == T_NEWLINE)
		return token;
	parser->started = true;
	if (token == T_SBX)
		return token;
	report_no_version(parser, loc);
	parser->stopped = !token_starts_statement(token);
	return token;
}

int
sbx_yylex(SBX_YYSTYPE *value, struct loc *loc, struct parser *parser)
{
	bool line_start = parser->last == T_NEWLINE || parser->last == 0;
	bool skipped;
	int token;

	do {
		token = scan(parser, value, loc);
		skipped = is_skipped(parser, token);
		if (token == T_NEWLINE && parser->list.begin != 0)
			line_start = skipped = true;
		if (!skipped && token_has_text(token) &&
		    parser_is_glued(parser, *loc))
			token = token_glued(parser, *loc);
	} while (skipped || (parser->skipping && token == T_FAULT));
	token = check_start(parser, token, *loc);
	if (line_start || (parser->last == T_OPEN && parser->list.begin == 0))
		parser->statement = token;
	parser->line_start = line_start;
	parser->before = parser->last;
	parser->last = token;
	parser->last_end = loc->end;
	if (token == T_FAULT)
		parser_skip(parser, token);
	return parser->stopped ? T_END : token;
}

/* --- blocks and lists ----------------------------------------------------- */

void
parser_report_depth(struct parser *parser, struct loc loc)
{
	if (parser->stopped)
		return;
	diag_add(parser->diags, DIAG_TOO_DEEP, loc,
	    "blocks are nested more than %d deep", PARSER_MAX_DEPTH);
	parser->stopped = true;
}

void
parser_open_block(struct parser *parser, struct loc brace)
{
	parser_resume(parser);
	if (parser->depth == PARSER_MAX_DEPTH)
		parser_report_depth(parser, brace);
	else
		parser->blocks[parser->depth++] = brace;
}

void
parser_close_block(struct parser *parser)
{
	parser_resume(parser);
	if (parser->depth > 0)
		parser->depth--;
}

void
parser_open_list(struct parser *parser, struct loc brace)
{
	parser->list = brace;
}

void
parser_close_list(struct parser *parser, struct ast_list *list, struct loc loc)
{
	if (list->first == NULL)
		diag_add(parser->diags, DIAG_SYNTAX,
		    (struct loc){ loc.end - 1, loc.end },
		    "expected an object, found '}'");
	list->loc = loc;
	parser->list = (struct loc){ 0, 0 };
}

/* --- nodes ---------------------------------------------------------------- */

struct ast_list
parser_list(struct ast_atom *atom)
{
	struct ast_list list = { .first = NULL };

	if (atom != NULL)
		ast_list_add(&list, atom);
	return list;
}

struct ast_list
parser_pair(struct ast_atom *first, struct ast_atom *second)
{
	struct ast_list list = parser_list(first);

	ast_list_add(&list, second);
	return list;
}

struct ast_atom *
parser_keyword_atom(struct parser *parser, struct loc loc)
{
	return ast_atom(parser->arena, AST_WORD, loc, parser_text(parser, loc),
	    loc.end - loc.begin);
}

struct ast_atom *
parser_glob(struct ast_atom *pattern, struct loc loc)
{
	pattern->kind = AST_GLOB;
	pattern->loc = loc;
	return pattern;
}

void
parser_name(struct parser *parser, const struct ast_atom *name)
{
	if (name_is_good(name->text, strlen(name->text)))
		return;
	struct diag *diag = diag_add(parser->diags, DIAG_BAD_NAME, name->loc,
	    "%s cannot be a name", parser_quote(parser, name->loc));
	diag_help(diag,
	    "a name is a letter, then letters, "
	    "digits, '-' and '_', at most %d in all",
	    NAME_MAX_LEN);
}

struct ast_stmt *
parser_named(struct parser *parser, enum ast_kind kind, struct loc loc,
    struct ast_atom *name)
{
	struct ast_stmt *stmt = ast_stmt(parser->arena, kind, loc);

	stmt->name = name;
	return stmt;
}

struct ast_stmt *
parser_worded(struct parser *parser, enum ast_kind kind, struct loc loc,
    struct ast_list words)
{
	struct ast_stmt *stmt = ast_stmt(parser->arena, kind, loc);

	stmt->words = words;
	return stmt;
}

struct ast_stmt *
parser_version(struct parser *parser, struct loc loc, struct ast_atom *number)
{
	struct diag *diag;

	if (strcmp(number->text, "1") != 0) {
		diag = diag_add(parser->diags, DIAG_VERSION_UNKNOWN, loc,
		    "the policy needs an sbxc that reads 'sbx %s'",
		    number->text);
		diag_help(diag, "this sbxc reads 'sbx %d'", PARSER_LANGUAGE);
		parser->stopped = true;
	}
	return parser_worded(parser, AST_VERSION, loc, parser_list(number));
}
