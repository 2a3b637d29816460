/*
 * Links that somebody planted.
 *
 * Whoever may write the directory that holds a link could have chosen where it
 * leads.  So a link is judged by where it lies, whatever asks for it: a rule, a
 * parameter, the workspace, the policy, the log.  Commands may have written
 * what this policy or a shipped one lets them write, and decide where the links
 * in /proc/PID lead; other users may have written what is theirs.
 */
#ifndef SBX_PLANTED_H
#define SBX_PLANTED_H

#include "runtime/bind/binder.h"

/* Why a link is not to be followed, or NULL.  The anchors must be bound. */
const char *link_fault(struct binder *binder, struct sbx_place link);

/*
 * The same for what the caller has named.  The directory must not have been a
 * workspace either: -w sub, in one, could lead anywhere.  This is not asked for
 * rules; else the links in a home would fail for good once it was a workspace.
 */
const char *given_fault(struct binder *binder, struct sbx_place link);

/* Whether one of the links that were followed is not to be. */
bool is_planted(struct binder *binder, const struct followed *found);

/* Whether a command may have put an entry into its directory, or chooses where
 * it leads. */
bool commands_choose(struct binder *binder, struct sbx_place entry);

#endif
