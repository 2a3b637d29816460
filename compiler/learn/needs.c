/*
 * What runs wanted and a policy does not give: each need once, in the words of
 * the language, with who had it; and how needs become few rules.
 */
#include "compiler/learn/learn.h"
#include "compiler/query/why.h"
#include "compiler/tables/tables.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { GIVEN_MAX = 64 };

const char *
wish_word(enum wish_kind kind)
{
	static const char *const words[WISH_KINDS] = { "read", "write", "exec",
		"socket", "connect", "listen", "syscall", "domain" };

	return words[kind];
}

struct subject
run_subject(const struct base *base, const struct run *run, struct arena *arena)
{
	static const char nowhere[] = "/nonexistent";
	struct subject subject = { .arch = &arches[0], .level = run->level };
	const char *workspace = run_anchor(run, "workspace");
	const char *home = run_anchor(run, "home");
	const char *runtime = run_anchor(run, "runtime");
	const char *tmp = run_anchor(run, "tmp");
	struct places *places = &subject.places;

	places_init(places, arena, &base->blob,
	    workspace != NULL ? workspace : nowhere,
	    home != NULL ? home : nowhere);
	places_bind(places, SBX_ANCHOR_RUNTIME,
	    runtime != NULL ? runtime : nowhere);
	if (tmp != NULL)
		places_bind(places, SBX_ANCHOR_TMP, tmp);
	for (size_t i = 0; i < run->anchors.count; i++) {
		const struct run_anchor *anchor = &run->anchors.items[i];

		if (places_param(&base->blob, anchor->name) != 0)
			places_define(places, anchor->name, anchor->path);
	}
	return subject;
}

/* --- one need ------------------------------------------------------------- */

static void
add_program(struct needs *needs, struct need *need, const char *name,
    uint64_t count)
{
	for (size_t i = 0; i < need->programs.count; i++) {
		if (need->programs.items[i].name == name) {
			need->programs.items[i].count += count;
			return;
		}
	}
	*arena_push(needs->arena,
	    &need->programs) = (struct need_program){ name, count };
}

/* Both lists are in order. */
static void
join_runs(struct needs *needs, struct need *need, const struct need *other)
{
	struct need joined = { .count = 0 };
	size_t i = 0, j = 0;

	while (i < need->runs.count || j < other->runs.count) {
		size_t a = i < need->runs.count ? need->runs.items[i] :
						  SIZE_MAX;
		size_t b = j < other->runs.count ? other->runs.items[j] :
						   SIZE_MAX;

		*arena_push(needs->arena, &joined.runs) = a < b ? a : b;
		i += a <= b;
		j += b <= a;
	}
	memcpy(&need->runs, &joined.runs, sizeof need->runs);
}

/* As join_runs() for the run that is looked at, which is the last. */
static void
note_run(struct needs *needs, struct need *need, size_t run)
{
	size_t count = need->runs.count;

	if (count == 0 || need->runs.items[count - 1] != run)
		*arena_push(needs->arena, &need->runs) = run;
}

void
need_join(struct needs *needs, struct need *need, const struct need *other)
{
	need->count += other->count;
	need->probe &= other->probe;
	need->make_first &= other->make_first;
	join_runs(needs, need, other);
	for (size_t i = 0; i < other->programs.count; i++)
		add_program(needs, need, other->programs.items[i].name,
		    other->programs.items[i].count);
}

/* One of each, in the order in which they came. */
static struct need *
find_or_add(struct needs *needs, const struct need *need)
{
	const char *key = arena_printf(needs->arena, "%d%d%s", need->kind,
	    need->reason != NULL, need->object);
	size_t before = needs->by_key.keys.count;
	bool added;
	size_t at = map_number(needs->arena, &needs->by_key, key, strlen(key),
	    &added);

	if (before == at)
		*arena_push(needs->arena, &needs->list) = *need;
	return &needs->list.items[at];
}

void
looking_add(const struct looking *looking, struct need need)
{
	struct needs *needs = looking->needs;
	const struct wish *wish = looking->wish;
	struct need *added;

	need.kind = wish->kind;
	need.probe = wish->probe;
	added = find_or_add(needs, &need);
	added->count += wish->count;
	added->probe &= wish->probe;
	added->make_first &= need.make_first;
	note_run(needs, added, looking->run);
	if (wish->program != NULL)
		add_program(needs, added, wish->program, wish->count);
}

struct verdict
looking_ask(const struct looking *looking, const char *const *words,
    size_t count, const char **fault)
{
	struct access access;

	*fault = access_parse(&looking->subject->places, words, count, &access);
	return *fault == NULL ? verdict_of(looking->subject, &access) :
				(struct verdict){ .allowed = false };
}

