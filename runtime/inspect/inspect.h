/* -n, --status, --self-test, --clean. */
#ifndef SBX_RUNTIME_INSPECT_INSPECT_H
#define SBX_RUNTIME_INSPECT_INSPECT_H

#include "runtime/apply/apply.h"
#include "runtime/apply/mounts.h"
#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/options.h"
#include "runtime/base/out.h"
#include "runtime/bind/bind.h"

#include <stdbool.h>
#include <sys/types.h>

/* --- clean.c ----------------------------------------------------------- */

/*
 * sbxrun --clean: removes a workspace's scratch directory.
 */

/*
 * Removes a directory and what it holds.  `place` is an O_PATH descriptor of
 * it, and is closed.  False and errno if something is left; then `failed` may
 * get a part of the path of that.
 */
bool clean_directory(const char *path, int place, struct out *failed);

/*
 * For the workspace that `given` names, or, if it is NULL, the current
 * directory; one that is gone may be named.  Ends the program: with 0 when
 * nothing is left there.
 */
void clean_scratch(struct arena *arena, const char *given)
    __attribute__((noreturn));

/* --- questions.c ------------------------------------------------------- */

/* --ask, where a person is at the terminal: becomes sbxc, which runs this command
 * line and asks about what was denied in the end.  Else it returns, and nobody is
 * asked. */
void questions_begin(struct options *options, struct arena *arena);

/* --- staged.c ---------------------------------------------------------- */

/* --staged: becomes sbxc, confined, which looks at the stage or applies it; refuses
 * (125) if it cannot. */
void staged_run(const struct options *options, struct arena *arena)
    __attribute__((noreturn));

/* --- doctor.c ---------------------------------------------------------- */

/*
 * sbxrun --doctor: what has to be fixed here, which sbxc tells.
 */

/* Becomes `sbxc doctor`, the one beside sbxrun; refuses (125) if there is
 * none. */
void doctor_run(const struct options *options, struct arena *arena)
    __attribute__((noreturn));

/* --- plan.c ------------------------------------------------------------ */

/*
 * The plan: what is applied here, rule by rule, and by what.  sbxrun -n writes
 * it as a record, -v says a line of it, and the receipt keeps it.
 */

struct plan {
	const char *policy; /* as it was named */
	const struct sbx_blob *blob;
	const struct machine *machine;
	enum sbx_level level;
	const char *why_not_full; /* NULL: it is, or was not asked for */
	enum own_network network;
	const char *why_no_network; /* of its own; NULL: as it was wanted */
	/* Why the supervisor answers no system calls; NULL: it does, or the
	 * policy has none for it. */
	const char *why_no_listener;
	bool nested; /* that is because one answers already, outside */
	/* Why it answers no calls about sockets; NULL: likewise. */
	const char *why_no_sockets;
	const struct sbx_landlock *row;    /* NULL below standard */
	const struct sbx_program *program; /* NULL at level none */
	const struct binding *binding;
	/* At level full: the same as it is outside, without the view. */
	const struct binding *outside;
	struct outcome *outcomes; /* beside the rules */
	const struct environment *environment;
	uint32_t hard_linked; /* masked files that have other names */
	uint32_t held; /* limits that a control group holds, a bit each */
	const struct limit_choice *chosen; /* limits of the command line */
	/* Rules of it, which the blob has among its own. */
	const struct extra_rule *extra;
	uint32_t extra_count;
	struct sbx_place trust;   /* a directory of tls.c; or no path */
	struct sbx_place secrets; /* of secrets_variables() */
	bool pid_max; /* the one of the namespace holds `processes` */
	char digest[SHA256_HEX + 1]; /* "" where nobody reads it */
};

bool plan_allows_everything(const struct plan *plan);

/* What stands behind a rule. */
enum plan_class {
	PLAN_PLAIN, /* Landlock, with nothing to add */
	PLAN_OTHER,
	PLAN_UNCOVERED, /* a denied place that is not there */
	PLAN_SKIPPED,   /* an allowed one */
};

/* What Landlock keeps inside the sandbox. */
struct plan_scope {
	const char *name;
	uint32_t blanket; /* the flag of a policy that leaves it open */
	uint64_t bit;     /* in sbx_landlock's `scoped` */
};

enum { PLAN_SCOPES = 2 };
extern const struct plan_scope plan_scopes[PLAN_SCOPES];

const char *effect_name(uint8_t effect);

/* The words of a plan, the same in all its forms; `index` is of the binding's
 * rules.  An enforcer is what enforces something, or that nothing does. */
enum plan_class plan_class(const struct plan *plan, uint32_t index);
void plan_words(struct out *out, const struct sbx_path *path);
/* Where a rule is that was not bound; without its anchor, if that has none. */
void plan_place(struct out *out, const struct plan *plan,
    const struct sbx_path *path);
