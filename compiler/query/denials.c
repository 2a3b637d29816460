/*
 * What `sbxrun --explain` asks when the command has ended: what would allow
 * what was denied to it.  The questions and the answers are the records of
 * format/protocol.h; the answers are those of why.h.
 */
#include "compiler/query/query.h"
#include "compiler/query/why.h"
#include "compiler/tables/tables.h"
#include "format/protocol.h"

#include <errno.h>
#include <string.h>

enum { NAME_SERVERS = 53 }; /* their port */

static const char *
call_name(const struct subject *subject, int32_t number)
{
	const struct arch *arch = subject->arch;
	const char **names;

	if (number < 0 || (uint32_t)number >= arch->number_limit)
		return NULL;
	names = arena_alloc(subject->places.arena,
	    arch->number_limit * sizeof *names);
	syscall_names(arch, names);
	return names[number];
}

/* What a rule would have to be about: a program that replaces a file makes one
 * beside it, and the names of a directory are one question. */
static const char *
path_of(const struct subject *subject, const struct sbx_denial *denial)
{
	struct arena *arena = subject->places.arena;
	const char *slash = strrchr(denial->path, '/');

	if (denial->names > 0 && slash != NULL && slash > denial->path)
		return arena_strndup(arena, denial->path,
		    (size_t)(slash - denial->path));
	return denial->replaced ? arena_printf(arena, "%s~", denial->path) :
				  denial->path;
}

static const char *
call_of(const struct subject *subject, const struct sbx_denial *denial,
    const char *name)
{
	if (name == NULL || strcmp(name, "socket") != 0)
		return name;
	return arena_printf(subject->places.arena, "socket(%u,%u,%u)",
	    denial->args[0], denial->args[1], denial->args[2]);
}

/* Whether `deny spawn` is what denies it: threads can always be made. */
static bool
starts_programs(const struct subject *subject, const char *name)
{
	static const char *const names[] = { "clone", "clone3", "execve",
		"execveat", "fork", "vfork" };
	const struct sbx_meta *meta = subject->places.blob->meta;

	for (size_t i = 0; name != NULL && i < countof(names); i++) {
		if (strcmp(names[i], name) == 0)
			return (meta->flags & SBX_NO_SPAWN) != 0;
	}
	return false;
}

static const char *
host_of(const struct subject *subject, const struct sbx_denial *denial)
{
	struct arena *arena = subject->places.arena;
	bool v6 = strchr(denial->path, ':') != NULL;

	if (denial->port == 0)
		return denial->path;
	return arena_printf(arena, v6 ? "[%s]:%u" : "%s:%u", denial->path,
	    (unsigned)denial->port);
}

/* A text that does not fit is left out: half a rule is another rule. */
static void
put(char to[SBX_ADVICE_TEXT], const char *text)
{
	if (text != NULL && strlen(text) < SBX_ADVICE_TEXT)
		memcpy(to, text, strlen(text) + 1);
}

/* What the program's command line names, for which it wanted a socket of the
 * internet or the address: the rule is about that host.  The kind of rule, or
 * NULL. */
static const char *
destination_of(const struct subject *subject, const struct sbx_denial *denial)
{
	enum { INET = 2, STREAM = 1, DGRAM = 2 };
	enum sbx_net net = subject->places.blob->meta->net;

	if (net != SBX_NET_NONE && net != SBX_NET_LOOPBACK)
		return NULL;
	if (denial->kind == SBX_DENIED_NAME)
		return "domain";
	if (denial->kind != SBX_DENIED_CALL || *denial->path == '\0' ||
	    denial->args[0] != INET ||
	    (denial->args[1] != STREAM && denial->args[1] != DGRAM))
		return NULL;
	if (strcmp(denial->path, "localhost") == 0 ||
	    strncmp(denial->path, "127.", 4) == 0)
		return "host";
	return strspn(denial->path, "0123456789.") == strlen(denial->path) ?
	    "connect" :
	    "domain";
}

