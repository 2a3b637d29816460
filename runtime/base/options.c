/*
 * The command line of sbxrun.
 *
 *	sbxrun [options] [--] CMD [ARG...]
 *	sbxrun [options] POLICY -- CMD [ARG...]
 *	sbxrun [options] [POLICY] -c STRING
 *	sbxrun --session NAME [options] [POLICY] -- CMD [ARG...]
 *
 * Options come before the policy; nothing of the command is looked at.
 */
#include "runtime/base/options.h"

#include "format/text.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unknown"
#endif

/* With `apply` NULL, a flag is set or the value is kept at `offset`.  Of an
 * argument in brackets the name may do without; then no other word is taken. */
struct option_line {
	char letter;
	const char *name;
	const char *argument; /* NULL: takes none */
	const char *help;
	size_t offset;
	void (*apply)(struct options *options, const char *value);
	enum {
		OFTEN,  /* on the first screen */
		SELDOM, /* with --help=all */
		OURS,   /* libsbx alone uses it */
	} shown;
};

static void
set_level(struct options *options, const char *value)
{
	options->level = -1;
	if (strcmp(value, "auto") == 0)
		return;
	for (int level = SBX_LEVEL_MINIMAL; level < SBX_LEVEL_END; level++) {
		if (strcmp(value, level_name((enum sbx_level)level)) == 0)
			options->level = level;
	}
	if (options->level < 0)
		refuse(value, "no such level: auto, full, standard or minimal",
		    0);
}

static void
add_definition(struct options *options, const char *value)
{
	const char *equals = strchr(value, '=');

	if (equals == NULL || equals == value || equals[1] == '\0')
		refuse(value, "-D needs NAME=PATH", 0);
	if (options->definition_count == OPTIONS_MAX_DEFINITIONS)
		refuse(value, "too many -D options", 0);
	options->definitions[options->definition_count++] =
	    (struct definition){ value, (uint32_t)(equals - value) };
}

static void
add_rule(struct options *options, const char *value, bool denies)
{
	if (options->rule_count == OPTIONS_MAX_RULES)
		refuse(value, "too many rules of --allow and --deny", 0);
	options->rules[options->rule_count++] = (struct extra_rule){ value,
		denies };
}

static void
add_allowed(struct options *options, const char *value)
{
	add_rule(options, value, false);
}

static void
add_denied(struct options *options, const char *value)
{
	add_rule(options, value, true);
}

static void
set_expect(struct options *options, const char *value)
{
	if (strncmp(value, "sha256:", 7) != 0 ||
	    strspn(value + 7, "0123456789abcdefABCDEF") != 64 ||
	    value[7 + 64] != '\0')
		refuse(value,
		    "--expect needs sha256: and 64 hexadecimal digits", 0);
	options->expect = value + 7;
}

static void
set_limit(struct options *options, const char *value)
{
	limits_choose(options->limits, value);
}

static void
set_accept(struct options *options, const char *value)
{
	if (strcmp(value, "none") != 0)
		refuse(value, "--accept takes only 'none'", 0);
	options->accept_none = true;
}

/* 0, 1 and 2 are the command's. */
static int
read_descriptor(const char *value, const char *fault)
{
	const char *stop = value + strlen(value);
	uint64_t fd;

	if (sbx_decimal_read(value, stop, &fd) != stop || fd < 3 ||
	    fd > INT_MAX)
		refuse(value, fault, 0);
	return (int)fd;
}

static void
set_status_fd(struct options *options, const char *value)
{
	options->status_fd = read_descriptor(value,
	    "--status-fd needs a descriptor above 2");
}

static void
add_passed(struct options *options, const char *value)
{
	if (options->passed_count == OPTIONS_MAX_PASSED)
		refuse(value, "too many --pass-fd options", 0);
	options->passed[options->passed_count++] = read_descriptor(value,
	    "--pass-fd needs a descriptor above 2");
}

static void
set_keep(struct options *options, const char *value)
{
	options->keep = read_descriptor(value,
	    "--keep needs a descriptor above 2");
}

