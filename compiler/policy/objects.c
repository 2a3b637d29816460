/*
 * See kind.h.  The grammar does not know where the words of a rule end and
 * its objects begin ("allow env HOME", "allow network full"): that is decided
 * here, by the table of forms in tables/words.def.
 */
#include "compiler/policy/kind.h"

#include "compiler/base/base.h"
#include "format/text.h"

#include <string.h>

const struct ast_atom *
object_first(const struct ast_stmt *stmt)
{
	return stmt->words.first != NULL ? stmt->words.first :
					   stmt->objects.first;
}

const struct ast_atom *
object_next(const struct ast_stmt *stmt, const struct ast_atom *atom)
{
	return atom == stmt->words.last ? stmt->objects.first : atom->next;
}

const char *
atom_text(struct scope *scope, const struct ast_atom *atom)
{
	return arena_printf(scope->arena, "%s%s",
	    atom->kind == AST_GROUP    ? "@" :
		atom->kind == AST_GLOB ? "glob " :
					 "",
	    atom->text);
}

/* "'connect', 'full' or 'listen'" */
static const char *
words_text(struct scope *scope, const char *const *words, size_t count)
{
	const char *text = "";

	for (size_t i = 0; i < count; i++)
		text = arena_printf(scope->arena, "%s%s'%s'", text,
		    i == 0             ? "" :
			i + 1 == count ? " or " :
					 ", ",
		    words[i]);
	return text;
}

static void
report_what(struct scope *scope, const struct ast_stmt *stmt,
    const char *const *words, size_t used, const struct ast_atom *atom)
{
	const char *next[WHAT_MAX];
	size_t count = what_next(scope->arena, words, used, next);
	const char *near = atom == NULL ? NULL :
					  nearest_name(atom->text, next, count);
	struct diag *diag;

	if (used == 0)
		diag = diag_add(scope->diags, DIAG_UNKNOWN_RIGHT,
		    atom == NULL ? stmt->loc : atom->loc, "unknown right '%s'",
		    atom == NULL ? "" : atom->text);
	else if (atom == NULL)
		diag = diag_add(scope->diags, DIAG_NO_OBJECT,
		    stmt->words.last == NULL ? stmt->loc :
					       stmt->words.last->loc,
		    "expected %s after '%s'", words_text(scope, next, count),
		    words[used - 1]);
	else
		diag = diag_add(scope->diags, DIAG_UNKNOWN_WORD, atom->loc,
		    "unknown word '%s' after '%s'", atom_text(scope, atom),
		    words[used - 1]);
	if (near != NULL)
		diag_did_you_mean(diag, near);
	else if (used == 2 && strcmp(words[0], "network") == 0 &&
	    strcmp(words[1], "proxy") != 0)
		diag_help(diag,
		    "expected 'tcp': other protocols take 'network full'");
	else if (atom != NULL)
		diag_help(diag, "expected %s", words_text(scope, next, count));
}

const struct what *
object_what(struct scope *scope, const struct ast_stmt *stmt,
    const struct ast_atom **objects)
{
	const struct ast_atom *atom = object_first(stmt);
	const char *words[WHAT_WORDS];
	size_t count = 0, used;
	const struct what *what;

	for (; atom != NULL && count < WHAT_WORDS; count++) {
		if (atom->kind != AST_WORD)
			break;
		words[count] = atom->text;
		atom = object_next(stmt, atom);
	}
	what = what_match(words, count, &used);
	atom = object_first(stmt);
	for (size_t i = 0; i < used; i++)
		atom = object_next(stmt, atom);
	*objects = atom;
	if (what == NULL)
		report_what(scope, stmt, words, used, atom);
	return what;
}

bool
number_read(const char *text, const char *stop, uint64_t *value)
{
	return sbx_decimal_read(text, stop, value) == stop;
}

bool
object_port(struct scope *scope, const struct ast_atom *atom, const char *text,
    size_t len, uint16_t *port)
{
	struct diag *diag;
	uint64_t value;

	/* In other languages such a number is octal, and another one. */
	if (strspn(text, "0") > 0 && strspn(text, "0") < len &&
	    strspn(text, "0123456789") >= len) {
		diag = diag_add(scope->diags, DIAG_BAD_PORT,
		    atom_part(scope, atom, text, len),
		    "port %.*s begins with a zero", (int)len, text);
		diag_help(diag, "did you mean %.*s?",
		    (int)(len - strspn(text, "0")), text + strspn(text, "0"));
		return false;
	}
	if (len > 0 && strspn(text, "0123456789") >= len) {
		if (number_read(text, text + len, &value) && value >= 1 &&
		    value <= 65535) {
			*port = (uint16_t)value;
			return true;
		}
		diag_add(scope->diags, DIAG_BAD_PORT,
		    atom_part(scope, atom, text, len),
		    "port %.*s is out of range: ports are 1 to 65535", (int)len,
		    text);
		return false;
	}
	diag_add(scope->diags, DIAG_BAD_PORT, atom->loc, "'%s' is not a port",
	    atom->text);
	return false;
}

