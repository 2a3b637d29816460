/*
 * What Landlock and the credentials of sbx-proxy's processes take from them, with
 * no filter installed: as long as the filter holds, nobody sees whether they
 * hold as well.
 */
#include "runtime/base/kernel.h"
#include "runtime/proxy/proxy.h"
#include "tests/lib/tap.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

enum {
	RELAYS = 1 << CONFINED_RELAY | 1 << CONFINED_RELAY_PATH,
	LOOKUP = 1 << CONFINED_LOOKUP,
	NOBODY = 0,
};

static const char *const kinds[CONFINED_END] = { "relay", "relay by path",
	"resolver", "maker of sockets", "end of TLS" };

/* What the processes and this one both see. */
static struct shared {
	int filter; /* the kind that it was asked for, and 1 */
	int errors[CONFINED_END][32];
	bool changed[CONFINED_END];
	char opened[4096]; /* the places that rules are about, a line each */
} * shared;

/* Where /etc/resolv.conf leads to; NULL: as it is. */
static const char *resolv_conf;

int
open(const char *path, int flags, ...)
{
	size_t used = shared != NULL ? strlen(shared->opened) : 0;
	mode_t mode = 0;
	va_list rest;

	if ((flags & O_PATH) != 0 && shared != NULL)
		snprintf(shared->opened + used, sizeof shared->opened - used,
		    "%s\n", path);
	if ((flags & O_CREAT) != 0) {
		va_start(rest, flags);
		mode = va_arg(rest, mode_t);
		va_end(rest);
	}
	return openat(AT_FDCWD, path, flags, mode);
}

char *
realpath(const char *restrict path, char *restrict resolved)
{
	(void)path;
	(void)resolved;
	return resolv_conf != NULL ? strdup(resolv_conf) : NULL;
}

/* In place of the one in filter.c. */
bool
filter_install(enum confined kind)
{
	shared->filter = (int)kind + 1;
	return true;
}

/* --- what is tried: 0 or an errno --------------------------------------------- */

static int
try_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int
read_settings(void)
{
	int error = try_open("/etc/hosts", O_RDONLY);

	return error == ENOENT ? try_open("/etc/nsswitch.conf", O_RDONLY) :
				 error;
}

static int
read_library(void)
{
	return try_open("/usr/lib", O_RDONLY | O_DIRECTORY);
}

static int
read_passwords(void)
{
	return try_open("/etc/passwd", O_RDONLY);
}

static int
read_top(void)
{
	return try_open("/", O_RDONLY | O_DIRECTORY);
}

static int
write_null(void)
{
	return try_open("/dev/null", O_WRONLY);
}

static int
make_file(void)
{
	return try_open("confined", O_WRONLY | O_CREAT);
}

static int
make_directory(void)
{
	return mkdir("confined.d", 0700) == 0 ? 0 : errno;
}

static int
remove_file(void)
{
	return unlink("there") == 0 ? 0 : errno;
}

static int
rename_file(void)
{
	return rename("there", "elsewhere") == 0 ? 0 : errno;
}

static int
bind_port(void)
{
	struct sockaddr_in own = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int error;

	own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	error = bind(fd, (void *)&own, sizeof own) == 0 ? 0 : errno;
	close(fd);
	return error;
}

/* The name is this test's, and it is listening. */
static struct sockaddr_un abstract = { .sun_family = AF_UNIX };

static int
connect_abstract(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int error = connect(fd, (void *)&abstract, sizeof abstract) == 0 ?
	    0 :
	    errno;

	close(fd);
	return error;
}

static int
signal_parent(void)
{
	return kill(getppid(), 0) == 0 ? 0 : errno;
}

static const struct trial {
	const char *name;
	int (*run)(void);
	int abi; /* of Landlock, that knows it */
	int may; /* whose it is, by kinds */
	int root_may;
	int error;
} trials[] = {
	{ "settings of the resolver are read", read_settings, 1, LOOKUP, LOOKUP,
	    EACCES },
	{ "libraries are read", read_library, 1, LOOKUP, LOOKUP, EACCES },
	/* Root could read keys in /etc as well. */
	{ "other files of /etc are read", read_passwords, 1, LOOKUP, NOBODY,
	    EACCES },
	{ "the top directory is read", read_top, 1, NOBODY, NOBODY, EACCES },
	{ "a device is written", write_null, 1, NOBODY, NOBODY, EACCES },
	{ "a file is made", make_file, 1, NOBODY, NOBODY, EACCES },
	{ "a directory is made", make_directory, 1, NOBODY, NOBODY, EACCES },
	{ "a file is removed", remove_file, 1, NOBODY, NOBODY, EACCES },
	{ "a file is renamed", rename_file, 1, NOBODY, NOBODY, EACCES },
	{ "a port is bound", bind_port, 4, NOBODY, NOBODY, EACCES },
	{ "an abstract socket is connected to", connect_abstract, 6, LOOKUP,
	    LOOKUP, EPERM },
	{ "the parent is signalled", signal_parent, 6, NOBODY, NOBODY, EPERM },
};

