/*
 * The one reader of untrusted bytes: sbx_verify() accepts a blob whole or not
 * at all.  First the frame (frame.c), then each record of each known section.
 * Every later reader leans on what is checked here: indices are in range,
 * strings end, paths are normal, enumerations known; and what two records say
 * together is no contradiction, so that all readers see the same policy.
 */
#include "format/verify.h"
#include "format/blob.h"
#include "format/model.h"

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
bool
is_name(const char *name)
{
	size_t len = 0;

	while (len <= SBX_MAX_NAME &&
	    (is_letter(name[len]) || name[len] == '-' || name[len] == '_' ||
		(name[len] >= '0' && name[len] <= '9')))
		len++;
	return is_letter(name[0]) && name[len] == '\0' && len <= SBX_MAX_NAME;
}

static bool
is_used_anchor(const struct sbx_blob *blob, uint16_t anchor)
{
	return anchor < blob->anchor_count &&
	    (blob->anchors[anchor].flags & SBX_ANCHOR_USED) != 0;
}

enum sbx_blob_error
check_place(const struct sbx_blob *blob, uint16_t anchor, uint32_t suffix)
{
	/* Of an anchor that is not marked, the loader does not look for the
	 * place, and passes over its rules. */
	if (!is_used_anchor(blob, anchor))
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
	/* Without a filter nothing would hold it. */
	if ((meta->flags & SBX_NO_SPAWN) != 0 &&
	    (meta->flags & SBX_EVERYTHING) != 0)
		return SBX_BLOB_META;
	/* The loader takes a floor without a place for the default one. */
	if (meta->level != SBX_LEVEL_MINIMAL &&
	    meta->level_source == SBX_NO_SOURCE)
		return SBX_BLOB_META;
	if (!is_source(blob, meta->level_source) ||
	    !is_source(blob, meta->landlock_source) ||
	    !is_source(blob, meta->net_source))
		return SBX_BLOB_SOURCE;
	return SBX_BLOB_OK;
}

/* As compiler/tables/words.def has them; what a person reads is the name. */
static const char *const anchor_names[SBX_ANCHOR_PARAM] = {
	[SBX_ANCHOR_ROOT] = "",
	[SBX_ANCHOR_WORKSPACE] = "workspace",
	[SBX_ANCHOR_HOME] = "home",
	[SBX_ANCHOR_TMP] = "tmp",
	[SBX_ANCHOR_RUNTIME] = "runtime",
};

static bool
is_same(const char *a, const char *b)
{
	while (*a == *b && *a != '\0') {
		a++;
		b++;
	}
	return *a == *b;
}

/* The anchors that every policy has are called as they are, and a parameter is
 * called as no anchor before it. */
static bool
is_anchor_name(const struct sbx_blob *blob, const struct sbx_anchor *anchor)
{
	const char *name = sbx_string(blob, anchor->name);
	size_t id = (size_t)(anchor - blob->anchors);

	if (id < SBX_ANCHOR_PARAM)
		return is_same(name, anchor_names[id]);
	if (!is_name(name))
		return false;
	while (anchor-- > blob->anchors) {
		if (is_same(sbx_string(blob, anchor->name), name))
			return false;
	}
	return true;
}

static enum sbx_blob_error
check_anchor(const struct sbx_blob *blob, const void *record)
{
	const struct sbx_anchor *anchor = record;

	if (!is_string(blob, anchor->name))
		return SBX_BLOB_STRING;
	if (!is_anchor_name(blob, anchor))
		return SBX_BLOB_NAME;
	if (anchor->flags & ~(uint32_t)SBX_ANCHOR_USED)
		return SBX_BLOB_ANCHOR;
	if (anchor->reserved != 0)
		return SBX_BLOB_RESERVED;
	return is_source(blob, anchor->source) ? SBX_BLOB_OK : SBX_BLOB_SOURCE;
}

