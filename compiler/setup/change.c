/* See change.h. */
#include "compiler/setup/change.h"
#include "compiler/base/complain.h"
#include "compiler/base/json.h"
#include "compiler/setup/place.h"
#include "format/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX = 4 << 20 };

/* --- reading -------------------------------------------------------------- */

static const char *
complain_about(const char *path, const char *what)
{
	complain("'%s' %s", path, what);
	errno = EINVAL;
	return NULL;
}

static const char *
read_all(struct arena *arena, int fd, size_t size)
{
	char *text = arena_alloc(arena, size + 1);
	size_t used = 0;

	while (used < size) {
		ssize_t got = read(fd, text + used, size - used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return NULL;
		used += (size_t)got;
	}
	return text;
}

static int
open_to_read(struct arena *arena, const char *path)
{
	struct place place;
	int fd = place_open(&place, arena, path, false) ? place_read(&place) :
							  -1;

	place_close(&place);
	return fd;
}

const char *
change_read(struct arena *arena, const char *path, struct stat *status)
{
	int fd = open_to_read(arena, path);
	const char *text = NULL;

	memset(status, 0, sizeof *status);
	if (fd < 0 && errno == ENOENT) {
		errno = 0;
		return NULL;
	}
	if (fd < 0)
		return complain_about(path,
		    errno == ELOOP ? "is a symbolic link or lies behind one, "
				     "and is left alone" :
				     strerror(errno));
	if (fstat(fd, status) != 0 || !S_ISREG(status->st_mode))
		complain_about(path, "is no file, and is left alone");
	else if (status->st_uid != geteuid())
		complain_about(path, "belongs to another user");
	else if (status->st_size > FILE_MAX)
		complain_about(path, "is too large");
	else if ((text = read_all(arena, fd, (size_t)status->st_size)) == NULL)
		complain_about(path, "cannot be read");
	close(fd);
	return text;
}

const char *
change_look(struct arena *arena, const char *path)
{
	int fd = open_to_read(arena, path);
	struct stat status;
	const char *text = NULL;

	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    status.st_size <= FILE_MAX)
		text = read_all(arena, fd, (size_t)status.st_size);
	if (fd >= 0)
		close(fd);
	return text;
}

/* --- what is to be written ------------------------------------------------ */

/* A name that nothing has yet: earlier backups are kept. */
static const char *
backup_name(struct arena *arena, const char *path)
{
	struct stat status;
	const char *name = arena_printf(arena, "%s.before-sbx", path);

	for (int i = 2; lstat(name, &status) == 0; i++)
		name = arena_printf(arena, "%s.before-sbx.%d", path, i);
	return name;
}

struct change *
change_add(struct changes *changes, const char *path, const char *text,
    mode_t mode, bool fresh)
{
	struct change change = { .path = path, .bytes = text, .mode = mode };

	change.size = strlen(text);
	change.old = change_read(changes->arena, path, &change.before);
	if (change.old == NULL && errno != 0)
		return NULL;
	if (change.old != NULL && fresh) {
		complain("'%s' is there already, and is not overwritten", path);
		return NULL;
	}
	/* What comes after it would be lost. */
	if (change.old != NULL &&
	    strlen(change.old) != (size_t)change.before.st_size) {
		complain("'%s' has a byte 0, so is no text", path);
		return NULL;
	}
	if (change.old != NULL)
		change.backup = backup_name(changes->arena, path);
	*arena_push(changes->arena, &changes->list) = change;
	return &changes->list.items[changes->list.count - 1];
}

/* --- showing -------------------------------------------------------------- */

/* A file of others must not move the cursor of who reads what would be done. */
static void
show_bytes(const char *text, size_t len)
{
	while (len > 0) {
		uint32_t character;
		size_t size = utf8_decode(text, len, &character);
		bool plain = size > 0 &&
		    (*text == '\t' || !utf8_is_hidden(character));

		size = size == 0 ? 1 : size;
		for (size_t i = 0; i < size; i++)
			printf(plain ? "%c" : "\\x%02x", (uint8_t)text[i]);
		text += size;
		len -= size;
	}
}

static void
show_lines(const char *text, size_t len, const char *sign)
{
	while (len > 0) {
		const char *end = memchr(text, '\n', len);
		size_t line = end != NULL ? (size_t)(end - text) : len;

		printf("    %s", sign);
		show_bytes(text, line);
		putchar('\n');
		line += end != NULL;
		text += line;
		len -= line;
	}
}

