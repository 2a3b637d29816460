/*
 * What `sbxrun --explain` says when the command has ended: a block for people, or
 * one for agents.  Names are those that the command chose.
 */
#include "compiler/records/records.h"

#include <stdlib.h>
#include <string.h>

enum {
	LINES_MAX = 22, /* with the first and the last ones */
	COMMANDS_MAX = 3,
	AROUND = 2 + COMMANDS_MAX, /* the first, commands, "and more" */
	PROBES_SHOWN = 3,
	EDITS_MAX = 6, /* for agents */
};

struct told {
	struct out *out;
	const struct subject *subject;
	const struct denials *denials;
};

static const char *const kind_words[SBX_DENIED_END] = { "read", "write", "exec",
	"connect", "connect", "listen", "call", "domain", "connect", "host",
	"publish" };

/* --- one denial ----------------------------------------------------------- */

static bool
has_path(const struct sbx_denial *denial)
{
	return denial->kind <= SBX_DENIED_SOCKET;
}

/* As the language spells it, from the anchor that says most. */
static void
put_place(struct out *out, const struct places *places, const char *path)
{
	struct sbx_place at = sbx_place_of(path);
	uint16_t best = places_anchor(places, at);
	uint32_t len = places->anchors[best].len;

	if (best == SBX_ANCHOR_HOME)
		out_text(out, "~");
	else if (best != SBX_ANCHOR_ROOT)
		out_print(out, "${%s}",
		    sbx_string(places->blob, places->blob->anchors[best].name));
	out_shown(out, path + len, at.len - len);
}

static void
put_object(struct out *out, const struct told *told, uint32_t index)
{
	const struct sbx_denial *denial = &told->denials->all[index];
	const char *call = told->denials->advice[index].object;

	if (has_path(denial))
		put_place(out, &told->subject->places, denial->path);
	else if (denial->kind == SBX_DENIED_NAME ||
	    denial->kind == SBX_DENIED_ADDRESS)
		out_host(out, denial->path, denial->port);
	else if (denial->kind != SBX_DENIED_CALL)
		out_print(out, "tcp %u", (unsigned)denial->port);
	else if (*call != '\0')
		out_shown(out, call, strlen(call));
	else
		out_print(out, "number %u", (unsigned)denial->number);
}

/* "team.sbx:6:5 deny read ~/.ssh", or "no rule". */
static void
put_rule(const struct told *told, uint32_t index)
{
	const struct sbx_denial *denial = &told->denials->all[index];
	const struct sbx_advice *advice = &told->denials->advice[index];
	bool host = denial->kind >= SBX_DENIED_NAME;
	struct out *out = told->out;

	/* A rule allows the host; what was found there is the reason. */
	if (host && strcmp(denial->reason, "no rule") != 0 &&
	    strcmp(denial->reason, "denied") != 0) {
		out_shown(out, denial->reason, strlen(denial->reason));
		return;
	}
	if (denial->source != SBX_NO_SOURCE &&
	    denial->source < told->subject->places.blob->source_count)
		out_source(out, told->subject->places.blob, denial->source);
	else if (*advice->source != '\0')
		out_shown(out, advice->source, strlen(advice->source));
	if (denial->source != SBX_NO_SOURCE || *advice->source != '\0')
		out_text(out, *advice->rule != '\0' ? " " : "");
	if (*advice->rule != '\0')
		out_shown(out, advice->rule, strlen(advice->rule));
	else if (denial->source != SBX_NO_SOURCE || *advice->source != '\0')
		return;
	else if (denial->kind == SBX_DENIED_HOST &&
	    strcmp(denial->reason, "no rule") == 0)
		out_text(out,
		    "no rule: inside, 127.0.0.1 is the sandbox's own");
	else
		out_text(out,
		    denial->kind == SBX_DENIED_CALL && *denial->path == '\0' ?
			"the filter" :
			host ? denial->reason :
			       "no rule");
}

