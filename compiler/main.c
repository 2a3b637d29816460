/*
 * sbxc: reads the command line and hands it to a command.  Options are one
 * table and commands another; help, parsing and the question whether an option
 * goes with a command all come from them.
 */
#include "compiler/commands.h"
#include "compiler/names.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One bit per line of commands[]. */
enum command_bit {
	BUILD = 1,
	CHECK = 2,
	WHY = 4,
	DUMP = 8,
	PROFILES = 16,
	EXPLAIN = 32,
	ANY = 63,
};

struct command {
	const char *name;
	enum command_bit bit;
	enum exit_status (*run)(struct options *options);
	const char *synopsis;
};

static const struct command commands[] = {
	{ "build", BUILD, command_build, "[build] FILE [-p PROFILE] [-o OUT]" },
	{ "check", CHECK, command_check, "check FILE..." },
	{ "why", WHY, command_why,
	    "why FILE|BLOB read|write|exec PATH | connect|listen tcp N |\n"
	    "                          syscall NAME | env NAME" },
	{ "dump", DUMP, command_dump, "dump BLOB" },
	{ "profiles", PROFILES, command_profiles, "profiles" },
	{ "explain", EXPLAIN, command_explain, "explain CODE|all" },
};

enum option_kind { TEXT, LIST, FLAG };

struct option_row {
	int letter; /* over 255: there is only the long name */
	const char *name, *argument;
	enum option_kind kind;
	unsigned commands;
	size_t offset; /* in struct options */
	const char *help;
};

#define FIELD(name) offsetof(struct options, name)

static const struct option_row option_rows[] = {
	{ 'p', "profile", "NAME", TEXT, BUILD | CHECK | WHY, FIELD(profile),
	    "the profile, where a file defines several" },
	{ 'o', "output", "OUT", TEXT, BUILD, FIELD(output),
	    "write OUT instead of FILE.bin; -: standard output" },
	{ 'I', "include", "DIR", LIST, BUILD | CHECK | WHY, FIELD(includes),
	    "look for included files in DIR too" },
	{ 'D', "define", "NAME=PATH", LIST, BUILD | CHECK | WHY,
	    FIELD(definitions), "bind a parameter" },
	{ 'd', "depfile", "FILE", TEXT, BUILD, FIELD(depfile),
	    "write for make what OUT was made from" },
	{ 'f', "format", "text|gcc", TEXT, BUILD | CHECK | WHY, FIELD(format),
	    "diagnostics with excerpts, or one line each" },
	{ 'q', "quiet", NULL, FLAG, CHECK, FIELD(quiet),
	    "print nothing; the exit status tells" },
	{ 'w', "workspace", "DIR", TEXT, WHY, FIELD(workspace),
	    "the workspace; without it the current directory" },
	{ 256, "home", "DIR", TEXT, WHY, FIELD(home),
	    "the home directory; without it that of the user" },
	{ 'l', "level", "LEVEL", TEXT, WHY, FIELD(level),
	    "full, standard, minimal, none: who enforces it" },
	{ 'O', "out-format", "FORMAT", TEXT, DUMP, FIELD(out_format),
	    "text, sbpl, bpf or bpf-raw" },
	{ 257, "arch", "ARCH", TEXT, WHY | DUMP, FIELD(arch),
	    "x86_64 or aarch64: the rules and filters of it" },
	{ 258, "variant", "N", TEXT, DUMP, FIELD(variant),
	    "the filter that dump lists with N" },
	{ 259, "color", "WHEN", TEXT, ANY, FIELD(color),
	    "auto, always or never" },
	{ 'h', "help", NULL, FLAG, ANY, FIELD(help), "print this" },
	{ 'V', "version", NULL, FLAG, ANY, FIELD(version),
	    "print the version" },
};

static void
print_help(FILE *stream)
{
	for (size_t i = 0; i < countof(commands); i++)
		fprintf(stream, "%s sbxc %s\n", i == 0 ? "usage:" : "      ",
		    commands[i].synopsis);
	for (size_t i = 0; i < countof(option_rows); i++) {
		const struct option_row *row = &option_rows[i];
		char names[64];

		snprintf(names, sizeof names, "--%s%s%s", row->name,
		    row->argument != NULL ? "=" : "",
		    row->argument != NULL ? row->argument : "");
		if (row->letter < 256)
			fprintf(stream, "  -%c, %-19s %s\n", row->letter, names,
			    row->help);
		else
			fprintf(stream, "      %-19s %s\n", names, row->help);
	}
}

/* --- options -------------------------------------------------------------- */

/* The table in the shape that getopt_long(3) wants.  The '-' makes it hand out
 * operands too, wherever they stand. */
struct getopt_tables {
	char letters[3 * countof(option_rows) + 2];
	struct option options[countof(option_rows) + 1];
};

static void
getopt_tables_fill(struct getopt_tables *tables)
{
	char *letter = tables->letters;

	memset(tables, 0, sizeof *tables);
	*letter++ = '-';
	for (size_t i = 0; i < countof(option_rows); i++) {
		const struct option_row *row = &option_rows[i];

		tables->options[i] = (struct option){
			.name = row->name,
			.has_arg = row->argument != NULL,
			.val = row->letter,
		};
		if (row->letter > 255)
			continue;
		*letter++ = (char)row->letter;
		if (row->argument != NULL)
			*letter++ = ':';
	}
}

