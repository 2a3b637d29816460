#include "tests/model/sbpl/oracle.h"

#include "format/model.h"

#include <string.h>

/* --- anchors -------------------------------------------------------------- */

/* Apart, one in the other, one at the other, among the constants of the
 * policies, and with what means something in a text or a pattern. */
static const char *const layouts[ORACLE_LAYOUTS][SBX_ANCHOR_PARAM + 1] = {
	{ "", "/Users/ada/src/app", "/Users/ada", "/private/tmp/sbx-501/run",
	    "/private/var/run/ada", "/params" },
	{ "", "/Volumes/d.k (1)/w+[x]", "/Users/a.d+a$ ^{2}|\\",
	    "/private/tmp/a*b", "/private/var/folders/q\"q/T",
	    "/Users/a.d+a$ ^{2}|\\/p" },
	{ "", "/Users/ada", "/Users/ada", "/Users/ada/x", "/Users/ada/x/y",
	    "/Users/ada/a" },
	{ "", "/srv/a", "/srv", "/private/tmp/x", "/srv/a/b", "/srv/a/b" },
	{ "", "/Users", "/Users/ada/home", "/private/tmp", "/private/var",
	    "/private/etc" },
	{ "", "/opt/w", "/private/var/root", "/opt/w/tmp", "/run/x",
	    "/private/var/root/.config" },
};

static bool
is_on_macos(const struct origin *origin)
{
	return (origin->platforms & SBX_ON_MACOS) != 0;
}

const char *
oracle_bind(const struct oracle *oracle, struct target at)
{
	static const char *const links[] = { "/etc", "/tmp", "/var" };
	char *path = arena_printf(oracle->arena, "%s%s",
	    oracle->anchors[at.anchor], at.suffix);

	for (size_t i = 0; i < 3; i++) {
		if (strncmp(path, links[i], 4) == 0 &&
		    (path[4] == '/' || path[4] == '\0'))
			return arena_printf(oracle->arena, "/private%s", path);
	}
	return path;
}

static struct sbx_place
place_of(const char *path)
{
	return (struct sbx_place){ path, (uint32_t)strlen(path) };
}

/* --- rules about paths ---------------------------------------------------- */

/* A glob at the root may begin with a link, and speaks of both. */
static struct sbx_place
glob_find(const struct path_rule *rule, struct sbx_place at,
    struct sbx_place path)
{
	struct sbx_glob glob;
	struct sbx_place found = { "", 0 };

	if (!sbx_glob_parse(rule->glob, &glob))
		return found;
	found = sbx_glob_find(&glob, at, path);
	if (found.len > 0 || at.len > 0 ||
	    strncmp(path.path, "/private/", 9) != 0)
		return found;
	found = sbx_glob_find(&glob, at, place_of(path.path + 8));
	if (found.len > 4 &&
	    (strncmp(found.path, "/etc/", 5) == 0 ||
		strncmp(found.path, "/tmp/", 5) == 0 ||
		strncmp(found.path, "/var/", 5) == 0))
		return (struct sbx_place){ path.path, found.len + 8 };
	found.len = found.len == 4 &&
		(memcmp(found.path, "/etc", 4) == 0 ||
		    memcmp(found.path, "/tmp", 4) == 0 ||
		    memcmp(found.path, "/var", 4) == 0) ?
	    12 :
	    0;
	return (struct sbx_place){ path.path, found.len };
}

static struct sbx_rule
bind_rule(const struct oracle *oracle, const struct path_rule *rule)
{
	struct sbx_place *exclusions = arena_alloc(oracle->arena,
	    (rule->exclusion_count + 1u) * sizeof *exclusions);

	for (uint16_t i = 0; i < rule->exclusion_count; i++)
		exclusions[i] = place_of(
		    oracle_bind(oracle, rule->exclusions[i]));
	return (struct sbx_rule){
		.at = place_of(oracle_bind(oracle, rule->at)),
		.exclusions = exclusions,
		.source = SBX_NO_SOURCE,
		.exclusion_count = rule->exclusion_count,
		.effect = (uint8_t)rule->effect,
		.rights = rule->rights,
	};
}

static void
bind_rules(struct oracle *oracle)
{
	const struct policy *policy = oracle->policy;
	size_t size = (policy->paths.count + 1) * sizeof *oracle->bound;

	oracle->bound = arena_alloc(oracle->arena, size);
	oracle->rules = arena_alloc(oracle->arena, size);
	for (size_t i = 0; i < policy->paths.count; i++)
		oracle->bound[i] = bind_rule(oracle, &policy->paths.items[i]);
}

