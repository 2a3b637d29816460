/*
 * What the probe does with calls that a supervisor may answer.
 */
#include "tests/kernel/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	TRIES = 2000,
	CLIENTS = 8,
	CLOSES = 16,
	HAMMERS = 4,
	DOUBTS = 50,
	FIRST_CLOSED = 100
};
/* As many clients as the supervisor keeps. */
enum { CROWD = 64 };

static int
bound(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strncpy(address.sun_path, path, sizeof address.sun_path - 1);
	unlink(path);
	if (fd < 0 ||
	    bind(fd, (struct sockaddr *)&address, sizeof address) != 0)
		return -1;
	return fd;
}

static int
server(const char *path, int backlog)
{
	int fd = bound(path);

	return fd < 0 || listen(fd, backlog) != 0 ? -1 : fd;
}

static int
connect_to(const struct sockaddr_un *address, socklen_t len, int flags)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
	int error;

	if (fd < 0)
		return errno;
	error = connect(fd, (const struct sockaddr *)address, len) != 0 ?
	    errno :
	    0;
	close(fd);
	return error;
}

static struct sockaddr_un
address_of(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	strncpy(address.sun_path, path, sizeof address.sun_path - 1);
	return address;
}

/* For others to be connected to, while the parent lives. */
static int
try_serve_unix(char **words, int count)
{
	int fd = server(words[0], 64);

	(void)count;
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	for (; fd >= 0; close(accept(fd, NULL, NULL)))
		;
	return errno;
}

/* Services that are asked as an agent of ssh is.  Some speak first. */
static const struct service {
	const char *name;
	bool first;
	size_t len;
	const char *bytes;
} services[] = {
	{ "agent", false, 9, "\0\0\0\5\14\0\0\0\0" },
	{ "locked", false, 5, "\0\0\0\1\5" },
	{ "docker", false, 28, "HTTP/1.1 400 Bad Request\r\n\r\n" },
	{ "gpg", true, 23, "OK Pleased to meet you\n" },
	{ "large", false, 5, "\0\20\0\0\14" },
	{ "other", false, 5, "\0\0\0\1\6" },
	{ "short", false, 4, "\0\0\0\1" },
	{ "bus", false, 0, "" },
	/* It keeps all that come. */
	{ "silent", true, 0, NULL },
};

static void
serve_one(int client, const struct service *service)
{
	/* SSH_AGENTC_REQUEST_IDENTITIES, the one that asks for no key. */
	static const char question[5] = { 0, 0, 0, 1, 11 };
	char asked[5];

	if (service->bytes == NULL)
		return;
	if (service->first ||
	    (recv(client, asked, sizeof asked, MSG_WAITALL) == sizeof asked &&
		memcmp(asked, question, sizeof asked) == 0))
		send(client, service->bytes, service->len, MSG_NOSIGNAL);
	close(client);
}

static int
try_serve_agent(char **words, int count)
{
	const struct service *service = services;
	int fd = server(words[0], 64);

	(void)count;
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	while (strcmp(service->name, words[1]) != 0)
		service++;
	while (fd >= 0)
		serve_one(accept(fd, NULL, NULL), service);
	return errno;
}

static int
try_unix_length(char **words, int count)
{
	struct sockaddr_un address = address_of(words[0]);

	(void)count;
	return connect_to(&address, (socklen_t)number(words[1]), 0);
}

/* With more clients than the server takes: each must get through in the end,
 * and one that does not want to wait must not. */
static int
try_unix_full(char **words, int count)
{
	struct sockaddr_un address = address_of(words[0]);
	int fd = server(words[0], 0), status, worst = 0, error = 0;
	int waiting = CLIENTS;

	(void)count;
	if (fd < 0)
		return errno;
	for (int i = 0; i < CLIENTS; i++) {
		if (fork() == 0)
			_exit(connect_to(&address, sizeof address, 0));
	}
	/* Until there is no room, whoever has taken it. */
	while (error == 0 && waiting < 2 * CLIENTS) {
		error = connect_to(&address, sizeof address, SOCK_NONBLOCK);
		waiting += error == 0;
	}
	for (int i = 0; i < waiting; i++)
		close(accept(fd, NULL, NULL));
	while (wait(&status) > 0) {
		if (status != 0)
			worst = WEXITSTATUS(status);
	}
	return worst != 0 ? worst : error == EAGAIN ? 0 : EPROTO;
}

