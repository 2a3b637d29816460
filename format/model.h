/*
 * The model: who may do what under a policy whose anchors are bound.
 *
 * There is one verdict function for each kind of object, and everybody asks
 * it: sbxc why, the loader when it decides what to hand to Landlock, and the
 * tests that hold it against the kernel.  Nothing here touches the machine.
 *
 * Paths are absolute and normal: no "//", "." or ".." and no slash at the end.
 * The root directory is the empty string, so that every path P is below a
 * place A exactly if P starts with A and goes on with '/' or ends.
 */
#ifndef SBX_MODEL_H
#define SBX_MODEL_H

#include "format/blob.h"

struct sbx_place {
	const char *path;
	uint32_t len;
};

/* A path rule whose place is bound. */
struct sbx_rule {
	struct sbx_place at;
	const struct sbx_place *exclusions;
	uint32_t source; /* index into the blob's sources */
	uint16_t exclusion_count;
	uint8_t effect; /* enum sbx_effect */
	uint8_t rights; /* enum sbx_right */
};

/*
 * Whether a path rule holds at a level.  Below level full there are no masks:
 * to deny writing in a tree that may be written, Landlock would have to take
 * the making of files away from the directories above.  `deny` pays that price;
 * `prefer deny write` does not, and holds at level full alone.
 */
static inline bool
sbx_path_holds(const struct sbx_path *path, enum sbx_level level)
{
	return level == SBX_LEVEL_FULL || path->effect != SBX_PREFER_DENY ||
	    path->rights != SBX_WRITE;
}

enum sbx_reason {
	SBX_BECAUSE_NOTHING, /* no rule allows it */
	SBX_BECAUSE_ALLOWED,
	SBX_BECAUSE_DENIED,
};

#define SBX_NO_RULE UINT32_MAX

struct sbx_verdict {
	enum sbx_reason reason;
	/* The deciding rule: an index into the rules that were given, or into
	 * the blob's ports or variables.  SBX_NO_RULE: none of them decided. */
	uint32_t rule;
	bool preferred; /* a `prefer deny` decided */
};

static inline bool
sbx_verdict_allows(struct sbx_verdict verdict)
{
	return verdict.reason == SBX_BECAUSE_ALLOWED;
}

/* Whether path is the place or below it. */
bool sbx_covers(struct sbx_place place, struct sbx_place path);

/* Whether the rule applies to path: below its place and in none of its
 * exclusions. */
bool sbx_rule_covers(const struct sbx_rule *rule, struct sbx_place path);

/*
 * Whether one right (SBX_READ, SBX_WRITE or SBX_EXEC) is given at path: some
 * allow covers it and no deny does.  The deciding rule is the first deny, or
 * else the allow with the longest place.
 */
struct sbx_verdict sbx_path_verdict(const struct sbx_rule *rules, size_t count,
    uint8_t right, struct sbx_place path);

/*
 * Whether the right, though given at the directory `path`, is denied somewhere
 * below it, so that Landlock, which has no denials, can only hand it to the
 * directory's entries one by one.  Then, at level standard, the directory is
 * not listed (read) and nothing is made, renamed or removed directly in it
 * (write).
 */
bool sbx_path_is_split(const struct sbx_rule *rules, size_t count,
    uint8_t right, struct sbx_place path);

/*
 * The right of a bound rule about sockets: a socket rule is an sbx_rule with
 * this right, at its place, without exclusions.
 */
enum { SBX_CONNECT = 8 };

/*
 * Whether the rules about sockets let the command connect to one at path; they
 * count before those about paths.  Where none of them speaks of it, it may
 * connect where it may write (SBX_WRITE): nobody is let into a directory's
 * services by being let read there.
 */
static inline struct sbx_verdict
sbx_socket_verdict(const struct sbx_rule *sockets, size_t count,
    struct sbx_place path)
{
	return sbx_path_verdict(sockets, count, SBX_CONNECT, path);
}

/*
 * The verdict on a TCP port (enum sbx_port_op).  Without a rule, the network as
 * a whole is allowed or denied.  Where the sandbox is in the host's network, a
 * service of the host is reached by its port, and one inside is published by
 * listening.
 */
struct sbx_verdict sbx_port_verdict(const struct sbx_blob *blob,
    uint8_t platforms, uint8_t op, uint16_t port);

/* Whether a variable of the caller's environment is handed on. */
struct sbx_verdict sbx_env_verdict(const struct sbx_blob *blob,
    uint8_t platforms, const char *name, size_t len);

/* Shell-like match of the whole text where only '*' is special; linear space,
 * at most len(pattern) * len(text) steps. */
bool sbx_pattern_match(const char *pattern, const char *text, size_t len);

/* Path order: byte order, but '/' before every other byte, so that a tree is
 * contiguous and follows its root. */
int sbx_place_compare(struct sbx_place a, struct sbx_place b);

#endif