enum { TRIALS = sizeof trials / sizeof *trials };

/* --- one process for each kind -------------------------------------------------- */

/* Whether it can become no more than it is, and leaves nothing to look at. */
static bool
has_changed(void)
{
	struct cap_header header = { LINUX_CAPABILITY_VERSION_3, 0 };
	struct cap_data caps[2] = { { 1, 1, 1 }, { 1, 1, 1 } };
	const struct cap_data none[2] = { { 0, 0, 0 }, { 0, 0, 0 } };
	struct rlimit core = { 1, 1 };

	return syscall(SYS_capget, &header, caps) == 0 &&
	    memcmp(caps, none, sizeof caps) == 0 &&
	    getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_cur == 0 &&
	    core.rlim_max == 0 && prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 &&
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

__attribute__((noreturn)) static void
be_confined(enum confined kind)
{
	confine_process(kind);
	for (int i = 0; i < TRIALS; i++)
		shared->errors[kind][i] = trials[i].run();
	shared->changed[kind] = has_changed();
	_exit(0);
}

static void
test_kind(struct tap *tap, enum confined kind, int abi)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0)
		be_confined(kind);
	waitpid(pid, &status, 0);
	tap_ok(tap, status == 0 && shared->filter == (int)kind + 1,
	    "%s: it asks for the filter of its kind", kinds[kind]);
	tap_ok(tap, shared->changed[kind],
	    "%s: no capability, no privilege, no core, no tracing",
	    kinds[kind]);
	for (int i = 0; i < TRIALS; i++) {
		int may = geteuid() == 0 ? trials[i].root_may : trials[i].may;
		int error = (may & 1 << kind) != 0 ? 0 : trials[i].error;

		if (abi < trials[i].abi)
			continue;
		if (!tap_ok(tap, shared->errors[kind][i] == error, "%s: %s: %s",
			kinds[kind], trials[i].name, error == 0 ? "yes" : "no"))
			printf("# errno %d\n", shared->errors[kind][i]);
	}
}

/* --- the places of the resolver ------------------------------------------------- */

/* Where its settings, modules and caches are, and its daemons; a machine has only
 * some of them. */
static const char sockets[] = "/run/nscd\n/run/systemd/resolve\n"
			      "/var/lib/sss/pipes\n/run/nslcd\n"
			      "/run/avahi-daemon\n";
static const char places[] =
    "/lib\n/lib64\n/usr/lib\n/usr/lib64\n/usr/local/lib\n/nix/store\n"
    "/gnu/store\n/run/current-system/sw/lib\n/run/systemd/resolve\n"
    "/run/systemd/netif\n/run/NetworkManager\n/run/resolvconf\n"
    "/run/connman\n/var/lib/sss/mc\n/var/run/nscd\n/var/cache/nscd\n";
static const char files[] =
    "/etc/resolv.conf\n/etc/hosts\n/etc/nsswitch.conf\n/etc/host.conf\n"
    "/etc/gai.conf\n/etc/services\n/etc/protocols\n/etc/ld.so.cache\n"
    "/etc/mdns.allow\n/etc/nscd.conf\n/etc/libnss-ldap.conf\n";

