/*
 * Text without heap and stdio.
 *
 * It is gathered in a buffer.  With a descriptor, what was gathered is written
 * when the buffer is full, or flushed; what cannot be written (stderr may be
 * closed) is lost, since nothing here may fail the sandbox.  Without one the
 * text stays in the buffer and is cut at its end.
 */
#include "runtime/base/out.h"

#include "format/text.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

void
out_init(struct out *out, int fd)
{
	out_into(out, out->own, sizeof out->own);
	out->fd = fd;
}

void
out_into(struct out *out, char *text, size_t size)
{
	out->fd = -1;
	out->used = 0;
	out->size = (uint32_t)size;
	out->full = false;
	out->last = '\0';
	out->quoting = false;
	out->text = text;
	text[0] = '\0';
}

/* All that is printed comes by here, and few lines are: so it is known here alone
 * whether there is one. */
static bool terminal_is_mistrusted;

/*
 * The command may have stopped the output, or chosen a line discipline that drops
 * it; nor would a line be tried then, as the terminal takes no more.
 */
void
out_mistrust_terminal(void)
{
	const int usual = N_TTY;
	int discipline;

	if (tcgetpgrp(STDERR_FILENO) != getpgrp())
		return;
	if (ioctl(STDERR_FILENO, TIOCGETD, &discipline) == 0 &&
	    discipline != usual)
		ioctl(STDERR_FILENO, TIOCSETD, &usual);
	tcflow(STDERR_FILENO, TCOON);
	terminal_is_mistrusted = true;
}

/* It may have left an escape sequence without an end, which would swallow what
 * follows, or hidden letters.  CAN ends most sequences, ST the strings. */
static void
show_lines(void)
{
	static const char plain[] = "\x18\x1b\\\x1b[0m";

	terminal_is_mistrusted = false;
	if (tcgetpgrp(STDERR_FILENO) == getpgrp() &&
	    write(STDERR_FILENO, plain, sizeof plain - 1) < 0)
		return;
}

bool
stderr_takes_more(void)
{
	static int patience = 1000;
	struct pollfd wait = { .fd = STDERR_FILENO, .events = POLLOUT };

	if (poll(&wait, 1, patience) > 0)
		return true;
	patience = 0;
	return false;
}

/* Writes what was gathered; what cannot be written is lost. */
void
out_flush(struct out *out)
{
	const char *data = out->text;

	if (terminal_is_mistrusted && out->used > 0 && out->fd == STDERR_FILENO)
		show_lines();
	while (out->used > 0) {
		ssize_t written = write(out->fd, data, out->used);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			break;
		data += written;
		out->used -= (uint32_t)written;
	}
	out->used = 0;
}

bool
out_send(struct out *out, int fd)
{
	ssize_t written;

	do {
		written = write(fd, out->text, out->used);
	} while (written < 0 && errno == EINTR);
	if (written >= 0 && written != (ssize_t)out->used)
		errno = ENOSPC;
	return written == (ssize_t)out->used;
}

void
out_bytes(struct out *out, const char *text, size_t len)
{
	if (len > 0)
		out->last = text[len - 1];
	while (len > 0) {
		/* One byte is for the NUL. */
		size_t room = out->size - 1 - out->used;
		size_t part = len < room ? len : room;

		memcpy(out->text + out->used, text, part);
		out->used += (uint32_t)part;
		out->text[out->used] = '\0';
		text += part;
		len -= part;
		if (len > 0 && out->fd < 0) {
			out->full = true;
			return;
		}
		if (len > 0)
			out_flush(out);
	}
}

void
out_text(struct out *out, const char *text)
{
	out_bytes(out, text, strlen(text));
}

void
out_number(struct out *out, uint64_t number)
{
	char digits[SBX_DECIMAL_SIZE];
	size_t len = sbx_decimal_write(digits, number);

	out_bytes(out, digits, len);
}

void
out_print(struct out *out, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	for (;;) {
		size_t len = strcspn(format, "%");

		out_bytes(out, format, len);
		if (format[len] == '\0')
			break;
		format += len + 2;
		if (format[-1] == 's')
			out_text(out, va_arg(list, const char *));
		else if (format[-1] == 'u')
			out_number(out, va_arg(list, unsigned));
		else
			out_number(out, va_arg(list, uint64_t));
		/* The u of %lu. */
		format += format[-1] == 'l';
	}
	va_end(list);
}

void
out_seconds(struct out *out, struct timespec time)
{
	long rest = time.tv_nsec / 1000000;

	out_number(out, time.tv_sec < 0 ? 0 : (uint64_t)time.tv_sec);
	out_text(out, rest < 10 ? ".00" : rest < 100 ? ".0" : ".");
	out_number(out, (uint64_t)rest);
}

static void
out_escaped(struct out *out, const unsigned char *at, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		char escape[] = { '\\', 'x', digits[at[i] >> 4],
			digits[at[i] & 15] };

		out_bytes(out, escape, sizeof escape);
	}
}

