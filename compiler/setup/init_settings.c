/* See init.c: settings of programs that start commands: npm, git, VS Code. */
#include "compiler/base/base.h"
#include "compiler/setup/setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *
policy_text(const struct init *init, const char *name, const char *about)
{
	return arena_printf(init->arena,
	    "# %s  After a change of this file:\n"
	    "#     sbxc build -o %s/%s.bin %s/%s.sbx\n"
	    "sbx 1\n\n"
	    "profile my-%s extends coding {\n"
	    "    about \"%s\"\n"
	    "    # allow read  ~/another/project\n"
	    "    # limit timeout 1h\n"
	    "}\n",
	    about, init->configuration, name, init->configuration, name, name,
	    about);
}

/* --- npm ------------------------------------------------------------------ */

/* Whether a file in the manner of .npmrc sets a key. */
static bool
has_key(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (; *text != '\0';
	     text += strcspn(text, "\n"), text += *text == '\n') {
		const char *at = text + strspn(text, " \t");

		if (strncmp(at, key, len) == 0 &&
		    strchr(" \t=\n", at[len]) != NULL)
			return true;
	}
	return false;
}

/* A line of a file of this project that switches a shell off. */
static void
warn_of(const struct init *init, const char *file, const char *first,
    const char *then)
{
	const char *wanted = init->options->workspace;
	char *top = realpath(wanted != NULL ? wanted : ".", NULL);
	const char *text = top == NULL ?
	    NULL :
	    change_look(init->arena,
		arena_printf(init->arena, "%s/%s", top, file));

	for (; text != NULL && *text != '\0';
	     text += strcspn(text, "\n"), text += *text == '\n') {
		const char *at = text + strspn(text, " \t\"'");

		if (strncmp(at, first, strlen(first)) != 0)
			continue;
		at += strlen(first);
		at += strspn(at, " \t");
		if (strncmp(at, then, strlen(then)) != 0)
			continue;
		complain("warning: '%s' here sets its own shell ('%s'), so "
			 "what it starts is not confined by this",
		    file, *then != '\0' ? "override SHELL" : first);
		break;
	}
	free(top);
}

enum exit_status
init_npm(struct init *init)
{
	struct arena *arena = init->arena;
	const char *settings = arena_printf(arena, "%s/.npmrc", init->home);
	const char *shell = arena_printf(arena, "%s/npm-sh",
	    init->configuration);
	const char *old, *blob, *text;
	struct stat status;

	old = change_read(arena, settings, &status);
	if (old == NULL && errno != 0)
		return EXIT_TROUBLE;
	if (old == NULL)
		old = "";
	if (has_key(old, "script-shell")) {
		complain("'%s' has a script-shell already, and is left alone",
		    settings);
		return EXIT_TROUBLE;
	}
	blob = init_policy(init, "npm",
	    policy_text(init, "npm", "Scripts that npm runs."));
	if (blob == NULL)
		return EXIT_TROUBLE;
	text = arena_printf(arena,
	    "#!/bin/sh\n"
	    "# The shell of npm's scripts, in a sandbox: 'sbxc init npm "
	    "--undo'.\n"
	    "exec %s -w \"${npm_config_local_prefix:-.}\" %s -- /bin/sh "
	    "\"$@\"\n",
	    shell_word(arena, init->sbxrun), shell_word(arena, blob));
	if (change_add(&init->changes, shell, text, 0755, true) == NULL)
		return EXIT_TROUBLE;
	text = arena_printf(arena, "%s%sscript-shell=%s\n", old,
	    *old == '\0' || old[strlen(old) - 1] == '\n' ? "" : "\n", shell);
	if (change_add(&init->changes, settings, text, 0600, false) == NULL)
		return EXIT_TROUBLE;
	warn_of(init, ".npmrc", "script-shell", "");
	warn_of(init, "GNUmakefile", "override", "SHELL");
	warn_of(init, "makefile", "override", "SHELL");
	warn_of(init, "Makefile", "override", "SHELL");
	init->after =
	    "scripts of 'npm run' and 'npm install' are confined now, but not "
	    "in a project whose own .npmrc sets script-shell";
	return EXIT_CLEAN;
}

/* --- git ------------------------------------------------------------------ */

/* The hook has the index of GIT_INDEX_FILE, which is what this commit gets, also
 * by `git commit -a` and `git commit FILE`. */
