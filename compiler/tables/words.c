/*
 * See tables.h.  The tables are a dozen lines each, so every look-up is a walk.
 */
#include "compiler/tables/tables.h"

#include "compiler/base/base.h"

#include <string.h>

struct word {
	const char *word;
	int value;
};

struct unit {
	enum unit_class unit;
	const char *word;
	uint64_t factor;
	const char *meant;
};

static const struct what whats[] = {
#define RIGHT(word, gives, takes) { word, KIND_PATH, gives, takes },
#define PORT_OP(text, op) { text, KIND_PORT, op, op },
#define PROXY(text, form) { text, KIND_PROXY, form, form },
#define BLANKET(text, kind) { text, KIND_BLANKET, kind, kind },
#define LIST(word, kind) { word, KIND_##kind, 0, 0 },
#define WATCH(text, form) { text, KIND_WATCH, form, form },
#define SOCKET(text, form) { text, KIND_SOCKET, form, 0 },
#include "compiler/tables/words.def"
};
_Static_assert(countof(whats) <= WHAT_MAX, "what_next() overflows");

static const struct limit_word limits[] = {
#define LIMIT(text, number, class, smallest) \
	{ .word = text, \
		.kind = number, \
		.unit = UNIT_##class, \
		.least = smallest },
#include "compiler/tables/words.def"
};

static const struct unit units[] = {
#define UNIT(class, text, number) \
	{ .unit = UNIT_##class, .word = text, .factor = number },
#define WRONG_UNIT(class, text, right) \
	{ .unit = UNIT_##class, .word = text, .meant = right },
#include "compiler/tables/words.def"
};

static const struct word levels[] = {
#define LEVEL(text, number) { .word = text, .value = number },
#include "compiler/tables/words.def"
};

static const struct word platform_words[] = {
#define PLATFORM(text, number) { .word = text, .value = number },
#include "compiler/tables/words.def"
};

static const struct word anchors[] = {
#define ANCHOR(text, number) { .word = text, .value = number },
#include "compiler/tables/words.def"
};

enum {
	ALL = SBX_ON_ALL,
	LINUX = SBX_ON_LINUX,
	MACOS = SBX_ON_MACOS,
};

const struct set_entry set_entries[] = {
#define SET(name, on, text) { .set = name, .platforms = on, .path = text },
#include "compiler/tables/sets.def"
#undef SET
};
const size_t set_entry_count = countof(set_entries);

static int
word_find(const struct word *words, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(words[i].word, text) == 0)
			return words[i].value;
	}
	return -1;
}

static const char *
word_nearest(const struct word *words, size_t count, const char *text)
{
	const char *names[8];
	size_t used = 0;

	for (; used < count && used < countof(names); used++)
		names[used] = words[used].word;
	return nearest_name(text, names, used);
}

const struct limit_word *
limit_find(const char *word)
{
	for (size_t i = 0; i < countof(limits); i++) {
		if (strcmp(limits[i].word, word) == 0)
			return &limits[i];
	}
	return NULL;
}

const struct limit_word *
limit_of_kind(enum sbx_limit_kind kind)
{
	size_t i = 0;

	while (limits[i].kind != kind)
		i++;
	return &limits[i];
}

const char *
limit_value_text(struct arena *arena, const struct limit_word *limit,
    uint64_t value)
{
	const struct unit *best = NULL;

	for (size_t i = 0; i < countof(units); i++) {
		const struct unit *unit = &units[i];

		if (unit->unit != limit->unit || unit->factor == 0 ||
		    value % unit->factor != 0)
			continue;
		if (best == NULL || (unit->factor > best->factor && value > 0))
			best = unit;
	}
	return best == NULL ?
	    arena_printf(arena, "%llu", (unsigned long long)value) :
	    arena_printf(arena, "%llu%s",
		(unsigned long long)(value / best->factor), best->word);
}

const char *
limit_nearest(const char *word)
{
	const char *names[countof(limits)];

	for (size_t i = 0; i < countof(limits); i++)
		names[i] = limits[i].word;
	return nearest_name(word, names, countof(limits));
}

const char *
limit_words(struct arena *arena)
{
	const char *text = "";

	for (size_t i = 0; i < countof(limits); i++)
		text = arena_printf(arena, "%s %s", text, limits[i].word);
	return text;
}

static const struct unit *
unit_find(enum unit_class class, const char *word)
{
	for (size_t i = 0; i < countof(units); i++) {
		if (units[i].unit == class && strcmp(units[i].word, word) == 0)
			return &units[i];
	}
	return NULL;
}

uint64_t
unit_factor(enum unit_class unit, const char *word)
{
	const struct unit *found = unit_find(unit, word);

	return found == NULL ? 0 : found->factor;
}

const char *
unit_meant(enum unit_class unit, const char *word)
{
	const struct unit *found = unit_find(unit, word);

	return found == NULL ? NULL : found->meant;
}

int
level_find(const char *word)
{
	return word_find(levels, countof(levels), word);
}

