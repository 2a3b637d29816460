#include "runtime/watch/relay.h"

#include "runtime/base/file.h"
#include "runtime/base/limits.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	CHUNK = 1 << 20,      /* more than a pipe holds */
	SOCKET_CHUNK = 16384, /* a socket that is ready takes so much */
	COPY_CHUNK = 16384,
};

static void
stream_open(struct stream *stream, int to, uint64_t cap, mode_t mode)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		refuse(NULL, "cannot make a pipe", errno);
	stream->from = above_standard(ends[0]);
	stream->into = above_standard(ends[1]);
	if (fcntl(stream->from, F_SETFL, O_NONBLOCK) != 0)
		refuse(NULL, "cannot set up a pipe", errno);
	stream->to = to;
	stream->open = true;
	stream->socket = S_ISSOCK(mode);
	stream->left = cap;
}

/* Whether output to the descriptor goes through a pipe of ours. */
static bool
is_relayed(int fd, struct stat *status)
{
	return fstat(fd, status) == 0 && !S_ISCHR(status->st_mode) &&
	    !S_ISREG(status->st_mode);
}

void
relay_open(struct relay *relay, uint64_t cap)
{
	struct stat out, error;
	bool has_out, has_error;

	relay->null = -1;
	if (cap == 0)
		return;
	has_out = is_relayed(STDOUT_FILENO, &out);
	has_error = is_relayed(STDERR_FILENO, &error);
	relay->joined = has_out && has_error && out.st_dev == error.st_dev &&
	    out.st_ino == error.st_ino;
	if (!has_out && !has_error)
		return;
	relay->null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (relay->null < 0)
		refuse("/dev/null", "cannot open", errno);
	relay->null = above_standard(relay->null);
	if (has_out)
		stream_open(&relay->streams[0], STDOUT_FILENO, cap,
		    out.st_mode);
	if (has_error && !relay->joined)
		stream_open(&relay->streams[1], STDERR_FILENO, cap,
		    error.st_mode);
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

void
relay_wait(const struct relay *relay, struct pollfd wait[RELAY_STREAMS])
{
	for (int i = 0; i < RELAY_STREAMS; i++) {
		const struct stream *stream = &relay->streams[i];

		wait[i].fd = !stream->open ? -1 :
		    stream->waits          ? stream->to :
					     stream->from;
		wait[i].events = stream->waits ? POLLOUT : POLLIN;
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

static void
stream_move(struct stream *stream, int null)
{
	bool over = stream->left == 0;
	size_t len = stream->socket && !over ? SOCKET_CHUNK : CHUNK;
	ssize_t moved;

	if (!over && stream->left < len)
		len = (size_t)stream->left;
	moved = stream_pass(stream, over ? null : stream->to, len);
	if (moved > 0 && over)
		stream->cut += (uint64_t)moved;
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

		if (!stream->open || wait[i].revents == 0)
			continue;
		if (stream->left == 0)
			stream->waits = false;
		if (stream->left == 0 && is_deserted(stream->to))
			stream_end(stream);
		else if (stream->socket && !stream->waits && stream->left > 0)
			stream->waits = true;
		else
			stream_move(stream, relay->null);
	}
}

bool
relay_is_empty(const struct relay *relay)
{
	for (int i = 0; i < RELAY_STREAMS; i++) {
		struct pollfd wait = {
			.fd = relay->streams[i].from,
			.events = POLLIN,
		};

		if (relay->streams[i].open && poll(&wait, 1, 0) > 0)
			return false;
	}
	return true;
}

/* The cut may be in the middle of a line. */
static void
tell_of(const struct stream *stream, bool joined, const struct sbx_blob *blob)
{
	bool visible = joined || stream->to == STDERR_FILENO;

	if (visible && write(STDERR_FILENO, "\n", 1) != 1)
		return;
	limit_say(blob, SBX_LIMIT_OUTPUT,
	    joined ? "output is cut off here and the command goes on" :
		stream->to == STDOUT_FILENO ?
		     "standard output is cut off here and the command goes on" :
		     "standard error is cut off here and the command goes on");
}

void
relay_tell(struct relay *relay, const struct sbx_blob *blob, bool must)
{
	for (int i = 0; i < RELAY_STREAMS; i++) {
		struct stream *stream = &relay->streams[i];
		struct pollfd wait = {
			.fd = STDERR_FILENO,
			.events = POLLOUT,
		};

		if (stream->cut == 0 || stream->told)
			continue;
		if (!must && poll(&wait, 1, 0) <= 0)
			continue;
		tell_of(stream, relay->joined, blob);
		stream->told = true;
	}
}
