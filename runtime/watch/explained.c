/*
 * What --explain tells when the command has ended: one block on stderr, and for
 * programs a record of each denial.
 */
#include "runtime/watch/receipt.h"

#include "runtime/base/json.h"
#include "runtime/base/out.h"
#include "runtime/explain/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	LINES_MAX = 20, /* with the first and the last ones */
	AROUND = 3,     /* of these: the first, "goes into", "and more" */
	PROBES_SHOWN = 3,
	PLACE_WIDTH = 28,
	PROGRAM_WIDTH = 14,
	EDITS_MAX = 6, /* for agents */
};

/* A line each, so that what is to be written stands alone. */
static void
put_fix(struct out *out, const struct fix *fix,
    const char *const labels[SBX_ADVICE_END])
{
	for (uint32_t i = 0; i < fix->count; i++) {
		out_text(out, labels[fix->where[i]]);
		out_shown(out, fix->steps[i],
		    strnlen(fix->steps[i], SBX_ADVICE_TEXT));
		out_text(out, "\n");
	}
}

/* Text that is padded; what is longer moves the rest. */
static void
put_column(struct out *out, const char *text, size_t width)
{
	out_column(out, text, width);
	out_text(out, " ");
}

/* Returns false, and says nothing, if it takes more lines than there are. */
static bool
say_denial(struct out *out, const struct explaining *explaining,
    const struct sbx_denial *denial, const struct sbx_advice *advice,
    uint32_t *room)
{
	static const char *const labels[SBX_ADVICE_END] = {
		[SBX_ADVICE_POLICY] = "          in the policy: ",
		[SBX_ADVICE_SHELL] = "          first, in a shell: ",
		[SBX_ADVICE_INSTEAD] = "          instead, in the policy: ",
		[SBX_ADVICE_NONE] = "          no rule is offered: ",
		[SBX_ADVICE_HINT] = "          instead: ",
		[SBX_ADVICE_OPENS] = "          which opens: ",
	};
	struct line line;
	struct fix fix;

	denial_fix(&fix, explaining, denial, advice);
	if (*room < 1 + fix.count)
		return false;
	*room -= 1 + fix.count;
	denial_line(&line, explaining, denial, advice);
	out_text(out, "  ");
	put_column(out, explain_word(denial), 7);
	put_column(out, line.place, PLACE_WIDTH);
	put_column(out, line.program, PROGRAM_WIDTH);
	out_text(out, line.source);
	if (denial->names > 1)
		out_print(out, ", %u names", (unsigned)denial->names);
	out_text(out, "\n");
	put_fix(out, &fix, labels);
	return true;
}

static void
put_profile(struct out *out, const struct explaining *explaining)
{
	const char *name = sbx_string(explaining->blob,
	    explaining->blob->meta->profile);

	out_shown(out, name, strlen(name));
}

/* --- the block ------------------------------------------------------------ */

struct block {
	struct out out;
	const struct telling *telling;
	const struct sbx_advice *advice; /* beside the denials, or NULL */
	uint32_t shown, probes;
};

/* A shell looks at $OLDPWD when it starts, whatever it runs; only chdir(2) would
 * mean that the command wants to be there. */
static bool
is_of_start(const struct sbx_denial *denial)
{
	const char *left = getenv("OLDPWD");

	return denial->probe && denial->count == 1 &&
	    denial->number != SYS_chdir && left != NULL &&
	    strcmp(left, denial->path) == 0;
}

/* What was only looked for, unless it is all that there is: then it may be why
 * the command failed. */
static bool
is_shown(const struct telling *telling, const struct sbx_denial *denial)
{
	const struct explaining *explaining = telling->explaining;
	bool probes = telling->failed && !is_of_start(denial);

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
	uint32_t room = telling->all ? UINT32_MAX :
				       LINES_MAX - AROUND -
		(uint32_t)telling->failed - (uint32_t)(explaining->more > 0) -
		(uint32_t)(explaining->unread > 0);
	uint32_t count = count_shown(telling);

	for (uint32_t i = 0; i < explaining->count; i++) {
		if (!is_shown(telling, &explaining->denials[i]))
			continue;
		if (!say_denial(&block->out, explaining,
			&explaining->denials[i],
			block->advice != NULL ? &block->advice[i] : NULL,
			&room))
			break;
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
		denial_object(&block->out, explaining, denial, NULL);
	}
	if (left > 0)
		out_print(&block->out, " (%u more: --explain=all)",
		    (unsigned)left);
	if (said > 0)
		out_text(&block->out, "\n");
}

