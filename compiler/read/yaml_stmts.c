/*
 * See yaml_stmts.h.  A statement is a map with one key of a statement, and
 * `except` and `from` beside it; or the words of a rule that has no objects.
 *
 *	- prefer deny read: [ a, b ]	words "prefer deny read", objects a b
 *	  except: c			exclusions c
 *	- allow network full		words only
 *
 * The key is split into words, each with its own place.  The first one says
 * which statement it is, and a table who reads it.
 */
#include "compiler/read/yaml_stmts.h"

#include "compiler/base/names.h"
#include "compiler/read/yaml_atom.h"
#include "grammar/parser.h"

#include <string.h>

/* --- statements ----------------------------------------------------------- */

/* A text, or each text of a list. */
static void
each_text(struct policy_reader *reader, const struct yaml_entry *entry,
    enum ast_kind kind, struct ast_body *body,
    struct ast_atom *(*read)(struct policy_reader *, const struct yaml_node *))
{
	const struct yaml_node *item = entry->value;
	bool list = item->kind == YAML_LIST;

	if (list && item->first == NULL)
		yaml_report_kind(reader->diags, item, "a text");
	for (item = list ? item->first : item; item != NULL;
	     item = list ? item->next : NULL) {
		struct ast_atom *atom = read(reader, item);
		struct ast_stmt *stmt;

		if (atom == NULL)
			continue;
		stmt = entry_stmt(reader, entry, kind);
		if (list)
			stmt->loc = item->loc;
		stmt->name = atom;
		ast_body_add(body, stmt);
	}
}

static struct ast_atom *
read_string(struct policy_reader *reader, const struct yaml_node *node)
{
	if (!yaml_is_text(reader, node, "text"))
		return NULL;
	return yaml_string(reader->arena, node);
}

static void
read_use(struct policy_reader *reader, const struct yaml_entry *entry,
    struct ast_body *body)
{
	if (entry_is_bare(reader, entry, "use: NAME"))
		each_text(reader, entry, AST_USE, body, yaml_name);
}

static void
read_param(struct policy_reader *reader, const struct yaml_entry *entry,
    struct ast_body *body)
{
	if (entry_is_bare(reader, entry, "param: NAME"))
		each_text(reader, entry, AST_PARAM, body, yaml_name);
}

static void
read_include(struct policy_reader *reader, const struct yaml_entry *entry,
    struct ast_body *body)
{
	if (entry_is_bare(reader, entry, "include: FILE"))
		each_text(reader, entry, AST_INCLUDE, body, read_string);
}

static void
read_about(struct policy_reader *reader, const struct yaml_entry *entry,
    struct ast_body *body)
{
	struct ast_stmt *stmt;

	if (!entry_is_bare(reader, entry, "about: TEXT") ||
	    !yaml_is_text(reader, entry->value, "text"))
		return;
	stmt = entry_stmt(reader, entry, AST_ABOUT);
	stmt->name = yaml_string(reader->arena, entry->value);
	ast_body_add(body, stmt);
}

static void
read_let(struct policy_reader *reader, const struct yaml_entry *entry,
    struct ast_body *body)
{
	const struct yaml_node *name;

	if (!entry_is_bare(reader, entry, "let: { NAME: PATHS }"))
		return;
	name = entry_names(reader, entry->value, "a map of names");
	for (; name != NULL; name = name->next) {
		struct yaml_entry below = entry_below(entry, name);
		struct ast_stmt *stmt = entry_stmt(reader, &below, AST_LET);

		stmt->name = yaml_name(reader, name->key);
		if (stmt->name != NULL &&
		    entry_objects(reader, name, &stmt->objects))
			ast_body_add(body, stmt);
	}
}

/* The name of a variable may be a keyword, and any text in quotes. */
static struct ast_atom *
read_variable(struct policy_reader *reader, const struct yaml_node *key)
{
	enum ast_atom_kind kind;

	if (yaml_atom_kind(key->text, &kind) &&
	    (kind == AST_WORD || kind == AST_STRING))
		return entry_word(reader, key->loc, key->text);
	return yaml_string(reader->arena, key);
}

static void
read_set(struct policy_reader *reader, const struct yaml_entry *entry,
    struct ast_body *body)
{
	const struct ast_atom *word = entry->words.first;
	const struct yaml_node *name;

