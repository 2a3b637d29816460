#include "tests/model/universe.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

bool
wrong(struct pair *pair, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(pair->fault, sizeof pair->fault, format, args);
	va_end(args);
	return false;
}

/* A variable that is not the caller's: the policy sets it, or sbxrun. */
static bool
is_given(const struct verdict *verdict)
{
	return verdict->by == BY_SET || verdict->by == BY_SCRATCH ||
	    verdict->by == BY_AGENT || verdict->by == BY_SBXRUN;
}

static bool
is_about_network(const struct sbx_blob *blob, const struct sbx_syscall *call)
{
	return strcmp(sbx_string(blob, call->reason), "network") == 0;
}

/* Whether filters differ in how they enforce what other rules say. */
static bool
is_enforcement(const struct subject subjects[SIDE_COUNT],
    const struct access *access)
{
	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		const struct sbx_blob *blob = subjects[side].places.blob;
		const struct sbx_syscall *call = verdict_syscall(blob,
		    subjects[side].arch, access->name);

		if ((blob->meta->flags & SBX_EVERYTHING) ||
		    (call != NULL && call->source != SBX_NO_SOURCE &&
			!is_about_network(blob, call)))
			return false;
	}
	return true;
}

/* A socket of the internet, of which a rule about ports or hosts tells; or of
 * netlink, which opens with the network or with /proc. */
static bool
is_implied(const struct comparison *comparison, const struct access *access,
    enum change change)
{
	if (strcmp(access->name, "socket") != 0 || access->arg_count == 0 ||
	    access->args[0] == 1)
		return true;
	for (size_t i = 0; i < comparison->differences.count; i++) {
		const struct difference *difference =
		    &comparison->differences.items[i];

		if (difference->change == change &&
		    ((difference->kind == DIFFERENCE_PATH &&
			 access->args[0] == AF_NETLINK) ||
			difference->kind == DIFFERENCE_PORT ||
			difference->kind == DIFFERENCE_DOMAIN ||
			difference->kind == DIFFERENCE_ENDPOINT ||
			difference->kind == DIFFERENCE_SYSCALL))
			return true;
	}
	return false;
}

/* More of it is wider: what reaches further, and what is the caller's own. */
static int
grade(const struct subject *subject, const struct access *access)
{
	const struct sbx_meta *meta = subject->places.blob->meta;
	struct subject alone = *subject;
	struct verdict verdict;

	alone.policy_alone = access->kind == KIND_ENV;
	verdict = verdict_of(&alone, access);
	if (!verdict.allowed || is_given(&verdict))
		return 0;
	if (access->kind == KIND_PORT && meta->net == SBX_NET_LOOPBACK &&
	    !(meta->flags & SBX_EVERYTHING))
		return 1;
	return 2;
}

/* What NEW sets instead of the caller's is no change, nor what sbxrun sets in
 * both. */
static void
set_aside(const struct subject subjects[SIDE_COUNT],
    const struct access *access, int grades[SIDE_COUNT])
{
	struct verdict old, new;

	if (access->kind != KIND_ENV)
		return;
	old = verdict_of(&subjects[SIDE_OLD], access);
	new = verdict_of(&subjects[SIDE_NEW], access);
	if (new.by == BY_SET ||
	    (old.by >= BY_SCRATCH && old.by <= BY_SBXRUN &&
		new.by >= BY_SCRATCH &&new.by <= BY_SBXRUN))
		grades[SIDE_NEW] = grades[SIDE_OLD];
}

/* Both policies in the circumstances of a difference. */
static void
subjects_make(const struct pair *pair, const struct difference *platforms,
    struct subject subjects[SIDE_COUNT])
{
	for (unsigned side = 0; side < SIDE_COUNT; side++)
		subjects[side] = comparison_subject(&pair->comparison,
		    platforms, (enum side)side, pair->arena);
}

/* Whether it is such a change; where a search is cut short, it may be one. */
static bool
is_change(const struct difference *difference, enum change sure,
    enum change maybe)
{
	return difference->change == (difference->cut ? maybe : sure);
}

bool
is_undecided(const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->differences.count; i++) {
		const struct difference *difference =
		    &comparison->differences.items[i];

		if (difference->change > CHANGE_NEUTRAL &&
		    !(difference->cut && difference->witnessed))
			return true;
	}
	return false;
}

