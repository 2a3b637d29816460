/*
 * The blob writer: bookkeeping and nothing else.
 *
 * All tables are filled three times (lower.h), so that the bytes depend on
 * what the policy says and not on the order in which files were read.  The last
 * step reads the result back through sbx_verify().
 */
#include "compiler/lower/lower.h"

#include "compiler/base/base.h"

#include <stdlib.h>
#include <string.h>

void *
section_new(struct emitter *emitter, enum sbx_section_kind kind, size_t count,
    size_t record)
{
	void *data = arena_alloc(emitter->arena, count * record + 1);

	emitter->sections[kind].data = data;
	emitter->sections[kind].size = count * record;
	return data;
}

static uint64_t
field_value(const char *record, const struct record_field *field)
{
	const void *at = record + field->offset;

	switch (field->size) {
	case 1:
		return *(const uint8_t *)at;
	case 2:
		return *(const uint16_t *)at;
	case 4:
		return *(const uint32_t *)at;
	default:
		return *(const uint64_t *)at;
	}
}

static int
records_compare(const void *a, const void *b, void *context)
{
	const struct record_layout *layout = context;

	for (size_t i = 0;
	     i < countof(layout->order) && layout->order[i].size > 0; i++) {
		uint64_t x = field_value(a, &layout->order[i]);
		uint64_t y = field_value(b, &layout->order[i]);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

void
section_sort(struct emitter *emitter, enum sbx_section_kind kind,
    const struct record_layout *layout)
{
	char *bytes = emitter->sections[kind].data, *last = NULL, *end = bytes;
	size_t count = emitter->sections[kind].size / layout->size;

	if (count == 0) /* there are no bytes either */
		return;
	qsort_r(bytes, count, layout->size, records_compare,
	    (void *)(uintptr_t)layout);
	for (size_t i = 0; i < count; i++, bytes += layout->size) {
		if (last != NULL &&
		    records_compare(last, bytes, (void *)(uintptr_t)layout) ==
			0) {
			if (layout->platforms > 0)
				last[layout->platforms] |=
				    bytes[layout->platforms];
			continue;
		}
		last = memmove(end, bytes, layout->size);
		end += layout->size;
	}
	emitter->sections[kind].size = (size_t)(end -
	    (char *)emitter->sections[kind].data);
}

/* What a reader that does not know a section may not leave out. */
static uint32_t
section_flags(enum sbx_section_kind kind)
{
	return kind == SBX_SECTION_SYSCALLS || kind == SBX_SECTION_SOURCES ?
	    0 :
	    SBX_CRITICAL;
}

static bool
is_emitted(const struct emitter *emitter, uint32_t kind)
{
	return emitter->sections[kind].size > 0;
}

static size_t
align8(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

static void
assemble(struct emitter *emitter, const char *text, struct image *image)
{
	struct sbx_header header = { .version = SBX_FORMAT,
		.min_reader = SBX_FORMAT_MIN_READER };
	struct sbx_section *table;
	size_t size;
	uint8_t *bytes;

	memcpy(header.magic, SBX_MAGIC, sizeof header.magic);
	for (uint32_t kind = 1; kind < SBX_SECTION_END; kind++)
		header.section_count += is_emitted(emitter, kind);
	size = sizeof header + header.section_count * sizeof *table;
	for (uint32_t kind = 1; kind < SBX_SECTION_END; kind++)
		size += align8(emitter->sections[kind].size);
	header.size = (uint32_t)size;
	header.text_size = (uint32_t)strlen(text);
	bytes = arena_alloc(emitter->arena, size + header.text_size);
	memcpy(bytes + size, text, header.text_size);
	table = (void *)(bytes + sizeof header);
	size = sizeof header + header.section_count * sizeof *table;
	for (uint32_t kind = 1; kind < SBX_SECTION_END; kind++) {
		if (!is_emitted(emitter, kind))
			continue;
		*table++ = (struct sbx_section){
			.kind = kind,
			.flags = section_flags(kind),
			.offset = (uint32_t)size,
			.size = (uint32_t)emitter->sections[kind].size,
		};
		memcpy(bytes + size, emitter->sections[kind].data,
		    emitter->sections[kind].size);
		size += align8(emitter->sections[kind].size);
	}
	memcpy(bytes, &header, sizeof header);
	header.sum = sbx_checksum(bytes, size);
	memcpy(bytes, &header, sizeof header);
	*image = (struct image){
		.bytes = bytes,
		.size = size + header.text_size,
	};
}

/* The bounds of format/blob.h that a policy can pass. */
static bool
is_within_bounds(const struct emitter *emitter, struct diags *diags,
    size_t size)
{
	const struct policy *policy = emitter->policy;
	size_t exclusions = emitter->sections[SBX_SECTION_EXCLUSIONS].size /
	    sizeof(struct sbx_exclusion);

	if (policy->paths.count > SBX_MAX_RULES || exclusions > SBX_MAX_RULES)
		diag_add(diags, DIAG_TOO_MANY_RULES, policy->profile_loc,
		    "profile '%s' has %zu path rules and %zu exceptions, the "
		    "bound is %d of each",
		    policy->profile, policy->paths.count, exclusions,
		    SBX_MAX_RULES);
	else if (policy->params.count > SBX_MAX_ANCHORS - SBX_ANCHOR_PARAM)
		diag_add(diags, DIAG_TOO_MANY_RULES, policy->profile_loc,
		    "profile '%s' declares %zu parameters, the bound is %d",
		    policy->profile, policy->params.count,
		    SBX_MAX_ANCHORS - SBX_ANCHOR_PARAM);
	else if (policy->rules[KIND_WATCH].count > SBX_MAX_WATCHES)
		diag_add(diags, DIAG_TOO_MANY_RULES, policy->profile_loc,
		    "profile '%s' watches %zu places, the bound is %d",
		    policy->profile, policy->rules[KIND_WATCH].count,
		    SBX_MAX_WATCHES);
	else if (policy->rules[KIND_SOCKET].count > SBX_MAX_SOCKETS)
		diag_add(diags, DIAG_TOO_MANY_RULES, policy->profile_loc,
		    "profile '%s' has %zu rules about sockets, the bound is %d",
		    policy->profile, policy->rules[KIND_SOCKET].count,
		    SBX_MAX_SOCKETS);
	else if (policy->rules[KIND_DOMAIN].count > SBX_MAX_NAMES ||
	    policy->rules[KIND_ENDPOINT].count > SBX_MAX_ENDPOINTS)
		diag_add(diags, DIAG_TOO_MANY_RULES, policy->profile_loc,
		    "profile '%s' has %zu names of hosts and %zu addresses, "
		    "the bounds are %d and %d",
		    policy->profile, policy->rules[KIND_DOMAIN].count,
		    policy->rules[KIND_ENDPOINT].count, SBX_MAX_NAMES,
		    SBX_MAX_ENDPOINTS);
	else if (size > SBX_MAX_SIZE)
		diag_add(diags, DIAG_TOO_MANY_RULES, policy->profile_loc,
		    "profile '%s' compiles to %zu bytes, the bound is %d",
		    policy->profile, size, SBX_MAX_SIZE);
	else
		return true;
	return false;
}

/* The reader counts the ways out of a network of its own. */
static bool
has_room_for_ways(const struct policy *policy, struct diags *diags,
    const struct image *image)
{
	struct sbx_blob blob;

	if (policy_net(policy, SBX_ON_LINUX, NULL) != SBX_NET_SELECTED ||
	    sbx_verify(image->bytes, image->size, &blob) != SBX_BLOB_WAYS)
		return true;
	diag_help(
	    diag_add(diags, DIAG_TOO_MANY_RULES, policy->profile_loc,
		"the hosts that profile '%s' allows have more than %d ports",
		policy->profile, SBX_MAX_WAYS),
	    "each port is a socket inside: name those that are used, or "
	    "allow the whole network");
	return false;
}

/* A blob that our own reader refuses is our bug, whatever the policy says. */
static void
read_back(const struct image *image)
{
	struct sbx_blob blob;
	enum sbx_blob_error error = sbx_verify(image->bytes, image->size,
	    &blob);

	if (error == SBX_BLOB_OK)
		return;
	bug("the blob that was written is not valid: %s",
	    sbx_blob_strerror(error));
}

bool
emit_image(const struct policy *policy, const struct filter_set *filters,
    const char *text, struct diags *diags, struct image *image)
{
	struct emitter emitter = {
		.policy = policy,
		.filters = filters,
		.arena = policy->arena,
		.collecting = true,
	};

	emit_tables(&emitter);
	strings_place(&emitter);
	/* Now that strings have offsets, positions can be compared. */
	emitter.sources.count = 0;
	emit_tables(&emitter);
	sources_place(&emitter);
	emitter.collecting = false;
	emit_tables(&emitter);
	assemble(&emitter, text, image);
	return is_within_bounds(&emitter, diags, image->size);
}

bool
emit_blob(const struct policy *policy, const struct filter_set *filters,
    const char *text, struct diags *diags, struct image *image)
{
	if (!emit_image(policy, filters, text, diags, image) ||
	    !has_room_for_ways(policy, diags, image))
		return false;
	read_back(image);
	return true;
}
