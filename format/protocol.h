/* What the programs say to each other. */
#ifndef SBX_FORMAT_PROTOCOL_H
#define SBX_FORMAT_PROTOCOL_H

#include "format/blob.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * How one tells an agent of ssh from other services: the question for its keys
 * and the beginning of the answer, as in draft-ietf-sshm-ssh-agent.  A message
 * is its length, in four bytes, and its kind.
 */

enum {
	SBX_AGENT_REQUEST = 11, /* for its identities */
	SBX_AGENT_IDENTITIES = 12,
	SBX_AGENT_FAILURE = 5,
	SBX_AGENT_SIZE = 5, /* of a request, and of what tells of an answer */
	SBX_AGENT_LEN_MAX = 262144,
	SBX_AGENT_PATIENCE = 2, /* seconds, for each step */
};

static const uint8_t sbx_agent_request[SBX_AGENT_SIZE] = { 0, 0, 0, 1,
	SBX_AGENT_REQUEST };

/* Whoever speaks first, or speaks HTTP, D-Bus or X11, begins otherwise. */
static inline bool
sbx_agent_is_answer(const uint8_t bytes[SBX_AGENT_SIZE])
{
	uint32_t len = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
	    (uint32_t)bytes[2] << 8 | bytes[3];

	if (len == 0 || len > SBX_AGENT_LEN_MAX)
		return false;
	return bytes[SBX_AGENT_SIZE - 1] == SBX_AGENT_FAILURE ||
	    bytes[SBX_AGENT_SIZE - 1] == SBX_AGENT_IDENTITIES;
}

/*
 * What `sbxrun --explain` tells sbxc when the command has ended, and what sbxc
 * answers: struct sbx_explained and so many denials; then an answer to each, and
 * after them all of it in words, for people or for an agent.
 */

struct sbx_explained {
	uint32_t count; /* of the denials that follow */
	uint32_t more;  /* calls that were denied when there was no more room */
	uint32_t unread;    /* calls whose words could not be read */
	uint8_t all;        /* without a bound */
	uint8_t agent;      /* in the form for agents */
	uint8_t failed;     /* the command did */
	uint8_t session;    /* its rules were bound before it */
	char limits[512];   /* in force, "core 0B, timeout 20m" */
	char withheld[512]; /* names of variables that may be looked for */
};

enum sbx_denied {
	SBX_DENIED_READ,
	SBX_DENIED_WRITE,
	SBX_DENIED_EXEC,
	SBX_DENIED_SOCKET, /* a connection to a socket that has a path */
	SBX_DENIED_CONNECT,
	SBX_DENIED_LISTEN,
	SBX_DENIED_CALL, /* a system call, by the policy's filter */
	/* In the network; the path is a name or an address. */
	SBX_DENIED_NAME,
	SBX_DENIED_ADDRESS,
	SBX_DENIED_HOST, /* a service of the host, by its port */
	SBX_DENIED_PUBLISH,
	SBX_DENIED_END,
};

/* Why a call fails that no rule decides. */
enum sbx_obstacle {
	SBX_NO_OBSTACLE,
#define OBSTACLE(name, because, where, step) SBX_OBSTACLE_##name,
#include "format/obstacles.def"
#undef OBSTACLE
	SBX_OBSTACLE_END,
};

enum {
	SBX_DENIALS_MAX = 512, /* that are kept apart */
	SBX_DENIAL_ARGS = 3,   /* of a system call that are kept */
	SBX_PROGRAM_SIZE = 16, /* of a process: TASK_COMM_LEN */
};

struct sbx_denial {
	uint32_t kind;   /* enum sbx_denied */
	uint32_t source; /* of the rule that decided, or SBX_NO_SOURCE */
	uint32_t count;  /* of calls */
	uint32_t names;  /* below `path` that are counted together; 0: none */
	int32_t number;  /* of the system call */
	uint32_t error;  /* errno that a filter answered, or 0 */
	uint32_t args[SBX_DENIAL_ARGS];
	uint16_t port; /* for SBX_OBSTACLE_LIMIT: enum sbx_limit_kind */
	uint8_t
	    obstacle; /* enum sbx_obstacle; then `path` is what it is about */
	uint8_t skipped; /* `source` allows it, but for a link on its way */
	uint8_t start;   /* a shell does so, whatever it runs */
	uint8_t verdict; /* in the network: enum proxy_verdict */
	uint8_t probe;   /* it was only looked for */
	uint8_t makes_file;
	uint8_t replaced; /* the name was to go, or to become another file's */
	char program[SBX_PROGRAM_SIZE];
	char reason[32]; /* the verdict in words, and a rule that would do */
	char remedy[512];
	/* Outside, NUL-terminated; the root is "/". */
	char path[SBX_MAX_PATH + 1];
};

