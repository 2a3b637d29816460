/*
 * LocalGPT's config.toml: Landlock for files, a filter for sockets, limits.  Its
 * rules come from its own code, to which the settings add places.
 */
#include "compiler/import/import.h"

#include <stdlib.h>
#include <string.h>

/* --- limits --------------------------------------------------------------- */

/* What is limited without any setting, and which key changes that. */
static const struct number {
	const char *key, *limit, *unit, *usual;
} numbers[] = {
	{ "sandbox.timeout_secs", "timeout", "s", "120" },
	{ "sandbox.max_output_bytes", "output", "B", "1048576" },
	{ "sandbox.max_file_size_bytes", "file-size", "B", "52428800" },
	{ "sandbox.max_processes", "processes", "", "64" },
};

struct localgpt {
	bool set[countof(numbers)];
};

static void
take_number(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	struct localgpt *own = importer->own;
	const char *digits;
	size_t i = 0;

	digits = value->kind == YAML_TEXT && value->plain ?
	    import_digits(importer, value->text) :
	    NULL;
	while (
	    i + 1 < countof(numbers) && strcmp(numbers[i].key, key->path) != 0)
		i++;
	if (digits == NULL) {
		import_lose(importer, DIAG_IMPORT_WEAKER, key->path, value,
		    "it is no number that a limit takes; the usual one is "
		    "taken");
		return;
	}
	own->set[i] = true;
	import_statement(importer, key->path, value, "limit %s %s%s",
	    numbers[i].limit, digits, numbers[i].unit);
}

/* --- files ---------------------------------------------------------------- */

/* "~" and "~/x" are replaced; all else is a name as it stands. */
static void
take_path(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	bool write = strcmp(key->path, "sandbox.allow_paths.write") == 0;
	struct import_path path;

	if (!import_place(importer, key, value, &path))
		return;
	import_statement(importer, key->path, value, "allow exec %s",
	    path.object);
	import_promise(importer, true, "read", path.sample);
	if (!write)
		return;
	fprintf(importer->stream, "    allow write %s\n", path.object);
	import_promise(importer, true, "write", path.sample);
}

/* --- switches ------------------------------------------------------------- */

static void
take_switch(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	(void)key;
	if (!import_is(value, "true"))
		importer->confined = false;
}

static void
take_level(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	const char *text = import_text(value);

	if (strcmp(text, "none") == 0)
		importer->confined = false;
	else if (strcmp(text, "minimal") == 0)
		import_lose(importer, DIAG_IMPORT_NARROWER, key->path, value,
		    "there no file is protected: the policy requires level "
		    "standard");
}

static void
take_network(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value)
{
	if (value->kind != YAML_TEXT || strcmp(value->text, "deny") != 0)
		import_lose(importer, DIAG_IMPORT_IGNORED, key->path, value,
		    "LocalGPT has no other network yet, and denies all the "
		    "same");
}

static const struct import_key keys[] = {
	{ "sandbox.enabled", TAKEN(take_switch) },
	{ "sandbox.level", TAKEN(take_level) },
	{ "sandbox.timeout_secs", TAKEN(take_number) },
	{ "sandbox.max_output_bytes", TAKEN(take_number) },
	{ "sandbox.max_file_size_bytes", TAKEN(take_number) },
	{ "sandbox.max_processes", TAKEN(take_number) },
	{ "sandbox.allow_paths.read", TAKEN(take_path) },
	{ "sandbox.allow_paths.write", TAKEN(take_path) },
	{ "sandbox.network.policy", TAKEN(take_network) },
};

static void
begin(struct importer *importer)
{
	importer->base = "${workspace}";
	importer->confined = true;
	importer->own = arena_alloc(importer->arena, sizeof(struct localgpt));
	fputs(
	    "    # Without any setting: programs and /etc are read and "
	    "executed, and these are\n    # written.  Devices are, too, so "
	    "that '>/dev/null' works.\n"
	    "    allow exec { /usr  /lib  /lib64  /bin  /sbin  /etc  "
	    "${workspace}  /tmp }\n"
	    "    allow write { ${devices}  ${workspace} }\n"
	    "    allow write /tmp  # sbx: ignore SBX0601 -- LocalGPT opens it\n"
	    "    allow env *\n"
	    "    # Its code leaves these out; its tools for files refuse "
	    "them.\n"
	    "    deny read {\n"
	    "        ~/.ssh  ~/.aws  ~/.gnupg  ~/.config  ~/.docker  ~/.kube\n"
	    "        ~/.npmrc  ~/.pypirc  ~/.netrc\n"
	    "    }\n"
	    "    deny syscalls ptrace\n",
	    importer->stream);
	import_promise(importer, true, "read", "/etc/hosts");
	import_promise(importer, true, "write", "${workspace}/file");
	import_promise(importer, true, "write", "/tmp/file");
	import_promise(importer, false, "read", "~/file");
	import_promise(importer, false, "read", "~/.ssh/id_rsa");
	import_promise(importer, false, "write", "/usr/file");
	import_promise(importer, false, "connect", "tcp 443");
	import_promise(importer, false, "syscall", "ptrace");
}

static void
finish(struct importer *importer)
{
	const struct localgpt *own = importer->own;

	for (size_t i = 0; i < countof(numbers); i++) {
		if (!own->set[i])
			fprintf(importer->stream, "    limit %s %s%s\n",
			    numbers[i].limit, numbers[i].usual,
			    numbers[i].unit);
	}
}

const struct import_client import_localgpt = {
	.name = "localgpt",
	.keys = keys,
	.key_count = countof(keys),
	.begin = begin,
	.finish = finish,
	.toml = true,
	.others = true,
};
