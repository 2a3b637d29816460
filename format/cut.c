/*
 * What a ceiling leaves of a policy: a blob that allows what both allow.
 *
 * Where both speak of ranges (ports, addresses, names), each pair of allows comes to
 * one rule, and the denials of both hold.  The order of limits, levels and networks
 * is known.  What is only known once it is bound or asked for (paths, sockets,
 * variables) stays side by side, with a mark on what is the ceiling's: the binder
 * and the verdict of a variable want an allow of each.  Two filters become one that
 * goes on in the second where the first allows.
 *
 * Records for other machines are left out.  The result is verified like every blob,
 * and lies in no file.
 */
#include "format/cut.h"

#include "format/model.h"

enum {
	RET_K = 0x06, /* BPF_RET | BPF_K */
	RET_A = 0x16,
	JUMP = 0x05, /* BPF_JMP | BPF_JA */
	PAIRS = 10,  /* of filters: of each level, network and listener */
};

#define ACTION_MASK 0xffff0000u
#define ACTION_KILL_PROCESS 0x80000000u
#define ACTION_KILL_THREAD 0x00000000u
#define ACTION_TRAP 0x00030000u
#define ACTION_ERRNO 0x00050000u
#define ACTION_NOTIFY 0x7fc00000u
#define ACTION_ALLOW 0x7fff0000u

/* One of the two policies. */
struct side {
	const struct sbx_blob *blob;
	uint32_t strings, sources; /* that come before its own */
	bool everything, ceiling;
};

struct pair {
	const struct sbx_program *first, *second; /* or NULL */
	uint32_t flags;
};

struct cut {
	struct side sides[2]; /* the policy, the ceiling */
	const struct sbx_cut_request *request;
	struct sbx_cut_fault *fault;
	uint8_t net;
	uint8_t *room;
	size_t size, used;
	struct sbx_section *sections;
	uint32_t section_count;
	uint32_t exclusions; /* of the rules that were written */
	uint32_t names;      /* where their string begins, of files */
};

static bool
fail(struct cut *cut, const char *text, uint32_t source)
{
	if (cut->fault->text == NULL)
		*cut->fault = (struct sbx_cut_fault){ text, source };
	return false;
}

/* --- writing ---------------------------------------------------------------- */

/* Room for one more record; what does not fit is a fault, and goes nowhere. */
static void *
put(struct cut *cut, size_t size)
{
	void *at = cut->room + cut->used;

	if (size > cut->size - cut->used) {
		fail(cut, "policy and ceiling are too large together",
		    SBX_NO_SOURCE);
		return cut->room;
	}
	cut->used += size;
	return at;
}

static void
put_bytes(struct cut *cut, const void *bytes, size_t size)
{
	void *at = put(cut, size);

	if (cut->fault->text == NULL)
		__builtin_memcpy(at, bytes, size);
}

#define PUT(cut, type, ...) \
	put_bytes((cut), &(const type)__VA_ARGS__, sizeof(type))

static void
pad(struct cut *cut)
{
	static const uint8_t zero[8];

	put_bytes(cut, zero, -cut->used & 7);
}

static void
begin(struct cut *cut, enum sbx_section_kind kind)
{
	pad(cut);
	cut->sections[cut->section_count] = (struct sbx_section){
		.kind = kind,
		.flags = SBX_CRITICAL,
		.offset = (uint32_t)cut->used,
	};
}

/* A section without records is left out, though its padding stays: it is no more
 * than every section has. */
static void
end(struct cut *cut)
{
	struct sbx_section *section = &cut->sections[cut->section_count];

	section->size = (uint32_t)cut->used - section->offset;
	cut->section_count += section->size > 0;
}

/* --- both sides ------------------------------------------------------------- */

/* 0 says that there is none. */
static uint32_t
string_of(const struct side *side, uint32_t offset)
{
	return offset == 0 ? 0 : side->strings + offset;
}

static uint32_t
source_of(const struct side *side, uint32_t source)
{
	return source == SBX_NO_SOURCE ? source : side->sources + source;
}

static bool
is_here(const struct cut *cut, uint8_t platforms)
{
	return (platforms & cut->request->platform) != 0;
}

/* The side whose rules stand for those of `side`: who allows everything allows what
 * the other does. */
static const struct side *
speaker(const struct cut *cut, int side)
{
	return &cut->sides[cut->sides[side].everything ? 1 - side : side];
}

static bool
has_host_network(const struct side *side)
{
	return side->everything || side->blob->meta->net == SBX_NET_PORTS ||
	    side->blob->meta->net == SBX_NET_FULL;
}

static uint8_t
net_of(const struct side *side)
{
	return side->everything ? SBX_NET_FULL : side->blob->meta->net;
}

/* From the least to the most that is reached. */
static uint8_t
less_network(uint8_t a, uint8_t b)
{
	static const uint8_t order[SBX_NET_END] = {
		[SBX_NET_NONE] = 0,
		[SBX_NET_LOOPBACK] = 1,
		[SBX_NET_SELECTED] = 2,
		[SBX_NET_PORTS] = 3,
		[SBX_NET_FULL] = 4,
	};

	return order[a] <= order[b] ? a : b;
}

/* --- what holds for all of it ------------------------------------------------ */

