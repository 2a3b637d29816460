/* See status.h. */
#include "runtime/inspect/status.h"

#include "runtime/apply/namespaces.h"
#include "runtime/base/json.h"
#include "runtime/base/machine.h"
#include "runtime/base/out.h"
#include "runtime/watch/cgroup.h"

#include <errno.h>
#include <sys/utsname.h>
#include <sys/wait.h>

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
		out_text(out,
		    "          TCP ports need ABI 4 (Linux 6.7): "
		    "policies that open some keep TCP shut\n");
	if (machine->landlock_abi < 6)
		out_text(out,
		    "          signals and abstract sockets are kept "
		    "inside from ABI 6 on (Linux 6.12)\n");
}

/* There is no other way to know: sysctls and profiles only hint at it. */
static const char *
try_namespaces(struct machine *machine)
{
	const char *why = NULL;
	pid_t pid = namespaces_fork(NETWORK_OUTER, &why);

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	machine->namespaces = pid > 0;
	return pid > 0 ? NULL : why;
}

static const char seccomp_hint[] =
    "absent; the kernel was built without "
    "CONFIG_SECCOMP_FILTER, or a container forbids it";

static const char group_hint[] = "\n          rlimits hold instead: for each "
				 "process, or beside what runs";

static void
print_machine(const struct machine *machine, const struct utsname *names,
    bool tried, const char *why)
{
	const char *group = cgroup_try();
	struct out out;

	out_init(&out, STDOUT_FILENO);
	out_text(&out, "kernel    Linux ");
	out_text(&out, names->release);
	out_text(&out, " ");
	out_text(&out, names->machine);
	out_text(&out, "\n");
	print_landlock(&out, machine);
	out_text(&out, "seccomp   ");
	out_text(&out, machine->seccomp ? "filters with errno" : seccomp_hint);
	if (tried) {
		out_text(&out, "\nnamespaces ");
		out_text(&out,
		    why == NULL ? "user, mount, process and IPC: "
				  "tried, fine" :
				  why);
	}
	out_text(&out, "\ncgroup    ");
	out_text(&out,
	    group == NULL ? "limits on processes and memory hold "
			    "for all together" :
			    group);
	if (group != NULL)
		out_text(&out, group_hint);
	out_text(&out, "\nlevel     ");
	out_text(&out, level_name(machine_level(machine)));
	out_text(&out, "\n");
	out_flush(&out);
}

/* An object that the caller ends; `missing` is what to do about what is not
 * there. */
static void
begin_part(struct out *json, const char *key, bool there, const char *missing)
{
	json_object(json, key);
	json_bool(json, "available", there);
	json_string(json, "missing", there ? NULL : missing);
}

static void
put_part(struct out *json, const char *key, bool there, const char *missing)
{
	begin_part(json, key, there, missing);
	json_object_end(json);
}

static void
put_landlock(struct out *json, const struct machine *machine)
{
	int errata = landlock_create_ruleset(NULL, 0,
	    LANDLOCK_CREATE_RULESET_ERRATA);

	begin_part(json, "landlock", machine->landlock_abi > 0,
	    landlock_hint(machine->landlock_error));
	json_number(json, "abi", (uint64_t)machine->landlock_abi);
	if (errata >= 0)
		json_number(json, "errata", (uint64_t)errata);
	else
		json_string(json, "errata", NULL);
	json_object_end(json);
}

static void
put_machine(const struct machine *machine, const struct utsname *names,
    bool tried, const char *why)
{
	const char *group = cgroup_try();
	struct out json;

	out_init(&json, STDOUT_FILENO);
	json_document(&json);
	json_string(&json, "kernel", names->release);
	json_string(&json, "machine", names->machine);
	put_landlock(&json, machine);
	put_part(&json, "seccomp", machine->seccomp, seccomp_hint);
	put_part(&json, "namespaces", tried && why == NULL,
	    tried ? why : "not tried: Landlock ABI 4 comes first");
	put_part(&json, "cgroup", group == NULL, group);
	json_string(&json, "level", level_name(machine_level(machine)));
	json_object_end(&json);
	out_text(&json, "\n");
	out_flush(&json);
}

void
status_print(bool json)
{
	struct machine machine;
	struct utsname names;
	const char *why = NULL;
	bool tried;

	machine_probe(&machine);
	if (uname(&names) != 0)
		refuse(NULL, "cannot ask for the kernel's name", errno);
	tried = machine_level(&machine) == SBX_LEVEL_FULL;
	if (tried)
		why = try_namespaces(&machine);
	if (json)
		put_machine(&machine, &names, tried, why);
	else
		print_machine(&machine, &names, tried, why);
	_exit(0);
}