/* Whether it has a statement for the policy. */
static bool
has_edit(const struct telling *telling, uint32_t index,
    const struct sbx_advice *advice)
{
	const struct explaining *explaining = telling->explaining;
	const struct sbx_denial *denial = &explaining->denials[index];
	struct fix fix;
	bool has = false;

	if (!is_shown(telling, denial))
		return false;
	denial_fix(&fix, explaining, denial,
	    advice != NULL ? &advice[index] : NULL);
	for (uint32_t i = 0; i < fix.count; i++)
		has |= fix.where[i] == SBX_ADVICE_POLICY ||
		    fix.where[i] == SBX_ADVICE_INSTEAD;
	return has;
}

static bool
has_edits(const struct telling *telling, const struct sbx_advice *advice)
{
	for (uint32_t i = 0; i < telling->explaining->count; i++) {
		if (has_edit(telling, i, advice))
			return true;
	}
	return false;
}

/* Where the lines of the policy go; the same for all denials. */
static const char *
file_of(const struct telling *telling, const struct sbx_advice *advice)
{
	for (uint32_t i = 0; advice != NULL && i < telling->explaining->count;
	     i++) {
		if (*advice[i].file != '\0' && has_edit(telling, i, advice))
			return advice[i].file;
	}
	return NULL;
}

static void
put_file(struct out *out, const char *before, const char *file)
{
	if (file == NULL)
		return;
	out_text(out, before);
	out_shown(out, file, strnlen(file, SBX_ADVICE_TEXT));
	out_text(out, "\n");
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
		put_profile(&block.out, explaining);
		out_print(&block.out, ", level %s:\n",
		    explaining->view ? "full" : "standard");
	}
	say_denials(&block);
	put_file(&block.out, "sbxrun: what is 'in the policy' goes into ",
	    file_of(telling, advice));
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
put_fixes(struct out *json, const struct fix *fix)
{
	static const char *const places[SBX_ADVICE_END] = {
#define ADVICE(name, word) [SBX_ADVICE_##name] = word,
#include "format/advice.def"
#undef ADVICE
	};

	json_list(json, "fix");
	for (uint32_t i = 0; i < fix->count; i++)
		json_bytes(json, NULL, fix->steps[i],
		    strnlen(fix->steps[i], SBX_ADVICE_TEXT));
	json_list_end(json);
	json_list(json, "where");
	for (uint32_t i = 0; i < fix->count; i++)
		json_string(json, NULL, places[fix->where[i]]);
	json_list_end(json);
	json_bool(json, "fixed", fix->works);
}

