/*
 * `sbxc records [FILE...]`: what sbxrun wrote for programs, in words.  sbxrun itself
 * starts it for people, as the parent of the process that writes: then it ends as
 * that one does.
 */
#include "compiler/records/records.h"
#include "compiler/command/commands.h"

#include <sys/wait.h>

static int
status_of_writer(void)
{
	int status;

	if (waitpid(-1, &status, 0) <= 0)
		return 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

enum exit_status
command_records(struct options *options)
{
	const struct words *operands = &options->operands;
	struct printing printing = {
		.arena = options->arena,
		.brief = options->summary,
	};
	enum exit_status status = EXIT_CLEAN, one;
	int writer;

	if (operands->list.count == 0)
		status = records_print(&printing, "-");
	for (size_t i = 0; i < operands->list.count; i++) {
		one = records_print(&printing, operands->list.items[i]);
		if (one > status)
			status = one;
	}
	writer = status_of_writer();
	return writer != 0 ? (enum exit_status)writer : status;
}
