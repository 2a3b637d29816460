/*
 * What sbx-proxy decided, each decision once, with a count.
 */
#ifndef SBX_NETWORK_DECISIONS_H
#define SBX_NETWORK_DECISIONS_H

#include "format/blob.h"
#include "runtime/base/out.h"
#include "runtime/network/event.h"

#include <stddef.h>

/* Of different decisions; further ones are only counted. */
enum { DECISIONS_MAX = 256 };

struct decision {
	struct proxy_event event;
	uint32_t times;
};

struct decisions {
	uint32_t count;
	bool shared; /* some may be another command's of the session */
	uint64_t beyond;
	struct decision all[DECISIONS_MAX];
};

/* Takes a record of `size` bytes; one that is none is passed over. */
void decisions_take(struct decisions *decisions,
    const struct proxy_event *event, size_t size);

/* The last ones, as they came, for those who ask what was decided since. */
enum { DECISIONS_LOGGED = 1024 };

struct decision_log {
	uint64_t count; /* that ever came */
	struct proxy_event events[DECISIONS_LOGGED];
};

void decisions_log(struct decision_log *log, const struct proxy_event *event,
    size_t size);
void decisions_since(const struct decision_log *log, uint64_t since,
    struct decisions *decisions);

/* Whether it has the form of one. */
bool decision_is_record(const struct proxy_event *event);

/* Whether we refused it, and not the outside; its verdict in words; where the
 * rule is that decided, SBX_NO_SOURCE if none did. */
bool decision_is_refusal(const struct proxy_event *event);
const char *decision_verdict(const struct proxy_event *event);
uint32_t decision_source(const struct sbx_blob *blob,
    const struct proxy_event *event);

/* The fields of a decision, in an object that has begun. */
void decision_record(struct out *json, const struct sbx_blob *blob,
    const struct decision *decision);

/* One line on stderr, if something was refused. */
void decisions_tell(const struct decisions *decisions);

#endif
