/*
 * A command in a session: sbxrun stays outside as its parent, and starts it by
 * the steps of enter.c.
 */
#include "runtime/session/session.h"

#include "runtime/apply/apply.h"
#include "runtime/base/files.h"
#include "runtime/base/json.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"
#include "runtime/session/offer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void
insist(const char *subject, const char *fault)
{
	if (fault != NULL)
		refuse(subject, fault, errno);
}

/* --- before the command --------------------------------------------------- */

static struct sbx_place
place_in(const struct offer *offer, struct offer_text text)
{
	return (struct sbx_place){ offer_text(offer, text), text.len };
}

static void
fill_bindings(struct joining *joining)
{
	const struct offer *offer = &joining->offer;
	const struct offer_head *head = offer->head;
	struct binding *inside = &joining->inside;

	inside->blob = &offer->blob;
	for (int i = 0; i < SBX_MAX_ANCHORS; i++) {
		inside->anchors[i] = place_in(offer, head->anchors[i]);
		inside->bound[i] = head->bound[i];
	}
	inside->agent = place_in(offer, head->agent);
	joining->outside = *inside;
	if (head->scratch.len > 0)
		joining->outside.anchors[SBX_ANCHOR_TMP] = place_in(offer,
		    head->scratch);
	joining->outside.has_other_home = head->other_home.len > 0;
	joining->outside.other_home = place_in(offer, head->other_home);
	joining->outside.git = place_in(offer, head->git);
}

static void
find_directory(struct joining *joining)
{
	char path[SBX_MAX_PATH + 1];

	if (current_path(path, sizeof path) < 0 || path[0] != '/')
		refuse("the current directory",
		    "the command cannot start in it", errno);
	if (!enter_directory(&joining->offer, path, joining->directory,
		sizeof joining->directory))
		refuse(path, "the command cannot start in it", ENAMETOOLONG);
}

/*
 * kill(2) of the process group must not reach those outside.  A job at a
 * terminal has to stay in its group, or reading from the terminal would stop it;
 * there the call is refused instead.
 */
