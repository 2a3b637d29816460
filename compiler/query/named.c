/*
 * See query.h.  The home is that of the password entry: the environment may have
 * been set by a project, and chooses no policy.
 */
#include "compiler/query/query.h"

#include "format/protocol.h"

#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const ends[] = { ".sbx", ".bin" };

enum { END_LEN = 4 };

const char *
named_directory(struct arena *arena)
{
	const struct passwd *entry = getpwuid(getuid());

	if (entry == NULL || entry->pw_dir == NULL || entry->pw_dir[0] != '/')
		return NULL;
	return arena_printf(arena, "%s" SBX_OWN_CONFIG, entry->pw_dir);
}

const char *
named_file(struct arena *arena, const char *name)
{
	const char *directory = named_directory(arena);
	struct stat status;

	for (size_t i = 0; directory != NULL && i < countof(ends); i++) {
		const char *path = arena_printf(arena, "%s/%s%s", directory,
		    name, ends[i]);

		if (lstat(path, &status) == 0)
			return path;
	}
	return NULL;
}

const char *
allow_command(struct arena *arena, const char *policy, const char *statement,
    bool force)
{
	bool allows = strncmp(statement, "allow ", 6) == 0;
	bool named = strcmp(policy, "@default") != 0;

	return arena_printf(arena, "sbxc allow %s%s%s%s%s",
	    force ? "--force " : "", named ? "--for " : "",
	    named ? shell_word(arena, policy) : "", named ? " " : "",
	    shell_word(arena, statement + 6 * allows));
}

const char *
named_default(struct arena *arena)
{
	return named_file(arena, "default") != NULL ? "@default" : "@coding";
}

bool
named_is_shipped(struct arena *arena, const char *name)
{
	size_t size;

	return builtin_text(arena_printf(arena, "%s.sbx", name), &size) != NULL;
}

static void
add_once(struct arena *arena, struct words *names, const char *name)
{
	size_t at = names->list.count;

	while (at > 0 && strcmp(names->list.items[at - 1], name) > 0)
		at--;
	if (at > 0 && strcmp(names->list.items[at - 1], name) == 0)
		return;
	arena_push(arena, &names->list);
	for (size_t i = names->list.count - 1; i > at; i--)
		names->list.items[i] = names->list.items[i - 1];
	names->list.items[at] = name;
}

void
named_list(struct arena *arena, struct words *names)
{
	const char *path = named_directory(arena);
	DIR *directory = path != NULL ? opendir(path) : NULL;
	const struct dirent *entry;

	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		size_t len = strlen(entry->d_name);

		for (size_t i = 0; i < countof(ends); i++) {
			if (len > END_LEN && entry->d_name[0] != '.' &&
			    strcmp(entry->d_name + len - END_LEN, ends[i]) == 0)
				add_once(arena, names,
				    arena_strndup(arena, entry->d_name,
					len - END_LEN));
		}
	}
	if (directory != NULL)
		closedir(directory);
}

/* The name of one that is near, or NULL. */
static const char *
named_near(struct arena *arena, const char *name)
{
	struct words names = { .list.count = 0 };
	const char *file;

	named_list(arena, &names);
	for (size_t i = 0; (file = builtin_name(i)) != NULL; i++)
		*arena_push(arena, &names.list) = arena_strndup(arena, file,
		    strlen(file) - END_LEN);
	return nearest_name(name, names.list.items, names.list.count);
}

void
named_missing(struct arena *arena, const char *name)
{
	const char *near = named_near(arena, name);

	if (near != NULL)
		complain("no policy is called @%s; did you mean @%s?", name,
		    near);
	else
		complain("no policy is called @%s; 'sbxc profiles' lists them",
		    name);
}

const char *
named_resolve(struct arena *arena, const char *word)
{
	const char *own;

	/* No name has a dot, so @x.sbx is a file. */
	if (word[0] != '@' || strpbrk(word, "./") != NULL)
		return word;
	own = named_file(arena, word + 1);
	if (own == NULL)
		return word;
	if (!named_is_shipped(arena, word + 1))
		return own;
	complain("'%s' has the name of a shipped profile: give it another one",
	    own);
	return NULL;
}
