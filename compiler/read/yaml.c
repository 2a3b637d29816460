/*
 * See read.h.  libyaml tells what comes next; the containers that are open are
 * a short stack, so that depth is bounded here, where libyaml would go on in
 * quadratic time.
 *
 * libyaml counts characters, from the first one behind a byte order mark;
 * places are bytes.  Its lines are not used: it also ends them at characters
 * that no editor shows, which the text was found not to have.
 */
#include "compiler/read/read.h"

#include "compiler/base/base.h"
#include "compiler/report/report.h"
#include "format/text.h"

#include <string.h>
#include <yaml.h>

enum {
	KEYS_SHOWN = 12, /* of those that are known, in a help */
};

/* A list or a map that is not closed yet. */
struct open_node {
	struct yaml_node *node;
	struct yaml_node *key; /* of a map: read, and its value is not */
};

struct reader {
	struct arena *arena;
	struct diags *diags;
	const struct source *source;
	uint32_t bom, bom_characters;
	yaml_parser_t parser;
	struct open_node open[YAML_MAX_DEPTH];
	size_t depth, nodes;
	struct map keys; /* of all maps: the map and the text of each */
	int documents;
	struct yaml_node *root;
	bool stopped, done;
};

/* --- places --------------------------------------------------------------- */

/* Where the text begins that has so many characters before it. */
static uint32_t
offset_of(const struct reader *reader, size_t characters)
{
	const struct source *source = reader->source;
	uint32_t low = 0, high = source->size / SOURCE_BLOCK + 1, at;

	characters += reader->bom_characters;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (source->characters[middle] <= characters)
			low = middle;
		else
			high = middle;
	}
	at = low * SOURCE_BLOCK;
	for (size_t seen = source->characters[low]; at < source->size; at++) {
		seen += ((unsigned char)source->text[at] & 0xc0) != 0x80;
		if (seen > characters)
			break;
	}
	return at;
}

static struct loc
loc_between(const struct reader *reader, const yaml_mark_t *begin,
    const yaml_mark_t *end)
{
	uint32_t base = reader->source->base;

	return (struct loc){ base + offset_of(reader, begin->index),
		base + offset_of(reader, end->index) };
}

static struct loc
event_loc(const struct reader *reader, const yaml_event_t *event)
{
	return loc_between(reader, &event->start_mark, &event->end_mark);
}

/* --- what is refused ------------------------------------------------------ */

static void
report_mark(struct reader *reader, const yaml_event_t *event, const char *what)
{
	yaml_report_mark(reader->diags, reader->source,
	    event_loc(reader, event), what);
}

static void
check_marks(struct reader *reader, const yaml_event_t *event,
    const yaml_char_t *anchor, const yaml_char_t *tag)
{
	if (anchor != NULL)
		report_mark(reader, event, "an anchor");
	else if (tag != NULL)
		report_mark(reader, event, "a tag");
}

static bool
has_room(struct reader *reader, const yaml_event_t *event)
{
	struct loc loc = event_loc(reader, event);

	loc.end = loc.begin + (loc.end > loc.begin);
	if (++reader->nodes > YAML_MAX_NODES) {
		diag_add(reader->diags, DIAG_YAML_BOUNDS, loc,
		    "the file holds more than %d texts, lists and maps",
		    YAML_MAX_NODES);
		reader->stopped = true;
	} else if (reader->depth == YAML_MAX_DEPTH &&
	    (event->type == YAML_SEQUENCE_START_EVENT ||
		event->type == YAML_MAPPING_START_EVENT)) {
		diag_add(reader->diags, DIAG_YAML_BOUNDS, loc,
		    "lists and maps are nested more than %d deep",
		    YAML_MAX_DEPTH);
		reader->stopped = true;
	}
	return !reader->stopped;
}

static void
check_key(struct reader *reader, struct open_node *open, struct yaml_node *key)
{
	const void *id[] = { open->node, key->text };
	const struct yaml_node *first;
	struct diag *diag;
	bool added;

	if (key->kind != YAML_TEXT) {
		diag_add(reader->diags, DIAG_YAML_KEY, key->loc,
		    "a key is text, not a %s",
		    key->kind == YAML_LIST ? "list" : "map");
		reader->stopped = true;
		return;
	}
	if (key->plain && strcmp(key->text, "<<") == 0) {
		diag = diag_add(reader->diags, DIAG_YAML_MARK, key->loc,
		    "'<<' merges another map into this one");
		diag_help(diag, "write out what is meant");
		return;
	}
	map_number(reader->arena, &reader->keys, id, sizeof id, &added);
	if (added)
		return;
	diag = diag_add(reader->diags, DIAG_YAML_DUPLICATE, key->loc,
	    "the key '%s' stands twice", key->text);
	first = yaml_find(open->node, key->text);
	if (first != NULL)
		diag_note(diag, first->key->loc, "it is here first");
}

/* --- the tree ------------------------------------------------------------- */

static struct yaml_node *
node_new(struct reader *reader, const yaml_event_t *event, enum yaml_kind kind)
{
	struct yaml_node *node = arena_alloc(reader->arena, sizeof *node);

	node->kind = kind;
	node->loc = event_loc(reader, event);
	return node;
}

