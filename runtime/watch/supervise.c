/*
 * A supervised command has two processes of sbxrun above it: the supervisor,
 * which is the process that was started as sbxrun, and the first process of the
 * sandbox, which ends everything that the command has started.
 *
 *	sbxrun --fork--> the first --fork--> confine, exec the command
 *	   ^  status, stops  |  ^  status, stops  |
 *	   +-----------------+  +-----------------+
 *	   ^  standard output and error           |
 *	   +--------------------------------------+
 *
 * At level full the first is process 1 of the new namespaces, and the kernel
 * kills everything inside when it ends.  Below, it is a subreaper: it becomes
 * the parent of what the command's children leave behind, and kills that.
 *
 * The first leads a process group, in which the command starts.  So whoever
 * kills the group of sbxrun kills the supervisor alone, and the first then ends
 * the rest; what is sent to that group reaches the command once, through both;
 * and kill(0, ...) of the command stays inside.  Of a terminal, the group of the
 * command is the foreground group while that of sbxrun would be it, and the first
 * says which keys it saw, for the others of sbxrun's group.
 *
 * At a terminal it looks as if the command had been started directly: it gets
 * the signals that are sent to sbxrun, and those of the terminal; the job stops
 * and continues as one; and sbxrun ends as the command ends, by a signal too.
 *
 * The command can stop the supervisor where it has the terminal, by stopping the
 * job or by reading from a terminal that it has given away; elsewhere a stop is
 * its own.  Therefore both processes check the time.  Nothing inside can stop the
 * first one, which can end the command alone, and a timer continues the
 * supervisor.
 *
 * If the command has a control group, the first process makes it and the
 * supervisor, which outlives everything inside, removes it.  If the supervisor
 * is killed, the first one removes it, so it must not die at the same time.
 */
#include "runtime/watch/supervise.h"

#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/options.h"
#include "runtime/base/out.h"
#include "runtime/watch/receipt.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum {
	GRACE = 2,             /* seconds */
	TIMER_NEAR = 200,      /* milliseconds */
	WAKE_FIXED = 3,        /* descriptors that are always waited for */
	TIMEOUT_MAX = INT_MAX, /* seconds: 68 years, without overflow */
};

void
supervise_limits(struct supervision *supervision, const struct sbx_blob *blob)
{
	const struct sbx_limit *limit;

	cgroup_init(&supervision->group);
	supervision->blob = blob;
	supervision->listening.refused = supervision->refused;
	supervision->grace = GRACE;
	limit = limit_here(blob, SBX_LIMIT_TIMEOUT);
	if (limit != NULL)
		supervision->timeout = limit->value < TIMEOUT_MAX ?
		    limit->value :
		    TIMEOUT_MAX;
	limit = limit_here(blob, SBX_LIMIT_OUTPUT);
	if (limit != NULL)
		supervision->output = limit->value;
}

void
supervise_tells(struct supervision *supervision, const struct options *options,
    struct receipt *receipt, struct receipt *report)
{
	supervision->command = options->command;
	supervision->receipt = receipt->on ? receipt : NULL;
	supervision->log = receipt->log.on ? receipt : NULL;
	supervision->report = report->on ? report : NULL;
	supervision->verbose = options->verbose;
	supervision->explains = options->explain;
	supervision->explain_all = options->explain_all;
	supervision->explain_agent = options->explain_agent;
	supervision->explain_quiet = options->explain_quiet;
}

static void
open_pipe(int *reader, int *writer, int flags)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | flags) != 0)
		refuse(NULL, "cannot make a pipe", errno);
	*reader = above_standard(ends[0]);
	*writer = above_standard(ends[1]);
}

void
supervise_open_started(struct supervision *supervision)
{
	if (supervision->receipt != NULL)
		open_pipe(&supervision->started_read,
		    &supervision->started_write, 0);
}

void
supervise_open(struct supervision *supervision)
{
	/* The command can run, and be seen to, before this process watches: what
	 * is sent to it meanwhile is not to end it. */
	signals_block(&supervision->former, WITH_STOPS);
	/* Not blocking, since the process at the other end may be stopped. */
	open_pipe(&supervision->read, &supervision->write, O_NONBLOCK);
	supervision->terminal = terminal_open();
	supervision->handed_on = terminal_is_handed_on(supervision->terminal);
	supervise_open_started(supervision);
	relay_open(&supervision->relay, supervision->blob, supervision->output);
}

