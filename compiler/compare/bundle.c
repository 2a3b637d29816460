/* See bundle.h. */
#include "compiler/compare/bundle.h"

#include <string.h>

#define NO_BUNDLED UINT32_MAX

/* A rule whose glob ends at a node. */
struct ending {
	const struct merged_rule *rule;
	uint32_t next;
	uint8_t facts;
};

/* What some globs have in common up to here.  The part "**" has a node that is
 * there as soon as the one above it. */
struct bundle_node {
	const char *part; /* that led here */
	uint32_t len;
	uint32_t next;    /* of the same list */
	uint32_t any;     /* the child for "**" */
	uint32_t endings; /* two at most of the same facts */
	uint32_t seen;    /* the last time that it was come to */
	bool is_any;
};

struct bundle {
	struct arena *arena;
	VEC(struct bundle_node) nodes;
	VEC(struct ending) endings;
	struct map children;  /* key: node, part */
	struct map lists;     /* key: node, kind, text */
	VEC(uint32_t) firsts; /* of the lists */
	STACK(uint32_t) now;
	STACK(uint32_t) before;
	uint32_t time;
	uint8_t facts;
	char key[sizeof(uint32_t) + 1 + SBX_MAX_PATH];
};

/* Parts without wildcards, those that begin with a text, and the others. */
enum { LIST_BEGIN = 'b', LIST_END = 'e' };

static size_t
key_make(struct bundle *bundle, uint32_t node, char kind, const char *text,
    size_t len)
{
	memcpy(bundle->key, &node, sizeof node);
	bundle->key[sizeof node] = kind;
	memcpy(bundle->key + sizeof node + 1, text, len);
	return sizeof node + 1 + len;
}

static uint32_t
node_push(struct bundle *bundle, const char *part, uint32_t len, bool is_any)
{
	*arena_push(bundle->arena, &bundle->nodes) = (struct bundle_node){
		.part = part,
		.len = len,
		.next = NO_BUNDLED,
		.any = NO_BUNDLED,
		.endings = NO_BUNDLED,
		.is_any = is_any,
	};
	return (uint32_t)bundle->nodes.count - 1;
}

struct bundle *
bundle_make(void)
{
	struct arena *arena = arena_new();
	struct bundle *bundle = arena_alloc(arena, sizeof *bundle);

	bundle->arena = arena;
	node_push(bundle, "", 0, false);
	return bundle;
}

void
bundle_free(struct bundle *bundle)
{
	if (bundle != NULL)
		arena_release(bundle->arena);
}

/* --- adding --------------------------------------------------------------- */

/* Puts a child where a name finds it: a part that has no wildcard, or begins
 * without one, by its beginning, and another one by its end. */
static void
child_list(struct bundle *bundle, uint32_t node, uint32_t child)
{
	struct bundle_node *made = &bundle->nodes.items[child];
	uint32_t first = 0, last = made->len;
	size_t size, number;
	bool added;

	while (first < made->len && made->part[first] != '*' &&
	    made->part[first] != '?')
		first++;
	while (last > 0 && made->part[last - 1] != '*' &&
	    made->part[last - 1] != '?')
		last--;
	size = first > 0 ?
	    key_make(bundle, node, LIST_BEGIN, made->part, first) :
	    key_make(bundle, node, LIST_END, made->part + last,
		made->len - last);
	number = map_number(bundle->arena, &bundle->lists, bundle->key, size,
	    &added);
	if (added)
		*arena_push(bundle->arena, &bundle->firsts) = NO_BUNDLED;
	made->next = bundle->firsts.items[number];
	bundle->firsts.items[number] = child;
}

static uint32_t
child_get(struct bundle *bundle, uint32_t node, const struct sbx_glob *glob,
    unsigned part)
{
	bool is_any = glob->any >> part & 1, added;
	size_t size = key_make(bundle, node, LIST_BEGIN, glob->parts[part],
	    glob->lens[part]);
	/* The root has no number here. */
	uint32_t child = 1 +
	    (uint32_t)map_number(bundle->arena, &bundle->children, bundle->key,
		size, &added);

	if (!added)
		return child;
	node_push(bundle, glob->parts[part], glob->lens[part], is_any);
	if (is_any)
		bundle->nodes.items[node].any = child;
	else
		child_list(bundle, node, child);
	return child;
}

