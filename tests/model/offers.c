/*
 * What `sbxc why` offers against the denial of a dangerous access: for each place
 * of risks.def, each path of ${credentials}, what git runs in repositories, each
 * host of hosts.def, each network of a cloud's metadata and each call of the
 * baseline.  Either no rule is offered, or it says what it opens.  So it is for
 * all of which `sbxc check` calls the offered rule a risk, and for each place of
 * the tables even where it does not.
 */
#include "compiler/check/check.h"
#include "compiler/policy/policy.h"
#include "compiler/query/query.h"
#include "compiler/query/why.h"
#include "compiler/read/read.h"
#include "compiler/tables/tables.h"
#include "format/model.h"
#include "tests/lib/tap.h"

#include <arpa/inet.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT = 4096 };

struct world {
	struct tap tap;
	char root[64];      /* of the tree that is made */
	bool here;          /* this machine is asked */
	const char *parent; /* of the policy */
	struct sbx_blob blob;
	unsigned asked, denied, offered, told;
};

/* --- asking --------------------------------------------------------------- */

/* The text with these rules of its own. */
static struct compilation *
read_rules(struct arena *arena, const char *parent, const char *rules)
{
	struct compilation *compilation = arena_alloc(arena,
	    sizeof *compilation);
	const char *text = arena_printf(arena,
	    "sbx 1\nprofile p%s {\nparam data\n%s\n}\n", parent, rules);

	compilation_init(compilation, arena);
	compilation_parse(compilation,
	    sources_add(&compilation->sources, "own.sbx", text, strlen(text),
		(struct loc){ 0, 0 }));
	return compilation;
}

static bool
compile_parent(struct world *world, struct arena *arena)
{
	struct compilation *compilation = read_rules(arena, world->parent, "");
	struct image image;

	return compile(compilation, "p", &image) &&
	    sbx_verify(image.bytes, image.size, &world->blob) == SBX_BLOB_OK;
}

/* Whether the policy with these rules compiles; no filter is made, which would
 * take most of the time. */
static bool
check_rules(struct arena *arena, const char *parent, const char *rules,
    bool *risky)
{
	struct compilation *compilation = read_rules(arena, parent, rules);
	struct diags *diags = &compilation->diags;
	const struct policy *policy = resolve_policy(
	    &(struct resolution){
		.arena = arena,
		.sources = &compilation->sources,
		.diags = diags,
		.file = compilation->file,
		.stmts = compilation->stmts,
		.blocks = blocks_new(&compilation->sources, diags,
		    compilation->stmts),
	    },
	    "p");

	*risky = false;
	if (policy == NULL)
		return false;
	check_policy(policy, diags);
	for (size_t i = 0; i < diags->records.count; i++) {
		enum diag_id id = diags->records.items[i].id;

		*risky |= strncmp(diag_code(id), "SBX06", 5) == 0 &&
		    id != DIAG_SINGLE_FILE;
	}
	return diags->errors == 0;
}

static bool
has_step(const struct remedy *remedy, enum remedy_do what)
{
	for (size_t i = 0; i < remedy->steps.count; i++) {
		if (remedy->steps.items[i].what == what)
			return true;
	}
	return false;
}

/* What is offered: a rule that opens no more, or only if that is said. */
static const char *
fault_of(struct world *world, struct arena *arena, const struct remedy *remedy,
    bool is_listed)
{
	const char *rules = "";
	bool risky;

	if (!remedy_works(remedy))
		return NULL;
	world->offered++;
	for (size_t i = 0; i < remedy->steps.count; i++) {
		if (remedy->steps.items[i].what == REMEDY_ADD)
			rules = arena_printf(arena, "%s\n%s", rules,
			    remedy->steps.items[i].text);
	}
	if (!check_rules(arena, world->parent, rules, &risky))
		return "what is offered does not compile";
	if (has_step(remedy, REMEDY_OPENS)) {
		world->told++;
		return NULL;
	}
	if (risky)
		return "sbxc check calls that a risk";
	return is_listed ? "it gives away what a table lists" : NULL;
}

