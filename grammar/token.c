/*
 * What a piece of text is: a keyword, an object, or a fault.  The scanner asks
 * for each piece that it finds; who has a text that stands alone, as YAML has,
 * asks with token_object(), which scans it by the same rules.
 */
#include "grammar/grammar.h"

#include "compiler/base/base.h"
#include "grammar/policy.h"

#include <string.h>

/* --- keywords ------------------------------------------------------------- */

static const struct keyword {
	const char *word;
	bool statement;
} keywords[] = {
#define KEYWORD(word, token, statement) \
	[T_##token - T_SBX] = { word, statement },
#include "compiler/tables/keywords.def"
#undef KEYWORD
};

/* The token of a keyword, or 0. */
static int
keyword_find(const char *text, size_t len)
{
	for (size_t i = 0; i < countof(keywords); i++) {
		const char *word = keywords[i].word;

		if (word[0] == text[0] && strlen(word) == len &&
		    memcmp(word, text, len) == 0)
			return T_SBX + (int)i;
	}
	return 0;
}

bool
word_is_keyword(const char *text)
{
	return keyword_find(text, strlen(text)) != 0;
}

bool
word_is_name(const char *text)
{
	return name_is_good(text, strlen(text)) && !word_is_keyword(text);
}

const char *
word_nearest_statement(const char *word)
{
	const char *words[countof(keywords)];

	for (size_t i = 0; i < countof(keywords); i++)
		words[i] = keywords[i].statement ? keywords[i].word : NULL;
	return nearest_name(word, words, countof(words));
}

bool
token_is_keyword(int token)
{
	return token >= T_SBX && token < T_SBX + (int)countof(keywords);
}

bool
token_starts_statement(int token)
{
	return token_is_keyword(token) && keywords[token - T_SBX].statement;
}

bool
token_has_text(int token)
{
	return token_is_keyword(token) ||
	    (token >= T_WORD && token <= T_STRING);
}

/* --- faults --------------------------------------------------------------- */

int
token_unclosed(struct parser *parser, struct loc loc)
{
	/* Most likely the '}' in it was meant to end the list. */
	if (memchr(parser_text(parser, loc), '}', loc.end - loc.begin) != NULL)
		parser->list = (struct loc){ 0, 0 };
	if (parser_may_report(parser, loc))
		diag_help(diag_add(parser->diags, DIAG_UNCLOSED_STRING, loc,
			      "quoted text without its closing '\"'"),
		    "the text and its quotes stand on one line");
	return T_FAULT;
}

static int
report(struct parser *parser, enum diag_id id, struct loc loc,
    const char *fault, const char *help)
{
	if (parser_may_report(parser, loc))
		diag_help(diag_add(parser->diags, id, loc, "%s %s", fault,
			      parser_quote(parser, loc)),
		    "%s", help);
	return T_FAULT;
}

/* What is usually meant by a character that has no meaning here. */
static const char *
stray_help(char c)
{
	static const struct {
		char c;
		const char *help;
	} helps[] = {
		{ ',',
		    "objects are separated by blanks; a name that has the "
		    "',' in it is put in double quotes" },
		{ ';', "a statement ends with its line" },
		{ '\'', "text is put in double quotes" },
		{ '`', "text is put in double quotes" },
		{ '$', "names are written as '${name}'" },
		{ '#',
		    "a comment starts after a blank; a name that has the "
		    "'#' in it is put in double quotes" },
		{ '?', "wildcards other than '*' are not known" },
		{ '!', "write 'deny', or 'except' after the objects" },
	};

	for (size_t i = 0; i < countof(helps); i++) {
		if (helps[i].c == c)
			return helps[i].help;
	}
	return "text with such characters is put in double quotes";
}

int
token_stray(struct parser *parser, struct loc loc)
{
	loc.end = loc.begin + 1;
	return report(parser, DIAG_BAD_CHARACTER, loc, "stray",
	    stray_help(*parser_text(parser, loc)));
}

int
token_glued(struct parser *parser, struct loc loc)
{
	return report(parser, DIAG_BAD_CHARACTER, loc, "no blank before",
	    "objects are separated by blanks; '${name}' starts a path");
}

static int
report_escape(struct parser *parser, struct loc loc)
{
	/* A character of several bytes is shown whole. */
	while (
	    ((unsigned char)*parser_text(parser, (struct loc){ loc.end, 0 }) &
		0xc0) == 0x80)
		loc.end++;
	return report(parser, DIAG_BAD_ESCAPE, loc, "unknown escape",
	    "a backslash itself is written as '\\\\'");
}

/* --- atoms ---------------------------------------------------------------- */

int
token_atom(struct parser *parser, union SBX_YYSTYPE *value, struct loc loc,
    enum ast_atom_kind kind, int token)
{
	const char *text = parser_text(parser, loc);
	size_t len = loc.end - loc.begin;

	if (kind == AST_WORD && memchr(text, '*', len) != NULL) {
		kind = AST_PATTERN;
		token = T_PATTERN;
	} else if (kind == AST_WORD && keyword_find(text, len) != 0) {
		return keyword_find(text, len);
	} else if (kind == AST_PATH && text[len - 1] == ',') {
		return token_stray(parser,
		    (struct loc){ loc.end - 1, loc.end });
	}
	if (kind == AST_GROUP) {
		text++;
		len--;
	}
	value->atom = ast_atom(parser->arena, kind, loc, text, len);
	return token;
}

/* The character of an escape, or NUL. */
static char
unescape(char c)
{
	switch (c) {
	case '"':
	case '\\':
		return c;
	case 'n':
		return '\n';
	case 't':
		return '\t';
	default:
		return '\0';
	}
}

static bool
looks_like_path(const char *text)
{
	return text[0] == '/' || strcmp(text, "~") == 0 ||
	    strncmp(text, "~/", 2) == 0 || strncmp(text, "${", 2) == 0;
}

struct ast_atom *
token_quoted(struct arena *arena, struct loc loc, const char *text, size_t len)
{
	struct ast_atom *atom = ast_atom(arena, AST_STRING, loc, text, len);

	if (looks_like_path(atom->text))
		atom->kind = AST_PATH;
	atom->quoted = true;
	return atom;
}

int
token_string(struct parser *parser, union SBX_YYSTYPE *value, struct loc loc)
{
	const char *text = parser_text(parser, loc);
	size_t len = loc.end - loc.begin, plain_len = 0;
	char *plain = arena_alloc(parser->arena, len);

	for (size_t i = 1; i < len - 1; i++) {
		char c = text[i];

		if (c == '\\') {
			c = unescape(text[++i]);
			if (c == '\0')
				return report_escape(parser,
				    (struct loc){ loc.begin + (uint32_t)i - 1,
					loc.begin + (uint32_t)i + 1 });
		}
		plain[plain_len++] = c;
	}
	value->atom = token_quoted(parser->arena, loc, plain, plain_len);
	return T_STRING;
}

/* The parser is silent, as in a statement that is faulty already. */
struct ast_atom *
token_object(struct arena *arena, const char *text)
{
	const struct source source = { .text = text };
	struct parser parser = {
		.arena = arena,
		.source = &source,
		.skipping = true,
	};
	SBX_YYSTYPE value;
	struct loc loc = { 0, 0 };
	size_t size = strlen(text);
	int token;

	parser_start(&parser, text, size);
	token = parser_scan(&value, &loc, parser.scanner);
	if (loc.begin > 0 || loc.end < size || token == T_STRING ||
	    !token_has_text(token))
		return NULL;
	return token_is_keyword(token) ?
	    ast_atom(arena, AST_STRING, loc, text, size) :
	    value.atom;
}

struct ast_atom *
token_value(struct arena *arena, const char *text)
{
	struct ast_atom *atom = token_object(arena, text);

	return atom != NULL ?
	    atom :
	    token_quoted(arena, (struct loc){ 0, 0 }, text, strlen(text));
}
