/*
 * The texts that were read.  All of them lie in one virtual space of byte
 * offsets, so that a place in any of them is eight bytes.  Line and column are
 * computed only when they are needed.
 */
#ifndef SBX_SOURCE_H
#define SBX_SOURCE_H

#include "compiler/report/position.h"

/* Bytes [begin, end) of the virtual space; {0, 0} is no place at all. */
struct loc {
	uint32_t begin, end;
};

enum {
	/* Of one file: the longest dump of the largest blob is shorter. */
	SOURCE_MAX_SIZE = 16 << 20,
	SOURCE_MAX_TOTAL = 64 << 20, /* bytes of all files together */
	SOURCE_MAX_DEPTH = 16,       /* includes inside includes */
	SOURCE_MAX_FILES = 256,
	SOURCE_BLOCK = 256,
};

struct source {
	const char *shown; /* in diagnostics: the path as the user gave it */
	const char *name;  /* in the blob: independent of cwd and machine */
	const char *path;  /* to read it; NULL: built in */
	const char *text;  /* size bytes and a NUL */
	uint32_t base, size;
	const uint32_t *lines; /* where each line begins */
	uint32_t line_count;
	const uint32_t *characters; /* before each SOURCE_BLOCK bytes */
	struct loc included_at;
	int depth;
	uint64_t device, inode; /* of a file: is it the same one? */
	bool builtin;           /* `shown` starts with "sbx:" */
	bool withheld;          /* a file that does not say it is a policy */
};

/*
 * Nothing of a withheld text is shown to anybody: a policy that somebody sent
 * may include a private key, and what sbxc says goes to a public log.
 */
struct sources {
	struct arena *arena;
	VEC(struct source *) files;
	VEC(const char *) include_dirs; /* of -I */
};

void sources_init(struct sources *sources, struct arena *arena);

/*
 * The name of a file in a blob.  A '?' replaces what is no clean text, so that
 * a policy can hold the name (position.h).
 */
const char *source_name(struct arena *arena, const char *name);

/*
 * Reads a file whole ("-" is standard input).  Returns NULL with errno set if
 * it cannot be read; EFBIG if it is over the bounds above.
 */
struct source *sources_read(struct sources *sources, const char *path,
    const char *name, struct loc included_at);

/* Adds a text that is already in memory (a shipped profile, a test), under the
 * name that is shown. */
struct source *sources_add(struct sources *sources, const char *shown,
    const char *text, size_t size, struct loc included_at);

/* The source that holds a place, or NULL for no place. */
const struct source *sources_find(const struct sources *sources,
    struct loc loc);

/* The bytes of a byte order mark at the start of a text: 3 or 0. */
uint32_t source_bom(const struct source *source);

/* What follows blank lines and comments at the start of a text. */
const char *source_first_line(const struct source *source);

/* A line of a text, which counts from 1, without its newline. */
void source_line(const struct source *source, uint32_t line, const char **begin,
    const char **end);

/* Where a place begins, with the file as it is shown; no end. */
struct position sources_position(const struct sources *sources, struct loc loc);

/*
 * The shipped profiles and groups, built into sbxc from profiles/: the text of
 * "NAME.sbx", or NULL.  builtin_name(i) lists them, NULL at the end.
 */
const char *builtin_text(const char *name, size_t *size);
const char *builtin_name(size_t index);

#endif
