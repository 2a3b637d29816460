/*
 * Policies as pages of HTML.  Rules are put together to lines: places with the
 * same right by the same lines of the text are one, and so are the names of one
 * statement.  Lines belong to blocks, the profile or group that the rules stand
 * in: the user's own are shown, shipped ones are folded.
 */
#include "compiler/policy/kind.h"
#include "compiler/query/query.h"
#include "compiler/tables/tables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* So many objects of a line, and of one of the card, are not folded. */
enum { SHOWN = 12, CARD = 6 };

struct object {
	const char *text;  /* "~/x", "example.org" */
	const char *label; /* of another kind than places: "host" */
	uint8_t rights;    /* of a place: what may be done there */
	uint8_t around;    /* and in the directory that it lies in */
};

struct line {
	const char *badge, *class; /* "read and run", "read" */
	const char *label;         /* "host"; NULL: places */
	bool denies, changed;      /* the other policy has no such line */
	size_t block;
	VEC(struct object) objects;
	VEC(uint32_t) sources;
};

struct room {
	const char *file, *name;
	bool own;
	size_t lines;
};

struct page {
	FILE *stream;
	struct arena *arena;
	const struct sbx_blob *blob;
	const struct sources *sources; /* NULL: of a blob there is no text */
	struct subject subject;
	struct map keys, block_keys, statements;
	const struct map *others; /* statements of OLD, or NULL */
	bool has_text;            /* some rule is no shipped one */
	VEC(struct line) lines;
	VEC(struct room) blocks;
};

static const char style[] =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
    "'none'; style-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
    "<style>\n"
    ":root{color-scheme:light dark;--fg:#1f2328;--bg:#fff;--card:#f6f8fa;"
    "--dim:#656d76;--edge:#d1d9e0;--write:#9a4b00;--exec:#6639ba;"
    "--read:#0860ae;--deny:#b3202a;--ok:#1a7f37;--gone:#fff1f0;"
    "--more:#fff8e6}\n"
    "@media(prefers-color-scheme:dark){:root{--fg:#e6edf3;--bg:#0d1117;"
    "--card:#161b22;--dim:#8d96a0;--edge:#30363d;--write:#f0a254;"
    "--exec:#b99cf5;--read:#6cb6ff;--deny:#ff7b72;--ok:#56d364;"
    "--gone:#2a1517;--more:#2a2112}}\n"
    "*{box-sizing:border-box}\n"
    "body{font:16px/1.5 system-ui,sans-serif;color:var(--fg);"
    "background:var(--bg);max-width:66rem;margin:0 auto;padding:1.5rem}\n"
    "h1{font-size:1.6rem;line-height:1.2;margin:0 0 .2rem}"
    "h2{font-size:1.05rem;margin:1.8rem 0 .4rem}"
    "h3{font-size:.9rem;margin:1rem 0 .3rem;font-weight:600}p{margin:.2rem 0 "
    "1rem}\n"
    "code,pre{font:.875em/1.5 ui-monospace,monospace;"
    "overflow-wrap:anywhere}a{color:inherit}\n"
    ".dim,.at{color:var(--dim)}.at{font-size:.8rem;text-align:right}\n"
    ".card{display:grid;grid-template-columns:8.5rem 1fr;gap:.35rem 1rem;"
    "margin:0;padding:1rem 1.2rem;background:var(--card);"
    "border:1px solid var(--edge);border-radius:10px}"
    ".card dt{font-weight:600}.card dd{margin:0;min-width:0}\n"
    ".l{display:grid;grid-template-columns:10.5rem 1fr auto;gap:.2rem 1rem;"
    "padding:.4rem .6rem;border-top:1px solid var(--edge)}"
    ".l>*{min-width:0}.l.new{background:var(--more)}\n"
    ".b{font-weight:600;color:var(--dim)}.write{color:var(--write)}"
    ".exec{color:var(--exec)}.read{color:var(--read)}"
    ".deny,.wider{color:var(--deny)}.narrower{color:var(--ok)}\n"
    "summary{cursor:pointer}"
    "details.g{border-top:1px solid var(--edge);padding:.45rem 0}"
    "details.g>div{margin:.4rem 0 0 1rem}.m{display:inline}"
    ".m>summary{display:inline;color:var(--dim)}.m[open]>summary{display:none}"
    "\n"
    ".tabs>input{position:absolute;opacity:0}.tabs>label{display:inline-block;"
    "padding:.35rem .9rem;margin:0 .3rem 1rem 0;border:1px solid var(--edge);"
    "border-radius:2rem;cursor:pointer}.tabs>section{display:none}"
    ".tabs>input:checked+label{background:var(--fg);color:var(--bg)}"
    ".tabs>input:focus-visible+label{outline:2px solid var(--read)}\n"
    ".f{border:1px solid var(--edge);border-left:5px solid var(--dim);"
    "border-radius:8px;padding:.6rem 1rem;margin:.6rem 0}"
    ".f.wider{border-left-color:var(--deny)}"
    ".f.narrower{border-left-color:var(--ok)}.f,.f code{color:var(--fg)}"
    ".f>div{font-size:.875rem}.f b{margin-right:.4rem}"
    ".f.wider>b{color:var(--deny)}.f.narrower>b{color:var(--ok)}\n"
    "pre{margin:.3rem 0;overflow-x:auto;overflow-wrap:normal}"
    "pre i{font-style:normal;color:var(--dim);user-select:none;"
    "display:inline-block;width:2.6rem;text-align:right;margin-right:1rem}"
    "pre span:target{background:var(--more);outline:1px solid var(--write)}\n"
    "@media(max-width:640px){body{padding:1rem .8rem}"
    ".card{grid-template-columns:1fr;gap:0}.card dd{margin-bottom:.6rem}"
    ".l{grid-template-columns:1fr;gap:0;padding:.5rem .2rem}"
    ".at{text-align:left}}\n"
    "</style>\n";

