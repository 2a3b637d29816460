/*
 * The first look of a run, on disk for as long as the run lasts: what the run
 * cannot tell, because it was killed, the next one tells.
 *
 * Only the same sbxrun reads it, and checks it all the same: it is a file, and a
 * hundred names of which mostly none is there must not take long to write.
 */
#include "runtime/watch/tripwire.h"

#include "runtime/base/kernel.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct kept_head {
	uint32_t wire_size, seen_size;
	uint32_t count, len;
	uint64_t key;
	uint64_t left; /* by a command that ended, and not killed */
};

/* Followed by the place and the pattern, and by what was seen there; by no seen
 * if `absent`. */
struct kept_wire {
	uint64_t sum;
	uint32_t count, all;
	uint16_t len; /* of the path of the place */
	uint8_t watch_form, form;
	bool more, cut, shut;
	bool settings;
	bool
	    absent; /* the place is all that was looked for, and was not there */
};

/* Followed by its path, and by its text where the wire has settings. */
struct kept_seen {
	uint64_t device, inode, size, changed;
	uint32_t mode;
	int error;
	uint16_t len;
	uint8_t part;
	bool other;
};

struct image {
	char *at, *end;
};

/* --- written -------------------------------------------------------------- */

static void
put(struct arena *arena, const void *bytes, size_t len)
{
	memcpy(arena_take(arena, len, 1), bytes, len);
}

static void
put_settings(struct arena *arena, const char *text)
{
	uint64_t len = text == NULL ? 0 : strlen(text) + 1;

	put(arena, &len, sizeof len);
	put(arena, text == NULL ? "" : text, len > 0 ? len : 1);
}

static void
put_seen(struct arena *arena, const struct seen *seen)
{
	const struct kept_seen kept = {
		.device = seen->device,
		.inode = seen->inode,
		.size = seen->size,
		.changed = seen->changed,
		.mode = seen->mode,
		.error = seen->error,
		.len = (uint16_t)seen->at.len,
		.part = seen->part,
		.other = seen->other,
	};

	put(arena, &kept, sizeof kept);
	put(arena, path_of(seen->at), seen->at.len + 1);
}

static bool
is_absent(const struct wire *wire)
{
	const struct seen *seen = wire->before.first;

	return wire->before.count == 1 && wire->settings == NULL &&
	    seen->error == ENOENT && seen->part == SBX_GIT_FILE &&
	    !seen->other && seen->at.len == wire->what.at.len;
}

static void
put_wire(struct arena *arena, const struct wire *wire)
{
	const struct sight *before = &wire->before;
	const struct kept_wire kept = {
		.sum = before->sum,
		.count = before->count,
		.all = before->all,
		.len = (uint16_t)wire->what.at.len,
		.watch_form = wire->watch->form,
		.form = wire->what.form,
		.more = before->more,
		.cut = before->cut,
		.shut = before->shut,
		.settings = wire->settings != NULL,
		.absent = is_absent(wire),
	};
	uint32_t i = 0;

	put(arena, &kept, sizeof kept);
	put(arena, path_of(wire->what.at), wire->what.at.len + 1);
	put(arena, wire->what.pattern, strlen(wire->what.pattern) + 1);
	if (kept.absent)
		return;
	for (const struct seen *seen = before->first; seen != NULL;
	     seen = seen->next, i++) {
		put_seen(arena, seen);
		if (kept.settings)
			put_settings(arena, wire->settings[i]);
	}
}

/* In a sandbox the directory may lie where nothing can be written. */
static void
begin_unfinished(struct unfinished *run, void *bytes, size_t len)
{
	if (run->directory < 0) {
		run->directory = scratch_runs();
		if (run->directory >= 0)
			run->directory = above_standard(run->directory);
	}
	if (!unfinished_begin(run, bytes, len) && errno != EACCES &&
	    errno != EROFS && errno != EPERM)
		warn_about("watch",
		    "if sbxrun is killed, the next run cannot say what changed",
		    errno);
}

void
tripwire_keep(struct tripwire *tripwire)
{
	struct arena *arena = tripwire->arena;
	struct kept_head *head;

	git_blind_begin(tripwire);
	head = arena_take(arena, 1, sizeof *head);
	*head = (struct kept_head){
		.wire_size = sizeof(struct kept_wire),
		.seen_size = sizeof(struct kept_seen),
		.count = tripwire->count,
		.key = tripwire->key,
		.left = tripwire->left,
	};
	for (uint32_t i = 0; i < tripwire->count; i++)
		put_wire(arena, &tripwire->wires[i]);
	arena_take(arena, 0, 1);
	head->len = (uint32_t)(arena->bytes + arena->used - (char *)head);
	begin_unfinished(&tripwire->unfinished, head, head->len);
}

/* --- read ----------------------------------------------------------------- */

/* As much as arena_take() gave; NULL beyond the end. */
static void *
get(struct image *image, size_t len)
{
	char *at = image->at;

	len = (len + 7) / 8 * 8;
	if (len > (size_t)(image->end - at))
		return NULL;
	image->at += len;
	return at;
}

static bool
get_place(struct image *image, uint32_t len, struct sbx_place *place)
{
	if (len > SBX_MAX_PATH)
		return false;
	*place = (struct sbx_place){ get(image, len + 1), len };
	return place->path != NULL && place->path[len] == '\0';
}

/* A text that ends where it does, as all of them do. */
static bool
get_text(struct image *image, const char **text)
{
	*text = image->at;
	return get(image,
		   strnlen(image->at, (size_t)(image->end - image->at)) + 1) !=
	    NULL;
}