static void
put_meta(struct cut *cut)
{
	const struct side *policy = &cut->sides[0], *ceiling = &cut->sides[1];
	const struct sbx_meta *a = policy->blob->meta, *b = ceiling->blob->meta;
	const uint32_t freedoms = SBX_SIGNAL_ANYWHERE | SBX_ABSTRACT_ANYWHERE;
	uint32_t level_source = source_of(policy, a->level_source);
	uint8_t least = b->level;
	const struct side *abi = b->landlock > a->landlock ? ceiling : policy;
	const struct side *net = net_of(policy) == cut->net ? policy : ceiling;
	uint32_t flags = SBX_CUT;

	flags |= (policy->everything ? freedoms : a->flags) &
	    (ceiling->everything ? freedoms : b->flags) & freedoms;
	flags |= (a->flags | b->flags) & SBX_NO_SPAWN;
	flags |= a->flags & b->flags & SBX_EVERYTHING;
	/* Below standard nothing holds its rules about files: it has to say that
	 * this is meant. */
	if (b->level_source == SBX_NO_SOURCE && !ceiling->everything)
		least = SBX_LEVEL_STANDARD;
	if (least > a->level ||
	    (least == a->level && b->level_source != SBX_NO_SOURCE)) {
		level_source = source_of(ceiling,
		    b->level_source != SBX_NO_SOURCE ? b->level_source : 0);
		if (ceiling->blob->source_count == 0)
			fail(cut, "a ceiling without rules", SBX_NO_SOURCE);
	} else {
		least = a->level;
	}
	begin(cut, SBX_SECTION_META);
	PUT(cut, struct sbx_meta,
	    {
		.profile = a->profile,
		.about = a->about,
		.writer = ceiling->strings + ceiling->blob->strings_size,
		.flags = flags,
		.level = least,
		.landlock = abi->blob->meta->landlock,
		.net = cut->net,
		.language = a->language,
		.level_source = level_source,
		.landlock_source = source_of(abi,
		    abi->blob->meta->landlock_source),
		.net_source = source_of(net, net->blob->meta->net_source),
	    });
	end(cut);
}

static bool
is_same(const char *a, const char *b)
{
	return sbx_name_compare(a, b) == 0;
}

void
sbx_cut_name(const struct sbx_blob *ceiling, char name[SBX_CUT_NAME])
{
	static const char before[] = "ceiling ";
	const struct sbx_header *header = (const void *)ceiling->base;
	uint64_t number = (uint64_t)header->size << 32 | header->sum;
	size_t len = sizeof before - 1;

	__builtin_memcpy(name, before, len);
	for (int shift = 60; shift >= 0; shift -= 4)
		name[len++] = "0123456789abcdef"[number >> shift & 15];
	name[len] = '\0';
}

/* A text beside the ceiling has no directory in its name; people need it. */
static bool
is_bare(const char *file)
{
	for (; *file != '\0'; file++) {
		if (*file == '/' || *file == ':')
			return false;
	}
	return true;
}

static void
put_strings(struct cut *cut)
{
	const struct sbx_blob *ceiling = cut->sides[1].blob;
	const char *directory = cut->request->directory;
	char name[SBX_CUT_NAME] = "";
	size_t len = 0;

	while (directory[len] != '\0')
		len++;
	begin(cut, SBX_SECTION_STRINGS);
	put_bytes(cut, cut->sides[0].blob->strings,
	    cut->sides[0].blob->strings_size);
	put_bytes(cut, ceiling->strings, ceiling->strings_size);
	sbx_cut_name(ceiling, name);
	put_bytes(cut, name, sizeof name);
	cut->names = cut->sides[1].strings + ceiling->strings_size +
	    (uint32_t)sizeof name;
	for (uint32_t i = 0; i < ceiling->source_count; i++) {
		const char *file = sbx_string(ceiling,
		    ceiling->sources[i].file);
		size_t size = 1;

		if ((i > 0 &&
			ceiling->sources[i].file ==
			    ceiling->sources[i - 1].file) ||
		    !is_bare(file))
			continue;
		while (file[size - 1] != '\0')
			size++;
		put_bytes(cut, directory, len);
		put_bytes(cut, file, size);
	}
	end(cut);
}

static void
put_sources(struct cut *cut)
{
	const struct sbx_blob *ceiling = cut->sides[1].blob;
	const char *directory = cut->request->directory;
	uint32_t at = cut->names, size = 0;

	begin(cut, SBX_SECTION_SOURCES);
	put_bytes(cut, cut->sides[0].blob->sources,
	    cut->sides[0].blob->source_count * sizeof(struct sbx_source));
	for (uint32_t i = 0; i < ceiling->source_count; i++) {
		struct sbx_source source = ceiling->sources[i];
		const char *file = sbx_string(ceiling, source.file);
		bool bare = is_bare(file);

		/* In the order in which the strings were put. */
		if (i == 0 || source.file != ceiling->sources[i - 1].file) {
			at += size;
			size = 0;
			for (const char *c = directory; bare && *c != '\0'; c++)
				size++;
			for (const char *c = file; bare && *c != '\0'; c++)
				size++;
			size += bare;
		}
		source.file = bare ? at :
				     string_of(&cut->sides[1], source.file);
		source.via = string_of(&cut->sides[1], source.via);
		put_bytes(cut, &source, sizeof source);
	}
	end(cut);
}

/* The ceiling has no parameters, so its anchors are those that all have. */
static void
put_anchors(struct cut *cut)
{
	const struct sbx_blob *policy = cut->sides[0].blob,
			      *ceiling = cut->sides[1].blob;

	if (ceiling->anchor_count > SBX_ANCHOR_PARAM)
		fail(cut, "a ceiling has no parameters",
		    source_of(&cut->sides[1],
			ceiling->anchors[SBX_ANCHOR_PARAM].source));
	begin(cut, SBX_SECTION_ANCHORS);
	for (uint32_t i = 0; i < policy->anchor_count; i++) {
		struct sbx_anchor anchor = policy->anchors[i];

		if (i < SBX_ANCHOR_PARAM)
			anchor.flags |= ceiling->anchors[i].flags;
		put_bytes(cut, &anchor, sizeof anchor);
	}
	end(cut);
}

