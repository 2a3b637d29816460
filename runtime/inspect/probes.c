/*
 * The probes of the self-test, which run where the command would run.  Each is
 * one attempt, and answers with an errno, or 0 if it got through.  The model
 * says what the policy grants.
 */
#include "runtime/base/json.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "runtime/inspect/inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EKILLED = 255 }; /* no errno, and fits a status */

struct round;

struct probe {
	const char *name;
	int (*attempt)(const struct round *round);
	bool (*grants)(const struct round *round);
	bool needed;             /* what is granted has to work */
	enum stage_place place;  /* of those that open a file ... */
	int flags;               /* ... as open(2) takes them */
	const char *system_call; /* what grants_call() asks about */
};

enum { ROUND_SIZE = 8192 };

struct round {
	const struct probe_context *context;
	const struct self_test *test;
	const struct probe *probe; /* the one that is tried now */
	struct out out;
	bool failed;
	char text[ROUND_SIZE];
};

static int
open_stage(const struct round *round)
{
	int fd = open(round->test->places[round->probe->place],
	    round->probe->flags | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* In a network of the sandbox's own anything can be sent, but an answer comes
 * at once that nobody listens. */
static int
send_to(int fd)
{
	struct pollfd wait = { .fd = fd };
	socklen_t len = sizeof(int);
	int error = 0;

	if (send(fd, "x", 1, 0) != 1)
		return errno;
	if (poll(&wait, 1, 20) > 0)
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len);
	return error;
}

static int
connect_to(int type, const void *address, socklen_t len)
{
	const struct sockaddr *to = address;
	int fd = socket(to->sa_family, type | SOCK_CLOEXEC, 0);
	int error;

	if (fd < 0)
		return errno;
	error = connect(fd, to, len) != 0 ? errno : 0;
	if (error == 0 && type == SOCK_DGRAM)
		error = send_to(fd);
	close(fd);
	return error;
}

static int
connect_to_port(int type, uint16_t port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};

	return connect_to(type, &address, sizeof address);
}

static int
connect_tcp(const struct round *round)
{
	return connect_to_port(SOCK_STREAM, round->test->tcp);
}

static int
send_udp(const struct round *round)
{
	return connect_to_port(SOCK_DGRAM, round->test->udp);
}

static int
connect_unix(const struct round *round)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	strcpy(address.sun_path, round->test->places[STAGE_SOCKET]);
	return connect_to(SOCK_STREAM, &address, sizeof address);
}

static int
use_io_uring(const struct round *round)
{
	uint32_t parameters[30] = { 0 };
	long fd = syscall(SYS_io_uring_setup, 1, parameters);

	(void)round;
	if (fd < 0)
		return errno;
	close((int)fd);
	return 0;
}

static int
trace(const struct round *round)
{
	if (ptrace(PTRACE_SEIZE, round->test->victim, NULL, NULL) != 0)
		return errno;
	ptrace(PTRACE_DETACH, round->test->victim, NULL, NULL);
	return 0;
}

static int
signal_outside(const struct round *round)
{
	return kill(round->test->victim, 0) != 0 ? errno : 0;
}

static int
mount_here(const struct round *round)
{
	/* sys/mount.h and kernel.h do not go together. */
	enum { DETACH = 2 };
	const char *workspace = round->test->places[STAGE_WORKSPACE];

	if (syscall(SYS_mount, "none", workspace, "tmpfs", 0UL, NULL) != 0)
		return errno;
	syscall(SYS_umount2, workspace, DETACH);
	return 0;
}

static int
unshare_user(const struct round *round)
{
	(void)round;
	return unshare(CLONE_NEWUSER) != 0 ? errno : 0;
}

/* What the filter lets through gets as far as the descriptor, which is none. */
static int
let_through(void)
{
	return errno == EBADF ? 0 : errno;
}

static int
set_user_id(const struct round *round)
{
	(void)round;
	return fchmod(-1, S_ISUID | 0700) != 0 ? let_through() : 0;
}

static int
make_subvolume(const struct round *round)
{
	enum { SUBVOLUME_CREATE = 0x5000940e }; /* of btrfs */

	(void)round;
	return syscall(SYS_ioctl, -1, SUBVOLUME_CREATE, NULL) != 0 ?
	    let_through() :
	    0;
}

