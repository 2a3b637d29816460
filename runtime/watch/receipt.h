/* What is reported of a run: output, resources, denials. */
#ifndef SBX_RUNTIME_WATCH_RECEIPT_H
#define SBX_RUNTIME_WATCH_RECEIPT_H

#include "format/blob.h"
#include "format/model.h"
#include "runtime/base/files.h"
#include "runtime/base/options.h"
#include "runtime/base/out.h"
#include "runtime/bind/bind.h"
#include "runtime/explain/explain.h"
#include "runtime/network/network.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* --- cgroup.c ---------------------------------------------------------- */

enum { CGROUP_NAME_SIZE = 48 };

struct cgroup {
	int parent;       /* D, or -1 */
	int own;          /* ours, where it was made, or -1 */
	uint32_t offered; /* what D can hold: 1 << SBX_LIMIT_... each */
	uint32_t held;    /* what ours does hold */
	const char *why;  /* why there is no D, or it does not offer all */
	char name[CGROUP_NAME_SIZE];
};

/* What the kernel counted of all processes; UINT64_MAX: it does not say. */
struct cgroup_usage {
	uint64_t memory;  /* bytes at the peak */
	uint64_t killed;  /* by the limit on memory */
	uint64_t refused; /* forks, by the limit on processes */
};

/* The limits of the policy that a group enforces better than rlimits do at this
 * level: a bit for each kind. */
uint32_t cgroup_wanted(const struct sbx_blob *blob, enum sbx_level level);

/*
 * cgroup_init() makes it no group.  cgroup_find() looks for D and switches its
 * controllers on; `begin` makes the name of ours unlike any other.
 * cgroup_forget() goes back to no group.
 */
void cgroup_init(struct cgroup *group);
void cgroup_forget(struct cgroup *group);
void cgroup_find(struct cgroup *group, uint32_t wanted, struct timespec begin);

/* Makes ours and sets the limits that are wanted and offered. */
void cgroup_make(struct cgroup *group, const struct sbx_blob *blob,
    uint32_t wanted);

/* fork(2), into our group if there is one; refuses if that cannot be done. */
pid_t cgroup_fork(const struct cgroup *group);

/* Kills all that is in our group. */
void cgroup_kill(const struct cgroup *group);

/* Kills what is left in our group and removes it; false if that fails, true if
 * there is none. */
bool cgroup_remove(const struct cgroup *group);

/* For --status: NULL if a group could enforce all limits, else why not, and
 * what to do. */
const char *cgroup_try(void);

void cgroup_measure(const struct cgroup *group, struct cgroup_usage *usage);

/* --- relay.c ----------------------------------------------------------- */

/* Of what is written beyond a cap, a sixteenth of the cap is kept, and no more
 * than this. */
enum { RELAY_TAIL = 64 << 10 };

struct stream {
	int from, into; /* the ends of the pipe; the command has `into` */
	int to;         /* STDOUT_FILENO or STDERR_FILENO */
	bool open;
	bool socket;   /* splice(2) to a socket may block: ask first */
	bool copies;   /* the kernel cannot splice there */
	bool waits;    /* for `to` to take more, rather than for input */
	bool told;     /* that it was cut */
	bool flushes;  /* the tail is what is written next */
	uint64_t left; /* bytes below the cap */
	uint64_t cut;  /* bytes thrown away */
	/* What came last beyond the cap: a ring, and where its oldest byte is. */
	uint32_t room, kept, oldest;
	char *tail;
};

enum { RELAY_STREAMS = 2 };

struct relay {
	struct stream streams[RELAY_STREAMS];
	const struct sbx_blob *blob; /* which has the limit */
	bool joined; /* 1 and 2 are one file: the first stream is both */
	bool ends;   /* the command has: what was kept is written */
	bool shared; /* 2 is a socket, and standard input too */
	char tails[RELAY_STREAMS][RELAY_TAIL];
};

/* Makes the pipes, for a cap in bytes; 0: none. */
void relay_open(struct relay *relay, const struct sbx_blob *blob, uint64_t cap);

/* In the command: its standard streams become the pipes. */
void relay_enter(const struct relay *relay);

/* Closes the ends of one side. */
void relay_close_command(const struct relay *relay);
void relay_close_supervisor(const struct relay *relay);

bool relay_has(const struct relay *relay, int fd);

/* What to wait for, and what to do when the waiting is over. */
void relay_wait(struct relay *relay, struct pollfd wait[RELAY_STREAMS]);
void relay_move(struct relay *relay, const struct pollfd wait[RELAY_STREAMS]);

/* The command has ended: what was kept is on its way, too. */
void relay_end(struct relay *relay);