	if (!entry_has_one_word(reader, entry, "set env: { NAME: VALUE }"))
		return;
	name = entry_names(reader, entry->value, "a map of variables");
	for (; name != NULL; name = name->next) {
		struct yaml_entry below = entry_below(entry, name);
		struct ast_stmt *stmt = entry_stmt(reader, &below, AST_SET);
		struct ast_atom *value;

		ast_list_add(&stmt->words,
		    entry_word(reader, word->loc, word->text));
		stmt->name = read_variable(reader, name->key);
		value = yaml_value(reader->arena, reader->diags, name);
		if (value == NULL)
			continue;
		ast_list_add(&stmt->objects, value);
		ast_body_add(body, stmt);
	}
}

/* `require WORD: VALUE` and `limit WORD: VALUE`. */
static void
read_pair(struct policy_reader *reader, const struct yaml_entry *entry,
    struct ast_body *body, enum ast_kind kind, const char *form)
{
	struct ast_stmt *stmt;
	struct ast_atom *value;

	if (!entry_has_one_word(reader, entry, form))
		return;
	if (entry->value->kind == YAML_LIST) {
		yaml_report_kind(reader->diags, entry->value, "a value");
		return;
	}
	value = yaml_atom(reader->arena, reader->diags, entry->value);
	if (value == NULL || !yaml_is_no_glob(reader->diags, value))
		return;
	stmt = entry_stmt(reader, entry, kind);
	stmt->words = entry->words;
	ast_list_add(&stmt->words, value);
	ast_body_add(body, stmt);
}

static void
read_require(struct policy_reader *reader, const struct yaml_entry *entry,
    struct ast_body *body)
{
	read_pair(reader, entry, body, AST_REQUIRE, "require level: LEVEL");
}

static void
read_limit(struct policy_reader *reader, const struct yaml_entry *entry,
    struct ast_body *body)
{
	read_pair(reader, entry, body, AST_LIMIT, "limit timeout: 300s");
}

static void
read_on(struct policy_reader *reader, const struct yaml_entry *entry,
    struct ast_body *body)
{
	struct ast_stmt *stmt;

	if (entry->words.first == NULL) {
		entry_report_head(reader, entry, "on linux: [ ... ]");
		return;
	}
	if (!entry_has_plain_words(reader, entry, "on linux: [ ... ]"))
		return;
	stmt = entry_stmt(reader, entry, AST_ON);
	stmt->loc = entry->key->loc;
	stmt->objects = entry->words;
	stmt->body = yaml_body(reader, entry->value).first;
	ast_body_add(body, stmt);
}

/* A word alone is one of the words, as in `allow network full`. */
static bool
rule_objects(struct policy_reader *reader, const struct yaml_entry *entry,
    struct ast_stmt *stmt)
{
	if (entry->value == NULL || yaml_is_nothing(entry->value))
		return true;
	if (!entry_objects(reader, entry->value, &stmt->objects))
		return false;
	if (entry->value->kind == YAML_TEXT &&
	    stmt->objects.first->kind == AST_WORD) {
		ast_list_add(&stmt->words, stmt->objects.first);
		stmt->objects = (struct ast_list){ .first = NULL };
	}
	return true;
}

/* `words` are those of the whole key; `effect` has been taken off. */
static void
read_rule(struct policy_reader *reader, const struct yaml_entry *entry,
    struct ast_body *body, enum sbx_effect effect, bool drop)
{
	struct ast_stmt *stmt = entry_stmt(reader, entry, AST_RULE);

	stmt->effect = effect;
	stmt->drop = drop;
	stmt->words = entry->words;
	if (!entry_has_plain_words(reader, entry, "allow read: PATHS") ||
	    !rule_objects(reader, entry, stmt) ||
	    (entry->except != NULL &&
		!entry_objects(reader, entry->except, &stmt->exclusions)))
		return;
	if (stmt->words.first == NULL)
		entry_report_head(reader, entry, "allow read: PATHS");
	else
		ast_body_add(body, stmt);
}

/* What is left of the words begins with an effect. */
static void
read_effect(struct policy_reader *reader, struct yaml_entry *entry,
    struct ast_body *body, bool drop)
{
	enum sbx_effect effect = SBX_ALLOW;

	if (entry_take_word(&entry->words, "allow"))
		effect = SBX_ALLOW;
	else if (entry_take_word(&entry->words, "deny"))
		effect = SBX_DENY;
	else if (entry_take_word(&entry->words, "prefer") &&
	    entry_take_word(&entry->words, "deny"))
		effect = SBX_PREFER_DENY;
	else {
		entry_report_head(reader, entry,
		    drop ? "drop allow read: PATHS" :
			   "prefer deny read: PATHS");
		return;
	}
	read_rule(reader, entry, body, effect, drop);
}

/* --- the keys of statements ----------------------------------------------- */

enum { IN_FILE = 1, IN_BODY = 2, IS_RULE = 4, HAS_FROM = 8 };

