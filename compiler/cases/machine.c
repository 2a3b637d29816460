/*
 * The programs that try cases, and what the kernel of this machine offers.
 */
#include "compiler/base/base.h"
#include "compiler/cases/cases.h"
#include "compiler/tables/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef SBX_LIBEXEC_DIR
#define SBX_LIBEXEC_DIR "/usr/local/libexec/sbx"
#endif

/* --- programs ------------------------------------------------------------- */

/* The directory that holds sbxc itself. */
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

static const char *
executable(const char *path)
{
	return access(path, X_OK) == 0 ? path : NULL;
}

/* The program in the first of some directories, which stand in a text as those
 * of $PATH; but if the variable is set, the program that it names. */
static const char *
find_program(struct arena *arena, const char *variable, const char *name,
    const char *directories)
{
	const char *given = getenv(variable), *found = NULL;
	char *real;

	if (given != NULL && *given != '\0') {
		found = executable(given);
		directories = "";
	}
	while (found == NULL && *directories != '\0') {
		size_t len = strcspn(directories, ":");

		if (len > 0)
			found = executable(arena_printf(arena, "%.*s/%s",
			    (int)len, directories, name));
		directories += len + (directories[len] == ':');
	}
	real = found != NULL ? realpath(found, NULL) : NULL;
	found = real != NULL ? arena_strndup(arena, real, strlen(real)) : NULL;
	free(real);
	return found;
}

static bool
helper_map(struct machine *machine)
{
	int fd = open(machine->helper, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *bytes = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &status) == 0)
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ,
		    MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
	if (bytes == MAP_FAILED)
		return false;
	machine->copy = bytes;
	machine->copy_size = (size_t)status.st_size;
	return true;
}

const char *
machine_sbxrun(struct arena *arena)
{
	const char *path = getenv("PATH");

	return find_program(arena, "SBXRUN", "sbxrun",
	    arena_printf(arena, "%s:%s", own_directory(arena),
		path != NULL ? path : ""));
}

static bool
programs_find(struct arena *arena, struct machine *machine)
{
	const char *own = own_directory(arena);

	machine->sbxrun = machine_sbxrun(arena);
	machine->helper = find_program(arena, "SBX_TRIAL", "sbx-trial",
	    arena_printf(arena, "%s:%s/../libexec/sbx:" SBX_LIBEXEC_DIR, own,
		own));
	if (machine->sbxrun == NULL)
		complain("--live: sbxrun is neither beside sbxc nor in PATH; "
			 "SBXRUN names it");
	else if (machine->helper == NULL)
		complain("--live: sbx-trial is neither beside sbxc nor "
			 "in " SBX_LIBEXEC_DIR "; SBX_TRIAL names it");
	else if (!helper_map(machine))
		complain_unread(machine->helper);
	return machine->copy != NULL;
}

/* --- what the machine gives ----------------------------------------------- */

static bool
status_read(const char *text, struct machine *machine)
{
	struct json_t *status = json_read(text);
	const char *word = json_text(status, "level");
	int level = word != NULL ? level_find(word) : -1;

	machine->abi = (int)json_number(json_member(status, "landlock"), "abi");
	machine->level = level >= 0 ? (enum sbx_level)level : SBX_LEVEL_NONE;
	json_release(status);
	return level >= 0;
}

static bool
status_ask(struct arena *arena, struct machine *machine)
{
	const char *const arguments[] = {
		machine->sbxrun,
		"--status",
		"--json",
		NULL,
	};
	struct tree tree;
	bool good;

	if (!tree_make(&tree, arena)) {
		complain("--live: cannot make a directory to try in: %s",
		    strerror(errno));
		return false;
	}
	good = tree_run(&tree, arguments, arguments + 3, -1) == 0 &&
	    status_read(tree_output(&tree), machine);
	if (!good && tree.signal == 0)
		complain("--live: '%s --status' does not tell what the machine "
			 "gives: %s",
		    machine->sbxrun, tree_output(&tree));
	tree_remove(&tree);
	return good;
}

bool
machine_ask(struct arena *arena, struct machine *machine)
{
	const char *arguments[] = { NULL, "--status", "--json", NULL };
	struct tree tree;
	bool good;

	machine->sbxrun = machine_sbxrun(arena);
	arguments[0] = machine->sbxrun;
	if (machine->sbxrun == NULL || !tree_make(&tree, arena))
		return false;
	good = tree_run(&tree, arguments, arguments + 3, -1) == 0 &&
	    status_read(tree_output(&tree), machine);
	tree_remove(&tree);
	return good;
}

static bool
levels_fit(const struct machine *machine, struct test_levels *levels)
{
	bool none_given = levels->count == 0;

	for (size_t i = 0; i < levels->count; i++) {
		if (levels->items[i] <= machine->level)
			continue;
		complain("--live: this machine gives level %s, not %s; "
			 "'sbxrun --status' tells why",
		    level_word(machine->level), level_word(levels->items[i]));
		return false;
	}
	for (unsigned level = SBX_LEVEL_STANDARD;
	     none_given && level <= machine->level; level++)
		levels->items[levels->count++] = (enum sbx_level)level;
	if (levels->count == 0)
		complain("--live: this machine gives neither level standard "
			 "nor full; 'sbxrun --status' tells why");
	return levels->count > 0;
}

enum exit_status
machine_find(struct arena *arena, struct test_levels *levels,
    struct machine *machine)
{
	const struct options here = { .arena = arena };

	machine->arch = options_arch(&here);
	if (machine->arch == NULL)
		complain("--live: sbxrun does not run on this machine");
	return machine->arch != NULL && programs_find(arena, machine) &&
		status_ask(arena, machine) && levels_fit(machine, levels) ?
	    EXIT_CLEAN :
	    EXIT_TROUBLE;
}
