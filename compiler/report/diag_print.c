/*
 * Diagnostics as text.  The source line below a message is shown as a terminal
 * shows it:
 *
 *	team.sbx:3:11: error: unknown right 'raed' [SBX0201]
 *	    3 |     allow raed ${workspace}
 *	      |           ^~~~ did you mean 'read'?
 *
 * The line is first turned into cells (one for each column of the terminal,
 * with tabs spread out and with nothing that could move the cursor), then a
 * window of cells around the caret is printed.
 */
#include "compiler/report/report.h"

#include "compiler/base/base.h"
#include "format/text.h"

#include <string.h>

enum {
	WINDOW = 100,       /* columns of a source line */
	WINDOW_BEFORE = 40, /* of them before the caret, in a long line */
	TAB = 8,
	HELP_COLUMN_MAX = 100, /* the help goes beside the caret up to here */
	GUTTER = 8,            /* "    3 | " */
};

/* --- lines as a terminal shows them --------------------------------------- */

/* One piece of a line, and the columns that it takes. */
struct cell {
	char text[12];
	int width;
};

/*
 * The character at text as it is printed, starting in the given column.
 * Returns its size in bytes.
 */
static size_t
cell_read(struct cell *cell, const char *text, size_t len, int column)
{
	uint32_t character;
	size_t size = utf8_decode(text, len, &character);

	if (size == 1 && character == '\t') {
		cell->width = TAB - column % TAB;
		snprintf(cell->text, sizeof cell->text, "%*s", cell->width, "");
	} else if (size == 0) {
		cell->width = snprintf(cell->text, sizeof cell->text, "<%02X>",
		    (unsigned char)*text);
	} else if (utf8_is_hidden(character)) {
		cell->width = snprintf(cell->text, sizeof cell->text,
		    "<U+%04X>", (unsigned)character);
	} else {
		cell->width = character_width(character);
		memcpy(cell->text, text, size);
		cell->text[size] = '\0';
	}
	return size == 0 ? 1 : size;
}

/* Text that may hold anything, on one line and without control characters. */
static void
put_text(FILE *stream, const char *text)
{
	size_t len = strlen(text);

	while (len > 0) {
		struct cell cell;
		size_t size = 1;

		if (*text == '\n' || *text == '\t') {
			fputs(*text == '\n' ? "\\n" : "\\t", stream);
		} else {
			size = cell_read(&cell, text, len, 0);
			fputs(cell.text, stream);
		}
		text += size;
		len -= size;
	}
}

static int
text_width(const char *text)
{
	int width = 0;
	size_t len = strlen(text), size;
	struct cell cell;

	for (; len > 0; text += size, len -= size) {
		size = cell_read(&cell, text, len, 0);
		width += cell.width;
	}
	return width;
}

/* A source line and the part of it that the diagnostic is about. */
struct line {
	const char *text;
	size_t len;
	size_t begin, end; /* bytes */
	int first, last;   /* columns of begin and end, from 0 */
	int width;         /* columns of the whole line */
};

static void
line_measure(struct line *line)
{
	struct cell cell;
	size_t size;
	int column = 0;

	line->first = line->last = -1;
	for (size_t i = 0; i < line->len; i += size) {
		if (line->first < 0 && i >= line->begin)
			line->first = column;
		if (line->last < 0 && i >= line->end)
			line->last = column;
		size = cell_read(&cell, line->text + i, line->len - i, column);
		column += cell.width;
	}
	if (line->first < 0)
		line->first = column;
	if (line->last < 0)
		line->last = column;
	line->width = column;
}

static struct line
line_at(const struct source *source, uint32_t number, struct loc loc)
{
	const char *begin = source->text + (loc.begin - source->base);
	const char *end = source->text + (loc.end - source->base), *line_end;
	struct line line;

	source_line(source, number, &line.text, &line_end);
	/* A byte order mark before the first line has no width. */
	if (number == 1)
		line.text += source_bom(source);
	if (line_end > line.text && line_end[-1] == '\r')
		line_end--;
	line.len = (size_t)(line_end - line.text);
	line.begin = begin > line.text ? (size_t)(begin - line.text) : 0;
	line.end = end > line.text ? (size_t)(end - line.text) : 0;
	line_measure(&line);
	return line;
}