static void
set_join(struct options *options, const char *value)
{
	options->join = read_descriptor(value,
	    "--join needs a descriptor above 2");
}

/* The name becomes that of a file, and people type it. */
static bool
is_file_name(const char *value)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t len = strlen(value);

	return len > 0 && len <= OPTIONS_MAX_NAME &&
	    strspn(value, allowed) == len && *value != '.' && *value != '-';
}

static void
set_session(struct options *options, const char *value)
{
	if (!is_file_name(value))
		refuse(value,
		    "a session's name has up to 64 of A-Z a-z 0-9 . _ - and "
		    "begins with neither . nor -",
		    0);
	options->session = value;
	options->own_session = strcmp(value, "auto") == 0;
}

static void
set_ask(struct options *options, const char *value)
{
	bool is_program = value != NULL && strcmp(value, "tty") != 0;

	if (is_program && strchr(value, '/') == NULL)
		refuse(value,
		    "--ask takes tty or a program with a '/' in its name", 0);
	options->ask = true;
	options->ask_program = is_program ? value : NULL;
}

static void
set_questions(struct options *options, const char *value)
{
	options->questions = read_descriptor(value,
	    "--questions needs a descriptor above 2");
}

static void
check_stage_name(const char *value)
{
	if (value != NULL && !is_file_name(value))
		refuse(value,
		    "a stage's name has up to 64 of A-Z a-z 0-9 . _ - and "
		    "begins with neither . nor -",
		    0);
}

static void
set_stage(struct options *options, const char *value)
{
	check_stage_name(value);
	options->staging = true;
	options->stage = value;
	if (options->level < 0)
		options->level = SBX_LEVEL_FULL;
}

static void
set_staged(struct options *options, const char *value)
{
	check_stage_name(value);
	options->staged = true;
	options->stage = value;
}

static void
set_idle(struct options *options, const char *value)
{
	const char *stop = value + strlen(value);
	const char *unit = sbx_decimal_read(value, stop, &options->idle);
	uint64_t factor;

	if (strcmp(value, "none") == 0) {
		options->idle = 0;
		return;
	}
	factor = unit == NULL || *unit == '\0' || unit[1] != '\0' ? 0 :
	    *unit == 's'                                          ? 1 :
	    *unit == 'm'                                          ? 60 :
	    *unit == 'h'                                          ? 3600 :
								    0;
	if (factor == 0 || options->idle == 0 ||
	    options->idle > INT_MAX / factor)
		refuse(value,
		    "--idle needs a time, such as 90s, 10m or 1h, or none", 0);
	options->idle *= factor;
}

static void
set_end(struct options *options, const char *value)
{
	options->end = true;
	if (value != NULL && strcmp(value, "idle") != 0)
		refuse(value, "--end takes only 'idle'", 0);
	options->end_idle = value != NULL;
}

static void
set_plan(struct options *options, const char *value)
{
	options->plan = true;
	if (value == NULL)
		return;
	if (strcmp(value, "summary") != 0)
		refuse(value, "--dry-run takes only 'summary'", 0);
	options->brief = true;
}

static void
set_log_args(struct options *options, const char *value)
{
	if (strcmp(value, "no") != 0)
		refuse(value, "--log-args takes only 'no'", 0);
	options->log_brief = true;
}

static void
set_explain(struct options *options, const char *value)
{
	options->explain = true;
	if (value == NULL)
		return;
	options->explain_thorough = strcmp(value, "live") != 0;
	if (strcmp(value, "live") == 0)
		options->explain_live = true;
	else if (strcmp(value, "all") == 0)
		options->explain_all = true;
	else if (strcmp(value, "agent") == 0)
		options->explain_agent = true;
	else if (strcmp(value, "quiet") == 0)
		options->explain_quiet = true;
	else if (strchr(value, '/') == NULL)
		/* A mistyped word would make a file of that name. */
		refuse(value,
		    "--explain takes live, all, agent, quiet or a file with a "
		    "'/' "
		    "in its name, as ./report",
		    0);
	else
		options->explain_file = value;
}

