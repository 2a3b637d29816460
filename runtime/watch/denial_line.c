/*
 * A denial in words, and what would allow it: for the block that people read,
 * the one for agents, and records.
 *
 * What comes from inside, and what sbxc made of it, is text:
 * out_shown() and JSON escape what a terminal would obey.
 */
#include "runtime/watch/receipt.h"

#include "runtime/base/kernel.h"

#include <string.h>

static void
put_limited(struct out *out, const char *text, size_t size)
{
	out_shown(out, text, strnlen(text, size));
}

/* "inet stream" of socket(2). */
static void
put_socket(struct out *out, const uint32_t args[SBX_DENIAL_ARGS])
{
	static const struct {
		uint32_t number;
		const char *name;
	} families[] = { { 1, "unix" }, { 2, "inet" }, { 10, "inet6" },
		{ 16, "netlink" }, { 17, "packet" }, { 40, "vsock" } },
	  types[] = { { 1, "stream" }, { 2, "dgram" }, { 3, "raw" },
		  { 5, "seqpacket" } };
	const char *family = NULL, *type = NULL;

	for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
		if (families[i].number == args[0])
			family = families[i].name;
	}
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if (types[i].number == args[1])
			type = types[i].name;
	}
	if (family != NULL && type != NULL)
		out_print(out, "socket %s %s", family, type);
	else
		out_print(out, "socket(%u, %u)", args[0], args[1]);
}

/* With the host that the program's command line names, which is a guess. */
static void
put_destination(struct out *out, const struct sbx_denial *denial)
{
	put_socket(out, denial->args);
	if (*denial->path == '\0')
		return;
	out_text(out, " for ");
	out_shown(out, denial->path, strlen(denial->path));
	if (denial->port != 0)
		out_print(out, ":%u", (unsigned)denial->port);
}

void
denial_object(struct out *out, const struct explaining *explaining,
    const struct sbx_denial *denial, const struct sbx_advice *advice)
{
	if (explain_has_path(denial))
		explain_place(out, explaining, denial->path);
	else if (explain_has_host(denial))
		explain_host(out, denial);
	else if (denial->kind != SBX_DENIED_CALL)
		out_print(out, "tcp %u", (unsigned)denial->port);
	else if (denial->number == SYS_socket)
		put_destination(out, denial);
	else if (advice != NULL && *advice->object != '\0')
		put_limited(out, advice->object, sizeof advice->object);
	else
		out_print(out, "number %u", (unsigned)denial->number);
}

/* "team.sbx:6:5 deny read ~/.ssh", or "no rule". */
static void
put_rule(struct out *out, const struct explaining *explaining,
    const struct sbx_denial *denial, const struct sbx_advice *advice)
{
	/* A rule allows the host; what was found there is the reason. */
	if (explain_has_host(denial) && denial->verdict != PROXY_NO_RULE &&
	    denial->verdict != PROXY_DENIED) {
		out_text(out, explain_host_verdict(denial));
		return;
	}
	if (denial->source != SBX_NO_SOURCE)
		out_source(out, explaining->blob, denial->source);
	else if (advice != NULL && *advice->source != '\0')
		put_limited(out, advice->source, sizeof advice->source);
	if (advice != NULL && *advice->rule != '\0') {
		if (out->used > 0)
			out_text(out, " ");
		put_limited(out, advice->rule, sizeof advice->rule);
	}
	if (out->used == 0 && denial->verdict == PROXY_NO_RULE &&
	    denial->kind == SBX_DENIED_HOST)
		out_text(out,
		    "no rule: inside, 127.0.0.1 is the sandbox's own");
	else if (out->used == 0)
		out_text(out,
		    denial->kind == SBX_DENIED_CALL && *denial->path == '\0' ?
			"the filter" :
			explain_has_host(denial) ?
			explain_host_verdict(denial) :
			"no rule");
}

void
denial_line(struct line *line, const struct explaining *explaining,
    const struct sbx_denial *denial, const struct sbx_advice *advice)
{
	struct out out;

	out_into(&out, line->place, sizeof line->place);
	denial_object(&out, explaining, denial, advice);
	out_into(&out, line->program, sizeof line->program);
	out_print(&out, *denial->program != '\0' ? "%ux " : "%ux",
	    (unsigned)denial->count);
	put_limited(&out, denial->program, sizeof denial->program);
	out_into(&out, line->source, sizeof line->source);
	put_rule(&out, explaining, denial, advice);
}

/* --- what would allow it -------------------------------------------------- */

/* Where the session was made before something was there, its rules do not grant
 * it. */
static bool
is_too_late(const struct explaining *explaining,
    const struct sbx_denial *denial, const struct sbx_advice *advice)
{
	return explaining->session && advice != NULL && advice->allowed != 0 &&
	    denial->source == SBX_NO_SOURCE && explain_has_path(denial);
}

static void
add(struct fix *fix, enum sbx_advice_where where, const char *step)
{
	fix->where[fix->count] = (uint8_t)where;
	fix->steps[fix->count++] = step;
}

/* The network's own part knows which rule would do. */
static bool
fix_host(struct fix *fix, const struct sbx_denial *denial)
{
	struct out rule;

	/* Whom it asked for a name; which, only it knows. */
	if (denial->kind == SBX_DENIED_ADDRESS &&
	    denial->port == NAME_SERVERS) {
		add(fix, SBX_ADVICE_HINT,
		    "'allow network domain NAME', of the host whose name it "
		    "looked up");
		return true;
	}
	out_into(&rule, fix->rule, sizeof fix->rule);
	if (!explain_host_remedy(&rule, denial) || rule.full)
		return false;
	add(fix, SBX_ADVICE_POLICY, fix->rule);
	fix->works = true;
	return true;
}

/* Of package managers sbxc knows whom they ask.  Where nothing leads out, a name
 * is that of the command line, which may lack the port. */
static bool
is_for_sbxc(const struct explaining *explaining,
    const struct sbx_denial *denial, const struct sbx_advice *advice)
{
	if (denial->kind == SBX_DENIED_NAME)
		return explaining->blob->meta->net == SBX_NET_LOOPBACK;
	return advice != NULL && advice->works &&
	    denial->kind == SBX_DENIED_ADDRESS && denial->port == NAME_SERVERS;
}

void
denial_fix(struct fix *fix, const struct explaining *explaining,
    const struct sbx_denial *denial, const struct sbx_advice *advice)
{
	fix->works = false;
	fix->count = 0;
	if (!is_for_sbxc(explaining, denial, advice) && fix_host(fix, denial))
		return;
	if (advice == NULL)
		return;
	if (is_too_late(explaining, denial, advice))
		add(fix, SBX_ADVICE_HINT,
		    "the session was made before this was allowed: "
		    "sbxrun --session NAME --end");
	fix->works = advice->works != 0;
	for (uint32_t i = 0; i < advice->count && i < SBX_ADVICE_STEPS; i++)
		add(fix,
		    advice->where[i] < SBX_ADVICE_END ?
			(enum sbx_advice_where)advice->where[i] :
			SBX_ADVICE_HINT,
		    advice->steps[i]);
}
