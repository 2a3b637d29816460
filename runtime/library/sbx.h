/*
 * libsbx: runs commands confined by a compiled policy, from inside a program.
 * See sbx(3).
 *
 * A sandbox is prepared once and then takes many commands, which share its view
 * of the files, its /tmp, its network and its process table.  A keeper, which
 * is a process of sbxrun, holds what they share; it ends, and everything in the
 * sandbox with it, when the sandbox is closed or the caller has died.
 *
 * No function ends the program, prints, changes a signal handler, the
 * environment or the current directory, or keeps anything in a global variable.
 * None is a cancellation point.  Functions may be called from many threads at a
 * time, on one sandbox too; only sbx_close() must be the last one on its
 * sandbox.  None is async-signal-safe.  Every descriptor that is returned is
 * close-on-exec and belongs to the caller.
 */
#ifndef SBX_H
#define SBX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

/* What went wrong.  Later versions may add kinds. */
enum sbx_error_kind {
	SBX_ERROR_NONE,
	SBX_ERROR_ARGUMENT,  /* of this call: a size, a flag, a NULL */
	SBX_ERROR_SYSTEM,    /* a system call failed, or there is no memory */
	SBX_ERROR_SBXRUN,    /* sbxrun cannot be started, or is of another
	                         * version than this library */
	SBX_ERROR_REFUSED,   /* sbxrun refused the sandbox: the text says why */
	SBX_ERROR_ENDED,     /* the sandbox has ended, or there is none */
	SBX_ERROR_DIRECTORY, /* the directory is not in the sandbox */
	SBX_ERROR_DESCRIPTOR,   /* this descriptor is not handed to a command */
	SBX_ERROR_CONFINE,      /* the kernel refused a restriction */
	SBX_ERROR_NOT_FOUND,    /* there is no such command in the sandbox */
	SBX_ERROR_NOT_EXECUTED, /* it is there and cannot be executed */
	SBX_ERROR_KILLED        /* another process ended the command's process
	                         * before it was the command */
};

enum { SBX_ERROR_TEXT = 1024 };

/* Of a call that failed; a call that succeeds leaves it alone.  The text is one
 * line without a newline, "SUBJECT: WHAT: WHY", cut if it is longer. */
struct sbx_error {
	int kind; /* enum sbx_error_kind */
	int code; /* errno, or 0 */
	char text[SBX_ERROR_TEXT];
};

/* Of struct sbx_options.  What sbxrun(1) says of the options of that name. */
enum sbx_options_flag { SBX_ALLOW_FULL_ACCESS = 1, SBX_ACCEPT_NONE = 2 };

/*
 * How a sandbox is made.  Zero every field that is not used; `size` is sizeof
 * (struct sbx_options) and tells which version of it the caller knows.  Nothing
 * is kept after the call.
 */
struct sbx_options {
	size_t size;
	const char *policy; /* the path of a blob, or "@NAME"; or NULL, and: */
	const void *blob;   /* the bytes of one */
	size_t blob_size;
	const char *workspace; /* NULL: the current directory */
	const char *level;     /* "full", "standard", ...; NULL: the best */
	const char *const *parameters; /* "NAME=PATH", then NULL; or NULL */
	const char *const *limits;     /* "NAME=VALUE", then NULL; or NULL */
	const char *expect;            /* "sha256:HEX", or NULL */
	char *const *environment; /* by which HOME and others are found; NULL:
	                           * environ */
	const char *sbxrun;       /* its path; NULL: where it was installed */
	unsigned flags;           /* enum sbx_options_flag */
	const char *stage;        /* the name of a stage; "": the workspace's
	                           * own; NULL: nothing is staged */
};

struct sbx_sandbox;

/*
 * Prepares a sandbox, in a few milliseconds.  NULL and *error if that fails;
 * `error` may be NULL.  The caller closes it with sbx_close().
 */
struct sbx_sandbox *sbx_open(const struct sbx_options *options,
    struct sbx_error *error);

/*
 * Joins the session that `sbxrun --session NAME` has made.  Each command gets a
 * process of sbxrun above it, as at the command line.  Closing it ends neither
 * the session nor what runs in it.  `sbxrun` is as in struct sbx_options.
 */
