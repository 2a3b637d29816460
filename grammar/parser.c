/*
 * See parser.h: what stands between the scanner, the grammar and the
 * diagnostics.  sbx_yylex() is the stream of tokens; parser_report() words
 * the syntax errors.
 */
#include "grammar/parser.h"

#include "compiler/base/names.h"
#include "grammar/policy.h"

#include <string.h>

enum { EXCERPT_MAX = 40 }; /* bytes of the text that is quoted in a message */

#define COUNTOF(array) (sizeof(array) / sizeof(array)[0])

static const struct keyword {
	const char *word;
	int token;
	bool statement;
} keywords[] = {
#define KEYWORD(word, token, statement) { word, T_##token, statement },
#include "compiler/tables/keywords.def"
#undef KEYWORD
};

static const struct keyword *
keyword_find(const char *text, size_t len)
{
	for (size_t i = 0; i < COUNTOF(keywords); i++) {
		const char *word = keywords[i].word;

		if (word[0] == text[0] && strlen(word) == len &&
		    memcmp(word, text, len) == 0)
			return &keywords[i];
	}
	return NULL;
}

static bool
is_keyword(int token)
{
	return token >= T_SBX && token <= T_FROM;
}

static bool
starts_statement(int token)
{
	return is_keyword(token) && token != T_EXTENDS && token != T_EXCEPT &&
	    token != T_GLOB && token != T_FROM;
}

static bool
has_text(int token)
{
	return is_keyword(token) || (token >= T_WORD && token <= T_STRING);
}

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* --- faults --------------------------------------------------------------- */

