/*
 * See toml.h.  A reader from left to right, which stops at the first mistake:
 * what follows a quote that is missing means nothing.
 */
#include "compiler/read/toml.h"
#include "compiler/read/toml_text.h"

#include "compiler/report/clean.h"

#include <string.h>

/* Keys with dots between them. */
struct way {
	struct yaml_node *keys[YAML_MAX_DEPTH];
	size_t count;
};

/* --- keys ----------------------------------------------------------------- */

static const char word_characters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

/* The text ends in a NUL. */
static size_t
span(const struct toml_reader *reader, const char *characters)
{
	return strspn(reader->at, characters);
}

static struct yaml_node *
read_key(struct toml_reader *reader)
{
	const char *begin = reader->at;
	size_t len = span(reader, word_characters);

	if (toml_is_at(reader, "\"\"\"") || toml_is_at(reader, "'''"))
		toml_fail(reader, "a key has one line");
	else if (toml_is_at(reader, "\"") || toml_is_at(reader, "'"))
		return &toml_read_quoted(reader,
		    toml_is_at(reader, "'") ? "'" : "\"")
			    ->yaml;
	else if (len == 0)
		toml_fail(reader, "expected a key");
	reader->at += len;
	return &toml_text_new(reader, begin, begin, len)->yaml;
}

static void
read_way(struct toml_reader *reader, struct way *way)
{
	way->count = 0;
	do {
		if (way->count == YAML_MAX_DEPTH) {
			toml_fail_bounds(reader, "a key has more parts than",
			    YAML_MAX_DEPTH);
			return;
		}
		toml_skip_blanks(reader);
		way->keys[way->count++] = read_key(reader);
		toml_skip_blanks(reader);
	} while (!reader->failed && toml_take(reader, "."));
}

static struct toml_node *
entry_find(const struct toml_reader *reader, const struct toml_node *table,
    const struct yaml_node *key)
{
	const void *id[] = { table, key->text };
	size_t number = map_number_find(&reader->entries, id, sizeof id);

	return number != SIZE_MAX ? reader->values.items[number] : NULL;
}

static void
entry_add(struct toml_reader *reader, struct toml_node *table,
    struct yaml_node *key, struct toml_node *value)
{
	const void *id[] = { table, key->text };
	bool added;

	map_number(reader->arena, &reader->entries, id, sizeof id, &added);
	*arena_push(reader->arena, &reader->values) = value;
	value->yaml.key = key;
	yaml_add(&table->yaml, &value->yaml);
}

