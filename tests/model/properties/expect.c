#include "tests/model/properties/expect.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* To list a directory, a right of its own in Landlock. */
enum { LIST = SBX_RIGHTS + 1 };

/* Whether a directory at that place, if there is or may come to be one, is
 * kept from being listed.  Below a file there is nothing. */
static bool
cuts_listing(const struct model *model, struct sbx_place place)
{
	struct stat status;

	if (model_gives(model, SBX_READ, place.path))
		return false;
	return lstat(place.path, &status) == 0 ? S_ISDIR(status.st_mode) :
						 errno != ENOTDIR;
}

/*
 * A denied file does not keep the directories above it from being listed: to
 * list is a right of its own in Landlock, which files do not have.
 */
static bool
model_lists(const struct model *model, const char *path)
{
	if (!model_gives(model, SBX_READ, path))
		return false;
	for (size_t i = 0; i < model->count; i++) {
		const struct sbx_rule *rule = &model->rules[i];

		if (rule->effect != SBX_ALLOW && is_below(path, rule->at) &&
		    cuts_listing(model, rule->at))
			return false;
		for (uint16_t j = 0; j < rule->exclusion_count; j++) {
			if (is_below(path, rule->exclusions[j]) &&
			    cuts_listing(model, rule->exclusions[j]))
				return false;
		}
	}
	return true;
}

/* Whether all that is at and below a directory, new things too, has it. */
static bool
model_whole(const struct model *model, uint8_t right, const char *path)
{
	if (right == LIST)
		return model_lists(model, path);
	return model_gives(model, right, path) &&
	    !sbx_path_is_split(model->rules, model->count, right,
		spot_of(path));
}

/* Whether what lies at the path has the right there. */
static bool
model_has(const struct model *model, uint8_t right, const char *path)
{
	struct stat status;
	char parent[PATH_SIZE];

	if (lstat(path, &status) != 0)
		return false;
	if (S_ISDIR(status.st_mode))
		return model_whole(model, right, path);
	/* Links among the entries of a split directory are granted nothing. */
	if (S_ISLNK(status.st_mode)) {
		parent_of(path, parent);
		return model_whole(model, right, parent);
	}
	return right == LIST || model_gives(model, right, path);
}

/*
 * Landlock refuses to let something be moved, or linked, into a directory
 * where it would have a right that it does not have where it is.
 */
static bool
gains_nothing(const struct model *model, const char *path, const char *into)
{
	static const uint8_t rights[] = {
		SBX_READ,
		SBX_WRITE,
		SBX_EXEC,
		LIST,
	};

	for (size_t i = 0; i < countof(rights); i++) {
		if (rights[i] == LIST && !is_directory(path))
			continue;
		if (model_whole(model, rights[i], into) &&
		    !model_has(model, rights[i], path))
			return false;
	}
	return true;
}

/* A name that is made or taken away: all but the last component is followed. */
static void
entry_of(const char *path, char directory[PATH_SIZE], char entry[PATH_SIZE])
{
	struct route route;

	parent_of(path, directory);
	route_follow(&route, directory);
	print_path(directory, "%s", route.at);
	print_path(entry, "%s%s", directory, strrchr(path, '/'));
}

static bool
expect_move(const struct model *model, const struct attempt *attempt)
{
	char from[PATH_SIZE], to[PATH_SIZE], a[PATH_SIZE], b[PATH_SIZE];

	entry_of(attempt->a, from, a);
	entry_of(attempt->b, to, b);
	if (!model_whole(model, SBX_WRITE, from) ||
	    !model_whole(model, SBX_WRITE, to))
		return false;
	/* Within one directory nothing can be gained. */
	if (strcmp(from, to) == 0)
		return true;
	return gains_nothing(model, a, to) &&
	    (attempt->operation != EXCHANGE || gains_nothing(model, b, from));
}

static bool
expect_entry(const struct model *model, const char *path)
{
	char directory[PATH_SIZE], entry[PATH_SIZE];

	entry_of(path, directory, entry);
	return model_whole(model, SBX_WRITE, directory);
}

static bool
expect_use(const struct model *model, uint8_t right, const char *path)
{
	struct route route;

	route_follow(&route, path);
	return right == LIST ? model_lists(model, route.at) :
			       model_gives(model, right, route.at);
}

