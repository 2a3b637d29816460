/*
 * Sessions on the command line: --session, --keep, --join, --sessions.
 */
#include "runtime/start/start.h"

#include "runtime/apply/apply.h"
#include "runtime/base/files.h"
#include "runtime/base/out.h"
#include "runtime/bind/bind.h"
#include "runtime/inspect/inspect.h"
#include "runtime/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- making one ----------------------------------------------------------- */

struct birth {
	struct sandbox *sandbox;
	char **environment;
	int connection; /* the keeper's end */
	int ready;      /* closed when it can be joined */
	int parent;     /* pidfd, or -1 */
	int handover[2];
	struct title title;
};

static void
read_user_namespace(char text[64])
{
	ssize_t len = readlink("/proc/self/ns/user", text, 63);

	if (len < 0)
		refuse("/proc/self/ns/user", "cannot read it", errno);
	text[len] = '\0';
}

/* Process 1 of the session. */
__attribute__((noreturn)) static void
be_first(struct birth *birth, const char *outer)
{
	struct sandbox *sandbox = birth->sandbox;
	const char *name = sandbox->options.session;
	struct handover handover = {
		.arena = &sandbox->arena,
		.plan = &sandbox->plan,
		.name = name != NULL ? name : "",
		.policy = sandbox->loaded.applied,
		.policy_size = sandbox->loaded.size,
	};
	char inner[64];
	int signals;

	close(birth->handover[0]);
	close(birth->connection);
	close(birth->ready);
	read_user_namespace(inner);
	handover_namespaces(&handover, strcmp(inner, outer) != 0);
	sandbox_prepare(sandbox, birth->environment);
	log_hide(&sandbox->receipt, sandbox->plan.outside);
	plan_warn(&sandbox->plan, false);
	sandbox_make_group(sandbox);
	handover.held = sandbox->plan.held |
	    (uint32_t)sandbox->plan.pid_max << SBX_LIMIT_PROCESSES;
	handover.ruleset = sandbox->ruleset;
	handover.group = sandbox->supervision.group.own;
	signals = supervise_kept_signals();
	handover.listening = &sandbox->supervision.listening;
	handover.stage = sandbox->supervision.stage;
	handover_send(&handover, birth->handover[1]);
	title_set(&birth->title, handover.name);
	supervise_kept(&sandbox->supervision, signals, birth->handover[1]);
}

/* Below level full there is no session.  What was asked is read first: closing
 * a socket with unread bytes would make the answer an error. */
__attribute__((noreturn)) static void
answer_none(const struct birth *birth)
{
	struct pollfd wait = { .fd = birth->connection, .events = POLLIN };
	struct session_reply reply = { .first = 0 };
	struct session_request request;
	struct out text;
	pid_t sender;
	int came;

	while (poll(&wait, 1, -1) < 0 && errno == EINTR)
		;
	session_requested(birth->connection, &request, &came, &sender);
	session_stamp(&reply.stamp, SESSION_NONE);
	/* For libsbx, whose commands are to run just so. */
	out_into(&text, reply.text, sizeof reply.text);
	out_print(&text, "%s %s", level_name(birth->sandbox->plan.level),
	    birth->sandbox->plan.digest);
	session_reply(birth->connection, &reply, NULL);
	_exit(0);
}

/* The session's own directory.  Its keeper removes it; one that was killed
 * could not. */
static const char *
empty_scratch(const struct sandbox *sandbox)
{
	const char *path = bind_anchored(sandbox->binder)->scratch.path;
	struct out failed;
	int place;

	if (path == NULL)
		return NULL;
	out_init(&failed, -1);
	place = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (place < 0 || !clean_directory(path, place, &failed) ||
	    mkdir(path, 0700) != 0)
		refuse(path, "cannot empty the session's scratch directory",
		    errno);
	return path;
}