int
open_terminal(void)
{
	int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	int slave = -1, number = 0, unlocked = 0, error;
	struct out path;

	out_init(&path, -1);
	if (master >= 0 && ioctl(master, TIOCSPTLCK, &unlocked) == 0 &&
	    ioctl(master, TIOCGPTN, &number) == 0) {
		out_text(&path, "/dev/pts/");
		out_number(&path, (uint64_t)number);
		slave = open(path.text, O_RDWR | O_NOCTTY | O_CLOEXEC);
	}
	error = slave < 0 ? errno : 0;
	if (slave >= 0)
		close(slave);
	if (master >= 0)
		close(master);
	return error;
}

static int
use_terminal(const struct round *round)
{
	(void)round;
	return open_terminal();
}

/* In a child, since it may change the caller; an errno fits a status. */
static int
in_child(const struct round *round, int (*attempt)(const struct round *round))
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return errno;
	if (pid == 0)
		_exit(attempt(round));
	if (waitpid(pid, &status, 0) != pid)
		return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

static int
open_in_child(const struct round *round)
{
	return in_child(round, open_stage);
}

/* The other sandbox has tried it. */
static int
outlive(const struct round *round)
{
	static const int errors[] = {
		[TIME_KILLED] = EKILLED,
		[TIME_OUTLIVED] = 0,
		[TIME_UNTRIED] = ECANCELED,
	};

	return errors[round->test->time];
}

void
probe_outlive(void)
{
	static const int signals[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT };

	for (size_t i = 0; i < countof(signals); i++)
		signal(signals[i], SIG_IGN);
	/* Out of the session, and nobody's child. */
	if (fork() == 0 && (setsid() < 0 || fork() != 0))
		_exit(0);
	for (;;)
		pause();
}

/* --- what the policy grants ----------------------------------------------- */

static bool
grants_path(const struct round *round)
{
	const char *path = round->test->places[round->probe->place];
	struct sbx_place place = sbx_place_of(path);

	return sbx_verdict_allows(
	    sbx_path_verdict(round->context->binding->rules,
		round->context->binding->rule_count,
		round->probe->flags == O_RDONLY ? SBX_READ : SBX_WRITE, place));
}

/* Below level full nothing can be made beside what is denied. */
static bool
grants_inside(const struct round *round)
{
	const char *workspace = round->test->places[STAGE_WORKSPACE];
	struct sbx_place place = sbx_place_of(workspace);

	if (round->context->level < SBX_LEVEL_FULL &&
	    sbx_path_is_split(round->context->binding->rules,
		round->context->binding->rule_count, SBX_WRITE, place))
		return false;
	return grants_path(round);
}

static bool
may_write(const struct round *round, const char *path)
{
	const struct binding *binding = round->context->binding;
	struct sbx_place place = sbx_place_of(path);

	return sbx_verdict_allows(sbx_path_verdict(binding->rules,
	    binding->rule_count, SBX_WRITE, place));
}

/* In most containers /dev/ptmx is a link to the other one.  What cannot be had
 * outside cannot be granted. */
static bool
grants_terminal(const struct round *round)
{
	char target;
	bool linked = readlink("/dev/ptmx", &target, 1) >= 0;

	return round->test->terminal &&
	    may_write(round, linked ? "/dev/pts/ptmx" : "/dev/ptmx") &&
	    may_write(round, "/dev/pts/0");
}

static bool
grants_tcp(const struct round *round)
{
	return sbx_verdict_allows(sbx_port_verdict(round->context->blob,
	    KERNEL_WHERE, SBX_CONNECT_TCP, round->test->tcp));
}

static bool
grants_network(const struct round *round)
{
	return round->context->blob->meta->net == SBX_NET_FULL;
}

static bool
grants_signal(const struct round *round)
{
	return (round->context->blob->meta->flags & SBX_SIGNAL_ANYWHERE) != 0;
}

/* A call that the list does not name is allowed. */
static bool
grants_call(const struct round *round)
{
	const struct sbx_blob *blob = round->context->blob;

	for (uint32_t i = 0; i < blob->syscall_count; i++) {
		const struct sbx_syscall *call = &blob->syscalls[i];

		if ((call->platforms & KERNEL_WHERE) != 0 &&
		    strcmp(sbx_string(blob, call->name),
			round->probe->system_call) == 0)
			return call->verdict == SBX_SYSCALL_ALLOW;
	}
	return true;
}

static bool
grants_never(const struct round *round)
{
	(void)round;
	return false;
}

/* --- the round ------------------------------------------------------------ */

