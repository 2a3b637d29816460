/*
 * See lower.h.  The strings and the text come last, because they differ
 * whenever another section does.
 */
#include "compiler/lower/lower.h"

#include "compiler/policy/kind.h"

#include <string.h>

static const char *const words[SBX_SECTION_END] = {
	[SBX_SECTION_META] = "the settings of the whole",
	[SBX_SECTION_STRINGS] = "the strings",
	[SBX_SECTION_ANCHORS] = "the parameters",
	[SBX_SECTION_EXCLUSIONS] = "the exceptions of path rules",
	[SBX_SECTION_LANDLOCK] = "the Landlock masks",
	[SBX_SECTION_PROGRAMS] = "the table of filters",
	[SBX_SECTION_BPF] = "the filters",
	[SBX_SECTION_SOURCES] = "the places where rules were written",
};

/* A section, or one of no bytes. */
static struct sbx_section
section_find(const void *blob, uint32_t kind)
{
	const struct sbx_header *header = blob;
	const struct sbx_section *table = (const void *)(header + 1);

	for (uint32_t i = 0; i < header->section_count; i++) {
		if (table[i].kind == kind)
			return table[i];
	}
	return (struct sbx_section){ .kind = kind };
}

static const char *
section_words(uint32_t section)
{
	const struct rule_kind *kind = rule_kind_of_section(section);

	return kind != NULL ? kind->section_name : words[section];
}

static bool
section_differs(const void *a, const void *b, uint32_t kind)
{
	struct sbx_section x = section_find(a, kind);
	struct sbx_section y = section_find(b, kind);

	return x.size != y.size ||
	    memcmp((const char *)a + x.offset, (const char *)b + y.offset,
		x.size) != 0;
}

const char *
sections_differ(const void *a, size_t a_size, const void *b, size_t b_size)
{
	if (a_size == b_size && memcmp(a, b, a_size) == 0)
		return NULL;
	for (uint32_t kind = 1; kind < SBX_SECTION_END; kind++) {
		if (kind != SBX_SECTION_STRINGS && section_differs(a, b, kind))
			return section_words(kind);
	}
	if (section_differs(a, b, SBX_SECTION_STRINGS))
		return words[SBX_SECTION_STRINGS];
	return "the text";
}
