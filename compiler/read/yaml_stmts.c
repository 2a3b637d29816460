/*
 * See yaml_stmts.h.  A statement is a map with one key of a statement, and
 * `except` and `from` beside it; or the words of a rule that has no objects.
 *
 *	- prefer deny read: [ a, b ]	words "prefer deny read", objects a b
 *	  except: c			exclusions c
 *	- allow network full		words only
 *
 * The key is split into words, each with its own place.  The first one says
 * which form the statement has, and a table which function reads it.
 */
#include "compiler/read/yaml_stmts.h"

#include "compiler/base/names.h"
#include "grammar/parser.h"
#include "grammar/token.h"

#include <string.h>

/* An entry of a list of statements, and its parts. */
struct entry {
	const struct yaml_form *form;
	const struct yaml_node *key;
	const struct yaml_node *value; /* NULL: the words are all of it */
	const struct yaml_node *except, *from;
	struct ast_list words; /* of the key, behind that of the form */
	bool good;             /* every word of the key is one */
	struct loc loc;
};

/* --- words of a key ------------------------------------------------------- */

/* Each word with its own place, if the text stands in the source as it is. */
static void
split_words(struct policy_reader *reader, struct entry *entry)
{
	const struct yaml_node *key = entry->key;
	const char *at = key->text;
	size_t len = strlen(at);
	bool as_is = key->loc.end - key->loc.begin == len &&
	    memcmp(at,
		reader->source->text + (key->loc.begin - reader->source->base),
		len) == 0;

	entry->good = true;
	for (at += strspn(at, " "); *at != '\0'; at += strspn(at, " ")) {
		struct loc loc = key->loc;
		struct ast_atom *atom;

		len = strcspn(at, " ");
		if (as_is) {
			loc.begin += (uint32_t)(at - key->text);
			loc.end = loc.begin + (uint32_t)len;
		}
		atom = ast_atom(reader->arena, AST_WORD, loc, at, len);
		entry->good &= yaml_is_word(reader, atom->text);
		ast_list_add(&entry->words, atom);
		at += len;
	}
}

/* Takes the first word away, if there is one and it is this one. */
static bool
take_word(struct ast_list *words, const char *text)
{
	struct ast_atom *first = words->first;

	if (first == NULL || strcmp(first->text, text) != 0)
		return false;
	words->first = first->next;
	if (words->first == NULL)
		words->last = NULL;
	else
		words->loc.begin = words->first->loc.begin;
	return true;
}

static void
report_head(struct policy_reader *reader, const struct entry *entry,
    const char *example)
{
	struct diag *diag = diag_add(reader->diags, DIAG_SYNTAX,
	    entry->key->loc, "'%s' is not the key of a statement",
	    entry->key->text);

	diag_help(reader->diags, diag, "write '%s'", example);
}

/* Whether the words are no keywords, as in a .sbx file, and as many as the
 * form has; reports it. */
static bool
words_fit(struct policy_reader *reader, const struct entry *entry)
{
	enum yaml_shape shape = entry->form->shape;
	bool one = shape == SHAPE_VALUE || shape == SHAPE_VARIABLES;
	bool many = shape == SHAPE_BODY || shape == SHAPE_RULE;
	const struct ast_atom *word = entry->words.first;
	bool good = many || (word != NULL) == one;

	if (shape == SHAPE_BODY)
		good = word != NULL;
	/* The keyword `watch` is a rule's first word. */
	if (shape == SHAPE_RULE && word != NULL &&
	    strcmp(word->text, "watch") == 0)
		word = word->next;
	for (; good && word != NULL; word = word->next)
		good = !word_is_keyword(word->text) &&
		    (many || word->next == NULL);
	if (!good)
		report_head(reader, entry,
		    yaml_form_of(entry->form->kind)->example);
	return good;
}

/* --- statements ----------------------------------------------------------- */

static struct loc
loc_from(const struct yaml_node *key, const struct yaml_node *value)
{
	return (struct loc){ key->loc.begin,
		key->loc.end > value->loc.end ? key->loc.end : value->loc.end };
}

static struct ast_stmt *
stmt_new(struct policy_reader *reader, const struct entry *entry)
{
	struct ast_stmt *stmt = ast_stmt(reader->arena, entry->form->kind,
	    entry->loc);

	if (entry->from != NULL)
		stmt->from = yaml_string(reader, entry->from);
	return stmt;
}