static void
ending_add(struct bundle *bundle, uint32_t node, const struct merged_rule *rule,
    uint8_t facts)
{
	uint32_t at = bundle->nodes.items[node].endings;
	unsigned same = 0;

	for (; at != NO_BUNDLED; at = bundle->endings.items[at].next)
		same += bundle->endings.items[at].facts == facts;
	if (same >= 2)
		return;
	*arena_push(bundle->arena, &bundle->endings) = (struct ending){
		.rule = rule,
		.next = bundle->nodes.items[node].endings,
		.facts = facts,
	};
	bundle->nodes.items[node].endings = (uint32_t)bundle->endings.count - 1;
}

void
bundle_add(struct bundle *bundle, const struct merged_rule *rule,
    uint64_t states, uint8_t facts)
{
	const struct sbx_glob *glob = rule->glob;

	/* After a "**" that may come next, what follows it may, too. */
	states &= ~((states & glob->any) << 1);
	states &= (UINT64_C(1) << glob->count) - 1;
	for (; states != 0; states &= states - 1) {
		uint32_t node = 0;

		for (unsigned part = (unsigned)__builtin_ctzll(states);
		     part < glob->count; part++)
			node = child_get(bundle, node, glob, part);
		ending_add(bundle, node, rule, facts);
	}
}

/* --- matching ------------------------------------------------------------- */

static void
node_enter(struct bundle *bundle, uint32_t node, const struct merged_rule *but)
{
	for (; node != NO_BUNDLED; node = bundle->nodes.items[node].any) {
		struct bundle_node *at = &bundle->nodes.items[node];
		uint32_t ending = at->endings;

		if (at->seen == bundle->time)
			return;
		at->seen = bundle->time;
		*STACK_PUSH(bundle->arena, &bundle->now) = node;
		for (; ending != NO_BUNDLED;
		     ending = bundle->endings.items[ending].next) {
			if (bundle->endings.items[ending].rule != but)
				bundle->facts |=
				    bundle->endings.items[ending].facts;
		}
	}
}

/* The children in one list that a name matches. */
static size_t
list_follow(struct bundle *bundle, size_t key, const struct merged_rule *but,
    const char *name, size_t len)
{
	size_t number = map_number_find(&bundle->lists, bundle->key, key);
	uint32_t child = number == SIZE_MAX ? NO_BUNDLED :
					      bundle->firsts.items[number];
	size_t tried = 1;

	for (; child != NO_BUNDLED; child = bundle->nodes.items[child].next) {
		const struct bundle_node *node = &bundle->nodes.items[child];

		tried++;
		if (sbx_name_match(node->part, node->len, name, len))
			node_enter(bundle, child, but);
	}
	return tried;
}

static size_t
name_follow(struct bundle *bundle, const struct merged_rule *but,
    const char *name)
{
	size_t len = strlen(name), tried = 0;

	for (size_t i = 0; i < bundle->before.count; i++) {
		uint32_t node = bundle->before.items[i];

		if (bundle->nodes.items[node].is_any)
			node_enter(bundle, node, but);
		for (size_t part = 0; part <= len; part++) {
			tried += list_follow(bundle,
			    key_make(bundle, node, LIST_BEGIN, name, part), but,
			    name, len);
			tried += list_follow(bundle,
			    key_make(bundle, node, LIST_END, name + part,
				len - part),
			    but, name, len);
		}
	}
	return tried;
}

uint8_t
bundle_facts(struct bundle *bundle, const struct merged_rule *but,
    const char *const *names, size_t count, size_t *work)
{
	bundle->facts = 0;
	bundle->now.count = 0;
	bundle->time++;
	node_enter(bundle, 0, but);
	for (size_t i = 0; i < count; i++) {
		bundle->before.count = 0;
		for (size_t j = 0; j < bundle->now.count; j++)
			*STACK_PUSH(bundle->arena,
			    &bundle->before) = bundle->now.items[j];
		bundle->now.count = 0;
		bundle->time++;
		*work += name_follow(bundle, but, names[i]);
	}
	return bundle->facts;
}
