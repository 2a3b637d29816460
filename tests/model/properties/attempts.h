/*
 * What is tried of a tree, one operation at a time.
 */
#ifndef SBX_TEST_ATTEMPTS_H
#define SBX_TEST_ATTEMPTS_H

#include "tests/model/properties/world.h"

enum { MAX_ATTEMPTS = 1024 };

enum operation {
	OPEN_READ,
	LISTING,
	OPEN_WRITE,
	TRUNCATE,
	EXEC,
	CREATE,
	MKDIR,
	MKNOD,
	MAKE_LINK,
	UNLINK,
	RMDIR,
	RENAME,
	LINK,
	EXCHANGE,
};

/* `allowed` is the answer that says that only Landlock could have refused. */
struct operation_words {
	const char *word, *allowed;
};

extern const struct operation_words operations[];

struct attempt {
	enum operation operation;
	char a[PATH_SIZE], b[PATH_SIZE];
};

struct attempts {
	struct attempt list[MAX_ATTEMPTS];
	size_t count;
};

void attempt_add(struct attempts *attempts, enum operation operation,
    const char *a, const char *b);

void attempts_make(struct attempts *attempts, struct world *world);

void attempt_prepare(const struct world *world, const struct attempt *attempt);

void attempt_undo(const struct world *world, const struct attempt *attempt,
    bool ok);

#endif
