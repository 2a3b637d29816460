/*
 * The one reader of untrusted bytes: sbx_verify() accepts a blob whole or not
 * at all.  First the frame (header, section table, checksum), then each record
 * of each known section.  Every later reader leans on what is checked here:
 * indices are in range, strings end, paths are normal, enumerations known.
 */
#include "format/glob.h"

typedef enum sbx_blob_error record_check(const struct sbx_blob *blob,
    const void *record);

static bool
is_string(const struct sbx_blob *blob, uint32_t offset)
{
	return offset < blob->strings_size;
}

static bool
is_where(uint8_t platforms)
{
	return platforms != 0 && (platforms & ~SBX_ON_ALL) == 0;
}

static bool
is_source(const struct sbx_blob *blob, uint32_t source)
{
	return source == SBX_NO_SOURCE || source < blob->source_count;
}

/* "" or "/x/y": no empty, "." or ".." component, and no slash at the end. */
static bool
is_suffix(const char *suffix)
{
	size_t len = 0;

	while (suffix[len] == '/') {
		size_t from = ++len;

		while (suffix[len] != '/' && suffix[len] != '\0')
			len++;
		if (len == from || len > SBX_MAX_PATH)
			return false;
		if (suffix[from] == '.' &&
		    (len - from == 1 ||
			(len - from == 2 && suffix[from + 1] == '.')))
			return false;
	}
	return suffix[len] == '\0';
}

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A letter, then letters, digits, '-' and '_': names are shown to people. */
static bool
is_name(const char *name)
{
	size_t len = 0;

	while (len <= SBX_MAX_NAME &&
	    (is_letter(name[len]) || name[len] == '-' || name[len] == '_' ||
		(name[len] >= '0' && name[len] <= '9')))
		len++;
	return is_letter(name[0]) && name[len] == '\0' && len <= SBX_MAX_NAME;
}

static enum sbx_blob_error
check_place(const struct sbx_blob *blob, uint16_t anchor, uint32_t suffix)
{
	if (anchor >= blob->anchor_count)
		return SBX_BLOB_ANCHOR;
	if (!is_string(blob, suffix))
		return SBX_BLOB_STRING;
	if (!is_suffix(sbx_string(blob, suffix)))
		return SBX_BLOB_PATH;
	return SBX_BLOB_OK;
}

static enum sbx_blob_error
check_meta(const struct sbx_blob *blob, const void *record)
{
	const struct sbx_meta *meta = record;

	if (!is_string(blob, meta->profile) || !is_string(blob, meta->about) ||
	    !is_string(blob, meta->writer))
		return SBX_BLOB_STRING;
	if (!is_name(sbx_string(blob, meta->profile)))
		return SBX_BLOB_NAME;
	if ((meta->flags & ~(uint32_t)SBX_META_FLAGS) != 0 ||
	    meta->level >= SBX_LEVEL_END || meta->net >= SBX_NET_END ||
	    meta->landlock > SBX_MAX_ABI)
		return SBX_BLOB_META;
	if (!is_source(blob, meta->level_source) ||
	    !is_source(blob, meta->landlock_source) ||
	    !is_source(blob, meta->net_source))
		return SBX_BLOB_SOURCE;
	return SBX_BLOB_OK;
}

static enum sbx_blob_error
check_anchor(const struct sbx_blob *blob, const void *record)
{
	const struct sbx_anchor *anchor = record;

	if (!is_string(blob, anchor->name))
		return SBX_BLOB_STRING;
	/* The root directory has none. */
	if (*sbx_string(blob, anchor->name) != '\0' &&
	    !is_name(sbx_string(blob, anchor->name)))
		return SBX_BLOB_NAME;
	if (anchor->flags & ~(uint32_t)SBX_ANCHOR_USED)
		return SBX_BLOB_ANCHOR;
	if (anchor->reserved != 0)
		return SBX_BLOB_RESERVED;
	return is_source(blob, anchor->source) ? SBX_BLOB_OK : SBX_BLOB_SOURCE;
}

