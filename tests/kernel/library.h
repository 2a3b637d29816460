/*
 * What the tests of libsbx share: a place with policies, and a sandbox.
 */
#ifndef SBX_TEST_LIBRARY_H
#define SBX_TEST_LIBRARY_H

#include "runtime/library/sbx.h"
#include "tests/lib/tap.h"

#include <sys/types.h>

/* P_PIDFD of waitid(2), which older libcs lack. */
enum { BY_PIDFD = 3 };

/* Where a test happens; removed at its end. */
struct stage {
	struct tap tap;
	char base[64];
	char workspace[96];
	char free_policy[96];   /* workspace-write without limits */
	char bound_policy[96];  /* with a time of one second */
	char long_policy[96];   /* with a time that is never over */
	char output_policy[96]; /* with a limit on output alone */
	char watch_policy[96];  /* with a file that is watched alone */
	const char *sbxrun;
};

void stage_begin(struct stage *stage);
int stage_end(struct stage *stage);

/* A sandbox of a policy at a level, or the end of the program. */
struct sbx_sandbox *stage_open(const struct stage *stage, const char *policy,
    const char *level);

/* The pidfd of a shell command, or -1 and *error. */
int shell_start(struct sbx_sandbox *sandbox, const char *script,
    struct sbx_error *error);

/* The status of a command, or 128 and its signal; closes the pidfd. */
int status_of(int pidfd);

/* Its status; -1 if it was not started, which is said. */
int shell(struct sbx_sandbox *sandbox, const char *script);

/* What a command prints to `text`, and its status. */
int shell_says(struct sbx_sandbox *sandbox, const char *script, char *text,
    size_t size);

void make_file(const char *path, const char *text, mode_t mode);

/* How many descriptors this process has. */
int open_descriptors(void);

/* How many processes of the machine have this word in their command line. */
int count_processes(const char *word);

/* Waits up to a minute until it is as many. */
bool await_processes(const char *word, int count);

/* library_commands.c: what a command has, at any level; and all else, at full. */
void test_commands(struct stage *stage, struct sbx_sandbox *sandbox);
void test_inside(struct stage *stage, struct sbx_sandbox *sandbox);
/* library_failures.c: what is said of commands that cannot be. */
void test_failures(struct stage *stage, struct sbx_sandbox *sandbox);
/* Which policies a command needs a supervisor for. */
void test_needs(struct stage *stage);

#endif
