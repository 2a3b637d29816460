/*
 * Statements as YAML and as JSON: the tree of tree.h, printed.
 *
 *	sbx: 1                            {
 *	profiles:                           "sbx": "1",
 *	  team:                             "profiles": {
 *	    rules:                            "team": {
 *	      - deny read: /srv/keys            "rules": [
 *	                                          { "deny read": "/srv/keys" },
 *
 * Where the text is at hand that the statements were read from, the comments
 * above a statement and behind it are put above it.
 */
#include "compiler/write/tree.h"
#include "compiler/write/write.h"

#include <string.h>
#include <strings.h>

enum { WIDTH = 80 };

struct printer {
	FILE *stream;
	const struct source *source; /* or NULL */
	bool json;                   /* JSON, where each text has quotes */
};

/* --- comments ------------------------------------------------------------- */

/* Where the line begins that stands above the one that begins here. */
static const char *
line_above(const struct source *source, const char *line)
{
	if (line == source->text)
		return NULL;
	for (line--; line > source->text && line[-1] != '\n';)
		line--;
	return line;
}

static bool
is_comment(const char *line)
{
	return line[strspn(line, " \t")] == '#';
}

static void
put_comment(const struct printer *printer, const char *line, int indent)
{
	size_t len;

	line += strspn(line, " \t");
	len = strcspn(line, "\r\n");
	fprintf(printer->stream, "%*s%.*s\n", indent, "", (int)len, line);
}

/* Prints the comments that belong to the statement of a node. */
static void
put_comments(const struct printer *printer, const struct yaml_node *node,
    int indent)
{
	const struct source *source = printer->source;
	const char *line, *first, *above;

	if (source == NULL || node->loc.begin == 0)
		return;
	line = source->text + (node->loc.begin - source->base);
	while (line > source->text && line[-1] != '\n')
		line--;
	for (first = line;
	     (above = line_above(source, first)) != NULL && is_comment(above);)
		first = above;
	for (; first < line; first += strcspn(first, "\n") + 1)
		put_comment(printer, first, indent);
	line = source->text + (node->loc.end - source->base);
	line += strspn(line, " \t{:");
	if (*line == '#')
		put_comment(printer, line, indent);
}

/* --- YAML ----------------------------------------------------------------- */

/* What other readers of YAML take for something that is no text. */
static bool
is_typed(const char *text)
{
	static const char *const words[] = { "true", "false", "yes", "no", "on",
		"off", "null", "y", "n", "~" };

	for (size_t i = 0; i < countof(words); i++) {
		if (strcasecmp(words[i], text) == 0)
			return true;
	}
	return false;
}

/* Whether text needs no quotes; `flow` says that it stands between brackets. */
static bool
is_plain(const char *text, bool flow)
{
	size_t len = strlen(text);

	if (len == 0 || strchr("-?:,[]{}#&*!|>'\"%@`=<. ", text[0]) != NULL ||
	    is_typed(text))
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < ' ' || c == 0x7f ||
		    (flow && strchr(",[]{}", c) != NULL))
			return false;
	}
	return strstr(text, ": ") == NULL && strstr(text, " #") == NULL &&
	    text[len - 1] != ':' && text[len - 1] != ' ';
}

/* Both forms have the escapes that are needed in common. */
static void
put_quoted(FILE *stream, const char *text)
{
	putc('"', stream);
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(stream, "\\%c", c);
		else if (c == '\n' || c == '\t')
			fputs(c == '\n' ? "\\n" : "\\t", stream);
		else if (c < ' ' || c == 0x7f)
			fprintf(stream, "\\u%04x", c);
		else
			putc(c, stream);
	}
	putc('"', stream);
}

static void
put_text(const struct printer *printer, const char *text, bool flow)
{
	if (!printer->json && is_plain(text, flow))
		fputs(text, printer->stream);
	else
		put_quoted(printer->stream, text);
}

/* A list or map on one line, between brackets, or a text. */
static void
put_flow(const struct printer *printer, const struct yaml_node *node)
{
	FILE *stream = printer->stream;
	bool list = node->kind == YAML_LIST;

	if (node->kind == YAML_TEXT) {
		put_text(printer, node->text, true);
		return;
	}
	putc(list ? '[' : '{', stream);
	for (const struct yaml_node *item = node->first; item != NULL;
	     item = item->next) {
		fputs(item == node->first ? " " : ", ", stream);
		if (!list) {
			put_text(printer, item->key->text, true);
			fputs(": ", stream);
		}
		put_flow(printer, item);
	}
	if (node->first != NULL)
		putc(' ', stream);
	putc(list ? ']' : '}', stream);
}

static size_t
text_width(const struct printer *printer, const char *text)
{
	return strlen(text) + (printer->json || !is_plain(text, true) ? 2 : 0);
}

/* Its width on one line, or more than `room`. */
static size_t
flow_width(const struct printer *printer, const struct yaml_node *node,
    size_t room)
{
	size_t width = 2;

	if (node->kind == YAML_TEXT)
		return text_width(printer, node->text);
	for (const struct yaml_node *item = node->first;
	     item != NULL && width <= room; item = item->next)
		width += flow_width(printer, item, room) + 2 +
		    (item->key != NULL ?
			    text_width(printer, item->key->text) + 2 :
			    0);
	return width;
}