/* The session has a line in the log, beside those of its commands. */
static void
begin_line(struct sandbox *sandbox)
{
	struct run_log *log = &sandbox->receipt.log;

	receipt_name(&sandbox->receipt);
	log->command = NULL;
	log->session = sandbox->options.session;
	log->level = level_name(sandbox->plan.level);
	log->workspace =
	    bind_anchored(sandbox->binder)->anchors[SBX_ANCHOR_WORKSPACE];
	log_open(&sandbox->receipt);
	if (log->on && sandbox->plan.level == SBX_LEVEL_FULL)
		sandbox->supervision.log = &sandbox->receipt;
}

__attribute__((noreturn)) static void
be_keeper(struct birth *birth)
{
	struct sandbox *sandbox = birth->sandbox;
	const struct options *options = &sandbox->options;
	struct keeping keeping = {
		.name = options->session,
		.connection = birth->connection,
		.lives = options->keep >= 0,
		.parent = birth->parent,
		.idle = options->keep >= 0 ? 0 : options->idle,
		.ready = birth->ready,
		.supervision = &sandbox->supervision,
	};
	char outer[64];

	sandbox->kept = true;
	if (sandbox->loaded.size == 0)
		sandbox_load(sandbox);
	machine_probe(&sandbox->machine);
	sandbox_begin(sandbox);
	sandbox_anchor(sandbox);
	begin_line(sandbox);
	keeping.scratch = empty_scratch(sandbox);
	read_user_namespace(outer);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
		birth->handover) != 0)
		refuse(NULL, "cannot make a socket pair", errno);
	keeping.first = sandbox_fork_kept(sandbox);
	if (keeping.first == 0)
		be_first(birth, outer);
	if (keeping.first < 0)
		answer_none(birth);
	supervise_keep(&sandbox->supervision);
	close(birth->handover[1]);
	keeping.handover = birth->handover[0];
	keeper_stay(&keeping);
}

/* Waits for the keeper's end, or for it to be ready, and ends itself. */
__attribute__((noreturn)) static void
be_messenger(struct birth *birth, int ready)
{
	pid_t keeper;
	ssize_t got;
	char byte;
	int status = 0;

	/* Out of the caller's job and terminal. */
	setsid();
	keeper = fork();
	if (keeper < 0)
		refuse(NULL, "cannot fork", errno);
	if (keeper == 0) {
		close(ready);
		confine_passed(&birth->sandbox->options);
		/* It comes with the command, and goes with it. */
		if (birth->sandbox->options.questions >= 0)
			close(birth->sandbox->options.questions);
		birth->sandbox->options.questions = -1;
		title_forget(&birth->title, birth->sandbox->options.command);
		be_keeper(birth);
	}
	close(birth->ready);
	close(birth->connection);
	do {
		got = read(ready, &byte, 1);
	} while (got < 0 && errno == EINTR);
	if (got == 1)
		_exit(0);
	/* Its end may be far: it would serve whoever comes. */
	if (got < 0) {
		int error = errno;

		kill(keeper, SIGKILL);
		refuse(NULL, "cannot wait for the session", error);
	}
	while (waitpid(keeper, &status, 0) < 0 && errno == EINTR)
		;
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_NOT_EXECUTABLE);
}

/* The parent may have ended meanwhile. */
static int
open_parent(const struct options *options)
{
	pid_t parent = getppid();
	int fd;

	if (!options->with_parent)
		return -1;
	fd = (int)syscall(SYS_pidfd_open, parent, 0);
	if (fd < 0 || getppid() != parent)
		refuse("--with-parent", "cannot watch the parent", errno);
	return fd;
}

static int
make(struct sandbox *sandbox, char **environment, int lock, pid_t *messenger)
{
	struct birth birth = {
		.sandbox = sandbox,
		.environment = environment,
		.parent = open_parent(&sandbox->options),
		.title = title_find(sandbox->options.words),
	};
	int ends[2], pipe[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0 ||
	    pipe2(pipe, O_CLOEXEC) != 0)
		refuse(NULL, "cannot make the session's sockets", errno);
	birth.connection = ends[1];
	birth.ready = pipe[1];
	*messenger = fork();
	if (*messenger < 0)
		refuse(NULL, "cannot fork", errno);
	if (*messenger == 0) {
		close(ends[0]);
		/* The lock is that of the process that waits. */
		close(lock);
		be_messenger(&birth, pipe[0]);
	}
	close(ends[1]);
	close(pipe[0]);
	close(pipe[1]);
	if (birth.parent >= 0)
		close(birth.parent);
	return ends[0];
}