/* See enum sbx_right: allows are closed upwards, denies of read downwards. */
static bool
is_rights(uint8_t effect, uint8_t rights)
{
	if (rights == 0 || (rights & ~SBX_RIGHTS) != 0)
		return false;
	if (effect == SBX_ALLOW)
		return (rights & SBX_READ) != 0;
	return (rights & SBX_READ) == 0 || rights == SBX_RIGHTS;
}

/* None is offset 0, which no pattern has. */
static bool
is_pattern(const struct sbx_blob *blob, uint32_t offset)
{
	struct sbx_glob glob;

	return offset == 0 || sbx_glob_parse(sbx_string(blob, offset), &glob);
}

static enum sbx_blob_error
check_path(const struct sbx_blob *blob, const void *record)
{
	const struct sbx_path *path = record;

	if (path->reserved != 0)
		return SBX_BLOB_RESERVED;
	if (!is_string(blob, path->glob))
		return SBX_BLOB_STRING;
	if (!is_pattern(blob, path->glob))
		return SBX_BLOB_PATH;
	if (path->effect >= SBX_EFFECT_END || !is_where(path->platforms) ||
	    !is_rights(path->effect, path->rights))
		return SBX_BLOB_PATH;
	if (path->first_exclusion > blob->exclusion_count ||
	    path->exclusion_count >
		blob->exclusion_count - path->first_exclusion)
		return SBX_BLOB_PATH;
	if (!is_source(blob, path->source))
		return SBX_BLOB_SOURCE;
	return check_place(blob, path->anchor, path->suffix);
}

static enum sbx_blob_error
check_exclusion(const struct sbx_blob *blob, const void *record)
{
	const struct sbx_exclusion *exclusion = record;

	if (exclusion->reserved != 0)
		return SBX_BLOB_RESERVED;
	return check_place(blob, exclusion->anchor, exclusion->suffix);
}

static enum sbx_blob_error
check_port(const struct sbx_blob *blob, const void *record)
{
	const struct sbx_port *port = record;

	if (port->reserved != 0 || port->reserved2 != 0)
		return SBX_BLOB_RESERVED;
	if (port->low > port->high || port->effect >= SBX_EFFECT_END ||
	    port->op >= SBX_PORT_OP_END || !is_where(port->platforms))
		return SBX_BLOB_PORT;
	return is_source(blob, port->source) ? SBX_BLOB_OK : SBX_BLOB_SOURCE;
}

static enum sbx_blob_error
check_limit(const struct sbx_blob *blob, const void *record)
{
	const struct sbx_limit *limit = record;

	if (limit->reserved != 0)
		return SBX_BLOB_RESERVED;
	if (limit->kind >= SBX_LIMIT_END || !is_where(limit->platforms) ||
	    limit->value > INT64_MAX)
		return SBX_BLOB_LIMIT;
	return is_source(blob, limit->source) ? SBX_BLOB_OK : SBX_BLOB_SOURCE;
}

static enum sbx_blob_error
check_env(const struct sbx_blob *blob, const void *record)
{
	const struct sbx_env *env = record;

	if (env->reserved != 0 || env->reserved2 != 0)
		return SBX_BLOB_RESERVED;
	if (!is_string(blob, env->pattern))
		return SBX_BLOB_STRING;
	if (env->effect >= SBX_EFFECT_END || !is_where(env->platforms))
		return SBX_BLOB_ENV;
	return is_source(blob, env->source) ? SBX_BLOB_OK : SBX_BLOB_SOURCE;
}

static bool
is_variable_name(const char *name)
{
	size_t len = 0;

	while (name[len] != '\0' && name[len] != '=')
		len++;
	return len > 0 && name[len] == '\0';
}

