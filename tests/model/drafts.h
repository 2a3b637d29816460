/*
 * Policies made at random, in families, for compare.c: each is the one before
 * with a few lines changed.  Names and places are few, so that rules meet.
 */
#ifndef SBX_TEST_DRAFTS_H
#define SBX_TEST_DRAFTS_H

#include "compiler/query/query.h"
#include "tests/lib/chance.h"

enum {
	MOST_LINES = 14,
	LINE_SIZE = 400,
	TEXT_SIZE = 8192,
};

#define PICK(chance, array) ((array)[chance_below((chance), countof(array))])

struct draft {
	char lines[MOST_LINES][LINE_SIZE];
	size_t count;
};

/* What the generator is to keep to. */
struct style {
	const char *base;  /* before every path that begins at the root */
	const char *probe; /* may be executed, or NULL */
	bool plain;        /* only what the kernel can be asked about */
	bool two;          /* a second parameter, q */
};

size_t draft_print(const struct draft *draft, const struct style *style,
    char text[TEXT_SIZE]);

struct built {
	struct draft draft;
	struct image image;
	struct sbx_blob blob;
};

/* Compiles the draft; false if the compiler does not take it. */
bool draft_build(struct arena *arena, const struct style *style,
    struct built *built);

/* A policy that the compiler takes: a new one, or the one before changed. */
void family_next(struct chance *chance, struct arena *arena,
    const struct style *style, struct built *built, const struct built *before);

#endif
