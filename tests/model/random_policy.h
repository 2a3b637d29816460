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

enum { KEPT = 12 };

struct maker {
	struct chance chance;
	FILE *stream;
	bool groups[3]; /* which of them there are */
	bool marked;    /* all have a mark */
	/* What the rules about the network are about; else ports. */
	bool loopback, hosts;
	/* What a parent says, which may be dropped. */
	bool keeping;
	char kept[KEPT][160];
	unsigned kept_count;
};

/* Writes a policy to the stream. */
void make_policy(struct maker *maker);

#endif
