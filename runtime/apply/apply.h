/* Namespaces, Landlock, seccomp, and the start of the command. */
#ifndef SBX_RUNTIME_APPLY_APPLY_H
#define SBX_RUNTIME_APPLY_APPLY_H

#include "format/model.h"
#include "format/protocol.h"
#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/options.h"
#include "runtime/bind/bind.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* --- confine.c --------------------------------------------------------- */

/* Closes every descriptor above 2: through an open directory, socket or
 * terminal of the caller the command could get round all other steps.  That of
 * --status-fd and the socket, unless they are negative, stay open for us alone,
 * and pipes of --pass-fd for the command. */
void confine_descriptors(const struct options *options, int socket);

/* Closes those pipes in a process that outlives the command. */
void confine_passed(const struct options *options);

/* Sets no_new_privs and drops the capabilities of a privileged caller.  A
 * superuser keeps those that handle files, except at level full, where they
 * would reach under the masks. */
void confine_privileges(enum sbx_level level);

/* Only the capabilities; programs that it executes may get new ones. */
const char *give_up_capabilities(enum sbx_level level);

/* The same, but the set that bounds what execve(2) gives stays as it is: to
 * empty it takes a call for each capability, and under no_new_privs execve(2)
 * gives nothing that was not permitted before (capabilities(7)).  For a
 * supervisor, and for a command that joins a session, where it would be a tenth
 * of the cost. */
void confine_supervisor(enum sbx_level level);
const char *give_up_permitted(enum sbx_level level);

/* Sets the resource limits, except those that something better holds: `held`
 * has a bit for each kind.  `tasks`: as many as the user has now at most; 0 if
 * that is not known. */
void confine_resources(const struct sbx_blob *blob, enum sbx_level level,
    uint32_t held, uint64_t tasks);
const char *limit_resources(const struct sbx_blob *blob, enum sbx_level level,
    uint32_t held, uint64_t tasks);

/* All tasks of the machine, or 0. */
uint64_t tasks_on_machine(void);

/* The filter for this machine and the circumstances that are filled in: the
 * level, the network, the listener.  Refuses a blob that has none. */
const struct sbx_program *program_for(const struct sbx_blob *blob,
    const struct machine *machine, struct sbx_circumstances here);

/* A ruleset for the row's rights to files, and those of its rights to ports that
 * `net` has: once it is applied, they are given only by its rules. */
int confine_ruleset(const struct sbx_landlock *row, uint64_t net,
    uint64_t scoped);
void confine_landlock(const struct sbx_landlock *row, int ruleset);
const char *restrict_files(uint32_t flags, int ruleset);

/* Installs the filter as it is in the blob.  After that only execve(2),
 * write(2) and exit_group(2) are called, and sendmsg(2) for the listener, which
 * is returned; -1: the filter hands no call to anybody. */
int confine_syscalls(const struct sbx_blob *blob,
    const struct sbx_program *program);

/* Installs a filter before that one: no shutdown(2), of no socket. */
const char *filter_shutdown(void);
const char *filter_calls(const struct sbx_insn *bpf,
    const struct sbx_program *program, int *listener);

/* --- environment.c ----------------------------------------------------- */

struct environment {
	uint32_t count;
	uint32_t dropped;
	char **variables; /* NULL-terminated */
};

/* By what it is decided: a policy whose anchors are bound. */
struct environment_rules {
	const struct sbx_blob *blob;
	const struct sbx_place *anchors;
	const bool *bound;
	struct sbx_place agent; /* of ssh, if a rule opens it; or no path */
	const char *level;      /* its name */
	const char *session;    /* its name, or NULL */
	struct sbx_place git;   /* a copy of the user's settings; or no path */
	struct sbx_place trust; /* a directory of tls.c; or no path */
	struct sbx_place secrets; /* of secrets_variables() */
};

/* The bytes that environment_fill() needs for what the caller has. */
size_t environment_room(const struct environment_rules *rules,
    char *const *callers);

/* Fills an empty environment from the caller's.  What it needs lies in `room`,
 * which is aligned for pointers, and in the caller's. */
void environment_fill(struct environment *environment, void *room,
    const struct environment_rules *rules, char *const *callers);

/* The same in the arena. */
static inline void
environment_build(struct environment *environment, struct arena *arena,
    const struct environment_rules *rules, char *const *callers)
{
	environment_fill(environment,
	    arena_take(arena, 1, environment_room(rules, callers)), rules,
	    callers);
}

/* `before` and the names of variables that are kept back and may be looked for,
 * those of keys above all; nothing if there are none. */
void environment_put_withheld(struct out *out, const char *before,
    const struct sbx_blob *blob, char *const *callers);

/* A variable's value, or NULL. */
const char *environment_get(const struct environment *environment,
    const char *name);

/* --- execute.c --------------------------------------------------------- */

