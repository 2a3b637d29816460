/*
 * What a rule about paths speaks of, in the spellings that tables of places
 * have: /root, /home/ada and all of /home are homes as ~ is, /run/user/1000 is
 * a ${runtime}, and a glob that ends with a bare '*' is its directory.
 */
#ifndef SBX_COMPILER_CHECK_SPELLING_H
#define SBX_COMPILER_CHECK_SPELLING_H

#include "compiler/policy/policy.h"
#include "format/glob.h"

enum { MAX_SPELLINGS = 5 };

struct spelling {
	struct target at;
	bool globbed;         /* it speaks of what `glob` matches below `at` */
	struct sbx_glob glob; /* points into the rule's text */
	/* What the rule writes before `at`, as in "/home/ada": so many bytes of
	 * its own place; or it cannot be told, because a pattern is there. */
	uint32_t prefix;
	bool unplaced;
};

/* Those of a rule, the one that is written first; how many. */
size_t rule_spellings(struct arena *arena, const struct path_rule *rule,
    struct spelling spellings[MAX_SPELLINGS]);

/* How a rule and a place meet. */
enum reach {
	REACH_NONE,
	REACH_INSIDE, /* the rule speaks of something in the place */
	REACH_AT,     /* of the place itself, and of all in it */
	REACH_ABOVE,  /* of a tree that the place lies in */
};
enum reach spelling_reaches(const struct spelling *spelling,
    struct target place);

/* A place that the spelling reaches as the rule itself would write it; false if
 * that cannot be told. */
bool spelling_place(struct arena *arena, const struct path_rule *rule,
    const struct spelling *spelling, struct target place,
    struct target *written);

#endif
