/*
 * A drop-in of a service for systemd 252 and later.  Of each place that a rule
 * names the model is asked what may be done there, with the workspace and the
 * home directory bound; a place gets its line where that differs from what lies
 * around it, so that no two lines are about one place.  Where the root may not
 * be read it is an empty file system, into which the places are bound.
 */
#include "compiler/export/export.h"
#include "compiler/query/verdict.h"
#include "compiler/tables/words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- words ---------------------------------------------------------------- */

/* What systemd has no way to write in a list of paths, or would read as
 * something else behind the quotes. */
static bool
is_sayable(const char *text)
{
	for (; *text != '\0'; text++) {
		if ((unsigned char)*text < ' ' || *text == 127)
			return false;
	}
	return true;
}

/* In quotes; "%%" is no specifier.  A colon parts the words of the lists of
 * places that are bound, and of no other. */
static void
put_word(FILE *stream, const char *prefix, const char *text, bool colons)
{
	fprintf(stream, "\"%s", prefix);
	for (; *text != '\0'; text++) {
		if (strchr("\"\\", *text) != NULL || (colons && *text == ':'))
			fputc('\\', stream);
		if (*text == '%')
			fputc('%', stream);
		fputc(*text, stream);
	}
	fputc('"', stream);
}

/* --- places --------------------------------------------------------------- */

static const char *
bound(const struct exporter *exporter, struct target at)
{
	const struct places *places = &exporter->subject->places;

	if (at.anchor == SBX_ANCHOR_TMP)
		return NULL;
	if (at.anchor == SBX_ANCHOR_ROOT)
		return *at.suffix == '\0' ? "/" : at.suffix;
	return arena_printf(exporter->arena, "%.*s%s",
	    (int)places->anchors[at.anchor].len,
	    places->anchors[at.anchor].path, at.suffix);
}

/* All children come right after their parent. */
static int
place_compare(const void *left, const void *right)
{
	const char *a = *(const char *const *)left;
	const char *b = *(const char *const *)right;

	while (*a != '\0' && *a == *b)
		a++, b++;
	return (*a == '/' ? 1 : (unsigned char)*a * 2) -
	    (*b == '/' ? 1 : (unsigned char)*b * 2);
}

struct place_list {
	VEC(const char *) list;
};

static void
place_add(const struct exporter *exporter, struct place_list *places,
    struct target at)
{
	const char *text = bound(exporter, at);

	if (text != NULL && is_sayable(text))
		*arena_push(exporter->arena, &places->list) = text;
}

static struct place_list
places_find_all(const struct exporter *exporter)
{
	const struct policy *policy = exporter->policy;
	struct place_list places = { { NULL, 0 } };
	struct target root = { "", SBX_ANCHOR_ROOT };

	place_add(exporter, &places, root);
	for (size_t i = 0; i < policy->paths.count; i++) {
		const struct path_rule *rule = &policy->paths.items[i];

		if (!export_wants(exporter, &rule->origin))
			continue;
		if (rule->glob == NULL)
			place_add(exporter, &places, rule->at);
		for (size_t j = 0; j < rule->exclusion_count; j++)
			place_add(exporter, &places, rule->exclusions[j]);
	}
	if (places.list.count > 0)
		qsort(places.list.items, places.list.count,
		    sizeof *places.list.items, place_compare);
	return places;
}

static uint8_t
rights_at(const struct exporter *exporter, const char *path)
{
	static const uint8_t rights[] = { SBX_READ, SBX_WRITE, SBX_EXEC };
	struct access access = { .kind = KIND_PATH };
	uint8_t all = 0;

	if (places_find(&exporter->subject->places, path, &access.path) != NULL)
		return 0;
	for (size_t i = 0; i < countof(rights); i++) {
		access.detail = rights[i];
		if (verdict_of(exporter->subject, &access).allowed)
			all |= rights[i];
	}
	return (all & SBX_READ) != 0 ? all : 0;
}

