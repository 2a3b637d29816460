/* Verdicts on one access, and the answer of `why`. */
#ifndef SBX_COMPILER_QUERY_WHY_H
#define SBX_COMPILER_QUERY_WHY_H

#include "compiler/base/base.h"
#include "compiler/lower/lower.h"
#include "compiler/policy/kind.h"
#include "compiler/policy/policy.h"
#include "compiler/query/binder.h"
#include "format/blob.h"
#include "format/model.h"
#include "format/protocol.h"

#include <stdio.h>

/* --- here.c ------------------------------------------------------------ */

/* What a path in /proc/self opens, which leads elsewhere for each process. */
enum here_opens {
	HERE_PLACE,      /* what is there, as anywhere else */
	HERE_STREAM,     /* standard input, output or error */
	HERE_DESCRIPTOR, /* what a process has opened itself */
	HERE_PROGRAM,    /* what it runs */
	HERE_NAMESPACE,
};

struct followed {
	struct sbx_place place;      /* what is not there is taken as text */
	VEC(struct sbx_place) links; /* on the way, where they lie */
	VEC(struct sbx_place) left;  /* directories, by '..' */
	bool there;
	bool own; /* in /proc/self, of whoever asks: see here_ask() */
	enum here_opens opens;
};

/* Follows an absolute path as the kernel does: '..' is the directory above the
 * one that was reached. */
struct followed here_follow(struct arena *arena, const char *path);

/*
 * The same for what another process is going to ask, in this directory.
 * /proc/self and /proc/thread-self are kept, and so are the links in them that
 * lead elsewhere there.
 */
struct followed here_ask(struct arena *arena, const char *path);

/* Whether a place, without links on its way, is there. */
bool here_has(struct sbx_place place);

/* Whether it is there and a device, or a socket. */
bool here_is_device(struct sbx_place place);
bool here_is_socket(struct sbx_place place);

/* Whether the file's mode gives this user a right to what is there; `bare`: to
 * one without capabilities, as root is at level full. */
bool here_has_mode(struct sbx_place place, uint8_t right, bool bare);

/* Whether it is there and no directory, or lies below what is none. */
bool here_is_file(struct sbx_place place);

/* The nearest directory at or above a place that is there. */
struct sbx_place here_nearest(struct sbx_place place);

/* Whether a place, or what is there of it, lies in FUSE, where a mask can fall
 * off and the loader lets Landlock deny as well. */
bool here_is_fuse(struct sbx_place place);

/* Whether every user may make files in a directory, as in /var/tmp. */
bool here_is_shared(struct sbx_place place);

/* Whether a file can be executed, as execve(2) judges its kind and mode. */
bool here_runs(const char *path);

/* What the kernel starts to run a program: the dynamic linker of an ELF file,
 * or the interpreter of a script.  NULL if there is none, or no absolute
 * path. */
const char *here_interpreter(struct arena *arena, const char *path);

/* --- places.c ---------------------------------------------------------- */

/* A glob's match that is a link: its rule holds where that leads, too. */
struct linked_match {
	const struct sbx_path *path;
	struct sbx_place at; /* where it leads */
};

/* What a rule that denies denies besides its own place: a match of its glob, or
 * a link on the way, which may not be replaced. */
struct denied_place {
	const struct sbx_path *path;
	struct sbx_rule rule;
};

struct places {
	struct arena *arena;
	const struct sbx_blob *blob;
	struct sbx_place cwd;
	struct sbx_place anchors[SBX_MAX_ANCHORS];
	bool named[SBX_MAX_ANCHORS]; /* bound to its own name */
	struct sbx_place other_home; /* of the password entry, for denies */
	bool has_other_home;
	struct sbx_place agent;  /* of ssh: its socket */
	const char *agent_fault; /* why a rule that opens it is skipped on this
	                            * machine, or NULL */
	struct place_index *index; /* for places_rules_over(), of its own */
	bool finds; /* asked of the machine, the workspace is the one that
	             * sbxrun finds */
	bool here;  /* links of this machine count, and what is there */
	VEC(struct sbx_place) shown;   /* links on the way to what is allowed */
	VEC(struct sbx_place) matched; /* by the globs of rules that allow */
	VEC(struct linked_match) linked;
	VEC(struct denied_place) denied;
	const struct bound *bound; /* by the loader; NULL: nobody was asked */
	const bool *planted;       /* of each path rule: see below */
};

