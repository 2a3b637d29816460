/* See chosen.h. */
#include "compiler/setup/chosen.h"
#include "compiler/base/json.h"
#include "compiler/cases/machine.h"
#include "compiler/setup/program.h"
#include "compiler/tables/words.h"

#include <unistd.h>

/* The plan of `sbxrun -n` at the subject's level; NULL if there is none. */
static struct json_t *
ask_plan(const struct options *options, const struct subject *subject)
{
	struct arena *arena = options->arena;
	const struct sbx_blob *blob = subject->places.blob;
	const char *sbxrun = machine_sbxrun(arena);
	int fd = sbxrun == NULL ? -1 : program_memory(blob->base, blob->size);
	struct words words = { .list.count = 0 };
	struct ran ran;

	if (fd < 0)
		return NULL;
	*arena_push(arena, &words.list) = sbxrun;
	*arena_push(arena, &words.list) = "-n";
	*arena_push(arena, &words.list) = "--json";
	*arena_push(arena, &words.list) = arena_printf(arena, "-l%s",
	    level_word(subject->level));
	for (size_t i = 0; i < options->definitions.list.count; i++)
		*arena_push(arena, &words.list) = arena_printf(arena, "-D%s=%s",
		    options->definitions.list.items[i].name,
		    options->definitions.list.items[i].value);
	*arena_push(arena, &words.list) = arena_printf(arena,
	    "/proc/self/fd/%d", fd);
	*arena_push(arena, &words.list) = NULL;
	ran = program_run(arena, words.list.items, NULL, fd);
	close(fd);
	return ran.status == 0 ? json_read(ran.out) : NULL;
}

void
chosen_ask(const struct options *options, struct subject *subject)
{
	const struct sbx_blob *blob = subject->places.blob;
	struct json_t *plan;
	const struct json_t *calls;

	if (subject->level == SBX_LEVEL_NONE ||
	    (blob->meta->flags & SBX_EVERYTHING) != 0)
		return;
	plan = ask_plan(options, subject);
	calls = json_member(plan, "syscalls");
	if (json_member(calls, "program") != NULL &&
	    json_number(calls, "program") < blob->program_count)
		subject->program =
		    &blob->programs[json_number(calls, "program")];
	json_release(plan);
}
