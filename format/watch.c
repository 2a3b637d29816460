/*
 * What a rule that watches speaks of.
 *
 *	watch PATH	what is at the path, and all below it
 *	watch glob "PATH"
 *			the same of each path that matches
 *	watch git PATH	what makes git run programs in the repository of a
 *			directory: its hooks, its settings, and the files that
 *			lead git to others
 */
#include "format/model.h"

const struct sbx_git_name sbx_git_names[SBX_GIT_NAMES] = {
	{ "/hooks", SBX_GIT_HOOKS },
	{ "/config", SBX_GIT_SETTINGS },
	{ "/config.worktree", SBX_GIT_SETTINGS },
	{ "/commondir", SBX_GIT_FILE },
	/* What a stopped rebase, pick or am goes on with: programs, a merge
	 * strategy, which is one, and where patches may write. */
	{ "/rebase-merge/git-rebase-todo", SBX_GIT_FILE },
	{ "/rebase-merge/strategy", SBX_GIT_FILE },
	{ "/rebase-merge/strategy_opts", SBX_GIT_FILE },
	{ "/rebase-merge/gpg_sign_opt", SBX_GIT_FILE },
	{ "/rebase-apply/apply-opt", SBX_GIT_FILE },
	{ "/sequencer/opts", SBX_GIT_FILE },
	/* Addresses, up to version 2. */
	{ "/remotes", SBX_GIT_TREE },
	{ "/branches", SBX_GIT_TREE },
	/* What a review then does not show: files, contents, history. */
	{ "/info/attributes", SBX_GIT_LINES },
	{ "/info/exclude", SBX_GIT_LINES },
	{ "/info/sparse-checkout", SBX_GIT_FILE },
	{ "/info/grafts", SBX_GIT_LINES },
	{ "/shallow", SBX_GIT_FILE },
	{ "/refs/replace", SBX_GIT_TREE },
	{ "/index", SBX_GIT_INDEX },
	{ "/packed-refs", SBX_GIT_REFS },
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

static bool
is_git_name(struct sbx_place path)
{
	for (int i = 0; i < SBX_GIT_TOLD; i++) {
		struct sbx_place name = text_place(sbx_git_names[i].name);
		uint8_t part = sbx_git_names[i].part;

		if (sbx_covers(name, path))
			return path.len == name.len || part == SBX_GIT_TREE ||
			    (part == SBX_GIT_HOOKS &&
				!sbx_git_is_sample(path.path, path.len));
	}
	return false;
}

/* Below "/modules" and "/worktrees" each directory may be that of another
 * repository: the name of a submodule may have slashes. */
static bool
is_git_part(struct sbx_place path)
{
	if (is_git_name(path))
		return true;
	for (int i = 0; i < SBX_GIT_OTHERS; i++) {
		struct sbx_place other = text_place(sbx_git_others[i]);

		if (!sbx_covers(other, path))
			continue;
		for (uint32_t len = other.len + 1; len < path.len; len++) {
			struct sbx_place at = { path.path, len };

			if (path.path[len] == '/' &&
			    is_git_name(below(at, path)))
				return true;
		}
	}
	return false;
}

bool
sbx_watch_covers(const struct sbx_watch *watch, const char *pattern,
    struct sbx_place at, struct sbx_place path)
{
	static const struct sbx_place git = { "/.git", 5 };
	static const struct sbx_place head = { "/HEAD", 5 };
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
		return path.len == head.len && sbx_covers(head, path);
	path = below(git, path);
	return path.len == 0 || is_git_part(path);
}