/* A text, or each text of a list. */
static void
read_texts(struct policy_reader *reader, const struct entry *entry,
    struct ast_body *body)
{
	const struct yaml_node *item = entry->value;
	enum yaml_shape shape = entry->form->shape;
	bool list = item->kind == YAML_LIST && shape != SHAPE_TEXT;

	if (list && item->first == NULL)
		yaml_report_kind(reader->diags, item, "a text");
	for (item = list ? item->first : item; item != NULL;
	     item = list ? item->next : NULL) {
		struct ast_atom *name = shape == SHAPE_NAMES ?
		    yaml_name(reader, item) :
		    shape == SHAPE_VARIABLES ? yaml_variable(reader, item) :
					       yaml_text(reader, item);
		struct ast_stmt *stmt;

		if (name == NULL)
			continue;
		stmt = stmt_new(reader, entry);
		if (list)
			stmt->loc = item->loc;
		stmt->name = name;
		ast_body_add(body, stmt);
	}
}

/* One object or a list of them; false after reporting. */
static bool
read_objects(struct policy_reader *reader, const struct yaml_node *node,
    struct ast_list *list)
{
	bool several = node->kind == YAML_LIST, good = true;
	const struct yaml_node *item = several ? node->first : node;

	if (item == NULL) {
		diag_add(reader->diags, DIAG_SYNTAX, node->loc,
		    "expected an object, found an empty list");
		return false;
	}
	for (; item != NULL; item = several ? item->next : NULL) {
		struct ast_atom *atom = yaml_atom(reader, item);

		if (atom != NULL)
			ast_list_add(list, atom);
		good &= atom != NULL;
	}
	if (good)
		list->loc = node->loc;
	return good;
}

static bool
read_let(struct policy_reader *reader, const struct yaml_node *value,
    struct ast_stmt *stmt)
{
	stmt->name = yaml_name(reader, value->key);
	return stmt->name != NULL &&
	    read_objects(reader, value, &stmt->objects);
}

static bool
read_variable(struct policy_reader *reader, const struct yaml_node *value,
    struct ast_stmt *stmt)
{
	struct ast_atom *text = yaml_value(reader, value, true);

	stmt->name = yaml_variable(reader, value->key);
	if (text != NULL)
		ast_list_add(&stmt->objects, text);
	return text != NULL;
}

/* Each entry of a map of names that the policy makes. */
static void
read_names(struct policy_reader *reader, const struct entry *entry,
    struct ast_body *body)
{
	const struct yaml_node *map = entry->value;
	bool lets = entry->form->shape == SHAPE_LETS;

	if (map->kind != YAML_MAP || map->first == NULL) {
		yaml_report_kind(reader->diags, map,
		    lets ? "a map of names" : "a map of variables");
		return;
	}
	for (const struct yaml_node *value = map->first; value != NULL;
	     value = value->next) {
		struct ast_stmt *stmt = stmt_new(reader, entry);
		const struct ast_atom *word = entry->words.first;

		stmt->loc = loc_from(value->key, value);
		if (word != NULL)
			ast_list_add(&stmt->words,
			    ast_atom(reader->arena, AST_WORD, word->loc,
				word->text, strlen(word->text)));
		if (lets ? read_let(reader, value, stmt) :
			   read_variable(reader, value, stmt))
			ast_body_add(body, stmt);
	}
}

/* `require WORD: VALUE` and `limit WORD: VALUE`. */
static void
read_value(struct policy_reader *reader, const struct entry *entry,
    struct ast_body *body)
{
	struct ast_atom *value = yaml_value(reader, entry->value, false);
	struct ast_stmt *stmt;

	if (value == NULL)
		return;
	stmt = stmt_new(reader, entry);
	stmt->words = entry->words;
	ast_list_add(&stmt->words, value);
	ast_body_add(body, stmt);
}

static void
read_on(struct policy_reader *reader, const struct entry *entry,
    struct ast_body *body)
{
	struct ast_stmt *stmt = stmt_new(reader, entry);

	stmt->loc = entry->key->loc;
	stmt->objects = entry->words;
	stmt->body = yaml_body(reader, entry->value).first;
	ast_body_add(body, stmt);
}

/* A word alone is one of the words, as in `allow network full`. */
static bool
rule_objects(struct policy_reader *reader, const struct entry *entry,
    struct ast_stmt *stmt)
{
	if (entry->value == NULL || yaml_is_nothing(entry->value))
		return true;
	if (!read_objects(reader, entry->value, &stmt->objects))
		return false;
	if (entry->value->kind == YAML_TEXT &&
	    stmt->objects.first->kind == AST_WORD) {
		ast_list_add(&stmt->words, stmt->objects.first);
		stmt->objects = (struct ast_list){ .first = NULL };
	}
	return true;
}

