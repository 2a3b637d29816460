/*
 * What would allow what was denied.  To find that takes heap, texts and the
 * tables of the language, so sbxc is asked, which gives the answers of `sbxc
 * why`.  Without it there is no advice.
 */
#ifndef SBX_ADVICE_H
#define SBX_ADVICE_H

#include "runtime/explain/explain.h"

/* Finds sbxc, before the command starts: it is the one that was installed with
 * this sbxrun, and only if the command cannot write there. */
void advice_open(struct explaining *explaining);

/* Asks about all denials; a list beside explaining->denials, or NULL. */
const struct sbx_advice *advice_ask(const struct explaining *explaining,
    enum sbx_level level);

#endif
