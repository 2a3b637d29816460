/*
 * From statements to a flat policy.  A profile and its parents are a chain of
 * layers, the eldest first; a layer is a profile and the groups that it uses.
 * The chain is walked twice:
 *
 *	gather   finds every group and every name, so that what is written
 *	         first may use what is declared later
 *	expand   turns statements into items (rules.c) and settings
 *	         (settings.c); at the end of each layer its drops take items
 *	         back (drop.c)
 *
 * Nothing is judged here that is well formed: that is check/check.c.
 */
#include "compiler/policy/policy.h"

#include "compiler/policy/kind.h"

#include <string.h>

enum {
	MAX_GROUP_DEPTH = 100,
	MAX_PARENTS = 100,
	MAX_EXPANDED = 500,             /* profiles of one file */
	MAX_SPENT = 16 * SBX_MAX_RULES, /* rules and names of all of them */
	MAX_FILTERED = SBX_MAX_RULES,   /* what their filters take, as rules */
};

/* --- which profile -------------------------------------------------------- */

void
resolve_profiles(struct arena *arena, struct ast_stmt *stmts,
    struct profile_names *names)
{
	for (const struct ast_stmt *stmt = stmts; stmt != NULL;
	     stmt = stmt->next) {
		if (stmt->kind == AST_PROFILE)
			*arena_push(arena, &names->names) = stmt->name->text;
	}
}

/* The start of the file, for what is wrong with it as a whole. */
static struct loc
file_loc(const struct source *file)
{
	return (struct loc){ file->base, file->base };
}

/* " one two", the profiles that a file defines, the first ten of them. */
static const char *
profiles_text(struct expansion *expansion, struct ast_stmt *stmts)
{
	struct profile_names profiles = { 0 };
	const char *text = "";

	resolve_profiles(expansion->arena, stmts, &profiles);
	for (size_t i = 0; i < profiles.names.count && i < 10; i++)
		text = arena_printf(expansion->arena, "%s %s", text,
		    profiles.names.items[i]);
	if (profiles.names.count == 0)
		return " none";
	return profiles.names.count > 10 ?
	    arena_printf(expansion->arena, "%s ...", text) :
	    text;
}

static const char *
only_profile(struct expansion *expansion, const struct source *file,
    struct ast_stmt *stmts)
{
	struct profile_names names = { 0 };
	struct diag *diag;

	resolve_profiles(expansion->arena, stmts, &names);
	if (names.names.count == 1)
		return names.names.items[0];
	if (names.names.count == 0) {
		diag = diag_add(expansion->diags, DIAG_WHICH_PROFILE,
		    file_loc(file), "the file defines no profile");
		diag_help(diag,
		    "rules stand in 'profile NAME { ... }', or say which one "
		    "with -p");
		return NULL;
	}
	diag = diag_add(expansion->diags, DIAG_WHICH_PROFILE, file_loc(file),
	    "the file defines %zu profiles", names.names.count);
	diag_help(diag, "say which one with -p:%s",
	    profiles_text(expansion, stmts));
	return NULL;
}

static struct block *
wanted_profile(struct expansion *expansion, const struct source *file,
    struct ast_stmt *stmts, const char *name)
{
	struct block *block;
	struct diag *diag;

	if (name == NULL)
		name = only_profile(expansion, file, stmts);
	if (name == NULL)
		return NULL;
	block = blocks_wanted(expansion->blocks, name);
	if (block != NULL)
		return block;
	diag = diag_add(expansion->diags, DIAG_UNKNOWN_PROFILE, file_loc(file),
	    "unknown profile '%s'", name);
	if (blocks_nearest(expansion->blocks, name, false) != NULL)
		diag_did_you_mean(diag,
		    blocks_nearest(expansion->blocks, name, false));
	else
		diag_help(diag, "the file defines:%s",
		    profiles_text(expansion, stmts));
	return NULL;
}