static bool
expect_standard(const struct model *model, const struct attempt *attempt)
{
	switch (attempt->operation) {
	case OPEN_READ:
		return expect_use(model, SBX_READ, attempt->a);
	case LISTING:
		return expect_use(model, LIST, attempt->a);
	case OPEN_WRITE:
	case TRUNCATE:
		return expect_use(model, SBX_WRITE, attempt->a);
	case EXEC:
		return expect_use(model, SBX_EXEC, attempt->a);
	case CREATE:
	case MKDIR:
	case MKNOD:
	case UNLINK:
	case RMDIR:
		return expect_entry(model, attempt->a);
	case MAKE_LINK:
		return expect_entry(model, attempt->b);
	case RENAME:
	case LINK:
	case EXCHANGE:
		return expect_move(model, attempt);
	}
	return false;
}

/* Some place that a rule names lies at or below the path. */
static bool
is_touched(const struct model *model, const char *path)
{
	struct sbx_place at = spot_of(path);

	for (size_t i = 0; i < model->count; i++) {
		const struct sbx_rule *rule = &model->rules[i];

		if (sbx_covers(at, rule->at))
			return true;
		for (uint16_t j = 0; j < rule->exclusion_count; j++) {
			if (sbx_covers(at, rule->exclusions[j]))
				return true;
		}
	}
	return false;
}

/* Whether execution is denied where it is given around. */
static bool
is_exec_cut(const struct model *model, struct sbx_place cut)
{
	char parent[PATH_SIZE];

	parent_of(cut.path, parent);
	return model_gives(model, SBX_EXEC, parent) &&
	    !model_gives(model, SBX_EXEC, cut.path);
}

/* A denied place that is there must not be carried away. */
static bool
is_guarded(const struct model *model, const char *path, struct sbx_place cut)
{
	return sbx_covers(spot_of(path), cut) && exists(cut.path) &&
	    (!model_gives(model, SBX_WRITE, cut.path) ||
		is_exec_cut(model, cut));
}

static bool
holds_guarded(const struct model *model, const char *path)
{
	for (size_t i = 0; i < model->count; i++) {
		const struct sbx_rule *rule = &model->rules[i];

		if (rule->effect != SBX_ALLOW &&
		    is_guarded(model, path, rule->at))
			return true;
		for (uint16_t j = 0; j < rule->exclusion_count; j++) {
			if (is_guarded(model, path, rule->exclusions[j]))
				return true;
		}
	}
	return false;
}

/* A link on the way that the view may leave out. */
static bool
is_hidden(const struct model *model, const char *path)
{
	struct route route;

	route_follow(&route, path);
	for (size_t i = 0; i < route.link_count; i++) {
		if (!model_gives(model, SBX_READ, route.links[i]))
			return true;
	}
	return false;
}

/* Some directory above is shown. */
static bool
is_in_shown(const struct model *model, const char *path)
{
	char above[PATH_SIZE];

	print_path(above, "%s", path);
	for (char *slash; (slash = strrchr(above, '/')) != NULL;) {
		*slash = '\0';
		if (model_gives(model, SBX_READ, above))
			return true;
	}
	return false;
}

static enum expected
full_use(const struct model *model, uint8_t right, const char *path)
{
	struct route route;

	route_follow(&route, path);
	if (model_gives(model, right == LIST ? SBX_READ : right, route.at))
		return is_hidden(model, path) ? EITHER : ALLOWED;
	/* The directories above what is shown hold nothing else. */
	return right == LIST &&
		(is_touched(model, route.at) || !is_in_shown(model, route.at)) ?
	    EITHER :
	    DENIED;
}

static enum expected
full_entry(const struct model *model, const char *path)
{
	char directory[PATH_SIZE], entry[PATH_SIZE], parent[PATH_SIZE];

	entry_of(path, directory, entry);
	parent_of(path, parent);
	if (!model_gives(model, SBX_WRITE, directory))
		return DENIED;
	return is_hidden(model, parent) ? EITHER : ALLOWED;
}

static enum expected
full_removal(const struct model *model, const char *path)
{
	char directory[PATH_SIZE], entry[PATH_SIZE];
	enum expected verdict = full_entry(model, path);

	entry_of(path, directory, entry);
	if (verdict == DENIED || holds_guarded(model, entry))
		return DENIED;
	return is_touched(model, entry) ? EITHER : verdict;
}

static bool
full_gains(const struct model *model, const char *path, const char *into)
{
	for (uint8_t right = SBX_READ; right <= SBX_EXEC; right <<= 1) {
		if (model_gives(model, right, into) &&
		    !model_gives(model, right, path))
			return true;
	}
	return false;
}