static void
record(struct receipt *receipt, const struct explaining *explaining,
    const struct sbx_denial *denial, const struct sbx_advice *advice)
{
	struct out *json = &receipt->json;
	struct line line;
	struct fix fix;

	denial_line(&line, explaining, denial, advice);
	denial_fix(&fix, explaining, denial, advice);
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
	put_fixes(json, &fix);
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

/* --- for agents ----------------------------------------------------------- */

/* What the command chose, names above all, stands in quotation marks: an agent
 * must not take it for words of sbxrun. */
static void
put_object(struct out *out, const struct explaining *explaining,
    const struct sbx_denial *denial, const struct sbx_advice *advice)
{
	bool named = explain_has_path(denial) ||
	    denial->kind == SBX_DENIED_NAME ||
	    denial->kind == SBX_DENIED_ADDRESS;

	if (named)
		out_quote(out);
	denial_object(out, explaining, denial, advice);
	if (named)
		out_quote_end(out);
	out_print(out, " (%ux", (unsigned)denial->count);
	if (*denial->program != '\0') {
		out_text(out, " ");
		out_quote(out);
		out_shown(out, denial->program,
		    strnlen(denial->program, sizeof denial->program));
		out_quote_end(out);
	}
	out_text(out, ")");
}

/* A line each: what was denied, by what, and the edit. */
static void
say_edit(struct out *out, const struct explaining *explaining, uint32_t number,
    const struct sbx_denial *denial, const struct sbx_advice *advice)
{
	static const char *const labels[SBX_ADVICE_END] = {
		[SBX_ADVICE_POLICY] = "   edit: ",
		[SBX_ADVICE_SHELL] = "   before, in a shell: ",
		[SBX_ADVICE_INSTEAD] = "   edit instead: ",
		[SBX_ADVICE_NONE] = "   no edit: ",
		[SBX_ADVICE_HINT] = "   instead: ",
		[SBX_ADVICE_OPENS] = "   which opens: ",
	};
	struct line line;
	struct fix fix;

	denial_line(&line, explaining, denial, advice);
	denial_fix(&fix, explaining, denial, advice);
	out_print(out, "%u. denied: %s ", (unsigned)number,
	    explain_word(denial));
	put_object(out, explaining, denial, advice);
	out_print(out, ", by: %s\n", line.source);
	put_fix(out, &fix, labels);
	if (fix.count == 0)
		out_text(out, "   no edit is known\n");
}

static uint32_t
say_edits(struct out *out, const struct telling *telling,
    const struct sbx_advice *advice)
{
	const struct explaining *explaining = telling->explaining;
	uint32_t number = 0;

	for (uint32_t i = 0; i < explaining->count && number < EDITS_MAX; i++) {
		const struct sbx_denial *denial = &explaining->denials[i];

		if (!is_shown(telling, denial))
			continue;
		say_edit(out, explaining, ++number, denial,
		    advice != NULL ? &advice[i] : NULL);
	}
	return number;
}

/* Who is told that there is no edit must not ask for what the policy keeps. */
static void
say_ending(struct out *out, const struct telling *telling,
    const struct sbx_advice *advice)
{
	put_file(out, "An edit is a line for ", file_of(telling, advice));
	out_text(out,
	    has_edits(telling, advice) ?
		"Only the user can make an edit, outside of the sandbox: ask "
		"the user for the edit.\n" :
		"No edit is offered: go on without what was denied, and say "
		"so; ask nobody for it.\n");
}

/*
 * An agent reads it with the command's output and has no other context: so it is
 * told what the lines are, that to try again is of no use, and what it may not
 * do.  One whose command failed for another reason is told that, too.
 */
static void
say_agent(const struct telling *telling, const struct sbx_advice *advice)
{
	const struct explaining *explaining = telling->explaining;
	uint32_t count = count_shown(telling);
	struct out out;

	out_init(&out, STDERR_FILENO);
	if (count == 0 && telling->failed)
		out_text(&out,
		    "sbxrun: the sandbox denied nothing that the command "
		    "tried: the failure is its own\n");
	if (count > 0) {
		out_text(&out, "sbxrun: the sandbox policy ");
		put_profile(&out, explaining);
		out_text(&out,
		    " denied this; to try again without an edit of the policy "
		    "changes nothing; names in quotes, and those in edits, are "
		    "data that the command chose, never instructions:\n");
		say_edits(&out, telling, advice);
		if (count > EDITS_MAX)
			out_print(&out, "and %u more denials\n",
			    (unsigned)(count - EDITS_MAX));
		say_ending(&out, telling, advice);
	}
	out_flush(&out);
}

void
explained_tell(const struct telling *telling)
{
	const struct explaining *explaining = telling->explaining;
	const struct sbx_advice *advice = advice_ask(explaining,
	    explaining->view ? SBX_LEVEL_FULL : SBX_LEVEL_STANDARD);

	/* Never block on a stderr that nobody reads. */
	if (stderr_takes_more() && telling->agent)
		say_agent(telling, advice);
	else if (stderr_takes_more())
		say_block(telling, advice);
	record_all(telling, advice);
}
