/*
 * Codex' rules about files: of all entries that hold a path the one that says
 * most of it counts, while a deny of ours beats every allow.  So an entry that
 * takes something away becomes a deny, and what gives it back below is its
 * exception.  Which of two places lies in the other is known here if both begin
 * at the same anchor; else the narrower reading is taken, and that is told.
 */
#include "compiler/import/import.h"

#include <string.h>

/* What programs need, as Codex has it. */
static const char *const minimal[] = { "/bin", "/sbin", "/usr", "/etc", "/lib",
	"/lib64", "/nix/store", "/run/current-system/sw" };

static bool
is_minimal(const struct codex_entry *entry)
{
	size_t len = strlen(entry->path.object);

	for (size_t i = 0; i < countof(minimal); i++) {
		if (len == strlen(minimal[i]) + 2 &&
		    strncmp(entry->path.object + 1, minimal[i], len - 2) == 0)
			return true;
	}
	return false;
}

/* --- entries -------------------------------------------------------------- */

void
codex_entry_add(struct importer *importer, const struct codex_entry *entry)
{
	struct codex *codex = importer->own;

	for (size_t i = 0; i < codex->entries.count; i++) {
		struct codex_entry *old = &codex->entries.items[i];

		if (strcmp(old->path.object, entry->path.object) != 0)
			continue;
		if (old->level < entry->level || old->mode < entry->mode)
			*old = *entry;
		return;
	}
	*arena_push(importer->arena, &codex->entries) = *entry;
}

static void
add_usual(struct importer *importer, const struct yaml_node *node,
    const char *text, enum codex_mode mode)
{
	struct codex_entry entry = { .mode = mode };

	if (import_object(importer, "sandbox_mode", node, text, &entry.path))
		codex_entry_add(importer, &entry);
}

void
codex_mode_add(struct importer *importer, const struct yaml_node *node,
    bool write)
{
	const struct codex *codex = importer->own;
	struct codex_entry scratch = {
		.path = { node, "sandbox_mode", "${tmp}", "${tmp}/file" },
		.mode = CODEX_WRITE,
	};

	add_usual(importer, node, "/", CODEX_READ);
	if (!write)
		return;
	add_usual(importer, node, "${workspace}", CODEX_WRITE);
	if (!codex->no_slash_tmp)
		add_usual(importer, node, "/tmp", CODEX_WRITE);
	if (!codex->no_tmpdir)
		codex_entry_add(importer, &scratch);
}

/* --- the table of a profile ----------------------------------------------- */

struct filling {
	struct importer *importer;
	int level;
};

static const char key_name[] = "permissions.filesystem";

static void
lose(const struct filling *filling, enum diag_id id,
    const struct yaml_node *node, const char *why)
{
	import_lose(filling->importer, id, key_name, node, why);
}

static void
fill(const struct filling *filling, const struct yaml_node *key,
    const char *text, const struct yaml_node *value)
{
	static const struct {
		const char *word;
		enum codex_mode mode;
	} modes[] = {
		{ "read", CODEX_READ },
		{ "write", CODEX_WRITE },
		{ "deny", CODEX_DENY },
		{ "none", CODEX_DENY },
	};
	struct codex_entry entry = { .level = filling->level };
	const char *word = import_text(value);
	size_t i = 0;

	while (i < countof(modes) && strcmp(modes[i].word, word) != 0)
		i++;
	if (i == countof(modes)) {
		lose(filling, DIAG_IMPORT_WEAKER, value,
		    "it is neither read, write nor deny");
		return;
	}
	entry.mode = modes[i].mode;
	if (strcmp(text, "${tmp}") == 0)
		entry.path = (struct import_path){ key, key_name, "${tmp}",
			"${tmp}/file" };
	else if (!import_object(filling->importer, key_name, key, text,
		     &entry.path))
		return;
	if (*entry.path.object != 'g' || entry.mode == CODEX_DENY)
		codex_entry_add(filling->importer, &entry);
	else
		lose(filling, DIAG_IMPORT_NARROWER, key,
		    "a pattern can only deny");
}

