/*
 * A sandbox profile of LLxprt Code, sandboxes/NAME.json: a container that has
 * the project, a directory for temporary files, its own settings, and what is
 * mounted.  The programs are those of an image; here they are this machine's.
 */
#include "compiler/import/import.h"

#include <stdlib.h>
#include <string.h>

struct llxprt {
	bool network; /* is spoken of */
};

static void
take_engine(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	const char *text = import_text(value);

	if (strcmp(text, "none") == 0)
		importer->confined = false;
	else if (strcmp(text, "sandbox-exec") == 0)
		import_lose(importer, DIAG_IMPORT_IGNORED, key->path, value,
		    "it is for macOS; on Linux LLxprt takes a container");
}

static void
take_network(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	const char *text = import_text(value);

	((struct llxprt *)importer->own)->network = true;
	if (strcmp(text, "on") == 0) {
		import_statement(importer, key->path, value,
		    "allow network full");
	} else if (strcmp(text, "off") == 0) {
		import_statement(importer, key->path, value,
		    "allow network loopback");
		import_promise(importer, false, "domain", "example.com");
	} else {
		import_lose(importer, DIAG_IMPORT_NARROWER, key->path, value,
		    "a proxy of the user's own takes 'network proxy tcp PORT'");
	}
}

static void
take_pids(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	const char *digits = value->kind == YAML_TEXT ?
	    import_digits(importer, value->text) :
	    NULL;

	if (digits == NULL)
		import_lose(importer, DIAG_IMPORT_WEAKER, key->path, value,
		    "it is no number that a limit takes");
	else
		import_statement(importer, key->path, value,
		    "limit processes %s", digits);
}

/* "512m", and a number alone is one of MiB, too. */
static void
take_memory(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	static const struct {
		const char *letters, *unit;
	} units[] = { { "kK", "KiB" }, { "mM", "MiB" }, { "gG", "GiB" } };
	const char *text = import_text(value);
	size_t len = strspn(text, "0123456789");
	const char *digits = import_digits(importer,
	    arena_strndup(importer->arena, text, len));
	const char *unit = text[len] == '\0' ? "MiB" : NULL;

	for (size_t i = 0; i < countof(units); i++) {
		if (text[len] != '\0' && text[len + 1] == '\0' &&
		    strchr(units[i].letters, text[len]) != NULL)
			unit = units[i].unit;
	}
	if (digits == NULL || unit == NULL)
		import_lose(importer, DIAG_IMPORT_WEAKER, key->path, value,
		    "it is no size that a limit takes");
	else
		import_statement(importer, key->path, value,
		    "limit memory %s%s", digits, unit);
}

static void
take_mount(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	static const char *const names[] = { "from", "to", "mode" };
	const struct yaml_node *from = yaml_find(value, "from");
	const struct yaml_node *to = yaml_find(value, "to");
	const struct yaml_node *mode = yaml_find(value, "mode");
	bool write = strcmp(import_text(mode), "rw") == 0;
	const char *text = import_text(from);
	struct import_path path;

	for (const struct yaml_node *each =
		 value->kind == YAML_MAP ? value->first : NULL;
	     each != NULL; each = each->next) {
		if (strcmp(each->key->text, names[0]) != 0 &&
		    strcmp(each->key->text, names[1]) != 0 &&
		    strcmp(each->key->text, names[2]) != 0)
			import_lose(importer, DIAG_IMPORT_WEAKER, key->path,
			    each->key,
			    "this sbxc does not know what that means");
	}
	if (*text != '/' && *text != '~')
		import_lose(importer, DIAG_IMPORT_NARROWER, key->path,
		    from != NULL ? from : value,
		    "a mount needs an absolute path");
	else if (to != NULL && to->kind == YAML_TEXT &&
	    strcmp(to->text, text) != 0)
		import_lose(importer, DIAG_IMPORT_NARROWER, key->path, to,
		    "nothing has another path inside than outside");
	else if (import_place(importer, key, from, &path)) {
		import_statement(importer, key->path, from, "allow exec %s",
		    path.object);
		import_promise(importer, true, "read", path.sample);
		if (write)
			fprintf(importer->stream, "    allow write %s\n",
			    path.object);
		import_promise(importer, write, "write", path.sample);
	}
}

static void
take_agent(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	const char *text = import_text(value);

	if (strcmp(text, "on") == 0)
		import_statement(importer, key->path, value,
		    "allow socket ${ssh-agent}");
	else if (strcmp(text, "off") != 0)
		import_lose(importer, DIAG_IMPORT_NARROWER, key->path, value,
		    "the agent of ssh is left out: 'allow socket ${ssh-agent}' "
		    "if commands sign by it");
}

static void
take_switch(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	(void)key;
	importer->confined = !import_is(value, "false");
}

static const struct import_key keys[] = {
	{ "engine", TAKEN(take_engine) },
	{ "image",
	    WEAKER("programs and /etc are those of this machine, and not an "
		   "image's") },
	{ "resources.cpus", WEAKER("nothing limits shares of processors") },
	{ "resources.memory", TAKEN(take_memory) },
	{ "resources.pids", TAKEN(take_pids) },
	{ "network", TAKEN(take_network) },
	{ "sshAgent", TAKEN(take_agent) },
	{ "mounts", TAKEN(take_mount) },
	{ "env", TAKEN(import_variables) },
	/* Of settings.json. */
	{ "sandbox", TAKEN(take_switch) },
};

static void
begin(struct importer *importer)
{
	importer->base = "${workspace}";
	importer->confined = true;
	importer->own = arena_alloc(importer->arena, sizeof(struct llxprt));
	fputs("    # Without any setting: programs, the project, and the "
	      "client's own settings.\n"
	      "    allow exec { ${system}  /etc  ${workspace}  "
	      "~/.config/llxprt-code  ${tmp} }\n"
	      "    allow read { ${proc}  ~/.gitconfig  ~/.config/git }\n"
	      "    allow write { ${devices}  ${workspace}  ${tmp}  "
	      "~/.config/llxprt-code }\n"
	      "    allow env { HOME  PATH  LANG  LC_*  TERM  COLORTERM  USER  "
	      "LOGNAME }\n",
	    importer->stream);
	import_promise(importer, true, "write", "${workspace}/file");
	import_promise(importer, false, "read", "~/file");
	import_promise(importer, false, "read", "~/.ssh/id_rsa");
	import_promise(importer, false, "write", "~/.gitconfig");
}

/* LLxprt's own default is an open network. */
static void
finish(struct importer *importer)
{
	const struct llxprt *own = importer->own;

	if (!own->network)
		fputs("    # Nothing is said of the network; LLxprt leaves it "
		      "open then.\n"
		      "    allow network full\n",
		    importer->stream);
}

const struct import_client import_llxprt = {
	.name = "llxprt",
	.keys = keys,
	.key_count = countof(keys),
	.begin = begin,
	.finish = finish,
	.others = true,
};
