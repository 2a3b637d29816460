/*
 * The first process of a sandbox: see supervise.h.  It holds no descriptor of
 * the caller and writes no message.
 */
#include "runtime/apply/apply.h"
#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "runtime/watch/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	/* How many children are reaped before the next look at the clock: a
	 * command must not be able to keep this process busy. */
	REAP_AT_ONCE = 16,
	/* A stopped supervisor does not read, and the pipe must always have
	 * room for the message that the command ended. */
	UNREAD_MAX = 16 * sizeof(struct message),
};

struct first {
	const struct supervision *supervision;
	struct term term;
	pid_t supervisor; /* its number in the namespace of this process */
	pid_t command;
	int signals;
	int children; /* where the kernel lists our children; -1: process 1 */
	bool started; /* the receipt's first record is written */
	/* In a session there is no command, and the keeper says when to end. */
	bool ending;
};

/*
 * When a child dies, its own children become ours.  So the processes of the
 * list are killed until the list is empty.  No number can be another process's
 * by now: a child keeps its number until it is reaped here.
 */
static void
kill_all(const struct first *first)
{
	char text[4096];
	const char *at;
	ssize_t len;
	pid_t child;
	int status;

	/* All at once, before there can be more children than in the list. */
	if (first->supervision->group.own >= 0 &&
	    pread(first->children, text, 1, 0) > 0)
		cgroup_kill(&first->supervision->group);
	do {
		len = pread(first->children, text, sizeof text, 0);
		at = text;
		while ((at = child_next(at, text + (len > 0 ? len : 0),
			    &child)) != NULL)
			kill(child, SIGKILL);
	} while (waitpid(-1, &status, 0) > 0 || errno == EINTR);
}

/* Everything dies with process 1, but the control group remains. */
static void
end_group(const struct first *first)
{
	int status;

	if (first->supervision->group.own < 0)
		return;
	if (first->supervision->namespaces) {
		kill(-1, SIGKILL);
		while (waitpid(-1, &status, 0) > 0 || errno == EINTR)
			;
	}
	cgroup_remove(&first->supervision->group);
}

/* The status is 0 if the supervisor is there: then it removes the group and
 * what the command shared. */
__attribute__((noreturn)) static void
end_first(const struct first *first, int status)
{
	if (!first->supervision->namespaces)
		kill_all(first);
	if (status != 0) {
		objects_remove(first->supervision->listening.objects);
		end_group(first);
	}
	_exit(status);
}

static void
send_message(const struct first *first, int status, struct timespec at)
{
	struct message message = {
		.started = first->started,
		.late = first->term.late,
		.status = status,
		.input = first->supervision->own_input ?
		    lseek(STDIN_FILENO, 0, SEEK_CUR) :
		    -1,
		.at = at,
	};

	if (write(first->supervision->write, &message, sizeof message) !=
	    sizeof message)
		end_first(first, EXIT_REFUSED);
}

/*
 * Whether the command has been continued since it stopped.  SIGCONT reaches the
 * processes of a job one after the other, and this one may come first.
 */
static bool
went_on(pid_t command)
{
	siginfo_t info = { .si_pid = 0 };

	poll(NULL, 0, 20);
	return waitid(P_PID, (id_t)command, &info, WCONTINUED | WNOHANG) == 0 &&
	    info.si_pid == command;
}

/* Drop stop notices while the pipe to the supervisor is full. */
static bool
is_news(const struct first *first, int status)
{
	int unread;

	return !WIFSTOPPED(status) ||
	    ioctl(first->supervision->write, FIONREAD, &unread) != 0 ||
	    unread < UNREAD_MAX;
}

/* Another record of what was pressed at the terminal. */
static void
tell_key(const struct first *first, int key)
{
	struct message message = { .key = key, .input = -1 };
	int unread;

	if (ioctl(first->supervision->write, FIONREAD, &unread) == 0 &&
	    unread >= UNREAD_MAX)
		return;
	if (write(first->supervision->write, &message, sizeof message) !=
	    sizeof message)
		end_first(first, EXIT_REFUSED);
}

