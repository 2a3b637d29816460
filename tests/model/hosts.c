/*
 * Random rules about hosts against a model that is written out: whether a name
 * and a port, or an address and a port, is allowed is told from the texts of the
 * rules alone.  The same is asked of sbxc's verdict, of the functions that the
 * proxy asks, and of the differences of two policies: each is one, and where
 * any access differs some difference says so.  The blob as text, in each form,
 * gives the same blob.
 */
#include "compiler/compare/compare.h"
#include "compiler/lower/lower.h"
#include "compiler/policy/kind.h"
#include "compiler/query/query.h"
#include "compiler/report/report.h"
#include "compiler/write/write.h"
#include "format/model.h"
#include "tests/lib/chance.h"
#include "tests/lib/tap.h"

#include <inttypes.h>

enum { ROUNDS = 300, RULES = 8, TEXT_SIZE = 80 };

static const char *const names[] = { "a.example", "b.a.example",
	"c.b.a.example", "x.c.b.a.example", "b.example", "z.b.example",
	"aa.example", "a.example.net", "other.example", "private", "use" };
static const char *const patterns[] = { "a.example", "b.a.example",
	"c.b.a.example", "b.example", "*.a.example", "*.b.a.example",
	"*.b.example", "*.example.net", "private", "use" };
static const uint16_t ports[] = { 22, 80, 443, 444, 8080 };
static const char *const nets[] = { "10.0.0.0/8", "10.1.0.0/16", "10.1.1.0/24",
	"10.1.1.1", "11.0.0.0/8", "[fd00::/8]", "[fd00::1]" };
static const char *const addresses[] = { "10.0.0.1", "10.1.0.1", "10.1.1.2",
	"10.1.1.1", "11.1.1.1", "12.0.0.1", "fd00::1", "fd00::2", "fe00::1" };

/* A rule as it is written, and what it says. */
struct line {
	bool allow, is_private, is_name;
	const char *object;
	uint16_t low, high; /* 0: none is written */
};

struct draft {
	struct line lines[RULES];
	size_t count;
	struct image image;
	struct sbx_blob blob;
};

/* --- the model ------------------------------------------------------------ */

static bool
has_port(const struct line *line, uint16_t port)
{
	if (line->low != 0)
		return port >= line->low && port <= line->high;
	return !line->allow || (line->is_name && (port == 80 || port == 443));
}

static bool
has_name(const struct line *line, const char *name)
{
	const char *pattern = line->object;
	size_t len = strlen(name), tail;

	if (!line->is_name)
		return false;
	if (strncmp(pattern, "*.", 2) != 0)
		return strcmp(pattern, name) == 0;
	tail = strlen(pattern + 1);
	return len > tail && strcmp(name + len - tail, pattern + 1) == 0;
}

static bool
has_address(const struct line *line, const char *address)
{
	struct host_net net, host;

	if (line->is_name)
		return false;
	host_net_parse(line->object, strlen(line->object), &net);
	host_net_parse(address, strlen(address), &host);
	for (unsigned bit = 0; bit < net.prefix; bit++) {
		if (((net.address[bit / 8] ^ host.address[bit / 8]) >>
			    (7 - bit % 8) &
			1) != 0)
			return false;
	}
	return true;
}

/* 0: denied, 1: allowed, 2: with an address that is not public, too. */
static int
model(const struct draft *draft, const char *host, bool is_name, uint16_t port)
{
	int allowed = 0;

	for (size_t i = 0; i < draft->count; i++) {
		const struct line *line = &draft->lines[i];

		if (!(is_name ? has_name(line, host) :
				has_address(line, host)) ||
		    !has_port(line, port))
			continue;
		if (!line->allow)
			return 0;
		if (allowed < 1 + line->is_private)
			allowed = 1 + line->is_private;
	}
	return allowed;
}

/* --- random policies ------------------------------------------------------ */

static struct line
draw_line(struct chance *chance)
{
	struct line line = {
		.allow = chance_percent(chance, 70),
		.is_name = chance_percent(chance, 65),
	};

	line.is_private = line.allow && line.is_name &&
	    chance_percent(chance, 25);
	line.object = line.is_name ?
	    patterns[chance_below(chance, countof(patterns))] :
	    nets[chance_below(chance, countof(nets))];
	if ((line.allow && !line.is_name) || chance_percent(chance, 40))
		line.low = line.high =
		    ports[chance_below(chance, countof(ports))];
	if (!line.is_name && line.low == 80)
		line.high = 443;
	return line;
}