bool
check_witness(struct pair *pair, const struct difference *difference)
{
	struct subject subjects[SIDE_COUNT];
	int grades[SIDE_COUNT], more;

	if (!difference->witnessed)
		return true;
	subjects_make(pair, difference, subjects);
	for (unsigned side = 0; side < SIDE_COUNT; side++)
		grades[side] = grade(&subjects[side], &difference->access);
	set_aside(subjects, &difference->access, grades);
	more = (grades[SIDE_NEW] > grades[SIDE_OLD]) -
	    (grades[SIDE_NEW] < grades[SIDE_OLD]);
	if (more ==
	    is_change(difference, CHANGE_WIDER, CHANGE_MAYBE_WIDER) -
		is_change(difference, CHANGE_NARROWER, CHANGE_MAYBE_NARROWER))
		return true;
	return wrong(pair, "%s '%s' is no witness: %d, then %d",
	    change_word(difference->change), difference->what, grades[SIDE_OLD],
	    grades[SIDE_NEW]);
}

static const struct sbx_syscall *
record(const struct sbx_blob *blob, uint8_t platforms, const char *name)
{
	for (uint32_t i = 0; i < blob->syscall_count; i++) {
		if ((blob->syscalls[i].platforms & platforms) != 0 &&
		    strcmp(sbx_string(blob, blob->syscalls[i].name), name) == 0)
			return &blob->syscalls[i];
	}
	return NULL;
}

/* Whether the rule that was named speaks of the path, too. */
static bool
path_explained(const struct difference *difference,
    const struct subject *subject, const struct access *access)
{
	const struct sbx_blob *blob = subject->places.blob;
	struct place_rules rules;

	if (difference->access.detail != access->detail)
		return false;
	if (difference->by == BY_EVERYTHING)
		return true;
	places_rules_over(&subject->places, subject->arch->platforms,
	    access->path, &rules);
	for (size_t i = 0; i < rules.count; i++) {
		if (rules.paths[i] == &blob->paths[difference->rule] &&
		    sbx_rule_covers(&rules.rules[i], access->path))
			return true;
	}
	return false;
}

static bool
port_explained(const struct difference *difference,
    const struct subject *subject, const struct access *access)
{
	const struct sbx_port *rule;

	if (difference->access.detail != access->detail)
		return false;
	if (difference->by != BY_PORT)
		return true;
	rule = &subject->places.blob->ports[difference->rule];
	return access->port >= rule->low && access->port <= rule->high;
}

static bool
env_explained(const struct difference *difference,
    const struct subject *subject, const struct access *access)
{
	const struct sbx_blob *blob = subject->places.blob;

	if (difference->by == BY_EVERYTHING)
		return true;
	if (difference->by != BY_ENV)
		return strcmp(access->name, difference->access.name) == 0;
	return sbx_pattern_match(sbx_string(blob,
				     blob->env[difference->rule].pattern),
	    access->name, strlen(access->name));
}

static bool
syscall_explained(const struct difference *difference,
    const struct subject *subject, const struct access *access)
{
	const struct sbx_blob *blob = subject->places.blob;
	const struct sbx_syscall *own, *named;

	if (difference->by == BY_EVERYTHING)
		return true;
	own = record(blob, subject->arch->platforms, access->name);
	named = record(blob, subject->arch->platforms, difference->access.name);
	if (baseline_arguments(access->name) != NULL &&
	    baseline_arguments(access->name) ==
		baseline_arguments(difference->access.name))
		return true;
	if (own == NULL || named == NULL)
		return strcmp(access->name, difference->access.name) == 0;
	return own->source == named->source && own->reason == named->reason;
}

static bool
is_explained(const struct pair *pair, const struct difference *difference,
    const struct subject subjects[SIDE_COUNT], const struct access *access,
    enum change change)
{
	static bool (*const explained[])(const struct difference *,
	    const struct subject *, const struct access *) = {
		[DIFFERENCE_PATH] = path_explained,
		[DIFFERENCE_PORT] = port_explained,
		[DIFFERENCE_SYSCALL] = syscall_explained,
		[DIFFERENCE_ENV] = env_explained,
	};

	(void)pair;
	/* To start processes is one difference, whatever calls do it. */
	if (access->kind == KIND_SYSCALL &&
	    difference->kind == DIFFERENCE_BLANKET &&
	    difference->change == change &&
	    strcmp(difference->what, "new processes") == 0)
		return true;
	return difference->kind <= DIFFERENCE_ENV && difference->witnessed &&
	    (difference->change == change ||
		(difference->cut && subjects[SIDE_OLD].cut &&
		    is_change(difference, change,
			change == CHANGE_WIDER ? CHANGE_MAYBE_WIDER :
						 CHANGE_MAYBE_NARROWER))) &&
	    difference->access.kind == access->kind &&
	    (difference->platforms & subjects[SIDE_OLD].arch->platforms) != 0 &&
	    explained[difference->kind](difference,
		&subjects[difference->cause], access);
}

