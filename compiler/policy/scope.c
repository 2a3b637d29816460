/*
 * See kind.h.  A path is an anchor and a suffix.  `${name}` of a set or a
 * `let` stands for several paths, each worked out once, when first asked for;
 * a `let` that is being worked out and is met again is a cycle.
 */
#include "compiler/policy/kind.h"

#include "compiler/base/base.h"
#include "compiler/report/report.h"
#include "compiler/tables/tables.h"

#include <string.h>

enum {
	SCOPE_MAX_PLACES = SBX_MAX_RULES,
	SCOPE_MAX_ALL = 8 * SBX_MAX_RULES, /* of all names and rules */
};

static struct symbol *
scope_add(struct scope *scope, const char *name, enum symbol_kind kind)
{
	struct symbol *symbol = arena_alloc(scope->arena, sizeof *symbol);

	name = arena_intern(scope->arena, name, strlen(name));
	symbol->kind = kind;
	symbol->name = name;
	map_put(scope->arena, &scope->symbols, name, symbol);
	*arena_push(scope->arena, &scope->names) = name;
	return symbol;
}

static struct symbol *
scope_find(struct scope *scope, const char *name, size_t len)
{
	return map_find(&scope->symbols, arena_intern(scope->arena, name, len));
}

/* What the path of a set begins with. */
static uint16_t
set_anchor(const struct set_entry *entry, const char **suffix)
{
	static const struct {
		const char *text;
		uint16_t anchor;
	} anchors[] = {
		{ "~", SBX_ANCHOR_HOME },
		{ "${runtime}", SBX_ANCHOR_RUNTIME },
	};

	for (size_t i = 0; i < countof(anchors); i++) {
		size_t len = strlen(anchors[i].text);

		*suffix = entry->path + len;
		if (strncmp(entry->path, anchors[i].text, len) == 0)
			return anchors[i].anchor;
	}
	*suffix = entry->path;
	return SBX_ANCHOR_ROOT;
}

void
scope_init(struct scope *scope, struct policy *policy, struct diags *diags)
{
	memset(scope, 0, sizeof *scope);
	scope->arena = policy->arena;
	scope->sources = policy->sources;
	scope->policy = policy;
	scope->diags = diags;
	for (uint16_t i = 1; i < SBX_ANCHOR_PARAM; i++)
		scope_add(scope, anchor_word(i), SYMBOL_ANCHOR)->anchor = i;
	scope_add(scope, "ssh-agent", SYMBOL_AGENT);
	for (size_t i = 0; i < set_entry_count; i++) {
		const struct set_entry *entry = &set_entries[i];
		struct symbol *set = scope_find(scope, entry->set,
		    strlen(entry->set));
		const char *suffix;
		uint16_t anchor = set_anchor(entry, &suffix);

		if (set == NULL)
			set = scope_add(scope, entry->set, SYMBOL_SET);
		set->done = true;
		*arena_push(scope->arena, &set->places.places) = (struct place){
			.at.anchor = anchor,
			.at.suffix = arena_intern(scope->arena, suffix,
			    strlen(suffix)),
			.platforms = entry->platforms,
		};
	}
}

const struct position *
scope_position(struct scope *scope, const struct ast_stmt *stmt)
{
	const struct position *mark;
	struct diag *diag;

	if (stmt->from == NULL)
		return NULL;
	mark = position_read(scope->arena, stmt->from->text);
	if (mark != NULL)
		return mark;
	diag = diag_add(scope->diags, DIAG_BAD_MARK, stmt->from->loc,
	    "'%s' names no place", stmt->from->text);
	diag_help(diag, "a mark is written 'from \"team.sbx:6:18 (team)\"'");
	return NULL;
}

/* A constant of the command line: bound here, so no parameter is left. */
static void
scope_define(struct scope *scope, struct symbol *param,
    const struct definition *definition)
{
	const char *value = definition->value;
	const struct ast_atom atom = {
		.kind = AST_PATH,
		.loc = param->stmt->name->loc,
		.text = value,
	};

	param->kind = SYMBOL_LET;
	param->done = true;
	if (value[0] != '/') {
		diag_add(scope->diags, DIAG_BAD_DEFINITION, atom.loc,
		    "'%s' is defined as '%s', which is not an absolute path",
		    param->name, value);
		return;
	}
	/* A dump must be able to name the path, so it has to be clean text. */
	if (strstr(value, "${") != NULL ||
	    !bytes_are_clean(value, strlen(value))) {
		diag_add(scope->diags, DIAG_BAD_DEFINITION, atom.loc,
		    "'%s' is defined as what no policy can name", param->name);
		return;
	}
	value += value[1] == '\0';
	if (!path_check(scope, &atom, value))
		return;
	*arena_push(scope->arena, &param->places.places) = (struct place){
		.at.suffix = arena_intern(scope->arena, value, strlen(value)),
		.platforms = SBX_ON_ALL,
	};
}

