/*
 * The thread whose system call is answered: its memory and its descriptors.
 * Whatever is taken from there is the caller's word, and of a fixed size.  A
 * thread that we may not look into (prctl(2), PR_SET_DUMPABLE) gets EPERM.
 */
#ifndef SBX_CALLER_H
#define SBX_CALLER_H

#include "runtime/base/kernel.h"
#include "runtime/listen/listen.h"

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

#endif
