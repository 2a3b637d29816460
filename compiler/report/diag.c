/*
 * The records of diagnostics are kept in the order in which they are found, and
 * judged when all are known.  diag_print.c prints them; suppress.c knows which
 * of them the text asks to ignore.
 */
#include "compiler/report/report.h"

#include "compiler/base/base.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	MESSAGE_MAX = 400, /* bytes; what quotes more is cut off */
};

static const struct {
	const char *id, *code, *title, *explain;
	enum severity severity;
} kinds[] = {
#define ERROR SEVERITY_ERROR
#define WARNING SEVERITY_WARNING
#define NOTE SEVERITY_NOTE
#define DIAG(id, code, severity, title, explain) \
	[DIAG_##id] = { #id, code, title, explain, severity },
#include "compiler/tables/diags.def"
#undef DIAG
#undef ERROR
#undef WARNING
#undef NOTE
};

const char *
diag_code(enum diag_id id)
{
	return kinds[id].code;
}

const char *
diag_title(enum diag_id id)
{
	return kinds[id].title;
}

const char *
diag_explain(enum diag_id id)
{
	return kinds[id].explain;
}

enum severity
diag_severity(enum diag_id id)
{
	return kinds[id].severity;
}

const char *
diag_name(struct arena *arena, enum diag_id id)
{
	char *name = arena_strndup(arena, kinds[id].id, strlen(kinds[id].id));

	for (char *at = name; *at != '\0'; at++)
		*at = *at == '_' ? '-' : (char)(*at | 0x20);
	return name;
}

/* "risky-write" is RISKY_WRITE. */
static bool
is_named(enum diag_id id, const char *name)
{
	const char *own = kinds[id].id;

	while (*own != '\0' &&
	    (*name == '-' ? *own == '_' :
			    (*own | 0x20) == (*name | 0x20) && *own != '_')) {
		own++;
		name++;
	}
	return *own == '\0' && *name == '\0';
}

enum diag_id
diag_find(const char *code)
{
	enum diag_id id = 0;

	while (id < DIAG_END && strcasecmp(kinds[id].code, code) != 0 &&
	    !is_named(id, code))
		id++;
	return id;
}

const char *
diag_nearest(struct arena *arena, const char *word)
{
	const char *names[2 * DIAG_END];

	for (int i = 0; i < DIAG_END; i++) {
		names[2 * i] = diag_code((enum diag_id)i);
		names[2 * i + 1] = diag_name(arena, (enum diag_id)i);
	}
	return nearest_name(word, names, countof(names));
}

/* --- records -------------------------------------------------------------- */

void
diags_init(struct diags *diags, struct arena *arena, struct sources *sources)
{
	*diags = (struct diags){
		.arena = arena,
		.sources = sources,
		.replace = DIAG_KEPT,
	};
}

bool
diags_may_guess(struct diags *diags)
{
	return diags->guesses++ < DIAG_GUESSES;
}

/* A message of bounded length, cut between characters. */
__attribute__((format(printf, 2, 0))) static const char *
bounded(struct arena *arena, const char *format, va_list args)
{
	char text[MESSAGE_MAX + 1];
	int len = vsnprintf(text, sizeof text, format, args);
	size_t end = MESSAGE_MAX - 3;

	if (len <= MESSAGE_MAX)
		return arena_strndup(arena, text, len < 0 ? 0 : (size_t)len);
	while (((unsigned char)text[end] & 0xc0) == 0x80)
		end--;
	return arena_printf(arena, "%.*s...", (int)end, text);
}

/* Two records that say the same have the same key. */
static const char *
record_key(const struct diags *diags, const struct diag *record)
{
	const char *key = arena_printf(diags->arena, "%d %u %u %s",
	    (int)record->id, record->loc.begin, record->loc.end,
	    record->message);

	return arena_intern(diags->arena, key, strlen(key));
}

/* An error may have taken the index of the record that had this key. */
static bool
is_same(const struct diag *a, const struct diag *b)
{
	return a->id == b->id && a->loc.begin == b->loc.begin &&
	    a->loc.end == b->loc.end && strcmp(a->message, b->message) == 0;
}

/*
 * The index for the next record.  When there are too many, only an error is
 * kept, and replaces a warning.
 */
static size_t
place_for(struct diags *diags, enum severity severity)
{
	struct diag *items = diags->records.items;

	if (diags->records.count < DIAG_KEPT) {
		(void)arena_push(diags->arena, &diags->records);
		return diags->records.count - 1;
	}
	while (severity == SEVERITY_ERROR && diags->replace > 0 &&
	    items[diags->replace - 1].severity == SEVERITY_ERROR)
		diags->replace--;
	if (severity != SEVERITY_ERROR || diags->replace == 0)
		return SIZE_MAX;
	return --diags->replace;
}

static size_t *
counter(struct diags *diags, enum severity severity)
{
	switch (severity) {
	case SEVERITY_NOTE:
		return &diags->notes;
	case SEVERITY_WARNING:
		return &diags->warnings;
	case SEVERITY_ERROR:
		break;
	}
	return &diags->errors;
}

struct diag *
diag_add(struct diags *diags, enum diag_id id, struct loc loc,
    const char *format, ...)
{
	struct diag record = {
		.arena = diags->arena,
		.id = id,
		.loc = loc,
		.severity = diag_severity(id),
	};
	const char *key;
	va_list args;
	size_t place;

	va_start(args, format);
	record.message = bounded(diags->arena, format, args);
	va_end(args);
	key = record_key(diags, &record);
	place = (size_t)(uintptr_t)map_find(&diags->known, key);
	if (place != 0 && is_same(&diags->records.items[place - 1], &record))
		return &diags->records.items[place - 1];
	++*counter(diags, record.severity);
	place = place_for(diags, record.severity);
	if (place == SIZE_MAX) {
		diags->surplus = record;
		return &diags->surplus;
	}
	map_put(diags->arena, &diags->known, key,
	    (void *)(uintptr_t)(place + 1));
	diags->records.items[place] = record;
	return &diags->records.items[place];
}

void
diag_help(struct diag *diag, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	diag->help = bounded(diag->arena, format, args);
	va_end(args);
}

void
diag_note(struct diag *diag, struct loc loc, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	diag->note = bounded(diag->arena, format, args);
	va_end(args);
	diag->note_loc = loc;
}

void
diag_did_you_mean(struct diag *diag, const char *nearest)
{
	if (nearest != NULL)
		diag_help(diag, "did you mean '%s'?", nearest);
}

/* --- judging -------------------------------------------------------------- */

void
diag_suppress(struct diags *diags, struct diag *diag, const char *reason)
{
	if (diag->severity == SEVERITY_ERROR || diag->suppressed != NULL)
		return;
	--*counter(diags, diag->severity);
	diag->suppressed = reason;
}

/* Applies the choices to one record; false: it is dropped. */
static bool
diag_judge(const struct diag_choices *choices, struct diag *diag)
{
	if (diag->severity == SEVERITY_ERROR)
		return true;
	if (choices->off[diag->id])
		return false;
	if (choices->error[diag->id])
		diag->severity = SEVERITY_ERROR;
	return true;
}

void
diags_judge(struct diags *diags, const struct diag_choices *choices)
{
	size_t kept = 0;

	for (size_t i = 0; i < diags->records.count; i++) {
		struct diag *diag = &diags->records.items[i];

		if (diag->suppressed == NULL)
			--*counter(diags, diag->severity);
		if (!diag_judge(choices, diag))
			continue;
		if (diag->suppressed == NULL)
			++*counter(diags, diag->severity);
		diags->records.items[kept++] = *diag;
	}
	diags->records.count = kept;
}

/* Sorts by place; records of one place keep the order in which they were
 * found. */
static int
compare_records(const void *a, const void *b)
{
	const struct diag *const *x = a, *const *y = b;

	if ((*x)->loc.begin != (*y)->loc.begin)
		return (*x)->loc.begin < (*y)->loc.begin ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

const struct diag **
diags_sorted(const struct diags *diags)
{
	size_t count = diags->records.count;
	const struct diag **sorted = arena_alloc(diags->arena,
	    (count + 1) * sizeof *sorted);

	for (size_t i = 0; i < count; i++)
		sorted[i] = &diags->records.items[i];
	qsort(sorted, count, sizeof *sorted, compare_records);
	return sorted;
}
