/*
 * Messages about a policy that cannot be opened, and about a parameter that the
 * policy does not have.  They name what there is instead.
 */
#include "runtime/bind/bind.h"

#include "runtime/base/files.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#ifndef SBX_SHIPPED_PROFILES
#define SBX_SHIPPED_PROFILES ""
#endif

static const char suffix[] = ".bin";

enum { SUFFIX_LEN = sizeof suffix - 1 };

struct profiles {
	struct out *text;
	const char *wanted;
	char nearest[SPELLING_MAX + 1];
	uint32_t distance; /* of the nearest one */
};

static void
compare_profile(struct profiles *profiles, const char *name, size_t len)
{
	uint32_t far = spelling_distance(profiles->wanted,
	    strlen(profiles->wanted), name, len);

	if (far >= profiles->distance || len > SPELLING_MAX)
		return;
	profiles->distance = far;
	memcpy(profiles->nearest, name, len);
	profiles->nearest[len] = '\0';
}

static void
add_profile(struct profiles *profiles, const char *name, size_t len)
{
	out_text(profiles->text, " @");
	out_bytes(profiles->text, name, len);
	compare_profile(profiles, name, len);
}

/* What comes with sbx, installed or not: "profiles/NAME.sbx profiles/...". */
static void
compare_shipped(struct profiles *profiles)
{
	static const char shipped[] = SBX_SHIPPED_PROFILES;

	for (const char *at = shipped; (at = strchr(at, '/')) != NULL;) {
		at++;
		compare_profile(profiles, at, strcspn(at, "."));
	}
}

static void
suggest(const struct profiles *profiles)
{
	if (profiles->distance == 0 || profiles->distance >= SPELLING_FAR)
		return;
	out_text(profiles->text, "; did you mean @");
	out_text(profiles->text, profiles->nearest);
	out_text(profiles->text, "?");
}

/* Adds " @NAME" for each profile in the directory; false if there is none. */
static bool
list_profiles(struct profiles *profiles, const char *directory)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct out *text = profiles->text;
	uint32_t before = text->used;
	const struct entry *entry;
	struct directory entries;

	directory_begin(&entries, fd);
	while (fd >= 0 && (entry = directory_next(&entries)) != NULL) {
		size_t len = strlen(entry->name);

		if (len > SUFFIX_LEN && len + text->used + 96 <= text->size &&
		    strcmp(entry->name + len - SUFFIX_LEN, suffix) == 0)
			add_profile(profiles, entry->name, len - SUFFIX_LEN);
	}
	if (fd >= 0)
		close(fd);
	return text->used > before;
}

/* The user's own, of which a text and its blob are one. */
static void
list_own(struct profiles *profiles)
{
	static const char *const ends[] = { ".sbx", ".bin" };
	char buffer[PASSWD_LINE], path[SBX_MAX_PATH + 1];
	const char *home = passwd_home(buffer, sizeof buffer);
	struct directory entries;
	const struct entry *entry;
	struct out out;
	int fd;

	out_into(&out, path, sizeof path);
	out_print(&out, "%s" SBX_OWN_CONFIG, home != NULL ? home : "");
	fd = home == NULL || out.full ?
	    -1 :
	    open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	directory_begin(&entries, fd);
	while (fd >= 0 && (entry = directory_next(&entries)) != NULL) {
		size_t len = strlen(entry->name);

		for (int i = 0; i < 2; i++) {
			char text[SPELLING_MAX + SUFFIX_LEN + 1];

			if (len <= SUFFIX_LEN || len >= sizeof text ||
			    strcmp(entry->name + len - SUFFIX_LEN, ends[i]) !=
				0 ||
			    len + profiles->text->used + 96 >
				profiles->text->size)
				continue;
			memcpy(text, entry->name, len + 1);
			memcpy(text + len - SUFFIX_LEN, ends[0], SUFFIX_LEN);
			if (i == 0 || faccessat(fd, text, F_OK, 0) != 0)
				add_profile(profiles, entry->name,
				    len - SUFFIX_LEN);
		}
	}
	if (fd >= 0)
		close(fd);
}

/* Whether a word that was taken for a file's name is a profile's. */
static bool
is_profile(const char *name, const char *directory)
{
	char path[SBX_MAX_PATH + 1];
	size_t len = strlen(name), room = strlen(directory);

	if (strchr(name, '/') != NULL ||
	    room + 1 + len + SUFFIX_LEN > SBX_MAX_PATH)
		return false;
	strcpy(path, directory);
	strcat(path, "/");
	strcat(path, name);
	strcat(path, suffix);
	return access(path, R_OK) == 0;
}

void
refuse_policy(const char *name, const char *directory, int error)
{
	struct out text;
	struct profiles profiles = { .text = &text,
		.wanted = name + 1,
		.distance = SPELLING_FAR };

#ifdef SBX_TESTING
	/* Nothing is installed where the test build would look. */
	if (getenv("SBX_TEST_PROFILES") != NULL)
		directory = getenv("SBX_TEST_PROFILES");
#endif
	out_init(&text, -1);
	if (name[0] != '@' && error == ENOENT && is_profile(name, directory)) {
		out_text(&text, "no such file; did you mean @");
		out_text(&text, name);
		out_text(&text, "?");
		refuse(name, text.text, 0);
	}
	if (name[0] != '@')
		refuse(name, "cannot open the policy", error);
	if (error == ENOENT) {
		out_text(&text, "no such profile; there are");
		if (list_profiles(&profiles, directory)) {
			list_own(&profiles);
			suggest(&profiles);
			refuse(name, text.text, 0);
		}
	}
	out_init(&text, -1);
	out_text(&text, "cannot open that profile in ");
	out_text(&text, directory);
	/* Where profiles are not installed sbxc has them. */
	if (error == ENOENT) {
		compare_shipped(&profiles);
		suggest(&profiles);
		if (profiles.distance < SPELLING_FAR) {
			out_text(&text, " ('sbxc build @");
			out_text(&text, profiles.nearest);
			out_text(&text,
			    "' writes a file that can be named instead)");
		} else {
			out_text(&text, " ('sbxc profiles' lists them)");
		}
	}
	refuse(name, text.text, error);
}

void
refuse_definition(const struct definition *definition,
    const struct sbx_blob *blob)
{
	struct out text;

	out_init(&text, -1);
	if (blob->anchor_count <= SBX_ANCHOR_PARAM)
		refuse(definition->text,
		    "the policy has no such parameter; it has none", 0);
	out_text(&text, "the policy has no such parameter; it has");
	for (uint32_t i = SBX_ANCHOR_PARAM; i < blob->anchor_count; i++) {
		const char *name = sbx_string(blob, blob->anchors[i].name);
		size_t len = strlen(name);

		if (4 * len + text.used + 8 > text.size)
			continue;
		out_text(&text, " ");
		out_shown(&text, name, len);
	}
	refuse(definition->text, text.text, 0);
}
