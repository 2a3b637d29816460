/*
 * See message_lines.h.  The logs of CI services put the time before each line,
 * and some the name of the job or of the container; programs that think that
 * they talk to a terminal send it sequences that it obeys, and begin a line anew
 * for each step of a progress bar.
 *
 *	2026-01-31T08:15:00.1234567Z ##[error]sh: 1: foo: not found
 *	build	Run tests	2026-01-31T08:15:00.1234567Z cat: x: Permission denied
 *	[08:15:00] cat: x: Permission denied
 *	#12 0.345 cat: x: Permission denied
 *	web-1  | cat: x: Permission denied
 */
#include "compiler/query/message_lines.h"
#include "compiler/query/messages.h"

#include <ctype.h>
#include <string.h>

enum { ESCAPE = 0x1b, BELL = 0x07, JOB_MAX = 200, PREFIXES = 4 };

/* --- what terminals obey -------------------------------------------------- */

/* The bytes of a sequence after the escape: ECMA-48, and of the texts that go to
 * a terminal (titles, links) all up to their end. */
static size_t
sequence_length(const char *text, size_t len)
{
	size_t at = 1;

	if (len == 0)
		return 0;
	if (*text == '[') {
		while (at < len &&
		    ((unsigned char)text[at] < 0x40 ||
			(unsigned char)text[at] > 0x7e))
			at++;
		return at < len ? at + 1 : len;
	}
	if (*text == ']') {
		while (at < len && text[at] != BELL && text[at] != ESCAPE)
			at++;
		at += at < len && text[at] == ESCAPE;
		return at < len ? at + 1 : len;
	}
	/* "(B" chooses letters; the others are one byte. */
	return strchr("()*+#% ", *text) != NULL && len > 1 ? 2 : 1;
}

/* Other bytes that do not print are left out, too, but for tabs. */
static char *
without_sequences(struct arena *arena, const char *text, size_t len)
{
	char *line = arena_strndup(arena, text, len), *to = line;

	for (size_t i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)text[i];

		if (byte == ESCAPE)
			i += sequence_length(text + i + 1, len - i - 1);
		else if ((byte >= 0x20 && byte != 0x7f) || byte == '\t')
			*to++ = text[i];
	}
	*to = '\0';
	return line;
}

/* --- what logs put before a line ------------------------------------------ */

/* Whether a text begins as a form says: 0 stands for a digit.  NULL: it does not;
 * else what follows. */
static const char *
match(const char *text, const char *form)
{
	for (; *form != '\0'; form++, text++) {
		if (*form == '0' ? !isdigit((unsigned char)*text) :
				   *text != *form)
			return NULL;
	}
	return text;
}

/* ".123", "Z", "+01:00" after a time. */
static const char *
skip_fraction(const char *text)
{
	const char *zone;

	if ((*text == '.' || *text == ',') && isdigit((unsigned char)text[1])) {
		text++;
		while (isdigit((unsigned char)*text))
			text++;
	}
	if (*text == 'Z')
		return text + 1;
	zone = *text == '+' || *text == '-' ? match(text + 1, "00") : NULL;
	if (zone == NULL)
		return text;
	zone += *zone == ':';
	return match(zone, "00") != NULL ? zone + 2 : text;
}

/* "2026-01-31T08:15:00.123Z", "2026-01-31 08:15:00", "08:15:00". */
static const char *
skip_time(const char *text)
{
	static const char *const forms[] = { "0000-00-00T00:00:00",
		"0000-00-00 00:00:00", "0000/00/00 00:00:00", "00:00:00" };

	for (size_t i = 0; i < countof(forms); i++) {
		const char *end = match(text, forms[i]);

		if (end != NULL)
			return skip_fraction(end);
	}
	return NULL;
}

static const char *
skip_date(const char *text)
{
	const char *end = skip_time(text);

	return end != NULL && (*end == ' ' || *end == '\t') ? end + 1 : NULL;
}

static const char *
skip_bracket(const char *text)
{
	const char *end = *text == '[' ? skip_time(text + 1) : NULL;

	return end != NULL && *end == ']' ? end + 1 : NULL;
}

/* "##[error]", as some services mark lines. */
static const char *
skip_mark(const char *text)
{
	const char *end = match(text, "##[");

	end = end != NULL ? strchr(end, ']') : NULL;
	return end != NULL ? end + 1 : NULL;
}

/* "#12 0.345 ", the step and the seconds of a build of an image. */
static const char *
skip_step(const char *text)
{
	const char *at = match(text, "#0");

	if (at == NULL)
		return NULL;
	at += strspn(at, "0123456789");
	at = match(at, " 0");
	if (at == NULL)
		return NULL;
	at += strspn(at, "0123456789");
	at = match(at, ".0");
	if (at == NULL)
		return NULL;
	at += strspn(at, "0123456789");
	return *at == ' ' ? at + 1 : NULL;
}

/* "web-1  | ", the container of a line. */
static const char *
skip_container(const char *text)
{
	const char *at = text;

	while (
	    isalnum((unsigned char)*at) || (*at != '\0' && strchr("-_.", *at)))
		at++;
	if (at == text || *at != ' ')
		return NULL;
	at += strspn(at, " ");
	return match(at, "| ");
}

/* The job and its step, each before a tab. */
static const char *
skip_job(const char *text)
{
	const char *at = text;

	for (int tabs = 0; tabs < 2; tabs++) {
		at = memchr(at, '\t', strnlen(at, JOB_MAX));
		if (at == NULL)
			return NULL;
		at++;
	}
	return skip_time(at) != NULL ? at : NULL;
}

static const char *
skip_prefixes(const char *text)
{
	static const char *(*const skip[])(const char *) = { skip_job,
		skip_date, skip_bracket, skip_mark, skip_step, skip_container };

	for (int i = 0; i < PREFIXES; i++) {
		const char *after = NULL;

		text += strspn(text, " \t");
		for (size_t j = 0; j < countof(skip) && after == NULL; j++)
			after = skip[j](text);
		if (after == NULL)
			return text;
		text = after;
	}
	return text + strspn(text, " \t");
}

/* --- lines ---------------------------------------------------------------- */

static void
add(struct message_lines *lines, struct arena *arena, const char *text,
    size_t len, uint32_t number)
{
	size_t cut = len > MESSAGES_MAX_LINE ? len - MESSAGES_MAX_LINE : 0;
	char *line = without_sequences(arena, text + cut, len - cut);
	const char *plain = skip_prefixes(line);

	for (char *at = line; *at != '\0'; at++) {
		if (*at == '\t')
			*at = ' ';
	}
	*arena_push(arena, &lines->list) = (struct message_line){
		.number = number,
		.text = plain,
	};
}

void
message_lines_read(struct message_lines *lines, struct arena *arena,
    const char *text, size_t size, uint32_t before)
{
	const char *end = text + size;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline != NULL ? newline : end;

		before++;
		if (text == stop)
			add(lines, arena, text, 0, before);
		while (text < stop) {
			const char *again = memchr(text, '\r',
			    (size_t)(stop - text));
			const char *part = again != NULL ? again : stop;

			if (part > text)
				add(lines, arena, text, (size_t)(part - text),
				    before);
			text = again != NULL ? again + 1 : stop;
		}
		text = stop + 1;
	}
}
