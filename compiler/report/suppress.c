/*
 * Comments that ask to ignore a warning, with a reason that everybody can read:
 *
 *	allow write ~/.bashrc  # sbx: ignore SBX0601 -- the installer's own job
 *
 * Behind a statement such a comment is about its line, on a line of its own
 * about the next one that is neither empty nor a comment.  It works on the
 * text, so that it is the same in every front end.
 */
#include "compiler/report/report.h"

#include <string.h>

/* A stretch of a text that is being read. */
struct reader {
	struct diags *diags;
	struct suppressions *suppressions;
	const struct source *source;
};

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Whether a quote may begin a string there: an apostrophe may also stand in a
 * word. */
static bool
may_quote(const char *line, size_t i)
{
	return line[i] == '"' || i == 0 || is_blank(line[i - 1]) ||
	    strchr("[{,:", line[i - 1]) != NULL;
}

/* Where the comment of a line begins; its length if it has none. */
static size_t
comment_find(const char *line, size_t len)
{
	char quote = '\0';

	for (size_t i = 0; i < len; i++) {
		if (quote != '\0') {
			if (quote == '"' && line[i] == '\\')
				i++;
			else if (line[i] == quote)
				quote = '\0';
		} else if ((line[i] == '"' || line[i] == '\'') &&
		    may_quote(line, i)) {
			quote = line[i];
		} else if (line[i] == '#' &&
		    (i == 0 || is_blank(line[i - 1]))) {
			return i;
		}
	}
	return len;
}

static const char *
skip_blanks(const char *at, const char *end)
{
	while (at < end && is_blank(*at))
		at++;
	return at;
}

/* Skips blanks and a word; NULL if the word is not there. */
static const char *
skip_word(const char *at, const char *end, const char *word)
{
	size_t len = strlen(word);

	at = skip_blanks(at, end);
	return (size_t)(end - at) >= len && memcmp(at, word, len) == 0 ?
	    at + len :
	    NULL;
}

static struct loc
place_of(const struct reader *reader, const char *begin, const char *end)
{
	const struct source *source = reader->source;

	return (struct loc){
		source->base + (uint32_t)(begin - source->text),
		source->base + (uint32_t)(end - source->text),
	};
}

/* --- the words of a comment ----------------------------------------------- */

/* The code that a word is, or DIAG_END after reporting. */
static enum diag_id
code_read(const struct reader *reader, const char *begin, const char *end)
{
	struct diags *diags = reader->diags;
	const char *word = arena_strndup(diags->arena, begin,
	    (size_t)(end - begin));
	enum diag_id id = diag_find(word);
	struct diag *diag;

	if (id == DIAG_END) {
		diag = diag_add(diags, DIAG_BAD_IGNORE,
		    place_of(reader, begin, end),
		    "'%s' is no code of a diagnostic", word);
		diag_help(diag, "write '# sbx: ignore CODE -- reason'");
		if (diags_may_guess(diags))
			diag_did_you_mean(diag,
			    diag_nearest(diags->arena, word));
	} else if (diag_severity(id) == SEVERITY_ERROR) {
		diag = diag_add(diags, DIAG_BAD_IGNORE,
		    place_of(reader, begin, end),
		    "'%s' is an error, and errors cannot be ignored", word);
		diag_help(diag, "take the comment away, and what is wrong");
		id = DIAG_END;
	}
	return id;
}

static void
reason_missing(const struct reader *reader, struct loc loc)
{
	struct diag *diag = diag_add(reader->diags, DIAG_IGNORE_REASON, loc,
	    "the comment says what to ignore, and not why");

	diag_help(diag, "write '# sbx: ignore CODE -- reason'");
}

/* The reason, without blanks around it; NULL if there is none. */
static const char *
reason_read(const struct reader *reader, const char *at, const char *end)
{
	at = skip_blanks(at, end);
	while (end > at && is_blank(end[-1]))
		end--;
	return at == end ?
	    NULL :
	    arena_strndup(reader->diags->arena, at, (size_t)(end - at));
}

static bool
is_separator(char c)
{
	return is_blank(c) || c == ',';
}

static bool
add_code(const struct reader *reader, const char *begin, const char *end,
    struct loc line)
{
	enum diag_id id = code_read(reader, begin, end);

	if (id == DIAG_END)
		return false;
	*arena_push(reader->diags->arena,
	    &reader->suppressions->list) = (struct suppression){
		.loc = place_of(reader, begin, end),
		.line = line,
		.id = id,
	};
	return true;
}

/* Reads the codes up to "--", and the reason after it.  Only the first mistake
 * is reported, and then nothing is ignored. */
