/* What runs wanted, and policies that are drafted of it. */
#ifndef SBX_COMPILER_LEARN_LEARN_H
#define SBX_COMPILER_LEARN_LEARN_H

#include "compiler/query/query.h"
#include "compiler/query/why.h"
#include "compiler/report/report.h"
#include "compiler/write/write.h"
#include "format/blob.h"

/* --- records.c --------------------------------------------------------- */

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
	bool makes, probe, below; /* as in runtime/explain/explain.h */
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

/* --- needs.c ----------------------------------------------------------- */

/* The policy that a draft begins with. */
struct base {
	const char *name; /* of a shipped profile; NULL: another policy */
	struct sbx_blob blob;
};

struct need_program {
	const char *name;
	uint64_t count;
};

struct need {
	enum wish_kind kind;
	/* What a rule is about: a path from its anchor, without quotes; the
	 * word loopback; "10.0.0.5:443"; "github.com:22"; the name of a system
	 * call. */
	const char *object;
	const char *seen;   /* one that was wanted: of a path, the path */
	const char *reason; /* why it is no rule, or NULL */
	bool probe;         /* it was only looked for */
	bool makes;         /* its name comes or goes */
	bool allowed;       /* and it is allowed, but not in its directory */
	bool make_first;    /* it is not there: somebody has to make it */
	uint64_t count;
	VEC(struct need_program) programs;
	VEC(size_t) runs; /* that had it, in their order */
};

struct needs {
	struct arena *arena;
	const struct base *base;
	const struct records *records;
	struct subject subject; /* of the first run */
	VEC(struct need) list;
	struct map by_key;
	/* What the policy gives, for tests: some of each kind. */
	VEC(struct need) given;
	struct map given_keys;
	/* Something that the last run was denied and the policy allows: "write
	 * ~/x"; or NULL. */
	const char *late;
	/* Why a right to a place would give away more, or NULL. */
	VEC(const char *) risks;
	struct map risk_keys;
};

/* A policy where a run had it. */
struct subject run_subject(const struct base *base, const struct run *run,
    struct arena *arena);

/* Compares all wishes with the policy; there is one run at least. */
void needs_find(struct needs *needs, struct arena *arena,
    const struct base *base, const struct records *records);

/* Makes few rules of many needs, by the rules at the top of fold.c. */
void needs_fold(struct needs *needs);

/* How many of them are rules. */
size_t needs_count(const struct needs *needs);

/* Notes who else has a need. */
void need_join(struct needs *needs, struct need *need,
    const struct need *other);

extern const char loopback[];

/* "read", "write", as the language has it. */
const char *wish_word(enum wish_kind kind);

/* --- lines.c ----------------------------------------------------------- */

struct draft_line {
	const char *statement; /* without a newline */
	const char *whose;     /* "git 3x, node 1x" */
	bool single; /* of one file: a check warns of that, and it is meant */
	const char *reason; /* why it is only a comment, or NULL */
	const struct need *need;
	size_t begin, end; /* in the text that was written last */
};

struct draft_lines {
	struct arena *arena;
	bool brief; /* without comments about what is no rule */
	VEC(struct draft_line) list;
};

void lines_make(struct draft_lines *lines, struct needs *needs);

/* How many statements there are. */
size_t lines_count(const struct draft_lines *lines);

/* Writes them into a block, where `text` bytes were written before.  Returns the
 * bytes. */
const char *lines_text(struct draft_lines *lines, size_t before);

/* How many are wanted and no rule, and the first place of them: "read ~/x"; or
 * NULL. */
size_t lines_kept(const struct draft_lines *lines, const char **first);

/* What is no rule, as comments, or brief as plain text; "" if there is
 * nothing. */
const char *lines_notes(const struct draft_lines *lines);

/* Makes comments of the statements that were reported, but for those of one
 * file: `base` is where the text
 * begins in the sources.  False: none was. */
bool lines_drop_reported(struct draft_lines *lines, const struct diags *diags,
    uint32_t base);

/* A text from outside in a comment: what is not plain is replaced, and what is
 * long is cut. */
const char *lines_plain(struct arena *arena, const char *text, size_t max);

/* --- draft.c ----------------------------------------------------------- */

/*
 * A policy that is drafted of what runs wanted, or added to; and the test file
 * that goes with it.
 */

struct draft {
	struct arena *arena;
	const struct records *records;
	const char *shown;   /* the file, in what is compiled */
	const char *name;    /* of the profile */
	const char *extends; /* a shipped profile; NULL: the nearest; "none" */
	struct base base;
	struct needs needs;
	struct draft_lines lines;
	struct fmt_text text; /* the policy, laid out */
	struct sbx_blob blob; /* what it compiles to */
};

/* Whether there is a shipped profile that a draft may extend, or "none". */
bool draft_may_extend(const char *name);

/* Drafts a policy.  There is one run at least; records, name and extends are
 * set. */
void draft_make(struct draft *draft);

/* Compiles a text in memory; false with diagnostics in *compilation. */
bool draft_compile(const struct draft *draft, const char *text,
    struct compilation *compilation, struct sbx_blob *blob);

/* A test file for it: what was seen, and what must stay denied. */
const char *draft_tests(const struct draft *draft, const char *policy);

/*
 * A policy that is there: adds to the profile what it lacks.  `operand` has been
 * read from a text.  False: the text has no place for it, or is a copy of a shipped
 * profile, which may not be changed under its name.
 */
bool draft_update(struct draft *draft, const struct operand *operand);

/*
 * How one wish of one run is compared with a policy: what the files of needs
 * share.
 */

/* The wish of the run that is looked at. */
struct looking {
	struct needs *needs;
	const struct subject *subject;
	const struct wish *wish;
	size_t run;
};

/* Adds a need of this kind, or counts it. */
void looking_add(const struct looking *looking, struct need need);

/* What the policy says of an access in words; *fault: it is none. */
struct verdict looking_ask(const struct looking *looking,
    const char *const *words, size_t count, const char **fault);

/* The rule that keeps it from the command, as the reason why none gives it; or
 * NULL. */
const char *looking_kept_by(const struct looking *looking,
    const struct verdict *verdict);

/* The wish for a port or a name. */
void looking_at_port(const struct looking *looking);
void looking_at_domain(const struct looking *looking);

#endif
