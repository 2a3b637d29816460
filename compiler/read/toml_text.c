/* See toml_text.h. */
#include "compiler/read/toml_text.h"

#include "format/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- places --------------------------------------------------------------- */

static struct loc
loc_of(const struct toml_reader *reader, const char *begin, const char *end)
{
	uint32_t base = reader->source->base;

	return (struct loc){ base + (uint32_t)(begin - reader->source->text),
		base + (uint32_t)(end - reader->source->text) };
}

/* At the next character; only the first mistake is told. */
void
toml_fail(struct toml_reader *reader, const char *what)
{
	const char *end = reader->at + (reader->at < reader->end);

	if (!reader->failed)
		diag_add(reader->diags, DIAG_TOML_SYNTAX,
		    loc_of(reader, reader->at, end), "%s", what);
	reader->failed = true;
}

void
toml_fail_bounds(struct toml_reader *reader, const char *what, int most)
{
	if (!reader->failed)
		diag_add(reader->diags, DIAG_YAML_BOUNDS,
		    loc_of(reader, reader->at, reader->at), "%s %d", what,
		    most);
	reader->failed = true;
}

struct toml_node *
toml_node_new(struct toml_reader *reader, enum yaml_kind kind,
    const char *begin)
{
	struct toml_node *node = arena_alloc(reader->arena, sizeof *node);

	if (++reader->nodes > YAML_MAX_NODES)
		toml_fail_bounds(reader, "the file holds more values than",
		    YAML_MAX_NODES);
	node->yaml.kind = kind;
	node->yaml.loc = loc_of(reader, begin, reader->at);
	return node;
}

struct toml_node *
toml_text_new(struct toml_reader *reader, const char *begin, const char *text,
    size_t len)
{
	struct toml_node *node = toml_node_new(reader, YAML_TEXT, begin);

	node->yaml.text = arena_intern(reader->arena, text, len);
	return node;
}

/* --- blanks --------------------------------------------------------------- */

bool
toml_is_at(const struct toml_reader *reader, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(reader->end - reader->at) >= len &&
	    memcmp(reader->at, word, len) == 0;
}

bool
toml_take(struct toml_reader *reader, const char *word)
{
	if (!toml_is_at(reader, word))
		return false;
	reader->at += strlen(word);
	return true;
}

void
toml_skip_blanks(struct toml_reader *reader)
{
	while (toml_is_at(reader, " ") || toml_is_at(reader, "\t"))
		reader->at++;
}

bool
toml_take_line_end(struct toml_reader *reader)
{
	return toml_take(reader, "\n") || toml_take(reader, "\r\n");
}

void
toml_skip_comment(struct toml_reader *reader)
{
	toml_skip_blanks(reader);
	if (!toml_is_at(reader, "#"))
		return;
	while (reader->at < reader->end && !toml_is_at(reader, "\n") &&
	    !toml_is_at(reader, "\r\n"))
		reader->at++;
}

/* Blanks, comments and line ends. */
void
toml_skip_lines(struct toml_reader *reader)
{
	do
		toml_skip_comment(reader);
	while (toml_take_line_end(reader));
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
take_number(struct toml_reader *reader, FILE *stream, int digits)
{
	uint32_t c = 0;

	for (int i = 0; i < digits; i++) {
		int value = reader->at < reader->end ? hex_value(*reader->at) :
						       -1;

		if (value < 0) {
			toml_fail(reader, "expected a hexadecimal digit");
			return;
		}
		c = c << 4 | (uint32_t)value;
		reader->at++;
	}
	if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		toml_fail(reader, "there is no such character");
	else
		put_utf8(stream, c);
}

/* Behind a backslash. */
static void
take_escape(struct toml_reader *reader, FILE *stream, bool lines)
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
		toml_skip_blanks(reader);
		if (toml_take_line_end(reader)) {
			do
				toml_skip_blanks(reader);
			while (toml_take_line_end(reader));
			return;
		}
	}
	toml_fail(reader, "no such escape");
}

/* Whether a text of these quotes ends here.  Up to two more of them may stand
 * at the end of a text of several lines, and belong to it. */
static bool
ends_here(struct toml_reader *reader, const char *quotes, FILE *stream)
{
	if (!toml_is_at(reader, quotes))
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
take_text(struct toml_reader *reader, const char *quotes, FILE *stream)
{
	bool lines = strlen(quotes) == 3, escapes = *quotes == '"';

	if (lines)
		toml_take_line_end(reader);
	while (!reader->failed && !ends_here(reader, quotes, stream)) {
		if (reader->at == reader->end ||
		    (!lines && (*reader->at == '\n' || *reader->at == '\r'))) {
			toml_fail(reader, "this text does not end");
		} else if (escapes && toml_take(reader, "\\")) {
			take_escape(reader, stream, lines);
		} else {
			fputc(*reader->at, stream);
			reader->at++;
		}
	}
}

struct toml_node *
toml_read_quoted(struct toml_reader *reader, const char *quotes)
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
	node = toml_text_new(reader, begin, text, size);
	free(text);
	toml_take(reader, quotes);
	return node;
}