static const char git_hook[] =
    "#!/bin/sh\n"
    "# No policy that is wrong is committed: 'sbxc init git'.  It checks what "
    "is to be\n"
    "# committed, in a directory of its own, and not what lies in the work "
    "tree.\n"
    "tmp=$(mktemp -d) || exit\n"
    "trap 'rm -rf \"$tmp\"' EXIT\n"
    "trap 'exit 1' HUP INT TERM\n"
    "git diff --cached --no-renames --name-only --diff-filter=d -z -- \\\n"
    "    '*.sbx' '*.yaml' '*.yml' '*.json' >\"$tmp/names\" || exit\n"
    "[ -s \"$tmp/names\" ] || exit 0\n"
    "git checkout-index -a --prefix=\"$tmp/tree/\" && cd \"$tmp/tree\" || "
    "exit\n"
    "# Of YAML and JSON what has the version of a policy.\n"
    "key=\"^(- +|[{,[:space:]]*[{,] *)?sbx *: *[0-9]\"\n"
    "key=\"$key|(^|[{,[:space:]])[\\\"']sbx[\\\"'] *: *[0-9]\"\n"
    "export key\n"
    "xargs -0 sh -c 'for f; do\n"
    "\tshift\n"
    "\tcase $f in\n"
    "\t*.sbx) ;;\n"
    "\t*) grep -Eq -e \"$key\" \"./$f\" || continue ;;\n"
    "\tesac\n"
    "\tset -- \"$@\" \"$f\"\n"
    "done\n"
    "[ $# -eq 0 ] || sbxc check -- \"$@\"' sh <\"$tmp/names\"\n";

enum exit_status
init_git(struct init *init)
{
	const char *git = program_in_path(init->arena, "git");
	const char *words[] = { git, "rev-parse", "--path-format=absolute",
		"--git-common-dir", "--git-path", "hooks/pre-commit", NULL };
	struct ran ran = { .status = -1, .err = "git is not in PATH" };
	const char *hook;
	size_t len;

	if (git != NULL)
		ran = program_run(init->arena, words, NULL, -1);
	if (ran.status != 0) {
		complain("no repository here: %.*s",
		    (int)strcspn(ran.err, "\n"), ran.err);
		return EXIT_TROUBLE;
	}
	len = strcspn(ran.out, "\n");
	hook = ran.out + len + (ran.out[len] == '\n');
	hook = arena_printf(init->arena, "%.*s", (int)strcspn(hook, "\n"),
	    hook);
	/* core.hooksPath may be any directory, also one of $PATH. */
	if (len == 0 || strncmp(hook, ran.out, len) != 0 || hook[len] != '/' ||
	    strstr(hook + len, "/../") != NULL) {
		complain("the hooks are not in the repository's own directory "
			 "(core.hooksPath): nothing is put there");
		return EXIT_TROUBLE;
	}
	if (change_add(&init->changes, hook, git_hook, 0755, true) == NULL)
		return EXIT_TROUBLE;
	init->after = "git checks policies before it commits them";
	return EXIT_CLEAN;
}

/* --- VS Code -------------------------------------------------------------- */

static void
put_terminal(struct json_t *into, const struct init *init, const char *blob)
{
	struct json_t *arguments;

	json_put_text(into, "path", init->sbxrun);
	arguments = json_put_array(into, "args");
	json_put_text(arguments, NULL, blob);
	json_put_text(arguments, NULL, "--");
	json_put_text(arguments, NULL, "/bin/bash");
}

enum exit_status
init_vscode(struct init *init)
{
	static const char profiles[] = "terminal.integrated.profiles.linux";
	static const char chat[] = "chat.tools.terminal.terminalProfile.linux";
	struct arena *arena = init->arena;
	const char *path = init->file != NULL ?
	    init->file :
	    arena_printf(arena, "%.*s/Code/User/settings.json",
		(int)(strlen(init->configuration) - strlen("/sbx")),
		init->configuration);
	struct json_t *root, *all;
	struct stat status;
	const char *old = change_read(arena, path, &status), *blob, *name,
		   *text;

	if (old == NULL && errno != 0)
		return EXIT_TROUBLE;
	root = json_read(old != NULL ? old : "{}");
	all = root != NULL ? json_edit(root, profiles) : NULL;
	if (all == NULL || json_member(all, "sbx") != NULL ||
	    json_member(root, chat) != NULL) {
		complain(root == NULL ?
			"'%s' is no plain JSON (it may have comments); it is "
			"left alone: see sbx-agents(7) for what to paste" :
			"'%s' has a setting of that name already, and is left "
			"alone",
		    path);
		json_release(root);
		return EXIT_TROUBLE;
	}
	name = init_free_name(init, "vscode");
	blob = init_policy(init, name,
	    policy_text(init, name, "Terminals of VS Code."));
	if (blob != NULL) {
		put_terminal(json_put_object(all, "sbx"), init, blob);
		put_terminal(json_put_object(root, chat), init, blob);
	}
	text = json_print(arena, root, old);
	json_release(root);
	if (blob == NULL ||
	    change_add(&init->changes, path, text, 0600, false) == NULL)
		return EXIT_TROUBLE;
	init->after = "choose the terminal profile 'sbx'; the agent of VS Code "
		      "has it already";
	return EXIT_CLEAN;
}
