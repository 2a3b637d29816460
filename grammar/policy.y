/*
 * From tokens to statements: the shape of a policy and nothing else.  Actions
 * build nodes; what stands where, and whether its words mean anything, is
 * looked at later (read.c, resolve.c).
 *
 * A faulty statement is dropped as a whole.  While the parser looks for its
 * end the driver hands over no newline that is inside braces, so a statement
 * that goes on over several lines does not leave its tail behind.
 */
%code requires {
#include "grammar/grammar.h"
}

%code provides {
/* A piece of text that has been reported; yyparse() knows what to do. */
enum { T_FAULT = T_SBX_YYerror };

/* The next token, as the grammar sees it and as the scanner does. */
int sbx_yylex(SBX_YYSTYPE *value, struct loc *loc, struct parser *parser);
int parser_scan(SBX_YYSTYPE *value, struct loc *loc, void *scanner);
}

%define api.pure full
%define api.prefix {sbx_yy}
%define api.token.prefix {T_}
%define api.location.type {struct loc}
%define parse.error custom
%define parse.lac full
%param {struct parser *parser}
%locations
%expect 0

%code {

/* An empty production is located at the end of the token before it. */
#define YYLLOC_DEFAULT(current, rhs, n) do { \
	(current).begin = (n) ? YYRHSLOC(rhs, 1).begin : YYRHSLOC(rhs, 0).end; \
	(current).end = YYRHSLOC(rhs, n).end; \
} while (0)

/* Blocks are bounded and lists grow to the left, so the stack stays small. */
#define YYMAXDEPTH 500

static void yyerror(const struct loc *loc, struct parser *parser,
    const char *message);
}

%union {
	struct ast_atom *atom;
	struct ast_list list;
	struct ast_stmt *stmt;
	struct ast_body body;
	enum sbx_effect effect;
}

%token
	END 0 "end of file"
	SBX "'sbx'" INCLUDE "'include'" LET "'let'" PARAM "'param'"
	GROUP "'group'" PROFILE "'profile'" EXTENDS "'extends'" USE "'use'"
	ABOUT "'about'" ALLOW "'allow'" DENY "'deny'" PREFER "'prefer'"
	DROP "'drop'" EXCEPT "'except'" GLOB "'glob'" REQUIRE "'require'" ON "'on'"
	WATCH "'watch'" STAGE "'stage'" LIMIT "'limit'" SET "'set'" FROM "'from'" WITH "'with'"
	OPEN "'{'" CLOSE "'}'" EQUALS "'='" NEWLINE "end of line"
%token <atom>
	WORD "a word" PATH "a path" PATTERN "a pattern"
	GROUP_NAME "an '@group'" NUMBER "a number" RANGE "a range"
	STRING "quoted text"

%type <body> body block
%type <stmt> line statement simple marked rule rule_head head
%type <list> words head_words objects objects_or_none exclusions_or_none use_or_none list items
%type <atom> atom bare glob name parent variable from_or_none
%type <effect> effect

%%

/* What was read is kept even if the end of the file is faulty. */
file:
	%empty
|	file line { ast_body_add(&parser->body, $2); }
;

body:
	%empty { $$ = (struct ast_body){NULL, NULL}; }
|	body line { $$ = $1; ast_body_add(&$$, $2); }
;

line:
	NEWLINE { $$ = NULL; }
|	statement NEWLINE
|	error NEWLINE { $$ = NULL; parser_resume(parser); yyerrok; }
|	GROUP error rest { $$ = NULL; }
|	PROFILE error rest { $$ = NULL; }
|	ON error rest { $$ = NULL; }
;

/* The block is parsed although its head has an error. */
rest:
	NEWLINE { parser_resume(parser); yyerrok; }
|	block NEWLINE
;

statement:
	simple
|	head block { $$ = $1; $$->body = $2.first; }
;

simple:
	SBX NUMBER {
		$$ = parser_version(parser, @$, $2);
		if (parser->stopped)
			YYACCEPT;
	}
