#include "runtime/base/options.h"

#include "format/decimal.h"
#include "runtime/base/machine.h"
#include "runtime/base/out.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unknown"
#endif

enum option {
	OPTION_WORKSPACE,
	OPTION_DEFINE,
	OPTION_PLAN,
	OPTION_LEVEL,
	OPTION_ACCEPT,
	OPTION_FULL_ACCESS,
	OPTION_EXPECT,
	OPTION_VERBOSE,
	OPTION_STATUS_FD,
	OPTION_LOG,
	OPTION_STATUS,
	OPTION_SELF_TEST,
	OPTION_CLEAN,
	OPTION_JSON,
	OPTION_HELP,
	OPTION_VERSION,
};

static const struct option_line {
	enum option option;
	char letter;
	const char *name;
	const char *argument; /* NULL: takes none */
	const char *help;
} lines[] = {
	{ OPTION_WORKSPACE, 'w', "workspace", "DIR",
	    "the workspace (default: the current directory)" },
	{ OPTION_DEFINE, 'D', "define", "NAME=PATH", "bind a parameter" },
	{ OPTION_PLAN, 'n', "dry-run", NULL,
	    "print what would be applied, rule by rule; run nothing" },
	{ OPTION_LEVEL, 'l', "level", "LEVEL",
	    "auto, full, standard, minimal: run at exactly that level" },
	{ OPTION_ACCEPT, '\0', "accept", "none",
	    "run even where the kernel offers no protection" },
	{ OPTION_FULL_ACCESS, '\0', "allow-full-access", NULL,
	    "run a policy that allows everything" },
	{ OPTION_EXPECT, '\0', "expect", "sha256:HEX",
	    "refuse a policy with another digest" },
	{ OPTION_VERBOSE, 'v', "verbose", NULL,
	    "say level, workspace and network on stderr" },
	{ OPTION_STATUS_FD, '\0', "status-fd", "N",
	    "write a receipt, JSON lines, to this descriptor" },
	{ OPTION_LOG, '\0', "log", "FILE", "append a receipt to this file" },
	{ OPTION_STATUS, '\0', "status", NULL, "what this machine offers" },
	{ OPTION_SELF_TEST, '\0', "self-test", NULL,
	    "try to get out of a sandbox of this policy" },
	{ OPTION_CLEAN, '\0', "clean", NULL,
	    "remove the scratch directory of the workspace" },
	{ OPTION_JSON, '\0', "json", NULL,
	    "with -n, --status or --self-test: for programs" },
	{ OPTION_HELP, 'h', "help", NULL, "this text" },
	{ OPTION_VERSION, 'V', "version", NULL, "the version" },
};

enum { LINES = sizeof lines / sizeof lines[0] };

static const char usage[] =
    "Usage: sbxrun [options] POLICY -- CMD [ARG...]\n"
    "       sbxrun [options] POLICY -c STRING\n"
    "       sbxrun [options] -n [--json] POLICY\n"
    "       sbxrun --status [--json]\n"
    "       sbxrun [options] --self-test [--json] [POLICY]\n"
    "       sbxrun --clean [-w DIR]\n";

__attribute__((noreturn)) static void
help(void)
{
	struct out out;

	out_init(&out, STDOUT_FILENO);
	out_text(&out, usage);
	out_text(&out,
	    "\nRuns CMD confined by a policy that sbxc compiled: a "
	    "file, or @NAME for an\ninstalled profile such as "
	    "@workspace-write.\n\n");
	for (const struct option_line *line = lines; line < lines + LINES;
	     line++) {
		char letter[] = { ' ', ' ', '-', line->letter, ',', ' ', 0 };

		out_text(&out, line->letter ? letter : "      ");
		out_text(&out, "--");
		if (line->argument == NULL) {
			out_column(&out, line->name, 24);
		} else {
			out_text(&out, line->name);
			out_text(&out, "=");
			out_column(&out, line->argument,
			    23 - strlen(line->name));
		}
		out_text(&out, line->help);
		out_text(&out, "\n");
	}
	out_text(&out,
	    "\nExit status: that of CMD; 124 its time was over; "
	    "125 the sandbox was refused\nand CMD not started; 126 CMD cannot "
	    "be executed; 127 CMD was not found.\nSee sbxrun(1).\n");
	out_flush(&out);
	_exit(0);
}

