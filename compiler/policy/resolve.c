/*
 * From statements to a flat policy.  A profile and its parents are a chain of
 * layers, the eldest first; a layer is a profile and the groups that it uses.
 * The chain is walked twice:
 *
 *	gather   finds every group and every name, so that what is written
 *	         first may use what is declared later
 *	unfold   turns statements into items (rules.c) and settings
 *	         (settings.c); at the end of each layer its drops take items
 *	         back (drop.c)
 *
 * Nothing is judged here that is well formed: that is check.c.
 */
#include "compiler/policy/unfold.h"

#include <string.h>

enum { MAX_GROUP_DEPTH = 100, MAX_PARENTS = 100 };

/* --- which profile ------------------------------------------------------- */

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
profiles_text(struct unfolding *unfolding, struct ast_stmt *stmts)
{
	struct profile_names profiles = { 0 };
	const char *text = "";

	resolve_profiles(unfolding->arena, stmts, &profiles);
	for (size_t i = 0; i < profiles.names.count && i < 10; i++)
		text = arena_printf(unfolding->arena, "%s %s", text,
		    profiles.names.items[i]);
	if (profiles.names.count == 0)
		return " none";
	return profiles.names.count > 10 ?
	    arena_printf(unfolding->arena, "%s ...", text) :
	    text;
}

static const char *
only_profile(struct unfolding *unfolding, const struct source *file,
    struct ast_stmt *stmts)
{
	struct profile_names names = { 0 };
	struct diag *diag;

	resolve_profiles(unfolding->arena, stmts, &names);
	if (names.names.count == 1)
		return names.names.items[0];
	if (names.names.count == 0) {
		diag = diag_add(unfolding->diags, DIAG_WHICH_PROFILE,
		    file_loc(file), "the file defines no profile");
		diag_help(unfolding->diags, diag,
		    "rules stand in 'profile "
		    "NAME { ... }', or say which one with -p");
		return NULL;
	}
	diag = diag_add(unfolding->diags, DIAG_WHICH_PROFILE, file_loc(file),
	    "the file defines %zu profiles", names.names.count);
	diag_help(unfolding->diags, diag, "say which one with -p:%s",
	    profiles_text(unfolding, stmts));
	return NULL;
}

static struct block *
wanted_profile(struct unfolding *unfolding, const struct source *file,
    struct ast_stmt *stmts, const char *name)
{
	struct block *block;
	struct diag *diag;

	if (name == NULL)
		name = only_profile(unfolding, file, stmts);
	if (name == NULL)
		return NULL;
	block = blocks_wanted(&unfolding->blocks, name);
	if (block != NULL)
		return block;
	diag = diag_add(unfolding->diags, DIAG_UNKNOWN_PROFILE, file_loc(file),
	    "unknown profile '%s'", name);
	if (blocks_nearest(&unfolding->blocks, name, false) != NULL)
		diag_did_you_mean(unfolding->diags, diag,
		    blocks_nearest(&unfolding->blocks, name, false));
	else
		diag_help(unfolding->diags, diag, "the file defines:%s",
		    profiles_text(unfolding, stmts));
	return NULL;
}

/* --- the chain of parents ------------------------------------------------ */

struct chain {
	VEC(struct block *) blocks; /* the child first */
};

static bool
report_extends_cycle(struct unfolding *unfolding, const struct chain *chain,
    const struct block *again)
{
	const struct ast_atom *parent =
	    chain->blocks.items[chain->blocks.count - 1]->stmt->parent;
	const char *text = again->name;
	size_t from = 0;

	while (chain->blocks.items[from] != again)
		from++;
	for (size_t i = from + 1; i < chain->blocks.count; i++)
		text = arena_printf(unfolding->arena, "%s -> %s", text,
		    chain->blocks.items[i]->name);
	diag_add(unfolding->diags, DIAG_CYCLE, parent->loc,
	    "'%s' extends itself: %s -> %s", again->name, text, again->name);
	return false;
}

static bool
find_chain(struct unfolding *unfolding, struct block *block,
    struct chain *chain)
{
	while (block != NULL) {
		const struct ast_atom *parent = block->stmt->parent;

		block->busy = true;
		*arena_push(unfolding->arena, &chain->blocks) = block;
		if (parent == NULL)
			break;
		if (chain->blocks.count > MAX_PARENTS) {
			diag_add(unfolding->diags, DIAG_TOO_MANY, parent->loc,
			    "more than %d parents", MAX_PARENTS);
			return false;
		}
		block = blocks_get(&unfolding->blocks, parent, false);
		if (block == NULL)
			return false;
		if (block->busy)
			return report_extends_cycle(unfolding, chain, block);
	}
	return true;
}

/* --- gather -------------------------------------------------------------- */

static void gather(struct unfolding *unfolding, struct block *block, int depth);

