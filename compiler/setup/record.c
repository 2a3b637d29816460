/*
 * What `sbxc init` remembers of what it has written, as a file of JSON, and how it
 * is undone: files that are as they were written go, or get their backup back;
 * what somebody has edited since is kept, and of JSON only what was changed there
 * is taken back; directories that were made go if they are empty.
 */
#include "compiler/base/base.h"
#include "compiler/setup/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- what is remembered --------------------------------------------------- */

/* Tells a file that was changed by accident; nobody is kept from changing it. */
static const char *
digest(struct arena *arena, const char *bytes, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (uint8_t)bytes[i]) * 0x100000001b3;
	return arena_printf(arena, "%zu-%016lx", size, hash);
}

const char *
record_key(struct arena *arena, const char *text)
{
	return digest(arena, text, strlen(text));
}

/* What was changed in a file of JSON, which others edit as well. */
static void
put_edits(struct json_t *file, const struct file_change *change)
{
	struct json_t *before, *after;

	if (change->made)
		return;
	before = json_read(change->old != NULL ? change->old : "{}");
	after = json_read(change->bytes);
	if (before != NULL && after != NULL)
		json_edits(json_put_array(file, "edits"), before, after);
	json_release(before);
	json_release(after);
}

static void
put_change(const struct changes *changes, struct json_t *files,
    const struct file_change *change)
{
	struct json_t *file = json_put_object(files, NULL);

	json_put_text(file, "path", change->path);
	json_put_text(file, "backup", change->backup);
	json_put_bool(file, "made", change->made);
	json_put_bool(file, "shared", change->shared);
	json_put_text(file, "digest",
	    digest(changes->arena, change->bytes, change->size));
	put_edits(file, change);
}

/* Places of an agent, and directories; the record is made before the files. */
static void
put_made(const struct changes *changes, struct json_t *root)
{
	struct json_t *files = json_put_array(root, "places");

	for (size_t i = 0; i < changes->made.count; i++) {
		const struct made *made = &changes->made.items[i];
		struct json_t *entry = json_put_object(files, NULL);

		json_put_text(entry, "path", made->path);
		if (made->text != NULL)
			json_put_text(entry, "digest",
			    digest(changes->arena, made->text,
				strlen(made->text)));
	}
}

const char *
record_of(const struct changes *changes)
{
	struct json_t *root = json_root(), *files;
	size_t size;
	char *text;
	FILE *stream = open_memstream(&text, &size);
	const char *copy;

	if (stream == NULL)
		arena_exhausted();
	json_put_number(root, "sbx", 1);
	json_put_bool(root, "shell", changes->shell);
	files = json_put_array(root, "files");
	for (size_t i = 0; i < changes->list.count; i++)
		put_change(changes, files, &changes->list.items[i]);
	put_made(changes, root);
	json_write(root, stream);
	if (fclose(stream) != 0)
		arena_exhausted();
	copy = arena_strndup(changes->arena, text, size);
	free(text);
	return copy;
}

/* --- edits ---------------------------------------------------------------- */

/* The text of a file without the edits that the record says; NULL if it is no JSON
 * any more, or something else is where ours replaced something. */
static const char *
without_edits(struct arena *arena, const struct json_t *file, const char *text)
{
	const struct json_t *edits = json_member(file, "edits");
	struct json_t *root = json_count(edits) > 0 ? json_read(text) : NULL;
	const char *result = NULL;

	if (root != NULL && json_take_back(root, edits))
		result = json_print(arena, root, text);
	json_release(root);
	return result;
}

static bool
has_edits(struct arena *arena, const struct json_t *file)
{
	struct stat status;
	const char *text = change_read(arena, json_text(file, "path"), &status);

	return text != NULL && without_edits(arena, file, text) != NULL;
}

static bool
rewrite(struct arena *arena, const char *path, const char *text)
{
	struct changes changes = { .arena = arena };

	return change_add(&changes, path, text, 0600, false) != NULL &&
	    changes_write(&changes) &&
	    change_take_back(arena, changes.list.items[0].backup, NULL);
}

/* Others have edited the file, too: only what is ours leaves it. */
static bool
take_out(struct arena *arena, const struct json_t *file)
{
	const char *path = json_text(file, "path");
	const char *backup = json_text(file, "backup");
	struct stat status;
	const char *text = change_read(arena, path, &status);
	bool good;

	if (text != NULL)
		text = without_edits(arena, file, text);
	good = text != NULL && rewrite(arena, path, text);
	if (good && backup != NULL)
		change_take_back(arena, backup, NULL);
	if (good)
		printf("edited   %s, which has been changed since\n", path);
	return good;
}

/* --- undoing -------------------------------------------------------------- */

/* Whether a file is what was written, or need not be. */
static bool
is_ours(struct arena *arena, const struct json_t *file, bool *gone)
{
	const char *path = json_text(file, "path"), *written;
	struct stat status;
	const char *text = change_read(arena, path, &status);

	*gone = text == NULL && errno == 0;
	if (*gone)
		return true;
	if (text == NULL)
		return false;
	if (json_member(file, "backup") == NULL && json_true_at(file, "made"))
		return true;
	written = json_text(file, "digest");
	return written != NULL &&
	    strcmp(written, digest(arena, text, (size_t)status.st_size)) == 0;
}