static enum sbx_reason
path_reason(const struct oracle *oracle, uint8_t right, struct sbx_place path)
{
	const struct policy *policy = oracle->policy;
	size_t count = 0;

	for (size_t i = 0; i < policy->paths.count; i++) {
		const struct path_rule *rule = &policy->paths.items[i];
		struct sbx_rule bound = oracle->bound[i];

		if (!is_on_macos(&rule->origin))
			continue;
		if (rule->glob != NULL)
			bound.at = glob_find(rule, bound.at, path);
		if (rule->glob == NULL || bound.at.len > 0)
			oracle->rules[count++] = bound;
	}
	return sbx_path_verdict(oracle->rules, count, right, path).reason;
}

struct oracle
oracle_make(const struct policy *policy, size_t layout)
{
	struct oracle oracle = {
		.arena = policy->arena,
		.policy = policy,
		.everything = policy_has_blanket(policy, BLANKET_EVERYTHING,
		    SBX_ON_MACOS),
		.net = policy_net(policy, SBX_ON_MACOS, NULL),
	};
	const char *const *places = layouts[layout % ORACLE_LAYOUTS];

	for (size_t i = 0; i < SBX_ANCHOR_PARAM; i++)
		oracle.anchors[oracle.anchor_count++] = places[i];
	for (size_t i = 0; i < policy->params.count; i++)
		oracle.anchors[oracle.anchor_count++] =
		    arena_printf(policy->arena, "%s/%zu",
			places[SBX_ANCHOR_PARAM], i);
	bind_rules(&oracle);
	return oracle;
}

/* --- what must keep its name ---------------------------------------------- */

static bool
is_above(const char *path, const char *place)
{
	size_t len = strlen(path);

	return strncmp(path, place, len) == 0 && place[len] == '/';
}

static size_t
parts_of(const char *path)
{
	size_t count = 0;

	for (; *path != '\0'; path++)
		count += *path == '/';
	return count;
}

/*
 * Whether a path is above what a glob matches, as far as that can be told: down
 * to its place, and below that where it matches the pattern's first parts, up to
 * the first "**".
 */
static bool
is_above_matches(const struct path_rule *rule, const char *at, const char *path)
{
	const char *pattern = rule->glob;

	if (strcmp(path, at) == 0 || is_above(path, at))
		return true;
	if (!is_above(at, path))
		return false;
	if (parts_of(path + strlen(at)) >= parts_of(pattern))
		return false;
	path += strlen(at);
	while (*path != '\0') {
		size_t part = strcspn(pattern + 1, "/");
		size_t name = strcspn(path + 1, "/");

		if ((part == 2 && strncmp(pattern + 1, "**", 2) == 0) ||
		    !sbx_name_match(pattern + 1, part, path + 1, name))
			return false;
		pattern += part + 1;
		path += name + 1;
	}
	return true;
}

/* The same of a glob at the root, for the links in it. */
static bool
is_above_linked(const struct path_rule *rule, const char *at, const char *path)
{
	static const char *const links[] = { "/etc", "/tmp", "/var" };

	if (*at != '\0' || strncmp(path, "/private/", 9) != 0)
		return false;
	for (size_t i = 0; i < 3; i++) {
		if (strncmp(path + 8, links[i], 4) == 0 &&
		    (path[12] == '/' || path[12] == '\0') &&
		    is_above_matches(rule, "", path + 8))
			return true;
	}
	return false;
}

static bool
is_pinned_above(const struct oracle *oracle, uint16_t anchor,
    struct sbx_place place, const char *path)
{
	return is_above(path, place.path) ||
	    (anchor != SBX_ANCHOR_ROOT &&
		strcmp(path, oracle->anchors[anchor]) == 0);
}

static bool
is_pinned_by(const struct oracle *oracle, size_t number, const char *path)
{
	const struct path_rule *rule = &oracle->policy->paths.items[number];
	const struct sbx_rule *bound = &oracle->bound[number];

	if (!is_on_macos(&rule->origin))
		return false;
	if (rule->effect == SBX_ALLOW) {
		for (uint16_t i = 0; i < rule->exclusion_count; i++) {
			if (is_pinned_above(oracle, rule->exclusions[i].anchor,
				bound->exclusions[i], path))
				return true;
		}
		return false;
	}
	if (rule->glob == NULL)
		return is_pinned_above(oracle, rule->at.anchor, bound->at,
		    path);
	return is_above_matches(rule, bound->at.path, path) ||
	    is_above_linked(rule, bound->at.path, path);
}

