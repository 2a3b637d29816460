/*
 * `drop`: takes back inherited rules, one object at a time.  Inherited is what
 * a parent says, and what a group says that is used; a rule of the same block
 * is deleted, not dropped.  A drop waits for the end of its layer, so that the
 * order of statements does not matter.
 */
#include "compiler/policy/expand.h"
#include "compiler/policy/texts.h"

/* What the rules of the policy say to one item of a drop. */
struct drop_match {
	bool inherited;          /* found, and taken back */
	const struct item *own;  /* the same rule, which stays */
	const struct item *near; /* the same object, but another rule */
};

/* Whether two items speak of the same thing, though not the same about it. */
static bool
same_object(const struct item *a, const struct item *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case WHAT_PATHS:
		return target_compare(a->path.at, b->path.at) == 0 &&
		    a->path.glob == b->path.glob;
	case WHAT_PORTS:
		return a->port.op == b->port.op &&
		    a->port.low <= b->port.high && b->port.low <= a->port.high;
	case WHAT_BLANKET:
		return a->blanket.kind == b->blanket.kind;
	case WHAT_SYSCALLS:
		return a->syscall.name == b->syscall.name;
	case WHAT_ENV:
		return a->env.pattern == b->env.pattern;
	}
	return false;
}

/* A group's drop is for what the profile inherits, not for the profile. */
static bool
is_inherited(const struct expansion *expansion, const struct item *item,
    const struct block *block)
{
	return item->layer < expansion->layer ||
	    (item->block->group && item->block != block);
}

static struct drop_match
drop_item(struct expansion *expansion, const struct item *wanted)
{
	struct drop_match match = { 0 };

	for (size_t i = 0; i < expansion->items.list.count; i++) {
		struct item *item = &expansion->items.list.items[i];

		if (item->dropped || !same_object(item, wanted) ||
		    (item->origin.platforms & wanted->origin.platforms) == 0)
			continue;
		if (!item_equals(item, wanted)) {
			if (is_inherited(expansion, item, wanted->block))
				match.near = item;
			continue;
		}
		if (!is_inherited(expansion, item, wanted->block)) {
			match.own = item;
			continue;
		}
		match.inherited = true;
		item->origin.platforms &= (uint8_t)~wanted->origin.platforms;
		item->dropped = item->origin.platforms == 0;
	}
	return match;
}

static const char *
item_text(const struct expansion *expansion, const struct item *item)
{
	const struct policy *policy = expansion->policy;

	switch (item->kind) {
	case WHAT_PATHS:
		return path_rule_text(policy, &item->path, NULL);
	case WHAT_PORTS:
		return port_rule_text(policy, &item->port);
	case WHAT_BLANKET:
		return blanket_rule_text(policy, &item->blanket);
	case WHAT_SYSCALLS:
		return syscall_rule_text(policy, &item->syscall);
	case WHAT_ENV:
		return env_rule_text(policy, &item->env);
	}
	return "";
}

static void
report_drop(struct expansion *expansion, const struct item *wanted,
    const struct drop_match *match)
{
	struct diags *diags = expansion->diags;
	struct diag *diag;

	if (match->own != NULL) {
		diag = diag_add(diags, DIAG_DROP_OWN, wanted->origin.loc,
		    "this rule is not inherited: '%s' has it itself",
		    match->own->block->name);
		diag_help(diags, diag,
		    "delete the rule instead of "
		    "dropping it");
		diag_note(diags, diag, match->own->origin.loc,
		    "the rule is here");
		return;
	}
	diag = diag_add(diags, DIAG_NOT_INHERITED, wanted->origin.loc,
	    "no rule '%s' is inherited", item_text(expansion, wanted));
	if (match->near == NULL)
		return;
	diag_help(diags, diag, "did you mean 'drop %s'?",
	    item_text(expansion, match->near));
	diag_note(diags, diag, match->near->origin.loc, "'%s' of '%s' is here",
	    item_text(expansion, match->near), match->near->origin.via);
}

static void
drop_stmt(struct expansion *expansion, const struct pending_drop *drop)
{
	struct context context = {
		.block = (struct block *)drop->block,
		.platforms = drop->platforms,
	};
	struct item_list list = { 0 };
	struct loc reported = { 0 };

	rule_items(expansion, drop->stmt, &context, &list);
	for (size_t i = 0; i < list.list.count; i++) {
		const struct item *item = &list.list.items[i];
		struct drop_match match = drop_item(expansion, item);

		/* Of a set, one missing rule is enough to say so. */
		if ((match.inherited && match.own == NULL) ||
		    item->origin.loc.begin == reported.begin)
			continue;
		report_drop(expansion, item, &match);
		reported = item->origin.loc;
	}
}

void
expand_drops(struct expansion *expansion)
{
	for (size_t i = 0; i < expansion->drops.count; i++)
		drop_stmt(expansion, &expansion->drops.items[i]);
	expansion->drops.count = 0;
	expansion->drops.items = NULL;
}
