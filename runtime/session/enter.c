/* See enter.h. */
#include "runtime/session/enter.h"

#include "format/decimal.h"
#include "runtime/apply/confine.h"
#include "runtime/base/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool
enter_one(const struct offer *offer, enum offer_descriptor which, int type)
{
	int fd = offer->descriptors[which];

	return fd < 0 || setns(fd, type) == 0;
}

/* The directory and a name below it, in a buffer that is large enough. */
static void
join(char *path, const char *name, const char *below)
{
	size_t len = strlen(name);

	memcpy(path, name, len);
	memcpy(path + len, below, strlen(below) + 1);
}

uint64_t
tag_of(int directory, const char *path)
{
	char text[64];
	const char *digits;
	uint64_t tag;
	ssize_t len;

	len = readlinkat(directory, path, text, sizeof text - 1);
	if (len <= 0)
		return 0;
	text[len] = '\0';
	/* "uts:[4026531838]" */
	digits = strchr(text, '[');
	if (digits == NULL ||
	    sbx_decimal_read(digits + 1, text + len, &tag) == NULL)
		return 0;
	return tag;
}

const char *
enter_process(const struct offer *offer, uint64_t *tag)
{
	if (!enter_one(offer, OFFER_USER, CLONE_NEWUSER))
		return "cannot enter the session's user namespace";
	if (!enter_one(offer, OFFER_PID, CLONE_NEWPID))
		return "cannot enter the session's process namespace";
	if (unshare(CLONE_NEWUTS) != 0)
		return "cannot make the mark by which the command's "
		       "processes are known";
	if (tag == NULL)
		return NULL;
	*tag = tag_of(AT_FDCWD, "/proc/self/ns/uts");
	return *tag != 0 ? NULL :
			   "cannot read the mark by which the command's "
			   "processes are known";
}

const char *
enter_place(const struct offer *offer, const char *directory)
{
	if (!enter_one(offer, OFFER_IPC, CLONE_NEWIPC) ||
	    !enter_one(offer, OFFER_NETWORK, CLONE_NEWNET) ||
	    !enter_one(offer, OFFER_MOUNT, CLONE_NEWNS))
		return "cannot enter the session's namespaces";
	if (chdir(directory) != 0)
		return "the session's view does not have this directory";
	return NULL;
}

bool
enter_directory(const struct offer *offer, const char *outside, char *inside,
    size_t size)
{
	static const char tmp[] = "/tmp";
	struct offer_text scratch = offer->head->scratch;
	size_t len = strlen(outside);

	if (scratch.len > 0 && len >= scratch.len &&
	    memcmp(outside, offer_text(offer, scratch), scratch.len) == 0 &&
	    (outside[scratch.len] == '/' || outside[scratch.len] == '\0')) {
		if (sizeof tmp + len - scratch.len > size)
			return false;
		join(inside, tmp, outside + scratch.len);
		return true;
	}
	if (len >= size)
		return false;
	memcpy(inside, outside, len + 1);
	return true;
}

/*
 * Whoever asks a terminal for signals when it can be read (O_ASYNC) has them
 * sent to the group in its foreground, which is outside of the session.
 * kill(0, ...) is for the process group, and that of a job at a terminal has
 * processes outside, too.  Nothing else can name these from inside.  The
 * policy's filter answers calls of other architectures.
 */
static bool
guard_group(bool guarded)
{
	enum {
		LOAD = 0x20 /* BPF_LD | BPF_W | BPF_ABS */,
		EQUALS = 0x15 /* BPF_JMP | BPF_JEQ | BPF_K */,
		HAS = 0x45 /* BPF_JMP | BPF_JSET | BPF_K */,
		RETURN = 6 /* BPF_RET | BPF_K */,
		ARG_0 = 16, /* the lower halves of the arguments */
		ARG_1 = 24,
		ARG_2 = 32,
		KILL = 9, /* the index below */
	};
	struct sbx_insn guard[] = {
		{ LOAD, 0, 0, 0 }, /* the number of the call */
		{ EQUALS, 0, 2, SYS_ioctl },
		{ LOAD, 0, 0, ARG_1 },
		{ EQUALS, 8, 9, FIOASYNC },
		{ EQUALS, 0, 4, SYS_fcntl },
		{ LOAD, 0, 0, ARG_1 },
		{ EQUALS, 0, 6, F_SETFL },
		{ LOAD, 0, 0, ARG_2 },
		{ HAS, 3, 4, O_ASYNC },
		{ EQUALS, 0, 3, SYS_kill },
		{ LOAD, 0, 0, ARG_0 },
		{ EQUALS, 0, 1, 0 },
		{ RETURN, 0, 0, SECCOMP_RET_ERRNO | EPERM },
		{ RETURN, 0, 0, SECCOMP_RET_ALLOW },
	};
	struct sock_fprog filter = {
		.len = sizeof guard / sizeof *guard,
		.filter = guard,
	};

	if (!guarded)
		guard[KILL].jt = guard[KILL].jf;
	return seccomp(SECCOMP_SET_MODE_FILTER, 0, &filter) == 0;
}

const char *
enter_restricted(const struct offer *offer, int socket, bool guarded)
{
	const struct offer_head *head = offer->head;
	int listener = -1;
	const char *fault;

	fault = limit_resources(&offer->blob, SBX_LEVEL_FULL, head->held, 0);
	if (fault == NULL)
		fault = give_up_permitted(SBX_LEVEL_FULL);
	if (fault == NULL)
		fault = restrict_files(head->restrict_flags,
		    offer->descriptors[OFFER_RULESET]);
	if (fault == NULL && !guard_group(guarded))
		fault = "cannot install the filter that guards the process "
			"group";
	if (fault == NULL)
		fault = filter_calls(offer->blob.bpf, offer->program,
		    &listener);
	if (fault == NULL && listener >= 0) {
		fault = session_ask(socket, SESSION_LISTENER, listener);
		/* Who has it could answer for the keeper; if a policy denies
		 * close(2), execve(2) closes it. */
		close(listener);
	}
	return fault;
}
