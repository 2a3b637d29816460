/*
 * `sbxc log show` and `sbxc log verify`: what sbxrun keeps of its runs.
 */
#include "compiler/command/commands.h"
#include "compiler/records/records.h"

#include "format/protocol.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A time in the past: "2h" before now, or a date; -1: it is none. */
static double
read_since(const char *text)
{
	static const struct {
		char letter;
		double seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 },
		{ 'w', 604800 } };
	struct tm tm = { .tm_isdst = -1 };
	char *end;
	double count = strtod(text, &end);

	for (size_t i = 0; i < countof(units); i++) {
		if (end != text && *end == units[i].letter && end[1] == '\0')
			return (double)time(NULL) - count * units[i].seconds;
	}
	end = strptime(text, "%Y-%m-%d", &tm);
	if (end != NULL && *end != '\0')
		end = strptime(end + strspn(end, " T"), "%H:%M", &tm);
	return end != NULL && *end == '\0' ? (double)mktime(&tm) : -1;
}

/* Where runs without --log have their lines: the setting may say. */
static const char *
own_log(struct arena *arena)
{
	const struct passwd *entry = getpwuid(getuid());
	const char *home = entry != NULL ? entry->pw_dir : "", *path = NULL;
	FILE *setting =
	    fopen(arena_printf(arena, "%s" SBX_OWN_CONFIG "/log", home), "re");
	char line[SBX_MAX_PATH + 2];

	while (setting != NULL && fgets(line, sizeof line, setting) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '/')
			path = arena_printf(arena, "%s", line);
	}
	if (setting != NULL)
		fclose(setting);
	return path != NULL ?
	    path :
	    arena_printf(arena, "%s" SBX_OWN_STATE "/log", home);
}

enum exit_status
command_log(struct options *options)
{
	const struct words *operands = &options->operands;
	struct log_query query = {
		.policy = options->of_policy,
		.command = options->of_command,
		.denied = options->only_denied,
		.follow = options->follow,
		.json = options->lines,
	};
	const char *word = operands->list.count > 0 ? operands->list.items[0] :
						      "";
	const char *path = operands->list.count > 1 ? operands->list.items[1] :
						      own_log(options->arena);
	bool shows = strcmp(word, "show") == 0;

	if ((!shows && strcmp(word, "verify") != 0) ||
	    operands->list.count > 2) {
		misused("'log' is 'log show [FILE]' or 'log verify [FILE]'");
		return EXIT_USAGE;
	}
	if (options->since != NULL)
		query.since = read_since(options->since);
	if (query.since < 0) {
		misused("--since takes a time such as 2h, 7d or 2026-11-29, "
			"not '%s'",
		    options->since);
		return EXIT_USAGE;
	}
	if (operands->list.count < 2 && access(path, F_OK) != 0 &&
	    errno == ENOENT) {
		complain(
		    "there is no log at %s: after 'touch ~/.config/sbx/log' "
		    "each run has a line there; 'sbxrun --log=FILE CMD' "
		    "writes one for '%s FILE'",
		    path, shows ? "sbxc log show" : "sbxc log verify");
		return EXIT_TROUBLE;
	}
	if (shows && options->chain == NULL)
		return log_show(options->arena, path, &query);
	if (shows || query.policy != NULL || query.command != NULL ||
	    query.denied || query.follow || query.json ||
	    options->since != NULL) {
		misused("this option does not go with 'log %s'", word);
		return EXIT_USAGE;
	}
	return log_verify(options->arena, path, options->chain);
}
