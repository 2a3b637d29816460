#include "runtime/supervise.h"

#include "runtime/out.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What process 1 tells: one write of a few bytes, so never torn. */
struct message {
	int status;        /* as wait(2) gives it */
	struct timespec at; /* CLOCK_MONOTONIC */
};

/*
 * What other processes send to sbxrun and mean for the command.  TSTP, TTIN
 * and TTOU are left to stop the supervisor itself.
 */
static const int forwarded[] = {
	SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT,
};

/* What the command is to find as it was. */
struct former {
	sigset_t mask;
	struct sigaction child;
};

static void
watched_signals(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++)
		sigaddset(set, forwarded[i]);
	sigaddset(set, SIGCHLD);
}

void
channel_open(struct channel *channel)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		refuse(NULL, "cannot make a pipe", errno);
	channel->read = ends[0];
	channel->write = ends[1];
}

void
channel_close(struct channel *channel)
{
	close(channel->read);
	close(channel->write);
}

/* A signal that is blocked waits for signalfd, even one that is ignored by
 * default, such as SIGCHLD and SIGWINCH. */
static int
open_signals(struct former *former)
{
	/* Where it is ignored, children vanish without a status. */
	static const struct sigaction standard = { .sa_handler = SIG_DFL };
	sigset_t set;
	int fd;

	watched_signals(&set);
	if (sigprocmask(SIG_BLOCK, &set, &former->mask) != 0 ||
	    sigaction(SIGCHLD, &standard, &former->child) != 0)
		refuse(NULL, "cannot block signals", errno);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		refuse(NULL, "cannot watch signals", errno);
	return fd;
}

/* The terminal's signals have reached the whole job; others only us. */
static bool
is_for_us_alone(const struct signalfd_siginfo *info)
{
	return info->ssi_code <= 0; /* SI_USER, SI_QUEUE, SI_TKILL */
}

/* --- process 1 ------------------------------------------------------------ */

static void
send_message(const struct channel *channel, int status)
{
	struct message message = { .status = status };

	clock_gettime(CLOCK_MONOTONIC, &message.at);
	/* A supervisor that is gone has taken us along. */
	if (write(channel->write, &message, sizeof message) !=
	    sizeof message)
		_exit(EXIT_REFUSED);
}

/* Reaps all that ended; ends with the command. */
static void
reap(const struct channel *channel, pid_t command)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (pid != command)
			continue;
		send_message(channel, status);
		if (!WIFSTOPPED(status))
			_exit(0);
	}
}

__attribute__((noreturn))
static void
be_first(const struct channel *channel, pid_t command, int signals)
{
	struct signalfd_siginfo info;
	struct pollfd wait = { .fd = signals, .events = POLLIN };

	for (;;) {
		reap(channel, command);
		if (poll(&wait, 1, -1) < 0 && errno != EINTR)
			_exit(EXIT_REFUSED);
		while (read(signals, &info, sizeof info) == sizeof info) {
			/* A sender outside of the namespace has number 0. */
			if (info.ssi_signo != SIGCHLD &&
			    is_for_us_alone(&info) && info.ssi_pid == 0)
				kill(command, (int)info.ssi_signo);
		}
	}
}

void
supervise_first(struct channel *channel)
{
	struct former former;
	int signals = open_signals(&former);
	pid_t command;

	close(channel->read);
	command = fork();
	if (command < 0)
		refuse(NULL, "cannot fork", errno);
	if (command > 0) {
		/* Nobody inside may trace it, or read its /proc/1. */
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
		be_first(channel, command, signals);
	}
	close(signals);
	close(channel->write);
	if (sigaction(SIGCHLD, &former.child, NULL) != 0 ||
	    sigprocmask(SIG_SETMASK, &former.mask, NULL) != 0)
		refuse(NULL, "cannot restore the signal mask", errno);
}

/* --- the supervisor ------------------------------------------------------- */

/* Ends as the command did; a core was its business. */
__attribute__((noreturn))
static void
end_with(int status)
{
	static const struct rlimit none = { 0, 0 };
	sigset_t set;

	if (WIFEXITED(status))
		_exit(WEXITSTATUS(status));
	setrlimit(RLIMIT_CORE, &none);
	signal(WTERMSIG(status), SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, WTERMSIG(status));
	raise(WTERMSIG(status));
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	_exit(128 + WTERMSIG(status));
}

static bool
is_before(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec :
				      a.tv_nsec < b.tv_nsec;
}

struct watch {
	struct channel *channel;
	pid_t first;
	struct timespec continued; /* when this job last went on */
	bool ended;
	int status;
};

/*
 * The command has ended or stopped.  A job that the terminal stopped has
 * stopped as a whole: that news, read when the job goes on, is old.
 */
static void
receive(struct watch *watch)
{
	struct message message;

	while (read(watch->channel->read, &message, sizeof message) ==
	    sizeof message) {
		if (!WIFSTOPPED(message.status)) {
			watch->ended = true;
			watch->status = message.status;
			return;
		}
		if (is_before(watch->continued, message.at))
			raise(SIGSTOP);
	}
}

static void
relay(struct watch *watch, int signals)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof info) == sizeof info) {
		if (info.ssi_signo == SIGCONT)
			clock_gettime(CLOCK_MONOTONIC, &watch->continued);
		if (info.ssi_signo != SIGCHLD && is_for_us_alone(&info))
			kill(watch->first, (int)info.ssi_signo);
	}
}

void
supervise(struct channel *channel, pid_t first)
{
	struct former former;
	struct watch watch = { .channel = channel, .first = first };
	int signals = open_signals(&former), status;
	struct pollfd wait[2] = {
		{ .fd = signals, .events = POLLIN },
		{ .fd = channel->read, .events = POLLIN },
	};

	close(channel->write);
	fcntl(channel->read, F_SETFL, O_NONBLOCK);
	for (;;) {
		if (poll(wait, 2, -1) < 0 && errno != EINTR)
			break;
		/* Signals first: they say when the job went on. */
		relay(&watch, signals);
		receive(&watch);
		if (watch.ended || (wait[1].revents & POLLHUP) != 0)
			break;
	}
	receive(&watch);
	kill(first, SIGKILL);
	while (waitpid(first, &status, 0) < 0 && errno == EINTR)
		;
	end_with(watch.ended ? watch.status : status);
}
