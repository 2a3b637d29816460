/* What `sbxrun --status`, `--self-test` and `--sessions` tell, in words. */
#include "compiler/records/records.h"

#include <string.h>

enum { COLUMN = 12 }; /* where the text of a heading begins */

/* --- what the machine offers ---------------------------------------------- */

static const char *
missing(const struct json_t *status, const char *part)
{
	return json_text(json_member(status, part), "missing");
}

static void
put_part(struct out *out, const struct json_t *status, const char *part,
    const char *fine)
{
	const char *why = missing(status, part);

	out_column(out, part, COLUMN);
	if (why == NULL)
		out_text(out, fine);
	else
		out_shown(out, why, strlen(why));
	out_text(out, "\n");
}

static void
put_more(struct out *out, const char *text)
{
	out_column(out, "", COLUMN);
	out_print(out, "%s\n", text);
}

static void
put_landlock(struct out *out, const struct json_t *status)
{
	const struct json_t *landlock = json_member(status, "landlock");
	unsigned abi = (unsigned)json_number(landlock, "abi");

	if (abi == 0) {
		put_part(out, status, "landlock", "");
		return;
	}
	out_column(out, "landlock", COLUMN);
	out_print(out, "ABI %u, errata fixed: %u\n", abi,
	    (unsigned)json_number(landlock, "errata"));
	if (abi < 4)
		put_more(out,
		    "TCP ports need ABI 4 (Linux 6.7): policies that open "
		    "some keep TCP shut");
	if (abi < 6)
		put_more(out,
		    "signals and abstract sockets are kept inside from ABI 6 "
		    "on (Linux 6.12)");
}

/* Without one commands are less confined, and some policies are refused. */
static void
put_listener(struct out *out, const struct json_t *status)
{
	const char *sockets = missing(status, "sockets");

	put_part(out, status, "listener",
	    "sbxrun can answer calls of a command");
	if (missing(status, "listener") != NULL) {
		put_more(out,
		    "at standard, modes, times and attributes of what may "
		    "only be read can be");
		put_more(out, "changed, and AF_UNIX sockets are closed");
	} else if (sockets != NULL) {
		out_column(out, "", COLUMN);
		out_text(out, "but not connect sockets: ");
		out_shown(out, sockets, strlen(sockets));
		out_text(out, ";\n");
		put_more(out,
		    "AF_UNIX ones are closed, and at standard those of TCP");
	}
	if (missing(status, "supervisor") == NULL)
		return;
	put_part(out, status, "supervisor", "");
	put_more(out,
	    "policies with a limit on time or output, or that watch, are "
	    "refused, as all");
	put_more(out, "that come with sbx are");
}

void
status_show(struct out *out, const struct json_t *status)
{
	out_column(out, "kernel", COLUMN);
	out_text(out, "Linux ");
	put_shown(out, status, "kernel");
	out_text(out, " ");
	put_shown(out, status, "machine");
	out_text(out, "\n");
	put_landlock(out, status);
	put_part(out, status, "seccomp", "filters with errno");
	put_listener(out, status);
	put_part(out, status, "namespaces",
	    "user, mount, process and IPC: tried, fine");
	if (missing(status, "namespaces") == NULL)
		put_part(out, status, "network",
		    "a namespace of its own: tried, fine");
	put_part(out, status, "hosts",
	    "sbx-proxy is there, for policies that name some");
	put_part(out, status, "cgroup",
	    "limits on processes and memory hold for all together");
	if (missing(status, "cgroup") != NULL)
		put_more(out,
		    "rlimits hold instead: for each process, or beside what "
		    "runs");
	out_column(out, "level", COLUMN);
	put_shown(out, status, "level");
	out_text(out, "\n");
}

/* --- what was tried ------------------------------------------------------- */

static void
put_canary(struct out *out, const struct json_t *canary)
{
	enum { WIDTH = 32 };
	const char *name = json_text(canary, "canary");
	bool allowed = json_flag(canary, "allowed");

	out_column(out, name != NULL ? name : "", WIDTH);
	out_text(out, allowed ? "allowed" : "denied  ");
	if (!allowed)
		put_shown(out, canary, "errno");
	else if (json_flag(canary, "granted"))
		out_text(out, ", as the policy says");
	if (!json_flag(canary, "ok"))
		out_text(out,
		    allowed ? ": IT GOT THROUGH" : ": THE POLICY ALLOWS IT");
	out_text(out, "\n");
}

void
self_test_show(struct out *out, const struct json_t *test)
{
	const struct json_t *canaries = json_member(test, "canaries");

	for (size_t i = 0; i < json_count(canaries); i++)
		put_canary(out, json_item(canaries, i));
	out_text(out, "level ");
	put_shown(out, test, "level");
	out_text(out,
	    json_flag(test, "ok") ? ": as the policy says\n" :
				    ": NOT as the policy says\n");
}

/* --- sessions ------------------------------------------------------------- */

void
sessions_show(struct out *out, const struct json_t *sessions)
{
	const struct json_t *all = json_member(sessions, "sessions");

	for (size_t i = 0; i < json_count(all); i++) {
		const struct json_t *session = json_item(all, i);
		const char *workspace = json_text(session, "workspace");
		uint64_t commands = json_number(session, "commands");
		uint64_t idle = json_number(session, "idle");

		put_shown(out, session, "name");
		out_text(out, ": ");
		put_shown(out, session, "policy");
		out_text(out,
		    workspace != NULL && *workspace != '\0' ?
			", in " :
			", without a workspace");
		put_shown(out, session, "workspace");
		out_print(out, ", process 1 is %u, commands: %u",
		    (unsigned)json_number(session, "process"),
		    (unsigned)commands);
		if (commands == 0 && idle > 0)
			out_print(out, ", idle for %lu s", idle);
		out_text(out, "\n");
	}
}