static bool
lies_in(const char *path, const char *around)
{
	size_t len = strlen(around);

	if (len == 1)
		return true;
	return strncmp(path, around, len) == 0 &&
	    (path[len] == '/' || path[len] == '\0');
}

/* systemd makes these itself. */
static bool
is_of_systemd(const char *path)
{
	return lies_in(path, "/dev") || lies_in(path, "/proc");
}

/* --- lines about places --------------------------------------------------- */

struct around {
	const char *path;
	uint8_t rights;
};

struct view {
	const struct exporter *exporter;
	FILE *stream;
	const struct place_list *places;
	VEC(struct around) around;
};

/* Whether something that may be read lies below; then a directory is there. */
static bool
holds_more(const struct view *view, size_t i)
{
	const struct place_list *places = view->places;

	for (size_t j = i + 1; j < places->list.count &&
	     lies_in(places->list.items[j], places->list.items[i]);
	     j++) {
		if (rights_at(view->exporter, places->list.items[j]) != 0)
			return true;
	}
	return false;
}

static void
put_line(const struct view *view, const char *key, const char *path,
    const char *options)
{
	fprintf(view->stream, "%s=", key);
	put_word(view->stream, "-", path, strncmp(key, "Bind", 4) == 0);
	fprintf(view->stream, "%s\n", options);
}

/* "/" alone must be there, and "-" says so of no tmpfs. */
static void
put_empty(const struct view *view, const char *path)
{
	fputs("TemporaryFileSystem=", view->stream);
	put_word(view->stream, "", path, true);
	fputs(":ro,mode=0755\n", view->stream);
}

static void
put_place(struct view *view, size_t i, uint8_t rights, struct around around)
{
	const char *path = view->places->list.items[i];
	bool writes = (rights & SBX_WRITE) != 0;
	bool wrote = (around.rights & SBX_WRITE) != 0;

	if (rights == 0 && (strcmp(path, "/") == 0 || holds_more(view, i)))
		put_empty(view, path);
	else if (rights == 0)
		put_line(view, "InaccessiblePaths", path, "");
	else if (around.rights == 0)
		put_line(view, writes ? "BindPaths" : "BindReadOnlyPaths", path,
		    "");
	else if (writes != wrote)
		put_line(view, writes ? "ReadWritePaths" : "ReadOnlyPaths",
		    path, "");
	if (rights != 0 && ((rights ^ around.rights) & SBX_EXEC) != 0)
		put_line(view,
		    (rights & SBX_EXEC) != 0 ? "ExecPaths" : "NoExecPaths",
		    path, "");
}

static void
put_places(const struct exporter *exporter, FILE *stream)
{
	struct place_list places = places_find_all(exporter);
	struct view view = { exporter, stream, &places, { NULL, 0 } };

	fputs("NoExecPaths=/\n", stream);
	for (size_t i = 0; i < places.list.count; i++) {
		const char *path = places.list.items[i];
		uint8_t rights = rights_at(exporter, path);
		struct around around = { "/", SBX_RIGHTS & ~SBX_EXEC };

		if (is_of_systemd(path) ||
		    (i > 0 && strcmp(path, places.list.items[i - 1]) == 0))
			continue;
		while (view.around.count > 0 &&
		    !lies_in(path,
			view.around.items[view.around.count - 1].path))
			view.around.count--;
		if (view.around.count > 0)
			around = view.around.items[view.around.count - 1];
		if (rights == around.rights && view.around.count > 0)
			continue;
		put_place(&view, i, rights, around);
		*arena_push(exporter->arena,
		    &view.around) = (struct around){ path, rights };
	}
}

