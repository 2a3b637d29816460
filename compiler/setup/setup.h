/* What is to be fixed here; settings of clients. */
#ifndef SBX_COMPILER_SETUP_SETUP_H
#define SBX_COMPILER_SETUP_SETUP_H

#include "compiler/base/base.h"
#include "compiler/query/query.h"

#include <stdbool.h>
#include <sys/stat.h>

/* --- change.c ---------------------------------------------------------- */

struct file_change {
	const char *path, *backup; /* backup: NULL for a new file */
	const char *bytes;
	size_t size;
	mode_t mode;     /* of a new file */
	bool made;       /* a file that nobody edits */
	const char *old; /* NULL: nothing was there */
	struct stat before;
	bool linked, written; /* the backup, the file */
	bool shared;          /* with other agents that are set up */
};

/* A directory (its path ends in a slash), or a file with that text. */
struct made {
	const char *path, *text;
};

struct changes {
	struct arena *arena;
	const char *record; /* the file that says what was done; NULL: none */
	bool recorded;      /* it was written */
	bool shell;         /* sbxsh is the shell of an agent now */
	VEC(struct file_change) list;
	VEC(struct made) made;
};

/* What a file holds: NULL, with errno 0 if nothing is there; else after
 * complaining. */
const char *change_read(struct arena *arena, const char *path,
    struct stat *status);

/* The same, in silence: NULL if it is no file that can be read. */
const char *change_look(struct arena *arena, const char *path);

/* Adds a text; false after complaining if the file that is there cannot be
 * replaced, or `fresh` and one is there. */
struct file_change *change_add(struct changes *changes, const char *path,
    const char *text, mode_t mode, bool fresh);

/* Makes a directory (its path ends in a slash; `text` is NULL) or a file with a
 * text, at once; what is there is left as it is.  False with errno. */
bool changes_make(struct changes *changes, const char *path, const char *text);

/* What would be written, on standard output. */
void changes_show(const struct changes *changes);

/* Writes all of them and the record; false after complaining, with nothing
 * changed. */
bool changes_write(struct changes *changes);

/* Takes back what has been written. */
void changes_revert(struct changes *changes);

/* Puts a backup back, or removes what has none; false with errno. */
bool change_take_back(struct arena *arena, const char *path,
    const char *backup);

/* --- chosen.c ---------------------------------------------------------- */

/* Puts the filter for the subject's level into the subject, or why it is not
 * known: sbxrun is not found, or would not run the policy here. */
void chosen_ask(const struct options *options, struct subject *subject);

/* --- clients.c --------------------------------------------------------- */

enum { CLIENT_STATE_MAX = 4 };

/* Where an agent outside and its commands leave each other files, such as the
 * directory that a command ended in. */
#define CLIENT_SCRATCH ".cache/sbx-agent/"

/* A directory (its path ends in a slash), or a file with a text, which an agent
 * wants to find when it starts. */
struct client_place {
	const char *path, *text;
};

/* A variable that moves what lies below a place: there is then that of the
 * variable, and `below` in it. */
struct client_moved {
	const char *variable, *usual, *below;
};

/* The setting in which an agent looks for its shell. */
struct client_shell {
	const char *file;   /* of JSON */
	const char *object; /* in it; NULL: the top */
	const char *key;    /* the path of the shell */
	const char
	    *scratch; /* a directory that agent and shell share, or NULL */
};

/* An agent.  Places are below the home directory. */
struct client {
	const char *name; /* its command and its profile are called so, too */
	const char *title;
	struct client_place state[CLIENT_STATE_MAX];
	struct client_moved moved[CLIENT_STATE_MAX];
	const char *secret;    /* the variable with its key, or NULL */
	const char *arguments; /* that it needs inside, or NULL */
	const char *instruct;  /* words before what it is told, or NULL */
	struct client_shell shell;
	const char *bare; /* why its own name stays unconfined; NULL: a shell */
	const char *servers; /* its file of MCP servers, or NULL */
};

