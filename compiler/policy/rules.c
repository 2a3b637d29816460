/*
 * Rules: one statement gives one item for each of its objects, and several
 * where an object is a set.  An item is for one list of exclusions, and exclusions of a
 * built-in set differ between platforms, so that a rule with such exclusions gives
 * one item for Linux and one for macOS.
 */
#include "compiler/policy/expand.h"
#include "compiler/policy/globs.h"

#include <stdlib.h>
#include <string.h>

struct exclusion {
	struct place place;
	const struct ast_atom *atom;
	bool used; /* it is below one of the rule's paths, or may be */
};

/* One statement about paths while it is taken apart. */
struct path_work {
	struct expansion *expansion;
	struct item_list *list;
	struct item item; /* what all its items have in common */
	VEC(struct exclusion) exclusions;
	size_t covered; /* paths that lie in an exclusion as a whole */
};

struct origin
context_origin(struct expansion *expansion, const struct context *context,
    const struct ast_stmt *stmt, struct loc loc)
{
	return (struct origin){
		.loc = loc,
		.via = context->block->name,
		.platforms = context->platforms,
		.own = !context->block->source->builtin,
		.from = scope_position(&expansion->scope, stmt),
	};
}

static bool
targets_equal(const struct target *a, const struct target *b, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (target_compare(a[i], b[i]) != 0)
			return false;
	}
	return true;
}

static bool
paths_equal(const struct path_rule *a, const struct path_rule *b)
{
	return a->effect == b->effect && a->rights == b->rights &&
	    a->exclusion_count == b->exclusion_count && a->glob == b->glob &&
	    target_compare(a->at, b->at) == 0 &&
	    targets_equal(a->exclusions, b->exclusions, a->exclusion_count);
}

bool
item_equals(const struct item *a, const struct item *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case WHAT_PATHS:
		return paths_equal(&a->path, &b->path);
	case WHAT_PORTS:
		return a->port.effect == b->port.effect &&
		    a->port.op == b->port.op && a->port.low == b->port.low &&
		    a->port.high == b->port.high;
	case WHAT_BLANKET:
		return a->blanket.effect == b->blanket.effect &&
		    a->blanket.kind == b->blanket.kind;
	case WHAT_SYSCALLS:
		return a->syscall.effect == b->syscall.effect &&
		    a->syscall.group == b->syscall.group &&
		    a->syscall.name == b->syscall.name;
	case WHAT_ENV:
		return a->env.effect == b->env.effect &&
		    a->env.pattern == b->env.pattern;
	}
	return false;
}

/*
 * A group that an earlier layer expanded is expanded again, since rules of it
 * may have been dropped between; what is still there is not added twice.
 */
static bool
is_there(struct expansion *expansion, const struct item *item)
{
	for (size_t i = 0; i < expansion->items.list.count; i++) {
		struct item *old = &expansion->items.list.items[i];

		if (old->origin.loc.begin != item->origin.loc.begin ||
		    old->dropped || !item_equals(old, item) ||
		    (item->origin.platforms & ~old->origin.platforms) != 0)
			continue;
		return true;
	}
	return false;
}

static void
item_add(struct expansion *expansion, struct item_list *list,
    const struct item *item)
{
	struct diag *diag;

	if (list->list.count < SBX_MAX_RULES) {
		*arena_push(expansion->arena, &list->list) = *item;
		return;
	}
	if (!expansion->full) {
		diag = diag_add(expansion->diags, DIAG_TOO_MANY,
		    item->origin.loc, "more than %d rules", SBX_MAX_RULES);
		diag_help(expansion->diags, diag,
		    "a directory means its whole tree");
	}
	expansion->full = true;
}

/* Whether an exclusion lies where the rule speaks, as far as that is known here. */
static bool
is_exclusion_of(const struct path_rule *rule, struct target exclusion)
{
	if (exclusion.anchor != rule->at.anchor)
		return true;
	if (!target_covers(rule->at, exclusion))
		return false;
	return rule->glob == NULL ||
	    glob_touches(rule->glob,
		exclusion.suffix + strlen(rule->at.suffix));
}

/*
 * The exclusions of one path, sorted and none inside another; false if one of them
 * swallows the path.
 */
static bool
path_exclusions(struct path_work *work, struct path_rule *rule)
{
	size_t count = 0, kept = 0;
	struct target *targets;

	if (work->exclusions.count == 0)
		return true;
	targets = arena_alloc(work->expansion->arena,
	    work->exclusions.count * sizeof *targets);
	for (size_t i = 0; i < work->exclusions.count; i++) {
		struct exclusion *exclusion = &work->exclusions.items[i];

		if ((exclusion->place.platforms & rule->origin.platforms) == 0)
			continue;
		if (target_covers(exclusion->place.at, rule->at)) {
			exclusion->used = true;
			return false;
		}
		if (!is_exclusion_of(rule, exclusion->place.at))
			continue;
		exclusion->used = true;
		targets[count++] = exclusion->place.at;
	}
	qsort(targets, count, sizeof *targets, targets_compare);
	for (size_t i = 0; i < count; i++) {
		if (kept == 0 || !target_covers(targets[kept - 1], targets[i]))
			targets[kept++] = targets[i];
	}
	rule->exclusions = targets;
	rule->exclusion_count = (uint16_t)kept;
	return true;
}

