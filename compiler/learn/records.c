/*
 * What `sbxrun --learn` has written: runs, and what each wanted.  The files are
 * lines of JSON; sbxrun(1) describes them.  Whoever can write such a file
 * chooses what a draft says, so nothing in it is believed but its form.
 *
 * Each line is a text of JSON by itself.
 */
#include "compiler/base/base.h"
#include "compiler/learn/learn.h"
#include "compiler/tables/tables.h"

#include <string.h>

enum { FORM = 1 }; /* of the records */

/* A line that is read. */
struct line {
	struct records *records;
	const struct source *source;
	const char *begin, *end;
	const struct json_t *object;
};

static struct loc
loc_of(const struct line *line, size_t offset)
{
	uint32_t at = line->source->base +
	    (uint32_t)(line->begin - line->source->text + (ptrdiff_t)offset);

	return (struct loc){ at, at + 1 };
}

static void report(const struct line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void
report(const struct line *line, const char *format, ...)
{
	char text[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	diag_add(&line->records->diags, DIAG_LEARN_RECORD, loc_of(line, 0),
	    "%s", text);
}

static const char *
copy(const struct line *line, const char *key)
{
	const char *text = json_text(line->object, key);

	return text == NULL ?
	    NULL :
	    arena_intern(line->records->arena, text, strlen(text));
}

/* --- paths ---------------------------------------------------------------- */

static int
digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	    c >= 'a' && c <= 'f'    ? c - 'a' + 10 :
				      -1;
}

/* The name in bytes, if it is no text; NULL after reporting. */
static const char *
decode(const struct line *line, const char *digits)
{
	size_t len = strlen(digits);
	char *bytes = arena_alloc(line->records->arena, len / 2 + 1);

	for (size_t i = 0; i + 1 < len; i += 2) {
		int high = digit(digits[i]), low = digit(digits[i + 1]);

		bytes[i / 2] = (char)(high * 16 + low);
		if (high >= 0 && low >= 0 && bytes[i / 2] != '\0')
			continue;
		len = 1;
		break;
	}
	if (len % 2 == 0)
		return bytes;
	report(line, "'bytes' are pairs of hexadecimal digits");
	return NULL;
}

/* Whether the supervisor could have written it: it has no other form there. */
static bool
is_normal(const char *path)
{
	if (*path != '/' || strlen(path) > SBX_MAX_PATH)
		return false;
	if (path[1] == '\0')
		return true;
	while (*path != '\0') {
		size_t len = strcspn(++path, "/");

		if (len == 0 || (len == 1 && *path == '.') ||
		    (len == 2 && path[0] == '.' && path[1] == '.'))
			return false;
		path += len;
	}
	return true;
}

static const char *
path_of(const struct line *line)
{
	const char *digits = json_text(line->object, "bytes");
	const char *path = digits != NULL ? decode(line, digits) :
					    copy(line, "path");

	if (path != NULL && is_normal(path))
		return path;
	if (path != NULL || digits == NULL)
		report(line, "'path' is an absolute path without '.' and '..'");
	return NULL;
}

/* --- records -------------------------------------------------------------- */

static void
read_run(const struct line *line, struct run *run)
{
	struct records *records = line->records;
	const char *level = json_text(line->object, "level");
	int found = level != NULL ? level_find(level) : -1;
	uint64_t version = json_number(line->object, "learn");

	if (run != NULL) {
		report(line, "the run has a first record already");
		return;
	}
	if (version != FORM) {
		report(line, "the record has version %u; this sbxc reads %u",
		    (unsigned)version, (unsigned)FORM);
		return;
	}
	if (found < SBX_LEVEL_STANDARD) {
		report(line, "'level' is full or standard");
		return;
	}
	run = arena_alloc(records->arena, sizeof *run);
	run->name = copy(line, "run");
	run->profile = copy(line, "profile");
	run->command = copy(line, "command");
	run->level = (enum sbx_level)found;
	map_put(records->arena, &records->by_name, run->name, run);
	*arena_push(records->arena, &records->runs) = run;
}

static void
read_anchor(const struct line *line, struct run *run)
{
	const char *name = copy(line, "name"), *path = path_of(line);

	if (path == NULL)
		return;
	if (name == NULL || !name_is_good(name, strlen(name)))
		report(line, "'name' is that of an anchor");
	else
		*arena_push(line->records->arena,
		    &run->anchors) = (struct run_anchor){ name, path };
}

/* The words of rights, beside enum wish_kind. */
static const char *const rights[] = { "read", "write", "exec", "socket",
	"connect", "listen", "call" };

/* False after reporting. */
static bool
read_object(const struct line *line, struct wish *wish)
{
	const struct json_t *object = line->object;
	uint64_t port = json_number(object, "port");

	if (wish->kind <= WISH_SOCKET) {
		wish->text = path_of(line);
		return wish->text != NULL;
	}
	if (wish->kind == WISH_CALL) {
		wish->arch = (uint32_t)json_number(object, "arch");
		wish->number = (uint32_t)json_number(object, "number");
		wish->args[0] = (uint32_t)json_number(object, "arg0");
		wish->args[1] = (uint32_t)json_number(object, "arg1");
		wish->text = "";
		return true;
	}
	wish->text = copy(line, "address");
	wish->port = (uint16_t)port;
	if (wish->text != NULL && port <= UINT16_MAX &&
	    (port > 0 || wish->kind == WISH_LISTEN))
		return true;
	report(line, "'%s' has an address and a port", rights[wish->kind]);
	return false;
}

static void
read_wanted(const struct line *line, struct run *run)
{
	const char *right = json_text(line->object, "right");
	struct wish wish = {
		.makes = json_flag(line->object, "makes"),
		.probe = json_flag(line->object, "probe"),
		.below = json_flag(line->object, "below"),
		.denied = !json_flag(line->object, "allowed"),
		.count = json_number(line->object, "count"),
		.program = copy(line, "program"),
	};
	size_t kind = 0;

	while (kind < countof(rights) &&
	    (right == NULL || strcmp(right, rights[kind]) != 0))
		kind++;
	if (kind == countof(rights)) {
		report(line, "'right' is none that can be learned");
		return;
	}
	wish.kind = (enum wish_kind)kind;
	if (read_object(line, &wish))
		*arena_push(line->records->arena, &run->wishes) = wish;
}

/* What sbx-proxy decided.  What nobody could have reached is not wanted. */
static void
read_network(const struct line *line, struct run *run)
{
	const char *name = json_text(line->object, "name");
	const char *verdict = json_text(line->object, "verdict");
	uint64_t port = json_number(line->object, "port");

	if (name == NULL || verdict == NULL || *name == '\0' ||
	    port > UINT16_MAX || strcmp(verdict, "no such name") == 0 ||
	    strcmp(verdict, "limit") == 0)
		return;
	*arena_push(line->records->arena, &run->wishes) = (struct wish){
		.kind = WISH_DOMAIN,
		.text = arena_intern(line->records->arena, name, strlen(name)),
		.port = (uint16_t)port,
		.denied = strcmp(verdict, "allowed") != 0 &&
		    strcmp(verdict, "failed") != 0,
		.count = json_number(line->object, "count"),
	};
}

static void
read_end(const struct line *line, struct run *run)
{
	run->ended = true;
	run->status = json_number(line->object, "status");
	run->lost = json_number(line->object, "lost");
}

/* Whether the line is one of a record, good or bad. */
static bool
is_record(const struct line *line)
{
	return json_number(line->object, "sbx") == FORM &&
	    json_text(line->object, "event") != NULL &&
	    json_text(line->object, "run") != NULL;
}

static void
read_record(const struct line *line)
{
	static const struct {
		const char *event;
		void (*read)(const struct line *line, struct run *run);
	} events[] = {
		{ "learn", read_run },
		{ "anchor", read_anchor },
		{ "wanted", read_wanted },
		{ "network", read_network },
		{ "learned", read_end },
	};
	const char *event = json_text(line->object, "event");
	const char *name = copy(line, "run");
	struct run *run;

	if (!is_record(line)) {
		report(line, "this is no record of sbxrun --learn");
		return;
	}
	run = map_find(&line->records->by_name, name);
	for (size_t i = 0; i < countof(events); i++) {
		if (strcmp(events[i].event, event) != 0)
			continue;
		if (run == NULL && i > 0)
			report(line, "its run has no first record");
		else
			events[i].read(line, run);
		return;
	}
	report(line, "'event' is none of sbxrun --learn");
}

/* Of a file that is something else, each line would be an error. */
static bool
begins_as_record(struct line *line)
{
	const char *fault;
	size_t at;
	struct json_t *object = json_read_line(line->records->arena,
	    line->begin, (size_t)(line->end - line->begin), &at, &fault);
	bool good;

	line->object = object;
	good = object != NULL && is_record(line);
	json_release(object);
	return good;
}

static void
read_line(struct line *line)
{
	struct records *records = line->records;
	const char *fault;
	size_t at;
	struct json_t *object = json_read_line(records->arena, line->begin,
	    (size_t)(line->end - line->begin), &at, &fault);

	if (object == NULL) {
		diag_add(&records->diags, DIAG_LEARN_RECORD, loc_of(line, at),
		    "%s", fault);
		return;
	}
	line->object = object;
	read_record(line);
	json_release(object);
}

void
records_parse(struct records *records, const struct source *source)
{
	const char *end = source->text + source->size;
	struct line line = {
		.records = records,
		.source = source,
		.begin = source->text,
	};
	size_t before = records->runs.count;

	while (line.begin < end) {
		const char *newline = memchr(line.begin, '\n',
		    (size_t)(end - line.begin));

		line.end = newline != NULL ? newline : end;
		if (newline == NULL)
			report(&line,
			    "the last line is cut: remove it, or learn again");
		else if (line.begin == source->text &&
		    !begins_as_record(&line)) {
			report(&line,
			    "this file is no record of sbxrun --learn");
			return;
		} else
			read_line(&line);
		line.begin = line.end + 1;
	}
	line.begin = source->text;
	if (records->runs.count == before && records->diags.errors == 0)
		report(&line, "there is no run in this file");
}

/* -------------------------------------------------------------------------- */

void
records_init(struct records *records, struct arena *arena)
{
	*records = (struct records){ .arena = arena };
	sources_init(&records->sources, arena);
	diags_init(&records->diags, arena, &records->sources);
}

bool
records_read(struct records *records, const char *path)
{
	const struct source *source = sources_read(&records->sources, path,
	    path, (struct loc){ 0 });

	if (source != NULL)
		records_parse(records, source);
	return source != NULL;
}

const char *
run_anchor(const struct run *run, const char *name)
{
	for (size_t i = 0; i < run->anchors.count; i++) {
		if (strcmp(run->anchors.items[i].name, name) == 0)
			return run->anchors.items[i].path;
	}
	return NULL;
}
