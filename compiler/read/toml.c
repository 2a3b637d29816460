/*
 * See read.h.  A reader from left to right, which stops at the first mistake:
 * what follows a quote that is missing means nothing.
 */
#include "compiler/base/base.h"
#include "compiler/read/read.h"
#include "compiler/report/report.h"

#include <string.h>

/* What may be added to a value. */
enum made {
	CLOSED, /* a text, an array, an inline table: nothing */
	OPEN,   /* a table that keys or headers named on their way: all */
	HEADED, /* a table with a header of its own: all but another one */
	LISTED, /* a list of tables: another table */
};

struct reader {
	struct arena *arena;
	struct diags *diags;
	const struct source *source;
	const char *at; /* the text ends in a NUL and has no other */
	size_t nodes, depth;
	char *text;         /* what is read out of quotes */
	struct map entries; /* the table and the key of each */
	VEC(struct yaml_node *) values;
	bool failed;
};

/* Keys with dots between them. */
struct way {
	struct yaml_node *keys[YAML_MAX_DEPTH];
	size_t count;
};

/* --- characters ----------------------------------------------------------- */

static struct loc
loc_from(const struct reader *reader, const char *begin)
{
	uint32_t base = reader->source->base;

	return (struct loc){ base + (uint32_t)(begin - reader->source->text),
		base + (uint32_t)(reader->at - reader->source->text) };
}

/* At the next character; only the first mistake is reported. */
static void
fail(struct reader *reader, enum diag_id id, const char *what)
{
	struct loc loc = loc_from(reader, reader->at);

	loc.end += *reader->at != '\0';
	if (!reader->failed)
		diag_add(reader->diags, id, loc, "%s", what);
	reader->failed = true;
}

static bool
is_at(const struct reader *reader, const char *word)
{
	return strncmp(reader->at, word, strlen(word)) == 0;
}

static bool
take(struct reader *reader, const char *word)
{
	bool there = is_at(reader, word);

	reader->at += there ? strlen(word) : 0;
	return there;
}

static void
expect(struct reader *reader, const char *word, const char *what)
{
	if (!reader->failed && !take(reader, word))
		fail(reader, DIAG_TOML_SYNTAX, what);
}

static bool
take_line_end(struct reader *reader)
{
	return take(reader, "\n") || take(reader, "\r\n");
}

static void
skip_blanks(struct reader *reader)
{
	reader->at += strspn(reader->at, " \t");
}

static void
skip_comment(struct reader *reader)
{
	skip_blanks(reader);
	if (is_at(reader, "#"))
		reader->at += strcspn(reader->at, "\r\n");
}

/* Blanks, comments and line ends. */
static void
skip_lines(struct reader *reader)
{
	do
		skip_comment(reader);
	while (take_line_end(reader));
}

/* --- texts ---------------------------------------------------------------- */

static struct yaml_node *
node_new(struct reader *reader, enum yaml_kind kind, const char *begin)
{
	struct yaml_node *node = arena_alloc(reader->arena, sizeof *node);

	if (++reader->nodes > YAML_MAX_NODES)
		fail(reader, DIAG_YAML_BOUNDS,
		    "the file holds too many values");
	node->kind = kind;
	node->loc = loc_from(reader, begin);
	return node;
}

static struct yaml_node *
text_new(struct reader *reader, const char *begin, const char *text, size_t len)
{
	struct yaml_node *node = node_new(reader, YAML_TEXT, begin);

	node->text = arena_intern(reader->arena, text, len);
	return node;
}

/* Behind a backslash; a line may end there in a text of several lines. */
static char *
take_escape(struct reader *reader, bool lines, char *to)
{
	static const char letters[] = "btnfr\"\\", values[] = "\b\t\n\f\r\"\\";
	const char *letter = strchr(letters, *reader->at);

	if (*reader->at != '\0' && letter != NULL) {
		*to++ = values[letter - letters];
		reader->at++;
	} else if (lines && strspn(reader->at, " \t\r\n") > 0) {
		reader->at += strspn(reader->at, " \t\r\n");
	} else {
		fail(reader, DIAG_TOML_SYNTAX,
		    "no escape that is read; a character stands for itself");
	}
	return to;
}

