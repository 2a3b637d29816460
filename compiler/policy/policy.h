/*
 * The resolved policy: one profile with its parents, groups, sets and
 * variables expanded into flat lists.  The hub of the compiler: resolve.c
 * fills it, check/ looks at it, and the seccomp, SBPL and blob writers read it.
 * Paths are an anchor and a suffix, as in the blob.
 */
#ifndef SBX_POLICY_H
#define SBX_POLICY_H

#include "compiler/language/ast.h"
#include "compiler/policy/target.h"
#include "compiler/report/diag.h"
#include "compiler/report/position.h"
#include "compiler/tables/words.h"
#include "format/blob.h"

/* What every resolved record carries. */
struct origin {
	struct loc loc;    /* the object in the rule, else the statement */
	const char *via;   /* interned name of the profile or group */
	uint8_t platforms; /* enum sbx_platform */
	bool own;          /* written in the file being compiled, not inherited
	                     * from a shipped profile */
	const struct position
	    *from; /* where it says that it was written, or NULL */
};

struct path_rule {
	struct origin origin;
	enum sbx_effect effect;
	uint8_t rights; /* closed upwards, see enum sbx_right */
	struct target at;
	const char *glob; /* interned: what it speaks of below `at`; NULL: of
	                   * `at` and all below */
	const struct target *exclusions;
	uint16_t exclusion_count;
};

/*
 * A rule of any kind.  `detail` is what its words say: an enum sbx_port_op, a
 * blanket_kind, an sbx_limit_kind, a proxy_form, or path rights.  A proxy has a
 * path or a port.
 */
struct rule {
	union {
		struct {
			struct origin origin;
			enum sbx_effect effect;
			uint8_t detail;
		};
		struct path_rule path; /* begins with the same members */
	};
	enum rule_kind_id kind;
	union {
		struct {
			uint16_t low, high;
		} port;
		struct {
			const char *name; /* without '@' */
			bool group;
		} syscall;
		struct {
			const char *pattern;
		} env;
		struct {
			const char *name, *text;
			uint16_t anchor; /* or SBX_NO_ANCHOR */
		} set;
		struct {
			uint64_t value;
		} limit;
		struct {
			const char *name; /* in its one spelling */
			uint16_t port;    /* 0: those of struct sbx_name */
			uint8_t flags;    /* enum sbx_name_flag */
		} domain;
		struct {
			uint8_t address[16];
			uint8_t prefix;
			uint16_t low, high;
		} endpoint;
	};
};

struct rule_list {
	struct rule *items;
	size_t count;
};

struct param {
	struct origin origin;
	const char *name;
};

struct policy {
	struct arena *arena;
	struct sources *sources;
	const char *profile;
	struct loc profile_loc;
	const char *about;
	const char *writer; /* of a restored policy; NULL: this sbxc */
	int language;
	enum sbx_level level;       /* SBX_LEVEL_MINIMAL unless required */
	struct origin level_origin; /* no place: not required */
	int landlock;
	struct origin landlock_origin;
	VEC(struct param) params; /* anchor SBX_ANCHOR_PARAM + index */
	VEC(struct path_rule) paths;
	struct rule_list rules[KIND_END]; /* of each kind but paths */
};

/* -D NAME=PATH: where a parameter is. */
struct definition {
	const char *name, *value;
};

struct definitions {
	VEC(struct definition) list;
};

/* A new rule of a kind at the end of its list. */
struct rule *policy_add(struct policy *policy, enum rule_kind_id kind,
    const struct origin *origin, enum sbx_effect effect);

/* Whether a blanket rule holds on a platform: allowed and not denied. */
bool policy_has_blanket(const struct policy *policy, enum blanket_kind kind,
    uint8_t platforms);

/* Whether `deny spawn` holds on a platform. */
bool policy_denies_spawn(const struct policy *policy, uint8_t platforms);

/* Where it is written, by the first position of those that hold there. */
struct origin policy_spawn_origin(const struct policy *policy,
    uint8_t platforms);

/* What the network rules add up to on a platform; its deciding origin. */
enum sbx_net policy_net(const struct policy *policy, uint8_t platforms,
    struct origin *origin);

/*
 * Where it was written, for whoever reads the blob; no file for no origin.
 * Of several rules that say the same, the one whose position comes first is
 * named, so that the order of statements does not matter.
 */
struct position policy_position(const struct policy *policy,
    const struct origin *origin);

/*
 * The rules about system calls of one effect on a machine, the strongest first:
 * a name says more than a group, and then the first position counts.
 */
struct ranked_syscalls {
	VEC(struct ranked_syscall {
		const struct rule *rule;
		struct position position;
	})
	rules;
};
void policy_rank_syscalls(const struct policy *policy, bool allow,
    uint8_t platforms, struct ranked_syscalls *ranked);

/* "${workspace}/x", "~/x", "/x": a target as it is written. */
const char *policy_target_text(const struct policy *policy,
    struct target target);

/* The name of an anchor: "workspace", a parameter's name; "" for the root. */
const char *policy_anchor_name(const struct policy *policy, uint16_t anchor);

#endif