static void
wake(int number)
{
	(void)number;
}

/* The same, but the server has no room before they come, and takes nobody until
 * a file is there; then those who wait get a signal first. */
static int
try_unix_waiting(char **words, int count)
{
	static const struct sigaction action = { .sa_handler = wake };
	struct sockaddr_un address = address_of(words[0]);
	int fd = server(words[0], 0), status, worst = 0, waiting = CLIENTS;
	pid_t clients[CLIENTS];

	(void)count;
	if (fd < 0 || sigaction(SIGUSR1, &action, NULL) != 0)
		return errno;
	while (connect_to(&address, sizeof address, SOCK_NONBLOCK) == 0)
		waiting++;
	for (int i = 0; i < CLIENTS; i++) {
		clients[i] = fork();
		if (clients[i] == 0)
			_exit(connect_to(&address, sizeof address, 0));
	}
	while (access(words[1], F_OK) != 0)
		usleep(20000);
	for (int i = 0; i < CLIENTS; i++)
		kill(clients[i], SIGUSR1);
	for (int i = 0; i < waiting; i++)
		close(accept(fd, NULL, NULL));
	while (wait(&status) > 0) {
		if (status != 0)
			worst = WEXITSTATUS(status);
	}
	return worst;
}

/* A server that has no room for another client. */
static int
full_server(const char *path)
{
	struct sockaddr_un address = address_of(path);
	int fd = server(path, 0);

	while (
	    fd >= 0 && connect_to(&address, sizeof address, SOCK_NONBLOCK) == 0)
		;
	return fd;
}

static void
add_clients(const char *path, pid_t clients[], int count)
{
	struct sockaddr_un address = address_of(path);

	for (int i = 0; i < count; i++) {
		clients[i] = fork();
		if (clients[i] == 0)
			_exit(connect_to(&address, sizeof address, 0));
	}
}

/* One more than may wait is told so.  Then all others wait, and those for one server
 * keep nobody from another. */
