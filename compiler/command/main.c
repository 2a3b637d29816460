/*
 * sbxc: reads the command line and runs a command.  There is a table of
 * commands and a table of options: parsing, help and the check whether an
 * option goes with a command use them.  The command is the first word.  A
 * letter means the same for all commands, and for sbxrun.
 */
#include "compiler/base/base.h"
#include "compiler/command/commands.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum command_bit {
	BUILD = 1,
	CHECK = 2,
	TEST = 4,
	DIFF = 8,
	WHY = 16,
	FMT = 32,
	DUMP = 64,
	CONVERT = 128,
	PROFILES = 256,
	EXPLAIN = 512,
	DOCTOR = 1024,
	LEARN = 2048,
	INIT = 4096,
	SHOW = 8192,
	EXPORT = 16384,
	IMPORT = 32768,
	RECORDS = 65536,
	/* What reads policies as text. */
	READS = BUILD | CHECK | TEST | DIFF | WHY | CONVERT | DOCTOR | SHOW |
	    EXPORT,
	ALLOW = 131072,
	STAGED = 262144,
	ASK = 524288,
	LOG = 1048576,
	SECRETS = 2097152,
	ANY = 4194303,
};

struct command {
	const char *name;
	enum command_bit bit;
	enum exit_status (*run)(struct options *options);
	const char *synopsis, *about;
};

static const struct command commands[] = {
	{ "build", BUILD, command_build, "[build] FILE [-o OUT]",
	    "compile a policy into a blob for sbxrun" },
	{ "check", CHECK, command_check, "check FILE...",
	    "say what is wrong with policies, write nothing" },
	{ "test", TEST, command_test, "test FILE.yaml...",
	    "do policies allow and deny what test files say" },
	{ "diff", DIFF, command_diff, "diff OLD NEW",
	    "what one policy lets through that another does not" },
	{ "why", WHY, command_why, "why FILE|BLOB QUESTION",
	    "is an access allowed, and by which rule" },
	{ "fmt", FMT, command_fmt, "fmt [FILE...]",
	    "lay policies out in the one format" },
	{ "dump", DUMP, command_dump, "dump BLOB", "print what a blob holds" },
	{ "show", SHOW, command_show, "show --html POLICY",
	    "draw a policy as one page for a browser" },
	{ "convert", CONVERT, command_convert, "convert FILE -O FORMAT",
	    "print a policy as sbx, YAML or JSON" },
	{ "export", EXPORT, command_export, "export -O TARGET FILE",
	    "print a seccomp filter for containers" },
	{ "import", IMPORT, command_import, "import --from CLIENT FILE",
	    "make a policy of another sandbox's settings" },
	{ "learn", LEARN, command_learn, "learn FILE...",
	    "draft a policy of what sbxrun --learn has seen" },
	{ "allow", ALLOW, command_allow, "allow [--for POLICY] RULE",
	    "add a rule to a policy of yours, and show what it opens" },
	{ "profiles", PROFILES, command_profiles, "profiles",
	    "list the shipped profiles, and your own" },
	{ "init", INIT, command_init, "init [CLIENT [FILE]]",
	    "set an agent or another client up, or a policy for a project" },
	{ "doctor", DOCTOR, command_doctor, "doctor [POLICY]",
	    "what has to be fixed here before commands can be confined" },
	{ "records", RECORDS, command_records, "records [FILE...]",
	    "say in words what sbxrun wrote for programs" },
	{ "ask", ASK, command_ask, "ask ...",
	    "for sbxrun --ask: ask a person about what was denied" },
	{ "secrets", SECRETS, command_secrets, "secrets ...",
	    "for sbxrun: the secrets that policies may use" },
	{ "staged", STAGED, command_staged, "staged ...",
	    "for sbxrun --staged: what a stage changed, and applying it" },
	{ "log", LOG, command_log, "log show|verify [FILE]",
	    "list the runs in a log of sbxrun; is it whole?" },
	{ "explain", EXPLAIN, command_explain, "explain CODE|all",
	    "what the code of a diagnostic means" },
};

enum option_kind {
	TEXT,       /* const char * */
	LIST,       /* struct words */
	FLAG,       /* bool */
	FORMAT,     /* enum report_format */
	DEFINITION, /* struct definitions */
};

