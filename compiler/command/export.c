/*
 * `sbxc export -O TARGET POLICY`: a policy for another program, on standard
 * output or in a file.
 */
#include "compiler/export/export.h"
#include "compiler/base/output.h"
#include "compiler/command/commands.h"
#include "compiler/query/verdict.h"

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

/* A relative workspace is one of the current directory. */
static void
subject_bind(const struct options *options, const struct sbx_blob *blob,
    struct subject *subject)
{
	subject->level = SBX_LEVEL_FULL;
	places_init(&subject->places, options->arena, blob, options->workspace,
	    options->home);
	places_define_all(&subject->places, &options->definitions);
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
write_out(const struct options *options, const struct exporter *exporter,
    const struct export_target *target)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	struct output output = { .path = options->output };
	const char *failed;
	bool good = true;

	if (stream == NULL)
		arena_exhausted();
	target->write(exporter, stream);
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
	struct subject subject = { .arch = options_arch(options) };
	const struct export_target *target;
	struct compilation compilation;
	struct exporter exporter;
	struct sbx_blob blob;

	if (status != EXIT_CLEAN)
		return status;
	if (options->out_format == NULL)
		return misused("export to what? -O oci-seccomp, bwrap, docker "
			       "or systemd");
	target = export_target_find(options->out_format);
	if (subject.arch == NULL)
		return misused("there are no filters for this machine: say "
			       "--arch");
	status = policy_read(options, options->operands.list.items[0],
	    &compilation, &blob);
	if (status != EXIT_CLEAN)
		return status;
	if (target->has_paths && compilation.policy->params.count > 0)
		return misused(
		    "the policy has the parameter '%s': say -D %s=PATH",
		    compilation.policy->params.items[0].name,
		    compilation.policy->params.items[0].name);
	subject_bind(options, &blob, &subject);
	exporter = export_prepare(compilation.policy, target, &subject,
	    &compilation.diags);
	if (!is_acceptable(options, &compilation.diags))
		return EXIT_POLICY;
	return write_out(options, &exporter, target);
}