static void
report_taken(struct scope *scope, const struct ast_stmt *stmt,
    const struct symbol *old)
{
	const struct ast_atom *name = stmt->name;
	struct diag *diag;

	if (old->stmt == NULL) {
		diag = diag_add(scope->diags, DIAG_DUPLICATE_NAME, name->loc,
		    "'%s' is a built-in name", name->text);
		diag_help(diag, "choose another name");
		return;
	}
	diag = diag_add(scope->diags, DIAG_DUPLICATE_NAME, name->loc,
	    "duplicate name '%s'", name->text);
	diag_note(diag, old->stmt->name->loc, "it is first declared here");
}

void
scope_declare(struct scope *scope, const struct ast_stmt *stmt, const char *via)
{
	bool param = stmt->kind == AST_PARAM;
	struct symbol *symbol = map_find(&scope->symbols, stmt->name->text);

	if (symbol != NULL) {
		/* A parent and its child may speak of the same parameter. */
		if (symbol->stmt == NULL || symbol->stmt->kind != AST_PARAM ||
		    !param || symbol->via == via)
			report_taken(scope, stmt, symbol);
		return;
	}
	symbol = scope_add(scope, stmt->name->text,
	    param ? SYMBOL_PARAM : SYMBOL_LET);
	symbol->stmt = stmt;
	symbol->via = via;
	for (size_t i = 0; param && i < scope->predefined.list.count; i++) {
		if (strcmp(scope->predefined.list.items[i].name,
			symbol->name) == 0)
			scope_define(scope, symbol,
			    &scope->predefined.list.items[i]);
	}
}

void
scope_bind(struct scope *scope, struct symbol *param)
{
	struct policy *policy = scope->policy;
	const struct ast_atom *name = param->stmt->name;
	const struct source *source = sources_find(scope->sources, name->loc);
	struct diag *diag;

	if (param->bound)
		return;
	param->bound = true;
	if (SBX_ANCHOR_PARAM + policy->params.count >= SBX_MAX_ANCHORS) {
		diag = diag_add(scope->diags, DIAG_TOO_MANY, name->loc,
		    "more than %d parameters",
		    SBX_MAX_ANCHORS - SBX_ANCHOR_PARAM);
		diag_help(diag,
		    "'-D %s=PATH' given to sbxc makes this one a constant",
		    name->text);
		return;
	}
	param->anchor = (uint16_t)(SBX_ANCHOR_PARAM + policy->params.count);
	*arena_push(scope->arena, &policy->params) = (struct param){
		.origin = {
			.loc = name->loc,
			.via = param->via,
			.platforms = SBX_ON_ALL,
			.own = source != NULL && !source->builtin,
			.from = scope_position(scope, param->stmt),
		},
		.name = param->name,
	};
}

void
scope_bind_name(struct scope *scope, const char *name)
{
	struct symbol *symbol = scope_find(scope, name, strlen(name));

	if (symbol != NULL && symbol->kind == SYMBOL_PARAM)
		scope_bind(scope, symbol);
}

static void
report_relative(struct scope *scope, const struct ast_atom *atom)
{
	const char *text = atom->text;
	struct diag *diag;
	size_t used;

	if (text[0] == '~') {
		diag = diag_add(scope->diags, DIAG_RELATIVE_PATH, atom->loc,
		    "'%s' names the home of another user", text);
		diag_help(diag,
		    "'~/...' is the only form; another user's home is an "
		    "absolute path");
		return;
	}
	if (atom->kind == AST_GROUP) {
		diag_add(scope->diags, DIAG_WRONG_OBJECT, atom->loc,
		    "expected a path, found '@%s'", text);
		return;
	}
	diag = diag_add(scope->diags, DIAG_RELATIVE_PATH, atom->loc,
	    "'%s' does not start with '/', '~/' or '${name}'", text);
	if (what_match(&text, 1, &used) != NULL)
		diag_help(diag,
		    "a rule has one right; 'write' and 'exec' give reading "
		    "too");
	else if (scope_find(scope, text, strlen(text)) != NULL)
		diag_help(diag, "did you mean '${%s}'?", text);
	else if (strcmp(text, ".") == 0)
		diag_help(diag, "did you mean '${workspace}'?");
	else if (strncmp(text, "./", 2) == 0)
		diag_help(diag, "did you mean '${workspace}%s'?", text + 1);
	else if (text[0] != '.' && text[0] != '\0')
		diag_help(diag, "did you mean '${workspace}/%s'?", text);
}