static enum sbx_blob_error
check_set(const struct sbx_blob *blob, const void *record)
{
	const struct sbx_set *set = record;

	if (set->reserved != 0)
		return SBX_BLOB_RESERVED;
	if (!is_string(blob, set->name) || !is_string(blob, set->text))
		return SBX_BLOB_STRING;
	if (!is_where(set->platforms) ||
	    !is_variable_name(sbx_string(blob, set->name)))
		return SBX_BLOB_ENV;
	if (set->anchor != SBX_NO_ANCHOR && set->anchor >= blob->anchor_count)
		return SBX_BLOB_ANCHOR;
	return is_source(blob, set->source) ? SBX_BLOB_OK : SBX_BLOB_SOURCE;
}

static enum sbx_blob_error
check_landlock(const struct sbx_blob *blob, const void *record)
{
	const struct sbx_landlock *row = record;

	if (row->abi == 0 || row->abi > SBX_MAX_ABI ||
	    (row != blob->landlock && row->abi <= row[-1].abi))
		return SBX_BLOB_LANDLOCK;
	if (((row->list | row->read | row->write | row->exec) &
		~row->handled_fs) != 0 ||
	    ((row->connect_tcp | row->bind_tcp) & ~row->handled_net) != 0)
		return SBX_BLOB_LANDLOCK;
	return SBX_BLOB_OK;
}

static enum sbx_blob_error
check_program(const struct sbx_blob *blob, const void *record)
{
	const struct sbx_program *program = record;

	if (program->reserved != 0)
		return SBX_BLOB_RESERVED;
	if ((program->flags & ~(uint32_t)SBX_PROGRAM_FLAGS) != 0 ||
	    program->min_abi > SBX_MAX_ABI || program->count == 0 ||
	    program->count > SBX_MAX_INSNS ||
	    program->first > blob->bpf_count ||
	    program->count > blob->bpf_count - program->first)
		return SBX_BLOB_PROGRAM;
	return SBX_BLOB_OK;
}

static enum sbx_blob_error
check_syscall(const struct sbx_blob *blob, const void *record)
{
	const struct sbx_syscall *call = record;

	if (!is_string(blob, call->name) || !is_string(blob, call->reason))
		return SBX_BLOB_STRING;
	if (call->verdict >= SBX_SYSCALL_END || !is_where(call->platforms))
		return SBX_BLOB_SYSCALL;
	return is_source(blob, call->source) ? SBX_BLOB_OK : SBX_BLOB_SOURCE;
}

static enum sbx_blob_error
check_source(const struct sbx_blob *blob, const void *record)
{
	const struct sbx_source *source = record;

	if (!is_string(blob, source->file) || !is_string(blob, source->via))
		return SBX_BLOB_STRING;
	return SBX_BLOB_OK;
}

/*
 * One line a kind of section: how long a record is, where the view keeps its
 * pointer and its count, and what a record must satisfy.
 */
struct layout {
	uint32_t record;
	bool required;
	size_t pointer, count;
	record_check *check;
};

#define LAYOUT(type, field, number, must, function) \
	{ \
		.record = sizeof(type), .required = (must), \
		.pointer = offsetof(struct sbx_blob, field), \
		.count = offsetof(struct sbx_blob, number), \
		.check = (function) \
	}

