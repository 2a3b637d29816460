/*
 * What `sbxrun --explain` keeps of each distinct denial, and what sbxc answers
 * when it is asked about them.  Both are records of a fixed size: the
 * supervisor writes the first to a pipe and reads as many of the second.
 */
#ifndef SBX_DENIAL_H
#define SBX_DENIAL_H

#include "format/blob.h"

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
	uint16_t port;
	uint8_t skipped; /* `source` allows it, but for a link on its way */
	uint8_t reserved;
	uint8_t verdict; /* in the network: enum proxy_verdict */
	uint8_t probe;   /* it was only looked for */
	uint8_t makes_file;
	uint8_t replaced; /* the name was to go, or to become another file's */
	char program[SBX_PROGRAM_SIZE];
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
	char object[SBX_ADVICE_TEXT];        /* of a system call: its name */
	char source[SBX_ADVICE_TEXT];        /* of the rule that decided */
	char rule[SBX_ADVICE_TEXT];          /* as the language writes it */
	char file[SBX_ADVICE_TEXT];          /* into which statements go */
	char steps[SBX_ADVICE_STEPS][SBX_ADVICE_TEXT];
};

#endif
