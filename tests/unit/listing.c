/*
 * The names in a directory (runtime/bind/listing.c).  A name that is taken for
 * another one would let a link go unseen, or a denied place count as missing; so
 * each name here begins all that are longer, and many share their slot.
 */
#include "runtime/bind/bind.h"
#include "tests/lib/tap.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST = 200, ASKED = 250 };

struct stage {
	char directory[64];
	char path[64 + 1 + ASKED + 1];
};

/* A name of so many letters in the directory, as a whole path. */
static const char *
path_of_name(struct stage *stage, unsigned letters)
{
	int len = snprintf(stage->path, sizeof stage->path, "%s/",
	    stage->directory);

	for (unsigned i = 0; i < letters; i++)
		stage->path[len++] = (char)('a' + i * i * (i + 5) / 7 % 26);
	stage->path[len] = '\0';
	return stage->path;
}

static struct sbx_place
place(const char *path)
{
	return (struct sbx_place){ path, (uint32_t)strlen(path) };
}

static enum listed
kind_of(unsigned letters)
{
	if (letters > LONGEST || letters % 5 == 0)
		return LISTED_MISSING;
	return letters % 3 == 0 ? LISTED_UNKNOWN : LISTED_ENTRY;
}

static void
stage_make(struct stage *stage)
{
	for (unsigned letters = 1; letters <= LONGEST; letters++) {
		const char *path = path_of_name(stage, letters);
		int fd;

		switch (kind_of(letters)) {
		case LISTED_ENTRY:
			fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
			if (fd < 0 || close(fd) != 0)
				abort();
			break;
		case LISTED_UNKNOWN:
			if (symlink("elsewhere", path) != 0)
				abort();
			break;
		case LISTED_MISSING:
			break;
		}
	}
}

/* What is reached by a link may be another directory at any time, so that it says
 * nothing of what is missing; nor does one that only begins alike. */
static void
test_others(struct tap *tap, struct stage *stage)
{
	static struct listings none;
	char linked[sizeof stage->directory + 4], path[sizeof linked + 8];
	uint32_t end;

	snprintf(linked, sizeof linked, "%s-to", stage->directory);
	if (symlink(stage->directory, linked) != 0)
		abort();
	listings_add(&none, place(linked));
	snprintf(path, sizeof path, "%s/q", linked);
	tap_ok(tap,
	    none.count == 1 && !none.of[0].whole &&
		listings_look(&none, place(path), &end) == LISTED_UNKNOWN,
	    "of what cannot be opened, nothing is known");
	unlink(linked);
	none.count = 0;
	listings_add(&none, place(linked));
	tap_ok(tap,
	    none.of[0].whole &&
		listings_look(&none, place(path), &end) == LISTED_MISSING,
	    "of what is not there, all");
	none.count = 0;
	listings_add(&none, place(stage->directory));
	snprintf(path, sizeof path, "%s-to", stage->directory);
	tap_ok(tap,
	    none.of[0].whole &&
		listings_look(&none, place(path), &end) == LISTED_UNKNOWN,
	    "of what begins alike, nothing");
}

static void
stage_remove(struct stage *stage)
{
	for (unsigned letters = 1; letters <= LONGEST; letters++)
		unlink(path_of_name(stage, letters));
	rmdir(stage->directory);
}

int
main(void)
{
	static struct listings listings;
	struct tap tap = { 0, 0 };
	struct stage stage = { .directory = "/tmp/sbx-listing-XXXXXX" };
	unsigned wrong = 0;
	uint32_t end;

	if (mkdtemp(stage.directory) == NULL)
		abort();
	stage_make(&stage);
	tap_ok(&tap,
	    listings_look(&listings, place(path_of_name(&stage, 1)), &end) ==
		LISTED_UNKNOWN,
	    "before it is listed, nothing is known");
	listings_add(&listings, place(stage.directory));
	tap_ok(&tap, listings.count == 1 && listings.of[0].whole,
	    "it is listed as a whole");
	for (unsigned letters = 1; letters <= ASKED; letters++) {
		struct sbx_place asked = place(path_of_name(&stage, letters));
		enum listed wanted = kind_of(letters), got;

		end = 0;
		got = listings_look(&listings, asked, &end);
		if (got == wanted && (got != LISTED_ENTRY || end == asked.len))
			continue;
		wrong++;
		printf("# %u letters: %d, not %d\n", letters, got, wanted);
	}
	tap_ok(&tap, wrong == 0, "each name stands for itself");
	tap_ok(&tap,
	    listings_look(&listings, place("/tmp/elsewhere"), &end) ==
		LISTED_UNKNOWN,
	    "beside it, nothing is known");
	test_others(&tap, &stage);
	stage_remove(&stage);
	return tap_done(&tap);
}
