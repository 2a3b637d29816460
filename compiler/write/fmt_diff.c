/*
 * What a change of layout does to the lines of a text.
 *
 * The two texts are the same but for blanks and ends of lines.  So if the
 * characters between them ("ink") are counted, two lines belong together when
 * they look the same and as much ink is before each, and one walk finds all
 * such pairs:
 *
 *	 ink                                     ink
 *	   0  allow read { /a /b }          -     0  allow read  { /a  /b }  +
 *	  17  deny env    *_KEY                  17  deny env    *_KEY
 */
#include "compiler/write/fmt.h"

#include <string.h>

enum { CONTEXT = 3 };

struct line {
	const char *text;
	size_t len; /* with its newline, if it has one */
	size_t ink; /* before it */
};

struct lines {
	VEC(struct line) list;
};

/* Lines [from, to) of each text, which have nothing in common. */
struct change {
	size_t from[2], to[2];
};

struct changes {
	VEC(struct change) list;
};

struct paper {
	FILE *stream;
	bool colour;
	struct lines lines[2];
};

static size_t
count_ink(const struct line *line)
{
	size_t ink = 0;

	for (size_t i = 0; i < line->len; i++)
		ink += strchr(" \t\r\n", line->text[i]) == NULL;
	return ink;
}

static void
split(struct arena *arena, struct text text, struct lines *lines)
{
	const char *at = text.bytes, *end = text.bytes + text.size;
	size_t ink = 0;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		struct line line = {
			.text = at,
			.len = (size_t)((newline != NULL ? newline + 1 : end) -
			    at),
			.ink = ink,
		};

		*arena_push(arena, &lines->list) = line;
		ink += count_ink(&line);
		at += line.len;
	}
}

static bool
same(const struct line *a, const struct line *b)
{
	return a->ink == b->ink && a->len == b->len &&
	    memcmp(a->text, b->text, a->len) == 0;
}

/* Adds line at[side] to the change that ends there, or begins one. */
static void
add_line(struct arena *arena, struct changes *changes, const size_t at[2],
    int side)
{
	struct change *last = NULL;

	if (changes->list.count > 0)
		last = &changes->list.items[changes->list.count - 1];
	if (last == NULL || last->to[0] != at[0] || last->to[1] != at[1]) {
		last = arena_push(arena, &changes->list);
		*last = (struct change){ { at[0], at[1] }, { at[0], at[1] } };
	}
	last->to[side]++;
}

static void
find_changes(struct arena *arena, const struct lines lines[2],
    struct changes *changes)
{
	size_t at[2] = { 0, 0 };

	for (;;) {
		bool more[2] = { at[0] < lines[0].list.count,
			at[1] < lines[1].list.count };
		const struct line *old = &lines[0].list.items[at[0]];
		const struct line *new = &lines[1].list.items[at[1]];
		int side;

		if (!more[0] && !more[1])
			return;
		if (more[0] && more[1] && same(old, new)) {
			at[0]++;
			at[1]++;
			continue;
		}
		side = !more[0] || (more[1] && new->ink < old->ink);
		add_line(arena, changes, at, side);
		at[side]++;
	}
}

/* --- printing ------------------------------------------------------------- */

/* Those that git uses. */
static const char *
colour_of(char sign)
{
	if (sign == '-')
		return "\33[31m";
	return sign == '+' ? "\33[32m" : NULL;
}

static void
print(const struct paper *paper, char sign, const struct line *line)
{
	const char *colour = paper->colour ? colour_of(sign) : NULL;
	bool newline = line->text[line->len - 1] == '\n';
	int len = (int)(line->len - newline);

	if (colour != NULL)
		fprintf(paper->stream, "%s%c%.*s\33[m\n", colour, sign, len,
		    line->text);
	else
		fprintf(paper->stream, "%c%.*s\n", sign, len, line->text);
	if (!newline)
		fputs("\\ No newline at end of file\n", paper->stream);
}

static void
print_lines(const struct paper *paper, char sign, int side, size_t from,
    size_t to)
{
	for (size_t i = from; i < to; i++)
		print(paper, sign, &paper->lines[side].list.items[i]);
}

/* "12,3": an empty range is named by the line before it. */
static void
print_range(const struct paper *paper, char sign, size_t from, size_t to)
{
	fprintf(paper->stream, "%c%zu", sign, from + (to > from));
	if (to - from != 1)
		fprintf(paper->stream, ",%zu", to - from);
}

static size_t
context_before(size_t line)
{
	return line > CONTEXT ? line - CONTEXT : 0;
}

static size_t
context_after(const struct paper *paper, int side, size_t line)
{
	size_t count = paper->lines[side].list.count;

	return count - line > CONTEXT ? line + CONTEXT : count;
}

/* Changes that are so near to each other that their context meets. */
static void
print_hunk(const struct paper *paper, const struct change *first,
    const struct change *last)
{
	size_t at = context_before(first->from[0]);
	size_t end = context_after(paper, 0, last->to[0]);

	fputs(paper->colour ? "\33[36m@@ " : "@@ ", paper->stream);
	print_range(paper, '-', at, end);
	putc(' ', paper->stream);
	print_range(paper, '+', first->from[1] - (first->from[0] - at),
	    last->to[1] + (end - last->to[0]));
	fputs(paper->colour ? " @@\33[m\n" : " @@\n", paper->stream);
	for (const struct change *change = first; change <= last; change++) {
		print_lines(paper, ' ', 0, at, change->from[0]);
		print_lines(paper, '-', 0, change->from[0], change->to[0]);
		print_lines(paper, '+', 1, change->from[1], change->to[1]);
		at = change->to[0];
	}
	print_lines(paper, ' ', 0, at, end);
}

void
fmt_diff(FILE *stream, struct arena *arena, const char *name,
    const struct text texts[2], bool colour)
{
	struct paper paper = { .stream = stream, .colour = colour };
	struct changes changes = { 0 };
	size_t count, first = 0;

	for (int side = 0; side < 2; side++)
		split(arena, texts[side], &paper.lines[side]);
	find_changes(arena, paper.lines, &changes);
	fprintf(stream, "%s--- %s%s\n", colour ? "\33[1m" : "", name,
	    colour ? "\33[m" : "");
	fprintf(stream, "%s+++ %s%s\n", colour ? "\33[1m" : "", name,
	    colour ? "\33[m" : "");
	count = changes.list.count;
	for (size_t i = 0; i < count; i++) {
		const struct change *change = &changes.list.items[i];

		if (i + 1 < count &&
		    change[1].from[0] - change->to[0] <= 2 * CONTEXT)
			continue;
		print_hunk(&paper, &changes.list.items[first], change);
		first = i + 1;
	}
}
