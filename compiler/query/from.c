/*
 * See from.h.  A message tells too little: not which right was wanted, and often
 * not even that the policy is the reason.  So each place that it names is looked
 * at in turn: a failure is the policy's if the policy denies what the message is
 * about, and this user could do it outside, where it is there.
 */
#include "compiler/query/from.h"
#include "compiler/base/input.h"
#include "compiler/base/json.h"
#include "compiler/query/decider.h"
#include "compiler/query/message_words.h"
#include "compiler/query/messages.h"
#include "compiler/query/program.h"
#include "compiler/query/remedy.h"
#include "compiler/query/show.h"
#include "compiler/query/why.h"

#include "format/utf8.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FROM_VERSION = 1,
	FINDINGS_MAX = 64,
	REMARKS_MAX = 8,
	TEXT_KEPT = 1 << 20, /* bytes: what was said last counts */
};

struct finding {
	const struct mention *mention;
	struct access access;
	const char *text; /* of the access */
};

/* What a line does not let one decide, and what to do about it. */
struct remark {
	const struct mention *mention;
	const char *text;
};

struct search {
	const struct from *from;
	struct arena *arena;
	uint32_t failures; /* lines that tell of one */
	VEC(struct finding) findings;
	VEC(struct remark) remarks;
};

/* --- what would be without the policy ------------------------------------- */

static bool
user_may(const char *path, int mode)
{
	return access(*path != '\0' ? path : "/", mode) == 0;
}

static const char *
text_of(struct arena *arena, struct sbx_place place)
{
	return arena_strndup(arena, place.path, place.len);
}

/* The directory that a new name would be made in. */
static bool
may_make(const struct search *search, const struct mention *mention,
    struct sbx_place place)
{
	struct sbx_place near = here_nearest(place);
	size_t left = place.len - near.len;

	/* Without the policy it would be absent as well. */
	if (mention->error == ERROR_ABSENT && left > 1 &&
	    memchr(place.path + near.len + 1, '/', left - 1) != NULL)
		return false;
	return user_may(text_of(search->arena, near), W_OK | X_OK);
}

static bool
is_socket(const struct search *search, struct sbx_place place)
{
	struct stat status;

	return lstat(text_of(search->arena, place), &status) == 0 &&
	    S_ISSOCK(status.st_mode);
}

static bool
works_outside(const struct search *search, const struct mention *mention,
    const struct access *access)
{
	const char *path = text_of(search->arena, access->path);
	bool there = here_has(access->path);

	switch (access->detail) {
	case SBX_READ:
		return there && user_may(path, R_OK);
	case SBX_EXEC:
		return there && here_runs(path) && user_may(path, X_OK);
	default:
		return there ? user_may(path, W_OK) :
			       may_make(search, mention, access->path);
	}
}

/* --- mentions ------------------------------------------------------------- */

/* The sandbox's own; scratch directories are in /tmp/sbx-UID. */
static bool
is_own(struct sbx_place place)
{
	static const char *const own[] = { "/proc/", "/dev/pts/", "/dev/shm/",
		"/tmp/sbx-" };

	for (size_t i = 0; i < countof(own); i++) {
		if (strncmp(place.path, own[i], strlen(own[i])) == 0)
			return true;
	}
	return false;
}

static bool
keep(struct search *search, const struct mention *mention,
    const struct access *access)
{
	const char *text = access_text(search->arena, access);

	for (size_t i = 0; i < search->findings.count; i++) {
		if (strcmp(search->findings.items[i].text, text) == 0)
			return true;
	}
	if (search->findings.count < FINDINGS_MAX)
		*arena_push(search->arena, &search->findings) =
		    (struct finding){ mention, *access, text };
	return true;
}

static bool
try_place(struct search *search, const struct mention *mention,
    const char *right)
{
	const struct subject *subject = search->from->subject;
	const char *words[] = { right, mention->name };
	struct access access;
	struct verdict verdict;

	if (strpbrk(mention->name, "$*\n") != NULL ||
	    access_parse(&subject->places, words, countof(words), &access) !=
		NULL ||
	    is_own(access.path) || (mention->guessed && !here_has(access.path)))
		return false;
	if (is_socket(search, access.path)) {
		words[0] = "socket";
		access_parse(&subject->places, words, countof(words), &access);
		verdict = verdict_of(subject, &access);
		return !verdict.allowed && !verdict.unenforced &&
		    keep(search, mention, &access);
	}
	verdict = verdict_of(subject, &access);
	if (verdict.allowed || verdict.unenforced || verdict.scratch ||
	    !works_outside(search, mention, &access))
		return false;
	access.makes_file = !here_has(access.path) && !mention->directory;
	return keep(search, mention, &access);
}

