/* See watch.h. */
#include "format/watch.h"

#include "format/glob.h"

const struct sbx_git_name sbx_git_names[SBX_GIT_NAMES] = {
	{ "/hooks", SBX_GIT_HOOKS },
	{ "/config", SBX_GIT_SETTINGS },
	{ "/config.worktree", SBX_GIT_SETTINGS },
	{ "/commondir", SBX_GIT_FILE },
	{ "/rebase-merge/git-rebase-todo", SBX_GIT_FILE },
};

const char *const sbx_git_others[SBX_GIT_OTHERS] = { "/modules", "/worktrees" };

static struct sbx_place
text_place(const char *text)
{
	return (struct sbx_place){ text, (uint32_t)__builtin_strlen(text) };
}

/* What is left of a path behind a place that covers it. */
static struct sbx_place
below(struct sbx_place at, struct sbx_place path)
{
	return (struct sbx_place){ path.path + at.len, path.len - at.len };
}

bool
sbx_git_is_sample(const char *name, size_t len)
{
	static const char end[] = ".sample";
	const size_t size = sizeof end - 1;

	return len >= size &&
	    __builtin_memcmp(name + len - size, end, size) == 0;
}

/* Behind "/modules/NAME" or "/worktrees/NAME", if the path goes on there. */
static struct sbx_place
skip_other(struct sbx_place path)
{
	for (int i = 0; i < SBX_GIT_OTHERS; i++) {
		struct sbx_place other = text_place(sbx_git_others[i]);
		uint32_t len = other.len + 1;

		if (!sbx_covers(other, path))
			continue;
		while (len < path.len && path.path[len] != '/')
			len++;
		if (len < path.len)
			return below((struct sbx_place){ path.path, len },
			    path);
	}
	return path;
}

static bool
is_git_part(struct sbx_place path)
{
	path = skip_other(path);
	for (int i = 0; i < SBX_GIT_NAMES; i++) {
		struct sbx_place name = text_place(sbx_git_names[i].name);

		if (sbx_covers(name, path))
			return path.len == name.len ||
			    (sbx_git_names[i].part == SBX_GIT_HOOKS &&
				!sbx_git_is_sample(path.path, path.len));
	}
	return false;
}

bool
sbx_watch_covers(const struct sbx_watch *watch, const char *pattern,
    struct sbx_place at, struct sbx_place path)
{
	static const struct sbx_place git = { "/.git", 5 };
	struct sbx_glob glob;

	if (!sbx_covers(at, path))
		return false;
	if (*pattern != '\0')
		return sbx_glob_parse(pattern, &glob) &&
		    sbx_glob_find(&glob, at, path).len > 0;
	if (watch->form == SBX_WATCH_TREE)
		return true;
	path = below(at, path);
	if (!sbx_covers(git, path))
		return false;
	path = below(git, path);
	return path.len == 0 || is_git_part(path);
}
