/*
 * Starts sbxrun: the keeper of a sandbox, and the supervisor of a command.
 */
#include "runtime/library/library.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct starting {
	struct start *start;
	struct placing placing;
	struct launch launch;
	int which;
	enum sbx_error_kind kind; /* of what went wrong */
};

const char *
start_group(unsigned flags)
{
	const unsigned session = SBX_NEW_SESSION | SBX_TERMINAL;

	if ((flags & session) != 0 && setsid() < 0)
		return "cannot make a session";
	if ((flags & SBX_TERMINAL) != 0 &&
	    ioctl(STDIN_FILENO, TIOCSCTTY, 0) != 0)
		return "cannot make standard input the terminal";
	if ((flags & (session | SBX_SAME_GROUP)) == 0 && setpgid(0, 0) != 0)
		return "cannot make a process group";
	return NULL;
}

static const char *
become(void *plan)
{
	struct starting *starting = plan;
	const struct start *start = starting->start;
	const char *fault;

	starting->kind = SBX_ERROR_DESCRIPTOR;
	fault = placing_apply(&starting->placing, &starting->which);
	if (fault != NULL)
		return fault;
	starting->kind = SBX_ERROR_SYSTEM;
	fault = start_group(start->flags);
	if (fault != NULL)
		return fault;
	starting->kind = SBX_ERROR_DIRECTORY;
	if (start->directory != NULL && chdir(start->directory) != 0)
		return "cannot enter this directory";
	starting->kind = SBX_ERROR_SBXRUN;
	launch_signals(&starting->launch,
	    (start->flags & SBX_KEEP_SIGNALS) != 0);
	launch_ready(&starting->launch);
	execve(start->sbxrun, start->words, start->environment);
	return "cannot be started";
}

bool
start_sbxrun(struct start *start, struct sbx_error *error)
{
	struct starting starting = {
		.start = start,
		.which = -1,
		.kind = SBX_ERROR_SYSTEM,
		.launch = { .become = become,
		    .detached = start->detached,
		    .group = -1 },
	};
	struct launch *launch = &starting.launch;
	const char *subject = NULL;

	launch->plan = &starting;
	if (!placing_prepare(&starting.placing, start->descriptors,
		start->descriptor_count, error))
		return false;
	if (launch_run(launch)) {
		start->pid = launch->pid;
		start->pidfd = launch->pidfd;
		return true;
	}
	if (launch->killed) {
		error_set(error, SBX_ERROR_KILLED, start->sbxrun,
		    "another process ended it", 0);
		return false;
	}
	if (starting.kind == SBX_ERROR_SBXRUN)
		subject = start->sbxrun;
	if (starting.kind == SBX_ERROR_DIRECTORY)
		subject = start->directory;
	error_set(error, starting.kind, subject, launch->fault, launch->error);
	return false;
}
