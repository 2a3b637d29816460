/*
 * What the probe does with files and directories.
 */
#include "runtime/base/kernel.h"
#include "tests/kernel/probe.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RENAME_SWAP = 2 };

static int
try_open_read(char **words, int count)
{
	char byte;
	int fd = open(words[0], O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	(void)count;
	if (fd < 0)
		return errno;
	if (read(fd, &byte, 1) < 0 && errno != EISDIR && errno != EAGAIN) {
		int error = errno;

		close(fd);
		return error;
	}
	return opened(fd);
}

static int
try_list(char **words, int count)
{
	DIR *dir = opendir(words[0]);
	int error;

	(void)count;
	if (!dir)
		return errno;
	errno = 0;
	error = readdir(dir) ? 0 : errno;
	closedir(dir);
	return error;
}

static int
try_open_write(char **words, int count)
{
	(void)count;
	return opened(open(words[0], O_WRONLY | O_CLOEXEC | O_NONBLOCK));
}

static int
try_create(char **words, int count)
{
	(void)count;
	return opened(
	    open(words[0], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
}

static int
try_mkdir(char **words, int count)
{
	(void)count;
	return result(mkdir(words[0], 0777));
}

static int
try_mknod(char **words, int count)
{
	(void)count;
	return result(mknod(words[0], S_IFIFO | 0666, 0));
}

static int
try_unlink(char **words, int count)
{
	(void)count;
	return result(unlink(words[0]));
}

static int
try_rmdir(char **words, int count)
{
	(void)count;
	return result(rmdir(words[0]));
}

static int
try_rename(char **words, int count)
{
	(void)count;
	return result(rename(words[0], words[1]));
}

static int
try_exchange(char **words, int count)
{
	(void)count;
	return result(syscall(SYS_renameat2, AT_FDCWD, words[0], AT_FDCWD,
	    words[1], RENAME_SWAP));
}

static int
try_link(char **words, int count)
{
	(void)count;
	return result(link(words[0], words[1]));
}

static int
try_symlink(char **words, int count)
{
	(void)count;
	return result(symlink(words[0], words[1]));
}

/* A file in memory: `read`, `write`, which goes to the file, or `exec`. */
static int
try_map(char **words, int count)
{
	bool writes = strcmp(words[1], "write") == 0;
	int rights = strcmp(words[1], "exec") == 0 ? PROT_READ | PROT_EXEC :
	    writes                                 ? PROT_READ | PROT_WRITE :
						     PROT_READ;
	int fd = open(words[0], (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	volatile char *memory;
	int error = errno;

	(void)count;
	if (fd < 0)
		return error;
	memory = mmap(NULL, 1, rights, MAP_SHARED, fd, 0);
	error = memory == MAP_FAILED ? errno : 0;
	close(fd);
	if (error != 0)
		return error;
	if (writes)
		memory[0] = memory[0];
	else
		(void)memory[0];
	return result(munmap((void *)memory, 1));
}

static int
try_truncate(char **words, int count)
{
	(void)count;
	return result(truncate(words[0], 0));
}

static int
try_chmod(char **words, int count)
{
	return result(chmod(words[0],
	    count > 1 ? (mode_t)strtoul(words[1], NULL, 8) : 0644));
}

static int
try_stat(char **words, int count)
{
	struct stat status;

	(void)count;
	return result(lstat(words[0], &status));
}

static int
try_access(char **words, int count)
{
	(void)count;
	return result(access(words[0], R_OK));
}

static int
try_chdir(char **words, int count)
{
	(void)count;
	return result(chdir(words[0]));
}

static int
open_with_mode(const char *path, int flags, long mode)
{
	return opened(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

static int
openat2_with_mode(const char *path, long mode)
{
	uint64_t how[3] = { O_WRONLY | O_CREAT, (uint64_t)mode, 0 };

	return opened(syscall(SYS_openat2, AT_FDCWD, path, how, sizeof how));
}

static int
fchmod_with_mode(const char *path, long mode)
{
	int fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
	int error = fd < 0 ? errno : result(syscall(SYS_fchmod, fd, mode));

	close(fd);
	return error;
}

enum way {
	CHMOD,
	FCHMOD,
	FCHMODAT,
	FCHMODAT2,
	CREAT,
	OPEN,
	OPENAT,
	OPENAT2,
	TMPFILE,
	MKNOD,
	MKNODAT,
	READ
};

/* Gives a file a mode, in one of the ways that there are; "read" gives it to an
 * open() that makes nothing. */
static int
try_mode(char **words, int count)
{
	static const struct name ways[] = {
		{ "chmod", CHMOD },
		{ "fchmod", FCHMOD },
		{ "fchmodat", FCHMODAT },
		{ "fchmodat2", FCHMODAT2 },
		{ "creat", CREAT },
		{ "open", OPEN },
		{ "openat", OPENAT },
		{ "openat2", OPENAT2 },
		{ "tmpfile", TMPFILE },
		{ "mknod", MKNOD },
		{ "mknodat", MKNODAT },
		{ "read", READ },
	};
	const char *path = words[1];
	long mode = (long)strtoul(words[2], NULL, 8);

	(void)count;
	switch (LOOK_UP(ways, words[0])) {
#ifdef __x86_64__
	case CHMOD:
		return result(syscall(SYS_chmod, path, mode));
	case CREAT:
		return opened(syscall(SYS_creat, path, mode));
	case OPEN:
		return opened(
		    syscall(SYS_open, path, O_WRONLY | O_CREAT, mode));
	case MKNOD:
		return result(syscall(SYS_mknod, path, S_IFREG | mode, 0));
#endif
	case FCHMOD:
		return fchmod_with_mode(path, mode);
	case FCHMODAT:
		return result(syscall(SYS_fchmodat, AT_FDCWD, path, mode));
	case FCHMODAT2:
		return result(syscall(SYS_fchmodat2, AT_FDCWD, path, mode, 0));
	case OPENAT:
		return open_with_mode(path, O_WRONLY | O_CREAT, mode);
	case OPENAT2:
		return openat2_with_mode(path, mode);
	case TMPFILE:
		return open_with_mode(path, O_WRONLY | O_TMPFILE, mode);
	case MKNODAT:
		return result(
		    syscall(SYS_mknodat, AT_FDCWD, path, S_IFREG | mode, 0));
	case READ:
		return open_with_mode(path, O_RDONLY, mode);
	}
	misuse("no such way", words[0]);
}

/* The child shares our memory until it has become the other program. */
static int
try_exec(char **words, int count)
{
	static char *const environment[] = { NULL };
	volatile int error = 0;
	char *arguments[MAX_WORDS + 1];
	pid_t pid;

	memcpy(arguments, words, (size_t)count * sizeof *words);
	arguments[count] = NULL;
	pid = vfork();
	if (pid < 0)
		return errno;
	if (pid == 0) {
		close(1);
		close(2);
		execve(words[0], arguments, environment);
		error = errno;
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return error;
}

/* A program of one exit(0), in a file that lies in no directory. */
static int
run_memfd(char **words, int count)
{
	/* clang-format off */
	static const uint8_t code[] = {
#if defined __x86_64__
	    0x31, 0xff, 0xb8, 0x3c, 0x00, 0x00, 0x00, 0x0f, 0x05,
#elif defined __aarch64__
	    0x00, 0x00, 0x80, 0xd2, 0xa8, 0x0b, 0x80, 0xd2, 0x01, 0x00, 0x00,
	    0xd4,
#else
#error "no code for this machine"
#endif
	};
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segment;
		uint8_t code[sizeof code];
	} file = {
	    .header =
		{
		    .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
			EV_CURRENT},
		    .e_type = ET_EXEC,
#ifdef __x86_64__
		    .e_machine = EM_X86_64,
#else
		    .e_machine = EM_AARCH64,
#endif
		    .e_version = EV_CURRENT,
		    .e_entry = 0x10000 + sizeof(Elf64_Ehdr) +
			sizeof(Elf64_Phdr),
		    .e_phoff = sizeof(Elf64_Ehdr),
		    .e_ehsize = sizeof(Elf64_Ehdr),
		    .e_phentsize = sizeof(Elf64_Phdr),
		    .e_phnum = 1,
		},
	    .segment =
		{
		    .p_type = PT_LOAD,
		    .p_flags = PF_R | PF_X,
		    .p_vaddr = 0x10000,
		    .p_filesz = sizeof file,
		    .p_memsz = sizeof file,
		    .p_align = 0x1000,
		},
	};
	/* clang-format on */
	static char name[] = "memfd";
	static char *const arguments[] = { name, NULL },
			   *const none[] = { NULL };
	int fd = (int)syscall(SYS_memfd_create, "probe", 1 /* CLOEXEC */);

	(void)words;
	(void)count;
	if (fd < 0)
		return errno;
	memcpy(file.code, code, sizeof code);
	if (write(fd, &file, sizeof file) != sizeof file)
		return errno;
	syscall(SYS_execveat, fd, "", arguments, none, AT_EMPTY_PATH);
	return errno;
}

static int
try_memfd_exec(char **words, int count)
{
	return in_child(run_memfd, words, count);
}

/* clang-format off */
const struct operation file_operations[] = {
	{"open-read", 1, 1, try_open_read},
	{"list", 1, 1, try_list},
	{"open-write", 1, 1, try_open_write},
	{"create", 1, 1, try_create},
	{"mkdir", 1, 1, try_mkdir},
	{"mknod", 1, 1, try_mknod},
	{"unlink", 1, 1, try_unlink},
	{"rmdir", 1, 1, try_rmdir},
	{"rename", 2, 2, try_rename},
	{"exchange", 2, 2, try_exchange},
	{"link", 2, 2, try_link},
	{"symlink", 2, 2, try_symlink},
	{"truncate", 1, 1, try_truncate},
	{"map", 2, 2, try_map},
	{"chmod", 1, 2, try_chmod},
	{"mode", 3, 3, try_mode},
	{"stat", 1, 1, try_stat},
	{"access", 1, 1, try_access},
	{"chdir", 1, 1, try_chdir},
	{"exec", 1, MAX_WORDS - 1, try_exec},
	{"memfd-exec", 0, 0, try_memfd_exec},
	{NULL, 0, 0, NULL},
};
/* clang-format on */
