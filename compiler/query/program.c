/*
 * Programs by their names, as the command in a sandbox finds them.
 */
#include "compiler/query/query.h"
#include "compiler/query/why.h"

#include <stdlib.h>
#include <string.h>

/* The PATH that a command has in the sandbox: the policy's, else the
 * caller's. */
static const char *
path_inside(const struct subject *subject)
{
	const struct access access = { .kind = KIND_ENV, .name = "PATH" };
	const struct sbx_blob *blob = subject->places.blob;
	struct verdict verdict = verdict_of(subject, &access);
	const char *path = getenv("PATH");

	if (verdict.by == BY_SET)
		return sbx_string(blob, blob->set[verdict.rule].text);
	return verdict.allowed && path != NULL ? path :
						 "/usr/local/bin:/usr/bin:/bin";
}

const char *
program_find(const struct subject *subject, const char *name)
{
	struct arena *arena = subject->places.arena;
	const char *directory = path_inside(subject), *first = NULL;

	for (; *directory != '\0'; directory += strspn(directory, ":")) {
		size_t len = strcspn(directory, ":");
		const char *path = arena_printf(arena, "%.*s/%s", (int)len,
		    directory, name);
		const char *words[] = { "exec", path };
		struct access access;

		directory += len;
		if (!here_runs(path) ||
		    access_parse(&subject->places, words, countof(words),
			&access) != NULL)
			continue;
		if (verdict_of(subject, &access).allowed)
			return path;
		if (first == NULL)
			first = path;
	}
	return first;
}
