/* Settings of other sandboxes to policies and tests. */
#ifndef SBX_COMPILER_IMPORT_IMPORT_H
#define SBX_COMPILER_IMPORT_IMPORT_H

#include "compiler/read/read.h"

#include <stdio.h>

/* --- import.c ---------------------------------------------------------- */

struct promise {
	bool allow;
	const char *access; /* "read ~/.ssh" */
};

/* `denyRead`, and what is opened again in it, are known when all is read. */
struct import_path {
	const struct yaml_node *node;
	const char *key;
	const char *object; /* as a policy has it: a quoted path or a glob */
	const char *sample; /* a path that it speaks of */
};
struct import_paths {
	VEC(struct import_path) list;
};

struct importer {
	struct arena *arena;
	struct sources *sources;
	struct diags *diags;
	const struct import_client *client;
	const char *base; /* where relative paths begin */
	FILE *stream;     /* the statements */
	VEC(struct promise) promises;
	struct import_paths shut, reopened;
	struct import_paths writes; /* that are allowed */
	bool git_config;            /* git's own settings may be written */
	VEC(const struct yaml_node *) others; /* keys about other things */
	bool default_ports; /* a host without a port is reached on two */
	bool confined;      /* the client says that it confines commands */
	void *own;          /* what the client's functions remember */
};

/* What becomes of a key. */
struct import_key {
	const char *path; /* "network.allowedDomains" */
	/* Makes rules of a value; of a list, of each element.  NULL: */
	void (*take)(struct importer *importer, const struct import_key *key,
	    const struct yaml_node *value);
	enum diag_id loss; /* DIAG_END: nothing is lost */
	const char *why;
};

struct import_client {
	const char *name;
	const struct import_key *keys;
	size_t key_count;
	/* What holds without any setting. */
	void (*begin)(struct importer *importer);
	/* What is known when all is read; NULL: nothing. */
	void (*finish)(struct importer *importer);
	bool toml;   /* JSON otherwise */
	bool others; /* there may be keys about other things than sandboxes */
};

extern const struct import_client import_srt, import_claude, import_codex,
    import_llxprt, import_localgpt;

/* Of a table of keys: nothing is lost; it cannot be taken over, and why; a
 * function makes rules of it. */
#define NOTHING NULL, DIAG_END, NULL
#define WEAKER(why) NULL, DIAG_IMPORT_WEAKER, why
#define NARROWER(why) NULL, DIAG_IMPORT_NARROWER, why
#define IGNORED(why) NULL, DIAG_IMPORT_IGNORED, why
#define TAKEN(function) function, DIAG_END, NULL

/* The client of a name, or NULL. */
const struct import_client *import_client_find(const char *name);

/*
 * Imports a text: statements of the profile go to importer->stream, losses to
 * importer->diags.
 */
void import_read(struct importer *importer, const struct source *source);

/* "    # settings.json:3:9: permissions.deny: Read(.env)", then a statement.
 * NULL: the key is not there. */
void import_statement(struct importer *importer, const char *key,
    const struct yaml_node *node, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void import_promise(struct importer *importer, bool allow, const char *right,
    const char *path);
struct diag *import_lose(struct importer *importer, enum diag_id id,
    const char *key, const struct yaml_node *node, const char *why);

/* Makes an object of a path with wildcards, which begins at the root, at ~ or
 * with the name of an anchor; false after reporting. */
bool import_object(struct importer *importer, const char *key,
    const struct yaml_node *node, const char *text, struct import_path *path);
/* The same of a path without wildcards: all characters are of its name. */
bool import_place(struct importer *importer, const struct import_key *key,
    const struct yaml_node *node, struct import_path *path);
/* The same of a path as sandbox-runtime has it. */
bool import_path(struct importer *importer, const struct import_key *key,
    const struct yaml_node *node, struct import_path *path);

/* The digits of a number without those underscores that TOML has between them,
 * or NULL. */
const char *import_digits(const struct importer *importer, const char *text);

/* Whether a quoted path lies in another one, or is it. */
bool import_lies_in(const char *place, const char *around);

/* Variables that are set, which is not taken over: one may be a key. */
void import_variables(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value);

/* The text of a value; "" if it is none. */
const char *import_text(const struct yaml_node *value);

/* Whether a value is this word, without quotes. */
bool import_is(const struct yaml_node *value, const char *word);

/* What both clients of sandbox-runtime have. */
void import_allow_write(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value);
void import_deny_write(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value);
void import_deny_read(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value);
void import_allow_read(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value);
void import_allow_domain(struct importer *importer,
    const struct import_key *key, const struct yaml_node *value);
void import_deny_domain(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value);
void import_git_config(struct importer *importer, const struct import_key *key,
    const struct yaml_node *value);
void import_credential_file(struct importer *importer,
    const struct import_key *key, const struct yaml_node *value);
void import_credential_variable(struct importer *importer,
    const struct import_key *key, const struct yaml_node *value);
void import_runtime_begin(struct importer *importer);
void import_runtime_finish(struct importer *importer);

/* --- codex.c ----------------------------------------------------------- */

/* What codex.c and codex_files.c share. */

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
	const struct yaml_node *inherit, *includes;
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
