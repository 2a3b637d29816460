/*
 * A server that an agent starts, as `sbxc init mcp` leaves it in its settings:
 * sbxrun, with a policy of ours, "--" and the command.
 */
#ifndef SBX_SERVER_H
#define SBX_SERVER_H

#include <stdbool.h>

struct json_t;

/* Whether a text begins with the path of a blob that `sbxc init mcp` writes;
 * `rest` is what comes after it. */
bool server_blob_ends(const char *configuration, const char *text,
    const char **rest);

/* Whether that is what starts the server.  Anything else that sbxrun is told may
 * well allow everything. */
bool server_is_confined(const struct json_t *server, const char *sbxrun,
    const char *configuration);

#endif
