/*
 * The records of sbxrun in words.  sbxrun writes one JSON object a line, each with
 * the version of the form ("sbx") and what it is about ("event"); sbxrun(1)
 * describes them.  Whoever wrote one may not be trusted, and names in it are those
 * that a command chose: all text is printed by out_shown().
 */
#ifndef SBX_COMPILER_RECORDS_RECORDS_H
#define SBX_COMPILER_RECORDS_RECORDS_H

#include "compiler/query/query.h"
#include "compiler/tables/tables.h"
#include "runtime/base/out.h"

struct printing {
	struct arena *arena;
	struct out out; /* to standard output */
	bool brief;     /* of a plan, the first screen */
};

/* Prints each record of a file, "-" for standard input. */
enum exit_status records_print(struct printing *printing, const char *path);

/* A member that is a text, shown; nothing if there is none. */
void put_shown(struct out *out, const struct json_t *record, const char *key);

/* "  [team.sbx:3:4]\n" of a rule. */
void put_source(struct out *out, const struct json_t *rule);

/* What was denied to a command, and what would allow it. */
void explained_show(struct out *out, const struct subject *subject,
    const struct denials *denials);

/* A record of a receipt; false if it is none. */
bool run_show(struct out *out, const char *event, const struct json_t *record);

/* --- log.c --------------------------------------------------------------- */

struct log_query {
	const char *policy, *command; /* or NULL */
	double since;                 /* seconds since 1970 */
	bool denied;                  /* runs in which something was */
	bool follow, json;
};

/* Prints a table of the runs, or their lines. */
enum exit_status log_show(struct arena *arena, const char *path,
    const struct log_query *query);

/* Whether no line was changed or removed, as the chain tells; if `hash` is not NULL,
 * a line must have that one. */
enum exit_status log_verify(struct arena *arena, const char *path,
    const char *hash);

void plan_show(struct printing *printing, const struct json_t *plan);
void status_show(struct out *out, const struct json_t *status);
void self_test_show(struct out *out, const struct json_t *test);
void sessions_show(struct out *out, const struct json_t *sessions);

#endif
