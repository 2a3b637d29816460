/* A resolved policy. */
#ifndef SBX_COMPILER_POLICY_POLICY_H
#define SBX_COMPILER_POLICY_POLICY_H

#include "compiler/base/base.h"
#include "compiler/language/ast.h"
#include "compiler/report/report.h"
#include "compiler/tables/tables.h"
#include "format/blob.h"

#include <stdbool.h>
#include <stdint.h>

/* --- target.c ---------------------------------------------------------- */

struct target {
	const char *suffix; /* interned: "" or "/x/y" */
	uint16_t anchor;    /* enum sbx_anchor_id, or a parameter */
};

/* Byte order with '/' first, as sbx_place_compare(), after the anchor. */
int target_compare(struct target a, struct target b);

/* The same, for qsort(3). */
int targets_compare(const void *a, const void *b);

/* The same number for equal places. */
uint64_t target_hash(struct target target);

/* Whether `at` is the place or below it; false for different anchors. */
bool target_covers(struct target place, struct target at);

/* --- policy.c ---------------------------------------------------------- */

/*
 * The resolved policy: one profile with its parents, groups, sets and
 * variables expanded into flat lists.  The hub of the compiler: resolve.c
 * fills it, check/ looks at it, and the seccomp, SBPL and blob writers read it.
 * Paths are an anchor and a suffix, as in the blob.
 */

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
			const char
			    *except; /* interned: names, a blank between */
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
			/* Interned or NULL; both or none: of a request. */
			const char *method, *path;
			const char *secret, *variable;
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
	const char *writer; /* that a blob of it names; NULL: this sbxc */
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

/* --- blocks.c ---------------------------------------------------------- */

/*
 * Where profiles and groups are found: in the file, in what it includes, and
 * then among the shipped ones, which are parsed when somebody asks for them.
 */

/* A profile or a group. */
struct block {
	const struct ast_stmt *stmt;
	const struct source *source;
	const char *name; /* interned */
	bool group;
	bool entered;
	bool busy; /* its groups are being gathered */
	bool gathered;
	int layer;         /* the last one that expanded it; 0: none */
	uint8_t platforms; /* the platforms that it did so for */
	uint8_t latest;    /* those of its last use there */
};

struct blocks {
	struct arena *arena;
	struct sources *sources;
	struct diags *diags;
	struct map profiles, groups;
	struct map
	    copies; /* profiles with a mark and the name of a shipped one */
	VEC(struct block *) all;
	VEC(struct block *) entered; /* those to reset: mostly few of all */
	VEC(const struct ast_stmt *) names; /* let and param of the files */
	bool shipped_groups;
	bool faulty;            /* some name was reported */
	bool full;              /* one profile too many was reported */
	bool unused;            /* what nothing speaks of was reported */
	size_t expanded, spent; /* profiles; their rules and names */
	size_t filtered;        /* what their filters took, as so many rules */
};

/* Registers what a file defines, and what it includes; reports names that are
 * defined twice or that belong to a shipped profile or group. */
struct blocks *blocks_new(struct sources *sources, struct diags *diags,
    const struct ast_stmt *stmts);

/* Makes a block busy, and whatever is noted in it from now on something that
 * blocks_reset() takes back. */
void blocks_enter(struct blocks *blocks, struct block *block);

/* Makes them as if none of them had been expanded. */
void blocks_reset(struct blocks *blocks);

/* The profile that is compiled when this name is asked for, or NULL. */
struct block *blocks_wanted(struct blocks *blocks, const char *name);

/* Finds a profile or a group by name, or NULL; does not report. */
struct block *blocks_find(struct blocks *blocks, const char *name, bool group,
    struct loc wanted_at);

/* The same for a name in the policy: reports an unknown one. */
struct block *blocks_get(struct blocks *blocks, const struct ast_atom *name,
    bool group);

/* Whether any profile or group that was read has such a parameter, used here or
 * not. */
bool blocks_have_param(const struct blocks *blocks, const char *name);

/* A name near to one that is unknown, or NULL. */
const char *blocks_nearest(struct blocks *blocks, const char *name, bool group);

/* --- resolve.c --------------------------------------------------------- */

/*
 * From the statements of a file to a resolved policy.
 */

struct blocks;

/* A file that was parsed, and what binds its parameters. */
struct resolution {
	struct arena *arena; /* of the policy; its names are the sources' */
	struct sources *sources;
	struct diags *diags;
	const struct source *file;
	struct ast_stmt *stmts;
	struct blocks *blocks; /* of the statements, and for all profiles */
	struct definitions definitions; /* such a parameter is a constant */
};

/*
 * Expands profile `name` (NULL: the only one in the file).  Returns NULL after
 * reporting what is wrong; check_policy() may still refuse the result.
 */
struct policy *resolve_policy(const struct resolution *given, const char *name);

/* Names of the profiles that `stmts` itself defines, in order. */
struct profile_names {
	VEC(const char *) names;
};
void resolve_profiles(struct arena *arena, struct ast_stmt *stmts,
    struct profile_names *names);

/* --- texts.c ----------------------------------------------------------- */

/* "deny read ~/.config except ~/.config/git"; `more`, if any, is one more
 * exclusion, for a text that shows how to cut something out. */
const char *path_rule_text(const struct policy *policy,
    const struct path_rule *rule, const struct target *more);

/* Its object alone: "~/.cache", or "glob "~/.cache/x*"". */
const char *path_rule_object(const struct policy *policy,
    const struct path_rule *rule);

/*
 * The rules [index, end) of one object, as it is written where it stands for
 * several paths, and without its exclusions.
 */
const char *path_object_text(const struct policy *policy, size_t index,
    size_t end);

/* The end of the object that begins at `index`. */
size_t path_object_end(const struct policy *policy, size_t index);

#endif