/* The path rules of one platform, bound; `paths` is beside `rules`. */
struct place_rules {
	struct sbx_rule *rules;
	const struct sbx_path **paths;
	size_t count;
};

/* NULL: the current directory; $HOME and the password entry's home. */
void places_init(struct places *places, struct arena *arena,
    const struct sbx_blob *blob, const char *workspace, const char *home);

/* From now on anchors, rules and questions are where the links of this machine
 * lead, and the rules what the loader's binder makes of them. */
void places_ask_machine(struct places *places);

/* Why the loader skips a rule about sockets, or NULL; the machine was asked. */
const char *places_socket_fault(const struct places *places,
    const struct sbx_socket *socket);

/* What was bound has changed: the index is made anew when it is needed.  Whoever
 * has a copy of the places keeps the index that was made for it. */
void places_reset_index(struct places *places);

/* Whether SSH_AUTH_SOCK names nothing, so that a path is only the words
 * ${ssh-agent}. */
bool places_is_no_agent(const struct places *places, struct sbx_place path);

/* Whether a planted link is on the way of a rule; the machine was asked. */
bool places_is_planted(const struct places *places,
    const struct sbx_path *path);

/* Takes out what the loader makes nothing of, because nothing is there: rules
 * that allow, exceptions of rules that deny, and if `denies` those rules as
 * well; and rules that a planted link leads astray.  Returns one of the rules, a
 * deny if there is one, or NULL. */
const struct sbx_path *places_rules_there(const struct places *places,
    struct place_rules *rules, bool denies);

/* Whether a rule that denies has an exception for a path, which counts for
 * nothing because the exception's place, *at, is not there. */
bool places_exception(const struct places *places, const struct sbx_path *path,
    struct sbx_place about, struct sbx_place *at);

/* The anchor of the parameter of this name, or 0: there is none. */
uint16_t places_param(const struct sbx_blob *blob, const char *name);

/* Binds a parameter; false if the policy has none of that name. */
bool places_define(struct places *places, const char *name, const char *path);

/* Binds the parameters that the policy has; the others are passed over. */
void places_define_all(struct places *places,
    const struct definitions *definitions);

/* Binds an anchor; the path is absolute. */
void places_bind(struct places *places, uint16_t anchor, const char *path);

/* Another home directory, which denials hold for too; its path is absolute. */
void places_bind_other_home(struct places *places, const char *path);

/*
 * What people type: "/x", "~/x", "${name}/x", or relative to the current
 * directory; "." and ".." are taken as text.  Returns NULL, or what is wrong.
 */
const char *places_find(const struct places *places, const char *text,
    struct sbx_place *place);

/* The same on this machine, with the links on its way. */
const struct followed *places_followed(const struct places *places,
    const char *text);

/* Whether the view of level full has a link because an allowed place lies
 * behind it. */
bool places_show_link(const struct places *places, struct sbx_place link);

/* The anchor that says most of a place. */
uint16_t places_anchor(const struct places *places, struct sbx_place place);

/* As the language writes it, from that anchor, without quotes. */
const char *places_spell(const struct places *places, struct sbx_place place);

/* One rule, at the place where its pattern begins if it has one. */
struct sbx_rule places_rule(const struct places *places,
    const struct sbx_path *path, bool other_home);

/* Whether the rule holds for the other home, too.  Where the policy denies, ~
 * has two meanings if $HOME is not the home of the password entry: changing a
 * variable uncovers nothing. */
bool places_rule_has_other(const struct places *places,
    const struct sbx_path *path);

/* Takes out the rules that do not hold at a level, see sbx_path_holds(). */
void places_rules_at(struct place_rules *rules, enum sbx_level level);

/* Without the globs: what they mean depends on what is there. */
void places_rules(const struct places *places, uint8_t platforms,
    struct place_rules *rules);

/*
 * The rules as they bear on one path: a glob that matches it, or a directory
 * above it, is a rule at that place, as if the path were there at the start.
 */
void places_rules_for(const struct places *places, uint8_t platforms,
    struct sbx_place path, struct place_rules *rules);

