/*
 * See read.h.  A text is scanned as YAML reads it.  Then what was found
 * gets its place in the file, where escapes and indentation stand between; or,
 * where lines are folded, the place of the whole text.
 */
#include "compiler/read/read.h"

#include "compiler/base/base.h"
#include "grammar/grammar.h"
#include "grammar/policy.h"

#include <string.h>

struct reader {
	struct arena *arena;
	struct diags *diags;
	const struct source *source;
};

static const char *const file_keys[] = { "sbx", "rules", "groups", "profiles" };
static const char *const profile_keys[] = { "extends", "about", "rules",
	"from" };

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
		"---",
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

static void
report_no_version(struct reader *reader, const struct yaml_node *root)
{
	bool test = yaml_find(root, "sbx-test") != NULL;
	struct loc loc = root->kind == YAML_MAP && root->first != NULL ?
	    root->first->key->loc :
	    root->loc;
	struct diag *diag = diag_add(reader->diags, DIAG_VERSION_MISSING, loc,
	    "the file has no key 'sbx'");

	if (test)
		diag_help(diag, "a file of cases is for 'sbxc test'");
	else if (root->kind == YAML_TEXT && strncmp(root->text, "sbx ", 4) == 0)
		diag_help(diag, "a policy that is no YAML is called NAME.sbx");
	else
		diag_help(diag, "this sbxc reads policies with 'sbx: %d'",
		    PARSER_LANGUAGE);
}

/* A file in another version of the language has no meaning here. */
static bool
read_version(struct reader *reader, const struct yaml_node *root,
    struct ast_body *body)
{
	const struct yaml_node *value = yaml_find(root, "sbx");
	struct ast_stmt *stmt;
	struct diag *diag;

