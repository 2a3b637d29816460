/*
 * Any bytes at all given to the verifier: as they are, and with magic, size and
 * checksum made to fit, or no mutation would get past the checksum.  What the
 * verifier accepts is then read through everything that reads a policy: the
 * model, the listing, the questions of `sbxc why`, the interpreter of filters.
 *
 * libFuzzer changes bytes; what knows of sections and records is in
 * blob_mutator.h.  Replay tries some of these changes, too.
 */
#include "compiler/query/query.h"
#include "compiler/query/why.h"
#include "compiler/read/read.h"
#include "compiler/write/write.h"
#include "tests/fuzz/blob_mutator.h"

#define FUZZ_ALSO try_mutants
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/kept_programs.h"

/* Of what a blob holds so many are looked at; more of the same is slow. */
enum { MOST = 24, MOST_PRINTED = 2048 };

static size_t
few(size_t count)
{
	return count < MOST ? count : MOST;
}

/* --- the model ------------------------------------------------------------ */

/* `count`: of the rules that were asked. */
static void
check_verdict(struct sbx_verdict verdict, size_t count)
{
	must(verdict.rule == SBX_NO_RULE || verdict.rule < count,
	    "a rule that there is not");
	must(verdict.reason != SBX_BECAUSE_NOTHING ||
		verdict.rule == SBX_NO_RULE,
	    "a rule that says nothing");
}

/* What is given at a directory, and is not split there, is given below. */
static void
check_split(const struct place_rules *rules, uint8_t right, struct sbx_place at)
{
	size_t count = few(rules->count);
	bool split = sbx_path_is_split(rules->rules, count, right, at), ends;

	if (!sbx_verdict_allows(
		sbx_path_verdict(rules->rules, count, right, at))) {
		must(!split, "split where nothing is given");
		return;
	}
	for (size_t i = 0; i < count; i++) {
		struct sbx_place below = rules->rules[i].at;

		ends = !sbx_verdict_allows(
		    sbx_path_verdict(rules->rules, count, right, below));
		must(split || !ends || !sbx_covers(at, below),
		    "a right ends below a directory that is not split");
	}
}

static void
check_paths(const struct place_rules *rules)
{
	for (size_t i = 0; i < few(rules->count); i++) {
		struct sbx_place at = rules->rules[i].at;

		must(sbx_covers(at, at), "a place that is not in itself");
		for (uint8_t right = SBX_READ; right <= SBX_EXEC; right <<= 1) {
			check_verdict(sbx_path_verdict(rules->rules,
					  rules->count, right, at),
			    rules->count);
			check_split(rules, right, at);
		}
		for (size_t j = 0; j < i; j++)
			must((sbx_place_compare(at, rules->rules[j].at) < 0) ==
				(sbx_place_compare(rules->rules[j].at, at) > 0),
			    "an order that has no direction");
	}
}

static void
check_ports(const struct sbx_blob *blob)
{
	for (size_t i = 0; i < few(blob->port_count); i++) {
		const struct sbx_port *port = &blob->ports[i];

		check_verdict(sbx_port_verdict(blob, port->platforms, port->op,
				  port->low),
		    blob->port_count);
		check_verdict(sbx_port_verdict(blob, SBX_ON_LINUX_X86_64,
				  SBX_CONNECT_TCP, (uint16_t)(port->high + 1)),
		    blob->port_count);
	}
}

static void
check_env(const struct sbx_blob *blob)
{
	for (size_t i = 0; i < few(blob->env_count); i++) {
		const char *pattern = sbx_string(blob, blob->env[i].pattern);
		size_t len = strlen(pattern);

		/* A star stands for a star, too. */
		must(sbx_pattern_match(pattern, pattern, len),
		    "a pattern that does not match itself");
		check_verdict(sbx_env_verdict(blob, blob->env[i].platforms,
				  pattern, len),
		    blob->env_count);
	}
}

/* --- filters -------------------------------------------------------------- */

static void
check_program(const struct sbx_blob *blob, const struct sbx_program *program)
{
	const struct sbx_insn *insns = blob->bpf + program->first;

	if (!bpf_is_loadable(insns, program->count))
		return;
	for (int number = -1; number < 600; number += 40) {
		struct syscall_data data = {
			.number = number,
			.audit = program->arch,
		};
		size_t steps = 0;

		bpf_run_counted(insns, &data, &steps);
		must(steps <= program->count, "a filter that goes back");
	}
}

/* --- for people ----------------------------------------------------------- */

/* A blob may be anybody's: nothing of it is printed raw. */
static void
check_printed(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		must(((uint8_t)text[i] >= ' ' && text[i] != 0x7f) ||
			text[i] == '\n' || text[i] == '\t',
		    "a control character is printed");
}

static void
ask(FILE *stream, const struct subject *subject,
    const struct place_rules *rules)
{
	const struct sbx_blob *blob = subject->places.blob;

	for (size_t i = 0; i < few(rules->count) / 4; i++) {
		struct access access = {
			.kind = KIND_PATH,
			.detail = SBX_READ,
			.path = rules->rules[i].at,
		};

		why(stream, subject, &access, true);
		access.detail = SBX_WRITE;
		why(stream, subject, &access, true);
	}
	for (size_t i = 0; i < few(blob->port_count) / 4; i++)
		why(stream, subject,
		    &(struct access){
			.kind = KIND_PORT,
			.detail = blob->ports[i].op,
			.port = blob->ports[i].low,
		    },
		    true);
	why(stream, subject,
	    &(struct access){
		.kind = KIND_PORT,
		.detail = SBX_LISTEN_TCP,
		.port = 1,
	    },
	    true);
	why(stream, subject,
	    &(struct access){
		.kind = KIND_ENV,
		.name = "PATH",
	    },
	    true);
	why(stream, subject,
	    &(struct access){
		.kind = KIND_SYSCALL,
		.name = "ptrace",
	    },
	    true);
}

