/* The command line and the limits it sets. */
#ifndef SBX_RUNTIME_BASE_OPTIONS_H
#define SBX_RUNTIME_BASE_OPTIONS_H

#include "format/blob.h"
#include "runtime/base/out.h"

/* --- limits.c ---------------------------------------------------------- */

/* What the command line says of one limit. */
struct limit_choice {
	bool given;
	bool lifted; /* NAME=none; else: */
	uint64_t value;
};

/* NAME=VALUE of --limit; refuses what it cannot be. */
void limits_choose(struct limit_choice choices[SBX_LIMIT_END],
    const char *text);

/* From now on the blob's limits are those of this machine, with the choices in
 * their place; they lie in `room`. */
void limits_apply(struct sbx_blob *blob,
    const struct limit_choice choices[SBX_LIMIT_END],
    struct sbx_limit room[SBX_LIMIT_END]);

const char *limit_name(uint16_t kind);
/* "timeout 120s", as a policy says it. */
void out_limit(struct out *out, const struct sbx_limit *limit);

/* "sbxrun: SOURCE: limit NAME VALUE: TEXT; --limit NAME=none lifts it" on
 * stderr. */
void limit_say(const struct sbx_blob *blob, uint16_t kind, const char *text);

/* --- options.c --------------------------------------------------------- */

struct definition {
	const char *text; /* NAME=PATH */
	uint32_t name_len;
};

enum {
	OPTIONS_MAX_DEFINITIONS = SBX_MAX_ANCHORS,
	OPTIONS_MAX_NAME = 64,    /* bytes of a session's or a stage's name */
	OPTIONS_MAX_PASSED = 8,   /* descriptors that are handed on */
	OPTIONS_MAX_STAGED = 256, /* paths behind --staged */
	OPTIONS_MAX_RULES = 64,   /* of --allow and --deny */
	OPTIONS_IDLE = 600,       /* seconds */
};

struct extra_rule {
	const char *text; /* "read ~/data" */
	bool denies;
};

struct options {
	char **words;       /* the command line */
	const char *policy; /* NULL: none was named */
	bool in_home;       /* the workspace that was found is a home */
	bool by_default;    /* it is the one that commands get then */
	/*
	 * The command, NULL-terminated; the slot before the first element is
	 * free to be overwritten (a script without an interpreter line is
	 * handed to the shell).
	 */
	char **command;
	const char *profile; /* -p: of a text that defines several; or NULL */
	uint32_t rule_count;
	struct extra_rule rules[OPTIONS_MAX_RULES]; /* --allow, --deny */
	const char *workspace;                      /* -w, or NULL */
	const char *git;    /* its repository elsewhere, see project_find() */
	const char *expect; /* 64 hexadecimal digits, or NULL */
	int level;          /* -l: enum sbx_level, or -1 for auto */
	int status_fd;      /* --status-fd, or -1 */
	const char *log;    /* --log, or NULL */
	bool log_brief;     /* --log-args=no */
	bool plan;          /* -n */
	bool brief;         /* --dry-run=summary */
	bool explain;       /* --explain, and what it says: */
	bool explain_live, explain_all, explain_agent, explain_quiet;
	bool explain_thorough;    /* see struct explaining */
	const char *explain_file; /* or NULL */
	const char *learn;        /* --learn: a file, or NULL */
	bool ask;                 /* --ask, and whom: */
	const char *ask_program;  /* NULL: the person at the terminal */
	bool ask_always;          /* --ask-always: it may change the policy */
	int questions; /* --questions: a socket on which names are asked; or -1 */
	bool staging;      /* --stage, and its name: */
	const char *stage; /* or NULL: the workspace's own */
	bool staged;       /* --staged: what follows is about a stage */
	bool verbose;
	bool self_test;      /* --self-test: there is no command */
	bool doctor;         /* --doctor: there may be a policy */
	bool status;         /* --status: there is no policy */
	bool clean;          /* --clean: there is no policy */
	const char *session; /* --session, or NULL */
	bool sessions;       /* --sessions: lists them */
	/* With --session, in place of a command: */
	bool end, check;
	bool end_idle;    /* --end=idle */
	bool with_parent; /* --with-parent */
	uint64_t idle;    /* --idle: seconds; 0: for ever */
	int keep; /* --keep: a socket that the session lives for; or -1 */
	int join; /* --join: a socket to a session's keeper; or -1 */
	bool own_session; /* --session=auto, whose name comes later */
	int passed[OPTIONS_MAX_PASSED]; /* --pass-fd */
	uint32_t passed_count;
	bool json; /* --json */
	bool accept_none;
	bool allow_full_access;
	struct limit_choice limits[SBX_LIMIT_END]; /* --limit */
	uint32_t definition_count;
	struct definition definitions[OPTIONS_MAX_DEFINITIONS];
	char *shell[5]; /* the command of -c */
};

/* Fills `options` or ends the program: --help, --version and --status with 0,
 * a wrong command line with 125 and one line that says what is wrong. */
void options_parse(struct options *options, char **argv);

/* Part of it: the policy and the command, which come behind the options. */
void options_take_words(struct options *options, char **argv);

/* Whether the word says that the command begins: -- or -c. */
bool options_begin_command(const char *word);

/* Part of it: refuses options that do not go together. */
void options_check(const struct options *options);

/* Whether the command line is about a session that may be there already, and
 * whether it does something else than to run a command. */
bool options_in_session(const struct options *options);
bool options_have_no_policy(const struct options *options);

#endif
