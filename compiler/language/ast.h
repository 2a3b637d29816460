/*
 * What the text says, before anything is looked up: statements that hold words
 * and places.  The grammar builds these nodes and does nothing else; whether a
 * word means anything is decided in resolve.c.
 *
 * A rule is an effect, one or more words that say what, and a list of objects:
 *
 *	deny read            { ${credentials} /srv/keys }  except ~/.aws/config
 *	allow network connect tcp  { 443 8000-8080 }
 *	effect \_ words _________/  \_ objects ________/
 *
 * Of a rule that watches or stages that is the first word, and the effect is of no
 * meaning.  Only braces, or an object that is no plain word, end the words: in
 * `allow network full` and `deny syscalls ptrace` all words are in `words`, and
 * `objects` is empty.
 */
#ifndef SBX_AST_H
#define SBX_AST_H

#include "compiler/report/report.h"
#include "format/blob.h"

enum ast_atom_kind {
	AST_WORD,    /* everything, tcp, io_uring_setup */
	AST_PATH,    /* /x, ~/x, ${name}/x; also from a quoted string */
	AST_PATTERN, /* *_TOKEN, LC_*: a word with a star in it */
	AST_GROUP,   /* @mount: text without the '@' */
	AST_NUMBER,  /* 443, 50MiB, 300s: text as written */
	AST_RANGE,   /* 8000-8080 */
	AST_STRING,  /* quoted text that is no path, unescaped */
	AST_GLOB,    /* glob "/x?": the quoted text; loc is the whole */
};

struct ast_atom {
	enum ast_atom_kind kind;
	struct loc loc;
	const char *text; /* interned */
	bool quoted;      /* so that no character of it means anything else */
	struct ast_atom *next;
};

/* A list of atoms in source order. */
struct ast_list {
	struct ast_atom *first, *last;
	struct loc loc;
};

enum ast_kind {
	AST_VERSION,   /* sbx WORDS[0] */
	AST_INCLUDE,   /* include NAME; `included` holds its statements */
	AST_LET,       /* let NAME = OBJECTS */
	AST_PARAM,     /* param NAME */
	AST_GROUP_DEF, /* group NAME BODY */
	AST_PROFILE,   /* profile NAME extends PARENT BODY */
	AST_USE,       /* use NAME; drop if `drop` */
	AST_ABOUT,     /* about NAME (the text) */
	AST_RULE,      /* EFFECT WORDS OBJECTS except HOLES; drop if `drop` */
	AST_REQUIRE,   /* require WORDS[0] WORDS[1] */
	AST_LIMIT,     /* limit WORDS[0] WORDS[1] */
	AST_SET,       /* set WORDS[0](env) NAME = OBJECTS[0]; if `drop`
	                * without a value */
	AST_ON,        /* on WORDS BODY: the platforms, in OBJECTS */
};

/*
 * `from` says where a statement stood before it came here, as a line marker of
 * C does (report.h).  Rules, `param`, `require`, `limit` and `set` can have
 * it, and a profile, where it says what the profile was made from.
 */
struct ast_stmt {
	enum ast_kind kind;
	struct loc loc; /* the whole statement, without its body */
	struct ast_stmt *next;
	struct ast_stmt *body; /* group, profile, on */
	struct ast_stmt
	    *included;           /* include: filled in by the parser's driver */
	struct ast_atom *name;   /* what is named; NULL if the kind has none */
	struct ast_atom *parent; /* profile ... extends PARENT, or NULL */
	enum sbx_effect effect;
	bool drop;
	struct ast_atom *from; /* the text of a position, or NULL */
	struct ast_list words;
	struct ast_list objects;
	struct ast_list exclusions;
	struct ast_list use; /* `with`: its words */
};

/* Whether its effect is written before its words: of all rules but `watch` and
 * `stage`. */
bool ast_has_effect(const struct ast_stmt *stmt);

/* A list of statements being built. */
struct ast_body {
	struct ast_stmt *first, *last;
};

/* Constructors, called by the grammar's actions; adding NULL to a body does
 * nothing. */
struct ast_atom *ast_atom(struct arena *arena, enum ast_atom_kind kind,
    struct loc loc, const char *text, size_t len);
void ast_list_add(struct ast_list *list, struct ast_atom *atom);
struct ast_stmt *ast_stmt(struct arena *arena, enum ast_kind kind,
    struct loc loc);
void ast_body_add(struct ast_body *body, struct ast_stmt *stmt);

/* The brace that ends a block in the text: behind its last statement, after
 * comments; NULL if it is not found. */
const char *ast_block_end(const struct source *source,
    const struct ast_stmt *block);

#endif
