/*
 * `sbxc secrets`: the file of secrets, on standard input, as records for sbxrun, which
 * reads no texts.  A person writes it; a line is
 *
 *	secret NAME for HOST... from env VARIABLE
 *	secret NAME for HOST... from file PATH
 *	secret NAME for HOST... from command PROGRAM [WORD...]
 *
 * with words in double quotes where they have blanks, and '#' before a comment.
 * Nothing is read or run here but this text.
 */
#include "compiler/command/commands.h"

#include "format/model.h"
#include "format/protocol.h"
#include "runtime/base/files.h"

#include <string.h>
#include <unistd.h>

enum { SECRETS_SIZE = 1 << 18, WORDS_MAX = 256 };

struct secret_line {
	struct arena *arena;
	unsigned number;
	size_t count;
	const char *words[WORDS_MAX];
};

static bool
fail(const struct secret_line *line, const char *fault, const char *word)
{
	complain("secrets:%u: %s%s%s; a line is 'secret NAME for HOST... from "
		 "env VARIABLE', '... from file PATH' or '... from command "
		 "PROGRAM WORD...'",
	    line->number, fault, *word != '\0' ? ": " : "", word);
	return false;
}

static bool
cut_words(struct secret_line *line, const char *text, const char *end)
{
	while (text < end) {
		const char *from = text;
		bool quoted;

		if (*text == ' ' || *text == '\t' || *text == '\r') {
			text++;
			continue;
		}
		if (*text == '#')
			break;
		quoted = *text == '"';
		from += quoted;
		for (text = from; text < end &&
		     (quoted ? *text != '"' :
			       *text != ' ' && *text != '\t' && *text != '\r');
		     text++)
			;
		if (line->count == WORDS_MAX || (quoted && text == end))
			return fail(line,
			    "a quote does not end, or there are "
			    "too many words",
			    "");
		line->words[line->count++] = arena_strndup(line->arena, from,
		    (size_t)(text - from));
		text += quoted;
	}
	return true;
}

/* In the one spelling, as rules have it; a star first stands for all below. */
static const char *
read_host(const struct secret_line *line, const char *word)
{
	char name[SBX_NAME_SIZE];
	bool below = strncmp(word, "*.", 2) == 0;
	const char *rest = word + (below ? 2 : 0);

	if (!sbx_name_normal(rest, strlen(rest), name)) {
		fail(line, "this is no name of a host", word);
		return NULL;
	}
	return arena_printf(line->arena, "%s%s", below ? "*." : "", name);
}

/* "~/x" is below the home of the password entry, as this file is. */
static const char *
read_path(const struct secret_line *line, const char *word)
{
	char buffer[PASSWD_LINE];
	const char *home = passwd_home(buffer, sizeof buffer);

	if (strncmp(word, "~/", 2) == 0 && home != NULL)
		return arena_printf(line->arena, "%s%s", home, word + 1);
	if (*word == '/')
		return word;
	fail(line, "a path begins with '/' or '~/'", word);
	return NULL;
}

/* The number of words before `from`; 0 after reporting. */
static size_t
find_from(const struct secret_line *line)
{
	size_t at = 3;

	if (line->count < 2 || strcmp(line->words[0], "secret") != 0 ||
	    !name_is_good(line->words[1], strlen(line->words[1])))
		return fail(line, "this is no secret", "");
	if (line->count < 3 || strcmp(line->words[2], "for") != 0)
		return fail(line, "it names no host", line->words[1]);
	while (at < line->count && strcmp(line->words[at], "from") != 0)
		at++;
	if (at == 3 || at + 2 >= line->count)
		return fail(line,
		    "it does not say for which hosts, or from "
		    "where",
		    line->words[1]);
	return at;
}

static bool
write_secret(struct secret_line *line)
{
	static const char *const kinds[SBX_SECRET_END] = { "env", "file",
		"command" };
	size_t from = find_from(line);
	struct sbx_secret secret = { .line = line->number };

	if (from == 0)
		return false;
	while (secret.kind < SBX_SECRET_END &&
	    strcmp(line->words[from + 1], kinds[secret.kind]) != 0)
		secret.kind++;
	if (secret.kind == SBX_SECRET_END ||
	    (secret.kind != SBX_SECRET_COMMAND && line->count != from + 3))
		return fail(line, "this is no place of a secret",
		    line->words[from + 1]);
	for (size_t i = 3; i < from; i++) {
		line->words[i] = read_host(line, line->words[i]);
		if (line->words[i] == NULL)
			return false;
	}
	if (secret.kind == SBX_SECRET_FILE)
		line->words[from + 2] = read_path(line, line->words[from + 2]);
	if (line->words[from + 2] == NULL)
		return false;
	secret.hosts = (uint16_t)(from - 3);
	secret.words = (uint16_t)(line->count - from - 2);
	strcpy(secret.name, line->words[1]);
	for (size_t i = 3; i < line->count; i++) {
		if (i < from || i > from + 1)
			secret.size += (uint32_t)strlen(line->words[i]) + 1;
	}
	fwrite(&secret, sizeof secret, 1, stdout);
	for (size_t i = 3; i < line->count; i++) {
		if (i < from || i > from + 1)
			fwrite(line->words[i], strlen(line->words[i]) + 1, 1,
			    stdout);
	}
	return true;
}

enum exit_status
command_secrets(struct options *options)
{
	char *text = arena_alloc(options->arena, SECRETS_SIZE);
	struct secret_line line = { .arena = options->arena };
	size_t used = 0;
	ssize_t len;

	while (used < SECRETS_SIZE &&
	    (len = read(STDIN_FILENO, text + used, SECRETS_SIZE - used)) > 0)
		used += (size_t)len;
	if (used == SECRETS_SIZE || memchr(text, '\0', used) != NULL) {
		complain("secrets: this is no file of secrets");
		return EXIT_TROUBLE;
	}
	for (const char *at = text, *end; at < text + used; at = end + 1) {
		end = memchr(at, '\n', (size_t)(text + used - at));
		if (end == NULL)
			end = text + used;
		line.number++;
		line.count = 0;
		if (!cut_words(&line, at, end) ||
		    (line.count > 0 && !write_secret(&line)))
			return EXIT_TROUBLE;
	}
	return fflush(stdout) == 0 ? EXIT_CLEAN : EXIT_TROUBLE;
}
