/*
 * The text of a macOS profile, whole and while it grows.
 */
#ifndef SBX_SBPL_H
#define SBX_SBPL_H

#include "compiler/policy/policy.h"

/* A growing text.  It stops growing when it is too large for a blob:
 * emit_blob() then refuses the policy. */
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

/* The part before the ports and paths. */
struct sbpl_blankets {
	bool everything, signal, spawn;
	enum sbx_net net;
};

/* The whole policy as a macOS sandbox profile, in the policy's arena. */
char *sbpl_text(const struct policy *policy);

/* A text with the names of its parameters and nothing else yet. */
struct sbpl sbpl_start(const struct policy *policy);
void sbpl_add_head(struct sbpl *sbpl, struct sbpl_blankets blankets);

/* Sets open[] to what the rules for macOS allow; `all`: every port is open
 * before. Returns how many are open. */
enum { SBPL_PORTS = 65536, SBPL_PORT_OPS = SBX_LISTEN_TCP + 1 };
size_t sbpl_ports(const struct policy *policy, enum sbx_port_op op, bool all,
    bool open[SBPL_PORTS]);

extern const struct port_words {
	const char *operations, *filter;
} sbpl_port_words[SBPL_PORT_OPS];

/* Adds a string as it is, or between quotes. */
void text_add(struct text *text, const char *string);
void text_add_quoted(struct text *text, const char *string);

#endif
