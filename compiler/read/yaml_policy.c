/*
 * See yaml_policy.h.  This is the level of the file:
 *
 *	file        the keys sbx include let param groups profiles, or a list
 *	            of such maps where their order is to be kept
 *	groups      a map from names to lists of statements
 *	profiles    the same, or to maps with the keys extends about rules
 *
 * Order is that of the text, also in maps.
 */
#include "compiler/read/yaml_policy.h"

#include "compiler/read/yaml_problem.h"
#include "compiler/read/yaml_stmts.h"
#include "grammar/parser.h"

#include <string.h>

static const char *const profile_keys[] = { "extends", "about", "rules" };

/* --- which front end ------------------------------------------------------ */

static bool
has_suffix(const char *name, const char *suffix)
{
	size_t len = strlen(name), end = strlen(suffix);

	return len > end && strcmp(name + len - end, suffix) == 0;
}

/* No statement of a .sbx file begins like these. */
static bool
looks_like_yaml(const char *text)
{
	static const char *const starts[] = {
		"{",
		"[",
		"---",
		"- ",
		"%YAML",
		"sbx:",
		"\"sbx",
		"'sbx",
	};

	for (size_t i = 0; i < countof(starts); i++) {
		if (strncmp(text, starts[i], strlen(starts[i])) == 0)
			return true;
	}
	return false;
}

bool
yaml_policy_is(const struct source *source)
{
	const char *name = source->shown;

	if (has_suffix(name, ".yaml") || has_suffix(name, ".yml") ||
	    has_suffix(name, ".json"))
		return true;
	return !has_suffix(name, ".sbx") &&
	    looks_like_yaml(source_first_line(source));
}

/* --- the version ---------------------------------------------------------- */

static const struct yaml_node *
first_map(const struct yaml_node *root)
{
	return root->kind == YAML_LIST && root->first != NULL ? root->first :
								root;
}

static void
report_no_version(struct policy_reader *reader, const struct yaml_node *root)
{
	const struct yaml_node *map = first_map(root);
	bool test = yaml_find(map, "sbx-test") != NULL;
	struct loc loc = map->kind == YAML_MAP && map->first != NULL ?
	    map->first->key->loc :
	    map->loc;
	struct diag *diag = diag_add(reader->diags, DIAG_VERSION_MISSING, loc,
	    "the file has no key 'sbx'");

	if (test)
		diag_help(reader->diags, diag,
		    "a file of cases is for "
		    "'sbxc test'");
	else if (root->kind == YAML_TEXT && strncmp(root->text, "sbx ", 4) == 0)
		diag_help(reader->diags, diag,
		    "a policy that is no YAML is "
		    "called NAME.sbx");
	else
		diag_help(reader->diags, diag,
		    "this sbxc reads policies with 'sbx: %d'", PARSER_LANGUAGE);
}

/* A file in another version of the language has no meaning here. */
static bool
read_version(struct policy_reader *reader, const struct yaml_node *root,
    struct ast_body *body)
{
	const struct yaml_node *value = yaml_find(first_map(root), "sbx");
	struct ast_stmt *stmt;
	struct diag *diag;

	if (value == NULL) {
		report_no_version(reader, root);
		return false;
	}
	if (value->kind != YAML_TEXT || strcmp(value->text, "1") != 0) {
		diag = diag_add(reader->diags, DIAG_VERSION_UNKNOWN, value->loc,
		    "the policy needs an sbxc that reads "
		    "'sbx: %s'",
		    value->kind == YAML_TEXT ? value->text : "...");
		diag_help(reader->diags, diag, "this sbxc reads 'sbx: %d'",
		    PARSER_LANGUAGE);
		return false;
	}
	stmt = ast_stmt(reader->arena, AST_VERSION,
	    (struct loc){ value->key->loc.begin, value->loc.end });
	ast_list_add(&stmt->words,
	    ast_atom(reader->arena, AST_NUMBER, value->loc, value->text,
		strlen(value->text)));
	ast_body_add(body, stmt);
	return true;
}

/* --- groups and profiles -------------------------------------------------- */

static void
report_profile_key(struct policy_reader *reader, const struct yaml_node *key)
{
	if (yaml_is_statement(reader, key))
		diag_help(reader->diags,
		    diag_add(reader->diags, DIAG_MISPLACED, key->loc,
			"'%s' cannot stand beside 'rules'", key->text),
		    "statements are a list below 'rules': '- %s: ...'",
		    key->text);
	else
		yaml_report_key(reader->diags, key, profile_keys,
		    countof(profile_keys));
}

