/* The supervisor and how it ends what it watches. */
#ifndef SBX_RUNTIME_WATCH_SUPERVISE_H
#define SBX_RUNTIME_WATCH_SUPERVISE_H

#include "format/blob.h"
#include "runtime/apply/apply.h"
#include "runtime/base/options.h"
#include "runtime/listen/listen.h"
#include "runtime/network/network.h"
#include "runtime/watch/receipt.h"
#include "runtime/watch/tripwire.h"

#include <sys/types.h>
#include <time.h>

/* --- children.c -------------------------------------------------------- */

/*
 * The first number of a text, into *pid; returns what follows it.  NULL at the
 * end of the text.  A number that ends where the text ends may be cut, and is
 * left for the next time.  What is no number of a process is passed over: to
 * kill(2), 0 and what is negative are groups.
 */
const char *child_next(const char *text, const char *stop, pid_t *pid);

/* --- ending.c ---------------------------------------------------------- */

/* Ends as the command did, by a signal too, but without a core file. */
void ending_repeat(int status) __attribute__((noreturn));

/*
 * A stopped process cannot check its own deadline.  A timer sends SIGCONT at
 * the deadline, and each second after it, because the process may be stopped
 * again.  libc's timer_create(3) brings threads with it.  Without a timer the
 * end of the command is only reported later.
 */
void ending_continue_at(const struct timespec *deadline);

/* The signal that ended the command, or a program in it if it is a shell, or 0. */
int ending_signal(int status);

/* Says which limits the command has reached, as far as the kernel tells; not on
 * a stderr that is full, for nobody may read it any more.  `late`: its time is
 * over. */
void ending_tell(const struct sbx_blob *blob, int status, bool late,
    const struct cgroup_usage *usage);

/* How the command ended, and after what time: the last line of -v. */
void ending_say(const char *command, int status, const struct timespec *begin,
    const struct timespec *end);

/* --- supervise.c ------------------------------------------------------- */

struct supervision {
	bool on;          /* there are the two processes */
	bool namespaces;  /* the first one is process 1 */
	bool own_input;   /* in there, standard input has its own position */
	bool handed_on;   /* the terminal is the command's from the start */
	int terminal;     /* the controlling one, or -1 */
	int read, write;  /* the pipe from the first one to the supervisor */
	uint64_t timeout; /* seconds; 0: none */
	uint64_t grace;   /* seconds between TERM and KILL */
	uint64_t output;  /* bytes of a stream; 0: no cap */
	struct timespec begin;
	struct former_signals former; /* what the command is to have */
	uint64_t tasks; /* that the user has at most, where it was tried */
	struct relay relay;
	struct listening listening;
	uint32_t refused[ANSWERS_MAX];
	struct servers servers; /* for the listening ones, of this sandbox */
	struct cgroup group;
	struct receipt *receipt;   /* NULL: none is wanted */
	struct receipt *log;       /* that the log has the end of, or NULL */
	struct tripwire *tripwire; /* NULL: nothing is watched */
	/* --explain: who is told, beside the person, or NULL; and why nothing
	 * is explained, or NULL. */
	struct receipt *report;
	bool explains, explain_all, explain_agent, explain_quiet;
	const struct staging *stage; /* NULL: nothing is staged */
	bool verbose;                /* -v: says how the command ended */
	const char *why_untraced;
	struct receipt *learned; /* --learn: where it is written, or NULL */
	char *const *command;    /* what runs */
	const struct binding *anchored; /* without rules */
	/* A pipe on which the command says that it is confined. */
	int started_read, started_write;
	const struct sbx_blob *blob; /* which has the limits */
	struct network network;      /* large, and rarely used */
};

/* A message to the supervisor; a write to a pipe of so few bytes is atomic. */
struct message {
	bool started;  /* it was confined, and the receipt says so */
	bool late;     /* its time is over */
	int key;       /* the signal that a key of the terminal sent, or 0 */
	int status;    /* of the command, as wait(2) gives it */
	int64_t input; /* the position in standard input, or -1 */
	struct timespec at; /* CLOCK_MONOTONIC */
};

/* Fills in the limits that a supervisor enforces. */
void supervise_limits(struct supervision *supervision,
    const struct sbx_blob *blob);

