/*
 * What the lines of a case do to a blob.
 */
#include "tests/unit/verify.h"

struct field {
	const char *section, *name;
	size_t offset, size;
};

#define F(section, type, name) \
	{ \
		section, #name, offsetof(struct type, name), \
		    sizeof((struct type *)0)->name \
	}

/* clang-format off */
static const struct field fields[] = {
	F("header", sbx_header, version), F("header", sbx_header, min_reader),
	F("header", sbx_header, size), F("header", sbx_header, sum),
	F("header", sbx_header, section_count),
	F("header", sbx_header, text_size), F("header", sbx_header, reserved),
	F("table", sbx_section, kind), F("table", sbx_section, flags),
	F("table", sbx_section, offset), F("table", sbx_section, size),
	F("meta", sbx_meta, profile), F("meta", sbx_meta, about),
	F("meta", sbx_meta, writer), F("meta", sbx_meta, flags),
	F("meta", sbx_meta, level), F("meta", sbx_meta, landlock),
	F("meta", sbx_meta, net), F("meta", sbx_meta, level_source),
	F("meta", sbx_meta, landlock_source), F("meta", sbx_meta, net_source),
	F("anchors", sbx_anchor, name), F("anchors", sbx_anchor, flags),
	F("anchors", sbx_anchor, source), F("anchors", sbx_anchor, reserved),
	F("paths", sbx_path, suffix), F("paths", sbx_path, anchor),
	F("paths", sbx_path, effect), F("paths", sbx_path, rights),
	F("paths", sbx_path, first_exclusion), F("paths", sbx_path, exclusion_count),
	F("paths", sbx_path, platforms), F("paths", sbx_path, ceiling),
	F("paths", sbx_path, source), F("paths", sbx_path, glob),
	F("exclusions", sbx_exclusion, suffix), F("exclusions", sbx_exclusion, anchor),
	F("exclusions", sbx_exclusion, reserved),
	F("ports", sbx_port, low), F("ports", sbx_port, high),
	F("ports", sbx_port, effect), F("ports", sbx_port, op),
	F("ports", sbx_port, platforms), F("ports", sbx_port, reserved),
	F("ports", sbx_port, source), F("ports", sbx_port, reserved2),
	F("limits", sbx_limit, value), F("limits", sbx_limit, source),
	F("limits", sbx_limit, kind), F("limits", sbx_limit, platforms),
	F("limits", sbx_limit, ceiling),
	F("watches", sbx_watch, suffix), F("watches", sbx_watch, source),
	F("watches", sbx_watch, anchor), F("watches", sbx_watch, form),
	F("watches", sbx_watch, platforms), F("watches", sbx_watch, glob),
	F("sockets", sbx_socket, suffix), F("sockets", sbx_socket, source),
	F("sockets", sbx_socket, anchor), F("sockets", sbx_socket, form),
	F("sockets", sbx_socket, effect), F("sockets", sbx_socket, platforms),
	F("sockets", sbx_socket, flags), F("sockets", sbx_socket, reserved),
	F("names", sbx_name, name), F("names", sbx_name, source),
	F("names", sbx_name, port), F("names", sbx_name, effect),
	F("names", sbx_name, flags), F("names", sbx_name, platforms),
	F("names", sbx_name, reserved),
	F("endpoints", sbx_endpoint, source), F("endpoints", sbx_endpoint, low),
	F("endpoints", sbx_endpoint, high), F("endpoints", sbx_endpoint, prefix),
	F("endpoints", sbx_endpoint, effect), F("endpoints", sbx_endpoint, platforms),
	F("endpoints", sbx_endpoint, reserved),
	F("proxy", sbx_proxy, suffix), F("proxy", sbx_proxy, source),
	F("proxy", sbx_proxy, anchor), F("proxy", sbx_proxy, port),
	F("proxy", sbx_proxy, platforms), F("proxy", sbx_proxy, reserved),
	F("env", sbx_env, pattern), F("env", sbx_env, source),
	F("env", sbx_env, effect), F("env", sbx_env, platforms),
	F("env", sbx_env, ceiling), F("env", sbx_env, except),
	F("set", sbx_set, name), F("set", sbx_set, text),
	F("set", sbx_set, source), F("set", sbx_set, anchor),
	F("set", sbx_set, platforms), F("set", sbx_set, reserved),
	F("landlock", sbx_landlock, abi), F("landlock", sbx_landlock, read),
	F("landlock", sbx_landlock, restrict_flags),
	F("landlock", sbx_landlock, handled_fs),
	F("landlock", sbx_landlock, handled_net),
	F("landlock", sbx_landlock, scoped), F("landlock", sbx_landlock, list),
	F("landlock", sbx_landlock, write), F("landlock", sbx_landlock, exec),
	F("landlock", sbx_landlock, file),
	F("landlock", sbx_landlock, connect_tcp),
	F("landlock", sbx_landlock, bind_tcp),
	F("programs", sbx_program, arch), F("programs", sbx_program, flags),
	F("programs", sbx_program, min_abi), F("programs", sbx_program, first),
	F("programs", sbx_program, count), F("programs", sbx_program, reserved),
	F("bpf", sbx_insn, code), F("bpf", sbx_insn, jt),
	F("bpf", sbx_insn, jf), F("bpf", sbx_insn, k),
	F("syscalls", sbx_syscall, name), F("syscalls", sbx_syscall, source),
	F("syscalls", sbx_syscall, verdict), F("syscalls", sbx_syscall, platforms),
	F("syscalls", sbx_syscall, error), F("syscalls", sbx_syscall, reason),
	F("sources", sbx_source, file), F("sources", sbx_source, line),
	F("sources", sbx_source, column), F("sources", sbx_source, via),
};
/* clang-format on */

