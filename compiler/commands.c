/*
 * The commands of sbxc, but `build` and `why`: each takes what the command line says and
 * returns what sbxc ends with.  Standard output carries what was asked for,
 * standard error the diagnostics.
 */
#include "compiler/commands.h"
#include "compiler/dump.h"
#include "compiler/input.h"

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

bool
options_open(const struct options *options, const char *path,
    struct compilation *compilation)
{
	const struct words *includes = &options->includes;

	compilation_init(compilation, options->arena);
	for (size_t i = 0; i < includes->list.count; i++)
		*arena_push(options->arena,
		    &compilation->sources.include_dirs) =
		    includes->list.items[i];
	if (compilation_open(compilation, path))
		return true;
	if (errno == EFBIG)
		complain("cannot read '%s': it is larger than %d bytes", path,
		    SOURCE_MAX_SIZE);
	else
		complain("cannot read '%s': %s", path, strerror(errno));
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

/* --- check ---------------------------------------------------------------- */

/* All profiles of the file, or the one that was asked for. */
static void
check_profiles(const struct options *options,
    struct compilation *compilation)
{
	struct profile_names profiles = { 0 };
	struct blob blob;

	if (options->profile != NULL) {
		compile(compilation, options->profile, &blob);
		return;
	}
	if (compilation->diags.errors > 0)
		return;
	resolve_profiles(options->arena, compilation->stmts, &profiles);
	if (profiles.names.count == 0 && !options->quiet)
		complain("%s: it defines no profile, so only its syntax was "
		    "checked", compilation->file->shown);
	for (size_t i = 0; i < profiles.names.count; i++) {
		/* An error in one profile does not hide those of the next. */
		size_t errors = compilation->diags.errors;

		compilation->diags.errors = 0;
		compile(compilation, profiles.names.items[i], &blob);
		compilation->diags.errors += errors;
	}
}

static enum exit_status
check_file(const struct options *options, const char *path,
    enum diag_format format)
{
	struct compilation compilation;

	if (!options_open(options, path, &compilation))
		return EXIT_TROUBLE;
	if (!options_define(options, &compilation))
		return EXIT_USAGE;
	check_profiles(options, &compilation);
	if (!options->quiet)
		diags_print(&compilation.diags, stderr, format,
		    options->colour);
	return compilation.diags.errors > 0 ? EXIT_POLICY : EXIT_CLEAN;
}

enum exit_status
command_check(struct options *options)
{
	const struct words *files = &options->operands;
	enum exit_status worst = EXIT_CLEAN;
	enum diag_format format;

	if (files->list.count == 0)
		return misused("FILE is missing");
	if (!options_format(options, &format))
		return EXIT_USAGE;
	for (size_t i = 0; i < files->list.count; i++) {
		enum exit_status status = check_file(options,
		    files->list.items[i], format);

		if (status == EXIT_USAGE)
			return status;
		if (status > worst)
			worst = status;
	}
	return worst;
}

/* --- dump ----------------------------------------------------------------- */

static bool
choice_parse(const struct options *options, bool one,
    struct dump_choice *choice)
{
	char *end;
	long variant;

	*choice = (struct dump_choice){ .variant = one ? 0 : -1 };
	if (options->arch != NULL || one) {
		const struct filter_arch *arch = options_arch(options);

		if (arch == NULL && options->arch != NULL)
			return false;
		choice->arch = arch != NULL ? arch->audit : 0;
	}
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

typedef enum exit_status dump_writer(const struct sbx_view *view,
    struct dump_choice choice);

static enum exit_status
write_text(const struct sbx_view *view, struct dump_choice choice)
{
	(void)choice;
	dump_blob(stdout, view);
	return EXIT_CLEAN;
}

static enum exit_status
write_sbpl(const struct sbx_view *view, struct dump_choice choice)
{
	(void)choice;
	if (view->sbpl_size > 0)
		fputs(view->sbpl, stdout);
	return EXIT_CLEAN;
}

static enum exit_status
write_bpf(const struct sbx_view *view, struct dump_choice choice)
{
	if (view->program_count > 0 &&
	    dump_find(view, choice, 0) == view->program_count)
		return misused("the blob has no such filter");
	dump_bpf(stdout, view, choice);
	return EXIT_CLEAN;
}

static enum exit_status
write_bpf_raw(const struct sbx_view *view, struct dump_choice choice)
{
	uint32_t index = dump_find(view, choice, 0);
	const struct sbx_program *program;

	if (index == view->program_count)
		return misused("the blob has no such filter");
	if (isatty(STDOUT_FILENO))
		return misused("raw instructions are not for a terminal");
	program = &view->programs[index];
	fwrite(view->bpf + program->first, sizeof *view->bpf, program->count,
	    stdout);
	return EXIT_CLEAN;
}

static const struct {
	const char *name;
	dump_writer *write;
	bool programs; /* --arch and --variant choose among them */
	bool one;      /* one program: the first of this machine */
} dump_formats[] = {
	{ "text", write_text, false, false },
	{ "sbpl", write_sbpl, false, false },
	{ "bpf", write_bpf, true, false },
	{ "bpf-raw", write_bpf_raw, true, true },
};

enum exit_status
command_dump(struct options *options)
{
	enum exit_status status = operands_require(options, 1, "BLOB");
	const char *name = options->out_format;
	struct dump_choice choice;
	struct sbx_view view;
	size_t i = 0;

	if (status != EXIT_CLEAN)
		return status;
	while (name != NULL && i < countof(dump_formats) &&
	    strcmp(dump_formats[i].name, name) != 0)
		i++;
	if (i == countof(dump_formats))
		return misused("-O is text, sbpl, bpf or bpf-raw, not '%s'",
		    name);
	if (!dump_formats[i].programs &&
	    (options->arch != NULL || options->variant != NULL))
		return misused("--arch and --variant go with -O bpf, bpf-raw");
	if (!choice_parse(options, dump_formats[i].one, &choice))
		return EXIT_USAGE;
	if (!input_blob(options->arena, options->operands.list.items[0],
		&view))
		return EXIT_TROUBLE;
	return dump_formats[i].write(&view, choice);
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
explain(enum diag_id id)
{
	printf("%s: %s (%s)\n\n%s\n", diag_code(id), diag_title(id),
	    diag_severity(id) == DIAG_ERROR ? "error" : "warning",
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
			explain((enum diag_id)i);
		}
		return EXIT_CLEAN;
	}
	id = diag_find(options->operands.list.items[0]);
	if (id == DIAG_END)
		return misused("'%s' is no code of a diagnostic; 'sbxc "
		    "explain all' lists them", options->operands.list.items[0]);
	explain(id);
	return EXIT_CLEAN;
}
