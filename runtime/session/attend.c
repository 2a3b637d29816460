/* While the command of a session runs: see join.c. */
#include "runtime/session/session.h"

#include "format/text.h"
#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/options.h"
#include "runtime/base/out.h"
#include "runtime/explain/explain.h"
#include "runtime/session/offer.h"
#include "runtime/watch/receipt.h"
#include "runtime/watch/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

enum {
	WAKE_FIXED = 2, /* signals, and the listener */
	SOON = 100,     /* milliseconds */
};

struct attendance {
	struct joining *joining;
	struct term term;
	bool ended; /* the command has; then: */
	int status;
};

/* --- the end of all that the command has started -------------------------- */

/* A directory of /proc is as good as a pidfd: what was looked at is what gets
 * the signal. */
static bool
signal_tagged(int proc, const char *process, uint64_t tag, int number)
{
	int fd = openat(proc, process, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool tagged = fd >= 0 && tag_of(fd, "ns/uts") == tag;

	if (tagged)
		syscall(SYS_pidfd_send_signal, fd, number, NULL, 0);
	if (fd >= 0)
		close(fd);
	return tagged;
}

/* One round over all processes; how many have the tag. */
static uint32_t
signal_all(int proc, uint64_t tag, int number)
{
	struct directory directory;
	const struct entry *entry;
	uint64_t process;
	uint32_t found = 0;

	lseek(proc, 0, SEEK_SET);
	directory_begin(&directory, proc);
	while ((entry = directory_next(&directory)) != NULL) {
		const char *end = entry->name + strlen(entry->name);

		if (sbx_decimal_read(entry->name, end, &process) != end ||
		    process == (uint64_t)getpid())
			continue;
		found += signal_tagged(proc, entry->name, tag, number);
	}
	return found;
}

/*
 * Whether a process was left by a command that has ended, and cannot be told
 * from others: an ordinary user may not look into a program that may be
 * executed and not read.
 */
static bool
is_unknown(int proc, const char *process, uint64_t first)
{
	static const char field[] = "\nPPid:\t";
	char text[2048];
	const char *at;
	uint64_t parent = 0;
	int fd = openat(proc, process, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool readable = fd >= 0 && file_read(fd, "status", text, sizeof text);

	at = readable ? strstr(text, field) : NULL;
	if (at != NULL)
		sbx_decimal_read(at + strlen(field), text + strlen(text),
		    &parent);
	readable = parent != first || strstr(text, "\nState:\tZ") != NULL ||
	    tag_of(fd, "ns/uts") != 0;
	if (fd >= 0)
		close(fd);
	return !readable;
}

static bool
some_unknown(int proc, uint64_t first)
{
	struct directory directory;
	const struct entry *entry;
	bool found = false;

	lseek(proc, 0, SEEK_SET);
	directory_begin(&directory, proc);
	while (!found && (entry = directory_next(&directory)) != NULL)
		found = is_unknown(proc, entry->name, first);
	return found;
}

bool
join_end_all(uint64_t tag, pid_t first)
{
	enum { ROUNDS = 1000 };
	bool all;
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint32_t found = 1;

	if (proc < 0)
		return false;
	/* What is stopped starts nothing new. */
	signal_all(proc, tag, SIGSTOP);
	for (int round = 0; round < ROUNDS && found > 0; round++) {
		if (round > 0)
			poll(NULL, 0, round < 20 ? 1 : 10);
		found = signal_all(proc, tag, SIGKILL);
	}
	all = found == 0 && !some_unknown(proc, (uint64_t)first);
	close(proc);
	return all;
}

/* --- signals -------------------------------------------------------------- */

/* A command that leads a group has what it started in there. */
static pid_t
target(const struct joining *joining)
{
	return joining->grouped ? -joining->command : joining->command;
}

static void
forward(struct attendance *attendance)
{
	struct joining *joining = attendance->joining;
	struct signalfd_siginfo info;

	while (read(joining->signals, &info, sizeof info) == sizeof info) {
		joining->continued |= info.ssi_signo == SIGCONT;
		joining->leave |= signal_ends((int)info.ssi_signo);
		if (info.ssi_signo != SIGCHLD && !attendance->ended &&
		    info.ssi_code != SI_TIMER &&
		    (joining->grouped || signal_is_for_us_alone(&info)))
			kill(target(joining), (int)info.ssi_signo);
		if (!signal_ends((int)info.ssi_signo))
			continue;
		/* Others in the session may have stopped it. */
		if (!attendance->ended)
			kill(target(joining), SIGCONT);
		if (joining->supervision.tripwire != NULL)
			tripwire_tell_early(joining->supervision.tripwire);
	}
}

/* Whether the command's process dies of it, before it is the command. */
static bool
may_end(const struct joining *joining, int number)
{
	struct sigaction action;

	return signal_ends(number) && sigaction(number, NULL, &action) == 0 &&
	    action.sa_handler == SIG_DFL &&
	    sigismember(&joining->former.mask, number) == 0;
}

/* It may not lead its group yet. */
static void
forward_to_unborn(struct joining *joining)
{
	struct signalfd_siginfo info;

	while (read(joining->signals, &info, sizeof info) == sizeof info) {
		int number = (int)info.ssi_signo;

		if (number == SIGCHLD || info.ssi_code == SI_TIMER)
			continue;
		if (may_end(joining, number))
			joining->asked = number;
		kill(joining->command, number);
		if (joining->asked != 0)
			kill(joining->command, SIGCONT);
	}
}

/* Others in the session may stop that process again and again. */
bool
join_hear(struct joining *joining, int fd)
{
	const struct supervision *supervision = &joining->supervision;
	struct pollfd wait[] = {
		{ .fd = fd, .events = POLLIN },
		{ .fd = joining->signals, .events = POLLIN },
	};
	struct term term = term_begin(supervision->begin, supervision->timeout,
	    supervision->grace);
	struct timespec now;
	int ready, left;

	do {
		clock_now(&now);
		left = term_left(&term, &now);
		if (joining->asked != 0 && (left < 0 || left > SOON))
			left = SOON;
		ready = poll(wait, 2, left);
		if (ready > 0 && wait[0].revents != 0)
			return true;
		if (ready > 0)
			forward_to_unborn(joining);
	} while (ready > 0 || (ready < 0 && errno == EINTR));
	if (joining->asked != 0)
		kill(joining->command, SIGKILL);
	return false;
}

/* --- the command ---------------------------------------------------------- */

/*
 * The command has stopped.  At a terminal that was mostly the job as a whole:
 * then this process stops, too.  A SIGCONT that came meanwhile is for both.
 * Elsewhere another command of the session may have stopped this one, and may
 * let it go on; nobody would tell this process.
 */
static void
stop(struct attendance *attendance)
{
	attendance->joining->continued = false;
	forward(attendance);
	if (attendance->joining->continued || attendance->term.late)
		kill(target(attendance->joining), SIGCONT);
	else if (!attendance->joining->grouped)
		raise(SIGSTOP);
}

static void
reap(struct attendance *attendance)
{
	pid_t command = attendance->joining->command;
	int asked = attendance->joining->asked, status;

	while (!attendance->ended &&
	    waitpid(command, &status, WNOHANG | WUNTRACED) == command) {
		if (WIFSTOPPED(status)) {
			stop(attendance);
			continue;
		}
		attendance->ended = true;
		attendance->status = asked != 0 && WIFSIGNALED(status) ? asked :
									 status;
	}
}

static void
check_time(struct attendance *attendance)
{
	struct timespec now;

	clock_now(&now);
	if (!term_check(&attendance->term, &now))
		return;
	kill(attendance->joining->command, SIGTERM);
	kill(attendance->joining->command, SIGCONT);
}

static void
wait_once(struct attendance *attendance, int milliseconds)
{
	struct relay *relay = &attendance->joining->supervision.relay;
	struct listening *listening =
	    &attendance->joining->supervision.listening;
	int patience = listen_patience(listening);
	struct pollfd wait[WAKE_FIXED + RELAY_STREAMS] = {
		{ .fd = attendance->joining->signals, .events = POLLIN },
		listen_wait(listening),
	};

	relay_wait(relay, wait + WAKE_FIXED);
	if (milliseconds < 0 || (patience >= 0 && patience < milliseconds))
		milliseconds = patience;
	if (poll(wait, WAKE_FIXED + RELAY_STREAMS, milliseconds) < 0)
		return;
	forward(attendance);
	listen_serve(listening, &wait[1]);
	relay_move(relay, wait + WAKE_FIXED);
}

static void
wait_for_end(struct attendance *attendance)
{
	struct timespec now;

	for (;;) {
		reap(attendance);
		if (attendance->ended)
			return;
		check_time(attendance);
		if (attendance->term.over)
			return;
		clock_now(&now);
		wait_once(attendance, term_left(&attendance->term, &now));
	}
}

/* --- the end -------------------------------------------------------------- */

/* Passes on what was written before the end; what the command left behind may
 * go on to write, and is not waited for. */
static void
drain(struct attendance *attendance)
{
	struct relay *relay = &attendance->joining->supervision.relay;

	relay_end(relay);
	attendance->joining->leave = false;
	for (int rounds = 0; !relay_is_empty(relay) &&
	     !attendance->joining->leave && rounds < 100;
	     rounds++)
		wait_once(attendance, 10);
	relay_tell(relay);
}

static void
end_late(struct attendance *attendance)
{
	struct joining *joining = attendance->joining;

	if (!attendance->term.late)
		return;
	/* Its program may be one that cannot be read, so that it has no mark. */
	if (!attendance->ended)
		kill(joining->command, SIGKILL);
	if (!join_end_all(joining->tag, joining->offer.reply.first))
		warn_about("timeout",
		    "not all that the command started could be ended; sbxrun "
		    "--session NAME --end ends the session",
		    0);
	while (!attendance->ended &&
	    waitpid(joining->command, &attendance->status, 0) < 0 &&
	    errno == EINTR)
		;
	attendance->ended = true;
	/* Another job may have the terminal by now. */
	signal(SIGTTOU, SIG_IGN);
}

static void
give_back_position(const struct joining *joining)
{
	off_t position;

	if (joining->own_input < 0)
		return;
	position = lseek(STDIN_FILENO, 0, SEEK_CUR);
	if (position >= 0)
		lseek(joining->own_input, position, SEEK_SET);
}

static bool
is_written_to(const struct relay *relay)
{
	for (int i = 0; i < RELAY_STREAMS; i++) {
		if (relay->streams[i].open)
			return true;
	}
	return false;
}

static bool
is_needed(const struct attendance *attendance)
{
	const struct supervision *supervision =
	    &attendance->joining->supervision;

	return is_written_to(&supervision->relay) ||
	    (supervision->listening.on && supervision->listening.listener >= 0);
}

/*
 * What the command left behind may go on to write to its streams, and without a
 * reader of the pipes it would get SIGPIPE.  So somebody stays to pass that on,
 * as long as there is a writer; the caller's streams stay open as long, as they
 * would without sbxrun.  It is the same with the calls of a command that is
 * explained.
 */
static void
leave_helper(struct attendance *attendance)
{
	struct supervision *supervision = &attendance->joining->supervision;
	struct relay *relay = &supervision->relay;
	struct listening *listening = &supervision->listening;
	bool writes = is_written_to(relay);
	const int kept[] = { writes ? STDOUT_FILENO : -1,
		writes ? STDERR_FILENO : -1,
		writes ? relay->streams[0].from : -1,
		writes ? relay->streams[1].from : -1,
		attendance->joining->signals,
		listening->on ? listening->listener : -1,
		listening->answers ? supervision->servers.diagnosis : -1 };

	if (!is_needed(attendance) || attendance->term.late)
		return;
	if (fork() != 0)
		return;
	descriptors_keep(kept, sizeof kept / sizeof *kept);
	setsid();
	/* Nobody is told any more, nor of a second end. */
	relay->ends = false;
	attendance->joining->explaining.live = false;
	while (is_needed(attendance)) {
		wait_once(attendance, -1);
		if (!writes || is_written_to(relay))
			continue;
		close(STDOUT_FILENO);
		close(STDERR_FILENO);
		writes = false;
	}
	_exit(0);
}

static void
tell_denials(const struct attendance *attendance, bool started)
{
	const struct supervision *supervision =
	    &attendance->joining->supervision;
	struct telling telling = {
		.explaining = supervision->listening.explaining,
		.sinks = {
		    started ? supervision->receipt : NULL,
		    supervision->report,
		},
		.all = supervision->explain_all,
		.agent = supervision->explain_agent,
		.failed = attendance->status != 0 || attendance->term.late,
	};

	if (telling.explaining != NULL)
		explained_tell(&telling);
}

static void
tell_network(const struct attendance *attendance, bool started)
{
	struct supervision *supervision = &attendance->joining->supervision;
	const struct decisions *decisions = &supervision->network.decisions;

	decided_ask(attendance->joining);
	decisions_tell(decisions);
	if (supervision->receipt != NULL && started)
		receipt_network(supervision->receipt, supervision->blob,
		    decisions);
}

static void
finish(struct attendance *attendance, bool started)
{
	struct supervision *supervision = &attendance->joining->supervision;
	struct cgroup_usage usage = { UINT64_MAX, UINT64_MAX, UINT64_MAX };
	struct ending end = {
		.usage = &usage,
		.status = attendance->status,
		.late = attendance->term.late,
		.begin = supervision->begin,
		.relay = &supervision->relay,
		.explaining = supervision->listening.explaining,
		.why_untraced = supervision->why_untraced,
	};

	clock_now(&end.end);
	if (supervision->tripwire != NULL)
		tripwire_tell(supervision->tripwire,
		    started ? supervision->receipt : NULL);
	tell_denials(attendance, started);
	tell_network(attendance, started);
	if (supervision->report != NULL)
		receipt_finish(supervision->report, &end);
	if (supervision->receipt != NULL && started)
		receipt_finish(supervision->receipt, &end);
	ending_tell(supervision->blob, attendance->status,
	    attendance->term.late, &usage);
}

/* Whether the command was restricted: then the receipt has its first record. */
static bool
has_started(struct joining *joining)
{
	const struct supervision *supervision = &joining->supervision;
	char byte;

	if (supervision->receipt == NULL)
		return false;
	close(supervision->started_write);
	if (!join_hear(joining, supervision->started_read) ||
	    read(supervision->started_read, &byte, 1) != 1)
		return false;
	if (!receipt_send(supervision->receipt))
		refuse("receipt", "cannot write it", errno);
	return true;
}

void
join_attend(struct joining *joining)
{
	struct supervision *supervision = &joining->supervision;
	struct attendance attendance = { .joining = joining };
	bool started;

	if (supervision->tripwire != NULL)
		tripwire_keep(supervision->tripwire);
	started = has_started(joining);
	attendance.term = term_begin(supervision->begin, supervision->timeout,
	    supervision->grace);
	if (supervision->timeout > 0)
		ending_continue_at(&attendance.term.deadline);
	relay_close_command(&supervision->relay);
	if (supervision->listening.on) {
		advice_open(&joining->explaining);
		listen_begin(&supervision->listening);
	}
	/* At the other ends of the caller's pipes only the command counts. */
	if (joining->own_input < 0)
		close(STDIN_FILENO);
	if (!relay_has(&supervision->relay, STDOUT_FILENO))
		close(STDOUT_FILENO);
	wait_for_end(&attendance);
	end_late(&attendance);
	terminal_take_back(terminal_open());
	out_mistrust_terminal();
	give_back_position(joining);
	drain(&attendance);
	finish(&attendance, started);
	if (attendance.term.late)
		_exit(EXIT_TIMEOUT);
	leave_helper(&attendance);
	ending_repeat(attendance.status);
}
