/*
 * Ways to start a command that need no program between: in the child of a
 * vfork(2) of this process.
 */
#ifndef SBX_BENCH_SPAWN_H
#define SBX_BENCH_SPAWN_H

struct join;

/* What a join needs that is made once: descriptors of the namespaces of process
 * `init`, and the plan's ruleset, made there.  Ends the program if it cannot.
 */
struct join *join_prepare(const char *plan, const char *init);

/* Starts a command in these namespaces, under the plan's ruleset and filter, as
 * little else as can be; waits for it and returns its wait status. */
int join_run(const struct join *join, char **argv);

#endif