/* A program that asks for addresses, and for no port. */
static bool
is_lookup(const struct sbx_denial *denial)
{
	return strcmp(denial->program, "getent") == 0;
}

static size_t
find_host(const struct subject *subject, const struct sbx_denial *denial,
    const char *words[3])
{
	const char *kind = destination_of(subject, denial);

	if (kind == NULL || (denial->port == 0 && !is_lookup(denial)) ||
	    (denial->port == 0 && strcmp(kind, "domain") != 0))
		return 0;
	words[0] = kind;
	words[1] = host_of(subject, denial);
	if (strcmp(kind, "host") != 0)
		return 2;
	words[1] = "tcp";
	words[2] = arena_printf(subject->places.arena, "%u",
	    (unsigned)denial->port);
	return 3;
}

/* The command line does not say which port: the user knows it, and a guess would
 * open another service. */
static bool
put_unknown_port(const struct subject *subject, const struct sbx_denial *denial,
    struct sbx_advice *advice)
{
	const char *kind = destination_of(subject, denial);
	bool local = kind != NULL && strcmp(kind, "host") == 0;

	if (kind == NULL || denial->port != 0 || is_lookup(denial))
		return false;
	advice->count = 1;
	advice->where[0] = SBX_ADVICE_HINT;
	put(advice->steps[0],
	    arena_printf(subject->places.arena,
		"'allow network %s %s%sPORT', with the service's own port "
		"for PORT, which the command line does not say",
		kind, local ? "tcp " : denial->path, local ? "" : ":"));
	return true;
}

static bool
find_access(const struct subject *subject, const struct sbx_denial *denial,
    struct access *access)
{
	static const char *const rights[SBX_DENIED_END] = { "read", "write",
		"exec", "socket", "connect", "listen", "syscall", "domain",
		"connect", "host", "publish" };
	const char *words[3] = { rights[denial->kind] };
	size_t count = 2;

	switch ((enum sbx_denied)denial->kind) {
	case SBX_DENIED_READ:
	case SBX_DENIED_WRITE:
	case SBX_DENIED_EXEC:
	case SBX_DENIED_SOCKET:
		words[1] = path_of(subject, denial);
		break;
	case SBX_DENIED_CONNECT:
	case SBX_DENIED_LISTEN:
	case SBX_DENIED_HOST:
	case SBX_DENIED_PUBLISH:
		words[1] = "tcp";
		words[2] = arena_printf(subject->places.arena, "%u",
		    denial->port);
		count = 3;
		break;
	case SBX_DENIED_NAME:
	case SBX_DENIED_ADDRESS:
		words[1] = host_of(subject, denial);
		break;
	case SBX_DENIED_CALL:
		count = find_host(subject, denial, words);
		if (count > 0)
			break;
		count = 2;
		words[1] = call_of(subject, denial,
		    call_name(subject, denial->number));
		if (starts_programs(subject, words[1])) {
			words[0] = "spawn";
			count = 1;
		} else if (words[1] != NULL && strcmp(words[1], "clone") == 0)
			words[1] = "clone(0x10000000)"; /* CLONE_NEWUSER */
		break;
	case SBX_DENIED_END:
		break;
	}
	if (words[1] == NULL ||
	    access_parse(&subject->places, words, count, access) != NULL)
		return false;
	access->outside = true;
	access->makes_file = denial->makes_file;
	return true;
}

/* The rule that decides; or, where it only makes something impossible
 * elsewhere, the one that the supervisor has found. */
static void
put_rule(const struct subject *subject, const struct sbx_denial *denial,
    const struct verdict *verdict, struct sbx_advice *advice)
{
	struct arena *arena = subject->places.arena;
	const struct sbx_blob *blob = subject->places.blob;

	bool other = verdict->allowed || denial->skipped;

	for (uint32_t i = 0; other && i < blob->path_count; i++) {
		if (denial->source != SBX_NO_SOURCE &&
		    blob->paths[i].source == denial->source) {
			put(advice->rule,
			    shown_rule(arena, blob, &blob->paths[i]));
			return;
		}
	}
	if (verdict->by == BY_NOTHING || verdict->allowed)
		return;
	put(advice->rule, decider_text(arena, blob, verdict));
	if (verdict->source != SBX_NO_SOURCE && denial->source == SBX_NO_SOURCE)
		put(advice->source,
		    show_source_text(arena, blob, verdict->source));
}

