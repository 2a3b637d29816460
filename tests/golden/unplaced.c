/*
 * unplaced BLOB: prints the bytes of a blob up to its text, with 0 for every line
 * and column, and for the checksum and the size of the text that go with them.  So two blobs can be compared that
 * were made from one policy in two layouts.
 */
#include "format/blob.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

int
main(int argc, char **argv)
{
	static alignas(8) unsigned char bytes[SBX_MAX_SIZE + 1];
	FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
	struct sbx_blob blob;
	size_t size;

	if (file == NULL)
		return 2;
	size = fread(bytes, 1, sizeof bytes, file);
	fclose(file);
	if (sbx_verify(bytes, size, &blob) != SBX_BLOB_OK)
		return 1;
	for (uint32_t i = 0; i < blob.source_count; i++) {
		unsigned char *source = bytes +
		    ((const uint8_t *)&blob.sources[i] - blob.base);

		memset(source + offsetof(struct sbx_source, line), 0,
		    2 * sizeof(uint32_t));
	}
	memset(bytes + offsetof(struct sbx_header, sum), 0, sizeof(uint32_t));
	memset(bytes + offsetof(struct sbx_header, text_size), 0,
	    sizeof(uint32_t));
	size = blob.size;
	return fwrite(bytes, 1, size, stdout) == size && fflush(stdout) == 0 ?
	    0 :
	    1;
}
