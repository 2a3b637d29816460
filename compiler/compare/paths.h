/* The search for paths that two policies treat differently. */
#ifndef SBX_COMPILER_COMPARE_PATHS_H
#define SBX_COMPILER_COMPARE_PATHS_H

#include "compiler/base/base.h"
#include "compiler/compare/compare.h"
#include "format/model.h"

#include <stdbool.h>

/* --- globs.c ----------------------------------------------------------- */

/* '*' stands for any bytes; '?' for one character if it is a mark. */
struct name_pattern {
	const char *text;
	size_t len;
	bool marks;
};

/* The plainest name that a pattern matches: with `star` for each star. */
const char *name_sample(struct arena *arena, const struct name_pattern *pattern,
    const char *star);

/* Whether each name that one part matches another one does, too; false may be
 * wrong. */
bool name_lies_in(const char *part, size_t len, const char *outer,
    size_t outer_len);

/* --- paths.c ----------------------------------------------------------- */

/*
 * Path rules of two policies while they are compared, between the files that
 * merge them (rules.c), go through all places (paths.c) and through what globs
 * match (globs.c).
 */

#define NO_RULE UINT32_MAX

/* One rule that either policy has, or both; `prefer deny` is a deny. */
struct merged_rule {
	bool allow;
	bool everything;
	uint8_t rights[SIDE_COUNT];  /* 0: that policy has no such rule */
	uint32_t index[SIDE_COUNT];  /* into the blob's paths, or NO_RULE */
	uint8_t effects[SIDE_COUNT]; /* bits 1 << enum sbx_effect */
	enum side side;              /* whose text it is bound from */
	const struct sbx_path *path; /* that text; NULL: of everything */
	const struct sbx_glob *glob; /* or NULL */
	const uint32_t *parts;       /* of the glob, as numbers of names */
	uint8_t undecided; /* rights: a glob may make a difference by them */
};

struct rules {
	struct merged_rule *items;
	size_t count;
	uint32_t *of[SIDE_COUNT]; /* from an index of the blob's paths */
	VEC(struct name_pattern) parts;
};

/* A rule at its place; a deny about ~ may have two. */
struct bound_rule {
	struct sbx_rule at;
	struct merged_rule *rule;
};

/* A place where a rule, or one of its exclusions, begins. */
struct event {
	struct sbx_place at;
	uint32_t bound;
	bool exclusion;
};

/* A glob that may match below the directory that was come to. */
struct live {
	uint32_t bound;
	uint64_t states;
};

/* A rule that only one policy has and that covers where the walk is. */
struct changing {
	uint32_t bound;
	uint32_t len; /* of the place, or of what its glob matched */
};

/* A list that also gets shorter, for STACK_PUSH(). */
#define STACK(T) \
	struct { \
		T *items; \
		size_t count, capacity; \
	}

/* Room for one more element, which is returned zeroed or as it was left. */
#define STACK_PUSH(arena, stack) \
	((stack)->items = stack_grow((arena), (stack)->items, (stack)->count, \
	     &(stack)->capacity, sizeof *(stack)->items), \
	    &(stack)->items[(stack)->count++])
void *stack_grow(struct arena *arena, void *items, size_t count,
    size_t *capacity, size_t size);

/* Longer than any place. */
enum { WALK_PATH_ROOM = 4 * SBX_MAX_PATH };

/* A difference because of a rule, where another one decides. */
struct second {
	const struct merged_rule *rule;
	struct sbx_place path;
};

/* The place where the walk is, or a directory above it. */
struct level {
	uint32_t len;            /* of its path */
	struct sbx_range events; /* as sorted in the index */
	size_t lives, matched;   /* how many there were before */
};

