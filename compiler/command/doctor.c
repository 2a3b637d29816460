/*
 * `sbxc doctor`: reads the policy, finds the directories, and has all looked at.
 */
#include "compiler/cases/cases.h"
#include "compiler/command/commands.h"
#include "compiler/query/binder.h"
#include "compiler/setup/setup.h"

#include <stdlib.h>
#include <string.h>

static const char *
real_path(struct arena *arena, const char *path)
{
	char *real = path != NULL ? realpath(path, NULL) : NULL;
	const char *copy;

	if (real == NULL)
		return NULL;
	copy = arena_strndup(arena, real, strlen(real));
	free(real);
	return copy;
}

enum exit_status
command_doctor(struct options *options)
{
	struct arena *arena = options->arena;
	const struct words *operands = &options->operands;
	struct doctor doctor = { .arena = arena };
	const struct blocks *blocks;
	struct subject subject;
	enum exit_status status;
	struct sbx_blob blob;
	const char *wanted;

	if (operands->list.count > 1)
		return misused("doctor takes one policy");
	if (operands->list.count == 1)
		doctor.policy = operands->list.items[0];
	else
		doctor.policy = named_resolve(arena, named_default(arena));
	if (doctor.policy == NULL)
		return EXIT_POLICY;
	wanted = options->workspace != NULL ? options->workspace :
					      binder_workspace();
	if (wanted == NULL)
		wanted = ".";
	doctor.workspace = real_path(arena, wanted);
	if (doctor.workspace == NULL) {
		complain_unread(wanted);
		return EXIT_TROUBLE;
	}
	doctor.home = real_path(arena, getenv("HOME"));
	if (doctor.home != NULL)
		doctor.configuration = init_configuration(arena, doctor.home);
	doctor.sbxrun = machine_sbxrun(arena);
	if (doctor.sbxrun == NULL) {
		complain("sbxrun is neither beside sbxc nor in PATH; SBXRUN "
			 "names it");
		return EXIT_TROUBLE;
	}
	options->workspace = doctor.workspace;
	status = subject_read(options, doctor.policy, &blob, &blocks);
	if (status == EXIT_CLEAN)
		status = subjects_bind(options, &blob, &blocks, 1, &subject);
	if (status != EXIT_CLEAN)
		return status;
	doctor.subject = &subject;
	return doctor_examine(&doctor, options);
}