/*
 * The rules as they bear on one path and on what is above it, where this machine
 * was asked: what globs and links deny is where it is, and not where the path
 * is.  So Landlock gets them.
 */
void places_rules_split(const struct places *places, uint8_t platforms,
    struct sbx_place path, struct place_rules *rules);

/* Of these, only what may be a directory: a denied file is no reason not to list
 * the directory that it is in. */
void places_rules_listed(const struct places *places,
    struct place_rules *rules);

/*
 * Of the rules for one path, in the same order, those whose place is the path
 * or above it: all that a verdict is made of.  They are bound and indexed once,
 * so that asking many times costs little, however many rules there are.
 */
void places_rules_over(const struct places *places, uint8_t platforms,
    struct sbx_place path, struct place_rules *rules);

/* Whether a glob may match something in a directory or below it. */
bool places_glob_reaches(const struct places *places,
    const struct sbx_path *rule, struct sbx_place directory);

/* --- access.c ---------------------------------------------------------- */

enum { ACCESS_MAX_ARGS = 6 }; /* of a system call */

/* Details of an access to a host by its name, beside those of a rule. */
enum { ASK_REQUEST = 64, ASK_SECRET = 128 };

struct access {
	enum rule_kind_id kind; /* of the rules that are asked */
	uint8_t detail;         /* a path right, an operation on ports */
	uint16_t port;
	uint8_t address[16]; /* of a host: see format/addresses.c */
	struct sbx_place path;
	bool makes_file; /* a file is to be made there, no directory */
	bool outside;    /* the path is one of outside, in /tmp as well */
	const struct followed *followed; /* how it was found here, or NULL */
	const char *name; /* of a system call, a variable or a host */
	const char *word; /* the method of a request, or the name of a secret */
	const char *target; /* of a request to the host */
	uint8_t
	    arg_count; /* 0: whatever the arguments; what is left out is 0 */
	uint32_t args[ACCESS_MAX_ARGS];
};

/*
 * Reads an access from words.  Returns NULL, or what is wrong with them: a text
 * in the arena of `places`, for the end of a sentence.
 */
const char *access_parse(const struct places *places, const char *const *words,
    size_t count, struct access *access);

/* "write /src/x": as it would be asked, with the path bound. */
void access_show(FILE *stream, const struct access *access);

/* The same as a text in the arena, for reports. */
const char *access_text(struct arena *arena, const struct access *access);

/* --- verdict.c --------------------------------------------------------- */

struct env_index;

/* A compiled policy where it is to run. */
struct subject {
	struct places places;    /* holds the blob */
	const struct arch *arch; /* whose rules and filters count */
	enum sbx_level level;
	bool enforced; /* asked is what holds at the level, and not what the
	                * rules say */
	bool happens;  /* told is what happens, and not what the rules say */
	const struct subject
	    *ceiling; /* of this machine; NULL: none is asked */
	/* What of it denies what is asked about; NULL: nothing. */
	const char *above;
	bool cut; /* a `prefer deny` of a glob has found nothing: there was
	                * more than sbxrun searches */
	bool
	    policy_alone; /* variables that sbxrun sets by itself are left out */
	int abi;          /* of Landlock; 0: the newest known */
	const struct sbx_program *program; /* the filter that sbxrun takes on
	                                    * this machine; NULL: not known */
	const char *unknown;   /* why it is not, though it was asked for: sbxrun
	                      * "is ...", "does ..."; or NULL */
	struct env_index *env; /* of the blob, if many variables are asked
	                        * about; NULL: all rules are looked at */
};

/* --- ceiling.c --------------------------------------------------------- */

struct options;

/* The ceiling of this machine, bound as the subject is; NULL: there is none. */
const struct subject *ceiling_read(const struct options *options,
    const struct subject *subject);

/* The rule of the ceiling that does not allow it, with its place; NULL: it does. */
const char *ceiling_denies(const struct subject *ceiling,
    const struct access *access);

