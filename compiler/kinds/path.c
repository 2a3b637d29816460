/*
 * Rules about paths.  One statement gives one item for each of its objects, and
 * several where an object is a set.  An item has one list of exclusions, and
 * exclusions of a built-in set differ between platforms, so that a rule with
 * such exclusions gives one item for Linux and one for macOS.
 */
#include "compiler/kinds/kinds.h"

#include "compiler/lower/lower.h"
#include "compiler/policy/kind.h"
#include "compiler/policy/policy.h"
#include "compiler/query/why.h"

#include <stdlib.h>
#include <string.h>

/* One statement about paths while it is taken apart. */
struct path_work {
	struct expansion *expansion;
	struct item_list *list;
	struct item item; /* what all its items have in common */
	struct exclusions exclusions;
	size_t kept;    /* paths that something is left of */
	size_t covered; /* paths that lie in an exclusion as a whole */
};

static bool
targets_equal(const struct target *a, const struct target *b, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (target_compare(a[i], b[i]) != 0)
			return false;
	}
	return true;
}

static bool
path_equals(const struct rule *a, const struct rule *b)
{
	return a->path.exclusion_count == b->path.exclusion_count &&
	    place_equals(a, b) &&
	    targets_equal(a->path.exclusions, b->path.exclusions,
		a->path.exclusion_count);
}

static uint64_t
path_hash(const struct rule *rule)
{
	const struct path_rule *path = &rule->path;
	uint64_t hash = place_hash(rule);

	for (size_t i = 0; i < path->exclusion_count; i++)
		hash = hash * 31 + target_hash(path->exclusions[i]);
	return hash;
}

static void
path_add(struct path_work *work, const struct item *base, uint8_t platforms)
{
	struct item item = *base;

	item.rule.origin.platforms &= platforms;
	if (item.rule.origin.platforms == 0)
		return;
	if (exclusions_cut(&work->exclusions, &item.rule.path)) {
		item_add(work->expansion, work->list, &item);
		work->kept++;
	} else {
		work->covered++;
	}
}

/* Elsewhere lie caches and the like, which sbxrun does not keep apart. */
static bool
may_stage(struct path_work *work, const struct ast_atom *atom, struct target at)
{
	if ((work->item.rule.path.rights & SBX_STAGED) == 0 ||
	    at.anchor == SBX_ANCHOR_WORKSPACE)
		return true;
	diag_help(diag_add(work->expansion->diags, DIAG_WRONG_OBJECT, atom->loc,
		      "'stage write' is about the workspace alone"),
	    "name ${workspace}, or what lies in it; 'allow write' lets other "
	    "places be written");
	return false;
}

static void
path_object(struct path_work *work, const struct ast_atom *atom)
{
	struct scope *scope = &work->expansion->scope;
	struct place_list list = { 0 };
	struct item item = work->item;
	struct ast_atom root = *atom;

	item.rule.origin.loc = atom->loc;
	if (atom->kind == AST_GLOB &&
	    !glob_split(scope, atom, &root, &item.rule.path.glob))
		return;
	if (!scope_paths(scope, &root, item.rule.origin.platforms, &list))
		return;
	for (size_t i = 0; i < list.places.count; i++) {
		const struct place *place = &list.places.items[i];

		if (!may_stage(work, atom, place->at))
			return;
		item.rule.path.at = place->at;
		item.rule.origin.platforms = place->platforms;
		if (exclusions_differ(&work->exclusions, place->platforms)) {
			path_add(work, &item, SBX_ON_LINUX);
			path_add(work, &item, SBX_ON_MACOS);
		} else {
			path_add(work, &item, SBX_ON_ALL);
		}
	}
}

static void
path_expand(struct expansion *expansion, const struct ast_stmt *stmt,
    const struct item *base, const struct ast_atom *atom,
    struct item_list *list)
{
	struct path_work work = {
		.expansion = expansion,
		.list = list,
		.item = *base,
	};
	size_t errors = expansion->diags->errors;

	if (!exclusions_read(&work.exclusions, expansion, stmt,
		base->rule.origin.platforms))
		return;
	for (; atom != NULL; atom = object_next(stmt, atom))
		path_object(&work, atom);
	if (expansion->diags->errors > errors)
		return;
	if (work.kept == 0 && work.covered > 0) {
		diag_help(diag_add(expansion->diags, DIAG_NOTHING_LEFT,
			      stmt->exclusions.first->loc,
			      "'except' leaves nothing of this rule"),
		    "every path of the rule lies in a hole: delete the rule");
		return;
	}
	exclusions_report(&work.exclusions, stmt);
}

/* --- back to statements ---------------------------------------------------- */

/* The words that together give or take these rights; one, unless the blob was
 * made by somebody else. */
static void
path_state(struct builder *builder, const struct rule *any)
{
	const struct path_rule *rule = &any->path;
	static const struct {
		const char *word;
		uint8_t allow, deny;
	} words[] = {
#define RIGHT(text, gives, takes) { text, gives, takes },
#include "compiler/tables/words.def"
	};
	uint8_t left = rule->rights;

	for (size_t i = countof(words); i-- > 0 && left != 0;) {
		uint8_t bits = rule->effect == SBX_ALLOW ? words[i].allow :
							   words[i].deny;
		struct ast_atom *object;
		struct ast_stmt *stmt;

		if ((bits & ~rule->rights) != 0 || (bits & left) == 0 ||
		    (rule->effect != SBX_ALLOW && rule->rights == SBX_RIGHTS &&
			bits != SBX_RIGHTS))
			continue;
		left &= (uint8_t)~bits;
		object = place_object(builder, rule);
		stmt = stmt_add_rule(builder, &rule->origin, rule->effect,
		    words[i].word);
		ast_list_add(&stmt->objects, object);
		for (uint16_t j = 0; j < rule->exclusion_count; j++)
			ast_list_add(&stmt->exclusions,
			    place_atom(builder,
				policy_target_text(builder->policy,
				    rule->exclusions[j])));
	}
}

static const char *
path_text(const struct policy *policy, const struct rule *rule)
{
	return path_rule_text(policy, &rule->path, NULL);
}

/* --- questions ------------------------------------------------------------ */

static void
path_show(FILE *stream, const struct sbx_blob *blob, const void *record)
{
	show_path_rule(stream, blob, record);
}

static const struct access_form path_forms[] = {
	{ "read", NULL, SBX_READ },
	{ "write", NULL, SBX_WRITE },
	{ "exec", NULL, SBX_EXEC },
	{ NULL, NULL, 0 },
};

const struct rule_kind kind_path = {
	.id = KIND_PATH,
	.noun = "a path",
	.has_exclusions = true,
	.expand = path_expand,
	.equals = path_equals,
	.hash = path_hash,
	.resembles = place_equals,
	.text = path_text,
	.state = path_state,
	.show = path_show,
	.section = SBX_SECTION_PATHS,
	.section_name = "the path rules",
	.record = { RECORD_LAYOUT(struct sbx_path) },
	.forms = path_forms,
	.usage = "read|write|exec PATH",
	.ask = place_ask,
	.show_access = place_show_access,
	.verdict = path_verdict,
	.answer = why_path,
	.enforcer = path_enforcer,
	.remedy = path_remedy,
	.difference = {
		.word = "path",
		.title = "paths",
	},
};
