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

enum { SOON = 100 }; /* milliseconds */

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

/* Ends what has the command's tag, in rounds, until a round finds nothing;
 * false if there was something to the end, or if process 1, `first`, has a
 * child whose tag cannot be seen. */
static bool
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

/* --- before the command ---------------------------------------------------- */

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

	while (
	    read(joining->watch.signals, &info, sizeof info) == sizeof info) {
		int number = (int)info.ssi_signo;

		if (number == SIGCHLD || info.ssi_code == SI_TIMER)
			continue;
		if (may_end(joining, number))
			joining->watch.unborn = number;
		kill(joining->watch.process, number);
		if (joining->watch.unborn != 0)
			kill(joining->watch.process, SIGCONT);
	}
}

/* Others in the session may stop that process again and again. */
bool
join_hear(struct joining *joining, int fd)
{
	const struct supervision *supervision = &joining->supervision;
	struct pollfd wait[] = {
		{ .fd = fd, .events = POLLIN },
		{ .fd = joining->watch.signals, .events = POLLIN },
	};
	struct term term = term_begin(supervision->begin, supervision->timeout,
	    supervision->grace);
	struct timespec now;
	int ready, left;

	do {
		clock_now(&now);
		left = term_left(&term, &now);
		if (joining->watch.unborn != 0 && (left < 0 || left > SOON))
			left = SOON;
		ready = poll(wait, 2, left);
		if (ready > 0 && wait[0].revents != 0)
			return true;
		if (ready > 0)
			forward_to_unborn(joining);
	} while (ready > 0 || (ready < 0 && errno == EINTR));
	if (joining->watch.unborn != 0)
		kill(joining->watch.process, SIGKILL);
	return false;
}

/* --- the end -------------------------------------------------------------- */

static void
end_late(struct joining *joining)
{
	struct watch *watch = &joining->watch;

	if (!watch->term.late)
		return;
	/* Its program may be one that cannot be read, so that it has no mark. */
	if (!watch->ended)
		kill(watch->process, SIGKILL);
	if (!join_end_all(joining->tag, joining->offer.reply.first))
		warn_about("timeout",
		    "not all that the command started could be ended; sbxrun "
		    "--session NAME --end ends the session",
		    0);
	while (!watch->ended &&
	    waitpid(watch->process, &watch->status, 0) < 0 && errno == EINTR)
		;
	watch->ended = true;
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
is_needed(const struct supervision *supervision)
{
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
leave_helper(struct joining *joining)
{
	struct supervision *supervision = &joining->supervision;
	struct relay *relay = &supervision->relay;
	struct listening *listening = &supervision->listening;
	bool writes = is_written_to(relay);
	const int kept[] = { writes ? STDOUT_FILENO : -1,
		writes ? STDERR_FILENO : -1,
		writes ? relay->streams[0].from : -1,
		writes ? relay->streams[1].from : -1, joining->watch.signals,
		listening->on ? listening->listener : -1,
		listening->answers ? supervision->servers.diagnosis : -1 };

	if (!is_needed(supervision) || joining->watch.term.late)
		return;
	if (fork() != 0)
		return;
	descriptors_keep(kept, countof(kept));
	setsid();
	/* Nobody is told any more, nor of a second end. */
	relay->ends = false;
	joining->explaining.live = false;
	while (is_needed(supervision)) {
		watch_once(&joining->watch, -1);
		if (!writes || is_written_to(relay))
			continue;
		close(STDOUT_FILENO);
		close(STDERR_FILENO);
		writes = false;
	}
	_exit(0);
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

/* What a command leaves behind goes on when nobody looks any more. */
static bool
something_stays(const struct joining *joining)
{
	char byte;

	return pread(joining->offer.descriptors[OFFER_CHILDREN], &byte, 1, 0) !=
	    0;
}

void
join_attend(struct joining *joining)
{
	static const struct cgroup_usage unknown = { UINT64_MAX, UINT64_MAX,
		UINT64_MAX };
	struct supervision *supervision = &joining->supervision;
	struct watch *watch = &joining->watch;

	if (supervision->tripwire != NULL)
		tripwire_keep(supervision->tripwire);
	supervise_keep(supervision);
	watch->started = has_started(joining);
	if (supervision->listening.on)
		advice_open(&joining->explaining);
	watch_begin(watch);
	/* At the other end of the caller's pipe only the command counts. */
	if (joining->own_input < 0)
		close(STDIN_FILENO);
	watch_command(watch);
	end_late(joining);
	terminal_take_back(terminal_open());
	out_mistrust_terminal();
	give_back_position(joining);
	watch_drain(watch);
	clock_now(&watch->end);
	decided_ask(joining);
	if (supervision->tripwire != NULL && something_stays(joining))
		tripwire_leave(supervision->tripwire);
	watch_tell(watch, &unknown);
	if (watch->term.late)
		_exit(EXIT_TIMEOUT);
	leave_helper(joining);
	ending_repeat(watch->status);
}