/* Puts a node where the next one belongs: a root, an item, a key or a value. */
static void
place(struct reader *reader, struct yaml_node *node)
{
	struct open_node *open;

	if (reader->depth == 0) {
		reader->root = node;
		return;
	}
	open = &reader->open[reader->depth - 1];
	if (open->node->kind == YAML_MAP && open->key == NULL) {
		check_key(reader, open, node);
		open->key = node;
		return;
	}
	node->key = open->key;
	open->key = NULL;
	yaml_add(open->node, node);
}

static void
open_node(struct reader *reader, const yaml_event_t *event, enum yaml_kind kind)
{
	struct yaml_node *node;

	if (!has_room(reader, event))
		return;
	node = node_new(reader, event, kind);
	/* A map in braces begins with them, any other with its first entry;
	 * one character is enough to show the place. */
	node->loc.end = node->loc.begin + 1;
	place(reader, node);
	if (!reader->stopped)
		reader->open[reader->depth++] = (struct open_node){
			.node = node,
		};
}

static void
close_node(struct reader *reader)
{
	struct yaml_node *node = reader->open[--reader->depth].node;

	if (node->last != NULL && node->last->loc.end > node->loc.end)
		node->loc.end = node->last->loc.end;
}

/* A quoted text lies between its quotes; a block ends with its last letter. */
static struct loc
text_loc(const struct reader *reader, const yaml_event_t *event)
{
	struct loc loc = event_loc(reader, event);
	const char *text = reader->source->text;
	uint32_t base = reader->source->base;

	switch (event->data.scalar.style) {
	case YAML_SINGLE_QUOTED_SCALAR_STYLE:
	case YAML_DOUBLE_QUOTED_SCALAR_STYLE:
		loc.begin++;
		loc.end--;
		break;
	case YAML_LITERAL_SCALAR_STYLE:
	case YAML_FOLDED_SCALAR_STYLE:
		while (loc.end > loc.begin + 1 &&
		    strchr(" \r\n", text[loc.end - base - 1]) != NULL)
			loc.end--;
		break;
	case YAML_ANY_SCALAR_STYLE:
	case YAML_PLAIN_SCALAR_STYLE:
		break;
	}
	return loc;
}

/* Escapes can make what the text itself must not hold. */
static void
check_escapes(struct reader *reader, struct loc loc, const char *text,
    size_t len)
{
	for (size_t i = 0, size; i < len; i += size) {
		uint32_t character;

		size = utf8_decode(text + i, len - i, &character);
		if (size == 0)
			size = 1;
		else if (character == '\n' || character == '\t' ||
		    !utf8_is_hidden(character))
			continue;
		diag_add(reader->diags, DIAG_BAD_BYTE, loc,
		    "an escape makes the %s character U+%04X",
		    character < ' ' ? "control" : "invisible",
		    (unsigned)character);
		return;
	}
}

static void
read_text(struct reader *reader, const yaml_event_t *event)
{
	struct yaml_node *node = node_new(reader, event, YAML_TEXT);
	const char *text = (const char *)event->data.scalar.value;
	size_t len = event->data.scalar.length;

	node->loc = text_loc(reader, event);
	node->text = arena_intern(reader->arena, text, len);
	node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	if (event->data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE)
		check_escapes(reader, node->loc, text, len);
	place(reader, node);
}

/* A text stands for the alias, so that reading can go on. */
static void
read_alias(struct reader *reader, const yaml_event_t *event)
{
	struct yaml_node *node = node_new(reader, event, YAML_TEXT);

	report_mark(reader, event, "an alias");
	node->text = arena_printf(reader->arena, "*%s",
	    (const char *)event->data.alias.anchor);
	place(reader, node);
}

static void
read_document(struct reader *reader, const yaml_event_t *event)
{
	struct loc loc = event_loc(reader, event);

	if (event->data.document_start.tag_directives.start !=
	    event->data.document_start.tag_directives.end) {
		loc.end = loc.begin + 1;
		diag_help(diag_add(reader->diags, DIAG_YAML_MARK, loc,
			      "a directive about tags"),
		    "leave it out: tags are not read");
	}
	if (++reader->documents == 1)
		return;
	diag_help(diag_add(reader->diags, DIAG_YAML_DOCUMENTS, loc,
		      "a second document begins here"),
	    "one file holds one document; put it into a file of its own");
	reader->stopped = true;
}

static void
read_event(struct reader *reader, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		read_document(reader, event);
		break;
	case YAML_ALIAS_EVENT:
		if (has_room(reader, event))
			read_alias(reader, event);
		break;
	case YAML_SCALAR_EVENT:
		check_marks(reader, event, event->data.scalar.anchor,
		    event->data.scalar.tag);
		if (has_room(reader, event))
			read_text(reader, event);
		break;
	case YAML_SEQUENCE_START_EVENT:
		check_marks(reader, event, event->data.sequence_start.anchor,
		    event->data.sequence_start.tag);
		open_node(reader, event, YAML_LIST);
		break;
	case YAML_MAPPING_START_EVENT:
		check_marks(reader, event, event->data.mapping_start.anchor,
		    event->data.mapping_start.tag);
		open_node(reader, event, YAML_MAP);
		break;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		close_node(reader);
		break;
	case YAML_STREAM_END_EVENT:
		reader->done = true;
		break;
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_DOCUMENT_END_EVENT:
		break;
	}
}

