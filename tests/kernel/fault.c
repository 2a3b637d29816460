/*
 * Runs a loader once under ptrace and writes down each system call that it
 * makes; then once more for each of them, in which that one call, and no other,
 * fails.  A call is known by its process (0, 1 ... in the order in which they
 * were made), its number, and how many times that process had made it before.
 * strace counts for each process too, but cannot tell one process from another:
 * an error for the command's seccomp(2) would end its parent before.
 *
 * Counted is from the opening of the policy, which is the first file whose name
 * ends in ".bin", to each process's execve(2) of the command.
 *
 *	fault [-jsx] [-b END] [-e ERRNO]... [-k TIMES] [-p FIRST-LAST]
 *	    MARKER LOADER [ARG...]
 *
 * The command is to write MARKER: "ran", then a line for each thing that it
 * could do and should not, then "end".  What is wrong is printed, a line each;
 * what was tried is said on standard error.  -k: no more than so many calls of
 * one name in one process, but for those that confine, which are tried all.
 * -s: one call of each place in the program that makes it, instead.  -p: only
 * calls of these processes.  -b: another end of a name; '' is from the start of
 * the program.  -j: what is run says itself what is wrong, on standard error
 * (fault_session.c).  -q: what is run is a question and no command runs; it ends
 * with a status, and says a line if it is one of those of sbxrun.  -x: what is
 * executed is counted, too.
 */
#include "tests/kernel/fault.h"

#include <errno.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	MAX_ERRORS = 8,
};

struct session {
	const char *marker;
	const char *begin;
	char **command;
	struct {
		const char *name;
		int value;
	} errors[MAX_ERRORS];
	int error_count;
	int most;        /* of one name in one process; 0: all */
	int first, last; /* processes */
	bool sites;      /* one of each */
	bool judges;     /* itself */
	bool asks;       /* and runs no command */
	bool follows;    /* what is executed */
	int runs, refused, ran, other;
};

static const struct {
	const char *name;
	int value;
} known_errors[] = {
	{ "EPERM", EPERM },
	{ "EIO", EIO },
	{ "ENOMEM", ENOMEM },
	{ "EINVAL", EINVAL },
	{ "ENOSYS", ENOSYS },
	{ "EACCES", EACCES },
	{ "EAGAIN", EAGAIN },
	{ "EINTR", EINTR },
	{ "EMFILE", EMFILE },
};

/* Each of these is tried, however often it is made. */
static const char *const confining[] = {
	"landlock_create_ruleset", "landlock_add_rule",
	"landlock_restrict_self", "seccomp", "prctl", "capset", "capget",
	"clone", "fork", "mount", "umount2", "mount_setattr", "move_mount",
	"open_tree", "open_tree_attr",
	"call 467", /* the same, for a libseccomp that does not know it */
	"fsopen", "fsconfig", "fsmount", "pivot_root", "chdir", "fchdir",
	"unshare", "setns", "prlimit64", "setrlimit", "close_range", "dup2",
	"dup3", "clone3", "getdents64", /* what is not found is not denied */
};

static const char *
call_name(int number)
{
	static char text[32];
	char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);

	if (name != NULL)
		snprintf(text, sizeof text, "%s", name);
	else
		snprintf(text, sizeof text, "call %d", number);
	free(name);
	return text;
}

/* --- judging it ------------------------------------------------------------ */

enum ending { RAN, REFUSED, OTHER, WRONG };

static int
lines_in(const char *text)
{
	int lines = 0;

	for (; *text != '\0'; text++)
		lines += *text == '\n';
	return lines;
}

/* What the command wrote; false: there is nothing, it did not run. */
static bool
read_marker(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "r");
	size_t len;

	if (file == NULL)
		return false;
	len = fread(text, 1, size - 1, file);
	text[len] = '\0';
	fclose(file);
	return true;
}

/* Takes out the lines of sbxrun: a supervisor tells what the network refused
 * while the command still runs, or not before it has ended. */
static void
leave_out_told(char *text)
{
	static const char told[] = "sbxrun: ";
	char *at = text, *end;

	while (*at != '\0') {
		end = strchr(at, '\n');
		end = end != NULL ? end + 1 : at + strlen(at);
		if (strncmp(at, told, strlen(told)) == 0)
			memmove(at, end, strlen(end) + 1);
		else
			at = end;
	}
}

