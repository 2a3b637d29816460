/* Words of a shell, the user's settings. */
#ifndef SBX_RUNTIME_SHELL_SHELL_H
#define SBX_RUNTIME_SHELL_SHELL_H

#include <stdbool.h>
#include <stddef.h>

/* --- words.c ----------------------------------------------------------- */

/* Words that are added one by one, with the NULL behind them. */
struct words {
	size_t count, room;
	char **of;
};

/* Ends the program (125) if there is no memory; the text is kept, not copied. */
void words_add(struct words *words, const char *text);

/*
 * What the shell that is called by this name has to be: "bash", "zsh", "sh" and
 * so on.  A name that says none is that of bash.
 */
const char *words_shell(const char *name);

/* Where that shell is, or NULL; never what is found by PATH, for this program
 * may be found there by the shell's name. */
const char *words_find(const char *shell);

/*
 * The words of the shell for those of this program.  A name that begins with "-"
 * means a login shell, and a single word that is no file is a command, as a
 * prefix of commands gets it.
 */
void words_translate(struct words *words, const char *shell, char **argv);

/* The pipes that the caller has handed over on purpose: a script that is one, and
 * the jobs of make.  At most `max`; returns how many. */
size_t words_pipes(char **argv, int pipes[], size_t max);

/* "sbxsh: SUBJECT: TEXT" on stderr, with the errno unless it is 0; then ends the
 * program with that status. */
void refuse(int status, const char *subject, const char *text, int error)
    __attribute__((noreturn));

/* --- settings.c -------------------------------------------------------- */

struct settings {
	char *policy;         /* @agent unless it is set */
	char *session;        /* "auto", a name, or "none" */
	char *shell;          /* a path, or NULL */
	struct words options; /* further ones of sbxrun */
};

/* Ends the program (125) if there is a file that is not to be believed. */
void settings_read(struct settings *settings);

#endif
