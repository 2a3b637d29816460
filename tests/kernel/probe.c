/*
 * Tries operations and says how each ended: one line for each operation, `ok`
 * or the name of the errno, or what was asked for.  Operations are separated
 * by `--`; `probe -` takes them from standard input instead, one a line, the
 * words separated by tabs.
 *
 *	probe open-read /etc/passwd -- connect-tcp 443 -- env HOME
 *
 * What may kill the caller or change it (int80, unshare, exec ...) is tried in
 * a child.  The exit status is 0 unless the probe itself was called wrongly.
 *
 * It is linked without anything that tests may take away, and with no kernel
 * header newer than musl's: what those lack is written down here.
 */
#include "tests/kernel/probe.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an operation's end is called. */
static void
say_end(int end)
{
	const char *name = end == 0 ? "ok" : errno_name(end);
	char line[32];

	if (end == SIGNALLED - SIGSYS)
		name = "SIGSYS";
	else if (end <= SIGNALLED)
		snprintf(line, sizeof line, "signal %d", SIGNALLED - end);
	else
		snprintf(line, sizeof line, "errno %d", end);
	say(name ? name : line);
}

static const struct operation *
find_operation(const char *name)
{
	static const struct operation *const tables[] = {
		file_operations,
		socket_operations,
		interface_operations,
		process_operations,
		other_operations,
		object_operations,
		listener_operations,
		metadata_operations,
		spawn_operations,
		internet_operations,
	};

	for (size_t i = 0; i < countof(tables); i++) {
		for (const struct operation *at = tables[i]; at->name != NULL;
		     at++) {
			if (strcmp(at->name, name) == 0)
				return at;
		}
	}
	misuse("no such operation", name);
}

static void
run(char **words, int count)
{
	const struct operation *operation = find_operation(words[0]);
	int end;

	if (count - 1 < operation->least || count - 1 > operation->most)
		misuse("wrong number of words for", words[0]);
	end = operation->run(words + 1, count - 1);
	if (end != SAID)
		say_end(end);
}

static void
run_line(char *line)
{
	char *words[MAX_WORDS];
	int count = 0;

	for (char *word = strtok(line, "\t\n"); word && count < MAX_WORDS;
	     word = strtok(NULL, "\t\n"))
		words[count++] = word;
	if (count)
		run(words, count);
}

static int
run_input(void)
{
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, stdin) > 0)
		run_line(line);
	free(line);
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "-") == 0)
		return run_input();
	if (argc < 2) {
		fputs("usage: probe OPERATION [WORD...] [-- OPERATION...]\n",
		    stderr);
		return 2;
	}
	for (int begin = 1, end = 1; begin < argc; begin = end + 1) {
		for (end = begin; end < argc && strcmp(argv[end], "--"); end++)
			continue;
		if (end > begin)
			run(argv + begin, end - begin);
	}
	return 0;
}
