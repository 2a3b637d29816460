/*
 * `sbxc import --from CLIENT FILE`: a policy of the settings of another sandbox, and a
 * test file of what they promise.  What comes out has been compiled, and asked.
 */
#include "compiler/import/import.h"
#include "compiler/base/base.h"
#include "compiler/command/commands.h"
#include "compiler/write/write.h"
#include "grammar/grammar.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct imported {
	const struct options *options;
	const char *name; /* of the profile */
	const char *text, *tests;
	struct importer importer;
	struct sources sources;
	struct diags diags;
};

/* --- names ---------------------------------------------------------------- */

static bool
choose_name(const struct options *options, struct imported *imported)
{
	imported->name = options->profile;
	if (imported->name == NULL && options->output != NULL)
		imported->name = path_name(
		    path_stem(options->arena, options->output));
	if (imported->name == NULL || strcmp(imported->name, "-") == 0)
		imported->name = "imported";
	if (word_is_name(imported->name))
		return true;
	misused("-p: '%s' is no name for a profile", imported->name);
	return false;
}

/* --- the policy ----------------------------------------------------------- */

/* Paths in the user's own settings begin in their directory, and those in a
 * project's in the project. */
static const char *
base_of(const char *path)
{
	const char *home = getenv("HOME");
	char *real = realpath(path, NULL);
	size_t len = home != NULL ? strlen(home) : 0;
	bool own = real != NULL && len > 0 && strncmp(real, home, len) == 0 &&
	    strncmp(real + len, "/.claude/", 9) == 0;

	free(real);
	return own ? "~/.claude" : "${workspace}";
}

static enum exit_status
read_settings(struct imported *imported, const char *path)
{
	struct importer *importer = &imported->importer;
	struct arena *arena = imported->options->arena;
	const struct source *source;
	struct memory memory;

	sources_init(&imported->sources, arena);
	diags_init(&imported->diags, arena, &imported->sources);
	source = sources_read(&imported->sources, path, path,
	    (struct loc){ 0 });
	if (source == NULL) {
		complain_unread(path);
		return EXIT_TROUBLE;
	}
	importer->arena = arena;
	importer->sources = &imported->sources;
	importer->diags = &imported->diags;
	importer->base = base_of(path);
	memory_open(&memory);
	importer->stream = memory.stream;
	fprintf(importer->stream,
	    "# What %s promises, as 'sbxc import --from %s' reads it.\nsbx "
	    "1\n\n"
	    "profile %s {\n    require level standard\n",
	    source_name(arena, path_name(path)), importer->client->name,
	    imported->name);
	import_read(importer, source);
	fputs("}\n", importer->stream);
	imported->text = memory_close(&memory, arena);
	return EXIT_CLEAN;
}

static bool
is_acceptable(struct imported *imported)
{
	struct diag_choices choices = { .error = { false } };
	bool lossy = imported->options->lossy;

	choices.error[DIAG_IMPORT_WEAKER] = !lossy;
	choices.error[DIAG_IMPORT_NARROWER] = !lossy;
	diags_judge(&imported->diags, &choices);
	options_print(imported->options, &imported->diags);
	return imported->diags.errors == 0;
}

/* --- tests ---------------------------------------------------------------- */

/* What one of the settings gives and another one takes back is in a comment. */
static void
write_cases(FILE *stream, const struct imported *imported,
    const struct subject *subject)
{
	const struct importer *importer = &imported->importer;

	for (size_t i = 0; i < importer->promises.count; i++) {
		const struct promise *promise = &importer->promises.items[i];
		const char *space = strchr(promise->access, ' ');
		const char *words[2];
		struct access access;
		bool kept;

		words[0] = arena_strndup(importer->arena, promise->access,
		    (size_t)(space - promise->access));
		words[1] = space + 1;
		kept = !promise->allow || *words[1] == '"' ||
		    access_parse(&subject->places, words, 2, &access) != NULL ||
		    verdict_of(subject, &access).allowed;
		fprintf(stream, "  %s- %s: %s\n",
		    kept ? "" : "# taken back by another one: ",
		    promise->allow ? "allow" : "deny",
		    json_quoted(importer->arena, promise->access));
	}
}