static uint8_t *place_of(struct bench *bench, const char *word, size_t *width);

/* NUMBER, another field, or SECTION.count, SECTION.size or SECTION.offset, then
 * +N or -N. */
static uint64_t
value_of(struct bench *bench, const char *word)
{
	char name[32], what[32], *end;
	const struct sbx_section *section;
	uint64_t value = strtoull(word, &end, 0);
	int used = 0;

	if (end != word && *end == '\0')
		return value;
	if (strchr(word, '[') != NULL || strncmp(word, "meta.", 5) == 0) {
		size_t width;
		const uint8_t *place = place_of(bench, word, &width);

		value = 0;
		memcpy(&value, place, width);
		return value;
	}
	if (sscanf(word, "%31[a-z].%31[a-z]%n", name, what, &used) != 2)
		give_up(bench, "no value: '%s'", word);
	section = section_get(bench, name);
	if (strcmp(what, "size") == 0)
		value = section->size;
	else if (strcmp(what, "offset") == 0)
		value = section->offset;
	else if (strcmp(what, "count") == 0)
		value = section->size / kind_find(bench, name)->record;
	else
		give_up(bench, "no value: '%s'", word);
	return value + (uint64_t)strtoll(word + used, NULL, 0);
}

static size_t
section_at(struct bench *bench, const char *name)
{
	if (strcmp(name, "header") == 0)
		return 0;
	if (strcmp(name, "table") == 0)
		return sizeof(struct sbx_header);
	return section_get(bench, name)->offset;
}

static size_t
record_size(struct bench *bench, const char *name)
{
	if (strcmp(name, "header") == 0)
		return 0;
	if (strcmp(name, "table") == 0)
		return sizeof(struct sbx_section);
	return kind_find(bench, name)->record;
}

/* The instruction that is N before the last of the first program. */
static unsigned
from_last(struct bench *bench, unsigned n)
{
	struct sbx_program program;

	memcpy(&program, bench->image.bytes + section_at(bench, "programs"),
	    sizeof program);
	return program.count - 1 - n;
}

