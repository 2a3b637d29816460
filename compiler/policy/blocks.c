/*
 * See policy.h.  A name of a shipped profile or group means the shipped one
 * everywhere, so that a reviewer who reads `extends workspace-write` need not
 * look further.  A file that is that shipped file, byte by byte, may use its
 * names, so that profiles/ itself compiles; and a dump may, which can be
 * compiled and not extended.
 */
#include "compiler/policy/policy.h"
#include "compiler/read/read.h"

#include "compiler/base/base.h"

#include <string.h>

static const char groups_file[] = "groups.sbx";

void
blocks_enter(struct blocks *blocks, struct block *block)
{
	if (!block->entered)
		*arena_push(blocks->arena, &blocks->entered) = block;
	block->entered = true;
	block->busy = true;
}

void
blocks_reset(struct blocks *blocks)
{
	for (size_t i = 0; i < blocks->entered.count; i++) {
		struct block *block = blocks->entered.items[i];

		block->entered = false;
		block->busy = false;
		block->gathered = false;
		block->layer = 0;
	}
	blocks->entered.count = 0;
}

static const char *
profile_file(struct arena *arena, const char *profile)
{
	return arena_printf(arena, "%s.sbx", profile);
}

static bool
is_shipped_text(const struct source *source, const char *file)
{
	size_t size;
	const char *text = builtin_text(file, &size);

	return text != NULL && size == source->size &&
	    memcmp(text, source->text, size) == 0;
}

static void
report_shipped(struct blocks *blocks, const struct block *block)
{
	struct diag *diag = diag_add(blocks->diags, DIAG_SHIPPED_NAME,
	    block->stmt->name->loc, "'%s' is the name of a shipped %s",
	    block->name, block->group ? "group" : "profile");

	blocks->faulty = true;
	if (block->group)
		diag_help(diag, "choose another name");
	else
		diag_help(diag, "'profile my-%s extends %s' builds on it",
		    block->name, block->name);
}

/* The file of the shipped profile that has the name of this one, or NULL. */
static const char *
shipped_file(struct blocks *blocks, const struct block *block)
{
	const char *file = profile_file(blocks->arena, block->name);
	size_t size;

	return block->group || builtin_text(file, &size) == NULL ||
		strcmp(file, groups_file) == 0 ?
	    NULL :
	    file;
}

static void
report_duplicate(struct blocks *blocks, const struct block *old,
    const struct block *new)
{
	struct diag *diag = diag_add(blocks->diags, DIAG_DUPLICATE_NAME,
	    new->stmt->name->loc, "duplicate %s '%s'",
	    new->group ? "group" : "profile", new->name);

	blocks->faulty = true;
	diag_note(diag, old->stmt->name->loc, "it is first defined here");
}

/* Two blocks of one name: says which one stands, or reports them. */
static struct block *
settle_names(struct blocks *blocks, struct block *old, struct block *new)
{
	struct block *copy = old->source->builtin ? new : old;

	if (old->source->builtin && new->source->builtin)
		return old;
	if (!old->source->builtin && !new->source->builtin) {
		report_duplicate(blocks, old, new);
		return old;
	}
	if (!is_shipped_text(copy->source,
		copy->group ? groups_file :
			      profile_file(blocks->arena, copy->name)))
		report_shipped(blocks, copy);
	return copy;
}

static void
add_copy(struct blocks *blocks, struct block *block)
{
	const struct block *old = map_find(&blocks->copies, block->name);

	*arena_push(blocks->arena, &blocks->all) = block;
	if (old != NULL)
		report_duplicate(blocks, old, block);
	map_put(blocks->arena, &blocks->copies, block->name, block);
}

static void
add_block(struct blocks *blocks, const struct ast_stmt *stmt)
{
	bool group = stmt->kind == AST_GROUP_DEF;
	struct map *map = group ? &blocks->groups : &blocks->profiles;
	struct block *block = arena_alloc(blocks->arena, sizeof *block), *old;
	const char *file;

	block->stmt = stmt;
	block->name = stmt->name->text;
	block->group = group;
	block->source = sources_find(blocks->sources, stmt->name->loc);
	/*
	 * A dump of a shipped profile is marked as one, so it may have the
	 * name.  It can be compiled; whoever extends the name gets the shipped
	 * one all the same.
	 */
	if (block->stmt->from != NULL && !block->source->builtin &&
	    shipped_file(blocks, block) != NULL) {
		add_copy(blocks, block);
		return;
	}
	file = shipped_file(blocks, block);
	if (file != NULL && !block->source->builtin &&
	    !is_shipped_text(block->source, file)) {
		report_shipped(blocks, block);
		return;
	}
	*arena_push(blocks->arena, &blocks->all) = block;
	old = map_find(map, block->name);
	if (old != NULL)
		block = settle_names(blocks, old, block);
	map_put(blocks->arena, map, block->name, block);
}