static void
test_places(struct tap *tap, enum confined kind, int abi, const char *leads_to,
    const char *behind)
{
	char expected[4096] = "";
	pid_t pid;
	int status = -1;

	if (kind == CONFINED_LOOKUP)
		snprintf(expected, sizeof expected, "%s%s%s%s",
		    abi >= 9 ? sockets : "", places,
		    geteuid() == 0 ? files : "/etc\n", behind);
	*shared->opened = '\0';
	resolv_conf = leads_to;
	pid = fork();
	if (pid == 0) {
		confine_process(kind);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	resolv_conf = NULL;
	if (!tap_ok(tap, status == 0 && strcmp(shared->opened, expected) == 0,
		"%s: resolv.conf is %s: its places, and no others", kinds[kind],
		leads_to != NULL ? leads_to : "not there"))
		printf("# %s\n", shared->opened);
}

static void
test_all_places(struct tap *tap, int abi)
{
	for (int kind = 0; kind < CONFINED_END; kind++)
		test_places(tap, (enum confined)kind, abi,
		    "/usr/share/sbx/resolv.conf", "/usr/share/sbx\n");
	test_places(tap, CONFINED_LOOKUP, abi, NULL, "");
	test_places(tap, CONFINED_LOOKUP, abi, "/etc/resolv.conf", "");
	test_places(tap, CONFINED_LOOKUP, abi, "/etc/x/resolv.conf",
	    "/etc/x\n");
	test_places(tap, CONFINED_LOOKUP, abi, "/resolv.conf", "");
}

/* The kernel may have no such right yet. */
static void
test_rights(struct tap *tap)
{
	enum { RESOLVE_UNIX = 1 << 16 };
	static const struct {
		int abi;
		uint64_t rights;
	} known[] = { { 1, 0x1fff }, { 2, 0x3fff }, { 3, 0x7fff },
		{ 4, 0x7fff }, { 5, 0xffff }, { 8, 0xffff }, { 9, 0x1ffff },
		{ 10, 0x1ffff } };

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		uint64_t path = known[i].rights & ~(uint64_t)RESOLVE_UNIX;
		bool held = true;

		for (int kind = 0; kind < CONFINED_END; kind++)
			held &=
			    confined_rights(known[i].abi, kind).handled_fs ==
			    (kind == CONFINED_RELAY_PATH ? path :
							   known[i].rights);
		tap_ok(tap, held,
		    "Landlock ABI %d: all rights, and sockets by path only "
		    "where a rule opens them",
		    known[i].abi);
	}
}

/* --- processes of its own --------------------------------------------------------- */

static void
tell_descriptors(int socket)
{
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;
	char all[64] = { 0 };

	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		int fd = atoi(entry->d_name);

		if (fd != dirfd(directory) && fd < 64 && *entry->d_name != '.')
			all[fd] = 1;
	}
	send(socket, all, sizeof all, 0);
	for (;;)
		pause();
}

/* A process with two sockets starts one that gets the second of them. */
static void
test_process(struct tap *tap)
{
	int ends[2], other[2];
	char all[64] = { 0 }, byte;
	bool only = true;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET, 0, other) != 0 ||
	    dup2(other[0], FD_INSIDE) != FD_INSIDE ||
	    dup2(other[0], 20) != 20 || dup2(ends[1], 21) != 21 ||
	    dup2(ends[0], 22) != 22)
		exit(99);
	for (int fd = 3; fd < 20; fd++)
		if (fd != FD_INSIDE)
			close(fd);
	pid = fork();
	if (pid == 0) {
		process_start(tell_descriptors, 21);
		close(21);
		for (;;)
			pause();
	}
	close(21);
	tap_ok(tap, recv(22, all, sizeof all, 0) == (ssize_t)sizeof all,
	    "a process is started");
	for (int fd = 0; fd < 64; fd++)
		only &= all[fd] == (fd < 3 || fd == FD_INSIDE || fd == 21);
	tap_ok(tap, only, "with its socket and the sandbox alone");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	tap_ok(tap, recv(22, &byte, 1, 0) == 0,
	    "it ends when who started it is killed");
}

/* Its parent had ended before it could ask to be told. */
static void
test_orphan(struct tap *tap)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		end_with_parent(getppid() + 1);
		_exit(7);
	}
	waitpid(pid, &status, 0);
	tap_ok(tap, status == 0, "one with another parent ends at once");
}

int
main(void)
{
	struct tap tap = { 0 };
	int abi = landlock_create_ruleset(NULL, 0,
	    LANDLOCK_CREATE_RULESET_VERSION);
	char base[] = "/tmp/sbx-confine-XXXXXX";
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	snprintf(abstract.sun_path + 1, sizeof abstract.sun_path - 1,
	    "sbx-confine-%d", (int)getpid());
	if (shared == MAP_FAILED || mkdtemp(base) == NULL || chdir(base) != 0 ||
	    try_open("there", O_WRONLY | O_CREAT) != 0 ||
	    bind(listener, (void *)&abstract, sizeof abstract) != 0 ||
	    listen(listener, 8) != 0)
		return 99;
	if (abi < 1)
		tap_skip(&tap, "the kernel has none", "Landlock");
	for (int kind = 0; abi >= 1 && kind < CONFINED_END; kind++)
		test_kind(&tap, (enum confined)kind, abi);
	if (abi >= 1)
		test_all_places(&tap, abi);
	test_rights(&tap);
	test_orphan(&tap);
	unlink("there");
	if (chdir("/") != 0 || rmdir(base) != 0)
		return 99;
	test_process(&tap);
	return tap_done(&tap);
}
