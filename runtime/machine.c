#include "runtime/machine.h"

#include "runtime/namespaces.h"
#include "runtime/out.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <sys/wait.h>

/* Below, the filters of level full would open what nothing holds. */
enum { FULL_LEAST_ABI = 4 };

#ifdef SBX_TESTING
/*
 * The test build, which is never installed, plays an older kernel: the ABI is
 * capped, or a mechanism missing, by a variable.
 */
static void
machine_pretend(struct machine *machine)
{
	const char *abi = getenv("SBX_TEST_ABI");

	if (abi != NULL && atoi(abi) < machine->landlock_abi)
		machine->landlock_abi = atoi(abi);
	if (machine->landlock_abi == 0)
		machine->landlock_error = EOPNOTSUPP;
	if (getenv("SBX_TEST_NO_SECCOMP") != NULL)
		machine->seccomp = false;
	if (getenv("SBX_TEST_NO_NAMESPACES") != NULL)
		machine->namespaces = false;
}
#endif

void
machine_probe(struct machine *machine)
{
	uint32_t action = SECCOMP_RET_ERRNO;

	machine->landlock_abi = landlock_create_ruleset(NULL, 0,
	    LANDLOCK_CREATE_RULESET_VERSION);
	machine->landlock_error = machine->landlock_abi < 0 ? errno : 0;
	if (machine->landlock_abi < 0)
		machine->landlock_abi = 0;
	machine->namespaces = true;
	machine->seccomp = seccomp(SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
#ifdef SBX_TESTING
	machine_pretend(machine);
#endif
}

enum sbx_level
machine_level(const struct machine *machine)
{
	if (!machine->seccomp)
		return SBX_LEVEL_NONE;
	if (machine->namespaces && machine->landlock_abi >= FULL_LEAST_ABI)
		return SBX_LEVEL_FULL;
	return machine->landlock_abi > 0 ? SBX_LEVEL_STANDARD :
					   SBX_LEVEL_MINIMAL;
}

const char *
level_name(enum sbx_level level)
{
	static const char *const names[] = {
		[SBX_LEVEL_NONE] = "none",
		[SBX_LEVEL_MINIMAL] = "minimal",
		[SBX_LEVEL_STANDARD] = "standard",
		[SBX_LEVEL_FULL] = "full",
	};

	return names[level];
}

static const char *
landlock_hint(int error)
{
	switch (error) {
	case ENOSYS:
		return "absent; the kernel is older than 5.13 or built without "
		    "CONFIG_SECURITY_LANDLOCK";
	case EOPNOTSUPP:
		return "built in but not switched on; add landlock to the "
		    "kernel's lsm= list";
	default:
		return "refused to this process; a container's filter may "
		    "forbid it";
	}
}

static void
print_landlock(struct out *out, const struct machine *machine)
{
	int errata = landlock_create_ruleset(NULL, 0,
	    LANDLOCK_CREATE_RULESET_ERRATA);

	out_text(out, "landlock  ");
	if (machine->landlock_abi == 0) {
		out_text(out, landlock_hint(machine->landlock_error));
		out_text(out, "\n");
		return;
	}
	out_text(out, "ABI ");
	out_number(out, (uint64_t)machine->landlock_abi);
	if (errata >= 0) {
		out_text(out, ", errata fixed: ");
		out_number(out, (uint64_t)errata);
	}
	out_text(out, "\n");
	if (machine->landlock_abi < 4)
		out_text(out, "          TCP ports need ABI 4 (Linux 6.7): "
		    "policies that open some keep TCP shut\n");
	if (machine->landlock_abi < 6)
		out_text(out, "          signals and abstract sockets are kept "
		    "inside from ABI 6 on (Linux 6.12)\n");
}

/* There is no other way to know: sysctls and profiles only hint at it. */
static void
try_namespaces(struct out *out, struct machine *machine)
{
	const char *why = "";
	pid_t pid = namespaces_fork(false, &why);

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	machine->namespaces = pid > 0;
	out_text(out, "namespaces ");
	out_text(out, pid > 0 ? "user, mount, process and IPC: tried, fine" :
				why);
	out_text(out, "\n");
}

void
machine_print(void)
{
	struct machine machine;
	struct utsname names;
	struct out out;

	machine_probe(&machine);
	out_init(&out, STDOUT_FILENO);
	if (uname(&names) == 0) {
		out_text(&out, "kernel    Linux ");
		out_text(&out, names.release);
		out_text(&out, " ");
		out_text(&out, names.machine);
		out_text(&out, "\n");
	}
	print_landlock(&out, &machine);
	out_text(&out, "seccomp   ");
	out_text(&out, machine.seccomp ? "filters with errno\n" :
	    "absent; the kernel was built without CONFIG_SECCOMP_FILTER, or a "
	    "container forbids it\n");
	if (machine_level(&machine) == SBX_LEVEL_FULL)
		try_namespaces(&out, &machine);
	out_text(&out, "level     ");
	out_text(&out, level_name(machine_level(&machine)));
	out_text(&out, "\n");
	out_flush(&out);
	_exit(0);
}
