/*
 * What the model says of a policy on macOS, for tests/model/sbpl.sh to hold
 * against the profile that sbxc wrote.
 *
 *	sbpl_model FILE
 *
 * prints the values of the profile's parameters in the order of its head:
 *
 *	params	VALUE	VALUE ...
 *
 * and then, for every place that a rule names, for what lies in it, beside it
 * and above it, and for the ends of every range of ports:
 *
 *	allow|deny|none	OPERATION	OBJECT
 *
 * `none`: no rule speaks of it.  macOS follows symbolic links before it looks
 * at the profile, so /tmp is /private/tmp here.
 */
#include "compiler/policy/blocks.h"
#include "compiler/policy/resolve.h"
#include "compiler/query/compile.h"
#include "format/glob.h"

#include <stdlib.h>
#include <string.h>

struct model {
	struct arena *arena;
	const struct policy *policy;
	const char *anchors[SBX_MAX_ANCHORS];
	size_t anchor_count;
	VEC(struct sbx_rule) rules;
	VEC(const char *) globs; /* beside rules: a pattern, or NULL */
	VEC(const char *) places;
};

static void
bind_anchors(struct model *model)
{
	/* One inside the other, so that their rules meet. */
	static const char *const fixed[SBX_ANCHOR_PARAM] = {
		"",
		"/Users/ada/src/app",
		"/Users/ada",
		"/private/tmp/sbx-501/scratch",
		"/private/var/run/ada",
	};

	for (size_t i = 0; i < SBX_ANCHOR_PARAM; i++)
		model->anchors[model->anchor_count++] = fixed[i];
	for (size_t i = 0; i < model->policy->params.count; i++)
		model->anchors[model->anchor_count++] =
		    arena_printf(model->arena, "/params/%zu", i);
}

static const char *
bind(struct model *model, struct target at)
{
	static const char *const links[] = { "/etc", "/tmp", "/var" };
	char *path = arena_printf(model->arena, "%s%s",
	    model->anchors[at.anchor], at.suffix);

	for (size_t i = 0; i < 3; i++) {
		if (strncmp(path, links[i], 4) == 0 &&
		    (path[4] == '/' || path[4] == '\0'))
			return arena_printf(model->arena, "/private%s", path);
	}
	return path;
}

static struct sbx_place
place_of(const char *path)
{
	return (struct sbx_place){ path, (uint32_t)strlen(path) };
}

static void
add_places(struct model *model, const char *path)
{
	const char *slash = strrchr(path, '/');

	*arena_push(model->arena, &model->places) = path;
	*arena_push(model->arena, &model->places) = arena_printf(model->arena,
	    "%s/in", path);
	if (slash == NULL)
		return;
	*arena_push(model->arena, &model->places) = arena_printf(model->arena,
	    "%sbeside", path);
	*arena_push(model->arena, &model->places) = arena_strndup(model->arena,
	    path, (size_t)(slash - path));
}

/* Names for the wildcards of a pattern, the `choice`-th of each.  The last are
 * such that nothing matches. */
static const char *
example(struct model *model, const char *pattern, size_t choice)
{
	static const char *const any[] = { "", "/d", "/d/e.f", "/.d", "/d" };
	static const char *const star[] = { "", "x", ".y", "+", "m/n" };
	static const char *const one[] = { "q", ".", "*", "(", "q" };
	const char *text = "";

	for (; *pattern != '\0'; pattern++) {
		bool directories = strncmp(pattern, "/**", 3) == 0;

		if (directories || *pattern == '*' || *pattern == '?')
			text = arena_printf(model->arena, "%s%s", text,
			    directories         ? any[choice] :
				*pattern == '*' ? star[choice] :
						  one[choice]);
		else
			text = arena_printf(model->arena, "%s%c", text,
			    *pattern);
		pattern += directories ? 2 : 0;
	}
	return text;
}

/* What a rule that begins at a path speaks of, and what it does not. */
static void
add_rule_places(struct model *model, const struct path_rule *rule,
    const char *at)
{
	add_places(model, at);
	for (size_t i = 0; rule->glob != NULL && i < 5; i++) {
		const char *path = arena_printf(model->arena, "%s%s", at,
		    example(model, rule->glob, i));

		if (strstr(path, "//") == NULL && path[strlen(path) - 1] != '/')
			add_places(model, path);
		if (strrchr(path, '/') > path)
			add_places(model,
			    arena_printf(model->arena, "%sz", path));
	}
}

static void
add_rule(struct model *model, const struct path_rule *rule)
{
	struct sbx_place *exclusions = arena_alloc(model->arena,
	    (rule->exclusion_count + 1u) * sizeof *exclusions);
	const char *at = bind(model, rule->at);

	add_rule_places(model, rule, at);
	*arena_push(model->arena, &model->globs) = rule->glob;
	for (uint16_t i = 0; i < rule->exclusion_count; i++) {
		exclusions[i] = place_of(bind(model, rule->exclusions[i]));
		add_places(model, exclusions[i].path);
	}
	*arena_push(model->arena, &model->rules) = (struct sbx_rule){
		.at = place_of(at),
		.exclusions = exclusions,
		.source = SBX_NO_SOURCE,
		.exclusion_count = rule->exclusion_count,
		.effect = (uint8_t)rule->effect,
		.rights = rule->rights,
	};
}

