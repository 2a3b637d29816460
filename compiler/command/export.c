/*
 * `sbxc export -O oci-seccomp POLICY`: the filter of a policy for containers, on
 * standard output or in a file.
 */
#include "compiler/export/export.h"
#include "compiler/base/base.h"
#include "compiler/command/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A policy is a text: a blob has lost where its statements stand. */
static enum exit_status
policy_read(const struct options *options, const char *path,
    struct compilation *compilation, struct sbx_blob *blob)
{
	struct image image;

	if (!options_open(options, path, compilation))
		return EXIT_TROUBLE;
	compilation->definitions = options->definitions;
	if (compile(compilation, options->profile, &image) &&
	    sbx_verify(image.bytes, image.size, blob) == SBX_BLOB_OK)
		return EXIT_CLEAN;
	options_print(options, &compilation->diags);
	return policy_status(&compilation->diags);
}

/* What is lost is an error, unless the user said --lossy. */
static bool
is_acceptable(const struct options *options, struct diags *diags)
{
	struct diag_choices choices = { .error = { false } };

	choices.error[DIAG_EXPORT_WEAKER] = !options->lossy;
	choices.error[DIAG_EXPORT_NARROWER] = !options->lossy;
	diags_judge(diags, &choices);
	options_print(options, diags);
	return diags->errors == 0;
}

static enum exit_status
write_out(const struct options *options, const struct exporter *exporter)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	struct output output = { .path = options->output };
	const char *failed;
	bool good = true;

	if (stream == NULL)
		arena_exhausted();
	oci_write(exporter, stream);
	if (fclose(stream) != 0)
		arena_exhausted();
	output.bytes = text;
	output.size = size;
	if (options->output == NULL || strcmp(options->output, "-") == 0)
		fwrite(text, 1, size, stdout);
	else
		good = outputs_write(&output, 1, &failed);
	if (!good)
		complain("cannot write '%s': %s", failed, strerror(errno));
	free(text);
	return good ? EXIT_CLEAN : EXIT_TROUBLE;
}

enum exit_status
command_export(struct options *options)
{
	enum exit_status status = operands_require(options, 1, "a policy");
	const struct arch *arch = options_arch(options);
	struct compilation compilation;
	struct exporter exporter;
	struct sbx_blob blob;

	if (status != EXIT_CLEAN)
		return status;
	if (options->out_format == NULL)
		return misused("export to what? -O oci-seccomp");
	if (arch == NULL)
		return misused("there are no filters for this machine: say "
			       "--arch");
	status = policy_read(options, options->operands.list.items[0],
	    &compilation, &blob);
	if (status != EXIT_CLEAN)
		return status;
	exporter = export_prepare(compilation.policy, arch, &compilation.diags);
	if (!is_acceptable(options, &compilation.diags))
		return EXIT_POLICY;
	return write_out(options, &exporter);
}
