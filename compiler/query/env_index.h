/*
 * The rules about variables by name, for whoever asks a policy about many: the
 * model is asked about the few rules that may speak of a name, and says the
 * same as of all.
 */
#ifndef SBX_ENV_INDEX_H
#define SBX_ENV_INDEX_H

#include "compiler/base/map.h"
#include "format/blob.h"

/* Records in the order of the blob, and which ones they are. */
struct env_records {
	VEC(struct sbx_env) records;
	VEC(uint32_t) numbers;
};

/* Patterns by what they begin or end with, of which so many bytes count. */
enum { ENV_AFFIX_MAX = 63 };
struct env_affixes {
	uint64_t lengths;    /* bit: there are some of this length */
	struct map keys;     /* its numbers index the next */
	VEC(uint32_t) first; /* 1 + record, or 0; the next one in next_rule */
};

struct env_index {
	struct arena *arena;
	const struct sbx_blob *blob;
	struct map names; /* that are spelled out; its numbers index the next */
	VEC(uint32_t) first_rule, first_set; /* 1 + record, or 0 */
	uint32_t *next_rule,
	    *next_set; /* by record: the next one of its list */
	struct env_affixes begins, ends; /* patterns that begin with a star
	                                  * are found by their end */
	struct env_records some;         /* those that were asked for last */
};

struct env_index *env_index_new(struct arena *arena,
    const struct sbx_blob *blob);

/* The rules that may speak of a name, in the order of the blob, until the next
 * call. */
const struct env_records *env_index_rules(struct env_index *index,
    const char *name);

/* 1 + the first `set env` of a name, or 0; the next one is in next_set. */
uint32_t env_index_set(const struct env_index *index, const char *name);

#endif