/* Whether globs, or patterns of variables, left it open. */
static bool
is_undecided_by(const struct comparison *comparison, enum difference_kind kind,
    enum change change)
{
	enum change maybe = change == CHANGE_WIDER ? CHANGE_MAYBE_WIDER :
						     CHANGE_MAYBE_NARROWER;

	for (size_t i = 0; i < comparison->differences.count; i++) {
		const struct difference *difference =
		    &comparison->differences.items[i];

		if (difference->kind == kind && difference->change == maybe &&
		    !difference->witnessed)
			return true;
	}
	return false;
}

/* One access of the universe. */
bool
check_access(struct pair *pair, const struct subject subjects[SIDE_COUNT],
    const struct access *access)
{
	const struct comparison *comparison = &pair->comparison;
	int grades[SIDE_COUNT] = { grade(&subjects[SIDE_OLD], access),
		grade(&subjects[SIDE_NEW], access) };
	int old, new;
	enum change change;

	set_aside(subjects, access, grades);
	old = grades[SIDE_OLD];
	new = grades[SIDE_NEW];
	change = new > old ? CHANGE_WIDER : CHANGE_NARROWER;

	if (old == new ||
	    (access->kind == KIND_SYSCALL && is_enforcement(subjects, access) &&
		is_implied(comparison, access, change)))
		return true;
	for (size_t i = 0; i < comparison->differences.count; i++) {
		if (is_explained(pair, &comparison->differences.items[i],
			subjects, access, change))
			return true;
	}
	if ((access->kind == KIND_PATH || access->kind == KIND_ENV) &&
	    is_undecided_by(comparison, (enum difference_kind)access->kind,
		change))
		return true;
	return wrong(pair, "%s '%s' was not reported (%s, level %d, ABI %d)",
	    change_word(change), access_text(pair->arena, access),
	    subjects[SIDE_OLD].arch->name, subjects[SIDE_OLD].level,
	    subjects[SIDE_OLD].abi);
}

/* Where anchors may lie; some are places of the policies. */
static const char *const anchor_places[] = {
	"/home/user/project",
	"/home/user",
	"/home",
	"/srv/project",
	"/srv",
	"/home/entry",
	"/a",
	"/a/ab",
	"/home/user/a",
	"/srv/a.p/b",
	"/home/user/.e",
};

/* One anchor anywhere, the others as they usually lie. */
static void
binding_make(struct pair *pair, struct chance *chance, struct binding *binding)
{
	struct bound_param *own = arena_alloc(pair->arena, 2 * sizeof *own);
	const char *place = PICK(chance, anchor_places);

	*binding = (struct binding){
		.workspace = anchor_places[0],
		.home = anchor_places[1],
		.own = own,
	};
	if (chance_percent(chance, 30))
		binding->workspace = place;
	else if (chance_percent(chance, 30))
		binding->home = place;
	else if (chance_percent(chance, 30))
		binding->other_home = "/home/entry";
	else if (chance_percent(chance, 50))
		*own = (struct bound_param){ "p", place };
}

static const char *const roots[] = {
	"",
	"/home",
	"/home/user",
	"/home/user/project",
	"/srv/project",
	"/home/entry",
	"/a",
	"/srv",
	"/${p}",
};

static const char *const steps[] = {
	"a",
	"ab",
	"b",
	".e",
	"a.p",
	"x",
	"bb",
	".p",
	"user",
};

static bool
check_path(struct pair *pair, const struct subject subjects[SIDE_COUNT],
    const char *path)
{
	for (uint8_t right = SBX_READ; right <= SBX_EXEC; right <<= 1) {
		struct access access = {
			.kind = KIND_PATH,
			.detail = right,
			.path = { path, (uint32_t)strlen(path) },
		};

		if (!check_access(pair, subjects, &access))
			return false;
	}
	return true;
}