|	INCLUDE STRING { $$ = parser_named(parser, AST_INCLUDE, @$, $2); }
|	LET name EQUALS objects {
		$$ = parser_named(parser, AST_LET, @$, $2);
		$$->objects = $4;
	}
|	USE name { $$ = parser_named(parser, AST_USE, @$, $2); }
|	ABOUT STRING { $$ = parser_named(parser, AST_ABOUT, @$, $2); }
|	DROP rule { $$ = $2; $$->loc = @$; $$->drop = true; }
|	DROP USE name {
		$$ = parser_named(parser, AST_USE, @$, $3);
		$$->drop = true;
	}
|	DROP SET WORD variable {
		$$ = parser_named(parser, AST_SET, @$, $4);
		$$->words = parser_list($3);
		$$->drop = true;
	}
|	marked from_or_none { $$ = $1; $$->loc = @$; $$->from = $2; }
;

/* These can say where they come from. */
marked:
	rule
|	PARAM name { $$ = parser_named(parser, AST_PARAM, @$, $2); }
|	REQUIRE WORD atom {
		$$ = parser_worded(parser, AST_REQUIRE, @$, parser_pair($2, $3));
	}
|	LIMIT WORD atom {
		$$ = parser_worded(parser, AST_LIMIT, @$, parser_pair($2, $3));
	}
|	SET WORD variable EQUALS atom {
		$$ = parser_named(parser, AST_SET, @$, $3);
		$$->words = parser_list($2);
		$$->objects = parser_list($5);
	}
;

/* A place in another text; what it means is looked at later. */
from_or_none:
	%empty { $$ = NULL; }
|	FROM STRING { $$ = $2; }
;

rule: rule_head exclusions_or_none use_or_none {
		$$ = $1;
		$$->loc = @$;
		$$->exclusions = $2, $$->use = $3;
	}
;

rule_head: effect words objects_or_none {
		$$ = parser_worded(parser, AST_RULE, @$, $2);
		$$->effect = $1;
		$$->objects = $3;
	}
|	head_words objects_or_none {
		$$ = parser_worded(parser, AST_RULE, @$, $1);
		$$->objects = $2;
	}
;

/* Where there is no effect, this is the first of the words. */
head_words:
	WATCH { $$ = parser_list(parser_keyword_atom(parser, @$)); }
|	STAGE { $$ = parser_list(parser_keyword_atom(parser, @$)); }
|	head_words WORD { $$ = $1; ast_list_add(&$$, $2); }
;

effect:
	ALLOW { $$ = SBX_ALLOW; }
|	DENY { $$ = SBX_DENY; }
|	PREFER DENY { $$ = SBX_PREFER_DENY; }
;

words:
	WORD { $$ = parser_list($1); }
|	words WORD { $$ = $1; ast_list_add(&$$, $2); }
;

/* A lone word would be one of the words, so it is not an object here. */
objects_or_none:
	%empty { $$ = parser_list(NULL); }
|	bare { $$ = parser_list($1); }
|	glob { $$ = parser_list($1); }
|	list
;

exclusions_or_none:
	%empty { $$ = parser_list(NULL); }
|	EXCEPT objects { $$ = $2; }
;

/* What goes with an access: `with secret NAME`. */
use_or_none:
	%empty { $$ = parser_list(NULL); }
|	WITH words { $$ = $2; }
;

objects:
	atom { $$ = parser_list($1); }
|	glob { $$ = parser_list($1); }
|	list
;

list: open_list items CLOSE {
		$$ = $2;
		parser_close_list(parser, &$$, @$);
	}
;

open_list: OPEN { parser_open_list(parser, @$); };

items:
	%empty { $$ = parser_list(NULL); }
|	items atom { $$ = $1; ast_list_add(&$$, $2); }
|	items glob { $$ = $1; ast_list_add(&$$, $2); }
;

/* Quoted, so that its wildcards are seen to be meant. */
glob: GLOB STRING { $$ = parser_glob($2, @$); };

