/* Facts of kernel and language, and their readers. */
#ifndef SBX_COMPILER_TABLES_TABLES_H
#define SBX_COMPILER_TABLES_TABLES_H

#include "compiler/base/base.h"
#include "format/blob.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- baseline.c -------------------------------------------------------- */

/* Values of SECCOMP_RET_*, as the program returns them. */
enum {
	FILTER_ALLOW = 0x7fff0000,
	FILTER_ERRNO = 0x00050000,  /* | errno of the target machine */
	FILTER_NOTIFY = 0x7fc00000, /* sbxrun's supervisor answers the call */
	FILTER_KILL = (int)0x80000000,
};
#define FILTER_DENY(error) (FILTER_ERRNO | (error))

/* Whether an argument's low 32 bits, masked, equal a value.  seccomp sees 64
 * bits, but the kernel uses only 32 of an int argument, so the high half must
 * not matter. */
struct filter_test {
	uint8_t arg;
	uint32_t mask, value;
};

/* If all tests hold, the action is taken. */
struct filter_clause {
	struct filter_test tests[3];
	uint8_t test_count;
	uint32_t action;
};

/* Circumstances in which an argument rule counts. */
enum circumstance {
	IN_ANY_CASE = 0,
	WITH_INTERNET = 1,    /* all of a network is open: whichever it is */
	WITH_TCP = 2,         /* it allows ports, and Landlock holds them */
	WITH_UNIX = 4,        /* something confines AF_UNIX sockets */
	WITH_NETLINK = 8,     /* something confines route netlink */
	WITHOUT_LISTEN = 16,  /* the policy allows no port to listen on */
	WITHOUT_UNSHARE = 32, /* namespaces may not be made */
	WITH_VIEW = 64,       /* level full: mounts and namespaces of its own */
	WITHOUT_VIEW = 128,   /* a level below */
	WITH_CONNECT = 256,   /* the supervisor connects AF_UNIX sockets */
	WITH_LISTEN = WITH_CONNECT, /* and knows which servers are inside */
	WITH_METADATA =
	    512, /* the supervisor changes modes, times, attributes */
	WITH_OBJECTS = 1024,    /* the supervisor makes System V's objects */
	WITHOUT_OBJECTS = 2048, /* a level below full, and it does not */
	WITH_WATCHING = 8192,   /* the supervisor adds watches of inotify */
	WITH_UNNAMED = 4096,    /* the supervisor makes unnamed files */
	WITH_ANSWERS = 16384,   /* the supervisor answers some calls */
	WITH_OWNERS = WITH_ANSWERS, /* and changes owners and groups */
	WITH_GROUP_BIT = 32768, /* and gives directories the set-group-ID bit */
};

/* A call that its arguments decide, and what it gets if no clause holds. */
struct argument_call {
	const char *name;
	uint16_t when; /* enum circumstance, all of them */
	bool lifted;   /* an `allow syscalls` of the call lifts it */
	uint32_t otherwise;
	const char *reason;
};

struct argument_rule {
	const char *name;
	uint16_t when;
	struct filter_clause clause;
};

/* A call that `deny spawn` denies, unless its clause holds. */
struct spawn_call {
	const char *name;
	int error;
	struct filter_clause clause;
};
extern const struct spawn_call spawn_calls[];
extern const size_t spawn_call_count;

/* A call that is handed to the supervisor where it would be open, or where an
 * argument rule says so. */
struct trapped_call {
	const char *name;
	uint16_t when;
	bool in_part;
	bool lifted; /* an `allow syscalls` of the call keeps it open */
};

extern const struct trapped_call trapped_calls[];
extern const size_t trapped_call_count;
extern const struct argument_call argument_calls[];
extern const size_t argument_call_count;
extern const struct argument_rule argument_rules[];
extern const size_t argument_rule_count;

/* What every policy denies, tables/baseline.def; no call stands in two
 * lines. */
struct baseline_entry {
	const char *name; /* "@group" or a call */
	int error;
};
extern const struct baseline_entry baseline[];
extern const size_t baseline_count;

/*
 * What `allow syscalls` can lift: each call as arena_intern() has it, with the
 * entry of the baseline that holds it, "@group" or the call, or the reason why
 * its arguments decide.
 */
void baseline_calls(struct arena *arena, struct map *entries);
/* The same of one call; NULL: there is nothing to lift. */
const char *baseline_entry_of(struct arena *arena, const char *call);

/* What else decides about a call, by its arguments: "network", "namespaces" or
 * "terminals and file systems"; NULL: nothing that `allow syscalls` does not
 * lift. */
const char *baseline_arguments(const char *call);

/* --- syscalls.c -------------------------------------------------------- */

/*
 * The machines that filters are made for, and the system calls that they have.
 */

/* One machine: a line of tables/arches.def. */
struct arch {
	const char *name;      /* "x86_64" */
	uint32_t audit;        /* AUDIT_ARCH_* */
	uint32_t compat_audit; /* its 32-bit machine: every call is ENOSYS */
	uint32_t scmp;         /* SCMP_ARCH_* */
	uint8_t platforms;     /* its bit of enum sbx_platform */
	uint32_t number_limit; /* system calls from here on answer ENOSYS */
};

