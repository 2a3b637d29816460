/*
 * The output of a command on its way (runtime/watch/relay.c): which streams get
 * a pipe, and what passes through it, up to the cap and beyond.
 */
#include "runtime/base/options.h"
#include "runtime/watch/receipt.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static struct tap tap;
static struct relay relay;
static const char *said = "";

/* Keeps what would be said. */
void
limit_say(const struct sbx_blob *blob, uint16_t kind, const char *text)
{
	(void)blob;
	static char kept[128];

	said = strcpy(kept, kind == SBX_LIMIT_OUTPUT ? text : "another limit");
}

/* --- which streams -------------------------------------------------------- */

enum { A_FILE = -1, A_DEVICE = -2, CLOSED = -3 };

/* What stdout or stderr is to be. */
static bool
becomes(int stream, int what)
{
	int fd = what;

	if (what == CLOSED)
		return close(stream) == 0;
	if (what == A_FILE)
		fd = open("/var/tmp", O_TMPFILE | O_RDWR, 0600);
	if (what == A_DEVICE)
		fd = open("/dev/full", O_WRONLY);
	return fd >= 0 && dup2(fd, stream) == stream;
}

static bool
is_ours(int fd)
{
	return fd > STDERR_FILENO && (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0;
}

static uint64_t cap = 7;

/* Whether a stream is relayed as it is to be. */
static bool
is_stream(const struct stream *stream, bool open, int to, bool socket)
{
	if (!open)
		return !stream->open;
	return stream->open && stream->to == to && stream->socket == socket &&
	    stream->left == (cap == 0 ? UINT64_MAX : cap) &&
	    is_ours(stream->from) && is_ours(stream->into) &&
	    (fcntl(stream->from, F_GETFL) & O_NONBLOCK) != 0 &&
	    (fcntl(stream->into, F_GETFL) & O_NONBLOCK) == 0;
}

/* In a process of its own, where stdin may be closed. */
static void
opens(const char *what, int out, int error, bool has_out, bool has_error,
    bool joined, bool socket)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		if (!becomes(STDIN_FILENO, CLOSED) ||
		    !becomes(STDOUT_FILENO, out) ||
		    !becomes(STDERR_FILENO, error))
			_exit(9);
		relay_open(&relay, NULL, cap);
		if (relay.joined != joined)
			_exit(2);
		if (!is_stream(&relay.streams[0], has_out, 1, socket))
			_exit(3);
		_exit(
		    is_stream(&relay.streams[1], has_error, 2, socket) ? 0 : 4);
	}
	waitpid(child, &status, 0);
	if (!tap_ok(&tap, status == 0, "%s", what))
		printf("# status %x\n", (unsigned)status);
}

static void
check_open(void)
{
	int one[2], two[2], pair[2];

	if (pipe2(one, O_CLOEXEC) != 0 || pipe2(two, O_CLOEXEC) != 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		exit(1);
	opens("files are left alone", A_FILE, A_FILE, false, false, false,
	    false);
	opens("so are devices", A_DEVICE, A_DEVICE, false, false, false, false);
	opens("and what is closed", CLOSED, CLOSED, false, false, false, false);
	opens("stdout is a pipe", one[1], A_FILE, true, false, false, false);
	opens("stderr is one", A_FILE, one[1], false, true, false, false);
	opens("each is one of its own", one[1], two[1], true, true, false,
	    false);
	opens("both are the same", one[1], one[1], true, false, true, false);
	opens("both are a socket", pair[0], pair[0], true, false, true, true);
	opens("or two", pair[0], pair[1], true, true, false, true);
	cap = 0;
	opens("without a cap only sockets", one[1], one[1], false, false, false,
	    false);
	opens("where sbxrun itself writes", pair[0], pair[1], false, true,
	    false, true);
	opens("or both are one", pair[0], pair[0], true, false, true, true);
}

/* --- what passes ---------------------------------------------------------- */

/* A relay with one stream, from a pipe of the command's to `to`. */
static void
begin(int to, uint64_t most, bool socket)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0 ||
	    fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0)
		exit(1);
	relay = (struct relay){ .blob = NULL };
	relay.streams[0] = (struct stream){ .from = ends[0],
		.into = ends[1],
		.to = to,
		.open = true,
		.tail = relay.tails[0],
		.socket = socket,
		.room = 4,
		.left = most };
}

static void
put(const char *text)
{
	if (write(relay.streams[0].into, text, strlen(text)) < 0)
		exit(1);
}

/* As often as something can be done, but with an end. */
static void
move(void)
{
	struct pollfd wait[RELAY_STREAMS];

	for (int i = 0; i < 100; i++) {
		relay_wait(&relay, wait);
		if (poll(wait, RELAY_STREAMS, 0) <= 0)
			return;
		relay_move(&relay, wait);
	}
}

static const char *
got(int fd)
{
	static char text[64];
	ssize_t len = read(fd, text, sizeof text - 1);

	text[len > 0 ? len : 0] = '\0';
	return text;
}

/* Up to the cap, and beyond it. */
static void
passes(const char *what, int to, int from, bool socket)
{
	begin(to, 5, socket);
	tap_ok(&tap, relay_is_empty(&relay), "%s: nothing is on its way", what);
	put("abc");
	tap_ok(&tap, !relay_is_empty(&relay), "%s: something is", what);
	move();
	tap_ok(&tap, strcmp(got(from), "abc") == 0, "%s: it comes out", what);
	put("defghi");
	move();
	tap_ok(&tap, strcmp(got(from), "de") == 0 && relay.streams[0].cut == 0,
	    "%s: up to the cap", what);
	put("jk");
	move();
	put("l");
	move();
	tap_ok(&tap, relay.streams[0].cut == 3 && relay.streams[0].open,
	    "%s: what has no room is counted", what);
	said = "";
	close(relay.streams[0].into);
	relay_end(&relay);
	move();
	tap_ok(&tap,
	    !relay.streams[0].open && relay_is_empty(&relay) &&
		strcmp(got(from), "ijkl") == 0 &&
		strncmp(said, "3 bytes of ", 11) == 0,
	    "%s: and at last comes its end", what);
}