/* --- reading -------------------------------------------------------------- */

static void
report_problem(struct reader *reader)
{
	const yaml_parser_t *parser = &reader->parser;
	uint32_t base = reader->source->base;
	struct yaml_problem problem = {
		.problem = parser->problem != NULL ? parser->problem : "",
		.context = parser->context != NULL ? parser->context : "",
		.in_list = parser->flow_level > 0,
	};

	reader->stopped = true;
	if (parser->error == YAML_MEMORY_ERROR)
		arena_exhausted();
	if (parser->error == YAML_READER_ERROR) {
		problem.loc.begin = base + reader->bom +
		    (uint32_t)parser->problem_offset;
		problem.loc.end = problem.loc.begin + 1;
	} else {
		problem.loc = loc_between(reader, &parser->problem_mark,
		    &parser->problem_mark);
		problem.context_loc = loc_between(reader, &parser->context_mark,
		    &parser->context_mark);
	}
	yaml_report_problem(reader->diags, reader->source, &problem);
}

static void
read_events(struct reader *reader)
{
	while (!reader->stopped && !reader->done) {
		yaml_event_t event;

		if (!yaml_parser_parse(&reader->parser, &event)) {
			report_problem(reader);
			return;
		}
		read_event(reader, &event);
		yaml_event_delete(&event);
		if (reader->diags->errors >= DIAG_MAX)
			reader->stopped = true;
	}
}

static void
report_empty(struct reader *reader)
{
	uint32_t base = reader->source->base;

	diag_help(diag_add(reader->diags, DIAG_YAML_DOCUMENTS,
		      (struct loc){ base, base },
		      "there is nothing in the file"),
	    "a policy begins with 'sbx: 1'");
}

struct yaml_node *
yaml_read(struct sources *sources, struct diags *diags,
    const struct source *source)
{
	struct reader *reader;
	size_t errors = diags->errors;

	if (!text_is_clean(source, diags))
		return NULL;
	reader = arena_alloc(sources->arena, sizeof *reader);
	reader->arena = sources->arena;
	reader->diags = diags;
	reader->source = source;
	reader->bom = source_bom(source);
	reader->bom_characters = reader->bom > 0;
	if (!yaml_parser_initialize(&reader->parser))
		arena_exhausted();
	yaml_parser_set_encoding(&reader->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&reader->parser,
	    (const unsigned char *)source->text + reader->bom,
	    source->size - reader->bom);
	read_events(reader);
	yaml_parser_delete(&reader->parser);
	if (reader->root == NULL && diags->errors == errors)
		report_empty(reader);
	return diags->errors > errors ? NULL : reader->root;
}

/* --- for those who read the tree, or make one ----------------------------- */

void
yaml_add(struct yaml_node *parent, struct yaml_node *entry)
{
	if (parent->last == NULL)
		parent->first = entry;
	else
		parent->last->next = entry;
	parent->last = entry;
	parent->count++;
}

const struct yaml_node *
yaml_find(const struct yaml_node *map, const char *key)
{
	const struct yaml_node *entry = map == NULL || map->kind != YAML_MAP ?
	    NULL :
	    map->first;

	while (entry != NULL && strcmp(entry->key->text, key) != 0)
		entry = entry->next;
	return entry;
}

bool
yaml_is_nothing(const struct yaml_node *node)
{
	return node->kind == YAML_TEXT && node->plain && *node->text == '\0';
}

struct diag *
yaml_report_kind(struct diags *diags, const struct yaml_node *node,
    const char *wanted)
{
	static const char *const kinds[] = {
		[YAML_TEXT] = "text",
		[YAML_LIST] = "a list",
		[YAML_MAP] = "a map",
	};
	bool nothing = yaml_is_nothing(node);

	return diag_add(diags, DIAG_YAML_SHAPE,
	    nothing && node->key != NULL ? node->key->loc : node->loc,
	    "expected %s, found %s", wanted,
	    nothing ? "nothing" : kinds[node->kind]);
}

struct diag *
yaml_report_key(struct diags *diags, const struct yaml_node *key,
    const char *const *names, size_t count)
{
	struct diag *diag = diag_add(diags, DIAG_YAML_KEY, key->loc,
	    "unknown key '%s'", key->text);
	const char *nearest = nearest_name(key->text, names, count);
	const char *list = "";
	size_t shown = 0;

	if (nearest != NULL) {
		diag_did_you_mean(diag, nearest);
		return diag;
	}
	for (size_t i = 0; i < count && shown <= KEYS_SHOWN; i++) {
		if (names[i] == NULL)
			continue;
		list = arena_printf(diags->arena, "%s%s %s", list,
		    shown++ == 0 ? "" : ",", names[i]);
	}
	if (shown > 0 && shown <= KEYS_SHOWN)
		diag_help(diag, "keys are%s", list);
	return diag;
}