const char *
looking_kept_by(const struct looking *looking, const struct verdict *verdict)
{
	struct arena *arena = looking->needs->arena;
	const struct sbx_blob *blob = &looking->needs->base->blob;
	const char *rule = verdict->by == BY_NOTHING ?
	    NULL :
	    decider_text(arena, blob, verdict);

	const char *where;

	if (rule == NULL)
		return NULL;
	/* Of what is shipped the group says more than the line. */
	where = verdict->source == SBX_NO_SOURCE ?
	    NULL :
	    show_source_text(arena, blob, verdict->source);
	if (where != NULL && strncmp(where, "sbx:", 4) == 0)
		where = show_via(blob, verdict->source);
	return where == NULL ?
	    arena_printf(arena, "kept by '%s'", rule) :
	    arena_printf(arena, "kept by '%s' (%s)", rule, where);
}

/* --- paths ---------------------------------------------------------------- */

static struct verdict
path_says(const struct looking *looking, struct sbx_place at)
{
	static const uint8_t rights[] = { SBX_READ, SBX_WRITE, SBX_EXEC };
	const struct access access = {
		.kind = KIND_PATH,
		.detail = rights[looking->wish->kind],
		.path = at,
		.outside = true,
	};

	return verdict_of(looking->subject, &access);
}

static struct sbx_place
parent_of(struct sbx_place at)
{
	while (at.len > 0 && at.path[--at.len] != '/')
		;
	return at;
}

static bool
is_proc(struct sbx_place at)
{
	static const struct sbx_place proc = { "/proc", 5 };

	return sbx_covers(proc, at);
}

/* Some of what is given, for tests: the first of each right in each tree. */
static void
note_given(const struct looking *looking, struct sbx_place at)
{
	struct needs *needs = looking->needs;
	const char *object = places_spell(&looking->subject->places, at);
	size_t top = *object == '/' ? 1 + strcspn(object + 1, "/") :
				      strcspn(object, "/");
	const char *key;
	bool added;

	if (needs->given.count == GIVEN_MAX || looking->wish->below)
		return;
	top += *object == '~' && object[top] == '/' ?
	    1 + strcspn(object + top + 1, "/") :
	    0;
	key = arena_printf(needs->arena, "%d%.*s", looking->wish->kind,
	    (int)top, object);
	map_number(needs->arena, &needs->given_keys, key, strlen(key), &added);
	if (added)
		*arena_push(needs->arena, &needs->given) = (struct need){
			.kind = looking->wish->kind,
			.object = object,
		};
}

/* What the last run was denied, and is allowed. */
static void
note_late(const struct looking *looking, struct sbx_place at)
{
	struct needs *needs = looking->needs;
	const struct wish *wish = looking->wish;

	if (wish->denied && !wish->probe && needs->late == NULL &&
	    looking->run + 1 == needs->records->runs.count)
		needs->late = arena_printf(needs->arena, "%s %s",
		    wish_word(wish->kind),
		    places_spell(&looking->subject->places, at));
}

/* The view of level full has the directories above what is allowed. */
static bool
is_shown(const struct looking *looking, struct sbx_place at)
{
	struct place_rules rules;

	if (looking->wish->denied || looking->wish->kind != WISH_READ ||
	    looking->subject->level != SBX_LEVEL_FULL)
		return false;
	places_rules(&looking->subject->places,
	    looking->subject->arch->platforms, &rules);
	for (size_t i = 0; i < rules.count; i++) {
		if (rules.rules[i].effect == SBX_ALLOW &&
		    sbx_covers(at, rules.rules[i].at))
			return true;
	}
	return false;
}

static void
look_at_path(const struct looking *looking, struct sbx_place at, bool makes)
{
	struct arena *arena = looking->needs->arena;
	struct sbx_place directory = parent_of(at);
	struct verdict verdict = path_says(looking, at);
	bool allowed = verdict.allowed;

	if (is_proc(at))
		return;
	if (allowed && makes) {
		directory.path = arena_strndup(arena, at.path, directory.len);
		verdict = path_says(looking, directory);
	}
	if (verdict.allowed) {
		note_given(looking, at);
		note_late(looking, at);
		return;
	}
	if (is_shown(looking, at))
		return;
	looking_add(looking,
	    (struct need){
		.object = places_spell(&looking->subject->places, at),
		.seen = places_spell(&looking->subject->places,
		    allowed ? directory : at),
		.reason = looking_kept_by(looking, &verdict),
		.makes = makes,
		.allowed = allowed,
		.make_first = makes,
	    });
}

