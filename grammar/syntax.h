/*
 * Syntax errors in words.
 */
#ifndef SBX_SYNTAX_H
#define SBX_SYNTAX_H

#include "grammar/parser.h"

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

#endif
