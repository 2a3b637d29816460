/*
 * Tables of system calls against a compiled policy: `syscall_table BLOB FILE.sim`.
 *
 * Each line is a call and what it gets; the program is picked from the blob as
 * the loader picks it, run in the simulator and, where this machine is the one
 * meant, in the kernel, which is asked without letting the call happen.
 *
 *	machine       level     abi  call args...     -> allow|kill|errno NAME
 *	x86_64        standard  7    socket 2 1 0     -> errno EACCES
 *	x86_64/i386   full      7    102 1 0x1000     -> errno ENOSYS
 *
 * A call is a name, or a number; the numbers of x32 are given without bit 30.
 */
#include "tests/lib/ask_kernel.h"
#include "tests/lib/tap.h"

#include <ctype.h>

enum { WORDS_MAX = 16, LINE_MAX_SIZE = 512, X32_BIT = 0x40000000 };

struct machine {
	const char *name;
	size_t arch;    /* of arches: whose program is picked */
	uint32_t audit; /* what the call says of itself; 0: no machine at all */
	int32_t bits;   /* set in the number */
};

static const struct machine machines[] = {
	{ "x86_64", 0, AUDIT_ARCH_X86_64, 0 },
	{ "x86_64/x32", 0, AUDIT_ARCH_X86_64, X32_BIT },
	{ "x86_64/i386", 0, AUDIT_ARCH_I386, 0 },
	{ "x86_64/foreign", 0, 0, 0 },
	{ "aarch64", 1, AUDIT_ARCH_AARCH64, 0 },
	{ "aarch64/arm", 1, AUDIT_ARCH_ARM, 0 },
	{ "aarch64/foreign", 1, AUDIT_ARCH_X86_64, 0 },
};

/* One line, read. */
struct row {
	const struct machine *machine;
	bool full;
	uint32_t abi;
	struct syscall_data call;
	uint32_t action;
};

static const struct machine *
machine_find(const char *name)
{
	for (size_t i = 0; i < countof(machines); i++) {
		if (strcmp(machines[i].name, name) == 0)
			return &machines[i];
	}
	return NULL;
}

/* Splits a line at blanks; what follows a '#' does not count. */
static size_t
line_split(char *line, char *words[WORDS_MAX])
{
	size_t count = 0;

	line[strcspn(line, "#\n")] = '\0';
	for (char *word = strtok(line, " \t");
	     word != NULL && count < WORDS_MAX; word = strtok(NULL, " \t"))
		words[count++] = word;
	return count;
}

static bool
read_number(const char *text, uint64_t *value)
{
	char *end;

	*value = strtoull(text, &end, 0);
	return isdigit((unsigned char)*text) && *end == '\0';
}

static bool
action_read(char *const *words, size_t count, uint32_t *action)
{
	if (count == 1 && strcmp(words[0], "allow") == 0) {
		*action = FILTER_ALLOW;
		return true;
	}
	if (count == 1 && strcmp(words[0], "kill") == 0) {
		*action = (uint32_t)FILTER_KILL;
		return true;
	}
	for (int error = 1; count == 2 && error < 200; error++) {
		const char *name = strerrorname_np(error);

		if (name != NULL && strcmp(name, words[1]) == 0) {
			*action = FILTER_ERRNO | (uint32_t)error;
			return strcmp(words[0], "errno") == 0;
		}
	}
	return false;
}

static bool
call_read(struct row *row, const char *name)
{
	uint64_t number;

	if (read_number(name, &number))
		row->call.number = (int32_t)number;
	else
		row->call.number = syscall_number(&arches[row->machine->arch],
		    name);
	row->call.audit = row->machine->audit;
	if (row->call.number < 0)
		return false;
	row->call.number |= row->machine->bits;
	return true;
}

static bool
row_read(struct row *row, char *const *words, size_t count)
{
	size_t arrow = 4;
	uint64_t abi;

	memset(row, 0, sizeof *row);
	while (arrow < count && strcmp(words[arrow], "->") != 0)
		arrow++;
	if (arrow >= count || arrow > 10)
		return false;
	row->machine = machine_find(words[0]);
	row->full = strcmp(words[1], "full") == 0;
	if (row->machine == NULL || !read_number(words[2], &abi) ||
	    (!row->full && strcmp(words[1], "standard") != 0) ||
	    !call_read(row, words[3]))
		return false;
	row->abi = (uint32_t)abi;
	for (size_t i = 4; i < arrow; i++) {
		if (!read_number(words[i], &row->call.args[i - 4]))
			return false;
	}
	return action_read(words + arrow + 1, count - arrow - 1, &row->action);
}

