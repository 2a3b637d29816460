#include "tests/model/compare_kernel.h"
#include "compiler/compare/compare.h"
#include "tests/model/universe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
blob_write(const char *base, size_t number, const char *which,
    const struct image *image)
{
	char path[LINE_SIZE];
	FILE *file;

	snprintf(path, sizeof path, "%s.%zu.%s.bin", base, number, which);
	file = fopen(path, "we");
	if (file == NULL ||
	    fwrite(image->bytes, 1, image->size, file) != image->size ||
	    fclose(file) != 0) {
		printf("Bail out! %s: %s\n", path, strerror(errno));
		exit(99);
	}
}

/* "NUMBER write /base/home/user/a denied allowed" */
static void
witness_print(size_t number, const struct difference *difference)
{
	static const char *const words[] = {
		[SBX_READ] = "read",
		[SBX_WRITE] = "write",
		[SBX_EXEC] = "exec",
	};
	const struct access *access = &difference->access;

	printf("%zu ", number);
	if (access->kind == KIND_PATH)
		printf("%s %s", words[access->detail], access->path.path);
	else
		printf("%s %u",
		    access->detail == SBX_CONNECT_TCP ? "connect" : "listen",
		    access->port);
	for (unsigned side = 0; side < SIDE_COUNT; side++)
		fputs(difference->says[side].verdict.allowed ? " allowed" :
							       " denied",
		    stdout);
	putchar('\n');
}

/* Witnesses are tried at level standard; `prefer deny write` holds at full. */
static bool
holds_at_standard(const struct difference *difference)
{
	for (unsigned side = 0; side < SIDE_COUNT; side++) {
		const struct verdict *verdict = &difference->says[side].verdict;

		if (difference->access.detail == SBX_WRITE &&
		    !verdict->allowed && verdict->preferred)
			return false;
	}
	return true;
}

/* A path below the tree, at which a file can be made; what holds the anchors
 * are directories. */
static bool
is_usable(const struct difference *difference, const char *base,
    const char *workspace)
{
	const struct access *access = &difference->access;
	size_t len = strlen(base);
	struct sbx_place end = { workspace, (uint32_t)strlen(workspace) };

	if (!difference->witnessed || difference->cut ||
	    (difference->level != SBX_LEVEL_FULL && access->kind != KIND_PATH))
		return false;
	if (access->kind == KIND_PORT)
		return access->port > 1 &&
		    (access->port >= 1024 || access->detail == SBX_CONNECT_TCP);
	return access->kind == KIND_PATH && holds_at_standard(difference) &&
	    access->path.len > len + 5 &&
	    strncmp(access->path.path, base, len) == 0 &&
	    !sbx_covers(access->path, end);
}

int
print_witnesses(uint64_t seed, size_t count, const char *base,
    const char *probe)
{
	const struct style style = {
		.base = base,
		.probe = probe,
		.plain = true,
	};
	struct arena *arena = arena_new();
	const char *home = arena_printf(arena, "%s/home/user", base);
	const char *workspace = arena_printf(arena, "%s/project", home);
	struct chance chance = { .state = seed };

	for (size_t number = 0; count > 0; number++) {
		struct arena *own = arena_new();
		struct built *built = arena_alloc(own, 2 * sizeof *built);
		struct subject bound[SIDE_COUNT];
		struct pair pair = { .arena = own };
		size_t taken = 0;

		family_next(&chance, own, &style, &built[0], NULL);
		family_next(&chance, own, &style, &built[1], &built[0]);
		for (unsigned side = 0; side < SIDE_COUNT; side++) {
			bound[side] = (struct subject){
				.arch = &arches[0],
				.level = SBX_LEVEL_FULL,
			};
			places_init(&bound[side].places, own, &built[side].blob,
			    workspace, home);
			pair.comparison.blobs[side] = &built[side].blob;
			pair.comparison.bound[side] = &bound[side];
		}
		pair.comparison.arena = own;
		compare(&pair.comparison);
		for (size_t i = 0; i < pair.comparison.differences.count; i++) {
			const struct difference *difference =
			    &pair.comparison.differences.items[i];

			if (taken == 4 || count == 0 ||
			    !is_usable(difference, base, workspace))
				continue;
			if (taken++ == 0) {
				blob_write(base, number, "old",
				    &built[0].image);
				blob_write(base, number, "new",
				    &built[1].image);
			}
			witness_print(number, difference);
			count--;
		}
		arena_release(own);
	}
	arena_release(arena);
	return 0;
}
