/*
 * See init.c: each server on standard input and output that a file configures is
 * started by sbxrun.  JSON is merged as a tree.  TOML is edited in its lines: two
 * lines of each server change, and what is not plain enough is refused.
 */
#include "compiler/base/base.h"
#include "compiler/setup/setup.h"

#include <errno.h>
#include <string.h>

struct servers {
	struct init *init;
	const char *blob, *path;
	struct needs needs; /* of their programs */
	bool found;         /* a list of servers in JSON */
	size_t count, confined;
};

/* --- JSON ----------------------------------------------------------------- */

/* What the file names by a path is not to be believed: a project could have it
 * open any place.  Where PATH leads is the user's choice. */
static void
need(struct servers *servers, const char *command)
{
	const char *path = strchr(command, '/') != NULL ?
	    NULL :
	    program_in_path(servers->init->arena, command);

	if (path != NULL)
		needs_program(&servers->needs, path);
}

static bool
is_ours(const struct servers *servers, const char *command)
{
	return strcmp(command, servers->init->sbxrun) == 0;
}

/* False if its arguments are no list of texts, or are not ours. */
static bool
confine_json(struct servers *servers, struct json_t *server)
{
	const char *command = json_text(server, "command");
	const struct json_t *arguments = json_member(server, "args");
	struct words words = { .list.count = 0 };
	struct json_t *list;

	if (command == NULL)
		return true; /* one that is reached by an address */
	servers->count++;
	if (is_ours(servers, command)) {
		servers->confined++;
		return server_is_confined(server, servers->init->sbxrun,
		    servers->init->configuration);
	}
	command = arena_strndup(servers->init->arena, command, strlen(command));
	for (size_t i = 0; i < json_count(arguments); i++) {
		const char *text = json_text_at(json_item(arguments, i));

		if (text == NULL)
			return false;
		*arena_push(servers->init->arena, &words.list) =
		    arena_strndup(servers->init->arena, text, strlen(text));
	}
	need(servers, command);
	list = json_put_array(server, "args");
	/* The words before the command; `into` is an array. */
	json_put_text(list, NULL, servers->blob);
	json_put_text(list, NULL, "--");
	json_put_text(list, NULL, command);
	for (size_t i = 0; i < words.list.count; i++)
		json_put_text(list, NULL, words.list.items[i]);
	json_put_text(server, "command", servers->init->sbxrun);
	return true;
}

/* False if a server is not of a known form. */
static bool
confine_all(struct servers *servers, struct json_t *of)
{
	struct json_t *all = json_member(of, "mcpServers") != NULL ?
	    json_edit(of, "mcpServers") :
	    NULL;
	const char *name = NULL;
	bool good = true;

	servers->found |= all != NULL;
	if (all == NULL)
		return json_member(of, "mcpServers") == NULL;
	while (good && (name = json_key(all, name)) != NULL) {
		struct json_t *server = json_edit(all, name);

		good = server != NULL && confine_json(servers, server);
	}
	return good;
}

/* Claude Code has servers for each project in one file. */
static bool
confine_projects(struct servers *servers, struct json_t *root)
{
	struct json_t *projects = json_member(root, "projects") != NULL ?
	    json_edit(root, "projects") :
	    NULL;
	const char *name = NULL;
	bool good = true;

	while (good && projects != NULL &&
	    (name = json_key(projects, name)) != NULL) {
		struct json_t *project = json_edit(projects, name);

		good = project == NULL || confine_all(servers, project);
	}
	return good;
}

static const char *
edit_json(struct servers *servers, const char *text)
{
	struct json_t *root = json_read(text);
	const char *result = NULL;

	if (root != NULL && confine_all(servers, root) &&
	    confine_projects(servers, root) && servers->found)
		result = json_print(servers->init->arena, root, text);
	else
		complain(root == NULL ?
			"'%s' is no plain JSON (it may have comments), and is "
			"left alone" :
			"'%s' has no \"mcpServers\" of a known form, or a "
			"server with other arguments of sbxrun than 'sbxc "
			"init' writes, and is left alone",
		    servers->path);
	json_release(root);
	return result;
}

/* --- TOML ----------------------------------------------------------------- */