/* Reaps what has ended, and ends when the command has.  Returns whether there
 * may be more to reap. */
static bool
reap(const struct first *first, struct timespec now)
{
	int status;

	for (int i = 0; i < REAP_AT_ONCE; i++) {
		pid_t pid = waitpid(-1, &status, WNOHANG | WUNTRACED);

		if (pid <= 0)
			return false;
		if (pid != first->command ||
		    (WIFSTOPPED(status) && went_on(pid)))
			continue;
		if (is_news(first, status))
			send_message(first, status, now);
		if (!WIFSTOPPED(status))
			end_first(first, 0);
	}
	return true;
}

/*
 * The supervisor does the same, but it may be stopped.  SIGCONT follows SIGTERM
 * because a stopped process would not see it.
 */
static void
check_time(struct first *first, const struct timespec *now)
{
	if (term_check(&first->term, now)) {
		kill(first->command, SIGTERM);
		kill(first->command, SIGCONT);
	}
	if (!first->term.over)
		return;
	send_message(first, SIGKILL, *now);
	end_first(first, 0);
}

/*
 * To the group of the command, in which this process ignores it; to the command
 * alone what most programs do not expect, and die of; and to a command that has
 * left the group.
 */
static void
send_on(const struct first *first, int number)
{
	bool alone = number == SIGUSR1 || number == SIGUSR2;

	if (!alone)
		kill(0, number);
	if (alone || getpgid(first->command) != getpgrp())
		kill(first->command, number);
}

/* The supervisor says with SIGTTIN that the command may have the terminal. */
static void
hand_on(const struct first *first)
{
	tcsetpgrp(first->supervision->terminal, getpgid(first->command));
	send_on(first, SIGCONT);
}

static void
forward(const struct first *first)
{
	struct signalfd_siginfo info;

	while (read(first->signals, &info, sizeof info) == sizeof info) {
		int number = (int)info.ssi_signo;

		if (number == SIGCHLD)
			continue;
		if (signal_is_of_terminal(&info)) {
			if (signal_ends(number) || number == SIGWINCH)
				tell_key(first, number);
			continue;
		}
		/* The supervisor sends SIGTERM at the deadline, and so did
		 * this process, by the same clock. */
		if (info.ssi_code > 0 ||
		    (pid_t)info.ssi_pid != first->supervisor ||
		    (number == SIGTERM && first->term.late))
			continue;
		if (number == SIGTTIN)
			hand_on(first);
		else
			send_on(first, number);
	}
}

/* The keeper sends a byte: all that is inside gets SIGTERM, and this process ends
 * when nothing is left. */
static bool
is_asked_to_end(struct first *first)
{
	char byte;

	if (recv(first->supervision->write, &byte, 1, MSG_DONTWAIT) != 1 ||
	    first->ending)
		return false;
	first->ending = true;
	kill(-1, SIGTERM);
	kill(-1, SIGCONT);
	return true;
}

__attribute__((noreturn)) static void
be_first(struct first *first)
{
	enum { LOOK_AGAIN = 20 }; /* milliseconds */
	struct timespec now;
	struct pollfd wait[] = {
		{ .fd = first->signals, .events = POLLIN },
		/* POLLERR or POLLHUP: the supervisor, or keeper, is gone. */
		{ .fd = first->supervision->write,
		    .events = first->command == 0 ? POLLIN : 0 },
	};

	for (;;) {
		bool more;
		int left;

		/* Take the time before waitpid(2), so that it is never late. */
		clock_now(&now);
		check_time(first, &now);
		if (wait[0].revents != 0)
			forward(first);
		more = reap(first, now);
		if (first->ending && kill(-1, 0) != 0 && errno == ESRCH)
			_exit(0);
		left = first->ending ? LOOK_AGAIN :
				       term_left(&first->term, &now);
		if (poll(wait, 2, more ? 0 : left) < 0 && errno != EINTR)
			end_first(first, EXIT_REFUSED);
		if ((wait[1].revents & POLLIN) != 0 && is_asked_to_end(first))
			continue;
		if ((wait[1].revents & ~POLLIN) != 0)
			end_first(first, EXIT_REFUSED);
	}
}