/* What decided: from BY_RULE on, a record of a kind of rule. */
enum verdict_by {
	BY_NOTHING,    /* no rule is about it */
	BY_EVERYTHING, /* allow everything */
	BY_NETWORK,    /* network full or loopback, allowed or denied */
	BY_OLD_KERNEL, /* no TCP socket opens below Landlock ABI 4 */
	BY_OUTSIDE,  /* a server of outside listens at a place of a path rule */
	BY_NO_PATHS, /* sockets stay shut where only a filter is there */
	BY_SHUT,   /* the filter of this machine, which makes no such socket */
	BY_HIDDEN, /* the scratch directory, behind which /tmp of outside lies */
	BY_SPAWN,  /* deny spawn */
	BY_SCRATCH, /* TMPDIR, which leads to the scratch directory */
	BY_AGENT,   /* SSH_AUTH_SOCK, which leads to a socket of the rules */
	BY_SBXRUN,  /* another variable that sbxrun sets itself */
	BY_MACHINE, /* it has no such system call */
	BY_LINK,    /* on its way, which the view does not hold */
	BY_LEFT,    /* '..' out of a directory, which the view does not hold */
	BY_DEVICE,  /* the view, which has devices only by rules in /dev */
	BY_KEPT, /* the loader, which keeps sbx's own files from all commands */
	BY_PROC, /* the loader, which opens the sandbox's own /proc */
	BY_OWN,  /* the kernel and the loader, of a link in /proc/self */
	BY_ABOVE, /* the view, which has what leads to what is allowed; if
	           * `source` is a rule's, that denies it */
	BY_SPLIT, /* Landlock is given the entries of its directory, or of
	                * itself, one by one, for a rule denies one */
	BY_RULE,  /* and the kind: BY_RULE + KIND_PATH */
	BY_PATH = BY_RULE + KIND_PATH,
	BY_PORT = BY_RULE + KIND_PORT,
	BY_SYSCALL = BY_RULE + KIND_SYSCALL, /* a rule, or the baseline */
	BY_ENV = BY_RULE + KIND_ENV,
	BY_SET = BY_RULE + KIND_SET, /* the value is the policy's own */
};

struct verdict {
	bool allowed;
	bool preferred; /* a `prefer deny` decided */
	bool depends; /* a system call: on its arguments; a descriptor: on what
	                  * it is */
	bool unenforced; /* denied, and nothing at this level holds it */
	enum verdict_by by;
	uint32_t rule;   /* from BY_RULE on: which record of that kind */
	uint32_t source; /* where it is written, or SBX_NO_SOURCE */
	uint32_t answer; /* of the filter, for a system call that it denies */
	const struct sbx_path *absent; /* a rule that would decide, if something
	                                * were there */
	struct sbx_place link;         /* for BY_LINK, BY_LEFT */
	struct sbx_place
	    split;    /* for BY_SPLIT; `rule` denies something in it */
	bool scratch; /* inside, its path leads to the scratch directory */
};

struct verdict verdict_of(const struct subject *subject,
    const struct access *access);

/* For a kind of rule: what the model says, without the rule that decided; and
 * the Landlock ABI that counts at the subject's level. */
struct verdict verdict_begin(struct sbx_verdict model);
uint32_t verdict_abi(const struct subject *subject);

/* Whether a path rule holds where the subject runs, see sbx_path_holds(). */
bool verdict_path_holds(const struct subject *subject,
    const struct sbx_path *path);

/* Whether a link of this machine is not in the view of level full, so that no
 * path leads through it. */
bool verdict_link_hidden(const struct subject *subject, struct sbx_place link);

/* Whether level full has a directory in its view because something below it is
 * allowed: it can be listed, though no rule allows that, and shows no more. */
bool verdict_is_above_allowed(const struct subject *subject,
    const struct access *access);

/* What the rules about paths say. */
struct verdict path_verdict(const struct subject *subject,
    const struct access *access);

/* The record of a system call on a machine; NULL if the blob has none. */
const struct sbx_syscall *verdict_syscall(const struct sbx_blob *blob,
    const struct arch *arch, const char *name);

/* The filter that the loader takes, see struct sbx_program; NULL if none. */
const struct sbx_program *verdict_program(const struct subject *subject);

/* --- decider.c --------------------------------------------------------- */

/*
 * "deny write ${workspace}/.git", "allow network full"; of a system call that a
 * rule about something else decided, what that is about.  Prints nothing if no
 * rule decided.
 */
void decider_show(FILE *stream, const struct sbx_blob *blob,
    const struct verdict *verdict);