static void
put_landlock(struct cut *cut)
{
	const struct sbx_meta *meta = (const void *)(cut->room +
	    cut->sections[0].offset);

	if (meta->flags & SBX_EVERYTHING)
		return;
	begin(cut, SBX_SECTION_LANDLOCK);
	for (uint32_t abi = 1; abi <= SBX_LANDLOCK_LAST_ABI; abi++) {
		struct sbx_landlock row = sbx_landlock_row(abi, meta);

		put_bytes(cut, &row, sizeof row);
	}
	end(cut);
}

/* --- files, sockets, variables ----------------------------------------------- */

/* They are sorted, for directories that many rules lie in are listed; so the
 * ceiling's come behind. */
static void
put_paths(struct cut *cut)
{
	begin(cut, SBX_SECTION_PATHS);
	for (int i = 0; i < 2; i++) {
		const struct side *side = speaker(cut, i);
		const struct sbx_blob *blob = side->blob;

		for (uint32_t j = 0; j < blob->path_count; j++) {
			struct sbx_path path = blob->paths[j];

			if (!is_here(cut, path.platforms))
				continue;
			path.suffix = string_of(side, path.suffix);
			path.glob = string_of(side, path.glob);
			path.source = source_of(side, path.source);
			path.first_exclusion += side == &cut->sides[0] ?
			    0 :
			    cut->exclusions;
			path.ceiling = (uint8_t)i;
			put_bytes(cut, &path, sizeof path);
		}
	}
	end(cut);
	begin(cut, SBX_SECTION_EXCLUSIONS);
	for (int i = 0; i < 2; i++) {
		const struct side *side = &cut->sides[i];

		for (uint32_t j = 0; j < side->blob->exclusion_count; j++) {
			struct sbx_exclusion exclusion =
			    side->blob->exclusions[j];

			exclusion.suffix = string_of(side, exclusion.suffix);
			put_bytes(cut, &exclusion, sizeof exclusion);
		}
	}
	end(cut);
}

static void
put_env(struct cut *cut)
{
	begin(cut, SBX_SECTION_ENV);
	for (int i = 0; i < 2; i++) {
		const struct side *side = speaker(cut, i);

		for (uint32_t j = 0; j < side->blob->env_count; j++) {
			struct sbx_env env = side->blob->env[j];

			env.pattern = string_of(side, env.pattern);
			env.except = string_of(side, env.except);
			env.source = source_of(side, env.source);
			env.ceiling = (uint16_t)i;
			put_bytes(cut, &env, sizeof env);
		}
	}
	end(cut);
}

static void
put_sockets(struct cut *cut)
{
	begin(cut, SBX_SECTION_SOCKETS);
	for (int i = 0; i < 2; i++) {
		const struct side *side = speaker(cut, i);

		for (uint32_t j = 0; j < side->blob->socket_count; j++) {
			struct sbx_socket socket = side->blob->sockets[j];

			if (!is_here(cut, socket.platforms))
				continue;
			socket.suffix = string_of(side, socket.suffix);
			socket.source = source_of(side, socket.source);
			socket.flags |= i == 1 ? SBX_SOCKET_CEILING : 0;
			put_bytes(cut, &socket, sizeof socket);
		}
	}
	end(cut);
}

static bool
has_variable(const struct cut *cut, const struct side *side, const char *name)
{
	for (uint32_t i = 0; i < side->blob->set_count; i++) {
		const struct sbx_set *set = &side->blob->set[i];

		if (is_here(cut, set->platforms) &&
		    is_same(sbx_string(side->blob, set->name), name))
			return true;
	}
	return false;
}

/* What the ceiling sets is as it says. */
static void
put_set(struct cut *cut)
{
	begin(cut, SBX_SECTION_SET);
	for (int i = 0; i < 2; i++) {
		const struct side *side = &cut->sides[i];

		for (uint32_t j = 0; j < side->blob->set_count; j++) {
			struct sbx_set set = side->blob->set[j];

			if (!is_here(cut, set.platforms) ||
			    (i == 0 &&
				has_variable(cut, &cut->sides[1],
				    sbx_string(side->blob, set.name))))
				continue;
			set.name = string_of(side, set.name);
			set.text = string_of(side, set.text);
			set.source = source_of(side, set.source);
			put_bytes(cut, &set, sizeof set);
		}
	}
	end(cut);
}

/* Policies of one family watch the same. */
static bool
is_watched(const struct cut *cut, const struct sbx_watch *watch)
{
	const struct sbx_blob *policy = cut->sides[0].blob;
	const struct sbx_blob *ceiling = cut->sides[1].blob;

	for (uint32_t i = 0; i < policy->watch_count; i++) {
		const struct sbx_watch *own = &policy->watches[i];

		if (own->anchor == watch->anchor && own->form == watch->form &&
		    (watch->platforms & ~own->platforms) == 0 &&
		    is_same(sbx_string(policy, own->suffix),
			sbx_string(ceiling, watch->suffix)) &&
		    is_same(sbx_string(policy, own->glob),
			sbx_string(ceiling, watch->glob)))
			return true;
	}
	return false;
}

static void
put_watches(struct cut *cut)
{
	begin(cut, SBX_SECTION_WATCHES);
	for (int i = 0; i < 2; i++) {
		const struct side *side = &cut->sides[i];

		for (uint32_t j = 0; j < side->blob->watch_count; j++) {
			struct sbx_watch watch = side->blob->watches[j];

			if (i == 1 && is_watched(cut, &watch))
				continue;
			watch.suffix = string_of(side, watch.suffix);
			watch.glob = string_of(side, watch.glob);
			watch.source = source_of(side, watch.source);
			put_bytes(cut, &watch, sizeof watch);
		}
	}
	end(cut);
}

static const struct sbx_limit *
find_limit(const struct cut *cut, int side, uint16_t kind)
{
	const struct sbx_blob *blob = cut->sides[side].blob;

	for (uint32_t i = 0; i < blob->limit_count; i++) {
		if (blob->limits[i].kind == kind &&
		    is_here(cut, blob->limits[i].platforms))
			return &blob->limits[i];
	}
	return NULL;
}

