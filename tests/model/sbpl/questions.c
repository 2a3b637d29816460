/*
 * Profiles that sbxc writes for macOS, and questions about them with the answer
 * of the model, for seatbelt.scm to hold against each other.
 *
 *	questions SEED random COUNT	random policies until there are so many
 *	questions SEED PERCENT FILE...	the policies of files, asked about so much
 *					of what their rules name, if that is much
 *
 * prints for each policy
 *
 *	NAME
 *	VALUE<TAB>VALUE ...		of the parameters, in the order of the head
 *	the text
 *	;;; end
 *	allow|deny<TAB>OPERATION<TAB>OBJECT
 *	end
 */
#include "compiler/lower/lower.h"
#include "compiler/query/query.h"
#include "compiler/read/read.h"
#include "tests/model/random_policy.h"
#include "tests/model/sbpl/oracle.h"
#include "tests/model/spots.h"

#include <stdlib.h>
#include <string.h>

/* How many questions there are about a random policy; a policy with fewer places
 * is asked about all of them. */
enum { PLACES = 40, OPERATIONS = 3, PORTS = 12, FEW = 300 };

struct asker {
	struct arena *arena;
	struct chance chance;
	struct oracle oracle;
	bool random;
	size_t percent;
	unsigned long asked;
	struct spots spots;
};

static size_t
below(struct asker *asker, size_t limit)
{
	return chance_below(&asker->chance, limit);
}

/* --- places worth asking about -------------------------------------------- */

static const char *
bind_spot(const void *oracle, struct target at)
{
	return oracle_bind(oracle, at);
}

static void
collect_places(struct asker *asker)
{
	static const char *const usual[] = {
		"/",
		"/nowhere/at/all",
		"/private/var/db/dyld/x",
		"/private/var/select/sh",
		"/usr/lib/libc.dylib",
		"/usr/libx",
		"/System/Library/x",
		"/Library/Apple/x",
		"/Library/Keychains/x",
		"/dev/dtracehelper",
		"/dev/autofs_nowait",
		"/dev/ttys001",
		"/dev/null",
		"/dev/disk0",
		"/private/tmp/com.apple.launchd.q/Listeners",
		"/private/tmp/com.apple.launchd.q/other",
		"/private/tmp/com.apple.launchd.q/r/Listeners",
	};

	asker->spots = (struct spots){
		.arena = asker->arena,
		.bind = bind_spot,
		.context = &asker->oracle,
	};
	for (size_t i = 0; i < countof(usual); i++)
		spots_add(&asker->spots, usual[i]);
	spots_collect(&asker->spots, asker->oracle.policy);
}

/* --- questions ------------------------------------------------------------ */

static void
ask(struct asker *asker, bool allowed, const char *operation,
    const char *object)
{
	asker->asked++;
	printf("%s\t%s\t%s\n", allowed ? "allow" : "deny", operation, object);
}

static void
ask_file(struct asker *asker, size_t operation, const char *path)
{
	const char *name = oracle_file_operations[operation];

	/* The root has no name that could be taken away. */
	if (strcmp(name, "file-write-unlink") == 0 && path[1] == '\0')
		return;
	ask(asker, oracle_file(&asker->oracle, name, path), name, path);
}

static void
ask_place(struct asker *asker, const char *path)
{
	size_t count = 0;

	while (oracle_file_operations[count] != NULL)
		count++;
	/* The first ones are what policies are about. */
	for (size_t i = 0; !asker->random && i < 6; i++)
		ask_file(asker, i, path);
	for (size_t i = 0; asker->random && i < OPERATIONS; i++)
		ask_file(asker, below(asker, 1 + below(asker, count)), path);
	if (path[1] != '\0' && (!asker->random || below(asker, 3) == 0))
		ask(asker, oracle_socket(&asker->oracle, path),
		    "network-outbound",
		    arena_printf(asker->arena, "unix:%s", path));
}

static void
ask_address(struct asker *asker, int port, bool tcp, bool local)
{
	static const struct {
		const char *operation;
		enum sbx_port_op op;
	} operations[] = {
		{ "network-outbound", SBX_CONNECT_TCP },
		{ "network-bind", SBX_LISTEN_TCP },
		{ "network-inbound", SBX_LISTEN_TCP },
	};
	const char *object = arena_printf(asker->arena, "%s:%s:%d",
	    tcp ? "tcp" : "udp", local ? "localhost" : "away", port);

	for (size_t i = 0; i < countof(operations); i++)
		ask(asker,
		    oracle_address(&asker->oracle, operations[i].op, tcp, local,
			port),
		    operations[i].operation, object);
}

static void
ask_port(struct asker *asker, int port)
{
	if (port < 0 || port > UINT16_MAX)
		return;
	ask_address(asker, port, true, below(asker, 2) == 0);
	ask_address(asker, port, below(asker, 2) == 0, below(asker, 2) == 0);
}