/* Chooses whether process 1 outlives the supervisor, so that it can remove the
 * group; the closed pipe tells it of the end. */
static void
survive(const struct supervision *supervision, bool wanted)
{
	if (supervision->namespaces && supervision->group.parent >= 0 &&
	    prctl(PR_SET_PDEATHSIG, wanted ? 0 : SIGKILL, 0, 0, 0) != 0)
		refuse(NULL, "cannot choose how to end", errno);
}

/* Whether the supervisor is gone, where survive() may keep this process. */
static bool
is_alone(const struct supervision *supervision)
{
	struct pollfd wait = { .fd = supervision->write };

	return supervision->namespaces && supervision->group.parent >= 0 &&
	    poll(&wait, 1, 0) > 0;
}

/* Descriptors that were opened for the mounts and the rules are of no use
 * here. */
static void
close_others(const struct first *first)
{
	const struct staging *stage = first->supervision->stage;
	const int kept[] = {
		STDIN_FILENO,
		first->signals,
		first->children,
		first->supervision->write,
		first->supervision->group.parent,
		first->supervision->terminal,
		/* Locked as long as something may write there. */
		stage != NULL ? stage->directory : -1,
	};

	descriptors_keep(kept, countof(kept));
}

/*
 * The first record is written when the command's process has restricted itself:
 * it then writes a byte; after a refusal the pipe is closed without one.  If
 * the record cannot be written, nothing may run.
 */
static void
write_receipt(struct first *first)
{
	const struct supervision *supervision = first->supervision;
	ssize_t got;
	char byte;

	if (supervision->receipt == NULL)
		return;
	close(supervision->started_write);
	do {
		got = read(supervision->started_read, &byte, 1);
	} while (got < 0 && errno == EINTR);
	if (got < 0) {
		say("receipt", "cannot wait for the command to start", errno);
		end_first(first, EXIT_REFUSED);
	}
	close(supervision->started_read);
	/* While a slow reader of the receipt keeps this process waiting, it
	 * must still die with the supervisor. */
	survive(supervision, false);
	/* The signal does not come if the supervisor is gone already. */
	if (is_alone(supervision))
		end_first(first, EXIT_REFUSED);
	if (got == 1 && !receipt_send(supervision->receipt)) {
		say("receipt", "cannot write it", errno);
		end_first(first, EXIT_REFUSED);
	}
	survive(supervision, supervision->group.own >= 0);
	first->started = got == 1;
	receipt_close(supervision->receipt);
}

static const char children_of_ours[] = "/proc/thread-self/children";

const char *
supervise_obstacle(void)
{
	return access(children_of_ours, R_OK) == 0 ?
	    NULL :
	    "no /proc/thread-self/children, by which sbxrun sees what a "
	    "command starts";
}

/* Below level full: become the parent of orphans, to be able to end them. */
static int
adopt(void)
{
	int children = openat(AT_FDCWD, children_of_ours, O_RDONLY | O_CLOEXEC);

	if (children < 0)
		refuse(children_of_ours,
		    "cannot see what the "
		    "command starts, which a limit or a receipt needs",
		    errno);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
		refuse(NULL, "cannot become a subreaper", errno);
	return children;
}

/* The process of the command, while it begins. */
struct beginning {
	struct supervision *supervision;
	const struct becoming *becoming;
	int signals;
	pid_t parent;
	int dumpable; /* as it was; -1: the memory is the first process's, too */
	bool counted; /* under another limit of processes than this: */
	struct rlimit_pair processes;
};

