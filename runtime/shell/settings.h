/*
 * What the user has chosen for sbxsh: a file of lines such as
 *
 *	policy  ~/.config/sbx/team.bin
 *	limit   timeout=20m
 *
 * It is ~/.config/sbx/shell, in the home directory of the user's line in
 * /etc/passwd, or /etc/sbx/shell.  The environment does not say where: that of
 * an agent may have been set by a project.
 */
#ifndef SBX_SHELL_SETTINGS_H
#define SBX_SHELL_SETTINGS_H

#include "runtime/shell/words.h"

struct settings {
	char *policy;         /* @agent unless it is set */
	char *session;        /* "auto", a name, or "none" */
	char *shell;          /* a path, or NULL */
	struct words options; /* further ones of sbxrun */
};

/* Ends the program (125) if there is a file that is not to be believed. */
void settings_read(struct settings *settings);

#endif