enum { SBX_ADVICE_STEPS = 6, SBX_ADVICE_TEXT = 512 };

/* Where a step is done. */
enum sbx_advice_where {
#define ADVICE(name, word) SBX_ADVICE_##name,
#include "format/advice.def"
#undef ADVICE
	SBX_ADVICE_END,
};

/* Texts are NUL-terminated, and "" if there is none. */
struct sbx_advice {
	uint32_t works;   /* it is allowed once the steps are done */
	uint32_t allowed; /* it is, to a command that starts now */
	uint32_t count;   /* of steps */
	uint8_t where[SBX_ADVICE_STEPS + 2]; /* enum sbx_advice_where, padded */
	char object[SBX_ADVICE_TEXT];        /* of a system call, in words */
	char source[SBX_ADVICE_TEXT];        /* of the rule that decided */
	char rule[SBX_ADVICE_TEXT];          /* as the language writes it */
	char file[SBX_ADVICE_TEXT];          /* into which statements go */
	char steps[SBX_ADVICE_STEPS][SBX_ADVICE_TEXT];
};

/*
 * With `sbxrun --ask`, sbx-proxy asks about names that no rule is about, over a
 * socket that keeps messages apart; sbxc is at the other end.  Each name has a
 * number of its own.
 */

enum sbx_answer {
	SBX_ANSWER_NO = 1,
	SBX_ANSWER_ONCE, /* to what waits, and what comes within seconds */
	SBX_ANSWER_SESSION,
	SBX_ANSWER_NONE, /* nobody has answered in time */
	SBX_ANSWER_END,
};

enum { SBX_ASK_TIME = 30 /* seconds for one answer */ };

struct sbx_question {
	uint32_t number;
	uint32_t port;
	char name[256]; /* of a host, NUL-terminated */
};

struct sbx_reply {
	uint32_t number;
	uint32_t answer; /* enum sbx_answer */
};

/*
 * How a program finds out that it runs in a sandbox of sbx: the filter of every
 * policy answers one call, which does nothing anywhere else, with an errno that
 * the kernel does not give for it.  Variables prove nothing, for whoever wrote a
 * project may have set them.  Only what had our process before could have
 * installed a filter that answers the same.
 *
 *	ioprio_set(SBX_INSIDE_WHICH, 0, 0)	EINVAL, in a sandbox ENOANO
 *
 * A policy that allows or denies all of ioprio_set(2) does not say so.
 */

enum { SBX_INSIDE_WHICH = 0x736278 };

#define SBX_INSIDE_ERRNO ENOANO

/*
 * The directories of a home in which sbx keeps what is its own: what a command
 * wrote there would be the next run's policy.  The loader keeps both from every
 * command, whatever the policy says.
 */

#define SBX_OWN_CONFIG "/.config/sbx"
#define SBX_OWN_SECRETS SBX_OWN_CONFIG "/secrets"

/*
 * What the file of secrets says, as `sbxc secrets` hands it to sbxrun: a record for
 * each, behind it `hosts` names and then `words`, all ended by a NUL.
 */
enum sbx_secret_kind {
	SBX_SECRET_ENV,     /* a variable of the caller's */
	SBX_SECRET_FILE,    /* its only line */
	SBX_SECRET_COMMAND, /* the first line that a program prints */
	SBX_SECRET_END,
};

struct sbx_secret {
	uint32_t size; /* of what stands behind it */
	uint16_t hosts, words;
	uint32_t kind, line;
	char name[SBX_MAX_NAME + 4];
};
#define SBX_OWN_STATE "/.local/state/sbx"

/*
 * A stage of `sbxrun --stage`: what commands changed in a workspace, kept beside it.
 * In ~/.local/state/sbx/stages/NAME, which a run and `sbxc staged` lock with
 * flock(2):
 *
 *	about     struct sbx_stage, then the workspace's path, up to the end
 *	watched   for each place that a policy of its runs watches: a byte, which is
 *	          enum sbx_stage_watch, the place, a NUL, its pattern, a NUL
 *	applied   what `sbxc staged apply` has made in the workspace (its apply.c)
 *	linked    and where the first of several names of a file is: an inode of
 *	          the upper layer (uint64_t), a path, a NUL
 *	upper     the changes, as overlayfs writes them
 *	work      overlayfs's own
 */