static void
write_tests(struct imported *imported, const struct subject *subject)
{
	struct memory memory;

	memory_open(&memory);
	fprintf(memory.stream,
	    "# What the settings promise; 'sbxc test' tries it.\n"
	    "sbx-test: 1\npolicy: %s\ncases:\n  - deny: syscall mount\n",
	    json_quoted(imported->options->arena,
		imported->options->output != NULL ?
		    path_name(imported->options->output) :
		    "-"));
	write_cases(memory.stream, imported, subject);
	imported->tests = memory_close(&memory, imported->options->arena);
}

/* --- the command ---------------------------------------------------------- */

/* A fault here is one of a value that looked good, such as a name of a host. */
static bool
compile_text(struct imported *imported, struct sbx_blob *blob)
{
	struct compilation compilation;
	struct diag_choices choices = { .off = { false } };
	struct image image;
	bool good;

	compilation_init(&compilation, imported->options->arena);
	compilation_parse(&compilation,
	    sources_add(&compilation.sources, "what was imported",
		imported->text, strlen(imported->text), (struct loc){ 0 }));
	good = compile(&compilation, imported->name, &image) &&
	    sbx_verify(image.bytes, image.size, blob) == SBX_BLOB_OK;
	if (good) {
		struct fmt_text text = fmt_text(imported->options->arena,
		    compilation.stmts, compilation.file);

		imported->text = arena_strndup(imported->options->arena,
		    text.bytes, text.size);
		return true;
	}
	for (enum diag_id id = 0; id < DIAG_END; id++)
		choices.off[id] = diag_severity(id) != SEVERITY_ERROR;
	diags_judge(&compilation.diags, &choices);
	options_print(imported->options, &compilation.diags);
	return false;
}

static enum exit_status
write_out(const struct imported *imported)
{
	const struct options *options = imported->options;
	struct output outputs[2] = {
		{ .path = options->output,
		    .bytes = imported->text,
		    .size = strlen(imported->text) },
	};
	size_t count = countof(outputs);
	const char *failed;
	struct stat status;

	if (options->output == NULL || strcmp(options->output, "-") == 0) {
		fputs(imported->text, stdout);
		return EXIT_CLEAN;
	}
	outputs[1].path = arena_printf(options->arena, "%s.test.yaml",
	    path_stem(options->arena, options->output));
	outputs[1].bytes = imported->tests;
	outputs[1].size = strlen(imported->tests);
	/* Nothing goes beside a device, and nothing is lost. */
	if (stat(options->output, &status) == 0 && !S_ISREG(status.st_mode))
		count = 1;
	for (size_t i = 0; i < count; i++) {
		if (lstat(outputs[i].path, &status) == 0 &&
		    S_ISREG(status.st_mode) && status.st_size > 0)
			return misused("'%s' is there already",
			    outputs[i].path);
	}
	if (outputs_write(outputs, count, &failed))
		return EXIT_CLEAN;
	complain("cannot write '%s': %s", failed, strerror(errno));
	return EXIT_TROUBLE;
}

/* The places of a test file that gives none. */
static struct subject
subject_usual(struct arena *arena, const struct sbx_blob *blob)
{
	struct subject subject = { .arch = &arches[0],
		.level = SBX_LEVEL_FULL };

	places_init(&subject.places, arena, blob, "/home/user/work",
	    "/home/user");
	places_bind(&subject.places, SBX_ANCHOR_RUNTIME, "/run/user/1000");
	return subject;
}

enum exit_status
command_import(struct options *options)
{
	enum exit_status status = operands_require(options, 1, "FILE");
	struct imported imported = { .options = options };
	struct subject subject;
	struct sbx_blob blob;

	if (status != EXIT_CLEAN)
		return status;
	if (options->client == NULL)
		return misused("whose settings? -I claude, codex, llxprt, "
			       "localgpt or sandbox-runtime");
	imported.importer.client = import_client_find(options->client);
	if (!choose_name(options, &imported))
		return EXIT_USAGE;
	status = read_settings(&imported, options->operands.list.items[0]);
	if (status != EXIT_CLEAN)
		return status;
	if (!is_acceptable(&imported) || !compile_text(&imported, &blob))
		return EXIT_POLICY;
	if (!imported.importer.confined)
		complain("note: these settings do not switch the sandbox on, "
			 "so the client itself confines no command");
	if (imported.importer.default_ports)
		complain("note: hosts that are named without a port are "
			 "reached on 80 and 443 alone");
	subject = subject_usual(options->arena, &blob);
	write_tests(&imported, &subject);
	return write_out(&imported);
}
