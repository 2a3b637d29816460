/*
 * The descriptors of a command: which it gets, under which numbers, and which
 * are not handed over.
 */
#ifndef SBX_LIBRARY_DESCRIPTORS_H
#define SBX_LIBRARY_DESCRIPTORS_H

#include "runtime/library/error.h"

#include <stdbool.h>

/* Descriptors of the library are above those that commands can be given, so
 * that no command's descriptor takes the place of one. */
enum { OWN_DESCRIPTORS = 256 };

/* A close-on-exec copy of fd from there on, or -1 with errno; fd is closed. */
int own_descriptor(int fd);

/* Prepared in the caller; the processes of launch.h only use it. */
struct placing {
	const struct sbx_descriptor *wanted;
	size_t count;
	/* Above 2, and sorted: a bit for each number that the command has. */
	uint64_t kept[OWN_DESCRIPTORS / 64];
};

/* False and *error if they cannot be wanted. */
bool placing_prepare(struct placing *placing,
    const struct sbx_descriptor *wanted, size_t count, struct sbx_error *error);

/*
 * These three are steps of the second process; each gives NULL, or a text with
 * errno, or with 0, and the descriptor that it is about, or -1.
 */

/* Puts descriptors where they belong.  All others are closed by execve(2). */
const char *placing_apply(const struct placing *placing, int *which);

/* Whether each is one that a confined command may have; sbx.h says which are
 * not. */
const char *placing_check(const struct placing *placing, int *which);

/*
 * The standard streams.  What the user could change is opened again by its path
 * in the view, as apply/streams.c does by a mount: descriptors of outside lead
 * past the mounts of the view.  Before the view is entered its path is found.
 */
enum { STREAM_COUNT = 3, STREAM_PATH = 4096 };

struct streams {
	bool reopened[STREAM_COUNT];
	char path[STREAM_COUNT][STREAM_PATH];
};

const char *streams_find(struct streams *streams, int *which);
const char *streams_enter(const struct streams *streams, int *which);

#endif