/* @FIELD+N: in the string that a field names. */
static uint8_t *
place_in_string(struct bench *bench, const char *word)
{
	char field[64];
	unsigned index;

	if (sscanf(word, "@%63[^+]+%u", field, &index) != 2)
		give_up(bench, "no place: '%s'", word);
	return bench->image.bytes + section_at(bench, "strings") +
	    value_of(bench, field) + index;
}

/* SECTION[I].FIELD, or bpf[last-N].FIELD, SECTION+N, end-N, a bare offset, or
 * @FIELD+N. */
static uint8_t *
place_of(struct bench *bench, const char *word, size_t *width)
{
	char name[32] = "", field[32] = "";
	unsigned index = 0;

	*width = 1;
	if (*word == '@')
		return place_in_string(bench, word);
	if (*word >= '0' && *word <= '9')
		return bench->image.bytes + strtoul(word, NULL, 0);
	if (sscanf(word, "end-%u", &index) == 1)
		return bench->image.bytes + bench->image.size - index;
	if (sscanf(word, "%31[a-z]+%u", name, &index) == 2)
		return bench->image.bytes + section_at(bench, name) + index;
	if (sscanf(word, "%31[a-z][last-%u].%31s", name, &index, field) == 3)
		index = from_last(bench, index);
	else if (sscanf(word, "%31[a-z][%u].%31s", name, &index, field) != 3 &&
	    sscanf(word, "%31[a-z].%31s", name, field) != 2)
		give_up(bench, "no place: '%s'", word);
	for (size_t i = 0; i < countof(fields); i++) {
		if (strcmp(fields[i].section, name) != 0 ||
		    strcmp(fields[i].name, field) != 0)
			continue;
		*width = fields[i].size;
		return bench->image.bytes + section_at(bench, name) +
		    index * record_size(bench, name) + fields[i].offset;
	}
	give_up(bench, "no field: '%s'", word);
}

typedef void edit(struct bench *bench, char **words);

static void
edit_set(struct bench *bench, char **words)
{
	size_t width;
	uint8_t *place = place_of(bench, words[0], &width);
	uint64_t value;

	if (strcmp(words[1], "=") != 0)
		give_up(bench, "set PLACE = VALUE");
	value = value_of(bench, words[2]);
	if (memcmp(place, &value, width) == 0)
		give_up(bench, "%s is that already", words[0]);
	memcpy(place, &value, width);
}

/* Fields that sealing would write over are set after it. */
static void
edit_set_raw(struct bench *bench, char **words)
{
	if (!bench->image.raw)
		image_seal(&bench->image);
	bench->image.raw = true;
	edit_set(bench, words);
}

static void
edit_any_set(struct bench *bench, char **words)
{
	if (strcmp(words[0], "header.size") == 0 ||
	    strcmp(words[0], "header.sum") == 0)
		edit_set_raw(bench, words);
	else
		edit_set(bench, words);
}

static void
edit_drop(struct bench *bench, char **words)
{
	const struct sbx_section *section = section_get(bench, words[0]);

	image_rebuild(bench,
	    &(struct change){
		.row = (uint32_t)(section - image_table(&bench->image)),
		.drop = true,
	    });
}

static void
edit_size(struct bench *bench, char **words)
{
	const struct sbx_section *section = section_get(bench, words[0]);
	struct change change = {
		.row = (uint32_t)(section - image_table(&bench->image)),
	};

	change.section.size = (uint32_t)value_of(bench, words[1]);
	image_rebuild(bench, &change);
}

static void
edit_repeat(struct bench *bench, char **words)
{
	uint32_t record = kind_find(bench, words[0])->record;
	size_t count = value_of(bench, words[1]);
	char size[24];
	uint8_t *first;

	snprintf(size, sizeof size, "%zu", count * record);
	edit_size(bench, (char *[]){ words[0], size });
	first = bench->image.bytes + section_get(bench, words[0])->offset;
	for (size_t i = 1; i < count; i++)
		memcpy(first + i * record, first, record);
}

