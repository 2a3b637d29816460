/*
 * The parts of a blob, and laying them out anew.
 */
#include "tests/unit/verify.h"

const char *const error_names[ERRORS] = {
#define SBX_X(name, sentence) #name,
	SBX_BLOB_ERRORS(SBX_X)
#undef SBX_X
};

static const struct kind kinds[] = {
	{ "meta", SBX_SECTION_META, sizeof(struct sbx_meta) },
	{ "strings", SBX_SECTION_STRINGS, 1 },
	{ "anchors", SBX_SECTION_ANCHORS, sizeof(struct sbx_anchor) },
	{ "paths", SBX_SECTION_PATHS, sizeof(struct sbx_path) },
	{ "exclusions", SBX_SECTION_EXCLUSIONS, sizeof(struct sbx_exclusion) },
	{ "ports", SBX_SECTION_PORTS, sizeof(struct sbx_port) },
	{ "limits", SBX_SECTION_LIMITS, sizeof(struct sbx_limit) },
	{ "env", SBX_SECTION_ENV, sizeof(struct sbx_env) },
	{ "set", SBX_SECTION_SET, sizeof(struct sbx_set) },
	{ "landlock", SBX_SECTION_LANDLOCK, sizeof(struct sbx_landlock) },
	{ "programs", SBX_SECTION_PROGRAMS, sizeof(struct sbx_program) },
	{ "bpf", SBX_SECTION_BPF, sizeof(struct sbx_insn) },
	{ "syscalls", SBX_SECTION_SYSCALLS, sizeof(struct sbx_syscall) },
	{ "sources", SBX_SECTION_SOURCES, sizeof(struct sbx_source) },
	{ "watches", SBX_SECTION_WATCHES, sizeof(struct sbx_watch) },
	{ "sockets", SBX_SECTION_SOCKETS, sizeof(struct sbx_socket) },
	{ "names", SBX_SECTION_NAMES, sizeof(struct sbx_name) },
	{ "endpoints", SBX_SECTION_ENDPOINTS, sizeof(struct sbx_endpoint) },
	{ "proxy", SBX_SECTION_PROXY, sizeof(struct sbx_proxy) },
};
_Static_assert(countof(kinds) == SBX_SECTION_END - 1, "a section is missing");

void
give_up(const struct bench *bench, const char *format, ...)
{
	va_list args;

	printf("Bail out! %s:%u: ", bench->file, bench->line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	exit(99);
}

struct sbx_header *
image_header(struct image *image)
{
	return (void *)image->bytes;
}

struct sbx_section *
image_table(struct image *image)
{
	return (void *)(image->bytes + sizeof(struct sbx_header));
}

const struct kind *
kind_find(const struct bench *bench, const char *name)
{
	for (size_t i = 0; i < countof(kinds); i++) {
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	}
	give_up(bench, "no section '%s'", name);
}

uint32_t
image_row(struct image *image, uint32_t kind)
{
	const struct sbx_section *table = image_table(image);
	uint32_t i = 0;

	while (i < image_header(image)->section_count && table[i].kind < kind)
		i++;
	return i;
}

struct sbx_section *
section_get(struct bench *bench, const char *name)
{
	uint32_t kind = kind_find(bench, name)->kind;
	struct image *image = &bench->image;
	struct sbx_section *section = image_table(image) +
	    image_row(image, kind);

	if (section->kind != kind)
		give_up(bench, "the good blob has no section '%s'", name);
	return section;
}

void
image_seal(struct image *image)
{
	image_header(image)->size = (uint32_t)image->size;
	image_header(image)->sum = sbx_checksum(image->bytes, image->size);
}

void
image_rebuild(struct bench *bench, const struct change *change)
{
	struct image *old = &bench->spare, *new = &bench->image;
	uint32_t count = image_header(new)->section_count, rows = 0;
	struct sbx_section *from = image_table(old), *to = image_table(new);
	size_t end;

	memcpy(old, new, sizeof *old);
	memset(new->bytes + sizeof(struct sbx_header), 0,
	    ROOM - sizeof(struct sbx_header));
	end = sizeof(struct sbx_header) +
	    (count + change->insert - change->drop) * sizeof *to;
	for (uint32_t i = 0; i < count + change->insert; i++) {
		bool here = i == change->row;
		uint32_t keep = here ? change->section.size : from->size;

		if (here && change->drop) {
			from++;
			continue;
		}
		to[rows] = here && change->insert ? change->section : *from;
		end = (end + 7) / 8 * 8;
		if (end + keep > ROOM)
			give_up(bench, "too large");
		to[rows].offset = (uint32_t)end;
		to[rows].size = keep;
		if (!here || !change->insert) {
			memcpy(new->bytes + end, old->bytes + from->offset,
			    keep < from->size ? keep : from->size);
			from++;
		}
		end += keep;
		rows++;
	}
	image_header(new)->section_count = rows;
	new->size = (end + 7) / 8 * 8;
}