#define SBX_STAGE_MAGIC "sbxstag1"
#define SBX_STAGES "stages"

struct sbx_stage {
	char magic[8];
	int64_t begun;          /* nanoseconds of CLOCK_REALTIME_COARSE */
	uint64_t device, inode; /* of the workspace */
};

enum sbx_stage_watch {
	SBX_STAGE_TREE = 't', /* the place and all below it */
	SBX_STAGE_GIT = 'g',  /* what git obeys in this working tree */
};

/*
 * What `sbxc test --live` hands to sbx-trial, and where that answers: a file
 * that both map, so that no limit on output and no denied call comes between.
 *
 *	struct sbx_trials, struct sbx_trial[count], strings
 */

enum sbx_trial_kind {
	SBX_TRY_READ,    /* open for reading; text: path */
	SBX_TRY_WRITE,   /* open for writing what is there */
	SBX_TRY_CREATE,  /* make a file that is not there, and remove it */
	SBX_TRY_RUN,     /* a copy of sbx-trial, which ends at once */
	SBX_TRY_EXEC,    /* any program, which is killed before it begins */
	SBX_TRY_CONNECT, /* to 127.0.0.1; number: port */
	SBX_TRY_LISTEN,
	SBX_TRY_ENV,    /* text: name */
	SBX_TRY_CALL,   /* number: of the system call; args */
	SBX_TRY_NAME,   /* text: of a host; number: port; nothing is sent out */
	SBX_TRY_TUNNEL, /* the same, of the proxy, which leads out */
	SBX_TRY_ADDRESS,    /* text: address; number: port */
	SBX_TRY_SOCKET,     /* text: path of a socket */
	SBX_TRY_OWN_SOCKET, /* text: path of one that is made and removed */
	SBX_TRY_SPAWN,
};

/* What an answer is beside 0 and errno. */
enum {
	SBX_TRIAL_NONE = -1,      /* to be tried */
	SBX_TRIAL_UNABLE = -2,    /* what it takes to try is not there */
	SBX_TRIAL_ABSENT = -3,    /* the variable is not set */
	SBX_TRIAL_UNWANTED = -4,  /* nobody is to try */
	SBX_TRIAL_SIGNAL = -1000, /* minus the signal that killed it */
};

enum { SBX_TRIAL_MAGIC = 0x74786273 };

struct sbx_trials {
	uint32_t magic, count;
	uint32_t size; /* of the file */
	uint32_t reserved;
};

struct sbx_trial {
	uint32_t kind;
	uint32_t text; /* offset in the file, NUL-terminated */
	uint32_t number;
	int32_t answer;  /* 0: it worked; errno; or one of the above */
	uint32_t socket; /* not 0: the answer is that of socket(2) */
	uint32_t reserved;
	uint64_t args[6];
};

_Static_assert(sizeof(struct sbx_trials) == 16, "as both sides see it");
_Static_assert(sizeof(struct sbx_trial) == 72, "as both sides see it");

/*
 * What sbxc hands to sbxrun when it has compiled a text, and what sbxrun keeps of
 * it: the blob, and the SHA-256 of each file that it was made of.  Where an
 * included file was looked for in vain, there is one that is absent.
 *
 *	struct sbx_compiled, struct sbx_compiled_file each, paths, blob
 */

#define SBX_COMPILED_MAGIC "sbx:made"

enum {
	SBX_COMPILED_FILES_MAX = 1024,
	SBX_COMPILED_PATHS_MAX = 1 << 20,
};

/* What was read.  Times would not tell: a store into a page that is mapped and
 * dirty already changes none. */
struct sbx_compiled_file {
	char digest[64]; /* SHA-256 in hexadecimal; of zeros: absent */
	uint32_t path;   /* in the paths, which are NUL-terminated */
	uint32_t absent;
};

/* sbxc itself, as stat(2) has it; times are nanoseconds since 1970. */
struct sbx_compiler {
	uint64_t device, inode, size;
	int64_t modified, changed;
};

struct sbx_compiled {
	char magic[8];
	uint32_t file_count;
	uint32_t path_size;
	uint32_t blob_size;
	uint32_t reserved;
	struct sbx_compiler compiler; /* sbxrun fills it in */
};

#endif
