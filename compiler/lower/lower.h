/* A policy to filters, SBPL text and the bytes of a blob. */
#ifndef SBX_COMPILER_LOWER_LOWER_H
#define SBX_COMPILER_LOWER_LOWER_H

#include "compiler/base/base.h"
#include "compiler/policy/kind.h"
#include "compiler/policy/policy.h"
#include "compiler/tables/tables.h"
#include "format/blob.h"

#include <stdbool.h>
#include <stddef.h>

/* --- bpfsim.c ---------------------------------------------------------- */

/*
 * What the kernel does with a seccomp program.
 */

struct filter;

struct bpf_program {
	struct sbx_insn *insns;
	size_t count;
};

/* Whether the kernel would load it: as seccomp_check_filter() decides.  What it
 * then answers bpf_run_loaded() says. */
bool bpf_is_loadable(const struct sbx_insn *insns, size_t count);

/*
 * Whether a program gives filter_verdict()'s answer for every number on its
 * machine, on its 32-bit machine and on a foreign one, with every argument
 * that is of interest to a test; if not, *witness is a call that differs.
 */
bool bpf_matches(const struct filter *filter, const struct bpf_program *program,
    struct syscall_data *witness);

/* --- filter.c ---------------------------------------------------------- */

/*
 * From a resolved policy to seccomp programs, in three steps that check each
 * other:
 *
 *	filter.c   policy -> struct filter: for every system call of one machine
 *	           a decision list over its arguments; filter_verdict() reads it
 *	bpf.c      struct filter -> instructions: a tree of ranges of numbers
 *	bpfsim.c   runs instructions as the kernel does
 *
 * bpf_emit() ends by comparing the program with filter_verdict() for every
 * number on every machine; a difference is a bug of ours and ends the compiler.
 */

/* What happens to one system call: the first clause that holds, else the
 * action at the end. */
struct filter_entry {
	uint32_t number;
	const char *name; /* interned, NULL if libseccomp has no name */
	const struct filter_clause *clauses;
	size_t clause_count;
	uint32_t action;
	struct loc loc; /* the rule that decided, or no place: baseline */
	const struct position
	    *from;          /* where that says that it was written, or NULL */
	const char *reason; /* the group or words that decided, or NULL */
};

/* A complete filter for one machine and one variant. */
struct filter {
	const struct arch *arch;
	uint32_t flags; /* enum sbx_program_flag */
	uint32_t min_abi;
	struct filter_entry *entries; /* by number, dense from 0 */
	size_t entry_count;           /* = arch->number_limit */
};

struct programs;

struct filter_set {
	VEC(struct filter) filters;       /* every machine and variant */
	VEC(struct bpf_program) programs; /* the same order */
};

/*
 * Builds and emits all variants for all machines.  Unknown names and filters
 * that would stop the loader's own last calls were reported by check_policy();
 * here they are not expected.  Empty for a policy that allows everything.
 */
void filters_build(const struct policy *policy, struct filter_set *set);

/* The same with programs that other policies may have had emitted. */
void filters_build_shared(const struct policy *policy,
    struct programs *programs, struct filter_set *set);

/* The filter of one machine with these flags and nothing besides, for other
 * programs than sbxrun; not for a policy that allows everything. */
void filter_alone(const struct policy *policy, const struct arch *arch,
    uint32_t flags, struct filter *filter);

/* The reference: what the rule set says of one call on any machine. */
uint32_t filter_verdict(const struct filter *filter,
    const struct syscall_data *data);

/* --- bare.c ------------------------------------------------------------ */

/* One of argument_calls. */
struct bare_call {
	int number;                        /* or -1 */
	const struct argument_rule *rules; /* the first one, if it has any */
};

struct bare_machine {
	struct filter_entry *entries; /* by number */
	struct bare_call *arguments;  /* beside argument_calls */
	int *trapped;                 /* beside trapped_calls; or -1 */
};

void bare_make(struct arena *arena, const struct arch *arch,
    struct bare_machine *bare);

/* Gives a call, or the calls of a group, one verdict; those that the machine
 * has. */
void entries_set(struct filter_entry *entries, const struct arch *arch,
    const char *name, bool group, const struct filter_entry *verdict);

/* --- bpf.c ------------------------------------------------------------- */

/*
 * Filters as instructions of classic BPF.
 */

/* Emits a program and compares it with the rules that it was made from. */
struct bpf_program bpf_emit(struct arena *arena, const struct filter *filter);

/* A listing for people, one instruction a line. */
void bpf_print(FILE *stream, const struct sbx_insn *insns, size_t count);

/* --- emit.c ------------------------------------------------------------ */

/*
 * From a resolved policy and its filters to the blob's bytes.  The same policy
 * gives the same bytes on every machine: tables are sorted, nothing of the
 * build or of the place where it ran goes in, and the result is read back
 * through sbx_verify() before anybody sees it.
 */

/* What a blob says of who wrote it. */
#define SBX_WRITER "sbxc " PACKAGE_VERSION

struct image {
	const uint8_t *bytes; /* 8-aligned, in the policy's arena */
	size_t size;
};

