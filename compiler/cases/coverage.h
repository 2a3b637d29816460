/*
 * Which rules of a policy decided no case.  A rule is what is written at one
 * place of a text, even if it expands to several.
 */
#ifndef SBX_TEST_COVERAGE_H
#define SBX_TEST_COVERAGE_H

#include "compiler/cases/cases.h"

/* Lists them, and prints a percentage. */
void test_coverage(FILE *stream, const struct test_results *results);

#endif
