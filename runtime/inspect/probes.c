/*
 * The canaries of the self-test, which run where the command would.  Each is
 * one attempt and answers with an errno, or 0 if it got through; what the
 * policy grants is asked from the model.
 */
#include "runtime/base/json.h"
#include "runtime/base/machine.h"
#include "runtime/inspect/self_test.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#endif

enum { EKILLED = 255 }; /* no errno, and fits a status */

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
write_inside(const struct self_test *test)
{
	return try_open(test->inside, O_WRONLY | O_CREAT);
}

static int
write_outside(const struct self_test *test)
{
	return try_open(test->outside, O_WRONLY);
}

static int
make_outside(const struct self_test *test)
{
	return try_open(test->made, O_WRONLY | O_CREAT);
}

static int
read_key(const struct self_test *test)
{
	return try_open(test->key, O_RDONLY);
}

/* Into a network of the sandbox's own anything can be sent; it answers at once
 * that nobody is there. */
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
connect_tcp(const struct self_test *test)
{
	return connect_to_port(SOCK_STREAM, test->tcp);
}

static int
send_udp(const struct self_test *test)
{
	return connect_to_port(SOCK_DGRAM, test->udp);
}

static int
connect_unix(const struct self_test *test)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	strcpy(address.sun_path, test->socket);
	return connect_to(SOCK_STREAM, &address, sizeof address);
}

static int
use_io_uring(const struct self_test *test)
{
	uint32_t parameters[30] = { 0 };
	long fd = syscall(SYS_io_uring_setup, 1, parameters);

	(void)test;
	if (fd < 0)
		return errno;
	close((int)fd);
	return 0;
}

static int
trace(const struct self_test *test)
{
	if (ptrace(PTRACE_SEIZE, test->victim, NULL, NULL) != 0)
		return errno;
	ptrace(PTRACE_DETACH, test->victim, NULL, NULL);
	return 0;
}

static int
signal_outside(const struct self_test *test)
{
	return kill(test->victim, 0) != 0 ? errno : 0;
}

static int
mount_here(const struct self_test *test)
{
	/* sys/mount.h and kernel.h do not go together. */
	enum { DETACH = 2 };

	if (syscall(SYS_mount, "none", test->workspace, "tmpfs", 0UL, NULL) !=
	    0)
		return errno;
	syscall(SYS_umount2, test->workspace, DETACH);
	return 0;
}

static int
unshare_user(const struct self_test *test)
{
	(void)test;
	return unshare(CLONE_NEWUSER) != 0 ? errno : 0;
}

/* In a child, since it may change the caller; an errno fits a status. */
static int
in_child(int (*attempt)(const struct self_test *), const struct self_test *test)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return errno;
	if (pid == 0)
		_exit(attempt(test));
	if (waitpid(pid, &status, 0) != pid)
		return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

static int
from_child(const struct self_test *test)
{
	return in_child(write_outside, test);
}

/* Tried before. */
static int
outlive(const struct self_test *test)
{
	static const int errors[] = {
		[TIME_KILLED] = EKILLED,
		[TIME_OUTLIVED] = 0,
		[TIME_UNTRIED] = ECANCELED,
	};

	return errors[test->time];
}

void
probe_outlive(void)
{
	static const int signals[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT };

	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		signal(signals[i], SIG_IGN);
	/* Out of the session, and nobody's child. */
	if (fork() == 0 && (setsid() < 0 || fork() != 0))
		_exit(0);
	for (;;)
		pause();
}

/* --- what the policy grants ----------------------------------------------- */

static bool
grants_path(const struct probe_context *context, uint8_t right,
    const char *path)
{
	struct sbx_place place = { path, (uint32_t)strlen(path) };

	return sbx_verdict_allows(sbx_path_verdict(context->binding->rules,
	    context->binding->rule_count, right, place));
}

/* Below level full nothing can be made beside what is denied. */
static bool
grants_inside(const struct probe_context *context)
{
	const char *workspace = context->test->workspace;
	struct sbx_place place = { workspace, (uint32_t)strlen(workspace) };

	if (context->level < SBX_LEVEL_FULL &&
	    sbx_path_is_split(context->binding->rules,
		context->binding->rule_count, SBX_WRITE, place))
		return false;
	return grants_path(context, SBX_WRITE, context->test->inside);
}

static bool
grants_outside(const struct probe_context *context)
{
	return grants_path(context, SBX_WRITE, context->test->outside);
}

static bool
grants_made(const struct probe_context *context)
{
	return grants_path(context, SBX_WRITE, context->test->made);
}

static bool
grants_key(const struct probe_context *context)
{
	return grants_path(context, SBX_READ, context->test->key);
}

static bool
grants_tcp(const struct probe_context *context)
{
	return sbx_verdict_allows(sbx_port_verdict(context->blob, KERNEL_WHERE,
	    SBX_CONNECT_TCP, context->test->tcp));
}