__attribute__((noreturn)) static void
be_command(const struct beginning *beginning)
{
	struct supervision *supervision = beginning->supervision;

	/* Its files in /proc are its own again. */
	if (beginning->dumpable >= 0)
		prctl(PR_SET_DUMPABLE, beginning->dumpable, 0, 0, 0);
	if (beginning->counted &&
	    limit_process(RLIMIT_NPROC, &beginning->processes, NULL) != 0)
		refuse(NULL, "cannot limit the processes", errno);
	if (!supervision->namespaces) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		if (getppid() != beginning->parent)
			_exit(EXIT_REFUSED);
	}
	close(beginning->signals);
	close(supervision->write);
	if (supervision->terminal >= 0)
		close(supervision->terminal);
	if (supervision->listening.on)
		close(supervision->listening.receive);
	if (supervision->receipt != NULL) {
		close(supervision->started_read);
		receipt_close(supervision->receipt);
	}
	relay_enter(&supervision->relay);
	relay_close_command(&supervision->relay);
	signals_restore(&supervision->former);
	beginning->becoming->run(beginning->becoming->data);
}

void
supervise_group(struct supervision *supervision, const struct sbx_blob *blob,
    uint32_t wanted)
{
	if (supervision->group.parent < 0)
		return;
	survive(supervision, true);
	cgroup_make(&supervision->group, blob, wanted);
	survive(supervision, supervision->group.own >= 0);
}

static int
first_command(void *data)
{
	be_command(data);
}

/*
 * As vfork(2), without copying a page, but this process can be woken: the program may
 * lie where to open it takes for ever.  Until execve(2) both have one memory, which
 * this one then only reads, and nobody else may trace or read either.  A group takes
 * clone3(2), a record is changed by both, and a test executes nothing.
 */
static bool
shares_memory(const struct beginning *beginning)
{
#ifdef __SANITIZE_ADDRESS__
	/* A sanitizer takes another stack for a fault. */
	(void)beginning;
	return false;
#else
	const struct supervision *supervision = beginning->supervision;

	/* The supervisor reads what an explained execve(2) names. */
	return beginning->becoming->executes && supervision->group.own < 0 &&
	    supervision->receipt == NULL &&
	    supervision->listening.explaining == NULL;
#endif
}

static pid_t
start(struct beginning *beginning)
{
	enum { STACK = 256 << 10 };
	char *stack;
	pid_t pid;

	if (shares_memory(beginning)) {
		stack = arena_take(beginning->becoming->arena, 1, STACK);
		beginning->dumpable = -1;
		return clone(first_command, stack + STACK, CLONE_VM | SIGCHLD,
		    beginning);
	}
	pid = cgroup_fork(&beginning->supervision->group);
	if (pid == 0)
		be_command(beginning);
	return pid;
}

static pid_t
start_under(struct beginning *beginning, const struct rlimit_pair *limit)
{
	if (limit_process(RLIMIT_NPROC, limit, NULL) != 0)
		refuse(NULL, "cannot limit the processes", errno);
	return start(beginning);
}

/*
 * RLIMIT_NPROC counts all tasks of the user, and only a fork that it refuses
 * tells how many these are.  So the fork that has to be made is tried under a
 * quarter of the machine's tasks, then under two and three, and the policy's
 * limit is added to that.
 */