static const struct head {
	const char *word;
	unsigned flags;
	void (*read)(struct policy_reader *reader,
	    const struct yaml_entry *entry, struct ast_body *body);
} heads[] = {
	{ "about", IN_BODY, read_about },
	{ "use", IN_BODY, read_use },
	{ "param", IN_FILE | IN_BODY | HAS_FROM, read_param },
	{ "let", IN_FILE | IN_BODY, read_let },
	{ "include", IN_FILE, read_include },
	{ "allow", IN_BODY | IS_RULE | HAS_FROM, NULL },
	{ "deny", IN_BODY | IS_RULE | HAS_FROM, NULL },
	{ "prefer", IN_BODY | IS_RULE | HAS_FROM, NULL },
	{ "drop", IN_BODY | IS_RULE, NULL },
	{ "require", IN_BODY | HAS_FROM, read_require },
	{ "limit", IN_BODY | HAS_FROM, read_limit },
	{ "set", IN_BODY | HAS_FROM, read_set },
	{ "on", IN_BODY, read_on },
};

static const struct head *
head_find(const char *word)
{
	for (size_t i = 0; i < countof(heads); i++) {
		if (strcmp(heads[i].word, word) == 0)
			return &heads[i];
	}
	return NULL;
}

static const char *
head_nearest(const char *word)
{
	const char *names[countof(heads)];

	for (size_t i = 0; i < countof(heads); i++)
		names[i] = heads[i].flags & IN_BODY ? heads[i].word : NULL;
	return nearest_name(word, names, countof(names));
}

static void
report_misplaced(struct policy_reader *reader, struct loc loc, const char *word,
    const char *platforms, const char *help)
{
	struct diag *diag = diag_add(reader->diags, DIAG_MISPLACED, loc,
	    "'%s' cannot stand %s", word, platforms);

	diag_help(reader->diags, diag, "%s", help);
}

/* Keys of a file, which are no statements. */
static bool
is_section(const char *word)
{
	static const char *const names[] = {
		"sbx",
		"include",
		"groups",
		"profiles",
		"group",
		"profile",
	};

	for (size_t i = 0; i < countof(names); i++) {
		if (strcmp(names[i], word) == 0)
			return true;
	}
	return false;
}

static const struct head *
head_get(struct policy_reader *reader, const struct ast_atom *word)
{
	const struct head *head = head_find(word->text);
	struct diag *diag;

	if (head != NULL && head->flags & IN_BODY)
		return head;
	if (is_section(word->text)) {
		report_misplaced(reader, word->loc, word->text,
		    "among statements", "put it at the level of the file");
		return NULL;
	}
	diag = diag_add(reader->diags, DIAG_UNKNOWN_STATEMENT, word->loc,
	    "unknown statement '%s'", word->text);
	diag_did_you_mean(reader->diags, diag, head_nearest(word->text));
	return NULL;
}

static void
read_head(struct policy_reader *reader, const struct head *head,
    struct yaml_entry *entry, struct ast_body *body)
{
	bool drop = entry_take_word(&entry->words, "drop");

	if (head->flags & IS_RULE) {
		read_effect(reader, entry, body, drop);
		return;
	}
	entry_take_word(&entry->words, head->word);
	if (entry->except != NULL) {
		report_misplaced(reader, entry->except->key->loc, "except",
		    "beside this statement", "only rules have an 'except'");
		return;
	}
	head->read(reader, entry, body);
}

/* --- entries -------------------------------------------------------------- */

/* A rule without objects: `allow network full`. */
static void
read_words(struct policy_reader *reader, const struct yaml_node *node,
    struct ast_body *body)
{
	struct key_words words = entry_words(reader, node);
	struct yaml_entry entry = {
		.key = node,
		.words = words.list,
		.loc = node->loc,
	};
	const struct head *head;

	if (words.list.first == NULL) {
		yaml_report_kind(reader->diags, node, "a statement");
		return;
	}
	head = head_get(reader, words.list.first);
	if (head == NULL)
		return;
	if (!words.good || !(head->flags & IS_RULE)) {
		diag_help(reader->diags,
		    diag_add(reader->diags, DIAG_YAML_SHAPE, node->loc,
			"a statement without a ':'"),
		    head->flags & IS_RULE ?
			"objects stand behind a ':', as in 'deny read: "
			"/srv/x'" :
			"it is a key and a value, as in '%s: ...'",
		    head->word);
		return;
	}
	read_head(reader, head, &entry, body);
}

