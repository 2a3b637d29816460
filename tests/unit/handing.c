/*
 * How the first process hands its sockets over to the supervisor
 * (runtime/network/handing.c).
 */
#include "runtime/network/event.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static struct tap tap;
static int ends[2];

static void
open_ends(void)
{
	tap_must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0,
	    "a socket");
}

static void
close_ends(void)
{
	close(ends[0]);
	close(ends[1]);
}

static bool
is_same(int a, int b)
{
	struct stat first, second;

	return fstat(a, &first) == 0 && fstat(b, &second) == 0 &&
	    first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

/* So many, each of which is another file. */
static void
check_count(uint32_t count)
{
	static struct handing sent, got;
	int before = tap_descriptors();
	bool held;

	open_ends();
	sent.count = count;
	for (uint32_t i = 0; i < count; i++) {
		int pair[2];

		tap_must(pipe2(pair, O_CLOEXEC) == 0, "a pipe");
		sent.descriptors[i] = pair[0];
		close(pair[1]);
	}
	held = handing_send(ends[0], &sent) && handing_receive(ends[1], &got) &&
	    got.count == count;
	for (uint32_t i = 0; held && i < count; i++) {
		held &= is_same(sent.descriptors[i], got.descriptors[i]) &&
		    got.descriptors[i] > STDERR_FILENO &&
		    fcntl(got.descriptors[i], F_GETFD) == FD_CLOEXEC;
		close(got.descriptors[i]);
	}
	for (uint32_t i = 0; i < count; i++)
		close(sent.descriptors[i]);
	close_ends();
	tap_ok(&tap, held && tap_descriptors() == before, "%u of them", count);
}

/* Whoever has closed its streams does not get them there. */
static void
check_low(void)
{
	struct handing sent = { .count = 1 }, got = { .count = 9 };
	int kept;
	bool held;

	open_ends();
	kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);
	sent.descriptors[0] = ends[0];
	close(STDIN_FILENO);
	held = handing_send(ends[0], &sent) && handing_receive(ends[1], &got) &&
	    got.count == 1 && got.descriptors[0] > STDERR_FILENO &&
	    fcntl(STDIN_FILENO, F_GETFD) < 0;
	close(got.descriptors[0]);
	if (kept >= 0) {
		dup2(kept, STDIN_FILENO);
		close(kept);
	}
	close_ends();
	tap_ok(&tap, held, "none becomes a stream");
}

/* What was sent comes where there are numbers up to a limit alone. */
static void
check_room(rlim_t limit, const char *name)
{
	struct handing got = { .count = 9 };
	struct rlimit before, room;
	bool received;
	int error;

	getrlimit(RLIMIT_NOFILE, &before);
	room = (struct rlimit){ limit, before.rlim_max };
	setrlimit(RLIMIT_NOFILE, &room);
	received = handing_receive(ends[1], &got);
	error = errno;
	setrlimit(RLIMIT_NOFILE, &before);
	tap_ok(&tap, !received && error == EMFILE && got.count == 0, "%s",
	    name);
}

static void
check_faults(void)
{
	struct handing got = { .count = 9 };
	bool received;
	int next;

	open_ends();
	close(ends[0]);
	ends[0] = -1;
	tap_ok(&tap, handing_receive(ends[1], &got) && got.count == 0,
	    "whoever has ended hands nothing over");
	close(ends[1]);
	open_ends();
	send(ends[0], "", 1, 0);
	got.count = 9;
	errno = 0;
	received = handing_receive(ends[1], &got);
	tap_ok(&tap, !received && errno == EMFILE && got.count == 0,
	    "a word without any is an error");
	got = (struct handing){ .count = 2, .descriptors = { 1, 2 } };
	tap_ok(&tap, handing_send(ends[0], &got), "two are sent");
	check_room(0, "for which there are no numbers");
	tap_ok(&tap, handing_send(ends[0], &got), "two are sent");
	next = dup(ends[0]);
	close(next);
	check_room((rlim_t)next + 1, "of which there is a number for one");
	close(next);
	close_ends();
	got.count = 1;
	tap_ok(&tap, !handing_receive(-1, &got) && errno == EBADF,
	    "nowhere to hear it");
	got = (struct handing){ .count = 1, .descriptors = { 1 } };
	tap_ok(&tap, !handing_send(-1, &got), "or to send it");
}

int
main(void)
{
	check_count(1);
	check_count(2);
	check_count(HANDING_MAX);
	check_low();
	check_faults();
	return tap_done(&tap);
}
