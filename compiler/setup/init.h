/*
 * `sbxc init`: a policy and the settings with which a client starts its commands
 * confined, or a policy for a project.  It shows what it would write, asks,
 * writes, tries it, and takes all of it back if that fails.
 */
#ifndef SBX_INIT_H
#define SBX_INIT_H

#include "compiler/query/subject.h"
#include "compiler/setup/change.h"
#include "compiler/setup/clients.h"

struct init {
	struct arena *arena;
	const struct options *options;
	const char *what; /* to set up: "claude"; NULL: a project */
	const char *file; /* that is to be changed, where one was named */
	const char *home, *configuration; /* directories; the latter is ours */
	const char *sbxrun;               /* its path */
	struct changes changes;
	struct sbx_blob blob; /* of the policy, to be tried; no base: none */
	const char *trial[4]; /* a program to start in the sandbox, or NULL */
	const struct client *client; /* an agent, or NULL */
	bool shell;                  /* it gets a shell of ours */
	const char *after;           /* what the user does next */
};

/* Fill the changes in; what sbxc is to end with. */
enum exit_status init_agent(struct init *init);
enum exit_status init_mcp(struct init *init);
enum exit_status init_npm(struct init *init);
enum exit_status init_git(struct init *init);
enum exit_status init_vscode(struct init *init);
enum exit_status init_project(struct init *init);

/* The directory of what is ours; `home` is without links. */
const char *init_configuration(struct arena *arena, const char *home);

/* A name for a policy that no file has yet: NAME, or NAME-2 and so on. */
const char *init_free_name(const struct init *init, const char *name);

/* Adds a policy and its blob, NAME.sbx and NAME.bin, in the configuration; the
 * path of the blob, or NULL after complaining. */
const char *init_policy(struct init *init, const char *name, const char *text);

/* Compiles a text; false after printing its diagnostics. */
bool init_compile(const struct init *init, const char *text,
    struct image *image);

/* Adds what gives an agent sbxsh for its shell, unless something is in the way,
 * which is told: then *done is false.  False after complaining of an error. */
bool init_shell(struct init *init, const struct client_shell *shell,
    bool *done);

/* Its path, beside sbxrun; NULL if it is not there. */
const char *init_sbxsh(const struct init *init);

/* Asks, writes, tries, and tells how it is undone. */
enum exit_status init_apply(struct init *init);

#endif