static void
put_systems(const struct exporter *exporter, FILE *stream)
{
	static const char *const devices[] = { "/dev/null", "/dev/zero",
		"/dev/full", "/dev/random", "/dev/urandom", "/dev/tty",
		"/dev/ptmx", "/dev/pts", "/dev/shm" };

	fputs("MountAPIVFS=yes\nPrivateDevices=yes\nPrivateTmp=yes\n"
	      "ProtectProc=invisible\nProcSubset=pid\n",
	    stream);
	if (rights_at(exporter, "/proc") == 0)
		fputs("InaccessiblePaths=/proc\n", stream);
	if (rights_at(exporter, "/sys") == 0)
		fputs("InaccessiblePaths=-/sys\n", stream);
	for (size_t i = 0; i < countof(devices); i++) {
		uint8_t rights = rights_at(exporter, devices[i]);

		if (rights == 0)
			fprintf(stream, "InaccessiblePaths=-%s\n", devices[i]);
		else if ((rights & SBX_WRITE) == 0)
			fprintf(stream, "ReadOnlyPaths=-%s\n", devices[i]);
	}
}

/* --- calls ---------------------------------------------------------------- */

/* systemd asks these about their arguments itself, and is as strict; of socket(2)
 * it asks the family alone, which is told on its own. */
static const char *const asked[] = { "clone", "clone3", "unshare", "setns",
	"socket", "personality" };

/* The last call that systemd 252 has a name for; newer ones answer ENOSYS, like
 * all that are not named. */
enum { NEWEST = 450 };

static bool
is_known(const struct filter_entry *entry)
{
	return entry->name != NULL && entry->number <= NEWEST &&
	    strcmp(entry->name, "uretprobe") != 0 &&
	    strcmp(entry->name, "uprobe") != 0;
}

static bool
may_pass(const struct filter_entry *entry)
{
	if (entry->action == FILTER_ALLOW)
		return true;
	for (size_t i = 0; i < entry->clause_count; i++) {
		if (entry->clauses[i].action == FILTER_ALLOW)
			return true;
	}
	return false;
}

static bool
is_weaker(const struct filter_entry *entry)
{
	bool denies = entry->action != FILTER_ALLOW;

	for (size_t i = 0; i < entry->clause_count; i++)
		denies |= entry->clauses[i].action != FILTER_ALLOW;
	for (size_t i = 0; i < countof(asked); i++) {
		if (strcmp(asked[i], entry->name) == 0)
			return false;
	}
	return denies && may_pass(entry);
}

static void
filter_get(const struct exporter *exporter, struct filter *filter)
{
	export_filter(exporter,
	    sbx_net_is_own(exporter->net) ? SBX_PROGRAM_LOOPBACK : 0, filter);
}

static const struct family {
	uint64_t number;
	uint64_t type; /* of the plainest socket */
	const char *name;
} families[] = { { 1, 1, "AF_UNIX" }, { 2, 1, "AF_INET" },
	{ 10, 1, "AF_INET6" }, { 16, 3, "AF_NETLINK" } };

static bool
opens(const struct filter *filter, const struct family *family, uint64_t type,
    uint64_t protocol)
{
	struct syscall_data data = { .audit = filter->arch->audit,
		.args = { family->number, type, protocol } };

	for (size_t i = 0; i < filter->entry_count; i++) {
		if (filter->entries[i].name != NULL &&
		    strcmp(filter->entries[i].name, "socket") == 0)
			data.number = (int32_t)filter->entries[i].number;
	}
	return filter_verdict(filter, &data) == FILTER_ALLOW;
}

/* Of the types and protocols the last one is none that the policy can name, and
 * stands for all others. */
static bool
opens_all(const struct filter *filter, const struct family *family)
{
	static const uint64_t types[] = { 1, 2, 3, 5, 7 };
	static const uint64_t protocols[] = { 0, 6, 511 };

	for (size_t i = 0; i < countof(types); i++) {
		for (size_t j = 0; j < countof(protocols); j++) {
			if (!opens(filter, family, types[i], protocols[j]))
				return false;
		}
	}
	return true;
}