static void
path_add(struct path_work *work, const struct item *base, uint8_t platforms)
{
	struct item item = *base;

	item.origin.platforms &= platforms;
	if (item.origin.platforms == 0)
		return;
	if (path_exclusions(work, &item.path))
		item_add(work->expansion, work->list, &item);
	else
		work->covered++;
}

static bool
exclusions_differ(const struct path_work *work, uint8_t platforms)
{
	for (size_t i = 0; i < work->exclusions.count; i++) {
		if ((platforms & ~work->exclusions.items[i].place.platforms) !=
		    0)
			return true;
	}
	return false;
}

static void
path_object(struct path_work *work, const struct ast_atom *atom)
{
	struct scope *scope = &work->expansion->scope;
	struct place_list list = { 0 };
	struct item item = work->item;
	struct ast_atom root = *atom;

	item.origin.loc = atom->loc;
	if (atom->kind == AST_GLOB &&
	    !glob_split(scope, atom, &root, &item.path.glob))
		return;
	if (!scope_paths(scope, &root, item.origin.platforms, &list))
		return;
	for (size_t i = 0; i < list.places.count; i++) {
		const struct place *place = &list.places.items[i];

		item.path.at = place->at;
		item.origin.platforms = place->platforms;
		if (exclusions_differ(work, place->platforms)) {
			path_add(work, &item, SBX_ON_LINUX);
			path_add(work, &item, SBX_ON_MACOS);
		} else {
			path_add(work, &item, SBX_ON_ALL);
		}
	}
}

static bool
read_exclusions(struct path_work *work, const struct ast_stmt *stmt)
{
	struct scope *scope = &work->expansion->scope;
	bool good = true;

	for (const struct ast_atom *atom = stmt->exclusions.first; atom != NULL;
	     atom = atom->next) {
		struct place_list list = { 0 };

		good &= scope_paths(scope, atom, work->item.origin.platforms,
		    &list);
		for (size_t i = 0; i < list.places.count; i++)
			*arena_push(scope->arena,
			    &work->exclusions) = (struct exclusion){
				.place = list.places.items[i],
				.atom = atom,
			};
	}
	if (work->exclusions.count <= UINT16_MAX)
		return good;
	diag_add(scope->diags, DIAG_TOO_MANY, stmt->exclusions.loc,
	    "more than %d holes in one rule", UINT16_MAX);
	return false;
}

/* An object with several paths cuts something if one of them does. */
static void
report_exclusions(struct path_work *work, const struct ast_stmt *stmt)
{
	const struct ast_atom *atom = stmt->exclusions.first;
	struct diags *diags = work->expansion->diags;
	size_t i = 0;

	for (; atom != NULL; atom = atom->next) {
		bool used = false;
		struct diag *diag;

		for (; i < work->exclusions.count &&
		     work->exclusions.items[i].atom == atom;
		     i++)
			used |= work->exclusions.items[i].used;
		if (used)
			continue;
		diag = diag_add(diags, DIAG_EXCLUSION_OUTSIDE, atom->loc,
		    "'%s' is not below any path of this rule", atom->text);
		diag_help(diags, diag,
		    "'except' cuts places out of the "
		    "paths that stand before it");
	}
}

static void
path_rules(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct item *base, const struct ast_atom *atom,
    struct item_list *list)
{
	struct path_work work = {
		.expansion = expansion,
		.list = list,
		.item = *base,
	};
	size_t errors = expansion->diags->errors, before = list->list.count;
	struct diag *diag;

	if (!read_exclusions(&work, stmt))
		return;
	for (; atom != NULL; atom = object_next(stmt, atom))
		path_object(&work, atom);
	if (expansion->diags->errors > errors)
		return;
	if (list->list.count == before && work.covered > 0) {
		diag = diag_add(expansion->diags, DIAG_NOTHING_LEFT,
		    stmt->exclusions.first->loc,
		    "'except' leaves nothing of this rule");
		diag_help(expansion->diags, diag,
		    "every path of the rule lies in a hole: delete the rule");
		return;
	}
	report_exclusions(&work, stmt);
}

static void
port_rules(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct item *base, const struct ast_atom *atom,
    struct item_list *list)
{
	for (; atom != NULL; atom = object_next(stmt, atom)) {
		struct item item = *base;

		item.origin.loc = atom->loc;
		if (object_ports(&expansion->scope, atom, &item.port.low,
			&item.port.high))
			item_add(expansion, list, &item);
	}
}

static void
syscall_rules(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct item *base, const struct ast_atom *atom,
    struct item_list *list)
{
	for (; atom != NULL; atom = object_next(stmt, atom)) {
		struct item item = *base;

		item.origin.loc = atom->loc;
		if (object_syscall(&expansion->scope, atom, &item.syscall))
			item_add(expansion, list, &item);
	}
}

