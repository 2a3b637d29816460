/*
 * Files that `sbxc init` writes: all of them or none, each with what it takes to
 * undo it.
 *
 *	change_add()*  changes_show()  changes_write()
 *
 * A file that is there is replaced by rename(2) after a backup beside it, and
 * keeps its owner and mode.  A symbolic link, also one on the way, a file of
 * another user and what is no file are refused: whoever made the link decides
 * where it leads.
 */
#include "compiler/base/base.h"
#include "compiler/setup/setup.h"
#include "format/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
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
	struct settings_place place;
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

struct file_change *
change_add(struct changes *changes, const char *path, const char *text,
    mode_t mode, bool fresh)
{
	struct file_change change = { .path = path,
		.bytes = text,
		.mode = mode };

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
		const struct file_change *change = &changes->list.items[i];

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

static bool
is_noted(const struct changes *changes, const char *path)
{
	for (size_t i = 0; i < changes->made.count; i++) {
		if (strcmp(changes->made.items[i].path, path) == 0)
			return true;
	}
	return false;
}

/* The directories above a place that are not there, the highest first. */
static void
note_missing(struct changes *changes, const char *path)
{
	struct stat status;

	for (const char *at = strchr(path + 1, '/'); at != NULL;
	     at = strchr(at + 1, '/')) {
		const char *directory = arena_printf(changes->arena, "%.*s/",
		    (int)(at - path), path);

		if (lstat(directory, &status) != 0 && errno == ENOENT &&
		    !is_noted(changes, directory))
			*arena_push(changes->arena,
			    &changes->made) = (struct made){ directory, NULL };
	}
}

static bool
make_file(const struct settings_place *place, const char *text)
{
	int fd = openat(place->directory, place->name,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	size_t len = strlen(text);
	bool good = fd >= 0 && write(fd, text, len) == (ssize_t)len;

	if (fd >= 0)
		good &= close(fd) == 0;
	return good;
}

bool
changes_make(struct changes *changes, const char *path, const char *text)
{
	struct stat status;
	struct settings_place place;
	bool good;

	/* A link that the user made for a place of an agent is the user's. */
	if (stat(path, &status) == 0)
		return true;
	note_missing(changes, path);
	good = place_open(&place, changes->arena, path, true);
	if (good && text != NULL) {
		good = make_file(&place, text);
		if (good)
			*arena_push(changes->arena,
			    &changes->made) = (struct made){ path, text };
	}
	place_close(&place);
	return good;
}

/* Whether the file is still what was read, to its last byte. */
static bool
is_unchanged(struct arena *arena, const struct settings_place *place,
    const struct file_change *change)
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
replace(struct arena *arena, const struct settings_place *place,
    struct file_change *change, const char *prepared)
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
write_one(struct arena *arena, struct file_change *change)
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
	struct settings_place place;
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

bool
change_take_back(struct arena *arena, const char *path, const char *backup)
{
	struct settings_place place;
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
		struct file_change *change = &changes->list.items[i];

		if (!change->written && change->linked)
			change_take_back(changes->arena, change->backup, NULL);
		else if (change->written)
			change_take_back(changes->arena, change->path,
			    change->backup);
		change->written = false;
	}
	/* One that another sbxc has just written is what undoes its work. */
	if (changes->recorded)
		change_take_back(changes->arena, changes->record, NULL);
	for (size_t i = changes->made.count; i-- > 0;)
		made_remove(changes->arena, changes->made.items[i].path);
}

static bool
write_record(struct changes *changes)
{
	struct file_change record = { .path = changes->record, .mode = 0600 };

	note_missing(changes, record.path);
	for (size_t i = 0; i < changes->list.count; i++)
		note_missing(changes, changes->list.items[i].path);
	record.bytes = record_of(changes);
	record.size = strlen(record.bytes);
	changes->recorded = write_one(changes->arena, &record);
	if (changes->recorded)
		return true;
	if (errno == EBUSY || errno == EEXIST)
		complain("another 'sbxc init' has just set this up: see '%s'",
		    record.path);
	else
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