/*
 * `text` is what the blob has of the policy for people, see policy_canonical().
 * Returns false, with a record in diags, only for a policy beyond the bounds
 * of format/blob.h.
 */
bool emit_blob(const struct policy *policy, const struct filter_set *filters,
    const char *text, struct diags *diags, struct image *image);

/* The same without reading it back, for what nothing loads: the rules for
 * macOS, which need no way out of a network namespace each. */
bool emit_image(const struct policy *policy, const struct filter_set *filters,
    const char *text, struct diags *diags, struct image *image);

/*
 * What the files of emit*.c share.  emit.c drives: it has the tables filled
 * three times, since strings are sorted before they have offsets, and positions
 * before they have indices.
 *
 *	1  collects strings			strings_place()
 *	2  collects positions			sources_place()
 *	3  fills the records for good
 */

struct emitter {
	const struct policy *policy;
	const struct filter_set *filters;
	struct arena *arena;
	bool collecting;    /* runs 1 and 2 */
	struct map strings; /* each with its offset, once they are placed */
	VEC(struct sbx_source) sources;
	struct placed_rule *placed; /* path rules in the order of the blob */
	size_t placed_count;
	uint64_t anchors_used; /* bit per anchor: SBX_MAX_ANCHORS is 64 */
	struct {
		void *data;
		size_t size;
	} sections[SBX_SECTION_END];
};

/* A section of `count` zeroed records. */
void *section_new(struct emitter *emitter, enum sbx_section_kind kind,
    size_t count, size_t record);

/* Sorts a section's records and makes one of equal ones, which is for the
 * platforms of all, if they have such. */
void section_sort(struct emitter *emitter, enum sbx_section_kind kind,
    const struct record_layout *layout);

/* emit_pool.c: the offset of a string; NULL is "".  While collecting, adds
 * it. */
uint32_t emit_string(struct emitter *emitter, const char *text);

/* The index of a position; SBX_NO_SOURCE for a place that is none. */
uint32_t emit_position(struct emitter *emitter,
    const struct position *position);
uint32_t emit_origin(struct emitter *emitter, const struct origin *origin);

/* What was collected gets its offsets and indices, and becomes a section. */
void strings_place(struct emitter *emitter);
void sources_place(struct emitter *emitter);

/* Notes that a record refers to an anchor, if it does. */
void emit_anchor(struct emitter *emitter, uint16_t anchor);

/* emit_tables.c: a run over all tables. */
void emit_tables(struct emitter *emitter);

/* --- openings.c -------------------------------------------------------- */

/* Whether it lets the command listen on some port. */
bool policy_listens(const struct policy *policy, uint8_t platforms);

/* Whether level full shows sockets of the host's services. */
bool policy_shows_sockets(const struct policy *policy, uint8_t platforms);

/* Whether the machine's interfaces can be read in /proc. */
bool policy_shows_interfaces(const struct policy *policy, uint8_t platforms);

/* Makes `deny spawn` of a filter that has all the rest. */
void filter_deny_spawn(const struct policy *policy, struct filter *filter);

/* --- programs.c -------------------------------------------------------- */

struct programs {
	struct arena *arena;
	struct map keys; /* what a filter decides */
	uint32_t *words; /* room for one such key */
	size_t room;
	size_t spent; /* what emitting took, in the unit of a rule */
	VEC(struct bpf_program) list;
	struct bare_machine *bare; /* of each machine, made when needed */
};

/* What each filter of a machine begins with. */
const struct bare_machine *programs_bare(struct programs *programs,
    const struct arch *arch);

/* The program of a filter.  The arena holds one that is not kept. */
struct bpf_program programs_get(struct programs *programs, struct arena *arena,
    const struct filter *filter);

/* --- sbpl.c ------------------------------------------------------------ */

/*
 * The text of a macOS profile, whole and while it grows.
 */

/* A growing text.  It stops growing beyond SBX_MAX_SIZE bytes, and who prints it
 * then refuses to. */
struct sbpl_text {
	struct arena *arena;
	char *bytes;
	size_t used, room;
};

struct sbpl {
	struct sbpl_text text;
	const struct policy *policy;
	const char *params[SBX_MAX_ANCHORS]; /* by anchor */
	size_t anchor_count;
};

/* The whole policy as a macOS sandbox profile, in the policy's arena. */
char *sbpl_text(const struct policy *policy);

/* Adds a string as it is, or between quotes. */
void text_add(struct sbpl_text *text, const char *string);
void text_add_quoted(struct sbpl_text *text, const char *string);

/* --- sbpl_paths.c ------------------------------------------------------ */

/*
 * The part of a macOS profile that is about paths: the rules, and what keeps
 * denied places from being moved away.
 */

/* Adds all of it. */
void sbpl_add_paths(struct sbpl *sbpl);

/* --- sections.c -------------------------------------------------------- */

/*
 * Two blobs side by side.
 */

/*
 * The first section in which two verified blobs differ, as words: "the path
 * rules".  NULL if they are equal to the byte.
 */
const char *sections_differ(const void *a, size_t a_size, const void *b,
    size_t b_size);

#endif