/* The rest of the statement is passed over, with all braces that it opens. */
static void
skip(struct parser *parser, int found)
{
	bool unclosed = parser->line_start && starts_statement(found);

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

static const char *
text_at(const struct parser *parser, struct loc loc)
{
	return parser->source->text + (loc.begin - parser->source->base);
}

/* What stands there, in quotes, cut off where it becomes too long. */
static const char *
quote(struct parser *parser, struct loc loc)
{
	const char *text = text_at(parser, loc);
	size_t len = loc.end - loc.begin, shown = len;

	if (len > EXCERPT_MAX) {
		shown = EXCERPT_MAX - 3;
		while (((unsigned char)text[shown] & 0xc0) == 0x80)
			shown--;
	}
	return arena_printf(parser->arena, "'%.*s%s'", (int)shown, text,
	    shown < len ? "..." : "");
}

static void
report_no_version(struct parser *parser, struct loc loc)
{
	struct diag *diag = diag_add(parser->diags, DIAG_VERSION_MISSING, loc,
	    "the first statement is not 'sbx %d'", PARSER_LANGUAGE);

	diag_help(parser->diags, diag,
	    "this sbxc reads policies that begin with 'sbx %d'",
	    PARSER_LANGUAGE);
}

/* In a statement that is faulty already every character may be a fault. */
static bool
is_silent(const struct parser *parser)
{
	return parser->skipping || parser->stopped;
}

/*
 * Reports a piece of text that is no token.  Where a file does not even begin
 * like a policy that is all there is to say.  T_FAULT for the scanner.
 */
static int
fault(struct parser *parser, enum diag_id id, struct loc loc,
    const char *message, const char *help)
{
	struct diag *diag;

	if (is_silent(parser))
		return T_FAULT;
	if (!parser->started) {
		report_no_version(parser, loc);
		parser->started = parser->stopped = true;
		return T_FAULT;
	}
	diag = diag_add(parser->diags, id, loc, "%s", message);
	diag_help(parser->diags, diag, "%s", help);
	return T_FAULT;
}

int
parser_unclosed(struct parser *parser, struct loc loc)
{
	/* Most likely the '}' in it was meant to end the list. */
	if (memchr(text_at(parser, loc), '}', loc.end - loc.begin) != NULL)
		parser->list = (struct loc){ 0, 0 };
	return fault(parser, DIAG_UNCLOSED_STRING, loc,
	    "quoted text without its closing '\"'",
	    "the text and its quotes stand on one line");
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

	for (size_t i = 0; i < COUNTOF(helps); i++) {
		if (helps[i].c == c)
			return helps[i].help;
	}
	return "text with such characters is put in double quotes";
}

int
parser_stray(struct parser *parser, struct loc loc, const char *text)
{
	if (is_silent(parser))
		return T_FAULT;
	loc.end = loc.begin + 1;
	return fault(parser, DIAG_BAD_CHARACTER, loc,
	    arena_printf(parser->arena, "stray %s", quote(parser, loc)),
	    stray_help(text[0]));
}

bool
parser_is_glued(const struct parser *parser, struct loc loc)
{
	return has_text(parser->last) && parser->last_end == loc.begin;
}

/* A missing blank must not make two objects of what looks like one. */
static int
report_glued(struct parser *parser, struct loc loc)
{
	if (is_silent(parser))
		return T_FAULT;
	return fault(parser, DIAG_BAD_CHARACTER, loc,
	    arena_printf(parser->arena, "no blank before %s",
		quote(parser, loc)),
	    "objects are separated by blanks; '${name}' starts a path");
}

/* --- tokens with a text --------------------------------------------------- */

int
parser_atom(struct parser *parser, union SBX_YYSTYPE *value,
    const struct loc *loc, enum ast_atom_kind kind, int token, const char *text,
    size_t len)
{
	const struct keyword *keyword;

	if (kind == AST_WORD && memchr(text, '*', len) != NULL) {
		kind = AST_PATTERN;
		token = T_PATTERN;
	} else if (kind == AST_WORD) {
		keyword = keyword_find(text, len);
		if (keyword != NULL)
			return keyword->token;
	} else if (kind == AST_PATH && text[len - 1] == ',') {
		return parser_stray(parser,
		    (struct loc){ loc->end - 1, loc->end }, ",");
	}
	if (kind == AST_GROUP) {
		text++;
		len--;
	}
	value->atom = ast_atom(parser->arena, kind, *loc, text, len);
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

static int
report_escape(struct parser *parser, struct loc loc)
{
	if (is_silent(parser))
		return T_FAULT;
	/* A character of several bytes is shown whole. */
	while (((unsigned char)*text_at(parser, (struct loc){ loc.end, 0 }) &
		   0xc0) == 0x80)
		loc.end++;
	return fault(parser, DIAG_BAD_ESCAPE, loc,
	    arena_printf(parser->arena, "unknown escape %s",
		quote(parser, loc)),
	    "a backslash itself is written as '\\\\'");
}

static bool
looks_like_path(const char *text)
{
	return text[0] == '/' || strcmp(text, "~") == 0 ||
	    strncmp(text, "~/", 2) == 0 || strncmp(text, "${", 2) == 0;
}

int
parser_string(struct parser *parser, union SBX_YYSTYPE *value,
    const struct loc *loc, const char *text, size_t len)
{
	char *plain = arena_alloc(parser->arena, len);
	size_t plain_len = 0;

	for (size_t i = 1; i < len - 1; i++) {
		char c = text[i];

		if (c == '\\') {
			c = unescape(text[++i]);
			if (c == '\0')
				return report_escape(parser,
				    (struct loc){ loc->begin + (uint32_t)i - 1,
					loc->begin + (uint32_t)i + 1 });
		}
		plain[plain_len++] = c;
	}
	value->atom = ast_atom(parser->arena,
	    looks_like_path(plain) ? AST_PATH : AST_STRING, *loc, plain,
	    plain_len);
	value->atom->quoted = true;
	return T_STRING;
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
	parser->stopped = !starts_statement(token);
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
		if (!skipped && has_text(token) &&
		    parser_is_glued(parser, *loc))
			token = report_glued(parser, *loc);
	} while (skipped || (parser->skipping && token == T_FAULT));
	token = check_start(parser, token, *loc);
	if (line_start || (parser->last == T_OPEN && parser->list.begin == 0))
		parser->statement = token;
	parser->line_start = line_start;
	parser->before = parser->last;
	parser->last = token;
	parser->last_end = loc->end;
	if (token == T_FAULT)
		skip(parser, token);
	return parser->stopped ? T_END : token;
}

/* --- syntax errors -------------------------------------------------------- */

static const char *
found_text(struct parser *parser, struct loc loc)
{
	if (parser->last == T_END)
		return "end of file";
	if (parser->last == T_NEWLINE)
		return "end of line";
	return parser->last == T_STRING ? "quoted text" : quote(parser, loc);
}

/* "a, b or c". */
static const char *
expected_text(struct parser *parser, const struct parser_expected *expected)
{
	const char *names[PARSER_TOKENS + 1];
	size_t count = 0;
	const char *text = "";
	bool value = parser->statement == T_LIMIT ||
	    parser->statement == T_SET || parser->statement == T_REQUIRE;
	bool name = parser->statement >= T_LET && parser->statement <= T_USE;

	if (expected->statement)
		names[count++] = "a statement";
	else if (expected->object)
		names[count++] = value ? "a value" : "an object";
	else if (expected->word)
		names[count++] = name ? "a name" : "a word";
	for (size_t i = 0; i < expected->count; i++)
		names[count++] = expected->names[i];
	for (size_t i = 0; i < count; i++)
		text = arena_printf(parser->arena, "%s%s%s", text,
		    i == 0            ? "" :
			i + 1 < count ? ", " :
					" or ",
		    names[i]);
	return text;
}

static const char *
statement_nearest(const char *word)
{
	const char *words[COUNTOF(keywords)];

	for (size_t i = 0; i < COUNTOF(keywords); i++)
		words[i] = keywords[i].statement ? keywords[i].word : NULL;
	return nearest_name(word, words, COUNTOF(words));
}

static const char *
copy_at(struct parser *parser, struct loc loc)
{
	return arena_strndup(parser->arena, text_at(parser, loc),
	    loc.end - loc.begin);
}

static void
report_unknown(struct parser *parser, struct loc loc)
{
	struct diag *diag = diag_add(parser->diags, DIAG_UNKNOWN_STATEMENT, loc,
	    "unknown statement %s", quote(parser, loc));

	diag_did_you_mean(parser->diags, diag,
	    statement_nearest(copy_at(parser, loc)));
}

/* The keyword among those expected that the word was meant to be, or NULL. */
static const char *
keyword_meant(struct parser *parser, struct loc loc,
    const struct parser_expected *expected)
{
	const char *words[PARSER_TOKENS];
	size_t count = 0;

	for (size_t i = 0; i < expected->count; i++) {
		const char *name = expected->names[i];

		if (name[0] == '\'' && is_letter(name[1]))
			words[count++] = arena_strndup(parser->arena, name + 1,
			    strlen(name) - 2);
	}
	return nearest_name(copy_at(parser, loc), words, count);
}

/* A block or list that is still open where the text ends or goes on. */
static void
report_unclosed(struct parser *parser, struct loc loc)
{
	bool list = parser->list.begin != 0;
	struct diag *diag = diag_add(parser->diags, DIAG_UNCLOSED_BLOCK, loc,
	    "expected '}', found %s", found_text(parser, loc));

	diag_note(parser->diags, diag,
	    list ? parser->list : parser->blocks[parser->depth - 1],
	    "this '{' is not closed");
}

/* A sentence on what was probably meant, or NULL. */
static const char *
syntax_help(const struct parser *parser, const struct parser_expected *expected)
{
	int found = parser->last, statement = parser->statement;
	bool rule = statement >= T_ALLOW && statement <= T_DROP;
	bool text = statement == T_ABOUT || statement == T_INCLUDE;

	if (found == T_CLOSE && expected->statement)
		return "no block is open here";
	if (found == T_FROM && expected->end)
		return "a mark stands behind a rule, 'param', 'require', "
		       "'limit' or 'set'";
	if (is_keyword(found) && expected->word && expected->object)
		return "a keyword stands in double quotes here";
	if (is_keyword(found) && expected->word && !rule)
		return "a keyword cannot be a name";
	if ((found == T_PATH || found == T_GLOB) && rule && expected->word &&
	    !expected->object)
		return "say what about it: 'read', 'write' or 'exec'";
	if (expected->quoted && parser->before == T_FROM)
		return "a mark is put in double quotes: "
		       "from \"team.sbx:6:18 (team)\"";
	if (expected->quoted && found == T_OPEN)
		return "'glob' stands before each pattern of a list";
	if (expected->quoted && has_text(found) && !text)
		return "the pattern is put in double quotes";
	if (has_text(found) && !is_keyword(found) && text)
		return "the text is put in double quotes";
	if (has_text(found) && expected->end && !expected->object && rule)
		return "several objects are put in braces: '{ /x /y }'";
	if (found == T_NEWLINE && expected->word && !expected->object && rule)
		return "for example 'allow read /srv/data'";
	return NULL;
}

void
parser_report(struct parser *parser, struct loc loc,
    const struct parser_expected *expected)
{
	int found = parser->last;
	bool in_list = parser->list.begin != 0;

	if (parser->stopped)
		return;
	if (found == T_WORD && expected->statement) {
		report_unknown(parser, loc);
	} else if ((found == T_END && (in_list || parser->depth > 0)) ||
	    (in_list && parser->line_start && starts_statement(found))) {
		report_unclosed(parser, loc);
	} else {
		struct diag *diag = diag_add(parser->diags, DIAG_SYNTAX, loc,
		    "expected %s, found %s", expected_text(parser, expected),
		    found_text(parser, loc));
		const char *help = syntax_help(parser, expected);
		const char *meant = found != T_WORD ?
		    NULL :
		    keyword_meant(parser, loc, expected);

		if (strncmp(text_at(parser, loc), "//", 2) == 0)
			diag_help(parser->diags, diag,
			    "a comment begins with '#'");
		else if (meant != NULL)
			diag_did_you_mean(parser->diags, diag, meant);
		else if (help != NULL)
			diag_help(parser->diags, diag, "%s", help);
	}
	skip(parser, found);
}

void
parser_report_depth(struct parser *parser, struct loc loc)
{
	if (parser->stopped)
		return;
	diag_add(parser->diags, DIAG_TOO_DEEP, loc,
	    "blocks are nested more than %d deep", PARSER_MAX_DEPTH);
	parser->stopped = true;
}

/* --- blocks and lists ----------------------------------------------------- */

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

struct ast_atom *
parser_keyword_atom(struct parser *parser, struct loc loc)
{
	return ast_atom(parser->arena, AST_WORD, loc, text_at(parser, loc),
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
	    "%s cannot be a name", quote(parser, name->loc));
	diag_help(parser->diags, diag,
	    "a name is a letter, then letters, "
	    "digits, '-' and '_', at most %d in all",
	    NAME_MAX_LEN);
}

struct ast_stmt *
parser_version(struct parser *parser, struct loc loc, struct ast_atom *number)
{
	struct ast_stmt *stmt = parser_pair(parser, AST_VERSION, loc, number,
	    NULL);

	if (strcmp(number->text, "1") != 0) {
		struct diag *diag = diag_add(parser->diags,
		    DIAG_VERSION_UNKNOWN, loc,
		    "the policy needs an sbxc that reads 'sbx %s'",
		    number->text);

		diag_help(parser->diags, diag, "this sbxc reads 'sbx %d'",
		    PARSER_LANGUAGE);
		parser->stopped = true;
	}
	return stmt;
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
parser_pair(struct parser *parser, enum ast_kind kind, struct loc loc,
    struct ast_atom *first, struct ast_atom *second)
{
	struct ast_stmt *stmt = ast_stmt(parser->arena, kind, loc);

	ast_list_add(&stmt->words, first);
	if (second != NULL)
		ast_list_add(&stmt->words, second);
	return stmt;
}

struct ast_stmt *
parser_set(struct parser *parser, struct loc loc, struct ast_atom *word,
    struct ast_atom *name)
{
	struct ast_stmt *stmt = parser_pair(parser, AST_SET, loc, word, NULL);

	stmt->name = name;
	return stmt;
}

struct ast_stmt *
parser_rule(struct parser *parser, struct loc loc, enum sbx_effect effect,
    struct ast_list words)
{
	struct ast_stmt *stmt = ast_stmt(parser->arena, AST_RULE, loc);

	stmt->effect = effect;
	stmt->words = words;
	return stmt;
}