/* Landlock takes nothing back: so, below level full, nothing can be made or
 * removed in a directory that has a denied place in it. */
static void
put_split(struct sbx_advice *advice)
{
	advice->where[0] = SBX_ADVICE_HINT;
	put(advice->steps[advice->count++],
	    "level full; below it nothing can be made or removed beside a "
	    "place that a rule denies, unless it says 'prefer deny'");
}

/* The rule that names the place by a link says nothing; one that names the place
 * itself does. */
static void
put_skipped(struct sbx_advice *advice)
{
	advice->where[advice->count] = SBX_ADVICE_HINT;
	put(advice->steps[advice->count++],
	    "name the place itself: that rule is skipped, because a command or "
	    "another user could have made a link on its way");
}

/* A socket, or a question for a name, of which nobody knows for whom. */
static bool
is_nameless(const struct sbx_denial *denial, const struct sbx_advice *advice)
{
	if (denial->kind == SBX_DENIED_ADDRESS)
		return denial->port == NAME_SERVERS;
	return denial->kind == SBX_DENIED_CALL && *denial->path == '\0' &&
	    strcmp(advice->object, "socket") == 0;
}

/* Whom it asks is no word of such a program's command line, but known. */
static bool
put_fetching(const struct subject *subject, const struct sbx_denial *denial,
    struct sbx_advice *advice)
{
	static const char *const fetchers[] = {
#define FETCHER(name) name,
#define HOME_VARIABLE(place, variable, value)
#define GROUP_KEEPS(group, what)
#include "compiler/tables/remedies.def"
#undef GROUP_KEEPS
#undef HOME_VARIABLE
#undef FETCHER
	};
	enum sbx_net net = subject->places.blob->meta->net;
	size_t len = strcspn(denial->program, " ");

	if (!is_nameless(denial, advice) ||
	    (net != SBX_NET_NONE && net != SBX_NET_LOOPBACK))
		return false;
	for (size_t i = 0; i < countof(fetchers); i++) {
		if (strlen(fetchers[i]) != len ||
		    memcmp(fetchers[i], denial->program, len) != 0)
			continue;
		advice->works = true;
		advice->count = 2;
		advice->where[0] = SBX_ADVICE_POLICY;
		put(advice->steps[0], "use registries");
		advice->where[1] = SBX_ADVICE_OPENS;
		put(advice->steps[1],
		    "the hosts of all package managers, where others publish "
		    "what they like, and it may be sent to");
		return true;
	}
	return false;
}

/* What no rule decides. */
static void
put_obstacle(struct arena *arena, const struct sbx_denial *denial,
    struct sbx_advice *advice)
{
	static const struct {
		enum sbx_advice_where where;
		const char *because, *step;
	} obstacles[SBX_OBSTACLE_END] = {
#define OBSTACLE(name, because, where, step) \
	[SBX_OBSTACLE_##name] = { SBX_ADVICE_##where, because, step },
#include "format/obstacles.def"
#undef OBSTACLE
	};
	const char *about = denial->path,
		   *step = obstacles[denial->obstacle].step;
	const char *because = obstacles[denial->obstacle].because;

	if (denial->obstacle == SBX_OBSTACLE_LIMIT) {
		because = arena_printf(arena, "%s %s", because, about);
		step = arena_printf(arena, "--limit %.*s=none lifts it",
		    (int)strcspn(about, " "), about);
		about = denial->remedy;
	}
	if (*about != '\0')
		put(advice->object,
		    arena_printf(arena, "%s %s", advice->object, about));
	put(advice->rule, because);
	advice->count = 1;
	advice->where[0] = (uint8_t)obstacles[denial->obstacle].where;
	put(advice->steps[0], step);
}

static void
advise(const struct subject *subject, const struct sbx_denial *denial,
    struct sbx_advice *advice)
{
	struct arena *arena = subject->places.arena;
	struct access access;
	struct verdict verdict;
	struct remedy remedy;