static void
print_all(const struct subject *subject, const struct place_rules *rules)
{
	const struct sbx_blob *blob = subject->places.blob;
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	must(stream != NULL, "no stream");
	if (blob->path_count + blob->syscall_count + blob->env_count +
		blob->set_count + blob->limit_count + blob->port_count <
	    MOST_PRINTED)
		dump_blob(stream, blob);
	if (blob->bpf_count < MOST_PRINTED)
		dump_bpf(stream, blob, (struct dump_choice){ .variant = -1 });
	ask(stream, subject, rules);
	fclose(stream);
	check_printed(text, size);
	free(text);
}

/* Its text is any text.  What a policy is written as is one, and stays. */
static void
check_text(struct arena *arena, const struct sbx_blob *blob)
{
	const struct policy *policy = blob_policy(arena, blob);
	struct sbx_blob again = *blob;

	if (policy == NULL)
		return;
	again.text = policy_canonical(policy);
	again.text_size = (uint32_t)strlen(again.text);
	policy = blob_policy(arena, &again);
	must(policy != NULL, "what is written is not read");
	must(strcmp(policy_canonical(policy), again.text) == 0,
	    "what is read is written otherwise");
}

static void
check_view(const struct sbx_blob *blob)
{
	struct arena *arena = arena_new();
	struct subject subject = {
		.arch = &arches[0],
		.level = SBX_LEVEL_STANDARD,
	};
	struct place_rules rules;

	places_init(&subject.places, arena, blob, "/w", "/home/u");
	places_rules(&subject.places, SBX_ON_ALL, &rules);
	check_paths(&rules);
	check_ports(blob);
	check_env(blob);
	for (uint32_t i = 0; i < blob->program_count; i++)
		check_program(blob, &blob->programs[i]);
	print_all(&subject, &rules);
	check_text(arena, blob);
	arena_release(arena);
}

static void
try_bytes(const void *bytes, size_t size)
{
	struct sbx_blob blob;
	enum sbx_blob_error error = sbx_verify(bytes, size, &blob);

	must(sbx_blob_strerror(error) != NULL, "an error without a sentence");
	if (error == SBX_BLOB_OK)
		check_view(&blob);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Of exactly the size, so that a reader past the end is seen. */
	void *bytes = calloc(size > 0 ? size : 1, 1);
	struct sbx_header *header = bytes;

	must(bytes != NULL, "no memory");
	kept_programs_begin();
	if (size > 0)
		memcpy(bytes, data, size);
	try_bytes(bytes, size);
	if (size >= sizeof *header && size <= SBX_MAX_SIZE) {
		memcpy(header->magic, SBX_MAGIC, sizeof header->magic);
		header->version = SBX_FORMAT;
		header->min_reader = SBX_FORMAT_MIN_READER;
		header->text_size = header->text_size % 4096 / 8 * 8;
		if (header->text_size > size - sizeof *header)
			header->text_size = 0;
		header->size = (uint32_t)size - header->text_size;
		header->reserved = 0;
		header->sum = sbx_checksum(bytes, header->size);
		try_bytes(bytes, size);
	}
	free(bytes);
	return 0;
}

/* --- changes -------------------------------------------------------------- */

#ifdef FUZZ_REPLAY
/* Some at each TEST_ROUNDS; of those of a good blob some must be good, or they
 * would all end at the first check. */
static void
try_mutants(const uint8_t *data, size_t size, unsigned seed)
{
	const char *rounds = getenv("TEST_ROUNDS");
	int count = rounds != NULL ? atoi(rounds) * 2 : 20;
	size_t room = size + 4096;
	_Alignas(8) static uint8_t bytes[SOURCE_MAX_SIZE + 4096];
	struct chance chance = { .state = seed };
	struct sbx_blob blob;
	bool good, any = false;

	memcpy(bytes, data, size);
	good = sbx_verify(bytes, size, &blob) == SBX_BLOB_OK;
	for (int i = 0; i < count; i++) {
		size_t made;

		memcpy(bytes, data, size);
		made = blob_mutate(bytes, size, room, &chance);
		if (made == 0)
			continue;
		any |= sbx_verify(bytes, made, &blob) == SBX_BLOB_OK;
		LLVMFuzzerTestOneInput(bytes, made);
	}
	must(any || !good || count < 20, "no change leaves a good blob good");
}
#else
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room,
    unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size,
    const uint8_t *two, size_t two_size, uint8_t *made, size_t room,
    unsigned seed);

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
	struct chance chance = { .state = seed };
	size_t made = 0;

	if (chance_percent(&chance, 85))
		made = blob_mutate(data, size, room, &chance);
	return made > 0 ? made : LLVMFuzzerMutate(data, size, room);
}

size_t
LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t one_size,
    const uint8_t *two, size_t two_size, uint8_t *made, size_t room,
    unsigned seed)
{
	struct chance chance = { .state = seed };

	if (one_size > room)
		return 0;
	memcpy(made, one, one_size);
	return blob_cross(made, one_size, room, two, two_size, &chance);
}
#endif