__attribute__((noreturn)) static void
version(void)
{
	struct out out;

	out_init(&out, STDOUT_FILENO);
	out_text(&out, "sbxrun " PACKAGE_VERSION "\n");
	out_flush(&out);
	_exit(0);
}

static void
set_level(struct options *options, const char *value)
{
	static const struct {
		const char *name;
		int level;
	} levels[] = {
		{ "auto", -1 },
		{ "minimal", SBX_LEVEL_MINIMAL },
		{ "full", SBX_LEVEL_FULL },
		{ "standard", SBX_LEVEL_STANDARD },
	};

	for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
		if (strcmp(value, levels[i].name) == 0) {
			options->level = levels[i].level;
			return;
		}
	}
	refuse(value, "no such level: auto, full, standard or minimal", 0);
}

static void
add_definition(struct options *options, const char *value)
{
	const char *equals = strchr(value, '=');

	if (equals == NULL || equals == value)
		refuse(value, "-D needs NAME=PATH", 0);
	if (options->definition_count == OPTIONS_MAX_DEFINITIONS)
		refuse(value, "too many -D options", 0);
	options->definitions[options->definition_count++] =
	    (struct definition){ value, (uint32_t)(equals - value) };
}

static void
set_expect(struct options *options, const char *value)
{
	if (strncmp(value, "sha256:", 7) != 0 ||
	    strspn(value + 7, "0123456789abcdefABCDEF") != 64 ||
	    value[7 + 64] != '\0')
		refuse(value,
		    "--expect needs sha256: and 64 hexadecimal "
		    "digits",
		    0);
	options->expect = value + 7;
}

/* 0, 1 and 2 are the command's. */
static int
parse_descriptor(const char *value)
{
	const char *stop = value + strlen(value);
	uint64_t fd;

	if (sbx_decimal_read(value, stop, &fd) != stop || fd < 3 ||
	    fd > INT_MAX)
		refuse(value, "--status-fd needs a descriptor above 2", 0);
	return (int)fd;
}

static void
set_flag(struct options *options, enum option option)
{
	bool *const flags[] = {
		[OPTION_PLAN] = &options->plan,
		[OPTION_FULL_ACCESS] = &options->allow_full_access,
		[OPTION_VERBOSE] = &options->verbose,
		[OPTION_STATUS] = &options->status,
		[OPTION_SELF_TEST] = &options->self_test,
		[OPTION_CLEAN] = &options->clean,
		[OPTION_JSON] = &options->json,
	};

	*flags[option] = true;
}

static void
apply_option(struct options *options, enum option option, const char *value)
{
	switch (option) {
	case OPTION_WORKSPACE:
		options->workspace = value;
		break;
	case OPTION_DEFINE:
		add_definition(options, value);
		break;
	case OPTION_LEVEL:
		set_level(options, value);
		break;
	case OPTION_ACCEPT:
		if (strcmp(value, "none") != 0)
			refuse(value, "--accept takes only 'none'", 0);
		options->accept_none = true;
		break;
	case OPTION_EXPECT:
		set_expect(options, value);
		break;
	case OPTION_STATUS_FD:
		options->status_fd = parse_descriptor(value);
		break;
	case OPTION_LOG:
		options->log = value;
		break;
	case OPTION_PLAN:
	case OPTION_FULL_ACCESS:
	case OPTION_VERBOSE:
	case OPTION_STATUS:
	case OPTION_SELF_TEST:
	case OPTION_CLEAN:
	case OPTION_JSON:
		set_flag(options, option);
		break;
	case OPTION_HELP:
		help();
	case OPTION_VERSION:
		version();
	}
}