static bool
get_settings(struct image *image, const char **text)
{
	const uint64_t *len = get(image, sizeof *len);

	if (len == NULL || *len > LOOK_MAX_SETTINGS + 1)
		return false;
	*text = get(image, *len > 0 ? *len : 1);
	if (*text == NULL || (*len > 0 && (*text)[*len - 1] != '\0'))
		return false;
	*text = *len > 0 ? *text : NULL;
	return true;
}

static bool
get_seen(struct image *image, struct seen *seen)
{
	const struct kept_seen *kept = get(image, sizeof *kept);

	if (kept == NULL)
		return false;
	*seen = (struct seen){
		.device = kept->device,
		.inode = kept->inode,
		.size = kept->size,
		.changed = kept->changed,
		.mode = kept->mode,
		.error = kept->error,
		.part = kept->part,
		.other = kept->other,
	};
	return get_place(image, kept->len, &seen->at);
}

static bool
get_sight(struct arena *arena, struct image *image, struct wire *wire)
{
	struct seen **end = &wire->before.first;

	for (uint32_t i = 0; i < wire->before.count; i++) {
		struct seen *seen = arena_take(arena, 1, sizeof *seen);

		if (!get_seen(image, seen) ||
		    (wire->settings != NULL &&
			!get_settings(image, &wire->settings[i])))
			return false;
		*end = seen;
		end = &seen->next;
	}
	return true;
}

static bool
get_wire(struct tripwire *tripwire, struct image *image, struct wire *wire)
{
	struct arena *arena = tripwire->arena;
	const struct kept_wire *kept = get(image, sizeof *kept);
	struct sbx_watch *watch = arena_take(arena, 1, sizeof *watch);
	struct seen *seen;

	if (kept == NULL || kept->watch_form >= SBX_WATCH_END ||
	    kept->count > LOOK_MAX_NAMES)
		return false;
	watch->form = kept->watch_form;
	*wire = (struct wire){
		.watch = watch,
		.what = { .form = kept->form, .key = tripwire->key },
		.before = {
			.count = kept->count,
			.all = kept->all,
			.sum = kept->sum,
			.more = kept->more,
			.cut = kept->cut,
			.shut = kept->shut,
		},
	};
	if (kept->settings)
		wire->settings = arena_take(arena, kept->count + 1U,
		    sizeof *wire->settings);
	if (!get_place(image, kept->len, &wire->what.at) ||
	    !get_text(image, &wire->what.pattern))
		return false;
	if (!kept->absent)
		return get_sight(arena, image, wire);
	seen = arena_take(arena, 1, sizeof *seen);
	*seen = (struct seen){ .at = wire->what.at,
		.error = ENOENT,
		.part = SBX_GIT_FILE };
	wire->before.first = seen;
	return true;
}

/* What another sbxrun wrote is not understood, and nothing is told of it. */
static bool
read_killed(struct tripwire *tripwire, int fd, size_t len)
{
	struct arena *arena = tripwire->arena;
	struct kept_head *head = arena_take(arena, 1, len);
	struct image image = { .at = (char *)head };

	if (len < sizeof *head || pread(fd, head, len, 0) != (ssize_t)len ||
	    head->wire_size != sizeof(struct kept_wire) ||
	    head->seen_size != sizeof(struct kept_seen) || head->len > len ||
	    head->len < sizeof *head ||
	    head->count > len / sizeof(struct kept_wire))
		return false;
	image.end = image.at + head->len;
	get(&image, sizeof *head);
	tripwire->key = head->key;
	if (head->left != 0)
		tripwire->who =
		    "what was left in a session, or somebody since,";
	tripwire->wires = arena_take(arena, head->count,
	    sizeof *tripwire->wires);
	while (tripwire->count < head->count) {
		if (!get_wire(tripwire, &image,
			&tripwire->wires[tripwire->count]))
			return false;
		tripwire->count++;
	}
	return true;
}

static void
tell_killed(struct tripwire *tripwire, int fd, size_t len)
{
	/* By whole paths. */
	struct look_from from = { .fd = -1, .opened = true }, now = from;

	tripwire->before = &from;
	tripwire->now = &now;
	if (!read_killed(tripwire, fd, len))
		return;
	for (uint32_t i = 0; i < tripwire->count; i++)
		tripwire_tell_wire(tripwire, &tripwire->wires[i], false);
	if (tripwire->unsaid > 0)
		tripwire_say_rest(tripwire);
}

static void
say_too_much(void)
{
	struct out out;

	out_init(&out, STDERR_FILENO);
	out_text(&out,
	    "sbxrun: a run that was killed watched more than is compared "
	    "now: look yourself at what may run later\n");
	out_flush(&out);
}

void
tripwire_tell_killed(struct arena *arena, struct unfinished *next)
{
	enum {
		IMAGE_MAX = 1 << 20
	}; /* of the memory that this run needs, too */
	struct unfinished_list list;
	size_t len;

	unfinished_open(&list, scratch_runs());
	while (unfinished_next(&list, &len)) {
		struct tripwire tripwire = {
			.arena = arena,
			.who = "a run that was killed, or somebody since,",
		};
		uint32_t used = arena->used;

		if (!stderr_takes_more())
			break;
		/* First: if this run ends over it, no other one does. */
		if (next != NULL)
			unlinkat(list.run.directory, list.run.name, 0);
		if (len <= IMAGE_MAX)
			tell_killed(&tripwire, list.run.fd, len);
		else
			say_too_much();
		arena_cut(arena, used);
	}
	unfinished_close(&list, next);
}
