/*
 * See options.h: the words behind the options, which are the policy and the command.
 */
#include "runtime/base/options.h"

#include "runtime/base/out.h"

#include <string.h>

/* A word of the command line as it may be printed. */
static void
show_word(struct out *shown, const char *word)
{
	out_init(shown, -1);
	out_shown(shown, word, strlen(word));
}

/* A word where the command should begin. */
__attribute__((noreturn)) static void
refuse_order(const char *policy, const char *word)
{
	struct out text, shown, name;

	show_word(&shown, word);
	show_word(&name, policy);
	out_init(&text, -1);
	if (word[0] == '-')
		out_print(&text,
		    "options come before the policy: sbxrun %s %s -- ...",
		    shown.text, name.text);
	else
		out_print(&text,
		    "expected '--' and the command, or '-c STRING', after the "
		    "policy: sbxrun %s -- %s ...",
		    name.text, shown.text);
	refuse(word, text.text, 0);
}

static void
parse_command(struct options *options, char **argv)
{
	static char shell[] = "/bin/sh", flag[] = "-c";

	if (argv[0] == NULL && options->plan)
		return;
	if (argv[0] == NULL && options->policy != NULL)
		refuse(NULL, "no command: add '-- CMD' after the policy", 0);
	if (argv[0] == NULL)
		refuse(NULL, "no command: sbxrun CMD; see sbxrun --help", 0);
	if (strcmp(argv[0], "--") == 0) {
		if (argv[1] == NULL)
			refuse(NULL, "no command after '--'", 0);
		options->command = argv + 1;
		return;
	}
	if (strcmp(argv[0], "-c") != 0 && options->policy != NULL)
		refuse_order(options->policy, argv[0]);
	if (strcmp(argv[0], "-c") != 0) {
		options->command = argv;
		return;
	}
	if (argv[1] == NULL || argv[2] != NULL)
		refuse(argv[0],
		    "takes exactly one string: put the command in quotation "
		    "marks, as -c 'ls | wc -l'",
		    0);
	options->shell[1] = shell;
	options->shell[2] = flag;
	options->shell[3] = argv[1];
	options->command = options->shell + 1;
}

static void
refuse_policy_of(const struct options *options, const char *word)
{
	refuse(word,
	    options->status       ? "--status takes no policy" :
		options->clean    ? "--clean takes no policy" :
		options->sessions ? "--sessions takes no policy" :
				    "--end and --check take no policy",
	    0);
}

bool
options_begin_command(const char *word)
{
	return strcmp(word, "--") == 0 || strcmp(word, "-c") == 0;
}

static bool
ends_with(const char *word, const char *end)
{
	size_t len = strlen(word), end_len = strlen(end);

	return len >= end_len && strcmp(word + len - end_len, end) == 0;
}

/* Whether no word of a command looks like this. */
static bool
is_named_as_policy(const char *word)
{
	return word[0] == '@' || ends_with(word, ".bin") ||
	    ends_with(word, ".sbx") || strcmp(word, "/dev/stdin") == 0 ||
	    strncmp(word, "/dev/fd/", 8) == 0 ||
	    strncmp(word, "/proc/self/fd/", 14) == 0;
}

__attribute__((noreturn)) static void
refuse_unclear(const char *word)
{
	struct out text, shown;

	show_word(&shown, word);
	out_init(&text, -1);
	out_print(&text,
	    "a policy or a command? A policy is @%s or ./%s, a command comes "
	    "after '--': sbxrun -- %s ...",
	    shown.text, shown.text, shown.text);
	refuse(word, text.text, 0);
}

/*
 * Whether the first word is the policy.  What files there are does not decide: a
 * command could have left a policy that allows much under the name of a program.
 * Nor does `-c` behind any word, as in `sh -c`.  With -n a path alone is what one
 * wants to read about.
 */
static bool
is_policy(const struct options *options, char **argv)
{
	if (**argv == '\0')
		refuse(NULL, "the policy or the command is an empty name", 0);
	if (is_named_as_policy(argv[0]))
		return true;
	if (argv[1] == NULL)
		return options->keep >= 0 ||
		    (options->plan && strchr(argv[0], '/') != NULL);
	if (strcmp(argv[1], "--") != 0)
		return false;
	if (strchr(argv[0], '/') == NULL)
		refuse_unclear(argv[0]);
	return true;
}

void
options_take_words(struct options *options, char **argv)
{
	if (options_have_no_policy(options)) {
		if (*argv != NULL)
			refuse_policy_of(options, *argv);
		return;
	}
	if (options->staged) {
		options->command = argv;
		return;
	}
	if (options->doctor) {
		/* What it says of commands it says of all. */
		options->policy = argv[0];
		if (argv[0] != NULL && argv[1] != NULL)
			refuse(argv[1], "--doctor takes no command", 0);
		if (options->plan || options->session != NULL)
			refuse("--doctor", "does not go with -n and --session",
			    0);
		return;
	}
	if (options->self_test) {
		/* The workspace is on the stage, and only probes run on it. */
		options->policy = argv[0] == NULL ? "@workspace-write" :
						    argv[0];
		if (argv[0] != NULL && argv[1] != NULL)
			refuse(argv[1], "--self-test takes no command", 0);
		if (options->plan || options->workspace != NULL)
			refuse("--self-test", "does not go with -n and -w", 0);
		return;
	}
	if (*argv != NULL && !options_begin_command(*argv) &&
	    is_policy(options, argv))
		options->policy = *argv++;
	if (options->policy == NULL && options->keep >= 0)
		refuse("--keep", "needs a policy", 0);
	if (options->keep >= 0 && *argv == NULL)
		return;
	parse_command(options, argv);
	if (options->plan && (options->log != NULL || options->status_fd >= 0))
		refuse("-n", "runs nothing, so there is no receipt", 0);
}