/* Asks "RIGHT PLACE"; of a place that a table lists nothing is offered silently. */
static void
ask(struct world *world, const char *right, const char *object, bool is_listed)
{
	struct arena *arena = arena_new();
	const char *const words[] = { right, object };
	struct subject subject = { .arch = &arches[0],
		.level = SBX_LEVEL_FULL };
	struct places *places = &subject.places;
	const char *home = arena_printf(arena, "%s/home", world->root);
	struct access access;
	struct verdict verdict;
	struct remedy remedy;
	const char *fault;

	places_init(places, arena, &world->blob,
	    arena_printf(arena, "%s/w", world->root), home);
	places_bind_other_home(places, home);
	places_bind(places, SBX_ANCHOR_RUNTIME, "/run/user/7");
	if (world->here)
		places_ask_machine(places);
	world->asked++;
	fault = access_parse(places, words, 2, &access);
	if (fault == NULL) {
		verdict = verdict_of(&subject, &access);
		if (!verdict.allowed) {
			world->denied++;
			remedy = remedy_find(&subject, &access, &verdict);
			fault = fault_of(world, arena, &remedy, is_listed);
		}
	}
	if (fault != NULL) {
		tap_ok(&world->tap, false, "p%s: %s %s: %s", world->parent,
		    right, object, fault);
	}
	arena_release(arena);
}

/* --- what is dangerous ---------------------------------------------------- */

static void
ask_places(struct world *world)
{
	enum {
		BROAD,
		RULING,
		STARTUP,
		SEARCHED,
		SCHEDULED,
		ESCAPE,
		SOCKET,
		GIT,
		SECRET
	};
	static const struct {
		const char *anchor, *suffix;
		int kind, platforms;
	} places[] = {
#define LINUX SBX_ON_LINUX
#define MACOS SBX_ON_MACOS
#define ALL SBX_ON_ALL
#define ROOT ""
#define HOME "~"
#define RUNTIME "${runtime}"
#define RISK(kind, platforms, anchor, suffix, what) \
	{ anchor, suffix, kind, platforms },
#include "compiler/tables/risks.def"
#undef LINUX
#undef MACOS
#undef ALL
#undef ROOT
#undef HOME
#undef RUNTIME
#undef RISK
	};
	char path[TEXT];

	for (size_t i = 0; i < countof(places); i++) {
		bool reads = places[i].kind >= ESCAPE && places[i].kind != GIT;

		if ((places[i].platforms & SBX_ON_LINUX) == 0)
			continue;
		snprintf(path, sizeof path, "%s%s", places[i].anchor,
		    *places[i].suffix == '\0' && *places[i].anchor == '\0' ?
			"/" :
			places[i].suffix);
		ask(world, "write", path, true);
		if (reads)
			ask(world, "read", path, true);
		ask(world, "socket", path, false);
		ask(world, "exec", path, false);
		strcat(path, "/sbx-absent");
		ask(world, "write", path, places[i].kind != BROAD);
		if (reads)
			ask(world, "read", path, true);
		strcat(path, "/more.lock");
		ask(world, "write", path, places[i].kind != BROAD);
	}
}

static void
ask_credentials(struct world *world)
{
	char path[TEXT];

	for (size_t i = 0; i < set_entry_count; i++) {
		if (strcmp(set_entries[i].set, "credentials") != 0 ||
		    (set_entries[i].platforms & SBX_ON_LINUX) == 0)
			continue;
		snprintf(path, sizeof path, "%s", set_entries[i].path);
		ask(world, "read", path, true);
		ask(world, "write", path, true);
		strcat(path, "/sbx-absent");
		ask(world, "read", path, true);
		ask(world, "write", path, true);
	}
}

/* There, and not there; in each kind of place. */
static void
ask_repositories(struct world *world)
{
	static const char *const repositories[] = { "~/other", "~/none",
		"/srv/sbx-none", "/opt/sbx-none", "${data}/other",
		"${workspace}", "${workspace}/sub/module", "/home/bob/src" };
	static const char *const inside[] = { "", "/hooks", "/hooks/pre-commit",
		"/config", "/config.lock", "/config.worktree", "/commondir",
		"/modules/a/hooks/x", "/worktrees/b/config.worktree",
		"/x.lock" };
	char path[TEXT];

	for (size_t i = 0; i < countof(repositories); i++) {
		for (size_t j = 0; j < countof(inside); j++) {
			snprintf(path, sizeof path, "%s/.git%s",
			    repositories[i], inside[j]);
			ask(world, "write", path, true);
			snprintf(path, sizeof path, "%s/bare.git%s",
			    repositories[i], inside[j]);
			ask(world, "write", path, true);
		}
	}
}

