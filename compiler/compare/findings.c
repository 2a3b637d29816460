/*
 * What differs, as people changed it: all accesses that one written rule is
 * behind are one finding, and so are the rules of a group or a parent that only
 * one of the policies uses.  What opens to the outside and to secrets comes
 * first.
 */
#include "compiler/compare/compare.h"

#include <stdlib.h>
#include <string.h>

/* --- weight --------------------------------------------------------------- */

/* Whether a rule about a place is about a secret. */
static bool
is_secret(const struct sbx_blob *blob, const struct sbx_path *path)
{
	static const struct {
		bool secret;
		uint16_t anchor;
		const char *suffix;
	} places[] = {
#define BROAD false
#define RULING false
#define STARTUP false
#define SEARCHED false
#define SCHEDULED false
#define SOCKET false
#define GIT false
#define ESCAPE false
#define SECRET true
#define ROOT SBX_ANCHOR_ROOT
#define HOME SBX_ANCHOR_HOME
#define RUNTIME SBX_ANCHOR_RUNTIME
#define RISK(kind, platforms, anchor, suffix, what) { kind, anchor, suffix },
#include "compiler/tables/risks.def"
#undef RISK
#undef BROAD
#undef RULING
#undef STARTUP
#undef SEARCHED
#undef SCHEDULED
#undef SOCKET
#undef GIT
#undef ESCAPE
#undef SECRET
#undef ROOT
#undef HOME
#undef RUNTIME
	};
	const char *suffix = sbx_string(blob, path->suffix);
	struct sbx_place at = sbx_place_of(suffix);

	for (size_t i = 0; i < countof(places); i++) {
		struct sbx_place place = sbx_place_of(places[i].suffix);

		if (places[i].secret && places[i].anchor == path->anchor &&
		    (sbx_covers(place, at) || sbx_covers(at, place)))
			return true;
	}
	return false;
}

static int
weight_of(const struct comparison *comparison,
    const struct difference *difference)
{
	static const int weights[DIFFERENCE_END] = {
		[DIFFERENCE_DOMAIN] = 1,
		[DIFFERENCE_ENDPOINT] = 1,
		[DIFFERENCE_PROXY] = 1,
		[DIFFERENCE_PORT] = 1,
		[DIFFERENCE_SOCKET] = 1,
		[DIFFERENCE_PATH] = 3,
		[DIFFERENCE_BLANKET] = 4,
		[DIFFERENCE_SYSCALL] = 4,
		[DIFFERENCE_LEVEL] = 5,
		[DIFFERENCE_LANDLOCK] = 5,
		[DIFFERENCE_STRENGTH] = 6,
		[DIFFERENCE_ENV] = 7,
		[DIFFERENCE_WATCH] = 8,
		[DIFFERENCE_LIMIT] = 9,
		[DIFFERENCE_SET] = 10,
		[DIFFERENCE_PARAM] = 11,
		[DIFFERENCE_ABOUT] = 12,
		[DIFFERENCE_MACOS] = 13,
	};
	const struct sbx_blob *blob = comparison->blobs[difference->cause];

	if (difference->by == BY_EVERYTHING)
		return 0;
	if (difference->kind == DIFFERENCE_PATH && difference->witnessed &&
	    is_secret(blob, &blob->paths[difference->rule]))
		return 2;
	/* A variable that a rule names; else one that is no longer set. */
	if (difference->kind == DIFFERENCE_ENV && difference->by == BY_ENV)
		return 3;
	return weights[difference->kind];
}

/* --- one written rule ----------------------------------------------------- */

static uint32_t
source_of(const struct difference *difference)
{
	return difference->says[difference->cause].source;
}

static bool
is_usual(const struct difference *difference)
{
	return difference->binding == NULL ||
	    difference->binding->about == NULL;
}

/* Whether a rule says it in its own words, and not what follows of it. */
static bool
is_own(const struct difference *difference)
{
	return difference->by >= BY_RULE || !difference->witnessed;
}

/* Which of two accesses is the better example. */
static bool
is_better(const struct comparison *comparison, const struct difference *a,
    const struct difference *b)
{
	int x, y;

	if (is_own(a) != is_own(b))
		return is_own(a);
	if (is_usual(a) != is_usual(b))
		return is_usual(a);
	if (a->level != b->level)
		return a->level > b->level;
	x = weight_of(comparison, a);
	y = weight_of(comparison, b);
	if (x != y)
		return x < y;
	/* Why asks about this port if none is given. */
	return a->kind == DIFFERENCE_DOMAIN && b->kind == DIFFERENCE_DOMAIN &&
	    strcmp(a->access.name, b->access.name) == 0 &&
	    a->access.port == 443 && b->access.port != 443;
}