void
supervise_close(struct supervision *supervision)
{
	close(supervision->read);
	close(supervision->write);
	if (supervision->terminal >= 0)
		close(supervision->terminal);
	listen_forget(&supervision->listening);
	relay_close_command(&supervision->relay);
	relay_close_supervisor(&supervision->relay);
	signals_restore(&supervision->former);
}

/* --- signals and the terminal --------------------------------------------- */

/* The command's group may have the terminal, if it is this job's to give. */
static bool
hand_on(struct watch *watch)
{
	if (!terminal_is_ours(watch->supervision->terminal))
		return false;
	watch->held = watch->wants = true;
	kill(watch->process, SIGTTIN);
	return true;
}

/*
 * Another process of this job, such as a pager that shows what the command
 * prints, reads from the terminal.  It gets it, and is continued; if the command
 * reads as well, it is asked for again.
 */
static bool
take_back(struct watch *watch)
{
	if (!watch->held)
		return false;
	terminal_take(watch->supervision->terminal);
	watch->held = watch->wants = false;
	kill(0, SIGCONT);
	return true;
}

static void
go_on(struct watch *watch)
{
	clock_now(&watch->continued);
	watch->asked = false;
	if (!watch->ended && (!watch->wants || !hand_on(watch)))
		kill(watch->process, SIGCONT);
}

static void
tell_early(const struct watch *watch)
{
	if (watch->supervision->tripwire != NULL)
		tripwire_tell_early(watch->supervision->tripwire);
}

static void
forward_one(struct watch *watch, int number)
{
	bool stops = number == SIGTTIN || number == SIGTTOU;

	watch->leave |= signal_ends(number);
	if (number == SIGCHLD || (stops && take_back(watch)))
		return;
	if (number == SIGCONT) {
		go_on(watch);
		return;
	}
	watch->asked |= stops || number == SIGTSTP;
	if (!watch->ended)
		kill(watch->process, stops ? SIGTSTP : number);
	if (signal_ends(number))
		tell_early(watch);
}

/* A command of a session that leads a group has what it started in there. */
static pid_t
joined_target(const struct watch *watch)
{
	return watch->grouped ? -watch->process : watch->process;
}

static void
forward_joined(struct watch *watch, const struct signalfd_siginfo *info)
{
	int number = (int)info->ssi_signo;

	watch->went_on |= number == SIGCONT;
	watch->leave |= signal_ends(number);
	if (number != SIGCHLD && !watch->ended && info->ssi_code != SI_TIMER &&
	    (watch->grouped || signal_is_for_us_alone(info)))
		kill(joined_target(watch), number);
	if (!signal_ends(number))
		return;
	/* Others in the session may have stopped it. */
	if (!watch->ended)
		kill(joined_target(watch), SIGCONT);
	tell_early(watch);
}

static void
forward(struct watch *watch)
{
	struct signalfd_siginfo info;

	while (read(watch->signals, &info, sizeof info) == sizeof info) {
		if (watch->joined)
			forward_joined(watch, &info);
		else if (info.ssi_code == SI_TIMER)
			clock_now(&watch->continued);
		else if (info.ssi_code != SI_USER ||
		    (pid_t)info.ssi_pid != getpid())
			forward_one(watch, (int)info.ssi_signo);
	}
}

/* A key was pressed while the command's group had the terminal: it is meant for
 * the others of this job, too, a script that goes on otherwise, say. */
static void
pass_key(struct watch *watch, int number)
{
	watch->leave |= signal_ends(number);
	if (watch->held)
		kill(0, number);
}

/* --- stops ---------------------------------------------------------------- */

/* Stops this process, or all of its group; returns when it goes on, or at once,
 * since nobody continues a group whose parents are gone: the kernel does not stop
 * it. */
static void
stop_with(bool all, int number)
{
	sigset_t set, former;

	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, &former);
	if (all)
		kill(0, number);
	else
		raise(number);
	sigprocmask(SIG_SETMASK, &former, NULL);
}

/*
 * SIGSTOP removes a pending SIGCONT, and a timer whose signal was removed does
 * not expire again.  So do not stop shortly before the deadline's timer
 * expires.
 */
