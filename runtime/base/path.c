/*
 * Paths as system calls take them, and as the model does (format/model.h),
 * where the root directory is the empty string.
 */
#include "runtime/base/files.h"

#include <string.h>

struct sbx_place
place_of(const char *path)
{
	size_t len = strlen(path);

	return (struct sbx_place){ path, len == 1 ? 0 : (uint32_t)len };
}

struct sbx_place
place_parent(struct sbx_place at)
{
	while (at.len > 0 && at.path[--at.len] != '/')
		;
	return at;
}

uint32_t
place_shared(struct sbx_place a, struct sbx_place b)
{
	uint32_t shared = 0;

	for (uint32_t i = 0; i < a.len && i < b.len && a.path[i] == b.path[i];
	     i++) {
		if (a.path[i] == '/')
			shared = i;
	}
	return shared;
}

const char *
path_of(struct sbx_place at)
{
	return at.len == 0 ? "/" : at.path;
}

bool
path_push(struct path *path, const char *names, size_t len)
{
	if (path->len + 1 + len > SBX_MAX_PATH)
		return false;
	path->text[path->len] = '/';
	memcpy(path->text + path->len + 1, names, len);
	path_cut(path, path->len + 1 + (uint32_t)len);
	return true;
}

void
path_cut(struct path *path, uint32_t len)
{
	path->len = len;
	path->text[len] = '\0';
}