static void
put_families(const struct filter *filter, FILE *stream)
{
	bool any = false;

	fputs("RestrictAddressFamilies=", stream);
	for (size_t i = 0; i < countof(families); i++) {
		if (!opens(filter, &families[i], families[i].type, 0))
			continue;
		fprintf(stream, "%s%s", any ? " " : "", families[i].name);
		any = true;
	}
	fputs(any ? "\n" : "none\n", stream);
}

static void
put_calls(const struct exporter *exporter, FILE *stream)
{
	struct filter filter;

	filter_get(exporter, &filter);
	fputs("SystemCallArchitectures=native\nSystemCallFilter=", stream);
	for (size_t i = 0; i < filter.entry_count; i++) {
		if (is_known(&filter.entries[i]) &&
		    may_pass(&filter.entries[i]))
			fprintf(stream, " %s", filter.entries[i].name);
	}
	fputs("\nSystemCallErrorNumber=ENOSYS\nSystemCallFilter=~", stream);
	for (size_t i = 0; i < filter.entry_count; i++) {
		const struct filter_entry *entry = &filter.entries[i];

		if (is_known(entry) && !may_pass(entry) &&
		    entry->action == (FILTER_ERRNO | EPERM))
			fprintf(stream, " %s:EPERM", entry->name);
	}
	fputs("\nRestrictNamespaces=yes\nLockPersonality=yes\n", stream);
	put_families(&filter, stream);
}

/* --- the rest ------------------------------------------------------------- */

static const struct {
	enum sbx_limit_kind kind;
	const char *key;
} limits[] = {
	{ SBX_LIMIT_FILE_SIZE, "LimitFSIZE" },
	{ SBX_LIMIT_PROCESSES, "TasksMax" },
	{ SBX_LIMIT_OPEN_FILES, "LimitNOFILE" },
	{ SBX_LIMIT_CPU_TIME, "LimitCPU" },
	{ SBX_LIMIT_MEMORY, "MemorySwapMax=0\nMemoryMax" },
	{ SBX_LIMIT_CORE, "LimitCORE" },
	{ SBX_LIMIT_STACK, "LimitSTACK" },
	{ SBX_LIMIT_TIMEOUT, "TimeoutStopSec=2\nRuntimeMaxSec" },
};

static void
put_limits(const struct exporter *exporter, FILE *stream)
{
	for (size_t i = 0; i < countof(limits); i++) {
		const struct rule *rule = export_limit(exporter,
		    limits[i].kind);

		if (rule != NULL)
			fprintf(stream, "%s=%" PRIu64 "\n", limits[i].key,
			    rule->limit.value);
	}
}

static void
put_variables(const struct exporter *exporter, FILE *stream)
{
	const struct rule_list *sets = &exporter->policy->rules[KIND_SET];
	const struct rule_list *envs = &exporter->policy->rules[KIND_ENV];

	for (size_t i = 0; i < envs->count; i++) {
		const struct rule *rule = &envs->items[i];

		if (rule->effect != SBX_ALLOW &&
		    strchr(rule->env.pattern, '*') == NULL &&
		    export_wants(exporter, &rule->origin))
			fprintf(stream, "UnsetEnvironment=%s\n",
			    rule->env.pattern);
	}
	for (size_t i = 0; i < sets->count; i++) {
		const struct rule *rule = &sets->items[i];
		struct target value = { rule->set.text, rule->set.anchor };
		const char *text = rule->set.anchor == SBX_NO_ANCHOR ?
		    rule->set.text :
		    bound(exporter, value);

		if (text == NULL)
			text = arena_printf(exporter->arena, "/tmp%s",
			    value.suffix);
		if (!export_wants(exporter, &rule->origin) || !is_sayable(text))
			continue;
		fputs("Environment=", stream);
		put_word(stream,
		    arena_printf(exporter->arena, "%s=", rule->set.name), text,
		    false);
		fputc('\n', stream);
	}
}

/* --- losses --------------------------------------------------------------- */