/* Nothing but texts, and, in a list, objects that are maps of one. */
static bool
holds_texts(const struct yaml_node *node)
{
	const struct yaml_node *item = node->first;

	while (item != NULL &&
	    (item->kind == YAML_TEXT ||
		(node->kind == YAML_LIST && item->kind == YAML_MAP &&
		    (yaml_find(item, "glob") != NULL ||
			yaml_find(item, "quoted") != NULL))))
		item = item->next;
	return item == NULL;
}

/* Objects stand on one line if there is room; what holds statements never
 * does. */
static bool
is_flow(const struct printer *printer, const struct yaml_node *node, int indent)
{
	size_t used = (size_t)indent +
	    (node->key == NULL ? 2 : strlen(node->key->text) + 2);

	if (node->first == NULL)
		return true;
	if (node->key == NULL || !holds_texts(node) || used >= WIDTH ||
	    (node->kind == YAML_MAP && node->count > 1))
		return false;
	return used + flow_width(printer, node, WIDTH) <= WIDTH;
}

static void yaml_block(const struct printer *printer,
    const struct yaml_node *node, int indent, bool first_is_begun);

/* Behind a key or a '-'. */
static void
yaml_value(const struct printer *printer, const struct yaml_node *node,
    int indent)
{
	FILE *stream = printer->stream;

	/* What may be one text or a list of them. */
	if (node->key != NULL && node->kind == YAML_LIST && node->count == 1 &&
	    (strcmp(node->key->text, "include") == 0 ||
		strcmp(node->key->text, "param") == 0))
		node = node->first;
	if (node->kind == YAML_TEXT) {
		putc(' ', stream);
		put_text(printer, node->text, false);
		putc('\n', stream);
	} else if (is_flow(printer, node, indent)) {
		putc(' ', stream);
		put_flow(printer, node);
		putc('\n', stream);
	} else if (node->key == NULL) {
		putc(' ', stream);
		yaml_block(printer, node, indent + 2, true);
	} else {
		putc('\n', stream);
		yaml_block(printer, node, indent + 2, false);
	}
}

/* Sections, groups and profiles stand apart. */
static bool
is_apart(const struct yaml_node *parent, const struct yaml_node *item,
    int indent)
{
	bool blocks = parent->key != NULL &&
	    (strcmp(parent->key->text, "groups") == 0 ||
		strcmp(parent->key->text, "profiles") == 0);

	return item != parent->first && parent->kind == YAML_MAP &&
	    (indent == 0 || (indent == 2 && blocks));
}

/* `begun`: the first entry goes behind a '-' that is there. */
static void
yaml_block(const struct printer *printer, const struct yaml_node *node,
    int indent, bool begun)
{
	for (const struct yaml_node *item = node->first; item != NULL;
	     item = item->next) {
		if (is_apart(node, item, indent))
			putc('\n', printer->stream);
		if (item != node->first || !begun) {
			put_comments(printer, item, indent);
			fprintf(printer->stream, "%*s", indent, "");
		}
		if (node->kind == YAML_MAP) {
			put_text(printer, item->key->text, false);
			putc(':', printer->stream);
		} else {
			putc('-', printer->stream);
		}
		yaml_value(printer, item, indent);
	}
}

void
write_yaml_source(FILE *stream, const struct ast_stmt *stmts,
    const struct source *source)
{
	const struct printer printer = { .stream = stream, .source = source };
	struct arena *arena = arena_new();

	yaml_block(&printer, write_tree(arena, stmts), 0, false);
	arena_release(arena);
}

void
write_yaml(FILE *stream, const struct ast_stmt *stmts)
{
	write_yaml_source(stream, stmts, NULL);
}

/* --- JSON ----------------------------------------------------------------- */

/* A list of texts, an object, or a statement with such. */
static bool
json_is_line(const struct printer *printer, const struct yaml_node *node,
    int indent)
{
	bool texts = holds_texts(node);
	size_t used = (size_t)indent +
	    (node->key != NULL ? text_width(printer, node->key->text) + 2 : 0);

	for (const struct yaml_node *item = node->first;
	     item != NULL && node->kind == YAML_MAP && !texts;
	     item = item->next) {
		if (item->kind != YAML_TEXT && !holds_texts(item))
			return false;
	}
	return (texts || node->kind == YAML_MAP) && indent > 0 &&
	    flow_width(printer, node, WIDTH) + used < WIDTH;
}

static void
json_node(const struct printer *printer, const struct yaml_node *node,
    int indent)
{
	bool list = node->kind == YAML_LIST;
	FILE *stream = printer->stream;

	if (node->first == NULL || json_is_line(printer, node, indent)) {
		put_flow(printer, node);
		return;
	}
	putc(list ? '[' : '{', stream);
	for (const struct yaml_node *item = node->first; item != NULL;
	     item = item->next) {
		fprintf(stream, "%s\n%*s", item != node->first ? "," : "",
		    indent + 2, "");
		if (!list) {
			put_quoted(stream, item->key->text);
			fputs(": ", stream);
		}
		json_node(printer, item, indent + 2);
	}
	fprintf(stream, "\n%*s%c", indent, "", list ? ']' : '}');
}

void
write_json(FILE *stream, const struct ast_stmt *stmts)
{
	const struct printer printer = { .stream = stream, .json = true };
	struct arena *arena = arena_new();

	json_node(&printer, write_tree(arena, stmts), 0);
	putc('\n', stream);
	arena_release(arena);
}
