/* See explained.h.  What comes from inside, and what sbxc made of it, is text:
 * out_shown() and JSON escape what a terminal would obey. */
#include "runtime/watch/explained.h"

#include "runtime/base/json.h"
#include "runtime/base/machine.h"
#include "runtime/explain/advice.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum {
	LINES_MAX = 20, /* with the first and the last ones */
	AROUND = 4, /* of these: the first, "more", "looked for", "unread" */
	PROBES_SHOWN = 3,
	PLACE_WIDTH = 28,
	PROGRAM_WIDTH = 14,
};

/* One denial, in words. */
struct line {
	char place[2 * SBX_MAX_PATH];
	char program[64];
	char source[2 * SBX_ADVICE_TEXT];
};

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

static void
put_object(struct out *out, const struct explaining *explaining,
    const struct sbx_denial *denial, const struct sbx_advice *advice)
{
	if (explain_has_path(denial))
		explain_place(out, explaining, denial->path);
	else if (explain_has_host(denial))
		explain_host(out, denial);
	else if (denial->kind != SBX_DENIED_CALL)
		out_print(out, "tcp %u", (unsigned)denial->port);
	else if (denial->number == SYS_socket)
		put_socket(out, denial->args);
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
	if (denial->source != SBX_NO_SOURCE)
		out_source(out, explaining->blob, denial->source);
	else if (advice != NULL && *advice->source != '\0')
		put_limited(out, advice->source, sizeof advice->source);
	if (advice != NULL && *advice->rule != '\0') {
		if (out->used > 0)
			out_text(out, " ");
		put_limited(out, advice->rule, sizeof advice->rule);
	}
	if (out->used == 0)
		out_text(out,
		    denial->kind == SBX_DENIED_CALL ? "the filter" :
			explain_has_host(denial)    ? explain_host_verdict(
							  denial) :
						   "no rule");
}

static uint32_t
steps_of(const struct sbx_advice *advice)
{
	if (advice == NULL)
		return 0;
	return advice->count < SBX_ADVICE_STEPS ? advice->count :
						  SBX_ADVICE_STEPS;
}

/* Where the session was made before something was there, its rules do not grant
 * it. */
static bool
is_too_late(const struct explaining *explaining,
    const struct sbx_denial *denial, const struct sbx_advice *advice)
{
	return explaining->session && advice != NULL && advice->allowed != 0 &&
	    denial->source == SBX_NO_SOURCE && explain_has_path(denial);
}

/* The network's own part knows which rule would do. */
static bool
put_host_fix(struct out *out, const struct sbx_denial *denial)
{
	struct out rule;

	/* Whom it asked for a name; which, only it knows. */
	if (denial->kind == SBX_DENIED_ADDRESS &&
	    denial->port == NAME_SERVERS) {
		out_text(out,
		    "  -- instead: 'allow network domain NAME', of the host "
		    "whose name it looked up");
		return true;
	}
	out_init(&rule, -1);
	if (!explain_host_remedy(&rule, denial))
		return false;
	out_text(out, "  -> ");
	out_shown(out, rule.text, rule.used);
	return true;
}

static void
put_fix(struct out *out, const struct explaining *explaining,
    const struct sbx_denial *denial, const struct sbx_advice *advice)
{
	if (is_too_late(explaining, denial, advice))
		out_text(out,
		    "  -- the session was made before this was allowed: "
		    "sbxrun --session NAME --end");
	if (put_host_fix(out, denial))
		return;
	for (uint32_t i = 0; i < steps_of(advice); i++) {
		out_text(out,
		    i > 0                  ? "; " :
			advice->works != 0 ? "  -> " :
					     "  -- ");
		put_limited(out, advice->steps[i], sizeof advice->steps[i]);
	}
}

/* Text that is padded; what is longer moves the rest. */
static void
put_column(struct out *out, const char *text, size_t width)
{
	out_column(out, text, width);
	out_text(out, " ");
}

static void
make_line(struct line *line, const struct explaining *explaining,
    const struct sbx_denial *denial, const struct sbx_advice *advice)
{
	struct out out;

	out_into(&out, line->place, sizeof line->place);
	put_object(&out, explaining, denial, advice);
	out_into(&out, line->program, sizeof line->program);
	out_print(&out, "%ux ", (unsigned)denial->count);
	put_limited(&out, denial->program, sizeof denial->program);
	out_into(&out, line->source, sizeof line->source);
	put_rule(&out, explaining, denial, advice);
}

static void
say_denial(struct out *out, const struct explaining *explaining,
    const struct sbx_denial *denial, const struct sbx_advice *advice)
{
	struct line line;

	make_line(&line, explaining, denial, advice);
	out_text(out, "  ");
	put_column(out, explain_word(denial), 7);
	put_column(out, line.place, PLACE_WIDTH);
	put_column(out, line.program, PROGRAM_WIDTH);
	out_text(out, line.source);
	if (denial->names > 1)
		out_print(out, ", %u names", (unsigned)denial->names);
	put_fix(out, explaining, denial, advice);
	out_text(out, "\n");
}

/* --- the block ------------------------------------------------------------ */

struct block {
	struct out out;
	const struct telling *telling;
	const struct sbx_advice *advice; /* beside the denials, or NULL */
	uint32_t shown, probes;
};

/* What was only looked for, unless it is all that there is: then it may be why
 * the command failed. */
static bool
is_shown(const struct telling *telling, const struct sbx_denial *denial)
{
	const struct explaining *explaining = telling->explaining;
	bool probes = telling->failed;

	for (uint32_t i = 0; i < explaining->count && probes; i++)
		probes = explaining->denials[i].probe != 0;
	return !denial->probe || telling->all || probes;
}