/* The value of `KEY = "..."` in a line: a text without escapes, or NULL. */
static const char *
line_value(struct arena *arena, const char *line, size_t len, const char *key)
{
	const char *text = arena_strndup(arena, line, len), *end;
	size_t size = strlen(key);

	text += strspn(text, " \t");
	if (strncmp(text, key, size) != 0)
		return NULL;
	text += size;
	text += strspn(text, " \t");
	if (*text++ != '=')
		return NULL;
	text += strspn(text, " \t");
	if (*text++ != '"')
		return NULL;
	end = text + strcspn(text, "\"\\");
	return *end == '"' ? arena_strndup(arena, text, (size_t)(end - text)) :
			     NULL;
}

static bool
line_begins(const char *line, size_t len, const char *key, const char **value)
{
	const char *at = line, *end = line + len;
	size_t size = strlen(key);

	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	if ((size_t)(end - at) < size || strncmp(at, key, size) != 0)
		return false;
	at += size;
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	if (at == end || *at != '=')
		return false;
	*value = at + 1;
	return true;
}

struct toml {
	struct servers *servers;
	const char *text;    /* what has been made */
	const char *command; /* of this server, whose arguments come later; or
	                      * NULL */
	int depth;           /* of open brackets */
	bool inside;         /* the table of a server */
	bool arguments;      /* it has had its arguments */
	bool started;        /* it has had its command or address */
	bool ours;           /* its command is sbxrun */
	const char *fault;   /* what is not edited; NULL: nothing */
	size_t line, column; /* of the fault, from 1 */
	size_t header;       /* the line of this table */
};

static void
toml_fault(struct toml *toml, size_t column, const char *what)
{
	if (toml->fault == NULL) {
		toml->fault = what;
		toml->column = column;
	}
}

static void
toml_add(struct toml *toml, const char *text, size_t len)
{
	toml->text = arena_printf(toml->servers->init->arena, "%s%.*s",
	    toml->text, (int)len, text);
}

/* Brackets that a line opens, less those that it closes. */
static int
brackets(const char *line, size_t len)
{
	int depth = 0;
	char quote = '\0';

	for (size_t i = 0; i < len; i++) {
		char at = line[i];

		if (quote != '\0') {
			i += at == '\\' && quote == '"';
			quote = at == quote ? '\0' : quote;
		} else if (at == '"' || at == '\'') {
			quote = at;
		} else if (at == '#') {
			break;
		} else {
			depth += (at == '[' || at == '{') -
			    (at == ']' || at == '}');
		}
	}
	return depth;
}

/* "BLOB", "--", "COMMAND": texts of JSON are texts of TOML. */
static const char *
toml_words(const struct toml *toml, const char *command)
{
	struct arena *arena = toml->servers->init->arena;

	return arena_printf(arena, "%s, \"--\", %s",
	    json_quoted(arena, toml->servers->blob),
	    json_quoted(arena, command));
}

/* Whether the table goes on with arguments. */
static bool
has_arguments(const char *text)
{
	const char *value;
	int depth = 0;

	while (*text != '\0') {
		size_t len = strcspn(text, "\n");

		if (depth == 0 && text[strspn(text, " \t")] == '[')
			return false;
		if (depth == 0 && line_begins(text, len, "args", &value))
			return true;
		depth += brackets(text, len);
		text += len + (text[len] == '\n');
	}
	return false;
}

static void
toml_command(struct toml *toml, const char *line, size_t len)
{
	struct servers *servers = toml->servers;
	struct arena *arena = servers->init->arena;
	const char *command = line_value(arena, line, len, "command");

	servers->count++;
	toml->started = true;
	if (command == NULL || toml->arguments) {
		toml_fault(toml, 1,
		    command == NULL ? "a command that is no plain text" :
				      "arguments before the command");
		return;
	}
	if (is_ours(servers, command)) {
		servers->confined++;
		toml->ours = true;
		toml_add(toml, line, len);
		return;
	}
	need(servers, command);
	toml->text = arena_printf(arena, "%scommand = %s\n", toml->text,
	    json_quoted(arena, servers->init->sbxrun));
	if (has_arguments(line + len))
		toml->command = command;
	else
		toml->text = arena_printf(arena, "%sargs = [%s]\n", toml->text,
		    toml_words(toml, command));
}