static void
version(struct options *options, const char *value)
{
	struct out out;

	(void)options;
	(void)value;
	out_init(&out, STDOUT_FILENO);
	out_text(&out, "sbxrun " PACKAGE_VERSION "\n");
	out_flush(&out);
	_exit(0);
}

/* --- the options ---------------------------------------------------------- */

static void help(struct options *options, const char *value);

#define OFFSET(member) offsetof(struct options, member)
static const struct option_line lines[] = {
	{ 'w', "workspace", "DIR",
	    "the workspace; else the top of the working tree",
	    OFFSET(workspace), NULL, OFTEN },
	{ 'D', "define", "NAME=PATH", "bind a parameter", 0, add_definition,
	    SELDOM },
	{ 'p', "profile", "NAME", "the profile of a text that defines several",
	    OFFSET(profile), NULL, SELDOM },
	{ '\0', "allow", "RULE", "as if it had this rule, as 'read ~/data'", 0,
	    add_allowed, OFTEN },
	{ '\0', "deny", "RULE", "the same for a rule that denies", 0,
	    add_denied, OFTEN },
	{ 'n', "dry-run", "[summary]",
	    "print what would be applied: all, or a screen", 0, set_plan,
	    OFTEN },
	{ 'l', "level", "LEVEL", "auto, full, standard, minimal: exactly that",
	    0, set_level, OFTEN },
	{ '\0', "limit", "NAME=VALUE",
	    "in place of the policy's, as timeout=10m or output=none", 0,
	    set_limit, SELDOM },
	{ '\0', "accept", "none",
	    "run even where the kernel offers no protection", 0, set_accept,
	    SELDOM },
	{ '\0', "allow-full-access", NULL,
	    "run a policy that allows everything", OFFSET(allow_full_access),
	    NULL, SELDOM },
	{ '\0', "expect", "sha256:HEX", "refuse a policy with another digest",
	    0, set_expect, SELDOM },
	{ 'v', "verbose", NULL, "say level, workspace and network on stderr",
	    OFFSET(verbose), NULL, OFTEN },
	{ '\0', "explain", "[HOW]",
	    "live, all, agent, quiet or a file: say what is denied", 0,
	    set_explain, OFTEN },
	{ '\0', "ask", "[tty]",
	    "ask about hosts by name, and in the end about what was denied", 0,
	    set_ask, OFTEN },
	{ '\0', "ask-always", NULL,
	    "a program of --ask may answer always and never",
	    OFFSET(ask_always), NULL, SELDOM },
	{ '\0', "questions", "FD", "for sbxc ask: ask about names there", 0,
	    set_questions, OURS },
	{ '\0', "learn", "FILE",
	    "add what it wanted to this file, for sbxc learn", OFFSET(learn),
	    NULL, SELDOM },
	{ '\0', "stage", "[NAME]",
	    "what it changes in the workspace waits for you to look at it", 0,
	    set_stage, OFTEN },
	{ '\0', "staged", "[NAME]",
	    "list that; or with diff, apply or discard behind it", 0,
	    set_staged, OFTEN },
	{ '\0', "status-fd", "N",
	    "write a receipt, JSON lines, to this descriptor", 0, set_status_fd,
	    SELDOM },
	{ '\0', "log", "FILE", "add a line about this run to a file",
	    OFFSET(log), NULL, SELDOM },
	{ '\0', "log-args", "no", "without the arguments of the command", 0,
	    set_log_args, SELDOM },
	{ '\0', "pass-fd", "N", "hand this pipe of the caller's on", 0,
	    add_passed, SELDOM },
	{ '\0', "status", NULL, "what this machine offers", OFFSET(status),
	    NULL, OFTEN },
	{ '\0', "doctor", NULL, "what has to be fixed here, with commands",
	    OFFSET(doctor), NULL, OFTEN },
	{ '\0', "self-test", NULL, "try to get out of a sandbox of this policy",
	    OFFSET(self_test), NULL, SELDOM },
	{ '\0', "clean", NULL, "remove the scratch directory of the workspace",
	    OFFSET(clean), NULL, SELDOM },
	{ '\0', "session", "NAME", "in a session; the first command makes it",
	    0, set_session, OFTEN },
	{ '\0', "end", "[idle]",
	    "with --session: end it and all that runs in it, or when it is "
	    "idle",
	    0, set_end, SELDOM },
	{ '\0', "check", NULL, "with --session: whether there is one",
	    OFFSET(check), NULL, SELDOM },
	{ '\0', "idle", "TIME",
	    "end a session after so long without processes (10m); or none", 0,
	    set_idle, SELDOM },
	{ '\0', "with-parent", NULL,
	    "end the session with the process that made it",
	    OFFSET(with_parent), NULL, SELDOM },
	{ '\0', "sessions", NULL, "list the sessions", OFFSET(sessions), NULL,
	    SELDOM },
	{ '\0', "keep", "FD", "for libsbx: keep a session for this socket", 0,
	    set_keep, OURS },
	{ '\0', "join", "FD", "for libsbx: join a session by this socket", 0,
	    set_join, OURS },
	{ '\0', "json", NULL,
	    "with -n, --status, --doctor, --self-test, --sessions or "
	    "--staged: for programs",
	    OFFSET(json), NULL, SELDOM },
	{ 'h', "help", "[all]", "this text, or all of it", 0, help, OFTEN },
	{ 'V', "version", NULL, "the version", 0, version, OFTEN },
};
#undef OFFSET

