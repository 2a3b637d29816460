/*
 * See query.h.  The rules of a blob are in path order below each anchor, so the
 * tree is written in one pass: what a path shares with the one before stays
 * open, the rest is closed and opened.
 */
#include "compiler/policy/kind.h"
#include "compiler/query/query.h"
#include "compiler/query/why.h"
#include "compiler/tables/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 128 };

struct page {
	FILE *stream;
	struct arena *arena;
	const struct sbx_blob *blob;
	/* The way to the place that is open; of each, whether it has a list. */
	const char *names[DEPTH_MAX];
	bool lists[DEPTH_MAX];
	int depth;
};

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
    "'none'; style-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<style>\n"
    ":root{color-scheme:light dark;--fg:#1c1c1c;--bg:#fff;--dim:#6a6a6a;"
    "--line:#d8d8d8;--write:#b45309;--exec:#6d28d9;--read:#0369a1;"
    "--deny:#b91c1c;--prefer:#be5a5a}\n"
    "@media(prefers-color-scheme:dark){:root{--fg:#e6e6e6;--bg:#161616;"
    "--dim:#9a9a9a;--line:#3a3a3a;--write:#f59e0b;--exec:#a78bfa;"
    "--read:#38bdf8;--deny:#f87171;--prefer:#d79a9a}}\n"
    "body{font:15px/1.5 system-ui,sans-serif;color:var(--fg);"
    "background:var(--bg);max-width:72rem;margin:2rem auto;padding:0 1rem}\n"
    "h1{font-size:1.5rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .5rem}\n"
    "code,.tree,td{font:13px/1.6 ui-monospace,monospace}\n"
    ".tree ul{list-style:none;margin:0;padding-left:1.4em;"
    "border-left:1px solid var(--line)}.tree>ul{border:0;padding:0}\n"
    ".b{border-radius:3px;padding:0 .4em;margin-left:.5em;color:var(--bg);"
    "white-space:nowrap}\n"
    ".write{background:var(--write)}.exec{background:var(--exec)}"
    ".read{background:var(--read)}.deny{background:var(--deny)}"
    ".prefer{background:var(--prefer)}\n"
    ".s{color:var(--dim);margin-left:.6em;font-size:12px}\n"
    "td{padding:0 1.5em 0 0;vertical-align:top}"
    "p{margin:.3rem 0}.dim{color:var(--dim)}\n"
    "summary{cursor:pointer}\n"
    "</style>\n";

/* --- text ----------------------------------------------------------------- */

static void
put_html(FILE *stream, const char *text)
{
	for (; *text != '\0'; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", stream);
			break;
		case '<':
			fputs("&lt;", stream);
			break;
		case '>':
			fputs("&gt;", stream);
			break;
		case '"':
			fputs("&quot;", stream);
			break;
		default:
			putc(*text, stream);
		}
	}
}

/* Text of a blob: what is hidden in it is shown first. */
static void
put_text(const struct page *page, const char *text)
{
	put_html(page->stream, shown_text(page->arena, text));
}

static void
put_source(const struct page *page, uint32_t source)
{
	const char *via = show_via(page->blob, source);

	fputs("<span class=\"s\">", page->stream);
	put_html(page->stream,
	    show_source_text(page->arena, page->blob, source));
	if (via != NULL) {
		fputs(" (", page->stream);
		put_text(page, via);
		putc(')', page->stream);
	}
	fputs("</span>", page->stream);
}

/* --- the tree ------------------------------------------------------------- */

static void
close_to(struct page *page, int depth)
{
	while (page->depth > depth) {
		page->depth--;
		if (page->lists[page->depth])
			fputs("</ul>", page->stream);
		fputs("</li>\n", page->stream);
	}
}

static void
open_name(struct page *page, const char *name)
{
	if (page->depth > 0 && !page->lists[page->depth - 1]) {
		fputs("\n<ul>", page->stream);
		page->lists[page->depth - 1] = true;
	}
	fputs("<li>", page->stream);
	put_text(page, name);
	page->names[page->depth] = name;
	page->lists[page->depth] = false;
	page->depth++;
}

/* Opens the place of a name at a depth, unless that is the open one. */
static void
go(struct page *page, int depth, const char *name)
{
	if (depth < page->depth && strcmp(page->names[depth], name) == 0)
		return;
	close_to(page, depth);
	open_name(page, name);
}