/* --- text ----------------------------------------------------------------- */

void
page_text(FILE *stream, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '&')
			fputs("&amp;", stream);
		else if (*text == '<')
			fputs("&lt;", stream);
		else if (*text == '>')
			fputs("&gt;", stream);
		else if (*text == '"')
			fputs("&quot;", stream);
		else
			putc(*text, stream);
	}
}

void
page_begin(FILE *stream, const char *title)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	      "<meta charset=\"utf-8\">\n",
	    stream);
	fputs(style, stream);
	fputs("<title>", stream);
	page_text(stream, title);
	fputs("</title>\n</head>\n<body>\n", stream);
}

void
page_end(FILE *stream)
{
	fputs("</body>\n</html>\n", stream);
}

/* Radio buttons: without a script, the one that is chosen shows its section. */
void
page_tabs(FILE *stream, const char *const *names, size_t count)
{
	fputs("<style>", stream);
	for (size_t i = 0; i < count; i++)
		fprintf(stream, "#t%zu:checked~#p%zu%s", i, i,
		    i + 1 < count ? "," : "{display:block}");
	fputs("</style>\n<div class=\"tabs\">\n", stream);
	for (size_t i = 0; i < count; i++) {
		fprintf(stream,
		    "<input type=\"radio\" name=\"t\" id=\"t%zu\"%s>"
		    "<label for=\"t%zu\">",
		    i, i == 0 ? " checked" : "", i);
		page_text(stream, names[i]);
		fputs("</label>\n", stream);
	}
}

void
page_tab(FILE *stream, size_t number)
{
	fprintf(stream, "%s<section id=\"p%zu\">\n",
	    number > 0 ? "</section>\n" : "", number);
}

void
page_tabs_end(FILE *stream)
{
	fputs("</section>\n</div>\n", stream);
}

/* The source that a place in a blob names, counted from 1; 0: it is not here. */
static size_t
source_number(const struct sources *sources, const char *name)
{
	for (size_t i = 0; sources != NULL && i < sources->files.count; i++) {
		const struct source *file = sources->files.items[i];

		if (!file->builtin && !file->withheld &&
		    strcmp(file->name, name) == 0)
			return i + 1;
	}
	return 0;
}

