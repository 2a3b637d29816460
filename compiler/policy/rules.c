/*
 * Rules: one statement gives one item for each of its objects, and several
 * where an object is a set.  An item is for one list of holes, and holes of a
 * built-in set differ between platforms, so that a rule with such holes gives
 * one item for Linux and one for macOS.
 */
#include "compiler/policy/globs.h"
#include "compiler/policy/unfold.h"

#include <stdlib.h>
#include <string.h>

struct hole {
	struct place place;
	const struct ast_atom *atom;
	bool used; /* it is below one of the rule's paths, or may be */
};

/* One statement about paths while it is taken apart. */
struct path_work {
	struct unfolding *unfolding;
	struct item_list *list;
	struct item item; /* what all its items have in common */
	VEC(struct hole) holes;
	size_t covered; /* paths that lie in a hole as a whole */
};

struct origin
context_origin(struct unfolding *unfolding, const struct context *context,
    const struct ast_stmt *stmt, struct loc loc)
{
	return (struct origin){
		.loc = loc,
		.via = context->block->name,
		.where = context->where,
		.own = !context->block->source->builtin,
		.from = scope_mark(&unfolding->scope, stmt),
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
	    a->hole_count == b->hole_count && a->glob == b->glob &&
	    target_compare(a->at, b->at) == 0 &&
	    targets_equal(a->holes, b->holes, a->hole_count);
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
	case WHAT_FREEDOM:
		return a->freedom.effect == b->freedom.effect &&
		    a->freedom.kind == b->freedom.kind;
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
 * A group that an earlier layer unfolded is unfolded again, since rules of it
 * may have been dropped between; what is still there is not added twice.
 */
static bool
is_there(struct unfolding *unfolding, const struct item *item)
{
	for (size_t i = 0; i < unfolding->items.list.count; i++) {
		struct item *old = &unfolding->items.list.items[i];

		if (old->origin.loc.begin != item->origin.loc.begin ||
		    old->dropped || !item_equals(old, item) ||
		    (item->origin.where & ~old->origin.where) != 0)
			continue;
		return true;
	}
	return false;
}

static void
item_add(struct unfolding *unfolding, struct item_list *list,
    const struct item *item)
{
	struct diag *diag;

	if (list->list.count < SBX_MAX_RULES) {
		*arena_push(unfolding->arena, &list->list) = *item;
		return;
	}
	if (!unfolding->full) {
		diag = diag_add(unfolding->diags, DIAG_TOO_MANY,
		    item->origin.loc, "more than %d rules", SBX_MAX_RULES);
		diag_help(unfolding->diags, diag,
		    "a directory means its whole tree");
	}
	unfolding->full = true;
}

/* Whether a hole lies where the rule speaks, as far as that is known here. */
static bool
is_hole_of(const struct path_rule *rule, struct target hole)
{
	if (hole.anchor != rule->at.anchor)
		return true;
	if (!target_covers(rule->at, hole))
		return false;
	return rule->glob == NULL ||
	    glob_touches(rule->glob, hole.suffix + strlen(rule->at.suffix));
}

/*
 * The holes of one path, sorted and none inside another; false if one of them
 * swallows the path.
 */
static bool
path_holes(struct path_work *work, struct path_rule *rule)
{
	size_t count = 0, kept = 0;
	struct target *targets;

	if (work->holes.count == 0)
		return true;
	targets = arena_alloc(work->unfolding->arena,
	    work->holes.count * sizeof *targets);
	for (size_t i = 0; i < work->holes.count; i++) {
		struct hole *hole = &work->holes.items[i];

		if ((hole->place.where & rule->origin.where) == 0)
			continue;
		if (target_covers(hole->place.at, rule->at)) {
			hole->used = true;
			return false;
		}
		if (!is_hole_of(rule, hole->place.at))
			continue;
		hole->used = true;
		targets[count++] = hole->place.at;
	}
	qsort(targets, count, sizeof *targets, targets_compare);
	for (size_t i = 0; i < count; i++) {
		if (kept == 0 || !target_covers(targets[kept - 1], targets[i]))
			targets[kept++] = targets[i];
	}
	rule->holes = targets;
	rule->hole_count = (uint16_t)kept;
	return true;
}

static void
path_add(struct path_work *work, const struct item *base, uint8_t where)
{
	struct item item = *base;

	item.origin.where &= where;
	if (item.origin.where == 0)
		return;
	if (path_holes(work, &item.path))
		item_add(work->unfolding, work->list, &item);
	else
		work->covered++;
}

static bool
holes_differ(const struct path_work *work, uint8_t where)
{
	for (size_t i = 0; i < work->holes.count; i++) {
		if ((where & ~work->holes.items[i].place.where) != 0)
			return true;
	}
	return false;
}

static void
path_object(struct path_work *work, const struct ast_atom *atom)
{
	struct scope *scope = &work->unfolding->scope;
	struct place_list list = { 0 };
	struct item item = work->item;
	struct ast_atom root = *atom;

	item.origin.loc = atom->loc;
	if (atom->kind == AST_GLOB &&
	    !glob_split(scope, atom, &root, &item.path.glob))
		return;
	if (!scope_paths(scope, &root, item.origin.where, &list))
		return;
	for (size_t i = 0; i < list.places.count; i++) {
		const struct place *place = &list.places.items[i];

		item.path.at = place->at;
		item.origin.where = place->where;
		if (holes_differ(work, place->where)) {
			path_add(work, &item, SBX_ON_LINUX);
			path_add(work, &item, SBX_ON_MACOS);
		} else {
			path_add(work, &item, SBX_ON_ALL);
		}
	}
}

static bool
read_holes(struct path_work *work, const struct ast_stmt *stmt)
{
	struct scope *scope = &work->unfolding->scope;
	bool good = true;

	for (const struct ast_atom *atom = stmt->holes.first; atom != NULL;
	     atom = atom->next) {
		struct place_list list = { 0 };

		good &= scope_paths(scope, atom, work->item.origin.where,
		    &list);
		for (size_t i = 0; i < list.places.count; i++)
			*arena_push(scope->arena, &work->holes) = (struct hole){
				.place = list.places.items[i],
				.atom = atom,
			};
	}
	if (work->holes.count <= UINT16_MAX)
		return good;
	diag_add(scope->diags, DIAG_TOO_MANY, stmt->holes.loc,
	    "more than %d holes in one rule", UINT16_MAX);
	return false;
}

/* An object with several paths cuts something if one of them does. */
static void
report_holes(struct path_work *work, const struct ast_stmt *stmt)
{
	const struct ast_atom *atom = stmt->holes.first;
	struct diags *diags = work->unfolding->diags;
	size_t i = 0;

	for (; atom != NULL; atom = atom->next) {
		bool used = false;
		struct diag *diag;

		for (;
		     i < work->holes.count && work->holes.items[i].atom == atom;
		     i++)
			used |= work->holes.items[i].used;
		if (used)
			continue;
		diag = diag_add(diags, DIAG_HOLE_OUTSIDE, atom->loc,
		    "'%s' is not below any path of this rule", atom->text);
		diag_help(diags, diag,
		    "'except' cuts places out of the "
		    "paths that stand before it");
	}
}

static void
path_rules(struct unfolding *unfolding, const struct ast_stmt *stmt,
    const struct item *base, const struct ast_atom *atom,
    struct item_list *list)
{
	struct path_work work = {
		.unfolding = unfolding,
		.list = list,
		.item = *base,
	};
	size_t errors = unfolding->diags->errors, before = list->list.count;
	struct diag *diag;

	if (!read_holes(&work, stmt))
		return;
	for (; atom != NULL; atom = object_next(stmt, atom))
		path_object(&work, atom);
	if (unfolding->diags->errors > errors)
		return;
	if (list->list.count == before && work.covered > 0) {
		diag = diag_add(unfolding->diags, DIAG_NOTHING_LEFT,
		    stmt->holes.first->loc,
		    "'except' leaves nothing of this rule");
		diag_help(unfolding->diags, diag,
		    "every path of the rule lies in a hole: delete the rule");
		return;
	}
	report_holes(&work, stmt);
}

static void
port_rules(struct unfolding *unfolding, const struct ast_stmt *stmt,
    const struct item *base, const struct ast_atom *atom,
    struct item_list *list)
{
	for (; atom != NULL; atom = object_next(stmt, atom)) {
		struct item item = *base;

		item.origin.loc = atom->loc;
		if (object_ports(&unfolding->scope, atom, &item.port.low,
			&item.port.high))
			item_add(unfolding, list, &item);
	}
}

static void
syscall_rules(struct unfolding *unfolding, const struct ast_stmt *stmt,
    const struct item *base, const struct ast_atom *atom,
    struct item_list *list)
{
	for (; atom != NULL; atom = object_next(stmt, atom)) {
		struct item item = *base;

		item.origin.loc = atom->loc;
		if (object_syscall(&unfolding->scope, atom, &item.syscall))
			item_add(unfolding, list, &item);
	}
}

static void
env_rules(struct unfolding *unfolding, const struct ast_stmt *stmt,
    const struct item *base, const struct ast_atom *atom,
    struct item_list *list)
{
	for (; atom != NULL; atom = object_next(stmt, atom)) {
		struct item item = *base;

		item.origin.loc = atom->loc;
		item.env.pattern = atom->text;
		if (object_variable(&unfolding->scope, atom, true))
			item_add(unfolding, list, &item);
	}
}

static void
freedom_rule(struct unfolding *unfolding, const struct ast_stmt *stmt,
    const struct item *base, const struct what *what,
    const struct ast_atom *atom, struct item_list *list)
{
	struct item item = *base;
	struct diag *diag;

	if (atom != NULL) {
		diag_add(unfolding->diags, DIAG_WRONG_OBJECT, atom->loc,
		    "nothing goes after '%s', found '%s'", what->words,
		    atom->text);
		return;
	}
	if (what->freedom == FREEDOM_EVERYTHING && stmt->effect != SBX_ALLOW) {
		diag = diag_add(unfolding->diags, DIAG_WRONG_EFFECT,
		    object_first(stmt)->loc, "'everything' cannot be denied");
		diag_help(unfolding->diags, diag,
		    "what is not allowed is denied: delete this line");
		return;
	}
	if (stmt->words.first != NULL)
		item.origin.loc = (struct loc){
			stmt->words.first->loc.begin,
			stmt->words.last->loc.end,
		};
	item_add(unfolding, list, &item);
}

/*
 * What the items of a rule have in common.  To initialise one member of a
 * union leaves the bytes of the others as they were: each kind sets its own.
 */
static struct item
rule_base(struct unfolding *unfolding, const struct ast_stmt *stmt,
    const struct context *context, const struct what *what)
{
	struct item item = {
		.kind = what->class,
		.layer = unfolding->layer,
		.block = context->block,
		.origin = context_origin(unfolding, context, stmt, stmt->loc),
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
	case WHAT_FREEDOM:
		item.freedom = (struct freedom_rule){
			.origin = item.origin,
			.effect = stmt->effect,
			.kind = what->freedom,
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
has_objects(struct unfolding *unfolding, const struct ast_stmt *stmt,
    const struct what *what, const struct ast_atom *atom)
{
	static const char *const nouns[] = {
		[WHAT_PATHS] = "a path",
		[WHAT_PORTS] = "a port",
		[WHAT_SYSCALLS] = "a system call or a @group",
		[WHAT_ENV] = "the name of a variable",
		[WHAT_FREEDOM] = "",
	};

	if (what->class != WHAT_PATHS && stmt->holes.first != NULL) {
		diag_add(unfolding->diags, DIAG_WRONG_OBJECT, stmt->holes.loc,
		    "'except' cuts holes in paths, not in "
		    "'%s'",
		    what->words);
		return false;
	}
	if (what->class == WHAT_FREEDOM || atom != NULL)
		return true;
	diag_add(unfolding->diags, DIAG_NO_OBJECT,
	    stmt->words.last == NULL ? stmt->loc : stmt->words.last->loc,
	    "expected %s after '%s'", nouns[what->class], what->words);
	return false;
}

void
rule_items(struct unfolding *unfolding, const struct ast_stmt *stmt,
    const struct context *context, struct item_list *list)
{
	const struct ast_atom *atom;
	const struct what *what = object_what(&unfolding->scope, stmt, &atom);
	struct item item;

	if (what == NULL || !has_objects(unfolding, stmt, what, atom))
		return;
	item = rule_base(unfolding, stmt, context, what);
	switch (what->class) {
	case WHAT_PATHS:
		path_rules(unfolding, stmt, &item, atom, list);
		break;
	case WHAT_PORTS:
		port_rules(unfolding, stmt, &item, atom, list);
		break;
	case WHAT_FREEDOM:
		freedom_rule(unfolding, stmt, &item, what, atom, list);
		break;
	case WHAT_SYSCALLS:
		syscall_rules(unfolding, stmt, &item, atom, list);
		break;
	case WHAT_ENV:
		env_rules(unfolding, stmt, &item, atom, list);
		break;
	}
}

void
unfold_rule(struct unfolding *unfolding, const struct ast_stmt *stmt,
    const struct context *context)
{
	struct item_list list = { 0 };

	if (!context->again) {
		rule_items(unfolding, stmt, context, &unfolding->items);
		return;
	}
	rule_items(unfolding, stmt, context, &list);
	for (size_t i = 0; i < list.list.count; i++) {
		if (!is_there(unfolding, &list.list.items[i]))
			item_add(unfolding, &unfolding->items,
			    &list.list.items[i]);
	}
}