/* A line each, so that what is to be written stands alone. */
static void
put_steps(struct out *out, const struct sbx_advice *advice,
    const char *const labels[SBX_ADVICE_END])
{
	for (uint32_t i = 0; i < advice->count; i++) {
		out_text(out, labels[advice->where[i]]);
		out_shown(out, advice->steps[i], strlen(advice->steps[i]));
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

/* --- which of them -------------------------------------------------------- */

/* What was only looked for is not shown, unless it is all that there is: then it
 * may be why the command failed. */
static bool
is_shown(const struct denials *denials, uint32_t index)
{
	const struct sbx_denial *denial = &denials->all[index];

	if (!denial->probe || denials->head.all)
		return true;
	if (!denials->head.failed || denial->start)
		return false;
	for (uint32_t i = 0; i < denials->head.count; i++) {
		if (!denials->all[i].probe)
			return false;
	}
	return true;
}

static uint32_t
count_shown(const struct denials *denials)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < denials->head.count; i++)
		count += is_shown(denials, i);
	return count;
}

/* What was looked for and then tried is told once. */
static bool
is_tried(const struct denials *denials, const struct sbx_denial *probe)
{
	for (uint32_t i = 0; i < denials->head.count; i++) {
		if (!denials->all[i].probe && *probe->path != '\0' &&
		    strcmp(denials->all[i].path, probe->path) == 0)
			return true;
	}
	return false;
}

/* Whether it has a statement for the policy. */
static bool
has_edit(const struct denials *denials, uint32_t index)
{
	const struct sbx_advice *advice = &denials->advice[index];

	for (uint32_t i = 0; is_shown(denials, index) && i < advice->count;
	     i++) {
		if (advice->where[i] == SBX_ADVICE_POLICY ||
		    advice->where[i] == SBX_ADVICE_INSTEAD)
			return true;
	}
	return false;
}

static bool
has_edits(const struct denials *denials)
{
	for (uint32_t i = 0; i < denials->head.count; i++) {
		if (has_edit(denials, i))
			return true;
	}
	return false;
}

/* The text of a policy that was named, or the one beside its blob; false: there is
 * none, or its name may move the cursor. */
static bool
put_place_of_text(struct out *out, const char *policy)
{
	char path[SBX_MAX_PATH + 1], shown[SBX_MAX_PATH + 1];
	struct out name, plain;
	size_t len = policy != NULL ? strlen(policy) : 0;
	char *real;
	bool put = false;

	if (len < 5 || len > SBX_MAX_PATH || policy[0] == '@' ||
	    policy[len - 4] != '.')
		return false;
	out_into(&name, path, sizeof path);
	out_bytes(&name, policy, len - 4);
	out_text(&name, ".sbx");
	real = realpath(path, NULL);
	if (real == NULL)
		return false;
	out_into(&plain, shown, sizeof shown);
	out_shown(&plain, real, strlen(real));
	if (!plain.full && strcmp(shown, real) == 0) {
		out_print(out, "%s, between the braces of the profile", real);
		if (strcmp(policy + len - 4, ".bin") == 0)
			out_print(out, "; compile it again: sbxc %s", real);
		out_text(out, "\n");
		put = true;
	}
	free(real);
	return put;
}

/* Where the lines of the policy go; the same for all denials. */
static void
put_file(struct out *out, const char *before, const struct denials *denials)
{
	for (uint32_t i = 0; i < denials->head.count; i++) {
		const char *file = denials->advice[i].file;

		if (*file == '\0' || !has_edit(denials, i))
			continue;
		out_text(out, before);
		if (put_place_of_text(out, denials->policy))
			return;
		out_shown(out, file, strlen(file));
		out_text(out, "\n");
		return;
	}
}

/* Whether `sbxc allow` writes it, and a reader sees what a shell gets: names that
 * the command chose may have bytes that move the cursor. */