/* The lines that differ, without those that are the same before and after. */
static void
show_edit(const char *old, const char *new)
{
	size_t begin = 0, end = 0, same;
	size_t lens[] = { strlen(old), strlen(new) };

	while (old[begin] != '\0' && old[begin] == new[begin])
		begin++;
	while (begin > 0 && old[begin - 1] != '\n')
		begin--;
	same = (lens[0] < lens[1] ? lens[0] : lens[1]) - begin;
	while (end < same && old[lens[0] - end - 1] == new[lens[1] - end - 1])
		end++;
	while (end > 0 && old[lens[0] - end - 1] != '\n' &&
	    old[lens[0] - end] != '\0')
		end--;
	show_lines(old + begin, lens[0] - begin - end, "- ");
	show_lines(new + begin, lens[1] - begin - end, "+ ");
}

void
changes_show(const struct changes *changes)
{
	for (size_t i = 0; i < changes->list.count; i++) {
		const struct change *change = &changes->list.items[i];

		fputs(change->old != NULL ? "change " : "write  ", stdout);
		show_bytes(change->path, strlen(change->path));
		putchar('\n');
		if (change->old != NULL) {
			fputs("    (backup: ", stdout);
			show_bytes(change->backup, strlen(change->backup));
			puts(")");
			show_edit(change->old, change->bytes);
		} else if (!change->made) {
			show_lines(change->bytes, change->size, "| ");
		}
	}
}

/* --- writing -------------------------------------------------------------- */