void
page_place(FILE *stream, struct arena *arena, const struct sbx_blob *blob,
    uint32_t source, const struct sources *sources)
{
	const char *text = show_source_text(arena, blob, source);
	size_t number = source == SBX_NO_SOURCE ?
	    0 :
	    source_number(sources,
		sbx_string(blob, blob->sources[source].file));

	if (number > 0)
		fprintf(stream, "<a href=\"#s%zu-%u\">", number,
		    blob->sources[source].line);
	page_text(stream, text);
	fputs(number > 0 ? "</a>" : "", stream);
}

void
page_sources(FILE *stream, const struct sources *sources, bool open)
{
	for (size_t i = 0; i < sources->files.count; i++) {
		const struct source *file = sources->files.items[i];
		const char *begin, *end;

		if (file->builtin || file->withheld)
			continue;
		fprintf(stream, "<details class=\"g\"%s><summary>",
		    open ? " open" : "");
		page_text(stream, path_name(file->shown));
		fputs("</summary>\n<pre>", stream);
		for (uint32_t line = 1; line <= file->line_count; line++) {
			source_line(file, line, &begin, &end);
			fprintf(stream, "<span id=\"s%zu-%u\"><i>%u</i>", i + 1,
			    line, line);
			page_text(stream,
			    arena_strndup(sources->arena, begin,
				(size_t)(end - begin)));
			fputs("</span>\n", stream);
		}
		fputs("</pre></details>\n", stream);
	}
}

/* --- lines ---------------------------------------------------------------- */

static size_t
block_number(struct page *page, uint32_t source)
{
	const struct sbx_blob *blob = page->blob;
	const char *file = "", *name = "", *key;
	struct room block;
	size_t number;
	bool added;

	if (source != SBX_NO_SOURCE) {
		file = sbx_string(blob, blob->sources[source].file);
		name = sbx_string(blob, blob->sources[source].via);
	}
	key = arena_printf(page->arena, "%s\n%s", file, name);
	number = map_number(page->arena, &page->block_keys, key, strlen(key),
	    &added);
	if (!added)
		return number;
	block = (struct room){ .file = file, .name = name };
	block.own = page->has_text ?
	    *file != '\0' && strncmp(file, "sbx:", 4) != 0 :
	    strcmp(name, sbx_string(blob, blob->meta->profile)) == 0;
	*arena_push(page->arena, &page->blocks) = block;
	return number;
}

/* Adds an object to the line with the same right and label, by the same
 * places of the text; of a shipped block, wherever they are. */
static void
line_add(struct page *page, struct line line, const uint32_t *sources,
    size_t count, struct object object, const char *statement)
{
	struct arena *arena = page->arena;
	struct line *at;
	const char *key;
	size_t number;
	bool added;

	map_number(arena, &page->statements, statement, strlen(statement),
	    &added);
	line.block = block_number(page, sources[0]);
	line.changed = page->others != NULL &&
	    map_number_find(page->others, statement, strlen(statement)) ==
		SIZE_MAX;
	key = arena_printf(arena, "%zu\n%s\n%s\n%d", line.block, line.badge,
	    line.label != NULL ? line.label : "", line.changed);
	for (size_t i = 0; page->blocks.items[line.block].own && i < count; i++)
		key = arena_printf(arena, "%s\n%u", key,
		    sources[i] == SBX_NO_SOURCE ?
			0 :
			page->blob->sources[sources[i]].line);
	number = map_number(arena, &page->keys, key, strlen(key), &added);
	if (added) {
		for (size_t i = 0; i < count; i++)
			*arena_push(arena, &line.sources) = sources[i];
		*arena_push(arena, &page->lines) = line;
	}
	at = &page->lines.items[number];
	*arena_push(arena, &at->objects) = object;
	page->blocks.items[line.block].lines++;
}

/* --- places --------------------------------------------------------------- */

static const char *
rights_text(uint8_t rights)
{
	static const char *const texts[SBX_RIGHTS + 1] = {
		"nothing: a denial covers it",
		"read",
		"write",
		"read and write",
		"run",
		"read and run",
		"write and run",
		"read, write and run",
	};

	return texts[rights & SBX_RIGHTS];
}

/* The place with its exceptions: all of a rule but its first words. */
static const char *
place_text(const struct page *page, const struct sbx_path *path)
{
	const char *text = shown_rule(page->arena, page->blob, path);
	const char *words = arena_printf(page->arena, "%s ",
	    path_words(page->arena, path->effect, path->rights));

	return strncmp(text, words, strlen(words)) == 0 ? text + strlen(words) :
							  text;
}

