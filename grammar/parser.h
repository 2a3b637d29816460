/*
 * What the scanner, the grammar and the driver (compiler/read/read.c) share while
 * one file is read.
 *
 *	text --scan.l--> tokens --parser_next--> tokens --policy.y--> nodes
 *
 * The driver stands between the scanner and the grammar: there it knows the
 * token before, so that it can demand blanks between objects and end the last
 * line of a file, and there it skips the rest of a faulty statement with all
 * of its braces.
 */
#ifndef SBX_PARSER_H
#define SBX_PARSER_H

#include "compiler/language/ast.h"
#include "compiler/report/diag.h"

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

union SBX_YYSTYPE;

/* In scan.l: makes parser->scanner, which reads the text. */
void parser_start(struct parser *parser, const char *text, size_t size);

/*
 * Called by the scanner for what becomes of a piece of text; they return its
 * token, or T_FAULT after reporting it.
 */
int parser_atom(struct parser *parser, union SBX_YYSTYPE *value,
    const struct loc *loc, enum ast_atom_kind kind, int token, const char *text,
    size_t len);
int parser_string(struct parser *parser, union SBX_YYSTYPE *value,
    const struct loc *loc, const char *text, size_t len);
int parser_unclosed(struct parser *parser, struct loc loc);
int parser_stray(struct parser *parser, struct loc loc, const char *text);
/* Whether a '#' stands right behind a word, where it may be meant as text. */
bool parser_is_glued(const struct parser *parser, struct loc loc);

/* Called by the grammar: where blocks and lists begin and end. */
void parser_open_block(struct parser *parser, struct loc brace);
void parser_close_block(struct parser *parser);
void parser_open_list(struct parser *parser, struct loc brace);
void parser_close_list(struct parser *parser, struct ast_list *list,
    struct loc loc);

/* The faulty statement is over. */
void parser_resume(struct parser *parser);

/*
 * What could have stood where the syntax error is: the beginning of a
 * statement, an object of any kind, a word, the end of the line; and the names
 * of what else.
 */
enum { PARSER_TOKENS = 40 };
struct parser_expected {
	bool statement, object, word, end;
	bool quoted; /* and nothing else */
	const char *names[PARSER_TOKENS];
	size_t count;
};
void parser_report(struct parser *parser, struct loc loc,
    const struct parser_expected *expected);
void parser_report_depth(struct parser *parser, struct loc loc);

/* Nodes. */
struct ast_list parser_list(struct ast_atom *atom); /* or NULL */
struct ast_atom *parser_keyword_atom(struct parser *parser, struct loc loc);
/* The pattern that follows `glob`; loc: with that word. */
struct ast_atom *parser_glob(struct ast_atom *pattern, struct loc loc);
void parser_name(struct parser *parser, const struct ast_atom *name);
/* Stops the parser if the version is not ours. */
struct ast_stmt *parser_version(struct parser *parser, struct loc loc,
    struct ast_atom *number);
struct ast_stmt *parser_named(struct parser *parser, enum ast_kind kind,
    struct loc loc, struct ast_atom *name);
struct ast_stmt *parser_pair(struct parser *parser, enum ast_kind kind,
    struct loc loc, struct ast_atom *first, struct ast_atom *second);
struct ast_stmt *parser_set(struct parser *parser, struct loc loc,
    struct ast_atom *word, struct ast_atom *name);
struct ast_stmt *parser_rule(struct parser *parser, struct loc loc,
    enum sbx_effect effect, struct ast_list words);

#endif