	if (value == NULL) {
		report_no_version(reader, root);
		return false;
	}
	if (value->kind != YAML_TEXT || strcmp(value->text, "1") != 0) {
		diag = diag_add(reader->diags, DIAG_VERSION_UNKNOWN, value->loc,
		    "the policy needs an sbxc that reads 'sbx: %s'",
		    value->kind == YAML_TEXT ? value->text : "...");
		diag_help(diag, "this sbxc reads 'sbx: %d'", PARSER_LANGUAGE);
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

/* --- statements ----------------------------------------------------------- */

/* Where the bytes of a text stand in the file, of which YAML has taken escapes
 * and indentation away. */
struct places {
	uint32_t base;         /* of the text that was scanned */
	const uint32_t *bytes; /* NULL: all of it is at `whole` */
	size_t len;
	struct loc whole;
};

/* The bytes of the file that make the next byte of the text; 0: not known. */
static size_t
width_of(const char *raw, char quote, char c)
{
	if (quote == '"' && *raw == '\\' && strchr("\"\\/nt", raw[1]) != NULL)
		return 2;
	if (quote == '\'' && *raw == '\'')
		return 2;
	return *raw == c;
}

static const uint32_t *
places_find(const struct reader *reader, const struct yaml_node *node,
    size_t len)
{
	const char *text = reader->source->text;
	uint32_t *bytes = arena_alloc(reader->arena, (len + 1) * sizeof *bytes);
	size_t at = node->loc.begin - reader->source->base, width;
	char quote = text[at - (at > 0)];

	if (quote != '"' && quote != '\'' && text[at] == '|')
		at += strcspn(text + at, "\n") + 1;
	for (size_t i = 0; i < len; i++) {
		if (node->text[i] != ' ')
			at += strspn(text + at, " ");
		width = width_of(text + at, quote, node->text[i]);
		if (width == 0)
			return NULL;
		bytes[i] = reader->source->base + (uint32_t)at;
		at += width;
	}
	bytes[len] = reader->source->base + (uint32_t)at;
	return bytes;
}

static void
move(const struct places *places, struct loc *loc)
{
	if (loc->begin == 0)
		return;
	if (places->bytes == NULL) {
		*loc = places->whole;
		return;
	}
	if (loc->end - places->base > places->len)
		bug("a place of a statement lies outside of its text");
	loc->begin = places->bytes[loc->begin - places->base];
	loc->end = places->bytes[loc->end - places->base];
}

static void
move_list(const struct places *places, struct ast_list *list)
{
	move(places, &list->loc);
	for (struct ast_atom *atom = list->first; atom != NULL;
	     atom = atom->next)
		move(places, &atom->loc);
}

static void
move_stmts(const struct places *places, struct ast_stmt *stmt)
{
	for (; stmt != NULL; stmt = stmt->next) {
		struct ast_atom *const atoms[] = { stmt->name, stmt->parent,
			stmt->from };

		move(places, &stmt->loc);
		for (size_t i = 0; i < countof(atoms); i++) {
			if (atoms[i] != NULL)
				move(places, &atoms[i]->loc);
		}
		move_list(places, &stmt->words);
		move_list(places, &stmt->objects);
		move_list(places, &stmt->exclusions);
		move_list(places, &stmt->use);
		move_stmts(places, stmt->body);
	}
}

static bool
stands_as_it_is(const struct reader *reader, const struct yaml_node *node,
    size_t len)
{
	return node->loc.end - node->loc.begin == len &&
	    memcmp(node->text,
		reader->source->text + (node->loc.begin - reader->source->base),
		len) == 0;
}

static void
read_statement(struct reader *reader, const struct yaml_node *node,
    struct ast_body *body)
{
	size_t len = strlen(node->text), first = reader->diags->records.count;
	size_t errors = reader->diags->errors;
	bool as_it_is = stands_as_it_is(reader, node, len);
	/* What YAML reads is never longer than how it is written. */
	const struct source alone = {
		.shown = reader->source->shown,
		.text = node->text,
		.size = (uint32_t)len,
		.base = node->loc.begin,
	};
	struct parser parser = {
		.diags = reader->diags,
		.arena = reader->arena,
		.source = as_it_is ? reader->source : &alone,
		.place = node->loc.begin,
		.started = true,
	};
	struct places places = { .base = node->loc.begin,
		.len = len,
		.whole = node->loc };

	parser_start(&parser, node->text, len);
	sbx_yyparse(&parser);
	if (!as_it_is) {
		places.bytes = places_find(reader, node, len);
		move_stmts(&places, parser.body.first);
		for (size_t i = first; i < reader->diags->records.count; i++) {
			move(&places, &reader->diags->records.items[i].loc);
			move(&places,
			    &reader->diags->records.items[i].note_loc);
		}
	}
	if (parser.body.first == NULL && reader->diags->errors == errors)
		diag_add(reader->diags, DIAG_YAML_SHAPE, node->loc,
		    "expected a statement, found none");
	if (parser.body.first != NULL) {
		ast_body_add(body, parser.body.first);
		body->last = parser.body.last;
	}
}

/* A list of statements, or nothing. */
static void
read_statements(struct reader *reader, const struct yaml_node *list,
    struct ast_body *body)
{
	if (yaml_is_nothing(list))
		return;
	if (list->kind != YAML_LIST) {
		yaml_report_kind(reader->diags, list, "a list of statements");
		return;
	}
	for (const struct yaml_node *item = list->first; item != NULL;
	     item = item->next) {
		if (item->kind == YAML_TEXT && !yaml_is_nothing(item))
			read_statement(reader, item, body);
		else
			diag_help(yaml_report_kind(reader->diags, item,
				      "a statement"),
			    "a statement is one text, in quotes where YAML "
			    "wants them: - \"deny read { /srv/a /srv/b }\"");
	}
}

/* --- groups and profiles -------------------------------------------------- */

static bool
is_text(struct reader *reader, const struct yaml_node *node, const char *wanted)
{
	if (node->kind == YAML_TEXT && !yaml_is_nothing(node))
		return true;
	yaml_report_kind(reader->diags, node, wanted);
	return false;
}

/* A name that a policy makes, or NULL after reporting. */
static struct ast_atom *
read_name(struct reader *reader, const struct yaml_node *node)
{
	struct parser parser = {
		.diags = reader->diags,
		.arena = reader->arena,
		.source = reader->source,
	};
	size_t errors = reader->diags->errors;
	struct ast_atom *atom;

	if (!is_text(reader, node, "a name"))
		return NULL;
	atom = ast_atom(reader->arena, AST_WORD, node->loc, node->text,
	    strlen(node->text));
	if (word_is_keyword(node->text))
		diag_help(diag_add(reader->diags, DIAG_BAD_NAME, node->loc,
			      "'%s' cannot be a name", node->text),
		    "a keyword cannot be a name");
	else
		parser_name(&parser, atom);
	return reader->diags->errors > errors ? NULL : atom;
}

static struct ast_atom *
read_text(struct reader *reader, const struct yaml_node *node)
{
	if (!is_text(reader, node, "text"))
		return NULL;
	return token_quoted(reader->arena, node->loc, node->text,
	    strlen(node->text));
}

/* "deny read" and "include" begin statements, which are no keys. */
static void
report_key(struct reader *reader, const struct yaml_node *key,
    const char *const *keys, size_t count)
{
	const char *word = arena_strndup(reader->arena, key->text,
	    strcspn(key->text, " "));

	if (word_is_keyword(word) && strcmp(word, "group") != 0 &&
	    strcmp(word, "profile") != 0)
		diag_help(diag_add(reader->diags, DIAG_MISPLACED, key->loc,
			      "'%s' cannot stand beside 'rules'", key->text),
		    "statements are texts in the list 'rules'");
	else
		yaml_report_key(reader->diags, key, keys, count);
}

/* `about` comes first in the body. */
static void
read_profile(struct reader *reader, struct ast_stmt *stmt,
    const struct yaml_node *map, struct ast_body *body)
{
	const struct yaml_node *about = yaml_find(map, "about");
	struct ast_stmt *first;

	if (about != NULL) {
		first = ast_stmt(reader->arena, AST_ABOUT,
		    (struct loc){ about->key->loc.begin, about->loc.end });
		first->name = read_text(reader, about);
		if (first->name != NULL)
			ast_body_add(body, first);
	}
	for (const struct yaml_node *entry = map->first; entry != NULL;
	     entry = entry->next) {
		const char *key = entry->key->text;

		if (strcmp(key, "extends") == 0)
			stmt->parent = read_name(reader, entry);
		else if (strcmp(key, "rules") == 0)
			read_statements(reader, entry, body);
		else if (strcmp(key, "from") == 0)
			stmt->from = read_text(reader, entry);
		else if (entry != about)
			report_key(reader, entry->key, profile_keys,
			    countof(profile_keys));
	}
}

static void
read_blocks(struct reader *reader, const struct yaml_node *map,
    enum ast_kind kind, struct ast_body *body)
{
	if (yaml_is_nothing(map))
		return;
	if (map->kind != YAML_MAP) {
		yaml_report_kind(reader->diags, map,
		    kind == AST_PROFILE ? "a map of profiles" :
					  "a map of groups");
		return;
	}
	for (const struct yaml_node *entry = map->first; entry != NULL;
	     entry = entry->next) {
		struct ast_stmt *stmt = ast_stmt(reader->arena, kind,
		    entry->key->loc);
		struct ast_body inner = { .first = NULL };

		stmt->name = read_name(reader, entry->key);
		if (kind == AST_PROFILE && entry->kind == YAML_MAP)
			read_profile(reader, stmt, entry, &inner);
		else
			read_statements(reader, entry, &inner);
		stmt->body = inner.first;
		if (stmt->name != NULL)
			ast_body_add(body, stmt);
	}
}

/* --- the file ------------------------------------------------------------- */

struct ast_stmt *
yaml_policy_read(struct sources *sources, struct diags *diags,
    const struct source *source)
{
	struct reader reader = {
		.arena = sources->arena,
		.diags = diags,
		.source = source,
	};
	const struct yaml_node *root = yaml_read(sources, diags, source);
	struct ast_body body = { .first = NULL };

	if (root == NULL || !read_version(&reader, root, &body))
		return NULL;
	for (const struct yaml_node *entry = root->first; entry != NULL;
	     entry = entry->next) {
		const char *key = entry->key->text;

		if (strcmp(key, "rules") == 0)
			read_statements(&reader, entry, &body);
		else if (strcmp(key, "groups") == 0)
			read_blocks(&reader, entry, AST_GROUP_DEF, &body);
		else if (strcmp(key, "profiles") == 0)
			read_blocks(&reader, entry, AST_PROFILE, &body);
		else if (strcmp(key, "sbx") != 0)
			report_key(&reader, entry->key, file_keys,
			    countof(file_keys));
	}
	return body.first;
}
