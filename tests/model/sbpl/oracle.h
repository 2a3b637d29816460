/*
 * What a policy means on macOS, in the operations of its sandbox: from the rules
 * and the model's verdicts, and from nothing that writes the profile.
 */
#ifndef SBX_TEST_SBPL_ORACLE_H
#define SBX_TEST_SBPL_ORACLE_H

#include "compiler/policy/policy.h"
#include "format/model.h"

struct oracle {
	struct arena *arena;
	const struct policy *policy;
	const char *anchors[SBX_MAX_ANCHORS]; /* what they are bound to */
	size_t anchor_count;
	struct sbx_rule *bound; /* beside the policy's paths */
	struct sbx_rule *rules; /* as they bear on the path in question */
	bool everything;
	enum sbx_net net;
};

/* Where the anchors lie: one of these, by number. */
enum { ORACLE_LAYOUTS = 6 };

struct oracle oracle_make(const struct policy *policy, size_t layout);

/* The place of a rule, as the kernel sees it: /tmp is a link to /private/tmp. */
const char *oracle_bind(const struct oracle *oracle, struct target at);

/* An operation on a file, a connection to a socket, and the others; "/" is the
 * root.  They say whether it is allowed. */
bool oracle_file(const struct oracle *oracle, const char *operation,
    const char *path);
bool oracle_socket(const struct oracle *oracle, const char *path);
bool oracle_address(const struct oracle *oracle, enum sbx_port_op op, bool tcp,
    bool local, int port);
bool oracle_signal(const struct oracle *oracle, bool inside);
bool oracle_fork(const struct oracle *oracle);

/* What every process is given besides: (operation, name). */
bool oracle_other(const struct oracle *oracle, const char *operation,
    const char *name);

/* The operations on files, and what is asked of the others; NULL at the end. */
extern const char *const oracle_file_operations[];
extern const struct oracle_name {
	const char *operation, *name;
} oracle_names[];

#endif
