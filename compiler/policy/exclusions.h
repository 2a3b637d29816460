/*
 * `except`: the exclusions of one statement about paths, and those of them that
 * each of its paths gets.
 */
#ifndef SBX_EXCLUSIONS_H
#define SBX_EXCLUSIONS_H

#include "compiler/policy/expand.h"

struct exclusion {
	struct place place;
	const struct ast_atom *atom;
	bool used; /* it is below one of the rule's paths, or may be */
};

struct exclusions {
	struct expansion *expansion;
	VEC(struct exclusion) list; /* in the order of the text */
	struct exclusion **sorted;  /* the same, by place */
	uint8_t platforms;          /* that all of them are for */
};

/* Reads those of a statement for some platforms; false after reporting. */
bool exclusions_read(struct exclusions *exclusions, struct expansion *expansion,
    const struct ast_stmt *stmt, uint8_t platforms);

/* Whether some exclusion is not for all of these platforms. */
bool exclusions_differ(const struct exclusions *exclusions, uint8_t platforms);

/* Gives a rule its exclusions; false if one of them swallows its path. */
bool exclusions_cut(struct exclusions *exclusions, struct path_rule *rule);

/* Reports those that cut nothing out of any path of the statement. */
void exclusions_report(const struct exclusions *exclusions,
    const struct ast_stmt *stmt);

#endif
