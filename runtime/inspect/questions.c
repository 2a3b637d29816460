/*
 * --ask: a person is asked about what was denied.  A view and a Landlock domain
 * cannot be widened under way, so that is done when all has ended: sbxc, which has
 * rules and JSON, runs this program as its child, with --explain in place of --ask,
 * and asks then.
 */
#include "runtime/inspect/inspect.h"

#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { FIXED_WORDS = 8 };

/* Whether somebody is there: the terminal is standard input, and ours. */
static bool
is_attended(void)
{
	int terminal = isatty(STDIN_FILENO) && isatty(STDERR_FILENO) ?
	    terminal_open() :
	    -1;
	bool ours = terminal_is_ours(terminal);

	if (terminal >= 0)
		close(terminal);
	return ours;
}

void
questions_begin(const struct options *options, struct arena *arena)
{
	static const char explain[] = "--explain";
	const char **words;
	struct path program, self;
	size_t count = 0, given = 0;
	ssize_t len;

	if (!options->ask || !is_attended())
		return;
	while (options->words[given] != NULL)
		given++;
	len = readlink("/proc/self/exe", self.text, sizeof self.text - 1);
	if (helper_path(&program) == NULL || len <= 0)
		refuse("--ask", "cannot tell where sbxrun lies", errno);
	path_cut(&self, (uint32_t)len);
	words = arena_take(arena, given + FIXED_WORDS, sizeof *words);
	words[count++] = "sbxc";
	words[count++] = "ask";
	if (options->policy != NULL) {
		words[count++] = "--for";
		words[count++] = options->policy;
	}
	words[count++] = "--";
	words[count++] = self.text;
	for (size_t i = 1; i < given; i++) {
		const char *word = options->words[i];
		bool found = strcmp(word, "--ask") == 0 ||
		    strcmp(word, "--ask=tty") == 0;

		words[count++] = found ? explain : word;
		if (!found)
			continue;
		/* What comes behind it may be the command's. */
		while (++i < given)
			words[count++] = options->words[i];
	}
	execv(program.text, (char *const *)words);
	refuse(program.text, "--ask needs sbxc beside sbxrun", errno);
}