static void
put_limits(struct cut *cut)
{
	begin(cut, SBX_SECTION_LIMITS);
	for (uint16_t kind = 0; kind < SBX_LIMIT_END; kind++) {
		const struct sbx_limit *own = find_limit(cut, 0, kind),
				       *above = find_limit(cut, 1, kind);
		bool lower = above != NULL &&
		    (own == NULL || above->value < own->value);
		struct sbx_limit limit;

		if (own == NULL && above == NULL)
			continue;
		limit = lower ? *above : *own;
		limit.source = source_of(&cut->sides[lower], limit.source);
		limit.ceiling = above != NULL;
		put_bytes(cut, &limit, sizeof limit);
	}
	end(cut);
}

/* --- the network -------------------------------------------------------------- */

struct range {
	uint16_t low, high;
	uint32_t source;
};

/* The next range of ports that a side allows for an operation of the network that
 * comes of both; `at` counts on. */
static bool
next_range(const struct cut *cut, const struct side *side, uint8_t op,
    uint32_t *at, struct range *range)
{
	const struct sbx_blob *blob = side->blob;

	if (net_of(side) == SBX_NET_FULL) {
		*range = (struct range){ 0, UINT16_MAX, SBX_NO_SOURCE };
		return (*at)++ == 0;
	}
	if (op >= SBX_HOST_TCP && has_host_network(side))
		op -= SBX_HOST_TCP;
	while (*at < blob->port_count) {
		const struct sbx_port *port = &blob->ports[(*at)++];

		if (port->effect != SBX_ALLOW || port->op != op ||
		    !is_here(cut, port->platforms))
			continue;
		*range = (struct range){ port->low, port->high,
			source_of(side, port->source) };
		return true;
	}
	return false;
}

static bool
meet(struct range *range, const struct range *other)
{
	if (other->low > range->low)
		range->low = other->low;
	if (other->high < range->high)
		range->high = other->high;
	if (range->source == SBX_NO_SOURCE)
		range->source = other->source;
	return range->low <= range->high;
}

static void
put_port(struct cut *cut, const struct range *range, uint8_t effect, uint8_t op)
{
	PUT(cut, struct sbx_port,
	    {
		.low = range->low,
		.high = range->high,
		.effect = effect,
		.op = op,
		.platforms = cut->request->platform,
		.source = range->source,
	    });
}

static void
put_port_allows(struct cut *cut, uint8_t op)
{
	struct range own, above, both;

	for (uint32_t i = 0; next_range(cut, &cut->sides[0], op, &i, &own);) {
		for (uint32_t j = 0;
		     next_range(cut, &cut->sides[1], op, &j, &above);) {
			both = own;
			if (meet(&both, &above))
				put_port(cut, &both, SBX_ALLOW, op);
		}
	}
}

/* A denial in the host's network is one of the host's service, too. */
static void
put_port_denies(struct cut *cut, const struct side *side, uint8_t op)
{
	uint8_t theirs = op >= SBX_HOST_TCP && has_host_network(side) ?
	    op - SBX_HOST_TCP :
	    op;

	for (uint32_t i = 0; i < side->blob->port_count; i++) {
		const struct sbx_port *port = &side->blob->ports[i];

		if (port->effect != SBX_ALLOW && port->op == theirs &&
		    is_here(cut, port->platforms))
			put_port(cut,
			    &(struct range){ port->low, port->high,
				source_of(side, port->source) },
			    port->effect, op);
	}
}

static void
put_ports(struct cut *cut)
{
	bool host = cut->net == SBX_NET_PORTS || cut->net == SBX_NET_FULL;

	begin(cut, SBX_SECTION_PORTS);
	for (uint8_t op = 0; op < SBX_PORT_OP_END; op++) {
		if ((op < SBX_HOST_TCP) != host || cut->net == SBX_NET_NONE ||
		    cut->net == SBX_NET_LOOPBACK)
			continue;
		if (cut->net != SBX_NET_FULL)
			put_port_allows(cut, op);
		for (int i = 0; i < 2; i++)
			put_port_denies(cut, &cut->sides[i], op);
	}
	end(cut);
}

/* "b.a" is below "a". */
static bool
is_below(const char *name, const char *above)
{
	for (; *name != '\0'; name++) {
		if (*name == '.' && is_same(name + 1, above))
			return true;
	}
	return false;
}

/* The same rule with the strings where they are now. */
static struct sbx_name
name_of(const struct side *side, struct sbx_name rule)
{
	rule.name = string_of(side, rule.name);
	rule.method = string_of(side, rule.method);
	rule.path = string_of(side, rule.path);
	rule.secret = side->ceiling ? 0 : string_of(side, rule.secret);
	rule.variable = side->ceiling ? 0 : string_of(side, rule.variable);
	rule.source = source_of(side, rule.source);
	return rule;
}

/* Of two patterns the one that both are about: the same, or the one beside that for
 * all.  Of others it is not known what they have in common, and nothing is taken. */
static bool
meet_texts(const char *a, const char *b, const char *all, bool *takes_b)
{
	*takes_b = is_same(a, all);
	return *takes_b || is_same(b, all) || is_same(a, b);
}

static bool
meet_requests(const struct cut *cut, const struct sbx_name *own,
    const struct sbx_name *above, struct sbx_name *both)
{
	const struct sbx_blob *policy = cut->sides[0].blob,
			      *ceiling = cut->sides[1].blob;
	const struct sbx_name theirs = name_of(&cut->sides[1], *above);
	bool method = own->method == 0, path = method;

	if (above->method == 0)
		return true;
	if (own->method != 0 &&
	    (!meet_texts(sbx_string(policy, own->method),
		 sbx_string(ceiling, above->method), "*", &method) ||
		!meet_texts(sbx_string(policy, own->path),
		    sbx_string(ceiling, above->path), "/**", &path)))
		return false;
	if (method)
		both->method = theirs.method;
	if (path)
		both->path = theirs.path;
	return true;
}

