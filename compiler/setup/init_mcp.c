/*
 * See init.c: each server on standard input and output that a file configures is
 * started by sbxrun.  JSON is merged as a tree.  TOML is edited in its lines: two
 * lines of each server change, and what is not plain enough is refused.
 */
#include "compiler/base/base.h"
#include "compiler/query/why.h"
#include "compiler/setup/setup.h"
#include "format/model.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A server, and what its policy is made of. */
struct server {
	const char *name;   /* in the file */
	const char *policy; /* its name */
	struct words
	    words;        /* the command and its arguments, if they are known */
	struct words env; /* names of variables, and "NAME=VALUE" of some */
	struct needs needs; /* of its program */
	struct sbx_blob blob;
};

struct servers {
	struct init *init;
	const char *path;
	const char *sbxrun; /* as the file names it */
	struct needs needs; /* without a program */
	bool found;         /* a list of servers in JSON */
	size_t count, confined;
	VEC(struct server) list; /* those whose policy is to be written */
};

static bool
has_policy(const struct servers *servers, const char *name)
{
	for (size_t i = 0; i < servers->list.count; i++) {
		if (strcmp(servers->list.items[i].policy, name) == 0)
			return true;
	}
	return false;
}

/* "mcp-NAME", of letters that may stand in the name of a profile. */
static const char *
policy_name(const struct servers *servers, const char *name)
{
	struct arena *arena = servers->init->arena;
	char *text = arena_strndup(arena, name, strlen(name));
	const char *found;

	for (char *at = text; *at != '\0'; at++) {
		if (!(*at >= 'a' && *at <= 'z') &&
		    !(*at >= 'A' && *at <= 'Z') && !(*at >= '0' && *at <= '9'))
			*at = '-';
	}
	text = (char *)arena_printf(arena, "mcp-%s", text);
	found = init_free_name(servers->init, text);
	for (int i = 2; has_policy(servers, found); i++)
		found = init_free_name(servers->init,
		    arena_printf(arena, "%s-%d", text, i));
	return found;
}

/* As the file names it: no path of this user's, unless sbxrun would look for it in
 * another home, which is that of the password entry. */
static const char *
policy_word(const struct servers *servers, const char *name)
{
	const struct init *init = servers->init;
	const struct passwd *entry = getpwuid(geteuid());

	if (entry != NULL &&
	    strcmp(needs_real(init->arena, entry->pw_dir), init->home) == 0)
		return arena_printf(init->arena, "@%s", name);
	return arena_printf(init->arena, "%s/%s.bin", init->configuration,
	    name);
}

/* What the file names by a path is not to be believed: a project could have it
 * open any place.  Where PATH leads is the user's choice. */
static void
need(struct needs *needs, const char *command)
{
	const char *path = strchr(command, '/') != NULL ?
	    NULL :
	    program_in_path(needs->init->arena, command);

	if (path != NULL)
		needs_program(needs, path);
}

static struct server *
server_add(struct servers *servers, const char *name, const char *policy,
    const char *command)
{
	struct arena *arena = servers->init->arena;
	struct server server = { .needs = servers->needs };

	server.name = arena_strndup(arena, name, strlen(name));
	server.policy = policy;
	server.needs.rules = "";
	command = arena_strndup(arena, command, strlen(command));
	*arena_push(arena, &server.words.list) = command;
	need(&server.needs, command);
	*arena_push(arena, &servers->list) = server;
	return &servers->list.items[servers->list.count - 1];
}

static bool
is_ours(const struct servers *servers, const char *command)
{
	return strcmp(command, servers->init->sbxrun) == 0 ||
	    strcmp(command, "sbxrun") == 0;
}

/* --- JSON ----------------------------------------------------------------- */

/* The variables that the file gives a server. */
static void
read_env(struct servers *servers, struct server *of,
    const struct json_t *server)
{
	struct arena *arena = servers->init->arena;
	const struct json_t *env = json_member(server, "env");
	const char *name = NULL;

	while (env != NULL && (name = json_key(env, name)) != NULL) {
		const char *value = json_text(env, name);

		*arena_push(arena, &of->env.list) = value == NULL ||
			strstr(value, "${") != NULL ?
		    arena_strndup(arena, name, strlen(name)) :
		    arena_printf(arena, "%s=%s", name, value);
	}
}

/* One that is ours, as in a file that a team shares: where this user has no such
 * policy, it is written. */
