/*
 * What a command opens in /proc/self, by /dev/stdin and the like.  Which file
 * that is shows when it runs; how the kernel and the loader judge it is known.
 */
#ifndef SBX_OWN_H
#define SBX_OWN_H

#include "compiler/query/remedy.h"
#include "compiler/query/why.h"

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

#endif
