/*
 * The limits of a run: those of the policy, and those that a person gives on
 * the command line in their place.
 */
#include "runtime/base/options.h"

#include "format/text.h"
#include "runtime/base/kernel.h"

#include <string.h>

enum unit_class { UNIT_BYTES, UNIT_TIME, UNIT_COUNT };

static const struct limit_word {
	const char *name;
	enum unit_class unit;
	uint64_t least;
} words[SBX_LIMIT_END] = {
#define LIMIT(word, kind, unit, least) [kind] = { word, UNIT_##unit, least },
#define UNIT(unit, word, factor)
#include "format/limits.def"
#undef LIMIT
#undef UNIT
};

static const struct unit {
	enum unit_class class;
	const char *word;
	uint64_t factor;
} units[] = {
#define LIMIT(word, kind, unit, least)
#define UNIT(unit, word, factor) { UNIT_##unit, word, factor },
#include "format/limits.def"
#undef LIMIT
#undef UNIT
};

enum { UNITS = countof(units) };

const char *
limit_name(uint16_t kind)
{
	return words[kind].name;
}

/* In the largest unit that leaves no rest. */
static void
out_value(struct out *out, enum unit_class class, uint64_t value)
{
	const struct unit *best = NULL;

	for (size_t i = 0; i < UNITS; i++) {
		const struct unit *unit = &units[i];

		if (unit->class == class &&
		    (unit->factor == 1 ||
			(value > 0 && value % unit->factor == 0)))
			best = unit;
	}
	out_number(out, best == NULL ? value : value / best->factor);
	if (best != NULL)
		out_text(out, best->word);
}

void
out_limit(struct out *out, const struct sbx_limit *limit)
{
	const struct limit_word *word = &words[limit->kind];

	out_print(out, "%s ", word->name);
	out_value(out, word->unit, limit->value);
}

/* --- the command line ----------------------------------------------------- */

static int
find_limit(const char *name, size_t len)
{
	for (int kind = 0; kind < SBX_LIMIT_END; kind++) {
		if (strncmp(words[kind].name, name, len) == 0 &&
		    words[kind].name[len] == '\0')
			return kind;
	}
	return -1;
}

__attribute__((noreturn)) static void
refuse_name(const char *given)
{
	struct out text;

	out_init(&text, -1);
	out_text(&text, "no such limit; there are");
	for (int kind = 0; kind < SBX_LIMIT_END; kind++)
		out_print(&text, " %s", words[kind].name);
	refuse(given, text.text, 0);
}

__attribute__((noreturn)) static void
refuse_unit(const char *given, enum unit_class class)
{
	static const char *const examples[] = {
		[UNIT_BYTES] = "a size needs B, KiB, MiB, GiB or TiB",
		[UNIT_TIME] = "a time needs s, m or h",
		[UNIT_COUNT] = "a plain number, as in 64, or none",
	};

	refuse(given, examples[class], 0);
}

/* The factor of a unit, 0 if there is none; nothing is nothing in every
 * unit. */
static uint64_t
factor_of(enum unit_class class, const char *unit, uint64_t number)
{
	if (*unit == '\0' && (class == UNIT_COUNT || number == 0))
		return 1;
	for (size_t i = 0; i < UNITS; i++) {
		if (units[i].class == class && strcmp(units[i].word, unit) == 0)
			return units[i].factor;
	}
	return 0;
}

static uint64_t
read_value(const char *given, const struct limit_word *word, const char *text)
{
	struct out least;
	uint64_t number, factor;
	const char *unit = sbx_decimal_read(text, text + strlen(text), &number);

	if (unit == NULL)
		refuse(given, "its value is a number with a unit, or none", 0);
	factor = factor_of(word->unit, unit, number);
	if (factor == 0)
		refuse_unit(given, word->unit);
	if (number > INT64_MAX / factor)
		refuse(given, "beyond 2^63; 'none' sets no limit", 0);
	if (number * factor >= word->least)
		return number * factor;
	out_init(&least, -1);
	out_text(&least, "too small for any command; the least is ");
	out_value(&least, word->unit, word->least);
	refuse(given, least.text, 0);
}

void
limits_choose(struct limit_choice choices[SBX_LIMIT_END], const char *text)
{
	size_t len = strcspn(text, "=");
	int kind = find_limit(text, len);
	const char *value = text + len + 1;

	if (text[len] == '\0')
		refuse(text, "--limit needs NAME=VALUE, such as timeout=10m",
		    0);
	if (kind < 0)
		refuse_name(text);
	choices[kind].given = true;
	choices[kind].lifted = strcmp(value, "none") == 0;
	if (!choices[kind].lifted)
		choices[kind].value = read_value(text, &words[kind], value);
}

void
limits_apply(struct sbx_blob *blob,
    const struct limit_choice choices[SBX_LIMIT_END],
    struct sbx_limit room[SBX_LIMIT_END])
{
	uint32_t count = 0;

	for (uint16_t kind = 0; kind < SBX_LIMIT_END; kind++) {
		const struct limit_choice *choice = &choices[kind];
		const struct sbx_limit *limit = limit_here(blob, kind);
		bool held = limit != NULL && limit->ceiling != 0;

		if (held && choice->given &&
		    (choice->lifted || choice->value > limit->value))
			refuse_at(blob, limit->source,
			    "the ceiling has a limit of this kind, which "
			    "--limit may only lower",
			    0);
		if (choice->given && !choice->lifted)
			room[count++] = (struct sbx_limit){
				.value = choice->value,
				.source = SOURCE_COMMAND_LINE,
				.kind = kind,
				.platforms = KERNEL_WHERE,
				.ceiling = held,
			};
		else if (!choice->given && limit != NULL)
			room[count++] = *limit;
	}
	blob->limits = room;
	blob->limit_count = count;
}

/* --- the end of a run ----------------------------------------------------- */

void
limit_say(const struct sbx_blob *blob, uint16_t kind, const char *text)
{
	const struct sbx_limit *limit = limit_here(blob, kind);
	struct out out;

	if (limit == NULL)
		return;
	out_init(&out, STDERR_FILENO);
	out_text(&out, "sbxrun: ");
	out_source(&out, blob, limit->source);
	out_text(&out, ": limit ");
	out_limit(&out, limit);
	out_print(&out,
	    limit->ceiling != 0 ? ": %s; the ceiling has a limit of it\n" :
				  ": %s; --limit %s=none lifts it\n",
	    text, limit_name(kind));
	out_flush(&out);
}