static bool
is_confined_toml(const struct servers *servers, const char *value)
{
	value += strspn(value, " \t");
	return strncmp(value, "[\"", 2) == 0 &&
	    server_blob_ends(servers->init->configuration, value + 2, &value) &&
	    strncmp(value, "\", \"--\", \"", 10) == 0;
}

static void
toml_arguments(struct toml *toml, const char *line, size_t len,
    const char *value)
{
	const char *open = memchr(value, '[', (size_t)(line + len - value));
	const char *rest;

	toml->arguments = true;
	if (toml->ours && !is_confined_toml(toml->servers, value)) {
		toml_fault(toml, 1, "other arguments of sbxrun than ours");
		return;
	}
	if (toml->command == NULL) {
		toml_add(toml, line, len);
		return;
	}
	if (open == NULL) {
		toml_fault(toml, 1, "arguments that are no list");
		return;
	}
	rest = open + 1;
	rest += strspn(rest, " \t\r\n");
	toml->text = arena_printf(toml->servers->init->arena, "%s%.*s%s%s%.*s",
	    toml->text, (int)(open + 1 - line), line,
	    toml_words(toml, toml->command), *rest == ']' ? "" : ", ",
	    (int)(line + len - open - 1), open + 1);
	toml->command = NULL;
}

static const char bare[] = "abcdefghijklmnopqrstuvwxyz"
			   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

/* How many names a header has that is written without blanks and escapes, the
 * first one without quotes; 0: it is not. */
static size_t
header_names(const char *header)
{
	const char *at = header + 1;
	size_t names = 1, len = strspn(at, bare);

	for (; len > 0 && at[len] == '.'; names++) {
		char quote;

		at += len + 1;
		quote = *at == '"' || *at == '\'' ? *at : '\0';
		len = strspn(at, bare);
		if (quote != '\0') {
			len = 1 + strcspn(at + 1, "\"'\\\n");
			len = at[len] == quote ? len + 1 : 0;
		}
	}
	if (len == 0 || at[len] != ']')
		return 0;
	at += len + 1;
	at += strspn(at, " \t\r");
	return *at == '\n' || *at == '#' || *at == '\0' ? names : 0;
}

/* Whether a piece of a line has one of the words, or an escape that may spell
 * one. */
static bool
mentions(const char *piece, size_t len, const char *const *words)
{
	if (memchr(piece, '\\', len) != NULL)
		return true;
	for (; *words != NULL; words++) {
		if (memmem(piece, len, *words, strlen(*words)) != NULL)
			return true;
	}
	return false;
}

static void
toml_end_table(struct toml *toml)
{
	bool lost = toml->ours && !toml->arguments;

	if (!toml->inside || (toml->started && !lost))
		return;
	toml->line = toml->header;
	toml_fault(toml, 1,
	    lost ? "sbxrun without arguments" :
		   "a server without a plain command or url");
}

static void
toml_header(struct toml *toml, const char *line, size_t len, size_t column)
{
	static const char *const words[] = { "mcp_servers", NULL };
	const char *header = line + column - 1;
	size_t names = header_names(header);
	bool servers = strncmp(header, "[mcp_servers", 12) == 0 &&
	    strspn(header + 1, bare) == 11;

	toml_end_table(toml);
	if ((names == 0 && mentions(line, len, words)) ||
	    (servers && names < 2))
		toml_fault(toml, column,
		    "a header of a form that is not edited");
	toml->inside = servers && names == 2;
	toml->arguments = toml->started = toml->ours = false;
	toml->header = toml->line;
	toml_add(toml, line, len);
}

/* A key in quotes or with dots is never one that is edited. */
static void
toml_key(struct toml *toml, const char *line, size_t len, size_t column)
{
	static const char *const words[] = { "mcp_servers", "command", "args",
		"url", NULL };
	static const char *const root[] = { "mcp_servers", NULL };
	const char *key = line + column - 1, *value;
	size_t size = strcspn(key, "=\n#");
	bool plain = key[strspn(key, bare)] != '.' &&
	    key[strspn(key, bare)] != '"' && key[strspn(key, bare)] != '\'' &&
	    key[strspn(key, bare) + strspn(key + strspn(key, bare), " \t")] ==
		'=';

	/* The name in quotes may have what ends a plain one. */
	if (*key == '"' || *key == '\'')
		size = len - (column - 1);
	if (*key != '#' &&
	    (mentions(key, size, root) ||
		(toml->inside && !plain && mentions(key, size, words))))
		toml_fault(toml, column, "a key of a form that is not edited");
	toml->started |= toml->inside && line_begins(line, len, "url", &value);
	toml_add(toml, line, len);
}

