/* See tree.h. */
#include "compiler/write/tree.h"

#include "compiler/base/map.h"
#include "compiler/read/yaml_form.h"
#include "compiler/tables/words.h"
#include "grammar/token.h"

#include <string.h>

/* --- statements as a tree ------------------------------------------------- */

static struct yaml_node *
tree_text(struct arena *arena, const char *text)
{
	struct yaml_node *node = arena_alloc(arena, sizeof *node);

	node->text = text;
	return node;
}

static struct yaml_node *
tree_new(struct arena *arena, enum yaml_kind kind)
{
	struct yaml_node *node = arena_alloc(arena, sizeof *node);

	node->kind = kind;
	return node;
}

static void
tree_put(struct arena *arena, struct yaml_node *map, const char *key,
    struct yaml_node *value)
{
	value->key = tree_text(arena, key);
	yaml_add(map, value);
}

static struct yaml_node *
tree_pair(struct arena *arena, const char *key, struct yaml_node *value)
{
	struct yaml_node *map = tree_new(arena, YAML_MAP);

	tree_put(arena, map, key, value);
	return map;
}

/* Whether the text alone is read as this atom again. */
static bool
is_text(struct arena *arena, const struct ast_atom *atom, const char *text,
    bool value)
{
	const struct ast_atom *read;

	/* A path that a program made is as good as quoted. */
	if (atom->kind == AST_PATH && !value && strpbrk(text, "*?[") != NULL &&
	    (atom->quoted || atom->loc.begin == 0))
		return false;
	read = value ? token_value(arena, text) :
		       token_object(arena, text, NULL);
	return read != NULL && read->kind == atom->kind;
}

static struct yaml_node *
tree_atom(struct arena *arena, const struct ast_atom *atom, bool value)
{
	const char *text = atom->kind != AST_GROUP ?
	    atom->text :
	    arena_printf(arena, "@%s", atom->text);

	if (atom->kind != AST_GLOB && is_text(arena, atom, text, value))
		return tree_text(arena, text);
	return tree_pair(arena, atom->kind == AST_GLOB ? "glob" : "quoted",
	    tree_text(arena, text));
}

/* A list of one word stays a list: alone it would be one of the words. */
static struct yaml_node *
tree_objects(struct arena *arena, const struct ast_list *list)
{
	struct yaml_node *items = tree_new(arena, YAML_LIST);

	if (list->first == list->last && list->first->kind != AST_WORD)
		return tree_atom(arena, list->first, false);
	for (const struct ast_atom *atom = list->first; atom != NULL;
	     atom = atom->next)
		yaml_add(items, tree_atom(arena, atom, false));
	return items;
}

static const char *
add_word(struct arena *arena, const char *text, const char *word)
{
	return *text == '\0' ? word : arena_printf(arena, "%s %s", text, word);
}

/* The words up to, and without, `end`. */
static const char *
join_words(struct arena *arena, const char *text, const struct ast_list *list,
    const struct ast_atom *end)
{
	for (const struct ast_atom *atom = list->first;
	     atom != NULL && atom != end; atom = atom->next)
		text = add_word(arena, text, atom->text);
	return text;
}

/* Whether the last word is an object: `deny syscalls ptrace`. */
static bool
ends_with_object(const struct ast_list *list)
{
	const char *words[WHAT_WORDS + 1];
	size_t count = 0, used;

	for (const struct ast_atom *atom = list->first;
	     atom != NULL && count <= WHAT_WORDS; atom = atom->next)
		words[count++] = atom->text;
	return count <= WHAT_WORDS + 1 && count > 1 &&
	    what_match(words, count, &used) != NULL && used == count - 1;
}

