/*
 * Claude Code's settings.json: rules about its tools, and the settings of its
 * sandbox, which is sandbox-runtime.  Rules about files hold for commands too,
 * if the sandbox is on; rules about commands are texts that are compared with
 * command lines, of which a sandbox knows nothing.
 */
#include "compiler/import/import.h"

#include <string.h>

enum list { ALLOW, ASK, DENY };

/* A rule "Tool(what)"; `what` is NULL without brackets. */
struct tool_rule {
	struct importer *importer;
	const char *key;
	const struct yaml_node *node;
	enum list list;
	const char *what;
};

/* --- paths ---------------------------------------------------------------- */

/*
 * "//" is the root and "/" the project.  A bare name is meant at any depth, as
 * in .gitignore: a denial is taken so, and what is allowed is the one here.
 */
static const char *
rule_path(const struct tool_rule *rule)
{
	struct importer *importer = rule->importer;
	const char *what = rule->what;
	size_t len = strlen(what);

	if (strncmp(what, "//", 2) == 0)
		return what + 1;
	if (strcmp(what, "~") == 0 || strncmp(what, "~/", 2) == 0)
		return what;
	if (*what == '/')
		return arena_printf(importer->arena, "%s%s", importer->base,
		    what);
	if (strcmp(what, ".") == 0)
		return importer->base;
	if (strncmp(what, "./", 2) == 0)
		return arena_printf(importer->arena, "%s/%s", "${workspace}",
		    what + 2);
	/* A slash at the end says that it is a directory, and no more. */
	while (len > 1 && what[len - 1] == '/')
		len--;
	return arena_printf(importer->arena, "${workspace}/%s%.*s",
	    rule->list != ALLOW && memchr(what, '/', len) == NULL ? "**/" : "",
	    (int)len, what);
}

static bool
rule_object(const struct tool_rule *rule, struct import_path *path)
{
	const char *what = rule->what, *fault = NULL;

	if (*what == '!')
		fault = "'!' takes another rule back: leave that one out";
	else if (*what == ' ' || what[strlen(what) - 1] == ' ')
		fault = "a path with a blank at its start or end is not clear";
	if (fault != NULL) {
		import_lose(rule->importer,
		    rule->list == ALLOW ? DIAG_IMPORT_NARROWER :
					  DIAG_IMPORT_WEAKER,
		    rule->key, rule->node, fault);
		return false;
	}
	return import_object(rule->importer, rule->key, rule->node,
	    rule_path(rule), path);
}

static void
lose(const struct tool_rule *rule, enum diag_id id, const char *why)
{
	import_lose(rule->importer, id, rule->key, rule->node, why);
}

/* --- tools ---------------------------------------------------------------- */

static void
take_read(const struct tool_rule *rule)
{
	struct import_path path;

	if (rule->list == ALLOW)
		return; /* commands read everything anyway */
	if (rule->what == NULL)
		lose(rule, DIAG_IMPORT_WEAKER,
		    "nothing runs where nothing may be read");
	else if (rule_object(rule, &path))
		*arena_push(rule->importer->arena,
		    &rule->importer->shut.list) = path;
}

static void
take_edit(const struct tool_rule *rule)
{
	struct import_path path;
	bool allow = rule->list == ALLOW;

	if (rule->what == NULL) {
		if (!allow)
			lose(rule, DIAG_IMPORT_WEAKER,
			    "the sandbox writes the workspace all the same: "
			    "drop that rule");
		return;
	}
	if (!rule_object(rule, &path))
		return;
	import_statement(rule->importer, rule->key, rule->node, "%s write %s",
	    allow ? "allow" : "deny", path.object);
	import_promise(rule->importer, allow, "write", path.sample);
}

static void
take_fetch(const struct tool_rule *rule)
{
	static const char word[] = "domain:";
	struct import_key key = { .path = rule->key };
	struct yaml_node host = *rule->node;

	if (rule->what == NULL ||
	    strncmp(rule->what, word, sizeof word - 1) != 0) {
		if (rule->list != ALLOW)
			lose(rule, DIAG_IMPORT_WEAKER,
			    "it is about a tool and no host");
		else
			lose(rule, DIAG_IMPORT_NARROWER,
			    "it names no host that commands might reach");
		return;
	}
	host.text = rule->what + sizeof word - 1;
	if (rule->list == ALLOW)
		import_allow_domain(rule->importer, &key, &host);
	else
		import_deny_domain(rule->importer, &key, &host);
}