static uint8_t
rights_in(const struct page *page, struct sbx_place place)
{
	struct access access = { .kind = KIND_PATH, .path = place };
	uint8_t rights = 0;

	for (uint8_t right = SBX_READ; right <= SBX_EXEC; right <<= 1) {
		access.detail = right;
		if (verdict_of(&page->subject, &access).allowed)
			rights |= right;
	}
	return rights;
}

/* What may be done at the place of a rule, by all of them. */
static struct object
path_object(const struct page *page, const struct sbx_path *path)
{
	struct object object = { .text = place_text(page, path) };
	struct sbx_place place =
	    places_rule(&page->subject.places, path, false).at;

	if (path->glob != 0) {
		object.rights = path->rights & SBX_RIGHTS;
		return object;
	}
	object.rights = rights_in(page, place);
	/* The top of a place with a name of its own is always shown. */
	if (*sbx_string(page->blob, path->suffix) == '\0')
		return object;
	while (place.len > 0 && place.path[place.len - 1] != '/')
		place.len--;
	place.len -= place.len > 1;
	object.around = rights_in(page, place);
	return object;
}

static struct line
path_line(const struct sbx_path *path, uint8_t rights)
{
	bool prefer = path->effect == SBX_PREFER_DENY;

	if (path->effect == SBX_ALLOW)
		return (struct line){
			.badge = rights_text(rights),
			.class = rights & SBX_WRITE ? "write" :
			    rights & SBX_EXEC       ? "exec" :
			    rights != 0             ? "read" :
						      "deny",
		};
	return (struct line){
		.badge = path->rights & SBX_READ ?
		    (prefer ? "no access (level full)" : "no access") :
		    path->rights & SBX_WRITE ?
		    (prefer ? "no writing (level full)" : "no writing") :
		    prefer ? "no running (level full)" :
			     "no running",
		.class = "deny",
		.denies = true,
	};
}

/* Other rules that allow something at the same place stand next to it. */
static bool
is_twin(const struct sbx_path *a, const struct sbx_path *b)
{
	return a->effect == SBX_ALLOW && b->effect == SBX_ALLOW &&
	    a->anchor == b->anchor && a->suffix == b->suffix &&
	    a->glob == b->glob && a->platforms == b->platforms;
}

static void
add_paths(struct page *page)
{
	const struct sbx_blob *blob = page->blob;

	for (uint32_t i = 0, end; i < blob->path_count; i = end) {
		const struct sbx_path *path = &blob->paths[i];
		struct object object = path_object(page, path);
		uint32_t sources[SBX_RIGHTS + 1];
		size_t count = 0;

		for (end = i; end < blob->path_count &&
		     (end == i || is_twin(path, &blob->paths[end]));
		     end++) {
			uint32_t source = blob->paths[end].source;

			if (count < countof(sources) &&
			    (count == 0 ||
				block_number(page, source) ==
				    block_number(page, sources[0])))
				sources[count++] = source;
		}
		line_add(page, path_line(path, object.rights), sources, count,
		    object, shown_rule(page->arena, blob, path));
	}
}

/* --- the other rules ------------------------------------------------------ */

static const struct {
	enum rule_kind_id kind;
	const char *words, *label; /* what a statement of it begins with */
} others[] = {
	{ KIND_DOMAIN, "network domain ", "host" },
	{ KIND_ENDPOINT, "network connect ", "address" },
	{ KIND_PORT, "network ", "port" },
	{ KIND_PROXY, "network proxy ", "proxy" },
	{ KIND_SOCKET, "socket ", "socket" },
	{ KIND_ENV, "env ", "variable" },
	{ KIND_SET, "set env ", "set" },
	{ KIND_LIMIT, "limit ", "limit" },
	{ KIND_WATCH, "watch ", "watched" },
	{ KIND_SYSCALL, "syscalls ", "system call" },
};

