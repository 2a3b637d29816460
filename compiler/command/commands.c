/*
 * The small commands of sbxc, and what all of them share: each takes what the
 * command line says and returns what sbxc ends with.  Standard output carries
 * what was asked for, standard error the diagnostics.
 */
#include "compiler/command/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

__attribute__((format(printf, 1, 0)))
static void
complain_list(const char *format, va_list arguments)
{
	fputs("sbxc: ", stderr);
	vfprintf(stderr, format, arguments);
	putc('\n', stderr);
}

void
complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	complain_list(format, arguments);
	va_end(arguments);
}

enum exit_status
misused(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (format != NULL)
		complain_list(format, arguments);
	va_end(arguments);
	fputs("Try 'sbxc --help'.\n", stderr);
	return EXIT_USAGE;
}

/* --- what several commands do --------------------------------------------- */

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
options_define(const struct options *options,
    struct compilation *compilation)
{
	for (size_t i = 0; i < options->definitions.list.count; i++) {
		const char *text = options->definitions.list.items[i];
		const char *equals = definition_split(text);

		if (equals == NULL)
			return false;
		*arena_push(options->arena, &compilation->definitions.list) =
		    (struct definition){
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

static const struct filter_arch *
arch_find(const char *name)
{
	for (size_t i = 0; i < filter_arch_count; i++) {
		if (strcmp(filter_arches[i].name, name) == 0)
			return &filter_arches[i];
	}
	return NULL;
}

const struct filter_arch *
options_arch(const struct options *options)
{
	const struct filter_arch *arch;
	struct utsname machine;

	if (options->arch == NULL)
		return uname(&machine) == 0 ? arch_find(machine.machine) :
					      NULL;
	arch = arch_find(options->arch);
	if (arch == NULL)
		misused("--arch is x86_64 or aarch64, not '%s'",
		    options->arch);
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
operands_require(const struct options *options, size_t count,
    const char *what)
{
	if (options->operands.list.count == count)
		return EXIT_CLEAN;
	if (options->operands.list.count < count)
		return misused("%s is missing", what);
	return misused("unexpected operand '%s'",
	    options->operands.list.items[count]);
}

/* --- profiles ------------------------------------------------------------- */

/* Words of `text` in lines of at most 79 columns, all but the first indented. */
static void
print_wrapped(const char *text, int indent)
{
	int column = indent;

	while (*text != '\0') {
		int len = (int)strcspn(text, " ");

		if (column > indent && column + 1 + len > 79) {
			printf("\n%*s", indent, "");
			column = indent;
		}
		column += printf("%s%.*s", column > indent ? " " : "", len,
		    text);
		text += len;
		text += strspn(text, " ");
	}
	putchar('\n');
}

static void
print_profile(const struct ast_stmt *profile)
{
	const char *about = "";

	for (const struct ast_stmt *stmt = profile->body; stmt != NULL;
	    stmt = stmt->next) {
		if (stmt->kind == AST_ABOUT)
			about = stmt->name->text;
	}
	printf("%-17s ", profile->name->text);
	print_wrapped(about, 18);
}

enum exit_status
command_profiles(struct options *options)
{
	enum exit_status status = operands_require(options, 0, "");
	const char *name;

	if (status != EXIT_CLEAN)
		return status;
	for (size_t i = 0; (name = builtin_name(i)) != NULL; i++) {
		struct compilation compilation;
		struct ast_stmt *stmt;
		size_t size;
		const char *text = builtin_text(name, &size);

		/* What is built in is told by the "sbx:". */
		name = arena_printf(options->arena, "sbx:%s", name);
		compilation_init(&compilation, options->arena);
		stmt = ast_parse(&compilation.sources, &compilation.diags,
		    sources_add(&compilation.sources, name, name, text, size,
			(struct loc){ 0 }));
		for (; stmt != NULL; stmt = stmt->next) {
			if (stmt->kind == AST_PROFILE)
				print_profile(stmt);
		}
	}
	return EXIT_CLEAN;
}

/* --- explain -------------------------------------------------------------- */

static void
explain(struct arena *arena, enum diag_id id)
{
	printf("%s: %s (%s, %s)\n\n%s\n", diag_code(id), diag_title(id),
	    diag_severity_word(diag_severity(id)), diag_name(arena, id),
	    diag_explain(id));
}

enum exit_status
command_explain(struct options *options)
{
	enum exit_status status = operands_require(options, 1, "CODE");
	enum diag_id id;

	if (status != EXIT_CLEAN)
		return status;
	if (strcmp(options->operands.list.items[0], "all") == 0) {
		for (int i = 0; i < DIAG_END; i++) {
			if (i > 0)
				putchar('\n');
			explain(options->arena, (enum diag_id)i);
		}
		return EXIT_CLEAN;
	}
	id = diag_find(options->operands.list.items[0]);
	if (id == DIAG_END)
		return misused("'%s' is no code of a diagnostic; 'sbxc "
		    "explain all' lists them", options->operands.list.items[0]);
	explain(options->arena, id);
	return EXIT_CLEAN;
}
