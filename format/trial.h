/*
 * What `sbxc test --live` hands to sbx-trial, and where that answers: a file
 * that both map, so that no limit on output and no denied call comes between.
 *
 *	struct sbx_trials, struct sbx_trial[count], strings
 */
#ifndef SBX_TRIAL_H
#define SBX_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
