/*
 * Whether the view covers what it is meant to cover, by every spelling.
 */
#include "runtime/apply/mounts.h"

#include "runtime/base/files.h"
#include "runtime/base/out.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* The outermost mount around a place; what is above it lies on our own
 * tmpfs. */
static const struct mounting *
outermost(const struct mount_tree *tree, struct sbx_place at)
{
	const struct mounting *around = mounts_around(tree, at), *next = around;

	while (next != NULL) {
		around = next;
		next = mounts_around(tree, around->at);
	}
	return around;
}

/* Whether it takes anything away from what is around it. */
static bool
restricts(const struct mount_tree *tree, const struct mounting *mounting)
{
	const struct mounting *around = mounts_around(tree, mounting->at);

	return around != NULL &&
	    (mounting->kind == MOUNT_MASK ||
		(mounting->kind == MOUNT_BIND &&
		    (mounting->attributes & ~around->attributes) != 0));
}

static bool
is_preferred(const struct mount_tree *tree, struct sbx_place at)
{
	const struct binding *seen = tree->seen;
	bool preferred = false;

	for (uint32_t i = 0; i < seen->rule_count; i++) {
		const struct sbx_rule *rule = &seen->rules[i];

		if (sbx_place_compare(rule->at, at) != 0)
			continue;
		if (rule->effect == SBX_DENY)
			return false;
		preferred |= rule->effect == SBX_PREFER_DENY;
	}
	return preferred;
}

/* Whether the name at path[from, to) in another spelling leads round the mount
 * `id`; the name is spelled as before in the end. */
static bool
leads_round(char *path, uint32_t from, uint32_t to, uint64_t id)
{
	char end = path[to];
	bool other, round = false;
	int directory;

	other = spelling_swap(path + from, to - from) && mount_id(path) != 0 &&
	    mount_id(path) != id;
	spelling_swap(path + from, to - from);
	if (!other)
		return false;
	path[from - 1] = '\0';
	directory = open(from > 1 ? path : "/",
	    O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	path[from - 1] = '/';
	path[to] = '\0';
	round = spelling_folds(directory, path + from, to - from);
	path[to] = end;
	if (directory >= 0)
		close(directory);
	return round;
}

/* Where the name after this directory ends. */
static uint32_t
next_name(struct sbx_place at, uint32_t directory)
{
	return directory + 1 + (uint32_t)strcspn(at.path + directory + 1, "/");
}

/* Tries each name below the directory that ends at byte `from`. */
static bool
is_covered(struct sbx_place at, uint32_t from)
{
	char path[SBX_MAX_PATH + 1];
	uint64_t id;

	memcpy(path, at.path, at.len);
	path[at.len] = '\0';
	id = mount_id(path);
	while (id != 0 && from < at.len) {
		uint32_t to = next_name(at, from);

		if (leads_round(path, from + 1, to, id))
			return false;
		from = to;
	}
	return true;
}

void
covered_check(const struct mount_tree *tree)
{
	struct sbx_place before = { "", 0 };

	for (uint32_t i = 0; i < tree->count; i++) {
		const struct mounting *mounting = &tree->mounts[i];
		struct sbx_place at = mounting->at;
		const char *fault = "upper and lower case are the same in its "
				    "directory, and no mount covers it by "
				    "every name; -l standard does";
		uint32_t from, shared;

		if (!restricts(tree, mounting))
			continue;
		/* Directories above the one before have been tried. */
		from = outermost(tree, at)->at.len;
		shared = place_shared(before, at);
		if (before.len > 0 && shared >= from)
			from = next_name(at, shared);
		before = at;
		if (is_covered(at, from))
			continue;
		if (!is_preferred(tree, at))
			refuse_place(at, fault, 0);
		warn_about(path_of(at), fault, 0);
	}
}