/* --- finding one ---------------------------------------------------------- */

/* Connects to a session that is there.  Else there is none afterwards, and none
 * can be made without the lock, which is then taken; -1: it was not needed. */
static int
find(struct joining *joining, const char *name)
{
	int lock;

	joining->socket = ask_connect(name, SESSION_JOIN, joining->self);
	if (joining->socket >= 0)
		return -1;
	lock = sockets_lock();
	if (lock < 0)
		refuse(name,
		    errno == EBUSY ? "another process holds the lock on the "
				     "directory of sessions" :
				     "cannot make the directory of sessions",
		    errno == EBUSY ? 0 : errno);
	/* Somebody else may have made it. */
	joining->socket = ask_connect(name, SESSION_JOIN, joining->self);
	return lock;
}

/* One that ends now is none: the next look finds no socket. */
static bool
is_over(struct joining *joining)
{
	if (joining->offer.reply.stamp.kind != SESSION_OVER)
		return false;
	close(joining->socket);
	return true;
}

/* Whether the session is outdated.  It is found no more then, and what runs in it
 * goes on; an agent that started it knows of no session, and could not end it. */
static bool
is_left(struct joining *joining, struct sandbox *sandbox)
{
	const char *other = sandbox->options.own_session ?
	    differences_outdated(sandbox, &joining->offer) :
	    NULL;
	struct session_reply reply;
	int descriptors[OFFER_END];
	const char *fault;

	if (other == NULL)
		return false;
	fault = session_ask(joining->socket, SESSION_LEAVE, -1);
	if (fault == NULL)
		fault = session_hear(joining->socket, &reply, descriptors);
	/* It may be ending. */
	if (fault != NULL && reply.stamp.kind != SESSION_OVER && errno != EPIPE)
		refuse(other, fault, errno);
	warn_about(other,
	    "it has changed, so commands now run in a new session, with its "
	    "own /tmp",
	    0);
	offer_close(&joining->offer);
	close(joining->socket);
	/* It was read to be compared, and is not verified. */
	sandbox->loaded.size = 0;
	sandbox->renewed = true;
	return true;
}

__attribute__((noreturn)) static void
refuse_unmade(const char *name)
{
	struct out text;

	out_init(&text, -1);
	out_print(&text,
	    "there is no such session; a policy makes it: sbxrun --session %s "
	    "@coding -- CMD",
	    name);
	refuse(name, text.text, 0);
}

/* The offer of a session that is there, or that was made for this command;
 * false where there is none to be had. */
static bool
find_or_make(struct joining *joining, struct sandbox *sandbox,
    char **environment)
{
	enum { TRIES = 100 };
	const struct options *options = &sandbox->options;
	const char *name = options->session, *fault;
	int lock, status = 0, tries = 0;
	pid_t messenger = -1;

	do {
		lock = find(joining, name);
		if (joining->socket < 0 && options->policy == NULL)
			refuse_unmade(name);
		fault = NULL;
		if (joining->socket < 0) {
			if (sandbox->options.workspace == NULL)
				project_find(&sandbox->arena,
				    &sandbox->options);
			joining->socket = make(sandbox, environment, lock,
			    &messenger);
			fault = session_ask(joining->socket, SESSION_JOIN, -1);
			waitpid(messenger, &status, 0);
		}
		/* A keeper that ends wants the lock before it lets go of the
		 * connection. */
		if (lock >= 0)
			close(lock);
		if (fault == NULL)
			fault = offer_take(joining->socket, &joining->offer);
	} while (messenger < 0 && ++tries < TRIES &&
	    (is_over(joining) || (fault == NULL && is_left(joining, sandbox))));
	if (messenger > 0 && joining->offer.reply.stamp.kind == SESSION_NONE)
		return false;
	/* The keeper has said why. */
	if (messenger > 0 && fault != NULL && WIFEXITED(status) &&
	    WEXITSTATUS(status) == EXIT_REFUSED)
		_exit(EXIT_REFUSED);
	if (fault != NULL)
		refuse(name, fault, errno);
	if (messenger < 0)
		differences_refuse(sandbox, &joining->offer);
	return true;
}