static bool
take_effect(struct ast_list *words, enum sbx_effect *effect)
{
	if (take_word(words, "allow"))
		*effect = SBX_ALLOW;
	else if (take_word(words, "deny"))
		*effect = SBX_DENY;
	else if (take_word(words, "prefer") && take_word(words, "deny"))
		*effect = SBX_PREFER_DENY;
	else
		return words->first != NULL &&
		    strcmp(words->first->text, "watch") == 0;
	return true;
}

/* `drop use: NAMES` and `drop set env: NAMES`. */
static void
read_dropped(struct policy_reader *reader, const struct entry *entry,
    struct ast_body *body)
{
	struct ast_stmt *stmt = body->last;

	if (entry->value == NULL || entry->except != NULL ||
	    yaml_is_nothing(entry->value) ||
	    entry->words.first != entry->words.last ||
	    (entry->words.first != NULL) != (entry->form->kind == AST_SET)) {
		report_head(reader, entry, "drop use: NAME");
		return;
	}
	read_texts(reader, entry, body);
	stmt = stmt == NULL ? body->first : stmt->next;
	for (; stmt != NULL; stmt = stmt->next) {
		stmt->words = entry->words;
		stmt->drop = true;
	}
}

/* The words are those of the whole key. */
static void
read_rule(struct policy_reader *reader, struct entry *entry,
    struct ast_body *body)
{
	struct ast_stmt *stmt = stmt_new(reader, entry);

	stmt->drop = take_word(&entry->words, "drop");
	if (stmt->drop && take_word(&entry->words, "use"))
		entry->form = yaml_form_find("use");
	else if (stmt->drop && take_word(&entry->words, "set"))
		entry->form = yaml_form_find("set");
	if (entry->form->shape != SHAPE_RULE) {
		read_dropped(reader, entry, body);
		return;
	}
	if (!take_effect(&entry->words, &stmt->effect)) {
		report_head(reader, entry, entry->form->example);
		return;
	}
	stmt->words = entry->words;
	if (!words_fit(reader, entry) || !rule_objects(reader, entry, stmt) ||
	    (entry->except != NULL &&
		!read_objects(reader, entry->except, &stmt->exclusions)))
		return;
	if (stmt->words.first == NULL)
		report_head(reader, entry, yaml_form_of(AST_RULE)->example);
	else
		ast_body_add(body, stmt);
}

static void
read_shape(struct policy_reader *reader, const struct entry *entry,
    struct ast_body *body)
{
	static void (*const readers[])(struct policy_reader *,
	    const struct entry *, struct ast_body *) = {
		[SHAPE_TEXT] = read_texts,
		[SHAPE_TEXTS] = read_texts,
		[SHAPE_NAMES] = read_texts,
		[SHAPE_LETS] = read_names,
		[SHAPE_VARIABLES] = read_names,
		[SHAPE_VALUE] = read_value,
		[SHAPE_BODY] = read_on,
	};

	if (words_fit(reader, entry))
		readers[entry->form->shape](reader, entry, body);
}

/* --- the keys of statements ----------------------------------------------- */

static void
report_misplaced(struct policy_reader *reader, struct loc loc, const char *word,
    const char *where, const char *help)
{
	diag_help(reader->diags,
	    diag_add(reader->diags, DIAG_MISPLACED, loc, "'%s' cannot stand %s",
		word, where),
	    "%s", help);
}

/* The form that the first word names; NULL after reporting. */
static const struct yaml_form *
form_get(struct policy_reader *reader, const struct ast_atom *word)
{
	const struct yaml_form *form = yaml_form_find(word->text);
	const char *words[YAML_FORMS];

	if (form != NULL && form->in_body)
		return form;
	if (form != NULL || strcmp(word->text, "group") == 0 ||
	    strcmp(word->text, "profile") == 0) {
		report_misplaced(reader, word->loc, word->text,
		    "among statements", "put it at the level of the file");
		return NULL;
	}
	yaml_form_words(false, words);
	diag_did_you_mean(reader->diags,
	    diag_add(reader->diags, DIAG_UNKNOWN_STATEMENT, word->loc,
		"unknown statement '%s'", word->text),
	    nearest_name(word->text, words, YAML_FORMS));
	return NULL;
}

