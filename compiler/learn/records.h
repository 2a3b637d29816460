/*
 * What `sbxrun --learn` has written: runs, and what each wanted.  The files are
 * lines of JSON; sbxrun(1) describes them.  Whoever can write such a file
 * chooses what a draft says, so nothing in it is believed but its form.
 */
#ifndef SBX_RECORDS_H
#define SBX_RECORDS_H

#include "compiler/report/diag.h"
#include "format/blob.h"

enum wish_kind {
	WISH_READ,
	WISH_WRITE,
	WISH_EXEC,
	WISH_SOCKET, /* a connection to a socket by its path */
	WISH_CONNECT,
	WISH_LISTEN,
	WISH_CALL,
	WISH_DOMAIN,
	WISH_KINDS,
};

struct wish {
	enum wish_kind kind;
	/* A path outside, absolute and normal; an address; "name:port". */
	const char *text;
	uint16_t port;
	uint32_t arch, number; /* of a system call, with some arguments */
	uint32_t args[2];
	bool makes, probe, below; /* as in runtime/explain/learn.h */
	bool denied;              /* by the policy of the run */
	uint64_t count;
	const char *program; /* or NULL */
};

struct run_anchor {
	const char *name, *path;
};

/* One run of sbxrun. */
struct run {
	const char *name, *profile, *command;
	enum sbx_level level;
	VEC(struct run_anchor) anchors;
	VEC(struct wish) wishes;
	bool ended;      /* its last record is there */
	uint64_t status; /* of sbxrun: 124 after a timeout, 128 + signal */
	uint64_t lost;
};

struct records {
	struct arena *arena;
	struct sources sources;
	struct diags diags;
	VEC(struct run *) runs; /* in the order of the files */
	struct map by_name;
};

void records_init(struct records *records, struct arena *arena);

/* Adds the runs of a file; false, with errno set, if it cannot be read.  What is
 * wrong in it is in records->diags. */
bool records_read(struct records *records, const char *path);

/* The same for a text. */
void records_parse(struct records *records, const struct source *source);

/* Where an anchor lay, or NULL. */
const char *run_anchor(const struct run *run, const char *name);

#endif
