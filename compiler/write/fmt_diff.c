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

/* A line of both texts (' '), of the first ('-') or of the second ('+'). */
struct line {
	char sign;
	struct text text; /* with its newline, if it has one */
	size_t number[2]; /* of the line of each text that comes here */
};

struct script {
	VEC(struct line) lines;
};

/* What is left of a text, and the ink before it. */
struct rest {
	struct text text;
	size_t ink, number;
};

static struct text
first_line(const struct rest *rest)
{
	const char *newline = rest->text.size == 0 ?
	    NULL :
	    memchr(rest->text.bytes, '\n', rest->text.size);
	struct text line = rest->text;

	if (newline != NULL)
		line.size = (size_t)(newline + 1 - line.bytes);
	return line;
}

static void
skip_line(struct rest *rest, struct text line)
{
	for (size_t i = 0; i < line.size; i++)
		rest->ink += strchr(" \t\r\n", line.bytes[i]) == NULL;
	rest->text.bytes += line.size;
	rest->text.size -= line.size;
	rest->number++;
}

static void
compare(struct arena *arena, const struct text texts[2], struct script *script)
{
	struct rest old = { .text = texts[0] }, new = { .text = texts[1] };

	while (old.text.size > 0 || new.text.size > 0) {
		struct text removed = first_line(&old);
		struct text added = first_line(&new);
		bool same = old.ink == new.ink &&removed.size ==
		    added.size &&memcmp(removed.bytes, added.bytes,
			added.size) == 0;
		bool second = !same &&
		    (removed.size == 0 ||
			(added.size > 0 && new.ink < old.ink));

		*arena_push(arena, &script->lines) = (struct line){
			.sign = same ? ' ' :
			    second   ? '+' :
				       '-',
			.text = second ? added : removed,
			.number = { old.number, new.number },
		};
		if (!second)
			skip_line(&old, removed);
		if (same || second)
			skip_line(&new, added);
	}
}

/* --- printing ------------------------------------------------------------- */

struct paper {
	FILE *stream;
	bool colour;
};

/* The colours are those that git uses. */
static void
print_line(const struct paper *paper, const struct line *line)
{
	const char *colour = !paper->colour || line->sign == ' ' ? "" :
	    line->sign == '-'                                    ? "\33[31m" :
								   "\33[32m";
	bool newline = line->text.bytes[line->text.size - 1] == '\n';

	fprintf(paper->stream, "%s%c%.*s%s\n", colour, line->sign,
	    (int)(line->text.size - newline), line->text.bytes,
	    *colour != '\0' ? "\33[m" : "");
	if (!newline)
		fputs("\\ No newline at end of file\n", paper->stream);
}

/* The lines of one change: what is removed comes first. */
static const struct line *
print_change(const struct paper *paper, const struct line *line,
    const struct line *end)
{
	const struct line *last = line;

	while (last < end && last->sign != ' ')
		last++;
	for (const struct line *at = line; at < last; at++) {
		if (at->sign == '-')
			print_line(paper, at);
	}
	for (const struct line *at = line; at < last; at++) {
		if (at->sign == '+')
			print_line(paper, at);
	}
	return last;
}

/* "12,3": an empty range is named by the line before it. */
static void
print_range(const struct paper *paper, char sign, size_t from, size_t count)
{
	fprintf(paper->stream, "%c%zu", sign, from + (count > 0));
	if (count != 1)
		fprintf(paper->stream, ",%zu", count);
}

static void
print_hunk(const struct paper *paper, const struct line *first,
    const struct line *end)
{
	size_t removed = 0, added = 0;

	for (const struct line *line = first; line < end; line++) {
		removed += line->sign != '+';
		added += line->sign != '-';
	}
	fputs(paper->colour ? "\33[36m@@ " : "@@ ", paper->stream);
	print_range(paper, '-', first->number[0], removed);
	putc(' ', paper->stream);
	print_range(paper, '+', first->number[1], added);
	fputs(paper->colour ? " @@\33[m\n" : " @@\n", paper->stream);
	while (first < end) {
		if (first->sign == ' ')
			print_line(paper, first++);
		else
			first = print_change(paper, first, end);
	}
}

/* Changes that are so near to each other that their context meets share a
 * hunk. */
static void
print_hunks(const struct paper *paper, const struct script *script)
{
	const struct line *lines = script->lines.items;
	size_t count = script->lines.count, i = 0;

	while (i < count) {
		size_t first = i, last = i;

		if (lines[i++].sign == ' ')
			continue;
		for (; i < count && i - last <= 2 * CONTEXT + 1; i++) {
			if (lines[i].sign != ' ')
				last = i;
		}
		i = last + 1;
		print_hunk(paper, &lines[first > CONTEXT ? first - CONTEXT : 0],
		    &lines[count - i > CONTEXT ? i + CONTEXT : count]);
	}
}

void
fmt_diff(FILE *stream, struct arena *arena, const char *name,
    const struct text texts[2], bool colour)
{
	const struct paper paper = { stream, colour };
	struct script script = { 0 };
	const char *on = colour ? "\33[1m" : "", *off = colour ? "\33[m" : "";

	compare(arena, texts, &script);
	fprintf(stream, "%s--- %s%s\n%s+++ %s%s\n", on, name, off, on, name,
	    off);
	print_hunks(&paper, &script);
}