static void
comment_read(const struct reader *reader, const char *at, const char *end,
    struct loc line)
{
	size_t first = reader->suppressions->list.count;
	struct loc whole = place_of(reader, at, end);
	const char *reason = NULL;
	bool good = true, codes = false;

	while (good && at < end) {
		const char *begin = at;

		while (at < end && !is_separator(*at))
			at++;
		if (at - begin == 2 && memcmp(begin, "--", 2) == 0) {
			reason = reason_read(reader, at, end);
			break;
		}
		if (at > begin)
			codes = good = add_code(reader, begin, at, line);
		at += at < end;
	}
	if (good && (reason == NULL || !codes))
		reason_missing(reader, whole);
	if (!good || reason == NULL)
		reader->suppressions->list.count = first;
	while (first < reader->suppressions->list.count)
		reader->suppressions->list.items[first++].reason = reason;
}

/* --- lines ---------------------------------------------------------------- */

struct text_line {
	const char *text;
	size_t len, comment; /* comment: where it begins, or len */
	bool bare;           /* there is nothing before the comment */
};

static struct text_line
line_get(const struct source *source, uint32_t index)
{
	struct text_line line;
	const char *end;

	source_line(source, index + 1, &line.text, &end);
	line.len = (size_t)(end - line.text);
	line.comment = comment_find(line.text, line.len);
	line.bare = skip_blanks(line.text, line.text + line.comment) ==
	    line.text + line.comment;
	return line;
}

/* The line that a comment in line `index` is about. */
static struct loc
line_meant(const struct reader *reader, uint32_t index)
{
	for (; index < reader->source->line_count; index++) {
		struct text_line line = line_get(reader->source, index);

		if (!line.bare)
			return place_of(reader, line.text,
			    line.text + line.len);
	}
	return place_of(reader, reader->source->text + reader->source->size,
	    reader->source->text + reader->source->size);
}

static void
line_read(const struct reader *reader, uint32_t index)
{
	struct text_line line = line_get(reader->source, index);
	const char *end = line.text + line.len, *at;

	if (line.comment == line.len)
		return;
	at = skip_word(line.text + line.comment + 1, end, "sbx:");
	if (at != NULL)
		at = skip_word(at, end, "ignore");
	if (at == NULL || (at < end && !is_separator(*at)))
		return;
	comment_read(reader, skip_blanks(at, end), end,
	    line_meant(reader, index));
}

void
suppressions_read(struct suppressions *suppressions, struct diags *diags,
    const struct source *source)
{
	struct reader reader = {
		.diags = diags,
		.suppressions = suppressions,
		.source = source,
	};

	/* Nearly every text has none. */
	if (memmem(source->text, source->size, "sbx:", 4) == NULL)
		return;
	for (uint32_t i = 0; i < source->line_count; i++)
		line_read(&reader, i);
}

/* --- marking -------------------------------------------------------------- */

/* The first suppression whose line begins after a place. */
static size_t
find_behind(const struct suppressions *suppressions, uint32_t place)
{
	size_t low = 0, high = suppressions->list.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (suppressions->list.items[middle].line.begin <= place)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct suppression *
find_for(const struct suppressions *suppressions, const struct diag *diag)
{
	for (size_t i = find_behind(suppressions, diag->loc.begin); i-- > 0;) {
		struct suppression *one = &suppressions->list.items[i];

		if (diag->loc.begin > one->line.end)
			return NULL;
		if (one->id == diag->id)
			return one;
	}
	return NULL;
}

void
suppressions_mark(struct suppressions *suppressions, struct diags *diags)
{
	size_t *at = &suppressions->marked;

	if (suppressions->off || suppressions->list.count == 0)
		return;
	for (; *at < diags->records.count; ++*at) {
		struct diag *diag = &diags->records.items[*at];
		struct suppression *one = find_for(suppressions, diag);

		if (one == NULL)
			continue;
		one->used = true;
		diag_suppress(diags, diag, one->reason);
	}
}

void
suppressions_report_unused(const struct suppressions *suppressions,
    struct diags *diags, const struct source *source,
    const bool except[DIAG_END])
{
	if (suppressions->off)
		return;
	for (size_t i = 0; i < suppressions->list.count; i++) {
		const struct suppression *one = &suppressions->list.items[i];
		struct diag *diag;

		if (one->used || except[one->id] ||
		    one->loc.begin < source->base ||
		    one->loc.begin > source->base + source->size)
			continue;
		diag = diag_add(diags, DIAG_UNUSED_IGNORE, one->loc,
		    "there is no %s here to ignore", diag_code(one->id));
		diag_help(diag, "delete it: it would hide the next one");
	}
}