bool
change_make_place(struct arena *arena, const char *path)
{
	struct stat status;
	struct place place;
	int fd = -1;
	bool good;

	/* A link that the user made for a place of an agent is the user's. */
	if (stat(path, &status) == 0)
		return true;
	good = place_open(&place, arena, path, true);
	if (good && *place.name != '\0') {
		fd = openat(place.directory, place.name,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		good = fd >= 0 && write(fd, "{}\n", 3) == 3;
	}
	if (fd >= 0)
		good &= close(fd) == 0;
	place_close(&place);
	return good;
}

/* Whether the file is still what was read, to its last byte. */
static bool
is_unchanged(struct arena *arena, const struct place *place,
    const struct change *change)
{
	int fd = place_read(place);
	const char *text = NULL;
	struct stat now;

	if (fd < 0)
		return errno == ENOENT && change->old == NULL;
	if (change->old != NULL && fstat(fd, &now) == 0 &&
	    now.st_ino == change->before.st_ino &&
	    now.st_dev == change->before.st_dev &&
	    now.st_size == change->before.st_size)
		text = read_all(arena, fd, (size_t)now.st_size);
	close(fd);
	return text != NULL &&
	    memcmp(text, change->old, (size_t)now.st_size) == 0;
}

static const char *
name_of(const char *path)
{
	return strrchr(path, '/') + 1;
}

/* The backup is the file itself, under one more name.  Whatever is put there
 * meanwhile, rename(2) replaces the name and follows no link. */
static bool
replace(struct arena *arena, const struct place *place, struct change *change,
    const char *prepared)
{
	int at = place->directory;

	if (!is_unchanged(arena, place, change)) {
		errno = EBUSY;
	} else if (change->old == NULL ||
	    linkat(at, place->name, at, name_of(change->backup), 0) == 0) {
		change->linked = change->old != NULL;
		change->written = place_commit(place, prepared,
		    change->old != NULL);
		return change->written;
	}
	return false;
}

static bool
write_one(struct arena *arena, struct change *change)
{
	const struct stat like = {
		.st_mode = change->mode,
		.st_uid = geteuid(),
		.st_gid = getegid(),
	};
	const struct written written = {
		.bytes = change->bytes,
		.size = change->size,
		.like = change->old != NULL ? &change->before : &like,
	};
	struct place place;
	const char *prepared = NULL;
	bool good = false;
	int error;

	if (place_open(&place, arena, change->path, true))
		prepared = place_prepare(&place, arena, &written);
	if (prepared != NULL) {
		good = replace(arena, &place, change, prepared);
		error = errno;
		if (!good)
			unlinkat(place.directory, prepared, 0);
		errno = error;
	}
	place_close(&place);
	return good;
}

/* Puts a backup back, or removes what has none. */
static bool
take_back(struct arena *arena, const char *path, const char *backup)
{
	struct place place;
	bool good = place_open(&place, arena, path, false);

	if (good && backup != NULL)
		good = renameat(place.directory, name_of(backup),
			   place.directory, place.name) == 0;
	else if (good)
		good = unlinkat(place.directory, place.name, 0) == 0;
	place_close(&place);
	return good || (backup == NULL && errno == ENOENT);
}

void
changes_revert(struct changes *changes)
{
	for (size_t i = changes->list.count; i-- > 0;) {
		struct change *change = &changes->list.items[i];

		if (!change->written && change->linked)
			take_back(changes->arena, change->backup, NULL);
		else if (change->written)
			take_back(changes->arena, change->path, change->backup);
		change->written = false;
	}
	if (changes->record != NULL)
		take_back(changes->arena, changes->record, NULL);
}

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
change_key(struct arena *arena, const char *text)
{
	return digest(arena, text, strlen(text));
}

static const char *
record_text(const struct changes *changes)
{
	struct json_t *root = json_root(), *files;
	size_t size;
	char *text;
	FILE *stream = open_memstream(&text, &size);
	const char *copy;

	if (stream == NULL)
		arena_exhausted();
	json_put_number(root, "sbx", 1);
	files = json_put_array(root, "files");
	for (size_t i = 0; i < changes->list.count; i++) {
		const struct change *change = &changes->list.items[i];
		struct json_t *file = json_put_object(files, NULL);

		json_put_text(file, "path", change->path);
		json_put_text(file, "backup", change->backup);
		json_put_bool(file, "made", change->made);
		json_put_text(file, "digest",
		    digest(changes->arena, change->bytes, change->size));
	}
	json_write(root, stream);
	if (fclose(stream) != 0)
		arena_exhausted();
	copy = arena_strndup(changes->arena, text, size);
	free(text);
	return copy;
}

static bool
write_record(struct changes *changes)
{
	struct change record = { .path = changes->record, .mode = 0600 };

	record.bytes = record_text(changes);
	record.size = strlen(record.bytes);
	if (write_one(changes->arena, &record))
		return true;
	complain("cannot write '%s': %s", record.path, strerror(errno));
	return false;
}

static bool
write_all(struct changes *changes)
{
	bool good = changes->record == NULL || write_record(changes);

	for (size_t i = 0; i < changes->list.count && good; i++) {
		good = write_one(changes->arena, &changes->list.items[i]);
		if (!good)
			complain("cannot write '%s': %s",
			    changes->list.items[i].path,
			    errno == EBUSY ? "it has just been changed" :
					     strerror(errno));
	}
	if (!good)
		changes_revert(changes);
	return good;
}

bool
changes_write(struct changes *changes)
{
	sigset_t all, before;
	bool good;

	/* An interrupted sbxc must leave nothing half done. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	good = write_all(changes);
	sigprocmask(SIG_SETMASK, &before, NULL);
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

/* A setting that was changed since has what others need in it. */
static bool
may_undo(struct arena *arena, const struct json_t *file)
{
	const char *path = json_text(file, "path");
	const char *backup = json_text(file, "backup");
	bool gone;

	if (path == NULL || backup == NULL || is_ours(arena, file, &gone))
		return true;
	complain("'%s' has been changed since; what it was is in %s: undo it "
		 "there by hand, and remove the record",
	    path, backup);
	return false;
}

static bool
undo_one(struct arena *arena, const struct json_t *file)
{
	const char *path = json_text(file, "path");
	const char *backup = json_text(file, "backup");
	bool gone;

	if (path == NULL)
		return true;
	/* Somebody's own words, as in a policy, stay. */
	if (backup == NULL && !is_ours(arena, file, &gone)) {
		printf("kept     %s, which has been changed since\n", path);
		return true;
	}
	if (*path != '/' || (backup != NULL && *backup != '/') ||
	    !take_back(arena, path, backup)) {
		complain("cannot undo '%s': %s", path, strerror(errno));
		return false;
	}
	printf("%s %s\n", backup != NULL ? "restored" : "removed ", path);
	return true;
}

/* All or nothing: a setting must not lead to a policy that is gone. */
static bool
undo_all(struct arena *arena, const struct json_t *files)
{
	bool good = true;

	for (size_t i = 0; i < json_count(files); i++)
		good &= may_undo(arena, json_item(files, i));
	for (size_t i = json_count(files); i-- > 0 && good;)
		good = undo_one(arena, json_item(files, i));
	return good;
}

bool
changes_undo(struct arena *arena, const char *record)
{
	struct stat status;
	const char *text = change_read(arena, record, &status);
	struct json_t *root = text != NULL ? json_read(text) : NULL;
	bool good = root != NULL;

	if (!good)
		complain(text == NULL ?
			"nothing of this is set up here: '%s' is "
			"missing" :
			"'%s' is no record of 'sbxc init'",
		    record);
	else
		good = undo_all(arena, json_member(root, "files"));
	json_release(root);
	if (good)
		take_back(arena, record, NULL);
	return good;
}