/* Whether one rule of the text is behind both. */
static bool
is_joined(const struct difference *a, const struct difference *b)
{
	if (a->change != b->change || a->cause != b->cause ||
	    (a->by == BY_EVERYTHING) != (b->by == BY_EVERYTHING))
		return false;
	return a->by == BY_EVERYTHING ||
	    (source_of(a) == source_of(b) && source_of(a) != SBX_NO_SOURCE);
}

/* Another right to the same path. */
static bool
is_same_path(const struct difference *a, const struct difference *b)
{
	const char *x, *y;

	if (a->kind != DIFFERENCE_PATH || b->kind != DIFFERENCE_PATH ||
	    !a->witnessed || !b->witnessed)
		return false;
	x = strchr(a->what, ' ');
	y = strchr(b->what, ' ');
	return x != NULL && y != NULL && strcmp(x, y) == 0;
}

/* In the words of the rule: a name without the port that why asks about, and
 * what opens or shuts more than one port. */
static void
head_speak(struct comparison *comparison, struct difference *head)
{
	const char *rule = head->says[head->cause].text;

	if (head->kind == DIFFERENCE_DOMAIN && head->access.port == 443 &&
	    head->access.detail == 0)
		head->what = arena_printf(comparison->arena, "domain %s",
		    head->access.name);
	if (head->by == BY_NETWORK && rule != NULL &&
	    strncmp(rule, "allow ", 6) == 0)
		head->block = rule + 6;
}

/* Makes one finding of these, of which the first is the example. */
static struct difference
finding_make(struct comparison *comparison, struct difference *const *members,
    size_t count)
{
	struct difference head = *members[0];

	for (size_t i = 0; i < count; i++) {
		const struct difference *member = members[i];

		*arena_push(comparison->arena, &head.members) = member;
		if (i == 0)
			continue;
		head.platforms |= member->platforms;
		if (is_same_path(&head, member)) {
			head.rights |= member->access.detail;
			continue;
		}
		/* Another port of the same name. */
		if (head.kind == DIFFERENCE_DOMAIN &&
		    member->kind == DIFFERENCE_DOMAIN &&
		    strcmp(head.access.name, member->access.name) == 0)
			continue;
		if (member->kind == head.kind) {
			head.more += 1 + member->more;
			*arena_push(comparison->arena,
			    &head.also.list) = member->what;
		}
	}
	head_speak(comparison, &head);
	return head;
}

struct findings {
	struct comparison *comparison;
	VEC(struct difference) list;
	bool *taken; /* differences that are in one */
};

static void
finding_collect(struct findings *findings, size_t first)
{
	struct comparison *comparison = findings->comparison;
	struct difference *items = comparison->differences.items;
	struct {
		VEC(struct difference *) list;
	} members = { 0 };

	for (size_t i = first; i < comparison->differences.count; i++) {
		size_t last = members.list.count;

		if (findings->taken[i] ||
		    (i > first && !is_joined(&items[first], &items[i])))
			continue;
		findings->taken[i] = true;
		*arena_push(comparison->arena, &members.list) = &items[i];
		if (last > 0 &&
		    is_better(comparison, &items[i], members.list.items[0])) {
			members.list.items[last] = members.list.items[0];
			members.list.items[0] = &items[i];
		}
	}
	*arena_push(comparison->arena, &findings->list) =
	    finding_make(comparison, members.list.items, members.list.count);
}

/* --- groups and parents --------------------------------------------------- */

/* Whether a policy has a rule out of a group or profile. */
static bool
uses_block(const struct sbx_blob *blob, const char *file, const char *block)
{
	for (uint32_t i = 0; i < blob->source_count; i++) {
		if (strcmp(sbx_string(blob, blob->sources[i].via), block) ==
			0 &&
		    strcmp(sbx_string(blob, blob->sources[i].file), file) == 0)
			return true;
	}
	return false;
}

/* The group or parent that brought or took the rule, if only one of the
 * policies uses it: "use registries", "extends coding"; else NULL. */
static const char *
block_of(const struct comparison *comparison,
    const struct difference *difference)
{
	const struct sbx_blob *blob = comparison->blobs[difference->cause];
	const struct sbx_blob *other = comparison->blobs[!difference->cause];
	uint32_t source = source_of(difference);
	const char *file, *block;

	if (source == SBX_NO_SOURCE)
		return NULL;
	file = sbx_string(blob, blob->sources[source].file);
	block = sbx_string(blob, blob->sources[source].via);
	if (*block == '\0' ||
	    strcmp(block, sbx_string(blob, blob->meta->profile)) == 0 ||
	    strcmp(block, sbx_string(other, other->meta->profile)) == 0 ||
	    uses_block(other, file, block))
		return NULL;
	if (strncmp(file, "sbx:", 4) != 0)
		return arena_printf(comparison->arena, "with%s the rules of %s",
		    difference->cause == SIDE_OLD ? "out" : "", block);
	return arena_printf(comparison->arena, "%s%s %s",
	    difference->cause == SIDE_OLD ? "no longer " : "",
	    strcmp(file, "sbx:groups.sbx") == 0 ? "use" : "extends", block);
}

