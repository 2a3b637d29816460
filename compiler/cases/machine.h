/*
 * The programs that try cases, and what the kernel of this machine offers.
 */
#ifndef SBX_COMPILER_CASES_MACHINE_H
#define SBX_COMPILER_CASES_MACHINE_H

#include "compiler/cases/cases.h"

struct machine {
	const char *sbxrun, *helper; /* paths of the programs */
	const void *copy;            /* the bytes of sbx-trial */
	size_t copy_size;
	enum sbx_level level; /* the highest that the machine gives */
	int abi;              /* of Landlock */
	const struct arch *arch;
};

/*
 * Finds the programs and asks sbxrun what the machine gives.  If no levels are
 * given, it takes standard and full, as far as the machine gives them.
 * EXIT_CLEAN, or what sbxc is to end with after complaining.
 */
enum exit_status machine_find(struct arena *arena, struct test_levels *levels,
    struct machine *machine);

/* The path of sbxrun: what SBXRUN names, or the one beside sbxc or in PATH; NULL
 * if there is none. */
const char *machine_sbxrun(struct arena *arena);

/* Asks sbxrun, if it is found, what the machine gives; says nothing if not. */
bool machine_ask(struct arena *arena, struct machine *machine);

#endif
