/*
 * See toml.h.  A reader from left to right, which stops at the first mistake:
 * what follows a quote that is missing means nothing.
 */
#include "compiler/read/toml.h"

#include "compiler/base/map.h"
#include "compiler/report/clean.h"
#include "format/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a table came to be says what may be added to it. */
enum made {
	BY_VALUE,  /* a text, an array, an inline table: complete */
	BY_WAY,    /* [a.b] makes a, which may still get its own header */
	BY_HEADER, /* [a] */
	BY_KEY,    /* a.b = 1 makes a, for more of such keys */
	BY_LIST,   /* [[a]]: a list of tables */
};

struct toml_node {
	struct yaml_node yaml;
	enum made made;
};

struct reader {
	struct arena *arena;
	struct diags *diags;
	const struct source *source;
	const char *at, *end;
	size_t nodes, depth;
	struct map entries; /* the table and the key of each */
	VEC(struct toml_node *) values;
	bool failed;
};

/* Keys with dots between them. */
struct way {
	struct yaml_node *keys[YAML_MAX_DEPTH];
	size_t count;
};

/* --- places --------------------------------------------------------------- */

static struct loc
loc_of(const struct reader *reader, const char *begin, const char *end)
{
	uint32_t base = reader->source->base;

	return (struct loc){ base + (uint32_t)(begin - reader->source->text),
		base + (uint32_t)(end - reader->source->text) };
}

/* At the next character; only the first mistake is told. */
static void
fail(struct reader *reader, const char *what)
{
	const char *end = reader->at + (reader->at < reader->end);

	if (!reader->failed)
		diag_add(reader->diags, DIAG_TOML_SYNTAX,
		    loc_of(reader, reader->at, end), "%s", what);
	reader->failed = true;
}

static void
fail_bounds(struct reader *reader, const char *what, int most)
{
	if (!reader->failed)
		diag_add(reader->diags, DIAG_YAML_BOUNDS,
		    loc_of(reader, reader->at, reader->at), "%s %d", what,
		    most);
	reader->failed = true;
}

static struct toml_node *
node_new(struct reader *reader, enum yaml_kind kind, const char *begin)
{
	struct toml_node *node = arena_alloc(reader->arena, sizeof *node);

	if (++reader->nodes > YAML_MAX_NODES)
		fail_bounds(reader, "the file holds more values than",
		    YAML_MAX_NODES);
	node->yaml.kind = kind;
	node->yaml.loc = loc_of(reader, begin, reader->at);
	return node;
}

static struct toml_node *
text_new(struct reader *reader, const char *begin, const char *text, size_t len)
{
	struct toml_node *node = node_new(reader, YAML_TEXT, begin);

	node->yaml.text = arena_intern(reader->arena, text, len);
	return node;
}

/* --- blanks --------------------------------------------------------------- */

static bool
is_at(const struct reader *reader, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(reader->end - reader->at) >= len &&
	    memcmp(reader->at, word, len) == 0;
}

static bool
take(struct reader *reader, const char *word)
{
	if (!is_at(reader, word))
		return false;
	reader->at += strlen(word);
	return true;
}

static void
skip_blanks(struct reader *reader)
{
	while (is_at(reader, " ") || is_at(reader, "\t"))
		reader->at++;
}

static bool
take_line_end(struct reader *reader)
{
	return take(reader, "\n") || take(reader, "\r\n");
}

static void
skip_comment(struct reader *reader)
{
	skip_blanks(reader);
	if (!is_at(reader, "#"))
		return;
	while (reader->at < reader->end && !is_at(reader, "\n") &&
	    !is_at(reader, "\r\n"))
		reader->at++;
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

static int
hex_value(char c)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	const char *found = c != '\0' ? strchr(digits, c) : NULL;

	if (found == NULL)
		return -1;
	return (int)(found - digits) - (found - digits > 15 ? 6 : 0);
}

static void
put_utf8(FILE *stream, uint32_t c)
{
	static const uint8_t heads[] = { 0, 0xc0, 0xe0, 0xf0 };
	int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

	fputc((int)(heads[more] | c >> 6 * more), stream);
	while (more-- > 0)
		fputc((int)(0x80 | (c >> 6 * more & 0x3f)), stream);
}

