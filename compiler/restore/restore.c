/*
 * See restore.h.  A blob has tables for Linux and a text for macOS.  A rule of
 * the tables that the text has too is one that holds everywhere; the rest is
 * for one of the two:
 *
 *	allow write ${workspace}		both
 *	on linux { allow exec /usr }		the tables alone
 *	on macos { allow exec /System }		the text alone
 *
 * What is put together need not be how it was written, but compiles to the
 * same; restore_difference() asks the compiler whether it does.
 */
#include "compiler/restore/restorer.h"

#include "compiler/base/names.h"
#include "compiler/lower/sections.h"
#include "compiler/report/clean.h"

#include <stdlib.h>
#include <string.h>

const char *
restorer_string(const struct restorer *restorer, uint32_t offset)
{
	const char *text = sbx_string(restorer->blob, offset);

	return arena_intern(restorer->arena, text, strlen(text));
}

static const struct position *
position_at(const struct restorer *restorer, uint32_t source)
{
	return source == SBX_NO_SOURCE ? NULL : restorer->positions[source];
}

/* What is for all of Linux is for macOS too, where nothing says otherwise. */
static uint8_t
where_of(uint8_t platforms)
{
	return platforms == SBX_ON_LINUX ? SBX_ON_ALL : platforms;
}

struct origin
restorer_origin(const struct restorer *restorer, uint8_t platforms,
    uint32_t source)
{
	return (struct origin){
		.loc = { 0, 1 },
		.platforms = platforms,
		.own = true,
		.from = position_at(restorer, source),
	};
}

/* --- what no policy can say ----------------------------------------------- */

void
restorer_fault(struct restorer *restorer, const char *fault)
{
	if (restorer->fault == NULL)
		restorer->fault = fault;
}

/* Policies are clean text, and so is what they say. */
static void
check_strings(struct restorer *restorer)
{
	static const char unclean[] = "it holds text with invisible "
				      "characters or such that are no UTF-8";
	const struct sbx_blob *blob = restorer->blob;

	for (uint32_t at = 0; at < blob->strings_size;) {
		size_t len = strlen(blob->strings + at);

		if (!bytes_are_clean(blob->strings + at, len))
			restorer_fault(restorer, unclean);
		at += (uint32_t)len + 1;
	}
	if (blob->sbpl_size > 0 &&
	    !bytes_are_clean(blob->sbpl, strlen(blob->sbpl)))
		restorer_fault(restorer, unclean);
}

static bool
is_name(const char *text)
{
	return name_is_good(text, strlen(text));
}

/* "" or "/x/y": of the tables it is known, of the text for macOS it is not. */
static bool
is_normal(const char *path)
{
	size_t len;

	for (; *path == '/'; path += 1 + len) {
		len = strcspn(path + 1, "/");
		if (len == 0 ||
		    (path[1] == '.' &&
			(len == 1 || (len == 2 && path[2] == '.'))))
			return false;
	}
	return *path == '\0';
}

static void
check_path(struct restorer *restorer, const char *path)
{
	if (!is_normal(path) || strlen(path) > SBX_MAX_PATH ||
	    strpbrk(path, "\n\t") != NULL || strstr(path, "${") != NULL)
		restorer_fault(restorer,
		    "it holds a path that no policy can name");
}

/* --- one setting each ----------------------------------------------------- */

static void
restore_positions(struct restorer *restorer)
{
	const struct sbx_blob *blob = restorer->blob;
	const struct position **positions = arena_alloc(restorer->arena,
	    blob->source_count * sizeof *positions);
	struct position *copies = arena_alloc(restorer->arena,
	    blob->source_count * sizeof *copies);

	for (uint32_t i = 0; i < blob->source_count; i++) {
		const struct sbx_source *source = &blob->sources[i];

		copies[i] = (struct position){
			.file = restorer_string(restorer, source->file),
			.line = source->line,
			.column = source->column,
			.via = restorer_string(restorer, source->via),
		};
		if (position_text(restorer->arena, &copies[i]) != NULL)
			positions[i] = &copies[i];
	}
	restorer->positions = positions;
}