/* At last, says of streams that were cut, unless it was said with their end. */
void relay_tell(struct relay *relay);

/* Whether nothing is on its way. */
bool relay_is_empty(const struct relay *relay);

/* --- unfinished.c ------------------------------------------------------ */

enum { UNFINISHED_NAME = 32 };

struct unfinished {
	int directory, fd; /* -1: none */
	uint32_t others;   /* files that were there */
	void *bytes;
	size_t len;
	char name[UNFINISHED_NAME];
};

/* Of this run, in its directory; false with errno.  It begins with a number other
 * than 0, and may be followed by what was there before. */
bool unfinished_begin(struct unfinished *run, void *bytes, size_t len);
void unfinished_end(struct unfinished *run);

/* Those of runs that were killed, one after the other: open, and ours alone. */
struct unfinished_list {
	struct unfinished run, free; /* a file that can be used again */
	uint32_t others;
	struct directory entries;
};

/* Takes the descriptor of the directory, or -1. */
void unfinished_open(struct unfinished_list *list, int directory);
bool unfinished_next(struct unfinished_list *list, size_t *len);
/* What comes next may have the free file; or NULL. */
void unfinished_close(struct unfinished_list *list, struct unfinished *next);

/* --- receipt.c --------------------------------------------------------- */

enum { RECEIPT_SIZE = 64 << 10, RECEIPT_SINKS = 2 };

/* What the processes inside tell the supervisor. */
struct log_shared {
	bool seen;         /* the command would see the log: it gets no line */
	char reason[1000]; /* why the run was refused, or "" */
};

/* See log.c. */
struct run_log {
	bool on;
	bool required; /* else a fault is a warning */
	bool brief;    /* without the arguments of the command */
	bool inside;   /* this process is none that writes */
	bool judged;   /* so are the links on the way */
	struct arena *arena;
	const struct options *options;
	const char *path;    /* as it was named, or NULL: in sbx's own state */
	const char *name;    /* of the file, and where it is: */
	int directory;       /* -1: unknown */
	struct followed way; /* to that */
	struct sbx_place place;
	struct log_shared *shared;
	struct unfinished pending;
	const char *by; /* the program that has started this one, or NULL */
	char by_name[32];
	pid_t by_pid;
	/* What is known of the run so far, or NULL. */
	char *const *command;
	const char *session, *policy, *level, *stage;
	struct sbx_place workspace;
	const struct sbx_blob *blob;
	const void *bytes; /* that the digest is of, which takes its time */
	size_t size;
	char digest[SHA256_HEX + 1]; /* or "" */
	/* Its texts: members of an object, a list, and an object. */
	struct out head, changes;
	uint32_t more_changes;
	char head_text[16 << 10], changes_text[12 << 10];
	char policy_line[4 << 10];            /* or "" */
	char lines[RECEIPT_SIZE + (6 << 10)]; /* with their ends */
};

struct receipt {
	struct out json;         /* the record that is written now, in `text` */
	char text[RECEIPT_SIZE]; /* which is large, and rarely used */
	bool on;
	struct followed way;      /* to the file's directory */
	const char *unopened;     /* what to say then; NULL: the usual */
	int sinks[RECEIPT_SINKS]; /* descriptors, or -1 */
	pid_t pid;                /* of sbxrun, as its caller sees it */
	struct timespec time;     /* of its start: with pid, the run's name */
	struct run_log log;       /* of the receipt of a run alone */
};

/* How the command ended. */
struct ending {
	int status; /* as wait(2) gives it; without meaning if late */
	bool late;
	struct timespec begin, end; /* CLOCK_MONOTONIC */
	const struct relay *relay;
	const struct cgroup_usage *usage;
	/* --explain: what it found, or NULL, and why it could not. */
	const struct explaining *explaining;
	const char *why_untraced;
	const struct sbx_blob *blob;
	const struct decisions *decisions;
	const uint32_t *refused; /* as in struct listening */
	bool begun;              /* the receipt has its first record */
};

/* The receipt goes to a descriptor, or -1, and to the end of a file, or
 * NULL. */
void receipt_open(struct receipt *receipt, struct arena *arena, int fd,
    const char *log);

/* Gives the run its name. */
void receipt_name(struct receipt *receipt);

/* The directory of a file, and the name in it.  The links that lead there are to be
 * judged with all the others, before anything is written. */
struct followed receipt_way(struct arena *arena, const char *path,
    const char **name);

/* Once the links on the way to the file have been judged (receipt->way);
 * refuses if it cannot be written. */
void receipt_open_log(struct receipt *receipt, const char *log);

/* A record begins in receipt->json; false at its end if it had no room. */
void receipt_begin(struct receipt *receipt, const char *event);
bool receipt_end(struct receipt *receipt);

