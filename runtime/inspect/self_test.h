/*
 * sbxrun --self-test: tries to get out of a sandbox of a policy.
 *
 * A small stage is set up outside: a workspace, a home with a key in it, a
 * file, listening sockets and a process.  A real sandbox is started on it, and
 * probes run where the command would run; each tries to reach one of these.
 * Before that, in another sandbox whose time is over soon, a command does all
 * it can to live on.
 */
#ifndef SBX_SELF_TEST_H
#define SBX_SELF_TEST_H

#include "runtime/base/options.h"
#include "runtime/bind/bind.h"

#include <sys/types.h>

enum { STAGE_PATH_SIZE = 128 };

/* What is on the stage, and what probes try to make there. */
enum stage_place {
	STAGE_ROOT,
	STAGE_WORKSPACE,
	STAGE_HOME,
	STAGE_HIDDEN,
	STAGE_KEY,
	STAGE_OUTSIDE,
	STAGE_INSIDE,
	STAGE_MADE,
	STAGE_SOCKET,
	STAGE_END,
};

/* Whether the command lived longer than it should. */
enum outcome_of_time { TIME_KILLED, TIME_OUTLIVED, TIME_UNTRIED };

struct self_test {
	bool json;
	pid_t victim; /* a process outside */
	uint16_t tcp, udp;
	int outer[3];  /* sockets that listen outside */
	bool terminal; /* a pseudo-terminal can be had outside */
	bool outlives; /* this is the other sandbox; else: */
	enum outcome_of_time time;
	char places[STAGE_END][STAGE_PATH_SIZE];
};

/*
 * Sets up the stage and forks.  Returns in two children, for which the options
 * and the environment are those of a sandbox on the stage; the parent waits,
 * removes the stage, and ends as the second child does.
 */
void self_test_begin(struct self_test *test, struct options *options,
    char **environment);

/* Opens both ends of a pseudo-terminal, as programs do; 0 or an errno. */
int open_terminal(void);

struct probe_context {
	const struct self_test *test;
	const struct sbx_blob *blob;
	const struct binding *binding;
	enum sbx_level level;
};

/*
 * In place of the command, confined: runs all probes, says how each ended, and
 * ends the program: with 1 if something got through that the policy does not
 * grant, or what it grants in the workspace was denied.
 */
void probes_run(const struct probe_context *context) __attribute__((noreturn));

/* In place of the command of the other sandbox: never ends by itself. */
void probe_outlive(void) __attribute__((noreturn));

#endif
