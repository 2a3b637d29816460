/*
 * What whoever waits for a command does when it ends.
 */
#include "runtime/watch/supervise.h"

#include "runtime/base/kernel.h"
#include "runtime/base/options.h"
#include "runtime/base/out.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

void
ending_repeat(int status)
{
	static const struct rlimit none = { 0, 0 };
	sigset_t set;

	if (WIFEXITED(status))
		_exit(WEXITSTATUS(status));
	/* The limit says nothing to a program that core_pattern names. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	setrlimit(RLIMIT_CORE, &none);
	signal(WTERMSIG(status), SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, WTERMSIG(status));
	raise(WTERMSIG(status));
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	_exit(128 + WTERMSIG(status));
}

void
ending_continue_at(const struct timespec *deadline)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = SIGCONT,
	};
	struct itimerspec times = {
		.it_value = *deadline,
		.it_interval = { .tv_sec = 1 },
	};
	int timer;

	if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) == 0)
		syscall(SYS_timer_settime, timer, TIMER_ABSTIME, &times, NULL);
}

int
ending_signal(int status)
{
	enum { SIGNAL_BASE = 128, SIGNAL_MAX = 64 };

	if (WIFSIGNALED(status))
		return WTERMSIG(status);
	return WEXITSTATUS(status) > SIGNAL_BASE &&
		WEXITSTATUS(status) <= SIGNAL_BASE + SIGNAL_MAX ?
	    WEXITSTATUS(status) - SIGNAL_BASE :
	    0;
}

/* A signal with which the kernel says that an rlimit was reached, or at which one
 * keeps it from writing a core file; not where the caller's own limit is lower. */
static void
tell_of_signal(const struct sbx_blob *blob, int status, limit_reached *reached,
    void *of)
{
	static const char no_core[] = "no core file was written";
	static const struct {
		int signal, resource;
		uint16_t kind;
		const char *text;
	} ends[] = {
		{ SIGXFSZ, RLIMIT_FSIZE, SBX_LIMIT_FILE_SIZE,
		    "the command wrote more to a file and got SIGXFSZ" },
		{ SIGXCPU, RLIMIT_CPU, SBX_LIMIT_CPU_TIME,
		    "the command needed more and got SIGXCPU" },
		{ SIGSEGV, RLIMIT_CORE, SBX_LIMIT_CORE, no_core },
		{ SIGABRT, RLIMIT_CORE, SBX_LIMIT_CORE, no_core },
		{ SIGBUS, RLIMIT_CORE, SBX_LIMIT_CORE, no_core },
		{ SIGFPE, RLIMIT_CORE, SBX_LIMIT_CORE, no_core },
		{ SIGILL, RLIMIT_CORE, SBX_LIMIT_CORE, no_core },
		{ SIGTRAP, RLIMIT_CORE, SBX_LIMIT_CORE, no_core },
	};

	for (size_t i = 0; i < countof(ends); i++) {
		const struct sbx_limit *limit = limit_here(blob, ends[i].kind);
		bool core = ends[i].resource == RLIMIT_CORE;
		struct rlimit_pair own;

		/* Who gives no core files either has not missed one. */
		if (limit != NULL && ending_signal(status) == ends[i].signal &&
		    limit_process(ends[i].resource, NULL, &own) == 0 &&
		    (core ? limit->value < own.soft : limit->value <= own.soft))
			reached(of, limit->kind, ends[i].text);
	}
}

void
ending_limits(const struct sbx_blob *blob, int status, bool late,
    const struct cgroup_usage *usage, limit_reached *reached, void *of)
{
	struct out text;

	out_init(&text, -1);
	if (usage->killed > 0 && usage->killed != UINT64_MAX) {
		out_print(&text, "processes that the kernel killed for it: %lu",
		    usage->killed);
		reached(of, SBX_LIMIT_MEMORY, text.text);
	}
	out_init(&text, -1);
	if (usage->refused > 0 && usage->refused != UINT64_MAX) {
		out_print(&text, "processes that could not be started: %lu",
		    usage->refused);
		reached(of, SBX_LIMIT_PROCESSES, text.text);
	}
	if (late)
		reached(of, SBX_LIMIT_TIMEOUT, "the command is ended");
	else
		tell_of_signal(blob, status, reached, of);
}

static void
say_limit(void *of, uint16_t kind, const char *text)
{
	const struct sbx_blob *blob = of;

	limit_say(blob, kind, text);
}

void
ending_tell(const struct sbx_blob *blob, int status, bool late,
    const struct cgroup_usage *usage)
{
	if (stderr_takes_more())
		ending_limits(blob, status, late, usage, say_limit,
		    (void *)(uintptr_t)blob);
}

void
ending_say(const char *command, int status, const struct timespec *begin,
    const struct timespec *end)
{
	struct timespec time = {
		.tv_sec = end->tv_sec - begin->tv_sec,
		.tv_nsec = end->tv_nsec - begin->tv_nsec,
	};
	struct out out;

	if (time.tv_nsec < 0) {
		time.tv_sec--;
		time.tv_nsec += 1000000000;
	}
	if (!stderr_takes_more())
		return;
	out_init(&out, STDERR_FILENO);
	out_text(&out, "sbxrun: ");
	out_shown(&out, command, strlen(command));
	if (WIFEXITED(status))
		out_print(&out, ": ended with status %u",
		    (unsigned)WEXITSTATUS(status));
	else
		out_print(&out, ": ended by signal %u",
		    (unsigned)WTERMSIG(status));
	out_text(&out, ", after ");
	out_seconds(&out, time);
	out_text(&out, " s\n");
	out_flush(&out);
}