struct option_row {
	int letter; /* over 255: there is only the long name */
	const char *name, *argument;
	enum option_kind kind;
	unsigned commands;
	size_t offset;      /* in struct options */
	const char *values; /* "a, b or c"; NULL: the command judges it */
	const char *help;   /* NULL: the values say it all; neither: sbxrun
	                     * alone uses it */
};

#define FIELD(name) offsetof(struct options, name)

static const struct option_row option_rows[] = {
	{ 'p', "profile", "NAME", TEXT, READS & ~DIFF, FIELD(profile), NULL,
	    "the profile, where a file defines several" },
	{ 'p', "profile", "NAME", LIST, DIFF, FIELD(profiles), NULL,
	    "the profile, where a file defines several; twice: of OLD, NEW" },
	{ 'p', "profile", "NAME", TEXT, LEARN, FIELD(profile), NULL,
	    "the name of the draft; with --update, the profile" },
	{ 'o', "output", "OUT", TEXT, LEARN, FIELD(output), NULL,
	    "write the draft to OUT, and a test file beside it" },
	{ 269, "extends", "PROFILE", TEXT, LEARN, FIELD(extends), NULL,
	    "the shipped profile that it extends, or none" },
	{ 270, "update", "POLICY", TEXT, LEARN, FIELD(update), NULL,
	    "say what POLICY lacks, and what that lets through" },
	{ 'o', "output", "OUT", TEXT, BUILD, FIELD(output), NULL,
	    "write OUT instead of FILE.bin; -: standard output" },
	{ 'o', "output", "OUT", TEXT, EXPORT, FIELD(output), NULL,
	    "write OUT instead of standard output" },
	{ 256, "verify", "BLOB", TEXT, BUILD, FIELD(verify), NULL,
	    "write nothing; is BLOB what FILE compiles to?" },
	{ 'd', "depfile", "FILE", TEXT, BUILD, FIELD(depfile), NULL,
	    "write for make what OUT was made from" },
	{ 284, "allow", "RULE", LIST, BUILD | WHY, FIELD(allowed), NULL,
	    "as if the policy had this rule: 'read ~/data'" },
	{ 285, "deny", "RULE", LIST, BUILD | WHY, FIELD(denied), NULL,
	    "the same for a rule that denies" },
	{ 286, "record", NULL, FLAG, BUILD, FIELD(record), NULL, NULL },
	{ 'I', "include", "DIR", LIST, READS, FIELD(includes), NULL,
	    "look for included files in DIR too" },
	{ 'D', "define", "NAME=PATH", DEFINITION, READS & ~CONVERT,
	    FIELD(definitions), NULL, "bind a parameter" },
	{ 'f', "format", "FORMAT", FORMAT, BUILD | WHY, FIELD(format),
	    "text or gcc", "diagnostics with excerpts, or a line each" },
	{ 'f', "format", "FORMAT", FORMAT, CHECK, FIELD(format),
	    "text, gcc, github or junit", NULL },
	{ 'f', "format", "FORMAT", FORMAT, TEST, FIELD(format),
	    "text, junit or github", NULL },
	{ 'f', "format", "FORMAT", FORMAT, DIFF, FIELD(format),
	    "text, github or markdown", NULL },
	{ 292, "json", NULL, FORMAT, CHECK | DOCTOR | TEST | DIFF | STAGED,
	    FIELD(format), NULL, "for programs" },
	{ 'W', "warning", "[no-]CODE", LIST, CHECK, FIELD(warnings), NULL,
	    "report a warning, or do not; all: every one" },
	{ 'E', "error", "[no-]CODE", LIST, CHECK, FIELD(errors), NULL,
	    "treat a warning as an error; all: every one" },
	{ 257, "no-ignore", NULL, FLAG, CHECK, FIELD(no_ignore), NULL,
	    "report what the policy asks to ignore, too" },
	{ 258, "target", "TARGET", LIST, CHECK, FIELD(targets), NULL,
	    "landlock=N, level=LEVEL or macos: what would fail there" },
	{ 259, "within", "BASE", TEXT, CHECK, FIELD(within), NULL,
	    "prove that FILE allows nothing that BASE does not" },
	{ 'q', "quiet", NULL, FLAG, CHECK, FIELD(quiet), NULL,
	    "print nothing; the exit status tells" },
	{ 260, "live", NULL, FLAG, TEST, FIELD(live), NULL,
	    "try each case in the kernel, too" },
	{ 261, "coverage", NULL, FLAG, TEST, FIELD(coverage), NULL,
	    "list the rules that no case touches" },
	{ 262, "fail-on", "widen|any", TEXT, DIFF, FIELD(fail_on), NULL,
	    "exit with 1 if something got wider, or changed at all" },
	{ 283, "all", NULL, FLAG, DIFF | CHECK, FIELD(all), NULL,
	    "list all that a difference stands for" },
	{ 'w', "workspace", "DIR", TEXT, WHY, FIELD(workspace), NULL,
	    "the workspace; without it what sbxrun finds" },
	{ 'w', "workspace", "DIR", TEXT, DIFF | CHECK, FIELD(workspace), NULL,
	    "the workspace; without it, wherever it may lie" },
	{ 'w', "workspace", "DIR", TEXT, DOCTOR | INIT, FIELD(workspace), NULL,
	    "the workspace; without it the current directory" },
	{ 263, "home", "DIR", TEXT, WHY, FIELD(home), NULL,
	    "the home directory; without it that of the user" },
	{ 263, "home", "DIR", TEXT, DIFF | CHECK, FIELD(home), NULL,
	    "the home directory; without it, wherever it may lie" },
	{ 267, "model", NULL, FLAG, WHY, FIELD(model), NULL,
	    "ask the policy alone, and not this machine" },
	{ 268, "denials", "SCRATCH", TEXT, WHY, FIELD(denials), NULL, NULL },
	{ 'l', "level", "LEVEL", TEXT, WHY, FIELD(level), NULL,
	    "full, standard, landlock=N, minimal, none: who enforces it" },
	{ 'l', "level", "LEVEL", TEXT, TEST, FIELD(level), NULL,
	    "full, standard, minimal, none: who enforces it" },
	{ 288, "list", NULL, FLAG, FMT, FIELD(list), NULL,
	    "list the files that are not formatted" },
	{ 300, "diff", NULL, FLAG, FMT, FIELD(diff), NULL,
	    "print what would change" },
	{ 301, "write", NULL, FLAG, FMT | LEARN, FIELD(write), NULL,
	    "write back to the files, or to POLICY" },
	{ 287, "summary", NULL, FLAG, RECORDS, FIELD(summary), NULL,
	    "of a plan, its first screen alone" },
	{ 293, "policy", "NAME", TEXT, LOG, FIELD(of_policy), NULL,
	    "show: runs of this profile, file or digest" },
	{ 294, "command", "TEXT", TEXT, LOG, FIELD(of_command), NULL,
	    "show: runs whose command has this in it" },
	{ 295, "denied", NULL, FLAG, LOG, FIELD(only_denied), NULL,
	    "show: runs that were refused, or something in them" },
	{ 296, "since", "TIME", TEXT, LOG, FIELD(since), NULL,
	    "show: runs since then: 2h, 7d or 2026-11-29" },
	{ 303, "follow", NULL, FLAG, LOG, FIELD(follow), NULL,
	    "show: go on with lines as they come" },
	{ 292, "json", NULL, FLAG, LOG, FIELD(lines), NULL,
	    "show: print the lines as they are" },
	{ 297, "chain", "HEX", TEXT, LOG, FIELD(chain), NULL,
	    "verify: a line with this chain must be there" },
	{ 281, "html", NULL, FLAG, SHOW | DIFF | STAGED, FIELD(html), NULL,
	    "a page that needs no other file" },
	{ 291, "for", "POLICY", TEXT, ALLOW, FIELD(target), NULL,
	    "the policy that changes; without it @default" },
	{ 291, "for", "POLICY", TEXT, WHY | ASK, FIELD(target), NULL, NULL },
	{ 304, "asks", "FD", TEXT, ASK, FIELD(asks), NULL, NULL },
	{ 305, "program", "FILE", TEXT, ASK, FIELD(program), NULL, NULL },
	{ 306, "always", NULL, FLAG, ASK, FIELD(always), NULL, NULL },
	{ 288, "list", NULL, FLAG, ALLOW, FIELD(list), NULL,
	    "list the rules of your policies" },
	{ 289, "remove", NULL, FLAG, ALLOW, FIELD(remove), NULL,
	    "take the rule out again" },
	{ 290, "force", NULL, FLAG, STAGED, FIELD(force), NULL,
	    "also what was changed in the workspace meanwhile" },
	{ 290, "force", NULL, FLAG, ALLOW, FIELD(force), NULL,
	    "also what opens credentials, or what others run" },
	{ 'p', "profile", "NAME", TEXT, ALLOW, FIELD(profile), NULL,
	    "the profile, where a file defines several" },
	{ 'y', "yes", NULL, FLAG, INIT | ALLOW, FIELD(yes), NULL,
	    "write without asking" },
	{ 280, "undo", NULL, FLAG, INIT, FIELD(undo), NULL,
	    "take back what was set up" },
	{ 'O', "out-format", "FORMAT", TEXT, DUMP, FIELD(out_format),
	    "text, sbx, yaml, json, sbpl, bpf or bpf-raw", NULL },
	{ 'O', "out-format", "FORMAT", TEXT, CONVERT, FIELD(out_format),
	    "sbx, yaml or json", NULL },
	{ 'O', "out-format", "TARGET", TEXT, EXPORT, FIELD(out_format),
	    "oci-seccomp", NULL },
	{ 302, "from", "CLIENT", TEXT, IMPORT, FIELD(client),
	    "claude, codex, llxprt, localgpt or sandbox-runtime",
	    "whose settings they are" },
	{ 'p', "profile", "NAME", TEXT, IMPORT, FIELD(profile), NULL,
	    "the name of the profile" },
	{ 'o', "output", "OUT", TEXT, IMPORT, FIELD(output), NULL,
	    "write OUT, and a test file beside it" },
	{ 282, "lossy", NULL, FLAG, EXPORT | IMPORT, FIELD(lossy), NULL,
	    "write it though it cannot say all; say what is lost" },
	{ 264, "arch", "ARCH", TEXT, WHY | DUMP | DIFF | CHECK | EXPORT,
	    FIELD(arch), "x86_64 or aarch64", "the rules and filters of it" },
	{ 265, "variant", "N", TEXT, DUMP, FIELD(variant), NULL,
	    "the filter that dump lists with N" },
	{ 266, "color", "WHEN", TEXT, ANY, FIELD(color),
	    "auto, always or never", NULL },
	{ 'h', "help", "[all]", TEXT, ANY, FIELD(help), NULL,
	    "print this, or all options of all commands" },
	{ 'V', "version", NULL, FLAG, ANY, FIELD(version), NULL,
	    "print the version" },
};