/*
 * Executes argv[0] as execvp(3) would, looked for in the sandbox's PATH, from
 * inside the sandbox.  argv[-1] may be overwritten.  Does not return: ends with
 * 127 if the command is not found, 126 if it cannot be executed.  The key is
 * that of `deny spawn` (spawn.c), or 0; `elsewhere` is where the command is
 * outside (elsewhere.c), or NULL.
 */
void execute(char **argv, struct environment *environment, uint64_t key,
    const char *elsewhere) __attribute__((noreturn));

/* The same without an end: returns an errno.  `dirs` is the PATH, or NULL.
 * execute_fault() puts it in words; it looks at the sandbox's files. */
int execute_try(char **argv, char **variables, const char *dirs);
const char *execute_fault(const char *name, int error);

/* --- namespaces.c ------------------------------------------------------ */

enum own_network {
	NETWORK_OUTER,    /* no namespace for it */
	NETWORK_EMPTY,    /* one in which nothing can be reached */
	NETWORK_LOOPBACK, /* one in which lo is up */
};

/*
 * Forks into new namespaces; one for the network too if it is wanted, and one
 * for users, which others make only if they must, with `own_user`.  In the
 * child it returns 0: the child is their process 1, has every capability over
 * them, dies with its parent, may mount, and shares no mount with anybody.  In
 * the parent it returns the child's process id, or -1 where the machine does
 * not offer all this; then *why says what is missing and what helps.  A
 * shortage is no such answer: it refuses (125).
 */
pid_t namespaces_fork(enum own_network network, bool own_user,
    const char **why);

/* Gives the calling process mounts of its own, which it shares with nobody, if
 * it may: NULL, or what it could not do, with errno. */
const char *namespaces_own_mounts(void);

/* --- pid_max.c --------------------------------------------------------- */

/* Before the namespace is made, and in it: a descriptor, or -1 where the
 * namespace has no such number of its own.  The first one is closed by the
 * second call. */
int pid_max_open(void);
int pid_max_open_own(int outer);

/* Whether no more than the limit can run; else it is up to 299 more. */
bool pid_max_is_exact(void);

/* Sets the limit, or refuses, and closes the descriptor. */
void pid_max_set(int fd, uint64_t processes);

/* --- spawn.c ----------------------------------------------------------- */

/* Installs that filter, before the policy's; the number, for execute(). */
uint64_t spawn_prepare(void);

/* --- stage.c ----------------------------------------------------------- */

/* What --stage keeps apart: see format/protocol.h. */
struct staging {
	int directory; /* locked as long as something of the run is there; or -1 */
	bool named;    /* by the user */
	struct sbx_place workspace;
	uint64_t device, inode; /* of it, outside */
	char name[OPTIONS_MAX_NAME + 1];
};

void stage_none(struct staging *stage);

/* Names the stage of a workspace. */
void stage_name(struct staging *stage, struct sbx_place workspace);

/* The workspace that a stage is of, from its file "about" in an open directory;
 * refuses what is damaged. */
void stage_read(int directory, const char *name, struct sbx_stage *about,
    struct path *workspace);

/* Locks a stage until the last copy of the descriptor is closed; false if somebody
 * else has it. */
bool stage_lock(int directory);

/* Finds or makes the stage of that name, or the workspace's own (NULL), and locks
 * it.  Refuses (125) a workspace that cannot be staged.  `waits`: a moment for
 * whoever has it, as a session that is ending. */
void stage_open(struct staging *stage, const char *name,
    const struct binding *anchored, bool waits);

/* Opens the directory of a stage that is there, to be read; -1 with errno. */
int stage_find(const char *name);

/* In the mount namespace of level full, before rules are bound: mounts the overlay
 * over the workspace; refuses (125). */
void stage_mount(const struct staging *stage);

/* A line at the end of the run; none if nothing was run and nothing is there. */
void stage_tell(const struct staging *stage, bool refused);

/* --- streams.c --------------------------------------------------------- */

/* Refuses (125) directories, and descriptors opened with O_PATH: *at() calls
 * reach what is below them. */
void streams_check(void);

/*
 * At level full, before the view is entered, of these descriptors (a bit for
 * each): a file that is read, and the null
 * device where it belongs to the caller, are opened again through a read-only
 * copy of their mount, so that neither contents nor metadata can be changed.
 * Returns a bit for each descriptor of such a file, 1 for standard input: they
 * have a position of their own, which the caller has to be given at the end.
 */
unsigned streams_reopen(unsigned which);

/* A bit for each descriptor of such a file; and of a null device that belongs
 * to the caller. */
unsigned streams_read_files(unsigned *owned_null);

/* In the view of a session, opens these null devices again.  NULL, or what it
 * could not do, with errno. */
const char *streams_renew_null(unsigned owned);

/* What was opened again, the command may open too, as /dev/stdin. */
void streams_allow(unsigned reopened, int ruleset);

#endif
