/*
 * `sbxc doctor`: what is wrong or worth knowing about a policy on this machine
 * and in this directory, each with the command that fixes it.  Facts come from
 * sbxrun (--status and -n), from the policy, and from looking; nothing is
 * changed.
 */
#ifndef SBX_DOCTOR_H
#define SBX_DOCTOR_H

#include "compiler/query/subject.h"

struct json_t;

enum finding_state {
	FINDING_GOOD,
	FINDING_NOTE, /* worth knowing; it works */
	FINDING_FIX,  /* it does not work, or does not protect, as it should */
};

struct finding {
	enum finding_state state;
	const char *about, *text;
	const char *command; /* that fixes it, or NULL */
};

struct doctor {
	struct arena *arena;
	const char *policy;           /* as the user has named it */
	const char *workspace;        /* without links */
	const char *home;             /* without links, or NULL */
	const char *configuration;    /* sbx's directory, or NULL: no home */
	const char *sbxrun;           /* its path */
	struct subject *subject;      /* the policy on this machine */
	struct json_t *status, *plan; /* of sbxrun; the plan may be NULL */
	VEC(struct finding) findings;
};

/* Looks, tells, and returns EXIT_POLICY if something is to be fixed. */
enum exit_status doctor_examine(struct doctor *doctor,
    const struct options *options);

/* Adds a finding; `command` may be NULL. */
void doctor_find(struct doctor *doctor, enum finding_state state,
    const char *about, const char *text, const char *command);

/* Whether the policy allows an access here, in the words of `sbxc why`. */
bool doctor_allows(const struct doctor *doctor, const char *what,
    const char *object);

/* What there is to look at, in the order in which it is told. */
void doctor_machine(struct doctor *doctor);
void doctor_policy(struct doctor *doctor);
void doctor_project(struct doctor *doctor);
void doctor_agents(struct doctor *doctor);
void doctor_later(struct doctor *doctor);

#endif
