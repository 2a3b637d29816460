/*
 * Malformed blobs, described as text.  Each file NAME.txt holds cases: a good
 * blob (good.sbx, compiled), what is done to it, and what the verifier says.
 *
 *	case a path rule that speaks of no anchor
 *	    set paths[0].anchor = 99
 *	    expect ANCHOR
 *
 *	set PLACE = VALUE	a field, as wide as it is
 *	drop SECTION		and its row in the table
 *	size SECTION N		cuts it off, or fills it up with zeros
 *	repeat SECTION N	the first record, N times
 *	add KIND FLAGS SIZE	a section of zeros, placed by its kind
 *	flip N BIT		from here on nothing is made consistent again
 *	truncate N, grow N	by N bytes; grow adds zeros
 *	seal [size]		makes size and checksum fit again, or size alone
 *	expect NAME		of SBX_BLOB_ERRORS
 *	refused			sbxrun refuses, even if the blob is well formed
 *	runs			sbxrun runs the command
 *
 * PLACE is header.FIELD, table[I].FIELD or SECTION[I].FIELD, or a byte: N,
 * end-N or SECTION+N.  VALUE is a number or SECTION.count, SECTION.size or
 * SECTION.offset, and then +N or -N.  Before the first flip, truncate or grow,
 * and else at the end, the blob is sealed.
 *
 * A blob that is refused must be so by everyone: by sbxrun with status 125,
 * one line and nothing run, by `sbxc dump` with one line.
 */
#include "format/blob.h"
#include "tests/lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define countof(array) (sizeof(array) / sizeof *(array))

enum { ROOM = SBX_MAX_SIZE + (1 << 20), WORDS = 8, PATH_SIZE = 4096 };

static const char *const error_names[] = {
#define SBX_X(name, sentence) #name,
	SBX_BLOB_ERRORS(SBX_X)
#undef SBX_X
};
enum { ERRORS = countof(error_names) };

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
	F("header", sbx_header, size), F("header", sbx_header, crc),
	F("header", sbx_header, section_count),
	F("header", sbx_header, reserved),
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
	F("paths", sbx_path, platforms), F("paths", sbx_path, reserved),
	F("paths", sbx_path, source), F("paths", sbx_path, glob),
	F("exclusions", sbx_exclusion, suffix), F("exclusions", sbx_exclusion, anchor),
	F("exclusions", sbx_exclusion, reserved),
	F("ports", sbx_port, low), F("ports", sbx_port, high),
	F("ports", sbx_port, effect), F("ports", sbx_port, op),
	F("ports", sbx_port, platforms), F("ports", sbx_port, reserved),
	F("ports", sbx_port, source), F("ports", sbx_port, reserved2),
	F("limits", sbx_limit, value), F("limits", sbx_limit, source),
	F("limits", sbx_limit, kind), F("limits", sbx_limit, platforms),
	F("limits", sbx_limit, reserved),
	F("env", sbx_env, pattern), F("env", sbx_env, source),
	F("env", sbx_env, effect), F("env", sbx_env, platforms),
	F("env", sbx_env, reserved), F("env", sbx_env, reserved2),
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

static const struct kind {
	const char *name;
	uint32_t kind, record;
} kinds[] = {
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
	{ "sbpl", SBX_SECTION_SBPL, 1 },
};
/* clang-format on */
_Static_assert(countof(kinds) == SBX_SECTION_END - 1, "a section is missing");

struct image {
	_Alignas(8) uint8_t bytes[ROOM];
	size_t size;
	bool raw; /* sealed, and no longer made consistent */
};

struct bench {
	struct tap tap;
	struct image good, image, spare;
	char dir[PATH_SIZE];
	const char *file; /* of cases, and the line in it */
	unsigned line;
	char name[256];
	int expected; /* -1: not said */
	bool refused, runs, seen[ERRORS];
};

__attribute__((noreturn, format(printf, 2, 3))) static void
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

/* --- parts of an image ---------------------------------------------------- */

static struct sbx_header *
image_header(struct image *image)
{
	return (void *)image->bytes;
}

static struct sbx_section *
image_table(struct image *image)
{
	return (void *)(image->bytes + sizeof(struct sbx_header));
}

static const struct kind *
kind_find(const struct bench *bench, const char *name)
{
	for (size_t i = 0; i < countof(kinds); i++) {
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	}
	give_up(bench, "no section '%s'", name);
}

/* The row of a kind, or where it would have to stand. */
static uint32_t
image_row(struct image *image, uint32_t kind)
{
	const struct sbx_section *table = image_table(image);
	uint32_t i = 0;

	while (i < image_header(image)->section_count && table[i].kind < kind)
		i++;
	return i;
}

static struct sbx_section *
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

static void
image_seal(struct image *image)
{
	image_header(image)->size = (uint32_t)image->size;
	image_header(image)->crc = sbx_checksum(image->bytes, image->size);
}