/* The record of another agent whose commands sbxsh confines, or NULL. */
static const char *
find_user(struct arena *arena, const char *record)
{
	const char *name = strrchr(record, '/') + 1;
	const char *user = NULL;
	glob_t found;

	if (glob(arena_printf(arena, "%.*s*.json", (int)(name - record),
		     record),
		GLOB_NOSORT, NULL, &found) != 0)
		return NULL;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *path = found.gl_pathv[i];
		const char *text = change_look(arena, path);

		if (strcmp(path, record) != 0 && text != NULL &&
		    strstr(text, "\"shell\": true") != NULL)
			user = arena_strndup(arena, path, strlen(path));
	}
	globfree(&found);
	return user;
}

/* A setting that was changed since has what others need in it. */
static bool
may_undo(struct arena *arena, const struct json_t *file)
{
	const char *path = json_text(file, "path");
	const char *backup = json_text(file, "backup");
	bool gone;

	if (path == NULL || backup == NULL || is_ours(arena, file, &gone) ||
	    has_edits(arena, file))
		return true;
	complain("'%s' has been changed since; what it was is in %s: undo it "
		 "there by hand, and remove the record",
	    path, backup);
	return false;
}

static bool
undo_one(struct arena *arena, const struct json_t *file, const char *record)
{
	const char *path = json_text(file, "path");
	const char *backup = json_text(file, "backup");
	bool gone;

	if (path == NULL)
		return true;
	if (json_true_at(file, "shared") && find_user(arena, record) != NULL) {
		printf("kept     %s, which another agent's commands need\n",
		    path);
		return true;
	}
	if (!is_ours(arena, file, &gone)) {
		if (has_edits(arena, file))
			return take_out(arena, file);
		/* Somebody's own words, as in a policy, stay. */
		printf("kept     %s, which has been changed since\n", path);
		return true;
	}
	if (*path != '/' || (backup != NULL && *backup != '/') ||
	    !change_take_back(arena, path, backup)) {
		complain("cannot undo '%s': %s", path, strerror(errno));
		return false;
	}
	printf("%s %s\n", backup != NULL ? "restored" : "removed ", path);
	return true;
}

/* All or nothing: a setting must not lead to a policy that is gone. */
static bool
undo_all(struct arena *arena, const struct json_t *files, const char *record)
{
	bool good = true;

	for (size_t i = 0; i < json_count(files); i++)
		good &= may_undo(arena, json_item(files, i));
	for (size_t i = json_count(files); i-- > 0 && good;)
		good = undo_one(arena, json_item(files, i), record);
	return good;
}

bool
made_remove(struct arena *arena, const char *path)
{
	size_t len = strlen(path);
	bool directory = len > 1 && path[len - 1] == '/';
	struct settings_place place;
	bool good;

	if (*path != '/')
		return false;
	good = place_open(&place, arena,
	    directory ? arena_strndup(arena, path, len - 1) : path, false);
	if (good)
		good = unlinkat(place.directory, place.name,
			   directory ? AT_REMOVEDIR : 0) == 0;
	place_close(&place);
	return good;
}

/* Directories that something else is in stay, and so do files that the agent has
 * written. */
static void
undo_places(struct arena *arena, const struct json_t *places)
{
	for (size_t i = json_count(places); i-- > 0;) {
		const struct json_t *place = json_item(places, i);
		const char *path = json_text(place, "path");
		bool gone;

		if (path == NULL ||
		    (json_text(place, "digest") != NULL &&
			(!is_ours(arena, place, &gone) || gone)))
			continue;
		if (made_remove(arena, path))
			printf("removed  %s\n", path);
	}
}

/* What another agent needs as well is undone with that one: its record gets the
 * files, and the directories that they may be in, which come first. */
static bool
hand_over(struct arena *arena, const struct json_t *root, const char *user)
{
	const char *text = change_look(arena, user);
	struct json_t *other = text != NULL ? json_read(text) : NULL;
	const struct json_t *files = json_member(root, "files");
	bool good = other != NULL;

	for (size_t i = 0; good && i < json_count(files); i++) {
		if (json_true_at(json_item(files, i), "shared"))
			json_insert(other, "files", SIZE_MAX,
			    json_item(files, i));
	}
	files = json_member(root, "places");
	for (size_t i = 0; good && i < json_count(files); i++)
		json_insert(other, "places", i, json_item(files, i));
	good = good && rewrite(arena, user, json_print(arena, other, text));
	json_release(other);
	return good;
}

bool
record_undo(struct arena *arena, const char *record)
{
	struct stat status;
	const char *text = change_read(arena, record, &status);
	const char *user = text != NULL ? find_user(arena, record) : NULL;
	struct json_t *root = text != NULL ? json_read(text) : NULL;
	bool good = root != NULL;

	if (!good)
		complain(text == NULL ?
			"nothing of this is set up here: '%s' is missing" :
			"'%s' is no record of 'sbxc init'",
		    record);
	else
		good = undo_all(arena, json_member(root, "files"), record);
	if (good && user != NULL)
		good = hand_over(arena, root, user);
	if (good) {
		change_take_back(arena, record, NULL);
		undo_places(arena, json_member(root, "places"));
	}
	json_release(root);
	return good;
}