static int
try_unix_crowd(char **words, int count)
{
	int first = full_server(words[0]), second = full_server(words[1]),
	    status = 0, got = 0;
	pid_t clients[CROWD + 1], ended;

	(void)count;
	if (first < 0 || second < 0 || fcntl(second, F_SETFL, O_NONBLOCK) != 0)
		return errno;
	/* Whoever waits where nobody answers waits for ever. */
	alarm(120);
	add_clients(words[0], clients, CLIENTS);
	add_clients(words[1], clients + CLIENTS, CLIENTS);
	add_clients(words[0], clients + 2 * CLIENTS, CROWD + 1 - 2 * CLIENTS);
	ended = wait(&status);
	for (int i = CLIENTS; i < 2 * CLIENTS; i++) {
		while (clients[i] != ended &&
		    waitpid(clients[i], &got, WNOHANG) == 0) {
			close(accept(second, NULL, NULL));
			usleep(1000);
		}
		if (got != 0)
			return EPROTO;
	}
	for (int i = 0; i <= CROWD; i++) {
		if (clients[i] != ended && i / CLIENTS != 1)
			kill(clients[i], SIGKILL);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : EPROTO;
}

/* Another process writes one name, then the other, over the address while it
 * is judged: "ok" if that ever leads to a server outside, whose process is not
 * the one of the server inside. */
static int
try_unix_switch(char **words, int count)
{
	struct sockaddr_un *shared = mmap(NULL, sizeof *shared,
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct sockaddr_un names[2] = { address_of(words[0]),
		address_of(words[1]) };
	int found = EACCES;
	pid_t writer;

	(void)count;
	*shared = names[0];
	writer = fork();
	for (int i = 0; writer == 0; i ^= 1)
		memcpy(shared, &names[i], sizeof *shared);
	for (int i = 0; i < TRIES && found != 0; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		struct sockaddr_un peer = { 0 };
		socklen_t len = sizeof peer;

		if (connect(fd, (struct sockaddr *)shared, sizeof *shared) ==
			0 &&
		    getpeername(fd, (struct sockaddr *)&peer, &len) == 0 &&
		    strcmp(peer.sun_path, words[0]) == 0)
			found = 0;
		close(fd);
	}
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
	return found;
}

/* A server inside, a client inside, a byte. */
static int
try_unix_inside(char **words, int count)
{
	int fd = server(words[0], 4), client;
	char byte = 0;
	struct sockaddr_un address = address_of(words[count - 1]);

	if (fd < 0)
		return errno;
	client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(client, (struct sockaddr *)&address, sizeof address) != 0)
		return errno;
	fd = accept(fd, NULL, NULL);
	if (fd < 0 || write(client, "x", 1) != 1 || read(fd, &byte, 1) != 1)
		return errno;
	return byte == 'x' ? 0 : EPROTO;
}

/* Somebody else's socket at the name of a server of ours. */
static int
try_unix_renamed(char **words, int count)
{
	static const char mine[] = "sub/renamed";
	struct sockaddr_un address = address_of(mine);
	int fd = server(mine, 4), error;

	(void)count;
	if (fd < 0 || connect_to(&address, sizeof address, 0) != 0 ||
	    rename(words[0], mine) != 0)
		return errno;
	error = connect_to(&address, sizeof address, 0);
	return rename(mine, words[0]) != 0 ? errno : error;
}

/* The same while clients of the server wait in it, and it listens once more. */
static int
try_unix_pending(char **words, int count)
{
	static const char mine[] = "sub/pending", away[] = "sub/away";
	struct sockaddr_un address = address_of(mine);
	int fd = server(mine, 8), error;

	(void)count;
	if (fd < 0)
		return errno;
	for (int i = 0; i < 3; i++) {
		if (connect_to(&address, sizeof address, 0) != 0)
			return EPROTO;
	}
	if (rename(mine, away) != 0 || rename(words[0], mine) != 0 ||
	    listen(fd, 8) != 0)
		return errno;
	error = connect_to(&address, sizeof address, 0);
	if (rename(mine, words[0]) != 0)
		return errno;
	/* Each of them still waits. */
	fcntl(fd, F_SETFL, O_NONBLOCK);
	for (int i = 0; i < 3; i++) {
		if (accept(fd, NULL, NULL) < 0)
			return EPROTO;
	}
	return error;
}

/* The same before it listens for the first time, while others connect to its
 * other name.  Whether they do so at the right moment is chance. */
static int
try_unix_doubted(char **words, int count)
{
	static const char mine[] = "sub/doubted", away[] = "sub/away";
	struct sockaddr_un address = address_of(mine);
	int error = EACCES;

	(void)count;
	for (int i = 0; i < DOUBTS && error == EACCES; i++) {
		int fd = bound(mine);

		if (fd < 0 || rename(mine, away) != 0 ||
		    rename(words[0], mine) != 0 || listen(fd, 64) != 0)
			return errno;
		error = connect_to(&address, sizeof address, 0);
		if (rename(mine, words[0]) != 0)
			return errno;
		close(fd);
	}
	return error;
}

/* A socket that has a name, is connected and so cannot listen. */
static int
try_unix_unheard(char **words, int count)
{
	struct sockaddr_un other = address_of(words[0]),
			   own = address_of(words[1]);
	int heard = server(words[0], 4), fd = bound(words[count - 1]);

	if (heard < 0 ||
	    connect(fd, (struct sockaddr *)&other, sizeof other) != 0 ||
	    listen(fd, 4) == 0 || errno != EINVAL)
		return EPROTO;
	return connect_to(&own, sizeof own, 0);
}

/* Who connects there all the time, and does not wait. */
static int
try_unix_knock(char **words, int count)
{
	struct sockaddr_un address = address_of(words[0]);

	(void)count;
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	while (connect_to(&address, sizeof address, SOCK_NONBLOCK) != EPERM)
		;
	return EPERM;
}

/* A server for others, with a byte in a file for each that comes. */
static int
try_unix_count(char **words, int count)
{
	int file = open(words[1], O_WRONLY | O_APPEND | O_CLOEXEC);
	int fd = server(words[0], 64), came = 0;

	(void)count;
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	while (file >= 0 && fd >= 0 && came >= 0) {
		came = accept(fd, NULL, NULL);
		if (came >= 0 && write(file, "x", 1) == 1)
			close(came);
	}
	return errno;
}

/* unix-elsewhere HERE THERE NAME: a socket is bound to a name in one directory,
 * and listens when this process is in another one. */
static int
try_unix_elsewhere(char **words, int count)
{
	int fd = chdir(words[0]) == 0 ? bound(words[count - 1]) : -1;

	return fd < 0 || chdir(words[1]) != 0 ? errno : result(listen(fd, 4));
}

/* A daemon: who called listen(2) has ended and was reaped. */
static int
try_unix_daemon(char **words, int count)
{
	struct sockaddr_un address = address_of(words[0]);
	pid_t daemon;
	int error, ends[2];

	(void)count;
	if (pipe(ends) != 0)
		return errno;
	if (fork() == 0) {
		int fd = server(words[0], 4);

		daemon = fork();
		if (daemon > 0 && write(ends[1], &daemon, sizeof daemon) > 0)
			_exit(0);
		for (; fd >= 0 && daemon == 0; close(accept(fd, NULL, NULL)))
			;
		_exit(1);
	}
	wait(NULL);
	close(ends[1]);
	if (read(ends[0], &daemon, sizeof daemon) != sizeof daemon)
		return EPROTO;
	error = connect_to(&address, sizeof address, 0);
	kill(daemon, SIGKILL);
	return error;
}

/* Servers in a number: all that listen can be connected to; says how many there
 * could be.  Those that were closed do not count. */
static int
try_unix_servers(char **words, int count)
{
	unsigned long most = number(words[1]);
	int fds[1024];
	unsigned long made = 0;
	char path[96];

	(void)count;
	for (int i = 0; i < 300; i++) {
		snprintf(path, sizeof path, "%s-closed", words[0]);
		close(server(path, 4));
	}
	for (; made < most && made < 1024; made++) {
		snprintf(path, sizeof path, "%s-%lu", words[0], made);
		fds[made] = server(path, 4);
		if (fds[made] < 0)
			break;
	}
	for (unsigned long i = 0; i < made; i++) {
		struct sockaddr_un address;

		snprintf(path, sizeof path, "%s-%lu", words[0], i);
		address = address_of(path);
		if (connect_to(&address, sizeof address, 0) != 0)
			return errno;
		close(fds[i]);
	}
	printf("%lu\n", made);
	return SAID;
}

/* As gpg-agent and ssh-agent: it goes on if it cannot hide. */
static int
try_unix_hidden(char **words, int count)
{
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	return try_unix_inside(words, count);
}

/* A file that has no name and is used as any other.  One call is made by its
 * number, since musl's open(3) sets FD_CLOEXEC once more by itself. */
static int
try_unnamed(char **words, int count)
{
	int fd = open(words[0], O_TMPFILE | O_RDWR | O_EXCL, 0600);
	int closed = (int)syscall(SYS_openat, AT_FDCWD, words[0],
	    O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char text[6] = "";
	struct stat status;
	int end = 0;

	(void)count;
	if (fd < 0)
		return errno;
	if (write(fd, "there", 5) != 5 || ftruncate(fd, 4) != 0 ||
	    pread(fd, text, sizeof text, 0) != 4 || fstat(fd, &status) != 0)
		end = errno;
	else if (strcmp(text, "ther") != 0 || status.st_nlink != 0 ||
	    status.st_uid != geteuid() || fcntl(fd, F_GETFD) != 0 ||
	    fcntl(closed, F_GETFD) != FD_CLOEXEC)
		end = EPROTO;
	close(fd);
	return end;
}

static int
try_unnamed_as(char **words, int count)
{
	uid_t uid = (uid_t)number(words[0]);

	if (setresuid(uid, uid, uid) != 0)
		return errno;
	return try_unnamed(words + 1, count - 1);
}

/* As many as there may be. */
static int
try_unnamed_many(char **words, int count)
{
	(void)count;
	for (int i = 0; i < TRIES * 10; i++) {
		if (open(words[0], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) < 0)
			return errno;
	}
	return 0;
}

/* Watches a place and prints nothing but whether it may; with a second word, a
 * link is watched itself. */
static int
try_watch(char **words, int count)
{
	int instance = inotify_init1(IN_CLOEXEC), error;

	error = inotify_add_watch(instance, words[0],
		    IN_ALL_EVENTS | (count > 1 ? IN_DONT_FOLLOW : 0)) < 0 ?
	    errno :
	    0;
	close(instance);
	return error;
}

/* Something that happens in a watched directory is told, with its name. */
static int
try_watch_told(char **words, int count)
{
	int instance = inotify_init1(IN_CLOEXEC | IN_NONBLOCK), fd, number;
	char path[256];
	union {
		struct inotify_event event;
		char bytes[512];
	} told;
	ssize_t len;

	(void)count;
	number = inotify_add_watch(instance, words[0], IN_CREATE | IN_ONLYDIR);
	if (number < 0)
		return errno;
	snprintf(path, sizeof path, "%s/told", words[0]);
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	close(fd);
	unlink(path);
	len = read(instance, &told, sizeof told);
	if (len < 0)
		return errno;
	/* And nothing else that has happened to it. */
	if (len != (ssize_t)(sizeof told.event + told.event.len))
		return EOVERFLOW;
	return told.event.wd == number && strcmp(told.event.name, "told") == 0 ?
	    result(inotify_rm_watch(instance, number)) :
	    EPROTO;
}

/* --- a close that waits --------------------------------------------------- */

/* What the threads connect again and again. */
static atomic_int lingering = -1;

static void *
connect_always(void *unused)
{
	struct sockaddr_in address = { .sin_family = AF_INET };

	for (;;)
		connect(lingering, (struct sockaddr *)&address, sizeof address);
	return unused;
}

static void *
close_one(void *fd)
{
	close((int)(intptr_t)fd);
	return NULL;
}

/* A socket whose last close waits, since nobody reads what was sent.  It gets the
 * number, which no other one had: a thread that still connects the one before would
 * connect this one where it does not yet lead to anybody. */
static int
open_lingering(const struct sockaddr_in *address, int number)
{
	static const struct linger hours = { 1, 10000 };
	static const char bytes[65536];
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), moved;

	if (fd < 0 ||
	    connect(fd, (const struct sockaddr *)address, sizeof *address) !=
		0 ||
	    setsockopt(fd, SOL_SOCKET, SO_LINGER, &hours, sizeof hours) != 0)
		return -1;
	while (send(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
		;
	moved = dup3(fd, number, O_CLOEXEC);
	close(fd);
	return moved;
}

/* Whoever has a copy of such a socket when it is closed must not wait: the next
 * call that it answers tells. */
static int
try_linger(char **words, int count)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_un absent = address_of("absent");
	socklen_t len = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pthread_t thread;

	(void)words;
	(void)count;
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) != 0 ||
	    listen(fd, CLOSES) != 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &len) != 0)
		return errno;
	for (int i = 0; i < HAMMERS; i++)
		pthread_create(&thread, NULL, connect_always, NULL);
	alarm(120);
	for (int i = 0; i < CLOSES; i++) {
		lingering = open_lingering(&address, FIRST_CLOSED + i);
		if (lingering < 0)
			return errno;
		usleep(2000);
		pthread_create(&thread, NULL, close_one,
		    (void *)(intptr_t)lingering);
		usleep(2000);
		connect_to(&absent, sizeof absent, 0);
	}
	return 0;
}

