/*
 * Denials that tests of what is told make up: what a supervisor has collected, and
 * what would allow it.
 */
#ifndef SBX_TESTS_DENIALS_H
#define SBX_TESTS_DENIALS_H

#include "runtime/base/unsteady.h"
#include "runtime/explain/explain.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MANY = 40 };

static struct sbx_denial denials[MANY];
static struct sbx_advice advices[MANY];
static bool has_advice;
static const char strings[] = "\0team\0p.sbx";
static const struct sbx_meta meta = { .profile = 1 };
static const struct sbx_source sources[] = {
	{ .file = 6, .line = 2, .column = 3 }
};
static const struct sbx_blob blob = { .meta = &meta,
	.strings = strings,
	.sources = sources,
	.source_count = 1 };
static const struct binding binding;
static struct explaining explaining;

bool
unsteady_place(struct sbx_place at)
{
	(void)at;
	return false;
}

/* None yet. */
static void
denials_begin(void)
{
	memset(denials, 0, sizeof denials);
	memset(advices, 0, sizeof advices);
	has_advice = false;
	explaining = (struct explaining){ .blob = &blob,
		.binding = &binding,
		.denials = denials };
	for (int i = 0; i < MANY; i++)
		denials[i].source = SBX_NO_SOURCE;
}

static struct sbx_denial *
deny(enum sbx_denied kind, const char *path)
{
	struct sbx_denial *denial = &denials[explaining.count++];

	denial->kind = kind;
	denial->count = 1;
	strcpy(denial->program, "cat");
	snprintf(denial->path, sizeof denial->path, "%s", path);
	return denial;
}

/* A step for the last denial. */
static void
advise(enum sbx_advice_where where, const char *step)
{
	struct sbx_advice *advice = &advices[explaining.count - 1];

	has_advice = true;
	advice->works = 1;
	advice->where[advice->count] = (uint8_t)where;
	strcpy(advice->steps[advice->count++], step);
	strcpy(advice->file, "team.sbx");
}

#endif
