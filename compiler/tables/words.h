/*
 * Look-ups in tables/words.def and sets.def.  Every function returns NULL or
 * false for an unknown word; the caller reports it.
 */
#ifndef SBX_WORDS_H
#define SBX_WORDS_H

#include "compiler/base/arena.h"
#include "format/blob.h"

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
