/*
 * The output of the command, on its way through the supervisor: a pipe for each
 * standard stream, from which the kernel moves pages to where the stream led
 * before, up to a cap.  Of the rest the last bytes are kept, and written at the
 * end behind a line that says how many are missing.  The command does not notice.
 *
 *	the command --pipe--> splice(2) --> what sbxrun found at 1 and 2
 *
 * A terminal is left alone, as is every other character device, and a regular
 * file, whose reader expects all of it; the limit on the size of files holds
 * for that.  If 1 and 2 are one pipe or socket they get one pipe, so that what
 * was written to them stays in its order, and one cap.
 *
 * A socket at 2 is relayed without a cap, too: shutdown(2) there would keep
 * sbxrun itself from saying anything.  Where it is standard input as well, which
 * stays the command's, a filter denies that call.
 */
#include "runtime/watch/receipt.h"

#include "runtime/base/files.h"
#include "runtime/base/options.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	CHUNK = 1 << 20,      /* more than a pipe holds */
	SOCKET_CHUNK = 16384, /* a socket that is ready takes so much */
	COPY_CHUNK = 16384,
	PIPE_CHUNK = 4096, /* a pipe that is ready takes so much */
	TAIL_PART = 16,
};

static void
stream_open(struct relay *relay, int which, int to, uint64_t cap, mode_t mode)
{
	struct stream *stream = &relay->streams[which];
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		refuse(NULL, "cannot make a pipe", errno);
	stream->from = above_standard(ends[0]);
	stream->into = above_standard(ends[1]);
	if (fcntl(stream->from, F_SETFL, O_NONBLOCK) != 0)
		refuse(NULL, "cannot set up a pipe", errno);
	stream->to = to;
	stream->open = true;
	stream->tail = relay->tails[which];
	stream->socket = S_ISSOCK(mode);
	stream->left = cap;
	stream->room = cap / TAIL_PART < RELAY_TAIL ?
	    (uint32_t)(cap / TAIL_PART) :
	    RELAY_TAIL;
}

/* Whether output to the descriptor goes through a pipe of ours. */
static bool
is_relayed(int fd, struct stat *status)
{
	return fstat(fd, status) == 0 && !S_ISCHR(status->st_mode) &&
	    !S_ISREG(status->st_mode);
}

static bool
is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool
is_input(const struct stat *error)
{
	struct stat in;

	return fstat(STDIN_FILENO, &in) == 0 && is_same(&in, error);
}

void
relay_open(struct relay *relay, const struct sbx_blob *blob, uint64_t cap)
{
	struct stat out, error;
	bool has_error = is_relayed(STDERR_FILENO, &error);
	bool is_socket = has_error && S_ISSOCK(error.st_mode);
	bool has_out;

	relay->blob = blob;
	relay->shared = is_socket && is_input(&error);
	if (cap == 0 && (!is_socket || relay->shared))
		return;
	has_out = is_relayed(STDOUT_FILENO, &out);
	relay->joined = has_out && has_error && is_same(&out, &error);
	if (cap == 0) {
		cap = UINT64_MAX;
		has_out = relay->joined;
	}
	if (has_out)
		stream_open(relay, 0, STDOUT_FILENO, cap, out.st_mode);
	if (has_error && !relay->joined)
		stream_open(relay, 1, STDERR_FILENO, cap, error.st_mode);
}

