/*
 * Paths as system calls take them, and as the model does (format/model.h),
 * where the root directory is the empty string.
 */
#ifndef SBX_RUNTIME_BASE_PATH_H
#define SBX_RUNTIME_BASE_PATH_H

#include "format/model.h"

/* A path that names are added to and taken from. */
struct path {
	uint32_t len;
	char text[SBX_MAX_PATH + 1]; /* NUL-terminated */
};

/* The place that an absolute, normal path names; it points into the text. */
struct sbx_place place_of(const char *path);

/* The directory that a place, which is not the root, lies in. */
struct sbx_place place_parent(struct sbx_place at);

/* The length of the longest directory that is above both places. */
uint32_t place_shared(struct sbx_place a, struct sbx_place b);

/* A NUL-terminated place for a system call. */
const char *path_of(struct sbx_place at);

/* Adds a slash and some names; false if the path would be too long. */
bool path_push(struct path *path, const char *names, size_t len);

/* Cuts the path to a length that it had before. */
void path_cut(struct path *path, uint32_t len);

#endif
