/*
 * The index of places finds every rule that bears on a path: on random policies
 * a verdict over what it finds is the verdict over all rules, with globs, exclusions
 * and two homes, and also after an anchor was bound elsewhere.
 */
#include "compiler/query/query.h"
#include "compiler/query/why.h"
#include "compiler/read/read.h"
#include "tests/lib/tap.h"

enum { ROUNDS = 400, RULES = 12 };

static uint32_t
draw(uint32_t *seed, uint32_t bound)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % bound;
}

static const char *const objects[] = {
	"/",
	"/a",
	"/a/b",
	"/a/b/c",
	"/ab",
	"~/x",
	"~/x/y",
	"${workspace}",
	"${workspace}/x",
	"${data}",
	"${data}/x",
	"/a  except /a/b",
	"~/x  except ~/x/y",
	"glob \"/a/**/k*\"",
	"glob \"~/x/*\"",
	"glob \"${workspace}/**/x\"",
	"glob \"${data}/*/y\"",
};

static const char *const probes[] = {
	"/",
	"/a",
	"/a/b",
	"/a/b/c",
	"/a/b/c/d",
	"/a/k",
	"/a/b/key/x",
	"/ab",
	"/ab/c",
	"/home/x",
	"/home/x/y",
	"/home/x/y/z",
	"/other/x",
	"/other/x/y",
	"/other",
	"/home",
	"/w",
	"/w/x",
	"/w/q/x/z",
	"/data/x",
	"/data/q/y",
	"/else",
	"/else/x",
	"/else/q/y/z",
};

static const char *
draw_policy(struct arena *arena, uint32_t *seed)
{
	static const char *const verbs[] = {
		"allow read",
		"allow write",
		"allow exec",
		"deny read",
		"deny write",
		"prefer deny exec",
	};
	const char *text = "sbx 1\nprofile p {\n    param data\n"
			   "    allow read ${data}/used\n";

	for (int i = 0; i < RULES; i++)
		text = arena_printf(arena, "%s    %s %s\n", text,
		    verbs[draw(seed, countof(verbs))],
		    objects[draw(seed, countof(objects))]);
	return arena_printf(arena, "%s}\n", text);
}

static bool
draw_view(struct arena *arena, const char *text, struct sbx_blob *blob)
{
	struct compilation compilation;
	struct source *source;
	struct image image;

	compilation_init(&compilation, arena);
	source = sources_add(&compilation.sources, "p.sbx", text, strlen(text),
	    (struct loc){ 0 });
	compilation.file = source;
	compilation.stmts = ast_parse(&compilation.sources, &compilation.diags,
	    source);
	return compile(&compilation, NULL, &image) &&
	    sbx_verify(image.bytes, image.size, blob) == SBX_BLOB_OK;
}

/* The path rule that decides, or NULL. */
static const struct sbx_path *
rule_of(const struct place_rules *rules, struct sbx_verdict verdict)
{
	return verdict.rule == SBX_NO_RULE ? NULL : rules->paths[verdict.rule];
}

/* How many of the probes get another verdict by way of the index. */
static unsigned
differences(const struct places *places, unsigned *denied)
{
	unsigned count = 0;

	for (size_t i = 0; i < countof(probes); i++) {
		struct place_rules all, over;
		struct sbx_place path;

		if (places_find(places, probes[i], &path) != NULL)
			return 1;
		places_rules_for(places, SBX_ON_LINUX_X86_64, path, &all);
		places_rules_over(places, SBX_ON_LINUX_X86_64, path, &over);
		for (unsigned right = SBX_READ; right <= SBX_EXEC; right *= 2) {
			struct sbx_verdict a = sbx_path_verdict(all.rules,
			    all.count, (uint8_t)right, path);
			struct sbx_verdict b = sbx_path_verdict(over.rules,
			    over.count, (uint8_t)right, path);

			*denied += a.reason == SBX_BECAUSE_DENIED;
			count += a.reason != b.reason ||
			    rule_of(&all, a) != rule_of(&over, b);
		}
	}
	return count;
}

int
main(void)
{
	struct tap tap = { 0 };
	unsigned bad = 0, moved = 0, denied = 0, compiled = 0;
	uint32_t seed = 7;

	for (int i = 0; i < ROUNDS; i++) {
		struct arena *arena = arena_new();
		const char *text = draw_policy(arena, &seed);
		struct sbx_blob blob;
		struct places places;

		if (draw_view(arena, text, &blob)) {
			compiled++;
			places_init(&places, arena, &blob, "/w", "/home");
			places_bind_other_home(&places, "/other");
			places_define(&places, "data", "/data");
			bad += differences(&places, &denied);
			places_define(&places, "data", "/else");
			places_bind(&places, SBX_ANCHOR_HOME, "/other");
			moved += differences(&places, &denied);
		}
		arena_release(arena);
	}
	/* Those that deny what the same policy allows are no policies. */
	tap_ok(&tap, compiled > ROUNDS / 4, "policies are compiled: %u",
	    compiled);
	tap_ok(&tap, denied > 1000, "denials are among them: %u", denied);
	tap_ok(&tap, bad == 0, "the index gives the same verdicts: %u differ",
	    bad);
	tap_ok(&tap, moved == 0, "also when anchors are bound again: %u differ",
	    moved);
	return tap_done(&tap);
}