static void
check_pass(void)
{
	int ends[2], pair[2];
	int file = open("/var/tmp", O_TMPFILE | O_RDWR | O_APPEND, 0600);

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0 || file < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
		pair) != 0)
		exit(1);
	passes("a pipe", ends[1], ends[0], false);
	passes("a socket", pair[0], pair[1], true);
	/* splice(2) does not append. */
	begin(file, 5, false);
	put("abcdefg");
	move();
	tap_ok(&tap,
	    relay.streams[0].copies && relay.streams[0].left == 0 &&
		relay.streams[0].kept == 2 && lseek(file, 0, SEEK_SET) == 0 &&
		strcmp(got(file), "abcde") == 0,
	    "what cannot be spliced is copied");
	close(relay.streams[0].from);
	close(relay.streams[0].into);
}

enum { MANY = 16000 };

static char
byte_of(int index)
{
	return (char)('a' + index % 23);
}

/* Whether all bytes come, one after the other, to whoever takes few at a time. */
static int
read_slowly(int from)
{
	char few[100];
	int at = 0;
	ssize_t len;

	while ((len = read(from, few, sizeof few)) > 0) {
		for (ssize_t i = 0; i < len; i++) {
			if (few[i] != byte_of(at++))
				return 1;
		}
	}
	return at == MANY ? 0 : 2;
}

/* A socket that takes only a part of what is copied to it. */
static void
check_parts(void)
{
	static const int least = 1;
	char many[MANY + 1] = "";
	int pair[2], status;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0 ||
	    setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &least, sizeof least) !=
		0 ||
	    fcntl(pair[0], F_SETFL, O_APPEND | O_NONBLOCK) != 0)
		exit(1);
	/* Whoever reads something else goes. */
	signal(SIGPIPE, SIG_IGN);
	child = fork();
	if (child == 0) {
		close(pair[0]);
		_exit(read_slowly(pair[1]));
	}
	close(pair[1]);
	for (int i = 0; i < MANY; i++)
		many[i] = byte_of(i);
	begin(pair[0], MANY, true);
	put(many);
	move();
	close(pair[0]);
	waitpid(child, &status, 0);
	tap_ok(&tap, relay.streams[0].copies && status == 0,
	    "what is copied in parts");
	close(relay.streams[0].from);
	close(relay.streams[0].into);
}

static void
check_full(void)
{
	char bytes[4096] = { 0 };
	int ends[2];

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
		exit(1);
	begin(ends[1], 100, false);
	while (write(ends[1], bytes, sizeof bytes) > 0)
		;
	put("abc");
	move();
	tap_ok(&tap, relay.streams[0].waits && !relay_is_empty(&relay),
	    "a pipe that is full is waited for");
	while (read(ends[0], bytes, sizeof bytes) > 0)
		;
	move();
	tap_ok(&tap, strcmp(got(ends[0]), "abc") == 0, "until it is read");
	relay.streams[0].left = 0;
	close(ends[0]);
	put("x");
	move();
	tap_ok(&tap, !relay.streams[0].open,
	    "a reader that is gone is seen beyond the cap");
	close(ends[1]);
	close(relay.streams[0].into);
}

/* --- what is said --------------------------------------------------------- */

static const char *
tells(int to, bool joined)
{
	said = "";
	relay.joined = joined;
	relay.streams[0].to = to;
	relay.streams[0].told = false;
	relay_tell(&relay);
	return said;
}

static void
check_tell(void)
{
	char bytes[4096];
	int ends[2], saved = dup(STDERR_FILENO);

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0 ||
	    dup2(ends[1], STDERR_FILENO) < 0)
		exit(1);
	relay = (struct relay){ .blob = NULL };
	tap_ok(&tap, *tells(1, false) == '\0', "nothing was cut");
	relay.streams[0].cut = 1;
	tap_ok(&tap,
	    strstr(tells(1, false), "standard output") != NULL &&
		read(ends[0], bytes, 8) < 0,
	    "of stdout it is said");
	tap_ok(&tap,
	    strstr(tells(2, false), "standard error") != NULL &&
		read(ends[0], bytes, 8) == 1 && *bytes == '\n',
	    "of stderr on a line of its own");
	tap_ok(&tap,
	    strstr(tells(1, true), "of output") != NULL &&
		read(ends[0], bytes, 8) == 1,
	    "of both as well");
	said = "";
	relay_tell(&relay);
	tap_ok(&tap, *said == '\0', "it is said once");
	memset(bytes, 'x', sizeof bytes);
	while (write(ends[1], bytes, sizeof bytes) > 0)
		;
	tap_ok(&tap, *tells(1, false) == '\0', "not where stderr is full");
	dup2(saved, STDERR_FILENO);
}

static void
check_has(void)
{
	relay = (struct relay){ .streams = { { .to = 1 }, { .to = 2 } } };
	tap_ok(&tap,
	    relay_has(&relay, 1) && relay_has(&relay, 2) &&
		!relay_has(&relay, 0),
	    "which descriptors are relayed");
}

int
main(void)
{
	check_open();
	check_pass();
	check_parts();
	check_full();
	check_tell();
	check_has();
	return tap_done(&tap);
}