/* Too many ports for 80-443: kept apart from names by its range. */
static void
write_line(FILE *stream, const struct line *line)
{
	char port[16] = "";

	if (line->low != 0)
		snprintf(port, sizeof port,
		    line->low == line->high ? ":%u" : ":%u-%u",
		    (unsigned)line->low, (unsigned)line->high);
	fprintf(stream, "%s network %s { \"%s%s\"%s }\n",
	    line->allow ? "allow" : "deny",
	    line->is_name ? "domain" : "connect", line->object, port,
	    line->is_private ? " private" : "");
}

static bool
build(struct arena *arena, const char *name, const char *text,
    struct image *image)
{
	struct compilation *compilation = arena_alloc(arena,
	    sizeof *compilation);
	char *copy = arena_strndup(arena, text, strlen(text));
	struct source *source;

	compilation_init(compilation, arena);
	source = sources_add(&compilation->sources, name, copy, strlen(copy),
	    (struct loc){ 0, 0 });
	compilation_parse(compilation, source);
	compilation->file = source;
	if (compile(compilation, NULL, image))
		return true;
	printf("# %s:\n%s\n", name, text);
	diags_print(&compilation->diags, stdout, REPORT_GCC, false);
	return false;
}

static bool
draw_draft(struct arena *arena, struct chance *chance, struct draft *draft)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	bool good;

	fputs("sbx 1\nprofile p {\nallow network publish tcp 9999\n", stream);
	draft->count = 1 + chance_below(chance, RULES);
	for (size_t i = 0; i < draft->count; i++) {
		draft->lines[i] = draw_line(chance);
		if (draft->lines[i].allow && draft->lines[i].high == 443 &&
		    draft->lines[i].low == 80)
			draft->lines[i].high = 90;
		write_line(stream, &draft->lines[i]);
	}
	fputs("}\n", stream);
	fclose(stream);
	good = build(arena, "random.sbx", text, &draft->image) &&
	    sbx_verify(draft->image.bytes, draft->image.size, &draft->blob) ==
		SBX_BLOB_OK;
	free(text);
	return good;
}

/* --- what is asked -------------------------------------------------------- */

static bool
ask(struct arena *arena, const struct sbx_blob *blob, const char *const *words,
    size_t count)
{
	struct subject subject = {
		.places = { .arena = arena, .blob = blob },
		.arch = &arches[0],
		.level = SBX_LEVEL_FULL,
	};
	struct access access;
	const char *fault = access_parse(&subject.places, words, count,
	    &access);

	if (fault != NULL)
		printf("# %s\n", fault);
	return fault == NULL && verdict_of(&subject, &access).allowed;
}

static const char *
check_name(struct arena *arena, const struct draft *draft, const char *name,
    uint16_t port)
{
	uint8_t where = arches[0].platforms;
	int expected = model(draft, name, true, port);
	const char *object = arena_printf(arena, "%s:%u", name, (unsigned)port);
	struct sbx_name_verdict verdict = sbx_name_verdict(&draft->blob, where,
	    name, port);

	if (verdict.allowed != (expected > 0) ||
	    verdict.is_private != (expected > 1) ||
	    ask(arena, &draft->blob, (const char *[]){ "domain", object }, 2) !=
		(expected > 0) ||
	    ask(arena, &draft->blob,
		(const char *[]){ "domain", "private", object },
		3) != (expected > 1) ||
	    (expected > 0 && !sbx_name_is_known(&draft->blob, where, name)))
		return object;
	return NULL;
}

static const char *
check_address(struct arena *arena, const struct draft *draft,
    const char *address, uint16_t port)
{
	bool v6 = strchr(address, ':') != NULL;
	bool expected = model(draft, address, false, port) > 0;
	const char *object = arena_printf(arena, v6 ? "[%s]:%u" : "%s:%u",
	    address, (unsigned)port);

	return ask(arena, &draft->blob, (const char *[]){ "connect", object },
		   2) == expected &&
		ask(arena, &draft->blob,
		    (const char *[]){ "connect", "tcp", object },
		    3) == expected ?
	    NULL :
	    object;
}

/* The first access of which they do not agree, or NULL. */
static const char *
check_draft(struct arena *arena, const struct draft *draft)
{
	const char *wrong = NULL;

	for (size_t p = 0; p < countof(ports) && wrong == NULL; p++) {
		for (size_t i = 0; i < countof(names) && wrong == NULL; i++)
			wrong = check_name(arena, draft, names[i], ports[p]);
		for (size_t i = 0; i < countof(addresses) && wrong == NULL; i++)
			wrong = check_address(arena, draft, addresses[i],
			    ports[p]);
	}
	return wrong;
}