static void
restore_meta(struct restorer *restorer)
{
	const struct sbx_meta *meta = restorer->blob->meta;
	struct policy *policy = restorer->policy;

	policy->profile = restorer_string(restorer, meta->profile);
	policy->about = restorer_string(restorer, meta->about);
	policy->language = meta->language;
	policy->level = (enum sbx_level)meta->level;
	policy->landlock = meta->landlock;
	if (meta->level_source != SBX_NO_SOURCE ||
	    meta->level != SBX_LEVEL_MINIMAL)
		policy->level_origin = restorer_origin(restorer, SBX_ON_ALL,
		    meta->level_source);
	if (meta->landlock != 0)
		policy->landlock_origin = restorer_origin(restorer, SBX_ON_ALL,
		    meta->landlock_source);
}

static void
restore_params(struct restorer *restorer)
{
	const struct sbx_blob *blob = restorer->blob;

	for (uint32_t i = SBX_ANCHOR_PARAM; i < blob->anchor_count; i++) {
		const struct sbx_anchor *anchor = &blob->anchors[i];
		struct param *param = arena_push(restorer->arena,
		    &restorer->policy->params);

		param->origin = restorer_origin(restorer, SBX_ON_ALL,
		    anchor->source);
		param->name = restorer_string(restorer, anchor->name);
		if (!is_name(param->name))
			restorer_fault(restorer,
			    "it has a parameter that no "
			    "policy can declare");
	}
}

static void
restore_limits(struct restorer *restorer)
{
	const struct sbx_blob *blob = restorer->blob;

	for (uint32_t i = 0; i < blob->limit_count; i++) {
		const struct sbx_limit *limit = &blob->limits[i];

		*arena_push(restorer->arena,
		    &restorer->policy->limits) = (struct limit_rule){
			.origin = restorer_origin(restorer,
			    where_of(limit->platforms), limit->source),
			.kind = (enum sbx_limit_kind)limit->kind,
			.value = limit->value,
		};
	}
}

static void
restore_env(struct restorer *restorer)
{
	const struct sbx_blob *blob = restorer->blob;

	for (uint32_t i = 0; i < blob->env_count; i++) {
		const struct sbx_env *env = &blob->env[i];

		*arena_push(restorer->arena,
		    &restorer->policy->env) = (struct env_rule){
			.origin = restorer_origin(restorer,
			    where_of(env->platforms), env->source),
			.effect = (enum sbx_effect)env->effect,
			.pattern = restorer_string(restorer, env->pattern),
		};
	}
}

static void
restore_set(struct restorer *restorer)
{
	const struct sbx_blob *blob = restorer->blob;

	for (uint32_t i = 0; i < blob->set_count; i++) {
		const struct sbx_set *set = &blob->set[i];
		const char *text = restorer_string(restorer, set->text);

		*arena_push(restorer->arena,
		    &restorer->policy->set) = (struct set_rule){
			.origin = restorer_origin(restorer,
			    where_of(set->platforms), set->source),
			.name = restorer_string(restorer, set->name),
			.text = text,
			.anchor = set->anchor,
		};
		/* What begins so in a policy stands for something else. */
		if (strstr(text, "${") != NULL ||
		    (set->anchor == SBX_NO_ANCHOR && text[0] == '~' &&
			(text[1] == '/' || text[1] == '\0')))
			restorer_fault(restorer,
			    "it sets a variable to what no "
			    "policy can say");
	}
}

/* --- system calls --------------------------------------------------------- */

/* What one call of the table says of the rule that decided about it. */
struct call_rule {
	uint32_t reason, source;
	uint8_t verdict, platforms;
};

static int
call_rule_compare(const void *a, const void *b)
{
	const struct call_rule *x = a, *y = b;

	if (x->verdict != y->verdict)
		return x->verdict < y->verdict ? -1 : 1;
	if (x->reason != y->reason)
		return x->reason < y->reason ? -1 : 1;
	return x->source < y->source ? -1 : x->source > y->source;
}

