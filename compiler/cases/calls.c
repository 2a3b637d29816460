/*
 * Most system calls are tried with -1 for each argument: that is no address and
 * no open descriptor, as a set of flags it has unknown ones, and as a size it
 * is too large.  The exceptions are in two tables.
 */
#include "compiler/base/base.h"
#include "compiler/cases/cases.h"

#include <string.h>

static const char ends[] = "it ends the process that tries it",
		  waits[] = "it waits for ever",
		  forks[] = "it makes another process",
		  acts[] = "it cannot be tried without doing it";

static const struct {
	const char *name, *why;
} not_tried[] = {
	{ "clone", forks },
	{ "clone3", forks },
	{ "exit", ends },
	{ "exit_group", ends },
	{ "fork", forks },
	{ "kexec_file_load", acts },
	{ "kexec_load", acts },
	{ "pause", waits },
	{ "reboot", acts },
	{ "restart_syscall", acts },
	{ "rt_sigreturn", ends },
	{ "sync", acts },
	{ "vfork", forks },
	{ "vhangup", acts },
};

/* With -1 these would make something, or succeed. */
static const struct {
	const char *name;
	uint64_t args[6];
} others[] = {
	{ "close_range", { 2, 1 } },
	{ "futex", { 0, 1, 0 } },
	{ "init_module", { 0, 0, 0 } },
	{ "modify_ldt", { 0, 0, 0 } },
	{ "msgget", { 0x7fedcba9, 0 } },
	{ "personality", { 0xffffffff } },
	{ "semget", { 0x7fedcba9, 0, 0 } },
	{ "shmget", { 0x7fedcba9, 0, 0 } },
	{ "umask", { 077 } },
};

const char *
call_arguments(const char *name, uint64_t args[6])
{
	for (size_t i = 0; i < countof(not_tried); i++) {
		if (strcmp(not_tried[i].name, name) == 0)
			return not_tried[i].why;
	}
	memset(args, 0xff, 6 * sizeof *args);
	for (size_t i = 0; i < countof(others); i++) {
		if (strcmp(others[i].name, name) == 0)
			memcpy(args, others[i].args, sizeof others[i].args);
	}
	return NULL;
}
