/*
 * Resolved policies made by hand, for the tests of what comes after resolving:
 * each differs from the default in what filters look at.
 */
#ifndef SBX_TEST_SAMPLES_H
#define SBX_TEST_SAMPLES_H

#include "compiler/policy/policy.h"

#include <string.h>

/* Names are "@group" or a call; NULL ends a list. */
struct sample {
	const char *name;
	bool internet, connects, listens, abstract, loopback, limited;
	const char *allow[4], *deny[6];
	const char *shows; /* a path that may be read */
	uint8_t platforms; /* of all its rules; 0 is everywhere */
};

static const struct sample samples[] = {
	{ .name = "nothing said" },
	{ .name = "the internet", .internet = true },
	{ .name = "ports to connect to", .connects = true },
	{ .name = "ports both ways", .connects = true, .listens = true },
	{ .name = "abstract sockets", .internet = true, .abstract = true },
	{ .name = "a view of everything", .shows = "" },
	{ .name = "a network of its own", .loopback = true },
	{ .name = "both networks", .loopback = true, .internet = true },
	{ .name = "loopback and a view", .loopback = true, .shows = "" },
	{ .name = "mounts", .allow = { "@mount" }, .deny = { "umount2" } },
	{ .name = "namespaces", .allow = { "@namespaces" } },
	{ .name = "debuggers", .allow = { "ptrace", "personality" } },
	{ .name = "no clone", .deny = { "clone", "clone3", "ioctl" } },
	{ .name = "no sockets", .deny = { "@network-io" } },
	{ .name = "everything known", .allow = { "@known" } },
	{ .name = "nearly nothing",
	    .deny = { "@ipc", "@io-event", "@signal", "@timer", "@resources",
		"@sync" } },
	{ .name = "a limit", .limited = true },
	{ .name = "a limit and ports", .limited = true, .connects = true },
	{ .name = "a limit and io_uring",
	    .limited = true,
	    .allow = { "@io-uring" },
	    .deny = { "@chown" } },
	{ .name = "a limit and no messages",
	    .limited = true,
	    .deny = { "sendmsg" } },
	{ .name = "one machine",
	    .allow = { "@keyring" },
	    .deny = { "statx", "@memlock" },
	    .platforms = SBX_ON_LINUX_X86_64 },
};
enum { SAMPLE_COUNT = sizeof samples / sizeof *samples };

/* A place for each rule, so that tests see which one decided. */
static inline struct origin
sample_origin(const struct sample *sample, uint32_t place)
{
	return (struct origin){
		.loc = { place, place + 1 },
		.via = sample->name,
		.platforms = sample->platforms != 0 ? sample->platforms :
						      SBX_ON_ALL,
		.own = true,
	};
}

static inline void
sample_syscalls(const struct sample *sample, struct policy *policy,
    const char *const *names, size_t max, enum sbx_effect effect)
{
	for (size_t i = 0; i < max && names[i] != NULL; i++) {
		bool group = *names[i] == '@';

		struct origin origin = sample_origin(sample,
		    effect == SBX_ALLOW ? 100 : 200);
		struct rule *rule = policy_add(policy, KIND_SYSCALL, &origin,
		    effect);

		rule->syscall.name = names[i] + group;
		rule->syscall.group = group;
	}
}

static inline void
sample_blanket(const struct sample *sample, struct policy *policy,
    enum blanket_kind kind, uint32_t place)
{
	struct origin origin = sample_origin(sample, place);

	policy_add(policy, KIND_BLANKET, &origin, SBX_ALLOW)->detail =
	    (uint8_t)kind;
}

static inline void
sample_port(const struct sample *sample, struct policy *policy,
    enum sbx_port_op op)
{
	struct origin origin = sample_origin(sample, 300);
	struct rule *rule = policy_add(policy, KIND_PORT, &origin, SBX_ALLOW);

	rule->detail = (uint8_t)op;
	rule->port.low = rule->port.high = 443;
}

static inline void
sample_limit(const struct sample *sample, struct policy *policy)
{
	struct origin origin = sample_origin(sample, 600);
	struct rule *rule = policy_add(policy, KIND_LIMIT, &origin, SBX_ALLOW);

	rule->detail = SBX_LIMIT_TIMEOUT;
	rule->limit.value = 60;
}

static inline struct policy *
sample_policy(struct arena *arena, const struct sample *sample)
{
	struct policy *policy = arena_alloc(arena, sizeof *policy);

	policy->arena = arena;
	policy->sources = arena_alloc(arena, sizeof *policy->sources);
	policy->profile = sample->name;
	policy->level = SBX_LEVEL_MINIMAL;
	sample_syscalls(sample, policy, sample->allow, 4, SBX_ALLOW);
	sample_syscalls(sample, policy, sample->deny, 6, SBX_DENY);
	if (sample->internet)
		sample_blanket(sample, policy, BLANKET_NETWORK, 300);
	if (sample->loopback)
		sample_blanket(sample, policy, BLANKET_LOOPBACK, 300);
	if (sample->abstract)
		sample_blanket(sample, policy, BLANKET_ABSTRACT, 400);
	if (sample->connects)
		sample_port(sample, policy, SBX_CONNECT_TCP);
	if (sample->listens)
		sample_port(sample, policy, SBX_LISTEN_TCP);
	if (sample->limited)
		sample_limit(sample, policy);
	if (sample->shows != NULL)
		*arena_push(arena, &policy->paths) = (struct path_rule){
			.origin = sample_origin(sample, 500),
			.effect = SBX_ALLOW,
			.at = { sample->shows, SBX_ANCHOR_ROOT },
			.rights = SBX_READ,
		};
	return policy;
}

#endif