/* "timeout 5 minutes", "output 64 MiB". */
static const char *
limit_text(struct arena *arena, const struct sbx_limit *limit)
{
	const struct limit_word *word = limit_of_kind(
	    (enum sbx_limit_kind)limit->kind);
	uint64_t value = limit->value;
	const char *unit = "second";
	const char *text = limit_value_text(arena, word, value);
	size_t digits = strspn(text, "0123456789");

	if (limit->kind != SBX_LIMIT_TIMEOUT &&
	    limit->kind != SBX_LIMIT_CPU_TIME)
		return arena_printf(arena, "%s %.*s%s%s", word->word,
		    (int)digits, text, text[digits] != '\0' ? " " : "",
		    text + digits);
	if (value > 0 && value % 60 == 0) {
		bool hours = value % 3600 == 0;

		unit = hours ? "hour" : "minute";
		value /= hours ? 3600 : 60;
	}
	return arena_printf(arena, "%s %" PRIu64 " %s%s", word->word, value,
	    unit, value == 1 ? "" : "s");
}

static void
add_record(struct page *page, size_t other, const char *record)
{
	const struct rule_kind *kind = rule_kinds[others[other].kind];
	const char *statement = record_text(page->arena, page->blob, kind,
	    record);
	const char *text = statement;
	struct line line = { .label = others[other].label, .class = "" };
	uint32_t source;

	memcpy(&source, record + kind->record.source, sizeof source);
	/* What rules about the network bring is said by these. */
	if (others[other].kind == KIND_SYSCALL && source != SBX_NO_SOURCE &&
	    strstr(text, "syscalls ") == NULL)
		return;
	line.denies = strncmp(text, "deny ", 5) == 0;
	if (line.denies || strncmp(text, "allow ", 6) == 0)
		text += line.denies ? 5 : 6;
	if (strncmp(text, others[other].words, strlen(others[other].words)) ==
	    0)
		text += strlen(others[other].words);
	if (others[other].kind == KIND_LIMIT)
		text = limit_text(page->arena, (const void *)record);
	line.badge = arena_printf(page->arena, "%s%s", line.denies ? "no " : "",
	    line.label);
	if (line.denies)
		line.class = "deny";
	line_add(page, line, &source, 1,
	    (struct object){ .text = text, .label = line.label }, statement);
}

/* --- writing -------------------------------------------------------------- */

static void
put_object(const struct page *page, const struct object *object, bool first)
{
	fputs(first ? "<code>" : ", <code>", page->stream);
	page_text(page->stream, object->text);
	fputs("</code>", page->stream);
}

static void
put_line(const struct page *page, const struct line *line)
{
	size_t count = line->objects.count;

	fprintf(page->stream,
	    "<div class=\"l%s\"><span class=\"b %s\">%s</span><span>",
	    line->changed ? " new" : "", line->class, line->badge);
	for (size_t i = 0; i < count; i++) {
		if (i == SHOWN && count > SHOWN + 3)
			fprintf(page->stream,
			    "<details class=\"m\"><summary>, and %zu "
			    "more</summary>",
			    count - i);
		put_object(page, &line->objects.items[i], i == 0);
	}
	fprintf(page->stream, "%s</span><span class=\"at\">",
	    count > SHOWN + 3 ? "</details>" : "");
	for (size_t i = 0; i < line->sources.count; i++) {
		if (i > 0)
			fputs("<br>", page->stream);
		page_place(page->stream, page->arena, page->blob,
		    line->sources.items[i], page->sources);
	}
	fputs("</span></div>\n", page->stream);
}

static void
put_block(const struct page *page, size_t number)
{
	for (size_t i = 0; i < page->lines.count; i++) {
		if (page->lines.items[i].block == number)
			put_line(page, &page->lines.items[i]);
	}
}

/* A line of the card: those objects of lines that a function picks, the user's
 * own first, the rest as a number. */
struct pick {
	const char *title, *label; /* NULL: places */
	uint8_t right;
	bool denies;
};

static bool
is_picked(const struct pick *pick, const struct line *line,
    const struct object *object)
{
	if (line->denies != pick->denies)
		return false;
	if (pick->label != NULL || line->label != NULL)
		return pick->label != NULL && line->label != NULL &&
		    strcmp(pick->label, line->label) == 0;
	/* What lies in a place that is told of is told with it. */
	return pick->denies ||
	    ((object->around & pick->right) == 0 &&
		(pick->right == SBX_READ ?
			object->rights == SBX_READ :
			(object->rights & pick->right) != 0));
}