/* The commands, a line each; what follows a command is in its own help. */
static void
print_commands(void)
{
	printf("usage: sbxc %s\n       sbxc COMMAND ...\n\n",
	    commands[0].synopsis);
	for (size_t i = 0; i < countof(commands); i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].about);
	puts(
	    "\n'sbxc COMMAND --help' lists its options, 'sbxc --help=all' all; "
	    "sbxc(1).");
}

static void
print_option(const struct option_row *row)
{
	char names[64];

	snprintf(names, sizeof names, "--%s%s%s", row->name,
	    row->argument != NULL ? "=" : "",
	    row->argument != NULL ? row->argument : "");
	if (row->letter < 256)
		printf("  -%c, %-20s  ", row->letter, names);
	else
		printf("      %-20s  ", names);
	printf("%s%s%s\n", row->values != NULL ? row->values : "",
	    row->values != NULL && row->help != NULL ? ": " : "",
	    row->help != NULL ? row->help : "");
}

static void
print_options(const struct command *command)
{
	printf("usage: sbxc %s\n%s\n\n", command->synopsis, command->about);
	for (size_t i = 0; i < countof(option_rows); i++) {
		if ((option_rows[i].commands & command->bit) != 0 &&
		    (option_rows[i].help != NULL ||
			option_rows[i].values != NULL))
			print_option(&option_rows[i]);
	}
}