/* Meta has no count of its own: there is exactly one. */
static const struct layout layouts[SBX_SECTION_END] = {
	[SBX_SECTION_META] = LAYOUT(struct sbx_meta, meta, size, true,
	    check_meta),
	[SBX_SECTION_STRINGS] = LAYOUT(char, strings, strings_size, true, NULL),
	[SBX_SECTION_ANCHORS] = LAYOUT(struct sbx_anchor, anchors, anchor_count,
	    true, check_anchor),
	[SBX_SECTION_PATHS] = LAYOUT(struct sbx_path, paths, path_count, false,
	    check_path),
	[SBX_SECTION_EXCLUSIONS] = LAYOUT(struct sbx_exclusion, exclusions,
	    exclusion_count, false, check_exclusion),
	[SBX_SECTION_PORTS] = LAYOUT(struct sbx_port, ports, port_count, false,
	    check_port),
	[SBX_SECTION_LIMITS] = LAYOUT(struct sbx_limit, limits, limit_count,
	    false, check_limit),
	[SBX_SECTION_ENV] = LAYOUT(struct sbx_env, env, env_count, false,
	    check_env),
	[SBX_SECTION_SET] = LAYOUT(struct sbx_set, set, set_count, false,
	    check_set),
	[SBX_SECTION_LANDLOCK] = LAYOUT(struct sbx_landlock, landlock,
	    landlock_count, false, check_landlock),
	[SBX_SECTION_PROGRAMS] = LAYOUT(struct sbx_program, programs,
	    program_count, false, check_program),
	[SBX_SECTION_BPF] = LAYOUT(struct sbx_insn, bpf, bpf_count, false,
	    NULL),
	[SBX_SECTION_SYSCALLS] = LAYOUT(struct sbx_syscall, syscalls,
	    syscall_count, false, check_syscall),
	[SBX_SECTION_SOURCES] = LAYOUT(struct sbx_source, sources, source_count,
	    false, check_source),
	[SBX_SECTION_SBPL] = LAYOUT(char, sbpl, sbpl_size, false, NULL),
};

static enum sbx_blob_error
check_header(const struct sbx_header *header, size_t size)
{
	if (size < sizeof *header)
		return SBX_BLOB_SHORT;
	if (__builtin_memcmp(header->magic, SBX_MAGIC, 8) != 0)
		return SBX_BLOB_MAGIC;
	if (header->min_reader > SBX_FORMAT)
		return SBX_BLOB_VERSION;
	if (header->size != size || size > SBX_MAX_SIZE)
		return SBX_BLOB_SIZE;
	if (header->crc != sbx_checksum(header, size))
		return SBX_BLOB_CRC;
	if (header->reserved != 0)
		return SBX_BLOB_RESERVED;
	return SBX_BLOB_OK;
}

static bool
is_padding(const uint8_t *base, uint32_t from, uint32_t to)
{
	while (from < to) {
		if (base[from++] != 0)
			return false;
	}
	return true;
}

static void
view_set(struct sbx_blob *blob, const struct layout *layout,
    const struct sbx_section *section)
{
	const void *records = blob->base + section->offset;
	uint32_t count = section->size / layout->record;

	__builtin_memcpy((char *)blob + layout->pointer, &records,
	    sizeof records);
	if (layout->count != offsetof(struct sbx_blob, size))
		__builtin_memcpy((char *)blob + layout->count, &count,
		    sizeof count);
}

/*
 * Sections lie one behind the other, each 8-aligned, in ascending order of
 * kind; the last ends where the file ends.
 */
static enum sbx_blob_error
check_table(struct sbx_blob *blob, const struct sbx_section *table,
    uint32_t count)
{
	uint32_t end = sizeof(struct sbx_header) + count * sizeof *table;
	uint32_t kind = 0;

	if (count > SBX_MAX_SECTIONS || end > blob->size)
		return SBX_BLOB_TABLE;
	for (const struct sbx_section *section = table; section < table + count;
	     section++) {
		if (section->kind <= kind || section->offset % 8 != 0 ||
		    section->offset < end || section->offset - end >= 8 ||
		    section->offset > blob->size ||
		    section->size > blob->size - section->offset ||
		    (section->flags & ~(uint32_t)SBX_CRITICAL) != 0)
			return SBX_BLOB_TABLE;
		if (!is_padding(blob->base, end, section->offset))
			return SBX_BLOB_RESERVED;
		kind = section->kind;
		end = section->offset + section->size;
		if (kind >= SBX_SECTION_END) {
			if (section->flags & SBX_CRITICAL)
				return SBX_BLOB_CRITICAL;
			continue;
		}
		if (section->size % layouts[kind].record != 0)
			return SBX_BLOB_TABLE;
		if (kind == SBX_SECTION_META &&
		    section->size != sizeof(struct sbx_meta))
			return SBX_BLOB_META;
		view_set(blob, &layouts[kind], section);
	}
	if (end > blob->size || blob->size - end >= 8)
		return SBX_BLOB_TABLE;
	return is_padding(blob->base, end, blob->size) ? SBX_BLOB_OK :
							 SBX_BLOB_RESERVED;
}