static pid_t
start_counted(struct beginning *beginning)
{
	struct supervision *supervision = beginning->supervision;
	struct rlimit_pair before, tried;
	uint64_t tasks;
	pid_t pid = -1;

	if (supervision->namespaces ||
	    (supervision->group.held >> SBX_LIMIT_PROCESSES & 1) != 0 ||
	    limit_here(supervision->blob, SBX_LIMIT_PROCESSES) == NULL)
		return start(beginning);
	if (limit_process(RLIMIT_NPROC, NULL, &before) != 0)
		refuse(NULL, "cannot read a resource limit", errno);
	tasks = tasks_on_machine();
	tried = beginning->processes = before;
	beginning->counted = true;
	for (uint64_t part = 1; part < 4 && pid < 0; part++) {
		supervision->tasks = tried.soft = tasks * part / 4 + 1;
		if (tried.soft < before.soft)
			pid = start_under(beginning, &tried);
	}
	if (pid < 0) {
		supervision->tasks = tasks;
		return start_under(beginning, &before);
	}
	if (limit_process(RLIMIT_NPROC, &before, NULL) != 0)
		refuse(NULL, "cannot limit the processes", errno);
	return pid;
}

/* Until the command's process, which has the other end of the pipe, is another
 * program or gone; or has had a moment since there was something else to see to:
 * then both go on, and what they share is errno. */
static void
await_execution(const struct first *first, int fd)
{
	enum { MOMENT = 20 }; /* milliseconds */
	struct timespec now;
	struct pollfd wait[] = {
		{ .fd = fd, .events = POLLIN },
		{ .fd = first->signals, .events = POLLIN },
		{ .fd = first->supervision->write },
	};

	clock_now(&now);
	poll(wait, 3, term_left(&first->term, &now));
	if (wait[0].revents == 0 && wait[2].revents == 0)
		poll(wait, 1, MOMENT);
}

void
supervise_first(struct supervision *supervision,
    const struct becoming *becoming)
{
	struct first first = {
		.supervision = supervision,
		/* A process outside of the namespace has number 0. */
		.supervisor = supervision->namespaces ? 0 : getppid(),
		.children = supervision->namespaces ? -1 : adopt(),
	};
	struct beginning beginning = {
		.supervision = supervision,
		.becoming = becoming,
		.parent = getpid(),
	};
	int ends[2];

	/* See supervise.h.  No later signal of sbxrun's group reaches this
	 * process. */
	if (setpgid(0, 0) != 0)
		refuse(NULL, "cannot make a process group", errno);
	if (supervision->handed_on)
		terminal_take(supervision->terminal);
	first.signals = beginning.signals = signals_open(WITH_STOPS);
	first.term = term_begin(supervision->begin, supervision->timeout,
	    supervision->grace);

	/* If these stayed open here, the other end would never be closed. */
	close(supervision->read);
	relay_close_supervisor(&supervision->relay);
	/* No process inside may trace this one, or read its /proc/1, however
	 * soon the command runs. */
	beginning.dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (pipe2(ends, O_CLOEXEC) != 0)
		refuse(NULL, "cannot make a pipe", errno);
	first.command = start_counted(&beginning);
	if (first.command < 0)
		refuse(NULL, "cannot fork", errno);
	close(ends[1]);
	if (beginning.dumpable < 0)
		await_execution(&first, ends[0]);
	write_receipt(&first);
	if (!supervision->own_input)
		close(STDIN_FILENO);
	close_others(&first);
	be_first(&first);
}

int
supervise_kept_signals(void)
{
	sigset_t set;
	int fd;

	/* No process inside may trace this one, or read its /proc/1, however
	 * soon it joins. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	sigfillset(&set);
	if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
		refuse(NULL, "cannot block signals", errno);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		refuse(NULL, "cannot watch signals", errno);
	return fd;
}

void
supervise_kept(struct supervision *supervision, int signals, int keeper)
{
	struct first first = {
		.supervision = supervision,
		.signals = signals,
		.children = -1,
	};

	supervision->write = keeper;
	supervision->terminal = -1;
	close(STDIN_FILENO);
	close_others(&first);
	be_first(&first);
}

void
supervise_started(const struct supervision *supervision)
{
	if (supervision->receipt != NULL &&
	    write(supervision->started_write, "", 1) != 1)
		refuse(NULL, "cannot say that the command starts", errno);
}