/* See enum sbx_right: allows are closed upwards, denies of read downwards. */
static bool
is_rights(const struct sbx_path *path)
{
	uint8_t rights = path->rights;

	if ((rights & SBX_STAGED) != 0)
		return path->effect == SBX_ALLOW &&
		    path->anchor == SBX_ANCHOR_WORKSPACE &&
		    rights == (SBX_STAGED | SBX_READ | SBX_WRITE);
	if (rights == 0 || (rights & ~SBX_RIGHTS) != 0)
		return false;
	if (path->effect == SBX_ALLOW)
		return (rights & SBX_READ) != 0;
	return (rights & SBX_READ) == 0 || rights == SBX_RIGHTS;
}

/* Whether it is what a ceiling has left of a policy, so that there are rules of
 * both. */
static bool
is_cut(const struct sbx_blob *blob)
{
	return (blob->meta->flags & SBX_CUT) != 0;
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

	if (path->ceiling > is_cut(blob))
		return SBX_BLOB_RESERVED;
	if (!is_string(blob, path->glob))
		return SBX_BLOB_STRING;
	if (!is_pattern(blob, path->glob))
		return SBX_BLOB_PATH;
	if (path->effect >= SBX_EFFECT_END || !is_where(path->platforms) ||
	    !is_rights(path))
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

/* Sorted by kind, and one for each machine at most. */
static bool
is_in_order_limit(const struct sbx_blob *blob, const struct sbx_limit *limit)
{
	const struct sbx_limit *before = limit;

	while (before-- > blob->limits && before->kind == limit->kind) {
		if ((before->platforms & limit->platforms) != 0)
			return false;
	}
	return limit == blob->limits || limit[-1].kind <= limit->kind;
}

static enum sbx_blob_error
check_limit(const struct sbx_blob *blob, const void *record)
{
	const struct sbx_limit *limit = record;

	if (limit->ceiling > is_cut(blob))
		return SBX_BLOB_RESERVED;
	if (limit->kind >= SBX_LIMIT_END || !is_where(limit->platforms) ||
	    limit->value > INT64_MAX || !is_in_order_limit(blob, limit))
		return SBX_BLOB_LIMIT;
	return is_source(blob, limit->source) ? SBX_BLOB_OK : SBX_BLOB_SOURCE;
}

static enum sbx_blob_error
check_env(const struct sbx_blob *blob, const void *record)
{
	const struct sbx_env *env = record;

	if (env->ceiling > is_cut(blob))
		return SBX_BLOB_RESERVED;
	if (!is_string(blob, env->pattern) || !is_string(blob, env->except))
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

/* Sorted by name, and one for each machine at most. */
static bool
is_in_order_set(const struct sbx_blob *blob, const struct sbx_set *set)
{
	const struct sbx_set *before = set;

	while (before-- > blob->set && before->name == set->name) {
		if ((before->platforms & set->platforms) != 0)
			return false;
	}
	return set == blob->set || set[-1].name <= set->name;
}

static enum sbx_blob_error
check_set(const struct sbx_blob *blob, const void *record)
{
	const struct sbx_set *set = record;

	if (set->reserved != 0)
		return SBX_BLOB_RESERVED;
	if (!is_string(blob, set->name) || !is_string(blob, set->text))
		return SBX_BLOB_STRING;
	if (!is_where(set->platforms) || !is_in_order_set(blob, set) ||
	    !is_variable_name(sbx_string(blob, set->name)))
		return SBX_BLOB_ENV;
	if (set->anchor != SBX_NO_ANCHOR && !is_used_anchor(blob, set->anchor))
		return SBX_BLOB_ANCHOR;
	return is_source(blob, set->source) ? SBX_BLOB_OK : SBX_BLOB_SOURCE;
}

static enum sbx_blob_error
check_watch(const struct sbx_blob *blob, const void *record)
{
	const struct sbx_watch *watch = record;

	if (!is_string(blob, watch->glob))
		return SBX_BLOB_STRING;
	if (watch->form >= SBX_WATCH_END || !is_where(watch->platforms) ||
	    !is_pattern(blob, watch->glob) ||
	    (watch->glob != 0 && watch->form != SBX_WATCH_TREE))
		return SBX_BLOB_WATCH;
	if (!is_source(blob, watch->source))
		return SBX_BLOB_SOURCE;
	return check_place(blob, watch->anchor, watch->suffix);
}

static enum sbx_blob_error
check_socket(const struct sbx_blob *blob, const void *record)
{
	const struct sbx_socket *socket = record;
	bool agent = socket->form == SBX_SOCKET_SSH_AGENT;

	if (socket->reserved != 0)
		return SBX_BLOB_RESERVED;
	if (socket->form >= SBX_SOCKET_END ||
	    socket->effect >= SBX_EFFECT_END || !is_where(socket->platforms) ||
	    (socket->flags &
		~(uint32_t)(SBX_SOCKET_UNCONFINED |
		    (is_cut(blob) ? SBX_SOCKET_CEILING : 0))) != 0 ||
	    (socket->effect != SBX_ALLOW &&
		(socket->flags & SBX_SOCKET_UNCONFINED) != 0))
		return SBX_BLOB_SOCKET;
	if (!is_source(blob, socket->source))
		return SBX_BLOB_SOURCE;
	if (!agent)
		return check_place(blob, socket->anchor, socket->suffix);
	return socket->anchor == SBX_NO_ANCHOR && socket->suffix == 0 ?
	    SBX_BLOB_OK :
	    SBX_BLOB_ANCHOR;
}

static enum sbx_blob_error
check_landlock(const struct sbx_blob *blob, const void *record)
{
	const struct sbx_landlock *row = record;

	if (row->abi != (uint32_t)(row - blob->landlock) + 1 ||
	    !sbx_landlock_is_implied(row, blob->meta))
		return SBX_BLOB_LANDLOCK;
	/* The rights of an ABI that this table does not know. */
	if (((row->list | row->read | row->write | row->exec) &
		~row->handled_fs) != 0 ||
	    ((row->connect_tcp | row->bind_tcp) & ~row->handled_net) != 0)
		return SBX_BLOB_LANDLOCK;
	return SBX_BLOB_OK;
}

/*
 * What opens because of where a program runs, opens nowhere else: what must be
 * true of it and of its policy.
 */
enum { ANY_NET = (1u << SBX_NET_END) - 1 };

static const struct program_need {
	uint32_t flag;
	uint32_t beside;  /* the flags that go with it */
	uint32_t min_abi; /* Landlock holds it from here on */
	unsigned nets;    /* a bit of each enum sbx_net that it goes with */
} program_needs[] = {
	{ SBX_PROGRAM_TCP, 0, 4,
	    1u << SBX_NET_PORTS | 1u << SBX_NET_LOOPBACK |
		1u << SBX_NET_SELECTED },
	{ SBX_PROGRAM_TRACE, 0, 1, ANY_NET },
	{ SBX_PROGRAM_LOOPBACK, SBX_PROGRAM_FULL, 0,
	    1u << SBX_NET_LOOPBACK | 1u << SBX_NET_SELECTED },
	{ SBX_PROGRAM_LISTENER, 0, 1, ANY_NET },
};

static bool
is_proc(const char *suffix)
{
	static const char proc[] = "/proc";
	size_t len = 0;

	while (len < sizeof proc - 1 && suffix[len] == proc[len])
		len++;
	return suffix[len] == '\0' && (len == 0 || len == sizeof proc - 1);
}

/* Whether the policy lets the whole of /proc be read, which tells of the machine's
 * interfaces. */
static bool
shows_interfaces(const struct sbx_blob *blob)
{
	for (uint32_t i = 0; i < blob->path_count; i++) {
		const struct sbx_path *path = &blob->paths[i];

		if (path->effect == SBX_ALLOW &&
		    (path->rights & SBX_READ) != 0 &&
		    path->anchor == SBX_ANCHOR_ROOT && path->glob == 0 &&
		    path->exclusion_count == 0 &&
		    is_string(blob, path->suffix) &&
		    is_proc(sbx_string(blob, path->suffix)))
			return true;
	}
	return false;
}

static bool
is_program_flags(const struct sbx_blob *blob, const struct sbx_program *program)
{
	size_t count = countof(program_needs);

	if ((program->flags & SBX_PROGRAM_NETLINK) != 0 &&
	    (program->flags & SBX_PROGRAM_FULL) == 0 && !shows_interfaces(blob))
		return false;
	for (const struct program_need *need = program_needs;
	     need < program_needs + count; need++) {
		if ((program->flags & need->flag) != 0 &&
		    ((need->beside & ~program->flags) != 0 ||
			program->min_abi < need->min_abi ||
			(need->nets >> blob->meta->net & 1) == 0))
			return false;
	}
	return (program->flags & ~(uint32_t)SBX_PROGRAM_FLAGS) == 0;
}

static enum sbx_blob_error
check_program(const struct sbx_blob *blob, const void *record)
{
	const struct sbx_program *program = record;

	if (program->reserved != 0)
		return SBX_BLOB_RESERVED;
	if (!is_program_flags(blob, program) ||
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

#define LAYOUT(type, field, number, must, function) \
	{ \
		.record = sizeof(type), .required = (must), \
		.pointer = offsetof(struct sbx_blob, field), \
		.count = offsetof(struct sbx_blob, number), \
		.check = (function) \
	}

/* Meta has no count of its own: there is exactly one. */
const struct layout layouts[SBX_SECTION_END] = {
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
	[SBX_SECTION_WATCHES] = LAYOUT(struct sbx_watch, watches, watch_count,
	    false, check_watch),
	[SBX_SECTION_SOCKETS] = LAYOUT(struct sbx_socket, sockets, socket_count,
	    false, check_socket),
	[SBX_SECTION_NAMES] = LAYOUT(struct sbx_name, names, name_count, false,
	    check_name),
	[SBX_SECTION_ENDPOINTS] = LAYOUT(struct sbx_endpoint, endpoints,
	    endpoint_count, false, check_endpoint),
	[SBX_SECTION_PROXY] = LAYOUT(struct sbx_proxy, proxies, proxy_count,
	    false, check_proxy),
};

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
	if (blob->watch_count > SBX_MAX_WATCHES)
		return SBX_BLOB_WATCH;
	if (blob->socket_count > SBX_MAX_SOCKETS)
		return SBX_BLOB_SOCKET;
	if (blob->name_count > SBX_MAX_NAMES)
		return SBX_BLOB_HOST;
	if (blob->endpoint_count > SBX_MAX_ENDPOINTS)
		return SBX_BLOB_ENDPOINT;
	if (blob->program_count > SBX_MAX_PROGRAMS)
		return SBX_BLOB_PROGRAM;
	if (blob->landlock_count > SBX_MAX_ABI)
		return SBX_BLOB_LANDLOCK;
	/*
	 * A policy that allows everything does without enforcement, and every
	 * other has all of it.  A kernel of a later ABI than the last row gets
	 * the last row, so a table that ends early would restrict less than its
	 * rules say.
	 */
	if ((blob->meta->flags & SBX_EVERYTHING) != 0)
		return blob->landlock_count + blob->program_count == 0 ?
		    SBX_BLOB_OK :
		    SBX_BLOB_META;
	if (blob->landlock_count == 0 || blob->program_count == 0)
		return SBX_BLOB_MISSING;
	return blob->landlock_count < SBX_LANDLOCK_LEAST_ROWS ?
	    SBX_BLOB_LANDLOCK :
	    SBX_BLOB_OK;
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
	enum sbx_blob_error error = frame_check_header(header, size);

	*blob = (struct sbx_blob){ .base = base };
	if (error != SBX_BLOB_OK)
		return error;
	blob->size = header->size;
	if (size > blob->size) {
		blob->text = (const char *)base + blob->size;
		blob->text_size = header->text_size;
	}
	if (error == SBX_BLOB_OK)
		error = frame_check_table(blob, (const void *)(header + 1),
		    header->section_count);
	if (error == SBX_BLOB_OK)
		error = check_whole(blob);
	if (error == SBX_BLOB_OK)
		error = check_records(blob);
	if (error == SBX_BLOB_OK)
		error = check_ways(blob);
	return error;
}
