/*
 * The part of a macOS profile that is about paths: the rules, and what keeps
 * denied places from being moved away.
 */
#ifndef SBX_SBPL_PATHS_H
#define SBX_SBPL_PATHS_H

#include "compiler/lower/sbpl.h"

/* Adds all of it. */
void sbpl_add_paths(struct sbpl *sbpl);

/* The filters of what a rule speaks of, without its exclusions. */
void sbpl_add_places(struct sbpl *sbpl, const struct path_rule *rule);

/* The order of the rules.  Equal ones, and only they, compare equal; those that
 * differ in where they hold, or in how a deny is meant, are equal here. */
int sbpl_rule_compare(const struct path_rule *a, const struct path_rule *b);

/* The filters of what a rule about sockets speaks of. */
void sbpl_add_socket(struct sbpl *sbpl, const struct rule *rule);

extern const char sbpl_place_functions[], sbpl_glob_function[],
    sbpl_socket_family[], sbpl_agent[];

/* The wildcards of a glob as a regular expression has them. */
enum { SBPL_WILDCARDS = 4 };
extern const struct wildcard_words {
	const char *glob, *regex;
	bool whole; /* it stands for a whole name */
} sbpl_wildcards[SBPL_WILDCARDS];

enum { SBPL_RIGHTS = 3 };
extern const struct right_words {
	uint8_t right;
	const char *operations;
} sbpl_right_words[SBPL_RIGHTS];

#endif
