/*
 * Codex' config.toml: one of three old modes, or a permission profile; the
 * network; and which variables commands get.  Without a mode Codex decides by
 * whether it trusts the project; the narrower mode is taken.
 */
#include "compiler/import/import.h"

#include <ctype.h>
#include <string.h>

enum { PARENTS_MAX = 16 };

/* --- what is kept until all is read --------------------------------------- */

static void
take_mode(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	struct codex *codex = importer->own;
	const char *text = import_text(value);

	codex->mode = value;
	if (strcmp(text, "danger-full-access") == 0)
		importer->confined = false;
	else if (strcmp(text, "read-only") != 0 &&
	    strcmp(text, "workspace-write") != 0)
		import_lose(importer, DIAG_IMPORT_WEAKER, key->path, value,
		    "it is no mode of Codex");
}

static void
keep_old(struct importer *importer, const struct yaml_node *value)
{
	struct codex *codex = importer->own;

	*arena_push(importer->arena, &codex->old) = value;
}

static const struct switch_key {
	const char *path;
	size_t field;
} switches[] = {
	{ "sandbox_workspace_write.network_access",
	    offsetof(struct codex, network) },
	{ "sandbox_workspace_write.exclude_tmpdir_env_var",
	    offsetof(struct codex, no_tmpdir) },
	{ "sandbox_workspace_write.exclude_slash_tmp",
	    offsetof(struct codex, no_slash_tmp) },
	{ "features.network_proxy", offsetof(struct codex, proxy) },
	{ "features.network_proxy.enabled", offsetof(struct codex, proxy) },
};

static void
take_switch(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	if (strncmp(key->path, "sandbox_workspace_write.", 24) == 0)
		keep_old(importer, value);
	for (size_t i = 0; i < countof(switches); i++) {
		if (strcmp(switches[i].path, key->path) == 0)
			*(bool *)((char *)importer->own +
			    switches[i].field) = import_is(value, "true");
	}
}

static void
take_root(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	struct codex_entry entry = { .mode = CODEX_WRITE };

	keep_old(importer, value);
	if (value->kind == YAML_TEXT && *value->text != '/' &&
	    *value->text != '~')
		import_lose(importer, DIAG_IMPORT_NARROWER, key->path, value,
		    "a path that does not begin with '/' begins where the "
		    "file of the settings lies");
	else if (import_place(importer, key, value, &entry.path))
		codex_entry_add(importer, &entry);
}

static void
take_permissions(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	(void)key;
	((struct codex *)importer->own)->permissions = value;
}

static void
take_default(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	(void)key;
	((struct codex *)importer->own)->chosen = value;
}

/* --- variables ------------------------------------------------------------ */

static void
take_inherit(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	(void)key;
	((struct codex *)importer->own)->inherit = value;
}

static void
take_defaults(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	(void)key;
	((struct codex *)importer->own)->default_excludes = import_is(value,
	    "false");
}

static void
put_pattern(struct importer *importer, const char *effect, const char *pattern,
    int (*change)(int))
{
	char *text = arena_strndup(importer->arena, pattern, strlen(pattern));

	for (char *c = text; *c != '\0'; c++)
		*c = *c == '?' ? '*' : (char)change((unsigned char)*c);
	fprintf(importer->stream, "    %s env %s\n", effect, text);
}