static struct yaml_node *
tree_rule(struct arena *arena, const struct ast_stmt *stmt)
{
	const char *drop = stmt->drop ? "drop" : "";
	const char *text = ast_has_effect(stmt) ?
	    add_word(arena, drop, effect_word(stmt->effect)) :
	    drop;
	struct yaml_node *map = tree_new(arena, YAML_MAP);
	bool alone = stmt->exclusions.first == NULL && stmt->from == NULL;

	if (stmt->objects.first != NULL)
		tree_put(arena, map,
		    join_words(arena, text, &stmt->words, NULL),
		    tree_objects(arena, &stmt->objects));
	else if (alone && !ends_with_object(&stmt->words))
		return tree_text(arena,
		    join_words(arena, text, &stmt->words, NULL));
	else
		tree_put(arena, map,
		    join_words(arena, text, &stmt->words, stmt->words.last),
		    tree_text(arena, stmt->words.last->text));
	if (stmt->exclusions.first != NULL)
		tree_put(arena, map, "except",
		    tree_objects(arena, &stmt->exclusions));
	return map;
}

/* Variables that are set one after the other share a map. */
struct set_run {
	const struct ast_stmt *last; /* or NULL */
	struct yaml_node *map;
	struct map names; /* a map has each once */
};

static bool
set_run_add(struct arena *arena, struct set_run *run,
    const struct ast_stmt *stmt)
{
	const char *name = stmt->name->text;

	if (run->last == NULL || run->last->next != stmt ||
	    stmt->from != NULL || run->last->from != NULL ||
	    run->last->words.first->text != stmt->words.first->text ||
	    map_find(&run->names, name) != NULL)
		return false;
	tree_put(arena, run->map, name,
	    tree_atom(arena, stmt->objects.first, true));
	run->map->last->loc = stmt->loc;
	map_put(arena, &run->names, name, run);
	run->last = stmt;
	return true;
}

static void
set_run_open(struct arena *arena, struct set_run *run,
    const struct ast_stmt *stmt, struct yaml_node *pair)
{
	*run = (struct set_run){
		.last = stmt,
		.map = pair->first,
	};
	map_put(arena, &run->names, stmt->name->text, run);
}

static struct yaml_node *tree_body(struct arena *arena,
    const struct ast_stmt *stmts);

static struct yaml_node *
tree_stmt(struct arena *arena, const struct ast_stmt *stmt)
{
	const struct yaml_form *form = yaml_form_of(stmt->kind);
	const char *name = stmt->name != NULL ? stmt->name->text : "";
	const char *key = join_words(arena, form->word, &stmt->words, NULL);
	struct yaml_node *value = NULL;

	if (stmt->drop && stmt->kind != AST_RULE)
		return tree_pair(arena, add_word(arena, "drop", key),
		    tree_text(arena, name));
	switch (form->shape) {
	case SHAPE_RULE:
		return tree_rule(arena, stmt);
	case SHAPE_TEXT:
	case SHAPE_TEXTS:
	case SHAPE_NAMES:
		value = tree_text(arena, name);
		break;
	case SHAPE_LETS:
		value = tree_pair(arena, name,
		    tree_objects(arena, &stmt->objects));
		break;
	case SHAPE_VARIABLES:
		value = tree_pair(arena, name,
		    tree_atom(arena, stmt->objects.first, true));
		break;
	case SHAPE_VALUE:
		key = join_words(arena, form->word, &stmt->words,
		    stmt->words.last);
		value = tree_atom(arena, stmt->words.last, false);
		break;
	case SHAPE_BODY:
		key = join_words(arena, form->word, &stmt->objects, NULL);
		__attribute__((fallthrough));
	case SHAPE_BLOCKS:
		value = tree_body(arena, stmt->body);
		break;
	}
	return tree_pair(arena, key, value);
}

static struct yaml_node *
tree_body(struct arena *arena, const struct ast_stmt *stmts)
{
	struct yaml_node *list = tree_new(arena, YAML_LIST);
	struct set_run run = { .last = NULL };

	for (const struct ast_stmt *stmt = stmts; stmt != NULL;
	     stmt = stmt->next) {
		struct yaml_node *node;

		if (stmt->kind == AST_SET && !stmt->drop &&
		    set_run_add(arena, &run, stmt))
			continue;
		node = tree_stmt(arena, stmt);
		if (stmt->kind == AST_SET && !stmt->drop)
			set_run_open(arena, &run, stmt, node);
		if (stmt->from != NULL)
			tree_put(arena, node, "from",
			    tree_text(arena, stmt->from->text));
		node->loc = stmt->loc;
		yaml_add(list, node);
	}
	return list;
}