/* --- the chain of parents ------------------------------------------------- */

struct chain {
	VEC(struct block *) blocks; /* the child first */
};

static bool
report_extends_cycle(struct expansion *expansion, const struct chain *chain,
    const struct block *again)
{
	const struct ast_atom *parent =
	    chain->blocks.items[chain->blocks.count - 1]->stmt->parent;
	const char *text = again->name;
	size_t from = 0;

	while (chain->blocks.items[from] != again)
		from++;
	for (size_t i = from + 1; i < chain->blocks.count; i++)
		text = arena_printf(expansion->arena, "%s -> %s", text,
		    chain->blocks.items[i]->name);
	diag_add(expansion->diags, DIAG_CYCLE, parent->loc,
	    "'%s' extends itself: %s -> %s", again->name, text, again->name);
	return false;
}

static bool
find_chain(struct expansion *expansion, struct block *block,
    struct chain *chain)
{
	while (block != NULL) {
		const struct ast_atom *parent = block->stmt->parent;

		blocks_enter(expansion->blocks, block);
		*arena_push(expansion->arena, &chain->blocks) = block;
		if (parent == NULL)
			break;
		if (chain->blocks.count > MAX_PARENTS) {
			diag_add(expansion->diags, DIAG_TOO_MANY, parent->loc,
			    "more than %d parents", MAX_PARENTS);
			return false;
		}
		block = blocks_get(expansion->blocks, parent, false);
		if (block == NULL)
			return false;
		if (block->busy)
			return report_extends_cycle(expansion, chain, block);
	}
	return true;
}

/* --- gather --------------------------------------------------------------- */

static void gather(struct expansion *expansion, struct block *block, int depth);

static void
gather_group(struct expansion *expansion, const struct ast_stmt *use, int depth)
{
	struct block *group = blocks_get(expansion->blocks, use->name, true);
	struct diag *diag;

	expansion->uses.some |= use->drop;
	if (group == NULL || use->drop)
		return;
	if (group->busy) {
		diag = diag_add(expansion->diags, DIAG_CYCLE, use->name->loc,
		    "group '%s' uses itself", group->name);
		diag_note(diag, group->stmt->name->loc, "it is defined here");
		return;
	}
	if (depth >= MAX_GROUP_DEPTH) {
		diag_add(expansion->diags, DIAG_TOO_MANY, use->name->loc,
		    "groups in groups more than %d deep", MAX_GROUP_DEPTH);
		return;
	}
	gather(expansion, group, depth + 1);
}

static void
gather_uses(struct expansion *expansion, const struct ast_stmt *stmts,
    int depth)
{
	for (const struct ast_stmt *stmt = stmts; stmt != NULL;
	     stmt = stmt->next) {
		if (stmt->kind == AST_USE)
			gather_group(expansion, stmt, depth);
		else if (stmt->kind == AST_ON)
			gather_uses(expansion, stmt->body, depth);
	}
}

static void
gather(struct expansion *expansion, struct block *block, int depth)
{
	if (block->gathered)
		return;
	blocks_enter(expansion->blocks, block);
	gather_uses(expansion, block->stmt->body, depth);
	block->busy = false;
	block->gathered = true;
	*arena_push(expansion->arena, &expansion->gathered) = block;
}

/* Names of the files come first, then those of the profiles and groups. */
static void
declare_names(struct expansion *expansion)
{
	struct scope *scope = &expansion->scope;
	const char *profile = expansion->policy->profile;

	for (size_t i = 0; i < expansion->blocks->names.count; i++)
		scope_declare(scope, expansion->blocks->names.items[i],
		    profile);
	for (size_t i = 0; i < expansion->gathered.count; i++) {
		const struct block *block = expansion->gathered.items[i];

		for (const struct ast_stmt *stmt = block->stmt->body;
		     stmt != NULL; stmt = stmt->next) {
			if (stmt->kind != AST_LET && stmt->kind != AST_PARAM)
				continue;
			scope_declare(scope, stmt, block->name);
			if (stmt->kind == AST_PARAM)
				scope_bind_name(scope, stmt->name->text);
		}
	}
	scope_settle(scope);
}