static void
ask_hosts(struct world *world)
{
	static const char *const names[] = {
#define SHARED(text) text,
#define DROP(text) text,
#define FORGE(text) text,
#define METADATA(text) text,
#include "compiler/tables/hosts.def"
	};
	char address[INET6_ADDRSTRLEN], object[TEXT];
	const uint8_t *net;
	uint8_t prefix;

	for (size_t i = 0; i < countof(names); i++) {
		ask(world, "domain", names[i], false);
		snprintf(object, sizeof object, "%s:8443", names[i]);
		ask(world, "domain", object, false);
	}
	for (size_t i = 0; (net = sbx_address_metadata(i, &prefix)) != NULL;
	     i++) {
		bool v4 = sbx_address_is_v4(net);

		inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? net + 12 : net, address,
		    sizeof address);
		snprintf(object, sizeof object, v4 ? "%s:80" : "[%s]:80",
		    address);
		ask(world, "connect", object, true);
	}
}

static void
ask_calls(struct world *world)
{
	struct arena *arena = arena_new();
	struct map entries = { 0 };

	baseline_calls(arena, &entries);
	for (size_t i = 0; i < entries.keys.count; i++)
		ask(world, "syscall", entries.keys.items[i].bytes, false);
	arena_release(arena);
}

/* --- where it is asked ---------------------------------------------------- */

static bool
make_tree(struct world *world)
{
	static const char *const directories[] = { "w", "w/.git",
		"w/.git/hooks", "home", "home/other", "home/other/.git",
		"home/other/.git/hooks", "home/bare.git", "home/.config",
		"home/.ssh", "home/.local", "home/.local/share" };
	char path[TEXT];

	strcpy(world->root, "/var/tmp/sbx-offers-XXXXXX");
	if (mkdtemp(world->root) == NULL)
		return false;
	for (size_t i = 0; i < countof(directories); i++) {
		snprintf(path, sizeof path, "%s/%s", world->root,
		    directories[i]);
		if (mkdir(path, 0755) == -1)
			return false;
	}
	return true;
}

static void
remove_tree(const struct world *world)
{
	char command[128];

	snprintf(command, sizeof command, "rm -rf %s", world->root);
	if (system(command) != 0)
		puts("# the tree stays behind");
}

int
main(void)
{
	static const struct {
		const char *text;
		void (*ask)(struct world *world);
	} subjects[] = {
		{ "places", ask_places },
		{ "credentials", ask_credentials },
		{ "repositories", ask_repositories },
		{ "hosts", ask_hosts },
		{ "system calls", ask_calls },
	};
	static const char *const parents[] = { "", " extends coding-online" };
	struct world world = { .here = false };

	if (!tap_ok(&world.tap, make_tree(&world), "a tree to ask about"))
		return tap_done(&world.tap);
	for (size_t i = 0; i < 2 * countof(parents); i++) {
		struct arena *arena = arena_new();

		world.parent = parents[i / 2];
		world.here = i % 2 != 0;
		if (!tap_ok(&world.tap, compile_parent(&world, arena),
			"p%s compiles", world.parent))
			return tap_done(&world.tap);
		for (size_t j = 0; j < countof(subjects); j++) {
			unsigned failed = world.tap.failed;

			world.asked = world.denied = 0;
			world.offered = world.told = 0;
			subjects[j].ask(&world);
			tap_ok(&world.tap,
			    world.tap.failed == failed && world.denied > 0,
			    "p%s, %s, %s: of %u, %u are denied, %u have an "
			    "offer, which %u times says what it opens",
			    world.parent,
			    world.here ? "this machine" : "the model",
			    subjects[j].text, world.asked, world.denied,
			    world.offered, world.told);
		}
		arena_release(arena);
	}
	remove_tree(&world);
	return tap_done(&world.tap);
}