/* The place of a key, or NULL after reporting. */
static const char *
place_of(const struct filling *filling, const struct yaml_node *key)
{
	static const struct {
		const char *word, *place;
	} special[] = {
		{ ":root", "/" },
		{ ":workspace_roots", "${workspace}" },
		{ ":project_roots", "${workspace}" },
		{ ":cwd", "${workspace}" },
		{ ":tmpdir", "${tmp}" },
		{ ":slash_tmp", "/tmp" },
	};

	for (size_t i = 0; i < countof(special); i++) {
		if (strcmp(special[i].word, key->text) == 0)
			return special[i].place;
	}
	if (*key->text == '/' || strcmp(key->text, "~") == 0 ||
	    strncmp(key->text, "~/", 2) == 0)
		return key->text;
	lose(filling, DIAG_IMPORT_WEAKER, key,
	    "a path begins with '/', '~/' or a known name behind ':'");
	return NULL;
}

static void
fill_scoped(const struct filling *filling, const struct yaml_node *table)
{
	const char *place = place_of(filling, table->key);

	for (const struct yaml_node *each = table->first;
	     place != NULL && each != NULL; each = each->next) {
		const char *sub = each->key->text;

		if (strcmp(sub, ".") == 0)
			fill(filling, each->key, place, each);
		else if (*sub == '/' || *sub == '~' || *sub == '\0' ||
		    strcmp(place, "${tmp}") == 0)
			lose(filling, DIAG_IMPORT_WEAKER, each->key,
			    "it is no path below that place");
		else
			fill(filling, each->key,
			    arena_printf(filling->importer->arena, "%s/%s",
				place, sub),
			    each);
	}
}

void
codex_files_add(struct importer *importer, const struct yaml_node *table,
    int level)
{
	struct filling filling = { importer, level };

	if (table->kind != YAML_MAP) {
		lose(&filling, DIAG_IMPORT_WEAKER, table, "it is no table");
		return;
	}
	for (const struct yaml_node *each = table->first; each != NULL;
	     each = each->next) {
		const char *place;

		if (strcmp(each->key->text, "glob_scan_max_depth") == 0)
			continue;
		if (each->kind == YAML_MAP) {
			fill_scoped(&filling, each);
		} else if (strcmp(each->key->text, ":minimal") == 0) {
			for (size_t i = 0; i < countof(minimal); i++)
				fill(&filling, each->key, minimal[i], each);
		} else {
			place = place_of(&filling, each->key);
			if (place != NULL)
				fill(&filling, each->key, place, each);
		}
	}
}

/* --- rules ---------------------------------------------------------------- */

static bool
gives_more(const struct codex_entry *one, const struct codex_entry *than)
{
	return than->mode == CODEX_DENY ? one->mode != CODEX_DENY :
					  one->mode == CODEX_WRITE;
}

static char
anchor_of(const struct codex_entry *entry)
{
	return *entry->path.object == '"' ? entry->path.object[1] : 't';
}

static bool
lies_below(const struct codex_entry *entry, const struct codex_entry *around)
{
	return strcmp(entry->path.object, around->path.object) != 0 &&
	    import_lies_in(entry->path.object, around->path.object);
}

/* "  except { "/a/b" }": what is given back below an entry. */
static const char *
exceptions(struct importer *importer, const struct codex_entry *entry)
{
	const struct codex *codex = importer->own;
	const char *list = "";

	for (size_t i = 0; i < codex->entries.count; i++) {
		const struct codex_entry *each = &codex->entries.items[i];
		bool home = strcmp(entry->path.object, "\"~\"") == 0 &&
		    anchor_of(each) == '$';

		if (!gives_more(each, entry) ||
		    (!home && !lies_below(each, entry)))
			continue;
		if (home)
			import_lose(importer, DIAG_IMPORT_WEAKER,
			    entry->path.key, entry->path.node,
			    "where the workspace contains the home directory, "
			    "that is open");
		list = arena_printf(importer->arena, "%s  %s", list,
		    each->path.object);
	}
	return *list == '\0' ?
	    "" :
	    arena_printf(importer->arena, " except {%s  }", list);
}

/* Whether an entry that reads lies in one that writes; if nobody knows, it is
 * taken for so. */
static bool
takes_writing(struct importer *importer, const struct codex_entry *entry)
{
	const struct codex *codex = importer->own;
	bool unknown = false;

	if (strcmp(entry->path.object, "\"/\"") == 0)
		return false;
	for (size_t i = 0; i < codex->entries.count; i++) {
		const struct codex_entry *each = &codex->entries.items[i];

		if (each->mode != CODEX_WRITE || anchor_of(each) == 't')
			continue;
		if (lies_below(entry, each))
			return true;
		unknown |= anchor_of(each) != anchor_of(entry) &&
		    strncmp(entry->path.key, "sandbox", 7) != 0 &&
		    !is_minimal(entry);
	}
	if (unknown && strcmp(entry->path.object, "\"~\"") != 0)
		import_lose(importer, DIAG_IMPORT_NARROWER, entry->path.key,
		    entry->path.node,
		    "what may be written and lies in it, wherever the "
		    "workspace or the home directory is, stays read-only");
	return unknown;
}