/* The rule about the hosts that both are about; false: there are none.  A secret goes
 * where both say so. */
static bool
meet_names(const struct cut *cut, const struct sbx_name *own,
    const struct sbx_name *above, struct sbx_name *both)
{
	const struct side *policy = &cut->sides[0], *ceiling = &cut->sides[1];
	const char *a = sbx_string(policy->blob, own->name);
	const char *b = sbx_string(ceiling->blob, above->name);
	bool below_a = own->flags & SBX_NAME_BELOW;
	bool below_b = above->flags & SBX_NAME_BELOW;
	bool same = is_same(a, b), takes_b = false;

	if (same && below_a != below_b)
		return false;
	if (!same && below_a && is_below(b, a))
		takes_b = true;
	else if (!same && !(below_b && is_below(a, b)))
		return false;
	*both = name_of(policy, *own);
	if (takes_b)
		both->name = string_of(ceiling, above->name);
	both->flags = (takes_b ? above->flags : own->flags) & SBX_NAME_BELOW;
	both->flags |= own->flags & above->flags & SBX_NAME_PRIVATE;
	if (!is_same(sbx_string(policy->blob, own->secret),
		sbx_string(ceiling->blob, above->secret)))
		both->secret = both->variable = 0;
	if (!meet_requests(cut, own, above, both))
		return false;
	if (own->port == above->port)
		return true;
	both->port = own->port != 0 ? own->port : above->port;
	return (own->port == 0 || above->port == 0) &&
	    sbx_port_is_web(both->port);
}

static bool
opens_port(const struct cut *cut, const struct side *side, uint16_t port)
{
	return side->everything ||
	    sbx_verdict_allows(sbx_port_verdict(side->blob,
		cut->request->platform, SBX_CONNECT_TCP, port));
}

/* A rule of the one side, where the other knows no names, but ports. */
static void
put_open_name(struct cut *cut, const struct side *other, struct sbx_name rule)
{
	static const uint16_t web[] = { 80, 443 };
	bool open[2];

	for (size_t i = 0; i < countof(web); i++)
		open[i] = opens_port(cut, other, web[i]);
	if (rule.effect != SBX_ALLOW ||
	    (rule.port == 0 && open[0] && open[1]) ||
	    (rule.port != 0 && opens_port(cut, other, rule.port))) {
		put_bytes(cut, &rule, sizeof rule);
		return;
	}
	for (size_t i = 0; i < countof(web); i++) {
		if (rule.port != 0 || !open[i])
			continue;
		put_bytes(cut, &rule, sizeof rule);
		if (cut->fault->text == NULL)
			((struct sbx_name *)(void *)(cut->room + cut->used))[-1]
			    .port = web[i];
	}
}

static void
put_names_of(struct cut *cut, int index)
{
	const struct side *side = &cut->sides[index];
	const struct side *other = &cut->sides[1 - index];
	struct sbx_name both;

	for (uint32_t i = 0; i < side->blob->name_count; i++) {
		struct sbx_name rule = side->blob->names[i];

		if (!is_here(cut, rule.platforms))
			continue;
		if (rule.effect == SBX_ALLOW && !has_host_network(other)) {
			for (uint32_t j = 0;
			     index == 0 && j < other->blob->name_count; j++) {
				const struct sbx_name *above =
				    &other->blob->names[j];

				if (above->effect == SBX_ALLOW &&
				    is_here(cut, above->platforms) &&
				    meet_names(cut, &rule, above, &both))
					put_bytes(cut, &both, sizeof both);
			}
			continue;
		}
		rule = name_of(side, rule);
		if (has_host_network(other))
			put_open_name(cut, other, rule);
		else
			put_bytes(cut, &rule, sizeof rule);
	}
}

/* Heap sort: a pair of long lists has many rules, and there is no room beside. */
static void
sink(struct sbx_name *names, const char *strings, size_t at, size_t count)
{
	for (size_t child; (child = 2 * at + 1) < count; at = child) {
		struct sbx_name swapped = names[at];

		if (child + 1 < count &&
		    sbx_name_compare(strings + names[child].name,
			strings + names[child + 1].name) < 0)
			child++;
		if (sbx_name_compare(strings + swapped.name,
			strings + names[child].name) >= 0)
			return;
		names[at] = names[child];
		names[child] = swapped;
	}
}

static void
sort_names(struct sbx_name *names, const char *strings, size_t count)
{
	for (size_t i = count / 2; i-- > 0;)
		sink(names, strings, i, count);
	while (count-- > 1) {
		struct sbx_name last = names[count];

		names[count] = names[0];
		names[0] = last;
		sink(names, strings, 0, count);
	}
}

static void
put_names(struct cut *cut)
{
	const struct sbx_section *section = &cut->sections[cut->section_count];

	begin(cut, SBX_SECTION_NAMES);
	for (int i = 0; i < 2 && cut->net == SBX_NET_SELECTED; i++)
		put_names_of(cut, i);
	if (cut->fault->text == NULL)
		sort_names((void *)(cut->room + section->offset),
		    (const char *)cut->room + cut->sections[1].offset,
		    (cut->used - section->offset) / sizeof(struct sbx_name));
	end(cut);
}

static void
put_endpoint(struct cut *cut, struct sbx_endpoint rule,
    const struct range *range)
{
	struct range both = { rule.low, rule.high, rule.source };

	if (!meet(&both, range))
		return;
	rule.low = both.low;
	rule.high = both.high;
	put_bytes(cut, &rule, sizeof rule);
}

