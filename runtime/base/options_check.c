/* See options.h: what goes with what. */
#include "runtime/base/options.h"

#include "runtime/base/out.h"

bool
options_in_session(const struct options *options)
{
	return options->session != NULL || options->join >= 0;
}

static bool
is_about_session(const struct options *options)
{
	return options->end || options->check;
}

bool
options_have_no_policy(const struct options *options)
{
	return options->status || options->clean || options->sessions ||
	    is_about_session(options);
}

static void
check_session(const struct options *options)
{
	int places = (options->session != NULL) + (options->keep >= 0) +
	    (options->join >= 0);

	if (options->end && options->check)
		refuse(NULL, "--end and --check do not go together", 0);
	if (is_about_session(options) && options->session == NULL)
		refuse(NULL, "--end and --check need --session", 0);
	if (places > 1)
		refuse(NULL, "--session, --keep and --join do not go together",
		    0);
	if (places > 0 &&
	    (options->plan || options->self_test || options->status ||
		options->clean || options->sessions))
		refuse("--session",
		    "does not go with -n, --status, --self-test, --clean and "
		    "--sessions",
		    0);
	if (options->with_parent && options->session == NULL)
		refuse("--with-parent", "goes with --session", 0);
}

static void
check_json(const struct options *options)
{
	if (options->json && !options->plan && !options->status &&
	    !options->self_test && !options->sessions && !options->doctor &&
	    !options->staged)
		refuse("--json",
		    "goes with -n, --status, --doctor, --self-test, "
		    "--sessions or --staged",
		    0);
	if (options->status + options->self_test + options->clean +
		options->sessions >
	    1)
		refuse(NULL,
		    "--status, --self-test, --clean and --sessions do not go "
		    "together",
		    0);
}

static void
check_stage(const struct options *options)
{
	if (!options->staging)
		return;
	if (options->level != SBX_LEVEL_FULL)
		refuse("--stage", "goes with level full alone", 0);
	if (options->plan || options->self_test || options->join >= 0 ||
	    options_have_no_policy(options))
		refuse("--stage",
		    "goes with a command, and not with -n and --join", 0);
}

static void
check_ask(const struct options *options)
{
	if (options->ask_always && options->ask_program == NULL)
		refuse("--ask-always", "goes with --ask=PROGRAM", 0);
	if (!options->ask)
		return;
	if (options->plan || options->self_test || options->keep >= 0 ||
	    options->join >= 0 || options_have_no_policy(options) ||
	    options->doctor || options->staged)
		refuse("--ask", "goes with a command", 0);
	/* What the person is asked about in the end is read from there. */
	if (options->status_fd >= 0 && options->ask_program == NULL)
		refuse("--ask", "does not go with --status-fd", 0);
}

static void
check_learn(const struct options *options)
{
	if (options->learn == NULL)
		return;
	if (options->plan || options->self_test ||
	    options_have_no_policy(options))
		refuse("--learn", "goes with a command", 0);
	if (options_in_session(options) || options->keep >= 0)
		refuse("--learn", "does not go with sessions", 0);
}

void
options_check(const struct options *options)
{
	check_json(options);
	check_session(options);
	if (options->explain &&
	    (options->plan || options->self_test || options->keep >= 0 ||
		options_have_no_policy(options)))
		refuse("--explain", "goes with a command", 0);
	check_learn(options);
	check_stage(options);
	check_ask(options);
}