/* Any rule of a blob: a record of its kind. */
const char *record_text(struct arena *arena, const struct sbx_blob *blob,
    const struct rule_kind *kind, const void *record);

/* The same as a text; NULL if no rule decided. */
const char *decider_text(struct arena *arena, const struct sbx_blob *blob,
    const struct verdict *verdict);

/* The platforms on which it holds. */
uint8_t decider_platforms(const struct sbx_blob *blob,
    const struct verdict *verdict);

/* Whether a call was decided by its name or group; else a rule about the
 * network or namespaces decided, or the baseline. */
bool decider_names_call(const struct sbx_blob *blob,
    const struct sbx_syscall *call);

/* --- env_index.c ------------------------------------------------------- */

/* Records in the order of the blob, and which ones they are. */
struct env_records {
	VEC(struct sbx_env) records;
	VEC(uint32_t) numbers;
};

/* Patterns by what they begin or end with, of which so many bytes count. */
enum { ENV_AFFIX_MAX = 63 };
struct env_affixes {
	uint64_t lengths;    /* bit: there are some of this length */
	struct map keys;     /* its numbers index the next */
	VEC(uint32_t) first; /* 1 + record, or 0; the next one in next_rule */
};

struct env_index {
	struct arena *arena;
	const struct sbx_blob *blob;
	struct map names; /* that are spelled out; its numbers index the next */
	VEC(uint32_t) first_rule, first_set; /* 1 + record, or 0 */
	uint32_t *next_rule,
	    *next_set; /* by record: the next one of its list */
	struct env_affixes begins, ends; /* patterns that begin with a star
	                                  * are found by their end */
	struct env_records some;         /* those that were asked for last */
};

struct env_index *env_index_new(struct arena *arena,
    const struct sbx_blob *blob);

/* The rules that may speak of a name, in the order of the blob, until the next
 * call. */
const struct env_records *env_index_rules(struct env_index *index,
    const char *name);

/* 1 + the first `set env` of a name, or 0; the next one is in next_set. */
uint32_t env_index_set(const struct env_index *index, const char *name);

/* --- glob_list.c ------------------------------------------------------- */

struct glob_entry {
	uint32_t rule;
	uint32_t next; /* of the same name */
	struct sbx_glob glob;
};

struct glob_list {
	VEC(struct glob_entry) entries;
	struct map
	    names; /* numbers are those of firsts; "": any name will do */
	VEC(uint32_t) firsts;
};

/* A rule's glob; one that is none is left out. */
void glob_list_add(struct arena *arena, struct glob_list *list, uint32_t rule,
    const char *text);

/* Whoever is told of each entry that may match a path, once or more. */
struct glob_visitor {
	void (*visit)(void *context, const struct glob_entry *entry);
	void *context;
};

void glob_list_visit(const struct glob_list *list, struct sbx_place path,
    const struct glob_visitor *visitor);

/* --- remedy.c ---------------------------------------------------------- */

enum remedy_do {
	REMEDY_ADD, /* a statement, "allow ..." or "drop ...", to the profile */
	REMEDY_REMOVE, /* a rule of one's own, which is at the source */
	REMEDY_EXCEPT, /* the object goes behind `except` of the rule there */
	REMEDY_MAKE,   /* a directory, before the command starts */
	REMEDY_MAKE_EXCEPTED, /* the place of an exception, of either kind */
	REMEDY_MAKE_ABOVE,    /* the directory that is excepted */
	REMEDY_NONE,          /* nothing is offered: why */
	REMEDY_INSTEAD, /* a statement that makes the access unnecessary */
	REMEDY_HINT,    /* what may be done instead, in words */
	REMEDY_OPENS,   /* what the step before gives away as well */
};

struct remedy_step {
	enum remedy_do what;
	const char *text;
	uint32_t source;
};

struct remedy {
	struct arena *arena;
	const struct subject *subject;
	const struct sbx_blob *blob;
	const struct access *access;
	const struct verdict *verdict;
	VEC(struct remedy_step) steps; /* none: it takes another machine */
};

struct remedy remedy_find(const struct subject *subject,
    const struct access *access, const struct verdict *verdict);

/* Whether it is allowed once the steps are done. */
bool remedy_works(const struct remedy *remedy);

/* Where a step is done. */
enum sbx_advice_where remedy_where(const struct remedy_step *step);

