/*
 * `sbxc why`: from its operands to a question that why.h answers.
 *
 *	sbxc why FILE|BLOB|@NAME WORD [tcp] OBJECT
 */
#include "compiler/query/why.h"
#include "compiler/command/commands.h"

enum exit_status
command_why(struct options *options)
{
	const struct words *operands = &options->operands;
	enum exit_status status;
	struct subject subject;
	const struct blocks *blocks;
	struct sbx_blob blob;
	struct access access;
	const char *fault;

	if (operands->list.count < 2)
		return misused("%s missing; for example: sbxc why %s write "
			       "/etc/passwd",
		    operands->list.count == 0 ?
			"a policy and a question are" :
			"a question about the policy is",
		    operands->list.count == 0 ? "@coding" :
						operands->list.items[0]);
	status = subject_read(options, operands->list.items[0], &blob, &blocks);
	if (status == EXIT_CLEAN)
		status = subjects_bind(options, &blob, &blocks, 1, &subject);
	if (status != EXIT_CLEAN)
		return status;
	fault = access_parse(&subject.places, operands->list.items + 1,
	    operands->list.count - 1, &access);
	if (fault != NULL)
		return misused("%s", fault);
	return why(stdout, &subject, &access, options->level == NULL) ?
	    EXIT_CLEAN :
	    EXIT_POLICY;
}