bool
object_variable(struct scope *scope, const struct ast_atom *atom, bool stars)
{
	const char *equals = strchr(atom->text, '=');
	struct diag *diag;

	if (atom->kind == AST_GROUP || atom->kind == AST_PATH ||
	    atom->kind == AST_RANGE || atom->kind == AST_GLOB ||
	    (atom->kind == AST_NUMBER && atom_is_plain(scope, atom))) {
		diag_add(scope->diags, DIAG_WRONG_OBJECT, atom->loc,
		    "expected the name of a variable, found '%s'",
		    atom_text(scope, atom));
		return false;
	}
	if (*atom->text == '\0') {
		diag_add(scope->diags, DIAG_BAD_ENV, atom->loc,
		    "the name of a variable is empty");
		return false;
	}
	if (equals != NULL) {
		diag = diag_add(scope->diags, DIAG_BAD_ENV,
		    atom_part(scope, atom, equals, 1),
		    "'%s' matches no variable: names have no '='", atom->text);
		if (stars)
			diag_help(diag,
			    "a rule is about names; 'set env NAME = VALUE' "
			    "gives a value");
		return false;
	}
	if (!stars && strchr(atom->text, '*') != NULL) {
		diag_add(scope->diags, DIAG_BAD_ENV, atom->loc,
		    "'set env' needs the name of one variable, not the pattern "
		    "'%s'",
		    atom->text);
		return false;
	}
	return true;
}

static bool
unit_find_or_report(struct scope *scope, const struct limit_word *limit,
    const struct ast_atom *atom, const char *unit, uint64_t *factor)
{
	static const char *const examples[] = {
		[UNIT_BYTES] = "sizes have B, KiB, MiB, GiB or TiB",
		[UNIT_TIME] = "times have s, m or h",
		[UNIT_COUNT] = "a plain number, as in 64",
	};
	const char *meant = unit_meant(limit->unit, unit);
	struct diag *diag;

	*factor = *unit == '\0' && limit->unit == UNIT_COUNT ?
	    1 :
	    unit_factor(limit->unit, unit);
	/* Nothing is nothing in every unit. */
	if (*unit == '\0' && strspn(atom->text, "0") == strlen(atom->text))
		*factor = 1;
	if (*factor != 0)
		return true;
	if (*unit == '\0')
		diag = diag_add(scope->diags, DIAG_BAD_LIMIT, atom->loc,
		    "limit '%s' needs a unit", limit->word);
	else
		diag = diag_add(scope->diags, DIAG_BAD_LIMIT,
		    atom_part(scope, atom, unit, strlen(unit)),
		    "unknown unit '%s' for limit '%s'", unit, limit->word);
	if (meant != NULL)
		diag_help(diag, "did you mean '%.*s%s'?",
		    (int)(unit - atom->text), atom->text, meant);
	else
		diag_help(diag, "%s", examples[limit->unit]);
	return false;
}

/* The least value of a limit in the largest unit that says it. */
static const char *
limit_least(struct arena *arena, const struct limit_word *limit)
{
	uint64_t least = limit->least;
	const char *unit = "";

	if (limit->unit == UNIT_TIME)
		unit = "s";
	else if (limit->unit == UNIT_BYTES && least % (1 << 20) == 0) {
		least >>= 20;
		unit = "MiB";
	} else if (limit->unit == UNIT_BYTES && least % (1 << 10) == 0) {
		least >>= 10;
		unit = "KiB";
	} else if (limit->unit == UNIT_BYTES)
		unit = "B";
	return arena_printf(arena, "%llu%s", (unsigned long long)least, unit);
}