static bool
grants_network(const struct probe_context *context)
{
	return context->blob->meta->net == SBX_NET_FULL;
}

static bool
grants_signal(const struct probe_context *context)
{
	return (context->blob->meta->flags & SBX_SIGNAL_ANYWHERE) != 0;
}

/* A call that the list does not name is allowed. */
static bool
grants_call(const struct probe_context *context, const char *name)
{
	for (uint32_t i = 0; i < context->blob->syscall_count; i++) {
		const struct sbx_syscall *call = &context->blob->syscalls[i];

		if ((call->platforms & KERNEL_WHERE) != 0 &&
		    strcmp(sbx_string(context->blob, call->name), name) == 0)
			return call->verdict == SBX_SYSCALL_ALLOW;
	}
	return true;
}

static bool
grants_io_uring(const struct probe_context *context)
{
	return grants_call(context, "io_uring_setup");
}

static bool
grants_mount(const struct probe_context *context)
{
	return grants_call(context, "mount");
}

static bool
grants_unshare(const struct probe_context *context)
{
	return grants_call(context, "unshare");
}

static bool
grants_never(const struct probe_context *context)
{
	(void)context;
	return false;
}

/* --- the round ------------------------------------------------------------ */

static const struct probe {
	const char *name;
	int (*attempt)(const struct self_test *);
	bool (*grants)(const struct probe_context *);
	bool needed; /* what is granted has to work */
} probes[] = {
	{ "write in the workspace", write_inside, grants_inside, true },
	{ "write outside", write_outside, grants_outside, false },
	{ "make a file outside", make_outside, grants_made, false },
	{ "read a key", read_key, grants_key, false },
	{ "connect TCP", connect_tcp, grants_tcp, false },
	{ "send UDP", send_udp, grants_network, false },
	{ "connect to a socket outside", connect_unix, grants_network, false },
	{ "io_uring", use_io_uring, grants_io_uring, false },
	{ "trace a process outside", trace, grants_never, false },
	{ "signal a process outside", signal_outside, grants_signal, false },
	{ "mount", mount_here, grants_mount, false },
	{ "a namespace of users", unshare_user, grants_unshare, false },
	{ "write outside, as a grandchild", from_child, grants_outside, false },
	{ "outlive the time limit", outlive, grants_never, false },
};

enum { PROBES = sizeof probes / sizeof *probes };

enum { ROUND_SIZE = 8192 };

struct round {
	const struct probe_context *context;
	struct out out;
	bool json, failed;
	char text[ROUND_SIZE];
};

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

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (names[i].error == error)
			return names[i].name;
	}
	return strerror(error);
}

static void
say_result(struct round *round, const char *name, int error, bool granted,
    bool failed)
{
	struct out *out = &round->out;

	out_column(out, name, 32);
	out_text(out, error == 0 ? "allowed" : "denied  ");
	if (error != 0)
		out_text(out, error_name(error));
	else if (granted)
		out_text(out, ", as the policy says");
	if (failed)
		out_text(out,
		    error == 0 ? ": IT GOT THROUGH" : ": THE POLICY ALLOWS IT");
	out_text(out, "\n");
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
round_try(struct round *round, const struct probe *probe)
{
	const struct probe_context *context = round->context;
	bool all = (context->blob->meta->flags & SBX_EVERYTHING) != 0;
	bool granted = all || probe->grants(context);
	int error = in_child(probe->attempt, context->test);
	bool failed = error == 0 ?
	    !granted :
	    error == ECANCELED || (granted && probe->needed);

	round->failed |= failed;
	if (round->json)
		put_result(round, probe->name, error, granted, failed);
	else
		say_result(round, probe->name, error, granted, failed);
}

static void
begin_round(struct round *round)
{
	/* Nothing is written before the end: in one piece, or not at all. */
	out_into(&round->out, round->text, sizeof round->text);
	if (!round->json)
		return;
	json_document(&round->out);
	json_string(&round->out, "level", level_name(round->context->level));
	json_list(&round->out, "canaries");
}

static void
end_round(struct round *round)
{
	struct out *out = &round->out;

	if (round->json) {
		json_list_end(out);
		json_bool(out, "ok", !round->failed);
		json_object_end(out);
		out_text(out, "\n");
		return;
	}
	out_text(out, "level ");
	out_text(out, level_name(round->context->level));
	out_text(out,
	    round->failed ? ": NOT as the policy says\n" :
			    ": as the policy says\n");
}

void
probes_run(const struct probe_context *context)
{
	struct round round = {
		.context = context,
		.json = context->test->json,
	};

	begin_round(&round);
	for (int i = 0; i < PROBES; i++)
		round_try(&round, &probes[i]);
	end_round(&round);
	if (!out_send(&round.out, STDOUT_FILENO) && round.json)
		_exit(EXIT_REFUSED);
	_exit(round.failed ? 1 : 0);
}