/* --- expand --------------------------------------------------------------- */

static void expand_body(struct expansion *expansion,
    const struct ast_stmt *stmts, const struct context *context);

/* Once in a layer for each platform, however often it is used. */
static void
expand_use(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context)
{
	struct block *group = blocks_find(expansion->blocks, stmt->name->text,
	    true, stmt->name->loc);
	struct context inner = *context;

	if (group == NULL || group->busy)
		return;
	inner.platforms = use_platforms(expansion, stmt, context);
	inner.block = group;
	inner.depth = context->depth + 1;
	inner.again = group->layer != 0 && group->layer < expansion->layer;
	inner.there = inner.again && expansion->dropping < group->layer &&
	    inner.platforms == group->latest;
	if (group->layer == expansion->layer)
		inner.platforms &= (uint8_t)~group->platforms;
	else
		group->platforms = 0;
	if (inner.platforms == 0)
		return;
	group->layer = expansion->layer;
	group->platforms |= inner.platforms;
	group->latest = inner.platforms;
	blocks_enter(expansion->blocks, group);
	expand_body(expansion, group->stmt->body, &inner);
	group->busy = false;
}

static void
expand_on(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context)
{
	struct context inner = *context;
	uint8_t platforms = object_platforms(&expansion->scope, stmt);

	if (platforms == 0)
		return;
	inner.platforms &= platforms;
	if (inner.platforms == 0) {
		diag_help(
		    diag_add(expansion->diags, DIAG_NOWHERE, stmt->loc,
			"'on %s' inside of a block for %s is never the case",
			platform_text(platforms),
			platform_text(context->platforms)),
		    "move the block out of the other one");
		return;
	}
	expand_body(expansion, stmt->body, &inner);
}

/* Before anything is expanded, the drops of uses are noted. */
static void
collect_stmt(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context)
{
	bool own = expansion->uses.pass == COLLECT_OWN;

	if (stmt->kind == AST_ON)
		expand_on(expansion, stmt, context);
	else if (stmt->kind == AST_USE && !stmt->drop && !own)
		expand_use(expansion, stmt, context);
	else if (stmt->kind == AST_USE && stmt->drop &&
	    own == (context->depth == 0))
		use_drop_note(expansion, stmt, context);
}

static void
expand_stmt(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct context *context)
{
	if (expansion->uses.pass != EXPAND_ALL) {
		collect_stmt(expansion, stmt, context);
		return;
	}
	switch (stmt->kind) {
	case AST_USE:
		if (!stmt->drop)
			expand_use(expansion, stmt, context);
		break;
	case AST_ABOUT:
		expand_about(expansion, stmt, context);
		break;
	case AST_RULE:
		if (stmt->drop)
			*arena_push(expansion->arena,
			    &expansion->drops) = (struct pending_drop){ stmt,
				context->block, context->platforms };
		else
			expand_rule(expansion, stmt, context);
		break;
	case AST_REQUIRE:
		expand_require(expansion, stmt, context);
		break;
	case AST_LIMIT:
		expand_limit(expansion, stmt, context);
		break;
	case AST_SET:
		expand_set(expansion, stmt, context);
		break;
	case AST_ON:
		expand_on(expansion, stmt, context);
		break;
	case AST_VERSION:
	case AST_INCLUDE:
	case AST_LET:
	case AST_PARAM:
	case AST_GROUP_DEF:
	case AST_PROFILE:
		break;
	}
}

static void
expand_body(struct expansion *expansion, const struct ast_stmt *stmts,
    const struct context *context)
{
	for (const struct ast_stmt *stmt = stmts; stmt != NULL;
	     stmt = stmt->next)
		expand_stmt(expansion, stmt, context);
}