struct sbx_sandbox *sbx_join(const char *name, const char *sbxrun,
    struct sbx_error *error);

/* "full", "standard", "minimal" or "none".  It lives as long as the sandbox, as
 * does the text of sbx_warnings(). */
const char *sbx_level(const struct sbx_sandbox *sandbox);

/* What sbxrun said when it made the sandbox, a line each, such as protection
 * that this machine does not give; "" if nothing. */
const char *sbx_warnings(const struct sbx_sandbox *sandbox);

/* A descriptor of the sandbox's, not to be closed: poll(2) reports POLLIN for
 * it when the sandbox has ended.  -1 below level full, where each command has a
 * sandbox of its own. */
int sbx_pollable(const struct sbx_sandbox *sandbox);

/*
 * The command gets this descriptor under another number.  From above 2 a file
 * that is open for reading alone and that the user could change is not handed
 * over, since the command could open it again for writing; `from` below 3, or a
 * pipe, is.  No directory is, and nothing that was opened with O_PATH.
 */
struct sbx_descriptor {
	int from, to;
};

enum sbx_command_flag {
	/* The caller holds the policy's time, cap on output and watches itself.
	 * Without this, such a command has a process of sbxrun above it, as at
	 * the command line; the pidfd is that process's. */
	SBX_UNSUPERVISED = 1,
	/* Ignored signals stay ignored and the mask is the calling thread's.
	 * Without this, each signal has its default and none is blocked; but
	 * real-time signals that are ignored stay ignored. */
	SBX_KEEP_SIGNALS = 2,
	/* It stays in the caller's process group and gets EPERM for kill(0, N),
	 * which would reach the caller.  Without this it has one of its own. */
	SBX_SAME_GROUP = 4,
	SBX_NEW_SESSION = 8, /* setsid(2) */
	SBX_TERMINAL = 16, /* SBX_NEW_SESSION; standard input is its terminal */
	SBX_EXPLAIN = 32   /* `record` also has a line for each denial, with the
	                    * steps that would allow it: --explain of sbxrun */
};

/* A command.  Zero what is not used; nothing is kept after the call. */
struct sbx_command {
	size_t size;       /* sizeof (struct sbx_command) */
	char *const *argv; /* argv[0] is looked for in the sandbox's PATH */
	char *const *environment; /* which the policy's rules are applied to;
	                           * NULL: environ */
	const char *directory;    /* as it is named inside; NULL: the current */
	const struct sbx_descriptor *descriptors; /* 0 to 2 are the caller's
	                                           * unless they are here */
	size_t descriptor_count;
	unsigned flags; /* enum sbx_command_flag */
	int record; /* if above 2: the receipt of sbxrun goes there, where it
	                 * is above the command; see sbxrun(1) */
	pid_t *pid; /* if not NULL, gets the process's number */
	int *tree;  /* if not NULL, gets a descriptor for sbx_kill_tree() */
};

enum { SBX_MAX_DESCRIPTORS = 256 };

/*
 * Starts a command and returns a pidfd of it, for poll(2), waitid(P_PIDFD) and
 * pidfd_send_signal(2); or -1 and *error.  The command is a child of the
 * caller.  When the call returns, all restrictions are in force and it is
 * executed.
 */
int sbx_spawn(struct sbx_sandbox *sandbox, const struct sbx_command *command,
    struct sbx_error *error);

/*
 * Sends a signal to everything that a command has started and that is running,
 * itself included, whatever its session or parent; for SIGKILL until nothing is
 * left.  Returns how many processes there were, or -1 and *error.  One whose
 * program an ordinary user may execute and not read is not found.
 */
int sbx_kill_tree(int tree, int signal, struct sbx_error *error);

/*
 * Ends the sandbox with everything in it, waits for that (ten seconds at most)
 * and frees it; NULL is fine.  In a child that was forked after sbx_open() it
 * only frees.
 */
void sbx_close(struct sbx_sandbox *sandbox);

/* The version of the library, as "0.1.0". */
const char *sbx_version(void);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
