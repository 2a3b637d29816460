#include "runtime/bind/missing.h"

#include "runtime/base/directory.h"
#include "runtime/base/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static const char suffix[] = ".bin";

enum { SUFFIX_LEN = sizeof suffix - 1 };

/* Adds " @NAME" for each profile in the directory; false if there is none. */
static bool
list_profiles(struct out *text, const char *directory)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint32_t before = text->used;
	const struct entry *entry;
	struct directory entries;

	directory_begin(&entries, fd);
	while (fd >= 0 && (entry = directory_next(&entries)) != NULL) {
		size_t len = strlen(entry->name);

		if (len <= SUFFIX_LEN || len + text->used + 8 > text->size ||
		    strcmp(entry->name + len - SUFFIX_LEN, suffix) != 0)
			continue;
		out_text(text, " @");
		out_bytes(text, entry->name, len - SUFFIX_LEN);
	}
	if (fd >= 0)
		close(fd);
	return text->used > before;
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
		if (list_profiles(&text, directory))
			refuse(name, text.text, 0);
	}
	out_init(&text, -1);
	out_text(&text, "cannot open that profile in ");
	out_text(&text, directory);
	/* Where profiles are not installed sbxc has them. */
	if (error == ENOENT) {
		out_text(&text, " ('sbxc build ");
		out_text(&text, name);
		out_text(&text, "' writes a file that can be named instead)");
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
		    "the policy has no such parameter; it "
		    "has none",
		    0);
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