	if (denial->kind == SBX_DENIED_CALL)
		put(advice->object, call_name(subject, denial->number));
	if (denial->obstacle != SBX_NO_OBSTACLE) {
		put_obstacle(arena, denial, advice);
		return;
	}
	if (!find_access(subject, denial, &access))
		return;
	verdict = verdict_of(subject, &access);
	put_rule(subject, denial, &verdict, advice);
	advice->allowed = verdict.allowed;
	if (denial->skipped)
		put_skipped(advice);
	if (verdict.allowed) {
		if (!denial->skipped && denial->source != SBX_NO_SOURCE)
			put_split(advice);
		return;
	}
	put(advice->file, remedy_file(arena, subject->places.blob));
	remedy = remedy_find(subject, &access, &verdict);
	advice->works = remedy_works(&remedy);
	if (put_fetching(subject, denial, advice))
		return;
	if (put_unknown_port(subject, denial, advice)) {
		advice->works = false;
		return;
	}
	for (size_t i = 0;
	     i < remedy.steps.count && advice->count < SBX_ADVICE_STEPS; i++) {
		advice->where[advice->count] = (uint8_t)remedy_where(
		    &remedy.steps.items[i]);
		put(advice->steps[advice->count++],
		    remedy_words(arena, &remedy, i));
	}
}

/* --- the words of a call -------------------------------------------------- */

/* "socket inet stream for github.com:443": the host is one that the program's
 * command line names, which is a guess. */
static const char *
socket_words(struct arena *arena, const struct sbx_denial *denial)
{
	static const struct {
		uint32_t number;
		const char *name;
	} families[] = { { 1, "unix" }, { 2, "inet" }, { 10, "inet6" },
		{ 16, "netlink" }, { 17, "packet" }, { 40, "vsock" } },
	  types[] = { { 1, "stream" }, { 2, "dgram" }, { 3, "raw" },
		  { 5, "seqpacket" } };
	const char *family = NULL, *type = NULL, *words;

	for (size_t i = 0; i < countof(families); i++) {
		if (families[i].number == denial->args[0])
			family = families[i].name;
	}
	for (size_t i = 0; i < countof(types); i++) {
		if (types[i].number == denial->args[1])
			type = types[i].name;
	}
	words = family != NULL && type != NULL ?
	    arena_printf(arena, "socket %s %s", family, type) :
	    arena_printf(arena, "socket(%u, %u)", denial->args[0],
		denial->args[1]);
	if (*denial->path == '\0')
		return words;
	return denial->port == 0 ?
	    arena_printf(arena, "%s for %s", words, denial->path) :
	    arena_printf(arena, "%s for %s:%u", words, denial->path,
		(unsigned)denial->port);
}

static void
put_call(const struct subject *subject, const struct sbx_denial *denial,
    struct sbx_advice *advice)
{
	if (strcmp(advice->object, "socket") == 0)
		put(advice->object,
		    socket_words(subject->places.arena, denial));
}

/* --- the network, and sessions -------------------------------------------- */

/* Of package managers is known whom they ask.  Where nothing leads out, a name is
 * that of the command line, which may lack the port. */
static bool
is_answered(const struct subject *subject, const struct sbx_denial *denial,
    const struct sbx_advice *advice)
{
	if (denial->kind == SBX_DENIED_NAME)
		return subject->places.blob->meta->net == SBX_NET_LOOPBACK;
	return advice->works && denial->kind == SBX_DENIED_ADDRESS &&
	    denial->port == NAME_SERVERS;
}

static void
put_step(struct sbx_advice *advice, enum sbx_advice_where where,
    const char *text)
{
	advice->count = 1;
	advice->where[0] = (uint8_t)where;
	memset(advice->steps[0], 0, sizeof advice->steps[0]);
	put(advice->steps[0], text);
}

/* The network's own part knows which rule would do, but not whose name was asked
 * of a server of the internet. */
static void
put_host(const struct subject *subject, const struct sbx_denial *denial,
    struct sbx_advice *advice)
{
	if (denial->kind < SBX_DENIED_NAME ||
	    is_answered(subject, denial, advice))
		return;
	if (denial->kind == SBX_DENIED_ADDRESS &&
	    denial->port == NAME_SERVERS) {
		put_step(advice, SBX_ADVICE_HINT,
		    "'allow network domain NAME', of the host whose name it "
		    "looked up");
		advice->works = false;
	} else if (*denial->remedy != '\0') {
		put_step(advice, SBX_ADVICE_POLICY, denial->remedy);
		advice->works = true;
	}
}

/* --- all of them ---------------------------------------------------------- */

static bool
is_good(const struct sbx_denial *denial)
{
	return denial->kind < SBX_DENIED_END &&
	    denial->obstacle < SBX_OBSTACLE_END &&
	    memchr(denial->path, '\0', sizeof denial->path) != NULL &&
	    memchr(denial->program, '\0', sizeof denial->program) != NULL &&
	    memchr(denial->reason, '\0', sizeof denial->reason) != NULL &&
	    memchr(denial->remedy, '\0', sizeof denial->remedy) != NULL;
}

/* What the ceiling does not allow, nothing opens. */
static void
put_ceiling(const struct subject *subject, const struct sbx_denial *denial,
    struct sbx_advice *advice)
{
	const struct subject *ceiling = subject->ceiling;
	const char *rule;
	struct access access;

