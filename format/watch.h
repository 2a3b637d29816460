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
#ifndef SBX_FORMAT_WATCH_H
#define SBX_FORMAT_WATCH_H

#include "format/blob.h"
#include "format/model.h"

enum sbx_git_part {
	SBX_GIT_FILE,
	SBX_GIT_SETTINGS, /* a file of which only some lines count */
	SBX_GIT_HOOKS,    /* a directory, without the samples */
	SBX_GIT_TREE,     /* a directory */
	SBX_GIT_LINES,    /* a file that says nothing without a line that is no
	                   * comment */
	SBX_GIT_HEAD,     /* makes a repository of the directory itself */
};

/* A name in a git directory; those of submodules and of linked work trees, which
 * lie at any depth of the directories of the other list, have the same. */
struct sbx_git_name {
	const char *name; /* begins with a slash */
	uint8_t part;     /* enum sbx_git_part */
};

enum { SBX_GIT_NAMES = 18, SBX_GIT_OTHERS = 2 };
extern const struct sbx_git_name sbx_git_names[SBX_GIT_NAMES];
extern const char *const sbx_git_others[SBX_GIT_OTHERS];

/* Whether a hook is one that git does not run. */
bool sbx_git_is_sample(const char *name, size_t len);

/* Whether a rule at a place speaks of a path; the pattern is "" for none. */
bool sbx_watch_covers(const struct sbx_watch *watch, const char *pattern,
    struct sbx_place at, struct sbx_place path);

#endif