/* Into which file the statements go, and how it is compiled; several words.
 * NULL: the policy does not tell. */
const char *remedy_file(struct arena *arena, const struct sbx_blob *blob);

/* One of its steps on a line of its own, without the reasons. */
const char *remedy_words(struct arena *arena, const struct remedy *remedy,
    size_t step);

/* "    to allow it: ..." and so on, a line each. */
void remedy_print(FILE *stream, const struct remedy *remedy);

/* For the kinds of rules: a step of a kind. */
void remedy_add(struct remedy *remedy, enum remedy_do what, const char *format,
    ...) __attribute__((format(printf, 3, 4)));
/* What the step before opens; NULL: nothing else. */
void remedy_opens(struct remedy *remedy, const char *what);
/* That a deny, whose words these are, goes. */
void remedy_lift(struct remedy *remedy, uint32_t source, const char *rule);
bool remedy_is_shipped(const struct sbx_blob *blob, uint32_t source);

/* Why the right that is asked for (access->detail) is not offered for a place, or
 * NULL.  The workspace, the scratch directory and parameters are the command's
 * own.  No verdict is needed. */
const char *remedy_risk(const struct remedy *remedy, struct sbx_place place);

/* Whether a directory has the files of everybody, or of every service: one in
 * the root directory, or one that all may write in, such as /var/tmp. */
bool remedy_is_common(const struct remedy *remedy, struct sbx_place directory);

/* Whether what git runs of a repository lies in the place, or is it. */
bool remedy_has_hook(const struct remedy *remedy, struct sbx_place place);

/* What the denies of writing in a shipped group are there for, or NULL. */
const char *remedy_kept_by(const char *group);

/* What a rule about the place, in these words, opens beside what is asked for. */
void remedy_add_opened(struct remedy *remedy, struct sbx_place place,
    const char *object);

/* As the tables of risks have a place: below ~, or absolute. */
struct target remedy_target(const struct remedy *remedy,
    struct sbx_place place);

/* The directory of a path; that of "/" is itself. */
struct sbx_place remedy_parent(struct sbx_place path);

/* The answer about paths. */
void path_remedy(struct remedy *remedy);

/* --- why.c ------------------------------------------------------------- */

/* An answer in the making. */
struct why {
	FILE *stream;
	const struct subject *subject;
	const struct sbx_blob *blob;
	const struct access *access;
	bool all_levels; /* else that of the subject alone */
	struct verdict verdict;
};

/* Prints the answer; returns whether the access is allowed.  Enforcers are
 * named for all levels at which the policy runs, or for the subject's. */
bool why(FILE *stream, const struct subject *subject,
    const struct access *access, bool all_levels);

/* The first word of an answer: "allowed", "denied", or "inside" a network of the
 * sandbox's own. */
const char *why_word(const struct subject *subject, const struct access *access,
    const struct verdict *verdict);

/* why_enforcer.c: what holds a denial, and what an allowed path still lacks. */
void why_say_enforcers(const struct why *why);
void why_say_effects(const struct why *why);

/* "    FILE:LINE:COL: " before a rule, and its end. */
void why_say_rule(const struct why *why, const char *label, uint32_t source);
void why_say_rule_end(const struct why *why, uint8_t platforms,
    uint32_t source);
void why_say_path_rule(const struct why *why, const char *label,
    const struct sbx_path *path);

/* The rule that decided, or that none allows it. */
void why_say_decider(const struct why *why, const struct verdict *verdict);

/* Which filter a system call was judged by, where a machine was asked. */
void why_say_filter(const struct why *why);

/* The answer about paths. */
void why_path(const struct why *why);
const char *path_enforcer(const struct why *why, enum sbx_level level);

/* The rule on paths that decided, or NULL. */
const struct sbx_path *why_path_rule(const struct why *why);

/* --- network.c --------------------------------------------------------- */

/*
 * Whether the network as a whole decides about a TCP port of any host: in the
 * host's network a port rule has no address, so it lets through to all.
 */
bool network_decides(const struct subject *subject, uint16_t port,
    struct verdict *verdict);

/* What a network of the sandbox's own says of a port, inside: any is open where
 * there is such a network, at level full. */
struct verdict network_inside(const struct subject *subject);