/* Below level full the errno is always EACCES. */
static bool
find_place(struct search *search, const struct mention *mention)
{
	bool full = search->from->subject->level == SBX_LEVEL_FULL;

	if (!full && mention->error != ERROR_DENIED)
		return false;
	if (mention->error == ERROR_READ_ONLY)
		return try_place(search, mention, "write");
	if (mention->runs && try_place(search, mention, "exec"))
		return true;
	return (mention->writes && try_place(search, mention, "write")) ||
	    try_place(search, mention, "read") ||
	    try_place(search, mention, "exec") ||
	    (mention->error == ERROR_DENIED && !mention->writes &&
		!message_reads(mention->text) &&
		try_place(search, mention, "write"));
}

static bool
find_program(struct search *search, const struct mention *mention)
{
	struct mention program = *mention;

	program.name = program_find(search->from->subject, mention->name);
	return program.name != NULL && program.name[0] == '/' &&
	    try_place(search,
		memcpy(arena_alloc(search->arena, sizeof program), &program,
		    sizeof program),
		"exec");
}

static bool
find_host(struct search *search, const struct mention *mention)
{
	const struct subject *subject = search->from->subject;
	bool is_address = strspn(mention->name, "0123456789.") ==
	    strlen(mention->name);
	const char *words[] = {
		is_address ? "connect" : "domain",
		mention->port == 0 ?
		    mention->name :
		    arena_printf(search->arena, "%s:%u", mention->name,
			(unsigned)mention->port),
	};
	struct access access;

	return access_parse(&subject->places, words, countof(words), &access) ==
	    NULL &&
	    !verdict_of(subject, &access).allowed &&
	    keep(search, mention, &access);
}

static bool
remark(struct search *search, const struct mention *mention, const char *text)
{
	for (size_t i = 0; i < search->remarks.count; i++) {
		if (strcmp(search->remarks.items[i].text, text) == 0)
			return false;
	}
	if (search->remarks.count < REMARKS_MAX)
		*arena_push(search->arena,
		    &search->remarks) = (struct remark){ mention, text };
	return false;
}

/* A network of its own without ways out has sockets, but no names. */
static bool
lacks_ways(struct search *search, const struct mention *mention)
{
	if (mention->error != ERROR_NETWORK ||
	    search->from->subject->places.blob->meta->net != SBX_NET_LOOPBACK ||
	    search->from->subject->level < SBX_LEVEL_STANDARD)
		return false;
	return remark(search, mention,
	    "this policy lets nothing out of the sandbox's own network; the "
	    "line does not say where to: 'allow network domain NAME' is for "
	    "one host");
}

/* Calls that every user may make outside; of the others a superuser alone. */
static bool
may_call(const char *name)
{
	static const char *const calls[] = { "bpf", "io_uring_setup", "keyctl",
		"perf_event_open", "personality", "ptrace", "setns", "socket",
		"unshare", "userfaultfd" };

	for (size_t i = 0; i < countof(calls); i++) {
		if (strcmp(calls[i], name) == 0)
			return true;
	}
	return geteuid() == 0;
}

/* In a network of the sandbox's own 127.0.0.1 is the sandbox.  Nobody can tell
 * by the message that a service of the host was meant, unless there was no socket
 * for its port. */
static bool
find_service(struct search *search, const struct mention *mention)
{
	const struct subject *subject = search->from->subject;
	enum sbx_net net = subject->places.blob->meta->net;
	bool call = mention->kind == MENTION_CALL;
	const char *port = mention->port == 0 ?
	    "PORT" :
	    arena_printf(search->arena, "%u", (unsigned)mention->port);
	const char *words[] = { "host", "tcp", port };
	struct access access;

	if ((!sbx_net_is_own(net) && (!call || net != SBX_NET_NONE)) ||
	    subject->level < SBX_LEVEL_STANDARD ||
	    (mention->port != 0 &&
		(access_parse(&subject->places, words, countof(words),
		     &access) != NULL ||
		    verdict_of(subject, &access).allowed)))
		return false;
	if (call && mention->error == ERROR_DENIED)
		return keep(search, mention, &access);
	return remark(search, mention,
	    arena_printf(search->arena,
		"in the sandbox, %s is the sandbox itself, where nobody "
		"listened; if a service of the host was meant: "
		"'allow network host tcp %s'",
		call ? "127.0.0.1" : mention->name, port));
}

