/* The inside of libsbx. */
#ifndef SBX_RUNTIME_LIBRARY_LIBRARY_H
#define SBX_RUNTIME_LIBRARY_LIBRARY_H

#include "runtime/apply/apply.h"
#include "runtime/library/sbx.h"
#include "runtime/session/offer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* --- error.c ----------------------------------------------------------- */

/* "SUBJECT: TEXT: what errno means"; the subject and the errno may be missing
 * (NULL, 0).  `error` may be NULL. */
void error_set(struct sbx_error *error, enum sbx_error_kind kind,
    const char *subject, const char *text, int code);

/* The same of what sbxrun has said, of which the last line that is no warning
 * counts; without it of `text`. */
void error_said(struct sbx_error *error, const char *said, const char *text);

/* --- words.c ----------------------------------------------------------- */

struct words {
	char **list; /* ends with NULL */
	size_t count, room;
	bool failed; /* there was no memory */
};

/* "HEAD" "TEXT" as one word; either may be "". */
void words_add(struct words *words, const char *head, const char *text);

void words_free(struct words *words);

/* --- arguments.c ------------------------------------------------------- */

#define ARGUMENT_LEVEL "--level="

/* Where a command finds the policy that was given as bytes. */
enum { ARGUMENT_POLICY = 4 };

/* Whether the size of a structure that a caller filled in says that the library
 * knows every field that is used. */
bool arguments_known(const void *given, size_t size, size_t known);

/* Whether these are options; else false and *error, as from the other one. */
bool arguments_check(const struct sbx_options *options,
    struct sbx_error *error);

/* The options of sbxrun, and the policy.  Paths are absolute, so that they stay
 * what they are in another directory. */
bool arguments_fill(struct words *words, const struct sbx_options *options,
    struct sbx_error *error);

/* A sealed file with the bytes of the policy, or -1 with errno. */
int arguments_keep(const struct sbx_options *options);

/* The path that a text names from the current directory on; false with
 * errno. */
bool absolute_path(const char *text, char *path, size_t size);

/* --- descriptors.c ----------------------------------------------------- */

/* Descriptors of the library are above those that commands can be given, so
 * that no command's descriptor takes the place of one. */
enum { OWN_DESCRIPTORS = 256 };

/* A close-on-exec copy of fd from there on, or -1 with errno; fd is closed. */
int own_descriptor(int fd);

/* Prepared in the caller; the processes of launch.c only use it. */
struct placing {
	const struct sbx_descriptor *wanted;
	size_t count;
	/* Above 2, and sorted: a bit for each number that the command has. */
	uint64_t kept[OWN_DESCRIPTORS / 64];
};

/* False and *error if they cannot be wanted. */
bool placing_prepare(struct placing *placing,
    const struct sbx_descriptor *wanted, size_t count, struct sbx_error *error);

/*
 * These three are steps of the second process; each gives NULL, or a text with
 * errno, or with 0, and the descriptor that it is about, or -1.
 */

/* Puts descriptors where they belong.  All others are closed by execve(2). */
const char *placing_apply(const struct placing *placing, int *which);

/* Whether each is one that a confined command may have; sbx.h says which are
 * not. */
const char *placing_check(const struct placing *placing, int *which);

/*
 * The standard streams.  What the user could change is opened again by its path
 * in the view, as apply/streams.c does by a mount: descriptors of outside lead
 * past the mounts of the view.  Before the view is entered its path is found.
 */
enum { STREAM_COUNT = 3, STREAM_PATH = 4096 };

struct streams {
	bool reopened[STREAM_COUNT];
	char path[STREAM_COUNT][STREAM_PATH];
};

const char *streams_find(struct streams *streams, int *which);
const char *streams_enter(const struct streams *streams, int *which);

/* --- launch.c ---------------------------------------------------------- */

/* What a step could not do; NULL: nothing is wrong. */
typedef const char *launch_step(void *plan);

struct launch {
	/* In the first process; NULL: there is none. */
	launch_step *enter;
	/* In the second one.  Returns only if it fails, with errno. */
	launch_step *become;
	void *plan;    /* of both */
	bool detached; /* the second is not to be a child of the caller */
	int group;     /* directory of a control group for it, or -1 */

	/* Filled in. */
	pid_t pid;
	int pidfd;
	const char *fault; /* why it failed, or NULL; and the errno */
	int error;
	bool killed; /* before it became the command */

	/* Private: what the processes say to the caller. */
	int alive; /* the second uses our memory: see set_tid_address(2) */
	int stage;
	bool cleared; /* the second has no handlers of signals */
	uint64_t mask;
	char *stacks;
};

/* In the second process, right before execve(2): the signals of the command.
 * See SBX_KEEP_SIGNALS. */
void launch_signals(const struct launch *launch, bool keep);

