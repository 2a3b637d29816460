/*
 * A server that an agent starts, as `sbxc init mcp` leaves it in its settings:
 * sbxrun, with a policy of ours, "--" and the command.
 */
#include "compiler/base/base.h"
#include "compiler/setup/setup.h"

#include <string.h>

bool
server_policy_ends(const char *configuration, const char *text,
    const char **rest)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
	size_t len = strlen(configuration);

	if (strncmp(text, "@mcp-", 5) == 0) {
		*rest = text + 1 + strspn(text + 1, letters);
		return true;
	}
	if (strncmp(text, configuration, len) != 0 ||
	    strncmp(text + len, "/mcp", 4) != 0)
		return false;
	text += len + 1;
	text += strspn(text, letters);
	*rest = text + 4;
	return strncmp(text, ".bin", 4) == 0;
}

bool
server_is_confined(const struct json_t *server, const char *sbxrun,
    const char *configuration)
{
	const struct json_t *arguments = json_member(server, "args");
	const char *command = json_text(server, "command");
	const char *blob = json_text_at(json_item(arguments, 0));
	const char *dashes = json_text_at(json_item(arguments, 1));
	const char *rest;

	return configuration != NULL && command != NULL &&
	    (strcmp(command, sbxrun) == 0 || strcmp(command, "sbxrun") == 0) &&
	    json_count(arguments) >= 3 && blob != NULL && dashes != NULL &&
	    server_policy_ends(configuration, blob, &rest) && *rest == '\0' &&
	    strcmp(dashes, "--") == 0;
}