const void *
sbx_records(const struct sbx_blob *blob, enum sbx_section_kind kind,
    uint32_t *count)
{
	const struct layout *layout = &layouts[kind];
	const void *records;

	__builtin_memcpy(&records, (const char *)blob + layout->pointer,
	    sizeof records);
	*count = 1;
	if (layout->count != offsetof(struct sbx_blob, size))
		__builtin_memcpy(count, (const char *)blob + layout->count,
		    sizeof *count);
	return records;
}

/* What no single record shows: presence, string ends, bounds on counts. */
static enum sbx_blob_error
check_whole(const struct sbx_blob *blob)
{
	for (uint32_t kind = 1; kind < SBX_SECTION_END; kind++) {
		uint32_t count;

		if (layouts[kind].required &&
		    sbx_records(blob, kind, &count) == NULL)
			return SBX_BLOB_MISSING;
	}
	if (blob->strings_size == 0 || blob->strings[0] != '\0' ||
	    blob->strings[blob->strings_size - 1] != '\0')
		return SBX_BLOB_STRING;
	if (blob->anchor_count < SBX_ANCHOR_PARAM ||
	    blob->anchor_count > SBX_MAX_ANCHORS)
		return SBX_BLOB_ANCHOR;
	if (blob->path_count > SBX_MAX_RULES ||
	    blob->exclusion_count > SBX_MAX_RULES)
		return SBX_BLOB_PATH;
	if (blob->program_count > SBX_MAX_PROGRAMS)
		return SBX_BLOB_PROGRAM;
	if (blob->sbpl_size > 0 && blob->sbpl[blob->sbpl_size - 1] != '\0')
		return SBX_BLOB_SBPL;
	/* Only a policy that allows everything may do without enforcement. */
	if ((blob->meta->flags & SBX_EVERYTHING) == 0 &&
	    (blob->landlock_count == 0 || blob->program_count == 0))
		return SBX_BLOB_MISSING;
	return SBX_BLOB_OK;
}

static enum sbx_blob_error
check_records(const struct sbx_blob *blob)
{
	for (uint32_t kind = 1; kind < SBX_SECTION_END; kind++) {
		const struct layout *layout = &layouts[kind];
		enum sbx_blob_error error = SBX_BLOB_OK;
		uint32_t count;
		const char *record = sbx_records(blob, kind, &count);

		if (layout->check == NULL || record == NULL)
			continue;
		while (count-- > 0 && error == SBX_BLOB_OK) {
			error = layout->check(blob, record);
			record += layout->record;
		}
		if (error != SBX_BLOB_OK)
			return error;
	}
	return SBX_BLOB_OK;
}

enum sbx_blob_error
sbx_verify(const void *base, size_t size, struct sbx_blob *blob)
{
	const struct sbx_header *header = base;
	enum sbx_blob_error error = check_header(header, size);

	*blob = (struct sbx_blob){ .base = base, .size = (uint32_t)size };
	if (error == SBX_BLOB_OK)
		error = check_table(blob, (const void *)(header + 1),
		    header->section_count);
	if (error == SBX_BLOB_OK)
		error = check_whole(blob);
	if (error == SBX_BLOB_OK)
		error = check_records(blob);
	return error;
}

const char *
sbx_blob_strerror(enum sbx_blob_error error)
{
	static const char *const sentences[] = {
#define SBX_X(name, sentence) [SBX_BLOB_##name] = sentence,
		SBX_BLOB_ERRORS(SBX_X)
#undef SBX_X
	};

	return sentences[error];
}