static const struct probe probes[] = {
	{ "write in the workspace", open_stage, grants_inside, .needed = true,
	    .place = STAGE_INSIDE, .flags = O_WRONLY | O_CREAT },
	{ "write outside", open_stage, grants_path, .place = STAGE_OUTSIDE,
	    .flags = O_WRONLY },
	{ "make a file outside", open_stage, grants_path, .place = STAGE_MADE,
	    .flags = O_WRONLY | O_CREAT },
	{ "read a key", open_stage, grants_path, .place = STAGE_KEY,
	    .flags = O_RDONLY },
	{ "connect TCP", connect_tcp, .grants = grants_tcp },
	{ "send UDP", send_udp, .grants = grants_network },
	{ "connect to a socket outside", connect_unix,
	    .grants = grants_network },
	{ "io_uring", use_io_uring, grants_call,
	    .system_call = "io_uring_setup" },
	{ "trace a process outside", trace, .grants = grants_never },
	{ "signal a process outside", signal_outside, .grants = grants_signal },
	{ "mount", mount_here, grants_call, .system_call = "mount" },
	{ "a namespace of users", unshare_user, grants_call,
	    .system_call = "unshare" },
	{ "write outside, as a grandchild", open_in_child, grants_path,
	    .place = STAGE_OUTSIDE, .flags = O_WRONLY },
	{ "outlive the time limit", outlive, .grants = grants_never },
	{ "a set-user-ID file", set_user_id, grants_call,
	    .system_call = "fchmod" },
	{ "a subvolume of btrfs", make_subvolume, grants_call,
	    .system_call = "ioctl" },
	{ "a pseudo-terminal", use_terminal, grants_terminal, .needed = true },
};

enum { PROBES = countof(probes) };

static const char *
error_name(int error)
{
	static const struct {
		int error;
		const char *name;
	} names[] = {
		{ EACCES, "EACCES" },
		{ EPERM, "EPERM" },
		{ ENOENT, "ENOENT" },
		{ EROFS, "EROFS" },
		{ ESRCH, "ESRCH" },
		{ ENOSYS, "ENOSYS" },
		{ ECONNREFUSED, "ECONNREFUSED" },
		{ ENETUNREACH, "ENETUNREACH" },
		{ EAFNOSUPPORT, "EAFNOSUPPORT" },
		{ ENOTDIR, "ENOTDIR" },
		{ EINTR, "EINTR" },
		{ EAGAIN, "EAGAIN" },
		{ ENOSPC, "ENOSPC" },
		{ EINVAL, "EINVAL" },
		{ ECANCELED, "not tried" },
		{ EKILLED, "killed" },
	};

	for (size_t i = 0; i < countof(names); i++) {
		if (names[i].error == error)
			return names[i].name;
	}
	return strerror(error);
}

static void
put_result(struct round *round, const char *name, int error, bool granted,
    bool failed)
{
	struct out *json = &round->out;

	json_object(json, NULL);
	json_string(json, "canary", name);
	json_bool(json, "allowed", error == 0);
	json_string(json, "errno", error == 0 ? NULL : error_name(error));
	json_bool(json, "granted", granted);
	json_bool(json, "ok", !failed);
	json_object_end(json);
}

static void
round_try(struct round *round)
{
	bool all = (round->context->blob->meta->flags & SBX_EVERYTHING) != 0;
	bool granted = all || round->probe->grants(round);
	int error = in_child(round, round->probe->attempt);
	bool failed = error == 0 ?
	    !granted :
	    error == ECANCELED || (granted && round->probe->needed);

	round->failed |= failed;
	put_result(round, round->probe->name, error, granted, failed);
}

static void
end_round(struct round *round)
{
	struct out *out = &round->out;

	json_list_end(out);
	json_bool(out, "ok", !round->failed);
	json_object_end(out);
	out_text(out, "\n");
}

void
probes_run(const struct probe_context *context)
{
	struct round round = {
		.context = context,
		.test = context->test,
	};

	/* Nothing is written before the end: in one piece, or not at all. */
	out_into(&round.out, round.text, sizeof round.text);
	json_document(&round.out, "self-test");
	json_string(&round.out, "level", level_name(round.context->level));
	json_list(&round.out, "canaries");
	for (int i = 0; i < PROBES; i++) {
		round.probe = &probes[i];
		round_try(&round);
	}
	end_round(&round);
	if (!out_send(&round.out, STDOUT_FILENO))
		_exit(EXIT_REFUSED);
	_exit(round.failed ? 1 : 0);
}