/* clang-format off */
const struct operation listener_operations[] = {
	{"serve-unix", 1, 1, try_serve_unix},
	{"serve-agent", 2, 2, try_serve_agent},
	{"unix-length", 2, 2, try_unix_length},
	{"unix-full", 1, 1, try_unix_full},
	{"unix-waiting", 2, 2, try_unix_waiting},
	{"unix-crowd", 2, 2, try_unix_crowd},
	{"unix-switch", 2, 2, try_unix_switch},
	{"unix-inside", 1, 2, try_unix_inside},
	{"unix-renamed", 1, 1, try_unix_renamed},
	{"unix-pending", 1, 1, try_unix_pending},
	{"unix-doubted", 1, 1, try_unix_doubted},
	{"unix-unheard", 2, 2, try_unix_unheard},
	{"unix-knock", 1, 1, try_unix_knock},
	{"unix-count", 2, 2, try_unix_count},
	{"unix-elsewhere", 3, 3, try_unix_elsewhere},
	{"unix-daemon", 1, 1, try_unix_daemon},
	{"unix-servers", 2, 2, try_unix_servers},
	{"unix-hidden", 1, 2, try_unix_hidden},
	{"watch", 1, 2, try_watch},
	{"watch-told", 1, 1, try_watch_told},
	{"linger", 0, 0, try_linger},
	{"unnamed", 1, 1, try_unnamed},
	{"unnamed-as", 2, 2, try_unnamed_as},
	{"unnamed-many", 1, 1, try_unnamed_many},
	{NULL, 0, 0, NULL},
};
/* clang-format on */
