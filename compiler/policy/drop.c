/*
 * `drop`: takes back inherited rules, one object at a time.  Inherited is what
 * a parent says, and what a group says that is used; a rule of the same block
 * is deleted, not dropped.  A drop waits for the end of its layer, so that the
 * order of statements does not matter.
 */
#include "compiler/policy/kind.h"

/* A rule that a drop may have meant is looked for among so many, all drops
 * that take nothing back together. */
enum { MAX_RESEMBLED = 1 << 18 };

/* What the rules of the policy say to one item of a drop. */
struct drop_match {
	bool inherited;         /* found, and taken back */
	const struct item *own; /* the same rule, which stays */
};

/* Whether two rules speak of the same thing, though not the same about it. */
static bool
resembles(const struct rule *a, const struct rule *b)
{
	const struct rule_kind *kind = rule_kinds[a->kind];

	if (a->kind != b->kind)
		return false;
	if (kind->resembles != NULL)
		return kind->resembles(a, b);
	return a->detail == b->detail &&
	    (kind->equals == NULL || kind->equals(a, b));
}

/* A group's drop is for what the profile inherits, not for the profile. */
static bool
is_inherited(const struct expansion *expansion, const struct item *item,
    const struct block *block)
{
	return item->layer < expansion->layer ||
	    (item->block->group && item->block != block);
}

static bool
is_met(const struct item *item, const struct item *wanted)
{
	return !item->dropped &&
	    (item->rule.origin.platforms & wanted->rule.origin.platforms) != 0;
}

/* An item that nothing is left of leaves the index, so that a rule that stands
 * there often is met by many drops once. */
static struct drop_match
drop_item(struct expansion *expansion, struct item_index *index,
    const struct item *wanted)
{
	struct drop_match match = { 0 };
	uint32_t *at = item_index_find(index, wanted);

	while (at != NULL && *at != 0) {
		struct item *item = &expansion->items.list.items[*at - 1];
		uint32_t *next = &index->next.items[*at - 1];

		if (!is_met(item, wanted) ||
		    !rule_equals(&item->rule, &wanted->rule)) {
			at = next;
			continue;
		}
		if (!is_inherited(expansion, item, wanted->block)) {
			match.own = item;
			at = next;
			continue;
		}
		match.inherited = true;
		expansion->dropping = expansion->layer;
		item->rule.origin.platforms &=
		    (uint8_t)~wanted->rule.origin.platforms;
		item->dropped = item->rule.origin.platforms == 0;
		if (item->dropped)
			*at = *next;
		else
			at = next;
	}
	return match;
}

/* The last inherited rule that this drop may have meant, or NULL. */
static const struct item *
find_near(struct expansion *expansion, const struct item *wanted)
{
	const struct item_list *items = &expansion->items;
	size_t i = items->list.count;

	while (i-- > 0 && expansion->resembled++ < MAX_RESEMBLED) {
		const struct item *item = &items->list.items[i];

		if (is_met(item, wanted) &&
		    resembles(&item->rule, &wanted->rule) &&
		    is_inherited(expansion, item, wanted->block))
			return item;
	}
	return NULL;
}

static void
report_drop(struct expansion *expansion, const struct item *wanted,
    const struct drop_match *match)
{
	const struct item *near = NULL;
	struct diags *diags = expansion->diags;
	struct diag *diag;

	if (match->own != NULL) {
		diag = diag_add(diags, DIAG_DROP_OWN, wanted->rule.origin.loc,
		    "this rule is not inherited: '%s' has it itself",
		    match->own->block->name);
		diag_help(diag, "delete the rule instead of dropping it");
		diag_note(diag, match->own->rule.origin.loc,
		    "the rule is here");
		return;
	}
	/* It may stand in a group whose use a child has dropped. */
	if (expansion->layer < expansion->uses.last_layer)
		return;
	diag = diag_add(diags, DIAG_NOT_INHERITED, wanted->rule.origin.loc,
	    "no rule '%s' is inherited",
	    rule_text(expansion->policy, &wanted->rule));
	near = find_near(expansion, wanted);
	if (near == NULL)
		return;
	diag_help(diag, "did you mean 'drop %s'?",
	    rule_text(expansion->policy, &near->rule));
	diag_note(diag, near->rule.origin.loc, "'%s' of '%s' is here",
	    rule_text(expansion->policy, &near->rule), near->rule.origin.via);
}

static void
drop_stmt(struct expansion *expansion, struct item_index *index,
    const struct pending_drop *drop)
{
	struct context context = {
		.block = (struct block *)drop->block,
		.platforms = drop->platforms,
	};
	struct item_list list = { 0 };
	struct loc reported = { 0 };
	struct arena *arena = expansion->arena;

	/* A name may stand for many items, and many drops may name it. */
	expansion->arena = arena_child(arena);
	rule_items(expansion, drop->stmt, &context, &list);
	for (size_t i = 0; i < list.list.count; i++) {
		const struct item *item = &list.list.items[i];
		struct drop_match match = drop_item(expansion, index, item);

		/* Of a set, one missing rule is enough to say so. */
		if ((match.inherited && match.own == NULL) ||
		    item->rule.origin.loc.begin == reported.begin)
			continue;
		report_drop(expansion, item, &match);
		reported = item->rule.origin.loc;
	}
	arena_release(expansion->arena);
	expansion->arena = arena;
}

void
expand_drops(struct expansion *expansion)
{
	struct item_index index = { .places = false };

	if (expansion->drops.count > 0)
		item_index_fill(expansion->arena, &index, &expansion->items);
	for (size_t i = 0; i < expansion->drops.count; i++)
		drop_stmt(expansion, &index, &expansion->drops.items[i]);
	expansion->drops.count = 0;
	expansion->drops.items = NULL;
}
