/*
 * Links that somebody planted.
 *
 * Whoever may write the directory that holds a link could have chosen where it
 * leads.  So a link is judged by where it lies, whatever asks for it: a rule, a
 * parameter, the workspace, the policy, the log.  Commands may have written
 * what this policy or a shipped one lets them write, and decide where the links
 * in /proc/PID lead; other users may have written what is theirs.
 */
#include "runtime/bind/binder.h"

#include "format/model.h"
#include "runtime/base/kernel.h"
#include "runtime/bind/bind.h"

#include <string.h>
#include <unistd.h>

/* What every user of the profile coding lets commands write, and what those of
 * agents do. */
static const char *const caches[] = {
#define CACHE(where, path) (path) + 1,
#include "format/caches.def"
#undef CACHE
#define STATE(path) (path) + 1,
#include "format/states.def"
#undef STATE
};

enum { CACHE_COUNT = countof(caches) };

static void
add_suspect(struct binder *binder, struct sbx_place at, const char *glob)
{
	struct suspects *suspects = &binder->suspects;

	suspects->of[suspects->count++] = (struct suspect){ at, glob };
}

/* What is below an anchor, where its links lead. */
static void
add_below(struct binder *binder, struct sbx_place anchor, const char *suffix,
    const char *glob)
{
	struct sbx_place at = arena_join(binder->arena, anchor,
	    sbx_place_of(suffix));
	struct followed found = follow_below(binder->arena, &binder->listings,
	    anchor, at);

	if (found.error != ENOENT)
		add_suspect(binder, found.at, glob);
}

/*
 * Once, when the first link is judged that does not lie in the root directory:
 * most machines have no other on the way to what a policy names.
 */
static void
find_suspects(struct binder *binder)
{
	const struct sbx_blob *blob = binder->blob;
	struct sbx_place homes[HOMES_MAX];
	uint32_t home_count = find_homes(binder, homes);

	binder->suspects.of = arena_take(binder->arena,
	    blob->path_count + HOMES_MAX * CACHE_COUNT + 2,
	    sizeof *binder->suspects.of);
	binder->suspects.home = home_count > 0 ? homes[0] :
						 (struct sbx_place){ "", 0 };
	if (binder->made.bound[SBX_ANCHOR_WORKSPACE])
		add_suspect(binder, binder->made.anchors[SBX_ANCHOR_WORKSPACE],
		    NULL);
	if (binder->made.git.len > 0)
		add_suspect(binder, binder->made.git, NULL);
	for (uint32_t i = 0; i < home_count; i++) {
		for (uint32_t j = 0; j < CACHE_COUNT; j++)
			add_below(binder, homes[i], caches[j], NULL);
	}
	for (uint32_t i = 0; i < blob->path_count; i++) {
		const struct sbx_path *path = &blob->paths[i];

		if (path->effect == SBX_ALLOW && (path->rights & SBX_WRITE) &&
		    path->ceiling == 0 &&
		    (path->platforms & KERNEL_WHERE) != 0 &&
		    binder->made.bound[path->anchor])
			add_below(binder, binder->made.anchors[path->anchor],
			    sbx_string(blob, path->suffix),
			    path->glob ? sbx_string(blob, path->glob) : NULL);
	}
}

static bool
is_suspect(const struct suspect *suspect, struct sbx_place directory)
{
	struct sbx_glob glob;

	if (!sbx_covers(suspect->at, directory))
		return false;
	if (suspect->glob == NULL)
		return true;
	return sbx_glob_parse(suspect->glob, &glob) &&
	    sbx_glob_find(&glob, suspect->at, directory).len > 0;
}

static bool
commands_write(struct binder *binder, struct sbx_place directory)
{
	if (scratch_holds(directory))
		return true;
	if (binder->suspects.of == NULL)
		find_suspects(binder);
	for (uint32_t i = 0; i < binder->suspects.count; i++) {
		if (is_suspect(&binder->suspects.of[i], directory))
			return true;
	}
	return false;
}

/*
 * In /proc/PID the kernel makes the links, and the process decides where they
 * lead.  A process has only its own number at /proc/self.
 */
static bool
is_of_process(struct sbx_place directory)
{
	static const char proc[] = "/proc/";
	enum { PROC_LEN = sizeof proc - 1 };
	char self[16];
	ssize_t len;

	if (directory.len <= PROC_LEN ||
	    memcmp(directory.path, proc, PROC_LEN) != 0 ||
	    strchr("123456789", directory.path[PROC_LEN]) == NULL)
		return false;
	len = readlink("/proc/self", self, sizeof self);
	return len <= 0 || directory.len < PROC_LEN + (uint32_t)len ||
	    memcmp(directory.path + PROC_LEN, self, (size_t)len) != 0 ||
	    (directory.len > PROC_LEN + (uint32_t)len &&
		directory.path[PROC_LEN + len] != '/');
}

bool
commands_choose(struct binder *binder, struct sbx_place entry)
{
	struct sbx_place directory = place_parent(entry);

	return directory.len > 0 &&
	    (is_of_process(directory) || commands_write(binder, directory));
}

static const char of_commands[] =
    "a command may have made this link, for it lies where commands may write: "
    "give the path that it leads to";

const char *
link_fault(struct binder *binder, struct sbx_place link)
{
	if (place_parent(link).len == 0)
		return NULL;
	if (commands_choose(binder, link))
		return of_commands;
	if (!owners_trust(&binder->request->owners, link,
		binder->suspects.home))
		return "another user may have made this link: give the path "
		       "that it leads to";
	return NULL;
}

const char *
given_fault(struct binder *binder, struct sbx_place link)
{
	const char *fault = link_fault(binder, link);

	if (fault == NULL && scratch_remembers(place_parent(link)))
		fault = of_commands;
	return fault;
}

bool
is_planted(struct binder *binder, const struct followed *found)
{
	for (uint32_t i = 0; i < found->link_count; i++) {
		if (link_fault(binder, found->links[i]) != NULL)
			return true;
	}
	return false;
}
