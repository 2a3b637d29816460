/*
 * A blob's symbolic paths bound as text, for questions about a policy: the
 * workspace is a directory that was named, and nothing is looked up on disk.
 * The loader binds the same anchors by opening them, so that symbolic links
 * count there and not here, unless this machine is asked
 * (places_ask_machine()).
 *
 * What has no path before the loader runs, the scratch directory above all, is
 * bound to its own name ("/tmp/sbx-UID/${tmp}"), which no file has.
 */
#ifndef SBX_PLACES_H
#define SBX_PLACES_H

#include "compiler/policy/policy.h"
#include "compiler/query/binder.h"
#include "compiler/query/here.h"
#include "format/model.h"

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

#endif