static void
add_stmts(struct blocks *blocks, const struct ast_stmt *stmts)
{
	for (const struct ast_stmt *stmt = stmts; stmt != NULL;
	     stmt = stmt->next) {
		switch (stmt->kind) {
		case AST_INCLUDE:
			add_stmts(blocks, stmt->included);
			break;
		case AST_LET:
		case AST_PARAM:
			*arena_push(blocks->arena, &blocks->names) = stmt;
			break;
		case AST_GROUP_DEF:
		case AST_PROFILE:
			add_block(blocks, stmt);
			break;
		case AST_VERSION:
		case AST_USE:
		case AST_ABOUT:
		case AST_RULE:
		case AST_REQUIRE:
		case AST_LIMIT:
		case AST_SET:
		case AST_ON:
			break;
		}
	}
}

/* Parses a shipped file; its own includes are shipped files too. */
static void
load_shipped(struct blocks *blocks, const char *file, struct loc wanted_at)
{
	size_t size;
	const char *text = builtin_text(file, &size);
	const char *name = arena_printf(blocks->arena, "sbx:%s", file);
	struct source *source;

	if (text == NULL)
		return;
	source = sources_add(blocks->sources, name, text, size, wanted_at);
	if (source == NULL) {
		diag_add(blocks->diags, DIAG_TOO_MANY, wanted_at,
		    "too many files to add '%s'", name);
		return;
	}
	source->builtin = true;
	add_stmts(blocks, ast_parse(blocks->sources, blocks->diags, source));
}

static void
load_shipped_groups(struct blocks *blocks, struct loc wanted_at)
{
	if (blocks->shipped_groups)
		return;
	blocks->shipped_groups = true;
	load_shipped(blocks, groups_file, wanted_at);
}

struct blocks *
blocks_new(struct sources *sources, struct diags *diags,
    const struct ast_stmt *stmts)
{
	struct blocks *blocks = arena_alloc(sources->arena, sizeof *blocks);
	size_t i = 0;

	blocks->arena = sources->arena;
	blocks->sources = sources;
	blocks->diags = diags;
	add_stmts(blocks, stmts);
	while (i < blocks->all.count &&
	    (!blocks->all.items[i]->group ||
		blocks->all.items[i]->source->builtin))
		i++;
	if (i < blocks->all.count)
		load_shipped_groups(blocks, (struct loc){ 0 });
	return blocks;
}

struct block *
blocks_find(struct blocks *blocks, const char *name, bool group,
    struct loc wanted_at)
{
	struct map *map = group ? &blocks->groups : &blocks->profiles;
	struct block *block;

	name = arena_intern(blocks->arena, name, strlen(name));
	block = map_find(map, name);
	if (block != NULL)
		return block;
	if (group)
		load_shipped_groups(blocks, wanted_at);
	else
		load_shipped(blocks, profile_file(blocks->arena, name),
		    wanted_at);
	return map_find(map, name);
}

struct block *
blocks_wanted(struct blocks *blocks, const char *name)
{
	struct block *copy = map_find(&blocks->copies,
	    arena_intern(blocks->arena, name, strlen(name)));

	return copy != NULL ?
	    copy :
	    blocks_find(blocks, name, false, (struct loc){ 0 });
}

const char *
blocks_nearest(struct blocks *blocks, const char *name, bool group)
{
	VEC(const char *) names = { 0 };
	const char *file;

	for (size_t i = 0; i < blocks->all.count; i++) {
		if (blocks->all.items[i]->group == group)
			*arena_push(blocks->arena,
			    &names) = blocks->all.items[i]->name;
	}
	for (size_t i = 0; !group && (file = builtin_name(i)) != NULL; i++) {
		if (strcmp(file, groups_file) != 0)
			*arena_push(blocks->arena,
			    &names) = arena_strndup(blocks->arena, file,
			    strcspn(file, "."));
	}
	return nearest_name(name, names.items, names.count);
}

struct block *
blocks_get(struct blocks *blocks, const struct ast_atom *name, bool group)
{
	struct block *block = blocks_find(blocks, name->text, group, name->loc);
	struct diag *diag;

	if (block != NULL)
		return block;
	diag = diag_add(blocks->diags,
	    group ? DIAG_UNKNOWN_GROUP : DIAG_UNKNOWN_PROFILE, name->loc,
	    "unknown %s '%s'", group ? "group" : "profile", name->text);
	if (diags_may_guess(blocks->diags))
		diag_did_you_mean(diag,
		    blocks_nearest(blocks, name->text, group));
	if (blocks_find(blocks, name->text, !group, name->loc) != NULL)
		diag_help(diag,
		    group ? "'%s' is a profile: 'profile ... extends %s'" :
			    "'%s' is a group: 'use %s'",
		    name->text, name->text);
	return NULL;
}

static bool
is_param(const struct ast_stmt *stmt, const char *name)
{
	return stmt->kind == AST_PARAM && strcmp(stmt->name->text, name) == 0;
}

bool
blocks_have_param(const struct blocks *blocks, const char *name)
{
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