/* All paths up to two names below a root, and some of up to four. */
static bool
check_root(struct pair *pair, struct chance *chance,
    const struct subject subjects[SIDE_COUNT], const char *root)
{
	struct arena *arena = pair->arena;

	if (!check_path(pair, subjects, root))
		return false;
	for (size_t i = 0; i < countof(steps); i++) {
		const char *one = arena_printf(arena, "%s/%s", root, steps[i]);
		const char *two = arena_printf(arena, "%s/%s", one,
		    PICK(chance, steps));
		const char *three = arena_printf(arena, "%s/%s", two,
		    PICK(chance, steps));

		if (!check_path(pair, subjects, one) ||
		    !check_path(pair, subjects, two) ||
		    !check_path(pair, subjects, three) ||
		    !check_path(pair, subjects,
			arena_printf(arena, "%s/%s", three,
			    PICK(chance, steps))))
			return false;
	}
	return true;
}

static unsigned
floor_of(const struct pair *pair)
{
	unsigned floor = SBX_LEVEL_MINIMAL;

	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		unsigned own = pair->comparison.blobs[side]->meta->level;

		floor = own > floor ? own : floor;
	}
	return floor;
}

bool
check_paths(struct pair *pair, struct chance *chance)
{
	struct binding binding;
	struct difference platforms = {
		.binding = &binding,
		.level = SBX_LEVEL_FULL,
		.platforms = arches[chance_below(chance, arch_count)].platforms,
	};
	struct subject subjects[SIDE_COUNT];

	/* `prefer deny write` does not hold there. */
	if (floor_of(pair) <= SBX_LEVEL_STANDARD && chance_percent(chance, 50))
		platforms.level = SBX_LEVEL_STANDARD;
	/* Nor does what a search that is cut short has not found. */
	platforms.cut = chance_percent(chance, 20);
	binding_make(pair, chance, &binding);
	subjects_make(pair, &platforms, subjects);
	for (size_t i = 0; i < countof(roots); i++) {
		if (!check_root(pair, chance, subjects, roots[i]))
			return false;
	}
	return check_root(pair, chance, subjects,
		   PICK(chance, anchor_places)) &&
	    check_root(pair, chance, subjects,
		subjects[SIDE_OLD].places.anchors[SBX_ANCHOR_TMP].path);
}

/* A level at which both run, and an ABI with which they do. */
static void
circumstances(const struct pair *pair, struct chance *chance, bool abis,
    struct subject subjects[SIDE_COUNT])
{
	unsigned floor = floor_of(pair);
	struct difference platforms = {
		.level = (enum sbx_level)(
		    floor + chance_below(chance, SBX_LEVEL_FULL - floor + 1)),
		.platforms = arches[chance_below(chance, arch_count)].platforms,
	};
	int least = platforms.level == SBX_LEVEL_FULL ? 4 : 1;

	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		int own = pair->comparison.blobs[side]->meta->landlock;

		least = own > least ? own : least;
	}
	if (abis && chance_percent(chance, 60))
		platforms.abi = least +
		    (int)chance_below(chance, (size_t)(11 - least));
	subjects_make(pair, &platforms, subjects);
}

bool
check_ports(struct pair *pair, struct chance *chance)
{
	static const uint16_t ports[] = {
		0,
		1,
		2,
		21,
		22,
		23,
		79,
		80,
		81,
		82,
		442,
		443,
		444,
		7999,
		8000,
		8001,
		65534,
		65535,
	};
	struct subject subjects[SIDE_COUNT];

	circumstances(pair, chance, false, subjects);
	for (size_t i = 0; i < 2 * countof(ports); i++) {
		struct access access = {
			.kind = KIND_PORT,
			.detail = i % 2,
			.port = ports[i / 2],
		};

		if (!check_access(pair, subjects, &access))
			return false;
	}
	return true;
}

bool
check_env(struct pair *pair, struct chance *chance)
{
	static const char letters[] = "AB_XY";
	struct subject subjects[SIDE_COUNT];

	circumstances(pair, chance, false, subjects);
	for (unsigned i = 1; i < 5 * 5 * 5 * 5; i++) {
		char name[5] = "";
		struct access access = { .kind = KIND_ENV, .name = name };
		unsigned rest = i;

		for (size_t len = 0; rest > 0; rest /= 5)
			name[len++] = letters[rest % 5];
		if (!check_access(pair, subjects, &access))
			return false;
	}
	return true;
}

/* What arguments may mean to a filter, and what they may not. */
static void
choose_arguments(struct chance *chance, struct access *access)
{
	static const uint32_t values[] = {
		0,
		1,
		2,
		3,
		5,
		6,
		7,
		10,
		16,
		0x5412,
		0x541c,
		0x20000000,
		0x10000000,
		0x60008,
		0x7e020000,
		0x20000,
		0xffffffff,
		0x80001,
		0x802,
		99,
	};

	access->arg_count = (uint8_t)chance_below(chance, 5);
	for (unsigned i = 0; i < access->arg_count; i++)
		access->args[i] = PICK(chance, values);
}

