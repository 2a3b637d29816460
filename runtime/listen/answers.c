/*
 * Who answers which system call.  An answer is the value that the call returns
 * or a negative errno; ANSWER_LATER, if it is kept in listening->waiting; or
 * ANSWER_GO_ON, if the kernel is to do what was asked: objects.c, servers.c and
 * unnamed.c alone may say so, and say why.
 */
#include "runtime/listen/answers.h"

#include <errno.h>

static int64_t
answer_CONNECT(const struct caller *caller)
{
	return answer_connect(caller);
}

static int64_t
answer_LISTEN(const struct caller *caller)
{
	return answer_listen(caller);
}

static int64_t
answer_METADATA(const struct caller *caller)
{
	return answer_metadata(caller);
}

static int64_t
answer_OWNERS(const struct caller *caller)
{
	return answer_metadata(caller);
}

static int64_t
answer_OBJECTS(const struct caller *caller)
{
	return answer_objects(caller);
}

static int64_t
answer_WATCHING(const struct caller *caller)
{
	return answer_watching(caller);
}

static int64_t
answer_UNNAMED(const struct caller *caller)
{
	return answer_unnamed(caller);
}

static const struct {
	int number;
	const char *name;
	int64_t (*answer)(const struct caller *caller);
} answers[] = {
#define TRAPPED(call, part) { SYS_##call, #call, answer_##part },
#define TRAPPED_IN_PART TRAPPED
#include "format/trapped.def"
#undef TRAPPED_IN_PART
#undef TRAPPED
};

_Static_assert(countof(answers) <= ANSWERS_MAX, "each has a counter");

const char *
answer_name(uint32_t index)
{
	return index < countof(answers) ? answers[index].name : NULL;
}

void
answer_count(struct listening *listening, int number, int64_t result)
{
	if (listening->refused == NULL ||
	    (result != -EACCES && result != -EPERM))
		return;
	for (size_t i = 0; i < countof(answers); i++) {
		if (answers[i].number == number)
			listening->refused[i]++;
	}
}

/* A call that is trapped and not known here is as denied as any. */
int64_t
answer(const struct caller *caller)
{
	int64_t result = -EPERM;

	if (caller->call.arch != KERNEL_ARCH || caller->call.thread == 0)
		return result;
	for (size_t i = 0; i < countof(answers); i++) {
		if (answers[i].number != caller->call.number)
			continue;
		result = answers[i].answer(caller);
		answer_count(caller->listening, caller->call.number, result);
		return result;
	}
	return result;
}