static void
env_rules(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct item *base, const struct ast_atom *atom,
    struct item_list *list)
{
	for (; atom != NULL; atom = object_next(stmt, atom)) {
		struct item item = *base;

		item.origin.loc = atom->loc;
		item.env.pattern = atom->text;
		if (object_variable(&expansion->scope, atom, true))
			item_add(expansion, list, &item);
	}
}

static void
blanket_rule(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct item *base, const struct what *what,
    const struct ast_atom *atom, struct item_list *list)
{
	struct item item = *base;
	struct diag *diag;

	if (atom != NULL) {
		diag_add(expansion->diags, DIAG_WRONG_OBJECT, atom->loc,
		    "nothing goes after '%s', found '%s'", what->words,
		    atom->text);
		return;
	}
	if (what->blanket == BLANKET_EVERYTHING && stmt->effect != SBX_ALLOW) {
		diag = diag_add(expansion->diags, DIAG_WRONG_EFFECT,
		    object_first(stmt)->loc, "'everything' cannot be denied");
		diag_help(expansion->diags, diag,
		    "what is not allowed is denied: delete this line");
		return;
	}
	if (stmt->words.first != NULL)
		item.origin.loc = (struct loc){
			stmt->words.first->loc.begin,
			stmt->words.last->loc.end,
		};
	item_add(expansion, list, &item);
}

/*
 * What the items of a rule have in common.  To initialise one member of a
 * union leaves the bytes of the others as they were: each kind sets its own.
 */
static struct item
rule_base(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context, const struct what *what)
{
	struct item item = {
		.kind = what->class,
		.layer = expansion->layer,
		.block = context->block,
		.origin = context_origin(expansion, context, stmt, stmt->loc),
	};

	switch (what->class) {
	case WHAT_PATHS:
		item.path = (struct path_rule){
			.origin = item.origin,
			.effect = stmt->effect,
			.rights = stmt->effect == SBX_ALLOW ? what->allow :
							      what->deny,
		};
		break;
	case WHAT_PORTS:
		item.port = (struct port_rule){
			.origin = item.origin,
			.effect = stmt->effect,
			.op = what->op,
		};
		break;
	case WHAT_BLANKET:
		item.blanket = (struct blanket_rule){
			.origin = item.origin,
			.effect = stmt->effect,
			.kind = what->blanket,
		};
		break;
	case WHAT_SYSCALLS:
		item.syscall = (struct syscall_rule){
			.origin = item.origin,
			.effect = stmt->effect,
		};
		break;
	case WHAT_ENV:
		item.env = (struct env_rule){
			.origin = item.origin,
			.effect = stmt->effect,
		};
		break;
	}
	return item;
}

static bool
has_objects(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct what *what, const struct ast_atom *atom)
{
	static const char *const nouns[] = {
		[WHAT_PATHS] = "a path",
		[WHAT_PORTS] = "a port",
		[WHAT_SYSCALLS] = "a system call or a @group",
		[WHAT_ENV] = "the name of a variable",
		[WHAT_BLANKET] = "",
	};

	if (what->class != WHAT_PATHS && stmt->exclusions.first != NULL) {
		diag_add(expansion->diags, DIAG_WRONG_OBJECT,
		    stmt->exclusions.loc,
		    "'except' cuts holes in paths, not in "
		    "'%s'",
		    what->words);
		return false;
	}
	if (what->class == WHAT_BLANKET || atom != NULL)
		return true;
	diag_add(expansion->diags, DIAG_NO_OBJECT,
	    stmt->words.last == NULL ? stmt->loc : stmt->words.last->loc,
	    "expected %s after '%s'", nouns[what->class], what->words);
	return false;
}

void
rule_items(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context, struct item_list *list)
{
	const struct ast_atom *atom;
	const struct what *what = object_what(&expansion->scope, stmt, &atom);
	struct item item;

	if (what == NULL || !has_objects(expansion, stmt, what, atom))
		return;
	item = rule_base(expansion, stmt, context, what);
	switch (what->class) {
	case WHAT_PATHS:
		path_rules(expansion, stmt, &item, atom, list);
		break;
	case WHAT_PORTS:
		port_rules(expansion, stmt, &item, atom, list);
		break;
	case WHAT_BLANKET:
		blanket_rule(expansion, stmt, &item, what, atom, list);
		break;
	case WHAT_SYSCALLS:
		syscall_rules(expansion, stmt, &item, atom, list);
		break;
	case WHAT_ENV:
		env_rules(expansion, stmt, &item, atom, list);
		break;
	}
}

void
expand_rule(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context)
{
	struct item_list list = { 0 };

	if (!context->again) {
		rule_items(expansion, stmt, context, &expansion->items);
		return;
	}
	rule_items(expansion, stmt, context, &list);
	for (size_t i = 0; i < list.list.count; i++) {
		if (!is_there(expansion, &list.list.items[i]))
			item_add(expansion, &expansion->items,
			    &list.list.items[i]);
	}
}
