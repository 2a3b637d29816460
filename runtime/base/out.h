/*
 * Words on a file descriptor without stdio: text is gathered in a small buffer
 * and written when it is full or flushed.  What does not fit the world (a
 * closed stderr, say) is lost; nothing here may fail the sandbox.
 */
#ifndef SBX_OUT_H
#define SBX_OUT_H

#include "format/model.h"

struct out {
	int fd;
	uint32_t used;
	char buffer[1024];
};

void out_init(struct out *out, int fd);
void out_text(struct out *out, const char *text);
void out_bytes(struct out *out, const char *text, size_t len);
void out_number(struct out *out, uint64_t number);
/* Text from elsewhere, names of files above all: what moves the cursor, starts
 * a terminal's command or reorders text is written in bytes, as \xNN. */
void out_shown(struct out *out, const char *text, size_t len);
/* The length of the well-formed UTF-8 sequence at the front, or 0. */
size_t utf8_length(const unsigned char *text, size_t len);
/* A place as a path: the root, which is "", prints as "/". */
void out_place(struct out *out, struct sbx_place place);
/* Text padded with blanks to `width` bytes. */
void out_column(struct out *out, const char *text, size_t width);
void out_flush(struct out *out);

/*
 * "sbxrun: SUBJECT: TEXT: STRERROR\n" on stderr; SUBJECT and the errno may be
 * missing (NULL, 0); warn_about() puts "warning: " in front.  refuse() then
 * ends the program with status 125: the sandbox was not applied, the command
 * was not started.
 */
void warn_about(const char *subject, const char *text, int error);
void say(const char *subject, const char *text, int error);
void refuse(const char *subject, const char *text, int error)
    __attribute__((noreturn));

/* What sbxrun itself ends with: the command ran out of time; it was refused;
 * it cannot be executed; it is not there. */
enum {
	EXIT_TIMEOUT = 124,
	EXIT_REFUSED,
	EXIT_NOT_EXECUTABLE,
	EXIT_NOT_FOUND,
};

#endif