static struct sbx_place
place_of(const char *path)
{
	return (struct sbx_place){ path,
		path[1] == '\0' ? 0 : (uint32_t)strlen(path) };
}

/* A script is run by its interpreter, and a program by its dynamic linker, which
 * no call names: this machine says which. */
static void
look_at_program(struct looking *looking)
{
	const struct wish *wish = looking->wish;
	const char *by = here_interpreter(looking->needs->arena, wish->text);

	look_at_path(looking, place_of(wish->text), false);
	if (by != NULL)
		look_at_path(looking,
		    here_follow(looking->needs->arena, by).place, false);
}

static void
look_at_socket(const struct looking *looking)
{
	const char *const words[] = { "socket", looking->wish->text };
	struct verdict verdict;
	const char *fault, *by;

	verdict = looking_ask(looking, words, countof(words), &fault);
	if (verdict.allowed || fault != NULL)
		return;
	by = looking_kept_by(looking, &verdict);
	looking_add(looking,
	    (struct need){
		.object = places_spell(&looking->subject->places,
		    place_of(looking->wish->text)),
		.reason = by != NULL ?
		    by :
		    "whoever answers there does what it is asked: allow it "
		    "with 'allow socket' if you know who",
	    });
}

/* --- system calls --------------------------------------------------------- */

static const char *
call_name(const struct looking *looking)
{
	const struct arch *arch = NULL;
	const char **names;

	for (size_t i = 0; i < arch_count; i++) {
		if (arches[i].audit == looking->wish->arch)
			arch = &arches[i];
	}
	if (arch == NULL || looking->wish->number >= arch->number_limit)
		return NULL;
	names = arena_alloc(looking->needs->arena,
	    arch->number_limit * sizeof *names);
	syscall_names(arch, names);
	return names[looking->wish->number];
}

static void
look_at_call(const struct looking *looking)
{
	const char *name = call_name(looking), *fault;
	const char *words[] = { "syscall", name };
	const struct wish *wish = looking->wish;
	bool opens = name != NULL && strcmp(name, "socket") == 0;

	if (name == NULL || wish->probe)
		return;
	if (opens)
		words[1] = arena_printf(looking->needs->arena,
		    "socket(%u,%u,0)", wish->args[0], wish->args[1]);
	if (looking_ask(looking, words, countof(words), &fault).allowed)
		return;
	if (opens && wish->args[0] != AF_INET && wish->args[0] != AF_INET6)
		opens = false;
	looking_add(looking,
	    (struct need){
		.object = opens ? "socket inet" : name,
		.reason = opens ?
		    "the policy has no network, so where to is not known: "
		    "learn again under @coding-online, or allow network "
		    "loopback" :
		    "no program needs it as a rule; 'allow syscalls' opens it",
	    });
}

/* -------------------------------------------------------------------------- */

static void
look_at(struct looking *looking)
{
	const struct wish *wish = looking->wish;

	switch (wish->kind) {
	case WISH_READ:
	case WISH_WRITE:
		look_at_path(looking, place_of(wish->text),
		    wish->makes && !wish->below);
		break;
	case WISH_EXEC:
		look_at_program(looking);
		break;
	case WISH_SOCKET:
		look_at_socket(looking);
		break;
	case WISH_CONNECT:
	case WISH_LISTEN:
		looking_at_port(looking);
		break;
	case WISH_CALL:
		look_at_call(looking);
		break;
	case WISH_DOMAIN:
		looking_at_domain(looking);
		break;
	case WISH_KINDS:
		break;
	}
}

void
needs_find(struct needs *needs, struct arena *arena, const struct base *base,
    const struct records *records)
{
	*needs = (struct needs){
		.arena = arena,
		.base = base,
		.records = records,
		.subject = run_subject(base, records->runs.items[0], arena),
	};
	for (size_t i = 0; i < records->runs.count; i++) {
		const struct run *run = records->runs.items[i];
		struct subject subject = run_subject(base, run, arena);
		struct looking looking = {
			.needs = needs,
			.subject = &subject,
			.run = i,
		};

		for (size_t j = 0; j < run->wishes.count; j++) {
			looking.wish = &run->wishes.items[j];
			look_at(&looking);
		}
	}
}

size_t
needs_count(const struct needs *needs)
{
	size_t count = 0;

	for (size_t i = 0; i < needs->list.count; i++)
		count += needs->list.items[i].reason == NULL &&
		    !needs->list.items[i].probe;
	return count;
}
