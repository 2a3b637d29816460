/*
 * sbxrun --self-test: a small stage is set up outside, with a workspace, a
 * home that has a key in it, a file, listening sockets and a victim; a real
 * sandbox is started on it; and what the command would be tries to get at all
 * that, one canary after the other.  Before that there is another sandbox, whose
 * time is over soon and whose command does all it can to live on.
 */
#ifndef SBX_SELF_TEST_H
#define SBX_SELF_TEST_H

#include "runtime/base/options.h"
#include "runtime/bind/bind.h"

#include <sys/types.h>

enum { STAGE_PATH_SIZE = 128 };

/* Of what was to outlive its time. */
enum outcome_of_time { TIME_KILLED, TIME_OUTLIVED, TIME_UNTRIED };

struct self_test {
	bool json;
	pid_t victim; /* a process outside */
	uint16_t tcp, udp;
	int outer[3];  /* sockets that listen outside */
	bool outlives; /* this is that other sandbox; else: */
	enum outcome_of_time time;
	char stage[STAGE_PATH_SIZE];
	char workspace[STAGE_PATH_SIZE], home[STAGE_PATH_SIZE + 8];
	char inside[STAGE_PATH_SIZE], key[STAGE_PATH_SIZE];
	char outside[STAGE_PATH_SIZE], made[STAGE_PATH_SIZE];
	char socket[STAGE_PATH_SIZE];
};

/*
 * Sets up the stage and forks.  Returns in two children, for which the options
 * and the environment are those of a sandbox on the stage; the parent waits,
 * clears up, and ends as the last one does.
 */
void self_test_begin(struct self_test *test, struct options *options,
    char **environment);

struct probe_context {
	const struct self_test *test;
	const struct sbx_blob *blob;
	const struct binding *binding;
	enum sbx_level level;
};

/*
 * In place of the command, confined: tries it all, says how each attempt ended
 * and ends the program: with 1 if something got through that the policy does
 * not grant, or what it grants in the workspace was denied.
 */
void probes_run(const struct probe_context *context) __attribute__((noreturn));

/* In place of the command of the other sandbox: never ends by itself. */
void probe_outlive(void) __attribute__((noreturn));

#endif
