/*
 * sandbox-runtime (srt): everything may be read and executed but what denyRead
 * names, and written is what allowWrite names.  Claude Code hands its settings to
 * the same program.
 */
#include "compiler/import/import.h"

#include <string.h>

void
import_runtime_begin(struct importer *importer)
{
	fputs("    # Without any setting: all is read and executed, and these "
	      "are written.\n"
	      "    allow exec  /\n"
	      "    allow write { ${devices}  /tmp/claude  ~/.npm/_logs  "
	      "~/.claude/debug }\n"
	      "    allow env   *\n"
	      "    # Its network has only what leads to its proxies.\n"
	      "    allow network loopback\n"
	      "    # What it keeps from being written by itself, where that is "
	      "there; at level full.\n"
	      "    prefer deny write {\n"
	      "        glob \"${workspace}/**/.gitconfig\"  "
	      "glob \"${workspace}/**/.gitmodules\"\n"
	      "        glob \"${workspace}/**/.bashrc\"  "
	      "glob \"${workspace}/**/.bash_profile\"\n"
	      "        glob \"${workspace}/**/.zshrc\"  "
	      "glob \"${workspace}/**/.zprofile\"\n"
	      "        glob \"${workspace}/**/.profile\"  "
	      "glob \"${workspace}/**/.ripgreprc\"\n"
	      "        glob \"${workspace}/**/.mcp.json\"  "
	      "glob \"${workspace}/**/.vscode\"\n"
	      "        glob \"${workspace}/**/.idea\"  "
	      "glob \"${workspace}/**/.claude/commands\"\n"
	      "        glob \"${workspace}/**/.claude/agents\"  "
	      "glob \"${workspace}/**/.git/hooks\"\n"
	      "    }\n",
	    importer->stream);
}

void
import_runtime_finish(struct importer *importer)
{
	if (!importer->git_config)
		fputs("    # The client's own: git's settings name programs.\n"
		      "    prefer deny write glob "
		      "\"${workspace}/**/.git/config\"\n",
		    importer->stream);
}

/* Its own code for Linux passes these by, and says so in a log for developers
 * alone. */
static void
tell_skipped(struct importer *importer, const struct import_key *key,
    const struct import_path *path)
{
	if (*path->object != '"')
		import_lose(importer, DIAG_IMPORT_IGNORED, key->path,
		    path->node,
		    "sandbox-runtime passes a pattern by here on Linux; the "
		    "policy holds it");
}

void
import_allow_write(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	struct import_path path;

	if (!import_path(importer, key, value, &path))
		return;
	tell_skipped(importer, key, &path);
	import_statement(importer, key->path, value, "allow write %s",
	    path.object);
	import_promise(importer, true, "write", path.sample);
	*arena_push(importer->arena, &importer->writes.list) = path;
}

void
import_deny_write(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	struct import_path path;

	if (!import_path(importer, key, value, &path))
		return;
	tell_skipped(importer, key, &path);
	import_statement(importer, key->path, value, "deny write %s",
	    path.object);
	import_promise(importer, false, "write", path.sample);
}

void
import_deny_read(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	struct import_path path;

	if (import_path(importer, key, value, &path))
		*arena_push(importer->arena, &importer->shut.list) = path;
}

void
import_allow_read(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	struct import_path path;

	if (import_path(importer, key, value, &path))
		*arena_push(importer->arena, &importer->reopened.list) = path;
}

/* --- hosts ---------------------------------------------------------------- */

/* A name, perhaps behind "*." and with a port. */
static const char *
domain_fault(const char *text)
{
	size_t digits = strspn(text, "0123456789.:");

	if (strcmp(text, "*") == 0 || strncmp(text, "*:", 2) == 0)
		return "a rule names hosts, and not all of them";
	if (text[digits] == '\0' || strchr(text, ':') != strrchr(text, ':'))
		return "an address takes 'network connect ADDRESS:PORT'";
	if (strcmp(text, "localhost") == 0 ||
	    strncmp(text, "localhost:", 10) == 0)
		return "a service of this machine takes 'network host tcp "
		       "PORT'";
	if (strspn(text,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789-._*:") != strlen(text) ||
	    strchr(text + (strncmp(text, "*.", 2) == 0), '*') != NULL)
		return "it is not a host name";
	return NULL;
}

static void
take_domain(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value, bool allow)
{
	const char *fault = value->kind == YAML_TEXT ?
	    domain_fault(value->text) :
	    "it is not a host name";
	const char *name;

	if (fault != NULL) {
		import_lose(importer,
		    allow ? DIAG_IMPORT_NARROWER : DIAG_IMPORT_WEAKER,
		    key->path, value, fault);
		return;
	}
	name = value->text;
	importer->default_ports |= allow && strchr(name, ':') == NULL;
	import_statement(importer, key->path, value, "%s network domain %s%s",
	    allow ? "allow" : "deny ", name,
	    allow && strchr(name, ':') == NULL ?
		"  # ports 80 and 443; NAME:PORT for another one" :
		"");
	if (strncmp(name, "*.", 2) == 0)
		name = arena_printf(importer->arena, "x%s", name + 1);
	import_promise(importer, allow, "domain", name);
}

void
import_allow_domain(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	take_domain(importer, key, value, true);
}

void
import_deny_domain(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	take_domain(importer, key, value, false);
}

/*
 * What is masked is shut here: a placeholder, which a proxy replaces in requests,
 * takes one that reads them.  False if it names nothing.
 */
static bool
take_credential(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value, const char *word,
    const struct yaml_node **named)
{
	const struct yaml_node *mode = NULL;

	*named = NULL;
	if (value->kind == YAML_MAP) {
		*named = yaml_find(value, word);
		mode = yaml_find(value, "mode");
	}
	if (*named == NULL || (*named)->kind != YAML_TEXT) {
		import_lose(importer, DIAG_IMPORT_WEAKER, key->path, value,
		    "it names nothing that could be denied");
		return false;
	}
	if (strcmp(import_text(mode), "deny") != 0)
		import_lose(importer, DIAG_IMPORT_NARROWER, key->path,
		    mode != NULL ? mode : *named,
		    "it is denied, since nobody replaces a placeholder in "
		    "requests");
	return true;
}

void
import_credential_file(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	const struct yaml_node *named;

	if (take_credential(importer, key, value, "path", &named))
		import_deny_read(importer, key, named);
}

void
import_credential_variable(struct importer *importer,
    const struct import_key *key, const struct yaml_node *value)
{
	static const char bytes[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"
				    "abcdefghijklmnopqrstuvwxyz0123456789";
	const struct yaml_node *named;

	if (!take_credential(importer, key, value, "name", &named))
		return;
	if (*named->text == '\0' ||
	    strspn(named->text, bytes) != strlen(named->text)) {
		import_lose(importer, DIAG_IMPORT_WEAKER, key->path, named,
		    "it is no name of a variable");
		return;
	}
	import_statement(importer, key->path, named, "deny env %s",
	    named->text);
	import_promise(importer, false, "env", named->text);
}

void
import_git_config(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	(void)key;
	importer->git_config = import_is(value, "true");
}

/* --- keys ----------------------------------------------------------------- */

static const struct import_key keys[] = {
#define KEY(path, ...) { path, __VA_ARGS__ },
#include "compiler/import/runtime_keys.def"
#undef KEY
};

static void
begin(struct importer *importer)
{
	importer->base = "${workspace}";
	importer->confined = true;
	import_runtime_begin(importer);
}

const struct import_client import_srt = {
	.name = "sandbox-runtime",
	.keys = keys,
	.key_count = countof(keys),
	.begin = begin,
	.finish = import_runtime_finish,
};