static void
report_second(struct policy_reader *reader, const struct yaml_node *second,
    const struct yaml_node *first)
{
	struct diag *diag = diag_add(reader->diags, DIAG_YAML_SHAPE,
	    second->key->loc, "a second statement in one entry of the list");

	diag_help(reader->diags, diag,
	    "begin it with '- ': only 'except' "
	    "stands beside a rule");
	diag_note(reader->diags, diag, first->key->loc, "this is the first");
}

/* Sorts the keys of an entry; false after reporting. */
static bool
sort_keys(struct policy_reader *reader, const struct yaml_node *map,
    struct yaml_entry *entry)
{
	for (const struct yaml_node *part = map->first; part != NULL;
	     part = part->next) {
		if (strcmp(part->key->text, "except") == 0)
			entry->except = part;
		else if (strcmp(part->key->text, "from") == 0)
			entry->from = part;
		else if (entry->value == NULL)
			entry->value = part;
		else {
			report_second(reader, part, entry->value);
			return false;
		}
	}
	if (entry->value != NULL)
		return true;
	diag_help(reader->diags,
	    diag_add(reader->diags, DIAG_YAML_SHAPE, map->loc,
		"a statement without its key"),
	    "as in '- deny read: /srv/keys'");
	return false;
}

static bool
from_is_good(struct policy_reader *reader, const struct head *head,
    const struct yaml_entry *entry)
{
	if (entry->from == NULL)
		return true;
	if (head->flags & HAS_FROM)
		return yaml_is_text(reader, entry->from, "text");
	report_misplaced(reader, entry->from->key->loc, "from",
	    "beside this statement", "rules and settings can have it");
	return false;
}

static void
read_entry(struct policy_reader *reader, const struct yaml_node *map,
    struct ast_body *body)
{
	struct yaml_entry entry = { .value = NULL };
	struct key_words words;
	const struct head *head;

	if (!sort_keys(reader, map, &entry))
		return;
	entry.key = entry.value->key;
	entry.loc = (struct loc){ entry.key->loc.begin, map->loc.end };
	if (entry.key->loc.end > entry.loc.end)
		entry.loc.end = entry.key->loc.end;
	words = entry_words(reader, entry.key);
	entry.words = words.list;
	if (words.list.first == NULL) {
		yaml_report_key(reader->diags, entry.key, NULL, 0);
		return;
	}
	head = head_get(reader, words.list.first);
	if (head == NULL)
		return;
	if (!words.good)
		entry_report_head(reader, &entry, "deny read: OBJECTS");
	else if (from_is_good(reader, head, &entry))
		read_head(reader, head, &entry, body);
}

static void
report_no_list(struct policy_reader *reader, const struct yaml_node *node)
{
	struct diag *diag = yaml_report_kind(reader->diags, node,
	    "a list of statements");

	if (node->kind == YAML_MAP)
		diag_help(reader->diags, diag,
		    "each statement begins with '- '");
}

struct ast_body
yaml_body(struct policy_reader *reader, const struct yaml_node *node)
{
	struct ast_body body = { .first = NULL };

	if (yaml_is_nothing(node))
		return body;
	if (node->kind != YAML_LIST) {
		report_no_list(reader, node);
		return body;
	}
	if (reader->depth == PARSER_MAX_DEPTH) {
		diag_add(reader->diags, DIAG_TOO_DEEP, node->key->loc,
		    "blocks are nested more than %d deep", PARSER_MAX_DEPTH);
		return body;
	}
	reader->depth++;
	for (const struct yaml_node *item = node->first; item != NULL;
	     item = item->next) {
		if (item->kind == YAML_MAP)
			read_entry(reader, item, &body);
		else if (item->kind == YAML_TEXT)
			read_words(reader, item, &body);
		else
			yaml_report_kind(reader->diags, item, "a statement");
	}
	reader->depth--;
	return body;
}

/* --- for the level above -------------------------------------------------- */

bool
yaml_declaration(struct policy_reader *reader, const struct yaml_node *value,
    struct ast_body *body)
{
	const struct head *head = head_find(value->key->text);
	struct yaml_entry entry = entry_of(value);

	if (head == NULL || !(head->flags & IN_FILE))
		return false;
	head->read(reader, &entry, body);
	return true;
}

bool
yaml_is_statement(struct policy_reader *reader, const struct yaml_node *key)
{
	struct key_words words = entry_words(reader, key);
	const struct head *head = words.list.first == NULL ?
	    NULL :
	    head_find(words.list.first->text);

	return head != NULL && head->flags & IN_BODY;
}

void
yaml_about(struct policy_reader *reader, const struct yaml_node *value,
    struct ast_body *body)
{
	struct yaml_entry entry = entry_of(value);

	read_about(reader, &entry, body);
}
