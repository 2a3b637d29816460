/*
 * From a file to a blob: the stages of the compiler in their order.
 */
#ifndef SBX_COMPILE_H
#define SBX_COMPILE_H

#include "compiler/lower/emit.h"
#include "compiler/report/suppress.h"

struct compilation {
	struct arena *arena;
	struct sources sources;
	struct diags diags;
	const struct source *file;
	struct ast_stmt *stmts;
	struct suppressions suppressions;
	const struct policy *policy; /* that compile() resolved last, or NULL */
	struct {
		VEC(struct definition) list;
	} definitions; /* -D of the compiler */
};

void compilation_init(struct compilation *compilation, struct arena *arena);

/* Reads and parses; false, with errno set, if the file cannot be read. */
bool compilation_open(struct compilation *compilation, const char *path);

/*
 * Compiles one profile (NULL: the only one) of the file that is open.  False
 * if anything was an error; the diagnostics say what.
 */
bool compile(struct compilation *compilation, const char *profile,
    struct image *image);

#endif
