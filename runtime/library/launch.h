/*
 * A process that shares the caller's memory until it has become a command, as
 * that of posix_spawn(3) does.  To copy the memory of a large program takes
 * longer than everything else.
 *
 *	the caller's thread --> [the first --> ] the second --> execve(2)
 *	waits for                sets up         restricts itself
 *	both                     namespaces
 *
 * There is a first one where a user namespace has to be entered: setns(2) wants
 * a process whose file system context nobody shares, and a PID namespace is for
 * children alone.  The second one is a child of the caller nevertheless
 * (CLONE_PARENT), or of nobody, if it is detached.
 *
 * Meanwhile all signals are blocked in the calling thread, so that no handler
 * runs in a process that shares its memory, and the thread waits by system
 * calls without libc, since errno of the processes is its own.  It does not
 * wait with CLONE_VFORK: another command of the sandbox could stop the second
 * process, and who waits in that way can only be killed.
 */
#ifndef SBX_LAUNCH_H
#define SBX_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What a step could not do; NULL: nothing is wrong. */
typedef const char *launch_step(void *plan);

struct launch {
	/* In the first process; NULL: there is none. */
	launch_step *enter;
	/* In the second one.  Returns only if it fails, with errno. */
	launch_step *become;
	void *plan;    /* of both */
	bool detached; /* the second is not to be a child of the caller */
	int group;     /* directory of a control group for it, or -1 */

	/* Filled in. */
	pid_t pid;
	int pidfd;
	const char *fault; /* why it failed, or NULL; and the errno */
	int error;
	bool killed; /* before it became the command */

	/* Private: what the processes say to the caller. */
	int alive; /* the second uses our memory: see set_tid_address(2) */
	int stage;
	bool cleared; /* the second has no handlers of signals */
	uint64_t mask;
	char *stacks;
};

/* In the second process, right before execve(2): the signals of the command.
 * See SBX_KEEP_SIGNALS. */
void launch_signals(const struct launch *launch, bool keep);

/* After its last step.  From here on only execve(2) is to come. */
void launch_ready(struct launch *launch);

/* False if it failed; then nothing is left of it. */
bool launch_run(struct launch *launch);

#endif