void
out_shown(struct out *out, const char *text, size_t len)
{
	for (size_t i = 0, step; i < len; i += step) {
		uint32_t character;

		step = utf8_decode(text + i, len - i, &character);
		if (step > 0 && !utf8_is_hidden(character)) {
			if (out->quoting &&
			    (character == '"' || character == '\\'))
				out_text(out, "\\");
			out_bytes(out, text + i, step);
			continue;
		}
		step = step > 0 ? step : 1;
		out_escaped(out, (const unsigned char *)text + i, step);
	}
}

void
out_host(struct out *out, const char *host, uint16_t port)
{
	bool v6 = strchr(host, ':') != NULL;

	out_text(out, v6 ? "[" : "");
	out_shown(out, host, strlen(host));
	out_text(out, v6 ? "]" : "");
	if (port != 0)
		out_print(out, ":%u", (unsigned)port);
}

void
out_quote(struct out *out)
{
	out_text(out, "\"");
	out->quoting = true;
}

void
out_quote_end(struct out *out)
{
	out->quoting = false;
	out_text(out, "\"");
}

void
out_place(struct out *out, struct sbx_place place)
{
	if (place.len == 0)
		out_text(out, "/");
	else
		out_shown(out, place.path, place.len);
}

void
source_text(const struct sbx_blob *blob, uint32_t source,
    char text[SOURCE_SIZE])
{
	const struct sbx_source *at;
	struct out out;

	out_into(&out, text, SOURCE_SIZE);
	if (source >= SOURCE_COMMAND_LINE) {
		out_text(&out,
		    source == SBX_NO_SOURCE ? "the policy" : "command line");
		return;
	}
	at = &blob->sources[source];
	out_print(&out, "%s:%u:%u", sbx_string(blob, at->file), at->line,
	    at->column);
}

void
out_source(struct out *out, const struct sbx_blob *blob, uint32_t source)
{
	char text[SOURCE_SIZE];

	source_text(blob, source, text);
	out_shown(out, text, strlen(text));
}

void
out_column(struct out *out, const char *text, size_t width)
{
	size_t len = strlen(text);

	out_bytes(out, text, len);
	while (len++ < width)
		out_text(out, " ");
}

/* Whoever reads what is said, libsbx too, tells warnings by their beginning; so
 * a subject that has it stands in quotation marks. */
static const char *
subject_mark(const char *subject)
{
	static const char warning[] = "warning: ";

	return strncmp(subject, warning, sizeof warning - 1) == 0 ? "'" : "";
}

static void
put_complaint(struct out *out, const char *subject, const char *text, int error)
{
	if (subject != NULL) {
		out_text(out, subject_mark(subject));
		out_shown(out, subject, strlen(subject));
		out_print(out, "%s: ", subject_mark(subject));
	}
	out_text(out, text);
	if (error != 0)
		out_print(out, ": %s", strerror(error));
}

static void
complain(const char *prefix, const char *subject, const char *text, int error)
{
	struct out out;

	out_init(&out, STDERR_FILENO);
	out_text(&out, prefix);
	put_complaint(&out, subject, text, error);
	out_text(&out, "\n");
	out_flush(&out);
}

void
warn_about(const char *subject, const char *text, int error)
{
	complain("sbxrun: warning: ", subject, text, error);
}

void
warn_at(const struct sbx_blob *blob, uint32_t source, const char *text,
    int error)
{
	char place[SOURCE_SIZE];

	source_text(blob, source, place);
	warn_about(place, text, error);
}

void
say(const char *subject, const char *text, int error)
{
	complain("sbxrun: ", subject, text, error);
}

/* Whoever refuses knows nothing of the log that is to have a line of it. */
static void (*refusal_tell)(void *of, const char *text);
static void *refusal_of;

void
refuse_tells(void (*tell)(void *of, const char *text), void *of)
{
	refusal_tell = tell;
	refusal_of = of;
}

void
refuse(const char *subject, const char *text, int error)
{
	void (*tell)(void *of, const char *text) = refusal_tell;
	struct out out;

	complain("sbxrun: ", subject, text, error);
	/* What hears of it may refuse, too, and hears nothing of that. */
	refusal_tell = NULL;
	if (tell != NULL) {
		out_init(&out, -1);
		put_complaint(&out, subject, text, error);
		tell(refusal_of, out.text);
	}
	_exit(EXIT_REFUSED);
}

void
refuse_at(const struct sbx_blob *blob, uint32_t source, const char *text,
    int error)
{
	char place[SOURCE_SIZE];

	source_text(blob, source, place);
	refuse(place, text, error);
}

uint32_t
spelling_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	uint32_t rows[3][SPELLING_MAX + 1];

	if (a_len > SPELLING_MAX || b_len > SPELLING_MAX)
		return SPELLING_FAR;
	for (uint32_t j = 0; j <= b_len; j++)
		rows[0][j] = j;
	for (uint32_t i = 1; i <= a_len; i++) {
		uint32_t *row = rows[i % 3], *last = rows[(i - 1) % 3];
		const uint32_t *before = rows[(i + 1) % 3];

		row[0] = i;
		for (uint32_t j = 1; j <= b_len; j++) {
			uint32_t best = last[j - 1] + (a[i - 1] != b[j - 1]);

			if (last[j] + 1 < best)
				best = last[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			row[j] = best;
		}
	}
	return rows[a_len % 3][b_len];
}