void
relay_enter(const struct relay *relay)
{
	for (int i = 0; i < RELAY_STREAMS; i++) {
		const struct stream *stream = &relay->streams[i];

		if (stream->open && dup2(stream->into, stream->to) < 0)
			refuse(NULL, "cannot redirect a stream", errno);
	}
	if (relay->joined && dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
		refuse(NULL, "cannot redirect a stream", errno);
}

void
relay_close_command(const struct relay *relay)
{
	for (int i = 0; i < RELAY_STREAMS; i++) {
		if (relay->streams[i].open)
			close(relay->streams[i].into);
	}
}

void
relay_close_supervisor(const struct relay *relay)
{
	for (int i = 0; i < RELAY_STREAMS; i++) {
		if (relay->streams[i].open)
			close(relay->streams[i].from);
	}
}

bool
relay_has(const struct relay *relay, int fd)
{
	return relay->streams[0].to == fd || relay->streams[1].to == fd;
}

static bool
is_readable(const struct stream *stream)
{
	struct pollfd wait = { .fd = stream->from, .events = POLLIN };

	return stream->open && poll(&wait, 1, 0) > 0;
}

void
relay_wait(struct relay *relay, struct pollfd wait[RELAY_STREAMS])
{
	for (int i = 0; i < RELAY_STREAMS; i++) {
		struct stream *stream = &relay->streams[i];

		stream->flushes = relay->ends && stream->kept > 0 &&
		    !is_readable(stream);
		wait[i].fd = stream->flushes ? stream->to :
		    !stream->open            ? -1 :
		    stream->waits            ? stream->to :
					       stream->from;
		wait[i].events = stream->waits || stream->flushes ? POLLOUT :
								    POLLIN;
		wait[i].revents = 0;
	}
}

static bool
write_all(int fd, const char *bytes, size_t len)
{
	struct pollfd wait = { .fd = fd, .events = POLLOUT };

	while (len > 0) {
		ssize_t written = write(fd, bytes, len);

		if (written < 0 && errno == EAGAIN)
			poll(&wait, 1, -1);
		else if (written < 0 && errno != EINTR)
			return false;
		if (written > 0) {
			bytes += written;
			len -= (size_t)written;
		}
	}
	return true;
}

static ssize_t
stream_copy(const struct stream *stream, int to, size_t len)
{
	char bytes[COPY_CHUNK];
	ssize_t got = read(stream->from, bytes,
	    len < sizeof bytes ? len : sizeof bytes);

	if (got > 0 && !write_all(to, bytes, (size_t)got))
		return -1;
	return got;
}

static ssize_t
stream_pass(struct stream *stream, int to, size_t len)
{
	ssize_t moved;

	if (stream->copies)
		return stream_copy(stream, to, len);
	moved = splice(stream->from, NULL, to, NULL, len,
	    SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	if (moved >= 0 || errno != EINVAL)
		return moved;
	stream->copies = true;
	return stream_copy(stream, to, len);
}

/* All writers are gone, or the reader is.  The command then gets SIGPIPE, as it
 * would without the pipe between. */
static void
stream_end(struct stream *stream)
{
	close(stream->from);
	stream->open = false;
}

static bool
is_deserted(int fd)
{
	struct pollfd wait = { .fd = fd };

	return poll(&wait, 1, 0) > 0;
}

/* --- beyond the cap ------------------------------------------------------- */

/* Reads into the ring, over the oldest bytes if there is no room. */
static ssize_t
stream_keep(struct stream *stream)
{
	char none[COPY_CHUNK], *at = none;
	size_t len = sizeof none;
	uint32_t next, over;
	ssize_t got;

	if (stream->room > 0) {
		next = (stream->oldest + stream->kept) % stream->room;
		at = stream->tail + next;
		len = stream->room - next;
	}
	got = read(stream->from, at, len);
	if (got <= 0)
		return got;
	over = stream->kept + (uint32_t)got > stream->room ?
	    stream->kept + (uint32_t)got - stream->room :
	    0;
	stream->kept += (uint32_t)got - over;
	stream->cut += over;
	if (stream->room > 0)
		stream->oldest = (stream->oldest + over) % stream->room;
	return got;
}

/* The cut may be in the middle of a line. */
static void
tell_of(const struct relay *relay, const struct stream *stream)
{
	bool visible = relay->joined || stream->to == STDERR_FILENO;
	struct out text;

	if (visible && write(STDERR_FILENO, "\n", 1) != 1)
		return;
	out_init(&text, -1);
	out_print(&text, "%lu bytes of %s are missing here", stream->cut,
	    relay->joined                   ? "output" :
		stream->to == STDOUT_FILENO ? "standard output" :
					      "standard error");
	out_text(&text, stream->kept > 0 ? ", before its end" : "");
	limit_say(relay->blob, SBX_LIMIT_OUTPUT, text.text);
}

static void
tell_once(const struct relay *relay, struct stream *stream)
{
	if (stream->cut > 0 && !stream->told && stderr_takes_more())
		tell_of(relay, stream);
	stream->told = true;
}

/* Writes a part of what was kept. */
static void
stream_flush(const struct relay *relay, struct stream *stream)
{
	uint32_t len = stream->room - stream->oldest;
	ssize_t written;

	tell_once(relay, stream);
	if (len > stream->kept)
		len = stream->kept;
	if (len > PIPE_CHUNK)
		len = PIPE_CHUNK;
	written = write(stream->to, stream->tail + stream->oldest, len);
	if (written < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* Nobody reads it. */
	if (written <= 0)
		written = stream->kept;
	stream->kept -= (uint32_t)written;
	stream->oldest = (stream->oldest + (uint32_t)written) % stream->room;
}

/* -------------------------------------------------------------------------- */

static void
stream_move(struct stream *stream)
{
	bool over = stream->left == 0;
	size_t len = stream->socket && !over ? SOCKET_CHUNK : CHUNK;
	ssize_t moved;

	if (!over && stream->left < len)
		len = (size_t)stream->left;
	moved = over ? stream_keep(stream) :
		       stream_pass(stream, stream->to, len);
	if (moved > 0 && !over)
		stream->left -= (uint64_t)moved;
	if (moved > 0 || (moved < 0 && errno == EINTR))
		return;
	if (moved < 0 && errno == EAGAIN) {
		/* One side was ready: wait for the other one. */
		stream->waits = !over && !stream->waits;
		return;
	}
	stream_end(stream);
}

void
relay_move(struct relay *relay, const struct pollfd wait[RELAY_STREAMS])
{
	for (int i = 0; i < RELAY_STREAMS; i++) {
		struct stream *stream = &relay->streams[i];

		if (wait[i].revents == 0)
			continue;
		if (stream->flushes) {
			stream_flush(relay, stream);
			continue;
		}
		if (!stream->open)
			continue;
		if (stream->left == 0)
			stream->waits = false;
		if (stream->left == 0 && is_deserted(stream->to))
			stream_end(stream);
		else if (stream->socket && !stream->waits && stream->left > 0)
			stream->waits = true;
		else
			stream_move(stream);
	}
}

void
relay_end(struct relay *relay)
{
	relay->ends = true;
}

void
relay_tell(struct relay *relay)
{
	for (int i = 0; i < RELAY_STREAMS; i++)
		tell_once(relay, &relay->streams[i]);
}

bool
relay_is_empty(const struct relay *relay)
{
	for (int i = 0; i < RELAY_STREAMS; i++) {
		const struct stream *stream = &relay->streams[i];

		if (is_readable(stream) || (relay->ends && stream->kept > 0))
			return false;
	}
	return true;
}
