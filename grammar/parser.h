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

#endif