/* Whether what an entry gives is given already, but for what is denied. */
static bool
is_given(const struct codex *codex, const struct codex_entry *entry,
    enum codex_mode mode)
{
	for (size_t i = 0; i < codex->entries.count; i++) {
		const struct codex_entry *each = &codex->entries.items[i];
		bool gives = each->mode == CODEX_WRITE ||
		    (mode == CODEX_READ && each->mode == CODEX_READ);

		if (gives && each != entry &&
		    (lies_below(entry, each) ||
			strcmp(each->path.object, "\"/\"") == 0))
			return true;
	}
	return false;
}

static void
write_deny(struct importer *importer, const struct codex_entry *entry)
{
	const struct import_path *path = &entry->path;

	/* Nothing is allowed without a rule. */
	if (strcmp(path->object, "\"/\"") == 0)
		return;
	import_statement(importer, path->key, path->node, "deny read %s%s",
	    path->object, exceptions(importer, entry));
	import_promise(importer, false, "read", path->sample);
}

static void
write_write(struct importer *importer, const struct codex_entry *entry)
{
	const struct import_path *path = &entry->path;
	bool tmp = strcmp(path->object, "\"/tmp\"") == 0;

	if (!is_given(importer->own, entry, CODEX_WRITE))
		import_statement(importer, path->key, path->node,
		    "allow write %s%s", path->object,
		    tmp ? "  # sbx: ignore SBX0601 -- Codex opens it" : "");
	if (!is_given(importer->own, entry, CODEX_READ))
		fprintf(importer->stream, "    allow exec %s\n", path->object);
	import_promise(importer, true, "write", path->sample);
}

static void
write_read(struct importer *importer, const struct codex_entry *entry)
{
	const struct import_path *path = &entry->path;
	bool takes = takes_writing(importer, entry);

	if (!is_given(importer->own, entry, CODEX_READ))
		import_statement(importer, path->key, path->node,
		    "allow exec %s", path->object);
	if (takes)
		import_statement(importer, path->key, path->node,
		    "deny write %s%s", path->object,
		    exceptions(importer, entry));
	import_promise(importer, true, "read", path->sample);
	if (takes || is_minimal(entry))
		import_promise(importer, false, "write", path->sample);
}

/* What Codex keeps read-only in each place that may be written. */
static void
write_kept(struct importer *importer, const struct codex_entry *entry)
{
	static const char *const names[] = { ".git", ".agents", ".codex" };
	const struct codex *codex = importer->own;
	size_t len = strlen(entry->path.object) - 1;

	if (entry->mode != CODEX_WRITE || anchor_of(entry) == 't' || len < 3 ||
	    strcmp(entry->path.object, "\"/tmp\"") == 0 ||
	    strstr(entry->path.object, "/.git") != NULL)
		return;
	for (size_t i = 0; i < countof(names); i++) {
		const char *object = arena_printf(importer->arena, "%.*s/%s\"",
		    (int)len, entry->path.object, names[i]);
		bool said = false;

		for (size_t j = 0; j < codex->entries.count; j++)
			said |= strcmp(codex->entries.items[j].path.object,
				    object) == 0;
		if (said)
			continue;
		fprintf(importer->stream, "    prefer deny write %s\n", object);
		if (*entry->path.sample == '$')
			import_promise(importer, false, "write",
			    arena_printf(importer->arena, "%s/%s/file",
				entry->path.sample, names[i]));
	}
}

void
codex_files_write(struct importer *importer)
{
	const struct codex *codex = importer->own;

	static void (*const writers[])(struct importer *,
	    const struct codex_entry *) = {
		[CODEX_READ] = write_read,
		[CODEX_WRITE] = write_write,
		[CODEX_DENY] = write_deny,
	};

	for (size_t i = 0; i < codex->entries.count; i++)
		writers[codex->entries.items[i].mode](importer,
		    &codex->entries.items[i]);
	fputs("    # What Codex keeps by itself, where that is there; at level "
	      "full.\n",
	    importer->stream);
	for (size_t i = 0; i < codex->entries.count; i++)
		write_kept(importer, &codex->entries.items[i]);
}