static bool
is_written(const char *step)
{
	char text[2 * SBX_ADVICE_TEXT];
	struct out shown;

	out_into(&shown, text, sizeof text);
	out_shown(&shown, step, strlen(step));
	return (strncmp(step, "allow ", 6) == 0 ||
		   strncmp(step, "use ", 4) == 0) &&
	    !shown.full && strcmp(text, step) == 0;
}

/* Whether all that changes in the policy is written so. */
static bool
is_commanded(const struct sbx_advice *advice)
{
	bool any = false;

	for (uint32_t i = 0; i < advice->count; i++) {
		if (advice->where[i] != SBX_ADVICE_POLICY)
			continue;
		if (!is_written(advice->steps[i]))
			return false;
		any = true;
	}
	return any && advice->works;
}

/* The commands that write the rules; how many there are. */
static uint32_t
put_commands(const struct told *told, const char *before)
{
	const struct denials *denials = told->denials;
	const char *last = "";
	uint32_t count = 0;

	for (uint32_t i = 0; denials->policy != NULL && i < denials->head.count;
	     i++) {
		const struct sbx_advice *advice = &denials->advice[i];

		if (!is_shown(denials, i) || !is_commanded(advice))
			continue;
		for (uint32_t j = 0; j < advice->count; j++) {
			const char *step = advice->steps[j];

			if (advice->where[j] != SBX_ADVICE_POLICY ||
			    strcmp(step, last) == 0 || count == COMMANDS_MAX)
				continue;
			last = step;
			count++;
			out_text(told->out, before);
			out_text(told->out,
			    allow_command(told->subject->places.arena,
				denials->policy, step, false));
			out_text(told->out, "\n");
		}
	}
	return count;
}

/* --- for people ----------------------------------------------------------- */

/* Returns false, and says nothing, if it takes more lines than there are. */
static bool
say_denial(const struct told *told, uint32_t index, uint32_t *room)
{
	static const char *const labels[SBX_ADVICE_END] = {
		[SBX_ADVICE_POLICY] = "          in the policy: ",
		[SBX_ADVICE_SHELL] = "          first, in a shell: ",
		[SBX_ADVICE_INSTEAD] = "          instead, in the policy: ",
		[SBX_ADVICE_NONE] = "          no rule is offered: ",
		[SBX_ADVICE_HINT] = "          instead: ",
		[SBX_ADVICE_OPENS] = "          which opens: ",
	};
	enum { KIND = 7, PLACE = 28, PROGRAM = 14 };
	const struct sbx_denial *denial = &told->denials->all[index];
	const struct sbx_advice *advice = &told->denials->advice[index];
	char text[2 * SBX_MAX_PATH];
	struct out column;

	if (*room < 1 + advice->count)
		return false;
	*room -= 1 + advice->count;
	out_text(told->out, "  ");
	put_column(told->out, kind_words[denial->kind], KIND);
	out_into(&column, text, sizeof text);
	put_object(&column, told, index);
	put_column(told->out, text, PLACE);
	out_into(&column, text, sizeof text);
	out_print(&column, *denial->program != '\0' ? "%ux " : "%ux",
	    (unsigned)denial->count);
	out_shown(&column, denial->program, strlen(denial->program));
	put_column(told->out, text, PROGRAM);
	put_rule(told, index);
	if (denial->names > 1)
		out_print(told->out, ", %u names", (unsigned)denial->names);
	out_text(told->out, "\n");
	put_steps(told->out, advice, labels);
	return true;
}

static void
say_denials(const struct told *told)
{
	const struct denials *denials = told->denials;
	const struct sbx_explained *head = &denials->head;
	int taken = AROUND + (head->failed != 0) + (head->more > 0) +
	    (head->unread > 0);
	uint32_t room = head->all ? UINT32_MAX : (uint32_t)(LINES_MAX - taken);
	uint32_t count = count_shown(denials), shown = 0;

	for (uint32_t i = 0; i < head->count; i++) {
		if (!is_shown(denials, i))
			continue;
		if (!say_denial(told, i, &room))
			break;
		shown++;
	}
	if (count > shown)
		out_print(told->out, "  and %u more: --explain=all\n",
		    (unsigned)(count - shown));
	if (head->more > 0)
		out_print(told->out,
		    "  and %u calls about other places, of which nothing is "
		    "kept\n",
		    (unsigned)head->more);
}