/* What the command said where it could not write the marker.  The loader may
 * have said something after it: what was refused in the network. */
static void
command_said(const char *said, char *text)
{
	const char *end = strstr(said, "\nsbxrun: ");
	size_t len = end != NULL ? (size_t)(end + 1 - said) : strlen(said);

	memcpy(text, said, len);
	text[len] = '\0';
}

/* A question is answered, whatever is missing, or it is refused in one line. */
static enum ending
judge_answer(const struct run *run, char *why, size_t size)
{
	int status = run->status;

	snprintf(why, size, "wait status %#x, said %d lines: %.200s",
	    (unsigned)status, lines_in(run->said), run->said);
	if (!WIFEXITED(status))
		return WTERMSIG(status) == SIGKILL ? OTHER : WRONG;
	if (WEXITSTATUS(status) <= 1)
		return RAN;
	return WEXITSTATUS(status) == 125 && lines_in(run->said) == 1 ?
	    REFUSED :
	    OTHER;
}

/*
 * Good is that the command ran and found itself confined, and that it did not
 * run and one line says so: with 125, or with 126 or 127 if it is the command
 * that the view or the rules do not give.  An end of another kind, without the
 * command, is no danger but not what users are promised.
 */
static enum ending
judge(const struct session *session, const struct run *run, char *why,
    size_t size)
{
	static const char good[] = "ran\nend\n";
	char text[sizeof run->said] = "";
	int status = run->status;

	if (run->hung) {
		snprintf(why, size, "hung:%s", run->stuck);
		return WRONG;
	}
	if (session->asks)
		return judge_answer(run, why, size);
	if (session->judges) {
		snprintf(why, size, "%.900s", run->said);
		return status == 0 && run->said[0] == '\0' ? RAN : WRONG;
	}
	if (read_marker(session->marker, text, sizeof text) ||
	    strncmp(run->said, "ran\n", 4) == 0) {
		if (strncmp(run->said, "ran\n", 4) == 0)
			command_said(run->said, text);
		leave_out_told(text);
		if (strcmp(text, good) == 0)
			return RAN;
		/* A supervisor that cannot go on ends what has just begun. */
		if (strncmp(text, good, strlen(text)) == 0 && status != 0)
			return RAN;
		for (char *at = text; *at != '\0'; at++)
			*at = *at == '\n' ? ' ' : *at;
		snprintf(why, size, "NOT CONFINED: %.900s", text);
		return WRONG;
	}
	snprintf(why, size,
	    "no command, wait status %#x, said %d lines: %.200s",
	    (unsigned)status, lines_in(run->said), run->said);
	/* With --explain, what was in force stands behind why there is no command. */
	if (WIFEXITED(status) && WEXITSTATUS(status) >= 125 &&
	    WEXITSTATUS(status) <= 127 &&
	    lines_in(run->said) ==
		1 + (strstr(run->said, "\nsbxrun: no denial was seen") != NULL))
		return REFUSED;
	return status == 0 ? WRONG : OTHER;
}

static bool
is_one_of(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return false;
}

/* Which ends without one line are as they have to be. */
static bool
is_silent(const char *name)
{
	/* The line itself cannot be written.  The first process, which has
	 * nobody to tell, and the supervisor end all if they cannot wait.  A
	 * supervisor that gets no listener tells it, and so does the command,
	 * which gets no answer then.
	 * The libraries of a sanitizer die of what they cannot have. */
	static const char *const names[] = { "write", "writev", "poll", "ppoll",
		"recvmsg", "mmap", "munmap", "mprotect", "brk", "sigaltstack",
		"getrlimit", "rt_sigprocmask", "rt_sigaction" };

	return is_one_of(name, names, sizeof names / sizeof names[0]);
}

/* --- all runs -------------------------------------------------------------- */

static bool
is_wanted(const struct session *session, const struct call *call)
{
	const char *name = call_name(call->number);

	/* These do not come back, or cannot fail, or but for a signal, or are of
	 * the C library before it can do without; close(2)
	 * closes whatever it answers. */
	static const char *const never[] = { "close", "exit_group", "exit",
		"rt_sigreturn", "restart_syscall", "arch_prctl", "rseq",
		"wait4", "getpid", "getppid", "gettid", "getuid", "geteuid",
		"getgid", "getegid" };

	if (is_one_of(name, never, sizeof never / sizeof never[0]) ||
	    call->process < session->first || call->process > session->last)
		return false;
	return session->most == 0 || call->time <= session->most ||
	    is_one_of(name, confining, sizeof confining / sizeof confining[0]);
}

