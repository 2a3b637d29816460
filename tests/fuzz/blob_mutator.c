/*
 * A blob is taken apart into its sections, each in a buffer of its own, changed
 * and laid out anew.
 */
#include "tests/fuzz/blob_mutator.h"

#include "format/model.h"

#include <stdlib.h>
#include <string.h>

enum {
	LARGEST = 32768, /* bytes of a section that is worth the copying */
	SECTIONS = 32,   /* rows of a table */
	MOST_CHANGES = 4,
};

struct part {
	struct sbx_section row;
	size_t size;
	uint8_t bytes[LARGEST];
};

struct parts {
	struct sbx_header header;
	size_t count;
	struct part of[SECTIONS];
	size_t text_size;
	uint8_t text[LARGEST];
};

static const uint8_t record_sizes[SBX_SECTION_END] = {
	[SBX_SECTION_META] = sizeof(struct sbx_meta),
	[SBX_SECTION_STRINGS] = 1,
	[SBX_SECTION_ANCHORS] = sizeof(struct sbx_anchor),
	[SBX_SECTION_PATHS] = sizeof(struct sbx_path),
	[SBX_SECTION_EXCLUSIONS] = sizeof(struct sbx_exclusion),
	[SBX_SECTION_PORTS] = sizeof(struct sbx_port),
	[SBX_SECTION_LIMITS] = sizeof(struct sbx_limit),
	[SBX_SECTION_ENV] = sizeof(struct sbx_env),
	[SBX_SECTION_SET] = sizeof(struct sbx_set),
	[SBX_SECTION_LANDLOCK] = sizeof(struct sbx_landlock),
	[SBX_SECTION_PROGRAMS] = sizeof(struct sbx_program),
	[SBX_SECTION_BPF] = sizeof(struct sbx_insn),
	[SBX_SECTION_SYSCALLS] = sizeof(struct sbx_syscall),
	[SBX_SECTION_SOURCES] = sizeof(struct sbx_source),
	[SBX_SECTION_WATCHES] = sizeof(struct sbx_watch),
	[SBX_SECTION_SOCKETS] = sizeof(struct sbx_socket),
	[SBX_SECTION_NAMES] = sizeof(struct sbx_name),
	[SBX_SECTION_ENDPOINTS] = sizeof(struct sbx_endpoint),
	[SBX_SECTION_PROXY] = sizeof(struct sbx_proxy),
};

static size_t
record_size(const struct part *part)
{
	return part->row.kind < SBX_SECTION_END && part->row.kind > 0 ?
	    record_sizes[part->row.kind] :
	    8;
}

static size_t
record_count(const struct part *part)
{
	return part->size / record_size(part);
}

/* --- apart and together --------------------------------------------------- */

static bool
take_apart(struct parts *parts, const uint8_t *bytes, size_t size)
{
	if (size < sizeof parts->header)
		return false;
	memcpy(&parts->header, bytes, sizeof parts->header);
	parts->count = parts->header.section_count;
	if (parts->count == 0 || parts->count > SECTIONS ||
	    size < sizeof parts->header +
		    parts->count * sizeof(struct sbx_section))
		return false;
	for (size_t i = 0; i < parts->count; i++) {
		struct part *part = &parts->of[i];

		memcpy(&part->row,
		    bytes + sizeof parts->header + i * sizeof part->row,
		    sizeof part->row);
		part->size = part->row.size;
		if (part->row.offset > size || part->size > LARGEST ||
		    part->size > size - part->row.offset)
			return false;
		memcpy(part->bytes, bytes + part->row.offset, part->size);
	}
	parts->text_size = 0;
	if (parts->header.size < size &&
	    size - parts->header.size <= sizeof parts->text) {
		parts->text_size = size - parts->header.size;
		memcpy(parts->text, bytes + parts->header.size,
		    parts->text_size);
	}
	return true;
}

static size_t
aligned(size_t size)
{
	return (size + 7) / 8 * 8;
}