/* The allows about addresses, each with those of the other side. */
static void
put_endpoint_pairs(struct cut *cut, int index, struct sbx_endpoint rule)
{
	const struct side *other = &cut->sides[1 - index];
	struct range range;

	if (has_host_network(other)) {
		for (uint32_t i = 0;
		     next_range(cut, other, SBX_CONNECT_TCP, &i, &range);)
			put_endpoint(cut, rule, &range);
		return;
	}
	for (uint32_t i = 0; index == 0 && i < other->blob->endpoint_count;
	     i++) {
		const struct sbx_endpoint *above = &other->blob->endpoints[i];
		struct sbx_endpoint narrow = rule;

		if (above->effect != SBX_ALLOW ||
		    !is_here(cut, above->platforms) ||
		    !sbx_address_covers(above->prefix < rule.prefix ?
			    above->address :
			    rule.address,
			above->prefix < rule.prefix ? above->prefix :
						      rule.prefix,
			above->prefix < rule.prefix ? rule.address :
						      above->address))
			continue;
		if (above->prefix > rule.prefix) {
			__builtin_memcpy(narrow.address, above->address,
			    sizeof narrow.address);
			narrow.prefix = above->prefix;
		}
		put_endpoint(cut, narrow,
		    &(struct range){ above->low, above->high, 0 });
	}
}

static void
put_endpoints(struct cut *cut)
{
	begin(cut, SBX_SECTION_ENDPOINTS);
	for (int i = 0; i < 2 && cut->net == SBX_NET_SELECTED; i++) {
		const struct side *side = &cut->sides[i];

		for (uint32_t j = 0; j < side->blob->endpoint_count; j++) {
			struct sbx_endpoint rule = side->blob->endpoints[j];

			if (!is_here(cut, rule.platforms))
				continue;
			rule.source = source_of(side, rule.source);
			if (rule.effect == SBX_ALLOW)
				put_endpoint_pairs(cut, i, rule);
			else
				put_bytes(cut, &rule, sizeof rule);
		}
		/* A port that a side denies in the host's network. */
		for (uint32_t j = 0;
		     has_host_network(side) && j < side->blob->port_count;
		     j++) {
			const struct sbx_port *port = &side->blob->ports[j];

			if (port->effect == SBX_ALLOW ||
			    port->op != SBX_CONNECT_TCP || port->high == 0 ||
			    !is_here(cut, port->platforms))
				continue;
			PUT(cut, struct sbx_endpoint,
			    {
				.source = source_of(side, port->source),
				.low = port->low > 0 ? port->low : 1,
				.high = port->high,
				.effect = port->effect,
				.platforms = cut->request->platform,
			    });
		}
	}
	end(cut);
}

static const struct sbx_proxy *
find_proxy(const struct cut *cut, int side)
{
	const struct sbx_blob *blob = cut->sides[side].blob;

	for (uint32_t i = 0; i < blob->proxy_count; i++) {
		if (is_here(cut, blob->proxies[i].platforms))
			return &blob->proxies[i];
	}
	return NULL;
}

/* Whether the ceiling lets the policy go out by a service of the host. */
static bool
allows_proxy(const struct cut *cut, const struct sbx_proxy *own,
    const struct sbx_proxy *above)
{
	const struct side *policy = &cut->sides[0], *ceiling = &cut->sides[1];

	if (above == NULL)
		return ceiling->everything ||
		    (own->anchor == SBX_NO_ANCHOR &&
			sbx_verdict_allows(sbx_port_verdict(ceiling->blob,
			    cut->request->platform, SBX_HOST_TCP, own->port)));
	return own->anchor == above->anchor && own->port == above->port &&
	    is_same(sbx_string(policy->blob, own->suffix),
		sbx_string(ceiling->blob, above->suffix));
}

/* The ceiling's is taken by all. */
static void
put_proxy(struct cut *cut)
{
	const struct sbx_proxy *own = find_proxy(cut, 0),
			       *above = find_proxy(cut, 1);
	const struct side *side = &cut->sides[above != NULL];
	struct sbx_proxy proxy;

	if (cut->net != SBX_NET_SELECTED || (own == NULL && above == NULL))
		return;
	if (own != NULL && !allows_proxy(cut, own, above)) {
		fail(cut, "the ceiling does not let it go out by this proxy",
		    source_of(&cut->sides[0], own->source));
		return;
	}
	begin(cut, SBX_SECTION_PROXY);
	proxy = above != NULL ? *above : *own;
	proxy.suffix = string_of(side, proxy.suffix);
	proxy.source = source_of(side, proxy.source);
	put_bytes(cut, &proxy, sizeof proxy);
	end(cut);
}

/* --- system calls -------------------------------------------------------------- */

/* Words about calls: the stricter ones, of each name once. */
static void
put_syscalls(struct cut *cut)
{
	static const uint8_t strict[SBX_SYSCALL_END] = {
		[SBX_SYSCALL_ALLOW] = 0,
		[SBX_SYSCALL_ARGS] = 1,
		[SBX_SYSCALL_DENY] = 2,
	};
	uint32_t at[2] = { 0, 0 };

	begin(cut, SBX_SECTION_SYSCALLS);
	for (;;) {
		const struct sbx_syscall *calls[2] = { NULL, NULL };
		const char *names[2] = { NULL, NULL };
		struct sbx_syscall call;
		int order, from;

		for (int i = 0; i < 2; i++) {
			const struct sbx_blob *blob = cut->sides[i].blob;

			while (at[i] < blob->syscall_count &&
			    !is_here(cut, blob->syscalls[at[i]].platforms))
				at[i]++;
			if (at[i] == blob->syscall_count)
				continue;
			calls[i] = &blob->syscalls[at[i]];
			names[i] = sbx_string(blob, calls[i]->name);
		}
		if (calls[0] == NULL && calls[1] == NULL)
			break;
		order = calls[0] == NULL ? 1 :
		    calls[1] == NULL     ? -1 :
					   sbx_name_compare(names[0], names[1]);
		from = order > 0 ||
		    (order == 0 &&
			strict[calls[1]->verdict] > strict[calls[0]->verdict]);
		call = *calls[from];
		call.name = string_of(&cut->sides[from], call.name);
		call.reason = string_of(&cut->sides[from], call.reason);
		call.source = source_of(&cut->sides[from], call.source);
		put_bytes(cut, &call, sizeof call);
		at[0] += order <= 0;
		at[1] += order >= 0;
	}
	end(cut);
}