static void
expand_layer(struct expansion *expansion, struct block *block)
{
	struct context context = { .block = block, .platforms = SBX_ON_ALL };

	expansion->layer++;
	expand_body(expansion, block->stmt->body, &context);
	expand_drops(expansion);
}

/* --- the policy ----------------------------------------------------------- */

/* There is no stage below level full. */
static void
require_stage(struct policy *policy, const struct path_rule *rule)
{
	if ((rule->rights & SBX_STAGED) == 0 ||
	    (rule->origin.platforms & SBX_ON_LINUX) == 0 ||
	    policy->level == SBX_LEVEL_FULL)
		return;
	policy->level = SBX_LEVEL_FULL;
	policy->level_origin = rule->origin;
}

static void
keep_items(struct expansion *expansion)
{
	struct policy *policy = expansion->policy;

	for (size_t i = 0; i < expansion->items.list.count; i++) {
		const struct item *item = &expansion->items.list.items[i];

		if (item->dropped)
			continue;
		if (item->rule.kind == KIND_PATH) {
			*arena_push(policy->arena,
			    &policy->paths) = item->rule.path;
			require_stage(policy, &item->rule.path);
		} else {
			*arena_push(policy->arena,
			    &policy->rules[item->rule.kind]) = item->rule;
		}
	}
}

/* What a variable stands for is one secret, or the command could not tell which. */
static void
judge_variables(struct expansion *expansion)
{
	struct rule_list *rules = &expansion->policy->rules[KIND_DOMAIN];
	struct map first = { 0 };

	for (size_t i = 0; i < rules->count; i++) {
		struct rule *rule = &rules->items[i], *other;

		if (rule->domain.variable == NULL)
			continue;
		other = map_find(&first, rule->domain.variable);
		if (other == NULL) {
			map_put(expansion->arena, &first, rule->domain.variable,
			    rule);
			continue;
		}
		if (other->domain.secret == rule->domain.secret ||
		    (other->origin.platforms & rule->origin.platforms) == 0)
			continue;
		diag_note(diag_add(expansion->diags, DIAG_BAD_USE,
			      rule->origin.loc,
			      "%s stands for the secret '%s' already",
			      rule->domain.variable, other->domain.secret),
		    other->origin.loc, "here");
	}
}

static struct policy *
policy_new(struct arena *arena, struct sources *sources)
{
	struct policy *policy = arena_alloc(arena, sizeof *policy);

	policy->arena = arena;
	policy->sources = sources;
	policy->about = "";
	policy->language = 1;
	policy->level = SBX_LEVEL_MINIMAL;
	return policy;
}

static const char *
params_text(const struct expansion *expansion)
{
	const char *text = "";

	for (size_t i = 0; i < expansion->policy->params.count; i++)
		text = arena_printf(expansion->arena, "%s %s", text,
		    expansion->policy->params.items[i].name);
	if (*text == '\0')
		return "it has none; 'param NAME' declares one";
	return arena_printf(expansion->arena, "it has:%s", text);
}

/* -D of what is no parameter is a slip that would otherwise go unnoticed. */
static void
check_definitions(struct expansion *expansion, const struct source *file)
{
	struct scope *scope = &expansion->scope;

	for (size_t i = 0; i < scope->predefined.list.count; i++) {
		const char *name = scope->predefined.list.items[i].name;
		struct diag *diag;

		if (blocks_have_param(expansion->blocks, name))
			continue;
		diag = diag_add(expansion->diags, DIAG_BAD_DEFINITION,
		    file_loc(file),
		    "profile '%s' has no parameter '%s' to define",
		    expansion->policy->profile, name);
		diag_help(diag, "%s", params_text(expansion));
	}
}

/* From the child up, so that a drop in a group that is dropped does not
 * count. */
