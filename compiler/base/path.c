/*
 * Paths of files that somebody named, as text: no file is looked at.
 */
#include "compiler/base/base.h"

#include <string.h>

const char *
path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

bool
path_lies_in(const char *path, const char *directory)
{
	size_t len = strlen(directory);

	return strncmp(path, directory, len) == 0 &&
	    (path[len] == '/' || path[len] == '\0');
}

const char *
path_stem(struct arena *arena, const char *path)
{
	const char *name = path_name(path), *dot = strrchr(name, '.');

	return dot != NULL && dot > name ?
	    arena_strndup(arena, path, (size_t)(dot - path)) :
	    path;
}
