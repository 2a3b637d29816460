/*
 * What a resolved policy says of one access, told from its rules and from what
 * sbx(5) says of them, in the plain way: all rules are gone through, and nothing
 * is used of what sbxc or sbxrun ask.
 */
#ifndef SBX_TEST_PLAIN_H
#define SBX_TEST_PLAIN_H

#include "compiler/policy/policy.h"

/* Where and how a policy runs. */
struct layout {
	const char *anchors[SBX_MAX_ANCHORS]; /* the root is "" */
	const char *other_home;               /* or NULL */
	uint8_t platforms;                    /* of the machine: one bit */
	enum sbx_level level;
	int abi; /* of Landlock */
};

struct plain {
	struct arena *arena;
	const struct policy *policy;
	const struct layout *layout;
	bool everything;
	bool callers; /* a variable that is set inside is not allowed */
	bool held;    /* asked is what holds at the level, and not what the
	               * rules say */
	enum sbx_net net;
};

struct plain plain_make(struct arena *arena, const struct policy *policy,
    const struct layout *layout);

/* Of its parts: whether a rule counts on the machine, whether a blanket rule
 * stands there, and allows what none denies, and what all comes to. */
bool plain_holds(const struct plain *plain, const struct origin *origin);
bool plain_has(const struct plain *plain, enum blanket_kind kind, bool allow);
bool plain_is_open(const struct plain *plain, enum blanket_kind kind);
enum sbx_net plain_net(const struct plain *plain);

/* Whether programs are told of a proxy of the sandbox's. */
bool plain_has_proxy(const struct plain *plain);

/* Where a place of the policy lies. */
const char *plain_bind(const struct plain *plain, struct target at);

/* Whether it is allowed.  The root is "". */
bool plain_path(const struct plain *plain, uint8_t right, const char *path);
bool plain_socket(const struct plain *plain, const char *path);
bool plain_agent(const struct plain *plain);
bool plain_unseen(const struct plain *plain, const char *path);
bool plain_env(const struct plain *plain, const char *name);
bool plain_spawn(const struct plain *plain);
bool plain_port(const struct plain *plain, enum sbx_port_op op, uint16_t port);
bool plain_domain(const struct plain *plain, const char *name, uint16_t port,
    bool is_private);
bool plain_endpoint(const struct plain *plain, const uint8_t address[16],
    uint16_t port);

/* One of these system calls, whatever its arguments: those whose arguments
 * decide are not among them. */
extern const struct plain_call {
	const char *name;
	bool denied; /* by the baseline */
} plain_calls[];
extern const size_t plain_call_count;
bool plain_call(const struct plain *plain, const struct plain_call *call);

#endif