/* Not the baseline, nor what the network rules say of sockets. */
static bool
is_of_rule(const struct sbx_blob *blob, const struct sbx_syscall *call)
{
	return call->source != SBX_NO_SOURCE &&
	    call->verdict != SBX_SYSCALL_ARGS &&
	    (blob->strings[call->reason] == '@' ||
		strcmp(sbx_string(blob, call->reason),
		    sbx_string(blob, call->name)) == 0);
}

static void
syscall_add(struct restorer *restorer, const struct call_rule *call)
{
	const char *reason = restorer_string(restorer, call->reason);
	bool group = *reason == '@';

	*arena_push(restorer->arena,
	    &restorer->policy->syscalls) = (struct syscall_rule){
		/* No deny may stand beside `allow everything`. */
		.origin = restorer_origin(restorer,
		    restorer->macos.blankets.everything ?
			call->platforms :
			where_of(call->platforms),
		    call->source),
		.effect = call->verdict == SBX_SYSCALL_DENY ? SBX_DENY :
							      SBX_ALLOW,
		.name = arena_intern(restorer->arena, reason + group,
		    strlen(reason + group)),
		.group = group,
	};
	if (group ? syscall_group(reason + 1) == NULL :
		    !syscall_is_known(reason))
		restorer_fault(restorer,
		    "it speaks of a system call that this "
		    "sbxc does not know");
}

/* A rule is where it decides; a call that two rules name has one of them. */
static void
restore_syscalls(struct restorer *restorer)
{
	const struct sbx_blob *blob = restorer->blob;
	struct call_rule *calls = arena_alloc(restorer->arena,
	    blob->syscall_count * sizeof *calls);
	size_t count = 0, kept = 0;

	for (uint32_t i = 0; i < blob->syscall_count; i++) {
		const struct sbx_syscall *call = &blob->syscalls[i];

		if (is_of_rule(blob, call))
			calls[count++] = (struct call_rule){
				call->reason,
				call->source,
				call->verdict,
				call->platforms,
			};
	}
	if (count > 1)
		qsort(calls, count, sizeof *calls, call_rule_compare);
	for (size_t i = 0; i < count; i++) {
		if (kept > 0 &&
		    call_rule_compare(&calls[kept - 1], &calls[i]) == 0)
			calls[kept - 1].platforms |= calls[i].platforms;
		else
			calls[kept++] = calls[i];
	}
	for (size_t i = 0; i < kept; i++)
		syscall_add(restorer, &calls[i]);
}

/* --- paths ---------------------------------------------------------------- */

bool
restorer_shares(const struct restorer *restorer)
{
	return restorer->has_macos &&
	    restorer->macos.blankets.everything ==
	    ((restorer->blob->meta->flags & SBX_EVERYTHING) != 0);
}

/* A deny that the text for macOS has, so that it is enforceable as it was. */
static enum sbx_effect
macos_deny(const struct restorer *restorer)
{
	const struct policy *policy = restorer->policy;

	return restorer->macos.blankets.everything ||
		(policy->level_origin.loc.end != 0 &&
		    policy->level <= SBX_LEVEL_MINIMAL) ?
	    SBX_PREFER_DENY :
	    SBX_DENY;
}

static const struct target *
exclusions_of(struct restorer *restorer, const struct sbx_path *path)
{
	const struct sbx_blob *blob = restorer->blob;
	struct target *exclusions = arena_alloc(restorer->arena,
	    path->exclusion_count * sizeof *exclusions);

	for (uint16_t i = 0; i < path->exclusion_count; i++) {
		const struct sbx_exclusion *exclusion =
		    &blob->exclusions[path->first_exclusion + i];

		exclusions[i] = (struct target){
			restorer_string(restorer, exclusion->suffix),
			exclusion->anchor,
		};
		check_path(restorer, exclusions[i].suffix);
	}
	return exclusions;
}

static int
rule_compare(const void *a, const void *b)
{
	return sbpl_rule_compare(a, b);
}

