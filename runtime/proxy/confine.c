/*
 * What the processes of sbx-proxy take from themselves before they read the first
 * byte that anybody else has written.
 *
 * The system calls are in filter.c.
 */
#include "runtime/proxy/proxy.h"

#include "format/blob.h"
#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

void
proxy_fail(const char *text, int error)
{
	struct out out;

	out_init(&out, STDERR_FILENO);
	out_print(&out, "%s: %s", program_invocation_short_name, text);
	if (error != 0)
		out_print(&out, ": %s", strerror(error));
	out_text(&out, "\n");
	out_flush(&out);
	_exit(EXIT_REFUSED);
}

void
end_with_parent(int parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0)
		proxy_fail("cannot be made to end with its parent", errno);
	if (getppid() != parent)
		_exit(0);
}

bool
process_start(void (*serve)(int socket), int socket)
{
	const int kept[] = { STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO,
		FD_INSIDE, socket };
	pid_t parent = getpid(), pid = fork();

	if (pid != 0)
		return pid > 0;
	descriptors_keep(kept, countof(kept));
	end_with_parent(parent);
	serve(socket);
	_exit(0);
}

/* --- files ---------------------------------------------------------------- */

enum {
	LL_READ_FILE = 1 << 2,
	LL_READ_DIR = 1 << 3,
};

/*
 * What resolvers read: settings, modules and their libraries, caches.  A tree is
 * given as a whole, because settings are replaced by rename(2) while the sandbox
 * lives.
 */
static const char *const resolver_places[] = { "/lib", "/lib64", "/usr/lib",
	"/usr/lib64", "/usr/local/lib", "/nix/store", "/gnu/store",
	"/run/current-system/sw/lib", "/run/systemd/resolve",
	"/run/systemd/netif", "/run/NetworkManager", "/run/resolvconf",
	"/run/connman", "/var/lib/sss/mc", "/var/run/nscd", "/var/cache/nscd" };

/* Of /etc, for a superuser: as such he could read keys there. */
static const char *const resolver_files[] = { "/etc/resolv.conf", "/etc/hosts",
	"/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf",
	"/etc/services", "/etc/protocols", "/etc/ld.so.cache",
	"/etc/mdns.allow", "/etc/nscd.conf", "/etc/libnss-ldap.conf" };

/*
 * Directories, because a daemon that starts again makes its socket anew: nscd and
 * what stands in for it, systemd-resolved, sssd, nslcd, Avahi.
 */
static const char *const resolver_sockets[] = { "/run/nscd",
	"/run/systemd/resolve", "/var/lib/sss/pipes", "/run/nslcd",
	"/run/avahi-daemon" };

struct sbx_landlock
confined_rights(int abi, enum confined kind)
{
	static const struct sbx_meta nothing = { .net = SBX_NET_NONE };
	struct sbx_landlock row = sbx_landlock_row((uint32_t)abi, &nothing);

	if (kind == CONFINED_RELAY_PATH)
		row.handled_fs &= ~SBX_LANDLOCK_RESOLVE_UNIX;
	/* Ports are connected to by relays. */
	row.handled_net = row.bind_tcp;
	/* Resolvers have abstract sockets. */
	if (kind == CONFINED_LOOKUP)
		row.scoped &= ~(uint64_t)LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET;
	return row;
}

/* What is not there cannot be read; nor what comes later. */
static void
allow(int ruleset, const char *path, uint64_t in_directory)
{
	struct landlock_path_beneath_attr rule = {
		.parent_fd = open(path, O_PATH | O_CLOEXEC),
	};
	struct stat status;

	if (rule.parent_fd < 0 || fstat(rule.parent_fd, &status) != 0)
		return;
	rule.allowed_access = S_ISDIR(status.st_mode) ? in_directory :
							LL_READ_FILE;
	if (landlock_add_rule(ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule) != 0)
		proxy_fail("cannot confine itself", errno);
	close(rule.parent_fd);
}

static void
allow_reading(int ruleset, const char *path)
{
	allow(ruleset, path, LL_READ_FILE | LL_READ_DIR);
}

/* /etc/resolv.conf is often a link, and the file behind it is replaced. */
static void
allow_behind_link(int ruleset)
{
	char *path = realpath("/etc/resolv.conf", NULL), *slash;

	if (path == NULL)
		return;
	slash = strrchr(path, '/');
	*slash = '\0';
	if (slash != path && strcmp(path, "/etc") != 0)
		allow_reading(ruleset, path);
	free(path);
}

static void
allow_resolver(int ruleset, uint64_t handled)
{
	for (size_t i = 0; (handled & SBX_LANDLOCK_RESOLVE_UNIX) != 0 &&
	     i < countof(resolver_sockets);
	     i++)
		allow(ruleset, resolver_sockets[i], SBX_LANDLOCK_RESOLVE_UNIX);
	for (size_t i = 0; i < countof(resolver_places); i++)
		allow_reading(ruleset, resolver_places[i]);
	if (geteuid() != 0)
		allow_reading(ruleset, "/etc");
	else
		for (size_t i = 0; i < countof(resolver_files); i++)
			allow_reading(ruleset, resolver_files[i]);
	allow_behind_link(ruleset);
}

static void
confine_files(enum confined kind)
{
	struct landlock_ruleset_attr attr = { 0 };
	struct sbx_landlock row;
	int abi = landlock_create_ruleset(NULL, 0,
	    LANDLOCK_CREATE_RULESET_VERSION);
	int ruleset;

	if (abi < 1)
		proxy_fail("Landlock is missing", errno);
	row = confined_rights(abi, kind);
	attr.handled_access_fs = row.handled_fs;
	attr.handled_access_net = row.handled_net;
	attr.scoped = row.scoped;
	ruleset = landlock_create_ruleset(&attr, sizeof attr, 0);
	if (ruleset < 0)
		proxy_fail("cannot confine itself", errno);
	if (kind == CONFINED_LOOKUP)
		allow_resolver(ruleset, attr.handled_access_fs);
	if (landlock_restrict_self(ruleset, 0) != 0)
		proxy_fail("cannot confine itself", errno);
	close(ruleset);
}

/* --- all else ------------------------------------------------------------- */

static void
drop_capabilities(void)
{
	struct cap_header header = { LINUX_CAPABILITY_VERSION_3, 0 };
	struct cap_data none[2] = { { 0, 0, 0 }, { 0, 0, 0 } };

	if (syscall(SYS_capset, &header, none) != 0)
		proxy_fail("cannot drop capabilities", errno);
}

void
confine_process(enum confined kind)
{
	const struct rlimit_pair none = { 0, 0 };

	if (limit_process(RLIMIT_CORE, &none, NULL) != 0 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		proxy_fail("cannot confine itself", errno);
	confine_files(kind);
	drop_capabilities();
	if (!filter_install(kind))
		proxy_fail("cannot install its filter", errno);
}