static void
call_losses(struct exporter *exporter)
{
	struct arena *arena = exporter->arena;
	const char *weaker = "", *wider = "";
	struct filter filter;

	filter_get(exporter, &filter);
	for (size_t i = 0; i < filter.entry_count; i++) {
		if (filter.entries[i].name != NULL &&
		    is_weaker(&filter.entries[i]))
			weaker = arena_printf(arena, "%s %s", weaker,
			    filter.entries[i].name);
	}
	for (size_t i = 0; i < countof(families); i++) {
		if (opens(&filter, &families[i], families[i].type, 0) &&
		    !opens_all(&filter, &families[i]))
			wider = arena_printf(arena, "%s %s", wider,
			    families[i].name);
	}
	if (*weaker != '\0')
		loss_add_own(exporter,
		    arena_printf(arena,
			"it lets these calls through whatever their "
			"arguments:%s",
			weaker));
	if (*wider != '\0')
		loss_add_own(exporter,
		    arena_printf(arena,
			"it opens sockets of these families whatever their "
			"type and protocol:%s",
			wider));
}

void
systemd_paths(struct exporter *exporter)
{
	const struct policy *policy = exporter->policy;

	for (size_t i = 0; i < policy->paths.count; i++) {
		const struct path_rule *rule = &policy->paths.items[i];
		bool allow = rule->effect == SBX_ALLOW;
		enum loss_kind kind = allow ? LOSS_NARROWER : LOSS_WEAKER;
		const char *text = bound(exporter, rule->at);

		if (rule->glob != NULL)
			loss_add_path(exporter, kind, rule,
			    "it has no patterns for paths");
		else if (text == NULL && *rule->at.suffix != '\0')
			loss_add_path(exporter, kind, rule,
			    "the scratch directory is new and empty at each "
			    "start");
		else if (text != NULL && !is_sayable(text))
			loss_add_path(exporter, kind, rule,
			    "a list of paths has no such character");
		else if (text != NULL && is_of_systemd(text) && !allow)
			loss_add_path(exporter, LOSS_WEAKER, rule,
			    "it makes /dev and /proc itself, as a whole");
	}
	call_losses(exporter);
	loss_add_own(exporter,
	    "signals reach all processes of the service's user");
	loss_add_own(exporter,
	    "variables of the service manager are handed on");
}

void
systemd_write(const struct exporter *exporter, FILE *stream)
{
	const char *workspace = bound(exporter,
	    (struct target){ "", SBX_ANCHOR_WORKSPACE });

	fprintf(stream,
	    "# The policy '%s', made by 'sbxc export -O systemd': a drop-in\n"
	    "# for systemd 252 and later, such as NAME.service.d/sbx.conf.\n",
	    exporter->policy->profile);
	if (exporter->losses.count > 0)
		fputs("# The policy says more than systemd can:\n", stream);
	losses_print(exporter, stream, "#\t");
	fputs("[Service]\n", stream);
	if (exporter->everything)
		return;
	fputs("NoNewPrivileges=yes\nCapabilityBoundingSet=\n"
	      "AmbientCapabilities=\nPrivateIPC=yes\nKeyringMode=private\n"
	      "ProtectHostname=yes\nProtectControlGroups=yes\n",
	    stream);
	if (exporter->net != SBX_NET_FULL)
		fputs("PrivateNetwork=yes\n", stream);
	if (is_sayable(workspace) && strpbrk(workspace, " \\") == NULL &&
	    rights_at(exporter, workspace) != 0) {
		fputs("WorkingDirectory=", stream);
		for (const char *c = workspace; *c != '\0'; c++)
			fputs(*c == '%' ? "%%" : (char[]){ *c, '\0' }, stream);
		fputc('\n', stream);
	}
	put_places(exporter, stream);
	put_systems(exporter, stream);
	put_calls(exporter, stream);
	put_limits(exporter, stream);
	put_variables(exporter, stream);
}
