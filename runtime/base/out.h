/* Text and JSON without stdio; messages. */
#ifndef SBX_RUNTIME_BASE_OUT_H
#define SBX_RUNTIME_BASE_OUT_H

#include "format/model.h"

#include <time.h>

/* --- out.c ------------------------------------------------------------- */

struct out {
	int fd; /* -1: the text stays in the buffer */
	uint32_t used, size;
	bool full;    /* the text was cut */
	char last;    /* the last byte of the text, written or not */
	bool quoting; /* out_shown() escapes '"' and '\\' */
	char *text;   /* always ends with a NUL */
	char own[1024];
};

/* An empty text in a buffer of its own, for a descriptor or -1. */
void out_init(struct out *out, int fd);
/* An empty text that stays in the caller's buffer. */
void out_into(struct out *out, char *text, size_t size);
void out_text(struct out *out, const char *text);
void out_bytes(struct out *out, const char *text, size_t len);
void out_number(struct out *out, uint64_t number);
/* Like printf(3), of which it knows "%s", "%u" and "%lu" for a uint64_t. */
void out_print(struct out *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Seconds, to the millisecond. */
void out_seconds(struct out *out, struct timespec time);
/* Text from elsewhere, names of files above all: what moves the cursor, starts
 * a terminal's command or reorders text is written in bytes, as \xNN. */
void out_shown(struct out *out, const char *text, size_t len);
/* What out_shown() adds until the end is one word in quotation marks. */
/* "name:443", "[::1]:443"; no port where it is 0. */
void out_host(struct out *out, const char *host, uint16_t port);
void out_quote(struct out *out);
void out_quote_end(struct out *out);
/* A place as a path: the root, which is "", prints as "/". */
void out_place(struct out *out, struct sbx_place place);
/* "FILE:LINE:COLUMN" of a rule. */
void out_source(struct out *out, const struct sbx_blob *blob, uint32_t source);
/* Text padded with blanks to `width` bytes. */
void out_column(struct out *out, const char *text, size_t width);
void out_flush(struct out *out);
/* Whether stderr takes a line.  It gets a second for that, once: a command may
 * have filled it just before its end. */
bool stderr_takes_more(void);
/* Before the next line on stderr, makes sure that it is seen there: a command has
 * had the terminal. */
void out_mistrust_terminal(void);
/* Writes all that was gathered in one write(2); false with errno. */
bool out_send(struct out *out, int fd);

/* "FILE:LINE:COLUMN" of a rule, as it is in the blob; or where a limit comes
 * from that a person gave. */
#define SOURCE_COMMAND_LINE (SBX_NO_SOURCE - 1)
enum { SOURCE_SIZE = 512 };
void source_text(const struct sbx_blob *blob, uint32_t source,
    char text[SOURCE_SIZE]);

/*
 * "sbxrun: SUBJECT: TEXT: STRERROR\n" on stderr; SUBJECT and the errno may be
 * missing (NULL, 0); warn_about() puts "warning: " in front.  refuse() then
 * ends the program with status 125: the sandbox was not applied, the command
 * was not started; what refuse_tells() names hears of it first.  The subject of
 * warn_at() and refuse_at() is a rule's source.
 */
void warn_about(const char *subject, const char *text, int error);
void warn_at(const struct sbx_blob *blob, uint32_t source, const char *text,
    int error);
void say(const char *subject, const char *text, int error);
void refuse_tells(void (*tell)(void *of, const char *text), void *of);
void refuse(const char *subject, const char *text, int error)
    __attribute__((noreturn));
void refuse_at(const struct sbx_blob *blob, uint32_t source, const char *text,
    int error) __attribute__((noreturn));

/* What sbxrun itself ends with: the command ran out of time; it was refused;
 * it cannot be executed; it is not there. */
enum {
	EXIT_TIMEOUT = 124,
	EXIT_REFUSED,
	EXIT_NOT_EXECUTABLE,
	EXIT_NOT_FOUND,
};

/* Longer names are far from all others, and what is so far is no mistake in
 * typing any more. */
enum { SPELLING_MAX = 64, SPELLING_FAR = 3 };

/* How many letters of one name have to be put in, left out or replaced to get the
 * other one, or two neighbours swapped. */
uint32_t spelling_distance(const char *a, size_t a_len, const char *b,
    size_t b_len);

#endif