/* The rules of the text, once they are not shared, are macOS's alone. */
static void
restore_macos_paths(struct restorer *restorer, const bool *shared)
{
	enum sbx_effect deny = macos_deny(restorer);

	for (size_t i = 0; i < restorer->macos.paths.count; i++) {
		struct path_rule rule = restorer->macos.paths.items[i];

		if (shared[i])
			continue;
		check_path(restorer, rule.at.suffix);
		for (uint16_t j = 0; j < rule.exclusion_count; j++)
			check_path(restorer, rule.exclusions[j].suffix);
		if (rule.effect != SBX_ALLOW)
			rule.effect = deny;
		rule.origin = restorer_origin(restorer, SBX_ON_MACOS,
		    SBX_NO_SOURCE);
		*arena_push(restorer->arena, &restorer->policy->paths) = rule;
	}
}

static struct path_rule
path_rule_of(struct restorer *restorer, const struct sbx_path *path)
{
	struct path_rule rule = {
		.origin = restorer_origin(restorer, path->platforms,
		    path->source),
		.at = { restorer_string(restorer, path->suffix), path->anchor },
		.effect = (enum sbx_effect)path->effect,
		.rights = path->rights,
		.exclusions = exclusions_of(restorer, path),
		.exclusion_count = path->exclusion_count,
	};

	check_path(restorer, rule.at.suffix);
	if (path->glob != 0) {
		rule.glob = restorer_string(restorer, path->glob);
		check_path(restorer, rule.glob);
	}
	return rule;
}

static void
restore_paths(struct restorer *restorer)
{
	const struct sbx_blob *blob = restorer->blob;
	struct path_rule *macos = restorer->macos.paths.items;
	size_t count = restorer->macos.paths.count;
	bool *shared = arena_alloc(restorer->arena, count);
	bool share = restorer_shares(restorer);

	if (count > 1)
		qsort(macos, count, sizeof *macos, rule_compare);
	for (uint32_t i = 0; i < blob->path_count; i++) {
		struct path_rule rule = path_rule_of(restorer, &blob->paths[i]);
		const struct path_rule *found = NULL;

		if (share && count > 0 && rule.origin.platforms == SBX_ON_LINUX)
			found = bsearch(&rule, macos, count, sizeof *macos,
			    rule_compare);
		if (!restorer->has_macos)
			rule.origin.platforms = where_of(rule.origin.platforms);
		if (found != NULL) {
			rule.origin.platforms = SBX_ON_ALL;
			shared[found - macos] = true;
		}
		*arena_push(restorer->arena, &restorer->policy->paths) = rule;
	}
	restore_macos_paths(restorer, shared);
}

/* --- the whole ------------------------------------------------------------ */

static struct policy *
policy_new(struct arena *arena)
{
	struct policy *policy = arena_alloc(arena, sizeof *policy);

	policy->arena = arena;
	policy->sources = arena_alloc(arena, sizeof *policy->sources);
	sources_init(policy->sources, arena);
	return policy;
}

struct policy *
restore_policy(struct arena *arena, const struct sbx_blob *blob,
    const char **fault)
{
	struct restorer restorer = {
		.arena = arena,
		.blob = blob,
		.policy = policy_new(arena),
	};

	check_strings(&restorer);
	restore_positions(&restorer);
	restore_meta(&restorer);
	restore_params(&restorer);
	restorer.has_macos = restorer.fault == NULL && blob->sbpl_size > 0 &&
	    sbpl_read(restorer.policy, blob->sbpl, &restorer.macos);
	restore_blankets(&restorer);
	restore_limits(&restorer);
	restore_env(&restorer);
	restore_set(&restorer);
	restore_syscalls(&restorer);
	restore_ports(&restorer);
	restore_paths(&restorer);
	*fault = restorer.fault;
	return restorer.fault == NULL ? restorer.policy : NULL;
}

const char *
restore_difference(struct policy *policy, const struct sbx_blob *blob)
{
	struct filter_set filters;
	struct diags diags;
	struct image image;

	diags_init(&diags, policy->arena, policy->sources);
	filters_build(policy, &filters);
	if (!emit_blob(policy, &filters, sbpl_text(policy), &diags, &image))
		return "its size";
	return sections_differ(image.bytes, image.size, blob->base, blob->size);
}
