/*
 * The distinct denials.  A program that tries names at random, or walks through
 * a directory, would fill the table with one denial: so names of which only the
 * end differs, as mkstemp(3) makes them, are counted together, and from the
 * ninth on all names of a directory are.
 */
#include "runtime/explain/explain.h"
#include "runtime/network/event.h"

#include "runtime/base/files.h"
#include "runtime/base/kernel.h"
#include "runtime/base/options.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum { TAIL = 6, TAIL_DIFFERS = 4, SIBLINGS_MAX = 8, WRITTEN_MAX = 32 };

void
explain_begin(struct explaining *explaining, const struct sbx_blob *blob)
{
	void *room = mmap(NULL, SBX_DENIALS_MAX * sizeof(struct sbx_denial),
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
	    -1, 0);

	if (room == MAP_FAILED)
		refuse("--explain", "cannot make room for denials", errno);
	*explaining = (struct explaining){
		.blob = blob,
		.helper = -1,
		.denials = room,
	};
	if (limit_here(blob, SBX_LIMIT_FILE_SIZE) == NULL)
		return;
	room = mmap(NULL, WRITTEN_MAX * sizeof(struct path),
	    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
	    -1, 0);
	explaining->written = room != MAP_FAILED ? room : NULL;
}

void
explain_bind(struct explaining *explaining, const struct binding *binding,
    bool view)
{
	static const struct sbx_place tmp = { "/tmp", 4 };

	explaining->binding = binding;
	explaining->view = view;
	/* Where the policy opens the outer /tmp, that is shown. */
	if (view && !rule_index_allows(binding->index, SBX_READ, tmp))
		explaining->scratch = binding->scratch;
	for (uint32_t i = 0; i < binding->rule_count; i++) {
		const struct sbx_rule *rule = &binding->rules[i];

		explaining->splits |= rule->effect != SBX_ALLOW &&
		    (rule->rights & SBX_WRITE) != 0 &&
		    (!view ||
			(rule->effect == SBX_DENY && unsteady_place(rule->at)));
	}
}

bool
explain_has_path(const struct sbx_denial *denial)
{
	return denial->kind <= SBX_DENIED_SOCKET;
}

bool
explain_has_host(const struct sbx_denial *denial)
{
	return denial->kind >= SBX_DENIED_NAME;
}

static bool
is_same(const struct sbx_denial *a, const struct sbx_denial *b)
{
	if (a->kind != b->kind || a->names != 0)
		return false;
	if (explain_has_path(a) || explain_has_host(a))
		return a->probe == b->probe && a->port == b->port &&
		    a->verdict == b->verdict && strcmp(a->path, b->path) == 0 &&
		    (explain_has_path(a) ||
			memcmp(a->path, b->path, PROXY_EVENT_NAME) == 0);
	return a->number == b->number && a->port == b->port &&
	    strcmp(a->path, b->path) == 0 &&
	    memcmp(a->args, b->args, sizeof a->args) == 0;
}

static size_t
directory_of(const struct sbx_denial *denial)
{
	const char *slash = strrchr(denial->path, '/');

	return slash != NULL ? (size_t)(slash - denial->path) + 1 : 0;
}

static bool
is_sibling(const struct sbx_denial *a, const struct sbx_denial *b)
{
	size_t len = directory_of(a);

	return a->kind == b->kind && explain_has_path(a) &&
	    a->probe == b->probe && len == directory_of(b) &&
	    memcmp(a->path, b->path, len) == 0;
}

static bool
is_letter(char byte)
{
	return (byte >= '0' && byte <= '9') ||
	    ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
}

/* Where what differs begins, at the latest six letters before the end. */
static size_t
tail_of(const struct sbx_denial *a, const struct sbx_denial *b, size_t len)
{
	size_t at = directory_of(a);

	while (at < len - TAIL && a->path[at] == b->path[at])
		at++;
	return at;
}

/* Whether both names end in six letters of which most differ; a longer end has
 * digits, too, and may have dots.  Letters of a name that stands for many are X. */
static bool
differs_at_random(const struct sbx_denial *a, const struct sbx_denial *b)
{
	size_t len = strlen(a->path), differs = 0, tail;
	bool a_digit = false, b_digit = false;

	if (len != strlen(b->path) || len < directory_of(a) + TAIL)
		return false;
	tail = tail_of(a, b, len);
	for (size_t i = tail; i < len; i++) {
		if (i < len - TAIL && a->path[i] == '.' && b->path[i] == '.')
			continue;
		if (!is_letter(a->path[i]) || !is_letter(b->path[i]) ||
		    (a->names > 0 && a->path[i] != 'X'))
			return false;
		a_digit |= a->path[i] <= '9';
		b_digit |= b->path[i] <= '9';
		differs += i >= len - TAIL && a->path[i] != b->path[i];
	}
	if (tail < len - TAIL && (!b_digit || (!a_digit && a->names == 0)))
		return false;
	return differs >= TAIL_DIFFERS || a->names > 0;
}

static void
count_in(struct sbx_denial *known, const struct sbx_denial *denial)
{
	known->count += denial->count > 0 ? denial->count : 1;
	if (known->names > 0)
		known->names++;
	if (known->source == SBX_NO_SOURCE)
		known->source = denial->source;
}

/* The names of a directory become one, in the place of the first. */
static void
fold_directory(struct explaining *explaining, const struct sbx_denial *denial)
{
	struct sbx_denial *into = NULL;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < explaining->count; i++) {
		struct sbx_denial *at = &explaining->denials[i];

		if (into == NULL && is_sibling(at, denial)) {
			into = &explaining->denials[kept];
			*into = *at;
			into->names = at->names > 0 ? at->names : 1;
			memcpy(into->path + directory_of(denial), "*", 2);
			kept++;
		} else if (into != NULL && is_sibling(at, denial)) {
			into->count += at->count;
			into->names += at->names > 0 ? at->names : 1;
		} else {
			if (kept != i)
				explaining->denials[kept] = *at;
			kept++;
		}
	}
	explaining->count = kept;
	if (into != NULL)
		count_in(into, denial);
}

