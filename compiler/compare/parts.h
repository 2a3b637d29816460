/*
 * Between compare.c and the files that each compare one kind of thing.  A pass
 * is one machine and one binding; what a pass finds again is noted once.
 */
#ifndef SBX_COMPARE_PARTS_H
#define SBX_COMPARE_PARTS_H

#include "compiler/base/map.h"
#include "compiler/compare/compare.h"

/* What makes two findings the same: the rule behind them and what it gives or
 * takes.  Unset fields are zero. */
struct note_key {
	uint32_t kind, change, side;
	uint32_t by;     /* enum verdict_by */
	uint32_t rule;   /* in that table */
	uint32_t detail; /* a right, an operation */
	uint32_t text;   /* number of a text, see pass_text() */
};

struct notes {
	struct map keys; /* of struct note_key */
	struct map texts;
	VEC(uint32_t) differences; /* by number of the key */
};

struct pass {
	struct comparison *comparison;
	struct notes *notes;
	struct arena *scratch; /* of this pass */
	const struct binding *binding;
	uint8_t platforms;    /* the machines that it speaks for */
	enum sbx_level level; /* for paths: what holds there */
	bool cut;             /* see struct subject: what differs may differ */
	struct subject subjects[SIDE_COUNT]; /* that level, newest ABI */
};

/* The difference that was noted under this key, or NULL. */
struct difference *pass_known(const struct pass *pass,
    const struct note_key *key);

/* Whether it was, for the machines of this pass too. */
bool pass_said(const struct pass *pass, const struct note_key *key);

/* Counts the difference that was noted under this key once more; false if
 * there is none. */
bool pass_again(const struct pass *pass, const struct note_key *key);

/* Notes one more; the text of `what` and of the rules must live on.  Returns
 * it where it is kept until the next is noted. */
struct difference *pass_note(struct pass *pass, const struct note_key *key,
    const struct difference *difference);

/* A number for a text, for a key. */
uint32_t pass_text(struct pass *pass, const char *text);

/*
 * Asks both sides about an access at a level and an ABI and notes that they
 * differ, with what they say.  The cause is the side that the key names.
 */
struct difference *pass_note_access(struct pass *pass,
    const struct note_key *key, const struct access *access,
    enum sbx_level level, int abi);

/* Asks one side. */
struct verdict pass_ask(const struct pass *pass, enum side side,
    const struct access *access, enum sbx_level level, int abi);

/* Notes what is no access: a setting, as `what`, and what each side says of
 * it (NULL: nothing). */
void pass_note_setting(struct pass *pass, enum difference_kind kind,
    enum change change, const char *what,
    const struct explanation says[SIDE_COUNT]);

/* The text of the rule behind a verdict; NULL if no rule is. */
const char *explanation_text(struct arena *arena, const struct sbx_blob *blob,
    const struct verdict *verdict);

/* The text of a rule of a blob: "deny write ${workspace}/.git". */
const char *path_explanation(struct arena *arena, const struct sbx_blob *blob,
    const struct sbx_path *path);

/* Binds both policies, in pass->scratch; in the one way that the user asks for,
 * if there is one. */
void pass_begin(struct pass *pass, const struct binding *binding);

/* Whether two anchors have one name: numbers of parameters differ.  Either may
 * be SBX_NO_ANCHOR, which the other has to be, too. */
bool anchors_equal(const struct sbx_blob *old, uint16_t a,
    const struct sbx_blob *new, uint16_t b);

/* The parts.  Path rules are merged once for a machine, then bound. */
struct rules;
struct rules *rules_merge(struct pass *pass, struct arena *arena);
void compare_strengths(struct pass *pass, const struct rules *rules);
void compare_paths(struct pass *pass, const struct rules *rules);
void compare_places(struct pass *pass, const struct rules *rules,
    const struct binding *binding); /* paths and sockets in one binding */
void compare_layouts(struct pass *pass, struct rules *rules);
void compare_ports(struct pass *pass);
void compare_domains(struct pass *pass);
void compare_endpoints(struct pass *pass);
void compare_proxies(struct pass *pass);
void compare_env(struct pass *pass);
void compare_sockets(struct pass *pass);
void compare_settings(struct pass *pass);
void compare_syscalls(struct pass *pass);
/* Takes out the calls that rules about ports and hosts open or shut. */
void compare_implied(struct comparison *comparison);

/* The levels at which both policies run, from full down; how many. */
size_t common_levels(const struct comparison *comparison,
    enum sbx_level levels[SBX_LEVEL_END]);

#endif