static void
collect_drops(struct expansion *expansion, const struct chain *chain)
{
	for (size_t i = 0; i < chain->blocks.count; i++) {
		struct block *block = chain->blocks.items[i];
		struct context context = { .block = block,
			.platforms = SBX_ON_ALL };

		expansion->layer = (int)(chain->blocks.count - i);
		expansion->uses.pass = COLLECT_OWN;
		expand_body(expansion, block->stmt->body, &context);
		expansion->uses.pass = COLLECT_GROUPS;
		expand_body(expansion, block->stmt->body, &context);
	}
	for (size_t i = 0; i < expansion->uses.drops.count; i++)
		expansion->uses.drops.items[i]->hit = false;
	expansion->uses.pass = EXPAND_ALL;
	expansion->layer = 0;
	blocks_reset(expansion->blocks);
}

static void
expand_chain(struct expansion *expansion, const struct chain *chain)
{
	for (size_t i = chain->blocks.count; i-- > 0;)
		gather(expansion, chain->blocks.items[i], 0);
	declare_names(expansion);
	if (expansion->uses.some)
		collect_drops(expansion, chain);
	for (size_t i = chain->blocks.count; i-- > 0;)
		expand_layer(expansion, chain->blocks.items[i]);
	use_drops_report(expansion);
	expand_settings(expansion);
	keep_items(expansion);
	judge_variables(expansion);
	expansion->blocks->expanded++;
	expansion->blocks->spent += expansion->items.list.count +
	    expansion->settings.count + expansion->scope.names.count;
}

/*
 * Each profile is bounded, but a short text can give many of them a large group
 * each, which takes the product of both.
 */
static bool
has_room(struct expansion *expansion, const struct block *profile)
{
	struct blocks *blocks = expansion->blocks;
	struct loc loc = profile->stmt->name->loc;
	struct diag *diag;

	if (blocks->full ||
	    (blocks->expanded < MAX_EXPANDED && blocks->spent <= MAX_SPENT &&
		blocks->filtered <= MAX_FILTERED))
		return !blocks->full;
	blocks->full = true;
	diag = blocks->expanded >= MAX_EXPANDED ?
	    diag_add(expansion->diags, DIAG_TOO_MANY, loc,
		"more than %d profiles in one file", MAX_EXPANDED) :
	    diag_add(expansion->diags, DIAG_TOO_MANY, loc,
		blocks->spent > MAX_SPENT ?
		    "the profiles above have more than %d rules and names" :
		    "the filters of the profiles above differ too much: they "
		    "take as long as %d rules",
		blocks->spent > MAX_SPENT ? MAX_SPENT : MAX_FILTERED);
	diag_help(diag, "put this one and those below into another file");
	return false;
}

struct policy *
resolve_policy(const struct resolution *given, const char *name)
{
	struct expansion expansion = {
		.arena = given->arena,
		.sources = given->sources,
		.diags = given->diags,
		.policy = policy_new(given->arena, given->sources),
		.blocks = given->blocks,
	};
	struct chain chain = { 0 };
	struct block *profile;

	blocks_reset(given->blocks);
	profile = wanted_profile(&expansion, given->file, given->stmts, name);
	if (profile == NULL || !find_chain(&expansion, profile, &chain))
		return NULL;
	if (!has_room(&expansion, profile))
		return NULL;
	expansion.policy->profile = profile->name;
	expansion.policy->profile_loc = profile->stmt->name->loc;
	scope_init(&expansion.scope, expansion.policy, given->diags);
	expansion.scope.predefined = given->definitions;
	expand_chain(&expansion, &chain);
	check_definitions(&expansion, given->file);
	/* It looks at the text, and so is the same for all profiles. */
	if (!given->blocks->unused)
		report_unused(&expansion, given->stmts);
	given->blocks->unused = true;
	return given->diags->errors > 0 || given->blocks->faulty ?
	    NULL :
	    expansion.policy;
}