/* After its last step.  From here on only execve(2) is to come. */
void launch_ready(struct launch *launch);

/* False if it failed; then nothing is left of it. */
bool launch_run(struct launch *launch);

/*
 * System calls without libc, for processes that share the caller's memory
 * (CLONE_VM): libc's wrappers write errno, which is the calling thread's.
 * Each returns what the kernel returns, which is -errno on failure.
 */

#define RAW __attribute__((always_inline)) static inline

#if defined(__x86_64__)

RAW long
raw6(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10),
			 "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

#elif defined(__aarch64__)

RAW long
raw6(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}

#else
#error "libsbx is for x86_64 and aarch64"
#endif

RAW long
raw1(long number, long a)
{
	return raw6(number, a, 0, 0, 0, 0, 0);
}

RAW long
raw3(long number, long a, long b, long c)
{
	return raw6(number, a, b, c, 0, 0, 0);
}

/* prctl(2) wants zeros in what it does not use. */
RAW long
raw5(long number, long a, long b, long c, long d, long e)
{
	return raw6(number, a, b, c, d, e, 0);
}

/*
 * clone(2) or clone3(2), by their numbers and arguments, for a child with a
 * stack of its own: it calls function(argument), which does not return, and
 * never touches the frame that it was made in.
 */
#if defined(__x86_64__)

RAW long
raw_clone(const long call[6], void (*function)(void *), void *argument)
{
	/* cppcheck-suppress constStatement ; it knows no registers */
	register long r10 __asm__("r10") = call[4];
	/* cppcheck-suppress constStatement ; it knows no registers */
	register long r8 __asm__("r8") = call[5];
	register void (*r12)(void *) __asm__("r12") = function;
	register void *r13 __asm__("r13") = argument;
	long result;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "and $-16, %%rsp\n\t"
			 "mov %%r13, %%rdi\n\t"
			 "call *%%r12\n\t"
			 "ud2\n"
			 "1:"
			 : "=a"(result)
			 : "a"(call[0]), "D"(call[1]), "S"(call[2]),
			 "d"(call[3]), "r"(r10), "r"(r8), "r"(r12), "r"(r13)
			 : "rcx", "r11", "memory");
	return result;
}

#elif defined(__aarch64__)

RAW long
raw_clone(const long call[6], void (*function)(void *), void *argument)
{
	register long x8 __asm__("x8") = call[0];
	register long x0 __asm__("x0") = call[1];
	register long x1 __asm__("x1") = call[2];
	register long x2 __asm__("x2") = call[3];
	register long x3 __asm__("x3") = call[4];
	register long x4 __asm__("x4") = call[5];
	register void (*x19)(void *) __asm__("x19") = function;
	register void *x20 __asm__("x20") = argument;

	__asm__ volatile("svc 0\n\t"
			 "cbnz x0, 1f\n\t"
			 "mov x29, xzr\n\t"
			 "mov x0, x20\n\t"
			 "blr x19\n\t"
			 "brk 0\n"
			 "1:"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4),
			 "r"(x19), "r"(x20)
			 : "x30", "memory");
	return x0;
}

#endif

/*
 * A sandbox that was opened.  It does not change until it is closed, so that
 * threads need no lock.
 */

struct sbx_sandbox {
	pid_t owner;     /* who opened it */
	bool nameless;   /* it ends when it is closed */
	bool joined;     /* else each command has a sandbox of its own */
	bool supervised; /* the policy wants what only a supervisor does */
	int socket;      /* to the keeper, or -1 */
	int asking;      /* threads that wait for an answer there */
	int keeper;      /* a pidfd of it, or -1 */
	int policy;      /* the bytes that were given, or -1 */
	struct offer offer;
	struct environment_rules rules; /* of the offer */
	struct sbx_place anchors[SBX_MAX_ANCHORS];
	bool bound[SBX_MAX_ANCHORS];
	char level[16];
	char *warnings;
	char *sbxrun;       /* its path */
	struct words words; /* its options and the policy */
};

/* Whether the sandbox has ended. */
bool sandbox_ended(const struct sbx_sandbox *sandbox);

/* --- start.c ----------------------------------------------------------- */

struct start {
	const char *sbxrun;
	char **words; /* argv */
	char *const *environment;
	const char *directory; /* NULL: the current one */
	const struct sbx_descriptor *descriptors;
	size_t descriptor_count;
	unsigned flags; /* enum sbx_command_flag */
	bool detached;  /* it is not to be a child of the caller */

	/* Filled in, if it is a child. */
	pid_t pid;
	int pidfd;
};

/* False and *error if it was not started. */
bool start_sbxrun(struct start *start, struct sbx_error *error);

/* The steps that every process of ours does: its process group or session and
 * its terminal, as the flags say. */
const char *start_group(unsigned flags);

#endif