/* What was looked for and then tried is told once. */
static bool
is_tried(const struct explaining *explaining, const struct sbx_denial *probe)
{
	for (uint32_t i = 0; i < explaining->count; i++) {
		const struct sbx_denial *denial = &explaining->denials[i];

		if (!denial->probe && *probe->path != '\0' &&
		    strcmp(denial->path, probe->path) == 0)
			return true;
	}
	return false;
}

static uint32_t
count_shown(const struct telling *telling)
{
	const struct explaining *explaining = telling->explaining;
	uint32_t count = 0;

	for (uint32_t i = 0; i < explaining->count; i++)
		count += is_shown(telling, &explaining->denials[i]);
	return count;
}

static void
say_denials(struct block *block)
{
	const struct telling *telling = block->telling;
	const struct explaining *explaining = telling->explaining;
	uint32_t most = telling->all ? SBX_DENIALS_MAX : LINES_MAX - AROUND;
	uint32_t count = count_shown(telling);

	for (uint32_t i = 0; i < explaining->count && block->shown < most;
	     i++) {
		if (!is_shown(telling, &explaining->denials[i]))
			continue;
		say_denial(&block->out, explaining, &explaining->denials[i],
		    block->advice != NULL ? &block->advice[i] : NULL);
		block->shown++;
	}
	if (count > block->shown)
		out_print(&block->out, "  and %u more: --explain=all\n",
		    (unsigned)(count - block->shown));
	if (explaining->more > 0)
		out_print(&block->out,
		    "  and %u calls about other places, of which nothing is "
		    "kept\n",
		    (unsigned)explaining->more);
}

/* What was only looked for: programs do that all the time. */
static void
say_probes(struct block *block)
{
	const struct explaining *explaining = block->telling->explaining;
	uint32_t said = 0, left = 0;

	for (uint32_t i = 0; i < explaining->count; i++) {
		const struct sbx_denial *denial = &explaining->denials[i];

		if (is_shown(block->telling, denial) ||
		    is_tried(explaining, denial))
			continue;
		if (said == PROBES_SHOWN) {
			left++;
			continue;
		}
		out_text(&block->out, said++ == 0 ? "  looked for " : ", ");
		put_object(&block->out, explaining, denial, NULL);
	}
	if (left > 0)
		out_print(&block->out, " (%u more: --explain=all)",
		    (unsigned)left);
	if (said > 0)
		out_text(&block->out, "\n");
}

static void
say_block(const struct telling *telling, const struct sbx_advice *advice)
{
	const struct explaining *explaining = telling->explaining;
	struct block block = { .telling = telling, .advice = advice };
	bool probes = telling->failed && !telling->all;

	out_init(&block.out, STDERR_FILENO);
	if (count_shown(telling) > 0 || (probes && explaining->count > 0)) {
		out_text(&block.out, "sbxrun: denied by ");
		put_limited(&block.out,
		    sbx_string(explaining->blob,
			explaining->blob->meta->profile),
		    SBX_MAX_NAME);
		out_print(&block.out, ", level %s:\n",
		    explaining->view ? "full" : "standard");
	}
	say_denials(&block);
	if (probes)
		say_probes(&block);
	if (explaining->unread > 0)
		out_print(&block.out,
		    "sbxrun: --explain: %u calls of programs that nobody may "
		    "look into could not be read\n",
		    (unsigned)explaining->unread);
	out_flush(&block.out);
}

/* --- records -------------------------------------------------------------- */

static void
put_fixes(struct out *json, const struct sbx_advice *advice)
{
	json_list(json, "fix");
	for (uint32_t i = 0; i < steps_of(advice); i++)
		json_bytes(json, NULL, advice->steps[i],
		    strnlen(advice->steps[i], sizeof advice->steps[i]));
	json_list_end(json);
	json_bool(json, "fixed", advice != NULL && advice->works != 0);
}

static void
record(struct receipt *receipt, const struct explaining *explaining,
    const struct sbx_denial *denial, const struct sbx_advice *advice)
{
	struct out *json = &receipt->json;
	struct line line;

	make_line(&line, explaining, denial, advice);
	receipt_begin(receipt, "denied");
	json_string(json, "right", explain_word(denial));
	json_string(json, "object", line.place);
	json_string(json, "path",
	    explain_has_path(denial) ? denial->path : NULL);
	json_source(json, explaining->blob, denial->source);
	json_bytes(json, "rule", advice != NULL ? advice->rule : "",
	    advice != NULL ? strnlen(advice->rule, sizeof advice->rule) : 0);
	json_number(json, "count", denial->count);
	json_number(json, "names", denial->names > 1 ? denial->names : 1);
	json_string(json, "program", denial->program);
	json_bool(json, "probe", denial->probe != 0);
	put_fixes(json, advice);
	receipt_end(receipt);
	if (!receipt_send(receipt))
		warn_about("--explain", "a record is lost", errno);
}

static void
record_all(const struct telling *telling, const struct sbx_advice *advice)
{
	const struct explaining *explaining = telling->explaining;

	for (uint32_t i = 0; i < explaining->count; i++) {
		for (int j = 0; j < 2; j++) {
			if (telling->sinks[j] != NULL)
				record(telling->sinks[j], explaining,
				    &explaining->denials[i],
				    advice != NULL ? &advice[i] : NULL);
		}
	}
}

void
explained_tell(const struct telling *telling)
{
	struct pollfd wait = { .fd = STDERR_FILENO, .events = POLLOUT };
	const struct explaining *explaining = telling->explaining;
	const struct sbx_advice *advice = advice_ask(explaining,
	    explaining->view ? SBX_LEVEL_FULL : SBX_LEVEL_STANDARD);

	/* Never block on a stderr that nobody reads. */
	if (poll(&wait, 1, 0) > 0)
		say_block(telling, advice);
	record_all(telling, advice);
}