/* What a structural edit changes: one row gets another size, goes or comes. */
struct change {
	uint32_t row;
	bool drop, insert;
	struct sbx_section section; /* inserted, or its new size */
};

/* Lays all sections out anew, with the change. */
static void
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

/* --- places and values ---------------------------------------------------- */

/* NUMBER, or SECTION.count, SECTION.size or SECTION.offset, then +N or -N. */
static uint64_t
value_of(struct bench *bench, const char *word)
{
	char name[32], what[32], *end;
	const struct sbx_section *section;
	uint64_t value = strtoull(word, &end, 0);
	int used = 0;

	if (end != word && *end == '\0')
		return value;
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

/* SECTION[I].FIELD, or bpf[last-N].FIELD, SECTION+N, end-N, a bare offset. */
static uint8_t *
place_of(struct bench *bench, const char *word, size_t *width)
{
	char name[32] = "", field[32] = "";
	unsigned index = 0;

	*width = 1;
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

/* --- edits ---------------------------------------------------------------- */

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
	    strcmp(words[0], "header.crc") == 0)
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
};

/* --- those who read blobs ------------------------------------------------- */

/* Runs a program with stdout away and stderr in a file; its exit status, or
 * 255 if a signal ended it. */
static int
run(const struct bench *bench, char *const *arguments)
{
	char error[PATH_SIZE + 16];
	int status;
	pid_t pid = fork();

	if (pid < 0)
		give_up(bench, "fork: %s", strerror(errno));
	if (pid == 0) {
		snprintf(error, sizeof error, "%s/stderr", bench->dir);
		if (freopen("/dev/null", "w", stdout) == NULL ||
		    freopen(error, "w", stderr) == NULL)
			_exit(99);
		execv(arguments[0], arguments);
		_exit(99);
	}
	while (waitpid(pid, &status, 0) < 0)
		continue;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/* What went to stderr; the number of its lines. */
static unsigned
read_error(const struct bench *bench, char *text, size_t size)
{
	char path[PATH_SIZE + 16];
	unsigned lines = 0;
	FILE *file;

	snprintf(path, sizeof path, "%s/stderr", bench->dir);
	file = fopen(path, "re");
	size = file != NULL ? fread(text, 1, size - 1, file) : 0;
	text[size] = '\0';
	if (file != NULL)
		fclose(file);
	for (const char *c = text; *c != '\0'; c++)
		lines += *c == '\n';
	return lines;
}

static char *
program(const char *variable, const char *fallback)
{
	const char *path = getenv(variable);

	return strdup(path != NULL ? path : fallback);
}

/* A command that leaves a mark, so that it is seen whether it was run. */
static int
run_confined(struct bench *bench, bool *ran)
{
	char blob[PATH_SIZE + 16], marker[PATH_SIZE + 16];
	char *loader = program("SBXRUN", "./sbxrun");
	char touch[] = "/usr/bin/touch", end[] = "--";
	char w[] = "-w", d[] = "-Dcache=/tmp";
	int status;

	snprintf(blob, sizeof blob, "%s/blob", bench->dir);
	/* Not beside the denied .git, where nothing new can be made. */
	snprintf(marker, sizeof marker, "%s/in/ran", bench->dir);
	status = run(bench,
	    (char *[]){ loader, w, bench->dir, d, blob, end, touch, marker,
		NULL });
	*ran = unlink(marker) == 0;
	free(loader);
	return status;
}

static void
must_refuse(struct bench *bench, enum sbx_blob_error error)
{
	char text[4096];
	bool ran;
	int status = run_confined(bench, &ran);
	unsigned lines = read_error(bench, text, sizeof text);
	/* At standard the command may write its policy here, which is said. */
	unsigned warned = strncmp(text, "sbxrun: warning: ", 17) == 0;

	tap_ok(&bench->tap,
	    status == 125 && !ran && lines == 1 + warned &&
		(error == SBX_BLOB_OK ||
		    strstr(text, sbx_blob_strerror(error)) != NULL),
	    "%s: sbxrun refuses (%d, %.*s)", bench->name, status,
	    (int)strcspn(text, "\n"), text);
}

static void
must_run(struct bench *bench)
{
	bool ran;
	int status = run_confined(bench, &ran);

	tap_ok(&bench->tap, status == 0 && ran, "%s: sbxrun runs it (%d)",
	    bench->name, status);
}

static void
try_dump(struct bench *bench, enum sbx_blob_error error)
{
	char blob[PATH_SIZE + 16], text[4096], dump[] = "dump";
	char *compiler = program("SBXC", "./sbxc");
	unsigned lines;
	int status;

	snprintf(blob, sizeof blob, "%s/blob", bench->dir);
	status = run(bench, (char *[]){ compiler, dump, blob, NULL });
	lines = read_error(bench, text, sizeof text);
	if (error == SBX_BLOB_OK)
		tap_ok(&bench->tap, status == 0 && lines == 0,
		    "%s: sbxc dumps it (%d)", bench->name, status);
	else
		tap_ok(&bench->tap,
		    (status == 1 || status == 3) && lines == 1 &&
			strstr(text, sbx_blob_strerror(error)) != NULL,
		    "%s: sbxc refuses (%d, %.*s)", bench->name, status,
		    (int)strcspn(text, "\n"), text);
	free(compiler);
}

/* --- cases ---------------------------------------------------------------- */

static void
write_image(const struct bench *bench)
{
	char path[PATH_SIZE + 16];
	FILE *file;

	snprintf(path, sizeof path, "%s/blob", bench->dir);
	file = fopen(path, "we");
	if (file == NULL ||
	    fwrite(bench->image.bytes, 1, bench->image.size, file) !=
		bench->image.size ||
	    fclose(file) != 0)
		give_up(bench, "%s: %s", path, strerror(errno));
}

static void
case_end(struct bench *bench)
{
	struct sbx_blob blob;
	enum sbx_blob_error error;

	if (bench->name[0] == '\0')
		return;
	if (bench->expected < 0)
		give_up(bench, "%s: nothing is expected", bench->name);
	if (!bench->image.raw)
		image_seal(&bench->image);
	error = sbx_verify(bench->image.bytes, bench->image.size, &blob);
	tap_ok(&bench->tap, (int)error == bench->expected,
	    "%s: %s (expected %s)", bench->name, error_names[error],
	    error_names[bench->expected]);
	bench->seen[error] = true;
	write_image(bench);
	error = (enum sbx_blob_error)bench->expected;
	if (error != SBX_BLOB_OK || bench->refused)
		must_refuse(bench, error);
	if (bench->runs)
		must_run(bench);
	try_dump(bench, error);
	bench->name[0] = '\0';
}

static void
case_begin(struct bench *bench, const char *name)
{
	snprintf(bench->name, sizeof bench->name, "%.*s",
	    (int)strcspn(name, "\n"), name);
	memcpy(&bench->image, &bench->good, sizeof bench->image);
	bench->expected = -1;
	bench->refused = bench->runs = false;
}

static void
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

static void
file_read(struct bench *bench, const char *path)
{
	char line[512];
	FILE *file = fopen(path, "re");

	bench->file = path;
	bench->line = 0;
	if (file == NULL)
		give_up(bench, "%s", strerror(errno));
	while (fgets(line, sizeof line, file) != NULL) {
		bench->line++;
		if (line[0] == '#')
			continue;
		if (strncmp(line, "case ", 5) == 0) {
			case_end(bench);
			case_begin(bench, line + 5);
		} else {
			line_read(bench, line);
		}
	}
	case_end(bench);
	fclose(file);
}

static void
good_make(struct bench *bench, const char *source)
{
	char blob[PATH_SIZE + 16], policy[PATH_SIZE], o[] = "-o";
	char *compiler = program("SBXC", "./sbxc");
	FILE *file;

	bench->file = source;
	snprintf(policy, sizeof policy, "%s/tests/golden/blob/good.sbx",
	    source);
	snprintf(blob, sizeof blob, "%s/blob", bench->dir);
	if (run(bench, (char *[]){ compiler, policy, o, blob, NULL }) != 0)
		give_up(bench, "%s does not compile", policy);
	file = fopen(blob, "re");
	if (file == NULL)
		give_up(bench, "%s", strerror(errno));
	bench->good.size = fread(bench->good.bytes, 1, ROOM, file);
	fclose(file);
	free(compiler);
}

static void
clean_up(const struct bench *bench)
{
	static const char *const names[] = { "blob", "stderr", "in" };
	char path[PATH_SIZE + 16];

	for (size_t i = 0; i < countof(names); i++) {
		snprintf(path, sizeof path, "%s/%s", bench->dir, names[i]);
		remove(path);
	}
	rmdir(bench->dir);
}

int
main(void)
{
	static struct bench bench = { .dir = "/tmp/sbx-blob.XXXXXX" };
	const char *source = getenv("srcdir");
	char pattern[PATH_SIZE + 32];
	glob_t files;

	if (source == NULL)
		source = ".";
	if (mkdtemp(bench.dir) == NULL)
		give_up(&bench, "%s: %s", bench.dir, strerror(errno));
	snprintf(pattern, sizeof pattern, "%s/in", bench.dir);
	if (mkdir(pattern, 0777) != 0)
		give_up(&bench, "%s: %s", pattern, strerror(errno));
	good_make(&bench, source);
	snprintf(pattern, sizeof pattern, "%s/tests/golden/blob/*.txt", source);
	if (glob(pattern, 0, NULL, &files) != 0)
		give_up(&bench, "no cases");
	for (size_t i = 0; i < files.gl_pathc; i++)
		file_read(&bench, files.gl_pathv[i]);
	globfree(&files);
	for (size_t i = 0; i < ERRORS; i++)
		tap_ok(&bench.tap, bench.seen[i], "some case meets %s",
		    error_names[i]);
	clean_up(&bench);
	return tap_done(&bench.tap);
}
