/* Rules about sockets by path, as the plan shows them. */
#include "runtime/inspect/inspect.h"

#include "format/blob.h"
#include "runtime/base/json.h"
#include "runtime/base/out.h"

#include <string.h>
#include <sys/stat.h>

static const char *
allow_enforcer(const struct plan *plan, const struct socket_site *site)
{
	if (plan->program == NULL)
		return "NOT RESTRICTED at this level";
	if (plan->row == NULL)
		return "stays shut: it takes level standard";
	/* The kernel by itself keeps the command from other sockets. */
	if (plan->row != NULL &&
	    (plan->row->handled_fs & SBX_LANDLOCK_RESOLVE_UNIX) != 0)
		return bind_socket_is_split(plan->binding, site->at) ?
		    "stays shut: a denial lies below it" :
		    "landlock";
	if (plan_answers(plan))
		return "sbxrun connects";
	return plan->level == SBX_LEVEL_FULL ?
	    "view" :
	    "stays shut: sbxrun answers no system calls";
}

static const char *
deny_enforcer(const struct plan *plan)
{
	if (plan->row == NULL)
		return plan->program == NULL ? "NOT ENFORCED at this level" :
					       "seccomp";
	if (plan_answers(plan))
		return "sbxrun does not connect";
	return plan->level == SBX_LEVEL_FULL ?
	    "view: masked, if it is there now" :
	    "NOT ENFORCED for servers of the sandbox";
}

static void
show_place(struct out *out, const struct plan *plan,
    const struct socket_site *site)
{
	const struct sbx_path path = {
		.suffix = site->rule->suffix,
		.anchor = site->rule->anchor,
	};

	if (site->rule->form == SBX_SOCKET_SSH_AGENT)
		out_text(out, "${ssh-agent}");
	else
		plan_place(out, plan, &path);
	if (site->rule->form == SBX_SOCKET_SSH_AGENT && site->fault == NULL) {
		out_text(out, " ");
		out_place(out, site->at);
	}
}

/* What is wrong with what is there now. */
static const char *
obstacle(const struct socket_site *site)
{
	char path[SBX_MAX_PATH + 1];
	struct stat status;

	if (site->rule->effect != SBX_ALLOW || site->at.len > SBX_MAX_PATH)
		return "";
	memcpy(path, site->at.path, site->at.len);
	path[site->at.len] = '\0';
	if (stat(site->at.len > 0 ? path : "/", &status) != 0)
		return ", but nothing is there now";
	return S_ISSOCK(status.st_mode) || S_ISDIR(status.st_mode) ?
	    "" :
	    ", but what is there is no socket";
}

void
plan_put_sockets(struct out *json, const struct plan *plan)
{
	struct out words;

	json_list(json, "sockets");
	for (uint32_t i = 0; i < plan->binding->socket_site_count; i++) {
		const struct socket_site *site =
		    &plan->binding->socket_sites[i];

		json_object(json, NULL);
		out_init(&words, -1);
		out_print(&words, "%s socket", effect_name(site->rule->effect));
		json_string(json, "rule", words.text);
		out_init(&words, -1);
		show_place(&words, plan, site);
		json_string(json, "path", words.text);
		out_init(&words, -1);
		if (site->fault != NULL)
			out_print(&words, "skipped: %s", site->fault);
		else
			out_text(&words,
			    site->rule->effect == SBX_ALLOW ?
				allow_enforcer(plan, site) :
				deny_enforcer(plan));
		out_text(&words, site->fault == NULL ? obstacle(site) : "");
		json_string(json, "by", words.text);
		json_source(json, plan->blob, site->rule->source);
		json_object_end(json);
	}
	json_list_end(json);
}