static bool
may_stop(const struct watch *watch)
{
	struct timespec now;
	int left;

	clock_now(&now);
	left = term_left(&watch->term, &now);
	return !watch->term.late && (left < 0 || left > TIMER_NEAR);
}

/*
 * The command has stopped by this signal.  That concerns this job if it had the
 * terminal, or was asked to stop, or wants to read from a terminal that another
 * job has.  Any other stop is the command's own: it must not keep this process
 * from what it is told to do.
 */
static void
stop(struct watch *watch, int number)
{
	struct timespec before;
	bool reads = number == SIGTTIN || number == SIGTTOU;

	if (watch->supervision->terminal < 0 && !watch->asked)
		return;
	if (reads && hand_on(watch))
		return;
	watch->wants |= reads;
	if (!(watch->held || watch->asked || reads) || !may_stop(watch))
		return;
	clock_now(&before);
	stop_with((watch->held || reads) && number != SIGSTOP,
	    reads ? number : SIGTSTP);
	watch->held = false;
	forward(watch);
	if (time_is_before(before, watch->continued) || number == SIGSTOP)
		return;
	/* This job cannot be stopped, so nor can the command: the kernel does the
	 * same with a group that nobody can continue. */
	if (reads)
		kill(watch->process, SIGHUP);
	go_on(watch);
}

static void
reap_joined(struct watch *watch)
{
	int status;

	while (!watch->ended &&
	    waitpid(watch->process, &status, WNOHANG | WUNTRACED) ==
		watch->process) {
		if (WIFSTOPPED(status)) {
			/*
			 * The command of a session has stopped.  At a
			 * terminal that was mostly the job as a whole: then
			 * this process stops, too.  A SIGCONT that came
			 * meanwhile is for both.  Elsewhere another command of
			 * the session may have stopped this one, and may let it
			 * go on; nobody would tell this process.
			 */
			watch->went_on = false;
			forward(watch);
			if (watch->went_on || watch->term.late)
				kill(joined_target(watch), SIGCONT);
			else if (!watch->grouped)
				raise(SIGSTOP);
			continue;
		}
		watch->ended = true;
		watch->status = watch->unborn != 0 && WIFSIGNALED(status) ?
		    watch->unborn :
		    status;
	}
}

/*
 * The command has ended or stopped.  When this job stops, this process stops
 * too, and reads the message when the job goes on.  The stop may be older than
 * the SIGCONT: drain the signals first.  It may also be newer, since a SIGCONT
 * counts from when it is read: then the command must not stay stopped, and if the
 * stop is older, another SIGCONT does no harm.
 */
static void
receive(struct watch *watch)
{
	struct message message;

	while (read(watch->supervision->read, &message, sizeof message) ==
	    sizeof message) {
		watch->started |= message.started;
		watch->term.late |= message.late;
		if (message.key != 0) {
			pass_key(watch, message.key);
			continue;
		}
		/* Who reads on, after us, goes on where the command ended. */
		if (message.input >= 0)
			lseek(STDIN_FILENO, message.input, SEEK_SET);
		if (!WIFSTOPPED(message.status)) {
			watch->ended = true;
			watch->status = message.status;
			return;
		}
		forward(watch);
		if (time_is_before(watch->continued, message.at))
			stop(watch, WSTOPSIG(message.status));
		else
			go_on(watch);
	}
}

/* A first process does the same. */
static void
check_time(struct watch *watch, const struct timespec *now)
{
	if (!term_check(&watch->term, now))
		return;
	kill(watch->process, SIGTERM);
	kill(watch->process, SIGCONT);
}

bool
watch_once(struct watch *watch, int milliseconds)
{
	struct supervision *supervision = watch->supervision;
	struct pollfd wait[WAKE_FIXED + NETWORK_WAKES + RELAY_STREAMS] = {
		{ .fd = watch->signals, .events = POLLIN },
		/* After the end the pipe is closed and would wake us. */
		{ .fd = watch->ended || watch->joined ? -1 : supervision->read,
		    .events = POLLIN },
		listen_wait(&supervision->listening),
	};
	struct pollfd *network = wait + WAKE_FIXED,
		      *relay = network + NETWORK_WAKES;
	int patience = listen_patience(&supervision->listening);

	network_wait(&supervision->network, network);
	relay_wait(&supervision->relay, relay);
	if (milliseconds < 0 || (patience >= 0 && patience < milliseconds))
		milliseconds = patience;
	if (poll(wait, countof(wait), milliseconds) < 0 && errno != EINTR)
		return false;
	/* Signals first: they say when the job was continued. */
	if (wait[0].revents != 0)
		forward(watch);
	if (!watch->ended && wait[1].revents != 0)
		receive(watch);
	listen_serve(&supervision->listening, &wait[2]);
	network_serve(&supervision->network, network);
	relay_move(&supervision->relay, relay);
	return (wait[1].revents & POLLHUP) == 0;
}