/* Without the rules nobody can tell who may have made a link. */
static void
refuse_links(const struct followed *way, const char *path)
{
	if (path != NULL && way->link_count > 0)
		refuse(path,
		    "a link is on the way to the log: in a session, give the "
		    "path without links",
		    0);
}

static void
open_logs(struct sandbox *sandbox, const struct offer *offer)
{
	const struct options *options = &sandbox->options;
	const struct offer_head *head = offer->head;
	struct run_log *log = &sandbox->receipt.log;
	struct followed way = log_way(&sandbox->receipt);

	log->session = offer_text(offer, head->name);
	log->policy = offer_text(offer, head->policy);
	log->level = level_name((enum sbx_level)head->level);
	log->stage = offer_text(offer, head->stage);
	log->workspace = place_of(
	    offer_text(offer, head->anchors[SBX_ANCHOR_WORKSPACE]));
	log->blob = &offer->blob;
	memcpy(log->digest, head->digest, sizeof log->digest);
	receipt_open(&sandbox->receipt, &sandbox->arena, options->status_fd,
	    NULL);
	receipt_open(&sandbox->report, &sandbox->arena, -1,
	    options->explain_file);
	refuse_links(&way, log->path);
	refuse_links(&sandbox->report.way, options->explain_file);
	log_open(&sandbox->receipt);
	receipt_open_log(&sandbox->report, options->explain_file);
}

/* For its line at the end.  An agent, whose session has no name that somebody
 * gave, does not need that with each command. */
static void
find_stage(struct joining *joining)
{
	const char *name = offer_text(&joining->offer,
	    joining->offer.head->stage);

	stage_none(&joining->stage);
	if (!joining->options->staging || joining->options->own_session)
		return;
	memcpy(joining->stage.name, name, strlen(name) + 1);
	joining->stage.named = joining->options->stage != NULL;
	joining->stage.directory = stage_find(name);
}

static void
join(struct joining *joining, struct sandbox *sandbox, char **environment)
{
	struct options *options = &sandbox->options;

	ceiling_check_session(&sandbox->arena,
	    options->session != NULL ? options->session : "--join",
	    &joining->offer.blob);
	ceiling_check_digest(sandbox, joining->offer.head->digest);
	/* Those of the command; the others are the same. */
	limits_apply(&joining->offer.blob, options->limits, sandbox->limits);
	joining->options = options;
	joining->arena = &sandbox->arena;
	joining->receipt = &sandbox->receipt;
	joining->report = &sandbox->report;
	joining->variables = environment;
	find_stage(joining);
	streams_check();
	if (options->questions >= 0 &&
	    joining->offer.reply.network == SESSION_OPEN)
		session_ask(joining->socket, SESSION_ASKER, options->questions);
	open_logs(sandbox, &joining->offer);
	join_run(joining);
}

static void
join_by_descriptor(struct joining *joining, struct sandbox *sandbox)
{
	const char *fault;

	joining->socket = sandbox->options.join;
	fault = offer_receive(joining->socket, &joining->offer);
	if (fault != NULL)
		refuse("--join", fault, errno);
	differences_refuse(sandbox, &joining->offer);
}

/* There are no namespaces to join there: what is shared at level standard, the
 * scratch directory and the network, is shared anyway. */
static void
say_none(const struct options *options)
{
	/* Who asked for whichever there is, before each command, knows. */
	if (options->own_session)
		return;
	warn_about(options->session,
	    "below level full there are no sessions: the command runs by "
	    "itself",
	    0);
}