/* "12 names, 3 variables": of the kinds of a group, but for the head's. */
static const char *
others_text(struct comparison *comparison, const struct difference *head)
{
	const char *text = "";

	for (int kind = 0; kind < DIFFERENCE_END; kind++) {
		size_t count = 0;

		for (size_t i = 0; i < head->members.count; i++) {
			const struct difference *member =
			    head->members.items[i];

			if ((int)member->kind == kind &&
			    member->kind != head->kind)
				count += 1 + member->more;
		}
		if (count > 0)
			text = arena_printf(comparison->arena, "%s, %zu %s%s",
			    text, count,
			    difference_noun((enum difference_kind)kind),
			    count == 1 ? "" : "s");
	}
	return text;
}

/* Joins the findings of one group. */
static void
group_join(struct comparison *comparison, const char *block,
    const struct difference *items, size_t count, struct difference *group)
{
	*group = items[0];
	memset(&group->members, 0, sizeof group->members);
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < items[i].members.count; j++)
			*arena_push(comparison->arena,
			    &group->members) = items[i].members.items[j];
		if (i > 0 && items[i].kind == group->kind) {
			group->more += 1 + items[i].more;
			*arena_push(comparison->arena,
			    &group->also.list) = items[i].what;
		}
	}
	group->block = block;
	group->others = others_text(comparison, group);
}

/* --- all of them ---------------------------------------------------------- */

static int
finding_order(const void *a, const void *b)
{
	const struct difference *x = a, *y = b;
	int order = (x->change > y->change) - (x->change < y->change);

	if (order == 0)
		order = (x->weight > y->weight) - (x->weight < y->weight);
	if (order == 0)
		order = (x->cause < y->cause) - (x->cause > y->cause);
	if (order == 0)
		order = (source_of(x) > source_of(y)) -
		    (source_of(x) < source_of(y));
	return order != 0 ? order : strcmp(x->what, y->what);
}

/* Findings of one group come to stand where its weightiest stands. */
static void
groups_join(struct findings *findings)
{
	struct comparison *comparison = findings->comparison;
	struct difference *items = findings->list.items;
	const char **blocks = arena_alloc(comparison->arena,
	    (findings->list.count + 1) * sizeof *blocks);
	size_t kept = 0;

	for (size_t i = 0; i < findings->list.count; i++)
		blocks[i] = block_of(comparison, &items[i]);
	for (size_t i = 0; i < findings->list.count; i++) {
		struct {
			VEC(struct difference) list;
		} same = { 0 };

		if (findings->taken[i])
			continue;
		*arena_push(comparison->arena, &same.list) = items[i];
		for (size_t j = i + 1;
		     blocks[i] != NULL && j < findings->list.count; j++) {
			if (findings->taken[j] || blocks[j] == NULL ||
			    strcmp(blocks[j], blocks[i]) != 0 ||
			    items[j].change != items[i].change ||
			    items[j].cause != items[i].cause)
				continue;
			findings->taken[j] = true;
			*arena_push(comparison->arena, &same.list) = items[j];
		}
		items[kept] = items[i];
		if (same.list.count > 1)
			group_join(comparison, blocks[i], same.list.items,
			    same.list.count, &items[kept]);
		kept++;
	}
	findings->list.count = kept;
}

void
comparison_join(struct comparison *comparison)
{
	size_t count = comparison->differences.count;
	struct findings findings = {
		.comparison = comparison,
		.taken = arena_alloc(comparison->arena, count + 1),
	};

	for (size_t i = 0; i < count; i++) {
		if (!findings.taken[i])
			finding_collect(&findings, i);
	}
	for (size_t i = 0; i < findings.list.count; i++)
		findings.list.items[i].weight = weight_of(comparison,
		    &findings.list.items[i]);
	if (findings.list.count > 1)
		qsort(findings.list.items, findings.list.count,
		    sizeof *findings.list.items, finding_order);
	memset(findings.taken, 0, count + 1);
	groups_join(&findings);
	comparison->differences.items = findings.list.items;
	comparison->differences.count = findings.list.count;
	comparison_count(comparison);
}