void
watch_begin(struct watch *watch)
{
	struct supervision *supervision = watch->supervision;

	watch->term = term_begin(supervision->begin, supervision->timeout,
	    supervision->grace);
	if (supervision->timeout > 0)
		ending_continue_at(&watch->term.deadline);
	relay_close_command(&supervision->relay);
	listen_begin(&supervision->listening);
	/* At the other end of the caller's pipe only the command counts. */
	if (!relay_has(&supervision->relay, STDOUT_FILENO))
		close(STDOUT_FILENO);
}

void
watch_command(struct watch *watch)
{
	struct timespec now;

	for (;;) {
		if (watch->joined)
			reap_joined(watch);
		if (watch->ended)
			return;
		clock_now(&now);
		check_time(watch, &now);
		if (watch->term.over)
			break;
		if (!watch_once(watch, term_left(&watch->term, &now)) &&
		    !watch->joined)
			break;
	}
	if (!watch->joined)
		receive(watch);
}

/* Ends everything inside; after that nothing is written any more. */
static void
end_tree(struct watch *watch)
{
	struct supervision *supervision = watch->supervision;
	int status;

	clock_now(&watch->end);
	close(supervision->read);
	/* Below level full the closed pipe makes it end, if it is running. */
	kill(watch->process, supervision->namespaces ? SIGKILL : SIGCONT);
	while (waitpid(watch->process, &status, 0) < 0 && errno == EINTR)
		;
	if (!watch->ended)
		watch->status = status;
	watch->ended = true;
}

void
watch_drain(struct watch *watch)
{
	struct relay *relay = &watch->supervision->relay;
	bool briefly = watch->term.late || watch->joined;

	relay_end(relay);
	watch->leave = false;
	for (int rounds = 0; !relay_is_empty(relay) && !watch->leave;
	     rounds++) {
		if (briefly && rounds == 100)
			break;
		if (!watch_once(watch, briefly ? 10 : -1))
			break;
	}
	relay_tell(relay);
}

/* Whether the receipt has its first record: without it there is no other.  A
 * command that had to be killed had started. */
static bool
has_begun(const struct watch *watch)
{
	return watch->started || (watch->term.over && !watch->joined);
}

static void
tell_network(const struct watch *watch)
{
	struct supervision *supervision = watch->supervision;
	const struct decisions *decisions = &supervision->network.decisions;

	/* With --explain it is in that block, but where other commands may have
	 * asked for it. */
	if (!supervision->explains || watch->joined ||
	    supervision->listening.explaining == NULL)
		decisions_tell(decisions);
	if (supervision->receipt != NULL && has_begun(watch))
		receipt_network(supervision->receipt, supervision->blob,
		    decisions);
}

static void
finish_receipt(const struct watch *watch, const struct cgroup_usage *usage)
{
	struct supervision *supervision = watch->supervision;
	struct ending end = {
		.usage = usage,
		.status = watch->status,
		.late = watch->term.late,
		.begin = supervision->begin,
		.end = watch->end,
		.relay = &supervision->relay,
		.explaining = supervision->listening.explaining,
		.why_untraced = supervision->why_untraced,
		.blob = supervision->blob,
		.decisions = &supervision->network.decisions,
		.refused = supervision->refused,
		.begun = supervision->receipt != NULL && has_begun(watch),
	};

	if (supervision->log != NULL || end.begun)
		receipt_finish(supervision->log != NULL ? supervision->log :
							  supervision->receipt,
		    &end);
	end.begun = true;
	if (supervision->report != NULL)
		receipt_finish(supervision->report, &end);
}