extern const struct client clients[];
extern const size_t client_count;

/* NULL if there is none of that name. */
const struct client *client_find(const char *name);

/* Where a place below the home is, by the variables that are set now. */
const char *client_place(struct arena *arena, const struct client *client,
    const char *home, const char *below);

/* The rules of its group for where the variables have moved its places; "" if they
 * have moved none, NULL if no policy can name it.  `variable` is the first. */
const char *client_moved_rules(struct arena *arena, const struct client *client,
    const char *home, const char **variable);

/* --- doctor.c ---------------------------------------------------------- */

/*
 * `sbxc doctor`: what is wrong or worth knowing about a policy on this machine
 * and in this directory, each with the command that fixes it.  Facts come from
 * sbxrun (--status and -n), from the policy, and from looking; nothing is
 * changed.
 */

struct json_t;

enum finding_state {
	FINDING_GOOD,
	FINDING_NOTE, /* worth knowing; it works */
	FINDING_FIX,  /* it does not work, or does not protect, as it should */
};

struct finding {
	enum finding_state state;
	const char *about, *text;
	const char *command; /* that fixes it, or NULL */
};

struct doctor {
	struct arena *arena;
	const char *policy;           /* as the user has named it */
	const char *workspace;        /* without links */
	const char *home;             /* without links, or NULL */
	const char *configuration;    /* sbx's directory, or NULL: no home */
	const char *sbxrun;           /* its path */
	struct subject *subject;      /* the policy on this machine */
	struct json_t *status, *plan; /* of sbxrun; the plan may be NULL */
	VEC(struct finding) findings;
};

/* Looks, tells, and returns EXIT_POLICY if something is to be fixed. */
enum exit_status doctor_examine(struct doctor *doctor,
    const struct options *options);

/* Adds a finding; `command` may be NULL. */
void doctor_find(struct doctor *doctor, enum finding_state state,
    const char *about, const char *text, const char *command);

/* Whether the policy allows an access here, in the words of `sbxc why`. */
bool doctor_allows(const struct doctor *doctor, const char *what,
    const char *object);

/* What there is to look at, in the order in which it is told. */
void doctor_machine(struct doctor *doctor);
void doctor_policy(struct doctor *doctor);
void doctor_project(struct doctor *doctor);
void doctor_agents(struct doctor *doctor);
void doctor_later(struct doctor *doctor);

/* --- init.c ------------------------------------------------------------ */

struct init {
	struct arena *arena;
	const struct options *options;
	const char *what; /* to set up: "claude"; NULL: a project */
	const char *file; /* that is to be changed, where one was named */
	const char *home, *configuration; /* directories; the latter is ours */
	const char *sbxrun;               /* its path */
	struct changes changes;
	struct sbx_blob blob; /* of the policy, to be tried; no base: none */
	const char *trial[4]; /* a program to start in the sandbox, or NULL */
	const struct client *client;        /* an agent, or NULL */
	bool shell;                         /* it gets a shell of ours */
	const struct servers *servers;      /* of MCP, or NULL */
	void (*attempt)(struct init *init); /* tries more, and tells; or NULL */
	const char *after;                  /* what the user does next */
};

/* Fill the changes in; what sbxc is to end with. */
enum exit_status init_agent(struct init *init);
enum exit_status init_mcp(struct init *init);
enum exit_status init_npm(struct init *init);
enum exit_status init_git(struct init *init);
enum exit_status init_vscode(struct init *init);
enum exit_status init_project(struct init *init);

/* The directory of what is ours; `home` is without links. */
const char *init_configuration(struct arena *arena, const char *home);

/* A name for a policy that no file has yet: NAME, or NAME-2 and so on. */
const char *init_free_name(const struct init *init, const char *name);

/* Adds a policy and its blob, NAME.sbx and NAME.bin, in the configuration; the
 * path of the blob, or NULL after complaining. */
const char *init_policy(struct init *init, const char *name, const char *text);

