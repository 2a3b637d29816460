/*
 * What a policy says of one access: the one place where policies are asked.
 * why, test and diff get their answers here; the answers come from the model
 * in format/model.h and, for system calls, from running the filter itself.
 */
#ifndef SBX_VERDICT_H
#define SBX_VERDICT_H

#include "compiler/lower/filter.h"
#include "compiler/query/access.h"

struct env_index;

/* A compiled policy where it is to run. */
struct subject {
	struct places places;    /* holds the blob */
	const struct arch *arch; /* whose rules and filters count */
	enum sbx_level level;
	bool enforced; /* asked is what holds at the level, and not what the
	                * rules say */
	bool cut;      /* a `prefer deny` of a glob has found nothing: there was
	                * more than sbxrun searches */
	bool
	    policy_alone; /* variables that sbxrun sets by itself are left out */
	int abi;          /* of Landlock; 0: the newest known */
	const struct sbx_program *program; /* the filter that sbxrun takes on
	                                    * this machine; NULL: not known */
	const char *unknown;   /* why it is not, though it was asked for: sbxrun
	                      * "is ...", "does ..."; or NULL */
	struct env_index *env; /* of the blob, if many variables are asked
	                        * about; NULL: all rules are looked at */
};

/* What decided: from BY_RULE on, a record of a kind of rule. */
enum verdict_by {
	BY_NOTHING,    /* no rule is about it */
	BY_EVERYTHING, /* allow everything */
	BY_NETWORK,    /* network full or loopback, allowed or denied */
	BY_OLD_KERNEL, /* no TCP socket opens below Landlock ABI 4 */
	BY_OUTSIDE,  /* a server of outside listens at a place of a path rule */
	BY_NO_PATHS, /* sockets stay shut where only a filter is there */
	BY_SPAWN,    /* deny spawn */
	BY_SCRATCH,  /* TMPDIR, which leads to the scratch directory */
	BY_AGENT,    /* SSH_AUTH_SOCK, which leads to a socket of the rules */
	BY_SBXRUN,   /* another variable that sbxrun sets itself */
	BY_MACHINE,  /* it has no such system call */
	BY_LINK,     /* on its way, which the view does not hold */
	BY_LEFT,     /* '..' out of a directory, which the view does not hold */
	BY_DEVICE,   /* the view, which has devices only by rules in /dev */
	BY_KEPT, /* the loader, which keeps sbx's own files from all commands */
	BY_OWN,  /* the kernel and the loader, of a link in /proc/self */
	BY_ABOVE, /* the view, which has what leads to what is allowed; if
	           * `source` is a rule's, that denies it */
	BY_SPLIT, /* Landlock is given the entries of its directory, or of
	                * itself, one by one, for a rule denies one */
	BY_RULE,  /* and the kind: BY_RULE + KIND_PATH */
	BY_PATH = BY_RULE + KIND_PATH,
	BY_PORT = BY_RULE + KIND_PORT,
	BY_SYSCALL = BY_RULE + KIND_SYSCALL, /* a rule, or the baseline */
	BY_ENV = BY_RULE + KIND_ENV,
	BY_SET = BY_RULE + KIND_SET, /* the value is the policy's own */
};

struct verdict {
	bool allowed;
	bool preferred; /* a `prefer deny` decided */
	bool depends; /* a system call: on its arguments; a descriptor: on what
	                  * it is */
	bool unenforced; /* denied, and nothing at this level holds it */
	enum verdict_by by;
	uint32_t rule;   /* from BY_RULE on: which record of that kind */
	uint32_t source; /* where it is written, or SBX_NO_SOURCE */
	uint32_t answer; /* of the filter, for a system call that it denies */
	const struct sbx_path *absent; /* a rule that would decide, if something
	                                * were there */
	struct sbx_place link;         /* for BY_LINK, BY_LEFT */
	struct sbx_place
	    split;    /* for BY_SPLIT; `rule` denies something in it.  Of what
	               * is allowed in /proc/self, that later processes lack it */
	bool scratch; /* inside, its path leads to the scratch directory */
};

struct verdict verdict_of(const struct subject *subject,
    const struct access *access);

/* For a kind of rule: what the model says, without the rule that decided; and
 * the Landlock ABI that counts at the subject's level. */
struct verdict verdict_begin(struct sbx_verdict model);
uint32_t verdict_abi(const struct subject *subject);

/* Whether a path rule holds where the subject runs, see sbx_path_holds(). */
bool verdict_path_holds(const struct subject *subject,
    const struct sbx_path *path);

/* Whether a link of this machine is not in the view of level full, so that no
 * path leads through it. */
bool verdict_link_hidden(const struct subject *subject, struct sbx_place link);

/* Whether level full has a directory in its view because something below it is
 * allowed: it can be listed, though no rule allows that, and shows no more. */
bool verdict_is_above_allowed(const struct subject *subject,
    const struct access *access);

/* What the rules about paths say. */
struct verdict path_verdict(const struct subject *subject,
    const struct access *access);

/* The record of a system call on a machine; NULL if the blob has none. */
const struct sbx_syscall *verdict_syscall(const struct sbx_blob *blob,
    const struct arch *arch, const char *name);

/* The filter that the loader takes, see struct sbx_program; NULL if none. */
const struct sbx_program *verdict_program(const struct subject *subject);

#endif
