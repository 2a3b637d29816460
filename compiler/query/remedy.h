/*
 * What to do so that a policy allows what it denies: steps that together work,
 * or the reason why none is offered; never both.  A rule of one's own file is
 * changed; one that comes from a shipped profile is dropped, and what that opens
 * is said.  Nothing is offered that would show credentials, give away more than
 * the place (check/risks.c), or let a command write where one's own file says
 * that it must not.
 */
#ifndef SBX_REMEDY_H
#define SBX_REMEDY_H

#include "compiler/query/verdict.h"
#include "format/denial.h"

#include <stdio.h>

enum remedy_do {
	REMEDY_ADD, /* a statement, "allow ..." or "drop ...", to the profile */
	REMEDY_REMOVE, /* a rule of one's own, which is at the source */
	REMEDY_EXCEPT, /* the object goes behind `except` of the rule there */
	REMEDY_MAKE,   /* a directory, before the command starts */
	REMEDY_MAKE_EXCEPTED, /* the place of an exception, of either kind */
	REMEDY_MAKE_ABOVE,    /* the directory that is excepted */
	REMEDY_NONE,          /* nothing is offered: why */
	REMEDY_INSTEAD, /* a statement that makes the access unnecessary */
	REMEDY_HINT,    /* what may be done instead, in words */
	REMEDY_OPENS,   /* what the step before gives away as well */
};

struct remedy_step {
	enum remedy_do what;
	const char *text;
	uint32_t source;
};

struct remedy {
	struct arena *arena;
	const struct subject *subject;
	const struct sbx_blob *blob;
	const struct access *access;
	const struct verdict *verdict;
	VEC(struct remedy_step) steps; /* none: it takes another machine */
};

struct remedy remedy_find(const struct subject *subject,
    const struct access *access, const struct verdict *verdict);

/* Whether it is allowed once the steps are done. */
bool remedy_works(const struct remedy *remedy);

/* Where a step is done. */
enum sbx_advice_where remedy_where(const struct remedy_step *step);

/* Into which file the statements go, and how it is compiled; several words.
 * NULL: the policy does not tell. */
const char *remedy_file(struct arena *arena, const struct sbx_blob *blob);

/* One of its steps on a line of its own, without the reasons. */
const char *remedy_words(struct arena *arena, const struct remedy *remedy,
    size_t step);

/* "    to allow it: ..." and so on, a line each. */
void remedy_print(FILE *stream, const struct remedy *remedy);

/* For the kinds of rules: a step of a kind. */
void remedy_add(struct remedy *remedy, enum remedy_do what, const char *format,
    ...) __attribute__((format(printf, 3, 4)));
/* What the step before opens; NULL: nothing else. */
void remedy_opens(struct remedy *remedy, const char *what);
/* That a deny, whose words these are, goes. */
void remedy_lift(struct remedy *remedy, uint32_t source, const char *rule);
bool remedy_is_shipped(const struct sbx_blob *blob, uint32_t source);

/* Why the right that is asked for (access->detail) is not offered for a place, or
 * NULL.  The workspace, the scratch directory and parameters are the command's
 * own.  No verdict is needed. */
const char *remedy_risk(const struct remedy *remedy, struct sbx_place place);

/* Whether a directory has the files of everybody, or of every service: one in
 * the root directory, or one that all may write in, such as /var/tmp. */
bool remedy_is_common(const struct remedy *remedy, struct sbx_place directory);

/* Whether what git runs of a repository lies in the place, or is it. */
bool remedy_has_hook(const struct remedy *remedy, struct sbx_place place);

/* What the denies of writing in a shipped group are there for, or NULL. */
const char *remedy_kept_by(const char *group);

/* What a rule about the place, in these words, opens beside what is asked for. */
void remedy_add_opened(struct remedy *remedy, struct sbx_place place,
    const char *object);

/* As the tables of risks have a place: below ~, or absolute. */
struct target remedy_target(const struct remedy *remedy,
    struct sbx_place place);

/* The directory of a path; that of "/" is itself. */
struct sbx_place remedy_parent(struct sbx_place path);

/* The answer about paths. */
void path_remedy(struct remedy *remedy);

#endif