/*
 * To rename a directory would carry away what lies in it: from a rule that
 * denies it, or from the exception of one that allows what is around it.
 */
static bool
is_pinned(const struct oracle *oracle, const char *path)
{
	const struct policy *policy = oracle->policy;

	for (size_t i = 0; i < policy->paths.count; i++) {
		if (is_pinned_by(oracle, i, path))
			return true;
	}
	return false;
}

/* --- what every process is given ------------------------------------------ */

enum { GIVEN_READ = 1, GIVEN_MAP = 2, GIVEN_DATA = 4, GIVEN_IOCTL = 8 };

static unsigned
given(const char *path)
{
	static const struct {
		const char *path;
		bool tree;
		unsigned what;
	} places[] = {
		{ "/", false, GIVEN_READ },
		{ "/dev/autofs_nowait", false, GIVEN_READ },
		{ "/private/var/db/dyld", true, GIVEN_READ },
		{ "/private/var/db/timezone", true, GIVEN_READ },
		{ "/private/var/select", true, GIVEN_READ },
		{ "/usr/lib", true, GIVEN_READ | GIVEN_MAP },
		{ "/System/Library", true, GIVEN_READ | GIVEN_MAP },
		{ "/System/iOSSupport", true, GIVEN_READ | GIVEN_MAP },
		{ "/System/Cryptexes", true, GIVEN_READ | GIVEN_MAP },
		{ "/System/Volumes/Preboot/Cryptexes", true,
		    GIVEN_READ | GIVEN_MAP },
		{ "/Library/Apple", true, GIVEN_READ | GIVEN_MAP },
		{ "/dev/dtracehelper", false,
		    GIVEN_READ | GIVEN_DATA | GIVEN_IOCTL },
	};
	unsigned what = 0;

	for (size_t i = 0; i < countof(places); i++) {
		if (strcmp(path, places[i].path) == 0 ||
		    (places[i].tree && is_above(places[i].path, path)))
			what |= places[i].what;
	}
	if (strncmp(path, "/dev/tty", 8) == 0 ||
	    strncmp(path, "/dev/ptmx", 9) == 0)
		what |= GIVEN_IOCTL;
	return what;
}

/* --- answers -------------------------------------------------------------- */

static const struct file_operation {
	const char *name;
	uint8_t right; /* 0: no rule gives it */
	unsigned given;
} file_operations[] = {
	{ "file-read-data", SBX_READ, GIVEN_READ },
	{ "file-read-xattr", SBX_READ, GIVEN_READ },
	{ "file-read-metadata", SBX_READ, GIVEN_READ },
	{ "file-map-executable", SBX_READ, GIVEN_MAP },
	{ "file-write-data", SBX_WRITE, GIVEN_DATA },
	{ "file-write-create", SBX_WRITE, 0 },
	{ "file-write-flags", SBX_WRITE, 0 },
	{ "file-write-mode", SBX_WRITE, 0 },
	{ "file-write-owner", SBX_WRITE, 0 },
	{ "file-write-setugid", SBX_WRITE, 0 },
	{ "file-write-times", SBX_WRITE, 0 },
	{ "file-write-unlink", SBX_WRITE, 0 },
	{ "file-write-xattr", SBX_WRITE, 0 },
	{ "file-ioctl", SBX_WRITE, GIVEN_IOCTL },
	{ "process-exec", SBX_EXEC, 0 },
	{ "process-exec-interpreter", SBX_EXEC, 0 },
	{ "file-link", 0, 0 },
	{ "file-mount", 0, 0 },
};

const char *const oracle_file_operations[] = {
	"file-read-data",
	"file-write-data",
	"process-exec",
	"file-write-unlink",
	"file-read-metadata",
	"file-write-create",
	"file-map-executable",
	"file-ioctl",
	"file-read-xattr",
	"file-write-flags",
	"file-write-mode",
	"file-write-owner",
	"file-write-setugid",
	"file-write-times",
	"file-write-xattr",
	"process-exec-interpreter",
	"file-link",
	"file-mount",
	NULL,
};

static const struct file_operation *
operation_find(const char *name)
{
	size_t i = 0;

	while (strcmp(file_operations[i].name, name) != 0)
		i++;
	return &file_operations[i];
}