void
supervise_finish_kept(const struct supervision *supervision)
{
	static const struct cgroup_usage unknown = { UINT64_MAX, UINT64_MAX,
		UINT64_MAX };
	struct ending end = {
		.usage = &unknown,
		.begin = supervision->begin,
		.relay = &supervision->relay,
		.blob = supervision->blob,
		.decisions = &supervision->network.decisions,
		.refused = supervision->refused,
	};

	clock_now(&end.end);
	if (supervision->log != NULL)
		receipt_finish(supervision->log, &end);
}

static void
tell_denials(const struct watch *watch)
{
	const struct supervision *supervision = watch->supervision;
	struct telling telling = {
		.explaining = supervision->listening.explaining,
		.sinks = {
		    has_begun(watch) ? supervision->receipt : NULL,
		    supervision->report,
		},
		.all = supervision->explain_all,
		.agent = supervision->explain_agent,
		.quiet = supervision->explain_quiet,
		.failed = explained_failed(watch->status,
		    watch->term.late),
	};

	if (!supervision->explains || telling.explaining == NULL)
		return;
	if (!watch->joined)
		explain_network(supervision->listening.explaining,
		    &supervision->network.decisions);
	/* A signal is told of elsewhere. */
	if (telling.failed && ending_signal(watch->status) != SIGXFSZ)
		explain_sizes(supervision->listening.explaining);
	explained_tell(&telling);
}

static void
write_learned(const struct watch *watch)
{
	const struct supervision *supervision = watch->supervision;
	const struct learned learned = {
		.explaining = supervision->listening.explaining,
		.decisions = &supervision->network.decisions,
		.command = supervision->command,
		.status = watch->status,
		.late = watch->term.late,
	};

	if (supervision->learned != NULL)
		learned_write(supervision->learned, &learned);
}

void
watch_tell(const struct watch *watch, const struct cgroup_usage *usage)
{
	struct supervision *supervision = watch->supervision;

	if (supervision->tripwire != NULL)
		tripwire_tell(supervision->tripwire,
		    has_begun(watch) ? supervision->receipt : NULL,
		    supervision->log);
	tell_denials(watch);
	write_learned(watch);
	tell_network(watch);
	finish_receipt(watch, usage);
	ending_tell(supervision->blob, watch->status, watch->term.late, usage);
	if (supervision->stage != NULL)
		stage_tell(supervision->stage,
		    WIFEXITED(watch->status) &&
			WEXITSTATUS(watch->status) == EXIT_REFUSED);
	if (watch->joined)
		return;
	if (supervision->verbose && supervision->command != NULL)
		ending_say(supervision->command[0], watch->status,
		    &supervision->begin, &watch->end);
	hint_tell(supervision, watch->status,
	    hint_is_hidden(supervision, watch->status));
}

void
supervise_keep(const struct supervision *supervision)
{
	if (supervision->log != NULL)
		log_keep(supervision->log);
	else if (supervision->receipt != NULL)
		log_keep(supervision->receipt);
}

void
supervise(struct supervision *supervision, pid_t first)
{
	struct cgroup_usage usage;
	struct watch watch = {
		.supervision = supervision,
		.process = first,
		.signals = signals_open(WITH_STOPS),
		.held = supervision->handed_on,
		.wants = supervision->handed_on,
	};

	close(supervision->write);
	if (supervision->receipt != NULL) {
		close(supervision->started_read);
		close(supervision->started_write);
	}
	watch_begin(&watch);
	if (supervision->tripwire != NULL)
		tripwire_keep(supervision->tripwire);
	supervise_keep(supervision);
	if (lseek(STDIN_FILENO, 0, SEEK_CUR) < 0)
		close(STDIN_FILENO);
	watch_command(&watch);
	end_tree(&watch);
	terminal_take_back(supervision->terminal);
	out_mistrust_terminal();
	network_end(&supervision->network);
	objects_remove(supervision->listening.objects);
	/* Removes the group, in which nothing runs any more. */
	cgroup_measure(&supervision->group, &usage);
	if (!cgroup_remove(&supervision->group))
		warn_about(supervision->group.name,
		    "this control group is left behind", errno);
	watch_drain(&watch);
	watch_tell(&watch, &usage);
	if (watch.term.late)
		_exit(EXIT_TIMEOUT);
	ending_repeat(watch.status);
}