/* What a reader asks for first: own rules, the project, the system, the home. */
static unsigned
rank_of(const struct page *page, const struct line *line,
    const struct object *object)
{
	if (page->blocks.items[line->block].own)
		return 0;
	if (strncmp(object->text, "${workspace}", 12) == 0)
		return 1;
	if (strcmp(object->text, "/usr") == 0 ||
	    strcmp(object->text, "/etc") == 0 || strcmp(object->text, "/") == 0)
		return 2;
	return *object->text != '/' ? 3 : 4;
}

struct picked {
	size_t shown, left, devices;
};

static void
put_ranked(const struct page *page, const struct pick *pick, unsigned rank,
    struct picked *picked)
{
	for (size_t i = 0; i < page->lines.count; i++) {
		const struct line *line = &page->lines.items[i];

		for (size_t j = 0; j < line->objects.count; j++) {
			const struct object *object = &line->objects.items[j];

			if (!is_picked(pick, line, object) ||
			    rank_of(page, line, object) != rank)
				continue;
			if (strncmp(object->text, "/dev/", 5) == 0)
				picked->devices++;
			else if (picked->shown >= CARD)
				picked->left++;
			else
				put_object(page, object, picked->shown++ == 0);
		}
	}
}

static void
put_pick(const struct page *page, const struct pick *pick)
{
	struct picked picked = { 0 };
	FILE *stream = page->stream;

	fprintf(stream, "<dt>%s</dt><dd>", pick->title);
	for (unsigned rank = 0; rank <= 4; rank++)
		put_ranked(page, pick, rank, &picked);
	if (picked.left > 0)
		fprintf(stream, " <span class=\"dim\">and %zu more</span>",
		    picked.left);
	if (picked.devices > 0)
		fprintf(stream, "%s%zu device%s", picked.shown > 0 ? ", " : "",
		    picked.devices, picked.devices == 1 ? "" : "s");
	if (picked.shown + picked.devices == 0)
		fputs("<span class=\"dim\">nothing</span>", stream);
	fputs("</dd>\n", stream);
}

static bool
has_picked(const struct page *page, const struct pick *pick)
{
	for (size_t i = 0; i < page->lines.count; i++) {
		const struct line *line = &page->lines.items[i];

		if (is_picked(pick, line, &line->objects.items[0]))
			return true;
	}
	return false;
}

static void
put_card(const struct page *page)
{
	static const char *const nets[SBX_NET_END] = {
		[SBX_NET_NONE] = "none",
		[SBX_NET_PORTS] = "the host's, and these TCP ports alone",
		[SBX_NET_FULL] = "the host's, all of it",
		[SBX_NET_LOOPBACK] = ("its own: servers inside reach each "
				      "other, nothing leads out"),
		[SBX_NET_SELECTED] = "its own, and these hosts",
	};
	static const struct pick picks[] = {
		{ "May write", NULL, SBX_WRITE, false },
		{ "May run", NULL, SBX_EXEC, false },
		{ "May only read", NULL, SBX_READ, false },
		{ "Kept from", NULL, 0, true },
	};
	static const struct pick more[] = {
		{ "Hosts", "host", 0, false },
		{ "Addresses", "address", 0, false },
		{ "Ports", "port", 0, false },
		{ "Proxy", "proxy", 0, false },
		{ "Sockets", "socket", 0, false },
		{ "Limits", "limit", 0, false },
		{ "Variables", "variable", 0, false },
		{ "Held back", "variable", 0, true },
	};
	const struct sbx_meta *meta = page->blob->meta;

	fputs("<dl class=\"card\">\n", page->stream);
	for (size_t i = 0; i < countof(picks); i++)
		put_pick(page, &picks[i]);
	fprintf(page->stream, "<dt>Network</dt><dd class=\"%s\">%s</dd>\n",
	    meta->net == SBX_NET_FULL ? "deny" : "", nets[meta->net]);
	for (size_t i = 0; i < countof(more); i++) {
		if (has_picked(page, &more[i]))
			put_pick(page, &more[i]);
	}
	fprintf(page->stream, "<dt>Runs at</dt><dd>level %s%s%s</dd>\n",
	    level_word(meta->level),
	    meta->level == SBX_LEVEL_FULL ? "" : " or better",
	    meta->flags & SBX_NO_SPAWN ? "; starts no other process" : "");
	fputs("</dl>\n", page->stream);
}