bool
oracle_file(const struct oracle *oracle, const char *name, const char *path)
{
	const struct file_operation *operation = operation_find(name);
	bool metadata = strcmp(name, "file-read-metadata") == 0;

	if (operation->right == 0)
		return oracle->everything;
	if (strcmp(name, "file-write-unlink") == 0 && is_pinned(oracle, path))
		return false;
	switch (path_reason(oracle, operation->right,
	    place_of(strcmp(path, "/") == 0 ? "" : path))) {
	case SBX_BECAUSE_ALLOWED:
		return true;
	case SBX_BECAUSE_DENIED:
		return false;
	case SBX_BECAUSE_NOTHING:
		break;
	}
	return oracle->everything || metadata ||
	    (given(path) & operation->given) != 0;
}

static bool
has_socket_rules(const struct oracle *oracle)
{
	const struct rule_list *rules = &oracle->policy->rules[KIND_SOCKET];

	for (size_t i = 0; i < rules->count; i++) {
		if (is_on_macos(&rules->items[i].origin))
			return true;
	}
	return false;
}

/* launchd makes the agent's socket in a directory with a name of its own. */
static bool
is_agent(const char *path)
{
	static const char head[] = "/private/tmp/com.apple.launchd.";
	const char *name;

	if (strncmp(path, head, sizeof head - 1) != 0)
		return false;
	name = path + sizeof head - 1;
	return strcspn(name, "/") > 0 &&
	    strcmp(name + strcspn(name, "/"), "/Listeners") == 0;
}

static bool
socket_rule_covers(const struct oracle *oracle, const struct rule *rule,
    const char *path)
{
	if (rule->path.at.anchor == SBX_NO_ANCHOR)
		return is_agent(path);
	return sbx_covers(place_of(oracle_bind(oracle, rule->path.at)),
	    place_of(path));
}

bool
oracle_socket(const struct oracle *oracle, const char *path)
{
	const struct rule_list *rules = &oracle->policy->rules[KIND_SOCKET];
	bool allowed = oracle->net == SBX_NET_FULL &&
	    (oracle->everything ||
		strcmp(path, "/private/var/run/mDNSResponder") == 0);

	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->items[i];

		if (!is_on_macos(&rule->origin) ||
		    !socket_rule_covers(oracle, rule, path))
			continue;
		if (rule->effect != SBX_ALLOW)
			return false;
		allowed = true;
	}
	return allowed;
}

bool
oracle_address(const struct oracle *oracle, enum sbx_port_op op, bool tcp,
    bool local, int port)
{
	const struct rule_list *rules = &oracle->policy->rules[KIND_PORT];
	bool allowed = oracle->net == SBX_NET_FULL ||
	    (sbx_net_is_own((uint8_t)oracle->net) && local);

	if (!tcp ||
	    (oracle->net != SBX_NET_FULL && oracle->net != SBX_NET_PORTS))
		return allowed;
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->items[i];

		if (rule->detail != op || !is_on_macos(&rule->origin) ||
		    port < rule->port.low || port > rule->port.high)
			continue;
		if (rule->effect != SBX_ALLOW)
			return false;
		allowed = true;
	}
	return allowed;
}

bool
oracle_signal(const struct oracle *oracle, bool inside)
{
	return inside ||
	    policy_has_blanket(oracle->policy, BLANKET_SIGNAL, SBX_ON_MACOS);
}

bool
oracle_fork(const struct oracle *oracle)
{
	return !policy_denies_spawn(oracle->policy, SBX_ON_MACOS);
}

/* At which network a name is given at the least: always, with any port, with all
 * of it, or never. */
enum { ALWAYS, NETWORK, OPEN, NEVER };

static const struct {
	struct oracle_name name;
	int when;
} names[] = {
#define NAME(when, operation, name) { { operation, name }, when },
#include "tests/model/sbpl/names.def"
#undef NAME
};

const struct oracle_name oracle_names[] = {
#define NAME(when, operation, name) { operation, name },
#include "tests/model/sbpl/names.def"
#undef NAME
	{ NULL, NULL },
};

bool
oracle_other(const struct oracle *oracle, const char *operation,
    const char *name)
{
	bool open = oracle->net == SBX_NET_FULL;
	int reached = open               ? OPEN :
	    oracle->net == SBX_NET_PORTS ? NETWORK :
					   ALWAYS;

	if (oracle->everything)
		return true;
	if (strcmp(name, "name:AF_UNIX") == 0 && has_socket_rules(oracle))
		return true;
	for (size_t i = 0; i < countof(names); i++) {
		if (strcmp(names[i].name.operation, operation) == 0 &&
		    strcmp(names[i].name.name, name) == 0)
			return names[i].when <= reached;
	}
	return false;
}
