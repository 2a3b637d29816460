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

#include "compiler/lower/lower.h"
#include "compiler/report/report.h"

#include "grammar/grammar.h"

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

uint8_t
restorer_platforms(uint8_t platforms)
{
	return platforms == SBX_ON_LINUX ? SBX_ON_ALL : platforms;
}

void
restorer_share_hosts(const struct restorer *restorer, enum rule_kind_id kind)
{
	struct rule_list *rules = &restorer->policy->rules[kind];

	if (!restorer->has_macos ||
	    restorer->macos.blankets.net == SBX_NET_LOOPBACK)
		return;
	for (size_t i = 0; i < rules->count; i++)
		rules->items[i].origin.platforms &= SBX_ON_LINUX;
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

void
restorer_path(struct restorer *restorer, const char *path)
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
	if (!word_is_name(policy->profile))
		restorer_fault(restorer,
		    "its profile has a name that no policy can give");
	policy->about = restorer_string(restorer, meta->about);
	policy->writer = restorer_string(restorer, meta->writer);
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
		if (!word_is_name(param->name))
			restorer_fault(restorer,
			    "it has a parameter that no "
			    "policy can declare");
	}
}

/* --- rules ---------------------------------------------------------------- */

const char *
record_string(struct arena *arena, const struct sbx_blob *blob, uint32_t offset)
{
	const char *text = sbx_string(blob, offset);

	return arena == NULL ? text : arena_intern(arena, text, strlen(text));
}

static void
restore_records(struct restorer *restorer, enum rule_kind_id id)
{
	const struct rule_kind *kind = rule_kinds[id];
	const struct record_layout *layout = &kind->record;
	uint32_t count = 0;
	const char *record = sbx_records(restorer->blob, kind->section, &count);

	for (; count > 0; count--, record += layout->size) {
		uint32_t source;
		struct origin origin;
		struct rule *rule;

		memcpy(&source, record + layout->source, sizeof source);
		origin = restorer_origin(restorer,
		    restorer_platforms((uint8_t)record[layout->platforms]),
		    source);
		rule = policy_add(restorer->policy, id, &origin, SBX_ALLOW);
		kind->read(restorer->arena, restorer->blob, record, rule);
	}
}

bool
restorer_shares(const struct restorer *restorer)
{
	return restorer->has_macos &&
	    restorer->macos.blankets.everything ==
	    ((restorer->blob->meta->flags & SBX_EVERYTHING) != 0);
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

	if (!blob_is_clean(blob))
		restorer_fault(&restorer, blob_unclean);
	restore_positions(&restorer);
	restore_meta(&restorer);
	restore_params(&restorer);
	restorer.has_macos = restorer.fault == NULL && blob->sbpl_size > 0 &&
	    sbpl_read(restorer.policy, blob->sbpl, &restorer.macos);
	/* Backwards, so that a fault of a setting is told before one of a rule. */
	for (int id = KIND_END; id-- > 0;) {
		if (rule_kinds[id]->read != NULL)
			restore_records(&restorer, (enum rule_kind_id)id);
		if (rule_kinds[id]->restore != NULL)
			rule_kinds[id]->restore(&restorer);
	}
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
	if (!emit_image(policy, &filters, sbpl_text(policy), &diags, &image))
		return "its size";
	return sections_differ(image.bytes, image.size, blob->base, blob->size);
}