static void
gather_group(struct unfolding *unfolding, const struct ast_stmt *use, int depth)
{
	struct block *group = blocks_get(&unfolding->blocks, use->name, true);
	struct diag *diag;

	if (group == NULL)
		return;
	if (group->busy) {
		diag = diag_add(unfolding->diags, DIAG_CYCLE, use->name->loc,
		    "group '%s' uses itself", group->name);
		diag_note(unfolding->diags, diag, group->stmt->name->loc,
		    "it is defined here");
		return;
	}
	if (depth >= MAX_GROUP_DEPTH) {
		diag_add(unfolding->diags, DIAG_TOO_MANY, use->name->loc,
		    "groups in groups more than %d deep", MAX_GROUP_DEPTH);
		return;
	}
	gather(unfolding, group, depth + 1);
}

static void
gather_uses(struct unfolding *unfolding, const struct ast_stmt *stmts,
    int depth)
{
	for (const struct ast_stmt *stmt = stmts; stmt != NULL;
	     stmt = stmt->next) {
		if (stmt->kind == AST_USE)
			gather_group(unfolding, stmt, depth);
		else if (stmt->kind == AST_ON)
			gather_uses(unfolding, stmt->body, depth);
	}
}

static void
gather(struct unfolding *unfolding, struct block *block, int depth)
{
	if (block->gathered)
		return;
	block->busy = true;
	gather_uses(unfolding, block->stmt->body, depth);
	block->busy = false;
	block->gathered = true;
	*arena_push(unfolding->arena, &unfolding->gathered) = block;
}

