/*
 * What sbxrun keeps of a text that was compiled for it (format/protocol.h): digests
 * of the very bytes that were compiled, and not of what the files hold by now.
 */
#include "compiler/query/query.h"

#include "format/protocol.h"
#include "runtime/base/files.h"

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

static void
add_read(struct files *files, const char *path, const struct source *source)
{
	char digest[SHA256_HEX + 1];
	struct sbx_compiled_file *file = add(files, path);

	sha256_hex(source->text, source->size, digest);
	memcpy(file->digest, digest, sizeof file->digest);
}

void
compiled_write(FILE *stream, const struct sources *sources,
    const struct image *image)
{
	struct files files = { .arena = sources->arena };
	struct sbx_compiled head = { .blob_size = (uint32_t)image->size };

	for (size_t i = 0; i < sources->files.count; i++) {
		const struct source *source = sources->files.items[i];

		if (source->path != NULL)
			add_read(&files, source->path, source);
	}
	for (size_t i = 0; i < sources->again.count; i++)
		add_read(&files, sources->again.items[i].path,
		    sources->again.items[i].source);
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
