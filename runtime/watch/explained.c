/*
 * What --explain tells when the command has ended: words on stderr, and a record
 * of each denial for programs.  The words are sbxc's.
 */
#include "runtime/watch/receipt.h"

#include "format/protocol.h"
#include "runtime/apply/apply.h"
#include "runtime/base/json.h"
#include "runtime/base/options.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- records -------------------------------------------------------------- */

/* Nothing without an answer. */
static void
put_fixes(struct out *json, const struct sbx_advice *advice)
{
	static const char *const places[SBX_ADVICE_END] = {
#define ADVICE(name, word) [SBX_ADVICE_##name] = word,
#include "format/advice.def"
#undef ADVICE
	};
	uint32_t count = advice == NULL      ? 0 :
	    advice->count < SBX_ADVICE_STEPS ? advice->count :
					       SBX_ADVICE_STEPS;

	json_list(json, "fix");
	for (uint32_t i = 0; i < count; i++)
		json_bytes(json, NULL, advice->steps[i],
		    strnlen(advice->steps[i], SBX_ADVICE_TEXT));
	json_list_end(json);
	json_list(json, "where");
	for (uint32_t i = 0; i < count; i++)
		json_string(json, NULL,
		    places[advice->where[i] % SBX_ADVICE_END]);
	json_list_end(json);
	json_bool(json, "fixed", advice != NULL && advice->works != 0);
}

static void
put_object(struct out *json, const struct explaining *explaining,
    const struct sbx_denial *denial, const struct sbx_advice *advice)
{
	char text[2 * SBX_MAX_PATH];
	struct out object;

	out_into(&object, text, sizeof text);
	if (denial->kind == SBX_DENIED_CALL && advice != NULL &&
	    *advice->object != '\0')
		out_shown(&object, advice->object,
		    strnlen(advice->object, sizeof advice->object));
	else
		explain_object(&object, explaining, denial);
	json_string(json, "object", text);
}

void
explained_put(struct out *json, const struct explaining *explaining,
    const struct sbx_denial *denial)
{
	json_string(json, "right", explain_word(denial));
	put_object(json, explaining, denial, NULL);
	json_number(json, "count", denial->count);
	json_string(json, "program", denial->program);
}

static void
put_denial(struct receipt *receipt, const struct explaining *explaining,
    const struct sbx_denial *denial, const struct sbx_advice *advice)
{
	struct out *json = &receipt->json;

	receipt_begin(receipt, "denied");
	json_string(json, "right", explain_word(denial));
	put_object(json, explaining, denial, advice);
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
}

/* --- all of it ------------------------------------------------------------ */

/* A shell looks at $OLDPWD when it starts, whatever it runs; only chdir(2) would
 * mean that the command wants to be there. */
static void
mark_starts(const struct explaining *explaining)
{
	const char *left = getenv("OLDPWD");

	for (uint32_t i = 0; i < explaining->count && left != NULL; i++) {
		struct sbx_denial *denial = &explaining->denials[i];

		denial->start = denial->probe && denial->count == 1 &&
		    denial->number != SYS_chdir &&
		    strcmp(left, denial->path) == 0;
	}
}

/* Of sbxc nothing is believed but that it is text: a line is what a terminal
 * takes for one. */
static void
print_words(const char *text, size_t size)
{
	struct out out;

	out_init(&out, STDERR_FILENO);
	while (size > 0) {
		const char *end = memchr(text, '\n', size);
		size_t len = end != NULL ? (size_t)(end - text) : size;

		out_shown(&out, text, len);
		out_text(&out, "\n");
		len += end != NULL;
		text += len;
		size -= len;
	}
	out_flush(&out);
}

static void
send_all(struct receipt *receipt, const struct telling *telling,
    const struct advice *advice)
{
	const struct explaining *explaining = telling->explaining;

	for (uint32_t i = 0; receipt != NULL && i < explaining->count; i++) {
		put_denial(receipt, explaining, &explaining->denials[i],
		    advice->all != NULL ? &advice->all[i] : NULL);
		if (!receipt_send(receipt))
			warn_about("--explain", "a record is lost", errno);
	}
}

/* Without sbxc: what was denied, in a line each. */
static void
print_lines(const struct telling *telling)
{
	enum { LINES = 20 };
	const struct explaining *explaining = telling->explaining;
	uint32_t shown = 0;

	for (uint32_t i = 0; i < explaining->count; i++) {
		const struct sbx_denial *denial = &explaining->denials[i];

		if (denial->probe && !telling->all)
			continue;
		if (shown++ < LINES || telling->all)
			explain_say(explaining, denial);
	}
	if (explaining->count > 0)
		warn_about("--explain",
		    "sbxc, which says what to change, is not beside sbxrun, or "
		    "the command may write there",
		    0);
}

/* What may be why it failed where no denial is. */
static void
fill_head(struct sbx_explained *head, const struct sbx_blob *blob)
{
	const struct sbx_limit *limit = NULL;
	struct out out;

	out_into(&out, head->limits, sizeof head->limits);
	while ((limit = limit_next(blob, limit)) != NULL) {
		out_text(&out, out.used > 0 ? ", " : "");
		out_limit(&out, limit);
	}
	out_into(&out, head->withheld, sizeof head->withheld);
	environment_put_withheld(&out, "", blob, environ);
}

bool
explained_failed(int status, bool late)
{
	return late ||
	    (status != 0 &&
		!(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_REFUSED));
}

void
explained_tell(const struct telling *telling)
{
	const struct explaining *explaining = telling->explaining;
	struct sbx_explained head = {
		.count = explaining->count,
		.more = explaining->more,
		.unread = explaining->unread,
		.all = telling->all,
		.agent = telling->agent,
		.failed = telling->failed,
		.session = explaining->session,
	};
	struct advice advice;

	mark_starts(explaining);
	fill_head(&head, explaining->blob);
	advice = advice_ask(explaining, &head);
	/* Never block on a stderr that nobody reads. */
	if (telling->quiet || !stderr_takes_more())
		;
	else if (advice.all != NULL)
		print_words(advice.words, advice.size);
	else
		print_lines(telling);
	for (int i = 0; i < 2; i++)
		send_all(telling->sinks[i], telling, &advice);
}