static void
take_number(struct reader *reader, FILE *stream, int digits)
{
	uint32_t c = 0;

	for (int i = 0; i < digits; i++) {
		int value = reader->at < reader->end ? hex_value(*reader->at) :
						       -1;

		if (value < 0) {
			fail(reader, "expected a hexadecimal digit");
			return;
		}
		c = c << 4 | (uint32_t)value;
		reader->at++;
	}
	if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		fail(reader, "there is no such character");
	else
		put_utf8(stream, c);
}

/* Behind a backslash. */
static void
take_escape(struct reader *reader, FILE *stream, bool lines)
{
	static const char letters[] = "btnfr\"\\", values[] = "\b\t\n\f\r\"\\";
	char c = reader->at < reader->end ? *reader->at : '\0';
	const char *letter = c != '\0' ? strchr(letters, c) : NULL;

	if (letter != NULL) {
		fputc(values[letter - letters], stream);
		reader->at++;
		return;
	}
	if (c == 'u' || c == 'U') {
		reader->at++;
		take_number(reader, stream, c == 'u' ? 4 : 8);
		return;
	}
	if (lines) {
		skip_blanks(reader);
		if (take_line_end(reader)) {
			do
				skip_blanks(reader);
			while (take_line_end(reader));
			return;
		}
	}
	fail(reader, "no such escape");
}

/* Whether a text of these quotes ends here.  Up to two more of them may stand
 * at the end of a text of several lines, and belong to it. */
static bool
ends_here(struct reader *reader, const char *quotes, FILE *stream)
{
	if (!is_at(reader, quotes))
		return false;
	for (int i = 0; i < 2 && strlen(quotes) == 3; i++) {
		if (reader->end - reader->at > 3 && reader->at[3] == *quotes) {
			fputc(*quotes, stream);
			reader->at++;
		}
	}
	return true;
}

static void
take_text(struct reader *reader, const char *quotes, FILE *stream)
{
	bool lines = strlen(quotes) == 3, escapes = *quotes == '"';

	if (lines)
		take_line_end(reader);
	while (!reader->failed && !ends_here(reader, quotes, stream)) {
		if (reader->at == reader->end ||
		    (!lines && (*reader->at == '\n' || *reader->at == '\r'))) {
			fail(reader, "this text does not end");
		} else if (escapes && take(reader, "\\")) {
			take_escape(reader, stream, lines);
		} else {
			fputc(*reader->at, stream);
			reader->at++;
		}
	}
}

static struct toml_node *
read_quoted(struct reader *reader, const char *quotes)
{
	struct toml_node *node;
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	const char *begin;

	if (stream == NULL)
		arena_exhausted();
	reader->at += strlen(quotes);
	begin = reader->at;
	take_text(reader, quotes, stream);
	if (fclose(stream) != 0)
		arena_exhausted();
	node = text_new(reader, begin, text, size);
	free(text);
	take(reader, quotes);
	return node;
}

/* --- keys ----------------------------------------------------------------- */

static const char word_characters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

/* The text ends in a NUL. */
static size_t
span(const struct reader *reader, const char *characters)
{
	return strspn(reader->at, characters);
}

static struct yaml_node *
read_key(struct reader *reader)
{
	const char *begin = reader->at;
	size_t len = span(reader, word_characters);

	if (is_at(reader, "\"\"\"") || is_at(reader, "'''"))
		fail(reader, "a key has one line");
	else if (is_at(reader, "\"") || is_at(reader, "'"))
		return &read_quoted(reader, is_at(reader, "'") ? "'" : "\"")
			    ->yaml;
	else if (len == 0)
		fail(reader, "expected a key");
	reader->at += len;
	return &text_new(reader, begin, begin, len)->yaml;
}

static void
read_way(struct reader *reader, struct way *way)
{
	way->count = 0;
	do {
		if (way->count == YAML_MAX_DEPTH) {
			fail_bounds(reader, "a key has more parts than",
			    YAML_MAX_DEPTH);
			return;
		}
		skip_blanks(reader);
		way->keys[way->count++] = read_key(reader);
		skip_blanks(reader);
	} while (!reader->failed && take(reader, "."));
}

