/*
 * Which of a blob's filters sbxrun takes on this machine.  It alone knows what
 * the view shows, and whether it can listen to a command, so it is asked.
 */
#include "compiler/base/base.h"
#include "compiler/cases/cases.h"
#include "compiler/setup/setup.h"
#include "compiler/tables/tables.h"

#include <unistd.h>

/* The plan of `sbxrun -n` at the subject's level; NULL if there is none. */
static struct json_t *
ask_plan(const struct options *options, const struct subject *subject,
    const char *sbxrun)
{
	struct arena *arena = options->arena;
	const struct sbx_blob *blob = subject->places.blob;
	int fd = program_memory(blob->base, blob->size);
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
	const char *sbxrun = machine_sbxrun(options->arena);
	struct json_t *plan;
	const struct json_t *calls;

	if (subject->level == SBX_LEVEL_NONE ||
	    (blob->meta->flags & SBX_EVERYTHING) != 0)
		return;
	plan = sbxrun == NULL ? NULL : ask_plan(options, subject, sbxrun);
	calls = json_member(plan, "syscalls");
	if (json_member(calls, "program") != NULL &&
	    json_number(calls, "program") < blob->program_count)
		subject->program =
		    &blob->programs[json_number(calls, "program")];
	if (subject->program == NULL)
		subject->unknown = sbxrun == NULL ?
		    "is neither beside sbxc nor in PATH" :
		    "does not run the policy here at this level";
	json_release(plan);
}