enum { LINES = countof(lines) };

static const char usage[] = "Usage: sbxrun [options] [--] CMD [ARG...]\n"
			    "       sbxrun [options] POLICY -- CMD [ARG...]\n"
			    "       sbxrun [options] [POLICY] -c STRING\n";

static const char usage_of_all[] =
    "       sbxrun --session NAME [options] [POLICY] -- CMD [ARG...]\n"
    "       sbxrun --session NAME --end | --check\n"
    "       sbxrun --sessions [--json]\n"
    "       sbxrun [options] -n [--json] [POLICY]\n"
    "       sbxrun --status [--json]\n"
    "       sbxrun --doctor [--json] [POLICY]\n"
    "       sbxrun [options] --self-test [--json] [POLICY]\n"
    "       sbxrun --clean [-w DIR]\n"
    "       sbxrun --staged[=NAME] [--json] [list]\n"
    "       sbxrun --staged[=NAME] diff [--json|--html] [PATH...]\n"
    "       sbxrun --staged[=NAME] apply [--force] [PATH...]\n"
    "       sbxrun --staged[=NAME] discard\n";

static void
print_option(struct out *out, const struct option_line *line)
{
	char letter[] = { ' ', ' ', '-', line->letter, ',', ' ', 0 };

	out_text(out, line->letter ? letter : "      ");
	out_text(out, "--");
	if (line->argument == NULL) {
		out_column(out, line->name, 24);
	} else {
		out_text(out, line->name);
		out_text(out, "=");
		out_column(out, line->argument, 23 - strlen(line->name));
	}
	out_text(out, line->help);
	out_text(out, "\n");
}

static void
help(struct options *options, const char *value)
{
	bool all = value != NULL;
	struct out out;

	(void)options;
	if (all && strcmp(value, "all") != 0)
		refuse(value, "--help takes only 'all'", 0);
	out_init(&out, STDOUT_FILENO);
	out_text(&out, usage);
	out_text(&out, all ? usage_of_all : "");
	out_text(&out,
	    "\nRuns CMD confined by a policy: a file (.bin, .sbx) or @NAME, "
	    "such as @coding;\nwithout one @default if you have it, or "
	    "@coding.\n\n");
	for (const struct option_line *line = lines; line < lines + LINES;
	     line++) {
		if (line->shown == OFTEN || (all && line->shown == SELDOM))
			print_option(&out, line);
	}
	out_text(&out,
	    "\nIt ends as CMD does; 124: out of time; 125: refused, and CMD "
	    "was not started.\n");
	out_text(&out,
	    all ? "126: CMD cannot be executed; 127: CMD was not found.\n" :
		  "sbxrun --help=all lists all options; sbxrun(1).\n");
	out_flush(&out);
	_exit(0);
}

/* --- the command line ----------------------------------------------------- */

