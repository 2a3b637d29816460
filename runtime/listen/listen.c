/*
 * The seccomp listener.  Below level full, and at full where services of the host
 * may listen in what is only read, a filter hands some system calls of the
 * command (format/trapped.def) to the supervisor, which is outside of the
 * sandbox and answers each after it has done what the call asks for itself.
 *
 *	the command: connect("x")  --filter-->  waits
 *	the supervisor: reads "x" once, opens what it names, asks the model,
 *	    connects its own copy of the socket to that  --answer-->  goes on
 *
 * What was judged is what is used, because it was opened before it was judged.
 * No call that names something by a path or an address is let go on by itself;
 * objects.c says which others are.  What cannot be read, opened or judged is
 * refused.  The supervisor waits for nobody inside: see connect.c.
 *
 * The kernel has room for one listener in all the filters of a process.
 */
#include "runtime/listen/listen.h"

#include "runtime/apply/apply.h"
#include "runtime/base/files.h"
#include "runtime/base/out.h"
#include "runtime/listen/answers.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

enum {
	/* Calls that are answered before the supervisor looks elsewhere. */
	ANSWERS_AT_ONCE = 16,
	RETRY = 5, /* milliseconds */
};

/* --- the way of the listener ---------------------------------------------- */

/* The listener, and in a network of the sandbox's own the descriptor by which
 * to ask about its sockets. */
enum { SENT_LISTENER, SENT_DIAGNOSIS, SENT_MAX };

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(SENT_MAX * sizeof(int))];
};

/* What goes with them. */
struct told {
	uint32_t program; /* the number of the filter */
	uint32_t moved;   /* the scratch directory is seen as /tmp */
};

/* Whether the sockets of the command are in another network than the
 * supervisor's, which then cannot ask about them. */
static bool
sends_diagnosis(const struct listening *listening)
{
	return listening->answers && listening->own_network;
}

void
listen_open(struct listening *listening)
{
	int ends[2];

	listening->on = true;
	listening->listener = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		refuse(NULL, "cannot make a socket pair", errno);
	listening->receive = above_standard(ends[0]);
	listening->send = above_standard(ends[1]);
}

void
listen_forget(const struct listening *listening)
{
	if (!listening->on)
		return;
	close(listening->send);
	close(listening->receive);
}

void
listen_send(const struct listening *listening, int listener, uint32_t program)
{
	size_t size = sizeof(int) *
	    (sends_diagnosis(listening) ? SENT_MAX : SENT_DIAGNOSIS);
	const int sent[SENT_MAX] = {
		listener,
		sends_diagnosis(listening) ? listening->servers->diagnosis : -1,
	};
	union control control = { .header = {
				      .cmsg_len = CMSG_LEN(size),
				      .cmsg_level = SOL_SOCKET,
				      .cmsg_type = SCM_RIGHTS,
				  } };
	struct told told = { program, listening->moved };
	struct iovec bytes = { &told, sizeof told };
	struct msghdr message = {
		.msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = CMSG_SPACE(size),
	};

	memcpy(CMSG_DATA(&control.header), sent, size);
	if (sendmsg(listening->send, &message, MSG_NOSIGNAL) != sizeof told) {
		/* The supervisor has ended, and said why. */
		if (errno == EPIPE || errno == ECONNRESET)
			_exit(EXIT_REFUSED);
		refuse(NULL, "cannot hand over the listener", errno);
	}
	/* Whoever had these could answer for the supervisor.  execve(2) closes
	 * them if a policy denies close(2). */
	close(listener);
	if (sends_diagnosis(listening))
		close(listening->servers->diagnosis);
	close(listening->send);
}

static void
note_program(struct listening *listening, uint32_t program)
{
	struct explaining *explaining = listening->explaining;

	if (explaining == NULL || explaining->filter != NULL)
		return;
	if (program >= explaining->blob->program_count)
		refuse(NULL, "cannot receive the listener", EBADMSG);
	explaining->filter = explaining->blob->bpf +
	    explaining->blob->programs[program].first;
}

/* Without it every call that the filter traps gets ENOSYS, as if there were no
 * supervisor; but that is no way to run. */
static void
receive(struct listening *listening)
{
	union control control;
	int sent[SENT_MAX] = { -1, -1 };
	size_t size;
	struct told told;
	struct iovec bytes = { &told, sizeof told };
	struct msghdr message = {
		.msg_iov = &bytes,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof control,
	};
	uint64_t flags = SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP;
	ssize_t got = recvmsg(listening->receive, &message,
	    MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got < 0)
		refuse(NULL, "cannot receive the listener", errno);
	close(listening->receive);
	listening->receive = -1;
	/* The command was refused. */
	if (got == 0)
		return;
	if (message.msg_controllen < sizeof control.header ||
	    (message.msg_flags & MSG_CTRUNC) != 0)
		refuse(NULL, "cannot receive the listener", EMFILE);
	size = control.header.cmsg_len - CMSG_LEN(0);
	if (size != sizeof *sent && size != sizeof sent)
		refuse(NULL, "cannot receive the listener", EMFILE);
	memcpy(sent, CMSG_DATA(&control.header), size);
	listening->listener = sent[SENT_LISTENER];
	if (size == sizeof sent)
		listening->servers->diagnosis = sent[SENT_DIAGNOSIS];
	if (got != sizeof told)
		refuse(NULL, "cannot receive the listener", EBADMSG);
	note_program(listening, told.program);
	listening->moved = told.moved != 0;
	/* From Linux 6.6 on the caller is woken on this processor. */
	ioctl(listening->listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, flags);
}

/* --- the supervisor ------------------------------------------------------- */

