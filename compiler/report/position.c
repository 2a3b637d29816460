/*
 * See report.h.  The text is read from its end, because a file may have any
 * name: "a (b):1:2" is a file, and "a:1:2 (b)" a place in one.
 */
#include "compiler/report/report.h"

#include "compiler/base/base.h"

#include <string.h>

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Takes " (via)" from the end of the text; false if it is none. */
static bool
cut_via(struct arena *arena, const char *text, size_t *len, const char **via)
{
	size_t end = *len, from = end;

	*via = "";
	if (end == 0 || text[end - 1] != ')')
		return true;
	while (from > 0 && text[from - 1] != '(')
		from--;
	if (from < 2 || text[from - 2] != ' ' ||
	    !name_is_good(text + from, end - 1 - from))
		return false;
	*via = arena_intern(arena, text + from, end - 1 - from);
	*len = from - 2;
	return true;
}

/* Takes ":NUMBER" from the end, in the one way to write it. */
static bool
cut_number(const char *text, size_t *len, uint32_t *number)
{
	size_t from = *len;

	*number = 0;
	while (from > 0 && is_digit(text[from - 1]))
		from--;
	for (size_t i = from; i < *len; i++) {
		if (__builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, (uint32_t)(text[i] - '0'),
			number))
			return false;
	}
	if (from == *len || text[from] == '0' || from < 2 ||
	    text[from - 1] != ':')
		return false;
	*len = from - 1;
	return true;
}

static bool
has_control(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)text[i];

		if (byte < ' ' || byte == 0x7f)
			return true;
	}
	return false;
}

const struct position *
position_read(struct arena *arena, const char *text)
{
	struct position position = { .via = "" }, *copy;
	size_t len = strlen(text);

	if (has_control(text, len) ||
	    !cut_via(arena, text, &len, &position.via) ||
	    !cut_number(text, &len, &position.column) ||
	    !cut_number(text, &len, &position.line))
		return NULL;
	position.file = arena_intern(arena, text, len);
	copy = arena_alloc(arena, sizeof *copy);
	*copy = position;
	return copy;
}

const char *
position_text(struct arena *arena, const struct position *position)
{
	const char *via = position->via;

	if (position->file[0] == '\0' || position->line == 0 ||
	    position->column == 0 ||
	    has_control(position->file, strlen(position->file)) ||
	    (*via != '\0' && !name_is_good(via, strlen(via))))
		return NULL;
	return arena_printf(arena, *via != '\0' ? "%s:%u:%u (%s)" : "%s:%u:%u",
	    position->file, (unsigned)position->line,
	    (unsigned)position->column, via);
}

int
position_compare(const struct position *a, const struct position *b)
{
	int order = a->file == b->file ? 0 : strcmp(a->file, b->file);

	if (order != 0)
		return order;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->column != b->column)
		return a->column < b->column ? -1 : 1;
	return a->via == b->via ? 0 : strcmp(a->via, b->via);
}
