/* The answers to single calls. */
#ifndef SBX_RUNTIME_LISTEN_ANSWERS_H
#define SBX_RUNTIME_LISTEN_ANSWERS_H

#include "format/model.h"
#include "format/protocol.h"
#include "runtime/base/kernel.h"
#include "runtime/listen/listen.h"

/* --- caller.c ---------------------------------------------------------- */

struct caller {
	struct listening *listening;
	struct seccomp_call call;
};

/* Both give 0 or a negative errno.  caller_text(): a NUL-terminated text. */
int caller_read(const struct caller *caller, uint64_t address, void *bytes,
    size_t len);
int caller_text(const struct caller *caller, uint64_t address, char *text,
    size_t size);

/* An O_PATH descriptor of its "cwd", its root directory, or of what it has at
 * `fd`; a negative errno. */
int caller_directory(const struct caller *caller);
int caller_root(const struct caller *caller);
int caller_descriptor(const struct caller *caller, int fd);

/* A copy of its descriptor, which shares everything with it. */
int caller_copy(const struct caller *caller, int fd);
void caller_close(int copy);

/* Interrupts what waits in the kernel, again and again until it is stopped: the
 * first signal may come before the waiting begins. */
bool ticks(bool on);

/* Whether it may do what this process may: what a superuser has dropped would
 * come back to it otherwise.  Others cannot be looked into if they differ. */
bool caller_is_equal(const struct caller *caller);

/* Who it is to the file system and to shared objects; false: it has ended. */
struct user {
	uid_t uid;
	gid_t gid;
};
bool caller_user(const struct caller *caller, struct user *user);

/* Whether the thread still waits: only then all that was read is its own, and
 * not of another one that got its number. */
bool caller_waits(const struct caller *caller);

/* --- answers.c --------------------------------------------------------- */

/* No errno is as far below 0. */
enum { ANSWER_LATER = -5000, ANSWER_GO_ON = -5001 };

int64_t answer(const struct caller *caller);

/* Counts it if it is a refusal. */
void answer_count(struct listening *listening, int number, int64_t result);

/* connect.c */
int answer_connect(const struct caller *caller);

/* servers.c */
int64_t answer_listen(const struct caller *caller);

/* metadata.c */
int answer_metadata(const struct caller *caller);

/* objects.c */
int64_t answer_objects(const struct caller *caller);

/* watching.c */
int answer_watching(const struct caller *caller);

/* unnamed.c */
int64_t answer_unnamed(const struct caller *caller);

/* Tries one of the waiting calls again; its answer, or ANSWER_LATER. */
int connect_again(const struct waiting *waiting);

/* Closes what it has. */
void connect_forget(const struct waiting *waiting);

/* --- beyond.c ---------------------------------------------------------- */

/*
 * Whether a call that goes on to the kernel, or that the supervisor refused, fails
 * for what no rule decides: fills in the obstacle and what it is about.  `path` is
 * where the call leads, outside, or "".
 */
bool beyond_judge(const struct caller *caller, const char *path,
    struct sbx_denial *denial);

/* Whether binding a port takes the rights of a superuser, which this user has
 * outside. */
bool beyond_port(uint16_t port, struct sbx_denial *denial);

/* Whether the caller has as many files open as the policy lets it have. */
bool beyond_files(const struct caller *caller, struct sbx_denial *denial);

/* --- destination.c ----------------------------------------------------- */

/*
 * Where a program would have connected to that got no socket: it did not come to
 * say that, but its command line often does.
 */

/* Fills in the name or address as `path`, and the port if there is one. */
void destination_guess(const struct caller *caller, struct sbx_denial *denial);

/* --- internet.c -------------------------------------------------------- */

/* An address and a port; one of IPv4 is ::ffff:a.b.c.d. */
struct endpoint {
	uint8_t address[SBX_ADDRESS_SIZE];
	uint16_t port;
};

enum { ADDRESS_V4_SIZE = 4 };
extern const uint8_t address_v4_prefix[SBX_ADDRESS_SIZE - ADDRESS_V4_SIZE];
extern const uint8_t address_here[ADDRESS_V4_SIZE]; /* 127.0.0.1 */

/* The socket's own name; false: it has none. */
bool internet_name(int socket, struct endpoint *endpoint);

/* Whether the socket is neither connected nor about to be. */
bool internet_is_closed(int socket);

/* Whether this kind of socket is judged here: TCP, where the policy says so. */
bool internet_is_judged(const struct listening *listening, int socket);

/* Judges the address of an attempt, and puts there what to connect to; 0 or a
 * negative errno. */
int internet_judge(const struct caller *caller, struct waiting *attempt);

/* listen(2) on the copy of a socket: its result. */
int internet_listen(const struct caller *caller, int socket);

/* Whether an attempt that has begun has come to an end. */
bool internet_is_ready(int socket);

/* --- inside.c ---------------------------------------------------------- */

/* Whether the address is one of the loopback device; if it is no address at
 * all, which means the same, it becomes one. */
bool inside_is_meant(struct endpoint *endpoint);

/* Whether somebody outside listens there. */
bool inside_is_taken(const struct caller *caller,
    const struct endpoint *endpoint);

/* Gives a socket the key, or takes it off; only a socket that listens may lose
 * it, since who connects needs it until the connection is made. */
bool inside_sign(struct servers *servers, int socket);
bool inside_unsign(int socket);

/* Makes a socket ready to be connected to a server of the sandbox there. */
int inside_connect(const struct caller *caller, int socket,
    const struct endpoint *endpoint);

/* listen(2) on a socket that has this name: its result. */
int inside_listen(const struct caller *caller, int socket,
    const struct endpoint *endpoint);

/* --- loopback.c -------------------------------------------------------- */

/*
 * Whether a connection to 127.0.0.1 or ::1 fails because the network is the
 * sandbox's own: a service of the host listens there, and none inside.
 */

bool loopback_judge(const struct caller *caller,
    const uint8_t address[SBX_ADDRESS_SIZE], uint16_t port,
    struct sbx_denial *denial);

/* --- observe.c --------------------------------------------------------- */

/*
 * The calls of a command that is explained: what the policy's own filter says
 * to each is what happens, and what is denied is noted on the way.
 */

/* In place of answer(), above. */
int64_t observe(const struct caller *caller);

/* --- place.c ----------------------------------------------------------- */

/*
 * An O_PATH descriptor of what the caller names: `directory` is a descriptor of
 * the caller or AT_FDCWD, `flags` may have AT_SYMLINK_NOFOLLOW.  A negative
 * errno if there is none, or if the way leads through a process in /proc.
 */
int place_open(const struct caller *caller, int directory, const char *path,
    int flags);

/* Whether the policy lets the command write, or read, what is open here.  What
 * has no place in the file system, such as a pipe, it does not. */
bool place_is_writable(const struct caller *caller, int fd);
bool place_is_readable(const struct caller *caller, int fd);

/* --- view.c ------------------------------------------------------------ */

/* As place_open() and place_is_writable() of place.c, which come here at that level.
 * No link leads out of the view. */
int view_open(const struct caller *caller, int directory, const char *path,
    int flags);
bool view_is_writable(int fd);

#endif
