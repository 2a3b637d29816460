/*
 * Cases tried for real: sbxrun applies the policy in a tree that is made for
 * it, and sbx-probe tries what the cases say.  What the kernel says must be
 * what the model says.
 */
#ifndef SBX_TEST_LIVE_H
#define SBX_TEST_LIVE_H

#include "compiler/cases/cases.h"

/* What there is to try with. */
struct test_machine {
	const char *sbxrun, *probe; /* their paths */
	enum sbx_level level;       /* the highest that the machine gives */
	int abi;                    /* of its Landlock */
	const struct arch *arch;
};

/*
 * Finds the programs and asks what the machine gives.  Without levels it fills
 * in those of full and standard that are there.  EXIT_CLEAN, or what to end
 * with after complaining.
 */
enum exit_status test_machine_find(struct arena *arena,
    struct test_levels *levels, struct test_machine *machine);

/*
 * Tries each result that passed; one that the kernel sees differently fails.
 * EXIT_CLEAN, or EXIT_TROUBLE after complaining about what could not be done.
 */
enum exit_status test_try(struct test_results *results,
    const struct test_machine *machine);

#endif