/* Whoever made the socket.  Its children may have copies of it, and live on. */
static int
open_peer(int socket)
{
	struct ucred peer = { 0, 0, 0 };
	socklen_t size = sizeof peer;
	int fd = -1;

	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0)
		fd = (int)syscall(SYS_pidfd_open, peer.pid, 0);
	if (fd < 0)
		refuse("--keep",
		    "cannot watch the process that made the socket", errno);
	return fd;
}

/* When a process began, in ticks since the machine did; "" if it cannot be read. */
static void
read_beginning(pid_t process, char *begin, size_t size)
{
	enum { FIELD = 22 }; /* of /proc/PID/stat, proc(5) */
	char path[32], text[1024];
	const char *at;
	struct out out;

	begin[0] = '\0';
	out_into(&out, path, sizeof path);
	out_print(&out, "/proc/%u/stat", (unsigned)process);
	/* The name, the second field, may have anything in it. */
	if (!file_read(AT_FDCWD, path, text, sizeof text) ||
	    (at = strrchr(text, ')')) == NULL)
		return;
	for (int field = 2; field < FIELD && at != NULL; field++)
		at = strchr(at + 1, ' ');
	if (at == NULL)
		return;
	out_into(&out, begin, size);
	out_bytes(&out, at + 1, strcspn(at + 1, " "));
}

/*
 * Two projects of one agent are two sessions, for each has a workspace of its own.
 * The number of an agent that has ended is given to another process in time, whose
 * session must not be the same one.
 */
void
sessions_name(struct sandbox *sandbox)
{
	enum { DIGITS = 8 };
	struct options *options = &sandbox->options;
	char digest[SHA256_HEX + 1], *name, cwd[SBX_MAX_PATH + 1] = "";
	char begin[24], key[SBX_MAX_PATH + sizeof begin + 1];
	const char *workspace = options->workspace;
	struct out out;

	if (workspace == NULL && current_path(cwd, sizeof cwd) > 0)
		workspace = cwd;
	if (workspace == NULL)
		workspace = "";
	read_beginning(getppid(), begin, sizeof begin);
	/* Where /proc does not show it, the session ends with the parent. */
	options->with_parent |= begin[0] == '\0';
	out_into(&out, key, sizeof key);
	out_print(&out, "%s %s", begin, workspace);
	sha256_hex((const uint8_t *)key, strlen(key), digest);
	digest[DIGITS] = '\0';
	name = arena_take(&sandbox->arena, 1, OPTIONS_MAX_NAME);
	out_into(&out, name, OPTIONS_MAX_NAME);
	out_print(&out, "auto-%u-%s", (unsigned)getppid(), digest);
	options->session = name;
}

void
sessions_run(struct sandbox *sandbox, char **environment)
{
	static struct joining joining;
	struct options *options = &sandbox->options;

	fill_standard();
	/* The policy may be one of the caller's descriptors. */
	if (options->keep >= 0) {
		sandbox->kept = true;
		sandbox_load(sandbox);
	}
	confine_descriptors(options,
	    options->keep >= 0 ? options->keep : options->join);
	if (options->keep >= 0) {
		struct birth birth = {
			.sandbox = sandbox,
			.environment = environment,
			.connection = options->keep,
			.ready = -1,
			.parent = open_peer(options->keep),
			.title = title_find(options->words),
		};

		setsid();
		be_keeper(&birth);
	}
	joining.self = ask_self();
	if (options->session != NULL && options->policy != NULL &&
	    options->level >= 0 && options->level < SBX_LEVEL_FULL &&
	    ask_connect(options->session, SESSION_LOOK, joining.self) < 0) {
		say_none(options);
		return;
	}
	if (options->join >= 0)
		join_by_descriptor(&joining, sandbox);
	else if (!find_or_make(&joining, sandbox, environment)) {
		say_none(options);
		return;
	}
	join(&joining, sandbox, environment);
}