static struct yaml_node *
tree_profile(struct arena *arena, const struct ast_stmt *stmt)
{
	const struct ast_stmt *body = stmt->body;
	struct yaml_node *map = tree_new(arena, YAML_MAP);

	if (stmt->parent != NULL)
		tree_put(arena, map, "extends",
		    tree_text(arena, stmt->parent->text));
	if (stmt->from != NULL)
		tree_put(arena, map, "from",
		    tree_text(arena, stmt->from->text));
	if (body != NULL && body->kind == AST_ABOUT) {
		tree_put(arena, map, "about",
		    tree_text(arena, body->name->text));
		body = body->next;
	}
	tree_put(arena, map, "rules", tree_body(arena, body));
	return map;
}

/* --- files as a tree ------------------------------------------------------ */

/* The map that is being filled, and the entry of it that takes statements of
 * one kind. */
struct tree_file {
	struct arena *arena;
	struct yaml_node *maps, *map, *section;
	enum ast_kind kind; /* of the section; AST_VERSION takes none */
	struct map names;   /* in the section: a map has each once */
};

static bool
is_list(enum ast_kind kind)
{
	enum yaml_shape shape = yaml_form_of(kind)->shape;

	return shape == SHAPE_TEXTS || shape == SHAPE_NAMES;
}

static void
section_open(struct tree_file *file, enum ast_kind kind)
{
	const char *key = yaml_form_of(kind)->word;

	if (file->map == NULL || yaml_find(file->map, key) != NULL) {
		file->map = tree_new(file->arena, YAML_MAP);
		yaml_add(file->maps, file->map);
	}
	file->kind = kind;
	file->names = (struct map){ 0 };
	if (kind == AST_VERSION)
		return;
	file->section = tree_new(file->arena,
	    is_list(kind) ? YAML_LIST : YAML_MAP);
	tree_put(file->arena, file->map, key, file->section);
}

static void
section_add(struct tree_file *file, const struct ast_stmt *stmt)
{
	struct arena *arena = file->arena;
	const char *name = stmt->name->text;
	struct yaml_node *node;

	map_put(arena, &file->names, name, file);
	if (is_list(stmt->kind)) {
		node = tree_text(arena, name);
		yaml_add(file->section, node);
	} else {
		node = stmt->kind == AST_LET ?
		    tree_objects(arena, &stmt->objects) :
		    stmt->kind == AST_PROFILE ? tree_profile(arena, stmt) :
						tree_body(arena, stmt->body);
		tree_put(arena, file->section, name, node);
	}
	node->loc = stmt->loc;
}

const struct yaml_node *
write_tree(struct arena *arena, const struct ast_stmt *stmts)
{
	struct tree_file file = {
		.arena = arena,
		.maps = tree_new(arena, YAML_LIST),
		.kind = AST_VERSION,
	};

	for (const struct ast_stmt *stmt = stmts; stmt != NULL;
	     stmt = stmt->next) {
		bool version = stmt->kind == AST_VERSION;

		if (!yaml_form_of(stmt->kind)->in_file)
			continue;
		if (version || stmt->kind != file.kind ||
		    (file.section->kind == YAML_MAP &&
			map_find(&file.names, stmt->name->text) != NULL))
			section_open(&file, stmt->kind);
		if (!version) {
			section_add(&file, stmt);
			continue;
		}
		tree_put(arena, file.map, "sbx",
		    tree_text(arena, stmt->words.first->text));
		file.map->last->loc = stmt->loc;
	}
	return file.maps->count == 1 ? file.maps->first : file.maps;
}
