/*
 * What sbx.c writes on: a stream that knows its column, and beside it the
 * text that the statements were read from, if there is one.  Of that text the
 * statements are all but the comments and the blank lines, so whoever goes
 * through both in step finds them between two nodes:
 *
 *	    use tools    # why          at: behind what was written last
 *	         at ----^
 *	                                sheet_trailing() takes "# why",
 *	    # what for                  sheet_between() the blank line and
 *	    allow read /srv             "# what for"
 */
#include "compiler/write/write.h"

#include "compiler/base/base.h"
#include "format/text.h"

#include <string.h>

static int
text_width(const char *text, size_t len)
{
	int width = 0;

	for (size_t i = 0, size; i < len; i += size) {
		uint32_t character;

		size = utf8_decode(text + i, len - i, &character);
		if (size == 0)
			return width + (int)(len - i);
		width += character_width(character);
	}
	return width;
}

void
sheet_put(struct sheet *sheet, const char *text, size_t len)
{
	sheet->column += text_width(text, len);
	if (sheet->column > sheet->widest)
		sheet->widest = sheet->column;
	if (sheet->stream != NULL)
		fwrite(text, 1, len, sheet->stream);
}

void
sheet_puts(struct sheet *sheet, const char *text)
{
	sheet_put(sheet, text, strlen(text));
}

void
sheet_newline(struct sheet *sheet)
{
	if (sheet->stream != NULL)
		putc('\n', sheet->stream);
	sheet->column = 0;
}

void
sheet_indent(struct sheet *sheet, int depth)
{
	sheet->margin = SHEET_INDENT * depth;
	while (sheet->column < sheet->margin)
		sheet_put(sheet, " ", 1);
}

void
sheet_pad(struct sheet *sheet, int column)
{
	do
		sheet_put(sheet, " ", 1);
	while (!sheet->alone && sheet->column < sheet->margin + column);
}

/* --- the source ----------------------------------------------------------- */

const char *
sheet_text(const struct sheet *sheet, struct loc loc)
{
	return sheet->source->text + (loc.begin - sheet->source->base);
}

const char *
sheet_end(const struct sheet *sheet, struct loc loc)
{
	if (sheet->source == NULL)
		return NULL;
	return sheet_text(sheet, loc) + (loc.end - loc.begin);
}

bool
sheet_is_broken(const struct sheet *sheet, struct loc loc)
{
	return sheet->source != NULL &&
	    memchr(sheet_text(sheet, loc), '\n', loc.end - loc.begin) != NULL;
}

void
sheet_seek(struct sheet *sheet, struct loc loc)
{
	if (sheet->source != NULL)
		sheet->at = sheet_text(sheet, loc);
}

void
sheet_skip(struct sheet *sheet, struct loc loc)
{
	sheet->at = sheet_end(sheet, loc);
}

void
sheet_take(struct sheet *sheet, char c)
{
	if (sheet->source == NULL)
		return;
	sheet->at += strspn(sheet->at, " \t\r");
	if (*sheet->at != c)
		bug("'%c' is not where the statements put it", c);
	sheet->at++;
}

/* Whether a comment says something to sbxc. */
static bool
is_order(const char *comment)
{
	comment++;
	comment += strspn(comment, " \t");
	return strncmp(comment, "sbx:", strlen("sbx:")) == 0;
}

bool
sheet_is_pinned(const struct sheet *sheet, const char *end)
{
	if (sheet->source == NULL)
		return false;
	end += strspn(end, " \t\r}");
	return sheet->pinned || (*end == '#' && is_order(end));
}

/* With what follows a '#', but not the blanks at the end. */
static void
put_comment(struct sheet *sheet)
{
	size_t size = strcspn(sheet->at, "\n"), len = size;

	while (strchr(" \t\r", sheet->at[len - 1]) != NULL)
		len--;
	sheet_put(sheet, sheet->at, len);
	sheet->at += size;
}

void
sheet_trailing(struct sheet *sheet)
{
	if (sheet->source == NULL)
		return;
	sheet->at += strspn(sheet->at, " \t\r");
	if (*sheet->at != '#')
		return;
	sheet_puts(sheet, "  ");
	put_comment(sheet);
}

/* Returns how many lines end in what is passed over. */
static size_t
skip_blank(struct sheet *sheet)
{
	size_t newlines = 0;

	for (; *sheet->at != '\0' && strchr(" \t\r\n", *sheet->at) != NULL;
	     sheet->at++)
		newlines += *sheet->at == '\n';
	return newlines;
}

void
sheet_between(struct sheet *sheet, int depth)
{
	if (sheet->source == NULL)
		return;
	sheet->pinned = false;
	for (;;) {
		size_t newlines = skip_blank(sheet);
		bool end = *sheet->at == '}' || *sheet->at == '\0';

		if (newlines > 1 && !sheet->first && !end)
			sheet_newline(sheet);
		if (*sheet->at != '#')
			break;
		sheet->pinned = is_order(sheet->at);
		sheet_indent(sheet, depth);
		put_comment(sheet);
		sheet_newline(sheet);
		sheet->first = false;
	}
}