static bool
find_call(struct search *search, const struct mention *mention)
{
	const struct subject *subject = search->from->subject;
	bool socket = strcmp(mention->name, "socket") == 0;
	const char *words[] = { "syscall",
		socket ? "socket(2,1,0)" : mention->name };
	struct access access;
	struct verdict verdict;

	if (socket && mention->port != 0 && subject->level > SBX_LEVEL_MINIMAL)
		return find_service(search, mention);
	if (!may_call(mention->name) ||
	    syscall_number(subject->arch, mention->name) < 0 ||
	    access_parse(&subject->places, words, countof(words), &access) !=
		NULL)
		return false;
	verdict = verdict_of(subject, &access);
	if (verdict.allowed && socket)
		return lacks_ways(search, mention);
	return !verdict.allowed && !verdict.depends &&
	    keep(search, mention, &access);
}

/* sbxrun's own line, which comes last, names what was refused. */
static bool
is_named(const struct search *search, const struct mention *mention)
{
	for (size_t i = 0; i < search->findings.count; i++) {
		if (search->findings.items[i].mention->error ==
		    ERROR_REFUSED_BY_US)
			return mention->error == ERROR_PROXY_REFUSES;
	}
	return false;
}

/* sbx-proxy answers 403 to what no rule allows, and 502 if nobody is there. */
static bool
find_proxy(struct search *search, const struct mention *mention)
{
	if (search->from->subject->places.blob->meta->net != SBX_NET_SELECTED)
		return false;
	return remark(search, mention,
	    *mention->name == '4' ?
		"403 is what sbx-proxy answers where no rule allows the host; "
		"the line does not name it, but 'sbxrun: network: refused' at "
		"the end of a run does" :
		"502 is what sbx-proxy answers where a rule allows the host, "
		"and the host is not there or cannot be reached: the policy is "
		"not the reason");
}

/* Of one line the first that the policy denies is the reason; sbxrun's own names
 * several. */
static void
find_all(struct search *search, const struct mentions *mentions)
{
	static bool (*const find[MENTION_END])(struct search *,
	    const struct mention *) = {
		[MENTION_PLACE] = find_place,
		[MENTION_PROGRAM] = find_program,
		[MENTION_HOST] = find_host,
		[MENTION_CALL] = find_call,
		[MENTION_SERVICE] = find_service,
		[MENTION_PROXY] = find_proxy,
	};
	uint32_t explained = 0, seen = 0;

	for (size_t i = 0; i < mentions->list.count; i++) {
		const struct mention *mention = &mentions->list.items[i];

		search->failures += mention->line != seen;
		seen = mention->line;
		if (mention->line != explained &&
		    find[mention->kind](search, mention) &&
		    mention->error != ERROR_REFUSED_BY_US)
			explained = mention->line;
	}
}

/* --- answers -------------------------------------------------------------- */

/* As it is, but for what would move the cursor or turn the text round. */
static void
put_line(FILE *stream, const char *text)
{
	uint32_t character;
	size_t size;

	for (; *text != '\0'; text += size) {
		size = utf8_decode(text, strlen(text), &character);
		if (size == 0 || utf8_is_hidden(character)) {
			putc('?', stream);
			size = size == 0 ? 1 : size;
			continue;
		}
		fwrite(text, 1, size, stream);
	}
	putc('\n', stream);
}

/* In one list, so that JSON and text have the same. */
static void
drop_named(struct search *search)
{
	size_t kept = 0;

	for (size_t i = 0; i < search->remarks.count; i++) {
		if (!is_named(search, search->remarks.items[i].mention))
			search->remarks.items[kept++] =
			    search->remarks.items[i];
	}
	search->remarks.count = kept;
}

static void
put_place(const struct search *search, FILE *stream,
    const struct mention *mention)
{
	fprintf(stream, "%s:%u: ", search->from->name, (unsigned)mention->line);
	put_line(stream, mention->text);
}

static void
print_nothing(const struct search *search, FILE *stream)
{
	const char *name = search->from->name;

	if (search->failures == 0)
		fprintf(stream,
		    "%s: no line tells of a failure that a policy could be the "
		    "reason for\n",
		    name);
	else
		fprintf(stream,
		    "%s: no line names a place that this policy denies; %u "
		    "tell%s of a failure\n",
		    name, (unsigned)search->failures,
		    search->failures == 1 ? "s" : "");
	if (search->remarks.count == 0)
		fputs("    many programs do not say what they were denied: "
		      "'sbxrun --explain' sees it while they run\n",
		    stream);
}