/* Whether the call of that place was tried before, in any process. */
static bool
is_known(const struct call *calls, const struct call *call)
{
	for (const struct call *at = calls; at < call; at++) {
		if (at->tried && at->site == call->site &&
		    at->number == call->number)
			return true;
	}
	return false;
}

/* Where an answer to a caller cannot be given, that caller waits; the kernel has
 * no such error but for one that has gone, and EINTR. */
static bool
is_answer(const struct session *session, const struct call *call, int error)
{
	return session->sites && session->errors[error].value != EINTR &&
	    strcmp(call_name(call->number), "ioctl") == 0;
}

static void
try_call(struct session *session, const struct call *call, int error)
{
	static struct run run;
	char why[1024] = "";
	enum ending ending;

	if (is_answer(session, call, error))
		return;
	memset(&run, 0, sizeof run);
	run.begin = session->begin;
	run.follows = session->follows;
	run.fault = *call;
	run.error = session->errors[error].value;
	unlink(session->marker);
	trace(session->command, &run);
	/* The order of events may differ from run to run. */
	if (!run.hit)
		return;
	session->runs++;
	ending = judge(session, &run, why, sizeof why);
	session->ran += ending == RAN;
	session->refused += ending == REFUSED;
	session->other += ending == OTHER;
	if (ending == WRONG ||
	    (ending == OTHER && !is_silent(call_name(call->number)))) {
		printf("process %d, %s number %d, %s: %s\n", call->process,
		    call_name(call->number), call->time,
		    session->errors[error].name, why);
		fflush(stdout);
	}
}

static void
try_all(struct session *session)
{
	static struct call calls[MAX_CALLS];
	static struct run good;
	char why[1024] = "";

	good.begin = session->begin;
	good.follows = session->follows;
	good.fault.process = -1;
	good.calls = calls;
	unlink(session->marker);
	trace(session->command, &good);
	if (judge(session, &good, why, sizeof why) != RAN || !good.began) {
		printf("without a fault: %s\n", why);
		return;
	}
	for (int i = 0; i < good.call_count; i++) {
		if (!is_wanted(session, &calls[i]) ||
		    (session->sites && is_known(calls, &calls[i])))
			continue;
		calls[i].tried = true;
		for (int e = 0; e < session->error_count; e++)
			try_call(session, &calls[i], e);
	}
	fprintf(stderr,
	    "# %d calls, %d faults: %d refused, %d ran confined, "
	    "%d ended otherwise\n",
	    good.call_count, session->runs, session->refused, session->ran,
	    session->other);
}

static void
add_error(struct session *session, const char *name)
{
	for (size_t i = 0; i < sizeof known_errors / sizeof known_errors[0];
	     i++) {
		if (strcmp(known_errors[i].name, name) != 0 ||
		    session->error_count == MAX_ERRORS)
			continue;
		session->errors[session->error_count].name = name;
		session->errors[session->error_count++].value =
		    known_errors[i].value;
		return;
	}
	errno = EINVAL;
	die(name);
}

int
main(int argc, char **argv)
{
	static struct session session = {
		.begin = ".bin",
		.last = MAX_PROCESSES,
	};
	int option;

	while ((option = getopt(argc, argv, "+b:e:jk:p:qsx")) != -1) {
		if (option == 'e')
			add_error(&session, optarg);
		else if (option == 'b')
			session.begin = optarg;
		else if (option == 'k')
			session.most = atoi(optarg);
		else if (option == 'j')
			session.judges = true;
		else if (option == 'q')
			session.asks = true;
		else if (option == 's')
			session.sites = true;
		else if (option == 'x')
			session.follows = true;
		else if (option == 'p' &&
		    sscanf(optarg, "%d-%d", &session.first, &session.last) == 2)
			continue;
		else
			return 2;
	}
	if (session.error_count == 0)
		add_error(&session, "EIO");
	if (argc - optind < 2) {
		fputs("usage: fault [-jqsx] [-b END] [-e ERRNO]... [-k TIMES] "
		      "[-p FIRST-LAST] MARKER LOADER [ARG...]\n",
		    stderr);
		return 2;
	}
	session.marker = argv[optind];
	session.command = argv + optind + 1;
	try_all(&session);
	return 0;
}
