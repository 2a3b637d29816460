/*
 * Many needs become few rules:
 *
 *	- A name that comes or goes needs its directory.  In the home directory,
 *	  and in the root directory, that would be too much: there the name is
 *	  allowed itself, and somebody has to make it first.
 *	- What lies in a cache, or in the directory of one program below ~, is
 *	  that whole directory.
 *	- Three entries of a directory are the directory; never home, never a
 *	  directory of the root directory.
 *	- What another rule gives is no rule.
 *	- What would give away more than its place is no rule but a comment; a
 *	  wider rule is not made if it would.
 *
 * A path is text here, "~/x/y"; what lies in what can be seen in it.
 */
#include "compiler/learn/learn.h"
#include "compiler/query/why.h"

#include <stdlib.h>
#include <string.h>

enum { SIBLINGS = 3 };

/* --- text ----------------------------------------------------------------- */

/* The directory that it lies in; NULL: it is an anchor, or the root. */
static const char *
directory_of(struct arena *arena, const char *object)
{
	const char *slash = strrchr(object, '/');

	if (slash == NULL || object[1] == '\0')
		return NULL;
	return slash == object ?
	    "/" :
	    arena_strndup(arena, object, (size_t)(slash - object));
}

static size_t
slashes(const char *object)
{
	size_t count = 0;

	for (; *object != '\0'; object++)
		count += *object == '/';
	return count;
}

/* Whether no rule is about all of it: home, the root, and what is in that. */
static bool
is_too_wide(const char *directory)
{
	if (directory == NULL || strcmp(directory, "~") == 0 ||
	    strcmp(directory, "${runtime}") == 0)
		return true;
	return *directory == '/' && slashes(directory) < 2;
}

static bool
is_below(const char *object, const char *directory)
{
	size_t len = strlen(directory);

	if (strcmp(directory, "/") == 0)
		return *object == '/';
	return strncmp(object, directory, len) == 0 &&
	    (object[len] == '/' || object[len] == '\0');
}

/* --- what is given away --------------------------------------------------- */

/* What programs and their settings are made of: a command that changes that
 * sets the machine up. */
static bool
is_machine(const char *object)
{
	static const char *const trees[] = { "/usr", "/bin", "/sbin", "/lib",
		"/lib32", "/lib64", "/libx32", "/opt", "/nix", "/gnu", "/etc",
		"/boot", "/sys", "/dev", "/proc", "/run", "/var" };

	for (size_t i = 0; i < countof(trees); i++) {
		if (is_below(object, trees[i]))
			return true;
	}
	return false;
}

static const char *
find_risk(const struct needs *needs, enum wish_kind kind, const char *object)
{
	static const uint8_t rights[] = { SBX_READ, SBX_WRITE, SBX_EXEC };
	const struct access access = {
		.kind = KIND_PATH,
		.detail = rights[kind],
	};
	const struct remedy remedy = {
		.arena = needs->arena,
		.subject = &needs->subject,
		.access = &access,
	};
	struct sbx_place place;

	if (kind == WISH_WRITE && is_machine(object))
		return "it belongs to the machine";
	if (places_find(&needs->subject.places, object, &place) != NULL)
		return "it is no place";
	return remedy_risk(&remedy, place);
}

/* The same, found once: many needs lie in one tree. */
static const char *
risk_of(struct needs *needs, const struct need *need, const char *object)
{
	const char *key = arena_printf(needs->arena, "%d%s", need->kind,
	    object);
	bool added;
	size_t at = map_number(needs->arena, &needs->risk_keys, key,
	    strlen(key), &added);

	if (added)
		*arena_push(needs->arena, &needs->risks) = find_risk(needs,
		    need->kind, object);
	return needs->risks.items[at];
}

/* --- trees ---------------------------------------------------------------- */

/* Directories of which each entry belongs to one program. */
static const char *const shared[] = { "~/.cache", "~/.config", "~/.local/share",
	"~/.local/state", "~/.local/lib", "~/.var/app", "~/snap" };