/* Who is told of the command, and of what. */
void supervise_tells(struct supervision *supervision,
    const struct options *options, struct receipt *receipt,
    struct receipt *report);

/* Opens the pipes that both processes need, and blocks signals, which from now
 * on wait for who takes them; and undoes that.  The first alone opens the pipe on
 * which the command says that it is confined. */
void supervise_open_started(struct supervision *supervision);
void supervise_open(struct supervision *supervision);
void supervise_close(struct supervision *supervision);

/*
 * Whoever waits for a command, outside: the supervisor, whose child is the first
 * process of the sandbox, which tells it of the command; or the sbxrun that has
 * joined a session, whose child is the command.
 */
struct watch {
	struct supervision *supervision;
	bool joined;
	pid_t process; /* the child */
	int signals;
	struct term term;
	bool leave; /* a signal asked sbxrun to end */
	bool ended; /* the command has; then: */
	int status;
	bool started; /* the receipt has its first record */
	struct timespec end;
	/* Of a supervisor: */
	struct timespec continued; /* when this job was last continued */
	bool held;                 /* the command's group has the terminal */
	bool
	    wants; /* and is to have it whenever the job is in the foreground */
	bool asked; /* this job was told to stop, and not yet to go on */
	/* Of one that has joined: */
	bool grouped; /* the command leads a process group of its own */
	bool went_on; /* by a signal that was read just now */
	int unborn;   /* what was to end it before it was the command; or 0 */
};

/* The command runs. */
void watch_begin(struct watch *watch);
/* Until it has ended, or its time is over. */
void watch_command(struct watch *watch);
/* Waits for events, at most so many milliseconds, and handles them; false when
 * the first process has closed its pipe. */
bool watch_once(struct watch *watch, int milliseconds);
/*
 * Passes on what was written before the end, however slowly it is read.  After a
 * timeout this takes a second at most, and where the command left something
 * behind that may go on to write; and a signal ends it.
 */
void watch_drain(struct watch *watch);
/* Says and records how it ended. */
void watch_tell(const struct watch *watch, const struct cgroup_usage *usage);

/* The command runs: what its last record will say of now is found out. */
void supervise_keep(const struct supervision *supervision);

/* In a session's keeper, that ends: the line of the session. */
void supervise_finish_kept(const struct supervision *supervision);

/* Why nobody can supervise a command below level full; NULL: it can be done. */
const char *supervise_obstacle(void);

/* In the supervisor: stays until the first one ends, then ends as the command
 * did, or with 124 if its time was over. */
void supervise(struct supervision *supervision, pid_t first)
    __attribute__((noreturn));

/* In the first one: the control group, where the policy has limits for it and
 * there can be one. */
void supervise_group(struct supervision *supervision,
    const struct sbx_blob *blob, uint32_t wanted);

/* What the process of the command does; it does not return. */
struct becoming {
	void (*run)(void *data) __attribute__((noreturn));
	void *data;
	struct arena *arena; /* for its stack */
	bool executes;       /* another program, soon */
};

/*
 * In the first one: starts a process that is to become the command; stays until it
 * ends, tells the supervisor, kills what is left and ends.
 */
void supervise_first(struct supervision *supervision,
    const struct becoming *becoming) __attribute__((noreturn));

/*
 * Process 1 of a session, which starts nothing: it is the parent of what commands
 * leave behind, until the keeper, at the other end of the socket, sends a byte or
 * is gone.  The first one blocks all signals and gives a descriptor that says when
 * a child has ended; what fails there has to fail before the keeper hears of the
 * session.
 */
int supervise_kept_signals(void);
void supervise_kept(struct supervision *supervision, int signals, int keeper)
    __attribute__((noreturn));

/* In the command: it is confined, and executes next. */
void supervise_started(const struct supervision *supervision);

/* --- hint.c ------------------------------------------------------------ */

/* Whether a command that could not be started is there outside, where no rule
 * lets it be run. */
bool hint_is_hidden(const struct supervision *supervision, int status);

/* `hidden`: that. */
void hint_tell(const struct supervision *supervision, int status, bool hidden);

#endif