static struct toml_node *
entry_find(const struct reader *reader, const struct toml_node *table,
    const struct yaml_node *key)
{
	const void *id[] = { table, key->text };
	size_t number = map_number_find(&reader->entries, id, sizeof id);

	return number != SIZE_MAX ? reader->values.items[number] : NULL;
}

static void
entry_add(struct reader *reader, struct toml_node *table, struct yaml_node *key,
    struct toml_node *value)
{
	const void *id[] = { table, key->text };
	bool added;

	map_number(reader->arena, &reader->entries, id, sizeof id, &added);
	*arena_push(reader->arena, &reader->values) = value;
	value->yaml.key = key;
	yaml_add(&table->yaml, &value->yaml);
}

static void
fail_twice(struct reader *reader, const struct yaml_node *key,
    const struct toml_node *first)
{
	struct diag *diag;

	if (reader->failed)
		return;
	reader->failed = true;
	diag = diag_add(reader->diags, DIAG_YAML_DUPLICATE, key->loc,
	    "the key '%s' stands twice", key->text);
	diag_note(reader->diags, diag, first->yaml.key->loc,
	    "it is here first");
}

/* The table of a key that others follow, made if it is not there. */
static struct toml_node *
step(struct reader *reader, struct toml_node *table, struct yaml_node *key,
    enum made made)
{
	struct toml_node *next = entry_find(reader, table, key);

	if (next == NULL) {
		next = node_new(reader, YAML_MAP, reader->at);
		next->yaml.loc = key->loc;
		next->made = made;
		entry_add(reader, table, key, next);
		return next;
	}
	if (next->made == BY_LIST && made == BY_WAY)
		return (struct toml_node *)next->yaml.last;
	if (next->made == BY_VALUE || (made == BY_KEY && next->made != BY_KEY))
		fail_twice(reader, key, next);
	return next;
}

static struct toml_node *
walk(struct reader *reader, struct toml_node *table, const struct way *way,
    enum made made)
{
	for (size_t i = 0; i + 1 < way->count && !reader->failed; i++)
		table = step(reader, table, way->keys[i], made);
	return table;
}

/* --- values --------------------------------------------------------------- */

static struct toml_node *read_value(struct reader *reader);

static void
read_pair(struct reader *reader, struct toml_node *table)
{
	struct toml_node *value, *first;
	struct yaml_node *key;
	struct way way;

	read_way(reader, &way);
	if (!reader->failed && !take(reader, "="))
		fail(reader, "expected '='");
	if (reader->failed)
		return;
	skip_blanks(reader);
	value = read_value(reader);
	table = walk(reader, table, &way, BY_KEY);
	if (reader->failed)
		return;
	key = way.keys[way.count - 1];
	first = entry_find(reader, table, key);
	if (first != NULL)
		fail_twice(reader, key, first);
	else
		entry_add(reader, table, key, value);
}

/* true, 12, 1.5e3, 1979-05-27T07:32:00Z */
static struct toml_node *
read_plain(struct reader *reader)
{
	const char *begin = reader->at;
	size_t len = span(reader, word_characters), sign;
	struct toml_node *node;

	sign = len > 0 && *begin == '-';
	if (is_at(reader, "+"))
		sign = 1;
	len = span(reader,
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	    "+.:");
	reader->at += len;
	/* A date, a blank, a time. */
	if (len == 10 && begin[4] == '-' && is_at(reader, " ") &&
	    reader->end - reader->at > 1 &&
	    strchr("0123456789", reader->at[1]) != NULL) {
		reader->at++;
		reader->at += span(reader, "0123456789:.Zz+-");
	}
	node = text_new(reader, begin, begin, (size_t)(reader->at - begin));
	node->yaml.plain = true;
	if (len > sign &&
	    (strchr("0123456789", begin[sign]) != NULL ||
		strcmp(node->yaml.text + sign, "inf") == 0 ||
		strcmp(node->yaml.text + sign, "nan") == 0 ||
		strcmp(node->yaml.text, "true") == 0 ||
		strcmp(node->yaml.text, "false") == 0))
		return node;
	reader->at = begin;
	fail(reader, "expected a value; a text stands in quotes");
	return node;
}