/* Of one command (NULL: the list of them), or everything. */
static enum exit_status
help(const char *what, const struct command *command)
{
	if (strcmp(what, "all") == 0) {
		print_commands();
		for (size_t i = 0; i < countof(commands); i++) {
			putchar('\n');
			print_options(&commands[i]);
		}
	} else if (*what != '\0') {
		return misused("--help takes only 'all'");
	} else if (command != NULL) {
		print_options(command);
	} else {
		print_commands();
	}
	return EXIT_CLEAN;
}

/* --- options -------------------------------------------------------------- */

/* The options of one command as getopt_long(3) wants them.  With '-' it
 * returns operands too, wherever they stand; with ':' it prints nothing. */
struct getopt_tables {
	char letters[4 * countof(option_rows) + 3];
	struct option options[countof(option_rows) + 1];
};

/* Whether all of the argument is in brackets. */
static bool
may_be_left_out(const struct option_row *row)
{
	return row->argument[0] == '[' &&
	    row->argument[strlen(row->argument) - 1] == ']';
}

static void
getopt_tables_fill(struct getopt_tables *tables, const struct command *command)
{
	char *letter = tables->letters;
	struct option *option = tables->options;

	memset(tables, 0, sizeof *tables);
	*letter++ = '-';
	*letter++ = ':';
	for (size_t i = 0; i < countof(option_rows); i++) {
		const struct option_row *row = &option_rows[i];

		if ((row->commands & command->bit) == 0)
			continue;
		*option++ = (struct option){
			.name = row->name,
			.has_arg = row->argument == NULL ? no_argument :
			    may_be_left_out(row)         ? optional_argument :
							   required_argument,
			.val = row->letter,
		};
		if (row->letter > 255)
			continue;
		*letter++ = (char)row->letter;
		if (row->argument != NULL)
			*letter++ = ':';
		if (row->argument != NULL && may_be_left_out(row))
			*letter++ = ':';
	}
}