static const char *
split_name(struct scope *scope, const struct ast_atom *atom,
    struct symbol **symbol)
{
	const char *name = atom->text + 2, *end = strchr(name, '}');
	struct diag *diag;

	if (end == NULL) {
		diag_add(scope->diags, DIAG_UNKNOWN_NAME, atom->loc,
		    "'${' without its '}' in '%s'", atom->text);
		return NULL;
	}
	*symbol = scope_find(scope, name, (size_t)(end - name));
	if (*symbol != NULL)
		return end + 1;
	diag = diag_add(scope->diags, DIAG_UNKNOWN_NAME,
	    atom_part(scope, atom, atom->text, (size_t)(end + 1 - atom->text)),
	    "unknown name '${%.*s}'", (int)(end - name), name);
	name = arena_strndup(scope->arena, name, (size_t)(end - name));
	name = diags_may_guess(scope->diags) ?
	    nearest_name(name, scope->names.items, scope->names.count) :
	    NULL;
	if (name != NULL)
		diag_help(diag, "did you mean '${%s}'?", name);
	else
		diag_help(diag,
		    "'param NAME' declares one that sbxrun -D binds, 'let NAME "
		    "= /path' one that is fixed");
	return NULL;
}

const char *
scope_split(struct scope *scope, const struct ast_atom *atom,
    struct symbol **symbol)
{
	const char *text = atom->text;

	*symbol = NULL;
	if (text[0] == '$' && text[1] == '{')
		return split_name(scope, atom, symbol);
	if (text[0] == '~' && (text[1] == '/' || text[1] == '\0')) {
		*symbol = scope_find(scope, "home", 4);
		return text + 1;
	}
	return text;
}

/* The `let` that an object begins with and that has to be worked out first, or
 * NULL.  One that waits for this object is a cycle, which is found later. */
static struct symbol *
object_needs(struct scope *scope, const struct ast_atom *atom)
{
	const char *name = atom->text + 2, *end = strchr(atom->text, '}');
	struct symbol *symbol;

	if (strncmp(atom->text, "${", 2) != 0 || end == NULL)
		return NULL;
	symbol = scope_find(scope, name, (size_t)(end - name));
	return symbol != NULL && symbol->kind == SYMBOL_LET && !symbol->done &&
		!symbol->busy ?
	    symbol :
	    NULL;
}

static struct symbol *
symbol_needs(struct scope *scope, struct symbol *symbol)
{
	struct symbol *other = NULL;

	while (symbol->next != NULL) {
		other = object_needs(scope, symbol->next);
		if (other != NULL)
			break;
		symbol->next = symbol->next->next;
	}
	return other;
}

static struct symbol *
symbol_begin(struct symbol *symbol, struct symbol *waiting)
{
	symbol->busy = true;
	symbol->next = symbol->stmt->objects.first;
	symbol->waiting = waiting;
	return symbol;
}

/* What it is made of comes first, without recursion: a text may have a chain
 * of any length. */
static void
symbol_settle(struct scope *scope, struct symbol *symbol)
{
	if (symbol->done)
		return;
	symbol = symbol_begin(symbol, NULL);
	while (symbol != NULL) {
		struct symbol *other = symbol_needs(scope, symbol);

		if (other != NULL) {
			symbol = symbol_begin(other, symbol);
			continue;
		}
		for (const struct ast_atom *atom = symbol->stmt->objects.first;
		     atom != NULL; atom = atom->next)
			scope_paths(scope, atom, SBX_ON_ALL, &symbol->places);
		symbol->busy = false;
		symbol->done = true;
		symbol = symbol->waiting;
	}
}

void
scope_settle(struct scope *scope)
{
	for (size_t i = 0; i < scope->names.count; i++) {
		struct symbol *symbol = map_find(&scope->symbols,
		    scope->names.items[i]);

		if (symbol->kind == SYMBOL_LET)
			symbol_settle(scope, symbol);
	}
}

/* An object that is a path, taken apart. */
struct path_object {
	const struct ast_atom *atom;
	struct symbol *symbol; /* the name that it begins with, or NULL */
	const char *rest;      /* after the name: "", or from a slash on */
	uint8_t platforms;     /* where it is asked for */
};

/* Adds one path, and the rest of the object below it. */
static bool
place_add(struct scope *scope, const struct path_object *object,
    struct place_list *list, struct place place)
{
	const struct ast_atom *atom = object->atom;
	const char *rest = object->rest;
	const char *suffix = place.at.suffix;

