/*
 * What the command line of sbxc says, and what several commands make of it.
 */
#include "compiler/base/base.h"
#include "compiler/query/query.h"
#include "compiler/read/read.h"
#include "compiler/report/report.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

void
complain_unread(const char *path)
{
	if (errno == EFBIG)
		complain("cannot read '%s': it is larger than %d bytes", path,
		    SOURCE_MAX_SIZE);
	else
		complain("cannot read '%s': %s", path, input_strerror(errno));
}

void
complain_no_policy(struct arena *arena, const char *path)
{
	int error = errno;
	const char *text = arena_printf(arena, "%s.sbx", path);

	if (error == ENOENT && access(text, F_OK) == 0) {
		complain("cannot read '%s': no such file; did you mean '%s'?",
		    path, text);
		return;
	}
	errno = error;
	complain_unread(path);
}

void
options_start(const struct options *options, struct compilation *compilation)
{
	const struct words *includes = &options->includes;

	compilation_init(compilation, options->arena);
	compilation->suppressions.off = options->no_ignore;
	for (size_t i = 0; i < includes->list.count; i++)
		*arena_push(options->arena,
		    &compilation->sources.include_dirs) =
		    includes->list.items[i];
}

static bool
shipped_open(const struct options *options, const char *name,
    struct compilation *compilation)
{
	if (compilation_open_shipped(compilation,
		arena_printf(options->arena, "%s.sbx", name)))
		return true;
	named_missing(options->arena, name);
	return false;
}

bool
options_open(const struct options *options, const char *path,
    struct compilation *compilation)
{
	options_start(options, compilation);
	/* No profile has a dot in its name, so @x.sbx is a file. */
	if (path[0] == '@' && strpbrk(path, "./") == NULL)
		return shipped_open(options, path + 1, compilation);
	if (compilation_open(compilation, path))
		return true;
	if (errno == ENOENT && named_is_shipped(options->arena, path))
		complain("cannot read '%s': no such file; did you mean @%s?",
		    path, path);
	else
		complain_no_policy(options->arena, path);
	return false;
}

enum exit_status
options_parse_alone(const struct options *options, const char *path,
    struct compilation *compilation)
{
	struct sources *sources = &compilation->sources;
	struct diags *diags = &compilation->diags;

	compilation_init(compilation, options->arena);
	if (path[0] == '@' && strpbrk(path, "./") == NULL) {
		size_t size;
		const char *text = builtin_text(arena_printf(options->arena,
						    "%s.sbx", path + 1),
		    &size);

		if (text == NULL) {
			named_missing(options->arena, path + 1);
			return EXIT_TROUBLE;
		}
		compilation->file = sources_add(sources, path, text, size,
		    (struct loc){ 0 });
	} else {
		compilation->file = sources_read(sources, path, path,
		    (struct loc){ 0 });
	}
	if (compilation->file == NULL) {
		complain_unread(path);
		return EXIT_TROUBLE;
	}
	compilation->stmts = ast_parse_alone(sources, diags, compilation->file);
	options_print(options, diags);
	return diags->errors > 0 ? EXIT_POLICY : EXIT_CLEAN;
}

enum exit_status
policy_status(const struct diags *diags)
{
	size_t wrong = 0;

	for (size_t i = 0; i < diags->records.count; i++)
		wrong += diags->records.items[i].id == DIAG_BAD_DEFINITION;
	if (diags->errors == 0)
		return EXIT_CLEAN;
	return diags->errors == wrong ? EXIT_USAGE : EXIT_POLICY;
}

bool
options_agree(const struct options *options, const char *question)
{
	char answer[16] = "";

	if (options->yes)
		return true;
	if (!isatty(STDIN_FILENO)) {
		complain("nothing was written: add -y to write this");
		return false;
	}
	printf("%s [y/N] ", question);
	fflush(stdout);
	if (fgets(answer, sizeof answer, stdin) != NULL &&
	    (answer[0] == 'y' || answer[0] == 'Y'))
		return true;
	complain("nothing was written");
	return false;
}

void
options_print(const struct options *options, const struct diags *diags)
{
	diags_print(diags, stderr, options->format, options->colour);
}

const struct arch *
options_arch(const struct options *options)
{
	struct utsname machine;
	const char *name = options->arch;

	if (name == NULL && uname(&machine) == 0)
		name = machine.machine;
	return name != NULL ? arch_find(name) : NULL;
}

enum exit_status
operands_require(const struct options *options, size_t count, const char *what)
{
	if (options->operands.list.count == count)
		return EXIT_CLEAN;
	if (options->operands.list.count < count)
		return misused("%s is missing", what);
	return misused("unexpected operand '%s'",
	    options->operands.list.items[count]);
}
