/*
 * Random policies as text: every statement of the language, in shapes that
 * people would not write.  The words come from small tables, the first ones
 * more often, so that rules meet: what several say of one thing is where an
 * order could show.
 */
#ifndef SBX_TEST_RANDOM_POLICY_H
#define SBX_TEST_RANDOM_POLICY_H

#include "tests/lib/chance.h"

#include <stdio.h>

struct maker {
	struct chance chance;
	FILE *stream;
	bool groups[3];        /* which of them there are */
	bool loopback, marked; /* all have a mark */
};

/* Writes a policy to the stream. */
void make_policy(struct maker *maker);

#endif