static struct yaml_node *
read_quoted(struct reader *reader, const char *quotes)
{
	bool lines = strlen(quotes) == 3;
	char *to = reader->text;
	const char *begin = reader->at += strlen(quotes);
	struct yaml_node *node;

	if (lines)
		take_line_end(reader);
	while (!reader->failed && !is_at(reader, quotes)) {
		if (*reader->at == '\0' ||
		    (!lines && strchr("\r\n", *reader->at) != NULL))
			fail(reader, DIAG_TOML_SYNTAX,
			    "this text does not end");
		else if (*quotes == '"' && take(reader, "\\"))
			to = take_escape(reader, lines, to);
		else
			*to++ = *reader->at++;
	}
	/* Up to two more of them belong to a text of several lines. */
	for (int i = 0; i < 2 && lines && !reader->failed; i++) {
		if (reader->at[3] == *quotes)
			*to++ = *reader->at++;
	}
	node = text_new(reader, begin, reader->text,
	    (size_t)(to - reader->text));
	take(reader, quotes);
	return node;
}

/* --- keys ----------------------------------------------------------------- */

static const char word_characters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

static struct yaml_node *
read_key(struct reader *reader)
{
	const char *begin = reader->at;
	size_t len = strspn(begin, word_characters);

	if (is_at(reader, "\"") || is_at(reader, "'"))
		return read_quoted(reader, *begin == '"' ? "\"" : "'");
	if (len == 0)
		fail(reader, DIAG_TOML_SYNTAX, "expected a key");
	reader->at += len;
	return text_new(reader, begin, begin, len);
}

static void
read_way(struct reader *reader, struct way *way)
{
	way->count = 0;
	do {
		if (way->count == YAML_MAX_DEPTH) {
			fail(reader, DIAG_YAML_BOUNDS, "the key is too long");
			return;
		}
		skip_blanks(reader);
		way->keys[way->count++] = read_key(reader);
		skip_blanks(reader);
	} while (!reader->failed && take(reader, "."));
}

/* The entry of a table.  If it is not there it is added, unless `value` is
 * NULL; if it is, and `value` is not NULL, that is a mistake. */
static struct yaml_node *
entry(struct reader *reader, struct yaml_node *table, struct yaml_node *key,
    struct yaml_node *value)
{
	const void *id[] = { table, key->text };
	size_t number = map_number_find(&reader->entries, id, sizeof id);
	bool there = number != SIZE_MAX;
	bool closed = there && reader->values.items[number]->made == CLOSED;

	if (reader->failed || (!there && value == NULL))
		return NULL;
	if (closed || (there && value != NULL)) {
		diag_note(diag_add(reader->diags, DIAG_YAML_DUPLICATE, key->loc,
			      "the key '%s' stands twice", key->text),
		    reader->values.items[number]->key->loc, "it is here first");
		reader->failed = true;
		return NULL;
	}
	if (there)
		return reader->values.items[number];
	map_number(reader->arena, &reader->entries, id, sizeof id, &there);
	*arena_push(reader->arena, &reader->values) = value;
	value->key = key;
	yaml_add(table, value);
	return value;
}

/* The table in which the last key of the way is, made where it is not there. */
static struct yaml_node *
walk(struct reader *reader, struct yaml_node *table, const struct way *way)
{
	for (size_t i = 0; i + 1 < way->count && !reader->failed; i++) {
		struct yaml_node *key = way->keys[i];
		struct yaml_node *next = entry(reader, table, key, NULL);

		if (next == NULL && !reader->failed) {
			next = node_new(reader, YAML_MAP, reader->at);
			next->loc = key->loc;
			next->made = OPEN;
			entry(reader, table, key, next);
		}
		table = next != NULL && next->made == LISTED ? next->last :
							       next;
	}
	return table;
}

/* --- values --------------------------------------------------------------- */

static struct yaml_node *read_value(struct reader *reader);

static void
read_pair(struct reader *reader, struct yaml_node *table)
{
	struct yaml_node *value;
	struct way way;

	read_way(reader, &way);
	expect(reader, "=", "expected '='");
	if (reader->failed)
		return;
	skip_blanks(reader);
	value = read_value(reader);
	table = walk(reader, table, &way);
	if (!reader->failed)
		entry(reader, table, way.keys[way.count - 1], value);
}