/* Writes the record; false with errno. */
bool receipt_send(struct receipt *receipt);

/* Makes and writes a record for each decision about the network; a failure is a
 * warning. */
void receipt_network(struct receipt *receipt, const struct sbx_blob *blob,
    const struct decisions *decisions);

/* Makes and writes the last record, in the log, too; a failure is a warning. */
void receipt_finish(struct receipt *receipt, const struct ending *ending);

void receipt_close(const struct receipt *receipt);

/* --- log.c ------------------------------------------------------------- */

/* What the options and ~/.config/sbx say of the log.  From now on, what is refused
 * has a line there. */
void log_begin(struct receipt *receipt, struct arena *arena,
    const struct options *options);

/* The way to its directory, whose links the binder judges. */
struct followed log_way(struct receipt *receipt);

/* Whether a line can be added.  If not, this refuses (125), or says so and there is
 * no log. */
void log_open(struct receipt *receipt);

/* The same where these rules let the command see it; NULL: it does. */
void log_hide(struct receipt *receipt, const struct binding *binding);

/* The command is running: adds a line for each run that was killed, and keeps what
 * is known of this one. */
void log_keep(struct receipt *receipt);

/* Adds the last record, which has its end. */
void log_add(struct receipt *receipt);

/* Why a process inside has refused the run, or NULL. */
const char *log_refusal(const struct receipt *receipt);

/* --- log_record.c ------------------------------------------------------ */

/* How the line of a policy begins; its digest follows. */
#define LOG_POLICY "{\"sbx\":1,\"event\":\"policy\",\"digest\":\"sha256:"

/* Who has started this run, which later may be gone. */
void log_find_parent(struct run_log *log);

/* What is the same at the beginning and at the end of a run. */
void log_compose(struct receipt *receipt);

/* Something changed at a watched place. */
void log_changed(struct receipt *receipt, const char *change,
    struct sbx_place at, const char *setting);

/* The members of the last record that say who ran what, and what came of it. */
void log_put_head(struct receipt *receipt);
void log_put_lists(struct receipt *receipt, const struct ending *ending);

/* --- explained.c ------------------------------------------------------- */

/* What was denied, as members of an object. */
void explained_put(struct out *json, const struct explaining *explaining,
    const struct sbx_denial *denial);

struct telling {
	const struct explaining *explaining;
	struct receipt *sinks[2]; /* of which each may be NULL */
	bool all;                 /* without a bound */
	bool agent;               /* in the form for agents */
	bool quiet;               /* in records alone */
	bool failed;              /* the command did */
};

/* Whether it failed, and was started at all. */
bool explained_failed(int status, bool late);

void explained_tell(const struct telling *telling);

/* --- learned.c --------------------------------------------------------- */

/*
 * What --learn writes when all has ended: JSON lines, added to the end of a
 * file that the command cannot reach.  sbxrun(1) describes the fields.  `sbxc
 * learn` reads them.
 */

/*
 * Opens the file, once the rules are bound and before anything runs.  Refuses
 * (125) if the policy lets the command write there, and if the file has
 * something else in it.
 */
void learned_open(struct receipt *receipt, const char *path,
    const struct binding *binding);

struct learned {
	const struct explaining *explaining;
	const struct decisions *decisions; /* of sbx-proxy */
	char *const *command;
	int status; /* of the command, as wait(2) gives it */
	bool late;
};

/* Writes all records; a failure is a warning. */
void learned_write(struct receipt *receipt, const struct learned *learned);

/* --- ending.c ---------------------------------------------------------- */

/* Calls `reached` for each limit that the command has reached, as far as the kernel
 * tells.  `late`: its time is over. */
typedef void limit_reached(void *of, uint16_t kind, const char *text);
void ending_limits(const struct sbx_blob *blob, int status, bool late,
    const struct cgroup_usage *usage, limit_reached *reached, void *of);

/* --- term.c ------------------------------------------------------------ */

struct term {
	uint64_t timeout, grace;  /* seconds; a timeout of 0: no end */
	struct timespec deadline; /* if there is one; then of the grace */
	bool late;                /* the time is over */
	bool over;                /* and so is the grace */
};

/* The seconds must not overflow a time_t when they are added to a time. */
struct term term_begin(struct timespec begin, uint64_t timeout, uint64_t grace);

/* Compares with the clock; whether the command is to be sent TERM now: once. */
bool term_check(struct term *term, const struct timespec *now);

/* Milliseconds to the deadline for poll(2), rounded up; -1: there is none. */
int term_left(const struct term *term, const struct timespec *now);

static inline bool
time_is_before(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec :
				      a.tv_nsec < b.tv_nsec;
}

#endif
