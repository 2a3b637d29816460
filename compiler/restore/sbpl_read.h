/*
 * A macOS profile, read back.
 */
#ifndef SBX_SBPL_READ_H
#define SBX_SBPL_READ_H

#include "compiler/lower/lower.h"

/*
 * What the text of a blob was written for.  Its denies are plain
 * ones: how a deny is meant does not show.  False for a text that sbpl_text()
 * did not write; what is true of one it did need not be true of all texts for
 * which it is true.
 */
struct sbpl_rules {
	struct sbpl_blankets blankets;
	const bool *open[SBPL_PORT_OPS]; /* SBPL_PORTS each */
	VEC(struct path_rule) paths;     /* for macOS */
	struct rule_list sockets;
};
bool sbpl_read(struct policy *policy, const char *text,
    struct sbpl_rules *rules);

#endif
