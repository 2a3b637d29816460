/*
 * The probe under sbxrun: it tries what it is told, line by line.
 */
#ifndef SBX_TEST_PROBER_H
#define SBX_TEST_PROBER_H

#include "tests/model/properties/attempts.h"

/* A command that answers one line for each line that it is given. */
struct prober {
	pid_t pid;
	int to, from;
};

void prober_become(const struct world *world, char *const *arguments);

void prober_start(struct prober *prober, const struct world *world,
    bool defined);

void prober_stop(struct prober *prober);

/* The answer without its line end; "" from a prober that has gone. */
void prober_ask(const struct prober *prober, const struct attempt *attempt,
    char answer[64]);

#endif