static const struct option_row *
option_find(const struct command *command, int letter)
{
	const struct option_row *row = option_rows;

	while (row->letter != letter || (row->commands & command->bit) == 0)
		row++;
	return row;
}

/* Whether the word is one of "a, b or c". */
static bool
is_listed(const char *word, const char *list)
{
	size_t len = strlen(word);

	for (const char *at = list; *at != '\0'; at += strspn(at, ", ")) {
		size_t part = strcspn(at, ", ");

		if (part == len && strncmp(at, word, len) == 0 &&
		    strcmp(word, "or") != 0)
			return true;
		at += part;
	}
	return false;
}

static bool
definition_store(struct options *options, const char *text)
{
	const char *equals = strchr(text, '=');

	if (equals == NULL || equals == text || equals[1] == '\0') {
		misused("-D takes NAME=PATH, not '%s'", text);
		return false;
	}
	*arena_push(options->arena,
	    &options->definitions.list) = (struct definition){
		.name = arena_intern(options->arena, text,
		    (size_t)(equals - text)),
		.value = arena_intern(options->arena, equals + 1,
		    strlen(equals + 1)),
	};
	return true;
}

/* False after complaining. */
static bool
option_store(struct options *options, const struct option_row *row,
    const char *value)
{
	void *field = (char *)options + row->offset;
	struct words *words = field;

	if (value != NULL && *value == '\0') {
		misused("the value of --%s is empty", row->name);
		return false;
	}
	if (row->values != NULL && !is_listed(value, row->values)) {
		misused("-%c%s is %s, not '%s'",
		    row->letter < 256 ? row->letter : '-',
		    row->letter < 256 ? "" : row->name, row->values, value);
		return false;
	}
	switch (row->kind) {
	case TEXT:
		value = value != NULL ? value : "";
		memcpy(field, &value, sizeof value);
		break;
	case LIST:
		*arena_push(options->arena, &words->list) = value;
		break;
	case FLAG:
		*(bool *)field = true;
		break;
	case FORMAT:
		*(enum report_format *)field = report_format_find(
		    value != NULL ? value : "json");
		break;
	case DEFINITION:
		return definition_store(options, value);
	}
	return true;
}