static const char *
anchor_text(const struct page *page, uint16_t anchor)
{
	if (anchor == SBX_ANCHOR_ROOT)
		return "/";
	if (anchor == SBX_ANCHOR_HOME)
		return "~";
	return arena_printf(page->arena, "${%s}",
	    sbx_string(page->blob, page->blob->anchors[anchor].name));
}

static const char *
class_of(const struct sbx_path *path)
{
	if (path->effect == SBX_PREFER_DENY)
		return "prefer";
	if (path->effect == SBX_DENY)
		return "deny";
	return path->rights & SBX_WRITE ? "write" :
	    path->rights & SBX_EXEC     ? "exec" :
					  "read";
}

static void
put_exclusions(const struct page *page, const struct sbx_path *path)
{
	const struct sbx_blob *blob = page->blob;

	for (uint16_t i = 0; i < path->exclusion_count; i++) {
		const struct sbx_exclusion *exclusion =
		    &blob->exclusions[path->first_exclusion + i];

		fputs(" except ", page->stream);
		put_text(page,
		    arena_printf(page->arena, "%s%s",
			anchor_text(page, exclusion->anchor),
			sbx_string(blob, exclusion->suffix)));
	}
}

static void
put_place(struct page *page, const struct sbx_path *path)
{
	const char *suffix = sbx_string(page->blob, path->suffix);
	const char *glob = sbx_string(page->blob, path->glob);
	int depth = 0;

	go(page, depth++, anchor_text(page, path->anchor));
	while (*suffix != '\0' && depth < DEPTH_MAX - 1) {
		size_t len;

		suffix += *suffix == '/';
		len = strcspn(suffix, "/");
		go(page, depth++, arena_strndup(page->arena, suffix, len));
		suffix += len;
	}
	if (*glob != '\0')
		go(page, depth++, glob);
	/* The rules of a place stand before what lies below it. */
	close_to(page, depth);
	fprintf(page->stream, "<span class=\"b %s\">%s %s</span>",
	    class_of(path), effect_word(path->effect),
	    rights_word(path->effect, path->rights));
	put_exclusions(page, path);
	put_source(page, path->source);
}

/* In the order of a tree: an anchor, its places, a glob after its directory. */
static int
compare_paths(const void *left, const void *right, void *context)
{
	const struct sbx_path *a = *(const struct sbx_path *const *)left;
	const struct sbx_path *b = *(const struct sbx_path *const *)right;
	const struct sbx_blob *blob = context;
	const char *texts[] = {
		sbx_string(blob, a->suffix),
		sbx_string(blob, b->suffix),
	};
	int order;

	if (a->anchor != b->anchor)
		return a->anchor < b->anchor ? -1 : 1;
	order = sbx_place_compare((struct sbx_place){ texts[0],
				      (uint32_t)strlen(texts[0]) },
	    (struct sbx_place){ texts[1], (uint32_t)strlen(texts[1]) });
	if (order == 0)
		order = strcmp(sbx_string(blob, a->glob),
		    sbx_string(blob, b->glob));
	if (order == 0)
		order = a->effect < b->effect ? -1 : a->effect > b->effect;
	return order != 0 ? order : (a < b ? -1 : a > b);
}

static void
put_tree(struct page *page)
{
	const struct sbx_blob *blob = page->blob;
	const struct sbx_path **paths = arena_alloc(page->arena,
	    (blob->path_count + 1) * sizeof(const struct sbx_path *));

	for (uint32_t i = 0; i < blob->path_count; i++)
		paths[i] = &blob->paths[i];
	qsort_r(paths, blob->path_count, sizeof *paths, compare_paths,
	    (void *)(uintptr_t)blob);
	fputs("<h2>Places</h2>\n<p><span class=\"b write\">write</span>"
	      "<span class=\"b exec\">run</span>"
	      "<span class=\"b read\">read</span>"
	      "<span class=\"b deny\">denied</span>"
	      "<span class=\"b prefer\">denied where possible</span>"
	      "<span class=\"dim\"> &#8212; a right holds for all that lies "
	      "below; what no rule names is denied</span></p>\n"
	      "<div class=\"tree\">\n<ul>\n",
	    page->stream);
	for (uint32_t i = 0; i < blob->path_count; i++)
		put_place(page, paths[i]);
	close_to(page, 0);
	fputs("</ul>\n</div>\n", page->stream);
}

