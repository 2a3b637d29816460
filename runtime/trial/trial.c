/*
 * sbx-trial: tries accesses inside a sandbox, for `sbxc test --live`.  Standard
 * input is a file of trials (format/protocol.h), which is mapped and where the
 * answers go.  Nothing is left of what it makes, and no program but a copy of
 * itself begins to run.
 *
 * With an argument it does nothing: then it is such a copy.
 */
#include "format/protocol.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Too little for any program: the kernel looks whether it may be executed, and
 * kills the process when it makes room for it. */
enum { NO_ROOM = 1 << 16 };

struct attempt {
	const char *base;
	struct sbx_trial *trial; /* which is tried now */
};

static const char *
text_of(const struct attempt *attempt)
{
	return attempt->base + attempt->trial->text;
}

static int
opened(int fd)
{
	int error = errno;

	if (fd < 0)
		return error;
	close(fd);
	return 0;
}

/* --- files ---------------------------------------------------------------- */

static int
try_read(const struct attempt *attempt)
{
	return opened(open(text_of(attempt),
	    O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

static int
try_write(const struct attempt *attempt)
{
	return opened(open(text_of(attempt),
	    O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

static int
try_create(const struct attempt *attempt)
{
	const char *path = text_of(attempt);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0)
		unlink(path);
	return opened(fd);
}

/* --- in a child ----------------------------------------------------------- */

/* The child answers itself, through the mapping; one that does not live to do
 * so is told by its end. */
static int
wait_for(const struct attempt *attempt, pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return SBX_TRIAL_UNABLE;
	}
	if (attempt->trial->answer != SBX_TRIAL_NONE)
		return attempt->trial->answer;
	return WIFSIGNALED(status) ? SBX_TRIAL_SIGNAL - WTERMSIG(status) : 0;
}

static void
execute(const struct attempt *attempt)
{
	static char name[] = "sbx-trial", nothing[] = "nothing";
	static char *const arguments[] = { name, nothing, NULL },
			   *const environment[] = { NULL };

	execve(text_of(attempt), arguments, environment);
	attempt->trial->answer = errno;
	_exit(0);
}

/* A policy may deny one way to make a child and allow another. */
static pid_t
child_make(void)
{
	pid_t pid = fork();

	return pid >= 0 ? pid :
			  (pid_t)syscall(SYS_clone, SIGCHLD, 0L, 0L, 0L, 0L);
}

static int
try_run(const struct attempt *attempt)
{
	pid_t pid = child_make();

	if (pid < 0)
		return SBX_TRIAL_UNABLE;
	if (pid == 0)
		execute(attempt);
	return wait_for(attempt, pid);
}

static int
try_exec(const struct attempt *attempt)
{
	static const struct rlimit room = { NO_ROOM, NO_ROOM }, none;
	pid_t pid = child_make();
	int answer;

	if (pid < 0)
		return SBX_TRIAL_UNABLE;
	if (pid == 0) {
		if (setrlimit(RLIMIT_CORE, &none) != 0 ||
		    setrlimit(RLIMIT_AS, &room) != 0) {
			attempt->trial->answer = SBX_TRIAL_UNABLE;
			_exit(0);
		}
		execute(attempt);
	}
	answer = wait_for(attempt, pid);
	/* Killed: it was allowed.  Without room even to ask: nobody knows. */
	if (answer <= SBX_TRIAL_SIGNAL)
		return 0;
	return answer == ENOMEM || answer == E2BIG ? SBX_TRIAL_UNABLE : answer;
}

static int
try_call(const struct attempt *attempt)
{
	struct sbx_trial *trial = attempt->trial;
	pid_t pid = child_make();

	if (pid < 0)
		return SBX_TRIAL_UNABLE;
	if (pid == 0) {
		long value = syscall((long)trial->number, trial->args[0],
		    trial->args[1], trial->args[2], trial->args[3],
		    trial->args[4], trial->args[5]);

		trial->answer = value < 0 ? errno : 0;
		_exit(0);
	}
	return wait_for(attempt, pid);
}

/* --- the network and the environment -------------------------------------- */

enum { WAIT = 5000, MESSAGE_SIZE = 512, REFUSED_CODE = 3 };

/* Connects within the time; what came of it. */
static int
connect_soon(int fd, const void *address, socklen_t size)
{
	struct pollfd wait = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int error = 0;

	if (connect(fd, address, size) == 0)
		return 0;
	if (errno != EINPROGRESS)
		return errno;
	if (poll(&wait, 1, WAIT) != 1 ||
	    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
		return ETIMEDOUT;
	return error;
}

static int
socket_open(const struct attempt *attempt, struct sockaddr_in *address)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	*address = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)attempt->trial->number),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	attempt->trial->socket = fd < 0;
	return fd;
}

static int
try_connect(const struct attempt *attempt)
{
	struct sockaddr_in address;
	int fd = socket_open(attempt, &address), error;

	if (fd < 0)
		return errno;
	error = connect_soon(fd, &address, sizeof address);
	close(fd);
	return error;
}

static int
try_listen(const struct attempt *attempt)
{
	struct sockaddr_in address;
	int fd = socket_open(attempt, &address), error = 0;

	if (fd >= 0 &&
	    (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
		listen(fd, 1) != 0))
		error = errno;
	opened(fd);
	return fd < 0 ? errno : error;
}

static int
try_env(const struct attempt *attempt)
{
	return getenv(text_of(attempt)) != NULL ? 0 : SBX_TRIAL_ABSENT;
}

/* --- hosts ---------------------------------------------------------------- */

/* A message of the DNS that asks for the address of a name; its length. */
static size_t
ask_name(const char *name, uint8_t message[MESSAGE_SIZE])
{
	static const uint8_t head[] = { 7, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0 };
	static const uint8_t tail[] = { 0, 0, 1, 0, 1 };
	size_t used = sizeof head;

	memcpy(message, head, sizeof head);
	while (*name != '\0') {
		size_t len = strcspn(name, ".");

		if (len == 0 || len > 63 ||
		    used + len + sizeof tail >= MESSAGE_SIZE)
			return 0;
		message[used++] = (uint8_t)len;
		memcpy(message + used, name, len);
		used += len;
		name += len + (name[len] == '.');
	}
	memcpy(message + used, tail, sizeof tail);
	return used + sizeof tail;
}

static int
look_up(const char *name)
{
	const struct sockaddr_in resolver = {
		.sin_family = AF_INET,
		.sin_port = htons(53),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	uint8_t message[MESSAGE_SIZE];
	size_t len = ask_name(name, message);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	int answer = SBX_TRIAL_UNABLE;

	if (fd < 0)
		return errno;
	if (len > 0 &&
	    connect(fd, (const struct sockaddr *)&resolver, sizeof resolver) ==
		0 &&
	    send(fd, message, len, 0) == (ssize_t)len &&
	    poll(&wait, 1, WAIT) == 1) {
		ssize_t got = recv(fd, message, sizeof message, 0);

		if (got < 0)
			answer = errno;
		else if (got > 3)
			answer = (message[3] & 15) == REFUSED_CODE ?
			    EHOSTUNREACH :
			    0;
	}
	close(fd);
	return answer;
}

/* The name is known, and its port leads out: an address that no name has is
 * reset there, and refused where none leads out. */
static int
try_name(const struct attempt *attempt)
{
	struct sockaddr_in address;
	int error = look_up(text_of(attempt)), fd;

	if (error != 0)
		return error;
	fd = socket_open(attempt, &address);
	if (fd < 0)
		return errno;
	address.sin_addr.s_addr = htonl(0xc613fffe); /* 198.19.255.254 */
	error = connect_soon(fd, &address, sizeof address);
	close(fd);
	return error == ECONNRESET ? 0 : error;
}

static int
try_tunnel(const struct attempt *attempt)
{
	static const char before[] = "CONNECT ", refused[] = "HTTP/1.1 403";
	static const char after[] = " HTTP/1.1\r\n\r\n";
	struct sockaddr_in address;
	int fd = socket_open(attempt, &address), error;
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	char answer[sizeof refused - 1], port[8] = ":", *at = port + 7;
	const char *name = text_of(attempt);

	if (fd < 0)
		return errno;
	for (uint32_t left = attempt->trial->number; left > 0; left /= 10)
		*--at = (char)('0' + left % 10);
	*--at = ':';
	address.sin_port = htons(3128);
	error = connect_soon(fd, &address, sizeof address);
	if (error == 0 &&
	    (send(fd, before, sizeof before - 1, MSG_NOSIGNAL) < 0 ||
		send(fd, name, strlen(name), MSG_NOSIGNAL) < 0 ||
		send(fd, at, (size_t)(port + 7 - at), MSG_NOSIGNAL) < 0 ||
		send(fd, after, sizeof after - 1, MSG_NOSIGNAL) < 0))
		error = SBX_TRIAL_UNABLE;
	if (error == 0 && poll(&wait, 1, 3 * WAIT) == 1 &&
	    recv(fd, answer, sizeof answer, MSG_WAITALL) == sizeof answer &&
	    memcmp(answer, refused, sizeof answer) == 0)
		error = EACCES;
	close(fd);
	return error;
}

/* One that is accepted inside and led nowhere is reset soon. */
static int
try_address(const struct attempt *attempt)
{
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} address = { .in6.sin6_family = AF_INET6 };
	in_port_t port = htons((uint16_t)attempt->trial->number);
	const char *text = text_of(attempt);
	struct pollfd wait = { .events = POLLIN };
	int fd, error;
	char byte;

	if (inet_pton(AF_INET6, text, &address.in6.sin6_addr) == 1) {
		address.in6.sin6_port = port;
	} else {
		address.in.sin_family = AF_INET;
		address.in.sin_port = port;
		if (inet_pton(AF_INET, text, &address.in.sin_addr) != 1)
			return SBX_TRIAL_UNABLE;
	}
	fd = socket(address.any.sa_family,
	    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	attempt->trial->socket = fd < 0;
	if (fd < 0)
		return errno;
	wait.fd = fd;
	error = connect_soon(fd, &address, sizeof address);
	if (error == 0 && poll(&wait, 1, WAIT) == 1 &&
	    recv(fd, &byte, 1, 0) <= 0)
		error = ECONNRESET;
	close(fd);
	return error;
}

/* --- sockets by path ------------------------------------------------------ */

static int
unix_open(const struct attempt *attempt, struct sockaddr_un *address)
{
	const char *path = text_of(attempt);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) < sizeof address->sun_path)
		strcpy(address->sun_path, path);
	attempt->trial->socket = fd < 0;
	return fd;
}

static int
try_socket(const struct attempt *attempt)
{
	struct sockaddr_un address;
	int fd = unix_open(attempt, &address), error = 0;

	if (fd < 0)
		return errno;
	if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
		error = errno;
	close(fd);
	return error;
}

static int
try_own_socket(const struct attempt *attempt)
{
	struct sockaddr_un address;
	int fd = unix_open(attempt, &address), answer;

	if (fd < 0)
		return errno;
	if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
	    listen(fd, 1) != 0)
		answer = SBX_TRIAL_UNABLE;
	else
		answer = try_socket(attempt);
	if (address.sun_path[0] != '\0')
		unlink(address.sun_path);
	close(fd);
	return answer;
}