static const char *const caches[] = {
#define LINUX 1
#define ALL 1
#define MACOS 0
#define CACHE(where, path) (where) ? (path) : NULL,
#include "format/caches.def"
#undef CACHE
#undef LINUX
#undef ALL
#undef MACOS
};

/* The first names of a path, up to `depth` slashes. */
static const char *
cut(struct arena *arena, const char *object, size_t depth)
{
	const char *at = object;

	while (*at != '\0' && (*at != '/' || depth-- > 0))
		at++;
	return arena_strndup(arena, object, (size_t)(at - object));
}

static bool
is_shared(const char *directory)
{
	for (size_t i = 0; i < countof(shared); i++) {
		if (strcmp(directory, shared[i]) == 0)
			return true;
	}
	return false;
}

/* The tree that a path lies in, or NULL. */
static const char *
tree_of(struct arena *arena, const char *object)
{
	for (size_t i = 0; i < countof(shared); i++) {
		if (is_below(object, shared[i]))
			return slashes(object) > slashes(shared[i]) + 1 ?
			    cut(arena, object, slashes(shared[i]) + 1) :
			    NULL;
	}
	for (size_t i = 0; i < countof(caches); i++) {
		if (caches[i] != NULL && is_below(object, caches[i]))
			return caches[i];
	}
	/* ~/.tool/...: what begins with a dot is of one program. */
	return strncmp(object, "~/.", 3) == 0 && slashes(object) > 1 ?
	    cut(arena, object, 1) :
	    NULL;
}

/* --- steps ---------------------------------------------------------------- */

static bool
is_rule(const struct need *need)
{
	return need->reason == NULL && !need->probe && need->kind < WISH_SOCKET;
}

/* A file that is made to be renamed over another one, or to lock it. */
static bool
is_passing(const char *object)
{
	static const char *const endings[] = { ".lock", ".tmp", ".swp", ".part",
		".new", ".bak", "~" };
	size_t len = strlen(object);

	for (size_t i = 0; i < countof(endings); i++) {
		size_t size = strlen(endings[i]);

		if (len > size && strcmp(object + len - size, endings[i]) == 0)
			return true;
	}
	return false;
}

static void
fold_names(struct needs *needs)
{
	for (size_t i = 0; i < needs->list.count; i++) {
		struct need *need = &needs->list.items[i];
		const char *directory;

		if (!need->makes || !is_rule(need))
			continue;
		directory = directory_of(needs->arena, need->object);
		if (!is_too_wide(directory)) {
			need->object = directory;
			need->make_first = false;
		} else if (directory != NULL &&
		    strcmp(directory, "/tmp") == 0) {
			need->reason = "temporary files belong into TMPDIR";
		} else if (need->allowed) {
			need->reason = "it is allowed, once somebody has made "
				       "it before";
		} else if (is_passing(need->object)) {
			need->reason = "it is made beside another file, and "
				       "no rule about one file allows that";
		}
	}
}

static void
fold_trees(struct needs *needs)
{
	for (size_t i = 0; i < needs->list.count; i++) {
		struct need *need = &needs->list.items[i];
		const char *tree;

		if (!is_rule(need) || need->make_first)
			continue;
		tree = tree_of(needs->arena, need->object);
		if (tree == NULL || risk_of(needs, need, tree) != NULL)
			continue;
		need->object = tree;
	}
}

/* What lies in a directory comes behind it, before anything else. */
static int
compare_objects(const char *a, const char *b)
{
	int x, y;

	while (*a != '\0' && *a == *b) {
		a++;
		b++;
	}
	x = *a == '/' ? 1 : (uint8_t)*a;
	y = *b == '/' ? 1 : (uint8_t)*b;
	return x - y;
}

/* Of one place what gives more comes first. */
static int
compare_needs(const void *a, const void *b)
{
	const struct need *x = a, *y = b;
	int order = compare_objects(x->object, y->object);

	if (order != 0)
		return order;
	order = (int)y->kind - (int)x->kind;
	return order != 0 ? order : (x->reason != NULL) - (y->reason != NULL);
}