/* The filter of a side; one that has no network of its own has none for that. */
static const struct sbx_program *
select(const struct side *side, struct sbx_circumstances where)
{
	const struct sbx_program *program;

	if (side->everything)
		return NULL;
	program = sbx_program_select(side->blob, &where);
	if (program != NULL || !where.loopback)
		return program;
	where.loopback = false;
	return sbx_program_select(side->blob, &where);
}

/* What opens because of where it runs opens if both would open it. */
static uint32_t
pair_flags(const struct cut *cut, const struct pair *pair)
{
	const uint32_t opens = SBX_PROGRAM_UNIX | SBX_PROGRAM_NETLINK |
	    SBX_PROGRAM_TCP | SBX_PROGRAM_TRACE | SBX_PROGRAM_SET_ID;
	const struct sbx_program *programs[2] = { pair->first, pair->second };
	uint32_t flags = opens, listener = 0;

	for (int i = 0; i < 2; i++) {
		uint32_t own = programs[i] == NULL ? opens : programs[i]->flags;

		if (net_of(&cut->sides[i]) == SBX_NET_FULL &&
		    cut->net != SBX_NET_FULL)
			own |= SBX_PROGRAM_TCP;
		flags &= own;
		listener |= programs[i] == NULL ?
		    0 :
		    programs[i]->flags & SBX_PROGRAM_LISTENER;
	}
	if (cut->net == SBX_NET_NONE || cut->net == SBX_NET_FULL)
		flags &= ~(uint32_t)SBX_PROGRAM_TCP;
	return flags | listener;
}

static bool
is_sound(struct cut *cut, const struct side *side,
    const struct sbx_program *program)
{
	const struct sbx_insn *insns;

	if (program == NULL)
		return side->everything ||
		    fail(cut, "it has no filter for this machine",
			SBX_NO_SOURCE);
	/* A jump out of the one would lead into the other. */
	insns = side->blob->bpf + program->first;
	if (!bpf_is_runnable(insns, program->count))
		return fail(cut, "its filter cannot be run", SBX_NO_SOURCE);
	for (uint32_t i = 0; i < program->count; i++) {
		if (insns[i].code == RET_A ||
		    ((insns[i].code & 7) == (RET_K & 7) &&
			insns[i].code != RET_K))
			return fail(cut, "its filter answers what it computes",
			    SBX_NO_SOURCE);
	}
	return true;
}

static void
add_pair(struct cut *cut, struct pair *pairs, uint32_t *count,
    struct sbx_circumstances where)
{
	struct pair pair = {
		.first = select(&cut->sides[0], where),
		.second = select(&cut->sides[1], where),
	};

	/* Not every policy has one for every network. */
	if ((pair.first == NULL && !cut->sides[0].everything) ||
	    (pair.second == NULL && !cut->sides[1].everything))
		return;
	pair.flags = pair_flags(cut, &pair) |
	    (where.level == SBX_LEVEL_FULL ? SBX_PROGRAM_FULL : 0) |
	    (where.loopback ? SBX_PROGRAM_LOOPBACK : 0);
	for (uint32_t i = 0; i < *count; i++) {
		if (pairs[i].first == pair.first &&
		    pairs[i].second == pair.second &&
		    pairs[i].flags == pair.flags)
			return;
	}
	if (is_sound(cut, &cut->sides[0], pair.first) &&
	    is_sound(cut, &cut->sides[1], pair.second))
		pairs[(*count)++] = pair;
}

static uint32_t
action_of(const struct sbx_insn *insn)
{
	return insn->code == RET_K ? insn->k & ACTION_MASK : ACTION_ERRNO;
}

/* Whether the call goes on, as far as this filter is asked. */
static bool
goes_on(const struct sbx_insn *insn)
{
	switch (action_of(insn)) {
	case ACTION_KILL_PROCESS:
	case ACTION_KILL_THREAD:
	case ACTION_TRAP:
	case ACTION_ERRNO:
	case ACTION_NOTIFY:
		return false;
	}
	return true;
}

static bool
notifies(const struct sbx_blob *blob, const struct sbx_program *program)
{
	for (uint32_t i = 0; i < program->count; i++) {
		if (action_of(&blob->bpf[program->first + i]) == ACTION_NOTIFY)
			return true;
	}
	return false;
}

/* The second filter behind the first, and once more for calls that the first hands
 * to the listener: there they are handed on where the second allows them. */
static uint32_t
pair_size(const struct cut *cut, const struct pair *pair)
{
	const struct sbx_blob *blob = cut->sides[0].blob;
	uint32_t size = pair->first == NULL ? 0 : pair->first->count;

	if (pair->second == NULL)
		return size;
	size += pair->second->count;
	return pair->first != NULL && notifies(blob, pair->first) ?
	    size + pair->second->count :
	    size;
}

static void
put_first(struct cut *cut, const struct pair *pair)
{
	const struct sbx_insn *insns = cut->sides[0].blob->bpf +
	    pair->first->first;

	for (uint32_t i = 0; i < pair->first->count; i++) {
		struct sbx_insn insn = insns[i];
		uint32_t left = pair->first->count - i - 1;

		if (pair->second != NULL && goes_on(&insn))
			insn = (struct sbx_insn){ .code = JUMP, .k = left };
		else if (pair->second != NULL &&
		    action_of(&insn) == ACTION_NOTIFY)
			insn = (struct sbx_insn){ .code = JUMP,
				.k = left + pair->second->count };
		put_bytes(cut, &insn, sizeof insn);
	}
}