static void
toml_line(struct toml *toml, const char *line, size_t len)
{
	const char *at = line + strspn(line, " \t"), *value;
	size_t column = (size_t)(at - line) + 1;

	if (toml->depth > 0)
		toml_add(toml, line, len);
	else if (*at == '[')
		toml_header(toml, line, len, column);
	else if (toml->inside && line_begins(line, len, "command", &value))
		toml_command(toml, line, len);
	else if (toml->inside && line_begins(line, len, "args", &value))
		toml_arguments(toml, line, len, value);
	else
		toml_key(toml, line, len, column);
	toml->depth += brackets(line, len);
}

static const char *
edit_toml(struct servers *servers, const char *text)
{
	struct toml toml = { .servers = servers, .text = "" };

	while (*text != '\0' && toml.fault == NULL) {
		size_t len = strcspn(text, "\n");

		len += text[len] == '\n';
		toml.line++;
		/* A line of such a text could look like any other line. */
		if (memmem(text, len, "\"\"\"", 3) != NULL ||
		    memmem(text, len, "\'\'\'", 3) != NULL)
			toml_fault(&toml, 1, "a text of many lines");
		else
			toml_line(&toml, text, len);
		text += len;
	}
	if (toml.fault == NULL)
		toml_end_table(&toml);
	if (toml.fault == NULL && (toml.command != NULL || toml.depth != 0))
		toml_fault(&toml, 1, "arguments that do not end");
	if (toml.fault == NULL)
		return toml.text;
	complain("%s:%zu:%zu: %s; the file is left alone", servers->path,
	    toml.line, toml.column, toml.fault);
	return NULL;
}

/* --- all of it ------------------------------------------------------------ */

static const char *
policy_text(const struct init *init, const char *name, const char *rules)
{
	return arena_printf(init->arena,
	    "# MCP servers in a sandbox.  After a change of this file:\n"
	    "#     sbxc build -o %s/%s.bin %s/%s.sbx\n"
	    "sbx 1\n\n"
	    "profile my-mcp extends mcp {\n"
	    "    about \"Servers that an agent talks to on standard input\"\n"
	    "%s"
	    "    # allow read  ~/Documents\n"
	    "    # allow network domain \"api.github.com\"\n"
	    "}\n",
	    init->configuration, name, init->configuration, name, rules);
}

enum exit_status
init_mcp(struct init *init)
{
	struct servers servers = { .init = init, .path = init->file };
	const char *old, *text, *name, *dot = strrchr(init->file, '.');
	enum exit_status result;
	struct stat status;

	old = change_read(init->arena, init->file, &status);
	if (old == NULL && errno == 0)
		complain("'%s' is not there: name the file that configures "
			 "the servers",
		    init->file);
	if (old == NULL)
		return EXIT_TROUBLE;
	name = init_free_name(init, "mcp");
	servers.blob = arena_printf(init->arena, "%s/%s.bin",
	    init->configuration, name);
	result = needs_bind(&servers.needs, init, "mcp");
	if (result != EXIT_CLEAN)
		return result;
	text = dot != NULL && strcmp(dot, ".toml") == 0 ?
	    edit_toml(&servers, old) :
	    edit_json(&servers, old);
	if (text == NULL)
		return EXIT_TROUBLE;
	if (servers.count == servers.confined) {
		complain(servers.count == 0 ?
			"'%s' has no server that is started by a command" :
			"'%s': all servers are confined already",
		    init->file);
		return EXIT_TROUBLE;
	}
	if (init_policy(init, name,
		policy_text(init, name, servers.needs.rules)) == NULL ||
	    change_add(&init->changes, init->file, text, 0600, false) == NULL)
		return EXIT_TROUBLE;
	init->after = arena_printf(init->arena, "%zu servers are confined",
	    servers.count);
	return EXIT_CLEAN;
}