static void
read_array(struct reader *reader, struct toml_node *list)
{
	skip_lines(reader);
	while (!reader->failed && !take(reader, "]")) {
		yaml_add(&list->yaml, &read_value(reader)->yaml);
		skip_lines(reader);
		if (!is_at(reader, "]") && !take(reader, ","))
			fail(reader, "expected ',' or ']'");
		skip_lines(reader);
	}
}

static void
read_inline(struct reader *reader, struct toml_node *table)
{
	skip_blanks(reader);
	if (take(reader, "}"))
		return;
	do {
		read_pair(reader, table);
		skip_blanks(reader);
	} while (!reader->failed && take(reader, ","));
	if (!take(reader, "}"))
		fail(reader, "expected ',' or '}'");
}

/* Nothing is added to what stands in braces or brackets. */
static void
read_closed(struct reader *reader, struct toml_node *node)
{
	if (++reader->depth > YAML_MAX_DEPTH)
		fail_bounds(reader, "arrays and tables are nested deeper than",
		    YAML_MAX_DEPTH);
	reader->at++;
	if (!reader->failed && node->yaml.kind == YAML_LIST)
		read_array(reader, node);
	else if (!reader->failed)
		read_inline(reader, node);
	reader->depth--;
}

static struct toml_node *
read_value(struct reader *reader)
{
	static const char *const quotes[] = { "\"\"\"", "'''", "\"", "'" };
	struct toml_node *node;

	for (size_t i = 0; i < countof(quotes); i++) {
		if (is_at(reader, quotes[i]))
			return read_quoted(reader, quotes[i]);
	}
	if (!is_at(reader, "[") && !is_at(reader, "{"))
		return read_plain(reader);
	node = node_new(reader, is_at(reader, "[") ? YAML_LIST : YAML_MAP,
	    reader->at);
	read_closed(reader, node);
	return node;
}

/* --- the whole ------------------------------------------------------------ */

/* [a.b], or [[a.b]], whose brackets stand together. */
static struct toml_node *
read_header(struct reader *reader, struct toml_node *root)
{
	bool list = take(reader, "[[");
	struct toml_node *parent, *table;
	struct yaml_node *key;
	struct way way;

	if (!list)
		take(reader, "[");
	read_way(reader, &way);
	if (!reader->failed && !take(reader, list ? "]]" : "]"))
		fail(reader, list ? "expected ']]'" : "expected ']'");
	parent = walk(reader, root, &way, BY_WAY);
	if (reader->failed)
		return root;
	key = way.keys[way.count - 1];
	table = entry_find(reader, parent, key);
	if (table != NULL && table->made != (list ? BY_LIST : BY_WAY)) {
		fail_twice(reader, key, table);
		return root;
	}
	if (table == NULL) {
		table = node_new(reader, list ? YAML_LIST : YAML_MAP,
		    reader->at);
		table->yaml.loc = key->loc;
		entry_add(reader, parent, key, table);
	}
	table->made = list ? BY_LIST : BY_HEADER;
	if (!list)
		return table;
	parent = table;
	table = node_new(reader, YAML_MAP, reader->at);
	table->yaml.loc = key->loc;
	table->made = BY_HEADER;
	yaml_add(&parent->yaml, &table->yaml);
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
		.end = source->text + source->size,
	};
	struct toml_node *root, *table;

	if (!text_is_clean(source, diags))
		return NULL;
	root = table = node_new(&reader, YAML_MAP, reader.at);
	root->made = BY_HEADER;
	skip_lines(&reader);
	while (!reader.failed && reader.at < reader.end) {
		if (is_at(&reader, "["))
			table = read_header(&reader, root);
		else
			read_pair(&reader, table);
		skip_comment(&reader);
		if (!reader.failed && reader.at < reader.end &&
		    !take_line_end(&reader))
			fail(&reader, "expected the end of the line");
		skip_lines(&reader);
	}
	return reader.failed ? NULL : &root->yaml;
}