	if (scope->places > SCOPE_MAX_ALL)
		return false;
	if (scope->places++ == SCOPE_MAX_ALL) {
		diag_add(scope->diags, DIAG_TOO_MANY, atom->loc,
		    "all names and rules stand for more than %d paths",
		    SCOPE_MAX_ALL);
		return false;
	}
	if (list->places.count >= SCOPE_MAX_PLACES) {
		diag_add(scope->diags, DIAG_TOO_MANY, atom->loc,
		    "'%s' stands for more than %d paths", atom->text,
		    SCOPE_MAX_PLACES);
		return false;
	}
	if (*rest != '\0') {
		suffix = *suffix == '\0' ?
		    rest :
		    arena_printf(scope->arena, "%s%s", suffix, rest);
		if (strlen(suffix) > SBX_MAX_PATH)
			return path_check(scope, atom, suffix);
		place.at.suffix = arena_intern(scope->arena, suffix,
		    strlen(suffix));
	}
	*arena_push(scope->arena, &list->places) = place;
	return true;
}

static bool
add_named(struct scope *scope, const struct path_object *object,
    struct place_list *list)
{
	const struct symbol *symbol = object->symbol;
	size_t before = list->places.count;

	for (size_t i = 0; i < symbol->places.places.count; i++) {
		struct place place = symbol->places.places.items[i];

		place.platforms &= object->platforms;
		if (place.platforms != 0 &&
		    !place_add(scope, object, list, place))
			return false;
	}
	if (list->places.count == before && symbol->kind == SYMBOL_SET)
		diag_add(scope->diags, DIAG_EMPTY_HERE, object->atom->loc,
		    "'${%s}' is empty on %s", symbol->name,
		    platform_text(object->platforms));
	return true;
}

static bool
add_symbol(struct scope *scope, const struct path_object *object,
    struct place_list *list)
{
	struct symbol *symbol = object->symbol;
	struct place place = { .at.suffix = "",
		.platforms = object->platforms };

	switch (symbol->kind) {
	case SYMBOL_PARAM:
		scope_bind(scope, symbol);
		__attribute__((fallthrough));
	case SYMBOL_ANCHOR:
		place.at.anchor = symbol->anchor;
		return place_add(scope, object, list, place);
	case SYMBOL_LET:
		if (symbol->busy) {
			struct diag *diag = diag_add(scope->diags, DIAG_CYCLE,
			    object->atom->loc, "'%s' is made of itself",
			    symbol->name);

			diag_note(diag, symbol->stmt->name->loc,
			    "it is declared here");
			return false;
		}
		symbol_settle(scope, symbol);
		__attribute__((fallthrough));
	case SYMBOL_SET:
		return add_named(scope, object, list);
	case SYMBOL_AGENT:
		diag_help(diag_add(scope->diags, DIAG_WRONG_OBJECT,
			      object->atom->loc,
			      "'%s' is a socket, whose path is known when the "
			      "command starts",
			      object->atom->text),
		    "it stands alone, in rules about sockets: 'allow socket "
		    "${%s}'",
		    symbol->name);
		return false;
	}
	return false;
}

/* Whether what follows an anchor may be a suffix: not `${a}b`, not `/${b}`. */
static bool
rest_check(struct scope *scope, const struct ast_atom *atom, const char *rest)
{
	const char *inner = strstr(rest, "${");

	if (*rest != '\0' && *rest != '/') {
		diag_help(diag_add(scope->diags, DIAG_UNNORMAL_PATH,
			      atom_part(scope, atom, rest, strlen(rest)),
			      "expected '/' after '%.*s', found '%s'",
			      (int)(rest - atom->text), atom->text, rest),
		    "a name stands for whole paths");
		return false;
	}
	if (inner != NULL) {
		diag_help(diag_add(scope->diags, DIAG_UNNORMAL_PATH,
			      atom_part(scope, atom, inner, strlen(inner)),
			      "'${' in the middle of a path"),
		    "a name stands for whole paths and comes first");
		return false;
	}
	return true;
}

bool
scope_paths(struct scope *scope, const struct ast_atom *atom, uint8_t platforms,
    struct place_list *list)
{
	struct place root = { .at.suffix = "", .platforms = platforms };
	struct path_object object = { .atom = atom, .platforms = platforms };
	struct symbol *symbol;
	const char *rest;

	if (!path_is_place(scope, atom))
		return false;
	rest = scope_split(scope, atom, &symbol);
	if (rest == NULL)
		return false;
	if (symbol == NULL && *rest != '/') {
		report_relative(scope, atom);
		return false;
	}
	if (symbol == NULL && rest[1] == '\0')
		rest++;
	if (!rest_check(scope, atom, rest) || !path_check(scope, atom, rest))
		return false;
	path_warn_wildcard(scope, atom);
	object.symbol = symbol;
	object.rest = rest;
	if (symbol == NULL)
		return place_add(scope, &object, list, root);
	return add_symbol(scope, &object, list);
}
