/*
 * sbxrun --status: what the machine offers, in words or as JSON.
 */
#include "runtime/inspect/inspect.h"

#include "runtime/apply/apply.h"
#include "runtime/base/json.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "runtime/listen/listen.h"
#include "runtime/network/network.h"
#include "runtime/watch/receipt.h"
#include "runtime/watch/supervise.h"

#include <errno.h>
#include <sys/utsname.h>
#include <sys/wait.h>

/* Each hint is NULL where nothing is missing. */
struct status {
	struct machine machine;
	struct utsname kernel;
	int errata; /* of Landlock; negative: it does not say */
	bool tried; /* namespaces were */
	const char *landlock, *seccomp, *listener, *sockets, *supervisor;
	const char *namespaces, *network, *hosts, *cgroup;
	enum sbx_level level;
};

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

/* There is no other way to know: sysctls and profiles only hint at it. */
static const char *
try_namespaces(enum own_network network)
{
	const char *why = NULL;
	pid_t pid = namespaces_fork(network, false, &why);

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return pid > 0 ? NULL : why;
}

static const char *
hosts_hint(const char *sockets)
{
	int program = proxy_find("sbx-proxy");

	if (program < 0)
		return proxy_missing;
	close(program);
	return sockets;
}

static void
find_status(struct status *status)
{
	struct machine *machine = &status->machine;
	struct listen_obstacles obstacles = { NULL, NULL, false };

	machine_probe(machine);
	if (uname(&status->kernel) != 0)
		refuse(NULL, "cannot ask for the kernel's name", errno);
	status->errata = landlock_create_ruleset(NULL, 0,
	    LANDLOCK_CREATE_RULESET_ERRATA);
	status->landlock = machine->landlock_abi > 0 ?
	    NULL :
	    landlock_hint(machine->landlock_error);
	status->seccomp = machine->seccomp ?
	    NULL :
	    "absent; the kernel was built without CONFIG_SECCOMP_FILTER, or "
	    "a container forbids it";
	if (machine->seccomp)
		obstacles = listen_obstacles();
	else
		obstacles.listening = obstacles.copying = status->seccomp;
	status->listener = obstacles.listening;
	status->sockets = obstacles.copying;
	status->supervisor = supervise_obstacle();
	status->tried = machine_level(machine) == SBX_LEVEL_FULL;
	status->namespaces = status->tried ?
	    try_namespaces(NETWORK_OUTER) :
	    "not tried: Landlock ABI 4 comes first";
	status->network = status->namespaces == NULL ?
	    try_namespaces(NETWORK_LOOPBACK) :
	    status->namespaces;
	/* Below ABI 6 a policy without a network has level full only with a
	 * network namespace; see start/main.c. */
	machine->namespaces = machine->landlock_abi < 6 ?
	    status->network == NULL :
	    status->namespaces == NULL;
	status->hosts = hosts_hint(status->sockets);
	status->cgroup = cgroup_try();
	status->level = machine_level(machine);
}

static void
put_part(struct out *json, const char *key, const char *hint)
{
	json_object(json, key);
	json_bool(json, "available", hint == NULL);
	json_string(json, "missing", hint);
}

static void
put_status(struct out *json, const struct status *status)
{
	json_document(json, "status");
	json_string(json, "kernel", status->kernel.release);
	json_string(json, "machine", status->kernel.machine);
	put_part(json, "landlock", status->landlock);
	json_number(json, "abi", (uint64_t)status->machine.landlock_abi);
	if (status->errata >= 0)
		json_number(json, "errata", (uint64_t)status->errata);
	else
		json_string(json, "errata", NULL);
	json_object_end(json);
	put_part(json, "seccomp", status->seccomp);
	json_object_end(json);
	put_part(json, "listener", status->listener);
	json_object_end(json);
	put_part(json, "sockets", status->sockets);
	json_object_end(json);
	put_part(json, "supervisor", status->supervisor);
	json_object_end(json);
	put_part(json, "namespaces", status->namespaces);
	json_object_end(json);
	put_part(json, "network", status->network);
	json_object_end(json);
	put_part(json, "hosts", status->hosts);
	json_object_end(json);
	put_part(json, "cgroup", status->cgroup);
	json_object_end(json);
	json_string(json, "level", level_name(status->level));
	json_object_end(json);
	out_text(json, "\n");
}

void
status_print(void)
{
	struct status status;
	struct out out;

	find_status(&status);
	out_init(&out, STDOUT_FILENO);
	put_status(&out, &status);
	out_flush(&out);
	_exit(0);
}
