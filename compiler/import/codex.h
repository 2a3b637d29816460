/* What codex.c and codex_files.c share. */
#ifndef SBX_IMPORT_CODEX_H
#define SBX_IMPORT_CODEX_H

#include "compiler/import/import.h"

/* Of two for one place the later one in this order wins. */
enum codex_mode { CODEX_READ, CODEX_WRITE, CODEX_DENY };

struct codex_entry {
	struct import_path path;
	enum codex_mode mode;
	int level; /* of the profile in the chain of `extends`: the parent is 0 */
};

struct codex {
	/* What is said of the mode workspace-write. */
	VEC(const struct yaml_node *) old;
	VEC(struct codex_entry) entries;
	const struct yaml_node *mode, *permissions, *chosen;
	const struct yaml_node *inherit, *excludes, *includes;
	bool network, proxy, no_tmpdir, no_slash_tmp, default_excludes;
};

/* Adds what the old modes give; `write` is that of workspace-write. */
void codex_mode_add(struct importer *importer, const struct yaml_node *node,
    bool write);
/* Adds the table [permissions.NAME.filesystem]. */
void codex_files_add(struct importer *importer, const struct yaml_node *table,
    int level);
void codex_entry_add(struct importer *importer,
    const struct codex_entry *entry);
/* Makes rules of all entries. */
void codex_files_write(struct importer *importer);

#endif