static void
edit_add(struct bench *bench, char **words)
{
	struct change change = { .insert = true };

	change.section.kind = (uint32_t)value_of(bench, words[0]);
	change.section.flags = (uint32_t)value_of(bench, words[1]);
	change.section.size = (uint32_t)value_of(bench, words[2]);
	change.row = image_row(&bench->image, change.section.kind);
	image_rebuild(bench, &change);
}

static void
make_raw(struct image *image)
{
	if (!image->raw)
		image_seal(image);
	image->raw = true;
}

static void
edit_flip(struct bench *bench, char **words)
{
	size_t at = value_of(bench, words[0]);

	make_raw(&bench->image);
	if (at >= bench->image.size)
		give_up(bench, "no such byte");
	bench->image.bytes[at] ^= (uint8_t)(1u << value_of(bench, words[1]));
}

static void
edit_truncate(struct bench *bench, char **words)
{
	size_t by = value_of(bench, words[0]);

	make_raw(&bench->image);
	if (by > bench->image.size)
		by = bench->image.size;
	bench->image.size -= by;
}

static void
edit_grow(struct bench *bench, char **words)
{
	size_t by = value_of(bench, words[0]);

	make_raw(&bench->image);
	if (by > ROOM - bench->image.size)
		give_up(bench, "too large");
	memset(bench->image.bytes + bench->image.size, 0, by);
	bench->image.size += by;
}

static void
edit_seal(struct bench *bench, char **words)
{
	bench->image.raw = true;
	if (words[0] != NULL && strcmp(words[0], "size") == 0)
		image_header(&bench->image)->size = (uint32_t)bench->image.size;
	else
		image_seal(&bench->image);
}

static void
edit_expect(struct bench *bench, char **words)
{
	for (int i = 0; i < ERRORS; i++) {
		if (strcmp(error_names[i], words[0]) == 0)
			bench->expected = i;
	}
	if (bench->expected < 0)
		give_up(bench, "no such error: %s", words[0]);
}

static void
edit_refused(struct bench *bench, char **words)
{
	(void)words;
	bench->refused = true;
}

static void
edit_runs(struct bench *bench, char **words)
{
	(void)words;
	bench->runs = true;
}

static void
edit_foreign(struct bench *bench, char **words)
{
	(void)words;
	bench->foreign = true;
}

static const struct {
	const char *word;
	int least; /* words after it */
	edit *edit;
} edits[] = {
	{ "set", 3, edit_any_set },
	{ "drop", 1, edit_drop },
	{ "size", 2, edit_size },
	{ "repeat", 2, edit_repeat },
	{ "add", 3, edit_add },
	{ "flip", 2, edit_flip },
	{ "truncate", 1, edit_truncate },
	{ "grow", 1, edit_grow },
	{ "seal", 0, edit_seal },
	{ "expect", 1, edit_expect },
	{ "refused", 0, edit_refused },
	{ "runs", 0, edit_runs },
	{ "foreign", 0, edit_foreign },
};

void
line_read(struct bench *bench, char *line)
{
	char *words[WORDS] = { NULL };
	int count = 0;

	for (char *word = strtok(line, " \t\n");
	     word != NULL && count < WORDS - 1; word = strtok(NULL, " \t\n"))
		words[count++] = word;
	if (count == 0)
		return;
	for (size_t i = 0; i < countof(edits); i++) {
		if (strcmp(edits[i].word, words[0]) != 0)
			continue;
		if (count - 1 < edits[i].least || bench->name[0] == '\0')
			give_up(bench, "'%s' is not complete", words[0]);
		edits[i].edit(bench, words + 1);
		return;
	}
	give_up(bench, "unknown word '%s'", words[0]);
}