__attribute__((noreturn)) static void
refuse_empty(const struct option_line *line)
{
	struct out name;

	out_init(&name, -1);
	out_print(&name, "--%s", line->name);
	refuse(name.text,
	    "its value is empty: name one, or leave the option out", 0);
}

static int
apply_option(struct options *options, const struct option_line *line,
    const char *value)
{
	void *member = (char *)options + line->offset;

	/* A variable of a script that is not set: what the option would mean
	 * without it is not what was meant. */
	if (value != NULL && *value == '\0')
		refuse_empty(line);
	if (line->apply != NULL)
		line->apply(options, value);
	else if (line->argument != NULL)
		*(const char **)member = value;
	else
		*(bool *)member = true;
	return 1;
}

static const struct option_line *
find_long(const char *name, size_t len)
{
	for (const struct option_line *line = lines; line < lines + LINES;
	     line++) {
		if (strncmp(line->name, name, len) == 0 &&
		    line->name[len] == '\0')
			return line;
	}
	return NULL;
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

/* The value of an option is the next word; the option took two. */
static int
apply_next(struct options *options, const struct option_line *line, char **argv)
{
	if (argv[1] == NULL)
		refuse(argv[0], "this option needs a value", 0);
	return apply_option(options, line, argv[1]) + 1;
}

__attribute__((noreturn)) static void
refuse_unknown(const char *word, const char *name, size_t len)
{
	uint32_t least = SPELLING_FAR;
	const char *nearest = NULL;
	struct out text;

	for (const struct option_line *line = lines; line < lines + LINES;
	     line++) {
		uint32_t far = spelling_distance(name, len, line->name,
		    strlen(line->name));

		if (far < least && line->shown != OURS) {
			least = far;
			nearest = line->name;
		}
	}
	out_init(&text, -1);
	out_text(&text, "unknown option; ");
	if (nearest != NULL)
		out_print(&text, "did you mean --%s?", nearest);
	else
		out_text(&text, "see sbxrun --help");
	refuse(word, text.text, 0);
}

/* --name, --name=value or --name value; returns how many words it took. */
static int
parse_long(struct options *options, char **argv)
{
	const char *name = argv[0] + 2;
	size_t len = strcspn(name, "=");
	const struct option_line *line = find_long(name, len);

	if (line == NULL)
		refuse_unknown(argv[0], name, len);
	if (line->argument == NULL && name[len] == '=')
		refuse(argv[0], "this option takes no value", 0);
	if (line->argument == NULL)
		return apply_option(options, line, NULL);
	if (name[len] == '=')
		return apply_option(options, line, name + len + 1);
	if (line->argument[0] == '[')
		return apply_option(options, line, NULL);
	return apply_next(options, line, argv);
}

/* -nv, -n=summary, -wDIR or -w DIR; returns how many words it took. */
static int
parse_short(struct options *options, char **argv)
{
	for (const char *letter = argv[0] + 1; *letter != '\0'; letter++) {
		const struct option_line *line = find_letter(*letter);

		if (line == NULL)
			refuse(argv[0], "unknown option; see sbxrun --help", 0);
		if (line->argument != NULL && line->argument[0] == '[' &&
		    letter[1] == '=')
			return apply_option(options, line, letter + 2);
		if (line->argument == NULL || line->argument[0] == '[')
			apply_option(options, line, NULL);
		else if (letter[1] != '\0')
			return apply_option(options, line, letter + 1);
		else
			return apply_next(options, line, argv);
	}
	return 1;
}

void
options_parse(struct options *options, char **argv)
{
	options->words = argv;
	options->level = -1;
	options->status_fd = options->keep = options->join = -1;
	options->questions = -1;
	options->idle = OPTIONS_IDLE;
	if (*argv != NULL)
		argv++;
	while (*argv != NULL && (*argv)[0] == '-' && (*argv)[1] != '\0') {
		if (options_begin_command(*argv))
			break;
		argv += (*argv)[1] == '-' ? parse_long(options, argv) :
					    parse_short(options, argv);
	}
	options_check(options);
	options_take_words(options, argv);
}
