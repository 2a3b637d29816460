/*
 * What is shared while a policy is restored.
 */
#ifndef SBX_RESTORER_H
#define SBX_RESTORER_H

#include "compiler/policy/kind.h"
#include "compiler/restore/restore.h"
#include "compiler/restore/sbpl_read.h"

struct restorer {
	struct arena *arena;
	const struct sbx_blob *blob;
	struct policy *policy;
	/* Of the blob's sources; NULL: none. */
	const struct position **positions;
	struct sbpl_rules macos;
	bool has_macos;
	const char *fault;
};

/* A string of the blob, interned. */
const char *restorer_string(const struct restorer *restorer, uint32_t offset);

/* The origin of a rule that has no text, with the position of a source. */
struct origin restorer_origin(const struct restorer *restorer,
    uint8_t platforms, uint32_t source);

/* Whether a rule of the tables may be for macOS too: one for everything is a
 * reason to refuse others, on its platform alone. */
bool restorer_shares(const struct restorer *restorer);

/* Notes what no policy can say; the first counts. */
void restorer_fault(struct restorer *restorer, const char *fault);

/* What is for all of Linux is for macOS too, where nothing says otherwise. */
uint8_t restorer_platforms(uint8_t platforms);

/* Rules about hosts are for macOS too, if its text opens what they come to
 * there. */
void restorer_share_hosts(const struct restorer *restorer,
    enum rule_kind_id kind);

/* Notes a path that no policy can name. */
void restorer_path(struct restorer *restorer, const char *path);

#endif
