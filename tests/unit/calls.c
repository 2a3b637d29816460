/*
 * How each system call of each machine is tried: a row that is lost would end
 * the process that tries it, or the machine.
 */
#include "compiler/base/base.h"
#include "compiler/cases/cases.h"
#include "compiler/tables/tables.h"
#include "tests/lib/tap.h"

#include <inttypes.h>

enum { NUMBERS_END = 1024, TEXT = 128 };

static const struct {
	const char *name, *tried;
} others[] = {
	{ "clone", "it makes another process" },
	{ "clone3", "it makes another process" },
	{ "fork", "it makes another process" },
	{ "vfork", "it makes another process" },
	{ "exit", "it ends the process that tries it" },
	{ "exit_group", "it ends the process that tries it" },
	{ "rt_sigreturn", "it ends the process that tries it" },
	{ "pause", "it waits for ever" },
	{ "kexec_file_load", "it cannot be tried without doing it" },
	{ "kexec_load", "it cannot be tried without doing it" },
	{ "reboot", "it cannot be tried without doing it" },
	{ "restart_syscall", "it cannot be tried without doing it" },
	{ "sync", "it cannot be tried without doing it" },
	{ "vhangup", "it cannot be tried without doing it" },
	{ "close_range", "2 1 0 0 0 0" },
	{ "futex", "0 1 0 0 0 0" },
	{ "init_module", "0 0 0 0 0 0" },
	{ "modify_ldt", "0 0 0 0 0 0" },
	{ "msgget", "7fedcba9 0 0 0 0 0" },
	{ "personality", "ffffffff 0 0 0 0 0" },
	{ "semget", "7fedcba9 0 0 0 0 0" },
	{ "shmget", "7fedcba9 0 0 0 0 0" },
	{ "umask", "3f 0 0 0 0 0" },
};

static const char *
wanted_of(const char *name)
{
	for (size_t i = 0; i < countof(others); i++) {
		if (strcmp(others[i].name, name) == 0)
			return others[i].tried;
	}
	return "ffffffffffffffff ffffffffffffffff ffffffffffffffff "
	       "ffffffffffffffff ffffffffffffffff ffffffffffffffff";
}

/* Whether the call is tried as it should be; says what is wrong else. */
static bool
is_as_wanted(const char *name)
{
	uint64_t args[6];
	const char *why = call_arguments(name, args);
	char text[TEXT];

	if (why == NULL) {
		snprintf(text, sizeof text,
		    "%" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64
		    " %" PRIx64,
		    args[0], args[1], args[2], args[3], args[4], args[5]);
		why = text;
	}
	if (strcmp(why, wanted_of(name)) == 0)
		return true;
	printf("# %s: %s\n", name, why);
	return false;
}

int
main(void)
{
	struct tap tap = { 0 };

	for (size_t i = 0; i < arch_count; i++) {
		const char *names[NUMBERS_END];
		size_t known = 0, wrong = 0;

		syscall_names(&arches[i], names);
		for (uint32_t n = 0; n < arches[i].number_limit; n++) {
			known += names[n] != NULL;
			wrong += names[n] != NULL && !is_as_wanted(names[n]);
		}
		tap_ok(&tap, known > 250 && wrong == 0, "%zu calls of %s",
		    known, arches[i].name);
	}
	return tap_done(&tap);
}