/* Counts it with what is like it; false if nothing is. */
static bool
join(struct explaining *explaining, const struct sbx_denial *denial)
{
	uint32_t siblings = 0;

	for (uint32_t i = 0; i < explaining->count; i++) {
		struct sbx_denial *at = &explaining->denials[i];

		if (!is_sibling(at, denial))
			continue;
		if (strcmp(at->path + directory_of(at), "*") == 0 &&
		    at->names > 0) {
			count_in(at, denial);
			return true;
		}
		if (differs_at_random(at, denial)) {
			size_t len = strlen(at->path);

			at->names = at->names > 0 ? at->names : 1;
			for (size_t j = tail_of(at, denial, len); j < len; j++)
				at->path[j] = at->path[j] == '.' ? '.' : 'X';
			count_in(at, denial);
			return true;
		}
		siblings++;
	}
	if (siblings < SIBLINGS_MAX)
		return false;
	fold_directory(explaining, denial);
	return true;
}

const struct sbx_denial *
explain_add(struct explaining *explaining, const struct sbx_denial *denial)
{
	struct sbx_denial *at = explaining->denials;

	for (uint32_t i = 0; i < explaining->count; i++, at++) {
		if (is_same(at, denial)) {
			count_in(at, denial);
			return NULL;
		}
	}
	if (join(explaining, denial))
		return NULL;
	if (explaining->count == SBX_DENIALS_MAX) {
		explaining->more++;
		return NULL;
	}
	*at = *denial;
	at->count = denial->count > 0 ? denial->count : 1;
	explaining->count++;
	return at;
}

void
explain_wrote(struct explaining *explaining, const struct path *path)
{
	struct path *at;

	if (explaining->written == NULL)
		return;
	at = &explaining->written[explaining->wrote++ % WRITTEN_MAX];
	path_cut(at, 0);
	path_push(at, path->text + 1, path->len - 1);
}

/* Who does not die of SIGXFSZ gets EFBIG, of which nobody hears. */
void
explain_sizes(struct explaining *explaining)
{
	const struct sbx_limit *limit = limit_here(explaining->blob,
	    SBX_LIMIT_FILE_SIZE);
	uint32_t count = explaining->wrote < WRITTEN_MAX ? explaining->wrote :
							   WRITTEN_MAX;

	for (uint32_t i = 0; limit != NULL && i < count; i++) {
		const struct path *path = &explaining->written[i];
		struct sbx_denial denial = {
			.kind = SBX_DENIED_CALL,
			.number = SYS_write,
			.source = limit->source,
			.obstacle = SBX_OBSTACLE_LIMIT,
		};
		struct stat status;
		struct out out;

		if (stat(path->text, &status) != 0 ||
		    !S_ISREG(status.st_mode) ||
		    (uint64_t)status.st_size != limit->value)
			continue;
		out_into(&out, denial.path, sizeof denial.path);
		out_limit(&out, limit);
		out_into(&out, denial.remedy, sizeof denial.remedy);
		out_shown(&out, path->text, path->len);
		explain_add(explaining, &denial);
	}
}

const char *
explain_word(const struct sbx_denial *denial)
{
	static const char *const words[SBX_DENIED_END] = {
		"read",
		"write",
		"exec",
		"connect",
		"connect",
		"listen",
		"call",
		"domain",
		"connect",
		"host",
		"publish",
	};

	return words[denial->kind];
}

void
explain_say(const struct explaining *explaining,
    const struct sbx_denial *denial)
{
	struct out out;

	out_init(&out, STDERR_FILENO);
	out_print(&out, "sbxrun: denied: %s ", explain_word(denial));
	explain_object(&out, explaining, denial);
	out_text(&out, " by ");
	out_shown(&out, denial->program, strlen(denial->program));
	if (denial->source != SBX_NO_SOURCE) {
		out_text(&out, ", ");
		out_source(&out, explaining->blob, denial->source);
	}
	out_text(&out, "\n");
	out_flush(&out);
}

static void
put_place(struct out *out, const struct explaining *explaining,
    const char *path)
{
	const struct binding *binding = explaining->binding;
	struct sbx_place at = sbx_place_of(path);
	uint32_t best = 0, len = 0;

	for (uint32_t i = 1; i < explaining->blob->anchor_count; i++) {
		if (binding->bound[i] && binding->anchors[i].len >= len &&
		    binding->anchors[i].len > 0 &&
		    sbx_covers(binding->anchors[i], at)) {
			best = i;
			len = binding->anchors[i].len;
		}
	}
	if (best == SBX_ANCHOR_HOME)
		out_text(out, "~");
	else if (best != SBX_ANCHOR_ROOT)
		out_print(out, "${%s}",
		    sbx_string(explaining->blob,
			explaining->blob->anchors[best].name));
	out_shown(out, path + len, at.len - len);
}

void
explain_object(struct out *out, const struct explaining *explaining,
    const struct sbx_denial *denial)
{
	if (explain_has_path(denial))
		put_place(out, explaining, denial->path);
	else if (denial->kind == SBX_DENIED_NAME ||
	    denial->kind == SBX_DENIED_ADDRESS)
		out_host(out, denial->path, denial->port);
	else if (denial->kind == SBX_DENIED_CALL)
		out_print(out, "number %u", (unsigned)denial->number);
	else
		out_print(out, "tcp %u", (unsigned)denial->port);
}