/* The rules as they bear on one path: see compiler/query/places.h. */
static struct sbx_rule *
rules_for(const struct model *model, const char *path)
{
	size_t count = model->rules.count;
	struct sbx_rule *rules = arena_alloc(model->arena,
	    (count + 1) * sizeof *rules);

	for (size_t i = 0; i < count; i++) {
		const char *pattern = model->globs.items[i];
		struct sbx_glob glob;

		rules[i] = model->rules.items[i];
		if (pattern == NULL || !sbx_glob_parse(pattern, &glob))
			continue;
		rules[i].at = sbx_glob_find(&glob, rules[i].at, place_of(path));
		if (rules[i].at.len == 0)
			rules[i].rights = 0;
	}
	return rules;
}

static void
print_place(const struct model *model, const char *path)
{
	static const struct {
		uint8_t right;
		const char *operation;
	} questions[] = {
		{ SBX_READ, "file-read-data" },
		{ SBX_WRITE, "file-write-data" },
		{ SBX_EXEC, "process-exec" },
	};
	static const char *const words[] = {
		[SBX_BECAUSE_NOTHING] = "none",
		[SBX_BECAUSE_ALLOWED] = "allow",
		[SBX_BECAUSE_DENIED] = "deny",
	};

	const struct sbx_rule *rules = rules_for(model, path);

	for (size_t i = 0; i < 3; i++) {
		struct sbx_verdict verdict = sbx_path_verdict(rules,
		    model->rules.count, questions[i].right, place_of(path));

		printf("%s\t%s\t%s\n", words[verdict.reason],
		    questions[i].operation, *path != '\0' ? path : "/");
	}
}

static bool
port_is_open(const struct policy *policy, enum sbx_port_op op, int port)
{
	enum sbx_net net = policy_net(policy, SBX_ON_MACOS, NULL);
	bool allowed = net == SBX_NET_FULL,
	     denied = net == SBX_NET_NONE || net == SBX_NET_LOOPBACK;

	for (size_t i = 0; i < policy->rules[KIND_PORT].count; i++) {
		const struct rule *rule = &policy->rules[KIND_PORT].items[i];

		if (rule->detail != op || port < rule->port.low ||
		    port > rule->port.high ||
		    (rule->origin.platforms & SBX_ON_MACOS) == 0)
			continue;
		if (rule->effect == SBX_ALLOW)
			allowed = true;
		else
			denied = true;
	}
	return allowed && !denied;
}

/* Ports of the host are about a network of its own, which macOS does not have. */
static void
print_ports(const struct policy *policy, const struct rule *rule)
{
	const int ports[] = { rule->port.low - 1, rule->port.low,
		rule->port.high, rule->port.high + 1 };

	if (rule->detail >= SBX_HOST_TCP)
		return;

	for (size_t i = 0; i < 4; i++) {
		if (ports[i] >= 0 && ports[i] <= UINT16_MAX)
			printf("%s\t%s\ttcp:%d\n",
			    port_is_open(policy, rule->detail, ports[i]) ?
				"allow" :
				"deny",
			    rule->detail == SBX_CONNECT_TCP ?
				"network-outbound" :
				"network-bind",
			    ports[i]);
	}
}

/* The host's own addresses and others, where no rule is about ports. */
static void
print_loopback(const struct policy *policy)
{
	static const char *const operations[] = {
		"network-outbound",
		"network-inbound",
		"network-bind",
	};
	enum sbx_net net = policy_net(policy, SBX_ON_MACOS, NULL);

	for (size_t i = 0; policy->rules[KIND_PORT].count == 0 && i < 3; i++)
		printf("%s\t%s\tlocalhost:8080\n%s\t%s\ttcp:8080\n",
		    net == SBX_NET_NONE ? "deny" : "allow", operations[i],
		    net == SBX_NET_FULL ? "allow" : "deny", operations[i]);
}

static void
print_model(struct model *model)
{
	const struct policy *policy = model->policy;

	printf("params");
	for (size_t i = SBX_ANCHOR_WORKSPACE; i < model->anchor_count; i++)
		printf("\t%s", model->anchors[i]);
	putchar('\n');
	for (size_t i = 0; i < policy->paths.count; i++) {
		if (policy->paths.items[i].origin.platforms & SBX_ON_MACOS)
			add_rule(model, &policy->paths.items[i]);
	}
	add_places(model, "/nowhere/at/all");
	for (size_t i = 0; i < model->places.count; i++)
		print_place(model, model->places.items[i]);
	for (size_t i = 0; i < policy->rules[KIND_PORT].count; i++)
		print_ports(policy, &policy->rules[KIND_PORT].items[i]);
	print_loopback(policy);
}

int
main(int argc, char **argv)
{
	struct model model = { .arena = arena_new() };
	struct compilation compilation;

	compilation_init(&compilation, model.arena);
	if (argc != 2 || !compilation_open(&compilation, argv[1]))
		return EXIT_FAILURE;
	model.policy = resolve_policy(
	    &(struct resolution){
		.arena = model.arena,
		.sources = &compilation.sources,
		.diags = &compilation.diags,
		.file = compilation.file,
		.stmts = compilation.stmts,
		.blocks = blocks_new(&compilation.sources, &compilation.diags,
		    compilation.stmts),
	    },
	    NULL);
	if (model.policy == NULL)
		return EXIT_FAILURE;
	bind_anchors(&model);
	print_model(&model);
	arena_release(model.arena);
	return ferror(stdout) || fclose(stdout) != 0;
}
