/*
 * Syntax errors in words.
 */
#include "grammar/grammar.h"

#include "compiler/base/base.h"
#include "grammar/policy.h"

#include <string.h>

static const char *
found_text(struct parser *parser, struct loc loc)
{
	if (parser->last == T_END)
		return "end of file";
	if (parser->last == T_NEWLINE)
		return "end of line";
	return parser->last == T_STRING ? "quoted text" :
					  parser_quote(parser, loc);
}

/* "a, b or c". */
static const char *
expected_text(struct parser *parser, const struct syntax_expected *expected)
{
	const char *names[SYNTAX_TOKENS + 1];
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

/* The keyword among those expected that the word was meant to be, or NULL. */
static const char *
keyword_meant(struct parser *parser, const char *word,
    const struct syntax_expected *expected)
{
	const char *words[SYNTAX_TOKENS];
	size_t count = 0;

	for (size_t i = 0; i < expected->count; i++) {
		const char *name = expected->names[i];

		/* The name of a keyword's token is the word in quotes. */
		if (name[0] == '\'' && name[1] >= 'a' && name[1] <= 'z')
			words[count++] = arena_strndup(parser->arena, name + 1,
			    strlen(name) - 2);
	}
	return nearest_name(word, words, count);
}

/* A block or list that is still open where the text ends or goes on. */
static void
report_unclosed(struct parser *parser, struct loc loc)
{
	bool list = parser->list.begin != 0;
	struct diag *diag = diag_add(parser->diags, DIAG_UNCLOSED_BLOCK, loc,
	    "expected '}', found %s", found_text(parser, loc));

	diag_note(diag, list ? parser->list : parser->blocks[parser->depth - 1],
	    "this '{' is not closed");
}

/* A sentence on what was probably meant: the first that fits, or NULL. */
static const char *
syntax_help(const struct parser *parser, const struct syntax_expected *expected)
{
	int found = parser->last, statement = parser->statement;
	bool rule = statement >= T_ALLOW && statement <= T_DROP;
	bool text = statement == T_ABOUT || statement == T_INCLUDE;
	bool keyword = token_is_keyword(found), word = token_has_text(found);
	bool words = expected->word && !expected->object;
	const struct {
		bool fits;
		const char *help;
	} helps[] = {
		{ found == T_CLOSE && expected->statement,
		    "no block is open here" },
		{ found == T_FROM && expected->end,
		    "a mark stands behind a rule, 'param', 'require', 'limit' "
		    "or 'set'" },
		{ keyword && expected->word && expected->object,
		    "a keyword stands in double quotes here" },
		{ keyword && expected->word && !rule,
		    "a keyword cannot be a name" },
		{ (found == T_PATH || found == T_GLOB) && rule && words,
		    "say what about it: 'read', 'write' or 'exec'" },
		{ expected->quoted && parser->before == T_FROM,
		    "a mark is put in double quotes: "
		    "from \"team.sbx:6:18 (team)\"" },
		{ expected->quoted && found == T_OPEN,
		    "'glob' stands before each pattern of a list" },
		{ expected->quoted && word && !text,
		    "the pattern is put in double quotes" },
		{ word && !keyword && text,
		    "the text is put in double quotes" },
		{ word && expected->end && !expected->object && rule,
		    "several words are put in braces: '{ /x /y }', "
		    "'{ *.corp.example private }'" },
		{ found == T_NEWLINE && words && rule,
		    "for example 'allow read /srv/data'" },
	};

	for (size_t i = 0; i < countof(helps); i++) {
		if (helps[i].fits)
			return helps[i].help;
	}
	return NULL;
}

static void
report_other(struct parser *parser, struct loc loc, const char *word,
    const struct syntax_expected *expected)
{
	struct diag *diag = diag_add(parser->diags, DIAG_SYNTAX, loc,
	    "expected %s, found %s", expected_text(parser, expected),
	    found_text(parser, loc));
	const char *help = syntax_help(parser, expected);
	const char *meant = parser->last != T_WORD ?
	    NULL :
	    keyword_meant(parser, word, expected);

	if (strncmp(word, "//", 2) == 0)
		diag_help(diag, "a comment begins with '#'");
	else if (meant != NULL)
		diag_did_you_mean(diag, meant);
	else if (help != NULL)
		diag_help(diag, "%s", help);
}

void
syntax_report(struct parser *parser, struct loc loc,
    const struct syntax_expected *expected)
{
	int found = parser->last;
	bool in_list = parser->list.begin != 0;
	const char *word = arena_strndup(parser->arena,
	    parser_text(parser, loc), loc.end - loc.begin);

	if (parser->stopped)
		return;
	if (found == T_WORD && expected->statement)
		diag_did_you_mean(diag_add(parser->diags,
				      DIAG_UNKNOWN_STATEMENT, loc,
				      "unknown statement %s",
				      parser_quote(parser, loc)),
		    word_nearest_statement(word));
	else if ((found == T_END && (in_list || parser->depth > 0)) ||
	    (in_list && parser->line_start && token_starts_statement(found)))
		report_unclosed(parser, loc);
	else
		report_other(parser, loc, word, expected);
	parser_skip(parser, found);
}