/* Compiles a text; false after printing its diagnostics. */
bool init_compile(const struct init *init, const char *text,
    struct image *image);

/* Adds what gives the agent of `init` sbxsh for its shell, unless something is in the way,
 * which is told: then *done is false.  False after complaining of an error. */
bool init_shell(struct init *init, bool *done);

/* Its path, beside sbxrun; NULL if it is not there. */
const char *init_sbxsh(const struct init *init);

/* Asks, writes, tries, and tells how it is undone. */
enum exit_status init_apply(struct init *init);

/* --- needs.c ----------------------------------------------------------- */

struct needs {
	struct init *init;
	struct sbx_blob blob; /* of the profile */
	struct subject subject;
	const char *rules; /* lines of a policy that extends it */
};

enum exit_status needs_bind(struct needs *needs, struct init *init,
    const char *profile);

/* Adds what a program wants, and node where it is a script of npm's. */
void needs_program(struct needs *needs, const char *path);

/* A path without links, or as it was. */
const char *needs_real(struct arena *arena, const char *path);

/* --- place.c ----------------------------------------------------------- */

struct settings_place {
	int directory; /* an open one; -1: none */
	const char *name;
};

/* Opens the directory of an absolute path; `make` makes what is missing, for
 * this user alone.  False with errno, which is ELOOP for a link. */
bool place_open(struct settings_place *place, struct arena *arena,
    const char *path, bool make);
void place_close(struct settings_place *place);

/* What the path of an open directory is without links; NULL with errno. */
const char *place_path(const struct settings_place *place, struct arena *arena);

/* Opens the file to be read; -1 with errno, which is ELOOP for a link. */
int place_read(const struct settings_place *place);

struct written {
	const char *bytes;
	size_t size;
	const struct stat *like; /* its owner and mode */
};

/* Writes the bytes under a name of its own in the directory, and returns that
 * name; NULL with errno, and nothing is left. */
const char *place_prepare(const struct settings_place *place,
    struct arena *arena, const struct written *written);

/* Gives the prepared file its name; false with errno, and it is gone. */
bool place_commit(const struct settings_place *place, const char *prepared,
    bool replace);

/* --- program.c --------------------------------------------------------- */

struct ran {
	int status;            /* of the program; -1: it could not be run */
	const char *out, *err; /* what it printed, up to a bound */
};

/* Runs a program, by its path, with the environment of sbxc and without input,
 * in a directory (NULL: this one).  `policy` is handed on with its number if it
 * is not negative. */
struct ran program_run(struct arena *arena, const char *const *words,
    const char *directory, int policy);

/* The file of a name in $PATH that can be executed, as it is written there;
 * NULL if there is none.  A name with a slash is a path. */
const char *program_in_path(struct arena *arena, const char *name);

/* Bytes in a file without a name; -1 with errno. */
int program_memory(const void *bytes, size_t size);

/* Whether a program loads no library, whatever LD_PRELOAD says. */
bool program_is_static(const char *path);

/* --- record.c ---------------------------------------------------------- */

/* The text of the record of changes. */
const char *record_of(const struct changes *changes);

/* A name for a text, such as a path, in the name of a file. */
const char *record_key(struct arena *arena, const char *text);

/* Removes an empty directory (its path ends in a slash) or a file. */
bool made_remove(struct arena *arena, const char *path);

/* Undoes what a record says: false after complaining if it is not there, or if
 * something of it has been changed since, which is left. */
bool record_undo(struct arena *arena, const char *record);

/* --- server.c ---------------------------------------------------------- */

struct json_t;

/* Whether a text begins with a policy as `sbxc init mcp` names it;
 * `rest` is what comes after it. */
bool server_policy_ends(const char *configuration, const char *text,
    const char **rest);

/* Whether that is what starts the server.  Anything else that sbxrun is told may
 * well allow everything. */
bool server_is_confined(const struct json_t *server, const char *sbxrun,
    const char *configuration);

#endif
