/*
 * A blob that can be damaged: its parts by name, and what is expected of those
 * who read it.
 */
#ifndef SBX_TEST_VERIFY_H
#define SBX_TEST_VERIFY_H

#include "format/blob.h"
#include "tests/lib/tap.h"

#define countof(array) (sizeof(array) / sizeof *(array))

enum { ROOM = SBX_MAX_SIZE + (1 << 20), WORDS = 8, PATH_SIZE = 4096 };

#define SBX_X(name, sentence) ERROR_##name,
enum { SBX_BLOB_ERRORS(SBX_X) ERRORS };
#undef SBX_X

/* Of SBX_BLOB_ERRORS. */
extern const char *const error_names[ERRORS];

struct kind {
	const char *name;
	uint32_t kind, record;
};

struct image {
	_Alignas(8) uint8_t bytes[ROOM];
	size_t size;
	bool raw; /* sealed, and no longer made consistent */
};

struct bench {
	struct tap tap;
	struct image whole; /* the good one, with its text */
	struct image good, image, spare;
	char dir[PATH_SIZE];
	char policy[PATH_SIZE]; /* that the good one is made of */
	const char *file;       /* of cases, and the line in it */
	unsigned line;
	char name[256];
	int expected; /* -1: not said */
	bool refused, runs, foreign, seen[ERRORS];
};

__attribute__((noreturn, format(printf, 2, 3))) void give_up(
    const struct bench *bench, const char *format, ...);

struct sbx_header *image_header(struct image *image);

struct sbx_section *image_table(struct image *image);

const struct kind *kind_find(const struct bench *bench, const char *name);

/* The row of a kind, or where it would have to stand. */
uint32_t image_row(struct image *image, uint32_t kind);

struct sbx_section *section_get(struct bench *bench, const char *name);

void image_seal(struct image *image);

/* What a structural edit changes: one row gets another size, goes or comes. */
struct change {
	uint32_t row;
	bool drop, insert;
	struct sbx_section section; /* inserted, or its new size */
};

/* Lays all sections out anew, with the change. */
void image_rebuild(struct bench *bench, const struct change *change);

/* Does to the image, or notes for the case, what a line of a file says. */
void line_read(struct bench *bench, char *line);

#endif