	if (ceiling == NULL || denial->obstacle != SBX_NO_OBSTACLE ||
	    !find_access(ceiling, denial, &access))
		return;
	rule = ceiling_denies(ceiling, &access);
	if (rule == NULL)
		return;
	put_step(advice, SBX_ADVICE_HINT,
	    arena_printf(subject->places.arena,
		"nothing does: the ceiling of this machine does not allow it "
		"(%s)",
		rule));
	advice->works = false;
}

bool
denials_read(const struct subject *subject, FILE *from, struct denials *denials)
{
	struct arena *arena = subject->places.arena;
	uint32_t count;

	errno = EINVAL;
	if (fread(&denials->head, sizeof denials->head, 1, from) != 1 ||
	    denials->head.count > SBX_DENIALS_MAX ||
	    memchr(denials->head.limits, '\0', sizeof denials->head.limits) ==
		NULL ||
	    memchr(denials->head.withheld, '\0',
		sizeof denials->head.withheld) == NULL)
		return false;
	count = denials->head.count;
	denials->all = arena_alloc(arena, (count + 1) * sizeof *denials->all);
	denials->advice = arena_alloc(arena,
	    (count + 1) * sizeof *denials->advice);
	if (fread(denials->all, sizeof *denials->all, count, from) != count)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const struct sbx_denial *denial = &denials->all[i];
		struct sbx_advice *advice = &denials->advice[i];

		if (!is_good(denial))
			return false;
		advise(subject, denial, advice);
		put_host(subject, denial, advice);
		put_ceiling(subject, denial, advice);
		/* Where the session was made before something was there, its
		 * rules do not grant it. */
		if (denials->head.session && advice->allowed &&
		    denial->source == SBX_NO_SOURCE &&
		    denial->kind <= SBX_DENIED_SOCKET)
			put_step(advice, SBX_ADVICE_HINT,
			    "the session was made before this was allowed: "
			    "sbxrun --session NAME --end");
		if (denial->kind == SBX_DENIED_CALL)
			put_call(subject, denial, advice);
	}
	return true;
}
