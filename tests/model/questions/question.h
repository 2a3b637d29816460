/*
 * Questions about a policy, in the words in which `sbxc why` and test files have
 * them, with the answer of plain.h: about what its rules name and what is near.
 */
#ifndef SBX_TEST_QUESTION_H
#define SBX_TEST_QUESTION_H

#include "tests/lib/chance.h"
#include "tests/model/questions/plain.h"
#include "tests/model/spots.h"

enum { QUESTION_WORDS = 3 };

struct question {
	const char *words[QUESTION_WORDS];
	size_t count;
	bool allowed; /* the rules say so */
	bool happens; /* at the level: it is allowed, or nothing holds it */
	/* It may be asked of another policy, too. */
	bool (
	    *plain)(const struct plain *plain, const struct question *question);
	uint8_t detail; /* a right, an operation on ports, or `private` */
	uint16_t port;
	uint8_t address[16];
	const char *name; /* or a path; the root is "" */
};

struct asker {
	struct arena *arena;
	struct chance *chance;
	const struct plain *plain;
	struct spots spots;
};

/* Looks for what is worth asking about; the plain one stays in place. */
void asker_make(struct asker *asker, struct arena *arena, struct chance *chance,
    const struct plain *plain);

struct question question_make(struct asker *asker);

/* Whether it is about a right on a path. */
bool question_is_path(const struct question *question);

/* "allow write '/srv/x'", for people. */
const char *question_text(struct arena *arena, const struct question *question);

/* Where and how the policy runs, at random. */
struct layout layout_make(struct arena *arena, struct chance *chance,
    const struct policy *policy);

#endif
