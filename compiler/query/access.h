/*
 * One access that a policy may be asked about, in the words of the language:
 *
 *	write ~/src/x      connect tcp 443      env LC_ALL
 *	syscall mount      syscall socket(2,1,0)
 *	domain github.com:22   connect 10.0.0.5:5432
 */
#ifndef SBX_ACCESS_H
#define SBX_ACCESS_H

#include "compiler/query/places.h"

#include <stdio.h>

enum { ACCESS_MAX_ARGS = 6 }; /* of a system call */

struct access {
	enum rule_kind_id kind; /* of the rules that are asked */
	uint8_t detail;         /* a path right, an operation on ports */
	uint16_t port;
	uint8_t address[16]; /* of a host: see format/addresses.h */
	struct sbx_place path;
	bool makes_file; /* a file is to be made there, no directory */
	bool outside;    /* the path is one of outside, in /tmp as well */
	const struct followed *followed; /* how it was found here, or NULL */
	const char *name; /* of a system call, a variable or a host */
	uint8_t
	    arg_count; /* 0: whatever the arguments; what is left out is 0 */
	uint32_t args[ACCESS_MAX_ARGS];
};

/*
 * Reads an access from words.  Returns NULL, or what is wrong with them: a text
 * in the arena of `places`, for the end of a sentence.
 */
const char *access_parse(const struct places *places, const char *const *words,
    size_t count, struct access *access);

/* "write /src/x": as it would be asked, with the path bound. */
void access_show(FILE *stream, const struct access *access);

/* The same as a text in the arena, for reports. */
const char *access_text(struct arena *arena, const struct access *access);

#endif
