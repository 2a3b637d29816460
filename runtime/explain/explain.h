/*
 * --explain: the supervisor looks at the system calls of the command, tells
 * from the policy which of them are denied, and keeps each distinct denial
 * once.
 *
 *	the command: open("x")  --filter-->  waits
 *	the supervisor: reads "x", asks the model, notes  --answer-->  goes on
 *
 * It reports and never decides.  A call that the policy's filter allows goes on
 * in the kernel, whatever was seen; one that the filter refuses gets from here
 * the errno that it would have got there.
 *
 * The kernel does not tell what it denied.  So a denial is what the model
 * denies and what would have worked outside: the place exists, and its mode
 * lets this user do it.  Nothing that the command names is opened for that, but
 * with O_PATH.
 */
#ifndef SBX_EXPLAIN_H
#define SBX_EXPLAIN_H

#include "format/denial.h"
#include "format/filter_run.h"
#include "runtime/bind/bind.h"
#include "runtime/explain/learn.h"
#include "runtime/network/decisions.h"

enum { NAME_SERVERS = 53 }; /* their port */

struct explaining {
	const struct sbx_blob *blob;
	const struct binding *binding; /* as it is outside */
	bool view;                     /* level full */
	struct sbx_place scratch;      /* which is /tmp there, or no path */
	bool session;  /* it was bound when the session was made */
	bool live;     /* each is told when it is found */
	bool thorough; /* no look is left out, see traced.h */
	bool splits; /* below full, some denial takes rights from directories */
	int helper;  /* sbxc, O_PATH; -1: there is none to be trusted */
	/* The command's filter, from the moment when it has one; so many
	 * instructions at its beginning are not the policy's. */
	const struct sbx_insn *filter;
	uint32_t guard;
	uint32_t count; /* of the denials */
	uint32_t more;  /* calls that were denied when there was no more room */
	uint32_t unread; /* calls whose words could not be read */
	struct sbx_denial *denials;
	struct learning *learning; /* --learn; NULL: nothing is learned */
};

/* Room for denials, in the supervisor's own memory. */
void explain_begin(struct explaining *explaining, const struct sbx_blob *blob);

/* By which rules it judges; the binding is made outside and does not change. */
void explain_bind(struct explaining *explaining, const struct binding *binding,
    bool view);

/* Counts a denial: a new one, one that is known, or one whose names are too
 * many to be kept apart.  Returns it if it is new. */
const struct sbx_denial *explain_add(struct explaining *explaining,
    const struct sbx_denial *denial);

/* Whether it has a path, or the name or address of a host. */
bool explain_has_path(const struct sbx_denial *denial);
bool explain_has_host(const struct sbx_denial *denial);

/* Adds what was refused in the network. */
void explain_network(struct explaining *explaining,
    const struct decisions *decisions);

/* The rule that would allow that, as the network's own part has it; false: none
 * would, or it is no such denial. */
bool explain_host_remedy(struct out *out, const struct sbx_denial *denial);

/* "sbxrun: denied: ..." on stderr. */
void explain_say(const struct explaining *explaining,
    const struct sbx_denial *denial);

/* The words of a kind: "read", "call" and so on. */
const char *explain_word(const struct sbx_denial *denial);

/* "no rule", "private address" and so on. */
const char *explain_host_verdict(const struct sbx_denial *denial);

/* "github.com:22", "10.0.0.5:80", "tcp 8080". */
void explain_host(struct out *out, const struct sbx_denial *denial);

/* A place as the language spells it, from the anchor that says most. */
void explain_place(struct out *out, const struct explaining *explaining,
    const char *path);

#endif