static bool
has_terminal(void)
{
	int fd = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void
prepare(struct joining *joining)
{
	struct supervision *supervision = &joining->supervision;
	const struct offer_head *head = joining->offer.head;

	fill_bindings(joining);
	find_directory(joining);
	environment_build(&joining->environment, joining->arena,
	    &(struct environment_rules){
		.blob = joining->inside.blob,
		.anchors = joining->inside.anchors,
		.bound = joining->inside.bound,
		.agent = joining->inside.agent,
		.trust = place_in(&joining->offer, head->trust),
		.secrets = place_in(&joining->offer, head->secrets),
		.level = level_name((enum sbx_level)head->level),
		.session = head->name.len > 0 ?
		    offer_text(&joining->offer, head->name) :
		    NULL,
	    },
	    joining->variables);
	supervise_limits(supervision, &joining->offer.blob);
	supervise_tells(supervision, joining->options, joining->receipt,
	    joining->report);
	clock_now(&supervision->begin);
	relay_open(&supervision->relay, supervision->blob, supervision->output);
	supervision->tripwire = tripwire_set(joining->arena, &joining->outside);
	if (joining->stage.directory >= 0)
		supervision->stage = &joining->stage;
	signals_block(&joining->former, WITHOUT_STOPS);
	joining->watch = (struct watch){
		.supervision = supervision,
		.joined = true,
		.grouped = !has_terminal(),
		.signals = signals_open(WITHOUT_STOPS),
	};
	traced_join_prepare(joining);
	/* Here the kernel still tells owners apart. */
	joining->files = streams_read_files(&joining->null);
}

/* In a process that has our descriptors and memory, since who enters a view
 * cannot come back. */
static int
open_in_view(void *data)
{
	struct joining *joining = data;

	if (setns(joining->offer.descriptors[OFFER_MOUNT], CLONE_NEWNS) != 0)
		return 0;
	for (int fd = 0; fd <= STDERR_FILENO; fd++) {
		if ((joining->files >> fd & 1) != 0 &&
		    enter_stream(fd, joining->paths[fd]) == NULL)
			joining->files &= ~(1U << fd);
	}
	/* The call itself: libc's function may want more stack than there is. */
	joining->sees_log = joining->receipt->log.on &&
	    syscall(SYS_faccessat, AT_FDCWD,
		path_of(joining->receipt->log.place), R_OK) == 0;
	return 0;
}

/* "" if it cannot be in the view. */
static const char *
path_in_view(struct joining *joining, int fd)
{
	char link[DESCRIPTOR_PATH_SIZE], outside[SBX_MAX_PATH + 1];
	char *inside = arena_take(joining->arena, 1, sizeof outside);
	ssize_t len;

	descriptor_path(link, fd);
	len = readlink(link, outside, sizeof outside - 1);
	if (len <= 0)
		return "";
	outside[len] = '\0';
	return enter_directory(&joining->offer, outside, inside,
		   sizeof outside) ?
	    inside :
	    "";
}

static void
find_in_view(struct joining *joining)
{
	enum { STACK = 32 << 10 };
	char *stack = arena_take(joining->arena, 1, STACK);
	pid_t pid;

	for (int fd = 0; fd <= STDERR_FILENO; fd++) {
		if ((joining->files >> fd & 1) != 0)
			joining->paths[fd] = path_in_view(joining, fd);
	}
	/* Without an exit signal: it leaves a status if SIGCHLD is ignored, too. */
	pid = clone(open_in_view, stack + STACK,
	    CLONE_VM | CLONE_VFORK | CLONE_FILES, joining);
	if (pid < 0)
		refuse(NULL,
		    errno == ENOMEM ? "the session has ended" : "cannot fork",
		    errno == ENOMEM ? 0 : errno);
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
}

/*
 * A file that is read is opened again by its path in the view, where the policy
 * says what the command may do with it.  If the view does not have it, it gets a
 * mount of its own, as without a session; for that, this process needs mounts of
 * its own, too.
 */
static void
reopen_streams(struct joining *joining)
{
	unsigned null = joining->offer.head->has_null ? 0 : joining->null;

	joining->null &= ~null;
	joining->own_input = -1;
	if ((joining->files | null) == 0 && !joining->receipt->log.on)
		return;
	joining->own_input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (joining->files != 0 || joining->receipt->log.on)
		find_in_view(joining);
	if (joining->sees_log)
		log_hide(joining->receipt, NULL);
	if ((joining->files | null) == 0)
		return;
	insist(NULL, namespaces_own_mounts());
	streams_reopen(joining->files | null);
}

/* --- the command's process ------------------------------------------------ */

/* It must not outlive this one, which may be gone already. */
static void
follow_parent(const struct joining *joining)
{
	struct pollfd wait = { .fd = joining->self, .events = POLLIN };

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0)
		refuse(NULL, "cannot choose how to end", errno);
	if (poll(&wait, 1, 0) != 0)
		_exit(EXIT_REFUSED);
}

__attribute__((noreturn)) static void
be_command(struct joining *joining)
{
	char **argv = joining->options->command;
	struct environment *environment = &joining->environment;
	struct supervision *supervision = &joining->supervision;
	struct stat outside;

	follow_parent(joining);
	if (joining->watch.grouped && setpgid(0, 0) != 0)
		refuse(NULL, "cannot make a process group", errno);
	if (stat(".", &outside) != 0)
		refuse(joining->directory, "cannot look at it", errno);
	insist(joining->directory,
	    enter_place(&joining->offer, joining->directory));
	insist(joining->directory,
	    enter_fault(&joining->offer, joining->directory, &outside));
	insist(NULL, streams_renew_null(joining->null));
	relay_enter(&supervision->relay);
	signals_restore(&joining->former);
	/* Without new privileges, as from the next steps on, for a filter. */
	if (supervision->relay.shared) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
			refuse(NULL, "cannot give up new privileges", errno);
		insist(NULL, filter_shutdown());
	}
	/* Who explains it reads its memory. */
	if (supervision->listening.on) {
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
		traced_join_restrict(joining);
	} else {
		insist(NULL,
		    enter_restricted(&joining->offer, joining->socket,
			!joining->watch.grouped));
	}
	supervise_started(supervision);
	execute(argv, environment, 0, NULL);
}