static void
print(const struct search *search, FILE *stream)
{
	for (size_t i = 0; i < search->findings.count; i++) {
		const struct finding *finding = &search->findings.items[i];

		if (i > 0)
			fputs("\n", stream);
		put_place(search, stream, finding->mention);
		why(stream, search->from->subject, &finding->access, false);
	}
	if (search->findings.count == 0)
		print_nothing(search, stream);
	for (size_t i = 0; i < search->remarks.count; i++) {
		fputs("\n", stream);
		put_place(search, stream, search->remarks.items[i].mention);
		fprintf(stream, "    %s\n", search->remarks.items[i].text);
	}
}

static void
put_finding(const struct search *search, struct json_t *list,
    const struct finding *finding)
{
	static const char *const places[SBX_ADVICE_END] = {
#define ADVICE(name, word) [SBX_ADVICE_##name] = word,
#include "format/advice.def"
#undef ADVICE
	};
	const struct subject *subject = search->from->subject;
	const struct sbx_blob *blob = subject->places.blob;
	struct verdict verdict = verdict_of(subject, &finding->access);
	struct remedy remedy = remedy_find(subject, &finding->access, &verdict);
	struct json_t *object = json_put_object(list, NULL), *fix;
	size_t right = strcspn(finding->text, " ");

	json_put_number(object, "line", finding->mention->line);
	json_put_text(object, "text", finding->mention->text);
	json_put_text(object, "right",
	    arena_strndup(search->arena, finding->text, right));
	json_put_text(object, "object",
	    finding->text[right] != '\0' ? finding->text + right + 1 : "");
	json_put_text(object, "source",
	    verdict.source != SBX_NO_SOURCE ?
		show_source_text(search->arena, blob, verdict.source) :
		NULL);
	json_put_text(object, "rule",
	    verdict.by != BY_NOTHING ?
		decider_text(search->arena, blob, &verdict) :
		"");
	fix = json_put_array(object, "fix");
	for (size_t i = 0; i < remedy.steps.count; i++)
		json_put_text(fix, NULL,
		    remedy_words(search->arena, &remedy, i));
	fix = json_put_array(object, "where");
	for (size_t i = 0; i < remedy.steps.count; i++)
		json_put_text(fix, NULL,
		    places[remedy_where(&remedy.steps.items[i])]);
	json_put_bool(object, "fixed", remedy_works(&remedy));
}

static void
print_json(const struct search *search, FILE *stream)
{
	const struct subject *subject = search->from->subject;
	struct json_t *root = json_root(), *list;

	json_put_number(root, "sbx", FROM_VERSION);
	json_put_text(root, "event", "why");
	json_put_text(root, "profile",
	    sbx_string(subject->places.blob,
		subject->places.blob->meta->profile));
	json_put_text(root, "level",
	    subject->level == SBX_LEVEL_FULL ? "full" : "standard");
	list = json_put_array(root, "denied");
	for (size_t i = 0; i < search->findings.count; i++)
		put_finding(search, list, &search->findings.items[i]);
	list = json_put_array(root, "remarks");
	for (size_t i = 0; i < search->remarks.count; i++) {
		struct json_t *object = json_put_object(list, NULL);

		json_put_number(object, "line",
		    search->remarks.items[i].mention->line);
		json_put_text(object, "text",
		    search->remarks.items[i].mention->text);
		json_put_text(object, "says", search->remarks.items[i].text);
	}
	json_write(root, stream);
}

/* --- the text ------------------------------------------------------------- */

/* The last part of it; the lines before are counted. */
static char *
read_text(struct arena *arena, int fd, size_t *size, uint32_t *before)
{
	char *text = arena_alloc(arena, 2 * TEXT_KEPT);
	size_t used = 0;

	*before = 0;
	for (;;) {
		ssize_t got = input_read(fd, text + used, 2 * TEXT_KEPT - used);
		char *kept = text + TEXT_KEPT;

		if (got < 0)
			return NULL;
		used += (size_t)got;
		if (used < 2 * TEXT_KEPT) {
			*size = used;
			return text;
		}
		for (const char *at = text; at < kept; at++)
			*before += *at == '\n';
		memmove(text, kept, TEXT_KEPT);
		used = TEXT_KEPT;
	}
}

int
from_answer(const struct from *from, int fd, FILE *stream)
{
	struct search search = {
		.from = from,
		.arena = from->subject->places.arena,
	};
	struct mentions mentions = { .before = 0 };
	size_t size;
	char *text = read_text(search.arena, fd, &size, &mentions.before);

	if (text == NULL)
		return -1;
	messages_read(search.arena, text, size, &mentions);
	find_all(&search, &mentions);
	drop_named(&search);
	if (from->json)
		print_json(&search, stream);
	else
		print(&search, stream);
	return (int)search.findings.count;
}