/* The option of this command that was meant, if one is near enough. */
static void
long_unknown(const struct command *command, const char *name, size_t len)
{
	const char *names[countof(option_rows)], *near;
	char *text = strndup(name, len);

	if (text == NULL)
		arena_exhausted();
	for (size_t i = 0; i < countof(option_rows); i++)
		names[i] = option_rows[i].commands & command->bit ?
		    option_rows[i].name :
		    NULL;
	near = nearest_name(text, names, countof(names));
	misused(near == NULL ? "unknown option '--%s'" :
			       "unknown option '--%s'; did you mean '--%s'?",
	    text, near);
	free(text);
}

/* Complains about an option that getopt_long() does not know; it may be one of
 * another command. */
static void
option_unknown(const struct command *command, const char *word)
{
	bool is_long = strncmp(word, "--", 2) == 0;
	const struct option_row *known = NULL;
	size_t len = strcspn(word, "=");

	for (size_t i = 0; i < countof(option_rows); i++) {
		const struct option_row *row = &option_rows[i];

		if (is_long ? strlen(row->name) + 2 != len ||
			    strncmp(row->name, word + 2, len - 2) != 0 :
			      row->letter != optopt)
			continue;
		known = row;
		/* Two commands may have options of one name. */
		if ((row->commands & command->bit) != 0)
			break;
	}
	if (known != NULL)
		misused("--%s %s '%s'", known->name,
		    known->commands & command->bit ? "is wrongly used with" :
						     "does not go with",
		    command->name);
	else if (is_long)
		long_unknown(command, word + 2, len - 2);
	else
		misused("unknown option '-%c'", optopt);
}

/* Whether a question begins where the policy should be named. */
static bool
asks_default(const struct options *options)
{
	static const char *const words[] = { "read", "write", "exec", "connect",
		"listen", "syscall", "env", "domain" };
	const struct words *operands = &options->operands;

	for (size_t i = 0; operands->list.count > 1 && i < countof(words);
	     i++) {
		if (strcmp(operands->list.items[0], words[i]) == 0)
			return true;
	}
	return false;
}

/* The policy of commands that name none. */
static void
prepend_default(struct options *options)
{
	struct words *operands = &options->operands;

	arena_push(options->arena, &operands->list);
	for (size_t i = operands->list.count - 1; i > 0; i--)
		operands->list.items[i] = operands->list.items[i - 1];
	operands->list.items[0] = named_default(options->arena);
}

static bool
resolve(struct arena *arena, const char **name)
{
	if (*name != NULL)
		*name = named_resolve(arena, *name);
	return *name != NULL;
}

/* The words that name policies: all operands, but of `why` the first.  False after
 * complaining. */
static bool
resolve_names(struct options *options, const struct command *command)
{
	struct words *operands = &options->operands;

	if ((command->bit & (READS | FMT | DUMP)) == 0)
		return true;
	if (command->bit == WHY && asks_default(options))
		prepend_default(options);
	for (size_t i = 0; i < operands->list.count; i++) {
		if ((i == 0 || command->bit != WHY) &&
		    !resolve(options->arena, &operands->list.items[i]))
			return false;
	}
	return (options->within == NULL ||
		   resolve(options->arena, &options->within)) &&
	    (options->verify == NULL ||
		resolve(options->arena, &options->verify));
}

static bool
options_parse(struct options *options, const struct command *command, int argc,
    char **argv)
{
	struct getopt_tables tables;
	int letter;

	getopt_tables_fill(&tables, command);
	while ((letter = getopt_long(argc, argv, tables.letters, tables.options,
		    NULL)) != -1) {
		if (letter == '?') {
			option_unknown(command, argv[optind - 1]);
			return false;
		}
		if (letter == ':') {
			misused("'%s' takes a value", argv[optind - 1]);
			return false;
		}
		if (letter == 1)
			*arena_push(options->arena,
			    &options->operands.list) = optarg;
		else if (!option_store(options, option_find(command, letter),
			     optarg))
			return false;
	}
	for (int i = optind; i < argc; i++)
		*arena_push(options->arena, &options->operands.list) = argv[i];
	return resolve_names(options, command);
}

