/*
 * A finite universe of accesses: what two policies say to each of them is held
 * against what compiler/compare/compare.h says of the two.
 */
#ifndef SBX_TEST_UNIVERSE_H
#define SBX_TEST_UNIVERSE_H

#include "compiler/compare/compare.h"
#include "tests/model/drafts.h"

struct pair {
	struct arena *arena;
	struct comparison comparison;
	const struct built *built[SIDE_COUNT];
	char fault[1024];
};

__attribute__((format(printf, 2, 3))) bool wrong(struct pair *pair,
    const char *format, ...);

/* Whether something was too much to look at. */
bool is_undecided(const struct comparison *comparison);

bool check_witness(struct pair *pair, const struct difference *difference);

/* One access, in the circumstances of the subjects: if it differs, that must
 * have been reported. */
bool check_access(struct pair *pair, const struct subject subjects[SIDE_COUNT],
    const struct access *access);

bool check_paths(struct pair *pair, struct chance *chance);

bool check_ports(struct pair *pair, struct chance *chance);

bool check_env(struct pair *pair, struct chance *chance);

bool check_calls(struct pair *pair, struct chance *chance);

bool check_settings(struct pair *pair);

/* Compares them. */
void pair_make(struct pair *pair, struct arena *arena, const struct built *old,
    const struct built *new);

/* All of it, and sometimes the other way round: false, and why in `fault`. */
bool check_pair(struct pair *pair, struct chance *chance);

#endif