static void
take_command(const struct tool_rule *rule)
{
	bool allow = rule->list == ALLOW;

	lose(rule, allow ? DIAG_IMPORT_NARROWER : DIAG_IMPORT_WEAKER,
	    allow ? "a sandbox does not read command lines: all commands run, "
		    "and what the command needs is to be allowed" :
		    "a sandbox does not read command lines: deny what the "
		    "command would do");
}

static void
take_unheeded(const struct tool_rule *rule)
{
	lose(rule, DIAG_IMPORT_IGNORED,
	    "Claude Code compares paths with Read and Edit alone, and passes "
	    "this by");
}

static const struct tool {
	const char *name;
	void (*take)(const struct tool_rule *rule);
} tools[] = {
	{ "Read", take_read },
	{ "Edit", take_edit },
	{ "WebFetch", take_fetch },
	{ "Bash", take_command },
	{ "Write", take_unheeded },
	{ "MultiEdit", take_unheeded },
	{ "NotebookEdit", take_unheeded },
	{ "Glob", take_unheeded },
	{ "Grep", take_unheeded },
};

static void
take_rule(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	struct tool_rule rule = { importer, key->path, value, DENY, NULL };
	size_t len, end;

	if (value->kind != YAML_TEXT) {
		import_lose(importer, DIAG_IMPORT_WEAKER, key->path, value,
		    "it is no rule");
		return;
	}
	if (strcmp(key->path, "permissions.allow") == 0)
		rule.list = ALLOW;
	len = strcspn(value->text, "(");
	end = strlen(value->text);
	if (value->text[len] == '(' && value->text[end - 1] == ')')
		rule.what = arena_strndup(importer->arena,
		    value->text + len + 1, end - len - 2);
	if (rule.what != NULL && *rule.what == '\0')
		rule.what = NULL;
	for (size_t i = 0; i < countof(tools); i++) {
		if (strlen(tools[i].name) == len &&
		    strncmp(tools[i].name, rule.node->text, len) == 0) {
			tools[i].take(&rule);
			return;
		}
	}
	if (rule.list != ALLOW)
		lose(&rule, DIAG_IMPORT_WEAKER,
		    "it is about a tool of the agent, which runs outside of "
		    "the sandbox");
}

/* Nobody is asked in a sandbox. */
static void
take_question(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	import_lose(importer, DIAG_IMPORT_WEAKER, key->path, value,
	    "nobody is asked in a sandbox: allow it, or deny it");
}

static void
take_switch(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	(void)key;
	importer->confined = import_is(value, "true");
}

/* --- keys ----------------------------------------------------------------- */

static const struct import_key keys[] = {
	{ "permissions.allow", TAKEN(take_rule) },
	{ "permissions.deny", TAKEN(take_rule) },
	{ "permissions.ask", TAKEN(take_question) },
	{ "permissions.additionalDirectories", TAKEN(import_allow_write) },
	{ "permissions.defaultMode", NOTHING },
	{ "permissions.disableBypassPermissionsMode", NOTHING },
	{ "permissions.disableAutoMode", NOTHING },
	{ "permissions.skipDangerousModePermissionPrompt", NOTHING },
	{ "env", TAKEN(import_variables) },
	{ "sandbox.enabled", TAKEN(take_switch) },
	{ "sandbox.failIfUnavailable", NOTHING },
	{ "sandbox.autoAllowBashIfSandboxed", NOTHING },
	{ "sandbox.allowUnsandboxedCommands", NOTHING },
	{ "sandbox.enabledPlatforms", NOTHING },
	{ "sandbox.excludedCommands",
	    NARROWER("what sbxrun starts is confined, whatever it is called") },
	{ "sandbox.filesystem.allowManagedReadPathsOnly", NOTHING },
	{ "sandbox.network.allowManagedDomainsOnly", NOTHING },
#define KEY(path, ...) { "sandbox." path, __VA_ARGS__ },
#include "compiler/import/runtime_keys.def"
#undef KEY
	/* Programs that fetch the agent's own. */
	{ "awsCredentialExport", NOTHING },
};

static void
begin(struct importer *importer)
{
	import_runtime_begin(importer);
	fputs("    # Claude Code's own: commands write the project, but not "
	      "its settings.\n"
	      "    allow write ${workspace}\n"
	      "    prefer deny write {\n"
	      "        ${workspace}/.claude/settings.json  "
	      "${workspace}/.claude/settings.local.json\n"
	      "        ~/.claude/settings.json\n"
	      "    }\n",
	    importer->stream);
	import_promise(importer, true, "write", "${workspace}/file");
	import_promise(importer, false, "write", "~/file");
}

const struct import_client import_claude = {
	.name = "claude",
	.keys = keys,
	.key_count = countof(keys),
	.begin = begin,
	.finish = import_runtime_finish,
	.others = true,
};