static enum expected
full_move(const struct model *model, const struct attempt *attempt)
{
	char from[PATH_SIZE], to[PATH_SIZE], a[PATH_SIZE], b[PATH_SIZE];
	enum expected verdict = full_removal(model, attempt->a);
	enum expected other = exists(attempt->b) ?
	    full_removal(model, attempt->b) :
	    full_entry(model, attempt->b);

	entry_of(attempt->a, from, a);
	entry_of(attempt->b, to, b);
	if (verdict == DENIED || other == DENIED)
		return DENIED;
	if (strcmp(from, to) == 0)
		return verdict == EITHER ? EITHER : other;
	if (full_gains(model, a, to) ||
	    (attempt->operation == EXCHANGE && full_gains(model, b, from)))
		return DENIED;
	return EITHER;
}

static enum expected
expect_full(const struct model *model, const struct attempt *attempt)
{
	switch (attempt->operation) {
	case OPEN_READ:
		return full_use(model, SBX_READ, attempt->a);
	case LISTING:
		return full_use(model, LIST, attempt->a);
	case OPEN_WRITE:
	case TRUNCATE:
		return full_use(model, SBX_WRITE, attempt->a);
	case EXEC:
		return full_use(model, SBX_EXEC, attempt->a);
	case CREATE:
	case MKDIR:
	case MKNOD:
		return full_entry(model, attempt->a);
	case UNLINK:
	case RMDIR:
		return full_removal(model, attempt->a);
	case MAKE_LINK:
		return full_entry(model, attempt->b);
	case RENAME:
	case LINK:
	case EXCHANGE:
		return full_move(model, attempt);
	}
	return EITHER;
}

enum expected
expect(const struct world *world, const struct model *model,
    const struct attempt *attempt)
{
	if (is_full(world))
		return expect_full(model, attempt);
	return expect_standard(model, attempt) ? ALLOWED : DENIED;
}

static bool
is_elsewhere(const struct model *model, const char *path)
{
	char directory[PATH_SIZE], entry[PATH_SIZE];

	if (path[0] == '\0' || strcmp(path, "/") == 0)
		return false;
	entry_of(path, directory, entry);
	return !model_gives(model, SBX_READ, directory);
}

bool
is_left_out(const struct model *model, const struct attempt *attempt)
{
	return model->scratch && attempt->operation >= CREATE &&
	    (is_elsewhere(model, attempt->a) ||
		is_elsewhere(model, attempt->b));
}

/*
 * What a view says to what is denied: ENOENT of what it does not show, EACCES or
 * EINVAL of the device that masks a file, EROFS of what is only read, EBUSY of
 * what must keep its place, EXDEV between two mounts.
 */
static const char *const denied_by_view[] = {
	[OPEN_READ] = "ENOENT EACCES",
	[LISTING] = "ENOENT EACCES",
	[OPEN_WRITE] = "ENOENT EACCES EROFS",
	[TRUNCATE] = "ENOENT EINVAL EROFS",
	[EXEC] = "ENOENT EACCES",
	[CREATE] = "ENOENT EROFS",
	[MKDIR] = "ENOENT EROFS",
	[MKNOD] = "ENOENT EROFS",
	[MAKE_LINK] = "ENOENT EROFS",
	[UNLINK] = "ENOENT EROFS EBUSY",
	[RMDIR] = "ENOENT EROFS EBUSY",
	[RENAME] = "ENOENT EROFS EBUSY EXDEV",
	[LINK] = "ENOENT EROFS EXDEV",
	[EXCHANGE] = "ENOENT EROFS EBUSY EXDEV",
};

static bool
has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (; len > 0 && (words = strstr(words, word)) != NULL; words += len) {
		if (words[len] == ' ' || words[len] == '\0')
			return true;
	}
	return false;
}

/* What may be read is there for an operation that it is denied. */
static bool
is_shown(const struct model *model, const struct attempt *attempt)
{
	struct route route;

	if (attempt->operation > EXEC || is_hidden(model, attempt->a))
		return false;
	route_follow(&route, attempt->a);
	return model_gives(model, SBX_READ, route.at);
}

static bool
is_denied_by_view(const struct model *model, const struct attempt *attempt,
    const char *answer)
{
	return has_word(denied_by_view[attempt->operation], answer) &&
	    (strcmp(answer, "ENOENT") != 0 || !is_shown(model, attempt));
}

bool
is_answer(const struct world *world, const struct model *model,
    const struct attempt *attempt, const char *answer, enum expected verdict)
{
	enum operation operation = attempt->operation;
	bool done = strcmp(answer, operations[operation].allowed) == 0;

	if (verdict == ALLOWED || (verdict == EITHER && done))
		return done;
	if (is_full(world))
		return is_denied_by_view(model, attempt, answer);
	return strcmp(answer, "EACCES") == 0 ||
	    (operation >= RENAME && strcmp(answer, "EXDEV") == 0);
}