/* Where the lines of a block come from, and how many rules they hold. */
static void
put_folded(const struct page *page, size_t number)
{
	const struct room *block = &page->blocks.items[number];
	bool group = strcmp(block->file, "sbx:groups.sbx") == 0;

	fprintf(page->stream, "<details class=\"g\"><summary>%s<b>",
	    *block->name == '\0' ? "" :
		group            ? "group " :
				   "profile ");
	page_text(page->stream,
	    *block->name != '\0' ? shown_text(page->arena, block->name) :
				   "the language itself");
	fprintf(page->stream,
	    "</b> <span class=\"dim\">%zu rule%s</span>"
	    "</summary>\n<div>\n",
	    block->lines, block->lines == 1 ? "" : "s");
	put_block(page, number);
	fputs("</div></details>\n", page->stream);
}

static void
put_from(const struct page *page, const struct room *room)
{
	fputs("<h3>from <code>", page->stream);
	page_text(page->stream, shown_text(page->arena, room->name));
	fputs("</code></h3>\n", page->stream);
}

static void
put_rules(const struct page *page)
{
	const char *profile = sbx_string(page->blob, page->blob->meta->profile);
	bool own = false;

	for (size_t i = 0; i < page->blocks.count; i++)
		own = own || page->blocks.items[i].own;
	if (own)
		fputs("<h2>What it says itself</h2>\n", page->stream);
	for (size_t i = 0; i < page->blocks.count; i++) {
		const struct room *room = &page->blocks.items[i];

		if (!room->own)
			continue;
		if (strcmp(room->name, profile) != 0)
			put_from(page, room);
		put_block(page, i);
	}
	fputs("<h2>What it takes from others</h2>\n", page->stream);
	for (size_t i = 0; i < page->blocks.count; i++) {
		if (!page->blocks.items[i].own)
			put_folded(page, i);
	}
}

static void
page_gather(struct page *page, struct arena *arena, const struct sbx_blob *blob)
{
	struct places *places = &page->subject.places;

	page->arena = arena;
	page->blob = blob;
	page->subject.level = SBX_LEVEL_FULL;
	page->subject.arch = &arches[0];
	places_init(places, arena, blob, "/home/user/project", "/home/user");
	for (uint32_t i = 0; i < blob->source_count; i++)
		page->has_text = page->has_text ||
		    strncmp(sbx_string(blob, blob->sources[i].file),
			"sbx:", 4) != 0;
	add_paths(page);
	for (size_t i = 0; i < countof(others); i++) {
		const struct rule_kind *kind = rule_kinds[others[i].kind];
		uint32_t count;
		const char *record = sbx_records(page->blob, kind->section,
		    &count);

		for (; count-- > 0; record += kind->record.size)
			add_record(page, i, record);
	}
}

void
page_policy(FILE *stream, struct arena *arena, const struct sbx_blob *blob,
    const struct sources *sources, const struct sbx_blob *old)
{
	struct page *page = arena_alloc(arena, sizeof *page);
	struct page *before = arena_alloc(arena, sizeof *before);
	const char *about = sbx_string(blob, blob->meta->about);

	page->stream = stream;
	page->sources = sources;
	if (old != NULL) {
		page_gather(before, arena, old);
		page->others = &before->statements;
	}
	page_gather(page, arena, blob);
	fprintf(stream, "<h1>");
	page_text(stream,
	    shown_text(arena, sbx_string(blob, blob->meta->profile)));
	fputs("</h1>\n<p class=\"dim\">", stream);
	page_text(stream, about);
	fputs("</p>\n", stream);
	if (blob->meta->flags & SBX_EVERYTHING)
		fputs("<p><b class=\"deny\">allow everything:</b> nothing is "
		      "confined but by limits.</p>\n",
		    stream);
	put_card(page);
	put_rules(page);
}
