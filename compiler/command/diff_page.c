/*
 * `sbxc diff --html OLD NEW`: what changed as cards, in colour and in words, and
 * below them the policy as it is now, with what OLD did not say marked.
 */
#include "compiler/command/commands.h"
#include "compiler/query/query.h"

#include <string.h>

static const struct {
	const char *class, *word;
} changes[CHANGE_END] = {
	[CHANGE_WIDER] = { "wider", "opens" },
	[CHANGE_NARROWER] = { "narrower", "closes" },
	[CHANGE_NEUTRAL] = { "", "changes" },
	[CHANGE_MAYBE_WIDER] = { "wider", "may open" },
	[CHANGE_MAYBE_NARROWER] = { "narrower", "may close" },
};

static void
put_side(FILE *stream, const struct diff *diff,
    const struct difference *difference, enum side side)
{
	static const char *const words[SIDE_COUNT] = { "before", "now" };
	const char *says = difference_says(difference, side);
	uint32_t source = difference->says[side].source;

	if (says == NULL)
		return;
	fprintf(stream, "<div><span class=\"dim\">%s:</span> ", words[side]);
	if (difference->says[side].text == NULL) {
		page_text(stream, says);
	} else {
		fputs("<code>", stream);
		page_text(stream, says);
		fputs("</code>", stream);
	}
	if (source != SBX_NO_SOURCE) {
		fputs(" <span class=\"at\">", stream);
		page_place(stream, diff->options->arena, &diff->blobs[side],
		    source, side == SIDE_NEW ? diff->sources : NULL);
		fputs("</span>", stream);
	}
	fputs("</div>\n", stream);
}

static void
put_members(FILE *stream, const struct diff *diff,
    const struct difference *difference)
{
	fprintf(stream,
	    "<details><summary class=\"dim\">all %zu</summary><code>",
	    difference->members.count);
	for (size_t i = 0; i < difference->members.count; i++) {
		if (i > 0)
			fputs("<br>", stream);
		page_text(stream,
		    difference_text(diff->options->arena,
			difference->members.items[i]));
	}
	fputs("</code></details>\n", stream);
}

static void
put_difference(FILE *stream, const struct diff *diff,
    const struct difference *difference)
{
	struct arena *arena = diff->options->arena;
	const char *where = difference_where(&diff->comparison, difference);

	fprintf(stream, "<div class=\"f %s\"><b>%s",
	    changes[difference->change].class,
	    changes[difference->change].word);
	page_text(stream, difference_condition(arena, difference));
	fputs("</b> <code>", stream);
	page_text(stream, difference_text(arena, difference));
	fputs("</code>", stream);
	if (where != NULL) {
		fputs(" <span class=\"dim\">", stream);
		page_text(stream, where);
		fputs("</span>", stream);
	}
	putc('\n', stream);
	put_side(stream, diff, difference, SIDE_OLD);
	put_side(stream, diff, difference, SIDE_NEW);
	if (difference->members.count > 1 && difference->block != NULL)
		put_members(stream, diff, difference);
	fputs("</div>\n", stream);
}

void
diff_page_profile(FILE *stream, enum change change, const char *text)
{
	fprintf(stream, "<div class=\"f %s\"><b>%s</b> ", changes[change].class,
	    changes[change].word);
	page_text(stream, text);
	fputs("</div>\n", stream);
}

void
diff_page(FILE *stream, const struct diff *diff)
{
	const struct comparison *comparison = &diff->comparison;
	const struct sbx_blob *new = &diff->blobs[SIDE_NEW];

	fputs("<h2>", stream);
	page_text(stream,
	    shown_text(diff->options->arena,
		sbx_string(new, new->meta->profile)));
	fputs("</h2>\n", stream);
	for (size_t i = 0; i < comparison->differences.count; i++)
		put_difference(stream, diff, &comparison->differences.items[i]);
	if (comparison->differences.count == 0)
		fputs("<p class=\"dim\">lets through what it did before</p>\n",
		    stream);
	fputs("<details class=\"g\"><summary>the profile as it is now</summary>"
	      "\n<div>\n",
	    stream);
	page_policy(stream, diff->options->arena, new, diff->sources,
	    &diff->blobs[SIDE_OLD]);
	fputs("</div></details>\n", stream);
}
