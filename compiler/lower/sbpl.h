/*
 * What the files of sbpl*.c share: the text of the macOS profile while it
 * grows.
 */
#ifndef SBX_SBPL_H
#define SBX_SBPL_H

#include "compiler/lower/emit.h"

/* A growing text.  It stops just above what a blob can hold: emit_blob() then
 * refuses the policy. */
struct text {
	struct arena *arena;
	char *bytes;
	size_t used, room;
};

struct sbpl {
	struct text text;
	const struct policy *policy;
	const char *params[SBX_MAX_ANCHORS]; /* by anchor */
	size_t anchor_count;
};

/* Before the ports and paths: what goes with the default. */
struct sbpl_blankets {
	bool everything, signal;
	enum sbx_net net;
};

/* A text with the names of its parameters and nothing else yet. */
struct sbpl sbpl_start(const struct policy *policy);
void sbpl_add_head(struct sbpl *sbpl, struct sbpl_blankets blankets);

/* Sets open[] to what the rules for macOS say, beginning with all or none. */
enum { SBPL_PORTS = 65536 };
size_t sbpl_ports(const struct policy *policy, enum sbx_port_op op, bool all,
    bool open[SBPL_PORTS]);

extern const struct port_words {
	const char *operations, *filter;
} sbpl_port_words[SBX_PORT_OP_END];

/* Adds a string as it is, or between quotes. */
void text_add(struct text *text, const char *string);
void text_add_quoted(struct text *text, const char *string);

/* sbpl_paths.c: the rules of paths, and what keeps them from being moved
 * away. */
void sbpl_add_paths(struct sbpl *sbpl);

/* The filters of one place, or of what a rule speaks of, without its exclusions. */
void sbpl_add_tree(struct sbpl *sbpl, struct target at);
void sbpl_add_places(struct sbpl *sbpl, const struct path_rule *rule);

/* The order of the rules.  Equal ones, and only they, compare equal; those that
 * differ in where they hold, or in how a deny is meant, are equal here. */
int sbpl_rule_compare(const struct path_rule *a, const struct path_rule *b);

extern const char sbpl_place_functions[], sbpl_glob_function[];

/*
 * sbpl_read.c: what the text of a blob was written for.  Its denies are plain
 * ones: how a deny is meant does not show.  False for a text that sbpl_text()
 * did not write; what is true of one it did need not be true of all texts for
 * which it is true.
 */
struct sbpl_rules {
	struct sbpl_blankets blankets;
	const bool *open[SBX_PORT_OP_END]; /* SBPL_PORTS each */
	VEC(struct path_rule) paths;       /* for macOS */
};
bool sbpl_read(struct policy *policy, const char *text,
    struct sbpl_rules *rules);

enum { SBPL_RIGHTS = 3 };
extern const struct right_words {
	uint8_t right;
	const char *operations;
} sbpl_right_words[SBPL_RIGHTS];

#endif
