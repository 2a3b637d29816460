/*
 * `sbxc convert`: a policy in another of the forms that policies are written
 * in.  What it includes stays included under the name that it has.
 */
#include "compiler/command/commands.h"
#include "compiler/read/read.h"
#include "compiler/write/write.h"

#include <errno.h>
#include <string.h>

enum convert_form { CONVERT_SBX, CONVERT_YAML, CONVERT_JSON };

/* -1 after complaining. */
static int
form_of(const char *word)
{
	static const char *const words[] = {
		[CONVERT_SBX] = "sbx",
		[CONVERT_YAML] = "yaml",
		[CONVERT_JSON] = "json",
	};

	for (size_t i = 0; word != NULL && i < countof(words); i++) {
		if (strcmp(words[i], word) == 0)
			return (int)i;
	}
	if (word == NULL)
		misused("convert to what? -O sbx, -O yaml or -O json");
	else
		misused("-O is sbx, yaml or json, not '%s'", word);
	return -1;
}

static const struct source *
read_source(const struct options *options, const char *path,
    struct compilation *compilation)
{
	const struct source *source;

	compilation_init(compilation, options->arena);
	source = sources_read(&compilation->sources, path, path,
	    (struct loc){ 0 });
	if (source == NULL)
		complain("cannot read '%s': %s", path,
		    errno == EFBIG ? "it is too large" : strerror(errno));
	return source;
}

static void
write_form(enum convert_form form, const struct ast_stmt *stmts,
    const struct source *source)
{
	switch (form) {
	case CONVERT_SBX:
		write_sbx(stdout, stmts);
		break;
	case CONVERT_YAML:
		write_yaml_source(stdout, stmts, source);
		break;
	case CONVERT_JSON:
		write_json(stdout, stmts);
		break;
	}
}

enum exit_status
command_convert(struct options *options)
{
	enum exit_status status = operands_require(options, 1, "FILE");
	struct compilation compilation;
	const struct source *source;
	struct ast_stmt *stmts;
	int form;

	if (status != EXIT_CLEAN)
		return status;
	form = form_of(options->out_format);
	if (form < 0)
		return EXIT_USAGE;
	source = read_source(options, options->operands.list.items[0],
	    &compilation);
	if (source == NULL)
		return EXIT_TROUBLE;
	stmts = ast_parse_alone(&compilation.sources, &compilation.diags,
	    source);
	diags_print(&compilation.diags, stderr, DIAG_TEXT, options->colour);
	if (compilation.diags.errors > 0)
		return EXIT_POLICY;
	write_form((enum convert_form)form, stmts, source);
	return EXIT_CLEAN;
}
