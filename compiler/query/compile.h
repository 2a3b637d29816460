/*
 * From a file to a blob: the stages of the compiler in their order.
 */
#ifndef SBX_COMPILE_H
#define SBX_COMPILE_H

#include "compiler/lower/emit.h"
#include "compiler/lower/programs.h"
#include "compiler/report/suppress.h"

struct blocks;

struct compilation {
	struct arena *arena;
	struct arena *work; /* of the policies and images; NULL: the same */
	struct sources sources;
	struct diags diags;
	const struct source *file;
	struct ast_stmt *stmts;
	struct programs programs;
	struct blocks *blocks; /* of the file, once one of them is compiled */
	struct suppressions suppressions;
	const struct policy *policy; /* that compile() resolved last, or NULL */
	struct definitions definitions; /* bound in the blob itself */
};

void compilation_init(struct compilation *compilation, struct arena *arena);

/* Parses a text that was added to the sources, with all that it includes. */
void compilation_parse(struct compilation *compilation, struct source *file);

/* Reads and parses a file; false, with errno set, if it cannot be read. */
bool compilation_open(struct compilation *compilation, const char *path);

/* Parses "NAME.sbx" of the shipped policies; false if there is none. */
bool compilation_open_shipped(struct compilation *compilation,
    const char *name);

/*
 * Compiles one profile (NULL: the only one) of the file that is open.  False
 * if anything was an error; the diagnostics say what.
 */
bool compile(struct compilation *compilation, const char *profile,
    struct image *image);

#endif