/* 0 if there is no room. */
static size_t
put_together(struct parts *parts, uint8_t *bytes, size_t room)
{
	struct sbx_header *header = &parts->header;
	size_t end = sizeof *header + parts->count * sizeof(struct sbx_section);

	for (size_t i = 0; i < parts->count; i++)
		end = aligned(end) + parts->of[i].size;
	if (aligned(end) + parts->text_size > room)
		return 0;
	memset(bytes, 0, aligned(end));
	end = sizeof *header + parts->count * sizeof(struct sbx_section);
	for (size_t i = 0; i < parts->count; i++) {
		struct part *part = &parts->of[i];

		end = aligned(end);
		part->row.offset = (uint32_t)end;
		part->row.size = (uint32_t)part->size;
		memcpy(bytes + sizeof *header + i * sizeof part->row,
		    &part->row, sizeof part->row);
		memcpy(bytes + end, part->bytes, part->size);
		end += part->size;
	}
	memcpy(header->magic, SBX_MAGIC, sizeof header->magic);
	header->section_count = (uint32_t)parts->count;
	header->size = (uint32_t)aligned(end);
	header->text_size = (uint32_t)parts->text_size;
	memcpy(bytes + header->size, parts->text, parts->text_size);
	header->sum = 0;
	memcpy(bytes, header, sizeof *header);
	header->sum = sbx_checksum(bytes, header->size);
	memcpy(bytes, header, sizeof *header);
	return header->size + parts->text_size;
}

/* --- order ---------------------------------------------------------------- */

static struct part *
part_find(struct parts *parts, uint32_t kind)
{
	for (size_t i = 0; i < parts->count; i++) {
		if (parts->of[i].row.kind == kind)
			return &parts->of[i];
	}
	return NULL;
}

/* A string as a place, so that it has the order of paths. */
static struct sbx_place
string_at(const struct part *strings, uint32_t offset)
{
	const char *text = (const char *)strings->bytes + offset;

	if (offset >= strings->size)
		return (struct sbx_place){ "", 0 };
	return (struct sbx_place){ text,
		(uint32_t)strnlen(text, strings->size - offset) };
}

static int
compare_paths(const struct part *strings, const void *a, const void *b)
{
	const struct sbx_path *one = a, *two = b;

	if (one->anchor != two->anchor)
		return one->anchor < two->anchor ? -1 : 1;
	return sbx_place_compare(string_at(strings, one->suffix),
	    string_at(strings, two->suffix));
}

/* Names of hosts and of system calls stand first in their records. */
static int
compare_names(const struct part *strings, const void *a, const void *b)
{
	uint32_t one, two;
	struct sbx_place first, second;
	int order;

	memcpy(&one, a, sizeof one);
	memcpy(&two, b, sizeof two);
	first = string_at(strings, one);
	second = string_at(strings, two);
	order = memcmp(first.path, second.path,
	    first.len < second.len ? first.len : second.len);
	return order != 0          ? order :
	    first.len < second.len ? -1 :
				     first.len > second.len;
}

typedef int order_fn(const struct part *strings, const void *a, const void *b);

/* Few records are out of order: by insertion. */
static void
part_sort(struct part *part, const struct part *strings, order_fn *order)
{
	size_t size = record_size(part), count = record_count(part);
	uint8_t spare[256];

	for (size_t i = 1; i < count; i++) {
		size_t to = i;

		memcpy(spare, part->bytes + i * size, size);
		while (to > 0 &&
		    order(strings, part->bytes + (to - 1) * size, spare) > 0)
			to--;
		memmove(part->bytes + (to + 1) * size, part->bytes + to * size,
		    (i - to) * size);
		memcpy(part->bytes + to * size, spare, size);
	}
}

static void
sort_all(struct parts *parts)
{
	static const struct {
		uint32_t kind;
		order_fn *order;
	} orders[] = {
		{ SBX_SECTION_PATHS, compare_paths },
		{ SBX_SECTION_SYSCALLS, compare_names },
		{ SBX_SECTION_NAMES, compare_names },
	};
	const struct part *strings = part_find(parts, SBX_SECTION_STRINGS);

	for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
		struct part *part = part_find(parts, orders[i].kind);

		if (strings != NULL && part != NULL)
			part_sort(part, strings, orders[i].order);
	}
}

/* --- changes -------------------------------------------------------------- */

/* A number that is near a bound, or some number. */
static uint32_t
draw_number(struct chance *chance)
{
	static const uint32_t bounds[] = {
		0,
		1,
		2,
		3,
		4,
		7,
		8,
		16,
		31,
		32,
		63,
		64,
		127,
		128,
		255,
		256,
		443,
		1023,
		4095,
		4096,
		32767,
		32768,
		65535,
		65536,
		UINT32_MAX - 1,
		UINT32_MAX,
	};

	if (chance_percent(chance, 80))
		return bounds[chance_below(chance,
		    sizeof bounds / sizeof *bounds)];
	return (uint32_t)chance_next(chance);
}