/* true, 12, 1.5e3, 1979-05-27T07:32:00Z: as it stands. */
static struct yaml_node *
read_plain(struct reader *reader)
{
	const char *begin = reader->at;
	size_t len = strspn(begin, word_characters);
	bool word = (len == 4 && memcmp(begin, "true", 4) == 0) ||
	    (len == 5 && memcmp(begin, "false", 5) == 0);
	struct yaml_node *node;

	if (!word &&
	    strspn(begin + (*begin == '+' || *begin == '-'), "0123456789") == 0)
		fail(reader, DIAG_TOML_SYNTAX,
		    "expected a value; a text stands in quotes");
	while (!word && *reader->at != '\0' &&
	    (strchr(word_characters, *reader->at) != NULL ||
		strchr("+.:", *reader->at) != NULL))
		reader->at++;
	reader->at += word ? len : 0;
	node = text_new(reader, begin, begin, (size_t)(reader->at - begin));
	node->plain = true;
	return node;
}

static void
read_array(struct reader *reader, struct yaml_node *list)
{
	for (skip_lines(reader); !reader->failed && !take(reader, "]");
	     skip_lines(reader)) {
		yaml_add(list, read_value(reader));
		skip_lines(reader);
		if (!is_at(reader, "]"))
			expect(reader, ",", "expected ',' or ']'");
	}
}

static void
read_inline(struct reader *reader, struct yaml_node *table)
{
	skip_blanks(reader);
	if (take(reader, "}"))
		return;
	do {
		read_pair(reader, table);
		skip_blanks(reader);
	} while (!reader->failed && take(reader, ","));
	expect(reader, "}", "expected ',' or '}'");
}

static struct yaml_node *
read_value(struct reader *reader)
{
	static const char *const quotes[] = { "\"\"\"", "'''", "\"", "'" };
	bool list = is_at(reader, "[");
	struct yaml_node *node;

	for (size_t i = 0; i < countof(quotes); i++) {
		if (is_at(reader, quotes[i]))
			return read_quoted(reader, quotes[i]);
	}
	if (!list && !is_at(reader, "{"))
		return read_plain(reader);
	node = node_new(reader, list ? YAML_LIST : YAML_MAP, reader->at);
	if (++reader->depth > YAML_MAX_DEPTH)
		fail(reader, DIAG_YAML_BOUNDS,
		    "the value is nested too deeply");
	reader->at++;
	node->made = OPEN;
	if (!reader->failed && list)
		read_array(reader, node);
	else if (!reader->failed)
		read_inline(reader, node);
	node->made = CLOSED;
	reader->depth--;
	return node;
}

/* --- the whole ------------------------------------------------------------ */

/* [a.b], or [[a.b]]; the table that the lines below it are in. */
static struct yaml_node *
read_header(struct reader *reader, struct yaml_node *root)
{
	bool list = take(reader, "[[") || (take(reader, "["), false);
	struct yaml_node *parent, *key, *table;
	struct way way;

	read_way(reader, &way);
	expect(reader, list ? "]]" : "]",
	    list ? "expected ']]'" : "expected ']'");
	parent = walk(reader, root, &way);
	if (reader->failed)
		return root;
	key = way.keys[way.count - 1];
	table = entry(reader, parent, key, NULL);
	if (table == NULL || table->made != (list ? LISTED : OPEN)) {
		table = node_new(reader, list ? YAML_LIST : YAML_MAP,
		    reader->at);
		entry(reader, parent, key, table);
	}
	table->made = list ? LISTED : HEADED;
	table->loc = key->loc;
	if (!list)
		return table;
	parent = table;
	table = node_new(reader, YAML_MAP, reader->at);
	table->loc = key->loc;
	table->made = HEADED;
	yaml_add(parent, table);
	return table;
}

struct yaml_node *
toml_read(struct sources *sources, struct diags *diags,
    const struct source *source)
{
	struct reader reader = {
		.arena = sources->arena,
		.diags = diags,
		.source = source,
		.at = source->text + source_bom(source),
	};
	struct yaml_node *root, *table;

	if (!text_is_clean(source, diags))
		return NULL;
	reader.text = arena_alloc(reader.arena, source->size + 1);
	root = table = node_new(&reader, YAML_MAP, reader.at);
	root->made = HEADED;
	for (skip_lines(&reader); !reader.failed && *reader.at != '\0';
	     skip_lines(&reader)) {
		if (is_at(&reader, "["))
			table = read_header(&reader, root);
		else
			read_pair(&reader, table);
		skip_comment(&reader);
		if (!reader.failed && *reader.at != '\0' &&
		    !take_line_end(&reader))
			fail(&reader, DIAG_TOML_SYNTAX,
			    "expected the end of the line");
	}
	return reader.failed ? NULL : root;
}