/* The option decides, else NO_COLOR, else CLICOLOR_FORCE, else whether the
 * stream is a terminal. */
static bool
colour_wanted(const struct options *options, int fd)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
	const char *force = getenv("CLICOLOR_FORCE");
	const char *when = options->color;

	if (when == NULL || strcmp(when, "auto") == 0) {
		if (none != NULL && *none != '\0')
			return false;
		if (force != NULL && *force != '\0' && strcmp(force, "0") != 0)
			return true;
		return isatty(fd) &&
		    (term == NULL || strcmp(term, "dumb") != 0);
	}
	return strcmp(when, "always") == 0;
}

/* --- commands ------------------------------------------------------------- */

static const struct command *
command_find(const char *word)
{
	for (size_t i = 0; i < countof(commands); i++) {
		if (strcmp(commands[i].name, word) == 0)
			return &commands[i];
	}
	return NULL;
}

/* Whether the first word is a file to build, since `build` may be left out;
 * complains if it is not. */
static bool
is_file(const char *word)
{
	const char *names[countof(commands)], *near;

	/* A word that names a file is a file, even if it resembles a command.
	 * */
	if (strpbrk(word, "/.") != NULL || strcmp(word, "-") == 0 ||
	    access(word, F_OK) == 0)
		return true;
	for (size_t i = 0; i < countof(commands); i++)
		names[i] = commands[i].name;
	if (command_find(word) != NULL)
		misused("the command comes first: sbxc %s ...", word);
	else if ((near = nearest_name(word, names, countof(names))) != NULL)
		misused("unknown command '%s'; did you mean '%s'?", word, near);
	else
		misused("'%s' is no command, and no file", word);
	return false;
}

static bool
operands_fit(const struct options *options, bool named)
{
	if (named)
		return true;
	if (options->operands.list.count > 0)
		return is_file(options->operands.list.items[0]);
	misused("no command and no policy; 'sbxc --help' lists what there is");
	return false;
}

static enum exit_status
run(struct options *options, int argc, char **argv)
{
	const struct command *command = argc > 1 ? command_find(argv[1]) : NULL;
	bool named = command != NULL;

	if (!named)
		command = &commands[0];
	else
		argv[1] = argv[0];
	if (!options_parse(options, command, argc - named, argv + named))
		return EXIT_USAGE;
	if (options->help != NULL)
		return help(options->help, named ? command : NULL);
	if (options->version) {
		puts("sbxc " PACKAGE_VERSION);
		return EXIT_CLEAN;
	}
	if (!operands_fit(options, named))
		return EXIT_USAGE;
	options->colour = colour_wanted(options, STDERR_FILENO);
	options->colour_out = colour_wanted(options, STDOUT_FILENO);
	return command->run(options);
}

/* If a standard descriptor were closed, the next file would get its number,
 * and our messages.  It is opened in the wrong direction, so that its use is
 * still an error. */
static void
fill_standard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) == -1)
			open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
	}
}

/* A full disk, or a reader that went away, is noticed here at the latest.  If
 * a write failed before, `before` is its errno. */
static bool
stdout_close(int before)
{
	bool failed = ferror(stdout);

	if (fclose(stdout) == 0 && !failed)
		return true;
	if (failed && before != 0)
		errno = before;
	/* A reader that stops early does so on purpose. */
	if (errno != EPIPE)
		complain("cannot write to standard output: %s",
		    strerror(errno));
	return false;
}

/* A write beyond the limit of file sizes (`ulimit -f`) fails then. */
static void
ignore(int number)
{
	(void)number;
}

int
main(int argc, char **argv)
{
	static char name[] = "sbxc";
	struct options options = { .arena = arena_new() };
	enum exit_status status;

	fill_standard_descriptors();
	/* Let writes fail with EPIPE when the reader goes away. */
	signal(SIGPIPE, SIG_IGN);
	/* What is started is not to ignore it. */
	signal(SIGXFSZ, ignore);
	if (argc > 0)
		argv[0] = name;
	status = run(&options, argc, argv);
	if (!stdout_close(errno))
		status = EXIT_TROUBLE;
	arena_release(options.arena);
	return (int)status;
}
