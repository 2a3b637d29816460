/*
 * Which level a run has (runtime/start/level.c): by the machine, by what was asked
 * for, and by what the policy requires; or what refuses it.
 */
#include "runtime/start/start.h"

#include "runtime/base/files.h"
#include "tests/lib/tap.h"

#include <sys/wait.h>
#include <unistd.h>

#define countof(array) (sizeof(array) / sizeof *(array))

enum { ABOVE = 100, FLOOR, PROTECTION, LANDLOCK, EVERYTHING, OTHER };

/* The sources of the rules that a refusal may be about. */
enum { LEVEL_SOURCE = 1, LANDLOCK_SOURCE };

void
refuse(const char *subject, const char *text, int error)
{
	_exit(error != 0                              ? OTHER :
		strstr(text, "does not give") != NULL ? ABOVE :
		strstr(text, "no protection") != NULL && subject == NULL ?
							PROTECTION :
		strstr(text, "allows everything") != NULL ? EVERYTHING :
							    OTHER);
}

void
refuse_at(const struct sbx_blob *blob, uint32_t source, const char *text,
    int error)
{
	(void)blob;
	_exit(error != 0 ? OTHER :
		strstr(text, "a higher level") != NULL &&
		    source == LEVEL_SOURCE ?
			   FLOOR :
		strstr(text, "a newer Landlock") != NULL &&
		    source == LANDLOCK_SOURCE ?
			   LANDLOCK :
			   OTHER);
}

/* The caller's namespace has no part in it. */
bool
file_read(int directory, const char *name, char *text, size_t size)
{
	(void)directory, (void)name, (void)text, (void)size;
	return false;
}

struct case_of_level {
	const char *name;
	int asked;                 /* -1: auto */
	bool accepts, full_access; /* --accept none, --allow-full-access */
	struct machine machine;    /* ABI, its error, seccomp, namespaces */
	enum sbx_level least;
	bool stated; /* the policy states it */
	uint32_t landlock;
	bool everything;
	int wanted; /* the level, or what refuses it */
};

/* In a child, since what is refused ends it. */
static int
chosen(const struct case_of_level *with)
{
	const struct options options = { .level = with->asked,
		.accept_none = with->accepts,
		.allow_full_access = with->full_access,
		.policy = "p" };
	const struct sbx_meta meta = {
		.level = (uint8_t)with->least,
		.level_source = with->stated ? LEVEL_SOURCE : SBX_NO_SOURCE,
		.landlock = (uint8_t)with->landlock,
		.landlock_source = LANDLOCK_SOURCE,
		.flags = with->everything ? SBX_EVERYTHING : 0,
	};
	const struct sbx_blob blob = { .meta = &meta };
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0)
		_exit((int)level_choose(&options, &blob, &with->machine));
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define AUTO -1, false, false
#define ASKED(level) SBX_LEVEL_##level, false, false
#define ACCEPTS -1, true, false
#define MACHINE(abi, seccomp, namespaces) \
	{ \
		abi, 0, seccomp, namespaces \
	}
#define BEST MACHINE(7, true, true)
#define ANY SBX_LEVEL_MINIMAL, false, 0, false
#define LEAST(level) SBX_LEVEL_##level, true, 0, false
#define NEEDS(abi) SBX_LEVEL_MINIMAL, false, abi, false
#define ALL SBX_LEVEL_MINIMAL, false, 0, true

static const struct case_of_level cases[] = {
	{ "the best", AUTO, BEST, ANY, SBX_LEVEL_FULL },
	{ "ABI 4", AUTO, MACHINE(4, true, true), ANY, SBX_LEVEL_FULL },
	{ "ABI 3", AUTO, MACHINE(3, true, true), ANY, SBX_LEVEL_STANDARD },
	{ "no namespaces", AUTO, MACHINE(7, true, false), ANY,
	    SBX_LEVEL_STANDARD },
	{ "ABI 1", AUTO, MACHINE(1, true, true), ANY, SBX_LEVEL_STANDARD },
	{ "no Landlock", AUTO, MACHINE(0, true, true), ANY, SBX_LEVEL_MINIMAL },
	{ "no seccomp", AUTO, MACHINE(7, false, true), ANY, PROTECTION },
	{ "that is accepted", ACCEPTS, MACHINE(7, false, true), ANY,
	    SBX_LEVEL_NONE },
	{ "unless the policy states a level", ACCEPTS, MACHINE(7, false, true),
	    LEAST(MINIMAL), FLOOR },
	{ "what is accepted changes nothing else", ACCEPTS, BEST, ANY,
	    SBX_LEVEL_FULL },
	{ "minimal is asked for", ASKED(MINIMAL), BEST, ANY,
	    SBX_LEVEL_MINIMAL },
	{ "standard is", ASKED(STANDARD), BEST, ANY, SBX_LEVEL_STANDARD },
	{ "full is", ASKED(FULL), BEST, ANY, SBX_LEVEL_FULL },
	{ "full, which is not there", ASKED(FULL), MACHINE(3, true, true), ANY,
	    ABOVE },
	{ "standard, which is not there", ASKED(STANDARD),
	    MACHINE(0, true, true), ANY, ABOVE },
	{ "the policy requires full", AUTO, BEST, LEAST(FULL), SBX_LEVEL_FULL },
	{ "which is not there", AUTO, MACHINE(3, true, true), LEAST(FULL),
	    FLOOR },
	{ "which is not asked for", ASKED(STANDARD), BEST, LEAST(FULL), FLOOR },
	{ "the policy requires standard", ASKED(STANDARD), BEST,
	    LEAST(STANDARD), SBX_LEVEL_STANDARD },
	{ "and minimal is asked for", ASKED(MINIMAL), BEST, LEAST(STANDARD),
	    FLOOR },
	{ "the policy requires ABI 7", AUTO, BEST, NEEDS(7), SBX_LEVEL_FULL },
	{ "ABI 8", AUTO, BEST, NEEDS(8), LANDLOCK },
	{ "ABI 7, at level standard", ASKED(STANDARD), BEST, NEEDS(7),
	    SBX_LEVEL_STANDARD },
	{ "ABI 1, at level minimal", ASKED(MINIMAL), BEST, NEEDS(1), LANDLOCK },
	{ "everything is allowed", AUTO, BEST, ALL, EVERYTHING },
	{ "and that is allowed", -1, false, true, BEST, ALL,
	    SBX_LEVEL_STANDARD },
	{ "not at level full", SBX_LEVEL_FULL, false, true, BEST, ALL, ABOVE },
	{ "where there is less", -1, false, true, MACHINE(0, true, true), ALL,
	    SBX_LEVEL_MINIMAL },
	{ "what is allowed changes nothing else", -1, false, true, BEST, ANY,
	    SBX_LEVEL_FULL },
};

int
main(void)
{
	struct tap tap = { 0 };

	for (size_t i = 0; i < countof(cases); i++) {
		int got = chosen(&cases[i]);

		if (!tap_ok(&tap, got == cases[i].wanted, "%s", cases[i].name))
			printf("# %d, not %d\n", got, cases[i].wanted);
	}
	return tap_done(&tap);
}