/* --- the other rules ------------------------------------------------------ */

struct shown_record {
	const struct sbx_blob *blob;
	const struct rule_kind *kind;
	const void *record;
};

static void
write_record(FILE *stream, const void *what)
{
	const struct shown_record *shown = what;

	record_show(stream, shown->blob, shown->kind, shown->record);
}

static void
put_record(const struct page *page, const struct shown_record *shown)
{
	uint32_t source;

	memcpy(&source,
	    (const char *)shown->record + shown->kind->record.source,
	    sizeof source);
	fputs("<tr><td>", page->stream);
	put_html(page->stream, show_to_text(page->arena, write_record, shown));
	fputs("</td><td>", page->stream);
	put_source(page, source);
	fputs("</td></tr>\n", page->stream);
}

static void
put_kind(const struct page *page, enum rule_kind_id id, const char *title)
{
	const struct rule_kind *kind = rule_kinds[id];
	struct shown_record shown = { page->blob, kind, NULL };
	uint32_t count;
	const char *record = sbx_records(page->blob, kind->section, &count);

	if (count == 0)
		return;
	fprintf(page->stream,
	    "<details%s><summary>%s (%" PRIu32 ")</summary>\n<table>\n",
	    count <= 40 ? " open" : "", title, count);
	for (; count-- > 0; record += kind->record.size) {
		shown.record = record;
		put_record(page, &shown);
	}
	fputs("</table></details>\n", page->stream);
}

static void
put_network(const struct page *page)
{
	static const char *const nets[SBX_NET_END] = {
		[SBX_NET_NONE] = "No network: no internet socket can be made.",
		[SBX_NET_PORTS] = "The host's network, and some TCP ports.",
		[SBX_NET_FULL] = "The host's network, all of it.",
		[SBX_NET_LOOPBACK] = "A network of its own: servers inside "
				     "reach each other, nothing leads out.",
		[SBX_NET_SELECTED] = "A network of its own, and the hosts "
				     "below.",
	};
	const struct sbx_meta *meta = page->blob->meta;

	fprintf(page->stream, "<h2>Network</h2>\n<p>%s", nets[meta->net]);
	put_source(page, meta->net_source);
	fputs("</p>\n", page->stream);
	put_kind(page, KIND_PORT, "ports");
	put_kind(page, KIND_DOMAIN, "hosts by name");
	put_kind(page, KIND_ENDPOINT, "hosts by address");
	put_kind(page, KIND_PROXY, "proxy");
	put_kind(page, KIND_SOCKET, "sockets");
}

static void
put_head(const struct page *page)
{
	const struct sbx_meta *meta = page->blob->meta;
	const char *name = sbx_string(page->blob, meta->profile);
	const char *about = sbx_string(page->blob, meta->about);

	fputs(head, page->stream);
	fputs("<title>", page->stream);
	put_text(page, name);
	fputs("</title>\n</head>\n<body>\n<h1>", page->stream);
	put_text(page, name);
	fputs("</h1>\n<p>", page->stream);
	if (*about != '\0')
		put_html(page->stream, about);
	fprintf(page->stream, "</p>\n<p class=\"dim\">at least level %s</p>\n",
	    level_word(meta->level));
	if (meta->flags & SBX_EVERYTHING)
		fputs("<p><span class=\"b deny\">allow everything</span> "
		      "Nothing is confined but by limits.</p>\n",
		    page->stream);
}

void
page_write(FILE *stream, struct arena *arena, const struct sbx_blob *blob)
{
	struct page *page = arena_alloc(arena, sizeof *page);

	page->stream = stream;
	page->arena = arena;
	page->blob = blob;
	put_head(page);
	put_tree(page);
	put_network(page);
	fputs("<h2>Limits</h2>\n", stream);
	put_kind(page, KIND_LIMIT, "limits");
	fputs("<h2>Environment</h2>\n", stream);
	put_kind(page, KIND_ENV, "variables");
	put_kind(page, KIND_SET, "values");
	fputs("<h2>Watched, because others run it later</h2>\n", stream);
	put_kind(page, KIND_WATCH, "places");
	fputs("<h2>System calls</h2>\n", stream);
	put_kind(page, KIND_SYSCALL, "rules and the baseline");
	fputs("</body>\n</html>\n", stream);
}
