/* See query.h. */
#include "compiler/query/query.h"

#include "format/protocol.h"

#include <string.h>

struct files {
	struct arena *arena;
	VEC(struct sbx_compiled_file) list;
	VEC(char) paths;
};

static struct sbx_compiled_file *
add(struct files *files, const char *path)
{
	struct sbx_compiled_file *file = arena_push(files->arena, &files->list);

	*file = (struct sbx_compiled_file){
		.path = (uint32_t)files->paths.count,
	};
	for (size_t i = 0; i <= strlen(path); i++)
		*arena_push(files->arena, &files->paths) = path[i];
	return file;
}

void
compiled_write(FILE *stream, const struct sources *sources,
    const struct image *image)
{
	struct files files = { .arena = sources->arena };
	struct sbx_compiled head = { .blob_size = (uint32_t)image->size };

	for (size_t i = 0; i < sources->files.count; i++) {
		const struct source *source = sources->files.items[i];
		struct sbx_compiled_file *file;

		if (source->path == NULL)
			continue;
		file = add(&files, source->path);
		file->device = source->device;
		file->inode = source->inode;
		file->size = source->file_size;
		file->modified = source->modified;
		file->changed = source->changed;
	}
	for (size_t i = 0; i < sources->absent.count; i++)
		add(&files, sources->absent.items[i])->absent = true;
	memcpy(head.magic, SBX_COMPILED_MAGIC, sizeof head.magic);
	head.file_count = (uint32_t)files.list.count;
	head.path_size = (uint32_t)files.paths.count;
	fwrite(&head, 1, sizeof head, stream);
	/* A blob, to which rules were added, has none. */
	if (files.list.count > 0) {
		fwrite(files.list.items, sizeof *files.list.items,
		    files.list.count, stream);
		fwrite(files.paths.items, 1, files.paths.count, stream);
	}
	fwrite(image->bytes, 1, image->size, stream);
}
