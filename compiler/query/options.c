/* See options.h. */
#include "compiler/query/options.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

const char *
definition_split(const char *text)
{
	const char *equals = strchr(text, '=');

	if (equals != NULL && equals != text && equals[1] != '\0')
		return equals;
	misused("-D takes NAME=PATH, not '%s'", text);
	return NULL;
}

bool
options_define(const struct options *options, struct compilation *compilation)
{
	for (size_t i = 0; i < options->definitions.list.count; i++) {
		const char *text = options->definitions.list.items[i];
		const char *equals = definition_split(text);

		if (equals == NULL)
			return false;
		*arena_push(options->arena,
		    &compilation->definitions.list) = (struct definition){
			.name = arena_intern(options->arena, text,
			    (size_t)(equals - text)),
			.value = arena_intern(options->arena, equals + 1,
			    strlen(equals + 1)),
		};
	}
	return true;
}

void
complain_unread(const char *path)
{
	if (errno == EFBIG)
		complain("cannot read '%s': it is larger than %d bytes", path,
		    SOURCE_MAX_SIZE);
	else
		complain("cannot read '%s': %s", path, strerror(errno));
}

bool
options_open(const struct options *options, const char *path,
    struct compilation *compilation)
{
	const struct words *includes = &options->includes;

	compilation_init(compilation, options->arena);
	compilation->suppressions.off = options->no_ignore;
	for (size_t i = 0; i < includes->list.count; i++)
		*arena_push(options->arena,
		    &compilation->sources.include_dirs) =
		    includes->list.items[i];
	if (compilation_open(compilation, path))
		return true;
	complain_unread(path);
	return false;
}

static const struct arch *
arch_find(const char *name)
{
	for (size_t i = 0; i < arch_count; i++) {
		if (strcmp(arches[i].name, name) == 0)
			return &arches[i];
	}
	return NULL;
}

const struct arch *
options_arch(const struct options *options)
{
	const struct arch *arch;
	struct utsname machine;

	if (options->arch == NULL)
		return uname(&machine) == 0 ? arch_find(machine.machine) : NULL;
	arch = arch_find(options->arch);
	if (arch == NULL)
		misused("--arch is x86_64 or aarch64, not '%s'", options->arch);
	return arch;
}

bool
options_format(const struct options *options, enum diag_format *format)
{
	*format = DIAG_TEXT;
	if (options->format == NULL || strcmp(options->format, "text") == 0)
		return true;
	*format = DIAG_GCC;
	if (strcmp(options->format, "gcc") == 0)
		return true;
	misused("-f is text or gcc, not '%s'", options->format);
	return false;
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