/* The verdict of a rule about hosts at the subject's level: below standard no
 * socket opens. */
struct verdict network_at_level(const struct subject *subject,
    struct verdict verdict);

/* Says what an allowed host still lacks. */
void network_say(const struct why *why);

/* What holds a denial at a level. */
const char *network_enforcer(const struct why *why, enum sbx_level level);

/* Offers what opens the network for rules about hosts; false if something else
 * has been said, after which no rule about a host would help. */
bool network_remedy(struct remedy *remedy);

/* --- own.c ------------------------------------------------------------- */

/* Whether an access is to a link of /proc/self that leads elsewhere for each
 * process; then what becomes of it, but for the links on the way. */
bool own_verdict(const struct access *access, struct verdict *verdict);

/* Of the same, what it depends on. */
void own_say(const struct why *why);

/* The rule about /proc, and about the links to it in /dev, that an access to
 * what lies in /proc/self lacks; false if it is no such access. */
bool own_remedy(struct remedy *remedy);

/* The rule that a link on the way lacks, such as /proc/self/cwd or /dev/fd; false
 * if it is none of these. */
bool own_remedy_link(struct remedy *remedy, struct sbx_place link);

/* --- show.c ------------------------------------------------------------ */

/* The text as it is if it is one plain word; else in quotes, with escapes for
 * what a terminal could take for a command. */
void show_text(FILE *stream, const char *text);

/* The same, in quotes whatever it is. */
void show_quoted(FILE *stream, const char *text);

/* A path as an object of the language: in quotes if it needs them; NULL if no
 * policy can hold it. */
const char *spelled_path(struct arena *arena, const char *path);

/* The same, as a text in the arena. */
const char *shown_text(struct arena *arena, const char *text);

/* "${workspace}/x", "~/x", "/x", quoted if need be. */
void show_place(FILE *stream, const struct sbx_blob *blob, uint16_t anchor,
    uint32_t suffix);

/* The same with a pattern, in front of which stands the word; 0: none. */
void show_glob(FILE *stream, const struct sbx_blob *blob, uint16_t anchor,
    uint32_t suffix, uint32_t glob);

/* "deny write ${workspace}/.git except ${workspace}/.git/index". */
void show_path_rule(FILE *stream, const struct sbx_blob *blob,
    const struct sbx_path *rule);

/* The same as a text in the arena. */
const char *shown_rule(struct arena *arena, const struct sbx_blob *blob,
    const struct sbx_path *rule);

/* " on x86_64"; nothing for all of Linux. */
void show_platforms(FILE *stream, uint8_t platforms);

/* "team.sbx:9:5", or "(built in)" for SBX_NO_SOURCE. */
void show_source(FILE *stream, const struct sbx_blob *blob, uint32_t source);

const char *show_source_text(struct arena *arena, const struct sbx_blob *blob,
    uint32_t source);

/* The name of the profile or group that holds the place, or NULL. */
const char *show_via(const struct sbx_blob *blob, uint32_t source);

/* "EPERM", or NULL for a number without a name. */
const char *show_errno(uint16_t error);

/* What a function writes to a stream, as a text in the arena. */
typedef void show_writer(FILE *stream, const void *what);
const char *show_to_text(struct arena *arena, show_writer *write,
    const void *what);

/* --- sockets.c --------------------------------------------------------- */

/* A rule at its place; ~ has two meanings where it denies. */
struct sbx_rule places_socket(const struct places *places,
    const struct sbx_socket *socket, bool other_home);
bool places_socket_has_other(const struct places *places,
    const struct sbx_socket *socket);

/* Whether the command may connect to a socket. */
struct verdict socket_verdict(const struct subject *subject,
    const struct access *access);

/* Whether a server of outside can be connected to wherever the command may write:
 * at level full, where the policy opens the network of the host. */
bool socket_is_unwatched(const struct subject *subject);

/* Whether a rule opens the agent of ssh: SSH_AUTH_SOCK then names it inside.  Of
 * this machine, whether it is there, too. */
bool subject_has_agent(const struct subject *subject);

/* For an answer: the rules that would open it and are skipped, and why. */
void why_say_no_agent(const struct why *why);

/* Says that no rule is missing if that is so of the agent; returns whether. */
bool remedy_agent(struct remedy *remedy);

#endif
