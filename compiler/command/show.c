/*
 * `sbxc show --html POLICY`: a picture of a policy, on standard output.
 */
#include "compiler/command/commands.h"
#include "compiler/query/query.h"

enum exit_status
command_show(struct options *options)
{
	enum exit_status status = operands_require(options, 1, "a policy");
	const struct blocks *blocks;
	struct sbx_blob blob;

	if (status == EXIT_CLEAN && !options->html)
		status = misused("show draws a page: add --html; 'sbxc dump' "
				 "prints text");
	if (status == EXIT_CLEAN)
		status = subject_read(options, options->operands.list.items[0],
		    &blob, &blocks);
	if (status == EXIT_CLEAN)
		page_write(stdout, options->arena, &blob);
	return status;
}