static bool
is_pattern(const struct yaml_node *value)
{
	return value->kind == YAML_TEXT && *value->text != '\0' &&
	    strspn(value->text,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789_*?") == strlen(value->text);
}

/* Codex compares without case. */
static void
take_exclude(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	if (!is_pattern(value)) {
		import_lose(importer, DIAG_IMPORT_WEAKER, key->path, value,
		    "it is no pattern for names of variables");
		return;
	}
	put_pattern(importer, "deny ", value->text, toupper);
	if (strpbrk(value->text,
		"abcdefghijklmnopqrstuvwxyz"
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ") == NULL)
		return;
	put_pattern(importer, "deny ", value->text, tolower);
	import_lose(importer, DIAG_IMPORT_WEAKER, key->path, value,
	    "Codex compares without case: names in capitals and names in small "
	    "letters are denied, mixed ones are not");
}

static void
take_include(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	struct codex *codex = importer->own;

	codex->includes = value;
	if (!is_pattern(value) || strchr(value->text, '?') != NULL)
		import_lose(importer, DIAG_IMPORT_NARROWER, key->path, value,
		    "it is no pattern that a policy has");
	else if (codex->inherit == NULL || import_is(codex->inherit, "all") ||
	    (codex->inherit->kind == YAML_TEXT &&
		strcmp(codex->inherit->text, "all") == 0))
		put_pattern(importer, "allow", value->text, toupper);
	else
		import_lose(importer, DIAG_IMPORT_NARROWER, key->path, value,
		    "together with 'inherit' it is left out, and no variable "
		    "is handed on");
}

static void
write_variables(struct importer *importer)
{
	const struct codex *codex = importer->own;
	const char *inherit = codex->inherit == NULL ? "all" :
	    codex->inherit->kind == YAML_TEXT        ? codex->inherit->text :
						       "none";

	if (codex->default_excludes)
		fputs("    deny env { *KEY*  *SECRET*  *TOKEN*  *key*  "
		      "*secret*  *token* }\n",
		    importer->stream);
	if (codex->includes != NULL)
		return;
	if (strcmp(inherit, "all") == 0)
		fputs("    allow env *\n", importer->stream);
	else if (strcmp(inherit, "core") == 0)
		fputs("    allow env { HOME  LOGNAME  PATH  SHELL  USER  "
		      "TMPDIR  TEMP  TMP }\n",
		    importer->stream);
}

/* --- the network ---------------------------------------------------------- */

static void
write_domain(struct importer *importer, const struct yaml_node *entry)
{
	static const struct import_key key = {
		.path = "permissions.network.domains"
	};
	struct yaml_node host = *entry->key;
	bool allow = entry->kind == YAML_TEXT &&
	    strcmp(entry->text, "allow") == 0;
	void (*take)(struct importer *, const struct import_key *,
	    const struct yaml_node *) = allow ? import_allow_domain :
						import_deny_domain;

	/* The name and all below it. */
	if (strncmp(host.text, "**.", 3) == 0) {
		host.text = entry->key->text + 3;
		take(importer, &key, &host);
		host.text = entry->key->text + 1;
	}
	take(importer, &key, &host);
}

static void
write_network(struct importer *importer, const struct yaml_node *network)
{
	const struct codex *codex = importer->own;
	static const char *const harmless[] = { "enabled", "domains",
		"proxy_url", "socks_url", "enable_socks5", "enable_socks5_udp",
		"allow_upstream_proxy", "allow_local_binding",
		"dangerously_allow_non_loopback_proxy" };
	const struct yaml_node *enabled = yaml_find(network, "enabled");
	const struct yaml_node *domains = yaml_find(network, "domains");
	bool on = enabled != NULL && import_is(enabled, "true");

	for (const struct yaml_node *each = network->first; each != NULL;
	     each = each->next) {
		size_t i = 0;

		while (i < countof(harmless) &&
		    strcmp(harmless[i], each->key->text) != 0)
			i++;
		if (i == countof(harmless))
			import_lose(importer, DIAG_IMPORT_WEAKER,
			    "permissions.network", each->key,
			    "nothing here does that");
	}
	if (domains != NULL && domains->kind == YAML_MAP &&
	    domains->first != NULL) {
		if (!codex->proxy)
			import_lose(importer, DIAG_IMPORT_IGNORED,
			    "permissions.network", domains->key,
			    "without features.network_proxy Codex lets "
			    "everything out; the policy holds the names");
		for (const struct yaml_node *each = domains->first;
		     on && each != NULL; each = each->next)
			write_domain(importer, each);
	} else if (on) {
		import_statement(importer, "permissions.network", enabled,
		    "allow network full");
	}
}

/* --- permission profiles -------------------------------------------------- */

static void
use_network(struct importer *importer, const struct yaml_node *each,
    const struct yaml_node **network)
{
	if (*network != NULL)
		import_lose(importer, DIAG_IMPORT_WEAKER, "permissions",
		    each->key,
		    "what a parent says of the network is left out, beside "
		    "that of the profile");
	else
		*network = each;
}

static void
write_profile_key(struct importer *importer, const struct yaml_node *each,
    int level, const struct yaml_node **network)
{
	const char *key = each->key->text;

	if (strcmp(key, "filesystem") == 0)
		codex_files_add(importer, each, level);
	else if (strcmp(key, "network") == 0 && each->kind == YAML_MAP)
		use_network(importer, each, network);
	else if (strcmp(key, "workspace_roots") == 0)
		import_lose(importer, DIAG_IMPORT_NARROWER, "permissions",
		    each->key,
		    "each of them is a workspace for a run of its own");
	else if (strcmp(key, "extends") != 0 && strcmp(key, "description") != 0)
		import_lose(importer, DIAG_IMPORT_WEAKER, "permissions",
		    each->key, "this sbxc does not know what that means");
}

static void
use_profiles(struct importer *importer)
{
	const struct codex *codex = importer->own;
	const struct yaml_node *chosen = codex->chosen, *profile;
	const struct yaml_node *network = NULL;

	for (int level = PARENTS_MAX; level >= 0; level--) {
		const char *name = import_text(chosen);

		if (strcmp(name, ":danger-full-access") == 0)
			importer->confined = false;
		if (*name == ':') {
			bool write = strcmp(name, ":read-only") != 0;

			codex_mode_add(importer, chosen, write);
			break;
		}
		profile = yaml_find(codex->permissions, name);
		if (profile == NULL || profile->kind != YAML_MAP ||
		    level == 0) {
			import_lose(importer, DIAG_IMPORT_WEAKER,
			    "default_permissions", chosen,
			    "there is no such profile, or it has too many "
			    "parents");
			break;
		}
		for (const struct yaml_node *each = profile->first;
		     each != NULL; each = each->next)
			write_profile_key(importer, each, level, &network);
		chosen = yaml_find(profile, "extends");
		if (chosen == NULL)
			break;
	}
	if (network != NULL)
		write_network(importer, network);
}

/* --- keys ----------------------------------------------------------------- */

static const struct import_key keys[] = {
	{ "sandbox_mode", TAKEN(take_mode) },
	{ "sandbox_workspace_write.writable_roots", TAKEN(take_root) },
	{ "sandbox_workspace_write.network_access", TAKEN(take_switch) },
	{ "sandbox_workspace_write.exclude_tmpdir_env_var",
	    TAKEN(take_switch) },
	{ "sandbox_workspace_write.exclude_slash_tmp", TAKEN(take_switch) },
	{ "default_permissions", TAKEN(take_default) },
	{ "permissions", TAKEN(take_permissions) },
	{ "features.network_proxy", TAKEN(take_switch) },
	{ "shell_environment_policy.inherit", TAKEN(take_inherit) },
	{ "shell_environment_policy.ignore_default_excludes",
	    TAKEN(take_defaults) },
	{ "shell_environment_policy.exclude", TAKEN(take_exclude) },
	{ "shell_environment_policy.include_only", TAKEN(take_include) },
	{ "shell_environment_policy.set", TAKEN(import_variables) },
	{ "shell_environment_policy.experimental_use_profile", NOTHING },
	{ "profiles",
	    WEAKER("each may choose another sandbox: import what it says as a "
		   "file of its own") },
	{ "profile",
	    WEAKER("a profile may choose another sandbox: import what it "
		   "says as a file of its own") },
};

static void
begin(struct importer *importer)
{
	importer->base = "${workspace}";
	importer->confined = true;
	importer->own = arena_alloc(importer->arena, sizeof(struct codex));
	fputs("    # Devices are there without any setting.\n"
	      "    allow write ${devices}\n",
	    importer->stream);
	import_promise(importer, false, "write", "/usr/file");
	import_promise(importer, false, "write", "~/file");
}

/* Whether Codex would use it depends on what it trusts, if no mode is said. */
static void
lose_old(struct importer *importer)
{
	const struct codex *codex = importer->own;

	for (size_t i = 0; i < codex->old.count; i++)
		import_lose(importer,
		    codex->mode != NULL ? DIAG_IMPORT_IGNORED :
					  DIAG_IMPORT_NARROWER,
		    "sandbox_workspace_write", codex->old.items[i],
		    "it is for the sandbox_mode workspace-write, which is not "
		    "set");
}

static void
finish(struct importer *importer)
{
	struct codex *codex = importer->own;
	const char *mode = codex->mode != NULL &&
		codex->mode->kind == YAML_TEXT ?
	    codex->mode->text :
	    "read-only";
	bool write = strcmp(mode, "read-only") != 0;

	write_variables(importer);
	if (!write)
		lose_old(importer);
	/* The old settings win. */
	if (codex->chosen != NULL && codex->mode == NULL) {
		codex->entries.count = 0;
		use_profiles(importer);
	} else {
		if (!write)
			codex->entries.count = 0;
		codex_mode_add(importer, codex->mode, write);
		if (write && codex->network)
			fputs("    allow network full\n", importer->stream);
		if (codex->chosen != NULL)
			import_lose(importer, DIAG_IMPORT_IGNORED,
			    "default_permissions", codex->chosen,
			    "beside sandbox_mode Codex passes it by");
	}
	codex_files_write(importer);
}

const struct import_client import_codex = {
	.name = "codex",
	.keys = keys,
	.key_count = countof(keys),
	.begin = begin,
	.finish = finish,
	.toml = true,
	.others = true,
};