void plan_enforcer(struct out *out, const struct plan *plan, uint32_t index);
void plan_glob_enforcer(struct out *out, const struct plan *plan,
    const struct glob *glob);
/* "watch git", and its place. */
const char *plan_watch_words(const struct sbx_watch *watch);
void plan_watch_place(struct out *out, const struct plan *plan,
    const struct sbx_watch *watch);
/* The network that the policy wants, and the one that there is. */
const char *plan_wanted_network(const struct plan *plan);
const char *plan_network(const struct plan *plan);
/* Whether the supervisor connects TCP for the command. */
bool plan_connects(const struct plan *plan);
const char *plan_network_enforcer(const struct plan *plan);
/* Lists: hosts by name and address, and the user's proxy; sockets by path. */
void plan_put_hosts(struct out *json, const struct plan *plan);
void plan_put_sockets(struct out *json, const struct plan *plan);
void plan_port_words(struct out *out, const struct sbx_port *port);
/* NULL: it is open. */
const char *plan_scope_enforcer(const struct plan *plan,
    const struct plan_scope *scope);
uint32_t plan_count_calls(const struct plan *plan,
    enum sbx_syscall_verdict verdict);
const char *plan_calls_enforcer(const struct plan *plan);
/* Whether the supervisor answers system calls of the command. */
bool plan_answers(const struct plan *plan);
const char *plan_limit_enforcer(const struct plan *plan, uint16_t kind);

/* The warnings about what a run does not protect, on stderr; what only a person
 * wants to know, at a terminal, or where the plan is `described`. */
void plan_warn(const struct plan *plan, bool described);

/* The one line of -v, on stderr; `command` may be NULL. */
void plan_summary(const struct plan *plan, char *const *command);

/* What confines a command for which nobody named a policy: a line for who sits at
 * a terminal. */
void plan_say_default(const struct plan *plan);

/* The plan as one JSON document on stdout, and, in an object that has begun,
 * the part of it that a receipt records; sbxrun(1) describes both. */
void plan_print_json(const struct plan *plan);
void plan_record(struct out *out, const struct plan *plan);

/* --- render.c ---------------------------------------------------------- */

/*
 * What sbxrun says of itself for people: it writes a record, as for programs, and
 * `sbxc records` prints that in words.
 *
 * Where the command line asks for such words: forks, returns in the child, whose
 * standard output leads to sbxc, and this process becomes sbxc, which ends as the
 * child does.  Without sbxc one line says so, and the record itself is printed.
 */
void render_begin(struct options *options);

/* --- self_test.c ------------------------------------------------------- */

enum { STAGE_PATH_SIZE = 128 };

/* What is on the stage, and what probes try to make there. */
enum stage_place {
	STAGE_ROOT,
	STAGE_WORKSPACE,
	STAGE_HOME,
	STAGE_HIDDEN,
	STAGE_KEY,
	STAGE_OUTSIDE,
	STAGE_INSIDE,
	STAGE_MADE,
	STAGE_SOCKET,
	STAGE_END,
};

/* Whether the command lived longer than it should. */
enum outcome_of_time { TIME_KILLED, TIME_OUTLIVED, TIME_UNTRIED };

struct self_test {
	pid_t victim; /* a process outside */
	uint16_t tcp, udp;
	int outer[3];  /* sockets that listen outside */
	bool terminal; /* a pseudo-terminal can be had outside */
	bool outlives; /* this is the other sandbox; else: */
	enum outcome_of_time time;
	char places[STAGE_END][STAGE_PATH_SIZE];
};

/*
 * Sets up the stage and forks.  Returns in two children, for which the options
 * and the environment are those of a sandbox on the stage; the parent waits,
 * removes the stage, and ends as the second child does.
 */
void self_test_begin(struct self_test *test, struct options *options,
    char **environment);

/* Opens both ends of a pseudo-terminal, as programs do; 0 or an errno. */
int open_terminal(void);

struct probe_context {
	const struct self_test *test;
	const struct sbx_blob *blob;
	const struct binding *binding;
	enum sbx_level level;
};

/*
 * In place of the command, confined: runs all probes, says how each ended, and
 * ends the program: with 1 if something got through that the policy does not
 * grant, or what it grants in the workspace was denied.
 */
void probes_run(const struct probe_context *context) __attribute__((noreturn));

/* In place of the command of the other sandbox: never ends by itself. */
void probe_outlive(void) __attribute__((noreturn));

/* --- status.c ---------------------------------------------------------- */

/* sbxrun --status: what the machine offers.  Writes the record and ends the
 * program with 0. */
void status_print(void) __attribute__((noreturn));

#endif