extern const struct arch arches[];
extern const size_t arch_count;

/* The machine of this name, or NULL. */
const struct arch *arch_find(const char *name);

/*
 * Names.  The number of a system call on a machine, or -1 where it has none;
 * whether any machine has it; the members of a group, NULL-terminated, or NULL
 * if there is no such group; the nearest known name of either kind.
 */
int syscall_number(const struct arch *arch, const char *name);
bool syscall_is_known(const char *name);
const char *const *syscall_group(const char *name);
const char *syscall_nearest(const char *name, bool group);

/* The names of all numbers below arch->number_limit, NULL where none is. */
void syscall_names(const struct arch *arch, const char **names);

/* --- words.c ----------------------------------------------------------- */

/*
 * Look-ups in tables/words.def and sets.def.  Every function returns NULL or
 * false for an unknown word; the caller reports it.
 */

/* What a rule is about.  What has to be known of each kind is in one entry of
 * the table rule_kinds (compiler/policy/kind.h). */
enum rule_kind_id {
	KIND_PATH,
	KIND_PORT,
	KIND_SYSCALL,
	KIND_ENV,
	KIND_SET,
	KIND_BLANKET,
	KIND_LIMIT,
	KIND_WATCH,
	KIND_SOCKET,
	KIND_DOMAIN,
	KIND_ENDPOINT,
	KIND_PROXY,
	KIND_END,
};

/* Where the user's own proxy listens. */
enum proxy_form { PROXY_UNIX, PROXY_TCP };

/* `network full`, `signal anywhere`, `abstract anywhere`, `spawn`,
 * `everything`. */
enum blanket_kind {
	BLANKET_NETWORK,
	BLANKET_LOOPBACK,
	BLANKET_SIGNAL,
	BLANKET_ABSTRACT,
	BLANKET_SPAWN,
	BLANKET_EVERYTHING,
	BLANKET_END,
};

/* A form of a rule, found by its first words. */
struct what {
	const char *words; /* "network connect tcp" */
	enum rule_kind_id kind;
	uint8_t allow, deny; /* the detail of such a rule, by its effect: path
	                      * rights, an operation on ports, a blanket_kind, a form
	                      * of watching */
};

enum { WHAT_MAX = 32, WHAT_WORDS = 3 };

/*
 * The form whose words are the first of these; *used is how many it has, or on
 * failure how many of them begin some form, so that words[*used] is the one
 * that is missing or unknown.
 */
const struct what *what_match(const char *const *words, size_t count,
    size_t *used);

/* The words that may follow the first `used` of a form. */
size_t what_next(struct arena *arena, const char *const *words, size_t used,
    const char *next[WHAT_MAX]);

/* The words of a kind with a detail, which an allow has as well as a deny. */
const char *what_words(enum rule_kind_id kind, uint8_t detail);

enum unit_class { UNIT_BYTES, UNIT_TIME, UNIT_COUNT };

struct limit_word {
	const char *word;
	enum sbx_limit_kind kind;
	enum unit_class unit;
	uint64_t least;
};

/* A path of a built-in set: absolute, or below "~/" or "${runtime}/". */
struct set_entry {
	const char *set;
	uint8_t platforms;
	const char *path;
};

extern const struct set_entry set_entries[];
extern const size_t set_entry_count;

const struct limit_word *limit_find(const char *word);
const struct limit_word *limit_of_kind(enum sbx_limit_kind kind);
const char *limit_nearest(const char *word);
/* A value in the largest unit that says it: "50MiB". */
const char *limit_value_text(struct arena *arena,
    const struct limit_word *limit, uint64_t value);
/* All of them, each after a blank. */
const char *limit_words(struct arena *arena);

const char *effect_word(enum sbx_effect effect);
/* "connect", "listen", "host" or "publish". */
const char *port_op_word(enum sbx_port_op op);
/* "read", "write", "exec" or "write,exec": the word that gives these rights. */
const char *rights_word(enum sbx_effect effect, uint8_t rights);
/* What a rule about paths begins with: "allow read", "stage write". */
const char *path_words(struct arena *arena, enum sbx_effect effect,
    uint8_t rights);
/* Whether a rule of such words begins with them, and not with an effect. */
bool word_is_head(const char *words);

/* The factor of a unit, or 0; and what a wrong unit was meant to be. */
uint64_t unit_factor(enum unit_class unit, const char *word);
const char *unit_meant(enum unit_class unit, const char *word);

/* An enum sbx_level, or -1. */
int level_find(const char *word);
const char *level_word(enum sbx_level level);
const char *level_nearest(const char *word);

/* The bits of a platform, or 0. */
uint8_t platform_find(const char *word);
const char *platform_nearest(const char *word);
/* The shortest way to name some bits: "linux", "linux and macos". */
const char *platform_text(uint8_t platforms);

/* The name of an anchor that the loader binds, or NULL. */
const char *anchor_word(uint16_t anchor);

#endif