static void
fail_twice(struct toml_reader *reader, const struct yaml_node *key,
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
step(struct toml_reader *reader, struct toml_node *table, struct yaml_node *key,
    enum made made)
{
	struct toml_node *next = entry_find(reader, table, key);

	if (next == NULL) {
		next = toml_node_new(reader, YAML_MAP, reader->at);
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
walk(struct toml_reader *reader, struct toml_node *table, const struct way *way,
    enum made made)
{
	for (size_t i = 0; i + 1 < way->count && !reader->failed; i++)
		table = step(reader, table, way->keys[i], made);
	return table;
}

/* --- values --------------------------------------------------------------- */

static struct toml_node *read_value(struct toml_reader *reader);

static void
read_pair(struct toml_reader *reader, struct toml_node *table)
{
	struct toml_node *value, *first;
	struct yaml_node *key;
	struct way way;

	read_way(reader, &way);
	if (!reader->failed && !toml_take(reader, "="))
		toml_fail(reader, "expected '='");
	if (reader->failed)
		return;
	toml_skip_blanks(reader);
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
read_plain(struct toml_reader *reader)
{
	const char *begin = reader->at;
	size_t len = span(reader, word_characters), sign;
	struct toml_node *node;

	sign = len > 0 && *begin == '-';
	if (toml_is_at(reader, "+"))
		sign = 1;
	len = span(reader,
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	    "+.:");
	reader->at += len;
	/* A date, a blank, a time. */
	if (len == 10 && begin[4] == '-' && toml_is_at(reader, " ") &&
	    reader->end - reader->at > 1 &&
	    strchr("0123456789", reader->at[1]) != NULL) {
		reader->at++;
		reader->at += span(reader, "0123456789:.Zz+-");
	}
	node = toml_text_new(reader, begin, begin,
	    (size_t)(reader->at - begin));
	node->yaml.plain = true;
	if (len > sign &&
	    (strchr("0123456789", begin[sign]) != NULL ||
		strcmp(node->yaml.text + sign, "inf") == 0 ||
		strcmp(node->yaml.text + sign, "nan") == 0 ||
		strcmp(node->yaml.text, "true") == 0 ||
		strcmp(node->yaml.text, "false") == 0))
		return node;
	reader->at = begin;
	toml_fail(reader, "expected a value; a text stands in quotes");
	return node;
}

static void
read_array(struct toml_reader *reader, struct toml_node *list)
{
	toml_skip_lines(reader);
	while (!reader->failed && !toml_take(reader, "]")) {
		yaml_add(&list->yaml, &read_value(reader)->yaml);
		toml_skip_lines(reader);
		if (!toml_is_at(reader, "]") && !toml_take(reader, ","))
			toml_fail(reader, "expected ',' or ']'");
		toml_skip_lines(reader);
	}
}

static void
read_inline(struct toml_reader *reader, struct toml_node *table)
{
	toml_skip_blanks(reader);
	if (toml_take(reader, "}"))
		return;
	do {
		read_pair(reader, table);
		toml_skip_blanks(reader);
	} while (!reader->failed && toml_take(reader, ","));
	if (!toml_take(reader, "}"))
		toml_fail(reader, "expected ',' or '}'");
}

/* Nothing is added to what stands in braces or brackets. */
static void
read_closed(struct toml_reader *reader, struct toml_node *node)
{
	if (++reader->depth > YAML_MAX_DEPTH)
		toml_fail_bounds(reader,
		    "arrays and tables are nested deeper than", YAML_MAX_DEPTH);
	reader->at++;
	if (!reader->failed && node->yaml.kind == YAML_LIST)
		read_array(reader, node);
	else if (!reader->failed)
		read_inline(reader, node);
	reader->depth--;
}

static struct toml_node *
read_value(struct toml_reader *reader)
{
	static const char *const quotes[] = { "\"\"\"", "'''", "\"", "'" };
	struct toml_node *node;

	for (size_t i = 0; i < countof(quotes); i++) {
		if (toml_is_at(reader, quotes[i]))
			return toml_read_quoted(reader, quotes[i]);
	}
	if (!toml_is_at(reader, "[") && !toml_is_at(reader, "{"))
		return read_plain(reader);
	node = toml_node_new(reader,
	    toml_is_at(reader, "[") ? YAML_LIST : YAML_MAP, reader->at);
	read_closed(reader, node);
	return node;
}

/* --- the whole ------------------------------------------------------------ */

/* [a.b], or [[a.b]], whose brackets stand together. */
static struct toml_node *
read_header(struct toml_reader *reader, struct toml_node *root)
{
	bool list = toml_take(reader, "[[");
	struct toml_node *parent, *table;
	struct yaml_node *key;
	struct way way;

	if (!list)
		toml_take(reader, "[");
	read_way(reader, &way);
	if (!reader->failed && !toml_take(reader, list ? "]]" : "]"))
		toml_fail(reader, list ? "expected ']]'" : "expected ']'");
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
		table = toml_node_new(reader, list ? YAML_LIST : YAML_MAP,
		    reader->at);
		table->yaml.loc = key->loc;
		entry_add(reader, parent, key, table);
	}
	table->made = list ? BY_LIST : BY_HEADER;
	if (!list)
		return table;
	parent = table;
	table = toml_node_new(reader, YAML_MAP, reader->at);
	table->yaml.loc = key->loc;
	table->made = BY_HEADER;
	yaml_add(&parent->yaml, &table->yaml);
	return table;
}

struct yaml_node *
toml_read(struct sources *sources, struct diags *diags,
    const struct source *source)
{
	struct toml_reader reader = {
		.arena = sources->arena,
		.diags = diags,
		.source = source,
		.at = source->text + source_bom(source),
		.end = source->text + source->size,
	};
	struct toml_node *root, *table;

	if (!text_is_clean(source, diags))
		return NULL;
	root = table = toml_node_new(&reader, YAML_MAP, reader.at);
	root->made = BY_HEADER;
	toml_skip_lines(&reader);
	while (!reader.failed && reader.at < reader.end) {
		if (toml_is_at(&reader, "["))
			table = read_header(&reader, root);
		else
			read_pair(&reader, table);
		toml_skip_comment(&reader);
		if (!reader.failed && reader.at < reader.end &&
		    !toml_take_line_end(&reader))
			toml_fail(&reader, "expected the end of the line");
		toml_skip_lines(&reader);
	}
	return reader.failed ? NULL : &root->yaml;
}