static void
sort(struct needs *needs)
{
	if (needs->list.count > 0)
		qsort(needs->list.items, needs->list.count,
		    sizeof *needs->list.items, compare_needs);
}

/* Whether one rule gives what another one is for. */
static bool
gives(const struct need *need, const struct need *other)
{
	return is_rule(need) &&
	    (need->kind == other->kind || other->kind == WISH_READ) &&
	    is_below(other->object, need->object);
}

/* The rules whose place the need lies in: indices of the list. */
struct above {
	VEC(size_t) list;
};

/* Of them, one that gives it; or NULL. */
static struct need *
find_giving(struct needs *needs, struct above *above, const struct need *need)
{
	while (above->list.count > 0 &&
	    !is_below(need->object,
		needs->list.items[above->list.items[above->list.count - 1]]
		    .object))
		above->list.count--;
	for (size_t i = above->list.count; i-- > 0;) {
		struct need *other = &needs->list.items[above->list.items[i]];

		if (gives(other, need))
			return other;
	}
	return NULL;
}

/* Takes out what another need covers. */
static void
drop_covered(struct needs *needs)
{
	struct above above = { 0 };
	size_t kept = 0;

	sort(needs);
	for (size_t i = 0; i < needs->list.count; i++) {
		struct need need = needs->list.items[i], *other = NULL;

		if (need.reason == NULL && need.kind < WISH_SOCKET)
			other = find_giving(needs, &above, &need);
		if (other != NULL) {
			need_join(needs, other, &need);
			continue;
		}
		if (is_rule(&need))
			*arena_push(needs->arena, &above.list) = kept;
		needs->list.items[kept++] = need;
	}
	needs->list.count = kept;
}

/* How many rules of its kind are about entries of a directory, by the number of
 * the key. */
struct siblings {
	struct map keys;
	VEC(size_t) counts;
};

static size_t *
sibling_count(struct needs *needs, struct siblings *siblings,
    const struct need *need, const char *directory)
{
	const char *key = arena_printf(needs->arena, "%d%s", need->kind,
	    directory);
	bool added;
	size_t at = map_number(needs->arena, &siblings->keys, key, strlen(key),
	    &added);

	if (added)
		*arena_push(needs->arena, &siblings->counts) = 0;
	return &siblings->counts.items[at];
}

static const char *
foldable_directory(struct needs *needs, const struct need *need)
{
	const char *directory = is_rule(need) && !need->make_first ?
	    directory_of(needs->arena, need->object) :
	    NULL;

	return is_too_wide(directory) || is_shared(directory) ? NULL :
								directory;
}

/* False: nothing could be folded. */
static bool
fold_siblings(struct needs *needs)
{
	struct siblings siblings = { 0 };
	const char *directory;
	bool folded = false;

	for (size_t i = 0; i < needs->list.count; i++) {
		const struct need *need = &needs->list.items[i];

		directory = foldable_directory(needs, need);
		if (directory != NULL)
			(*sibling_count(needs, &siblings, need, directory))++;
	}
	for (size_t i = 0; i < needs->list.count; i++) {
		struct need *need = &needs->list.items[i];

		directory = foldable_directory(needs, need);
		if (directory == NULL ||
		    *sibling_count(needs, &siblings, need, directory) <
			SIBLINGS ||
		    risk_of(needs, need, directory) != NULL)
			continue;
		need->object = directory;
		folded = true;
	}
	return folded;
}

static void
judge_risks(struct needs *needs)
{
	for (size_t i = 0; i < needs->list.count; i++) {
		struct need *need = &needs->list.items[i];

		if (!is_rule(need))
			continue;
		if (spelled_path(needs->arena, need->object) == NULL)
			need->reason = "no policy can name it";
		else
			need->reason = risk_of(needs, need, need->object);
	}
}

void
needs_fold(struct needs *needs)
{
	fold_names(needs);
	fold_trees(needs);
	judge_risks(needs);
	do
		drop_covered(needs);
	while (fold_siblings(needs));
}