static bool
limit_check(struct scope *scope, const struct limit_word *limit,
    const struct ast_atom *atom, uint64_t value)
{
	struct diag *diag;

	if (value > INT64_MAX) {
		diag = diag_add(scope->diags, DIAG_BAD_LIMIT, atom->loc,
		    "limit '%s' of '%s' is beyond 2^63", limit->word,
		    atom->text);
		diag_help(diag, "'limit %s none' sets no limit", limit->word);
		return false;
	}
	if (value >= limit->least)
		return true;
	diag = diag_add(scope->diags, DIAG_BAD_LIMIT, atom->loc,
	    "limit '%s' of '%s' is too small for any command", limit->word,
	    atom->text);
	diag_help(diag, "the least is %s", limit_least(scope->arena, limit));
	return false;
}

bool
object_limit(struct scope *scope, const struct limit_word *limit,
    const struct ast_atom *atom, uint64_t *value)
{
	const char *unit = atom->text + strspn(atom->text, "0123456789");
	uint64_t factor;

	if (atom->kind != AST_NUMBER) {
		diag_add(scope->diags, DIAG_WRONG_OBJECT, atom->loc,
		    "expected a value for limit '%s', found '%s'", limit->word,
		    atom_text(scope, atom));
		return false;
	}
	if (!unit_find_or_report(scope, limit, atom, unit, &factor))
		return false;
	if (!number_read(atom->text, unit, value) ||
	    __builtin_mul_overflow(*value, factor, value))
		*value = UINT64_MAX;
	return limit_check(scope, limit, atom, *value);
}

/* A name in a value must stand for exactly one path, which is then its text. */
static bool
value_of_list(struct scope *scope, const struct ast_atom *atom,
    const struct symbol *symbol, const char *rest, struct rule *rule)
{
	struct ast_atom name = *atom;
	struct place_list list = { 0 };
	struct place *place;

	name.text = arena_printf(scope->arena, "${%s}", symbol->name);
	if (!scope_paths(scope, &name, rule->origin.platforms, &list))
		return false;
	if (list.places.count != 1) {
		diag_help(
		    diag_add(scope->diags, DIAG_BAD_VALUE, atom->loc,
			"'${%s}' stands for %zu paths, and a value holds one",
			symbol->name, list.places.count),
		    "begin the value with a name that stands for one path");
		return false;
	}
	place = list.places.items;
	rule->set.anchor = place->at.anchor == SBX_ANCHOR_ROOT ?
	    SBX_NO_ANCHOR :
	    place->at.anchor;
	rule->set.text = arena_printf(scope->arena, "%s%s",
	    *place->at.suffix == '\0' && place->at.anchor == SBX_ANCHOR_ROOT ?
		"/" :
		place->at.suffix,
	    rest);
	return true;
}

bool
object_value(struct scope *scope, const struct ast_atom *atom,
    struct rule *rule)
{
	struct symbol *symbol;
	const char *rest = scope_split(scope, atom, &symbol), *inner;

	if (rest == NULL)
		return false;
	inner = strstr(rest, "${");
	if (inner != NULL) {
		diag_help(diag_add(scope->diags, DIAG_BAD_VALUE,
			      atom_part(scope, atom, inner, strlen(inner)),
			      "'${' in the middle of a value"),
		    "a name can stand at the start of a value only");
		return false;
	}
	rule->set.anchor = SBX_NO_ANCHOR;
	rule->set.text = rest;
	if (symbol == NULL)
		rule->set.text = atom_text(scope, atom);
	else if (symbol->kind == SYMBOL_ANCHOR)
		rule->set.anchor = symbol->anchor;
	else if (symbol->kind != SYMBOL_PARAM)
		return value_of_list(scope, atom, symbol, rest, rule);
	else {
		scope_bind(scope, symbol);
		rule->set.anchor = symbol->anchor;
	}
	rule->set.text = arena_intern(scope->arena, rule->set.text,
	    strlen(rule->set.text));
	return true;
}

uint8_t
object_platforms(struct scope *scope, const struct ast_stmt *stmt)
{
	uint8_t platforms = 0;

	for (const struct ast_atom *atom = object_first(stmt); atom != NULL;
	     atom = object_next(stmt, atom)) {
		uint8_t bits = platform_find(atom->text);
		struct diag *diag;

		platforms |= bits;
		if (bits != 0)
			continue;
		diag = diag_add(scope->diags, DIAG_UNKNOWN_WORD, atom->loc,
		    "unknown platform '%s'", atom_text(scope, atom));
		if (platform_nearest(atom->text) != NULL)
			diag_did_you_mean(diag, platform_nearest(atom->text));
		else
			diag_help(diag,
			    "expected linux, macos, x86_64 or aarch64");
		return 0;
	}
	return platforms;
}
