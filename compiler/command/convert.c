/*
 * `sbxc convert`: prints a policy in another form.  Included files stay
 * included under their names.
 */
#include "compiler/command/commands.h"
#include "compiler/write/write.h"

#include <string.h>

enum exit_status
command_convert(struct options *options)
{
	enum exit_status status = operands_require(options, 1, "FILE");
	const char *form = options->out_format;
	struct compilation compilation;

	if (status != EXIT_CLEAN)
		return status;
	if (form == NULL)
		return misused("convert to what? -O sbx, -O yaml or -O json");
	status = options_parse_alone(options, options->operands.list.items[0],
	    &compilation);
	if (status != EXIT_CLEAN)
		return status;
	if (strcmp(form, "sbx") == 0)
		write_sbx(stdout, compilation.stmts);
	else if (strcmp(form, "yaml") == 0)
		write_yaml_source(stdout, compilation.stmts, compilation.file);
	else
		write_json(stdout, compilation.stmts);
	return EXIT_CLEAN;
}
