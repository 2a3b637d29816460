/*
 * `sbxc dump`: prints what a blob holds: as text for people, the programs in
 * it, or a policy that compiles to the same blob.
 */
#include "compiler/base/base.h"
#include "compiler/command/commands.h"
#include "compiler/query/query.h"
#include "compiler/report/report.h"
#include "compiler/write/write.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool
choice_parse(const struct options *options, bool one,
    struct dump_choice *choice)
{
	const struct arch *arch = options_arch(options);
	char *end;
	long variant;

	*choice = (struct dump_choice){ .variant = one ? 0 : -1 };
	if (arch != NULL && (options->arch != NULL || one))
		choice->arch = arch->audit;
	if (options->variant == NULL)
		return true;
	variant = strtol(options->variant, &end, 10);
	if (*end != '\0' || end == options->variant || variant < 0 ||
	    variant > SBX_MAX_PROGRAMS) {
		misused("--variant is a number from 'sbxc dump'");
		return false;
	}
	choice->variant = (int32_t)variant;
	return true;
}

/* The blob, and which of its programs are printed. */
struct dump {
	struct arena *arena;
	const char *path;
	const struct sbx_blob *blob;
	struct dump_choice choice;
};

typedef enum exit_status dump_writer(const struct dump *dump);

static enum exit_status
dump_text(const struct dump *dump)
{
	dump_blob(stdout, dump->blob);
	return EXIT_CLEAN;
}

static enum exit_status
dump_listing(const struct dump *dump)
{
	const struct sbx_blob *blob = dump->blob;

	if (blob->program_count > 0 &&
	    dump_find(blob, dump->choice, 0) == blob->program_count)
		return misused("the blob has no such filter");
	dump_bpf(stdout, blob, dump->choice);
	return EXIT_CLEAN;
}

static enum exit_status
dump_bpf_raw(const struct dump *dump)
{
	const struct sbx_blob *blob = dump->blob;
	uint32_t index = dump_find(blob, dump->choice, 0);
	const struct sbx_program *program;

	if (index == blob->program_count)
		return misused("the blob has no such filter");
	if (isatty(STDOUT_FILENO))
		return misused("raw instructions are not for a terminal");
	program = &blob->programs[index];
	fwrite(blob->bpf + program->first, sizeof *blob->bpf, program->count,
	    stdout);
	return EXIT_CLEAN;
}

/* --- a policy again ------------------------------------------------------- */

static enum exit_status
refuse_text(const struct dump *dump)
{
	complain("'%s' cannot be written as a policy: the text in it is none",
	    dump->path);
	return EXIT_POLICY;
}

static enum exit_status
dump_policy(const struct dump *dump,
    void (*write)(FILE *stream, const struct ast_stmt *stmts))
{
	struct compilation compilation;

	compilation_init(&compilation, dump->arena);
	if (!compilation_open_blob(&compilation, dump->blob))
		return refuse_text(dump);
	write(stdout, compilation.stmts);
	return EXIT_CLEAN;
}

static enum exit_status
dump_sbpl(const struct dump *dump)
{
	const struct policy *policy = blob_policy(dump->arena, dump->blob);
	const char *text;

	if (policy == NULL)
		return refuse_text(dump);
	text = sbpl_text(policy);
	if (strlen(text) > SBX_MAX_SIZE) {
		complain("the text for macOS would be longer than %u bytes",
		    SBX_MAX_SIZE);
		return EXIT_POLICY;
	}
	fputs(text, stdout);
	return EXIT_CLEAN;
}

static enum exit_status
dump_sbx(const struct dump *dump)
{
	return dump_policy(dump, write_sbx);
}

static enum exit_status
dump_yaml(const struct dump *dump)
{
	return dump_policy(dump, write_yaml);
}

static enum exit_status
dump_json(const struct dump *dump)
{
	return dump_policy(dump, write_json);
}

/* --- the command ---------------------------------------------------------- */

static const struct {
	const char *name;
	dump_writer *write;
	bool programs; /* --arch and --variant choose among them */
	bool one;      /* one program: the first of this machine */
} dump_formats[] = {
	{ "text", dump_text, false, false },
	{ "sbx", dump_sbx, false, false },
	{ "yaml", dump_yaml, false, false },
	{ "json", dump_json, false, false },
	{ "sbpl", dump_sbpl, false, false },
	{ "bpf", dump_listing, true, false },
	{ "bpf-raw", dump_bpf_raw, true, true },
};

static bool
is_text(const char *path)
{
	size_t len = strlen(path);

	return len > 4 && strcmp(path + len - 4, ".sbx") == 0;
}

/* As what it compiles to. */
static enum exit_status
dump_text_of(const struct options *options, const char *path,
    struct sbx_blob *blob)
{
	const struct blocks *blocks;

	return subject_read(options, path, blob, &blocks);
}

enum exit_status
command_dump(struct options *options)
{
	enum exit_status status = operands_require(options, 1, "BLOB");
	const char *name = options->out_format;
	struct dump dump = { .arena = options->arena };
	struct sbx_blob blob;
	size_t i = 0;
	bool compiled;

	if (status != EXIT_CLEAN)
		return status;
	while (name != NULL && strcmp(dump_formats[i].name, name) != 0)
		i++;
	if (!dump_formats[i].programs &&
	    (options->arch != NULL || options->variant != NULL))
		return misused("--arch and --variant go with -O bpf, bpf-raw");
	if (!choice_parse(options, dump_formats[i].one, &dump.choice))
		return EXIT_USAGE;
	dump.path = options->operands.list.items[0];
	dump.blob = &blob;
	compiled = dump.path[0] != '@' && !is_text(dump.path);
	if (!compiled)
		status = dump_text_of(options, dump.path, &blob);
	else if (!input_blob(options->arena, dump.path, &blob))
		status = EXIT_TROUBLE;
	if (status != EXIT_CLEAN)
		return status;
	status = dump_formats[i].write(&dump);
	if (status == EXIT_CLEAN && compiled &&
	    vouch(options->arena, dump.path, &blob) != VOUCH_SAME)
		status = EXIT_POLICY;
	return status;
}