/* As the loader picks it. */
static struct bpf_program
program_pick(const struct sbx_blob *blob, const struct row *row)
{
	const struct sbx_program *best = NULL;

	for (uint32_t i = 0; i < blob->program_count; i++) {
		const struct sbx_program *program = &blob->programs[i];

		if (program->arch == arches[row->machine->arch].audit &&
		    (program->flags & SBX_PROGRAM_FULL) == row->full &&
		    (program->flags & SBX_PROGRAM_LISTENER) == 0 &&
		    (program->flags & SBX_PROGRAM_LOOPBACK) ==
			(row->full && blob->meta->net == SBX_NET_LOOPBACK ?
				SBX_PROGRAM_LOOPBACK :
				0) &&
		    program->min_abi <= row->abi &&
		    (best == NULL || program->min_abi > best->min_abi))
			best = program;
	}
	if (best == NULL)
		return (struct bpf_program){ NULL, 0 };
	return (struct bpf_program){ (struct sbx_insn *)(uintptr_t)(blob->bpf +
					 best->first),
		best->count };
}

/* The kernel's verdict, or `otherwise` where it cannot be asked. */
static uint32_t
kernel_verdict(const struct bpf_program *program, const struct row *row,
    uint32_t otherwise)
{
	uint32_t action = 0;

	if (arches[row->machine->arch].audit != KERNEL_AUDIT ||
	    strstr(row->machine->name, "/foreign") != NULL ||
	    (row->call.audit == AUDIT_ARCH_I386 && !kernel_takes_int80()))
		return otherwise;
	if (!kernel_verdicts(program, &row->call, 1, &action))
		return 0;
	return action;
}

static void
row_try(struct tap *tap, const struct sbx_blob *blob, const struct row *row,
    const char *text)
{
	struct bpf_program program = program_pick(blob, row);
	uint32_t simulated, kernel;

	if (!bpf_is_loadable(program.insns, program.count)) {
		tap_ok(tap, false, "%s: no program that loads", text);
		return;
	}
	simulated = bpf_run_loaded(program.insns, &row->call);
	kernel = kernel_verdict(&program, row, simulated);
	if (!tap_ok(tap, simulated == row->action && kernel == row->action,
		"%s", text))
		printf("# simulator %#x, kernel %#x\n", simulated, kernel);
}

static void
file_try(struct tap *tap, const struct sbx_blob *blob, FILE *file)
{
	char line[LINE_MAX_SIZE], text[LINE_MAX_SIZE];

	while (fgets(line, sizeof line, file) != NULL) {
		char *words[WORDS_MAX];
		size_t count;
		struct row row;

		strcpy(text, line);
		text[strcspn(text, "#\n")] = '\0';
		count = line_split(line, words);
		if (count == 0)
			continue;
		if (row_read(&row, words, count))
			row_try(tap, blob, &row, text);
		else
			tap_ok(tap, false, "cannot read: %s", text);
	}
}

int
main(int argc, char **argv)
{
	static _Alignas(8) uint8_t bytes[SBX_MAX_SIZE];
	struct tap tap = { 0, 0 };
	struct sbx_blob blob;
	FILE *file;
	size_t size;

	if (argc != 3 || (file = fopen(argv[1], "rb")) == NULL) {
		fprintf(stderr, "usage: syscall_table BLOB FILE.sim\n");
		return 99;
	}
	size = fread(bytes, 1, sizeof bytes, file);
	fclose(file);
	if (!tap_ok(&tap, sbx_verify(bytes, size, &blob) == SBX_BLOB_OK,
		"%s is a policy", argv[2]))
		return tap_done(&tap);
	file = fopen(argv[2], "r");
	if (file == NULL)
		return 99;
	file_try(&tap, &blob, file);
	fclose(file);
	return tap_done(&tap);
}