static void
change_field(struct part *part, struct parts *parts, struct chance *chance)
{
	static const uint8_t widths[] = { 1, 1, 2, 4, 4 };
	size_t size = record_size(part), width, at;
	uint32_t value = 0;

	(void)parts;
	if (part->size < size)
		return;
	width = size == 1 ? 1 : widths[chance_below(chance, sizeof widths)];
	at = chance_below(chance, record_count(part)) * size +
	    chance_below(chance, size / width) * width;
	memcpy(&value, part->bytes + at, width);
	switch (chance_below(chance, 4)) {
	case 0:
		value = draw_number(chance);
		break;
	case 1:
		value += (uint32_t)(chance_below(chance, 9) - 4);
		break;
	case 2:
		value ^= UINT32_C(1) << chance_below(chance, 8 * width);
		break;
	default: /* what another record has in the same field */
		memcpy(&value,
		    part->bytes + at % size +
			chance_below(chance, record_count(part)) * size,
		    width);
	}
	memcpy(part->bytes + at, &value, width);
}

static void
add_record(struct part *part, struct parts *parts, struct chance *chance)
{
	size_t size = record_size(part), count = record_count(part), to;

	(void)parts;
	if (count == 0 || part->size + size > LARGEST)
		return;
	to = chance_below(chance, count + 1) * size;
	memmove(part->bytes + to + size, part->bytes + to, part->size - to);
	part->size += size;
	if (chance_percent(chance, 90)) {
		size_t from = chance_below(chance, count + 1) * size;

		memmove(part->bytes + to, part->bytes + from, size);
		return;
	}
	memset(part->bytes + to, 0, size);
}

static void
drop_record(struct part *part, struct parts *parts, struct chance *chance)
{
	size_t size = record_size(part), at;

	(void)parts;
	if (part->size < size)
		return;
	at = chance_below(chance, record_count(part)) * size;
	part->size -= size;
	memmove(part->bytes + at, part->bytes + at + size, part->size - at);
}

static void
drop_section(struct part *part, struct parts *parts, struct chance *chance)
{
	size_t at = (size_t)(part - parts->of);

	(void)chance;
	parts->count--;
	memmove(part, part + 1, (parts->count - at) * sizeof *part);
}

/* A new string at the end of the strings, which a record now names. */
static void
name_string(struct part *part, struct parts *parts, struct chance *chance)
{
	static const char *const texts[] = {
		"/",
		"/a",
		"/a/b",
		"/.git",
		"/.ssh",
		"/a//b",
		"/..",
		"/.",
		"*",
		"**",
		"**/*",
		"a/**/b",
		"**/.env*",
		"?",
		"/\xff",
		"a\tb",
		"\x1b[0m",
		"\xef\xb8\x8f",
		"*.example.org",
		"example.org",
		"xn--bcher-kva.example",
		"PATH",
		"*",
		"LD_*",
		"ptrace",
		"mount",
		"workspace",
		"p",
		"-",
	};
	struct part *strings = part_find(parts, SBX_SECTION_STRINGS);
	size_t size = record_size(part), len, at;
	const char *text =
	    texts[chance_below(chance, sizeof texts / sizeof *texts)];
	uint32_t offset;

	len = strlen(text) + 1;
	if (strings == NULL || size < 8 || part->size < size ||
	    strings->size + len > LARGEST)
		return;
	offset = (uint32_t)strings->size;
	memcpy(strings->bytes + strings->size, text, len);
	strings->size += len;
	at = chance_below(chance, record_count(part)) * size;
	/* Strings stand first in nearly all records. */
	if (chance_percent(chance, 30))
		at += chance_below(chance, size / 4) * 4;
	memcpy(part->bytes + at, &offset, sizeof offset);
}

/* A byte of a text or of the filters, wherever. */
static void
change_byte(struct part *part, struct parts *parts, struct chance *chance)
{
	(void)parts;
	if (part->size > 0)
		part->bytes[chance_below(chance, part->size)] =
		    (uint8_t)chance_next(chance);
}

static void
change_row(struct part *part, struct parts *parts, struct chance *chance)
{
	(void)parts;
	if (chance_percent(chance, 50))
		part->row.flags ^= UINT32_C(1) << chance_below(chance, 3);
	else
		part->row.kind = (uint32_t)chance_below(chance,
		    SBX_SECTION_END + 2);
}

/* Of the policy as text: a piece goes, comes twice, or is one that a policy may
 * not have there.  What pieces are begins anywhere. */