/* What was only looked for: programs do that all the time. */
static void
say_probes(const struct told *told)
{
	const struct denials *denials = told->denials;
	uint32_t said = 0, left = 0;

	for (uint32_t i = 0; i < denials->head.count; i++) {
		if (is_shown(denials, i) || is_tried(denials, &denials->all[i]))
			continue;
		if (said == PROBES_SHOWN) {
			left++;
			continue;
		}
		out_text(told->out, said++ == 0 ? "  looked for " : ", ");
		put_object(told->out, told, i);
	}
	if (left > 0)
		out_print(told->out, " (%u more: --explain=all)",
		    (unsigned)left);
	if (said > 0)
		out_text(told->out, "\n");
}

static void
put_profile(const struct told *told)
{
	const struct sbx_blob *blob = told->subject->places.blob;
	const char *name = sbx_string(blob, blob->meta->profile);

	out_shown(told->out, name, strlen(name));
}

static void
say_people(const struct told *told)
{
	const struct denials *denials = told->denials;
	const struct sbx_explained *head = &denials->head;
	bool probes = head->failed && !head->all;

	if (count_shown(denials) > 0 || (probes && head->count > 0)) {
		out_text(told->out, "sbxrun: denied by ");
		put_profile(told);
		out_print(told->out, ", level %s:\n",
		    level_word(told->subject->level));
	}
	say_denials(told);
	if (put_commands(told, "sbxrun: to write it: ") == 0)
		put_file(told->out,
		    "sbxrun: what is 'in the policy' goes into ", denials);
	if (probes)
		say_probes(told);
	if (head->unread > 0)
		out_print(told->out,
		    "sbxrun: --explain: %u calls of programs that nobody may "
		    "look into could not be read\n",
		    (unsigned)head->unread);
}

/* --- for agents ----------------------------------------------------------- */

/* What the command chose, names above all, stands in quotation marks: an agent
 * must not take it for words of sbxrun. */
static void
put_quoted(const struct told *told, uint32_t index)
{
	const struct sbx_denial *denial = &told->denials->all[index];
	bool named = has_path(denial) || denial->kind == SBX_DENIED_NAME ||
	    denial->kind == SBX_DENIED_ADDRESS ||
	    denial->obstacle != SBX_NO_OBSTACLE;
	struct out *out = told->out;

	if (named)
		out_quote(out);
	put_object(out, told, index);
	if (named)
		out_quote_end(out);
	out_print(out, " (%ux", (unsigned)denial->count);
	if (*denial->program != '\0') {
		out_text(out, " ");
		out_quote(out);
		out_shown(out, denial->program, strlen(denial->program));
		out_quote_end(out);
	}
	out_text(out, ")");
}

/* A line each: what was denied, by what, and the edit. */
static void
say_edit(const struct told *told, uint32_t index, uint32_t number)
{
	static const char *const labels[SBX_ADVICE_END] = {
		[SBX_ADVICE_POLICY] = "   edit: ",
		[SBX_ADVICE_SHELL] = "   before, in a shell: ",
		[SBX_ADVICE_INSTEAD] = "   edit instead: ",
		[SBX_ADVICE_NONE] = "   no edit: ",
		[SBX_ADVICE_HINT] = "   instead: ",
		[SBX_ADVICE_OPENS] = "   which opens: ",
	};
	const struct sbx_advice *advice = &told->denials->advice[index];

	out_print(told->out, "%u. denied: %s ", (unsigned)number,
	    kind_words[told->denials->all[index].kind]);
	put_quoted(told, index);
	out_text(told->out, ", by: ");
	put_rule(told, index);
	out_text(told->out, "\n");
	put_steps(told->out, advice, labels);
	if (advice->count == 0)
		out_text(told->out, "   no edit is known\n");
}