atom: WORD | bare;

bare: PATH | PATTERN | GROUP_NAME | NUMBER | RANGE | STRING;

name: WORD { $$ = $1; parser_name(parser, $1); };

/* A variable of the environment may be called like a keyword. */
variable:
	WORD
|	STRING
|	keyword { $$ = parser_keyword_atom(parser, @$); }
;

keyword:
	SBX | INCLUDE | LET | PARAM | GROUP | PROFILE | EXTENDS | USE | ABOUT
|	ALLOW | DENY | PREFER | DROP | EXCEPT | GLOB | REQUIRE | ON | WATCH | STAGE
|	LIMIT | SET | FROM | WITH
;

head:
	GROUP name { $$ = parser_named(parser, AST_GROUP_DEF, @$, $2); }
|	PROFILE name parent from_or_none {
		$$ = parser_named(parser, AST_PROFILE, @$, $2);
		$$->parent = $3;
		$$->from = $4;
	}
|	ON words {
		$$ = parser_named(parser, AST_ON, @$, NULL);
		$$->objects = $2;
	}
;

parent:
	%empty { $$ = NULL; }
|	EXTENDS name { $$ = $2; }
;

block:
	open_block body CLOSE { $$ = $2; parser_close_block(parser); }
|	open_block body statement CLOSE {
		$$ = $2;
		ast_body_add(&$$, $3);
		parser_close_block(parser);
	}
|	open_block body error CLOSE {
		$$ = $2;
		parser_close_block(parser);
		yyerrok;
	}
;

open_block: OPEN { parser_open_block(parser, @$); yyerrok; };

%%

/* Kinds of objects: named together as "an object" where all can stand. */
static bool
is_object(yysymbol_kind_t kind)
{
	return kind >= YYSYMBOL_WORD && kind <= YYSYMBOL_STRING;
}

/* What is left out of a message where a statement or an object can stand. */
static bool
is_obvious(const struct syntax_expected *expected, yysymbol_kind_t kind)
{
	/* Programs write marks, and few rules have a use: nobody needs to be told
	 * of them. */
	if (kind == YYSYMBOL_FROM || kind == YYSYMBOL_WITH)
		return true;
	if (expected->statement)
		return kind != YYSYMBOL_CLOSE;
	if (expected->object)
		return is_object(kind) || kind == YYSYMBOL_OPEN ||
		    kind == YYSYMBOL_EXCEPT || kind == YYSYMBOL_GLOB ||
		    (expected->end && kind == YYSYMBOL_CLOSE);
	return kind == YYSYMBOL_WORD ||
	    (expected->end && kind == YYSYMBOL_CLOSE);
}

static int
yyreport_syntax_error(const yypcontext_t *context, struct parser *parser)
{
	yysymbol_kind_t kinds[YYNTOKENS];
	int count = yypcontext_expected_tokens(context, kinds, YYNTOKENS);
	struct syntax_expected expected = {.count = 0};

	for (int i = 0; i < count; i++) {
		expected.statement |= kinds[i] == YYSYMBOL_PROFILE;
		expected.object |= kinds[i] == YYSYMBOL_PATH;
		expected.word |= kinds[i] == YYSYMBOL_WORD;
		expected.quoted = count == 1 && kinds[i] == YYSYMBOL_STRING;
		expected.end |= kinds[i] == YYSYMBOL_NEWLINE;
	}
	for (int i = 0; i < count; i++) {
		if (!is_obvious(&expected, kinds[i]))
			expected.names[expected.count++] =
			    yysymbol_name(kinds[i]);
	}
	syntax_report(parser, *yypcontext_location(context), &expected);
	return 0;
}

/* Bison calls this for a full stack alone; yyreport_syntax_error() reports
 * what is wrong with the text. */
static void
yyerror(const struct loc *loc, struct parser *parser, const char *message)
{
	(void)message;
	parser_report_depth(parser, *loc);
}
