/* See here.h. */
#include "compiler/query/here.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

/* As sbxrun bounds its own search; it refuses to go on there. */
enum { MAX_ENTRIES = 262144, MAX_DEPTH = 128 };

struct search {
	struct arena *arena;
	struct sbx_glob glob;
	struct here_links *links;
	size_t entries;
	unsigned depth;
	size_t len;
	char path[SBX_MAX_PATH + 1]; /* the directory that it is in */
};

static void search_directory(struct search *search, uint64_t states);

static bool
path_push(struct search *search, const char *name, size_t len)
{
	if (search->len + 1 + len >= sizeof search->path)
		return false;
	search->path[search->len] = '/';
	memcpy(search->path + search->len + 1, name, len + 1);
	search->len += 1 + len;
	return true;
}

static int
type_of(const char *path, const struct dirent *entry)
{
	struct stat status;

	if (entry->d_type != DT_UNKNOWN || lstat(path, &status) != 0)
		return entry->d_type;
	return IFTODT(status.st_mode);
}

static void
add_match(struct search *search, bool is_link)
{
	struct here_links *links = search->links;
	struct sbx_place at = {
		arena_strndup(search->arena, search->path, search->len),
		(uint32_t)search->len,
	};

	if (is_link)
		*arena_push(search->arena, &links->list) = at;
	else
		*arena_push(search->arena, &links->others) = at;
}

/* What lies in a match is no other one. */
static void
search_entry(struct search *search, const struct dirent *entry, uint64_t states)
{
	size_t len = strlen(entry->d_name), before = search->len;
	int type;

	states = sbx_glob_step(&search->glob, states, entry->d_name, len);
	if (states == 0 || !path_push(search, entry->d_name, len))
		return;
	type = type_of(search->path, entry);
	if (!sbx_glob_matches(&search->glob, states)) {
		if (type == DT_DIR)
			search_directory(search, states);
	} else {
		add_match(search, type == DT_LNK);
	}
	search->len = before;
	search->path[before] = '\0';
}

static void
search_directory(struct search *search, uint64_t states)
{
	const struct dirent *entry;
	DIR *directory;

	if (search->depth == MAX_DEPTH)
		return;
	directory = opendir(search->len == 0 ? "/" : search->path);
	if (directory == NULL)
		return;
	search->depth++;
	while (search->entries < MAX_ENTRIES &&
	    (entry = readdir(directory)) != NULL) {
		search->entries++;
		if (strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			search_entry(search, entry, states);
	}
	search->depth--;
	closedir(directory);
}

void
here_glob_links(struct arena *arena, const char *pattern,
    struct sbx_place place, struct here_links *links)
{
	struct search search = { .arena = arena, .links = links };

	if (!sbx_glob_parse(pattern, &search.glob) ||
	    place.len >= sizeof search.path)
		return;
	if (place.len > 0)
		memcpy(search.path, place.path, place.len);
	search.len = place.len;
	search_directory(&search, sbx_glob_start(&search.glob));
}