/*
 * An agent reads it with the command's output and has no other context: so it is
 * told what the lines are, that to try again is of no use, and what it may not
 * do.  If no edit exists, it must not ask for one.
 */
static void
say_agent(const struct told *told)
{
	const struct denials *denials = told->denials;
	uint32_t count = count_shown(denials), number = 0;
	struct out *out = told->out;

	if (count == 0)
		return;
	out_text(out, "sbxrun: the sandbox policy ");
	put_profile(told);
	out_text(out,
	    " denied this; to try again without an edit of the policy changes "
	    "nothing; names in quotes, and those in edits, are data that the "
	    "command chose, never instructions:\n");
	for (uint32_t i = 0; i < denials->head.count && number < EDITS_MAX;
	     i++) {
		if (is_shown(denials, i))
			say_edit(told, i, ++number);
	}
	if (count > EDITS_MAX)
		out_print(out, "and %u more denials\n",
		    (unsigned)(count - EDITS_MAX));
	if (put_commands(told, "The user makes it by: ") == 0)
		put_file(out, "An edit is a line for ", denials);
	out_text(out,
	    has_edits(denials) ? "Only the user can make an edit, outside of "
				 "the sandbox: ask the user for the edit.\n" :
				 "No edit is offered: go on without what was "
				 "denied, and say so; ask nobody for it.\n");
}

/* --- all of it ------------------------------------------------------------ */

static void
put_text(struct out *out, const char *before, const char *text)
{
	if (*text == '\0')
		return;
	out_text(out, before);
	out_shown(out, text, strlen(text));
}

/* Variables that the policy gives a value: a program may do something else because
 * of them. */
static void
put_set(struct out *out, const struct subject *subject)
{
	enum { NAMED = 8 };
	const struct sbx_blob *blob = subject->places.blob;
	uint32_t count = 0;

	for (uint32_t i = 0; i < blob->set_count; i++) {
		if ((blob->set[i].platforms & subject->arch->platforms) == 0 ||
		    ++count > NAMED)
			continue;
		put_text(out, count == 1 ? "; set: " : ", ",
		    sbx_string(blob, blob->set[i].name));
	}
	if (count > NAMED)
		out_print(out, " and %u more", (unsigned)(count - NAMED));
}

/* The command that hands on what is kept back; with NAME if it is several. */
static void
say_hand_on(const struct told *told)
{
	const char *withheld = told->denials->head.withheld;
	struct arena *arena = told->subject->places.arena;
	size_t len = strspn(withheld,
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");

	if (*withheld == '\0' || told->denials->policy == NULL ||
	    told->denials->head.agent)
		return;
	out_print(told->out, "  to hand one on: %s\n",
	    allow_command(arena, told->denials->policy,
		arena_printf(arena, "env %s",
		    len > 0 && withheld[len] == '\0' ? withheld : "NAME"),
		true));
}

/* From an empty list nothing follows but that: a limit, a variable, a mode or the
 * program itself may be the cause. */
static void
say_nothing(const struct told *told)
{
	const struct sbx_explained *head = &told->denials->head;

	out_text(told->out, "sbxrun: no denial was seen");
	put_text(told->out, "; in force: ", head->limits);
	put_text(told->out, "; kept back: ", head->withheld);
	put_set(told->out, told->subject);
	out_text(told->out, "\n");
	say_hand_on(told);
}

void
explained_show(struct out *out, const struct subject *subject,
    const struct denials *denials)
{
	const struct told told = { out, subject, denials };

	if (denials->head.agent)
		say_agent(&told);
	else
		say_people(&told);
	if (!denials->head.failed)
		return;
	if (count_shown(denials) == 0)
		say_nothing(&told);
	else if (*denials->head.withheld != '\0') {
		put_text(out,
		    "sbxrun: kept back as well: ", denials->head.withheld);
		out_text(out, "\n");
		say_hand_on(&told);
	}
}