static const struct option_row *
option_find(int letter)
{
	const struct option_row *row = option_rows;

	while (row->letter != letter)
		row++;
	return row;
}

static void
option_store(struct options *options, const struct option_row *row,
    const char *value)
{
	void *field = (char *)options + row->offset;
	struct words *words = field;

	if (row->kind == TEXT)
		memcpy(field, &value, sizeof value);
	else if (row->kind == LIST)
		*arena_push(options->arena, &words->list) = value;
	else
		*(bool *)field = true;
}

/* Bits of option_rows that were given go to *given. */
static bool
options_parse(struct options *options, int argc, char **argv,
    uint32_t *given)
{
	struct getopt_tables tables;
	int letter;

	getopt_tables_fill(&tables);
	while ((letter = getopt_long(argc, argv, tables.letters,
	    tables.options, NULL)) != -1) {
		const struct option_row *row;

		if (letter == '?')
			return false;
		if (letter == 1) {
			*arena_push(options->arena, &options->operands.list) =
			    optarg;
			continue;
		}
		row = option_find(letter);
		option_store(options, row, optarg);
		*given |= 1u << (row - option_rows);
	}
	for (int i = optind; i < argc; i++)
		*arena_push(options->arena, &options->operands.list) = argv[i];
	return true;
}

static bool
options_fit(const struct command *command, uint32_t given)
{
	for (size_t i = 0; i < countof(option_rows); i++) {
		if ((given & 1u << i) == 0 ||
		    (option_rows[i].commands & command->bit))
			continue;
		misused("--%s does not go with '%s'", option_rows[i].name,
		    command->name);
		return false;
	}
	return true;
}

/* The flag, else NO_COLOR, else CLICOLOR_FORCE, else whether it is a terminal. */
static bool
colour_wanted(struct options *options)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
	const char *force = getenv("CLICOLOR_FORCE");
	const char *when = options->color;

	if (when == NULL || strcmp(when, "auto") == 0) {
		if (none != NULL && *none != '\0')
			return false;
		if (force != NULL && *force != '\0' && strcmp(force, "0") != 0)
			return true;
		return isatty(STDERR_FILENO) &&
		    (term == NULL || strcmp(term, "dumb") != 0);
	}
	return strcmp(when, "always") == 0;
}

static bool
color_is_known(const char *when)
{
	return when == NULL || strcmp(when, "auto") == 0 ||
	    strcmp(when, "always") == 0 || strcmp(when, "never") == 0;
}

/* --- commands ------------------------------------------------------------- */

static void
operands_shift(struct options *options)
{
	options->operands.list.items++;
	options->operands.list.count--;
}

static const struct command *
command_guess(const char *word)
{
	const char *names[countof(commands)];

	/* What names a file is one, whatever command it resembles. */
	if (strpbrk(word, "/.") != NULL || strcmp(word, "-") == 0 ||
	    access(word, F_OK) == 0)
		return &commands[0];
	for (size_t i = 0; i < countof(commands); i++)
		names[i] = commands[i].name;
	word = nearest_name(word, names, countof(names));
	if (word != NULL)
		misused("unknown command; did you mean '%s'?", word);
	else
		misused("unknown command, and no file of that name");
	return NULL;
}

static const struct command *
command_find(struct options *options)
{
	const char *word;

	if (options->operands.list.count == 0) {
		misused("what is to be done? A file or a command is missing");
		return NULL;
	}
	word = options->operands.list.items[0];
	for (size_t i = 0; i < countof(commands); i++) {
		if (strcmp(commands[i].name, word) != 0)
			continue;
		operands_shift(options);
		return &commands[i];
	}
	return command_guess(word);
}

static enum exit_status
run(struct options *options, int argc, char **argv)
{
	const struct command *command;
	uint32_t given = 0;

	if (!options_parse(options, argc, argv, &given))
		return misused(NULL);
	if (options->help) {
		print_help(stdout);
		return EXIT_CLEAN;
	}
	if (options->version) {
		puts("sbxc " PACKAGE_VERSION);
		return EXIT_CLEAN;
	}
	command = command_find(options);
	if (command == NULL || !options_fit(command, given))
		return EXIT_USAGE;
	if (!color_is_known(options->color))
		return misused("--color is auto, always or never");
	options->colour = colour_wanted(options);
	return command->run(options);
}

/* A closed standard descriptor would be given to the next file opened, and
 * that file would get our messages.  The wrong way round, so that using it is
 * still an error. */
static void
fill_standard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) == -1)
			open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
	}
}

/* A full disk or a reader that went away shows at the latest here; if it did
 * before, `before` is what errno was after the last write. */
static bool
stdout_close(int before)
{
	bool failed = ferror(stdout);

	if (fclose(stdout) == 0 && !failed)
		return true;
	complain("cannot write to standard output: %s",
	    strerror(failed && before != 0 ? before : errno));
	return false;
}

int
main(int argc, char **argv)
{
	static char name[] = "sbxc";
	struct options options = { .arena = arena_new() };
	enum exit_status status;

	fill_standard_descriptors();
	/* A reader that went away is an error like a full disk. */
	signal(SIGPIPE, SIG_IGN);
	if (argc > 0)
		argv[0] = name;
	status = run(&options, argc, argv);
	if (!stdout_close(errno))
		status = EXIT_TROUBLE;
	arena_release(options.arena);
	return (int)status;
}