bool
check_calls(struct pair *pair, struct chance *chance)
{
	static const char *const calls[] = {
		"mount",
		"pivot_root",
		"add_key",
		"swapon",
		"ptrace",
		"socket",
		"personality",
		"clone",
		"clone3",
		"listen",
		"ioctl",
		"sendto",
		"prlimit64",
		"unshare",
		"setns",
		"socketpair",
		"settimeofday",
		"read",
		"io_uring_setup",
		"process_vm_readv",
		"sendmsg",
	};
	struct subject subjects[SIDE_COUNT];

	for (unsigned i = 0; i < 120; i++) {
		struct access access = {
			.kind = KIND_SYSCALL,
			.name = PICK(chance, calls),
		};

		if (i % 20 == 0)
			circumstances(pair, chance, true, subjects);
		choose_arguments(chance, &access);
		if (i % 10 != 0 && access.arg_count == 0)
			access.arg_count = 1;
		if (!check_access(pair, subjects, &access))
			return false;
	}
	return true;
}

static bool
is_reported(const struct pair *pair, enum difference_kind kind,
    enum change change)
{
	const struct comparison *comparison = &pair->comparison;

	for (size_t i = 0; i < comparison->differences.count; i++) {
		if (comparison->differences.items[i].kind == kind &&
		    comparison->differences.items[i].change == change)
			return true;
	}
	return false;
}

/* One number of each: larger is wider. */
static bool
check_number(struct pair *pair, enum difference_kind kind, uint64_t old,
    uint64_t new)
{
	if (is_reported(pair, kind, CHANGE_WIDER) == (new > old) &&
	    is_reported(pair, kind, CHANGE_NARROWER) == (new < old))
		return true;
	return wrong(pair, "%s: %ju, then %ju", difference_word(kind),
	    (uintmax_t)old, (uintmax_t) new);
}

static bool
check_limits(struct pair *pair)
{
	bool wider = false, narrower = false;

	for (int kind = 0; kind < SBX_LIMIT_END; kind++) {
		uint64_t values[SIDE_COUNT] = { UINT64_MAX, UINT64_MAX };

		for (unsigned side = 0; side < SIDE_COUNT; side++) {
			const struct sbx_blob *blob =
			    pair->comparison.blobs[side];

			for (uint32_t i = 0; i < blob->limit_count; i++) {
				if (blob->limits[i].kind == kind)
					values[side] = blob->limits[i].value;
			}
		}
		wider |= values[SIDE_NEW] > values[SIDE_OLD];
		narrower |= values[SIDE_NEW] < values[SIDE_OLD];
	}
	if (is_reported(pair, DIFFERENCE_LIMIT, CHANGE_WIDER) == wider &&
	    is_reported(pair, DIFFERENCE_LIMIT, CHANGE_NARROWER) == narrower)
		return true;
	return wrong(pair, "limits: wider %d, narrower %d", wider, narrower);
}

bool
check_settings(struct pair *pair)
{
	const struct sbx_meta *old = pair->comparison.blobs[SIDE_OLD]->meta;
	const struct sbx_meta *new = pair->comparison.blobs[SIDE_NEW]->meta;
	uint32_t all = SBX_SIGNAL_ANYWHERE | SBX_ABSTRACT_ANYWHERE |
	    SBX_NO_SPAWN;
	/* To spawn is free unless its flag says that it is not. */
	uint32_t before = old->flags & SBX_EVERYTHING ?
	    all :
	    (old->flags ^ SBX_NO_SPAWN) & all;
	uint32_t after = new->flags &SBX_EVERYTHING ?
	    all :
	    (new->flags ^ SBX_NO_SPAWN) & all;

	return check_number(pair, DIFFERENCE_LEVEL, new->level, old->level) &&
	    check_number(pair, DIFFERENCE_LANDLOCK, new->landlock,
		old->landlock) &&
	    (is_reported(pair, DIFFERENCE_BLANKET, CHANGE_WIDER) ==
		    ((after & ~before) != 0) ||
		wrong(pair, "scopes")) &&
	    (is_reported(pair, DIFFERENCE_BLANKET, CHANGE_NARROWER) ==
		    ((before & ~after) != 0) ||
		wrong(pair, "scopes")) &&
	    check_limits(pair);
}