void
listen_close_places(const struct binding *binding)
{
	int begin = -1, end = -1;

	for (uint32_t i = 0; i <= binding->rule_count; i++) {
		int fd = i < binding->rule_count ? binding->sites[i].fd : -1;

		if (i < binding->rule_count && fd < 0)
			continue;
		if (fd >= 0 && fd == end) {
			end++;
			continue;
		}
		if (begin >= 0)
			syscall(SYS_close_range, begin, end - 1, 0);
		begin = fd;
		end = fd + 1;
	}
}

static void
interrupt(int number)
{
	(void)number;
}

static void
set_timer(void)
{
	/* Without SA_RESTART: see connect.c. */
	static const struct sigaction action = { .sa_handler = interrupt };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	if (sigaction(SIGALRM, &action, NULL) != 0 ||
	    sigprocmask(SIG_UNBLOCK, &set, NULL) != 0)
		refuse(NULL, "cannot set up a timer", errno);
}

void
listen_begin(struct listening *listening)
{
	if (!listening->on)
		return;
	close(listening->send);
	if (listening->answers && !listening->own_network)
		servers_open(listening->servers);
	if (listening->binding != NULL)
		listen_close_places(listening->binding);
	confine_supervisor(
	    listening->view ? SBX_LEVEL_FULL : SBX_LEVEL_STANDARD);
	set_timer();
}

/* It keeps what it may become by execve(2), for it must look as who joins: see
 * session/peer.c. */
void
listen_keep(struct listening *listening, int *diagnosis)
{
	const char *fault;

	if (!listening->on)
		return;
	listen_forget(listening);
	if (listening->answers && !listening->own_network)
		servers_open(listening->servers);
	else if (*diagnosis >= 0)
		listening->servers->diagnosis = *diagnosis;
	/* Nobody who joins gets it. */
	*diagnosis = -1;
	fault = give_up_capabilities(SBX_LEVEL_FULL);
	if (fault != NULL)
		refuse(NULL, fault, errno);
	set_timer();
}

struct listening
listen_taken(int listener, const struct listening *first)
{
	struct listening listening = {
		.on = true,
		.view = true,
		.own_network = first->own_network,
		.abstract = first->abstract,
		.sockets = first->sockets,
		.moved_sockets = first->moved_sockets,
		.moved = first->moved,
		.socket_count = first->socket_count,
		.servers = first->servers,
		.send = -1,
		.receive = -1,
		.listener = listener,
	};
	uint64_t flags = SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP;

	ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, flags);
	return listening;
}

struct pollfd
listen_wait(const struct listening *listening)
{
	struct pollfd wait = { .fd = -1, .events = POLLIN };

	if (listening->on)
		wait.fd = listening->listener >= 0 ? listening->listener :
						     listening->receive;
	return wait;
}

int
listen_patience(const struct listening *listening)
{
	return listening->on && listening->waiting_count > 0 ? RETRY : -1;
}

/* An answer for a thread that was killed meanwhile goes nowhere. */
static void
send_answer(const struct listening *listening, uint64_t id, int64_t result)
{
	struct seccomp_answer answer = { .id = id };

	if (result == ANSWER_GO_ON)
		answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	else if (result < 0)
		answer.error = (int32_t)result;
	else
		answer.value = result;

	/* Stopped and continued meanwhile: the caller would wait for ever. */
	while (ioctl(listening->listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) !=
		0 &&
	    errno == EINTR)
		;
}

static void
answer_waiting(struct listening *listening, struct waiting *waiting)
{
	int result = ioctl(listening->listener, SECCOMP_IOCTL_NOTIF_ID_VALID,
			 &waiting->id) == 0 ?
	    connect_again(waiting) :
	    -EPERM;

	if (result == ANSWER_LATER)
		return;
	if (result == -EACCES)
		answer_count(listening, SYS_connect, result);
	send_answer(listening, waiting->id, result);
	connect_forget(waiting);
	waiting->used = false;
	listening->waiting_count--;
}

/* One that may take as long as a timer lets it, and those before it that may
 * not. */
static void
retry(struct listening *listening)
{
	uint32_t turn = listening->turn;

	for (uint32_t i = 0;
	     i < LISTEN_MAX_WAITING && listening->waiting_count > 0; i++) {
		uint32_t at = (turn + i) % LISTEN_MAX_WAITING;
		struct waiting *waiting = &listening->waiting[at];

		if (!waiting->used)
			continue;
		answer_waiting(listening, waiting);
		listening->turn = at + 1;
		if (!waiting->internet)
			return;
	}
}

static bool
serve_one(struct listening *listening)
{
	struct caller caller = { .listening = listening };
	int64_t result;

	if (ioctl(listening->listener, SECCOMP_IOCTL_NOTIF_RECV,
		&caller.call) != 0)
		return false;
	result = listening->explaining != NULL ? observe(&caller) :
						 answer(&caller);
	if (result != ANSWER_LATER)
		send_answer(listening, caller.call.id, result);
	return true;
}

void
listen_serve(struct listening *listening, const struct pollfd *wait)
{
	struct pollfd more = { .fd = wait->fd, .events = POLLIN };
	int left = ANSWERS_AT_ONCE;

	if (!listening->on || wait->fd < 0)
		return;
	if (listening->listener < 0) {
		if (wait->revents != 0)
			receive(listening);
		return;
	}
	more.revents = wait->revents;
	while (left-- > 0 && (more.revents & POLLIN) != 0 &&
	    serve_one(listening) && poll(&more, 1, 0) > 0)
		;
	retry(listening);
	/* The last process with the filter has ended. */
	if ((more.revents & (POLLIN | POLLHUP)) == POLLHUP) {
		close(listening->listener);
		listening->listener = -1;
	}
}