static void
read_entry(struct policy_reader *reader, struct entry *entry,
    struct ast_body *body)
{
	if (entry->form->shape == SHAPE_RULE) {
		read_rule(reader, entry, body);
		return;
	}
	take_word(&entry->words, entry->form->word);
	if (entry->except != NULL)
		report_misplaced(reader, entry->except->key->loc, "except",
		    "beside this statement", "only rules have an 'except'");
	else
		read_shape(reader, entry, body);
}

/* A rule without objects: `allow network full`. */
static void
read_words(struct policy_reader *reader, const struct yaml_node *node,
    struct ast_body *body)
{
	struct entry entry = { .key = node, .loc = node->loc };
	bool rule;

	split_words(reader, &entry);
	if (entry.words.first == NULL) {
		yaml_report_kind(reader->diags, node, "a statement");
		return;
	}
	entry.form = form_get(reader, entry.words.first);
	if (entry.form == NULL)
		return;
	rule = entry.form->shape == SHAPE_RULE;
	if (entry.good && rule)
		read_rule(reader, &entry, body);
	else
		diag_help(reader->diags,
		    diag_add(reader->diags, DIAG_YAML_SHAPE, node->loc,
			"a statement without a ':'"),
		    rule ? "objects stand behind a ':', as in 'deny read: "
			   "/srv/x'" :
			   "it is a key and a value, as in '%s: ...'",
		    entry.form->word);
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
    struct entry *entry)
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
from_is_good(struct policy_reader *reader, const struct entry *entry)
{
	if (entry->from == NULL)
		return true;
	if (entry->form->has_from)
		return yaml_is_text(reader, entry->from, "text");
	report_misplaced(reader, entry->from->key->loc, "from",
	    "beside this statement", "rules and settings can have it");
	return false;
}

static void
read_map(struct policy_reader *reader, const struct yaml_node *map,
    struct ast_body *body)
{
	struct entry entry = { .value = NULL };

	if (!sort_keys(reader, map, &entry))
		return;
	entry.key = entry.value->key;
	entry.loc = loc_from(entry.key, map);
	split_words(reader, &entry);
	if (entry.words.first == NULL) {
		yaml_report_key(reader->diags, entry.key, NULL, 0);
		return;
	}
	entry.form = form_get(reader, entry.words.first);
	if (entry.form == NULL)
		return;
	if (!entry.good)
		report_head(reader, &entry, "deny read: OBJECTS");
	else if (from_is_good(reader, &entry))
		read_entry(reader, &entry, body);
}

/* Whether it is a list of statements that can be read; reports it. */
static bool
is_body(struct policy_reader *reader, const struct yaml_node *node)
{
	struct diag *diag;

	if (yaml_is_nothing(node))
		return false;
	if (node->kind != YAML_LIST) {
		diag = yaml_report_kind(reader->diags, node,
		    "a list of statements");
		if (node->kind == YAML_MAP)
			diag_help(reader->diags, diag,
			    "each statement begins with '- '");
		return false;
	}
	if (reader->depth < PARSER_MAX_DEPTH)
		return true;
	diag_add(reader->diags, DIAG_TOO_DEEP, node->key->loc,
	    "blocks are nested more than %d deep", PARSER_MAX_DEPTH);
	return false;
}

struct ast_body
yaml_body(struct policy_reader *reader, const struct yaml_node *node)
{
	struct ast_body body = { .first = NULL };

	if (!is_body(reader, node))
		return body;
	reader->depth++;
	for (const struct yaml_node *item = node->first; item != NULL;
	     item = item->next) {
		if (item->kind == YAML_MAP)
			read_map(reader, item, &body);
		else if (item->kind == YAML_TEXT)
			read_words(reader, item, &body);
		else
			yaml_report_kind(reader->diags, item, "a statement");
	}
	reader->depth--;
	return body;
}

/* --- for the level above -------------------------------------------------- */

void
yaml_statement(struct policy_reader *reader, const struct yaml_form *form,
    const struct yaml_node *value, struct ast_body *body)
{
	const struct entry entry = {
		.form = form,
		.key = value->key,
		.value = value,
		.loc = loc_from(value->key, value),
	};

	read_shape(reader, &entry, body);
}

bool
yaml_is_statement(struct policy_reader *reader, const struct yaml_node *key)
{
	struct entry entry = { .key = key };
	const struct yaml_form *form = NULL;

	split_words(reader, &entry);
	if (entry.words.first != NULL)
		form = yaml_form_find(entry.words.first->text);
	return form != NULL && form->in_body;
}
