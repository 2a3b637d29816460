/*
 * Programs that a profile has to let run, and the rules that are missing for that:
 * where somebody has installed them is no shipped profile's business.
 */
#include "compiler/query/why.h"
#include "compiler/setup/setup.h"

#include <stdlib.h>
#include <string.h>

const char *
needs_real(struct arena *arena, const char *path)
{
	char *real = realpath(path, NULL);
	const char *copy = real == NULL ?
	    path :
	    arena_strndup(arena, real, strlen(real));

	free(real);
	return copy;
}

static bool
may_run(const struct needs *needs, const char *path)
{
	const char *words[] = { "exec", path };
	struct access access;

	if (access_parse(&needs->subject.places, words, countof(words),
		&access) != NULL)
		return false;
	access.outside = true;
	return verdict_of(&needs->subject, &access).allowed;
}

/* What a program of npm's belongs to is the outermost node_modules; one in a
 * directory bin belongs to what holds that. */
static const char *
tree_of(struct arena *arena, const char *path)
{
	const char *modules = strstr(path, "/node_modules/");
	const char *slash = strrchr(path, '/'), *bin;

	if (modules != NULL)
		return arena_printf(arena, "%.*s/node_modules",
		    (int)(modules - path), path);
	bin = slash - path > 4 && strncmp(slash - 4, "/bin", 4) == 0 ?
	    slash - 4 :
	    slash;
	return arena_printf(arena, "%.*s", (int)(bin - path), path);
}

static void
need(struct needs *needs, const char *path, const char *tree)
{
	struct arena *arena = needs->init->arena;
	const char *spelled, *rule;

	/* Never all that the user has. */
	if (path_lies_in(needs->init->home, tree))
		tree = path;
	spelled = spelled_path(arena, tree);
	if (may_run(needs, path) || spelled == NULL ||
	    strchr(tree + 1, '/') == NULL)
		return;
	rule = arena_printf(arena, "    allow exec  %s\n", spelled);
	if (strstr(needs->rules, rule) == NULL)
		needs->rules = arena_printf(arena, "%s%s", needs->rules, rule);
}

void
needs_program(struct needs *needs, const char *path)
{
	struct arena *arena = needs->init->arena;
	const char *real = needs_real(arena, path), *node, *interpreter;
	const char *slash = strrchr(path, '/');

	need(needs, real, tree_of(arena, real));
	/* The link by which it is found. */
	if (strcmp(real, path) != 0 && slash != NULL && slash != path)
		need(needs, path,
		    arena_printf(arena, "%.*s", (int)(slash - path), path));
	interpreter = here_interpreter(arena, real);
	if (interpreter == NULL || strlen(interpreter) < 4 ||
	    strcmp(interpreter + strlen(interpreter) - 4, "/env") != 0)
		return;
	node = program_in_path(arena, "node");
	if (node != NULL)
		need(needs, needs_real(arena, node),
		    tree_of(arena, needs_real(arena, node)));
}

enum exit_status
needs_bind(struct needs *needs, struct init *init, const char *profile)
{
	struct operand operand;
	const struct blocks *none = NULL;
	enum exit_status status;

	*needs = (struct needs){ .init = init, .rules = "" };
	operand_read(init->options, arena_printf(init->arena, "@%s", profile),
	    &operand);
	if (operand.state != OPERAND_GOOD)
		return EXIT_TROUBLE;
	needs->blob = operand.blob;
	status = subjects_bind(init->options, &needs->blob, &none, 1,
	    &needs->subject);
	if (status == EXIT_CLEAN)
		places_ask_machine(&needs->subject.places);
	return status;
}