static void
change_text(struct part *part, struct parts *parts, struct chance *chance)
{
	static const char *const pieces[] = {
		"",
		"sbx 1\n",
		"sbx 2\n",
		"sbx 1\nprofile p {\n}\n",
		"sbx 1\nprofile p {\n    use system\n}\n",
		"sbx 1\nprofile p extends workspace-write {\n}\n",
		"include \"groups.sbx\"\n",
		"include \"/dev/zero\"\n",
		"profile p {\n",
		"group g { use g }\n",
		"}\n",
		"{",
		"allow write /\n",
		"allow read \"/a\\0b\"\n",
		"allow read /\x1b]0;x\x07\n",
		"deny exec glob \"**/**/**/**/**/*\"\n",
		"prefer deny write ${workspace}/.git\n",
		"allow network domain \"*.example.org:1-65535\"\n",
		"allow env *\n",
		"set A \"\\n\"\n",
		"limit processes 4294967296\n",
		"watch git ${workspace}\n",
		"allow syscall ptrace arg 0 == 0x7fffffffffffffff\n",
		"about \"\xc2\x9b\"\n",
		"\"",
		"\\",
		"# sbx: ignore SBX0618\n",
		"\xff\xfe",
		"\xe2\x80\xae",
	};
	const char *piece =
	    pieces[chance_below(chance, sizeof pieces / sizeof *pieces)];
	size_t at = chance_below(chance, parts->text_size + 1);
	size_t gone = chance_below(chance, 3) == 0 ?
	    chance_below(chance, parts->text_size - at + 1) :
	    0;
	size_t len = strlen(piece);

	(void)part;
	/* Mostly whole lines, or nothing but the first mistake is read. */
	while (
	    at > 0 && parts->text[at - 1] != '\n' && chance_percent(chance, 98))
		at--;
	if (parts->text_size - gone + len > sizeof parts->text)
		return;
	memmove(parts->text + at + len, parts->text + at + gone,
	    parts->text_size - at - gone);
	memcpy(parts->text + at, piece, len);
	parts->text_size += len - gone;
}

typedef void change_fn(struct part *part, struct parts *parts,
    struct chance *chance);

static void
change_once(struct parts *parts, struct chance *chance)
{
	static change_fn *const changes[] = {
		change_field,
		change_field,
		change_field,
		change_field,
		change_field,
		change_field,
		add_record,
		add_record,
		add_record,
		drop_record,
		drop_record,
		name_string,
		name_string,
		name_string,
		change_byte,
		drop_section,
		change_row,
		change_text,
		change_text,
	};

	if (parts->count == 0)
		return;
	changes[chance_below(chance, sizeof changes / sizeof *changes)](
	    &parts->of[chance_below(chance, parts->count)], parts, chance);
}

/* --- what is offered ------------------------------------------------------ */

size_t
blob_mutate(uint8_t *bytes, size_t size, size_t room, struct chance *chance)
{
	struct parts *parts = malloc(sizeof *parts);
	size_t made = 0;

	if (parts != NULL && take_apart(parts, bytes, size)) {
		for (size_t i = chance_below(chance, MOST_CHANGES) + 1; i > 0;
		     i--)
			change_once(parts, chance);
		if (chance_percent(chance, 90))
			sort_all(parts);
		made = put_together(parts, bytes, room);
	}
	free(parts);
	return made;
}

/* Room for a section that there was not, or NULL. */
static struct part *
add_section(struct parts *parts, uint32_t kind)
{
	size_t at = 0;

	if (parts->count == SECTIONS)
		return NULL;
	while (at < parts->count && parts->of[at].row.kind < kind)
		at++;
	memmove(&parts->of[at + 1], &parts->of[at],
	    (parts->count - at) * sizeof *parts->of);
	parts->count++;
	return &parts->of[at];
}

size_t
blob_cross(uint8_t *bytes, size_t size, size_t room, const uint8_t *other,
    size_t other_size, struct chance *chance)
{
	struct parts *parts = malloc(2 * sizeof *parts);
	size_t made = 0;

	if (parts != NULL && take_apart(&parts[0], bytes, size) &&
	    take_apart(&parts[1], other, other_size)) {
		struct part *from =
		    &parts[1].of[chance_below(chance, parts[1].count)];
		struct part *to = part_find(parts, from->row.kind);

		if (to == NULL)
			to = add_section(&parts[0], from->row.kind);
		if (to != NULL)
			*to = *from;
		made = put_together(parts, bytes, room);
	}
	free(parts);
	return made;
}