static void
put_second(struct cut *cut, const struct pair *pair, bool handed)
{
	const struct sbx_insn *insns = cut->sides[1].blob->bpf +
	    pair->second->first;

	for (uint32_t i = 0; i < pair->second->count; i++) {
		struct sbx_insn insn = insns[i];

		if (handed && goes_on(&insn))
			insn.k = ACTION_NOTIFY;
		put_bytes(cut, &insn, sizeof insn);
	}
}

static void
put_programs(struct cut *cut)
{
	struct pair pairs[PAIRS];
	uint32_t count = 0, first = 0;

	for (unsigned i = 0; i < 4; i++) {
		const struct sbx_circumstances standard = {
			.arch = cut->request->arch,
			.level = i < 2 ? SBX_LEVEL_STANDARD : SBX_LEVEL_MINIMAL,
			.landlock_abi = cut->request->landlock_abi,
			.listener = i == 0,
		};
		const struct sbx_circumstances full = {
			.arch = cut->request->arch,
			.level = SBX_LEVEL_FULL,
			.landlock_abi = cut->request->landlock_abi,
			.loopback = i < 2,
			.listener = i % 2 == 0,
		};

		if (i < 3)
			add_pair(cut, pairs, &count, standard);
		if (i >= 2 || sbx_net_is_own(cut->net))
			add_pair(cut, pairs, &count, full);
	}
	begin(cut, SBX_SECTION_PROGRAMS);
	for (uint32_t i = 0; i < count; i++) {
		const struct sbx_program *programs[2] = { pairs[i].first,
			pairs[i].second };
		struct sbx_program program = {
			.arch = cut->request->arch,
			.flags = pairs[i].flags,
			.first = first,
			.count = pair_size(cut, &pairs[i]),
		};

		for (int j = 0; j < 2; j++) {
			if (programs[j] != NULL &&
			    programs[j]->min_abi > program.min_abi)
				program.min_abi = programs[j]->min_abi;
		}
		if (program.count > SBX_MAX_INSNS)
			fail(cut,
			    "policy and ceiling make a filter that is "
			    "too long",
			    SBX_NO_SOURCE);
		first += program.count;
		put_bytes(cut, &program, sizeof program);
	}
	end(cut);
	begin(cut, SBX_SECTION_BPF);
	for (uint32_t i = 0; i < count; i++) {
		if (pairs[i].first != NULL)
			put_first(cut, &pairs[i]);
		if (pairs[i].second == NULL)
			continue;
		put_second(cut, &pairs[i], false);
		if (pairs[i].first != NULL &&
		    notifies(cut->sides[0].blob, pairs[i].first))
			put_second(cut, &pairs[i], true);
	}
	end(cut);
}

/* --- all of it ------------------------------------------------------------------ */

static void
put_sections(struct cut *cut)
{
	put_meta(cut);
	put_strings(cut);
	put_anchors(cut);
	put_paths(cut);
	put_ports(cut);
	put_limits(cut);
	put_env(cut);
	put_set(cut);
	put_landlock(cut);
	put_programs(cut);
	put_syscalls(cut);
	put_sources(cut);
	put_watches(cut);
	put_sockets(cut);
	put_names(cut);
	put_endpoints(cut);
	put_proxy(cut);
	pad(cut);
}

size_t
sbx_cut(const struct sbx_cut_request *request, void *room, size_t size,
    struct sbx_cut_fault *fault)
{
	const struct sbx_blob *policy = request->policy,
			      *ceiling = request->ceiling;
	struct cut cut = {
		.sides = { { .blob = policy },
		    {
			.blob = ceiling,
			.strings = policy->strings_size,
			.sources = policy->source_count,
			.ceiling = true,
		    } },
		.request = request,
		.fault = fault,
		.room = room,
		.size = size,
		.used = sizeof(struct sbx_header),
		.exclusions = policy->exclusion_count,
	};
	struct sbx_header *header = room;
	size_t begin;

	*fault = (struct sbx_cut_fault){ NULL, SBX_NO_SOURCE };
	for (int i = 0; i < 2; i++)
		cut.sides[i].everything = (cut.sides[i].blob->meta->flags &
					      SBX_EVERYTHING) != 0;
	cut.net = less_network(net_of(&cut.sides[0]), net_of(&cut.sides[1]));
	begin = cut.used + SBX_SECTION_END * sizeof(struct sbx_section);
	if (size < begin || size > SBX_MAX_SIZE)
		return 0;
	__builtin_memset(room, 0, begin);
	cut.sections = (void *)(header + 1);
	cut.used = begin;
	put_sections(&cut);
	if (fault->text != NULL)
		return 0;
	/* The table has as many as there are: what follows moves up to it. */
	begin -= sizeof *header + cut.section_count * sizeof *cut.sections;
	for (uint32_t i = 0; i < cut.section_count; i++)
		cut.sections[i].offset -= (uint32_t)begin;
	__builtin_memmove(cut.sections + cut.section_count,
	    (uint8_t *)(cut.sections + cut.section_count) + begin,
	    cut.used - begin - sizeof *header -
		cut.section_count * sizeof *cut.sections);
	cut.used -= begin;
	__builtin_memcpy(header->magic, SBX_MAGIC, sizeof header->magic);
	header->version = SBX_FORMAT;
	header->min_reader = SBX_FORMAT_MIN_READER;
	header->size = (uint32_t)cut.used;
	header->section_count = cut.section_count;
	header->sum = sbx_checksum(header, cut.used);
	return cut.used;
}