/* `extends`, `about`, which comes first in the body, and `rules`. */
static void
read_profile(struct policy_reader *reader, struct ast_stmt *stmt,
    const struct yaml_node *map)
{
	struct ast_body body = { .first = NULL };
	const struct yaml_node *about = yaml_find(map, "about");

	if (about != NULL)
		yaml_statement(reader, yaml_form_of(AST_ABOUT), about, &body);
	for (const struct yaml_node *entry = map->first; entry != NULL;
	     entry = entry->next) {
		const char *key = entry->key->text;

		if (entry == about)
			continue;
		if (strcmp(key, "extends") == 0)
			stmt->parent = yaml_name(reader, entry);
		else if (strcmp(key, "rules") == 0)
			ast_body_add(&body, yaml_body(reader, entry).first);
		else if (strcmp(key, "from") == 0)
			stmt->from = yaml_text(reader, entry);
		else
			report_profile_key(reader, entry->key);
	}
	stmt->body = body.first;
}

static void
read_block(struct policy_reader *reader, const struct yaml_node *entry,
    enum ast_kind kind, struct ast_body *body)
{
	struct ast_stmt *stmt = ast_stmt(reader->arena, kind, entry->key->loc);

	stmt->name = yaml_name(reader, entry->key);
	if (kind == AST_PROFILE && entry->kind == YAML_MAP)
		read_profile(reader, stmt, entry);
	else
		stmt->body = yaml_body(reader, entry).first;
	if (stmt->name != NULL)
		ast_body_add(body, stmt);
}

static void
read_blocks(struct policy_reader *reader, const struct yaml_node *map,
    const struct yaml_form *form, struct ast_body *body)
{
	if (yaml_is_nothing(map))
		return;
	if (map->kind != YAML_MAP) {
		yaml_report_kind(reader->diags, map,
		    arena_printf(reader->arena, "a map of %s", form->word));
		return;
	}
	for (const struct yaml_node *entry = map->first; entry != NULL;
	     entry = entry->next)
		read_block(reader, entry, form->kind, body);
}

/* --- the file ------------------------------------------------------------- */

static void
report_file_key(struct policy_reader *reader, const struct yaml_node *key)
{
	const char *words[YAML_FORMS];

	yaml_form_words(true, words);
	if (yaml_is_statement(reader, key))
		diag_help(reader->diags,
		    diag_add(reader->diags, DIAG_MISPLACED, key->loc,
			"'%s' cannot stand at the level of the file",
			key->text),
		    "statements are a list below 'rules' of a profile");
	else
		yaml_report_key(reader->diags, key, words, YAML_FORMS);
}

static void
read_map(struct policy_reader *reader, const struct yaml_node *map, bool first,
    struct ast_body *body)
{
	if (map->kind != YAML_MAP) {
		yaml_report_kind(reader->diags, map, "a map");
		return;
	}
	for (const struct yaml_node *entry = map->first; entry != NULL;
	     entry = entry->next) {
		const struct yaml_form *form = yaml_form_find(entry->key->text);

		if (form == NULL || !form->in_file)
			report_file_key(reader, entry->key);
		else if (form->shape == SHAPE_BLOCKS)
			read_blocks(reader, entry, form, body);
		else if (form->kind != AST_VERSION)
			yaml_statement(reader, form, entry, body);
		else if (!first)
			diag_add(reader->diags, DIAG_MISPLACED, entry->key->loc,
			    "'sbx' can only stand in the first map of a file");
	}
}

struct ast_stmt *
yaml_policy_read(struct sources *sources, struct diags *diags,
    const struct source *source)
{
	struct policy_reader reader = {
		.arena = sources->arena,
		.diags = diags,
		.source = source,
	};
	const struct yaml_node *root = yaml_read(sources, diags, source);
	struct ast_body body = { .first = NULL };

	if (root == NULL || !read_version(&reader, root, &body))
		return NULL;
	if (root->kind == YAML_MAP)
		read_map(&reader, root, true, &body);
	for (const struct yaml_node *map =
		 root->kind == YAML_LIST ? root->first : NULL;
	     map != NULL; map = map->next)
		read_map(&reader, map, map == root->first, &body);
	return body.first;
}