/* --- differences ---------------------------------------------------------- */

/* Whether some access of a kind is wider in the new one, by the model. */
static bool
is_wider(const struct draft *old, const struct draft *new, bool is_name)
{
	size_t count = is_name ? countof(names) : countof(addresses);

	for (size_t p = 0; p < countof(ports); p++) {
		for (size_t i = 0; i < count; i++) {
			const char *host = is_name ? names[i] : addresses[i];

			if (model(new, host, is_name, ports[p]) >
			    model(old, host, is_name, ports[p]))
				return true;
		}
	}
	return false;
}

/* What is told that is not so, or not told that is. */
static const char *
check_pair(struct arena *arena, const struct draft *old,
    const struct draft *new)
{
	struct comparison comparison = {
		.arena = arena,
		.blobs = { &old->blob, &new->blob },
	};
	bool told[2] = { false, false };

	compare(&comparison);
	for (size_t i = 0; i < comparison.differences.count; i++) {
		const struct difference *difference =
		    &comparison.differences.items[i];
		bool is_name = difference->kind == DIFFERENCE_DOMAIN;

		if (!is_name && difference->kind != DIFFERENCE_ENDPOINT)
			continue;
		told[is_name] |= difference->change == CHANGE_WIDER;
		if (difference->says[SIDE_OLD].verdict.allowed ==
		    difference->says[SIDE_NEW].verdict.allowed)
			return difference->what;
		/* A witness of a name is told from the texts, too. */
		if (is_name && difference->access.detail == 0 &&
		    difference->says[SIDE_NEW].verdict.allowed !=
			(model(new, difference->access.name, true,
			     difference->access.port) > 0))
			return difference->what;
	}
	if (is_wider(old, new, true) && !told[true])
		return "a name that is wider";
	if (is_wider(old, new, false) && !told[false])
		return "an address that is wider";
	return NULL;
}

/* --- back to text --------------------------------------------------------- */

static const char *
check_round_trip(struct arena *arena, const struct draft *draft)
{
	static void (*const writers[])(FILE *, const struct ast_stmt *) = {
		write_sbx,
		write_yaml,
		write_json,
	};
	static const char *const files[] = { "a.sbx", "a.yaml", "a.json" };
	struct compilation *compilation = arena_alloc(arena,
	    sizeof *compilation);
	const char *fault = NULL;

	compilation_init(compilation, arena);
	if (!compilation_open_blob(compilation, &draft->blob))
		return "a text that is no policy";

	for (size_t i = 0; i < countof(writers) && fault == NULL; i++) {
		char *text = NULL;
		size_t size;
		FILE *stream = open_memstream(&text, &size);
		struct image again;

		writers[i](stream, compilation->stmts);
		fclose(stream);
		if (!build(arena, files[i], text, &again))
			fault = files[i];
		else
			fault = sections_differ(draft->image.bytes,
			    draft->image.size, again.bytes, again.size);
		free(text);
	}
	return fault;
}

static const char *
try_pair(struct arena *arena, uint64_t seed)
{
	struct chance chance = { .state = seed };
	struct draft *old = arena_alloc(arena, sizeof *old);
	struct draft *new = arena_alloc(arena, sizeof *new);
	const char *wrong;

	if (!draw_draft(arena, &chance, old) ||
	    !draw_draft(arena, &chance, new))
		return "a policy that does not compile";
	wrong = check_draft(arena, old);
	if (wrong == NULL)
		wrong = check_round_trip(arena, old);
	if (wrong == NULL)
		wrong = check_pair(arena, old, new);
	if (wrong == NULL)
		wrong = check_pair(arena, new, old);
	return wrong;
}

int
main(void)
{
	const char *percent = getenv("TEST_ROUNDS");
	unsigned rounds = ROUNDS *
	    (percent != NULL ? (unsigned)atoi(percent) : 100) / 100;
	struct tap tap = { 0 };
	unsigned bad = 0;

	for (uint64_t seed = 1; seed <= rounds; seed++) {
		struct arena *arena = arena_new();
		const char *wrong = try_pair(arena, seed);

		if (wrong != NULL)
			printf("# seed %" PRIu64 ": %s\n", seed, wrong);
		bad += wrong != NULL;
		arena_release(arena);
	}
	tap_ok(&tap, bad == 0, "%u pairs of policies about hosts, %u wrong",
	    rounds, bad);
	return tap_done(&tap);
}