#ifdef __SANITIZE_ADDRESS__
/* A sanitizer takes another stack for a fault. */
static void
start_shared(struct joining *joining)
{
	joining->watch.process = fork();
	if (joining->watch.process == 0)
		be_command(joining);
}
#else
static int
command_main(void *data)
{
	be_command(data);
}

/*
 * As vfork(2), without copying a page, but this process can be woken: others in the
 * session may stop the command as soon as it is restricted as they are, and then
 * nothing but this process can end it when its time is over.  Until then they share
 * memory, and this one does nothing but wait for execve(2), which closes the pipe.
 */
static void
start_shared(struct joining *joining)
{
	enum { STACK = 256 << 10 };
	char *stack = arena_take(joining->arena, 1, STACK);
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		refuse(NULL, "cannot make a pipe", errno);
	joining->watch.process = clone(command_main, stack + STACK,
	    CLONE_VM | SIGCHLD, joining);
	if (joining->watch.process < 0)
		return;
	close(ends[1]);
	join_hear(joining, ends[0]);
	close(ends[0]);
}
#endif

static void
start(struct joining *joining)
{
	struct cgroup group = { .parent = -1,
		.own = joining->offer.descriptors[OFFER_GROUP] };

	/* Until the command's process is restricted, or executes, its files in
	 * /proc are root's: others in the session may write what is theirs. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	/* The execve(2) of one that is explained waits for this process. */
	if (group.own >= 0 || joining->supervision.listening.on) {
		joining->watch.process = cgroup_fork(&group);
		if (joining->watch.process == 0)
			be_command(joining);
	} else {
		start_shared(joining);
	}
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	if (joining->watch.process < 0)
		refuse(NULL,
		    errno == ENOMEM ? "the session has ended" : "cannot fork",
		    errno == ENOMEM ? 0 : errno);
}

/* What was applied is in the plan of the session's making; this says which one
 * it is. */
static void
prepare_receipt(struct joining *joining)
{
	const struct offer *offer = &joining->offer;
	const struct offer_head *head = offer->head;
	struct out *json = &joining->receipt->json;

	receipt_begin(joining->receipt, "start");
	json_string(json, "session", offer_text(offer, head->name));
	json_string(json, "policy", offer_text(offer, head->policy));
	json_string(json, "digest", head->digest);
	json_string(json, "level", level_name((enum sbx_level)head->level));
	json_string(json, "workspace",
	    offer_text(offer, head->anchors[SBX_ANCHOR_WORKSPACE]));
	json_string(json, "directory", joining->directory);
	if (!receipt_end(joining->receipt))
		refuse(NULL, "the receipt has no room for this session", 0);
}

/* Only what may run out of time needs a mark. */
static void
enter(struct joining *joining)
{
	bool marked = joining->supervision.timeout > 0;

	decided_begin(joining);
	insist(NULL, enter_process(&joining->offer, marked));
	if (marked)
		joining->tag = peer_own_tag(joining->self);
	if (marked && joining->tag == 0)
		refuse(NULL,
		    "cannot read the mark by which the command's processes are "
		    "known",
		    errno);
}

void
join_run(struct joining *joining)
{
	prepare(joining);
	if (joining->supervision.receipt != NULL)
		prepare_receipt(joining);
	supervise_open_started(&joining->supervision);
	enter(joining);
	reopen_streams(joining);
	/* The command's process may have this one's memory. */
	joining->receipt->log.inside = true;
	start(joining);
	joining->receipt->log.inside = false;
	join_attend(joining);
}