static int
try_spawn(const struct attempt *attempt)
{
	pid_t pid = fork();

	(void)attempt;
	if (pid < 0)
		return errno;
	if (pid == 0)
		_exit(0);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}

/* --- all of them ---------------------------------------------------------- */

static int (*const tries[])(const struct attempt *attempt) = {
	[SBX_TRY_READ] = try_read,
	[SBX_TRY_WRITE] = try_write,
	[SBX_TRY_CREATE] = try_create,
	[SBX_TRY_RUN] = try_run,
	[SBX_TRY_EXEC] = try_exec,
	[SBX_TRY_CONNECT] = try_connect,
	[SBX_TRY_LISTEN] = try_listen,
	[SBX_TRY_ENV] = try_env,
	[SBX_TRY_CALL] = try_call,
	[SBX_TRY_NAME] = try_name,
	[SBX_TRY_TUNNEL] = try_tunnel,
	[SBX_TRY_ADDRESS] = try_address,
	[SBX_TRY_SOCKET] = try_socket,
	[SBX_TRY_OWN_SOCKET] = try_own_socket,
	[SBX_TRY_SPAWN] = try_spawn,
};

static struct sbx_trials *
trials_map(void)
{
	struct stat status;
	struct sbx_trials *trials;

	if (fstat(0, &status) != 0 || (size_t)status.st_size < sizeof *trials)
		return NULL;
	trials = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE,
	    MAP_SHARED, 0, 0);
	if (trials == MAP_FAILED || trials->magic != SBX_TRIAL_MAGIC ||
	    trials->size != (size_t)status.st_size ||
	    trials->count > trials->size / sizeof(struct sbx_trial))
		return NULL;
	return trials;
}

int
main(int argc, char **argv)
{
	struct sbx_trials *trials;
	struct sbx_trial *trial;

	(void)argv;
	if (argc != 1)
		return 0;
	trials = trials_map();
	if (trials == NULL)
		return 2;
	trial = (struct sbx_trial *)(void *)(trials + 1);
	for (uint32_t i = 0; i < trials->count; i++, trial++) {
		struct attempt attempt = { (const char *)trials, trial };

		if (trial->answer == SBX_TRIAL_NONE &&
		    trial->kind < countof(tries) && trial->text < trials->size)
			trial->answer = tries[trial->kind](&attempt);
	}
	return 0;
}
