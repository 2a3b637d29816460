/* Text to statements: scan.l, policy.y. */
#ifndef SBX_GRAMMAR_GRAMMAR_H
#define SBX_GRAMMAR_GRAMMAR_H

#include "compiler/language/ast.h"
#include "compiler/report/report.h"

/* --- parser.c ---------------------------------------------------------- */

/*
 * What the scanner, the grammar and the driver (compiler/read/read.c) share
 * while one file is read.
 *
 *	text --scan.l--> tokens --sbx_yylex--> tokens --policy.y--> nodes
 *
 * The driver stands between the scanner and the grammar: there it knows the
 * token before, so that it can demand blanks between objects and end the last
 * line of a file, and there it skips the rest of a faulty statement with all
 * of its braces.
 */

enum {
	PARSER_MAX_DEPTH = 16,   /* blocks inside each other */
	PARSER_MAX_LINE = 65535, /* bytes */
	PARSER_LANGUAGE = 1,     /* the N of `sbx N` */
};

struct parser {
	struct diags *diags;
	struct arena *arena;
	const struct source *source;
	void *scanner;
	uint32_t place;       /* of the scanner: where the next token begins */
	struct ast_body body; /* the result */
	int last;             /* the latest token, 0 at the start */
	int before;           /* the one before it */
	uint32_t last_end;
	bool line_start; /* it is the first one of its line */
	int statement;   /* the first token of the statement */
	struct loc blocks[PARSER_MAX_DEPTH]; /* the '{' of those open */
	int depth;
	struct loc list;   /* the '{' of the list that is open, or no place */
	bool skipping;     /* the rest of a faulty statement */
	size_t skip_depth; /* braces that were opened in it */
	bool started;      /* the first statement was seen */
	bool stopped;      /* read no further */
};

/* In scan.l: makes parser->scanner, which reads the text. */
void parser_start(struct parser *parser, const char *text, size_t size);

/* The text of the source at a place; it goes on behind the place. */
const char *parser_text(const struct parser *parser, struct loc loc);
/* What stands there, in quotes, cut off where it becomes too long. */
const char *parser_quote(struct parser *parser, struct loc loc);

/*
 * Whether a piece of text that is no token is worth a report: not in the rest
 * of a faulty statement, where every character may be a fault.  Where a file
 * does not even begin like a policy, this reports that and nothing else.
 */
bool parser_may_report(struct parser *parser, struct loc loc);
/* Whether a '#' stands right behind a word, where it may be meant as text. */
bool parser_is_glued(const struct parser *parser, struct loc loc);

/* Passes over the rest of the statement, with all braces that it opens. */
void parser_skip(struct parser *parser, int found);
/* The faulty statement is over. */
void parser_resume(struct parser *parser);

/* Called by the grammar: where blocks and lists begin and end. */
void parser_open_block(struct parser *parser, struct loc brace);
void parser_close_block(struct parser *parser);
void parser_open_list(struct parser *parser, struct loc brace);
void parser_close_list(struct parser *parser, struct ast_list *list,
    struct loc loc);
void parser_report_depth(struct parser *parser, struct loc loc);

/* Nodes. */
struct ast_list parser_list(struct ast_atom *atom); /* or NULL */
struct ast_list parser_pair(struct ast_atom *first, struct ast_atom *second);
struct ast_atom *parser_keyword_atom(struct parser *parser, struct loc loc);
/* The pattern that follows `glob`; loc: with that word. */
struct ast_atom *parser_glob(struct ast_atom *pattern, struct loc loc);
/* Reports what cannot be a name. */
void parser_name(struct parser *parser, const struct ast_atom *name);
/* Stops the parser if the version is not ours. */
struct ast_stmt *parser_version(struct parser *parser, struct loc loc,
    struct ast_atom *number);
/* A statement with a name, or with words. */
struct ast_stmt *parser_named(struct parser *parser, enum ast_kind kind,
    struct loc loc, struct ast_atom *name);
struct ast_stmt *parser_worded(struct parser *parser, enum ast_kind kind,
    struct loc loc, struct ast_list words);

/* --- syntax.c ---------------------------------------------------------- */

/*
 * What could have stood where the syntax error is: the beginning of a
 * statement, an object of any kind, a word, the end of the line; and the names
 * of what else.
 */
enum { SYNTAX_TOKENS = 40 };
struct syntax_expected {
	bool statement, object, word, end;
	bool quoted; /* and nothing else */
	const char *names[SYNTAX_TOKENS];
	size_t count;
};

/* Reports the error at the latest token, and skips the statement. */
void syntax_report(struct parser *parser, struct loc loc,
    const struct syntax_expected *expected);

/* --- token.c ----------------------------------------------------------- */

struct parser;
union SBX_YYSTYPE;

/*
 * The object without quotes that a text is, or NULL.  Places count from the
 * text.  A keyword is an AST_STRING, since it is an object only in quotes.
 */
struct ast_atom *token_object(struct arena *arena, const char *text);

/* The same where any text is a value: what is no object is a text in quotes. */
struct ast_atom *token_value(struct arena *arena, const char *text);

/* What a text in quotes is, its escapes replaced. */
struct ast_atom *token_quoted(struct arena *arena, struct loc loc,
    const char *text, size_t len);

bool word_is_keyword(const char *text);
/* Whether a profile, a group, a parameter or a list can be called so. */
bool word_is_name(const char *text);
/* The keyword nearest to a word among those that start a statement, or NULL. */
const char *word_nearest_statement(const char *word);

bool token_is_keyword(int token);
bool token_starts_statement(int token);
/* A keyword, or a token with an atom. */
bool token_has_text(int token);

/*
 * Called by the scanner for what becomes of a piece of text; they return its
 * token, or T_FAULT after reporting it.
 */
int token_atom(struct parser *parser, union SBX_YYSTYPE *value, struct loc loc,
    enum ast_atom_kind kind, int token);
int token_string(struct parser *parser, union SBX_YYSTYPE *value,
    struct loc loc);
int token_unclosed(struct parser *parser, struct loc loc);
int token_stray(struct parser *parser, struct loc loc);
/* A missing blank, which must not make two objects of what looks like one. */
int token_glued(struct parser *parser, struct loc loc);

#endif