/* The columns of a line that are printed. */
struct window {
	int from, to;
};

static struct window
window_of(const struct line *line)
{
	struct window window = { 0, line->width };

	if (line->width <= WINDOW)
		return window;
	if (line->first > WINDOW_BEFORE)
		window.from = line->first - WINDOW_BEFORE;
	if (window.from > line->width - WINDOW)
		window.from = line->width - WINDOW;
	window.to = window.from + WINDOW;
	return window;
}

/* Prints the window; a character that is half outside becomes blanks. */
static void
put_line(FILE *stream, const struct line *line, struct window window)
{
	struct cell cell;
	size_t size;
	int column = 0;

	fputs(window.from > 0 ? "..." : "", stream);
	for (size_t i = 0; i < line->len && column < window.to; i += size) {
		size = cell_read(&cell, line->text + i, line->len - i, column);
		int end = column + cell.width;

		if (column >= window.from && end <= window.to)
			fputs(cell.text, stream);
		else if (end > window.from && column < window.from)
			fprintf(stream, "%*s", end - window.from, "");
		column = end;
	}
	fputs(window.to < line->width ? "..." : "", stream);
}

/* --- rendering ------------------------------------------------------------ */

enum paint { PAINT_ERROR, PAINT_WARNING, PAINT_NOTE, PAINT_BOLD, PAINT_CARET };

struct printer {
	const struct diags *diags;
	FILE *stream;
	enum report_format format;
	bool colour;
	const struct source *file; /* whose includers were named last */
};

static void
paint(const struct printer *printer, enum paint kind, const char *text)
{
	static const char *const codes[] = {
		[PAINT_ERROR] = "1;31",
		[PAINT_WARNING] = "1;35",
		[PAINT_NOTE] = "1;36",
		[PAINT_BOLD] = "1",
		[PAINT_CARET] = "1;32",
	};

	if (printer->colour)
		fprintf(printer->stream, "\33[%sm", codes[kind]);
	put_text(printer->stream, text);
	if (printer->colour)
		fputs("\33[0m", printer->stream);
}

/* "file:line:column: " or, without a place, the program's name. */
static void
put_place(const struct printer *printer, const struct position *at)
{
	if (at->file == NULL) {
		paint(printer, PAINT_BOLD, "sbxc: ");
		return;
	}
	paint(printer, PAINT_BOLD,
	    arena_printf(printer->diags->arena, "%s:%u:%u: ", at->file,
		at->line, at->column));
}

/* On a line of its own; NULL is none. */
static void
put_help(const struct printer *printer, const char *help)
{
	if (help == NULL)
		return;
	fputs("      = help: ", printer->stream);
	put_text(printer->stream, help);
	fputc('\n', printer->stream);
}

/* The underline, and the help beside it if there is room. */
static void
put_caret(const struct printer *printer, const struct line *line,
    struct window window, const char *help)
{
	int indent = line->first - window.from + (window.from > 0 ? 3 : 0);
	int last = line->last < window.to ? line->last : window.to;
	char marks[WINDOW + 1] = "^";
	bool beside = help != NULL &&
	    GUTTER + indent + (last - line->first) + 1 + text_width(help) <=
		HELP_COLUMN_MAX;

	for (int i = 1; i < last - line->first && i < WINDOW; i++)
		marks[i] = '~';
	fprintf(printer->stream, "      | %*s", indent, "");
	paint(printer, PAINT_CARET, marks);
	if (beside) {
		fputc(' ', printer->stream);
		put_text(printer->stream, help);
	}
	fputc('\n', printer->stream);
	if (!beside)
		put_help(printer, help);
}

static void
put_excerpt(const struct printer *printer, const struct position *at,
    struct loc loc, const char *help)
{
	const struct source *source = sources_find(printer->diags->sources,
	    loc);

	if (printer->format == REPORT_GCC)
		return;
	if (source == NULL || source->withheld) {
		put_help(printer, help);
		return;
	}
	struct line line = line_at(source, at->line, loc);
	struct window window = window_of(&line);