/* --name, --name=value or --name value; returns how many words it took. */
static int
parse_long(struct options *options, char **argv)
{
	const char *name = argv[0] + 2;
	size_t len = strcspn(name, "=");

	for (const struct option_line *line = lines; line < lines + LINES;
	     line++) {
		const char *value = NULL;

		if (strncmp(line->name, name, len) != 0 ||
		    line->name[len] != '\0')
			continue;
		if (name[len] == '=')
			value = name + len + 1;
		if (line->argument == NULL && value != NULL)
			refuse(argv[0], "this option takes no value", 0);
		if (line->argument != NULL && value == NULL &&
		    (value = argv[1]) == NULL)
			refuse(argv[0], "this option needs a value", 0);
		apply_option(options, line->option, value);
		return line->argument != NULL && name[len] != '=' ? 2 : 1;
	}
	refuse(argv[0], "unknown option; see sbxrun --help", 0);
}

static const struct option_line *
find_letter(char letter)
{
	for (const struct option_line *line = lines; line < lines + LINES;
	     line++) {
		if (line->letter == letter)
			return line;
	}
	return NULL;
}

/* -nv, -wDIR or -w DIR; returns how many words it took. */
static int
parse_short(struct options *options, char **argv)
{
	for (const char *letter = argv[0] + 1; *letter != '\0'; letter++) {
		const struct option_line *line = find_letter(*letter);

		if (line == NULL)
			refuse(argv[0], "unknown option; see sbxrun --help", 0);
		if (line->argument == NULL) {
			apply_option(options, line->option, NULL);
			continue;
		}
		if (letter[1] != '\0') {
			apply_option(options, line->option, letter + 1);
			return 1;
		}
		if (argv[1] == NULL)
			refuse(argv[0], "this option needs a value", 0);
		apply_option(options, line->option, argv[1]);
		return 2;
	}
	return 1;
}

static void
parse_command(struct options *options, char **argv)
{
	static char shell[] = "/bin/sh", flag[] = "-c";

	if (argv[0] == NULL && options->plan)
		return;
	if (argv[0] == NULL)
		refuse(NULL, "no command: add '-- CMD' after the policy", 0);
	if (strcmp(argv[0], "--") == 0) {
		if (argv[1] == NULL)
			refuse(NULL, "no command after '--'", 0);
		options->command = argv + 1;
		return;
	}
	if (strcmp(argv[0], "-c") != 0)
		refuse(argv[0],
		    "expected '--' and the command, or '-c "
		    "STRING', after the policy",
		    0);
	if (argv[1] == NULL || argv[2] != NULL)
		refuse(argv[0], "takes exactly one string", 0);
	options->shell[1] = shell;
	options->shell[2] = flag;
	options->shell[3] = argv[1];
	options->command = options->shell + 1;
}

/* The workspace is on the stage, and only probes run on it. */
static void
parse_self_test(struct options *options, char **argv)
{
	options->policy = argv[0] == NULL ? "@workspace-write" : argv[0];
	if (argv[0] != NULL && argv[1] != NULL)
		refuse(argv[1], "--self-test takes no command", 0);
	if (options->plan || options->workspace != NULL)
		refuse("--self-test", "does not go with -n and -w", 0);
}

void
options_parse(struct options *options, char **argv)
{
	options->level = -1;
	options->status_fd = -1;
	if (*argv != NULL)
		argv++;
	while (*argv != NULL && (*argv)[0] == '-' && (*argv)[1] != '\0') {
		if (strcmp(*argv, "--") == 0)
			refuse(NULL, "no policy before '--'", 0);
		argv += (*argv)[1] == '-' ? parse_long(options, argv) :
					    parse_short(options, argv);
	}
	if (options->json && !options->plan && !options->status &&
	    !options->self_test)
		refuse("--json", "goes with -n, --status or --self-test", 0);
	if (options->status + options->self_test + options->clean > 1)
		refuse(NULL,
		    "--status, --self-test and --clean do not go "
		    "together",
		    0);
	if ((options->status || options->clean) && *argv != NULL)
		refuse(*argv,
		    options->status ? "--status takes no policy" :
				      "--clean takes no policy",
		    0);
	if (options->status || options->clean)
		return;
	if (options->self_test) {
		parse_self_test(options, argv);
		return;
	}
	if (*argv == NULL)
		refuse(NULL, "no policy; see sbxrun --help", 0);
	options->policy = *argv++;
	parse_command(options, argv);
	if (options->plan && (options->log != NULL || options->status_fd >= 0))
		refuse("-n", "runs nothing, so there is no receipt", 0);
}
