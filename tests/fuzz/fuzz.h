/*
 * What all fuzzers have: a promise that aborts when it is broken, the shape
 * that any tree of statements has, and with -DFUZZ_REPLAY a main() that gives
 * the files of a corpus to the fuzzer, for compilers without libFuzzer.  With
 * FUZZ_NO_TEXTS nothing of the compiler is in here.
 */
#ifndef SBX_TEST_FUZZ_H
#define SBX_TEST_FUZZ_H

#ifndef FUZZ_NO_TEXTS
#include "compiler/language/ast.h"
#else
enum { SOURCE_MAX_SIZE = 1 << 20 };
#endif

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must(bool held, const char *what)
{
	if (held)
		return;
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
	abort();
}

#ifndef FUZZ_NO_TEXTS
/* --- statements ----------------------------------------------------------- */

static inline void
check_loc(const struct sources *sources, struct loc loc)
{
	const struct source *source = sources_find(sources, loc);

	must(source != NULL, "a place is in no source");
	must(loc.begin <= loc.end && loc.end <= source->base + source->size,
	    "a place ends outside of its source");
}

static inline void
check_list(const struct sources *sources, const struct ast_list *list)
{
	for (const struct ast_atom *atom = list->first; atom != NULL;
	     atom = atom->next) {
		must(atom->text != NULL, "an atom without a text");
		must(atom->next != NULL || atom == list->last,
		    "a list that ends elsewhere");
		check_loc(sources, atom->loc);
	}
}

/* All places lie inside of their texts, and all lists end. */
static inline void
check_stmts(const struct sources *sources, const struct ast_stmt *stmts)
{
	for (const struct ast_stmt *stmt = stmts; stmt != NULL;
	     stmt = stmt->next) {
		check_loc(sources, stmt->loc);
		if (stmt->name != NULL)
			check_loc(sources, stmt->name->loc);
		check_list(sources, &stmt->words);
		check_list(sources, &stmt->objects);
		check_list(sources, &stmt->exclusions);
		check_stmts(sources, stmt->body);
		check_stmts(sources, stmt->included);
	}
}

#endif
/* --- replay --------------------------------------------------------------- */

#ifdef FUZZ_REPLAY
#ifdef FUZZ_ALSO
/* What else is tried of an input. */
static void FUZZ_ALSO(const uint8_t *data, size_t size, unsigned seed);
#endif

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		static uint8_t data[SOURCE_MAX_SIZE];
		FILE *file = fopen(argv[i], "rb");

		if (file == NULL) {
			perror(argv[i]);
			return 1;
		}
		size_t size = fread(data, 1, sizeof data, file);
		fclose(file);
		LLVMFuzzerTestOneInput(data, size);
#ifdef FUZZ_ALSO
		FUZZ_ALSO(data, size, (unsigned)i);
#endif
		printf("ok %d - %s\n", i, argv[i]);
	}
	printf("1..%d\n", argc - 1);
	return 0;
}
#endif

#endif
