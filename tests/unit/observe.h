/*
 * What a test of runtime/listen/observe.c says in place of the policy and of the
 * kernel, and what it sees.  The caller is this process.
 */
#ifndef SBX_TEST_OBSERVE_H
#define SBX_TEST_OBSERVE_H

#include "runtime/base/newer_calls.h"
#include "runtime/bind/rule_index.h"
#include "runtime/explain/judge.h"
#include "runtime/listen/answers.h"
#include "runtime/listen/observe.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <fcntl.h>

#define countof(array) (sizeof(array) / sizeof *(array))
#define POINTER(text) ((uint64_t)(uintptr_t)(text))

enum { GUARD = 3, UNREADABLE = 16, RULE_ERROR = EXDEV };

extern struct tap tap;
extern struct learning learning;
extern struct explaining explaining;
extern struct listening listening;
extern struct caller caller;

/* Of the policy, the kernel and the caller. */
struct word {
	bool denies, serves, waits, reads;
	uint32_t kind, action, guard_action;
	const char *path;
	int64_t answer;
};
extern struct word word;

/* What was asked, in words, and what was told. */
extern char seen[1024];
extern struct sbx_denial added;
extern struct wanted learned;
extern int additions, lessons, sayings, guesses, answers;

/* Nothing was seen, and the filter allows the call. */
void begin(int number);

/* Makes the call with three words, and those that it has. */
int64_t call3(uint64_t first, uint64_t second, uint64_t third);

/* observe_paths.c, observe_addresses.c */
void check_paths(void);
void check_names(void);
void check_addresses(void);
void check_long_name(void);
void check_meant(void);
void check_server(void);

#endif