static void
ask_network(struct asker *asker)
{
	const struct rule_list *rules = &asker->oracle.policy->rules[KIND_PORT];

	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->items[i];

		if (asker->random && below(asker, rules->count) >= PORTS / 4)
			continue;
		ask_port(asker, rule->port.low - 1);
		ask_port(asker, rule->port.low);
		ask_port(asker, rule->port.high);
		ask_port(asker, rule->port.high + 1);
	}
	ask_port(asker, 0);
	ask_port(asker, (int)below(asker, UINT16_MAX + 1));
}

static void
ask_others(struct asker *asker)
{
	const struct oracle *oracle = &asker->oracle;

	ask(asker, oracle_signal(oracle, true), "signal",
	    "target:same-sandbox");
	ask(asker, oracle_signal(oracle, false), "signal", "target:others");
	ask(asker, oracle_fork(oracle), "process-fork", "-");
	for (size_t i = 0; oracle_names[i].operation != NULL; i++) {
		const struct oracle_name *name = &oracle_names[i];

		if (!asker->random || below(asker, 8) == 0)
			ask(asker,
			    oracle_other(oracle, name->operation, name->name),
			    name->operation, name->name);
	}
}

static void
ask_policy(struct asker *asker, const char *name, const struct policy *policy,
    size_t layout)
{
	asker->oracle = oracle_make(policy, layout);
	printf("%s, layout %zu\n", name, layout);
	for (size_t i = SBX_ANCHOR_WORKSPACE; i < asker->oracle.anchor_count;
	     i++)
		printf("%s%s", i > SBX_ANCHOR_WORKSPACE ? "\t" : "",
		    asker->oracle.anchors[i]);
	printf("\n%s;;; end\n", sbpl_text(policy));
	collect_places(asker);
	for (size_t i = 0; asker->random && i < PLACES; i++)
		ask_place(asker,
		    asker->spots.list
			.items[below(asker, asker->spots.list.count)]);
	for (size_t i = 0; !asker->random && i < asker->spots.list.count; i++) {
		if (asker->spots.list.count < FEW ||
		    below(asker, 100) < asker->percent)
			ask_place(asker, asker->spots.list.items[i]);
	}
	ask_network(asker);
	ask_others(asker);
	puts("end");
}

/* --- policies ------------------------------------------------------------- */

static const struct policy *
compile_text(struct arena *arena, char *text, size_t size)
{
	struct compilation *compilation = arena_alloc(arena,
	    sizeof *compilation);
	struct image image;

	compilation_init(compilation, arena);
	*arena_push(arena, &compilation->definitions.list) =
	    (struct definition){ "fixed", "/opt/f x" };
	compilation->file = sources_add(&compilation->sources, "random.sbx",
	    text, size, (struct loc){ 0, 0 });
	if (compilation->file == NULL)
		return NULL;
	compilation->stmts = ast_parse(&compilation->sources,
	    &compilation->diags, (struct source *)compilation->file);
	return compile(compilation, "p", &image) ? compilation->policy : NULL;
}

static void
ask_random(struct asker *asker, uint64_t seed)
{
	char *text = NULL;
	size_t size = 0;
	struct maker maker = { .chance = { .state = seed } };
	const struct policy *policy;

	maker.stream = open_memstream(&text, &size);
	if (maker.stream == NULL)
		abort();
	make_policy(&maker);
	fclose(maker.stream);
	asker->arena = arena_new();
	policy = compile_text(asker->arena, text, size);
	if (policy != NULL)
		ask_policy(asker,
		    arena_printf(asker->arena, "random policy %llu",
			(unsigned long long)seed),
		    policy, seed);
	arena_release(asker->arena);
	free(text);
}

static bool
ask_file_of(struct asker *asker, const char *path)
{
	struct compilation compilation;
	struct image image;
	bool good;

	asker->arena = arena_new();
	compilation_init(&compilation, asker->arena);
	good = compilation_open(&compilation, path) &&
	    compile(&compilation, NULL, &image);
	for (size_t layout = 0; good && layout < 2; layout++)
		ask_policy(asker, path, compilation.policy, layout);
	if (!good)
		fprintf(stderr, "%s does not compile\n", path);
	arena_release(asker->arena);
	return good;
}

int
main(int argc, char **argv)
{
	struct asker asker = { .asked = 0 };
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	bool good = argc > 3;

	asker.chance.state = seed;
	asker.random = argc == 4 && strcmp(argv[2], "random") == 0;
	if (asker.random) {
		while (asker.asked < strtoul(argv[3], NULL, 10))
			ask_random(&asker, seed++);
	} else if (good) {
		asker.percent = strtoul(argv[2], NULL, 10);
		for (int i = 3; i < argc; i++)
			good &= ask_file_of(&asker, argv[i]);
	}
	return !good || ferror(stdout) || fclose(stdout) != 0;
}