const char *
level_word(enum sbx_level level)
{
	size_t i = 0;

	while (levels[i].value != (int)level)
		i++;
	return levels[i].word;
}

const char *
level_nearest(const char *word)
{
	return word_nearest(levels, countof(levels), word);
}

uint8_t
platform_find(const char *word)
{
	int platforms = word_find(platform_words, countof(platform_words),
	    word);

	return platforms < 0 ? 0 : (uint8_t)platforms;
}

const char *
platform_nearest(const char *word)
{
	return word_nearest(platform_words, countof(platform_words), word);
}

const char *
platform_text(uint8_t platforms)
{
	static const char *const texts[SBX_ON_ALL + 1] = {
		[0] = "nothing",
		[SBX_ON_LINUX_X86_64] = "x86_64",
		[SBX_ON_LINUX_AARCH64] = "aarch64",
		[SBX_ON_LINUX] = "linux",
		[SBX_ON_MACOS] = "macos",
		[SBX_ON_MACOS | SBX_ON_LINUX_X86_64] = "x86_64 and macos",
		[SBX_ON_MACOS | SBX_ON_LINUX_AARCH64] = "aarch64 and macos",
		[SBX_ON_ALL] = "linux and macos",
	};

	return texts[platforms & SBX_ON_ALL];
}

const char *
anchor_word(uint16_t anchor)
{
	for (size_t i = 0; i < countof(anchors); i++) {
		if (anchors[i].value == anchor)
			return anchors[i].word;
	}
	return NULL;
}

/* The word of a form at an index; its length is 0 past the end. */
static const char *
what_word(const struct what *what, size_t index, size_t *len)
{
	const char *at = what->words;

	for (; index > 0 && *at != '\0'; index--) {
		at += strcspn(at, " ");
		at += *at == ' ';
	}
	*len = strcspn(at, " ");
	return at;
}

static bool
what_has_word(const struct what *what, size_t index, const char *text)
{
	size_t len;
	const char *word = what_word(what, index, &len);

	return len > 0 && strlen(text) == len && memcmp(word, text, len) == 0;
}

/* How many of the words stand at the front of the form. */
static size_t
what_common(const struct what *what, const char *const *words, size_t count)
{
	size_t i = 0;

	while (i < count && what_has_word(what, i, words[i]))
		i++;
	return i;
}

const struct what *
what_match(const char *const *words, size_t count, size_t *used)
{
	*used = 0;
	for (size_t i = 0; i < countof(whats); i++) {
		size_t common = what_common(&whats[i], words, count), len;

		what_word(&whats[i], common, &len);
		if (len == 0) {
			*used = common;
			return &whats[i];
		}
		if (common > *used)
			*used = common;
	}
	return NULL;
}

bool
word_is_head(const char *words)
{
	return strncmp(words, "watch", 5) == 0 ||
	    strncmp(words, "stage", 5) == 0;
}

size_t
what_next(struct arena *arena, const char *const *words, size_t used,
    const char *next[WHAT_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < countof(whats); i++) {
		size_t len, seen = 0;
		const char *word = what_word(&whats[i], used, &len);

		if (what_common(&whats[i], words, used) < used || len == 0)
			continue;
		/* `watch` and `stage` begin a statement and follow no effect. */
		if (used == 0 && word_is_head(whats[i].words))
			continue;
		word = arena_intern(arena, word, len);
		while (seen < count && next[seen] != word)
			seen++;
		if (seen == count)
			next[count++] = word;
	}
	return count;
}

const char *
what_words(enum rule_kind_id kind, uint8_t detail)
{
	for (size_t i = 0; i < countof(whats); i++) {
		if (whats[i].kind == kind && whats[i].allow == detail)
			return whats[i].words;
	}
	return "";
}

const char *
path_words(struct arena *arena, enum sbx_effect effect, uint8_t rights)
{
	return (rights & SBX_STAGED) != 0 ?
	    "stage write" :
	    arena_printf(arena, "%s %s", effect_word(effect),
		rights_word(effect, rights));
}

const char *
rights_word(enum sbx_effect effect, uint8_t rights)
{
	bool write = rights & SBX_WRITE, exec = rights & SBX_EXEC;

	if (effect != SBX_ALLOW && (rights & SBX_READ))
		return "read";
	if (write)
		return exec ? "write,exec" : "write";
	return exec ? "exec" : "read";
}

const char *
effect_word(enum sbx_effect effect)
{
	static const char *const names[SBX_EFFECT_END] = {
		[SBX_ALLOW] = "allow",
		[SBX_DENY] = "deny",
		[SBX_PREFER_DENY] = "prefer deny",
	};

	return names[effect];
}

const char *
port_op_word(enum sbx_port_op op)
{
	static const char *const words[SBX_PORT_OP_END] = {
		[SBX_CONNECT_TCP] = "connect",
		[SBX_LISTEN_TCP] = "listen",
		[SBX_HOST_TCP] = "host",
		[SBX_PUBLISH_TCP] = "publish",
	};

	return words[op];
}