/* Going through all places for one right, parents before what lies in them. */
struct walk {
	struct pass *pass;
	const struct rules *rules;
	const struct bound_rule *bounds;
	struct sbx_index *index; /* of events */
	uint8_t right;
	uint32_t *begun, *excluded; /* of each bound rule, how often */
	uint32_t *lens;             /* of the path where it began */
	uint32_t allows[SIDE_COUNT], denies[SIDE_COUNT];
	STACK(struct changing) changing;
	STACK(struct live) lives;   /* those of the last level last */
	STACK(uint32_t) matched;    /* globs that match on the way */
	STACK(struct level) levels; /* from the root on */
	char *path;
	uint32_t len;
	VEC(struct second) second; /* of globs.c */
};

/* The first of the globs that are live where the walk is. */
static inline size_t
walk_first_live(const struct walk *walk)
{
	return walk->levels.items[walk->levels.count - 1].lives;
}

/* Whether only one policy has the rule for this right. */
static inline bool
rule_changed(const struct merged_rule *rule, uint8_t right)
{
	return ((rule->rights[SIDE_OLD] ^ rule->rights[SIDE_NEW]) & right) != 0;
}

/* The policy that has it, of a rule that only one has. */
static inline enum side
rule_side(const struct merged_rule *rule, uint8_t right)
{
	return rule->rights[SIDE_NEW] & right ? SIDE_NEW : SIDE_OLD;
}

/* What such a rule can change. */
static inline enum change
rule_change(const struct merged_rule *rule, uint8_t right)
{
	return rule->allow == (rule_side(rule, right) == SIDE_NEW) ?
	    CHANGE_WIDER :
	    CHANGE_NARROWER;
}

/* What a policy says of a path, beside one rule: that it allows, or denies. */
#define ALLOWS(side) (uint8_t)(1u << (side))
#define DENIES(side) (uint8_t)(4u << (side))

/* What a rule makes so where it covers. */
uint8_t rule_facts(const struct merged_rule *rule, uint8_t right);

/* When a rule that only one policy has makes a difference where it covers. */
struct rule_aim {
	uint8_t forbidden; /* facts with which there is none */
	uint8_t required;  /* facts that it takes */
};
struct rule_aim rule_aim(const struct merged_rule *rule, uint8_t right);

struct note_key rule_key(const struct merged_rule *rule, uint8_t right);

/* Notes a path on which the policies differ, under the rule that decides; or,
 * with `force`, under this one.  False if another rule than `rule` decides and
 * it is not forced. */
bool walk_note(struct walk *walk, const struct merged_rule *rule,
    const char *path, uint32_t len, bool force);

/* Looks below where the walk is for paths that are no places of the index, nor
 * above one, and differ because of a glob.  `inhabited`: the index has places
 * there. */
void walk_globs(struct walk *walk, bool inhabited);
void walk_globs_end(struct walk *walk);

/* Counts the work of a glob on a name. */
void walk_count_step(struct walk *walk, const struct sbx_glob *glob,
    size_t len);

/* --- bindings.c -------------------------------------------------------- */

/* The first is the usual one; NULL: there are no more. */
const struct binding *binding_usual(size_t number);

/* The usual one in which the password entry has another home: it comes last,
 * for no option says so. */
const struct binding *binding_two_homes(void);

/* What a policy that names the usual home by its path means for others. */
const struct binding *binding_other_user(void);

/* Whether a policy has paths in what is usually the home directory. */
bool binding_names_home(const struct sbx_blob *blob);

/* Whether it can show what the first does not. */
bool binding_is_useful(const struct comparison *comparison,
    const struct binding *binding);

/* None in another, nor in a place that is watched by its path. */
const struct binding *binding_apart(struct comparison *comparison);

/* Whether a workspace or a home may be there: no device, no directory of the
 * system.  A parameter may name the latter. */
bool binding_is_work_place(const char *path);
bool binding_is_param_place(const char *path);

/* A policy in one of these ways; if the user has bound it, only parameters are
 * as they are there. */
struct subject binding_subject(const struct comparison *comparison,
    const struct binding *binding, enum side side, struct arena *arena);

#endif