/* Names of the files come first, then those of the profiles and groups. */
static void
declare_names(struct unfolding *unfolding)
{
	struct scope *scope = &unfolding->scope;
	const char *profile = unfolding->policy->profile;

	for (size_t i = 0; i < unfolding->blocks.names.count; i++)
		scope_declare(scope, unfolding->blocks.names.items[i], profile);
	for (size_t i = 0; i < unfolding->gathered.count; i++) {
		const struct block *block = unfolding->gathered.items[i];

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

/* --- unfold -------------------------------------------------------------- */

static void unfold_body(struct unfolding *unfolding,
    const struct ast_stmt *stmts, const struct context *context);

/* Once in a layer for each platform, however often it is used. */
static void
unfold_use(struct unfolding *unfolding, const struct ast_stmt *stmt,
    const struct context *context)
{
	struct block *group = blocks_find(&unfolding->blocks, stmt->name->text,
	    true, stmt->name->loc);
	struct context inner = *context;

	if (group == NULL || group->busy)
		return;
	inner.block = group;
	inner.depth = context->depth + 1;
	inner.again = group->layer != 0 && group->layer < unfolding->layer;
	if (group->layer == unfolding->layer)
		inner.where &= (uint8_t)~group->where;
	else
		group->where = 0;
	if (inner.where == 0)
		return;
	group->layer = unfolding->layer;
	group->where |= inner.where;
	group->busy = true;
	unfold_body(unfolding, group->stmt->body, &inner);
	group->busy = false;
}

static void
unfold_on(struct unfolding *unfolding, const struct ast_stmt *stmt,
    const struct context *context)
{
	struct context inner = *context;
	uint8_t where = object_platforms(&unfolding->scope, stmt);
	struct diag *diag;

	if (where == 0)
		return;
	inner.where &= where;
	if (inner.where == 0) {
		diag = diag_add(unfolding->diags, DIAG_NOWHERE, stmt->loc,
		    "'on %s' inside of a block for %s is never the case",
		    platform_text(where), platform_text(context->where));
		diag_help(unfolding->diags, diag,
		    "move the block out of the other one");
		return;
	}
	unfold_body(unfolding, stmt->body, &inner);
}

static void
unfold_stmt(struct unfolding *unfolding, const struct ast_stmt *stmt,
    const struct context *context)
{
	switch (stmt->kind) {
	case AST_USE:
		unfold_use(unfolding, stmt, context);
		break;
	case AST_ABOUT:
		unfold_about(unfolding, stmt, context);
		break;
	case AST_RULE:
		if (stmt->drop)
			*arena_push(unfolding->arena,
			    &unfolding->drops) = (struct pending_drop){ stmt,
				context->block, context->where };
		else
			unfold_rule(unfolding, stmt, context);
		break;
	case AST_REQUIRE:
		unfold_require(unfolding, stmt, context);
		break;
	case AST_LIMIT:
		unfold_limit(unfolding, stmt, context);
		break;
	case AST_SET:
		unfold_set(unfolding, stmt, context);
		break;
	case AST_ON:
		unfold_on(unfolding, stmt, context);
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
unfold_body(struct unfolding *unfolding, const struct ast_stmt *stmts,
    const struct context *context)
{
	for (const struct ast_stmt *stmt = stmts; stmt != NULL;
	     stmt = stmt->next)
		unfold_stmt(unfolding, stmt, context);
}

static void
unfold_layer(struct unfolding *unfolding, struct block *block)
{
	struct context context = { .block = block, .where = SBX_ON_ALL };

	unfolding->layer++;
	unfold_body(unfolding, block->stmt->body, &context);
	unfold_drops(unfolding);
}

/* --- the policy ---------------------------------------------------------- */

static void
keep_items(struct unfolding *unfolding)
{
	struct policy *policy = unfolding->policy;

	for (size_t i = 0; i < unfolding->items.list.count; i++) {
		const struct item *item = &unfolding->items.list.items[i];

		if (item->dropped)
			continue;
		switch (item->kind) {
		case WHAT_PATHS:
			*arena_push(policy->arena, &policy->paths) = item->path;
			break;
		case WHAT_PORTS:
			*arena_push(policy->arena, &policy->ports) = item->port;
			break;
		case WHAT_FREEDOM:
			*arena_push(policy->arena,
			    &policy->freedoms) = item->freedom;
			break;
		case WHAT_SYSCALLS:
			*arena_push(policy->arena,
			    &policy->syscalls) = item->syscall;
			break;
		case WHAT_ENV:
			*arena_push(policy->arena, &policy->env) = item->env;
			break;
		}
	}
}

static struct policy *
policy_new(struct sources *sources)
{
	struct policy *policy = arena_alloc(sources->arena, sizeof *policy);

	policy->arena = sources->arena;
	policy->sources = sources;
	policy->about = "";
	policy->language = 1;
	policy->level = SBX_LEVEL_MINIMAL;
	return policy;
}

static bool
is_param(const struct ast_stmt *stmt, const char *name)
{
	return stmt->kind == AST_PARAM && strcmp(stmt->name->text, name) == 0;
}

/* Whether any profile or group that was read has it, used here or not. */
static bool
has_param(const struct unfolding *unfolding, const char *name)
{
	const struct blocks *blocks = &unfolding->blocks;

	for (size_t i = 0; i < blocks->names.count; i++) {
		if (is_param(blocks->names.items[i], name))
			return true;
	}
	for (size_t i = 0; i < blocks->all.count; i++) {
		for (const struct ast_stmt *stmt =
			 blocks->all.items[i]->stmt->body;
		     stmt != NULL; stmt = stmt->next) {
			if (is_param(stmt, name))
				return true;
		}
	}
	return false;
}

static const char *
params_text(const struct unfolding *unfolding)
{
	const char *text = "";

	for (size_t i = 0; i < unfolding->policy->params.count; i++)
		text = arena_printf(unfolding->arena, "%s %s", text,
		    unfolding->policy->params.items[i].name);
	if (*text == '\0')
		return "it has none; 'param NAME' declares one";
	return arena_printf(unfolding->arena, "it has:%s", text);
}

/* -D of what is no parameter is a slip that would otherwise go unnoticed. */
static void
check_definitions(struct unfolding *unfolding, const struct source *file)
{
	struct scope *scope = &unfolding->scope;

	for (size_t i = 0; i < scope->predefined_count; i++) {
		const char *name = scope->predefined[i].name;
		struct diag *diag;

		if (has_param(unfolding, name))
			continue;
		diag = diag_add(unfolding->diags, DIAG_BAD_DEFINITION,
		    file_loc(file),
		    "profile '%s' has no parameter '%s' to "
		    "define",
		    unfolding->policy->profile, name);
		diag_help(unfolding->diags, diag, "%s", params_text(unfolding));
	}
}

static void
unfold_chain(struct unfolding *unfolding, const struct chain *chain)
{
	for (size_t i = chain->blocks.count; i-- > 0;)
		gather(unfolding, chain->blocks.items[i], 0);
	declare_names(unfolding);
	for (size_t i = chain->blocks.count; i-- > 0;)
		unfold_layer(unfolding, chain->blocks.items[i]);
	unfold_settings(unfolding);
	keep_items(unfolding);
}

struct policy *
resolve_policy(struct sources *sources, struct diags *diags,
    const struct source *file, struct ast_stmt *stmts, const char *name,
    const struct definition *predefined, size_t predefined_count)
{
	struct unfolding unfolding = {
		.arena = sources->arena,
		.sources = sources,
		.diags = diags,
		.policy = policy_new(sources),
	};
	struct chain chain = { 0 };
	size_t errors = diags->errors;
	struct block *profile;

	blocks_init(&unfolding.blocks, sources, diags);
	blocks_add(&unfolding.blocks, stmts);
	profile = wanted_profile(&unfolding, file, stmts, name);
	if (profile == NULL || !find_chain(&unfolding, profile, &chain))
		return NULL;
	unfolding.policy->profile = profile->name;
	unfolding.policy->profile_loc = profile->stmt->name->loc;
	scope_init(&unfolding.scope, unfolding.policy, diags);
	unfolding.scope.predefined = predefined;
	unfolding.scope.predefined_count = predefined_count;
	unfold_chain(&unfolding, &chain);
	check_definitions(&unfolding, file);
	report_unused(&unfolding, stmts);
	return diags->errors > errors ? NULL : unfolding.policy;
}
