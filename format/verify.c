/*
 * The one reader of untrusted bytes: sbx_verify() accepts a blob whole or not
 * at all.  First the frame (header, section table, checksum), then each record
 * of each known section.  Every later reader leans on what is checked here:
 * indices are in range, strings end, paths are normal, enumerations known.
 */
#include "format/glob.h"

typedef enum sbx_blob_error record_check(const struct sbx_view *view,
    const void *record);

static bool
is_string(const struct sbx_view *view, uint32_t offset)
{
	return offset < view->strings_size;
}

static bool
is_where(uint8_t where)
{
	return where != 0 && (where & ~SBX_ON_ALL) == 0;
}

static bool
is_source(const struct sbx_view *view, uint32_t source)
{
	return source == SBX_NO_SOURCE || source < view->source_count;
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
check_place(const struct sbx_view *view, uint16_t anchor, uint32_t suffix)
{
	if (anchor >= view->anchor_count)
		return SBX_BLOB_ANCHOR;
	if (!is_string(view, suffix))
		return SBX_BLOB_STRING;
	if (!is_suffix(sbx_string(view, suffix)))
		return SBX_BLOB_PATH;
	return SBX_BLOB_OK;
}

static enum sbx_blob_error
check_meta(const struct sbx_view *view, const void *record)
{
	const struct sbx_meta *meta = record;

	if (!is_string(view, meta->profile) || !is_string(view, meta->about) ||
	    !is_string(view, meta->writer))
		return SBX_BLOB_STRING;
	if (!is_name(sbx_string(view, meta->profile)))
		return SBX_BLOB_NAME;
	if ((meta->flags & ~(uint32_t)SBX_META_FLAGS) != 0 ||
	    meta->level >= SBX_LEVEL_END || meta->net >= SBX_NET_END ||
	    meta->landlock > SBX_MAX_ABI)
		return SBX_BLOB_META;
	if (!is_source(view, meta->level_source) ||
	    !is_source(view, meta->landlock_source) ||
	    !is_source(view, meta->net_source))
		return SBX_BLOB_SOURCE;
	return SBX_BLOB_OK;
}

static enum sbx_blob_error
check_anchor(const struct sbx_view *view, const void *record)
{
	const struct sbx_anchor *anchor = record;

	if (!is_string(view, anchor->name))
		return SBX_BLOB_STRING;
	/* The root directory has none. */
	if (*sbx_string(view, anchor->name) != '\0' &&
	    !is_name(sbx_string(view, anchor->name)))
		return SBX_BLOB_NAME;
	if (anchor->flags & ~(uint32_t)SBX_ANCHOR_USED)
		return SBX_BLOB_ANCHOR;
	if (anchor->reserved != 0)
		return SBX_BLOB_RESERVED;
	return is_source(view, anchor->source) ? SBX_BLOB_OK : SBX_BLOB_SOURCE;
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
is_pattern(const struct sbx_view *view, uint32_t offset)
{
	struct sbx_glob glob;

	return offset == 0 || sbx_glob_parse(sbx_string(view, offset), &glob);
}

static enum sbx_blob_error
check_path(const struct sbx_view *view, const void *record)
{
	const struct sbx_path *path = record;

	if (path->reserved != 0)
		return SBX_BLOB_RESERVED;
	if (!is_string(view, path->glob))
		return SBX_BLOB_STRING;
	if (!is_pattern(view, path->glob))
		return SBX_BLOB_PATH;
	if (path->effect >= SBX_EFFECT_END || !is_where(path->where) ||
	    !is_rights(path->effect, path->rights))
		return SBX_BLOB_PATH;
	if (path->first_hole > view->hole_count ||
	    path->hole_count > view->hole_count - path->first_hole)
		return SBX_BLOB_PATH;
	if (!is_source(view, path->source))
		return SBX_BLOB_SOURCE;
	return check_place(view, path->anchor, path->suffix);
}

static enum sbx_blob_error
check_hole(const struct sbx_view *view, const void *record)
{
	const struct sbx_hole *hole = record;

	if (hole->reserved != 0)
		return SBX_BLOB_RESERVED;
	return check_place(view, hole->anchor, hole->suffix);
}

static enum sbx_blob_error
check_port(const struct sbx_view *view, const void *record)
{
	const struct sbx_port *port = record;

	if (port->reserved != 0 || port->reserved2 != 0)
		return SBX_BLOB_RESERVED;
	if (port->low > port->high || port->effect >= SBX_EFFECT_END ||
	    port->op >= SBX_PORT_OP_END || !is_where(port->where))
		return SBX_BLOB_PORT;
	return is_source(view, port->source) ? SBX_BLOB_OK : SBX_BLOB_SOURCE;
}

static enum sbx_blob_error
check_limit(const struct sbx_view *view, const void *record)
{
	const struct sbx_limit *limit = record;

	if (limit->reserved != 0)
		return SBX_BLOB_RESERVED;
	if (limit->kind >= SBX_LIMIT_END || !is_where(limit->where) ||
	    limit->value > INT64_MAX)
		return SBX_BLOB_LIMIT;
	return is_source(view, limit->source) ? SBX_BLOB_OK : SBX_BLOB_SOURCE;
}

static enum sbx_blob_error
check_env(const struct sbx_view *view, const void *record)
{
	const struct sbx_env *env = record;

	if (env->reserved != 0 || env->reserved2 != 0)
		return SBX_BLOB_RESERVED;
	if (!is_string(view, env->pattern))
		return SBX_BLOB_STRING;
	if (env->effect >= SBX_EFFECT_END || !is_where(env->where))
		return SBX_BLOB_ENV;
	return is_source(view, env->source) ? SBX_BLOB_OK : SBX_BLOB_SOURCE;
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
check_set(const struct sbx_view *view, const void *record)
{
	const struct sbx_set *set = record;

	if (set->reserved != 0)
		return SBX_BLOB_RESERVED;
	if (!is_string(view, set->name) || !is_string(view, set->text))
		return SBX_BLOB_STRING;
	if (!is_where(set->where) ||
	    !is_variable_name(sbx_string(view, set->name)))
		return SBX_BLOB_ENV;
	if (set->anchor != SBX_NO_ANCHOR && set->anchor >= view->anchor_count)
		return SBX_BLOB_ANCHOR;
	return is_source(view, set->source) ? SBX_BLOB_OK : SBX_BLOB_SOURCE;
}

static enum sbx_blob_error
check_landlock(const struct sbx_view *view, const void *record)
{
	const struct sbx_landlock *row = record;

	if (row->abi == 0 || row->abi > SBX_MAX_ABI ||
	    (row != view->landlock && row->abi <= row[-1].abi))
		return SBX_BLOB_LANDLOCK;
	if (((row->list | row->read | row->write | row->exec) &
		~row->handled_fs) != 0 ||
	    ((row->connect_tcp | row->bind_tcp) & ~row->handled_net) != 0)
		return SBX_BLOB_LANDLOCK;
	return SBX_BLOB_OK;
}

static enum sbx_blob_error
check_program(const struct sbx_view *view, const void *record)
{
	const struct sbx_program *program = record;

	if (program->reserved != 0)
		return SBX_BLOB_RESERVED;
	if ((program->flags & ~(uint32_t)SBX_PROGRAM_FLAGS) != 0 ||
	    program->min_abi > SBX_MAX_ABI || program->count == 0 ||
	    program->count > SBX_MAX_INSNS ||
	    program->first > view->bpf_count ||
	    program->count > view->bpf_count - program->first)
		return SBX_BLOB_PROGRAM;
	return SBX_BLOB_OK;
}

static enum sbx_blob_error
check_syscall(const struct sbx_view *view, const void *record)
{
	const struct sbx_syscall *call = record;

	if (!is_string(view, call->name) || !is_string(view, call->reason))
		return SBX_BLOB_STRING;
	if (call->verdict >= SBX_SYSCALL_END || !is_where(call->where))
		return SBX_BLOB_SYSCALL;
	return is_source(view, call->source) ? SBX_BLOB_OK : SBX_BLOB_SOURCE;
}

static enum sbx_blob_error
check_source(const struct sbx_view *view, const void *record)
{
	const struct sbx_source *source = record;

	if (!is_string(view, source->file) || !is_string(view, source->via))
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
		.pointer = offsetof(struct sbx_view, field), \
		.count = offsetof(struct sbx_view, number), \
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
	[SBX_SECTION_HOLES] = LAYOUT(struct sbx_hole, holes, hole_count, false,
	    check_hole),
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
view_set(struct sbx_view *view, const struct layout *layout,
    const struct sbx_section *section)
{
	const void *records = view->base + section->offset;
	uint32_t count = section->size / layout->record;

	__builtin_memcpy((char *)view + layout->pointer, &records,
	    sizeof records);
	if (layout->count != offsetof(struct sbx_view, size))
		__builtin_memcpy((char *)view + layout->count, &count,
		    sizeof count);
}

/*
 * Sections lie one behind the other, each 8-aligned, in ascending order of
 * kind; the last ends where the file ends.
 */
static enum sbx_blob_error
check_table(struct sbx_view *view, const struct sbx_section *table,
    uint32_t count)
{
	uint32_t end = sizeof(struct sbx_header) + count * sizeof *table;
	uint32_t kind = 0;

	if (count > SBX_MAX_SECTIONS || end > view->size)
		return SBX_BLOB_TABLE;
	for (const struct sbx_section *section = table; section < table + count;
	     section++) {
		if (section->kind <= kind || section->offset % 8 != 0 ||
		    section->offset < end || section->offset - end >= 8 ||
		    section->offset > view->size ||
		    section->size > view->size - section->offset ||
		    (section->flags & ~(uint32_t)SBX_CRITICAL) != 0)
			return SBX_BLOB_TABLE;
		if (!is_padding(view->base, end, section->offset))
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
		view_set(view, &layouts[kind], section);
	}
	if (end > view->size || view->size - end >= 8)
		return SBX_BLOB_TABLE;
	return is_padding(view->base, end, view->size) ? SBX_BLOB_OK :
							 SBX_BLOB_RESERVED;
}

static const void *
view_records(const struct sbx_view *view, const struct layout *layout,
    uint32_t *count)
{
	const void *records;

	__builtin_memcpy(&records, (const char *)view + layout->pointer,
	    sizeof records);
	*count = 1;
	if (layout->count != offsetof(struct sbx_view, size))
		__builtin_memcpy(count, (const char *)view + layout->count,
		    sizeof *count);
	return records;
}

/* What no single record shows: presence, string ends, bounds on counts. */
static enum sbx_blob_error
check_whole(const struct sbx_view *view)
{
	for (uint32_t kind = 1; kind < SBX_SECTION_END; kind++) {
		uint32_t count;

		if (layouts[kind].required &&
		    view_records(view, &layouts[kind], &count) == NULL)
			return SBX_BLOB_MISSING;
	}
	if (view->strings_size == 0 || view->strings[0] != '\0' ||
	    view->strings[view->strings_size - 1] != '\0')
		return SBX_BLOB_STRING;
	if (view->anchor_count < SBX_ANCHOR_PARAM ||
	    view->anchor_count > SBX_MAX_ANCHORS)
		return SBX_BLOB_ANCHOR;
	if (view->path_count > SBX_MAX_RULES ||
	    view->hole_count > SBX_MAX_RULES)
		return SBX_BLOB_PATH;
	if (view->program_count > SBX_MAX_PROGRAMS)
		return SBX_BLOB_PROGRAM;
	if (view->sbpl_size > 0 && view->sbpl[view->sbpl_size - 1] != '\0')
		return SBX_BLOB_SBPL;
	/* Only a policy that allows everything may do without enforcement. */
	if ((view->meta->flags & SBX_EVERYTHING) == 0 &&
	    (view->landlock_count == 0 || view->program_count == 0))
		return SBX_BLOB_MISSING;
	return SBX_BLOB_OK;
}

static enum sbx_blob_error
check_records(const struct sbx_view *view)
{
	for (uint32_t kind = 1; kind < SBX_SECTION_END; kind++) {
		const struct layout *layout = &layouts[kind];
		enum sbx_blob_error error = SBX_BLOB_OK;
		uint32_t count;
		const char *record = view_records(view, layout, &count);

		if (layout->check == NULL || record == NULL)
			continue;
		while (count-- > 0 && error == SBX_BLOB_OK) {
			error = layout->check(view, record);
			record += layout->record;
		}
		if (error != SBX_BLOB_OK)
			return error;
	}
	return SBX_BLOB_OK;
}

enum sbx_blob_error
sbx_verify(const void *base, size_t size, struct sbx_view *view)
{
	const struct sbx_header *header = base;
	enum sbx_blob_error error = check_header(header, size);

	*view = (struct sbx_view){ .base = base, .size = (uint32_t)size };
	if (error == SBX_BLOB_OK)
		error = check_table(view, (const void *)(header + 1),
		    header->section_count);
	if (error == SBX_BLOB_OK)
		error = check_whole(view);
	if (error == SBX_BLOB_OK)
		error = check_records(view);
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