	fprintf(printer->stream, "%5u | ", at->line);
	put_line(printer->stream, &line, window);
	fputc('\n', printer->stream);
	put_caret(printer, &line, window, help);
}

/* Who includes the file of this record, unless the last record said so. */
static void
put_includers(struct printer *printer, struct loc loc)
{
	const struct sources *sources = printer->diags->sources;
	const struct source *source = sources_find(sources, loc);
	const char *intro = "In file included from";

	if (source == printer->file || printer->format == REPORT_GCC)
		return;
	printer->file = source;
	while (source != NULL && source->included_at.begin != 0) {
		struct position from = sources_position(sources,
		    source->included_at);

		source = sources_find(sources, source->included_at);
		if (source == NULL)
			break;
		fprintf(printer->stream, "%21s ", intro);
		put_text(printer->stream, source->shown);
		fprintf(printer->stream, ":%u%c\n", from.line,
		    source->included_at.begin != 0 ? ',' : ':');
		intro = "from";
	}
}

static void
put_diag(struct printer *printer, const struct diag *diag)
{
	const struct sources *sources = printer->diags->sources;
	struct position at = sources_position(sources, diag->loc);
	static const enum paint paints[] = {
		[SEVERITY_NOTE] = PAINT_NOTE,
		[SEVERITY_WARNING] = PAINT_WARNING,
		[SEVERITY_ERROR] = PAINT_ERROR,
	};

	put_includers(printer, diag->loc);
	put_place(printer, &at);
	paint(printer, paints[diag->severity],
	    arena_printf(printer->diags->arena,
		"%s: ", severity_word(diag->severity)));
	paint(printer, PAINT_BOLD, diag->message);
	fprintf(printer->stream, " [%s]\n", diag_code(diag->id));
	put_excerpt(printer, &at, diag->loc, diag->help);
	if (diag->note == NULL)
		return;
	at = sources_position(sources, diag->note_loc);
	put_place(printer, &at);
	paint(printer, PAINT_NOTE, "note: ");
	put_text(printer->stream, diag->note);
	fputc('\n', printer->stream);
	put_excerpt(printer, &at, diag->note_loc, NULL);
}

/* "2 errors, 1 warning"; counts of 0 are left out. */
static void
put_count(const struct diags *diags, FILE *stream, size_t hidden)
{
	const struct {
		size_t number;
		const char *thing;
	} counts[] = {
		{ diags->errors, "error" },
		{ diags->warnings, "warning" },
		{ diags->notes, "note" },
	};
	bool some = false;

	if (hidden > 0)
		fprintf(stream, "(%zu more not shown)\n", hidden);
	for (size_t i = 0; i < countof(counts); i++) {
		if (counts[i].number == 0)
			continue;
		fputs(some ? ", " : "", stream);
		fprintf(stream, "%zu %s%s", counts[i].number, counts[i].thing,
		    counts[i].number == 1 ? "" : "s");
		some = true;
	}
	fputc('\n', stream);
}

/* How many errors and how many others are printed: errors come first. */
struct shares {
	size_t errors, others;
};

static struct shares
shares_of(const struct diags *diags)
{
	struct shares shares = { .errors = diags->errors };

	if (shares.errors > DIAG_MAX)
		shares.errors = DIAG_MAX;
	shares.others = DIAG_MAX - shares.errors;
	return shares;
}

void
diags_print(const struct diags *diags, FILE *stream, enum report_format format,
    bool colour)
{
	struct printer printer = {
		.diags = diags,
		.stream = stream,
		.format = format,
		.colour = colour,
	};
	const struct diag **sorted = diags_sorted(diags);
	struct shares left = shares_of(diags);
	size_t all = diags->errors + diags->warnings + diags->notes;
	size_t shown = 0;

	for (size_t i = 0; i < diags->records.count; i++) {
		size_t *share = sorted[i]->severity == SEVERITY_ERROR ?
		    &left.errors :
		    &left.others;

		if (sorted[i]->suppressed != NULL || *share == 0)
			continue;
		--*share;
		shown++;
		put_diag(&printer, sorted[i]);
	}
	if (all > 0 && format != REPORT_GCC)
		put_count(diags, stream, all - shown);
}
