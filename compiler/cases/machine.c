/* The programs and the machine that cases are tried with: see test_live.h. */
#include "compiler/cases/live.h"
#include "compiler/cases/tree.h"
#include "compiler/tables/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SBX_LIBEXEC_DIR
#define SBX_LIBEXEC_DIR "/usr/local/libexec/sbx"
#endif

/* --- programs ------------------------------------------------------------- */

/* The directory that sbxc itself lies in. */
static const char *
own_directory(struct arena *arena)
{
	char path[SBX_MAX_PATH + 1];
	ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);

	if (len <= 0)
		return ".";
	path[len] = '\0';
	*strrchr(path, '/') = '\0';
	return arena_strndup(arena, path, strlen(path));
}

/* The first of these that may be executed, or NULL. */
static const char *
first_program(const char *const *paths, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (paths[i] != NULL && access(paths[i], X_OK) == 0)
			return paths[i];
	}
	return NULL;
}

static const char *
in_path(struct arena *arena, const char *name)
{
	const char *path = getenv("PATH");

	while (path != NULL && *path != '\0') {
		size_t len = strcspn(path, ":");
		const char *program = arena_printf(arena, "%.*s/%s", (int)len,
		    path, name);

		if (len > 0 && access(program, X_OK) == 0)
			return program;
		path += len + (path[len] == ':');
	}
	return NULL;
}

/* What the variable names is what is meant, or nothing. */
static const char *
program_find(struct arena *arena, const char *variable,
    const char *const *paths, size_t count)
{
	const char *given = getenv(variable);
	const char *found = given != NULL && *given != '\0' ?
	    first_program(&given, 1) :
	    first_program(paths, count);
	char *real = found != NULL ? realpath(found, NULL) : NULL;

	if (real == NULL)
		return NULL;
	found = arena_strndup(arena, real, strlen(real));
	free(real);
	return found;
}

static bool
programs_find(struct arena *arena, struct test_machine *machine)
{
	const char *own = own_directory(arena);
	const char *const loaders[] = {
		arena_printf(arena, "%s/sbxrun", own),
		in_path(arena, "sbxrun"),
	};
	const char *const probes[] = {
		arena_printf(arena, "%s/sbx-probe", own),
		arena_printf(arena, "%s/../libexec/sbx/sbx-probe", own),
		SBX_LIBEXEC_DIR "/sbx-probe",
	};

	machine->sbxrun = program_find(arena, "SBXRUN", loaders,
	    countof(loaders));
	machine->probe = program_find(arena, "SBX_PROBE", probes,
	    countof(probes));
	if (machine->sbxrun == NULL)
		complain("--live: sbxrun is neither beside sbxc nor in PATH; "
			 "SBXRUN names it");
	else if (machine->probe == NULL)
		complain("--live: sbx-probe is neither beside sbxc nor "
			 "in " SBX_LIBEXEC_DIR "; SBX_PROBE names it");
	return machine->sbxrun != NULL && machine->probe != NULL;
}

/* --- what the machine gives ----------------------------------------------- */

/* The text after `"key":` in one line of JSON, quotes and all; or "". */
static const char *
json_after(const char *json, const char *key)
{
	const char *found = strstr(json, key);

	return found != NULL ? found + strlen(key) : "";
}

static bool
status_read(struct arena *arena, const char *json, struct test_machine *machine)
{
	const char *text = json_after(json, "\"level\":\"");
	int level = level_find(arena_strndup(arena, text, strcspn(text, "\"")));

	machine->abi = atoi(json_after(json, "\"abi\":"));
	machine->level = level >= 0 ? (enum sbx_level)level : SBX_LEVEL_NONE;
	return level >= 0;
}

/* sbxrun knows best what it will find. */
static bool
status_ask(struct arena *arena, struct test_machine *machine)
{
	const char *const arguments[] = {
		machine->sbxrun,
		"--status",
		"--json",
		NULL,
	};
	struct test_tree tree;
	bool good;

	if (!test_tree_make(&tree, arena)) {
		complain("--live: cannot make a directory to try in: %s",
		    strerror(errno));
		return false;
	}
	good = test_tree_run(&tree, arguments, arguments + 3, "/dev/null") ==
		0 &&
	    status_read(arena, test_tree_output(&tree), machine);
	if (!good && tree.signal == 0)
		complain("--live: '%s --status' does not tell what the machine "
			 "gives: %s",
		    machine->sbxrun, test_tree_output(&tree));
	test_tree_remove(&tree);
	return good;
}

static void
levels_fill(const struct test_machine *machine, struct test_levels *levels)
{
	static const enum sbx_level usual[] = {
		SBX_LEVEL_STANDARD,
		SBX_LEVEL_FULL,
	};

	for (size_t i = 0; i < countof(usual); i++) {
		if (usual[i] <= machine->level)
			levels->items[levels->count++] = usual[i];
	}
}

enum exit_status
test_machine_find(struct arena *arena, struct test_levels *levels,
    struct test_machine *machine)
{
	struct options options = { .arena = arena };

	machine->arch = options_arch(&options);
	if (machine->arch == NULL) {
		complain("--live: sbxrun does not run on this machine");
		return EXIT_TROUBLE;
	}
	if (!programs_find(arena, machine) || !status_ask(arena, machine))
		return EXIT_TROUBLE;
	for (size_t i = 0; i < levels->count; i++) {
		if (levels->items[i] <= machine->level)
			continue;
		complain("--live: this machine gives level %s, not %s; "
			 "'sbxrun --status' tells why",
		    level_word(machine->level), level_word(levels->items[i]));
		return EXIT_TROUBLE;
	}
	if (levels->count == 0)
		levels_fill(machine, levels);
	if (levels->count > 0)
		return EXIT_CLEAN;
	complain("--live: this machine gives neither level standard nor full; "
		 "'sbxrun --status' tells why");
	return EXIT_TROUBLE;
}
