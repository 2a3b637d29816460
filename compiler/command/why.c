/*
 * `sbxc why`: from its operands to a question that why.h answers.
 *
 *	sbxc why FILE|BLOB|@NAME WORD [tcp] OBJECT
 *
 * Who does not say where a command would run is told of here: with the links of
 * this machine and what is there, as `sbxrun -n` has it.
 */
#include "compiler/query/why.h"
#include "compiler/cases/cases.h"
#include "compiler/command/commands.h"
#include "compiler/query/query.h"
#include "compiler/records/records.h"
#include "compiler/setup/setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool
asks_machine(const struct options *options)
{
	return !options->model && options->workspace == NULL &&
	    options->home == NULL;
}

/* --- commands by name ----------------------------------------------------- */

static bool
is_command_name(const struct options *options)
{
	const struct words *operands = &options->operands;

	return asks_machine(options) && operands->list.count == 3 &&
	    strcmp(operands->list.items[1], "exec") == 0 &&
	    operands->list.items[2][0] != '\0' &&
	    strpbrk(operands->list.items[2], "/~$") == NULL;
}

/* --- the question --------------------------------------------------------- */

/* The level that sbxrun would take here, unless one was given, and the Landlock
 * that it has; full and the newest if it is not found. */
static void
ask_level(const struct options *options, struct subject *subject)
{
	struct machine machine = { .sbxrun = NULL };

	if (options->arch != NULL || !machine_ask(options->arena, &machine) ||
	    machine.level < SBX_LEVEL_STANDARD)
		return;
	if (options->level == NULL)
		subject->level = machine.level;
	if (subject->abi == 0)
		subject->abi = machine.abi;
}

/* The commands that write what would allow it, if rules alone do. */
static void
say_commands(const struct options *options, const struct subject *subject,
    const struct access *access)
{
	const char *policy = options->operands.list.items[0];
	struct verdict verdict = verdict_of(subject, access);
	struct remedy remedy;
	const char *text = "";

	if (verdict.allowed || strcmp(policy, "-") == 0)
		return;
	if (verdict.by == BY_ENV) {
		printf("    by: %s\n",
		    allow_command(options->arena, policy,
			arena_printf(options->arena, "env %s", access->name),
			true));
		return;
	}
	remedy = remedy_find(subject, access, &verdict);
	for (size_t i = 0; i < remedy.steps.count; i++) {
		const struct remedy_step *step = &remedy.steps.items[i];

		if (remedy_where(step) != SBX_ADVICE_POLICY)
			continue;
		if (step->what != REMEDY_ADD ||
		    (strncmp(step->text, "allow ", 6) != 0 &&
			strncmp(step->text, "use ", 4) != 0))
			return;
		text = arena_printf(options->arena, "%s    by: %s\n", text,
		    allow_command(options->arena, policy, step->text, false));
	}
	if (remedy_works(&remedy))
		fputs(text, stdout);
}

/* Why the ceiling of this machine does not allow the same, or NULL. */
static const char *
ceiling_of(const struct options *options, const struct subject *subject,
    const char *const *words, size_t count)
{
	const struct subject *ceiling = ceiling_read(options, subject);
	struct access access;

	return ceiling != NULL &&
		access_parse(&ceiling->places, words, count, &access) == NULL ?
	    ceiling_denies(ceiling, &access) :
	    NULL;
}

static enum exit_status
answer(const struct options *options, struct subject *subject)
{
	const struct words *operands = &options->operands;
	const char *const *words = operands->list.items + 1;
	const char *by_name[] = { "exec", NULL };
	size_t count = operands->list.count - 1;
	struct access access;
	const char *fault;

	subject->happens = asks_machine(options) ||
	    (!options->model && options->level != NULL);
	if (asks_machine(options)) {
		ask_level(options, subject);
		subject->places.finds = true;
		places_ask_machine(&subject->places);
	}
	if (is_command_name(options)) {
		by_name[1] = program_find(subject, words[1]);
		if (by_name[1] == NULL) {
			printf("denied: exec %s\n    PATH leads to no such "
			       "program\n",
			    shown_text(options->arena, words[1]));
			return EXIT_POLICY;
		}
		words = by_name;
	}
	fault = access_parse(&subject->places, words, count, &access);
	if (fault != NULL)
		return misused("%s", fault);
	/* Which filter is taken depends on more than the Landlock: at level
	 * full on what the view shows, and on whether sbxrun can listen. */
	if ((access.kind == KIND_SYSCALL || access.kind == KIND_SOCKET) &&
	    options->arch == NULL && asks_machine(options))
		chosen_ask(options, subject);
	if (asks_machine(options))
		subject->above = ceiling_of(options, subject, words, count);
	if (why(stdout, subject, &access, options->level == NULL))
		return EXIT_CLEAN;
	if (asks_machine(options) && subject->above == NULL)
		say_commands(options, subject, &access);
	return EXIT_POLICY;
}

static enum exit_status
answer_denials(const struct options *options, struct subject *subject)
{
	struct denials denials;
	struct out out;

	if (*options->denials == '/')
		places_bind(&subject->places, SBX_ANCHOR_TMP, options->denials);
	places_ask_machine(&subject->places);
	subject->ceiling = ceiling_read(options, subject);
	denials.policy = options->target;
	if (denials_read(subject, stdin, &denials) &&
	    fwrite(denials.advice, sizeof *denials.advice, denials.head.count,
		stdout) == denials.head.count &&
	    fflush(stdout) == 0) {
		out_init(&out, STDOUT_FILENO);
		explained_show(&out, subject, &denials);
		out_flush(&out);
		return EXIT_CLEAN;
	}
	complain("cannot answer: %s", strerror(errno));
	return EXIT_TROUBLE;
}

static enum exit_status
check_operands(const struct options *options)
{
	const struct words *operands = &options->operands;

	if (options->denials != NULL)
		return operands_require(options, 1, "a policy");
	return operands->list.count >= 2 ?
	    EXIT_CLEAN :
	    misused("%s missing; for example: sbxc why %s write /etc/passwd",
		operands->list.count == 0 ? "a policy and a question are" :
					    "a question about the policy is",
		operands->list.count == 0 ? "@coding" :
					    operands->list.items[0]);
}

enum exit_status
command_why(struct options *options)
{
	const struct words *operands = &options->operands;
	enum exit_status status;
	struct subject subject;
	const struct blocks *blocks;
	struct sbx_blob blob;

	status = check_operands(options);
	if (status == EXIT_CLEAN)
		status = subject_read(options, operands->list.items[0], &blob,
		    &blocks);
	if (status == EXIT_CLEAN)
		status = subjects_bind(options, &blob, &blocks, 1, &subject);
	if (status != EXIT_CLEAN)
		return status;
	return options->denials != NULL ? answer_denials(options, &subject) :
					  answer(options, &subject);
}
