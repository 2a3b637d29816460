/*
 * The settings of a git configuration that may make git run a program.  Known
 * are those that do not, by section and key; every other one counts, and so
 * does every line that has not the plain form of a section or a setting.
 * Hostile bytes are compared here, line by line, and never followed.
 */
#ifndef SBX_GIT_SETTINGS_H
#define SBX_GIT_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

struct git_words {
	const char *text;
	size_t len;
};

/* A configuration that is read from the front. */
struct git_settings {
	const char *begin, *at, *end;
	struct git_words section; /* what stands in the last brackets */
	bool submodule; /* `core.worktree` leads out of .git/modules */
};

struct git_setting {
	struct git_words section; /* of length 0: unknown */
	struct git_words line;    /* with those that continue it */
};

/* The next setting that counts; false at the end. */
bool git_setting_next(struct git_settings *settings,
    struct git_setting *setting);

/* Whether the text has the same setting in the same section. */
bool git_settings_have(struct git_settings settings,
    const struct git_setting *setting);

/* The path that a setting leads git to: directories of hooks, other settings,
 * and files that say what a review does not show; `settings` says whether that
 * are settings.  False if it leads to none, or to one that is too long. */
bool git_setting_leads(const struct git_setting *setting, char path[1024],
    bool *settings);

/* The name of a section and of a key, for a message; either may be empty. */
struct git_words git_section_name(const struct git_setting *setting);
struct git_words git_key(const struct git_setting *setting);

#endif