static bool
confined_json(struct servers *servers, const char *name,
    const struct json_t *server)
{
	const struct json_t *arguments = json_member(server, "args");
	const char *policy = json_text_at(json_item(arguments, 0));
	struct arena *arena = servers->init->arena;
	struct server *of;

	if (!server_is_confined(server, servers->init->sbxrun,
		servers->init->configuration))
		return false;
	servers->confined++;
	if (*policy != '@' || has_policy(servers, policy + 1) ||
	    access(arena_printf(arena, "%s/%s.sbx",
		       servers->init->configuration, policy + 1),
		F_OK) == 0)
		return true;
	of = server_add(servers, name, arena_printf(arena, "%s", policy + 1),
	    json_text_at(json_item(arguments, 2)));
	for (size_t i = 3; i < json_count(arguments); i++) {
		const char *text = json_text_at(json_item(arguments, i));

		if (text == NULL)
			return false;
		*arena_push(arena, &of->words.list) = arena_strndup(arena, text,
		    strlen(text));
	}
	read_env(servers, of, server);
	return true;
}

/* False if its arguments are no list of texts, or are not ours. */
static bool
confine_json(struct servers *servers, const char *name, struct json_t *server)
{
	const char *command = json_text(server, "command");
	const struct json_t *arguments = json_member(server, "args");
	struct arena *arena = servers->init->arena;
	struct server *of;
	struct json_t *list;

	if (command == NULL)
		return true; /* one that is reached by an address */
	servers->count++;
	if (is_ours(servers, command))
		return confined_json(servers, name, server);
	of = server_add(servers, name, policy_name(servers, name), command);
	for (size_t i = 0; i < json_count(arguments); i++) {
		const char *text = json_text_at(json_item(arguments, i));

		if (text == NULL)
			return false;
		*arena_push(arena, &of->words.list) = arena_strndup(arena, text,
		    strlen(text));
	}
	read_env(servers, of, server);
	list = json_put_array(server, "args");
	json_put_text(list, NULL, policy_word(servers, of->policy));
	json_put_text(list, NULL, "--");
	for (size_t i = 0; i < of->words.list.count; i++)
		json_put_text(list, NULL, of->words.list.items[i]);
	json_put_text(server, "command", servers->sbxrun);
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

		good = server != NULL && confine_json(servers, name, server);
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
	const char *name;    /* of this server */
	bool env;            /* the table of its variables */
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

static const char bare[] = "abcdefghijklmnopqrstuvwxyz"
			   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

/* "@POLICY", "--", "COMMAND": texts of JSON are texts of TOML. */
static const char *
toml_words(const struct toml *toml, const char *command)
{
	const struct servers *servers = toml->servers;
	struct arena *arena = servers->init->arena;

	return arena_printf(arena, "%s, \"--\", %s",
	    json_quoted(arena,
		policy_word(servers,
		    servers->list.items[servers->list.count - 1].policy)),
	    json_quoted(arena, command));
}

/* The names before each '=' of a line are variables of the last server. */
static void
toml_env(struct toml *toml, const char *line, size_t len)
{
	struct servers *servers = toml->servers;
	size_t last = servers->list.count;

	if (last == 0 ||
	    strcmp(servers->list.items[last - 1].name, toml->name) != 0)
		return;
	for (size_t at = 0; at < len;) {
		size_t size = strspn(line + at, bare), end = at + size;

		end += line[end] == '"' || line[end] == '\'';
		end += strspn(line + end, " \t");
		if (size > 0 && line[end] == '=')
			*arena_push(servers->init->arena,
			    &servers->list.items[last - 1].env.list) =
			    arena_strndup(servers->init->arena, line + at,
				size);
		at += size > 0 ? size : 1;
	}
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
	server_add(servers, toml->name, policy_name(servers, toml->name),
	    command)
	    ->words.list.count = 0;
	toml->text = arena_printf(arena, "%scommand = %s\n", toml->text,
	    json_quoted(arena, servers->sbxrun));
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
	    server_policy_ends(servers->init->configuration, value + 2,
		&value) &&
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

/* "b.c" of [mcp_servers."b.c"]. */
static const char *
header_name(struct arena *arena, const char *header)
{
	const char *at = header + strlen("[mcp_servers.");

	at += *at == '"' || *at == '\'';
	return arena_strndup(arena, at, strcspn(at, "\"']\n"));
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
	if (toml->inside)
		toml->name = header_name(toml->servers->init->arena, header);
	toml->env = servers && names == 3 && strstr(header, ".env]") != NULL;
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

	if (toml->env ||
	    (toml->inside && line_begins(line, len, "env", &value)))
		toml_env(toml, line, len);
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

/* --- policies ------------------------------------------------------------- */

/* What hands on the variables of a server that the profile denies, and no other. */
static const char *
env_rules(const struct servers *servers, const struct server *server)
{
	struct arena *arena = servers->init->arena;
	const struct sbx_blob *blob = &servers->needs.blob;
	const char *rules = "";

	for (uint32_t i = 0; i < blob->env_count; i++) {
		const struct sbx_env *rule = &blob->env[i];
		const char *pattern = sbx_string(blob, rule->pattern);
		const char *names = "";

		for (size_t j = 0; j < server->env.list.count; j++) {
			const char *name = server->env.list.items[j];
			size_t len = strcspn(name, "=");

			if (rule->effect != SBX_ALLOW && len > 0 &&
			    strspn(name, bare) >= len &&
			    memchr(name, '-', len) == NULL &&
			    sbx_pattern_match(pattern, name, len))
				names = arena_printf(arena, "%s %.*s", names,
				    (int)len, name);
		}
		if (*names == '\0')
			continue;
		rules = arena_printf(arena, "%s    drop deny env %s\n", rules,
		    pattern);
		if (strchr(pattern, '*') != NULL)
			rules = arena_printf(arena,
			    strchr(names + 1, ' ') == NULL ?
				"%s    deny env %s  except%s\n" :
				"%s    deny env %s  except {%s }\n",
			    rules, pattern, names);
	}
	return rules;
}

static const char *
policy_text(const struct servers *servers, const struct server *server)
{
	const char *directory = servers->init->configuration;
	const char *name = server->policy;

	return arena_printf(servers->init->arena,
	    "# An MCP server in a sandbox.  After a change of this file:\n"
	    "#     sbxc build -o %s/%s.bin %s/%s.sbx\n"
	    "sbx 1\n\n"
	    "profile my-%s extends mcp {\n"
	    "    about \"A server that an agent talks to on standard input\"\n"
	    "%s%s"
	    "    # allow read  ~/Documents\n"
	    "    # allow network domain \"api.github.com\"\n"
	    "}\n",
	    directory, name, directory, name, name, server->needs.rules,
	    env_rules(servers, server));
}

static bool
is_identifier(const char *name, size_t len)
{
	static const char digits[] = "0123456789";
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

	return len > 0 && strchr(digits, name[0]) == NULL &&
	    strspn(name, letters) >= len;
}

/* The server's variables for a shell to read: in a command line others would see the
 * tokens, and in an environment of the shell's the file would choose what it loads.
 * A name that is none to a shell is left out. */
static int
exports(struct arena *arena, const struct server *server)
{
	const char *text = "";

	for (size_t i = 0; i < server->env.list.count; i++) {
		const char *variable = server->env.list.items[i];
		const char *equals = strchr(variable, '=');

		if (equals == NULL ||
		    !is_identifier(variable, (size_t)(equals - variable)))
			continue;
		text = arena_printf(arena, "%sexport %.*s=%s\n", text,
		    (int)(equals - variable), variable,
		    shell_word(arena, equals + 1));
	}
	return program_memory(text, strlen(text));
}

/* Says whether a server answers its first request in its sandbox, and what it wrote
 * to its standard error if it does not.  Its input stays open until it has. */
static void
try_server(struct init *init, const struct server *server)
{
	static const char script[] =
	    "{ printf '%s\\n' \"$0\"; i=0; while [ $i -lt 75 ] && "
	    "[ ! -s /proc/$$/fd/1 ]; do sleep 0.2; i=$((i + 1)); done; } | "
	    "{ timeout 20 /bin/sh -c '. \"$0\" && exec \"$@\"' \"$@\"; "
	    "echo; }";
	static const char request[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
	    "\"params\":{\"protocolVersion\":\"2025-06-18\","
	    "\"capabilities\":{},\"clientInfo\":{\"name\":\"sbxc\","
	    "\"version\":\"1\"}}}";
	struct arena *arena = init->arena;
	int fd = program_memory(server->blob.base, server->blob.size);
	int variables = exports(arena, server);
	struct words words = { .list.count = 0 };
	struct ran ran;

	*arena_push(arena, &words.list) = "/bin/sh";
	*arena_push(arena, &words.list) = "-c";
	*arena_push(arena, &words.list) = script;
	*arena_push(arena, &words.list) = request;
	*arena_push(arena, &words.list) = arena_printf(arena,
	    "/proc/self/fd/%d", variables);
	if (variables >= 0)
		fcntl(variables, F_SETFD, 0);
	*arena_push(arena, &words.list) = init->sbxrun;
	*arena_push(arena, &words.list) = arena_printf(arena,
	    "/proc/self/fd/%d", fd);
	*arena_push(arena, &words.list) = "--";
	for (size_t i = 0; i < server->words.list.count; i++)
		*arena_push(arena, &words.list) = server->words.list.items[i];
	*arena_push(arena, &words.list) = NULL;
	ran = program_run(arena, words.list.items, NULL, fd);
	if (fd >= 0)
		close(fd);
	if (variables >= 0)
		close(variables);
	if (strstr(ran.out, "\"jsonrpc\"") != NULL)
		printf("tried in the sandbox: the server %s answers\n",
		    shown_text(arena, server->name));
	else
		complain("warning: the server '%s' does not answer in the "
			 "sandbox: %s",
		    shown_text(arena, server->name),
		    *ran.err == '\0' ? "it says nothing" :
				       shown_text(arena,
					   arena_strndup(arena, ran.err,
					       strcspn(ran.err, "\n"))));
}

static void
try_servers(struct init *init)
{
	const struct servers *servers = init->servers;

	for (size_t i = 0; i < servers->list.count; i++) {
		const struct server *server = &servers->list.items[i];

		if (server->words.list.count > 0)
			try_server(init, server);
		else
			printf("not tried: the server %s, whose arguments are "
			       "TOML\n",
			    shown_text(init->arena, server->name));
	}
}

/* --- all of it ------------------------------------------------------------ */

static bool
write_policies(struct servers *servers)
{
	for (size_t i = 0; i < servers->list.count; i++) {
		struct server *server = &servers->list.items[i];

		if (init_policy(servers->init, server->policy,
			policy_text(servers, server)) == NULL)
			return false;
		server->blob = servers->init->blob;
	}
	return true;
}

/* Whether a server's variables would load a library into sbxrun, which runs
 * outside of the sandbox; it says so.  A static sbxrun loads none. */
static bool
loads_into_sbxrun(const struct servers *servers)
{
	for (size_t i = 0; i < servers->list.count; i++) {
		const struct server *server = &servers->list.items[i];

		for (size_t j = 0; j < server->env.list.count; j++) {
			const char *name = server->env.list.items[j];
			int len = (int)strcspn(name, "=");

			if (strncmp(name, "LD_", 3) != 0 ||
			    program_is_static(servers->init->sbxrun))
				continue;
			complain("'%s': %.*s of server %s would load a library "
				 "into sbxrun itself, outside of the sandbox: "
				 "take it out of the file, and put 'set env "
				 "%.*s = ...' into the server's policy",
			    servers->path, len, name, server->name, len, name);
			return true;
		}
	}
	return false;
}

enum exit_status
init_mcp(struct init *init)
{
	struct servers *servers = arena_alloc(init->arena, sizeof *servers);
	const char *old, *text, *dot = strrchr(init->file, '.'), *found;
	enum exit_status result;
	struct stat status;

	*servers = (struct servers){ .init = init, .path = init->file };
	old = change_read(init->arena, init->file, &status);
	if (old == NULL && errno == 0)
		complain("'%s' is not there: name the file that configures "
			 "the servers",
		    init->file);
	if (old == NULL)
		return EXIT_TROUBLE;
	/* No path of this user's, in a file that others may share. */
	found = program_in_path(init->arena, "sbxrun");
	servers->sbxrun = found != NULL &&
		strcmp(needs_real(init->arena, found),
		    needs_real(init->arena, init->sbxrun)) == 0 ?
	    "sbxrun" :
	    init->sbxrun;
	result = needs_bind(&servers->needs, init, "mcp");
	if (result != EXIT_CLEAN)
		return result;
	text = dot != NULL && strcmp(dot, ".toml") == 0 ?
	    edit_toml(servers, old) :
	    edit_json(servers, old);
	if (text == NULL)
		return EXIT_TROUBLE;
	if (servers->list.count == 0) {
		complain(servers->count == 0 ?
			"'%s' has no server that is started by a command" :
			"'%s': all servers are confined already",
		    init->file);
		return EXIT_TROUBLE;
	}
	if (loads_into_sbxrun(servers))
		return EXIT_TROUBLE;
	if (!write_policies(servers) ||
	    (servers->count > servers->confined &&
		change_add(&init->changes, init->file, text, 0600, false) ==
		    NULL))
		return EXIT_TROUBLE;
	init->servers = servers;
	init->attempt = try_servers;
	init->after = arena_printf(init->arena, "%zu servers are confined",
	    servers->count);
	return EXIT_CLEAN;
}
