/*
 * Where a program is that makes a system call: the functions that have called each
 * other, by what lies on its stack.
 */
#include "tests/kernel/fault.h"

#include <elf.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

enum {
	MAX_RANGES = 32,
	NEAR = 64,  /* words at the top of the stack */
	CALLERS = 3 /* of each kind */
};

/* Which addresses are code. */
struct code {
	struct {
		uint64_t begin, end;
	} ranges[MAX_RANGES];
	int count;
};

static void
find_code(struct code *code, pid_t pid)
{
	char path[64], line[512], rights[8];
	unsigned long begin, end;
	FILE *file;

	code->count = 0;
	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return;
	while (code->count < MAX_RANGES &&
	    fgets(line, sizeof line, file) != NULL) {
		if (sscanf(line, "%lx-%lx %7s", &begin, &end, rights) != 3 ||
		    rights[2] != 'x')
			continue;
		code->ranges[code->count].begin = begin;
		code->ranges[code->count++].end = end;
	}
	fclose(file);
}

static bool
is_code(const struct code *code, uint64_t address)
{
	for (int i = 0; i < code->count; i++) {
		if (address >= code->ranges[i].begin &&
		    address < code->ranges[i].end)
			return true;
	}
	return false;
}

static int
read_words(pid_t pid, uint64_t address, uint64_t *words, int count)
{
	struct iovec local = { words, (size_t)count * sizeof *words };
	struct iovec remote = { (void *)(uintptr_t)address, local.iov_len };
	ssize_t len = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	return len < 0 ? 0 : (int)((size_t)len / sizeof *words);
}

static uint64_t
frame_of(pid_t pid)
{
	struct user_regs_struct registers;
	struct iovec io = { &registers, sizeof registers };

	if (ptrace((enum __ptrace_request)PTRACE_GETREGSET, pid,
		(void *)(long)NT_PRSTATUS, &io) != 0)
		die("PTRACE_GETREGSET");
#if defined __x86_64__
	return registers.rbp;
#else
	return registers.regs[29];
#endif
}

static void
mix(uint64_t *site, uint64_t address)
{
	*site = (*site ^ address) * 0x100000001b3;
}

uint64_t
fault_site(pid_t pid, uint64_t stack)
{
	uint64_t words[NEAR], frame[2] = { frame_of(pid), 0 }, site = 1;
	struct code code;
	int count = read_words(pid, stack, words, NEAR), found = 0;

	find_code(&code, pid);
	/* The library's own functions have no frames. */
	for (int i = 0; i < count && found < CALLERS; i++) {
		if (!is_code(&code, words[i]))
			continue;
		mix(&site, words[i]);
		found++;
	}
	for (int i = 0; i < CALLERS; i++) {
		if (read_words(pid, frame[0], frame, 2) != 2 ||
		    !is_code(&code, frame[1]))
			break;
		mix(&site, frame[1]);
	}
	return site;
}
