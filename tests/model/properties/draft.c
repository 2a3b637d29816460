#include "tests/model/properties/draft.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Spells a path by way of an anchor that leads there, now and then. */
static void
spell(struct world *world, const char *path, char text[PATH_SIZE])
{
	const struct {
		const char *name, *leads;
	} anchors[] = {
		{ "${workspace}", world->workspace },
		{ "~", world->home },
		{ "${p}", world->parameter },
	};
	size_t pick = chance_below(&world->chance, countof(anchors) + 1);
	size_t len;

	if (pick < countof(anchors)) {
		len = strlen(anchors[pick].leads);
		if (strncmp(path, anchors[pick].leads, len) == 0 &&
		    (path[len] == '/' || path[len] == '\0')) {
			print_path(text, "%s%s", anchors[pick].name,
			    path + len);
			return;
		}
	}
	print_path(text, "%s", path);
}

/* What lies below in the tree, or nothing that is there. */
static void
world_path_below(struct world *world, const char *path, char below[PATH_SIZE])
{
	size_t len = strlen(path);

	for (unsigned i = 0; i < 12; i++) {
		world_path(world, below);
		if (strncmp(below, path, len) == 0 && below[len] == '/')
			return;
	}
	print_path(below, "%s/%s", path, chance_name(&world->chance));
}

static void
words_make(struct world *world, struct draft_words *words, bool first)
{
	static const char *const effects[] = {
		"allow",
		"allow",
		"allow",
		"deny",
		"deny",
		"prefer deny",
	};
	static const char *const rights[] = {
		"read",
		"write",
		"write",
		"exec",
	};
	struct chance *chance = &world->chance;
	char path[PATH_SIZE], exclusion[PATH_SIZE];

	words->effect = first ? "allow" :
				effects[chance_below(chance, countof(effects))];
	words->right = rights[chance_below(chance, countof(rights))];
	if (first && chance_percent(chance, 50))
		print_path(path, "%s", world->nodes[0].path);
	else
		world_path(world, path);
	world_mention(world, path);
	spell(world, path, words->at);
	words->exclusion_count = chance_percent(chance, 30) ?
	    1 + chance_below(chance, MAX_EXCLUSIONS) :
	    0;
	for (size_t i = 0; i < words->exclusion_count; i++) {
		world_path_below(world, path, exclusion);
		world_mention(world, exclusion);
		/* Spelt as the rule is, or the compiler refuses. */
		print_path(words->exclusions[i], "%s%s", words->at,
		    exclusion + strlen(path));
		if (chance_percent(chance, 10))
			spell(world, exclusion, words->exclusions[i]);
	}
}

/*
 * What chance alone seldom makes: a place that one rule leaves out, and that
 * another gives by way of a link which may have been planted.
 */
static void
draft_add_planted(struct world *world, struct draft *policy)
{
	const struct node *node = world_pick(world);
	struct draft_words *words = &policy->rules[policy->count];
	char target[PATH_SIZE];
	ssize_t len = readlink(node->path, target, sizeof target - 1);
	size_t top = strlen(world->nodes[0].path);

	target[len < 0 ? 0 : len] = '\0';
	if (strncmp(target, world->nodes[0].path, top) != 0 ||
	    target[top] != '/')
		return;
	words[0] = words[1] = (struct draft_words){ .effect = "allow",
		.right = "write" };
	print_path(words[0].at, "%s", world->nodes[0].path);
	print_path(words[0].exclusions[words[0].exclusion_count++], "%s",
	    target);
	print_path(words[1].at, "%s", node->path);
	policy->count += 2;
}

static void
draft_keep(struct world *world, struct draft *policy)
{
	static const char *const rights[] = { "read", "write", "exec" };
	struct chance *chance = &world->chance;

	policy->kept_right = rights[chance_below(chance, countof(rights))];
	print_path(policy->kept, "/%s/%s%s%s", chance_name(chance),
	    chance_name(chance), chance_percent(chance, 50) ? "/" : "-",
	    chance_name(chance));
}

void
draft_make(struct world *world, struct draft *policy)
{
	policy->scratch = is_full(world) && chance_percent(&world->chance, 30);
	policy->count = 1 + chance_below(&world->chance, MAX_RULES - 2);
	for (size_t i = 0; i < policy->count; i++)
		words_make(world, &policy->rules[i], i == 0);
	for (unsigned i = 0; i < 3 && policy->count <= MAX_RULES - 2; i++)
		draft_add_planted(world, policy);
	draft_keep(world, policy);
}

void
draft_write(const struct world *world, const struct draft *policy,
    const char *indent, FILE *stream)
{
	fprintf(stream, "%ssbx 1\n%sparam p\n%sprofile random {\n", indent,
	    indent, indent);
	fprintf(stream, "%s    allow exec %s/probe\n", indent, world->base);
	if (policy->scratch)
		fprintf(stream,
		    "%s    allow write ${tmp}\n"
		    "%s    allow exec ${tmp}\n"
		    "%s    deny %s ${tmp}%s\n",
		    indent, indent, indent, policy->kept_right, policy->kept);
	for (size_t i = 0; i < policy->count; i++) {
		const struct draft_words *words = &policy->rules[i];

		fprintf(stream, "%s    %s %s %s", indent, words->effect,
		    words->right, words->at);
		for (size_t j = 0; j < words->exclusion_count; j++)
			fprintf(stream, "%s%s", j == 0 ? " except { " : " ",
			    words->exclusions[j]);
		fputs(words->exclusion_count > 0 ? " }\n" : "\n", stream);
	}
	fprintf(stream, "%s}\n", indent);
}

static bool
file_write(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "we");
	bool written = file != NULL && fwrite(bytes, 1, size, file) == size;

	return file != NULL && fclose(file) == 0 && written;
}

bool
draft_compile(const struct world *world, const struct draft *policy,
    struct arena *arena, struct sbx_blob *blob)
{
	struct compilation compilation;
	struct image image;
	char path[PATH_SIZE];
	FILE *file;

	print_path(path, "%s/policy.sbx", world->base);
	file = fopen(path, "we");
	if (file == NULL)
		give_up("%s", path);
	draft_write(world, policy, "", file);
	fclose(file);
	compilation_init(&compilation, arena);
	if (!compilation_open(&compilation, path) ||
	    !compile(&compilation, NULL, &image))
		return false;
	print_path(path, "%s/policy.bin", world->base);
	if (!file_write(path, image.bytes, image.size))
		give_up("%s", path);
	return sbx_verify(image.bytes, image.size, blob) == SBX_BLOB_OK;
}
